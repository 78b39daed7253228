"""Kernels and entries as numba dispatchers, and the disk cache of their code."""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.compiler import compile_result
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps as _dumps
from numba.core.types import unliteral

from mbplugin.dynamics.compiler import pipeline
from mbplugin.files import file_objection, say
from mbplugin.processes.foreign import without_collections
from mbplugin.processes.supervised import safe_point

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
        super().__init__(function, targetoptions=without_wrappers, pipeline_class=pipeline.KernelPipeline)
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
    made = CPUDispatcher(function, targetoptions=options, pipeline_class=pipeline.EntryPipeline)
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
            raise DamagedFile("it is truncated, or not such a file")
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
        library = pipeline.EntryLibrary.of_machine_code(context.codegen(), name, code, names)
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
        called = [one.origin for one in library.called if isinstance(one, pipeline.KernelLibrary)]
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
        library = pipeline.KernelLibrary.of_bitcode(context.codegen(), name, bitcode, libraries)
        library.origin = origin
        environment = Environment.from_fndesc(description)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            library=library,
            environment=environment,
            entry_point=pipeline.register_kernel(context, library, description, environment),
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
        )


def _find(origin: pipeline.Origin) -> Any:
    """Return the kernel of a given origin."""
    try:
        found = reduce(getattr, origin.name.split("."), importlib.import_module(origin.module))
    except (ImportError, AttributeError):
        raise CannotKeep(origin.name) from None
    if not hasattr(found, "get_compile_result"):
        raise CannotKeep(origin.name)
    return found


def _compiled(origin: pipeline.Origin) -> Any:
    """Return a kernel of a given origin, translated for its argument types."""
    kernel = _find(origin)
    kernel.compile(origin.args)
    return kernel.overloads[origin.args]
