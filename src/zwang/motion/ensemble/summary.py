"""What is said of many samples together."""

from collections.abc import Mapping

STATUS_MEANS, DOUBTS_MEAN = "how each sample ended", "what cannot be vouched for"


def summary(statuses: Mapping[str, int]) -> str:
    """How the samples fared together, from how many there are of each status.

    >>> summary({"singular": 1, "finished": 3})
    '3 finished, 1 singular'
    """
    return ", ".join(f"{number} {kind}" for kind, number in sorted(statuses.items(), key=lambda item: -item[1]))


def summary_of_doubts(doubted: int, samples: int, first: int, words: str) -> str:
    """How many samples are not vouched for, and what is said of the first."""
    if not doubted:
        return ""
    return f"Not vouched for: {doubted} of {samples} samples; sample {first}: {words}"
