"""Fixing roots to the ground: the meaning of a fixed base and of a static model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose


def to_world(body: str, X_WL: Pose) -> Pair:
    """Return the fixed pair ``world→body`` that holds a body's link frame at a pose."""
    return Pair(f"{WORLD}→{body}", "fixed", WORLD, body, X_WL, Pose.identity())


def with_fixed_roots(mech: Mechanism, poses: Mapping[str, Pose]) -> Mechanism:
    """Return the mechanism with the root of every part that no pair ties to the ground fixed to it.

    Parameters
    ----------
    mech : Mechanism
    poses : mapping of body name to Pose
        X_WL of the roots, at which they are held.
    """
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return replace(mech, pairs=(*(to_world(name, poses[name]) for name in roots), *mech.pairs))


def require_free_root(mech: Mechanism, file: str) -> None:
    """Refuse a request for a free base where everything is tied to the ground.

    Raises
    ------
    BadUsage
        No part of the mechanism is free to move in the world.
    """
    if any(joint.pair is None for joint in mech.tree.joints):
        return
    if not mech.bodies:
        raise BadUsage(
            "the base cannot be free, there is no body that moves",
            where=file,
            remedy="give the model a link with mass or do not ask for a free base",
        )
    tie = next(pair for pair in mech.pairs if WORLD in pair.bodies)
    raise BadUsage(
        f"the base cannot be free, pair {tie.name!r} ties it to the world",
        where=file,
        remedy="remove that joint from the file or do not ask for a free base",
    )
