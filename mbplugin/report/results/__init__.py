"""Every result as text, document, table, picture and page, by its type."""

from __future__ import annotations

import csv
import io
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing
from mbplugin.output_formats import format_of
from mbplugin.phrases import cut_short
from mbplugin.report.documents.json import dumps, plain
from mbplugin.report.results.presentation import presentation_of

if TYPE_CHECKING:
    import pandas

    from mbplugin.report.results.presentation import Presentation

#: Width of the text of a result: that of a terminal nobody has widened.
WIDTH = 80
_FORMATS = ("text", "json", "html", "csv")


def text_of(result: object, kind: Literal["text", "json", "html"]) -> str:
    """Return a result as text of 80 columns, as JSON or as an HTML page.

    Raises
    ------
    TypeError
        The reports know no such result.
    """
    how = presentation_of(result)
    if kind == "json":
        return dumps(dict_of(result))
    if kind == "html":
        from mbplugin.report.results.cell import page

        return page(result, how)
    from mbplugin.report.results.facts import fact_lines
    from mbplugin.report.text.layout import plain_text

    lines = how.lines(result, WIDTH) if how.lines else fact_lines(repr(result), how.rows(result), WIDTH)
    return plain_text(lines).rstrip("\n")


def cell_of(result: object) -> str:
    """Return what a notebook shows of a result."""
    from mbplugin.report.results.cell import cell

    return cell(result, presentation_of(result))


def dict_of(result: object) -> dict[str, Any]:
    """Return the document of a result."""
    how = presentation_of(result)
    document = how.document(result) if how.document else {"result": repr(result), "rows": how.rows(result)}
    made: dict[str, Any] = plain(document)
    return made


def frame_of(result: object) -> pandas.DataFrame:
    """Return the table of a result for pandas.

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


def plot(result: object, path: str | Path | None) -> None:
    """Draw a result into a file, or in a window where none is named.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        No picture by its ending, a file that cannot be written, or a result that has no picture.
    """
    from mbplugin.simulation.trajectory.plotting import draw

    how = presentation_of(result)
    if how.draw is None:
        raise BadUsage(f"a {type(result).__name__} has no picture", remedy="use .to_html()")
    draw(partial(_draw, how, result), (9.0, 6.0), path)


def _draw(how: Presentation, result: object, figure: Any) -> None:
    """Draw a result below what is assumed of it."""
    if how.draw is not None:
        how.draw(result, figure)
    if assumed := _assumed(how, result):
        figure.suptitle(cut_short(assumed, 100)).set_parse_math(False)


def _assumed(how: Presentation, result: object) -> str:
    """Return what is assumed of a result, in a few words."""
    return how.chapter(result).of_effort.heading if how.chapter is not None else ""


def save(result: object, path: Path) -> None:
    """Write a result in the format of the ending.

    Raises
    ------
    BadUsage
        Another ending, or a file that cannot be written.
    """
    kind = format_of(path, _FORMATS, "the file of a result")
    if kind == "csv":
        how = presentation_of(result)
        content = _csv(how.rows(result), how.columns, _assumed(how, result))
    else:
        content = text_of(result, kind)  # type: ignore[arg-type]
        content += "" if content.endswith("\n") else "\n"
    with replacing(path) as temporary:
        temporary.write_text(content, encoding="utf-8", newline="\n")


def _csv(rows: Any, columns: tuple[str, ...], comment: str) -> str:
    out = io.StringIO()
    if comment:
        out.write(f"# {comment}\n")
    if heads := list(rows[0]) if rows else columns:
        writer = csv.DictWriter(out, heads, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()
