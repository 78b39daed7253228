"""The compiler of the kernels: one choice of options, and machine code kept between processes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numba

#: A record of solids, rates or rows, or an array of them; fields are read and written as attributes.
Records = Any

_F = TypeVar("_F", bound=Callable[..., Any])

#: Fused multiply-adds and division by a common factor; NaN and infinity keep their meaning.
_FASTMATH = {"contract", "arcp", "nsz"}
_ROOMS = ("dynamics/kernels", "simulation")


def kernel(function: _F) -> _F:
    """Compile a function at its first call; the machine code is kept on disk for the next process."""
    made: _F = compiled(function)
    return made


def compiled(function: Callable[..., Any], signature: Any = None) -> Any:
    """Return a function compiled at its first call, or now where the signature is given."""
    settings: Any = numba.config
    elsewhere = settings.CACHE_DIR
    settings.CACHE_DIR = elsewhere or str(cache_folder())
    try:
        return numba.njit(signature, cache=True, error_model="numpy", fastmath=_FASTMATH)(function)
    except RuntimeError:
        # nowhere to keep it: compile in every process
        return numba.njit(signature, error_model="numpy", fastmath=_FASTMATH)(function)
    finally:
        settings.CACHE_DIR = elsewhere


@lru_cache(maxsize=1)
def cache_folder() -> Path:
    """Return where machine code is kept: one folder for each state of the sources.

    Numba looks at the file of a function only, not at those of the functions that it calls.
    """
    package = Path(__file__).resolve().parents[2]
    sources = [p.read_bytes() for room in _ROOMS for p in sorted((package / room).rglob("*.py"))]
    compiled_ones = [s for s in sources if b"@kernel" in s or b"compiled(" in s]
    state = hashlib.sha256(b"\0".join(compiled_ones)).hexdigest()[:16]
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "mbplugin" / f"{numba.__version__}-{state}"
