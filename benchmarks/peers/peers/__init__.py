"""The peers, one a file, in the order of the table. Each has `prepare(problem) -> Prepared`."""

ALL = ("zwang", "c", "scipy", "casadi", "diffrax", "pinocchio", "mujoco", "drake", "exudyn", "pydy")
