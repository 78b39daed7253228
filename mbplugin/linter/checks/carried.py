"""How a link is held: by the ground, by a body with mass, or by nothing that has mass."""

from __future__ import annotations

from typing import Literal

from mbplugin.model.mechanism import WORLD, Body
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import MADE, Scene

#: ``grounded`` and ``borne``: fixed to the ground, or to a mass; ``root``: a root that only a free base
#: moves; ``moving``: it moves, and nothing that is fixed to it has mass.
Carriage = Literal["grounded", "borne", "root", "moving"]


class Carriages:
    """How the links of a scene are held; frames and bodies that readers made count as what they are."""

    def __init__(self, scene: Scene) -> None:
        mech = scene.mechanism
        self._scene = scene
        self._mass = {body.name: body.mass for body in mech.bodies}
        self._group = rigid_groups(mech)
        self._roots = {joint.outer for joint in mech.tree.joints if joint.pair is None}

    def of(self, name: str) -> Carriage:
        """Return how a link is held; its own mass does not count."""
        group = self._group[name]
        if WORLD in group:
            return "grounded"
        if any(self._mass[other] > 0 for other in group if other != name):
            return "borne"
        # where the caller frees the base, the root moves; where nobody says it, most robots are bolted down
        freed = self._scene.request is not None and self._scene.request.base == "free"
        return "moving" if freed or not group & self._roots else "root"

    def heavier(self, body: Body) -> bool:
        """Return whether the ground or a heavier body is fixed to a body."""
        group = self._group[body.name]
        return WORLD in group or any(self._mass[other] > body.mass for other in group if other != body.name)

    def together(self, name: str) -> frozenset[str]:
        """Return the links that fixed joints make one with a link."""
        return self._group[name] - {WORLD}


def states_inertial(scene: Scene, body: Body) -> bool:
    """Return whether a body has a mass or an inertia in its file, be it zero."""
    written = any(("body", body.name, part) in scene.origin for part in ("inertial", "mass"))
    return written or not body.massless


def is_made(scene: Scene, name: str) -> bool:
    """Return whether a reader made a body, which no file names."""
    return ("body", name, MADE) in scene.origin
