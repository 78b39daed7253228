"""What a notebook shows of a result, and pages of results that have no chapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mbplugin.errors import BadUsage
from mbplugin.report.documents.json import plain
from mbplugin.report.html.markup import Html, element, joined
from mbplugin.report.results.presentation import Presentation, columns_of, name_of, presentation_of
from mbplugin.report.rounding import shown

#: Rows and columns that fit on a screen.
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


def cell(result: object, how: Presentation) -> Html:
    """Return one screen: the facts, curves where it has some, and the first rows of its table."""
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
        No result, or one without a page.
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
