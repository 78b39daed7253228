"""Output: stdout gets only the requested document, files are replaced as a whole.

Every command chooses its writer by the format itself, so that the modules of the other formats are not imported.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from mbplugin.cli.shared.options import colour_is_forced, on_terminal
from mbplugin.cli.shared.working import hidden
from mbplugin.errors import BadUsage, ImplausibleValue
from mbplugin.files import is_same_file, replacing, require_folder
from mbplugin.phrases import ended
from mbplugin.report.formats import serialized
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene
    from mbplugin.report.record import Record
    from mbplugin.report.text.layout import Line

    #: Makes the record of a report where one is to be written: files are hashed for it.
    Recording = Callable[[], Record]


def emit(content: str | bytes, output: Path | None = None) -> None:
    """Write a text to a file, or to stdout where none is given; bytes only to a file.

    Raises
    ------
    BadUsage
        The text cannot be written there.
    """
    if output is None:
        assert isinstance(content, str)
        _to_stdout(content)
        return
    data = content if isinstance(content, bytes) else content.encode("utf-8", errors="surrogateescape")
    with replacing(output) as temporary:
        temporary.write_bytes(data)


def emit_lines(
    lines: Callable[[int], Iterable[Line]],
    output: Path | None = None,
    record: Recording | None = None,
) -> None:
    """Write styled lines: as wide as the terminal or COLUMNS, in colour where stdout is a terminal.

    Parameters
    ----------
    lines : callable
        Returns the lines for a width in characters.
    output : path, optional
    record : callable, optional
        Returns the record that ends a text in a file, which somebody keeps.

    Raises
    ------
    BadUsage
        The text cannot be written there.
    """
    from mbplugin.report.text.layout import PLAIN_WIDTH, output_width, plain_text, print_lines

    if output is None and (on_terminal(sys.stdout) or colour_is_forced()):
        shown = list(lines(output_width()))
        with hidden():
            print_lines(shown)
    else:
        kept = _record_text(record()) if record is not None and output is not None else ""
        emit(plain_text(lines(output_width() if output is None else PLAIN_WIDTH)) + kept, output)


def _record_text(record: Record) -> str:
    from mbplugin.report.record import record_facts

    return "\nRecord\n" + "".join(f"  {visible(fact)}\n" for fact in record_facts(record))


def emit_document(document: object, output: Path | None = None, output_format: str = "json") -> None:
    """Write a document in one of its formats; what it raises is as for :func:`emit`."""
    emit(serialized(document, output_format), output)


def refuse_overwriting(
    outputs: Iterable[Path | None], file: str, scene: Scene | None, also: Iterable[Path | None] = ()
) -> None:
    """Refuse outputs that are one of the files that were read, whatever links lead there.

    Parameters
    ----------
    outputs : iterable of path
        None where there is none.
    file : str
        What was asked for, and ``scene``, what it made: it knows all files, meshes too.
    also : iterable of path
        Other files that are read.

    Raises
    ------
    BadUsage
        Names both; or an output that no folder can hold.
    """
    outputs = tuple(outputs)
    for output in outputs:
        require_folder(output)
    existing = [output for output in outputs if output is not None and output.is_file()]
    if not existing:
        return
    from mbplugin.readers.meshes.named import mesh_paths

    read: list[str | Path] = [file, *filter(None, also)]
    if scene is not None:
        read += [*scene.files, *mesh_paths(scene)]
    for output in existing:
        for one in read:
            if is_same_file(output, one):
                raise BadUsage(
                    "the output would overwrite a file that is read",
                    where=str(output),
                    expected=f"another file than {str(one)!r}",
                )


def complain(sentence: str) -> None:
    """Print a sentence on stderr, if there is one."""
    # print(file=None) would write to stdout
    if sys.stderr is not None and sentence:
        with hidden(), contextlib.suppress(OSError):
            sys.stderr.write(_encodable(sentence, sys.stderr.encoding) + "\n")
            sys.stderr.flush()


def warn(sentences: Iterable[str]) -> None:
    """Print warnings on stderr, one line each."""
    for sentence in sentences:
        complain(ended(f"mbplugin: warning: {visible(sentence)}"))


@contextlib.contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Print each implausible value once, as other warnings, instead of with a line of Python."""
    seen: set[str] = set()
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, ImplausibleValue):
            others(message, category, *place, **more)
        elif str(message) not in seen:
            seen.add(str(message))
            warn([str(message)])

    with warnings.catch_warnings():
        warnings.simplefilter("always", ImplausibleValue)
        warnings.showwarning = show
        yield


def _to_stdout(text: str) -> None:
    if sys.stdout is None:
        return
    try:
        with hidden():
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
