"""A million pendulums through two workers, one of them killed, then interrupted and gone on with.

`python benchmarks/sweep.py` takes some minutes on two cores. It says how long it took, and compares every bit with one
process.
"""

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path

import numpy as np

import zwang as zw
from zwang import dot


def pendulums(count: int):
    """Pendulums released from everywhere, with gravity from that of the moon to that of the sun."""
    x, y = zw.coordinates("x y")
    g = zw.parameters("g")
    system = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=g * y, constraints={"rod": x**2 + y**2 - 1}
    )
    rng = np.random.default_rng(0)
    angle = rng.uniform(-3, 3, count)
    starts = {x: np.sin(angle), y: -np.cos(angle), dot(x): 0.0, dot(y): 0.0}
    return system, starts, {g: rng.uniform(1.6, 274, count)}


def main() -> None:
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--chunk", type=int, default=5000)
    asked = parser.parse_args()
    count = asked.samples
    system, starts, parameters = pendulums(count)
    options = {"until": 2.0, "samples": 3, "tol": 1e-9, "parameters": parameters, "keep": ("q", "v", "energy_balance")}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL") as local,
        Client(local) as client,
    ):
        where = {"store": Path(folder) / "sweep.zarr", "client": client, "chunk": asked.chunk}
        victims = list(client.run(os.getpid).values())
        began = time.perf_counter()

        def watch(done: float, of: float) -> None:
            if done >= of / 4 and len(victims) == 2:
                os.kill(victims.pop(), signal.SIGKILL)
                print(f"  {done:,.0f} done: one worker killed", flush=True)
            if done >= of / 2:
                raise KeyboardInterrupt

        try:
            zw.simulate_many(system, starts, **options, **where, progress=watch)
        except KeyboardInterrupt:
            print("  interrupted after half of them", flush=True)
        seen = []
        stored = zw.simulate_many(system, starts, **options, **where, progress=lambda done, _: seen.append(done))
        print(f"  went on from {seen[0]:,.0f}")
        on_cluster = time.perf_counter() - began
        print(f"{count:,} pendulums on two workers: {on_cluster:.1f} s, {stored.attrs['status']}")
        size = sum(path.stat().st_size for path in where["store"].rglob("*"))
        print(f"  the store takes {size / 2**20:.0f} MB")
        began = time.perf_counter()
        here = zw.simulate_many(system, starts, **options)
        print(f"in one process, in memory: {time.perf_counter() - began:.1f} s")
        for name in ("q", "v", "energy_balance", "status", "doubts"):
            assert np.array_equal(stored[name].values, here[name].values), name
        print("every bit is the same")


if __name__ == "__main__":
    main()
