"""Values of parameters that a description was built with, and that cannot be changed any more."""


class FrozenValue(float):
    """The value of a parameter that stands as a number in a system: where the joints of a mechanism are, for one.

    Such a parameter cannot be set when the system is evaluated or simulated: what was computed from it would not
    follow. A model file's `simulate` and `with_parameters` build the system again.

    >>> FrozenValue(2) == 2
    True
    """
