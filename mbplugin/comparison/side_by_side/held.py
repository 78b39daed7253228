"""Held joints as fixed pairs, so that every engine transmits their whole wrench in one way."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import Mechanism, Pair
from mbplugin.model.mechanism.coupling import Driver, Lock
from mbplugin.model.mechanism.kinematics import BodyPoses, relative_pose
from mbplugin.model.spatial import Pose


def with_fixed(mech: Mechanism, poses: BodyPoses, holders: Collection[Driver | Lock]) -> Mechanism:
    """Return the mechanism with held joints as fixed pairs at a pose, without drivers and locks.

    The axes of P and the origin of S stay where they were, so that a wrench is in the same frame.

    Raises
    ------
    BadUsage
        Only some of the freedoms of a joint are held, or a held joint is coupled to another one.
    """
    held: dict[str, set[str]] = {}
    for holder in holders:
        free = mech.pair_by_name[holder.joint].kind.free
        held.setdefault(holder.joint, set()).update(holder.freedoms or free)
    for name, freedoms in held.items():
        if freedoms != set(mech.pair_by_name[name].kind.free):
            raise BadUsage(
                f"only {', '.join(sorted(freedoms))} of joint {name!r} is held",
                expected="joints that are held as a whole",
                remedy=f"hold {name!r}",
            )
    for coupling in mech.couplings:
        if both := [term.joint for term in coupling.terms if term.joint in held]:
            raise BadUsage(
                f"joint {both[0]!r} is held, and coupled by {coupling.name!r}",
                remedy="hold a joint that is not coupled",
            )
    pairs = tuple(_fixed(mech, poses, p) if p.name in held else p for p in mech.pairs)
    return replace(mech, pairs=pairs, drivers=(), locks=())


def _fixed(mech: Mechanism, poses: BodyPoses, pair: Pair) -> Pair:
    X_PS = relative_pose(mech, pair, poses)
    travel, turn = Pose(np.eye(3), X_PS.p), Pose(X_PS.R.T, np.zeros(3))
    return replace(pair, type="fixed", freedoms=(), X_AP=pair.X_AP @ travel, X_BS=pair.X_BS @ turn, lead=0.0)
