"""The controls below the 3D view: a slider along the constraint manifold, and a load that can be dragged."""

from __future__ import annotations

from typing import Any

from mbplugin.report.html.markup import Html, element


def interaction_panel(moves: dict[str, Any], load: dict[str, Any], why: str) -> Html | None:
    """Return the controls for the data of a page; ``why`` stands for a load that cannot be added.

    None where there is neither a control nor a sentence.
    """
    loading = _load(load) if load else element("p", why, class_="fine") if why else None
    if not moves and loading is None:
        return None
    return element("div", _pose(moves) if moves else None, loading, class_="try screen")


def _pose(moves: dict[str, Any]) -> Html:
    names = [one["name"] for group in moves["groups"] for one in group["coordinates"]]
    return element(
        "fieldset",
        element("legend", "Move along the constraint manifold"),
        element(
            "label",
            "coordinate ",
            element(
                "select",
                [element("option", name, value=k) for k, name in enumerate(names)],
                data_coordinate=True,
            ),
        ),
        element(
            "input",
            type="range",
            min=0,
            max=1,
            value=0,
            step=1,
            data_lead=True,
            aria_label="pose along the constraint manifold",
        ),
        element("output", "", data_led=True),
        element("button", "first pose", type="button", data_first=True),
        element("p", _words(moves), class_="fine"),
        element("p", "", class_="fine", data_pose_words=True, aria_live="polite"),
        data_pose=True,
    )


def _words(moves: dict[str, Any]) -> str:
    """Return how the coordinates act on each other."""
    loops = [group["loops"] for group in moves["groups"]]
    if len(moves["groups"]) == 1 and len(moves["groups"][0]["coordinates"]) == 1:
        return "All other coordinates follow from the loops. Computed poses: loops are closed in each."
    words = (
        "The others stay where they are, what is in a loop follows. Computed poses: loops are closed in each."
    )
    if len(set(loops)) < len(loops):
        words += " Coordinates of the same loops move from the first pose, one at a time."
    return words


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
