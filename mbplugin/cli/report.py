"""The report of a command: the representations of its result, and the functions that write them in all formats.

The representations are functions that import their writers when called, so that unused formats are not imported.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import field, is_dataclass, replace
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from mbplugin.cli import options as opt
from mbplugin.cli.options import colour_is_forced, on_terminal
from mbplugin.errors import BadUsage, ImplausibleValue
from mbplugin.files import is_same_file, remember_reads, replacing, require_folder
from mbplugin.phrases import dataclass, ended, visible
from mbplugin.report import serialized

if TYPE_CHECKING:
    from mbplugin.cli.quantities import Quantities
    from mbplugin.model import Scene
    from mbplugin.report.against import Comparison, EarlierReport
    from mbplugin.report.documents import DocumentName
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text import Line

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())
#: Interval between updates of the progress line, and before the first one, s.
_EVERY = 0.3
#: Returns to the beginning of the line and clears it.
_CLEAR = "\r\x1b[2K"
_working_lines: list[Any] = []


@dataclass(frozen=True)
class CommandReport:
    """The representations of a command's result.

    Parameters
    ----------
    lines : callable
        Returns the lines of text for a width in characters.
    document : callable
        Returns the JSON document, without a record.
    record : callable
        Returns the record, for which it hashes files.
    chapter : callable, optional
        Returns the chapter of an HTML page, without a record.
    texts : mapping, optional
        Functions that return the text of formats that only this command has, by format.
    """

    lines: Callable[[int], Iterable[Line]]
    document: Callable[[], dict[str, Any]]
    record: Callable[[], Record]
    chapter: Callable[[], Chapter] | None = None
    texts: Mapping[str, Callable[[], str]] = field(default_factory=dict)


def earlier_report(path: Path | None, document: DocumentName) -> EarlierReport | None:
    """Read the report of ``--against``, before the computation starts; None without the option.

    Raises
    ------
    UnreadableFile
        The file is missing, or is not JSON.
    BadUsage
        It is not the JSON output of this command.
    """
    if path is None:
        return None
    from mbplugin.report.against import read_earlier

    return read_earlier(path, document)


def emit_report(
    report: CommandReport,
    output_format: str,
    output: Path | None = None,
    earlier: EarlierReport | None = None,
) -> None:
    """Write a report in a format, with its record and the changes since an earlier report.

    Raises
    ------
    BadUsage
        The report cannot be written there.
    MissingDependency
        The format needs a package that is absent.
    """
    if output_format in report.texts:
        emit(report.texts[output_format](), output)
        return
    if output_format == "text":
        emit_lines(lambda width: _lines(report, earlier, width), output, report.record)
    elif output_format in ("html", "pdf"):
        emit(_page(report, earlier, output_format), output)
    else:
        emit(_document(report, earlier, output_format), output)


def _compared(report: CommandReport, earlier: EarlierReport | None) -> Comparison | None:
    """Return the changes since an earlier report; None without one."""
    if earlier is None:
        return None
    from mbplugin.report.against import compared
    from mbplugin.report.documents.motions import with_record

    return compared(earlier, with_record(report.document(), report.record()))


def _lines(report: CommandReport, earlier: EarlierReport | None, width: int) -> Iterator[Line]:
    yield from report.lines(width)
    comparison = _compared(report, earlier)
    if comparison is not None:
        from mbplugin.report.text.lookup import against_lines

        yield from against_lines(comparison, width)


def _page(report: CommandReport, earlier: EarlierReport | None, output_format: str) -> str | bytes:
    from mbplugin.report.html import html_page

    assert report.chapter is not None
    record = report.record()
    chapter = replace(report.chapter(), record=record, comparison=_compared(report, earlier))
    page = html_page(chapter)
    if output_format == "html":
        return page
    from mbplugin.report.pdf import pdf_of_page

    return pdf_of_page(page, record)


def _document(report: CommandReport, earlier: EarlierReport | None, output_format: str) -> str | bytes:
    from mbplugin.report.documents.motions import with_comparison, with_record

    document = with_record(report.document(), report.record())
    return serialized(with_comparison(document, _compared(report, earlier)), output_format)


# The model of a command: read from its FILE with the reading options, and never overwritten by an output.


@dataclass(frozen=True)
class Reading:
    """The options of every command that reads one model; each field is an option.

    Parameters
    ----------
    base : "fixed" or "free", optional
    package_dir, xacro_arg : list of str, optional
    xacro_unsafe : bool
    units : str, optional
        Units of angles and lengths, for input without a unit and for printed text.
    massless : "zero" or "pybullet"
    """

    base: opt.BaseOption = None
    package_dir: opt.PackageDirOption = None
    xacro_unsafe: opt.XacroUnsafeOption = False
    xacro_arg: opt.XacroArgOption = None
    units: opt.UnitsOption = None
    massless: opt.MasslessOption = "zero"


#: No reading option is given.
AS_WRITTEN = Reading()


def reads_model(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace each parameter that is a group of options, such as ``reading``, by its options, for the command line."""
    own = inspect.signature(command, eval_str=True)
    annotations = {name: parameter.annotation for name, parameter in own.parameters.items()}
    groups: dict[str, Any] = {name: group for name, group in annotations.items() if is_dataclass(group)}
    options = {name: inspect.signature(group, eval_str=True).parameters for name, group in groups.items()}
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += options[name].values() if name in groups else [parameter]

    @wraps(command)
    def run(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{option: given.pop(option) for option in options[name]})
        return command(**given)

    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def read_scene(
    file: str,
    outputs: Iterable[Path | None],
    reading: Reading,
    *,
    also: Iterable[Path | None] = (),
    snap_angles: bool = False,
    anew: bool = True,
) -> Scene:
    """Return the scene of a FILE argument.

    Parameters
    ----------
    file : str
        A path, or ``-`` for stdin.
    outputs, also : iterable of path
        Files that the command writes, and other files that it reads; None for absent options.
    reading : Reading
    snap_angles : bool
        Value of ``--snap-angles``.
    anew : bool
        Forget the hashes of files that were read before; a command that reads a second model keeps them.

    Raises
    ------
    MbPluginError
        The model is not usable.
    BadUsage
        An output is also one of the files to be read.
    """
    from mbplugin import readers

    if anew:
        remember_reads()
    name, text = opt.read_source(file)
    scene = readers.load(
        name,
        text=text,
        package_dirs=tuple(reading.package_dir or ()),
        base=reading.base,
        snap_angles=snap_angles,
        xacro_unsafe=reading.xacro_unsafe,
        xacro_args=opt.parse_xacro_args(reading.xacro_arg),
        massless=reading.massless,
    )
    refuse_overwriting(outputs, file, scene, also)
    return scene


def quantities_of(scene: Scene, file: str, reading: Reading) -> Quantities:
    """Return the parser of numeric options, with the units of ``--units``, or else of the configuration.

    Raises
    ------
    BadUsage
        A unit is unknown, or the configuration cannot be read.
    """
    from mbplugin.cli.quantities import Quantities
    from mbplugin.model.brake_law import read_units

    if reading.units is not None:
        units = read_units(opt.split([reading.units]), "--units")
    else:
        from mbplugin.linter.targets import settings_for

        settings = settings_for(Path() if file == opt.STDIN else Path(file))
        units = settings.units
        if not units.is_si:
            place = visible(settings.origins.get("units", settings.file))
            complain(f"mbplugin: numbers without a unit are in {units.angle} and {units.length} ({place}).")
    return Quantities(units, scene.mechanism)


# Output: stdout gets only the requested document; files are replaced as a whole.
#
# Every command selects its writer by format, so that the modules of the other formats are not imported.


if TYPE_CHECKING:
    from mbplugin.model import Scene
    from mbplugin.report.record import Record
    from mbplugin.report.text import Line

    #: Makes the record of a report; called only if a record is to be written, since it hashes files.
    Recording = Callable[[], Record]


def emit(content: str | bytes, output: Path | None = None) -> None:
    """Write a text to a file, or to stdout if none is given; bytes only to a file.

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
    """Write styled lines, as wide as the terminal or COLUMNS, and in colour if stdout is a terminal.

    Parameters
    ----------
    lines : callable
        Returns the lines for a width in characters.
    output : path, optional
    record : callable, optional
        Returns the record, which is appended only to text in a file.

    Raises
    ------
    BadUsage
        The text cannot be written there.
    """
    from mbplugin.report.text import PLAIN_WIDTH, output_width, plain_text, print_lines

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
    """Write a document in one of its formats; errors as for :func:`emit`."""
    emit(serialized(document, output_format), output)


def refuse_overwriting(
    outputs: Iterable[Path | None], file: str, scene: Scene | None, also: Iterable[Path | None] = ()
) -> None:
    """Refuse outputs that are also input files, with links resolved.

    Parameters
    ----------
    outputs : iterable of path
        None for an absent option.
    file : str
        The FILE argument; ``scene`` is read from it and lists all its files, including meshes.
    also : iterable of path
        Other files that are read.

    Raises
    ------
    BadUsage
        An output is an input file (both are named), or its folder does not exist.
    """
    outputs = tuple(outputs)
    for output in outputs:
        require_folder(output)
    existing = [output for output in outputs if output is not None and output.is_file()]
    if not existing:
        return
    from mbplugin.readers.meshes import mesh_paths

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
    """Print a sentence on stderr, unless it is empty."""
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
    """Print each warning of an implausible value once and in plain form, without Python's source line."""
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
    # an unbuffered stdout (PYTHONUNBUFFERED) may write only a part, so the rest must be written again
    rest = memoryview(data.encode(stream.encoding))
    while rest:
        rest = rest[stream.buffer.write(rest) or 0 :]
    stream.flush()


def forget_stdout() -> None:
    """Redirect stdout to the null device, so that the flush at exit does not fail after its reader is gone."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _encodable(text: str, encoding: str | None) -> str:
    encoding = encoding or "utf-8"
    return text.encode(encoding, errors="backslashreplace").decode(encoding)


# The command line of this run, for the record of its reports.


def keep_arguments(arguments: Sequence[str]) -> None:
    """Store the arguments of this run."""
    _ARGUMENTS.set(tuple(arguments))


def command_line() -> str:
    """Return the command line of this run, quoted for a shell."""
    return shlex.join(("mbplugin", *_ARGUMENTS.get()))


def record_of_scene(scene: Scene, also: Iterable[object] = (), standard: str | None = None) -> Record:
    """Return the record of a report on a scene; ``also`` are other files that were read, None for absent options."""
    from mbplugin.readers import sources_of
    from mbplugin.report.record import record_of

    files = sources_of(scene, tuple(str(path) for path in also if path is not None))
    return record_of(command_line(), scene.mechanism.name, files, standard)


# A progress line on stderr while a command computes, on a terminal and only while nothing else is shown.


class _Line:
    """The progress line, updated by a thread until the command ends."""

    def __init__(self, command: str) -> None:
        import threading

        self.command, self.begun, self.is_shown = command, monotonic(), False
        #: Held while other output is written to the terminal.
        self.lock, self.ended = threading.RLock(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.ended.wait(_EVERY):
            with self.lock:
                self._write(f"{_CLEAR}{self.command}: computing, {monotonic() - self.begun:.0f} s")
                self.is_shown = True

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def clear(self) -> None:
        """Clear the line; the caller holds the lock."""
        if self.is_shown:
            self._write(_CLEAR)
        self.is_shown = False

    def end(self) -> None:
        """Stop the updates and clear the line."""
        self.ended.set()
        self.thread.join()
        self.clear()


@contextlib.contextmanager
def working(command: str) -> Iterator[None]:
    """Show a line with the elapsed seconds while a command is silent; only on a terminal and for a given name."""
    if not command or not on_terminal(sys.stderr):
        yield
        return
    _working_lines.append(_Line(command))
    try:
        yield
    finally:
        _working_lines.pop().end()


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Hide the progress line while other output is written to the terminal."""
    if not _working_lines:
        yield
        return
    with _working_lines[-1].lock:
        _working_lines[-1].clear()
        yield
