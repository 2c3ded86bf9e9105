"""From a model file to numbers: the bead on a turning hoop, at several speeds.

Above Ω² = g/R the bead leaves the bottom and swings about the angle with cos θ = g/(RΩ²). A model file is read once;
what it calls a parameter can then be changed from run to run.
"""

import sys
from pathlib import Path

import numpy as np

import zwang
from zwang.files.read import load_model

MODEL = Path(zwang.__file__).parent / "examples" / "moving_hoop.toml"


def main() -> None:
    """Turn the hoop faster and faster."""
    model = load_model(MODEL)
    print(f"{model.system.name}\n")
    print("   Ω / (rad/s)   lowest / °   highest / °   about / °   work of the hoop / J")
    for turn in (2.0, 3.0, 4.0, 5.0, 6.0):
        motion = model.simulate(parameters={"turn": turn}, samples=2001, until=12)
        angle = np.degrees(np.arccos(-motion.q.sel(coordinate="z").values))
        rest = np.degrees(np.arccos(min(1, 9.81 / turn**2)))
        work = float((motion.energy - motion.energy[0]).max())
        print(f"   {turn:11.1f} {angle.min():12.3f} {angle.max():13.3f} {rest:11.3f} {work:22.6f}")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
