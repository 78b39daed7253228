"""Output of any result as text, document, table, picture or page, according to its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.csv_tables import csv_text
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing
from mbplugin.phrases import cut_short
from mbplugin.rendering import Result, format_of
from mbplugin.report.documents.part import dumps
from mbplugin.report.formats import plain, serialized
from mbplugin.report.results.presentation import columns_of, name_of, presentation_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from mbplugin.report.results.presentation import Presentation

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
        from mbplugin.report.results.presentation import page

        return page(result, how)
    from mbplugin.report.results.presentation import fact_lines
    from mbplugin.report.text import plain_text

    lines = how.lines(result, WIDTH) if how.lines else fact_lines(repr(result), how.rows(result), WIDTH)
    return plain_text(lines).rstrip("\n")


def cell_of(result: object) -> str:
    """Return the HTML of a result for a notebook cell."""
    from mbplugin.report.results.presentation import cell

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
