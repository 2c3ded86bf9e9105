"""BLAS on one thread while matrices are small: threads that wait for each other cost more than they compute.

OpenBLAS and MKL share matrices of some dozen rows among all cores, and their threads wait by turning round and round.
On a machine with other work to do a factorisation then takes many times as long, for nothing on an idle one.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

FEWEST_SHARED = 48  # rows and columns: of smaller matrices nothing is shared among threads anyway
MOST_ALONE = 600  # rows and columns: from here on two cores are worth their waiting


@lru_cache(maxsize=2)
def controller(with_scipy: bool) -> Any:
    """What sets the numbers of threads; SciPy brings a BLAS of its own, which is seen once it is loaded."""
    from threadpoolctl import ThreadpoolController  # it looks at all libraries: nothing for small systems

    return ThreadpoolController()


@contextmanager
def one_thread(size: int) -> Iterator[None]:
    """Within it BLAS has one thread, for systems of so many rows and columns, where that is of use.

    The number is one for the whole process: of several threads that ask at once, the first sets it and gives it back.

    >>> with one_thread(100):
    ...     pass
    """
    if not FEWEST_SHARED <= size <= MOST_ALONE:
        yield
        return
    with controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield
