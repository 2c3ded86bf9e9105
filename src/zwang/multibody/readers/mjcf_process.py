"""MuJoCo's compiler and the reader of meshes in a process of their own, within limits of time and memory.

A stranger's file can only end that.

One process serves one file after the other, since to start one takes 0.2 s, and most models compile in a millisecond.
It ends by itself where nothing was asked of it for a while. A request that is interrupted, by Ctrl-C for instance, ends
it at once.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing.spawn import get_executable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.multibody.readers.skeleton import refused

SCRIPT = Path(__file__).with_name("mjcf_compiler.py")
SECONDS = 1.5  # of processor time for a model; measured: 0.002 for a tree of six bodies, 0.3 for 1,000 bodies
SECONDS_OF_FILES = 3.0  # for every MB of files besides, meshes above all, whose hulls are computed
MEGABYTES = 400  # of memory beside the libraries
MEGABYTES_OF_FILES = 20.0  # for every MB of files besides: pictures are packed, and meshes copied several times
MOST_FILES = 100.0  # MB of files that count: no limit is more than five minutes and 2.4 GB
INSTALL = "reading MJCF needs MuJoCo's own compiler: pip install 'zwang[mjcf]', or mujoco"
MUJOCO = "MuJoCo's compiler"
SMALLER = "make the model smaller: fewer bodies, repetitions and pictures, simpler meshes, muscles with a lengthrange"


@dataclass
class Compiler:
    """The process, if there is one."""

    process: subprocess.Popen[bytes] | None = None
    owner: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> subprocess.Popen[bytes]:
        """The process; a new one where there is none, or where it belongs to the process that this one came from."""
        if self.process is None or self.owner != os.getpid() or self.process.poll() is not None:
            self.end()
            self.owner = os.getpid()
            try:
                self.process = subprocess.Popen(
                    [get_executable(), "-P", str(SCRIPT)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "MUJOCO_GL": "disable"},  # nothing is drawn
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
            except OSError as error:
                raise InputError(f"MuJoCo's compiler needs a process of its own, which cannot begin: {error}") from None
        return self.process

    def end(self) -> int:
        """End the process, and say with which code it ended."""
        process, self.process = self.process, None
        if process is None or self.owner != os.getpid():
            return 0
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return process.wait()

    def ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The answer to a request: what it says, and the bytes of its arrays; `code` says how the process ended."""
        with self.lock:
            try:
                for _ in range(2):  # it may have ended, being idle, when it was asked
                    if self.begins(request):
                        return self.heard()
            except BaseException:
                self.end()
                raise
            return {"code": self.end()}, b""

    def begins(self, request: dict[str, Any]) -> bool:
        """Send a request; whether it was heard."""
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.end()
            return False
        if process.stdout.readline() != b"begun\n":
            self.end()
            return False
        return True

    def heard(self) -> tuple[dict[str, Any], bytes]:
        """What the process answers; the code with which it ended, if it did not."""
        assert self.process is not None
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if not said.endswith(b"\n"):
            return {"code": self.waited()}, b""
        found: dict[str, Any] = json.loads(said)
        wanted = sum(size_of(kind, shape) for _, kind, shape in found.get("arrays", ()))
        content = self.process.stdout.read(wanted) if wanted else b""
        return (found, content) if len(content) == wanted else ({"code": self.waited()}, b"")

    def waited(self) -> int:
        """The code with which the process ends by itself, which it is about to."""
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self.process.wait(timeout=5)
                self.end()
                return code
        return self.end()

    def anew(self) -> None:
        """Forget who asks, in a process that was forked meanwhile: the thread that would let go is in the other one."""
        self.lock = threading.Lock()


COMPILER = Compiler()
atexit.register(COMPILER.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=COMPILER.anew)


def size_of(kind: str, shape: Sequence[int]) -> int:
    """The bytes of an array."""
    return int(np.dtype(kind).itemsize * np.prod(shape, dtype=np.int64))


def compiled_model(text: str, file: Path | None, missing: set[str], size: int) -> tuple[Any, dict[str, Any]]:
    """The arrays and numbers of a compiled model, and what else the compiler says of it.

    `size` is how many bytes the files that it names have: the limits grow with it.
    """
    if find_spec("mujoco") is None:
        raise InputError(INSTALL)
    limits = limits_for(size)
    request = {
        "path": sys.path, "text": text if file is None else None, "file": None if file is None else str(file.resolve()),
        "missing": sorted(missing), **limits,
    }  # fmt: skip
    found, content = COMPILER.ask(request)
    if "missing" in found:
        raise InputError(f"{INSTALL}; what is installed does not load: {found['missing']}")
    if "refused" in found:
        raise refused([found["refused"]])
    if "arrays" not in found:
        raise refused([f"{why_it_ended(MUJOCO, found, **limits)}: {SMALLER}"])
    return model_of(found, content), found


def mesh_in(path: Path, kind: str, named: dict[str, Path]) -> tuple[Array, Array]:
    """The vertices and faces of a mesh's file, which may name these other files; what is not one is an InputError."""
    size = sum(file.stat().st_size for file in (path, *named.values()))
    limits = limits_for(size)
    files = {name: str(file) for name, file in named.items()}
    found, content = COMPILER.ask({"path": sys.path, "mesh": str(path), "kind": kind, "named": files, **limits})
    if "arrays" not in found:
        raise InputError(found.get("refused") or found.get("missing") or why_it_ended("its reader", found, **limits))
    mesh = model_of(found, content)
    return mesh.vertices, mesh.faces


def limits_for(size: int) -> dict[str, Any]:
    """The seconds and megabytes that files of so many bytes may take."""
    files = min(size / 1e6, MOST_FILES)
    return {
        "seconds": SECONDS + SECONDS_OF_FILES * files, "megabytes": round(MEGABYTES + MEGABYTES_OF_FILES * files)
    }  # fmt: skip


def why_it_ended(who: str, found: dict[str, Any], seconds: float, megabytes: int) -> str:
    """What somebody who did not come to the end met."""
    code, late = found.get("code"), (1, -getattr(signal, "SIGPROF", -1))
    if code in late:
        return f"{who} was ended after {seconds:.2g} s of work"
    why = f" ({found['failed']})" if found.get("failed") else ""
    return f"{who} gave up{why}; it may use {megabytes} MB of memory"


def model_of(found: dict[str, Any], content: bytes) -> SimpleNamespace:
    """The arrays and numbers of an answer, under MuJoCo's names for them."""
    model, at = SimpleNamespace(**found["numbers"]), 0
    for name, kind, shape in found["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        setattr(model, name, np.frombuffer(content, kind, count, at).reshape(shape))
        at += size_of(kind, shape)
    return model
