"""What every result can be written as: the only import from a result upwards to the reports, at the time of use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.errors import BadUsage

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

#: The package that knows the documents, texts, tables and pages of all results; nothing below may import it.
_REPORTS = "mbplugin.report.results"
#: Endings and the format that each means.
ENDINGS: dict[str, str] = {
    ".txt": "text",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".toml": "toml",
    ".sarif": "sarif",
    ".xml": "junit",
}
#: Formats that are no text, so that they go to files only.
BINARY = ("pdf", "xlsx")
#: Endings of files that hold any text, or any XML, so that another stated format may go there.
_OPEN = (".txt", ".xml")


def rendered(result: object, kind: Literal["json", "html"]) -> str:
    """Return the JSON document or the HTML page of a result.

    Raises
    ------
    TypeError
        The reports know no such result.
    """
    return str(_reports().text_of(result, kind))


def _reports() -> Any:
    return import_module(_REPORTS)


class Result:
    """A result: one line in an interpreter, a text in ``print``, a short table or picture in a notebook."""

    def __str__(self) -> str:
        """Return the text that the command line prints."""
        return str(_reports().text_of(self, "text"))

    def _repr_html_(self) -> str:
        return str(_reports().cell_of(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of the command line, made of what JSON knows."""
        document: dict[str, Any] = _reports().dict_of(self)
        return document

    def to_frame(self) -> pandas.DataFrame:
        """Return the result's table, SI units, as a ``pandas.DataFrame``.

        Raises
        ------
        MissingDependency
            pandas is not installed.
        """
        return _reports().frame_of(self)

    def to_html(self) -> str:
        """Return the HTML page of the result, a single file."""
        return str(_reports().text_of(self, "html"))

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the result into a ``.png``, ``.svg``, ``.pdf`` or ``.jpg``, or in a window where none is named.

        Returns
        -------
        matplotlib.figure.Figure
            What was drawn, with or without a display.

        Raises
        ------
        MissingDependency
            Matplotlib is not installed.
        BadUsage
            No picture by its ending, or a file that cannot be written.
        """
        figure: Figure = _reports().plot(self, path)
        return figure

    def save(self, path: str | Path) -> None:
        """Write to ``.json``, ``.html``, ``.csv`` (the table), ``.txt`` or ``.xlsx``, whole or not at all.

        Results with a page of their own are printed to ``.pdf`` as well, and some write formats of their own,
        such as a motion ``.npz``.

        Raises
        ------
        BadUsage
            Another ending, or a file that cannot be written.
        MissingDependency
            The package of a format is not installed.
        """
        _reports().save(self, Path(path), self._writers())

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of this result's own formats, by ending."""
        return {}


# The formats of output files by their ending: the one table, for all commands and for what results save.


def endings_of(formats: Sequence[str]) -> list[str]:
    """Return the endings that mean one of these formats."""
    return [ending for ending, meant in ENDINGS.items() if meant in formats]


def format_of(
    path: Path, formats: Sequence[str], what: str, own: Sequence[str] = (), remedy: str = ""
) -> str:
    """Return the format that the ending of a file means.

    Parameters
    ----------
    path : Path
    formats : sequence of str
        Those that are offered.
    what : str
        Names the file in the error, such as ``--output``.
    own : sequence of str
        Endings of other formats that may stand there, for the error.
    remedy : str
        What else to do, for the error.

    Raises
    ------
    BadUsage
        An ending that means none of them.
    """
    ending = path.suffix.lower()
    meant = ENDINGS.get(ending)
    if meant is None or meant not in formats:
        raise BadUsage(
            f"{what} is {str(path)!r}, and {ending or 'a file without ending'} is none of the formats here",
            expected=f"a file that ends in {' or '.join(dict.fromkeys((*own, *endings_of(formats))))}",
            remedy=remedy,
        )
    return meant


def require_agreement(path: Path, stated: str) -> None:
    """Require that the ending of ``--output`` does not mean another format than the stated one.

    Raises
    ------
    BadUsage
    """
    ending = path.suffix.lower()
    meant = ENDINGS.get(ending, stated)
    if meant != stated and ending not in _OPEN:
        raise BadUsage(
            f"--output is {str(path)!r}, but --output-format is {stated}",
            expected=f"--output-format {meant}, or another ending",
        )
