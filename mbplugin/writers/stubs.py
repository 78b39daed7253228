"""Closures of any type in formats that only weld or connect: a part of one body, welded to the rest.

The part has a share of the body's mass and inertia about the same centre, and hangs on the other body by the pair
itself. With the weld, both parts move as the body did: the rows, the motion and the forces are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Body, Mechanism, Pair
from mbplugin.model.mechanism.ground import welded_bodies
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward
from mbplugin.model.scene import State
from mbplugin.model.spatial import Pose


def stub_name(body: str, closure: str) -> str:
    """Return the name of the part of a body that a closure carries."""
    return f"{body}_at_{closure}"


def with_stubs(mech: Mechanism, state: State, closures: Sequence[Pair]) -> tuple[Mechanism, State]:
    """Return the mechanism in which each of some cut pairs carries a part of a body, and its state.

    Raises
    ------
    BadUsage
        No body of a closure has a mass that could be shared.
    """
    if not closures:
        return mech, state
    ground = welded_bodies(mech)
    shared = {pair.name: _shared(mech, pair, ground) for pair in closures}
    count = Counter(shared.values())
    bodies = [_share(body, 1 + count[body.name]) if body.name in count else body for body in mech.bodies]
    pairs, welds = [], []
    for pair in mech.pairs:
        body = shared.get(pair.name)
        if body is None:
            pairs.append(pair)
            continue
        stub = stub_name(body, pair.name)
        bodies.append(replace(_share(mech.bodies[mech.body_index[body]], 1 + count[body]), name=stub))
        body_a, body_b = (stub if end == body else end for end in pair.bodies)
        pairs.append(replace(pair, closure=False, body_a=body_a, body_b=body_b))
        welds.append(
            Pair(f"{stub}_weld", "fixed", body, stub, Pose.identity(), Pose.identity(), closure=True)
        )
    whole = replace(mech, bodies=tuple(bodies), pairs=(*pairs, *welds))
    return whole, _state(mech, whole, state, shared)


def _shared(mech: Mechanism, pair: Pair, ground: frozenset[str]) -> str:
    """Return the body of a closure that gives a share of its mass: one that moves, the successor first."""
    massive = [
        name
        for name in (pair.body_b, pair.body_a)
        if name != WORLD and mech.bodies[mech.body_index[name]].mass > 0
    ]
    if not massive:
        raise BadUsage(
            f"closure {pair.name!r} ({pair.type}) joins bodies without mass",
            expected="a mass that a part of one of them can have",
            remedy="give one of them a mass, or make the closure spherical or fixed",
        )
    return next((name for name in massive if name not in ground), massive[0])


def _share(body: Body, parts: int) -> Body:
    return replace(body, mass=body.mass / parts, I_C=body.I_C / parts)


def _state(mech: Mechanism, whole: Mechanism, state: State, shared: dict[str, str]) -> State:
    """Return the state of the whole at the same poses; rates of what is new are zero."""
    poses = forward(mech, state.q)
    at = [mech.body_index[b.name] for b in mech.bodies] + [mech.body_index[b] for b in shared.values()]
    q = coordinates_of(whole, BodyPoses(poses.R_WL[at], poses.p_WL[at], poses.p_WC[at]))
    known = dict(zip(mech.q_names, state.q, strict=True))
    q = np.array([known.get(name, value) for name, value in zip(whole.q_names, q, strict=True)])
    rates = dict(zip(mech.qd_names, state.qd, strict=True))
    return replace(state, q=q, qd=np.array([rates.get(name, 0.0) for name in whole.qd_names]))
