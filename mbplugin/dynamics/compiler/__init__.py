"""The compiler of the kernels; here its cache folder, and points at which it may be interrupted, without numba.

The folder is used only if no other user can write into it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

#: Name of a folder of machine code: compiler version and checksum of the sources.
OF_A_STATE = re.compile(r"\d+(\.\w+)+-[0-9a-f]{16}")
#: Seconds after which an unused folder is removed.
_UNUSED = 30 * 24 * 3600.0


def cache_root() -> Path | None:
    """Return the cache folder of this user, or None if there is none; on Windows the local one.

    A relative ``XDG_CACHE_HOME`` is ignored, as its specification requires: it would refer to the working
    folder, whose files may belong to somebody else. For the same reason numba's own settings are ignored.
    """
    for variable in ("XDG_CACHE_HOME", *("LOCALAPPDATA",) * (sys.platform == "win32")):
        stated = Path(os.environ.get(variable, ""))
        if stated.is_absolute():
            return stated
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return None


def private_folder(folder: Path, content: str = "machine code is") -> bool:
    """Create a folder for this user alone, and return True if it is one.

    Its contents are trusted: a folder that belongs to somebody else, or that others can write into, is not
    used, and a line is printed on stderr.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        say(f"{content} not cached: {folder}: {(error.strerror or 'no reason given').lower()}")
        return False
    reason = folder_objection(status)
    if reason:
        say(f"{content} not cached: {folder} {reason}; remove it, or set XDG_CACHE_HOME")
    return not reason


def remove_unused(folder: Path) -> None:
    """Mark a folder of machine code as used, and remove sibling folders that have been unused for long.

    Each release and each compiler version has a separate folder. Folders that cannot be removed stay.
    """
    now = time.time()
    with contextlib.suppress(OSError):
        os.utime(folder)
        for other in folder.parent.iterdir():
            status = other.lstat()
            unused = now - status.st_mtime > _UNUSED and other != folder
            if unused and OF_A_STATE.fullmatch(other.name) and not folder_objection(status):
                shutil.rmtree(other, ignore_errors=True)


def say(sentence: str) -> None:
    """Print a line on stderr."""
    print(f"mbplugin: {sentence}.", file=sys.stderr, flush=True)


def file_objection(status: os.stat_result) -> str:
    """Return the reason not to trust a file of machine code; empty if there is none."""
    return _of_others(status) if stat.S_ISREG(status.st_mode) else "is not a file"


def folder_objection(status: os.stat_result) -> str:
    """Return the reason not to trust the content of a folder; empty if there is none."""
    return _of_others(status) if stat.S_ISDIR(status.st_mode) else "is not a folder"


def _of_others(status: os.stat_result) -> str:
    # on Windows access lists protect a user's folder
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "belongs to somebody else"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by others"
    return ""


_asked: list[Callable[[], None]] = []


def safe_point() -> None:
    """Call the registered functions, which may raise."""
    for function in tuple(_asked):
        function()


@contextlib.contextmanager
def at_safe_points(function: Callable[[], None]) -> Iterator[None]:
    """Call a function, which may raise, at every safe point within a block."""
    _asked.append(function)
    try:
        yield
    finally:
        _asked.remove(function)
