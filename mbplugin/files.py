"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mbplugin.errors import BadUsage


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file beside ``path`` that takes its place when the block ends well.

    What is no ordinary file (a pipe, ``/dev/null``) is written to directly.

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
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(f"the file cannot be written ({reason})", where=str(path)) from None


def require_folder(path: Path | None) -> None:
    """Refuse a file that no folder can hold, before anything is computed for it.

    Raises
    ------
    BadUsage
        There is no such folder.
    """
    if path is not None and not Path(os.path.realpath(path)).parent.is_dir():
        raise BadUsage("the file cannot be written (no such folder)", where=str(path))


def is_same_file(first: Path, second: str | Path) -> bool:
    """Return whether two names lead to one existing file, whatever links are on the way."""
    try:
        return first.is_file() and first.samefile(second)
    except (OSError, ValueError):
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
