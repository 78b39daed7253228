"""Dry friction that grows with the force that its joint transmits, as the limit of an iteration.

Friction depends on the reactions, reactions on the accelerations, and these on friction: M v̇ = F(λ) + Cᵀλ. The
loads N of all such joints are a fixed point, found by iteration with a secant step; sliding friction is then
the stated dry part plus μ N, or μ r N, and so is the most that sticking can hold. Where a reaction is not unique,
neither is the motion (wojtyra2013 §1, pekal2024 §1).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.dynamics.kernels.inverse import inverse_dynamics
from mbplugin.dynamics.kernels.rows import COMBINED
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism.identity import freedom_held
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array

#: Passes until the iteration is given up, and the relative change of a load at which it has ended.
_MOST, _ENOUGH = 200, 1e-12
#: The smallest load, N.
_LEAST = 1e-12


class LoadFriction:
    """The joints of a model with friction that grows with their load, and the loads found last.

    ``frozen`` keeps the loads as they are, while it is decided what sticks.
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
        """The joints."""
        return tuple(pair.name for _, pair, _ in self._joints)

    def passes(self) -> Iterator[int]:
        """Yield passes; each computes accelerations and calls :meth:`follow`, until the loads agree with them.

        Raises
        ------
        BrokenModel
            Loads that do not come to rest: so much friction that no motion satisfies it, or several do.
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
        """Let friction follow the loads that accelerations qdd (nv,) cause, with multipliers (m,) of the first m rows.

        The model holds what acts at the state, before rows act on it; that is used up.
        """
        if not self._joints or self.frozen:
            self._done = True
            return
        found = self._read(qdd, multipliers)
        gap = found - self._loads
        self._done = bool(np.abs(gap).max() <= _ENOUGH * (1.0 + np.abs(found).max()))
        aim = found
        if self._before is not None:
            # a secant step on the fixed point, of all loads together
            change = gap - self._before[0]
            square = float(change @ change)
            if square > 0.0:
                share = float(gap @ change) / square
                aim = found - share * (found - self._before[1])
        self._before = gap, found
        self.let(found if self._done else np.maximum(aim, 0.0))

    def let(self, loads: Array) -> None:
        """Set the dry parts for loads (k,), N."""
        # without a dry part a joint would have no sense in which it slides
        loads = np.maximum(loads, _LEAST)
        for part in ("sliding", "static"):
            values = self._model.resistances[part]
            values[self.places] = np.maximum(values[self.places] + self._arms * (loads - self._loads), 0.0)
        self._loads = np.array(loads)

    @property
    def loads(self) -> Array:
        """The loads (k,) found last, N."""
        return np.array(self._loads)

    def _read(self, qdd: Array, multipliers: Array) -> Array:
        """Return the size (k,) of the force that each joint's rows carry, N; qdd (nv,), multipliers (m,)."""
        model = self._model
        pull_rows(model, multipliers)
        model.rates["qdd"] = qdd
        inverse_dynamics(model.composites, model.rates, np.empty(len(qdd)))
        return np.array([self._load(pair, multipliers) for _, pair, _ in self._joints])

    def _load(self, pair: Pair, multipliers: Array) -> float:
        """Return the force of one joint, N; multipliers (m,)."""
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
    """Let rows act on the composite bodies, with multipliers (m,) of the first m of them, N and N·m.

    What they do to joint rates passes through no joint's rows.
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
