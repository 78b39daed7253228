"""The compiler of the kernels: one choice of options, and machine code kept between processes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba

from mbplugin.dynamics.compiler.code_cache import CodeCache
from mbplugin.dynamics.compiler.code_folder import cache_root, private_folder

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
    """Compile a function at its first call; the machine code is kept on disk for the next process."""
    made: _F = compiled(function)
    return made


def compiled(function: Callable[..., Any], signature: Any = None) -> Any:
    """Return a function compiled at its first call, or now where the signature is given."""
    made: Any = numba.njit(error_model="numpy", fastmath=_FASTMATH)(function)
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        # numba is switched off
        return made
    folder = cache_folder()
    if folder is not None:
        made._cache = CodeCache(function, folder)
    if signature is not None:
        made.compile(signature)
        made.disable_compile()
    return made


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
    return folder if private_folder(folder) else None


def state_of_sources(package: Path) -> str:
    """Return the checksum of what is compiled in a package: kernels, and files whose constants they take."""
    sources = [p.read_bytes() for room in _ROOMS for p in sorted((package / room).rglob("*.py"))]
    compiled_ones = [s for s in sources if b"@kernel" in s or b"compiled(" in s]
    constants = {m.decode().replace(".", "/") for s in compiled_ones for m in _CONSTANTS.findall(s)}
    names = sorted({*_COMPILED_ELSEWHERE, *(f"{name}.py" for name in constants)})
    compiled_ones += [(package / name).read_bytes() for name in names if (package / name).is_file()]
    return hashlib.sha256(b"\0".join(compiled_ones)).hexdigest()[:16]
