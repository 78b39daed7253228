"""The controls below the 3D view: a slider along the constraint manifold, and a load that can be dragged."""

from __future__ import annotations

from typing import Any

from mbplugin.report.html.markup import Html, element


def interaction_panel(sliders: list[dict[str, Any]], load: dict[str, Any]) -> Html | None:
    """Return the controls for the data of a page; None where it can neither be moved nor loaded."""
    if not sliders and not load:
        return None
    return element(
        "div", _pose(sliders) if sliders else None, _load(load) if load else None, class_="try screen"
    )


def _pose(sliders: list[dict[str, Any]]) -> Html:
    names = [element("option", one["name"], value=k) for k, one in enumerate(sliders)]
    first = sliders[0]
    return element(
        "fieldset",
        element("legend", "Move along the constraint manifold"),
        element("label", "coordinate ", element("select", names, data_coordinate=True)),
        element(
            "input",
            type="range",
            min=0,
            max=len(first["values"]) - 1,
            value=first["start"],
            step=1,
            data_lead=True,
            aria_label="pose along the constraint manifold",
        ),
        element("output", "", data_led=True),
        element("button", "first pose", type="button", data_first=True),
        element(
            "p",
            "The other leading coordinates stay, all others follow from the loops. Computed poses: loops are closed"
            " in each.",
            class_="fine",
        ),
        data_pose=True,
    )


def _load(load: dict[str, Any]) -> Html:
    bodies = [
        element("option", name, value=k, selected=k == load["first"]) for k, name in enumerate(load["bodies"])
    ]
    forces = [
        element(
            "label",
            f"F{axis} ",
            element("input", type="number", step="any", value=f"{value:g}", data_force=k),
            " N",
        )
        for k, (axis, value) in enumerate(zip("xyz", load["force"], strict=True))
    ]
    return element(
        "fieldset",
        element("legend", "Load a body"),
        element(
            "label", element("input", type="checkbox", data_load_on=True), "add this load", class_="switch"
        ),
        element("label", "at ", element("select", bodies, data_load_body=True)),
        forces,
        element("output", "", data_load_words=True),
        element(
            "p",
            "World axes, at the centre of mass or where a body is clicked; drag the head of the arrow. The table of"
            " joint reactions follows: they are linear in the load, as far as the rigid model determines them.",
            class_="fine",
        ),
        data_load=True,
    )
