"""Compilation of the kernels with one set of options, a cache of machine code on disk, and functions as addresses."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from mbplugin.files import cache_root, private_folder, remove_unused, say
from mbplugin.model import AnyArray
from mbplugin.processes.foreign import without_collections

#: A record of composite bodies, rates or rows, or an array of these; fields are accessed as attributes.
Records = Any
_F = TypeVar("_F", bound=Callable[..., Any])
#: Fused multiply-adds, reciprocals and no signed zeros; NaN and infinity keep their meaning.
_FASTMATH = {"contract", "arcp", "nsz"}
_PLAIN: dict[str, Any] = {"error_model": "numpy", "fastmath": _FASTMATH}
_OPTIONS = {**_PLAIN, "nopython": True}
#: Latest numba version whose internals this compiler supports.
_KNOWN = (0, 68)
_settings: Any = numba.config
#: Whether kernels run as plain Python, so that a debugger can stop in them.
INTERPRETED = bool(_settings.DISABLE_JIT)
_ROOMS = ("dynamics", "simulation", "stopping")
#: Further sources of the checksum: plain Python compiled where it is used, and the order of row kinds.
_COMPILED_ELSEWHERE = ("model/brake_law.py", "model/mechanism/pair.py")
#: Matches an import of constants, whose values are part of the machine code.
_CONSTANTS = re.compile(
    rb"^from mbplugin\.([\w.]+) import (?:\([^)]*?|[^(\n]*?)\b[A-Z][A-Z_0-9]*\b", re.MULTILINE
)


# Message during the first compilation of the integrator on a machine.


def announce_compilation() -> None:
    """Print a message at a terminal if no machine code is cached yet and the integrator must be compiled."""
    # check the folder only if somebody can read the message
    if INTERPRETED or sys.stderr is None or not sys.stderr.isatty():
        return
    folder = cache_folder()
    if folder is None or not any(folder.iterdir()):
        print(
            "mbplugin: compiling the integrator for this machine, which takes five to ten seconds once …",
            file=sys.stderr,
            flush=True,
        )


def kernel(function: _F) -> _F:
    """Return a function that is translated when another kernel calls it, and cached on disk for the next process.

    Python may call it too: it is then compiled as an entry, which takes as long as compiling many kernels.
    """
    if INTERPRETED:
        from mbplugin.dynamics.compiler.interpreted import interpreted

        return cast("_F", interpreted(function))
    if not _knows_numba():
        return cast("_F", numba.njit(**_PLAIN)(function))
    from mbplugin.dynamics.compiler.dispatch import Kernel

    made: Any = Kernel(function, _OPTIONS, cache_folder())
    return cast("_F", made)


def compiled(
    function: Callable[..., Any], signature: Any, *, address: bool = False, in_threads: bool = False
) -> Any:
    """Return a function compiled now for a signature, to be called from Python; with an address if requested.

    With ``in_threads`` other threads of Python run during its calls.
    """
    if INTERPRETED:
        from mbplugin.dynamics.compiler.interpreted import interpreted

        return interpreted(function, signature)
    if _knows_numba():
        from mbplugin.dynamics.compiler.dispatch import entry_of

        options = {**_OPTIONS, "no_cfunc_wrapper": not address, "nogil": in_threads}
        made = entry_of(function, options, cache_folder())
    else:
        made = numba.njit(**_PLAIN, nogil=in_threads)(function)
    with without_collections():
        made.compile(signature)
    made.disable_compile()
    return made


@lru_cache(maxsize=1)
def _knows_numba() -> bool:
    """Return True if this numba version is supported; otherwise print a line on stderr."""
    version = re.match(r"(\d+)\.(\d+)", numba.__version__)
    if version and (int(version[1]), int(version[2])) <= _KNOWN:
        return True
    last, next_one = (f"{_KNOWN[0]}.{_KNOWN[1] + n}" for n in range(2))
    say(
        f"numba {numba.__version__} is newer than {last}, the latest supported version: kernels are compiled without "
        f"the cache, which takes a minute in each process; install numba<{next_one}"
    )
    return False


@lru_cache(maxsize=1)
def cache_folder() -> Path | None:
    """Return the cache folder of machine code for this state of the sources; None if there is none.

    The code of a function contains that of the functions it calls, so all sources share one checksum.
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
    """Return the checksum of the compiled sources of a package: kernels, and files whose constants they import."""
    sources = [p.read_bytes() for room in _ROOMS for p in sorted((package / room).rglob("*.py"))]
    compiled_ones = [s for s in sources if b"@kernel" in s or b"compiled(" in s]
    compiled_ones += [p.read_bytes() for p in sorted((package / "dynamics" / "compiler").glob("*.py"))]
    constants = {m.decode().replace(".", "/") for s in compiled_ones for m in _CONSTANTS.findall(s)}
    names = sorted({*_COMPILED_ELSEWHERE, *(f"{name}.py" for name in constants)})
    compiled_ones += [(package / name).read_bytes() for name in names if (package / name).is_file()]
    return hashlib.sha256(b"\0".join(compiled_ones)).hexdigest()[:16]


_intrinsic: Any = intrinsic  # the stubs leave these untyped
cgutils: Any = _cgutils


def address_of(function: Any, signature: Any) -> int:
    """Return the address of a compiled function, valid as long as the function exists.

    Parameters
    ----------
    function : dispatcher
        Compiled for the signature, with an address.
    signature : numba signature
    """
    if INTERPRETED:
        from mbplugin.dynamics.compiler.interpreted import address_of_function

        return address_of_function(function)
    made = function.get_compile_result(signature)
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name))


def function_at(kind: Any) -> Callable[[int], Any]:
    """Return an intrinsic that converts an address to a function, for kernels.

    Parameters
    ----------
    kind : numba function type
        Type of the function.
    """
    if INTERPRETED:
        from mbplugin.dynamics.compiler.interpreted import function_at_address

        return function_at_address

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # the first member is the address, the others are for Python
        none = context.get_constant_null(kind)
        pointer = builder.inttoptr(args[0], none.type.elements[0])
        return builder.insert_value(none, pointer, 0)

    def typed(_: Any, address: Any) -> Any:
        return kind(types.intp), code

    made: Callable[[int], Any] = _intrinsic(typed)
    return made


named_tuple: Any = types.NamedTuple  # the stubs leave these untyped
_untyped_intrinsic: Any = intrinsic


def words_of(arrays: tuple[Any, ...]) -> list[int]:
    """Return the memory layout of named tuples of arrays as words, without owners; the caller must keep the arrays."""
    words: list[int] = []
    for array in arrays_of(arrays):
        assert array.flags.c_contiguous
        words += (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)
    return words


def arrays_of(state: tuple[Any, ...]) -> Iterator[AnyArray]:
    """Yield the arrays of nested named tuples."""
    for one in state:
        yield from arrays_of(one) if isinstance(one, tuple) else (one,)


def record_array(dtype: np.dtype[Any]) -> Any:
    """Return the compiler's type of an array of records."""
    record: Any = numba.from_dtype(dtype)
    return record[::1]


def struct_loader(kind: Any) -> Callable[[int], Any]:
    """Return an intrinsic with which kernels load a named tuple of a kind from an address.

    Parameters
    ----------
    kind : numba type
    """
    if INTERPRETED:
        from mbplugin.dynamics.compiler.interpreted import structure_loader

        return structure_loader(kind)

    def typed(_: Any, place: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = context.get_value_type(signature.return_type).as_pointer()
            return builder.load(builder.inttoptr(args[0], pointer))

        return kind(place), code

    made: Callable[[int], Any] = _untyped_intrinsic(typed)
    return made


def struct_pointer_of() -> Callable[[Any], int]:
    """Return an intrinsic with which kernels take the address of a named tuple of arrays.

    The address is valid until the calling function returns.
    """
    if INTERPRETED:
        from mbplugin.dynamics.compiler.interpreted import pointer_to

        return lambda state: pointer_to(words_of(state))

    def typed(_: Any, state: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            place = cgutils.alloca_once_value(builder, _ownerless(context, builder, state, args[0]))
            return builder.ptrtoint(place, context.get_value_type(types.intp))

        return types.intp(state), code

    made: Callable[[Any], int] = _untyped_intrinsic(typed)
    return made


def _ownerless(context: Any, builder: Any, kind: Any, state: Any) -> Any:
    """Return a named tuple whose arrays have no owners, so that loading it counts no references."""
    arrays = []
    for n, kind_of_array in enumerate(kind.types):
        array = context.make_array(kind_of_array)(context, builder, builder.extract_value(state, n))
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        arrays.append(array._getvalue())
    return context.make_tuple(builder, kind, arrays)
