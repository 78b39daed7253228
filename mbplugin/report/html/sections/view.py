"""The 3D view: the frame that the viewer fills, and its replacement without WebGL."""

from __future__ import annotations

from mbplugin.report.html.markup import Html, element, joined
from mbplugin.report.picture import LegendEntry, Picture
from mbplugin.report.picture.palette import legend_of

#: Notes that stand open below the view.
_MOST = 4
_SWITCHES = (
    ("bodies", "bodies", True),
    ("joints", "joints", True),
    ("forces", "forces", True),
    ("moments", "moments", False),
    ("labels", "labels", False),
    ("ghosts", "ghosts", True),
    ("path", "tool path", True),
)


def view_section(seen: Picture, identifier: str, *, film: bool, ghosts: set[str], path: bool) -> Html:
    """Return the frame of a 3D view; its data stand in the script ``identifier``."""
    more = legend_of(ghosts | ({"path"} if path else set()))
    present = {
        "forces": any(a.quantity == "force" for a in seen.arrows),
        "moments": any(a.quantity == "moment" for a in seen.arrows),
        "ghosts": bool(ghosts),
        "path": path,
    }
    switches = [
        element(
            "label", element("input", type="checkbox", data_show=key, checked=checked), words, class_="switch"
        )
        for key, words, checked in _SWITCHES
        if present.get(key, True)
    ]
    words = "The mechanism in 3D: drag to turn, scroll to zoom, click a body or joint for its name."
    return element(
        "section",
        element("h2", "View", class_="hidden"),
        element(
            "div",
            element("canvas", tabindex=0, role="img", aria_label=words),
            element("div", class_="labels", aria_hidden="true"),
            element("img", class_="still", alt="the mechanism, coloured by result"),
            element("p", "The 3D view needs WebGL, which this browser does not support.", class_="no-webgl"),
            element("p", class_="picked", aria_live="polite"),
            class_="stage",
        ),
        _film_bar() if film else None,
        element(
            "div", switches, element("button", "whole view", type="button", data_reset=True), class_="bar"
        ),
        element("ul", [_legend_line(entry) for entry in (*seen.legend, *more)], class_="legend"),
        element("p", words, class_="fine screen"),
        _notes(seen.notes),
        class_="view",
        data_drawing=identifier,
    )


def _notes(notes: tuple[str, ...]) -> Html:
    lines = [element("p", note, class_="fine") for note in notes]
    rest = lines[_MOST:]
    more = element("summary", f"{len(rest)} more notes", class_="fine")
    return joined([lines[:_MOST], element("details", more, rest) if rest else None])


def _legend_line(entry: LegendEntry) -> Html:
    colour = f"light-dark({entry.colour.hex},{entry.colour.on_dark})"
    paint = f"background:{colour};opacity:{max(entry.colour.alpha, 0.4)}"
    return element("li", element("span", class_=f"swatch {entry.marks}", style=paint), entry.text)


def _film_bar() -> Html:
    return element(
        "div",
        element("button", "play", type="button", data_play=True, aria_pressed="false"),
        element(
            "input", type="range", min=0, max=1000, value=0, step=1, data_time=True, aria_label="time, s"
        ),
        element("output", "0.000 s", data_clock=True),
        element(
            "label",
            "speed ",
            element(
                "select",
                [
                    element("option", f"{speed:g} ×", value=speed, selected=speed == 1)
                    for speed in (0.1, 0.25, 0.5, 1, 2)
                ],
                data_speed=True,
            ),
        ),
        class_="bar film",
    )
