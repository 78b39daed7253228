"""Text edits of model files: spans of bytes, applied without touching anything else, and written atomically."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage
from mbplugin.files import read_bounded, temporary_beside, unwritable
from mbplugin.linter.rule import TextRange
from mbplugin.phrases import one_line_repr, visible
from mbplugin.readers.paths import package_of, real_path, repository_of


@one_line_repr
@dataclass(frozen=True)
class Edit:
    """A span of a file and the text that replaces it.

    Parameters
    ----------
    file : str
        The file as a finding names it.
    start, end : int
        Offsets in bytes; equal for an insertion.
    text : str
    """

    file: str
    start: int
    end: int
    text: str


@one_line_repr
@dataclass(frozen=True)
class Fix:
    """The edits that mend one finding about one element.

    Parameters
    ----------
    code, element : str
        Of the finding.
    title : str
        The change in a few words.
    edits : tuple of Edit
    touches : frozenset of str
        Links, joints and closures that may change by it; a fix without any leaves the robot as it is.
    rounding : bool
        The numbers of the robot change by what was rounded.
    redundancy : bool
        The degree of redundancy changes by it.
    mobility : bool
        The mobility changes by it.
    unsafe : bool
        It changes the meaning of the file, unlike other fixes of its rule.
    """

    code: str
    element: str
    title: str
    edits: tuple[Edit, ...]
    touches: frozenset[str] = frozenset()
    rounding: bool = False
    redundancy: bool = False
    mobility: bool = False
    unsafe: bool = False


@dataclass(frozen=True, eq=False)
class SourceText:
    """The bytes of a file, readable by offsets in bytes.

    Parameters
    ----------
    file : str
    data : bytes
    """

    file: str
    data: bytes

    @cached_property
    def encoding(self) -> str:
        """The encoding as the readers choose it: UTF-8, or else Latin-1."""
        try:
            self.data.decode("utf-8")
        except UnicodeDecodeError:
            return "latin-1"
        return "utf-8"

    @cached_property
    def text(self) -> str:
        """One character per byte, so that an index is an offset; only markup may be compared with it."""
        return self.data.decode("latin-1")

    @property
    def line_end(self) -> str:
        """The line end of the file: that of its first line."""
        first = self.data.find(b"\n")
        return "\r\n" if first > 0 and self.data[first - 1 : first] == b"\r" else "\n"

    def decoded(self, start: int, end: int) -> str:
        """Return the text of a span."""
        return self.data[start:end].decode(self.encoding, "replace")

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1."""
        return self.data.count(b"\n", 0, offset) + 1

    def start_of_line(self, offset: int) -> int:
        """Return the offset at which the line of an offset starts."""
        return self.data.rfind(b"\n", 0, offset) + 1

    def indentation(self, offset: int) -> str:
        """Return the blanks with which the line of an offset starts."""
        start = self.start_of_line(offset)
        end = start
        while end < len(self.data) and self.text[end] in " \t":
            end += 1
        return self.text[start:end]

    def position(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset, from 1; columns count characters, without a byte order mark."""
        start = self.start_of_line(offset)
        return self.line(offset), len(self.decoded(start, offset).lstrip("\ufeff")) + 1


def text_range(source: SourceText, edit: Edit) -> TextRange:
    """Return an edit as a range of lines and columns."""
    return TextRange(edit.file, *source.position(edit.start), *source.position(edit.end), edit.text)


def overlapping(first: Sequence[Edit], second: Sequence[Edit]) -> bool:
    """Return True if edits of one list touch spans of the other, unless both edits are the same."""
    return any(_clash(a, b) for a in first for b in second)


def _clash(a: Edit, b: Edit) -> bool:
    if a == b or real_path(a.file) != real_path(b.file):
        return False
    # two insertions at one place have no order
    return a.start == b.start or (a.start < b.end and b.start < a.end)


def applied(source: SourceText, edits: Iterable[Edit]) -> bytes:
    """Return the bytes of a file after edits that do not overlap; the same edit twice counts once.

    Raises
    ------
    UnicodeEncodeError
        A text has characters that the encoding of the file cannot represent.
    """
    data, position = bytearray(), 0
    for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end)):
        assert position <= edit.start <= edit.end <= len(source.data), edit
        data += source.data[position : edit.start] + edit.text.encode(source.encoding)
        position = edit.end
    return bytes(data + source.data[position:])


def patch(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """Return the unified diff of files, by name; lines keep their ends."""
    parts: list[str] = []
    for file, data in after.items():
        encoding = SourceText(file, before[file]).encoding
        old, new = (_lines(text.decode(encoding, "replace")) for text in (before[file], data))
        name = visible(_shown(file))
        for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=3):
            parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Return the lines with their ends; only line feeds end one, unlike those of ``splitlines``."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _shown(file: str) -> str:
    """Return the name of a file as a patch names it: relative to the working folder if it lies below it."""
    real, here = Path(os.path.abspath(file)), Path.cwd()  # noqa: PTH100
    return real.relative_to(here).as_posix() if real.is_relative_to(here) else str(real).lstrip("/")


# Which files may be edited, and how they are written.


def why_not_edited(file: str, source: str) -> str:
    """Return the reason why a file is not edited; empty if it is.

    Parameters
    ----------
    file : str
    source : str
        The linted file: the files of its repository, or else of its package, may be edited.
    """
    real, folder = real_path(file), real_path(source).parent
    if not real.is_relative_to(package_of(folder)) or repository_of(real.parent) != repository_of(folder):
        return "it lies outside of the linted repository"
    try:
        mode = real.stat().st_mode
    except OSError as error:
        return f"it cannot be found ({(error.strerror or 'no reason given').lower()})"
    if not stat.S_ISREG(mode):
        return "it is not an ordinary file"
    # the superuser may write a file that its owner protects
    if not mode & stat.S_IWUSR or not os.access(real, os.W_OK):
        return "it is read-only"
    return "" if os.access(real.parent, os.W_OK) else "its folder is read-only"


def link_target(file: str) -> str:
    """Return the file that a symbolic link leads to; empty for a file that is none."""
    absolute = Path(os.path.abspath(file))  # noqa: PTH100
    return str(real_path(absolute)) if absolute.is_symlink() else ""


def write(file: str, before: bytes, after: bytes) -> None:
    """Replace the content of a file: completely or not at all, also if the process is killed.

    The new content is written to a temporary file in the same folder, and reaches the disk before it takes the place
    of the old one. The mode is kept; a symbolic link stays, and the file it leads to is replaced.

    Parameters
    ----------
    file : str
    before : bytes
        The content that the edits were made for.
    after : bytes

    Raises
    ------
    BadUsage
        The file was changed in the meantime, or cannot be written.
    """
    target = real_path(file)
    if read_bounded(target) != before:
        raise BadUsage(
            "the file was changed while it was linted, so it is not mended",
            where=file,
            remedy="lint it again",
        )
    try:
        temporary = temporary_beside(target)
        try:
            _write_through(temporary, after)
            _like(target, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(target.parent)
    except OSError as error:
        raise unwritable(file, error) from None
    if read_bounded(target) != after:
        raise BadUsage("the file does not hold what was written", where=file, remedy="check the disk")


def _write_through(file: Path, data: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _like(target: Path, temporary: Path) -> None:
    """Give a temporary file the owner and the mode of the file that it replaces."""
    status: Any = target.stat()
    if hasattr(os, "chown"):
        # only the superuser may give a file away
        with contextlib.suppress(PermissionError):
            os.chown(temporary, status.st_uid, status.st_gid)
    temporary.chmod(stat.S_IMODE(status.st_mode))


def _sync_folder(folder: Path) -> None:
    """Make a renaming durable, on systems on which a folder can be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
