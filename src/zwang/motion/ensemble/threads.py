"""Samples that run each by itself, side by side on threads: the loops of the engines run without Python's lock."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def each(work: Callable[[int], Result], samples: Sequence[int], threads: int) -> Iterator[Result]:
    """What comes of samples, in their order; so many are worked on at once. An interrupt begins no further ones."""
    if min(threads, len(samples)) <= 1:
        yield from map(work, samples)
        return
    with ThreadPoolExecutor(min(threads, len(samples))) as pool:
        jobs = [pool.submit(work, sample) for sample in samples]
        try:
            for job in jobs:
                yield job.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
