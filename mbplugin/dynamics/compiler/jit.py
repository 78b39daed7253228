"""The compiler of the kernels: one choice of options, and machine code kept between processes."""

from __future__ import annotations

import gc
import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba

from mbplugin.dynamics.compiler.code_cache import CodeCache
from mbplugin.dynamics.compiler.code_folder import cache_root, private_folder, remove_unused

#: A record of composite bodies, rates or rows, or an array of them; fields are read and written as attributes.
Records = Any

_F = TypeVar("_F", bound=Callable[..., Any])

#: Fused multiply-adds and division by a common factor; NaN and infinity keep their meaning.
_FASTMATH = {"contract", "arcp", "nsz"}
_ROOMS = ("dynamics", "simulation", "stopping")
#: Compiled where it is used, and plain Python where it stands; and the order of the kinds of rows.
_COMPILED_ELSEWHERE = ("model/brake_law.py", "model/mechanism/pair.py")
#: An import of constants, whose values are part of the machine code.
_CONSTANTS = re.compile(
    rb"^from mbplugin\.([\w.]+) import (?:\([^)]*?|[^(\n]*?)\b[A-Z][A-Z_0-9]*\b", re.MULTILINE
)


def kernel(function: _F) -> _F:
    """Compile a function at its first call; the machine code is kept on disk for the next process.

    A private one is called by kernels only, never from Python: it has no entry for it, which would take the
    compiler as long as many a function itself.
    """
    private = function.__name__.startswith("_")
    made: _F = _with_kept_code(function, no_cfunc_wrapper=True, no_cpython_wrapper=private)
    return made


def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Return a function compiled now for a signature, with an address."""
    made = _with_kept_code(function)
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return made
    with _without_collections():
        made.compile(signature)
    made.disable_compile()
    return made


def _with_kept_code(function: Callable[..., Any], **options: bool) -> Any:
    """Return a function that numba compiles; its machine code is kept where there is a folder for it."""
    numba_: Any = numba  # the stubs leave out options
    made = numba_.njit(error_model="numpy", fastmath=_FASTMATH, **options)(function)
    folder = None if numba_.config.DISABLE_JIT else cache_folder()
    if folder is not None:
        made._cache = CodeCache(function, folder)
    return made


@contextmanager
def _without_collections() -> Iterator[None]:
    """Let the garbage collector rest: what the compiler holds it would look through again and again, to keep it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Return where machine code is kept, one folder for each state of the sources; None where nowhere.

    The code of a function holds that of the functions it calls, so that the sources count together.
    """
    root = cache_root()
    if root is None:
        return None
    folder = (
        root / "mbplugin" / f"{numba.__version__}-{state_of_sources(Path(__file__).resolve().parents[2])}"
    )
    if not private_folder(folder):
        return None
    remove_unused(folder)
    return folder


def state_of_sources(package: Path) -> str:
    """Return the checksum of what is compiled in a package: kernels, and files whose constants they take."""
    sources = [p.read_bytes() for room in _ROOMS for p in sorted((package / room).rglob("*.py"))]
    compiled_ones = [s for s in sources if b"@kernel" in s or b"compiled(" in s]
    constants = {m.decode().replace(".", "/") for s in compiled_ones for m in _CONSTANTS.findall(s)}
    names = sorted({*_COMPILED_ELSEWHERE, *(f"{name}.py" for name in constants)})
    compiled_ones += [(package / name).read_bytes() for name in names if (package / name).is_file()]
    return hashlib.sha256(b"\0".join(compiled_ones)).hexdigest()[:16]
