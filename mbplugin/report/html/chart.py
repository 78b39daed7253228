"""Charts as inline SVG (axes with units, curves that differ in colour and dash, events), and HTML elements."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any, Literal

import numpy as np

from mbplugin.model import Array
from mbplugin.phrases import visible
from mbplugin.report import ROUNDING, plain

_WIDTH, _HEIGHT = 460, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 24, 40
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#4d4d4d")
_DASHES = ("", "7 3", "2 3")
#: Maximum number of curves in a chart, and of drawn points of one curve.
MOST = 12
_POINTS = 600
#: Maximum length of a tick label that fits the margin, characters.
_LABEL = 7
#: Maximum length of a name that stays on one line, and of a cell that is not a sentence, characters.
_WORD, _SENTENCE = 20, 40
_EMPTY = frozenset({"br", "img", "input", "meta"})
Child = str | int | float | None | Iterable[Any]


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve: its name, abscissae and values, (n,) each; ``dashed`` for a curve that may cover another."""

    name: str
    x: Array
    y: Array
    dashed: bool = False


@dataclass(frozen=True)
class Point:
    """A single labelled point of a chart.

    Parameters
    ----------
    x, y : float
    name : str
    bad : bool
        Draw the point in red.
    filled : bool
    colour : int
        Index of the colours of curves.
    """

    x: float
    y: float
    name: str
    bad: bool = False
    filled: bool = False
    colour: int = 3


@dataclass(frozen=True)
class Chart:
    """Curves over a common abscissa.

    Parameters
    ----------
    title, x_label, y_label : str
        Labels with their units.
    marks : tuple of (float, str)
        Abscissae of vertical event lines, and their texts.
    steps : bool
        The values are counts, each constant up to the next point.
    powers : "", "x" or "xy"
        The axes whose values are exponents of ten.
    clock : bool
        The abscissa is the time of the film, s.
    points : tuple of Point
        Single points.
    from_zero : bool
        The axes include 0; the ordinate starts there unless a curve has negative values.
    """

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    marks: tuple[tuple[float, str], ...] = ()
    steps: bool = False
    powers: Literal["", "x", "xy"] = ""
    clock: bool = False
    points: tuple[Point, ...] = ()
    from_zero: bool = False


def most_moving(curves: Sequence[Curve]) -> tuple[tuple[Curve, ...], str]:
    """Return the ``MOST`` curves that vary most, in their order, and a note if others are left out."""
    if len(curves) <= MOST:
        return tuple(curves), ""
    kept = sorted(curves, key=lambda curve: -float(np.ptp(curve.y)))[:MOST]
    return tuple(c for c in curves if c in kept), f"the {MOST} of {len(curves)} that vary most"


def figure(chart: Chart, note: str = "") -> Html:
    """Return a chart as a figure with its caption and key."""
    chart = without_rounding(chart)
    ends = [v for c in chart.curves for v in (c.y.min(), c.y.max())]
    low, high = (
        (max(0.0, min(ends) - 1.0) - 0.2, max(ends) + 1.0)
        if chart.steps
        else _range([*ends, *(point.y for point in chart.points)])
    )
    left, right = _span(chart)
    if chart.from_zero:
        left, low = min(left, 0.0), min(low, 0.0) if low < 0.0 and min(ends, default=0.0) < 0.0 else 0.0
    frame = _Frame(left, right, low, high)
    drawn = element(
        "svg",
        element("title", chart.title),
        element("desc", f"{chart.y_label} over {chart.x_label}: {', '.join(c.name for c in chart.curves)}"),
        list(_axes(chart, frame)),
        [_mark(frame, x, text) for x, text in chart.marks if left <= x <= right],
        [_line(frame, curve, k, chart.steps) for k, curve in enumerate(chart.curves)],
        [_point(frame, point) for point in chart.points],
        _now(frame) if chart.clock else None,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        role="img",
        aria_label=chart.title,
    )
    names = [
        element("span", _swatch(curve, k), curve.name, class_="key") for k, curve in enumerate(chart.curves)
    ]
    names += [
        element("span", _spot(point), name, class_="key")
        for name, point in {point.name: point for point in chart.points}.items()
    ]
    said = element("p", note, class_="fine") if note else None
    caption = element("figcaption", element("strong", chart.title), element("div", names), said)
    return element("figure", caption, drawn, class_="chart")


def _span(chart: Chart) -> tuple[float, float]:
    single = [point.x for point in chart.points]
    left = min([*(float(c.x.min()) for c in chart.curves), *single])
    right = max([*(float(c.x.max()) for c in chart.curves), *single])
    return left, right if right > left else left + 1.0


def _mark(frame: _Frame, x: float, text: str) -> Html:
    at = f"M{frame.x(x):.1f} {_TOP}V{_HEIGHT - _BOTTOM}"
    return element("path", element("title", text), d=at, class_="event")


def _spot(point: Point) -> Html:
    """Return the symbol of a point for the key."""
    drawn = element("circle", cx=6, cy=6, r=4, class_=_class(point), style=_paint(point))
    return element("svg", drawn, width=12, height=12, aria_hidden="true")


def without_rounding(chart: Chart) -> Chart:
    """Return a chart with all curves set to 0 if all are only rounding; charts of exponents stay unchanged."""
    if chart.powers or max((np.abs(c.y).max(initial=0.0) for c in chart.curves), default=0.0) > ROUNDING:
        return chart
    return replace(chart, curves=tuple(replace(c, y=np.zeros_like(c.y)) for c in chart.curves))


@dataclass(frozen=True)
class _Frame:
    """The transformation from values to positions in the drawing."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return _LEFT + (value - self.left) / (self.right - self.left) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - (value - self.low) / (self.high - self.low) * (_HEIGHT - _BOTTOM - _TOP)


def _range(values: Sequence[float]) -> tuple[float, float]:
    finite = [v for v in values if np.isfinite(v)] or [0.0]
    low, high = min(finite), max(finite)
    if high - low < 1e-9 * max(abs(low), abs(high)) or high == low:
        reach = 0.5 * abs(high) or 1.0
        return low - reach, high + reach
    return low - 0.04 * (high - low), high + 0.04 * (high - low)


def ticks(low: float, high: float, count: int = 5, least: float = 0.0) -> list[float]:
    """Return about ``count`` round numbers from low to high, at least ``least`` apart."""
    rough = max((high - low) / count, least)
    power = 10.0 ** floor(log10(rough))
    step = next(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= rough * (1 - 1e-9))
    return [k * step for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def tick_labels(values: Sequence[float], powers: bool = False) -> list[str]:
    """Return the labels of ticks, as short as possible but distinct."""
    if powers:
        return [_short(float(f"{10.0**value:.2g}"), 2) for value in values]
    largest = max(map(abs, values), default=0.0)
    apart = min((b - a for a, b in pairwise(values)), default=largest)
    digits = 1 if not apart else max(1, floor(log10(largest) + 1e-9) - floor(log10(apart) + 1e-9) + 1)
    return [_short(value, digits) for value in values]


def _short(value: float, digits: int) -> str:
    text = f"{value:.{max(digits, 6)}g}"
    if len(text) <= _LABEL:
        return text
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    scientific = f"{mantissa}e{int(exponent)}"
    return min(text, scientific, key=len)


def _axes(chart: Chart, frame: _Frame) -> Iterator[Html]:
    bottom = _HEIGHT - _BOTTOM
    upwards = ticks(frame.low, frame.high, least=1.0 if chart.steps else 0.0)
    for value, label in zip(upwards, tick_labels(upwards, chart.powers == "xy"), strict=True):
        y = frame.y(value)
        yield element("path", d=f"M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}", class_="grid")
        yield element("text", label, x=_LEFT - 6, y=f"{y + 4:.1f}", class_="tick end")
    across = ticks(frame.left, frame.right, 6)
    for value, label in zip(across, tick_labels(across, bool(chart.powers)), strict=True):
        x = frame.x(value)
        yield element("path", d=f"M{x:.1f} {bottom}v5", class_="axis")
        yield element("text", label, x=f"{x:.1f}", y=bottom + 17, class_="tick middle")
    yield element("path", d=f"M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}", class_="axis")
    yield element("text", chart.x_label, x=_WIDTH - _RIGHT, y=_HEIGHT - 6, class_="label end")
    yield element("text", chart.y_label, x=4, y=13, class_="label")


def _line(frame: _Frame, curve: Curve, k: int, steps: bool) -> Html:
    at = np.unique(np.linspace(0, len(curve.x) - 1, min(len(curve.x), _POINTS)).astype(int))
    points = [(frame.x(float(curve.x[i])), frame.y(float(curve.y[i]))) for i in at if np.isfinite(curve.y[i])]
    if steps:
        points = [p for a, b in pairwise(points) for p in (a, (b[0], a[1]))] + points[-1:]
    return element(
        "polyline",
        points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        stroke=_stroke(k),
        stroke_dasharray=_dash(curve, k),
        class_="curve",
    )


def _dash(curve: Curve, k: int) -> str | None:
    return _DASHES[1] if curve.dashed else _DASHES[k // len(_COLOURS) % len(_DASHES)] or None


def _stroke(k: int) -> str:
    """Return the colour of curve k: the page's CSS variable for light or dark, else the light colour."""
    k %= len(_COLOURS)
    return f"var(--c{k},{_COLOURS[k]})"


def _swatch(curve: Curve, k: int) -> Html:
    line = element(
        "line",
        x1=0,
        y1=5,
        x2=22,
        y2=5,
        stroke=_stroke(k),
        stroke_width=2,
        stroke_dasharray=_dash(curve, k),
    )
    return element("svg", line, width=22, height=10, aria_hidden="true")


def _point(frame: _Frame, point: Point) -> Html:
    return element(
        "circle",
        element("title", f"{point.name}: {point.y:.6g} at {point.x:.6g}"),
        cx=f"{frame.x(point.x):.1f}",
        cy=f"{frame.y(point.y):.1f}",
        r=4.5,
        class_=_class(point),
        style=_paint(point),
    )


def _class(point: Point) -> str:
    return "point bad" if point.bad else "point"


def _paint(point: Point) -> str | None:
    """Return the style of a point; None for a red one, which its class colours."""
    if point.bad:
        return None
    fill = f";fill:{_stroke(point.colour)}" if point.filled else ""
    return f"stroke:{_stroke(point.colour)}{fill}"


def _now(frame: _Frame) -> Html:
    return element(
        "line",
        class_="now",
        x1=_LEFT,
        x2=_LEFT,
        y1=_TOP,
        y2=_HEIGHT - _BOTTOM,
        data_left=_LEFT,
        data_right=_WIDTH - _RIGHT,
        data_start=f"{frame.left:.9g}",
        data_end=f"{frame.right:.9g}",
    )


# HTML elements; any text that is not already ``Html`` is escaped.


class Html(str):
    """Text that is already markup and is not escaped."""

    __slots__ = ()


def element(tag: str, *children: Child, **attributes: str | float | bool | None) -> Html:
    """Return an HTML element.

    Parameters
    ----------
    *children : Html, str, number, None or iterables of these
        Everything but ``Html`` is escaped.
    **attributes
        ``class_`` is class, ``data_name`` is data-name; True gives an attribute without a value, False and None
        are left out.
    """
    said = "".join(_attribute(name, value) for name, value in attributes.items())
    inner = joined(children)
    return Html(f"<{tag}{said}>" if tag in _EMPTY else f"<{tag}{said}>{inner}</{tag}>")


def joined(children: Iterable[Child]) -> Html:
    """Concatenate children, escaping everything but ``Html``."""
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
    """Return a text with non-printable characters, except line breaks, as escapes."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _readable(value: Any) -> Any:
    """Return plain data with its texts escaped as on the page, so that names match."""
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
    """Return a JSON script element for the scripts of the page; no text in it can end or open a script."""
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
    """Return a table; a row is a sequence of cells, or a finished ``tr`` element.

    Parameters
    ----------
    numbers : collection of int
        Numeric columns, needed for finished rows; in other rows, columns of only numbers are detected.
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
    """Return a cell; without a class, sentences get wider cells, and a value is kept on a line with its unit."""
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
    """Return a line with the number of rows not shown; None if all are."""
    return (
        element("p", f"and {count - shown} more, all in the JSON", class_="fine") if count > shown else None
    )


def section(title: str, *children: Child, lead: str = "", folded: str = "") -> Html:
    """Return a section with a heading and a lead sentence before its children; ``folded`` are words to fold them."""
    said = element("p", lead, class_="lead") if lead else None
    if folded:
        children = (element("details", element("summary", folded), *children, class_="long"),)
    return element("section", element("h2", title), said, *children)


def choice(name: str, kind: str) -> Html:
    """Return a body's or joint's name as a button that selects it in the 3D view."""
    class_ = "pick long" if len(name) > _WORD else "pick"
    return element("button", name, type="button", class_=class_, data_pick=kind, data_name=name)
