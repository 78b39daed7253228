"""Inertias that were copied between links of different mass."""

from __future__ import annotations

from mbplugin.linter.checks.masses.inertia import placeholder, possible
from mbplugin.linter.checks.per_scene import per_scene
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

_LINKS, _FACTOR = 3, 1.5
#: A link with less than this part of the robot's mass is there as a frame.
_NEGLIGIBLE = 1e-3


@per_scene
def repeated_inertias(scene: Scene) -> tuple[Body, ...]:
    """Return the bodies that share an inertia with bodies of another mass."""
    groups: dict[bytes, list[Body]] = {}
    least = _NEGLIGIBLE * sum(body.mass for body in scene.mechanism.bodies)
    for body in scene.mechanism.bodies:
        if body.mass > least and possible(body) and not placeholder(body):
            groups.setdefault(body.I_C.tobytes(), []).append(body)
    return tuple(body for group in groups.values() if _different(group) for body in group)


def _different(group: list[Body]) -> bool:
    masses = [body.mass for body in group]
    return len(group) >= _LINKS and max(masses) >= _FACTOR * min(masses)
