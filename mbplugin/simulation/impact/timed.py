"""Constraints that are active only for an interval: a mechanism without them, and with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.mechanism import (
    WORLD,
    Constraint,
    Coupling,
    Driver,
    KnifeEdge,
    Lock,
    Mechanism,
    Pair,
    Rolling,
)
from mbplugin.model.mechanism.coupling import TimedConstraint
from mbplugin.model.mechanism.kinematics import coordinates_of, forward
from mbplugin.model.spatial import Array, Pose


def without_constraints(
    mech: Mechanism, holds: Iterable[TimedConstraint]
) -> tuple[Mechanism, tuple[Constraint, ...]]:
    """Return a mechanism without constraints that hold for a while, and these.

    Raises
    ------
    UnknownName
        No such constraint.
    BadUsage
        A lock (which has times of its own), or a constraint that is named twice.
    """
    names = [hold.constraint for hold in holds]
    own = {constraint.name: constraint for constraint in mech.constraints()}
    for k, name in enumerate(names):
        if name not in own:
            raise UnknownName(
                f"there is no constraint {name!r} that could hold for a while",
                remedy=suggestion(name, list(own)),
            )
        if isinstance(own[name], Lock):
            raise BadUsage(
                f"{name!r} is a lock", remedy="give the lock its own times: Lock(joint, at, until)"
            )
        if name in names[:k]:
            raise BadUsage(f"constraint {name!r} is to hold twice", expected="one time each")
    # a wheel stays on its plane
    rolling = [replace(w, holonomic=()) for w in mech.pfaffians if w.name in names and isinstance(w, Rolling)]
    taken = [own[n] for n in names if not isinstance(own[n], Rolling)]
    pfaffians = tuple(
        replace(w, nonholonomic=()) if isinstance(w, Rolling) and w.name in names else w
        for w in mech.pfaffians
        if isinstance(w, Rolling) or w.name not in names
    )
    rest = replace(
        mech,
        pairs=tuple(p for p in mech.pairs if p.name not in names),
        couplings=tuple(c for c in mech.couplings if c.name not in names),
        drivers=tuple(d for d in mech.drivers if d.name not in names),
        pfaffians=pfaffians,
    )
    return rest, (*taken, *rolling)


def state_in(mech: Mechanism, q: Array, qd: Array, rest: Mechanism) -> tuple[Array, Array]:
    """Return a state q (nq,), qd (nv,) of a mechanism in the coordinates of the one without some constraints."""
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    new_q, new_qd = coordinates_of(rest, poses), np.zeros(len(rest.qd_names))
    for joint in rest.tree.joints:
        if joint.pair is None:
            new_qd[joint.qd] = twists[rest.body_index[joint.outer]]
    for names, old, new, values in (
        (mech.q_names, q, rest.q_names, new_q),
        (mech.qd_names, qd, rest.qd_names, new_qd),
    ):
        for k, name in enumerate(new):
            if name in names:
                values[k] = old[names.index(name)]
    return new_q, new_qd


def with_constraints(rest: Mechanism, constraints: Sequence[Constraint]) -> Mechanism:
    """Return a mechanism with constraints added, its coordinates being what they were.

    Free roots get floating pairs, whose coordinates are the same, so that a new closure cannot take
    them into the tree.
    """
    pairs = [replace(c, closure=True) for c in constraints if isinstance(c, Pair)]
    floats = []
    if pairs:
        roots = [joint.outer for joint in rest.tree.joints if joint.pair is None]
        bodies = {body.name: body for body in rest.bodies}
        ground = Pose.identity()
        floats = [
            Pair(f"free {name}", "floating", WORLD, name, ground, Pose(np.eye(3), bodies[name].p_LC))
            for name in roots
        ]
    wheels = {c.name: c for c in constraints if isinstance(c, Rolling)}
    return replace(
        rest,
        pairs=(*floats, *rest.pairs, *pairs),
        couplings=(*rest.couplings, *(c for c in constraints if isinstance(c, Coupling))),
        drivers=(*rest.drivers, *(c for c in constraints if isinstance(c, Driver))),
        pfaffians=(
            *(
                replace(w, nonholonomic=wheels[w.name].nonholonomic)
                if isinstance(w, Rolling) and w.name in wheels
                else w
                for w in rest.pfaffians
            ),
            *(c for c in constraints if isinstance(c, KnifeEdge)),
        ),
    )
