"""How a type of result is presented: its text, its document, its page, its table and its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.html.markup import Html
    from mbplugin.report.text.layout import Line

#: A row of a table: its cells by column.
Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """What the reports can make of one type of result.

    Parameters
    ----------
    rows : callable
        Returns its table: mappings of column names to numbers and texts, SI units.
    columns : tuple of str
        The columns of a table without rows, where it can have none.
    shown : tuple of str
        Columns of the short table in a notebook; all where none is named.
    document : callable, optional
        Returns the document of the command; else its name, facts and table.
    lines : callable, optional
        Returns the text for a width; else its line and its table.
    chapter : callable, optional
        Returns the chapter of its page; else the page has the short table only.
    pictures : callable, optional
        Returns what stands above the short table.
    draw : callable, optional
        Draws it onto a figure of matplotlib.
    """

    rows: Callable[[Any], Sequence[Row]]
    columns: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    document: Callable[[Any], dict[str, Any]] | None = None
    lines: Callable[[Any, int], Iterable[Line]] | None = None
    chapter: Callable[[Any], Chapter] | None = None
    pictures: Callable[[Any], Iterable[Html]] | None = None
    draw: Callable[[Any, Any], None] | None = None


#: The module that presents each type; a module is imported when one of its types is.
_MODULES = {
    "Analysis": "verdicts",
    "Report": "verdicts",
    "ConstraintMatrix": "verdicts",
    "Closing": "models",
    "ModelDiff": "models",
    "ReactionMask": "forces",
    "Reactions": "forces",
    "MisfitResponse": "forces",
    "ActuatorForces": "forces",
    "SideBySide": "forces",
    "Trajectory": "motions",
    "Agreement": "motions",
    "StopReport": "stops",
    "StoppingTable": "stops",
    "WorstStops": "stops",
    "Rule": "verdicts",
    "Calibration": "stops",
    "Distance": "stops",
    "StopZone": "stops",
    "Swept": "stops",
}


def name_of(result: object) -> str:
    """Return the name of the type of a result; a rule of any kind is a Rule.

    Raises
    ------
    TypeError
        The reports know no such result.
    """
    name = next((kind.__name__ for kind in type(result).__mro__ if kind.__name__ in _MODULES), "")
    if not name:
        raise TypeError(f"there is no report of a {type(result).__name__}")
    return name


def columns_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the columns of a table: those of all rows, as a row leaves out what it has not."""
    return tuple(dict.fromkeys(name for row in rows for name in row))


def presentation_of(result: object) -> Presentation:
    """Return how a result is presented.

    Raises
    ------
    TypeError
        The reports know no such result.
    """
    name = name_of(result)
    module = import_module(f"{__package__}.{_MODULES[name]}")
    found: Presentation = module.PRESENTATIONS[name]
    return found
