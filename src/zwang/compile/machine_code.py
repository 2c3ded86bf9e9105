"""LLVM text to machine code in this process."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

# Functions of the C library are called under names of our own: LLVM then knows nothing about them and
# cannot rewrite a call (pow(10, x) as exp10(x), say), so every optimisation level gives the same bits.
LIBRARY = "zwang."

COPYING = ("memcpy", "memmove", "memset")  # LLVM's passes make calls of these from loops


@cache
def pointer_type() -> str:
    """How this LLVM writes a pointer to doubles: until LLVM 16 with its type, since 17 only without."""
    import llvmlite.binding as llvm

    return "ptr" if llvm.llvm_version_info >= (17,) else "double*"


def native_engine(text: str, called: Iterable[str], level: int) -> Any:
    """Compile a module; the engine gives the addresses, and holds the machine code as long as it lives.

    The level is that of the code generator (instruction choice, scheduling, registers). LLVM's passes
    over the text are left out: the lines hold nothing twice and no branches, so that those passes took
    up to as long as the code generator and gave no faster code.
    """
    import llvmlite.binding as llvm

    machine = target_machine(opt=level)
    for name in called:
        if name.startswith(LIBRARY):
            _provide(name)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


def object_code(text: str) -> bytes:
    """A module with all of LLVM's passes over it, as an object file for this machine.

    Position-independent: nobody knows yet where it will be loaded.
    """
    import llvmlite.binding as llvm

    machine = target_machine(opt=2, reloc="pic")
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    return bytes(machine.emit_object(module))


def plain_object_code(text: str, level: int) -> bytes:
    """A module as an object file for this machine, without LLVM's passes, as `native_engine` compiles it."""
    import llvmlite.binding as llvm

    machine = target_machine(opt=level, reloc="pic")
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return bytes(machine.emit_object(module))


def object_engine(code: bytes, called: Iterable[str]) -> Any:
    """Load an object file; the engine gives the addresses, and holds the machine code as long as it lives."""
    import llvmlite.binding as llvm

    _initialise()
    for name in (*called, *COPYING):
        if name in COPYING or name.startswith(LIBRARY):
            _provide(name)
    module = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())
    engine.remove_module(module)  # without it, nothing is compiled: that took several times as long as to load
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def machine_name() -> str:
    """Everything beside the text that machine code depends on."""
    import llvmlite
    import llvmlite.binding as llvm

    version = ".".join(map(str, llvm.llvm_version_info))
    return f"{llvmlite.__version__} {version} {llvm.get_default_triple()} {' '.join(_processor())}"


def target_machine(**options: Any) -> Any:
    """LLVM's description of this machine."""
    import llvmlite.binding as llvm

    _initialise()
    cpu, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(cpu=cpu, features=features, **options)


@cache
def _processor() -> tuple[str, str]:
    """The name and the features of this processor, as LLVM writes them."""
    import llvmlite.binding as llvm

    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _initialise() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _library() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)


@cache
def has_sincos() -> bool:
    """Whether the C library computes sine and cosine in one call, as GNU's does."""
    return hasattr(_library(), "sincos")


@cache
def _provide(name: str) -> None:
    """Tell LLVM where a function of the C library is, in the same way on every platform."""
    import llvmlite.binding as llvm

    function = getattr(_library(), name.removeprefix(LIBRARY))
    llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
