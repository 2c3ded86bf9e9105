"""Programs with loops: one small program at many places, and sparse factorisations, behind the signature of a kernel.

Straight-line code (`Program`) is fastest where it fits, but takes time and memory for every line. A large system is
thousands of times the same few expressions in other symbols: here these are compiled once each and called over tables
of indices, and what is linear algebra is done by loops over a pattern that is known beforehand.
"""
