"""Where machine code is kept between processes: a folder that nobody else can write into, or none."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import sys
import time
from pathlib import Path

#: The name of a folder of machine code: the version of the compiler, and the state of the sources.
_OF_A_STATE = re.compile(r"\d+(\.\w+)+-[0-9a-f]{16}")
#: Seconds after which a folder that no process has used is removed.
_UNUSED = 30 * 24 * 3600.0


def cache_root() -> Path | None:
    """Return the folder of this user's caches, or None where there is none; on Windows the local one.

    A relative ``XDG_CACHE_HOME`` is ignored, as its specification demands: it would lead into the working
    folder, whose files are somebody else's. For the same reason numba's own settings do not count.
    """
    for variable in ("XDG_CACHE_HOME", *("LOCALAPPDATA",) * (sys.platform == "win32")):
        stated = Path(os.environ.get(variable, ""))
        if stated.is_absolute():
            return stated
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return None


def private_folder(folder: Path) -> bool:
    """Make a folder for this user alone, and return whether it is one.

    What lies in it is run: a folder that belongs to somebody else, or that others can write into, is
    not used, and a line on stderr says so.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        say(f"machine code is not kept: {folder}: {(error.strerror or 'no reason given').lower()}")
        return False
    reason = _objection(status)
    if reason:
        say(f"machine code is not kept: {folder} {reason}; remove it, or set XDG_CACHE_HOME")
    return not reason


def remove_unused(folder: Path) -> None:
    """Note that a folder of machine code is in use, and remove those beside it that have not been for long.

    Each release, and each compiler, has a folder of its own. What cannot be removed stays.
    """
    now = time.time()
    with contextlib.suppress(OSError):
        os.utime(folder)
        for other in folder.parent.iterdir():
            status = other.lstat()
            unused = now - status.st_mtime > _UNUSED and other != folder
            if unused and _OF_A_STATE.fullmatch(other.name) and not _objection(status):
                shutil.rmtree(other, ignore_errors=True)


def say(sentence: str) -> None:
    """Write a line about the kept code on stderr."""
    print(f"mbplugin: {sentence}.", file=sys.stderr, flush=True)


def file_objection(status: os.stat_result) -> str:
    """Return why a file of machine code is not to be trusted; empty where it is."""
    return _of_others(status) if stat.S_ISREG(status.st_mode) else "is no file"


def _objection(status: os.stat_result) -> str:
    """Return why machine code in a folder is not to be trusted; empty where it is."""
    return _of_others(status) if stat.S_ISDIR(status.st_mode) else "is no folder"


def _of_others(status: os.stat_result) -> str:
    # Windows has other means, and keeps a user's folder to the user
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "belongs to somebody else"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by others"
    return ""
