"""Functions in a small part of Python, as machine code: for loops that no Python may run inside.

::

    @native functions ──► module_text ──► object_code ──► Library
     (marks)              (module, statements, expressions)   (kept on disk: library)

A function marked `native` is never run by Python. Its source is read when it is compiled, together with all it calls,
into one LLVM module. What it may say is what C could say in as many words:

* Values are `float`, `int`, `bool`, an `Array` of doubles and a `Record`; `Lanes` and `Mask` hold a float or bool in
  each of several lanes, `Rows` are an array of the former. The types of arguments and of the result are declared; a
  variable has the type of what it is given first. An int becomes a float where one is needed.
* A function that declares a `Number`, `Numbers` or any `Record` is compiled for each kind that it is called with: a
  float or `Lanes`, an array of either, this record or that. `Truth` is then a bool or a `Mask`.
* Arithmetic, comparisons, and/or/not, conditional expressions; a[i] and record.field to read and to write; tuples as
  results and in assignments.
* if, while, for … in range(…), break, continue, return.
* Calls of native functions, of intrinsics and of `int`, `abs` and `math.sqrt`. What holds no variable is a constant,
  computed by Python; arrays of NumPy that are global are constants too.

Every operation is one operation of IEEE 754, in the order written: nothing raises, nothing is reassociated.
"""

from zwang.compile.restricted.decorators import (
    Array,
    Entry,
    Lanes,
    Mask,
    Number,
    Numbers,
    Record,
    Rows,
    Truth,
    compact_native,
    intrinsic,
    native,
    seldom_native,
)
from zwang.compile.restricted.library import native_library

__all__ = [
    "Array",
    "Entry",
    "Lanes",
    "Mask",
    "Number",
    "Numbers",
    "Record",
    "Rows",
    "Truth",
    "compact_native",
    "intrinsic",
    "native",
    "native_library",
    "seldom_native",
]
