"""Files: read within bounds, written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextvars import ContextVar
from math import isfinite
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.stamps import stamp

#: How the file begins that Git LFS leaves in the place of one that was not fetched.
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
#: The one bound of what is read, bytes: of a file, of stdin, and of what a pipe sends. Some kinds have a smaller one.
LONGEST = 200_000_000
#: Values of a JSON document: each needs up to a hundred times its bytes.
_MOST_VALUES = 5_000_000
#: How the names of temporary files begin, and after how long one was left behind, s.
_TEMPORARY, _LEFT_BEHIND = ".mbplugin-", 3600.0


#: SHA-256 of what was read, by the real path of the file; None where nobody will ask.
_READ: ContextVar[dict[str, str] | None] = ContextVar("read", default=None)


def remember_reads() -> None:
    """From now on, remember the hash of every file that is read here, as it was when it was read."""
    _READ.set({})


def note_read(path: str | Path, data: bytes) -> None:
    """Remember the hash of a file that was read, where hashes are remembered."""
    read = _READ.get()
    if read is not None:
        read[os.path.realpath(path)] = hashlib.sha256(data).hexdigest()


def hash_when_read(path: str | Path) -> str | None:
    """Return the SHA-256 of a file when it was read last; None where it was not, or nothing is remembered."""
    return (_READ.get() or {}).get(os.path.realpath(path))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file beside ``path`` that takes its place when the block ends well.

    It says that mbplugin wrote it, as :mod:`mbplugin.stamps` describes. What is no ordinary file (a pipe,
    ``/dev/null``) is written to directly.

    Raises
    ------
    BadUsage
        The file cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            yield target
            return
        temporary = temporary_beside(target)
        try:
            yield temporary
            stamp(temporary)
            temporary.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(f"the file cannot be written ({reason})", where=str(path)) from None


def temporary_beside(target: Path) -> Path:
    """Return a new, empty file in the folder of another one, for its content until that is complete.

    A process that is killed leaves it there, and nobody else can tell when: so what such processes have left
    in this folder more than an hour ago is removed.
    """
    _remove_leftovers(target.parent)
    handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=target.suffix, dir=target.parent)
    os.close(handle)
    return Path(name)


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of this user that nobody can still be writing."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(_TEMPORARY):
                continue
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
                if stat.S_ISREG(status.st_mode) and own and time.time() - status.st_mtime > _LEFT_BEHIND:
                    os.unlink(entry.path)  # noqa: PTH108


def require_folder(path: Path | None) -> None:
    """Refuse a file that no folder can hold, before anything is computed for it.

    Raises
    ------
    BadUsage
        There is no such folder, or the name is none that it could hold.
    """
    if path is None:
        return
    try:
        reason = "" if Path(os.path.realpath(path)).parent.is_dir() else "no such folder"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
    if reason:
        raise BadUsage(f"the file cannot be written ({reason})", where=str(path))


def is_same_file(first: Path, second: str | Path) -> bool:
    """Return whether two names lead to one existing file, whatever links are on the way."""
    try:
        return first.is_file() and first.samefile(second)
    except (OSError, ValueError):
        return False


def seen_from(folder: Path, file: str) -> str:
    """Return the name of a file as written in one of a folder, with / everywhere."""
    try:
        name = os.path.relpath(file, folder)
    except ValueError:
        # no path leads from one drive of Windows to another
        name = os.path.abspath(file)  # noqa: PTH100
    return name.replace(os.sep, "/")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_bounded(path: Path, most: int = LONGEST) -> bytes:
    """Return the content of a file that anybody may have written: no other function of the package reads one.

    A pipe, a socket or a device in a folder is refused before it is opened, as its writer may never come and
    opening it may do something; those of the shell are in /dev.

    Raises
    ------
    UnreadableFile
        Missing, a directory, a pipe, not permitted, or more than ``most`` bytes: ``/dev/zero`` has no end.
    """
    _refuse_pipe(path)
    try:
        with path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size > most:
                raise _too_large(most, str(path))
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise UnreadableFile("no such file", where=str(path), remedy="check the path") from None
    except (OSError, ValueError) as error:
        # Windows says that nobody may open a directory; pathlib raises again for a name that is too long
        if os.path.isdir(path):  # noqa: PTH112
            raise UnreadableFile(
                "this is a directory", where=str(path), expected="a file", remedy="name a file of it"
            ) from None
        reason = (getattr(error, "strerror", None) or "cannot be read").lower()
        raise UnreadableFile(f"the file cannot be read ({reason})", where=str(path)) from None
    if len(data) > most:
        raise _too_large(most, str(path))
    note_read(path, data)
    return data


def read_stdin(expected: str) -> bytes:
    """Return the bytes of stdin, up to the bound of a file.

    Parameters
    ----------
    expected : str
        What should come, for the message.

    Raises
    ------
    UnreadableFile
        Stdin is closed, or sends more.
    """
    if sys.stdin is None:
        raise UnreadableFile("stdin is closed", where="<stdin>", expected=expected)
    try:
        data = sys.stdin.buffer.read(LONGEST + 1)
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise UnreadableFile(f"stdin cannot be read ({reason})", where="<stdin>", expected=expected) from None
    if len(data) > LONGEST:
        raise _too_large(LONGEST, "<stdin>")
    return data


def parse_json(data: bytes) -> Any:
    """Return the content of a JSON document that anybody may have written; its numbers are finite.

    Raises
    ------
    ValueError
        It is no JSON, nests too deeply, has millions of values, or a number that no machine holds.
    """
    if sum(map(data.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise ValueError(f"more than {_MOST_VALUES} values")

    def refuse(text: str) -> Any:
        raise ValueError(f"{text[:20]} is no number of JSON")

    def finite(text: str) -> float:
        number = float(text)
        return number if isfinite(number) else refuse(text)

    def whole(text: str) -> int:
        finite(text)
        return int(text)

    try:
        return json.loads(data, parse_constant=refuse, parse_float=finite, parse_int=whole)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _too_large(most: int, where: str) -> UnreadableFile:
    return UnreadableFile(
        f"the {'input' if where == '<stdin>' else 'file'} is larger than {most // 10**6} MB", where=where
    )


def _refuse_pipe(file: Path) -> None:
    """Refuse what is neither a file nor a directory in a folder; those of the shell are in /dev.

    Raises
    ------
    UnreadableFile
        It is one.
    """
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        # the one who opens it says what is wrong
        return
    named = Path(os.path.normpath(file.absolute()))
    handed_over = named.is_relative_to("/dev") or named.is_relative_to("/proc")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or handed_over):
        raise UnreadableFile(
            "this is a pipe or a socket"
            if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
            else "this is a device",
            where=str(file),
            expected="a file",
            remedy="pass - and send the model to stdin",
        )
