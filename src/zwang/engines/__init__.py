"""Engines: from a task, an initial value problem in compiled code, to a trajectory; no mechanics is known here."""
