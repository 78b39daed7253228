"""Compilation of the kernels with one set of options, a cache of machine code on disk, and functions as addresses."""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.core.compiler import compile_result
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps as _dumps
from numba.core.types import unliteral
from numba.extending import intrinsic

from mbplugin.dynamics.compiler.pipeline import (
    EntryLibrary,
    EntryPipeline,
    KernelLibrary,
    KernelPipeline,
    Origin,
    register_kernel,
)
from mbplugin.files import cache_root, file_objection, private_folder, remove_unused, say
from mbplugin.model.spatial import AnyArray
from mbplugin.processes.foreign import without_collections
from mbplugin.processes.supervised import safe_point

#: A record of composite bodies, rates or rows, or an array of these; fields are accessed as attributes.
Records = Any
_F = TypeVar("_F", bound=Callable[..., Any])
#: Fused multiply-adds, reciprocals and no signed zeros; NaN and infinity keep their meaning.
_FASTMATH = {"contract", "arcp", "nsz"}
_PLAIN: dict[str, Any] = {"error_model": "numpy", "fastmath": _FASTMATH}
_OPTIONS = {**_PLAIN, "nopython": True}
#: Latest numba version whose internals this compiler supports.
_KNOWN = (0, 68)
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
    if sys.stderr is None or not sys.stderr.isatty():
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
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return function
    if not _knows_numba():
        return cast("_F", numba.njit(**_PLAIN)(function))
    from mbplugin.dynamics.compiler import Kernel

    made: Any = Kernel(function, _OPTIONS, cache_folder())
    return cast("_F", made)


def compiled(function: Callable[..., Any], signature: Any, *, address: bool = False) -> Any:
    """Return a function compiled now for a signature, to be called from Python; with an address if requested."""
    settings: Any = numba.config
    if settings.DISABLE_JIT:
        return function
    if _knows_numba():
        from mbplugin.dynamics.compiler import entry_of

        made = entry_of(function, {**_OPTIONS, "no_cfunc_wrapper": not address}, cache_folder())
    else:
        made = numba.njit(**_PLAIN)(function)
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
        f"numba {numba.__version__} is newer than {last}, the last one that is known: it compiles in its own way, "
        f"which takes a minute in each process; install numba<{next_one}"
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


_intrinsic: Any = intrinsic  # the stubs leave it untyped


def address_of(function: Any, signature: Any) -> int:
    """Return the address of a compiled function, valid as long as the function exists.

    Parameters
    ----------
    function : dispatcher
        Compiled for the signature, with an address.
    signature : numba signature
    """
    made = function.get_compile_result(signature)
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name))


def function_at(kind: Any) -> Callable[[int], Any]:
    """Return an intrinsic that converts an address to a function, for kernels.

    Parameters
    ----------
    kind : numba function type
        Type of the function.
    """

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

    def typed(_: Any, place: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = context.get_value_type(signature.return_type).as_pointer()
            return builder.load(builder.inttoptr(args[0], pointer))

        return kind(place), code

    made: Callable[[int], Any] = _untyped_intrinsic(typed)
    return made


_MAGIC = b"mbplugin machine code 2\n"
#: Links are not followed, since they may lead to somebody else's file, and opening a pipe does not block.
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_DIGEST = hashlib.sha256().digest_size
_SAID: set[str] = set()


class Kernel(CPUDispatcher):
    """A function for other kernels, with an entry if Python calls it.

    Parameters
    ----------
    function : callable
        A module-level function; others are not cached.
    options : dict
        Numba options.
    folder : Path, optional
        Cache folder.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> None:
        without_wrappers = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=without_wrappers, pipeline_class=KernelPipeline)
        self._entry: Any = None
        self._entry_options, self._folder = {**options, "no_cfunc_wrapper": True}, folder
        _keep(self, function, KernelForm(), folder)

    def __reduce__(self) -> Any:
        """Return the qualified name, under which another process finds it."""
        return self.py_func.__qualname__

    def add_overload(self, made: Any) -> None:
        """Store the translation for a signature; Python cannot call it."""
        self.overloads[tuple(made.signature.args)] = made

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call in a kernel; literal numbers are treated like any other numbers."""
        numbers = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(unliteral(kind) for kind in args), numbers)

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        """Return the entry for arguments from Python."""
        if self._entry is None:
            self._entry = entry_of(self.py_func, self._entry_options, self._folder)
        known = len(self._entry.overloads)
        with without_collections():
            entry_point = self._entry._compile_for_args(*args, **kwargs)
        for made in list(self._entry.overloads.values())[known:]:
            enter: Any = self._insert  # type: ignore[attr-defined]
            enter([kind._code for kind in made.signature.args], made.entry_point, False)
        return entry_point


def entry_of(function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> Any:
    """Return a function that is compiled with all kernels below it, with its machine code cached in a folder."""
    made = CPUDispatcher(function, targetoptions=options, pipeline_class=EntryPipeline)
    _keep(made, function, EntryForm(), folder)
    return made


def _keep(dispatcher: Any, function: Any, form: EntryForm | KernelForm, folder: Path | None) -> None:
    """Cache compiled code on disk, if there is a folder."""
    if folder is not None:
        dispatcher._cache = CodeCache(function, folder, form)


# Disk cache of machine code: one file per function, read only if its checksum matches.
#
# Numba's own cache is an index and numbered data files. A truncated index raises in the call of the function,
# damaged machine code is executed, two processes can take the same number, and a full disk ends the run.
# Here a damaged file is removed and compiled again, and code that cannot be written is compiled in every
# process.


class DamagedFile(Exception):
    """A file with a wrong checksum, or that others may have written."""


class CodeCache(FunctionCache):
    """Cache of one function, with the interface that numba's dispatcher expects.

    Parameters
    ----------
    function : callable
        Python function.
    folder : Path
        Folder for this user alone.
    form : EntryForm or KernelForm
        Form of the cached code.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, form: EntryForm | KernelForm) -> None:
        self._name = repr(function)
        self._py_func = function
        self._impl = form
        self._cache_path = str(folder)
        self._cache_file: Any = _CodeFile(folder / f"{_file_stem(function)}.{form.suffix}.code")
        self.enable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if none is stored or can be read."""
        # called before every compilation
        safe_point()
        # only the runtime: numba's registries take longer to load than machine code to link
        rtsys.initialize(target_context)
        try:
            return self._load_overload(sig, target_context)
        except NotKept:
            return None
        # unpickling may fail in any way
        except Exception as error:
            self._cache_file.discard(error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the compiled code for a signature, if the folder is writable."""
        if not self._enabled:
            return
        try:
            self._cache_file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
        except CannotKeep:
            pass
        except OSError as error:
            self.disable()
            if self._cache_path not in _SAID:
                _SAID.add(self._cache_path)
                say(
                    f"machine code is not cached: {self._cache_path}: {(error.strerror or 'no reason given').lower()}"
                )


class _CodeFile:
    """File of machine code by key: a checksum, and a pickled mapping of keys to pickled code."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, key: Any) -> Any:
        """Return the entry stored under a key, or None."""
        kept = self._read().get(key)
        return None if kept is None else pickle.loads(kept)

    def save(self, key: Any, data: Any) -> None:
        """Store data under a key; the file is replaced atomically."""
        try:
            kept = self._read()
        except Exception as error:
            self.discard(error)
            kept = {}
        self._write({**kept, key: _bytes_of(data)})

    def flush(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def discard(self, error: Exception) -> None:
        """Remove a damaged file, and print a message."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        reason = str(error) if isinstance(error, DamagedFile) else type(error).__name__
        say(f"cached machine code is damaged ({reason}) and is compiled again: {self.path}")

    def _read(self) -> dict[Any, bytes]:
        try:
            handle = os.open(self.path, _READ)
        except FileNotFoundError:
            return {}
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise DamagedFile("it is a link") from None
            raise
        with os.fdopen(handle, "rb") as file:
            if reason := file_objection(os.fstat(handle)):
                raise DamagedFile(f"it {reason}")
            content = file.read()
        start = len(_MAGIC) + _DIGEST
        if content[: len(_MAGIC)] != _MAGIC or len(content) < start:
            raise DamagedFile("it is cut, or no such file")
        body = content[start:]
        if content[len(_MAGIC) : start] != self._digest(body):
            raise DamagedFile("its checksum does not fit")
        kept: dict[Any, bytes] = pickle.loads(body)
        return kept

    def _write(self, kept: dict[Any, bytes]) -> None:
        body = _bytes_of(kept)
        handle, name = tempfile.mkstemp(prefix=".code-", dir=self.path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_MAGIC + self._digest(body) + body)
            os.replace(name, self.path)  # noqa: PTH105
        finally:
            Path(name).unlink(missing_ok=True)

    def _digest(self, body: bytes) -> bytes:
        """Return the checksum, including the file name, so that another function's file does not match."""
        return hashlib.sha256(self.path.name.encode() + b"\0" + body).digest()


def _file_stem(function: Callable[..., Any]) -> str:
    """Return a name that distinguishes a function from all others of one state of the sources."""
    code = function.__code__
    place = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}"
    return f"{place.replace('<', '').replace('>', '')}.{sys.implementation.cache_tag}"


def _bytes_of(value: Any) -> bytes:
    pickled: bytes = _dumps(value)
    return pickled


# Cached form of kernels and entries, and their restoration in another process.


class CannotKeep(Exception):
    """A function that another process cannot find by name."""


class NotKept(Exception):
    """A kernel's callees have changed since it was cached."""


class EntryForm:
    """Cached form of an entry: its machine code."""

    suffix = "entry"

    def reduce(self, made: Any) -> Any:
        """Return the part of a compiled entry that can be pickled."""
        description = made.fndesc
        # not needed, and not always picklable
        description.typemap = description.calltypes = None
        environments = tuple(made._find_referenced_environments())
        code, names = made.library.machine_code()
        return (
            made.library.name,
            *(code, names),
            *(description, made.environment, made.signature),
            *(made.reload_init, environments),
        )

    def rebuild(self, context: Any, kept: Any) -> Any:
        """Return a compiled entry from its cached form."""
        name, code, names, description, environment, signature, reload_init, environments = kept
        for function in reload_init:
            function()
        library = EntryLibrary.of_machine_code(context.codegen(), name, code, names)
        entry_point = context.get_executable(library, description, environment)
        for one in environments:
            library.codegen.set_env(one.env_name, one)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            library=library,
            environment=environment,
            entry_point=entry_point,
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
            referenced_envs=environments,
        )


class KernelForm:
    """Cached form of a kernel that others call: its module, and the kernels it calls."""

    suffix = "kernel"

    def reduce(self, made: Any) -> Any:
        """Return the part of a translated kernel that can be pickled.

        Raises
        ------
        CannotKeep
            It is not a module-level function, or calls a kernel that is not.
        """
        library, description = made.library, made.fndesc
        called = [one.origin for one in library.called if isinstance(one, KernelLibrary)]
        for origin in (library.origin, *called):
            _find(origin)
        description.typemap = description.calltypes = None
        names = tuple(_compiled(origin).fndesc.mangled_name for origin in called)
        return (
            *(library.name, library.bitcode(), library.origin),
            *(tuple(called), names),
            *(description, made.signature, tuple(getattr(library, "_reload_init", ()))),
        )

    def rebuild(self, context: Any, kept: Any) -> Any:
        """Return a translated kernel from its cached form; its callees are loaded or translated.

        Raises
        ------
        NotKept
            A callee now has another mangled name.
        """
        name, bitcode, origin, called, names, description, signature, reload_init = kept
        below = [_compiled(one) for one in called]
        if names != tuple(one.fndesc.mangled_name for one in below):
            raise NotKept
        for function in reload_init:
            function()
        libraries = [one.library for one in below]
        library = KernelLibrary.of_bitcode(context.codegen(), name, bitcode, libraries)
        library.origin = origin
        environment = Environment.from_fndesc(description)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            library=library,
            environment=environment,
            entry_point=register_kernel(context, library, description, environment),
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
        )


def _find(origin: Origin) -> Any:
    """Return the kernel of a given origin."""
    try:
        found = reduce(getattr, origin.name.split("."), importlib.import_module(origin.module))
    except (ImportError, AttributeError):
        raise CannotKeep(origin.name) from None
    if not hasattr(found, "get_compile_result"):
        raise CannotKeep(origin.name)
    return found


def _compiled(origin: Origin) -> Any:
    """Return a kernel of a given origin, translated for its argument types."""
    kernel = _find(origin)
    kernel.compile(origin.args)
    return kernel.overloads[origin.args]
