"""Presentation of each type of result as text, document, page, table and picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.phrases import cut_short, number
from mbplugin.report.formats import plain, shown
from mbplugin.report.html.chart import Html, element, joined
from mbplugin.report.text import Line, table_lines, wrapped

if TYPE_CHECKING:
    from mbplugin.report.html.chapters import Chapter

#: Maximum rows and columns of a table in a notebook.
_ROWS, _COLUMNS = 12, 10
_STYLE = (
    ".mbplugin{max-width:60rem}.mbplugin .charts{display:flex;flex-wrap:wrap;gap:1rem}"
    ".mbplugin .chart{flex:1 1 22rem;max-width:30rem;margin:0}.mbplugin svg{max-width:100%}"
    ".mbplugin .grid{stroke:#8884}.mbplugin .axis{stroke:currentColor;fill:none}"
    ".mbplugin .curve{fill:none;stroke-width:1.8}.mbplugin .event{stroke:currentColor;stroke-dasharray:2 3}"
    ".mbplugin .now{visibility:hidden}.mbplugin text{font-size:11px;fill:currentColor}"
    ".mbplugin .end{text-anchor:end}.mbplugin .middle{text-anchor:middle}.mbplugin .key{margin-right:.9rem}"
    ".mbplugin .alarm{font-weight:700;padding:.7rem 1rem;border:2px solid #e69f00;border-radius:6px}"
    ".mbplugin td,.mbplugin th{text-align:left;vertical-align:top}"
)
#: A row of a table: its cells by column.
Row = Mapping[str, Any]
#: The module with the presentation of each type, imported on use.
_MODULES = {
    "Analysis": "verdicts",
    "Report": "verdicts",
    "ConstraintMatrix": "verdicts",
    "Closing": "verdicts",
    "ModelDiff": "verdicts",
    "Scene": "verdicts",
    "ReactionMask": "motions",
    "Reactions": "motions",
    "MisfitResponse": "motions",
    "ActuatorForces": "motions",
    "Envelope": "motions",
    "Equilibrium": "motions",
    "Linearization": "motions",
    "SideBySide": "motions",
    "Trajectory": "motions",
    "Agreement": "motions",
    "StopReport": "motions",
    "StoppingTable": "motions",
    "WorstStops": "motions",
    "Rule": "verdicts",
    "Calibration": "motions",
    "Distance": "motions",
    "StopZone": "motions",
    "Swept": "motions",
}
#: Maximum length of a name, characters, and maximum number of names on an axis.
_LONGEST, _MOST = 24, 40
_UNIQUE, _OPEN, _NONE = "#0072b2", "#d55e00", "#eeeeee"


# Results in a notebook, and pages of results that have no chapter.


def cell(result: object, how: Presentation) -> Html:
    """Return a result in one screen: warnings, facts, pictures if any, and the first rows of its table."""
    rows = how.rows(result)
    drawn = list(how.pictures(result)) if how.pictures else []
    facts = repr(result).strip("<>")
    kind, _, rest = facts.partition(" ")
    warnings = how.chapter(result).warnings if how.chapter else ()
    return element(
        "div",
        element("style", Html(_STYLE)),
        [element("p", one, class_="alarm", role="alert") for one in warnings],
        element("p", element("strong", kind), f" {rest}"),
        element("div", drawn, class_="charts") if drawn else None,
        _table(rows, how.shown, _ROWS if not drawn else _ROWS // 2),
        class_="mbplugin",
    )


def page(result: object, how: Presentation) -> str:
    """Return the HTML page of a result."""
    if how.chapter is not None:
        from mbplugin.report.html import html_page

        return html_page(how.chapter(result))
    title = name_of(result)
    head = joined((element("meta", charset="utf-8"), element("title", title)))
    whole = element("html", element("head", head), element("body", cell(result, how)), lang="en")
    return f"<!doctype html>\n{whole}\n"


def page_of_all(results: Sequence[object]) -> str:
    """Return one HTML page of several results.

    Raises
    ------
    BadUsage
        There is no result, or one has no chapter.
    """
    from mbplugin.report.html import html_page

    if not results:
        raise BadUsage("a page of nothing", expected="at least one result")
    chapters = []
    for result in results:
        how = presentation_of(result)
        if how.chapter is None:
            raise BadUsage(f"a {name_of(result)} has no chapter", remedy="use its .to_html()")
        chapters.append(how.chapter(result))
    return html_page(*chapters)


def _table(rows: Sequence[Mapping[str, Any]], shown: tuple[str, ...], most: int) -> Html | None:
    if not rows:
        return None
    names = list(shown or columns_of(rows))
    left_out = len(names) - _COLUMNS
    names = names[:_COLUMNS]
    body = [element("tr", [element("td", _cell(row.get(name))) for name in names]) for row in rows[:most]]
    more = []
    if len(rows) > most:
        more.append(f"{len(rows) - most} more rows")
    if left_out > 0:
        more.append(f"{left_out} more columns")
    return joined(
        (
            element(
                "table",
                element("thead", element("tr", [element("th", name.replace("_", " ")) for name in names])),
                element("tbody", body),
            ),
            element("p", f"{' and '.join(more)}: .to_frame(), .to_html()") if more else None,
        )
    )


def _cell(value: object) -> str:
    value = plain(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shown(value, digits=5) if isinstance(value, float) else str(value)


# Text of a result without a specific one: its one-line form and its table.


def fact_lines(line: str, rows: Sequence[Mapping[str, Any]], width: int) -> Iterator[Line]:
    """Yield the one-line form of a result, and its table with the first column as row titles."""
    yield from head_lines(line, width)
    if rows:
        title, *heads = columns_of(rows)
        table = [(str(row[title]), [_facts_cell(row.get(head)) for head in heads]) for row in rows]
        yield from table_lines(title, heads, table, width)


def head_lines(line: str, width: int) -> Iterator[Line]:
    """Yield the one-line form of a result without its type, wrapped to ``width``."""
    _, _, facts = line.strip("<>").partition(" ")
    yield from map(Line, wrapped(facts, width, rest="  "))


def _facts_cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, ".6g") if isinstance(value, float) else "" if value is None else str(value)


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """The available outputs of one type of result.

    Parameters
    ----------
    rows : callable
        Returns the table: mappings of column names to numbers and texts, SI units.
    columns : tuple of str
        The columns of an empty table.
    shown : tuple of str
        Columns of the short table in a notebook; all if empty.
    document : callable, optional
        Returns the document of the command; by default the one-line form and the table.
    lines : callable, optional
        Returns the text for a width; by default the one-line form and the table.
    chapter : callable, optional
        Returns the chapter of the page; by default the page is the notebook cell.
    pictures : callable, optional
        Returns the charts above the short table.
    draw : callable, optional
        Draws the result onto a matplotlib figure.
    """

    rows: Callable[[Any], Sequence[Row]]
    columns: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    document: Callable[[Any], dict[str, Any]] | None = None
    lines: Callable[[Any, int], Iterable[Line]] | None = None
    chapter: Callable[[Any], Chapter] | None = None
    pictures: Callable[[Any], Iterable[Html]] | None = None
    draw: Callable[[Any, Any], None] | None = None


def name_of(result: object) -> str:
    """Return the name of the type of a result, or of its base with a presentation, such as ``Rule``.

    Raises
    ------
    TypeError
        There is no report for this type.
    """
    name = next((kind.__name__ for kind in type(result).__mro__ if kind.__name__ in _MODULES), "")
    if not name:
        raise TypeError(f"there is no report of a {type(result).__name__}")
    return name


def columns_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the union of the columns of all rows, as a row may leave some out."""
    return tuple(dict.fromkeys(name for row in rows for name in row))


def presentation_of(result: object) -> Presentation:
    """Return the presentation of a result's type.

    Raises
    ------
    TypeError
        There is no report for this type.
    """
    name = name_of(result)
    module = import_module(f"{__package__}.{_MODULES[name]}")
    found: Presentation = module.PRESENTATIONS[name]
    return found


# Matplotlib pictures shared by several types of results.


def grid(figure: Any, title: str, names: Sequence[str], unique: Sequence[Mapping[str, bool]]) -> None:
    """Draw a grid of constraints and components: blue if unique, orange if not, grey if absent."""
    columns = list(dict.fromkeys(name for row in unique for name in row))
    cells = np.array([[row.get(name, -1) for name in columns] for row in unique], dtype=float)
    axes = figure.add_subplot()
    if cells.size:
        from matplotlib.colors import ListedColormap

        colours = ListedColormap([_NONE, _OPEN, _UNIQUE])
        axes.imshow(cells[:_MOST], cmap=colours, vmin=-1, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(names[:_MOST])), [cut_short(name, _LONGEST) for name in names[:_MOST]])
    axes.set_title(f"{cut_short(title, 60)}: blue unique, orange not unique", loc="left")


def bars(
    figure: Any, title: str, unit: str, names: Sequence[str], series: Mapping[str, Sequence[float]]
) -> None:
    """Draw a bar chart of named values, one colour per series; non-finite values are labelled "infinite"."""
    axes = figure.add_subplot()
    width = 0.8 / max(1, len(series))
    places = np.arange(len(names[:_MOST]))
    for k, (label, values) in enumerate(series.items()):
        shown = np.array(values[:_MOST], dtype=float)
        finite = np.isfinite(shown)
        axes.bar(places + k * width, np.where(finite, shown, 0.0), width, label=label)
        for place in places[~finite] + k * width:
            axes.annotate("infinite", (place, 0.0), rotation=90, ha="center", va="bottom", fontsize="small")
    axes.set_xticks(places + 0.4 - width / 2, [cut_short(name, _LONGEST) for name in names[:_MOST]])
    axes.tick_params(axis="x", rotation=60 if len(names) > 6 else 0)
    axes.set_ylabel(unit)
    axes.set_title(cut_short(title, 80), loc="left")
    if len(series) > 1:
        axes.legend()
