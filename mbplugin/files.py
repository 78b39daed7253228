"""Files: read up to a size limit, written completely or not at all, and stamped as written by mbplugin.

Files are replaced without ``--force`` only if they are stamped. Text files get a comment with the checksum of all other
lines, so that an edited file counts as the user's. Pictures, archives and other binary files get the stamp where their
format allows comments. JSON is recognized by its keys, and a table without comments by its header.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import itertools
import json
import os
import re
import shutil
import stat
import struct
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.formats import ENDINGS
from mbplugin.phrases import visible
from mbplugin.version import __version__

#: First bytes of the pointer file that Git LFS leaves in place of a file that was not fetched.
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
#: Largest input, bytes: of a file, of stdin, of a pipe. Some kinds of files have a smaller limit.
LONGEST = 200_000_000
#: Maximum number of files beside a missing one among which its name is looked for, and the endings of those that are
#: named: a model may state any path, and the names of other files are not its business.
_MOST_BESIDE, _MOST_FOLDERS, _MOST_IN_FOLDER = 2000, 20, 200
#: Endings of the files that plots are written to.
PLOTTING_ENDINGS = (".png", ".svg", ".pdf", ".jpg")
_NAMED = (*ENDINGS, ".csv")
#: Most values in a JSON document: in memory, each takes up to a hundred times its bytes.
_MOST_VALUES = 5_000_000
#: Prefix of the names of temporary files, and the age from which one counts as left behind, s.
_TEMPORARY, _LEFT_BEHIND = ".mbplugin-", 3600.0
#: SHA-256 of the files read, by real path; None if hashes are not recorded.
_READ: ContextVar[dict[str, str] | None] = ContextVar("read", default=None)
#: Contents that are read in place of those of files, by real path.
_REPLACED: ContextVar[Mapping[str, bytes] | None] = ContextVar("replaced", default=None)
#: Longest text whose checksum is computed, bytes; a longer one counts as not written by mbplugin.
_LONGEST = 500_000_000
#: Bytes at both ends of a binary file that are searched for the stamp, and at the start of a text for known keys.
_ENDS = 65_536
_WORDS = b"written by mbplugin"
_STAMP = re.compile(
    rb"^(?:# |<!-- )written by mbplugin \S+, checksum ([0-9a-f]{16})(?: -->)?\n", re.MULTILINE
)
_PNG, _JPG, _PDF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"%PDF-"
_ZIP, _DXF = b"PK\x03\x04", b"  0\nSECTION"
#: First bytes of JSON documents and CI reports; an empty list contains nothing that could be lost.
_KEYS = (
    rb'\{\s*"schema_version":\s*\d+,\s*"generator":\s*"mbplugin"',
    rb'\{\s*"schema_version":\s*\d+,\s*"record":\s*\{\s*"date":[^{}]*"command":\s*"mbplugin ',
    rb'\{\s*"\$schema":\s*"[^"]*",\s*"title":\s*"mbplugin ',
    rb'\{\s*"\$schema":\s*"[^"]*sarif[^"]*",\s*"version":\s*"[^"]*",\s*"runs":\s*\[\s*\{\s*"tool":\s*\{\s*"driver":'
    rb'\s*\{\s*"name":\s*"mbplugin"',
    rb'\[\s*\{\s*"description":\s*"(?:[^"\\]|\\.)*",\s*"check_name":\s*"[A-Z]+\d+",\s*"fingerprint":\s*"[0-9a-f]{64}"',
    rb'\{\s*"commit_id":\s*"[0-9a-f]+",\s*"event":\s*"COMMENT",\s*"body":\s*"mbplugin ',
    rb"<\?xml[^>]*>\s*<testsuites>\s*<testsuite name=\"mbplugin\"",
    rb"\[\s*\]\s*\Z",
)
#: Headers of tables without comments: of the constraint matrix, and of a motion.
_HEADS = (
    rb"constraint,component,.*\bb,Gamma,Phi\r?\n",
    rb"time \[s\],.*\bkinetic \[J\],potential \[J\],dissipated \[J\],applied \[J\],driven \[J\],segment\b.*\r?\n",
)
_OURS = re.compile(rb"\A(?:%s)" % b"|".join((*_KEYS, *_HEADS)))


@dataclass(eq=False)
class Reads:
    """The files on which a result depends.

    Parameters
    ----------
    files : dict of str to str
        SHA-256 of each file by its real path; empty for a file whose content was not read again.
    complete : bool
        False if an engine read files by itself.
    """

    files: dict[str, str] = field(default_factory=dict)
    complete: bool = True


#: The files that are read in a block of :func:`recording_reads`; None outside of one.
_RECORDED: ContextVar[Reads | None] = ContextVar("recorded", default=None)


@contextlib.contextmanager
def reading_instead(contents: Mapping[str, bytes]) -> Iterator[None]:
    """Read these contents in a block in place of those of files, by real path; nothing is written.

    A block inside another adds its contents to those of the outer one.
    """
    token = _REPLACED.set({**(_REPLACED.get() or {}), **contents})
    try:
        yield
    finally:
        _REPLACED.reset(token)


def replaced_contents() -> Mapping[str, bytes]:
    """Return the contents that are read in place of those of files, by real path, for another process."""
    return _REPLACED.get() or {}


def read_instead(path: str | Path) -> bytes | None:
    """Return the content that is read in place of that of a file; None for the file's own."""
    contents = _REPLACED.get()
    return contents.get(os.path.realpath(path)) if contents else None


def remember_reads() -> None:
    """Start to record the hash of every file that is read in this context, as its content was then."""
    _READ.set({})


def note_read(path: str | Path, data: bytes) -> None:
    """Record the hash of a file that was read, if hashes are recorded."""
    read, recorded = _READ.get(), _RECORDED.get()
    if read is None and recorded is None:
        return
    real, digest = os.path.realpath(path), hashlib.sha256(data).hexdigest()
    if read is not None:
        read[real] = digest
    if recorded is not None:
        recorded.files[real] = digest


@contextlib.contextmanager
def recording_reads() -> Iterator[Reads]:
    """Record in a block the files that are read."""
    reads = Reads()
    token = _RECORDED.set(reads)
    try:
        yield reads
    finally:
        _RECORDED.reset(token)


def note_dependency(path: str | Path) -> None:
    """Record a file on which a result depends, though its content is not read now."""
    if recorded := _RECORDED.get():
        recorded.files.setdefault(os.path.realpath(path), "")


def note_reads(reads: Reads) -> None:
    """Record the reads of another process."""
    if recorded := _RECORDED.get():
        recorded.files.update(reads.files)
        recorded.complete &= reads.complete


def note_foreign_reads() -> None:
    """Record that an engine reads files by itself."""
    if recorded := _RECORDED.get():
        recorded.complete = False


def version_of(path: str) -> tuple[int, ...]:
    """Return size, times and number of a file, which change with its content; empty if there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return ()
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def note_hash(name: str, known: str) -> None:
    """Record a hash under the name by which a report calls the file, if hashes are recorded."""
    read = _READ.get()
    if read is not None:
        read[os.path.realpath(name)] = known


def hash_when_read(path: str | Path) -> str | None:
    """Return the SHA-256 of a file when it was last read; None if it was not read, or hashes are not recorded."""
    return (_READ.get() or {}).get(os.path.realpath(path))


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside ``path`` that replaces it if the block ends without an error.

    The file is stamped as written by mbplugin, see :mod:`mbplugin.files`. If ``path`` is not an ordinary file
    (a pipe, ``/dev/null``), it is yielded itself.

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
        raise unwritable(path, error) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def working_in(folder: str | Path) -> Iterator[None]:
    """Change the working folder for a block."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def unwritable(path: Path | str, reason: str | Exception, remedy: str = "") -> BadUsage:
    """Return the error of a file that cannot be written, with the reason or the error of the system."""
    if not isinstance(reason, str):
        reason = (getattr(reason, "strerror", None) or str(reason) or "no reason given").lower()
    return BadUsage(f"the file cannot be written ({reason})", where=str(path), remedy=remedy)


def temporary_beside(target: Path) -> Path:
    """Create an empty temporary file in the folder of ``target``, to hold its content until that is complete.

    A process that is killed leaves such a file behind; those in this folder that are older than an hour are
    removed.
    """
    _remove_leftovers(target.parent)
    handle, name = tempfile.mkstemp(prefix=_TEMPORARY, suffix=target.suffix, dir=target.parent)
    os.close(handle)
    return Path(name)


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of this user that are too old to be still in use."""
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
    """Require, before the computation starts, that the folder of an output file exists and its name is valid.

    Raises
    ------
    BadUsage
        There is no such folder, or the file name is not valid in it.
    """
    if path is None:
        return
    reason: str | Exception
    try:
        reason = "" if Path(os.path.realpath(path)).parent.is_dir() else "no such folder"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except (OSError, ValueError) as error:
        reason = error
    if reason:
        raise unwritable(path, reason)


def is_same_file(first: Path, second: str | Path) -> bool:
    """Return True if two names denote the same existing file; links are followed."""
    try:
        return first.is_file() and first.samefile(second)
    except (OSError, ValueError):
        return False


def seen_from(folder: Path, file: str) -> str:
    """Return the name of a file relative to a folder, with / as the separator; absolute if there is no such path."""
    try:
        name = os.path.relpath(file, folder)
    except ValueError:
        # there is no relative path between two drives of Windows
        name = os.path.abspath(file)  # noqa: PTH100
    return name.replace(os.sep, "/")


#: Addresses of the web and of ROS and Gazebo; as a path, they have lost one slash.
_ADDRESS = re.compile(r"(https?|ftp|file|package|model):/")


#: Names of the robot's text among the parameters and topics of ROS.
_OF_ROS = ("robot_description", "robot_state_publisher")


def remedy_for_missing(path: Path) -> str:
    """Return a question for the files beside a missing one that have its name with an ending, or a similar name."""
    scheme = _ADDRESS.match(str(path))
    if scheme:
        remedy = "name the file itself; such an address is followed within a model only"
        return "download it and name that file" if scheme[1] in ("http", "https", "ftp") else remedy
    if argument := re.fullmatch(r"(\w+):=(.*)", path.name):
        return (
            f"write --xacro-arg {argument[1]}={argument[2]} (xacro_args={{{argument[1]!r}: {argument[2]!r}}})"
        )
    if re.fullmatch(r"[\w./]+=[-+\w.]*", str(path)):
        return f"join values with commas, as in --q NAME=VALUE,{path}"
    if str(path).startswith("-"):
        return "write options before '--', or ./ in front of such a file"
    if path.name.strip("/") in _OF_ROS:
        return "pipe the text of the parameter or topic to mbplugin with - for FILE"
    try:
        with os.scandir(path.parent) as entries:
            beside = itertools.islice(entries, _MOST_BESIDE)
            names = [one.name for one in beside if one.name.lower().endswith(_NAMED) and one.is_file()]
    except (OSError, ValueError):
        names = []
    written = path.name.lower()
    close = sorted(name for name in names if written and name.lower().startswith(f"{written}."))
    # the same name with another ending
    stem = written.partition(".")[0]
    close = close or sorted(name for name in names if stem and name.lower().partition(".")[0] == stem)
    if not close:
        from difflib import get_close_matches

        lower = {name.lower(): name for name in sorted(names)}
        close = [lower[name] for name in get_close_matches(written, lower, n=1, cutoff=0.8)]
    if close:
        return f"did you mean {' or '.join(repr(str(path.parent / name)) for name in close[:2])}?"
    # a bare name is typed in a folder above the file; what a model names elsewhere is not searched for
    if len(path.parts) == 1 and (below := _below(path)):
        return f"did you mean {' or '.join(repr(str(one)) for one in below[:2])}?"
    others = f": beside it are {', '.join(map(repr, sorted(names)[:3]))}" if names else ""
    return f"check the {'pattern' if glob.has_magic(path.name) else 'path'}{others}"


def _below(path: Path) -> list[Path]:
    """Return the files in the folders beside a missing one that have its name, with or without the same ending."""
    written, found = path.name.lower().partition(".")[0], []
    try:
        with os.scandir(path.parent) as entries:
            folders = [
                one for one in itertools.islice(entries, _MOST_BESIDE) if one.is_dir(follow_symlinks=False)
            ]
        for folder in sorted(one.name for one in folders if one.name[0] != ".")[:_MOST_FOLDERS]:
            with os.scandir(path.parent / folder) as entries:
                beside = [one.name for one in itertools.islice(entries, _MOST_IN_FOLDER) if one.is_file()]
            found += [path.parent / folder / name for name in beside if name.lower().endswith(_NAMED)]
    except (OSError, ValueError):
        return []
    same = [one for one in found if written and one.name.lower().partition(".")[0] == written]
    return sorted(same, key=lambda one: (one.name.lower() != path.name.lower(), str(one)))


def read_bounded(path: Path, most: int = LONGEST) -> bytes:
    """Return the content of a file from an untrusted source; no other function of the package reads such files.

    A pipe, a socket or a device is refused before it is opened, since its writer may never come and opening it
    may have effects. Those below /dev and /proc are allowed, since the shell passes them.

    Raises
    ------
    UnreadableFile
        The file is missing, a directory, a pipe, not readable, or larger than ``most`` bytes, as ``/dev/zero`` is.
    """
    if (data := read_instead(path)) is not None:
        return data
    _refuse_pipe(path)
    try:
        with path.open("rb") as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size > most:
                raise _too_large(most, str(path))
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise UnreadableFile("no such file", where=str(path), remedy=remedy_for_missing(path)) from None
    except (OSError, ValueError) as error:
        # Windows reports a missing permission for a directory; pathlib's is_dir would raise for a name that is too long
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
    """Return the bytes of stdin, up to the size limit of a file.

    Parameters
    ----------
    expected : str
        Expected content, for the message.

    Raises
    ------
    UnreadableFile
        Stdin is closed, cannot be read, or is larger than the limit.
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
    """Return the content of a JSON document from an untrusted source; all numbers are finite.

    Raises
    ------
    ValueError
        The document is not JSON, is nested too deeply, has millions of values, or contains a number that is not finite.
    """
    if sum(map(data.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise ValueError(f"more than {_MOST_VALUES} values")

    def refuse(text: str) -> Any:
        raise ValueError(f"{text[:20]} is not a number of JSON")

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
    """Refuse a pipe, a socket or a device, except below /dev and /proc, where the shell passes them.

    Raises
    ------
    UnreadableFile
        The file is one of them.
    """
    try:
        mode = file.stat().st_mode
    except (OSError, ValueError):
        # opening the file reports the error
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


def require_replaceable(paths: Iterable[Path | None], force: bool = False) -> None:
    """Require that a command may write its output files: each is new, or was written by mbplugin, or ``force`` is set.

    Parameters
    ----------
    paths : iterable of path
        None for an absent option. Anything but an ordinary file, such as a pipe, is allowed.
    force : bool
        Whether any file may be replaced.

    Raises
    ------
    BadUsage
        A file was not written by mbplugin, or is named twice, or is a folder, or cannot be written.
    """
    seen: set[str] = set()
    for path in paths:
        if path is None:
            continue
        try:
            if path.is_dir():
                raise BadUsage("this is a directory", where=str(path), expected="the name of a file")
            if path.exists() and not path.is_file():
                continue
            real = os.path.realpath(path)
            if real in seen:
                raise BadUsage("two outputs are the same file", where=str(path), expected="different files")
            seen.add(real)
            if force or not path.exists() or is_own(path):
                continue
        except (OSError, ValueError) as error:
            raise unwritable(path, error, "name another file") from None
        raise BadUsage(
            "this file exists, and mbplugin did not write it, or it was edited since",
            where=str(path),
            expected="a new file",
            remedy="name another one, or add --force to replace it",
        )


def is_own(path: Path) -> bool:
    """Return True if a file is empty, or is stamped by mbplugin and was not edited since."""
    with path.open("rb") as stream:
        head = stream.read(_ENDS)
        if not head or _OURS.match(head):
            return True
        if _is_binary(head):
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _ENDS))
            return _WORDS in head or _WORDS in stream.read(_ENDS) or _is_own_workbook(path, head)
        data = head + stream.read(_LONGEST)
        stamp = _STAMP.search(data.replace(b"\r\n", b"\n"))
    return stamp is not None and _checksum(data) == stamp[1]


def stamp(path: Path) -> None:
    """Stamp a file that was just written, where its format allows comments.

    JSON and workbooks identify mbplugin already, and a table without comments is recognized by its header.
    """
    with path.open("rb") as stream:
        head = stream.read(_ENDS)
    # JSON needs no stamp; a TOML table begins with a bracket too, followed by a name
    if not head or _OURS.match(head) or re.match(rb"\s*(?:\{|\[\s*[\]{])", head):
        return
    if head.startswith(_ZIP):
        if not _is_own_workbook(path, head):
            with zipfile.ZipFile(path, "a") as archive:
                archive.comment = _sentence()
        return
    data = path.read_bytes()
    made = _stamped_binary(data, path.suffix.lower()) if _is_binary(head) else _stamped_text(data, path)
    if made != data:
        path.write_bytes(made)


def _sentence() -> bytes:
    return _WORDS + f" {__version__}".encode()


def _is_binary(head: bytes) -> bool:
    """Return True if a file is not text that a user would edit."""
    return b"\0" in head or head.startswith((_PNG, _JPG, _PDF, _ZIP, _DXF, b"999\n" + _WORDS))


def _is_own_workbook(path: Path, head: bytes) -> bool:
    """Return True if a workbook states mbplugin as its creator."""
    if not head.startswith(_ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive, archive.open("docProps/core.xml") as properties:
            return b"<dc:creator>mbplugin</dc:creator>" in properties.read(_ENDS)
    # not an archive, or not that of a workbook
    except (
        KeyError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
    ):
        return False


def _stamped_binary(data: bytes, ending: str) -> bytes:
    """Return a picture, film, page or drawing with the stamp where readers of the format ignore it."""
    words = _sentence()
    if data.startswith(_PNG):
        # a text chunk after the header chunk of 13 bytes
        chunk = b"tEXt" + b"Software\0" + words
        size = len(_PNG) + 12 + 13
        return b"".join(
            (
                data[:size],
                struct.pack(">I", len(chunk) - 4),
                chunk,
                struct.pack(">I", zlib.crc32(chunk)),
                data[size:],
            )
        )
    if data.startswith(_JPG):
        # after the first segment, which states the file type
        size = 4 + struct.unpack(">H", data[4:6])[0]
        return data[:size] + b"\xff\xfe" + struct.pack(">H", len(words) + 2) + words + data[size:]
    if data.startswith(b"GIF8"):
        return data[:-1] + b"\x21\xfe" + bytes((len(words),)) + words + b"\0" + data[-1:]
    if data.startswith(_PDF):
        return data + b"% " + words + b"\n"
    if data.startswith(_DXF):
        return b"999\n" + words + b"\n" + data
    if ending == ".mp4":
        return data + struct.pack(">I", 8 + len(words)) + b"free" + words
    if ending == ".stl":
        return words.ljust(80, b"\0") + data[80:]
    return data


def _stamped_text(data: bytes, path: Path) -> bytes:
    """Return a text with the stamp as a comment of its format."""
    if path.suffix.lower() == ".csv" and not data.startswith(b"#"):
        return data
    data = data.replace(b"\r\n", b"\n")
    data += b"" if data.endswith(b"\n") else b"\n"
    line = b"%s, checksum %s" % (_sentence(), _checksum(data))
    if data.startswith(b"<"):
        first = re.match(rb"(?:<\?xml[^>]*\?>|<!doctype[^>]*>)\n", data, re.IGNORECASE)
        place = first.end() if first else 0
        return data[:place] + b"<!-- " + line + b" -->\n" + data[place:]
    # the stamp is first in TOML and after the leading comments of a table, but last in a text, so that the text starts
    # with its own first line
    place = 0 if path.suffix.lower() == ".toml" else len(data)
    if data.startswith(b"#usda"):
        place = data.index(b"\n") + 1
    elif path.suffix.lower() == ".csv":
        place = re.match(rb"(?:#.*\n)*", data).end()  # type: ignore[union-attr]
    return data[:place] + b"# " + line + b"\n" + data[place:]


def _checksum(data: bytes) -> bytes:
    """Return the checksum of a text without its stamp, independent of the line endings."""
    rest = _STAMP.sub(b"", data.replace(b"\r\n", b"\n"), count=1)
    return hashlib.sha256(rest).hexdigest()[:16].encode()


# Texts in TOML.


def toml_text(text: str) -> str:
    """Return a text as a basic string of TOML; what is not printable is escaped, as are quotes and backslashes.

    Raises
    ------
    BadUsage
        The text has a lone surrogate, as the name of a file that is not UTF-8, which TOML cannot state.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise BadUsage(
            f"{visible(text)!r} cannot be written in TOML",
            expected="Unicode characters",
            remedy="rename the file, in UTF-8",
        )
    return '"' + "".join(map(_in_toml, text)) + '"'


def _in_toml(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


# The cache folder of a user: machine code and kept results. It is used only if no other user can write into it.

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
