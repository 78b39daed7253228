"""Dry friction that grows with the force in its joint, by a fixed-point iteration; choice of independent rows.

Friction depends on the reactions, reactions on the accelerations, and these on friction: M v̇ = F(λ) + Cᵀλ. The
loads N of all such joints are a fixed point, computed by iteration with a secant step. Sliding friction is then
the stated dry part plus μ N, or μ r N; the bound of static friction grows likewise. If a reaction is not unique,
neither is the motion (wojtyra2013 §1, pekal2024 §1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.rank import sample_poses
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.kernels.articulated import inverse_dynamics
from mbplugin.dynamics.kernels.rows import COMBINED, RATE
from mbplugin.dynamics.kernels.solve import SINGULAR, add_innovations, row_in_rates
from mbplugin.dynamics.redundancy import ADMISSIBLE, Independent, eliminate, mass_weighted, minimum_norm
from mbplugin.dynamics.tree_model import TreeModel, redundancy
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.lapack import pivot_order, pivots
from mbplugin.model.mechanism.identity import freedom_held
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import ROTATION, AnyArray, Array

#: Largest number of passes, and the relative change of the loads at which the iteration has converged.
_MOST, _ENOUGH = 200, 1e-12
#: The smallest load, N.
_LEAST = 1e-12
_SPREAD: dict[str, Callable[[Equations], Independent]] = {
    "minimum-norm": minimum_norm,
    "mass-weighted": mass_weighted,
    # its iteration starts from zero, so its multipliers are those of minimum norm
    "augmented": minimum_norm,
}
#: Rows whose singular values exceed this fraction of the largest are independent without further tests.
_CLEARLY = 1e-3
#: Poses sampled for the generic rank.
_SAMPLES = 4
#: Rows are chosen anew when their independence falls to this fraction of its value at the last choice.
_WEAKENED = 1e-2


class LoadFriction:
    """The joints of a model with friction that depends on their load, and their present loads.

    ``frozen`` keeps the loads constant during a stick-slip decision.
    """

    def __init__(self, model: TreeModel) -> None:
        self._model = model
        self.frozen = False
        labels = model.table.labels
        self._joints: list[tuple[int, Pair, float]] = []
        for n, row in enumerate(model.resistances["row"].tolist() if model.actions.friction else ()):
            pair = model.mech.pair_by_name[freedom_held(labels[row])[0]]
            if pair.freedoms and pair.freedoms[0].load_friction > 0:
                self._joints.append((n, pair, pair.freedoms[0].load_friction))
        self.places = np.array([n for n, _, _ in self._joints], dtype=int)
        self._arms = np.array([arm for _, _, arm in self._joints])
        self._loads = np.zeros(len(self._joints))
        self._before: tuple[Array, Array] | None = None
        self._done = True
        if self._joints:
            self.let(self._loads)

    def __bool__(self) -> bool:
        return bool(self._joints)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(pair.name for _, pair, _ in self._joints)

    def passes(self) -> Iterator[int]:
        """Yield passes until the loads have converged.

        In each, the caller computes accelerations and calls :meth:`follow`.

        Raises
        ------
        BrokenModel
            The loads do not converge: friction is so large that no motion satisfies it, or several do.
        """
        self._before, self._done = None, False
        for k in range(_MOST):
            yield k
            if self._done:
                return
        names = ", ".join(map(repr, self.names))
        raise BrokenModel(
            f"friction that grows with the load of {names} has no solution that the iteration finds",
            remedy="state a smaller friction_coefficient",
        )

    def follow(self, qdd: Array, multipliers: Array) -> None:
        """Update loads and friction for accelerations qdd (nv,) and multipliers (m,) of the first m rows.

        The model must hold the forces at the state, without those of rows; they are overwritten.
        """
        if not self._joints or self.frozen:
            self._done = True
            return
        found = self._read(qdd, multipliers)
        gap = found - self._loads
        self._done = bool(np.abs(gap).max() <= _ENOUGH * (1.0 + np.abs(found).max()))
        aim = found
        if self._before is not None:
            # a secant step towards the fixed point, for all loads together
            change = gap - self._before[0]
            square = float(change @ change)
            if square > 0.0:
                share = float(gap @ change) / square
                aim = found - share * (found - self._before[1])
        self._before = gap, found
        self.let(found if self._done else np.maximum(aim, 0.0))

    def let(self, loads: Array) -> None:
        """Set the dry friction for loads (k,), N."""
        # a joint without dry friction would not get a sense of sliding
        loads = np.maximum(loads, _LEAST)
        for part in ("sliding", "static"):
            values = self._model.resistances[part]
            values[self.places] = np.maximum(values[self.places] + self._arms * (loads - self._loads), 0.0)
        self._loads = np.array(loads)

    @property
    def loads(self) -> Array:
        """The present loads (k,), N."""
        return np.array(self._loads)

    def _read(self, qdd: Array, multipliers: Array) -> Array:
        """Return the magnitude (k,) of the force in each joint, N, for qdd (nv,) and multipliers (m,)."""
        model = self._model
        pull_rows(model, multipliers)
        model.rates["qdd"] = qdd
        inverse_dynamics(model.composites, model.rates, np.empty(len(qdd)))
        return np.array([self._load(pair, multipliers) for _, pair, _ in self._joints])

    def _load(self, pair: Pair, multipliers: Array) -> float:
        """Return the magnitude of the force in one joint, N, for multipliers (m,)."""
        model = self._model
        a, X_aP = model.composites_of.frame(model.mech, pair.body_a, pair.X_AP)
        b, _ = model.composites_of.frame(model.mech, pair.body_b, pair.X_BS)
        joint = model.mech.tree.joint_of_pair.get(pair.name)
        if joint is None:
            own = [
                i for i, label in enumerate(model.table.labels[: len(multipliers)]) if label[0] == pair.name
            ]
            force = multipliers[own] @ model.table.rows["on_b"][own][:, :3]
        else:
            force = model.composites["f"][a if joint.reversed else b][:3].copy()
        force = force * np.isin(np.arange(3), plane_columns(model.planar))
        if pair.type == "prismatic":
            axis = model.composites["R"][a] @ X_aP.R[:, 2]
            force = force - (force @ axis) * axis
        return float(np.linalg.norm(force))


def pull_rows(model: TreeModel, multipliers: Array) -> None:
    """Add the forces of rows to the composite bodies, for multipliers (m,) of the first m rows, N and N·m.

    Parts that act on joint rates load no joint.
    """
    rows, terms = model.table.rows, model.table.terms
    if not len(multipliers):
        return
    force = np.zeros(len(rows))
    force[: len(multipliers)] = multipliers
    for i in np.flatnonzero(rows["kind"][: len(multipliers)] == COMBINED):
        own = terms[rows["first"][i] : rows["first"][i] + rows["count"][i]]
        np.add.at(force, own["row"], own["coefficient"] * multipliers[i])
        force[i] = 0.0
    for body, entry in (("a", "on_a"), ("b", "on_b")):
        np.subtract.at(model.composites["f"], rows[body], force[:, None] * rows[entry])


# Multipliers for known accelerations, distributed over redundant rows as in the motion.


class Handling:
    """A method of handling redundant rows along a motion.

    Elimination keeps dropping the same rows as long as possible, so that multipliers do not jump between choices.

    Parameters
    ----------
    redundancy : str
        Name of the method.
    dropped : sequence of (constraint, component)
        Rows that are to carry no load; if locks and brakes make more rows redundant, others are dropped as well.
    """

    def __init__(self, redundancy: str, dropped: Sequence[tuple[str, str]] = ()) -> None:
        self._redundancy = redundancy
        self._stated = tuple(dropped)
        self._dropped: tuple[int, ...] = ()

    def multipliers(self, equations: Equations, v_dot: Array) -> Array:
        """Return λ (m,) with Cᵀλ = M v̇ − F for accelerations ``v_dot`` (n,), N and N·m."""
        return self.carrying(equations, equations.M @ v_dot - equations.F)

    def carrying(self, equations: Equations, forces: Array) -> Array:
        """Return λ (m,) with Cᵀλ = forces (n,), N and N·m."""
        size = equations.column_scale
        if self._dropped and len(self._dropped) == equations.degree_of_redundancy:
            # the singular values show whether the rows kept so far are independent here too
            kept = np.delete(np.arange(len(equations.C)), self._dropped)
            scale = equations.row_scale[kept]
            scaled = (scale[:, None] * equations.C[kept] * size).T
            mu, _, _, sizes = np.linalg.lstsq(scaled, size * forces, rcond=None)
            if len(sizes) == len(kept) and sizes.min(initial=np.inf) > _CLEARLY * sizes.max(initial=0.0):
                out = np.zeros(len(equations.C))
                out[kept] = scale * mu
                return out
        constraints = self._independent(equations)
        if not len(constraints.C):
            return np.zeros(len(equations.C))
        return np.asarray(
            constraints.spread @ np.linalg.lstsq((constraints.C * size).T, size * forces, rcond=None)[0]
        )

    def _independent(self, equations: Equations) -> Independent:
        if self._redundancy != "eliminate":
            return _SPREAD[self._redundancy](equations)
        if self._stated:
            return eliminate(equations, with_others(equations, self._stated))
        self._dropped = self._dropped or _left_over(equations)
        try:
            return eliminate(equations, self._dropped)
        except BadUsage:
            # the rows kept so far have become dependent
            self._dropped = _left_over(equations)
            return eliminate(equations)


def with_others(equations: Equations, stated: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """Return p rows to drop, including the stated ones; pivoting selects the others.

    Raises
    ------
    BadUsage
        Without the stated rows, the others are redundant or nearly lose rank.
    """
    rows = [equations.labels.index(label) for label in stated]
    Z = equations.self_stresses
    Q, R = np.linalg.qr(Z[rows].T)
    if len(rows) > Z.shape[1] or np.abs(np.diag(R)).min() < ADMISSIBLE:
        # raises an error that names the rows, and how many can be dropped
        eliminate(equations, rows)
    rest = Z - (Z @ Q) @ Q.T
    more = pivot_order(rest.T)[: Z.shape[1] - len(rows)]
    return (*rows, *(int(k) for k in more))


def _left_over(equations: Equations) -> tuple[int, ...]:
    """Return the rows that the pivoted factorisation leaves out."""
    kept = set(equations.independent_rows.tolist())
    return tuple(k for k in range(len(equations.C)) if k not in kept)


# Choice of independent rows in force: the rank is decided once for all poses, the rows anew when they become weak.


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows in force, and a choice of independent ones.

    Parameters
    ----------
    active : tuple of int
        All rows in force, including redundant ones.
    rows : (r,) array of int
        Independent rows, best first.
    missing : int
        Number of rows that are independent at other poses, but not at this one.
    """

    active: tuple[int, ...]
    rows: AnyArray
    missing: int = 0


def generic_redundancy(mech: Mechanism, q: Array, planar: str | None, tolerance: float) -> int:
    """Return p of the mechanism's rows in joint rates for their generic rank near a closed pose q (nq,)."""
    least = redundancy(mech, q, planar, tolerance)
    if least == 0:
        return 0
    for pose in sample_poses(mech, q, _SAMPLES):
        # a higher rank must exceed the tolerance clearly
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
        Generic rank of the persistent rows, which come first; the rank of further rows is that at this pose.
    dropped : tuple of int
        Rows that the user eliminates.
    led : collection of int
        Rows of drives, which count as independent without a rank test: the row of a rack may differ from that of its
        pinion by a thousandth only, yet the drive's force acts in that difference.

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
    """Return True if every row fixes a different joint rate, so that the rows are independent at every pose."""
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
    """Return the independence below which the rows are to be chosen anew."""
    return _WEAKENED * row_independence
