"""Markup in which text cannot become markup: whatever is not ``Html`` already is escaped."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any

from mbplugin.report.documents.json import plain
from mbplugin.visible import visible

#: Characters of a name that stays on one line, and of a cell that is only some words.
_WORD, _SENTENCE = 20, 40
_EMPTY = frozenset({"br", "img", "input", "meta"})


class Html(str):
    """Text that is markup."""

    __slots__ = ()


Child = str | int | float | None | Iterable[Any]


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Return an element.

    Parameters
    ----------
    *children : Html, str, number, None or iterables of these
        Everything but ``Html`` is escaped.
    **attributes
        ``class_`` is class, ``data_name`` is data-name; True has no value, False and None are left out.
    """
    said = "".join(_attribute(name, value) for name, value in attributes.items())
    inner = joined(children)
    return Html(f"<{tag}{said}>" if tag in _EMPTY else f"<{tag}{said}>{inner}</{tag}>")


def joined(children: Iterable[Child]) -> Html:
    """Return children one after the other."""
    return Html("".join(_text(child) for child in children))


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    if isinstance(child, str | int | float):
        return escape(readable(str(child)))
    return joined(child)


def readable(text: str) -> str:
    """Return a text as a page can hold it: whatever does not print is shown as an escape."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _readable(value: Any) -> Any:
    """Return plain data in which names are as they stand on the page."""
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_readable(item) for item in value]
    return readable(value) if isinstance(value, str) else value


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    key = name.rstrip("_").replace("_", "-")
    return f" {key}" if value is True else f' {key}="{escape(readable(str(value)))}"'


def json_script(identifier: str, document: Any) -> Html:
    """Return data for the scripts of the page; no text in it can end or open a script."""
    text = json.dumps(_readable(plain(document)), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Html(f'<script type="application/json" id="{escape(identifier)}">{text}</script>')


def table(
    heads: Sequence[Child],
    rows: Iterable[Sequence[Child] | Html],
    *,
    caption: str = "",
    class_: str | None = None,
    numbers: Collection[int] = (),
) -> Html:
    """Return a table; a row is its cells, or a ready ``tr``.

    Parameters
    ----------
    numbers : collection of int
        Columns of ready rows that hold numbers; of other rows a column does when all its cells do.
    """
    listed = list(rows)
    plain_rows = [row for row in listed if not isinstance(row, Html)]
    right = set(numbers) | {
        k for k in range(len(heads)) if plain_rows and all(_is_number(row[k]) for row in plain_rows)
    }
    sides = ["n" if k in right else None for k in range(len(heads))]
    body = [
        row
        if isinstance(row, Html)
        else element("tr", [data_cell(c, side) for c, side in zip(row, sides, strict=True)])
        for row in listed
    ]
    top = [element("th", head, scope="col", class_=side) for head, side in zip(heads, sides, strict=True)]
    return element(
        "div",
        element(
            "table",
            element("caption", element("span", caption)) if caption else None,
            element("thead", element("tr", top)),
            element("tbody", body),
            class_=class_,
        ),
        class_="wide",
    )


def data_cell(child: Child, class_: str | None = None) -> Html:
    """Return a cell; without a class, a sentence has more room than a word, and a value stays with its unit."""
    if class_ is None and isinstance(child, str) and not isinstance(child, Html):
        class_ = "text" if len(child) > _SENTENCE else "value" if _is_number(child) else None
    return element("td", child, class_=class_)


def _is_number(cell: Child) -> bool:
    if isinstance(cell, Html) or not isinstance(cell, str | int | float):
        return False
    head = str(cell).split(" ", 1)[0]
    try:
        float(head or "0")
    except ValueError:
        return False
    return True


def unshown(count: int, shown: int) -> Html | None:
    """Return how many of a number are not shown, None where all are."""
    return (
        element("p", f"and {count - shown} more, all in the JSON", class_="fine") if count > shown else None
    )


def section(title: str, *children: Child, lead: str = "") -> Html:
    """Return a section under a heading, after a sentence that says what it shows."""
    said = element("p", lead, class_="lead") if lead else None
    return element("section", element("h2", title), said, *children)


def choice(name: str, kind: str) -> Html:
    """Return a body's or joint's name as a button that shows it in the 3D view."""
    class_ = "pick long" if len(name) > _WORD else "pick"
    return element("button", name, type="button", class_=class_, data_pick=kind, data_name=name)
