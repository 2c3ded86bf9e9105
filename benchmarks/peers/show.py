"""The results as a line, a table in Markdown and a plot."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers.problem import TARGET
from benchmarks.peers.problems import ALL

Result = dict[str, Any]


BUSY = "Times are those of the processor then, but for ensembles; idle, they would be a little shorter."


def at_target(result: Result, target: float, what: str = "seconds") -> dict[str, Any] | None:
    """The shortest run whose end error is no larger than the target."""
    good = [r for r in result.get("runs", []) if r.get("error", math.inf) <= target]
    return min(good, key=lambda r: r[what]) if good else None


def best(result: Result) -> float:
    """The smallest end error that was reached."""
    return min((r["error"] for r in result.get("runs", []) if "error" in r), default=math.inf)


def line(result: Result) -> str:
    """One result in one line."""
    head = f"{result['problem']:18} {result['peer']:11}"
    if "reason" in result:
        return f"{head} {result['reason']}"
    times = [f"{t:g}: {seconds(at_target(result, t))}" for t in ALL[result["problem"]].targets]
    return f"{head} set-up {result['setup_seconds']:.2f} s; {', '.join(times)}; best error {best(result):.0e}"


def seconds(run: dict[str, Any] | None, what: str = "seconds") -> str:
    """The time of a run, or a dash."""
    if run is None:
        return "–"
    s = run[what]
    return f"{s * 1e3:.3g} ms" if s < 1 else f"{s:.3g} s"


def table(results: list[Result]) -> str:
    """A table for each problem: set-up, time at each end error with the ratio to zwang, the whole call at the one that
    all tools are compared at, best error, drift, energy.
    """
    parts = []
    for name, problem in ALL.items():
        rows = [r for r in results if r["problem"] == name]
        if not rows:
            continue
        ours = next((r for r in rows if r["peer"] == "zwang"), {})
        targets = problem.targets
        parts.append(f"### {problem.title}\n")
        heads = [
            "peer",
            "set-up",
            *(f"{t:.0e}" for t in targets),
            "whole call",
            "best error",
            "drift",
            "energy",
            "memory",
        ]
        parts.append("| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads))
        parts += [row(r, ours, targets) for r in rows if "reason" not in r]
        parts += [f"| {r['peer']} | {r['reason']}" + " |" * (len(heads) - 1) for r in rows if "reason" in r]
        parts.append("")
    return "\n".join(parts)


def overview(results: list[Result], target: float = TARGET) -> str:
    """All problems and peers in three tables: the time of the integration at one end error, with the best error where
    it is not reached, that of the whole call, and the time to set up.
    """
    peers = list(dict.fromkeys(r["peer"] for r in results))
    found = {(r["problem"], r["peer"]): r for r in results}
    names = [name for name in ALL if any(problem == name for problem, _ in found)]

    def lines(head: str, cell: Callable[[Result], str]) -> list[str]:
        cells = [[cell(found[name, peer]) if (name, peer) in found else "" for peer in peers] for name in names]
        rows = [[ALL[name].title, *row] for name, row in zip(names, cells, strict=True)]
        return [f"| {' | '.join(row)} |" for row in ([head, *peers], ["---"] * (1 + len(peers)), *rows)]

    def reached(r: Result, what: str = "seconds") -> str:
        run = at_target(r, target, what)
        if run is not None:
            return seconds(run, what)
        return "cannot" if "reason" in r else f"({best(r):.0e})"

    def setup(r: Result) -> str:
        return "" if "reason" in r else seconds({"seconds": r["setup_seconds"]})

    busy = [f"Another process was running at times. {BUSY}", ""]
    return "\n".join(
        [
            *(busy if any(r.get("clock") == "processor" for r in results) else []),
            *lines(f"integration, at an end error of {target:.0e}", reached),
            "",
            *lines("whole call", lambda r: reached(r, "call_seconds")),
            "",
            *lines("set-up", setup),
            "",
        ]
    )


def row(result: Result, ours: Result, targets: tuple[float, ...]) -> str:
    """One line of a table."""
    cells = [result["peer"], ratio(result["setup_seconds"], ours.get("setup_seconds"), result is ours)]
    for target in targets:
        run, own = at_target(result, target), at_target(ours, target)
        cells.append("–" if run is None else ratio(run["seconds"], own and own["seconds"], result is ours))
    whole = [at_target(r, TARGET, "call_seconds") for r in (result, ours)]
    own = whole[1] and whole[1]["call_seconds"]
    cells.append("–" if whole[0] is None else ratio(whole[0]["call_seconds"], own, result is ours))
    finest = min((r for r in result["runs"] if "error" in r), key=lambda r: r["error"], default={})
    cells.append(f"{best(result):.0e}")
    cells += [f"{finest[key]:.0e}" if finest and finest[key] == finest[key] else "" for key in ("drift", "energy")]
    cells.append(f"{result['memory_mb']:.0f} MB")
    return "| " + " | ".join(cells) + " |"


def ratio(value: float, own: float | None, is_ours: bool) -> str:
    """A time, and how many times zwang's it is."""
    text = f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"
    return text if own is None or is_ours else f"{text} ({value / own:.3g}×)"


def plot(results: list[Result], path: Path) -> None:
    """Time against end error for every problem and peer."""
    from matplotlib.figure import Figure

    names = [n for n in ALL if any(r["problem"] == n and r.get("runs") for r in results)]
    if not names:
        return
    columns = 3
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(5 * columns, 3.6 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    peers = list(dict.fromkeys(r["peer"] for r in results))
    styles = {p: {"color": f"C{i % 10}", "marker": "osD^v<>Phx*"[i % 11]} for i, p in enumerate(peers)}
    for ax, name in zip(axes, names, strict=False):
        for r in results:
            points = [(q["error"], q["seconds"]) for q in r.get("runs", []) if 0 < q.get("error", 0) < 1]
            if r["problem"] == name and points:
                wide = {"linewidth": 2.5, "zorder": 5} if r["peer"] == "zwang" else {"linewidth": 1, "markersize": 4}
                ax.loglog(*zip(*points, strict=True), label=r["peer"], **styles[r["peer"]], **wide)
        ax.invert_xaxis()
        ax.set(xlabel="end error", ylabel="seconds")
        ax.set_title(ALL[name].title, fontsize=9)
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    for ax in axes[len(names) :]:
        ax.remove()
    figure.savefig(path)
