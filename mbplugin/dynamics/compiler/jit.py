"""The compiler of the kernels: one choice of options, and machine code kept between processes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

from mbplugin.dynamics.compiler.code_cache import CodeCache
from mbplugin.dynamics.compiler.code_folder import cache_root, private_folder, remove_unused
from mbplugin.dynamics.compiler.kept_form import EntryForm, KernelForm
from mbplugin.dynamics.compiler.pipeline import EntryPipeline, KernelPipeline
from mbplugin.processes.collections import without_collections

#: A record of composite bodies, rates or rows, or an array of them; fields are read and written as attributes.
Records = Any

_F = TypeVar("_F", bound=Callable[..., Any])

#: Fused multiply-adds and division by a common factor; NaN and infinity keep their meaning.
_FASTMATH = {"contract", "arcp", "nsz"}
_OPTIONS: dict[str, Any] = {"nopython": True, "error_model": "numpy", "fastmath": _FASTMATH}
_ROOMS = ("dynamics", "simulation", "stopping")
#: Compiled where it is used, and plain Python where it stands; and the order of the kinds of rows.
_COMPILED_ELSEWHERE = ("model/brake_law.py", "model/mechanism/pair.py")
#: An import of constants, whose values are part of the machine code.
_CONSTANTS = re.compile(
    rb"^from mbplugin\.([\w.]+) import (?:\([^)]*?|[^(\n]*?)\b[A-Z][A-Z_0-9]*\b", re.MULTILINE
)


def kernel(function: _F) -> _F:
    """Translate a function where a kernel calls it; what is made of it is kept on disk for the next process.

    Python may call it too: then it is compiled as an entry, which takes the compiler as long as many kernels.
    """
    settings: Any = numba.config
    made: Any = function if settings.DISABLE_JIT else Kernel(function)
    return cast("_F", made)


class Kernel(CPUDispatcher):
    """A function for other kernels, with an entry for Python where Python calls it.

    Parameters
    ----------
    function : callable
        Of a module; what is made of another one is not kept.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        options = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=options, pipeline_class=KernelPipeline)
        self._entry: Any = None
        _keep(self, function, KernelForm())

    def __reduce__(self) -> Any:
        """Return the name, by which another process finds it."""
        return self.py_func.__qualname__

    def add_overload(self, made: Any) -> None:
        """Note what was translated for a signature; Python cannot call that."""
        self.overloads[tuple(made.signature.args)] = made

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call in a kernel; a number that the caller states is a number like others."""
        numbers = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(unliteral(kind) for kind in args), numbers)

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        """Return the entry for arguments from Python."""
        if self._entry is None:
            self._entry = _entry_of(self.py_func, no_cfunc_wrapper=True)
        known = len(self._entry.overloads)
        with without_collections():
            entry_point = self._entry._compile_for_args(*args, **kwargs)
        for made in list(self._entry.overloads.values())[known:]:
            enter: Any = self._insert  # type: ignore[attr-defined]
            enter([kind._code for kind in made.signature.args], made.entry_point, False)
        return entry_point


def compiled(function: Callable[..., Any], signature: Any, *, address: bool = False) -> Any:
    """Return a function compiled now for a signature, which Python calls; with an address where that is asked for."""
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return function
    made = _entry_of(function, no_cfunc_wrapper=not address)
    with without_collections():
        made.compile(signature)
    made.disable_compile()
    return made


def _entry_of(function: Callable[..., Any], **options: bool) -> Any:
    """Return a function that is compiled with all kernels below it; its machine code is kept."""
    made = CPUDispatcher(function, targetoptions={**_OPTIONS, **options}, pipeline_class=EntryPipeline)
    _keep(made, function, EntryForm())
    return made


def _keep(dispatcher: Any, function: Callable[..., Any], form: EntryForm | KernelForm) -> None:
    """Let what is compiled be kept on disk, where there is a folder for it."""
    folder = cache_folder()
    if folder is not None:
        dispatcher._cache = CodeCache(function, folder, form)


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
    compiled_ones += [p.read_bytes() for p in sorted((package / "dynamics" / "compiler").glob("*.py"))]
    constants = {m.decode().replace(".", "/") for s in compiled_ones for m in _CONSTANTS.findall(s)}
    names = sorted({*_COMPILED_ELSEWHERE, *(f"{name}.py" for name in constants)})
    compiled_ones += [(package / name).read_bytes() for name in names if (package / name).is_file()]
    return hashlib.sha256(b"\0".join(compiled_ones)).hexdigest()[:16]
