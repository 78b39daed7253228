"""What every result can be written as: the only import from a result upwards to the reports, at the time of use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

#: The package that knows the documents, texts, tables and pages of all results; nothing below may import it.
_REPORTS = "mbplugin.report.results"


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
        """Return what writes the formats of this result's own, by ending."""
        return {}
