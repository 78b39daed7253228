"""Which rows hold and are independent: the rank once for all poses, the rows anew where they get weak."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.sampling import sample_poses
from mbplugin.dynamics.joint import redundancy
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import SINGULAR, add_innovations, row_in_rates
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.errors import BadUsage
from mbplugin.lapack import pivots
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import ROTATION, AnyArray, Array

#: Poses sampled for the generic rank.
_SAMPLES = 4
#: Rows are chosen anew when the weakest has lost this much of what was its own.
_WEAKENED = 1e-2


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows that hold.

    Parameters
    ----------
    active : tuple of int
        All rows that are in force, redundant ones included.
    rows : (r,) array of int
        Independent ones, best first.
    missing : int
        Rows that are independent at other poses, but not at this one.
    """

    active: tuple[int, ...]
    rows: AnyArray
    missing: int = 0


def generic_redundancy(mech: Mechanism, q: Array, planar: str | None, tolerance: float) -> int:
    """Return p of the mechanism's own rows in joint rates at the generic rank, near a closed pose q (nq,)."""
    least = redundancy(mech, q, planar, tolerance)
    if least == 0:
        return 0
    for pose in sample_poses(mech, q, _SAMPLES):
        # a higher rank has to be clear of the tolerance
        least = min(least, redundancy(mech, pose, planar, 10 * tolerance))
    return least


def choose_rows(
    model: TreeModel,
    active: tuple[int, ...],
    own_rank: int,
    tolerance: float,
    dropped: tuple[int, ...] = (),
    led: Collection[int] = (),
) -> Choice:
    """Return independent rows among the active ones, at the configured state of the model.

    Parameters
    ----------
    own_rank : int
        Generic rank of the mechanism's own rows, which come first; rows behind them add what they add
        here.
    dropped : tuple of int
        Rows that the user wants eliminated.
    led : collection of int
        Rows of drives, which are chosen to be independent. No tolerance decides on them again: the row of a rack is
        that of its pinion but for a thousandth, in which the drive's force acts nevertheless.

    Raises
    ------
    BadUsage
        More rows are to be dropped than are redundant.
    """
    kept = [i for i in active if i not in dropped]
    if not kept:
        return Choice(active, np.zeros(0, dtype=np.int64))
    if not dropped and _lead_one_rate_each(model, kept):
        return Choice(active, np.array(kept, dtype=np.int64))
    own = [i for i in kept if i < model.table.persistent]
    own += [i for i in kept if i in led]
    rank = own_rank + len([i for i in kept if i in led])
    if len(own) < len(kept):
        rank += rank_of(model, kept, tolerance) - rank_of(model, own, tolerance)
    G = np.zeros((len(kept), len(model.rates)))
    for k, i in enumerate(kept):
        unit = float(model.table.rows["unit"][i])
        add_innovations(model.composites, model.rates, model.table.rows, model.table.terms, i, unit, G[k])
    sizes, order = pivots(G.T)
    usable = int((sizes > SINGULAR * max(sizes[0], 1e-300)).sum()) if sizes.size else 0
    if dropped and rank > len(kept):
        raise BadUsage(
            "more rows are to be dropped than are redundant", expected=f"{len(active) - rank} rows"
        )
    return Choice(active, np.array(kept, dtype=np.int64)[order[: min(rank, usable)]], max(rank - usable, 0))


def _lead_one_rate_each(model: TreeModel, rows: list[int]) -> bool:
    """Whether every row leads a joint rate of its own: such rows are independent at every pose."""
    table = model.table.rows[rows]
    return bool((table["kind"] == RATE).all()) and len(np.unique(table["rate"])) == len(rows)


def rank_of(model: TreeModel, rows: list[int], tolerance: float) -> int:
    """Return the rank of some rows in scaled joint rates at the configured state."""
    if not rows:
        return 0
    J = np.zeros((len(rows), len(model.rates)))
    for k, i in enumerate(rows):
        unit = float(model.table.rows["unit"][i])
        row_in_rates(model.composites, model.rates, model.table.rows, model.table.terms, i, unit, J[k])
    rotational = np.abs(model.rates["s"][:, ROTATION]).max(axis=1, initial=0.0) > 0
    sigma = np.linalg.svd(J * np.where(rotational, 1.0, model.length), compute_uv=False)
    return int((sigma > tolerance * sigma[0]).sum()) if sigma[0] > 0 else 0


def trusted_share(row_independence: float) -> float:
    """Return the share below which the rows have to be chosen anew."""
    return _WEAKENED * row_independence
