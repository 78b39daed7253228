"""Kernels and entries as numba's dispatchers: how they are compiled, and where that is kept."""

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

from mbplugin.dynamics.compiler.code_folder import file_objection, say
from mbplugin.dynamics.compiler.code_library import EntryLibrary, KernelLibrary, Origin
from mbplugin.dynamics.compiler.pipeline import EntryPipeline, KernelPipeline, register_kernel
from mbplugin.dynamics.compiler.safe_points import safe_point
from mbplugin.processes.foreign import without_collections

_MAGIC = b"mbplugin machine code 2\n"
#: What a link leads to is as little ours as a file of somebody else's, and nobody waits for a pipe.
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_DIGEST = hashlib.sha256().digest_size
_SAID: set[str] = set()


class Kernel(CPUDispatcher):
    """A function for other kernels, with an entry for Python where Python calls it.

    Parameters
    ----------
    function : callable
        Of a module; what is made of another one is not kept.
    options : dict
        Of numba.
    folder : Path, optional
        Where what is compiled is kept.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> None:
        without_wrappers = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=without_wrappers, pipeline_class=KernelPipeline)
        self._entry: Any = None
        self._entry_options, self._folder = {**options, "no_cfunc_wrapper": True}, folder
        _keep(self, function, KernelForm(), folder)

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
            self._entry = entry_of(self.py_func, self._entry_options, self._folder)
        known = len(self._entry.overloads)
        with without_collections():
            entry_point = self._entry._compile_for_args(*args, **kwargs)
        for made in list(self._entry.overloads.values())[known:]:
            enter: Any = self._insert  # type: ignore[attr-defined]
            enter([kind._code for kind in made.signature.args], made.entry_point, False)
        return entry_point


def entry_of(function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> Any:
    """Return a function that is compiled with all kernels below it; its machine code is kept in a folder."""
    made = CPUDispatcher(function, targetoptions=options, pipeline_class=EntryPipeline)
    _keep(made, function, EntryForm(), folder)
    return made


def _keep(dispatcher: Any, function: Any, form: EntryForm | KernelForm, folder: Path | None) -> None:
    """Let what is compiled be kept on disk, where there is a folder for it."""
    if folder is not None:
        dispatcher._cache = CodeCache(function, folder, form)


# Machine code kept on disk: one file per function, read only where its checksum fits.
#
# Numba's own files are an index and numbered data. An index that was cut raises out of the call of the
# function, damaged machine code is run, two processes can take one number, and a full disk ends the run.
# Here what does not fit is removed and compiled anew, and what cannot be written is compiled in every
# process.


class DamagedFile(Exception):
    """A file whose checksum does not fit, or that others may have written."""


class CodeCache(FunctionCache):
    """What is kept of one function, as numba's dispatcher asks for it.

    Parameters
    ----------
    function : callable
        In Python.
    folder : Path
        For this user alone.
    form : EntryForm or KernelForm
        What is kept.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, form: EntryForm | KernelForm) -> None:
        self._name = repr(function)
        self._py_func = function
        self._impl = form
        self._cache_path = str(folder)
        self._cache_file: Any = _CodeFile(folder / f"{_file_stem(function)}.{form.suffix}.code")
        self.enable()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None where none is stored or can be read."""
        # the compiler asks before it compiles a function
        safe_point()
        # what a compiler knows of types and functions takes longer to load than machine code to link
        rtsys.initialize(target_context)
        try:
            return self._load_overload(sig, target_context)
        except NotKept:
            return None
        # what is unpickled may fail in any way
        except Exception as error:
            self._cache_file.discard(error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for a signature; where nothing can be written, nothing is kept."""
        if not self._enabled:
            return
        try:
            self._cache_file.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
        except CannotKeep:
            pass
        except OSError as error:
            self.disable()
            _say_once(self._cache_path, error)


class _CodeFile:
    """Machine code by key: a checksum, and a pickled mapping of keys to pickled code."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, key: Any) -> Any:
        """Return the entry stored under a key; None for none."""
        kept = self._read().get(key)
        return None if kept is None else pickle.loads(kept)

    def save(self, key: Any, data: Any) -> None:
        """Keep something under a key; the file appears whole or not at all."""
        try:
            kept = self._read()
        except Exception as error:
            self.discard(error)
            kept = {}
        self._write({**kept, key: _bytes_of(data)})

    def flush(self) -> None:
        """Forget everything."""
        self.path.unlink(missing_ok=True)

    def discard(self, error: Exception) -> None:
        """Remove a damaged file, and say so."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        reason = str(error) if isinstance(error, DamagedFile) else type(error).__name__
        say(f"kept machine code is damaged ({reason}) and compiled anew: {self.path}")

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
        """Return the checksum, of the name too: another function's file does not fit."""
        return hashlib.sha256(self.path.name.encode() + b"\0" + body).digest()


def _file_stem(function: Callable[..., Any]) -> str:
    """Return a name that distinguishes a function from all others of one state of the sources."""
    code = function.__code__
    place = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}"
    return f"{place.replace('<', '').replace('>', '')}.{sys.implementation.cache_tag}"


def _bytes_of(value: Any) -> bytes:
    pickled: bytes = _dumps(value)
    return pickled


def _say_once(folder: str, error: OSError) -> None:
    if folder not in _SAID:
        _SAID.add(folder)
        say(f"machine code is not kept: {folder}: {(error.strerror or 'no reason given').lower()}")


# What is kept of a kernel and of an entry, and what is made of that in another process.


class CannotKeep(Exception):
    """A function that another process would not find by its name."""


class NotKept(Exception):
    """What a kernel was translated with is not there any more."""


class EntryForm:
    """Of an entry: its machine code."""

    suffix = "entry"

    def reduce(self, made: Any) -> Any:
        """Return the part of a compiled entry that can be pickled."""
        description = made.fndesc
        # neither is needed, and they cannot always be pickled
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
        """Return a compiled entry."""
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
    """Of a kernel that others call: its module, and which kernels it calls."""

    suffix = "kernel"

    def reduce(self, made: Any) -> Any:
        """Return the part of a translated kernel that can be pickled.

        Raises
        ------
        CannotKeep
            It is no function of a module, or calls one.
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
        """Return a translated kernel; those that it calls are read, or translated anew.

        Raises
        ------
        NotKept
            One that it calls has another name by now.
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
    """Return the kernel of a module that something was translated from."""
    try:
        found = reduce(getattr, origin.name.split("."), importlib.import_module(origin.module))
    except (ImportError, AttributeError):
        raise CannotKeep(origin.name) from None
    if not hasattr(found, "get_compile_result"):
        raise CannotKeep(origin.name)
    return found


def _compiled(origin: Origin) -> Any:
    """Return a kernel, translated for the types of its arguments."""
    kernel = _find(origin)
    kernel.compile(origin.args)
    return kernel.overloads[origin.args]
