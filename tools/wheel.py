"""Build the wheel, install it beside nothing of the source tree, and use it. Part of `make test`.

The new environment shares the packages of the one that runs this, so nothing but the build backend is downloaded.
"""

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
PLACE = ROOT / "build" / "wheel"


def main() -> None:
    """Build, look inside, install, run."""
    for old in PLACE.glob("*.whl"):
        old.unlink()
    call(sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet", "--wheel-dir", str(PLACE))
    (wheel,) = PLACE.glob("*.whl")
    require_everything(wheel)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        require_use(installed(wheel, place / "venv"), place)
    print(f"{wheel.name}: built, complete, installed and used")


def call(*words: str, **options: str | dict[str, str]) -> str:
    """What a command prints; where it fails, its output and an end."""
    done = subprocess.run(words, capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def require_everything(wheel: Path) -> None:
    """Every file of the package is in the wheel, byte for byte: examples, scripts and styles, too; so are notices."""
    files = [path for path in (SOURCE / "zwang").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        for name in ("LICENSE", "NOTICE"):
            if not any(path.endswith(f"/licenses/{name}") for path in inside):
                sys.exit(f"{wheel.name} lacks {name}")
        for path in files:
            name = path.relative_to(SOURCE).as_posix()
            if name not in inside:
                sys.exit(f"{wheel.name} lacks {name}")
            if archive.read(name) != path.read_bytes():
                sys.exit(f"{wheel.name} holds another {name} than the source")


def installed(wheel: Path, place: Path) -> Path:
    """The Python of a new environment that holds the wheel, and sees the packages of this one."""
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    call(
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        str(wheel),
    )
    (packages,) = place.glob("lib/python*/site-packages")
    # Paths of a .pth file are not searched for further .pth files: what is installed here to be edited stays unseen.
    shared = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "shared.pth").write_text("\n".join(shared) + "\n")
    return python


def require_use(python: Path, folder: Path) -> None:
    """The command works far from the source tree, from an empty cache."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "ZWANG_CACHE_DIR": str(folder / "cache")}
    command = str(python.with_name("zwang"))

    def zwang(*words: str) -> str:
        return call(command, *words, cwd=str(folder), env=environment)

    home = call(str(python), "-c", "import zwang; print(zwang.__file__)", cwd=str(folder), env=environment)
    if not Path(home.strip()).is_relative_to(folder):
        sys.exit(f"the wheel was to be used, not {home}")
    if wheel_version() not in zwang("--version"):
        sys.exit("the wheel says another version than the source")
    listed = zwang("examples")
    for path in (SOURCE / "zwang" / "examples").glob("*.toml"):
        if path.stem not in listed:
            sys.exit(f"`zwang examples` does not list {path.stem}")
    if "finished" not in zwang("run", "pendulum", "--out", "pendulum.nc"):
        sys.exit("`zwang run pendulum` did not finish")


def wheel_version() -> str:
    """The version that the source says."""
    return (SOURCE / "zwang" / "_version.py").read_text().split('"')[1]


if __name__ == "__main__":
    main()
