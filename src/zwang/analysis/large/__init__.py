"""Rest of large systems, and the motion beside it, in sparse matrices."""
