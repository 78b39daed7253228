"""Which coordinates are held while loops close."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene


class HeldCoordinates(NamedTuple):
    """Names of coordinates: ``given`` are held if all of them can be, else ``named``."""

    given: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def held_coordinates(model: Scene | Mechanism, q: JointValues = None) -> HeldCoordinates:
    """Return what is held while loops close: what q names, before what the scene states."""
    scene = model if isinstance(model, Scene) else None
    named = (set(q) if isinstance(q, Mapping) else set()) | (scene.state.named if scene else set())
    return HeldCoordinates(
        tuple(sorted(named | (scene.state.given if scene else set()))), tuple(sorted(named))
    )
