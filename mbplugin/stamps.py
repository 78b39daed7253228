"""Stamps mark the files that mbplugin writes; only those are replaced without ``--force``.

Text files get a comment with the checksum of all other lines, so that an edited file counts as the user's.
Pictures, archives and other binary files get the stamp where their format allows comments. JSON is recognized by
its keys, and a table without comments by its header.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from mbplugin.errors import BadUsage
from mbplugin.version import __version__

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
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            raise BadUsage(
                f"the file cannot be written ({reason})", where=str(path), remedy="name another file"
            ) from None
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
