"""Follow ordinary scenes, each in a process of its own with a limit of processor time, and print a table.

    python -m tests.scenes.survey                       all two hundred: half an hour of one core where some never end
    python -m tests.scenes.survey dice coins            the kinds whose names begin so
    python -m tests.scenes.survey 20 131-139            scenes by their numbers
    python -m tests.scenes.survey --limit 10 --jobs 2   seconds of processor time of a run; processes at a time

A scene is run twice: what is counted is the processor time of the second run, when everything is compiled.
"""

import argparse
import multiprocessing
import resource
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection

from tests.scenes.laws import broken_laws
from tests.scenes.ordinary import KIND_OF, KINDS, ordinary_scene

LIMIT = 30.0  # seconds of processor time of one run
OVER = "over the limit"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.scenes.ordinary", "tests.scenes.laws"])


@dataclass(frozen=True)
class Outcome:
    """What became of a scene."""

    number: int
    status: str
    seconds: float
    """Processor time of the second run."""
    first_seconds: float = 0.0
    transitions: int = 0
    broken: tuple[str, ...] = ()
    message: str = ""

    @property
    def kind(self) -> str:
        """Its kind."""
        return KIND_OF[self.number]

    @property
    def finished(self) -> bool:
        """Whether the motion came to its end."""
        return self.status == "finished"


def followed(number: int) -> Outcome:
    """The outcome of a scene, in this process and without a limit."""
    scene = ordinary_scene(number)
    try:
        began = time.process_time()
        motion = scene.run()
        between = time.process_time()
        motion = scene.run()
        end = time.process_time()
    except Exception as error:  # one of two hundred must not end the others
        return Outcome(number, type(error).__name__, time.process_time() - began, message=str(error))
    status, message = motion.attrs["status"], motion.attrs["message"]
    # A motion that stops says that its last instant is not decided.
    broken = tuple(broken_laws(scene.model, motion, scene.size)) if status == "finished" else ()
    return Outcome(number, status, end - between, between - began, motion.sizes.get("transition", 0), broken, message)


def answer(number: int, limit: float, answers: Connection) -> None:
    """Follow a scene as a child, with twice the limit for its two runs, and send the outcome."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(2 * limit), int(2 * limit) + 5))
    warnings.simplefilter("ignore")
    answers.send(followed(number))


def followed_in_a_child(number: int, limit: float = LIMIT) -> Outcome:
    """The outcome of a scene, whatever happens: a child that takes too long is ended."""
    receiver, sender = PROCESSES.Pipe(duplex=False)
    child = PROCESSES.Process(target=answer, args=(number, limit, sender))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return Outcome(number, OVER, limit)
    finally:
        child.join()


def survey(numbers: Iterable[int], limit: float = LIMIT, jobs: int = 1) -> Iterator[Outcome]:
    """The outcomes of scenes, in their order."""
    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(partial(followed_in_a_child, limit=limit), numbers)


def line(outcome: Outcome) -> str:
    """One outcome."""
    words = f"{outcome.number:4} {outcome.kind:26}{outcome.status:18}{outcome.seconds:7.2f} s"
    words += f"{outcome.transitions:6} transitions"
    if outcome.broken:
        words += "  BROKEN: " + "; ".join(outcome.broken)
    return words if outcome.finished else f"{words}\n       {outcome.message}"


def table(outcomes: list[Outcome], slow: float = 3.0) -> str:
    """The kinds: how many finish, what stops the others, and processor times."""
    rows = [f"{'kind':28}{'finished':>10}{'median':>9}{'longest':>9}{f'over {slow:g} s':>11}  others"]
    groups = {kind: [o for o in outcomes if o.kind == kind] for kind in KINDS} | {"all": outcomes}
    for kind, some in groups.items():
        if some:
            seconds = [o.seconds for o in some]
            stops = Counter(o.status for o in some if not o.finished)
            stops["BROKEN LAWS"] = sum(bool(o.broken) for o in some)
            others = ", ".join(f"{count} {status}" for status, count in stops.items() if count)
            finished = f"{sum(o.finished for o in some)} of {len(some)}"
            times = f"{statistics.median(seconds):9.2f}{max(seconds):9.2f}{sum(s > slow for s in seconds):11}"
            rows.append(f"{kind:28}{finished:>10}{times}  {others}")
    return "\n".join(rows)


def chosen(words: list[str]) -> list[int]:
    """The scenes that are meant: numbers, spans of numbers, beginnings of kinds, or all."""
    numbers: list[int] = []
    for word in words:
        if word[0].isdigit():
            first, _, last = word.partition("-")
            numbers += range(int(first), int(last or first) + 1)
        else:
            numbers += [n for n, kind in enumerate(KIND_OF) if kind.startswith(word)]
    return numbers if words else list(range(len(KIND_OF)))


def main() -> None:
    """Print a line for each scene, and the table."""
    asked = argparse.ArgumentParser(prog="python -m tests.scenes.survey")
    asked.add_argument("scenes", nargs="*", help="numbers, 20-29, or beginnings of kinds; all without them")
    asked.add_argument("--limit", type=float, default=LIMIT, help="processor time of a run, in seconds")
    asked.add_argument("--jobs", type=int, default=1, help="processes at a time")
    given = asked.parse_args()
    outcomes = []
    for outcome in survey(chosen(given.scenes), given.limit, given.jobs):
        print(line(outcome), flush=True)
        outcomes.append(outcome)
    print(f"\n{table(outcomes)}")
    sys.exit(any(o.broken for o in outcomes))


if __name__ == "__main__":
    main()
