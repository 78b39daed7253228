"""Draws what the pages explain: ``python docs/drawings.py`` writes the SVG files beside it.

Every drawing paints its own paper, light or dark as the reader's system is: it can be read on both.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
STYLE = """<style>
.paper{fill:#ffffff}.ink{fill:#1c2430}.soft{fill:#5b6675}.part{fill:#b9cfe4;stroke:#2f5f8f}.base{fill:#c4ccd6;stroke:#5b6b7b}
.line{fill:none;stroke:#5b6675}.axis{fill:none;stroke:#1c2430}.known{fill:none;stroke:#00734f;stroke-width:3}.known-ink{fill:#00734f}
.open{fill:none;stroke:#b45309;stroke-width:3}.open-ink{fill:#b45309}.load{fill:none;stroke:#0072b2;stroke-width:3}.load-ink{fill:#0072b2}
.wait{fill:#c4ccd6}.brake{fill:#0072b2}.drive{fill:#00734f}.curve{fill:none;stroke:#0072b2;stroke-width:2.5}
@media (prefers-color-scheme:dark){.paper{fill:#14181e}.ink{fill:#e4e8ee}.soft{fill:#a6b0bd}.part{fill:#294a6b;
stroke:#86b6e3}.base{fill:#3a4450;stroke:#8793a2}.line{stroke:#a6b0bd}.axis{stroke:#e4e8ee}.known{stroke:#5fd3ac}.known-ink{fill:#5fd3ac}
.open{stroke:#f5b85a}.open-ink{fill:#f5b85a}.load{stroke:#6cbcf0}.load-ink{fill:#6cbcf0}
.wait{fill:#566273}.brake{fill:#4aa9e3}
.drive{fill:#25bd92}.curve{stroke:#6cbcf0}}
</style>
<defs><marker id="TIP" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="4" markerHeight="4"
orient="auto-start-reverse">
<path d="M0 0 10 5 0 10z" fill="context-stroke"/></marker></defs>"""


def svg(name: str, title: str, width: int, height: int, parts: Iterable[str]) -> str:
    """Return a drawing on its own paper."""
    style = STYLE.replace("TIP", f"tip-{name}")
    body = "\n".join(parts).replace("url(#tip)", f"url(#tip-{name})")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="system-ui, sans-serif" font-size="15">\n<title>{title}</title>\n{style}\n'
        f'<rect width="{width}" height="{height}" rx="8" class="paper"/>\n{body}\n</svg>\n'
    )


def text(x: float, y: float, words: str, kind: str = "ink", **options: str | int) -> str:
    """Return words; options are attributes."""
    more = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in options.items())
    return f'<text x="{x:g}" y="{y:g}" class="{kind}"{more}>{words}</text>'


def arrow(x0: float, y0: float, x1: float, y1: float, kind: str) -> str:
    """Return an arrow from one point to another."""
    return f'<path d="M{x0:g} {y0:g}L{x1:g} {y1:g}" class="{kind}" marker-end="url(#tip)"/>'


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    """Return a bar."""
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>'


def support(x: float, y: float) -> str:
    """Return a bearing with its top in a point."""
    return f'<path d="M{x:g} {y:g}l-16 26h32z" class="base"/>' + rect(x - 22, y + 26, 44, 6, "base")


def redundant() -> str:
    """Draw a beam on two bearings, which share the load in one way, and on three, which may share it in any."""
    parts = []
    for x, bearings, head in ((30, (0, 320), "Two bearings"), (420, (0, 160, 320), "Three bearings")):
        parts += [text(x, 34, head, font_size=19, font_weight=600), rect(x, 130, 320, 14, "part")]
        parts += [support(x + at, 144) for at in bearings]
        parts += [
            arrow(x + 160, 62, x + 160, 126, "load"),
            text(x + 170, 84, "1000 N", "load-ink"),
        ]
    for at in (30, 350):
        parts += [arrow(at, 248, at, 184, "known"), text(at, 268, "500 N", "known-ink", text_anchor="middle")]
    for k, shares in enumerate((("500", "0", "500"), ("250", "500", "250"), ("0", "1000", "0"))):
        y = 256 + 22 * k
        parts += [
            text(at, y, f"{share} N?", "open-ink", text_anchor="middle")
            for at, share in zip((420, 580, 740), shares, strict=True)
        ]
    parts += [arrow(at, 236, at, 184, "open") for at in (420, 580, 740)]
    parts += [
        text(20, 334, "Both are needed: statics gives each force."),
        text(20, 354, "Every simulator prints these numbers.", "soft"),
        text(410, 334, "One is redundant: it changes no motion, and"),
        text(410, 354, "each line above balances the load. A rigid model"),
        text(410, 374, "cannot choose; a simulator prints one anyway.", "soft"),
    ]
    return svg("redundant", "What a redundant constraint does to joint forces", 790, 392, parts)


def self_stress() -> str:
    """Draw a door on two hinges that push against each other without any load."""
    parts = [rect(60, 30, 26, 300, "base"), rect(126, 40, 190, 280, "part")]
    for y in (90, 250):
        parts += [rect(86, y - 18, 40, 36, "base"), f'<path d="M106 {y - 34}V{y + 34}" class="axis"/>']
    parts += [
        arrow(106, 56, 106, 14, "open"),
        arrow(106, 284, 106, 332, "open"),
        text(118, 24, "+F along z, on the door", "open-ink"),
        text(118, 346, "−F along z, on the door", "open-ink"),
        text(222, 186, "door", text_anchor="middle"),
        text(380, 60, "A self-stress: a door on two hinges", font_size=19, font_weight=600),
        text(380, 96, "Upper hinge +F, lower hinge −F: the door is in"),
        text(380, 118, "equilibrium, without any load, for every F."),
        text(380, 156, "A misfit of the hinges sets F. Statics does not."),
        text(380, 178, "Any load may be shared with any F added, so the"),
        text(380, 200, "component tz of both hinges is not unique."),
        text(380, 238, "Two hinges have 10 rows, and a door that turns"),
        text(380, 260, "needs 5: 5 self-stresses like this one, along x, y"),
        text(380, 282, "and z, and about x and y."),
    ]
    return svg("self-stress", "A self-stress: forces in equilibrium without any load", 790, 360, parts)


#: Of each category: until when the drive has power, when the brake engages, corners of the speed, words.
STOPS = (
    ("category 0", 0.06, 0.3, ((0.0, 1.0), (0.3, 1.0), (0.62, 0.0)), "power off at once, the brake stops"),
    ("category 1", 0.78, 0.78, ((0.0, 1.0), (0.1, 1.0), (0.7, 0.0)), "the drive stops, then power off"),
    ("category 2", 1.0, None, ((0.0, 1.0), (0.1, 1.0), (0.7, 0.0)), "the drive stops and holds"),
)


#: Width of a graph, its left edge, the distance to the next, top and bottom of the speed.
_WIDTH, _FIRST, _NEXT, _TOP, _BOTTOM = 215.0, 75.0, 240.0, 96.0, 190.0


def stop_phases() -> str:
    """Draw the speed, the drive and the brake over time in the three categories of a stop."""
    parts = [text(20, 32, "The phases of a stop, from the signal to rest", font_size=19, font_weight=600)]
    for y, words in ((150, "speed"), (215, "drive"), (239, "brake"), (271, "phase")):
        parts.append(text(20, y, words, "soft", font_size=13))
    for k, (name, power, brake, corners, words) in enumerate(STOPS):
        parts += _stop(_FIRST + _NEXT * k, name, power, brake, corners, words)
    parts += [
        rect(75, 290, 14, 12, "wait"),
        text(95, 301, "reaction: from the signal until braking starts", font_size=13),
        rect(395, 290, 14, 12, "brake"),
        text(415, 301, "braking, until the joint is at rest", font_size=13),
        text(790, 301, "time →", "soft", font_size=13, text_anchor="end"),
    ]
    return svg("stop-phases", "The phases of a stop in categories 0, 1 and 2", 800, 318, parts)


def _stop(
    x: float,
    name: str,
    power: float,
    brake: float | None,
    corners: tuple[tuple[float, float], ...],
    words: str,
) -> list[str]:
    """Return one category: its speed above, what has power and what brakes below."""

    def at(share: float) -> float:
        return x + share * _WIDTH

    braking, rest = corners[-2][0], corners[-1][0]
    curve = "L".join(f"{at(t):g} {_BOTTOM - speed * (_BOTTOM - _TOP - 8):g}" for t, speed in corners)
    dashes = f"M{at(braking):g} {_TOP:g}V275M{at(rest):g} {_TOP:g}V275"
    parts = [
        text(x, 62, name, font_weight=600),
        text(x, 82, words, "soft", font_size=13),
        f'<path d="M{x:g} {_TOP:g}V{_BOTTOM:g}H{at(1):g}" class="axis"/>',
        f'<path d="{dashes}" class="line" stroke-dasharray="4 4"/>',
        f'<path d="M{curve}H{at(1):g}" class="curve"/>',
        rect(x, 204, at(power) - x, 13, "drive"),
        rect(x, 260, at(braking) - x, 13, "wait"),
        rect(at(braking), 260, at(rest) - at(braking), 13, "brake"),
    ]
    return parts if brake is None else [*parts, rect(at(brake), 228, at(1) - at(brake), 13, "brake")]


DRAWINGS = {"redundant.svg": redundant, "self-stress.svg": self_stress, "stop-phases.svg": stop_phases}


if __name__ == "__main__":
    for file, draw in DRAWINGS.items():
        (HERE / file).write_text(draw(), encoding="utf-8")
