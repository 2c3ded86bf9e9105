"""The linear algebra that the formulas need, and the one rank tolerance."""
