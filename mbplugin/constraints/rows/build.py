"""All rows of a mechanism, or of some of its constraints, in the order of the matrix."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mbplugin.constraints.rows.pairs import pair_rows
from mbplugin.constraints.rows.pfaffians import pfaffian_rows
from mbplugin.constraints.rows.rates import coupling_rows, driver_rows, lock_rows
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.mechanism.pfaffian import KnifeEdge, Rolling
from mbplugin.model.spatial import Array


def rows_of(
    mech: Mechanism,
    constraints: Sequence[Constraint],
    poses: BodyPoses,
    q: Array | None = None,
    twists: Array | None = None,
) -> list[Rows]:
    """Return the rows of some constraints at a pose, in their order.

    Parameters
    ----------
    q : (nq,) array, optional
        Tells how many turns a joint has made, for couplings and drivers.
    twists : (N, 6) array, optional
        Body twists at the centres of mass, world axes; they enter Γ only.
    """
    of_pairs = pair_rows(mech, [c for c in constraints if isinstance(c, Pair)], poses, twists)

    def rows(constraint: Constraint) -> Rows:
        match constraint:
            case Pair():
                return of_pairs[constraint.name]
            case Coupling():
                return coupling_rows(mech, constraint, poses, q, twists)
            case Driver():
                return driver_rows(mech, constraint, poses, q, twists)
            case Lock():
                return lock_rows(mech, constraint, poses, twists)
            case KnifeEdge() | Rolling():
                return pfaffian_rows(mech, constraint, poses, twists)

    return [rows(constraint) for constraint in constraints]


def all_rows(
    mech: Mechanism,
    poses: BodyPoses,
    q: Array | None = None,
    twists: Array | None = None,
    names: Collection[str] | None = None,
) -> list[Rows]:
    """Return the rows of every constraint (or the named ones), constraint by constraint.

    Arrays as for :func:`rows_of`.
    """
    chosen = [c for c in mech.constraints() if names is None or c.name in names]
    return rows_of(mech, chosen, poses, q, twists)
