"""The phases of a stop as bars: until each brake grips, and from there until the joint rests."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.report.html.chart import ticks
from mbplugin.report.html.markup import Html, element
from mbplugin.report.rounding import ROUNDING
from mbplugin.stopping.outcome.values import JointStop, StopReport

_WIDTH, _LEFT, _RIGHT, _ROW, _BAR, _FOOT = 460, 130, 24, 22, 14, 40
#: Joints that are shown, those that move longest.
_MOST = 16
#: Characters of a name beside its bar, and of those at its end, which tell names apart.
_NAME, _ENDING = 14, 9


def phases_figure(stop: StopReport) -> Html | None:
    """Return a bar for each joint that moves, over the time from the signal on."""
    moving = [joint for joint in stop.joints if max(abs(joint.rate), abs(joint.travel)) > ROUNDING]
    if not moving or stop.time <= 0.0:
        return None
    kept = sorted(moving, key=lambda joint: -joint.time)[:_MOST]
    shown = [joint for joint in moving if joint in kept]
    end = max(stop.time, *(joint.time for joint in shown))
    height = _ROW * len(shown) + _FOOT
    words = "; ".join(
        f"{joint.name}: {joint.reaction_time:.4g} s, then {joint.braking_time:.4g} s" for joint in shown
    )
    led = stop.scenario.category != 0
    drawn = element(
        "svg",
        element("title", "Phases of the stop"),
        element("desc", f"Until braking starts, then until rest: {words}"),
        list(_axis(end, height)),
        [_bars(joint, k, end) for k, joint in enumerate(shown)],
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label="Phases of the stop",
    )
    caption = element(
        "figcaption",
        element("strong", "Phases of the stop"),
        element(
            "div",
            element("span", element("span", class_="swatch phase-0"), "until braking starts", class_="key"),
            element(
                "span",
                element("span", class_="swatch phase-1"),
                "braking, led by the drive" if led else "braking, by the brake",
                class_="key",
            ),
        ),
        element("p", f"the {_MOST} of {len(moving)} joints that move longest", class_="fine")
        if len(moving) > _MOST
        else None,
    )
    return element("figure", caption, drawn, class_="chart phases")


def _x(time: float, end: float) -> float:
    return _LEFT + time / end * (_WIDTH - _LEFT - _RIGHT)


def _axis(end: float, height: int) -> Iterator[Html]:
    bottom = height - _FOOT + 4
    for value in ticks(0.0, end, 6):
        x = _x(value, end)
        yield element("path", d=f"M{x:.1f} 0V{bottom}", class_="grid")
        yield element("text", f"{value:.6g}", x=f"{x:.1f}", y=bottom + 14, class_="tick middle")
    yield element("path", d=f"M{_LEFT} 0V{bottom}H{_WIDTH - _RIGHT}", class_="axis")
    yield element("text", "time from the signal [s]", x=_WIDTH - _RIGHT, y=height - 5, class_="label end")


def _bars(joint: JointStop, k: int, end: float) -> Html:
    y = k * _ROW + (_ROW - _BAR) / 2
    grip, rest = _x(joint.reaction_time, end), _x(joint.time, end)
    end_words = "at rest after" if joint.stopped else "still moves after"
    return element(
        "g",
        element("title", f"{joint.name}: {end_words} {joint.time:.4g} s"),
        element("text", _shortened(joint.name), x=_LEFT - 8, y=y + 11, class_="label end"),
        element("rect", x=_LEFT, y=y, width=f"{grip - _LEFT:.1f}", height=_BAR, class_="phase-0"),
        element("rect", x=f"{grip:.1f}", y=y, width=f"{rest - grip:.1f}", height=_BAR, class_="phase-1"),
    )


def _shortened(name: str) -> str:
    """Return the beginning and the end of a long name."""
    return name if len(name) <= _NAME else f"{name[: _NAME - _ENDING - 1]}…{name[-_ENDING:]}"
