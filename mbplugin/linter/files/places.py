"""The place of a finding in a file; elements of a live client have none."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin import phrases
from mbplugin.model.scene import Origin, Scene


def body_place(scene: Scene, body: str, *parts: str) -> Origin | None:
    """Return where a part of a body was written, the first one that was; else the body itself."""
    places = (scene.origin.get(("body", body, part)) for part in (*parts, ""))
    return next((place for place in places if place is not None), None)


def constraint_place(scene: Scene, name: str) -> Origin | None:
    """Return where a constraint was written."""
    return scene.origin.get(("constraint", name, ""))


def model_place(scene: Scene, part: str = "") -> Origin | None:
    """Return where the model, or an option of its scene, was written; at least the file."""
    for key in (("model", scene.mechanism.name, part), ("model", scene.mechanism.name, "")):
        if key in scene.origin:
            return scene.origin[key]
    return Origin(scene.files[0], 0) if scene.files else None


def listed(names: Sequence[str], most: int = 8, room: int = 150) -> str:
    """Return names in one phrase as short as a message needs; see :func:`mbplugin.phrases.listed`."""
    return phrases.listed(names, most, room)
