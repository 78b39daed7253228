"""A mechanism as a tree: where a loop is cut, a body has a second part that hangs in the cut joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.comparison.side_by_side.instant import Instant
from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.model.component import half_of
from mbplugin.model.mechanism import WORLD, Mechanism, Pair
from mbplugin.model.mechanism.joint import motion_subspace
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.spatial import COMPONENTS, ROTATION, TRANSLATION, Array, cross


@dataclass(frozen=True, eq=False)
class Part:
    """A body, or one part of it.

    Parameters
    ----------
    name : str
        That of the body for its first part.
    body : str
        The body that it is part of.
    inner : str
        The part or ``world`` that it is jointed to.
    pair : Pair, optional
        The joint; a body without one is free.
    reversed : bool
        Whether the body is the joint's predecessor.
    point : (3,) array
        The joint's place, the origin of S, in the world, m.
    motions : tuple of (str, (3,) array)
        "HINGE", "SLIDE" with their axes or "BALL", in the order from ``inner``, world axes.
    rates : (k,) array
        Of these, rad/s or m/s; three for a ball, its angular velocity in world axes.
    """

    name: str
    body: str
    inner: str
    pair: Pair | None
    reversed: bool
    point: Array
    motions: tuple[tuple[str, Array], ...]
    rates: Array


def parts_of(instant: Instant) -> list[Part]:
    """Return the parts, inner ones before outer ones."""
    mech = instant.mech
    poses = forward(mech, instant.q)
    twists = body_twists(mech, poses, instant.qd)
    found = []
    for joint in mech.tree.joints:
        found.append(_part(mech, poses, twists, joint.outer, joint.outer, joint.inner, joint.pair))
    for pair in mech.tree.cut:
        body, inner = (pair.body_b, pair.body_a) if pair.body_b != WORLD else (pair.body_a, WORLD)
        found.append(_part(mech, poses, twists, f"{body} in {pair.name}", body, inner, pair))
    return found


def _part(
    mech: Mechanism, poses: BodyPoses, twists: Array, name: str, body: str, inner: str, pair: Pair | None
) -> Part:
    """Return a part whose body moves with ``twists`` (n, 6), world axes, m/s and rad/s."""
    index = mech.body_index[body]
    free: tuple[str, ...]
    if pair is None:
        point, turned = poses.p_WC[index], False
        free, S = COMPONENTS, np.eye(6)
    else:
        X_WP = poses.of(mech.body_index.get(pair.body_a, -1)) @ pair.X_AP
        X_WS = poses.of(mech.body_index.get(pair.body_b, -1)) @ pair.X_BS
        point, turned = X_WS.p, pair.body_b != body
        free, S = pair.kind.free, motion_subspace(pair, X_WP.R, X_WS.R)
        S = -S if turned else S
    relative = _twist_at(mech, poses, twists, body, point) - _twist_at(mech, poses, twists, inner, point)
    rates = np.asarray(np.linalg.lstsq(S, relative, rcond=None)[0], dtype=float)
    motions, values = _motions(free, S, rates, turned)
    return Part(name, body, inner, pair, turned, point, tuple(motions), np.array(values))


def _motions(
    free: tuple[str, ...], S: Array, rates: Array, turned: bool
) -> tuple[list[tuple[str, Array]], list[float]]:
    """Return what moves and how fast, from the inner part outwards.

    ``S`` (6, k) has a column per freedom, world axes; ``rates`` (k,) are theirs, rad/s and m/s.
    """
    ball = {"rx", "ry", "rz"} <= set(free)
    steps: list[tuple[str, Array, list[float]]] = []
    for column, freedom in enumerate(free):
        axis = S[half_of(freedom), column]
        if freedom.startswith("t"):
            steps.append(("SLIDE", axis, [rates[column]]))
        elif not ball:
            steps.append(("HINGE", axis, [rates[column]]))
    if ball:
        turns = [column for column, freedom in enumerate(free) if freedom.startswith("r")]
        steps.append(("BALL", np.eye(3)[2], list(S[ROTATION, turns] @ rates[turns])))
    if turned:
        steps.reverse()
    return [(kind, axis) for kind, axis, _ in steps], [value for *_, values in steps for value in values]


def _twist_at(mech: Mechanism, poses: BodyPoses, twists: Array, body: str, point: Array) -> Array:
    """Return the twist (6,) of a body at a ``point`` (3,), world axes, from ``twists`` (n, 6) at mass centres."""
    if body == WORLD:
        return np.zeros(6)
    index = mech.body_index[body]
    omega = twists[index][ROTATION]
    v = twists[index][TRANSLATION] + cross(omega, point - poses.p_WC[index])
    return np.concatenate((v, omega))
