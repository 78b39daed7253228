"""Output of any result as text, document, table, picture or page, according to its type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbplugin.csv_tables import csv_text
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing
from mbplugin.linter.run import Report
from mbplugin.model import Scene, State
from mbplugin.phrases import cut_short, number
from mbplugin.rendering import Result, format_of
from mbplugin.report import plain, serialized, shown
from mbplugin.report.documents.part import dumps
from mbplugin.report.html.chart import Html, element, joined
from mbplugin.report.text import Line, plain_text, table_lines, wrapped

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from mbplugin.analysis import Analysis
    from mbplugin.closing.drift import Closing
    from mbplugin.constraints.rank import ConstraintMatrix
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
#: Types whose presentations are in ``motions``, which is imported on use; the others are in ``PRESENTATIONS``.
_OF_MOTIONS = frozenset(
    {
        "ReactionMask",
        "Reactions",
        "MisfitResponse",
        "ActuatorForces",
        "Envelope",
        "Equilibrium",
        "Linearization",
        "SideBySide",
        "Trajectory",
        "Agreement",
        "StopReport",
        "StoppingTable",
        "WorstStops",
        "Calibration",
        "Distance",
        "StopZone",
        "Swept",
    }
)
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
        raise BadUsage("the page has no results", expected="at least one result")
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


def writer(name: str) -> Any:
    """Return a module of the reports, such as ``text.lint``, imported when a result is first written that way."""
    return import_module(f"mbplugin.report.{name}")


def attributes(names: Sequence[str], values: Iterable[object]) -> list[dict[str, Any]]:
    """Return some attributes of each value as the rows of a table."""
    return [{name: getattr(value, name) for name in names} for value in values]


def name_of(result: object) -> str:
    """Return the name of the type of a result, or of its base with a presentation, such as ``Rule``.

    Raises
    ------
    TypeError
        There is no report for this type.
    """
    name = next(
        (
            kind.__name__
            for kind in type(result).__mro__
            if kind.__name__ in _OF_MOTIONS | PRESENTATIONS.keys()
        ),
        "",
    )
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
    if name in PRESENTATIONS:
        return PRESENTATIONS[name]
    found: Presentation = import_module(f"{__package__}.motions").PRESENTATIONS[name]
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


#: Width of the text of a result, that of a default terminal, characters.
WIDTH = 80
_PICTURES = (".png", ".jpg", ".svg", ".pdf")
_FORMATS = ("text", "json", "html", "csv", "xlsx")


def text_of(result: object, kind: Literal["text", "json", "html"]) -> str:
    """Return a result as text of 80 columns, as JSON or as an HTML page.

    Raises
    ------
    TypeError
        There is no report for this type.
    """
    how = presentation_of(result)
    if kind == "json":
        return dumps(dict_of(result))
    if kind == "html":
        return page(result, how)
    lines = how.lines(result, WIDTH) if how.lines else fact_lines(repr(result), how.rows(result), WIDTH)
    return plain_text(lines).rstrip("\n")


def cell_of(result: object) -> str:
    """Return the HTML of a result for a notebook cell."""
    return cell(result, presentation_of(result))


def dict_of(result: object) -> dict[str, Any]:
    """Return the document of a result as plain JSON values."""
    how = presentation_of(result)
    document = how.document(result) if how.document else {"result": repr(result), "rows": how.rows(result)}
    made: dict[str, Any] = plain(document)
    return made


def frame_of(result: object) -> pandas.DataFrame:
    """Return the table of a result as a pandas frame.

    Raises
    ------
    MissingDependency
        pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingDependency.of("a frame", "pandas", "frames") from None
    how = presentation_of(result)
    rows = list(how.rows(result))
    frame = pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(how.columns), dtype=float)
    if assumed := _assumed(how, result):
        frame.attrs["assumed"] = assumed
    return frame


def plot(result: object, path: str | Path | None) -> Figure:
    """Draw a result into a file, or in a window if ``path`` is None, and return the figure.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        An unsupported file extension, a file that cannot be written, or a result that has no picture.
    """
    from mbplugin.simulation.trajectory.resampling import draw

    how = presentation_of(result)
    if how.draw is None:
        raise BadUsage(f"a {name_of(result)} has no picture", remedy="use .to_html()")
    return draw(partial(_draw, how, result), (9.0, 6.0), path)


def _draw(how: Presentation, result: object, figure: Any) -> None:
    """Draw a result, with its assumptions as the title."""
    if how.draw is not None:
        how.draw(result, figure)
    if assumed := _assumed(how, result):
        figure.suptitle(cut_short(assumed, 100)).set_parse_math(False)


def _assumed(how: Presentation, result: object) -> str:
    """Return a short heading with the assumptions of a result; empty for none."""
    chapter = how.chapter(result) if how.chapter is not None else None
    return chapter.of_effort.heading or chapter.tool_choice.heading if chapter is not None else ""


def save(result: Result, path: Path, own: Mapping[str, Callable[[Path], object]]) -> None:
    """Write a result atomically in the format of the file extension.

    Parameters
    ----------
    own : mapping
        Writers of formats that only this type of result has, by file extension.

    Raises
    ------
    BadUsage
        An unsupported file extension, or a file that cannot be written.
    MissingDependency
        The package of a format is not installed.
    """
    write = next((write for ending, write in own.items() if path.name.lower().endswith(ending)), None)
    if write is None:
        # some types have a plot method without a presentation
        drawn = presentation_of(result).draw is not None or type(result).plot is not Result.plot
        remedy = "draw it by .plot()" if drawn and path.suffix.lower() in _PICTURES else ""
        formats = _FORMATS if presentation_of(result).chapter is None else (*_FORMATS, "pdf")
        kind = format_of(path, formats, f"the file of this {name_of(result)}", tuple(own), remedy)
        write = partial(_write, _content(result, kind))
    with replacing(path) as temporary:
        write(temporary)


def _content(result: object, kind: str) -> bytes:
    if kind == "xlsx":
        return bytes(serialized(dict_of(result), kind))  # type: ignore[arg-type]
    if kind == "pdf":
        return _pdf(result)
    if kind == "csv":
        how = presentation_of(result)
        content = _csv(how.rows(result), how.columns, _assumed(how, result))
    else:
        content = text_of(result, kind)  # type: ignore[arg-type]
        content += "" if content.endswith("\n") else "\n"
    return content.encode()


def _pdf(result: object) -> bytes:
    from mbplugin.report.pdf import pdf_of_page
    from mbplugin.report.record import record_of

    chapter = presentation_of(result).chapter
    assert chapter is not None
    return pdf_of_page(text_of(result, "html"), record_of("", chapter(result).title, ()))


def _write(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _csv(rows: Any, columns: tuple[str, ...], comment: str) -> str:
    heads = list(columns_of(rows) or columns)
    cells = ([row.get(head) for head in heads] for row in rows)
    return csv_text(heads, cells if heads else (), [comment] if comment else ())


def _report(analysis: Analysis) -> Report:
    """Wrap an analysis in a lint report without findings, to use the outputs of a lint."""
    mech = analysis.mechanism
    scene = Scene(mech, State(analysis.q, np.zeros(len(mech.qd_names)), frozenset()))
    return Report(mech.name, (), analysis, scene)


_FINDING = ("code", "name", "severity", "message", "element", "file", "line", "help")


_CONSTRAINT = ("constraint", "kind", "type", "reaction")


def _components(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        dict(zip(_CONSTRAINT, (one.name, one.kind, one.type, one.reaction), strict=True))
        | {component.name: component.unique for component in one.components}
        for one in analysis.constraints
    ]


def _draw_analysis(analysis: Analysis, figure: Any) -> None:
    unique = [{c.name: bool(c.unique) for c in one.components} for one in analysis.constraints]
    grid(figure, analysis.mechanism.name, [one.name for one in analysis.constraints], unique)


def _draw_report(report: Report, figure: Any) -> None:
    if report.analysis is not None:
        _draw_analysis(report.analysis, figure)
    else:
        figure.suptitle("nothing was analyzed")


def _matrix_rows(matrix: ConstraintMatrix) -> list[dict[str, Any]]:
    columns = [".".join(column) for column in matrix.columns]
    dense = matrix.C.toarray()
    return [
        {"constraint": label.constraint, "component": label.component} | dict(zip(columns, row, strict=True))
        for label, row in zip(matrix.rows, dense.tolist(), strict=True)
    ]


def _draw_matrix(matrix: ConstraintMatrix, figure: Any) -> None:
    axes = figure.add_subplot()
    axes.spy(matrix.C, markersize=4)
    axes.set_xlabel("columns: twists of the bodies")
    axes.set_ylabel("rows: constraints")


_CLOSURE = ("name", "type", "was", "body_a", "body_b")
_DIFFERENCE = ("kind", "element_a", "element_b", "value_a", "value_b", "cause")


def _closures(found: Closing) -> list[dict[str, Any]]:
    return [
        {name: getattr(one, name) for name in _CLOSURE}
        | {"instead_of": one.cut.instead_of, "independence": one.cut.independence}
        for one in found.closures
    ]


_CONSTRAINT_OF_SCENE = ("constraint", "type", "body_a", "body_b")


def _constraints(scene: Scene) -> list[dict[str, Any]]:
    mech = scene.mechanism
    ends = (
        (one.name, str(getattr(one, "type", type(one).__name__.lower())), one) for one in mech.constraints()
    )
    return [
        dict(
            zip(
                _CONSTRAINT_OF_SCENE,
                (name, kind, getattr(one, "body_a", ""), getattr(one, "body_b", "")),
                strict=True,
            )
        )
        for name, kind, one in ends
    ]


PRESENTATIONS = {
    "Scene": Presentation(rows=_constraints, columns=_CONSTRAINT_OF_SCENE),
    "Rule": Presentation(
        rows=lambda rule: attributes(("code", "name", "severity", "opt_in", "summary", "remedy"), (rule,)),
        document=lambda rule: writer("documents.models").rules_document([rule]),
        lines=lambda rule, width: writer("text.lookup").documentation_lines(rule, width),
    ),
    "Report": Presentation(
        rows=lambda report: attributes(_FINDING, report.findings),
        columns=_FINDING,
        shown=("severity", "code", "name", "message", "help"),
        document=lambda report: writer("documents.lint").lint_document([report]),
        lines=lambda report, width: writer("text.lint").lint_lines([report], width),
        chapter=lambda report: writer("html.chapters").lint_chapter(report),
        draw=_draw_report,
    ),
    "Analysis": Presentation(
        rows=_components,
        columns=_CONSTRAINT,
        document=lambda analysis: writer("documents.lint").lint_document([_report(analysis)]),
        lines=lambda analysis, width: writer("text.lint").lint_lines(
            [_report(analysis)], width, detail="full"
        ),
        chapter=lambda analysis: writer("html.chapters").lint_chapter(_report(analysis)),
        draw=_draw_analysis,
    ),
    "ConstraintMatrix": Presentation(
        rows=_matrix_rows,
        document=lambda matrix: writer("documents.models").matrix_document(matrix, ()),
        lines=lambda matrix, width: writer("text.lookup").matrix_lines(matrix, width),
        draw=_draw_matrix,
    ),
    "Closing": Presentation(
        rows=_closures,
        columns=(*_CLOSURE, "instead_of", "independence"),
        document=lambda found: writer("documents.models").close_document(
            found, found.mechanism.name, (), None
        ),
        lines=lambda found, width: writer("text.models").close_lines(found, width),
    ),
    "ModelDiff": Presentation(
        rows=lambda found: attributes(_DIFFERENCE, found.differences),
        columns=_DIFFERENCE,
        document=lambda found: writer("documents.models").diff_document(
            found, (found.a.name, found.b.name), ()
        ),
        lines=lambda found, width: writer("text.models").diff_lines(
            found, (found.a.name, found.b.name), width
        ),
        chapter=lambda found: writer("html.chapters").Chapter(
            title=f"{found.a.name} and {found.b.name}", difference=found
        ),
    ),
}
