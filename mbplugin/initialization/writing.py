"""Several new files at once: none replaces a file, and either all are written or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mbplugin.errors import BadUsage
from mbplugin.files import temporary_beside
from mbplugin.initialization.contents import NewFile


def write_all(root: Path, files: Iterable[NewFile]) -> None:
    """Write files that do not exist yet; if one cannot be written, those before it are removed again.

    Each is complete on the disk before the first gets its name, so that a process that is killed leaves no part of a
    file under any of the names. A file that somebody else has created meanwhile stays as it is.

    Parameters
    ----------
    root : Path
    files : iterable of NewFile
        Those that exist are passed over.

    Raises
    ------
    BadUsage
        A file cannot be written, or its folder lies outside of ``root``.
    """
    with contextlib.ExitStack() as undo, contextlib.ExitStack() as cleanup:
        ready = []
        for file in files:
            if not file.exists:
                target = root / file.name
                with _named(target):
                    _make_folders(root, target.parent, undo)
                    temporary = temporary_beside(target)
                    cleanup.callback(temporary.unlink, missing_ok=True)
                    _fill(temporary, file)
                ready.append((temporary, target))
        for temporary, target in ready:
            with _named(target):
                _take_name(temporary, target)
            undo.callback(target.unlink, missing_ok=True)
        # all have their names
        undo.pop_all()


def patch_of(files: Iterable[NewFile]) -> str:
    """Return the patch, for ``git apply``, that adds the files which do not exist."""
    lines = []
    for file in files:
        if not file.exists:
            mode = "100755" if file.executable else "100644"
            lines += [f"diff --git a/{file.name} b/{file.name}", f"new file mode {mode}", "--- /dev/null"]
            body = file.text.splitlines()
            lines += [f"+++ b/{file.name}", f"@@ -0,0 +1,{len(body)} @@", *(f"+{line}" for line in body)]
    return "".join(f"{line}\n" for line in lines)


@contextlib.contextmanager
def _named(target: Path) -> Iterator[None]:
    """Turn an error of the system into a sentence with the file."""
    try:
        yield
    except FileExistsError:
        raise BadUsage(
            "this file exists now", where=str(target), remedy="start mbplugin init again"
        ) from None
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(
            f"the file cannot be written ({reason}), so none is",
            where=str(target),
            remedy="make its folder writable",
        ) from None


def _make_folders(root: Path, folder: Path, undo: contextlib.ExitStack) -> None:
    missing = [one for one in (folder, *folder.parents) if one.is_relative_to(root) and not one.exists()]
    for one in reversed(missing):
        one.mkdir()
        undo.callback(_remove_folder, one)
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root)):
        raise BadUsage("this folder is a link that leads out of the repository", where=str(folder))


def _remove_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _fill(temporary: Path, file: NewFile) -> None:
    with temporary.open("wb") as stream:
        stream.write(file.text.encode())
        stream.flush()
        os.fsync(stream.fileno())
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod((0o777 if file.executable else 0o666) & ~mask)


def _take_name(temporary: Path, target: Path) -> None:
    """Give a file its name, unless another has it."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except (OSError, AttributeError):
        # a file system without links
        if target.is_symlink() or target.exists():
            raise FileExistsError from None
        temporary.rename(target)
