"""Where output goes: stdout takes only what was asked for, files are replaced as a whole."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TextIO

from mbplugin.errors import BadUsage
from mbplugin.files import replacing


def emit(text: str, output: Path | None = None) -> None:
    """Write a text to a file, or to stdout where none is given.

    Raises
    ------
    BadUsage
        The text cannot be written there.
    """
    if output is None:
        _to_stdout(text)
        return
    with replacing(output) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")


def complain(sentence: str) -> None:
    """Print a sentence on stderr, if there is one."""
    # print(file=None) would write to stdout
    if sys.stderr is not None and sentence:
        with contextlib.suppress(OSError):
            sys.stderr.write(_encodable(sentence, sys.stderr.encoding) + "\n")
            sys.stderr.flush()


def _to_stdout(text: str) -> None:
    if sys.stdout is None:
        return
    try:
        _write_all(sys.stdout, text)
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(f"stdout cannot be written ({reason})") from None


def _write_all(stream: TextIO, text: str) -> None:
    data = _encodable(text, stream.encoding)
    if not hasattr(stream, "buffer"):
        stream.write(data)
        return
    stream.flush()
    # an unbuffered stdout (PYTHONUNBUFFERED) may write a part and leave the rest to its caller
    rest = memoryview(data.encode(stream.encoding))
    while rest:
        rest = rest[stream.buffer.write(rest) or 0 :]
    stream.flush()


def forget_stdout() -> None:
    """Send what is left to nowhere: the reader is gone, and the flush at exit must not complain."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _encodable(text: str, encoding: str | None) -> str:
    encoding = encoding or "utf-8"
    return text.encode(encoding, errors="backslashreplace").decode(encoding)
