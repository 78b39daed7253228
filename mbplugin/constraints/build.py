"""All rows of a mechanism, or of some of its constraints, in the order of the matrix."""

from __future__ import annotations

from collections.abc import Collection

from mbplugin.constraints.pairs import pair_rows
from mbplugin.constraints.pfaffians import pfaffian_rows
from mbplugin.constraints.rates import coupling_rows, driver_rows, lock_rows
from mbplugin.constraints.rows import Rows
from mbplugin.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.mechanism.kinematics import BodyPoses
from mbplugin.mechanism.mechanism import Constraint, Mechanism
from mbplugin.mechanism.pair import Pair
from mbplugin.mechanism.pfaffian import KnifeEdge, Rolling
from mbplugin.spatial import Array


def constraint_rows(
    mech: Mechanism,
    constraint: Constraint,
    poses: BodyPoses,
    q: Array | None = None,
    twists: Array | None = None,
) -> Rows:
    """Return the rows of one constraint at a pose.

    Parameters
    ----------
    q : (nq,) array, optional
        Tells how many turns a joint has made, for couplings and drivers.
    twists : (N, 6) array, optional
        Body twists at the centres of mass, world axes; they enter Γ only.
    """
    match constraint:
        case Pair():
            return pair_rows(mech, constraint, poses, twists)
        case Coupling():
            return coupling_rows(mech, constraint, poses, q, twists)
        case Driver():
            return driver_rows(mech, constraint, poses, q, twists)
        case Lock():
            return lock_rows(mech, constraint, poses, twists)
        case KnifeEdge() | Rolling():
            return pfaffian_rows(mech, constraint, poses, twists)


def all_rows(
    mech: Mechanism,
    poses: BodyPoses,
    q: Array | None = None,
    twists: Array | None = None,
    names: Collection[str] | None = None,
) -> list[Rows]:
    """Return the rows of every constraint (or the named ones), constraint by constraint."""
    return [
        constraint_rows(mech, c, poses, q, twists)
        for c in mech.constraints()
        if names is None or c.name in names
    ]
