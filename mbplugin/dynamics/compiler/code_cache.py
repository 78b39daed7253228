"""Machine code kept on disk: one file per function, read only where its checksum fits.

Numba's own files are an index and numbered data. An index that was cut raises out of the call of the
function, damaged machine code is run, two processes can take one number, and a full disk ends the run.
Here what does not fit is removed and compiled anew, and what cannot be written is compiled in every
process.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps as _dumps

from mbplugin.dynamics.compiler.code_folder import file_objection, say
from mbplugin.dynamics.compiler.kept_form import CannotKeep, EntryForm, KernelForm, NotKept
from mbplugin.dynamics.compiler.safe_points import safe_point

_MAGIC = b"mbplugin machine code 2\n"
#: What a link leads to is as little ours as a file of somebody else's, and nobody waits for a pipe.
_READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_DIGEST = hashlib.sha256().digest_size


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
        """Return what was compiled for a signature, or None where it is not kept or cannot be read."""
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
        """Return what is kept under a key, or None."""
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
    """Return what tells a function from all others of one state of the sources."""
    code = function.__code__
    place = f"{function.__module__}.{function.__qualname__}-{code.co_firstlineno}"
    return f"{place.replace('<', '').replace('>', '')}.{sys.implementation.cache_tag}"


def _bytes_of(value: Any) -> bytes:
    pickled: bytes = _dumps(value)
    return pickled


_SAID: set[str] = set()


def _say_once(folder: str, error: OSError) -> None:
    if folder not in _SAID:
        _SAID.add(folder)
        say(f"machine code is not kept: {folder}: {(error.strerror or 'no reason given').lower()}")
