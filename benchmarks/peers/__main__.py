"""All peers on all problems, or chosen ones; a table in Markdown, the results in JSON and a plot.

python -m benchmarks.peers [--problem NAME …] [--peer NAME …] [--seconds 10] [--out FOLDER]
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.peers import show
from benchmarks.peers.peers import ALL as PEERS
from benchmarks.peers.problem import PROCESSOR
from benchmarks.peers.problems import ALL as PROBLEMS

ROOT = Path(__file__).parents[2]
LOOKS = 25


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description=__doc__.splitlines()[0])
    parser.add_argument("--problem", action="append", choices=[*PROBLEMS], help="may be repeated")
    parser.add_argument("--peer", action="append", choices=[*PEERS], help="may be repeated; zwang always runs")
    parser.add_argument("--seconds", type=float, default=10.0, help="for the runs of one peer on one problem")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "peers")
    given = parser.parse_args()
    problems = given.problem or list(PROBLEMS)
    peers = list(dict.fromkeys(["zwang", *(given.peer or PEERS)]))
    given.out.mkdir(parents=True, exist_ok=True)
    began, results, warned = time.perf_counter(), [], False
    for problem in problems:
        for peer in peers:
            others = busy()
            if others and not warned:
                print(f"Warning: about {others:.1f} other processes are running. {show.BUSY}", flush=True)
                warned = True
            result = run(peer, problem, given.seconds, others > 0)
            results.append(result)
            print(f"{time.perf_counter() - began:6.0f} s  {show.line(result)}", flush=True)
            write(given.out, results, began)
    print("\n" + show.overview(results) + "\n" + show.table(results))
    print(f"Written to {given.out}: results.json, table.md, work-precision.svg")
    return 0


def busy() -> float:
    """How many other processes run at this moment, or 0.0 where it is less than a tenth of one.

    Linux says how many are running or would like to; this one is among them. Elsewhere the mean load of the last minute
    has to do, in which the last peer counts as one.
    """
    source = Path("/proc/loadavg")
    if not source.exists():
        return max(0.0, os.getloadavg()[0] - 1) if hasattr(os, "getloadavg") else 0.0
    seen = 0
    for _ in range(LOOKS):
        time.sleep(0.02)
        seen += int(source.read_text().split()[3].split("/")[0]) - 1
    return seen / LOOKS if seen > LOOKS / 10 else 0.0


def run(peer: str, problem: str, seconds: float, processor: bool = False) -> dict[str, Any]:
    """One peer on one problem in a new process; whatever happens to it is a row.

    On a busy machine its times are those of the processor, but for an ensemble, which runs on all cores.
    """
    command = [sys.executable, "-m", "benchmarks.peers.worker", peer, problem, str(seconds)]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "JAX_PLATFORMS": "cpu"}
    if processor and PROBLEMS[problem].starts == 1:
        environment[PROCESSOR] = "1"
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=8 * seconds + 60
        )
    except subprocess.TimeoutExpired:
        return {"peer": peer, "problem": problem, "reason": f"not ready within {8 * seconds + 60:.0f} s"}
    lines = [text for text in done.stdout.splitlines() if text.startswith("{")]
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return {"peer": peer, "problem": problem, "reason": f"failed: {last[:300]}"}
    return dict(json.loads(lines[-1]))


def write(folder: Path, results: list[dict[str, Any]], began: float) -> None:
    """Everything so far: an interrupted run keeps what it has."""
    about = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "seconds": time.perf_counter() - began,
    }
    (folder / "results.json").write_text(json.dumps({"about": about, "results": results}, indent=1) + "\n")
    (folder / "table.md").write_text(show.overview(results) + "\n" + show.table(results) + "\n")
    show.plot(results, folder / "work-precision.svg")


if __name__ == "__main__":
    sys.exit(main())
