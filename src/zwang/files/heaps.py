"""The heaps of texts of an HDF5 file, walked in its bytes before HDF5 walks them.

HDF5 keeps texts of any length in collections of objects, one behind the other. It steps from one to the next by the
size that each says it has, adds in 64 bits, and never ends where the sum is 0: Ctrl-C has no effect inside of it. The
layout is told in the HDF5 File Format Specification, III.E, "Disk Format: Level 1E - Global Heap".
"""

import mmap
from typing import BinaryIO

SIGNATURE = b"\x89HDF\r\n\x1a\n"
COLLECTION = b"GCOL\x01"  # with its version; texts do not have that byte in them
LEAST = 16  # bytes: of what stands before a collection's objects, and before each object
SIZES_AT = {0: 13, 1: 13, 2: 9, 3: 9}  # where a superblock of each version says how long addresses and lengths are


def sound_heaps(file: BinaryIO) -> bool:
    """Whether every walk through a heap in the file comes to its end; what does not begin as HDF5 does is an OSError.

    Collections that overlap are not sound: to walk them all would take the square of the time.
    """
    if file.read(len(SIGNATURE)) != SIGNATURE:
        raise OSError("it does not begin as HDF5 does")
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = SIZES_AT.get(number(content, len(SIGNATURE), 1))
        if at is None or content[at : at + 2] != b"\x08\x08":
            return False
        end = 0
        while (begin := content.find(COLLECTION, end)) >= 0:
            end = begin + max(number(content, begin + 8, 8), LEAST)
            if end > len(content) or not ends(content, begin, end) or content.find(COLLECTION, begin + 1, end) >= 0:
                return False
    return True


def ends(content: mmap.mmap, begin: int, end: int) -> bool:
    """Whether the objects of the collection between these places lie within it, each behind the one before."""
    at = begin + LEAST
    while at + LEAST <= end:
        index, size = number(content, at, 2), number(content, at + 8, 8)
        step = LEAST + -(-size // 8) * 8 if index else size  # what is left over, number 0, counts its own beginning
        if step < LEAST or at + step > end:
            return False
        at += step
    return True


def number(content: mmap.mmap, at: int, size: int) -> int:
    """A number of the file, whose least byte comes first."""
    return int.from_bytes(content[at : at + size], "little")
