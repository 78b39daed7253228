"""Whether forces and impulses that the laws allow make a motion: M q̈ = F + Cᵀλ sample by sample.

Every freedom that is resisted, locked or led gets a row of its own; what its multiplier may be follows
from the law: any for what is led or locked, up to the static part for what rests, one value for what slides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import lsq_linear

from mbplugin.dynamics.formulations import Equations
from mbplugin.dynamics.tree_model import TreeModel, equations_of, tree_model
from mbplugin.model.mechanism import Lock
from mbplugin.model.spatial import Array
from mbplugin.simulation.impact import with_constraints
from mbplugin.simulation.trajectory.trajectory import Trajectory
from resisting import resistances

#: A rate or an acceleration is zero up to this share of the largest one, and absolutely.
_REST, _STILL = 1e-9, 1e-7
#: The same for a rate that comes to rest at an instant, found to the accuracy of a search, and at least to this many
#: times the tolerance of the integrator: the instant is one of the polynomial of a step, which it integrates again.
_ENDS, _TOLERANCES = 1e-6, 10.0
#: Forces may miss by this share of the largest ones, static parts be exceeded by this share.
_FORCE, _HOLDS = 1e-6, 1e-5


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows by what their multipliers may be: any, or between bounds (k, 2)."""

    free: list[int]
    bounded: list[int]
    bounds: Array
    given: list[int]
    values: list[float]


class Balance:
    """Equations of a motion at its samples, without dry friction and brakes, which have rows instead.

    ``rtol`` is the relative tolerance of its integration.
    """

    def __init__(self, motion: Trajectory, rtol: float = 0.0) -> None:
        self.motion = motion
        self._at_ends = max(_ENDS, _TOLERANCES * rtol)
        self.resisted = {one.key: one for one in resistances(motion)}
        self._models: dict[tuple[str, ...], TreeModel] = {}

    def equations(self, k: int, segment: int) -> Equations:
        """Equations at the state of a sample, with the rows of what may hold in a segment."""
        m = self.motion
        names = m.active[segment]
        closed = tuple(c.name for c in m.held if c.name in names)
        if closed not in self._models:
            mech = with_constraints(m.mechanism, [c for c in m.held if c.name in names])
            own = {lock.joint for lock in mech.locks}
            joints = dict.fromkeys(
                [pair for pair, _ in self.resisted]
                + [n.partition(" ")[2] for names in m.active for n in names if _kind(n)]
            )
            locks = tuple(Lock(j) for j in joints if j in mech.pair_by_name and j not in own)
            actions = replace(m.actions, friction=False, brakes=())
            mech = replace(mech, locks=(*mech.locks, *locks))
            self._models[closed] = tree_model(mech, actions, planar=m.planar, q=m.q[0])
        model = self._models[closed]
        return equations_of(
            model, m.q[k], m.qd[k], time=float(m.time[k]), degree_of_redundancy=0, decided=True
        )

    def require(self, k: int) -> None:
        """Assert that admissible forces make the accelerations of a sample."""
        m = self.motion
        e = self.equations(k, int(m.segment[k]))
        rows = self._rows(k, e)
        inertial, needed = e.M @ m.qdd[k], e.M @ m.qdd[k] - e.F
        needed = needed - e.C[rows.given].T @ np.array(rows.values)
        size = max(np.abs(inertial).max(initial=0.0), np.abs(e.F).max(initial=0.0), _largest(e, rows), 1e-9)
        gap, excess, forces = _admissible(e, rows, needed)
        loads = {" ".join(e.labels[i]): f"{v:.6g}" for i, v in zip(rows.bounded, forces, strict=True)}
        assert gap <= _FORCE * size + 1e-12, (
            f"at t = {m.time[k]:.9g} s (sample {k}) no admissible forces make the accelerations: "
            f"M q̈ − F − Cᵀλ is {gap:.3g}, more than {_FORCE:g} of {size:.3g} (N·m, N); active "
            f"{m.active[m.segment[k]]}; what rests takes {loads}, exceeding its static part by {excess:.3g}"
        )

    def _rows(self, k: int, e: Equations) -> _Rows:
        m = self.motion
        free, bounded, bounds, given, values = [], [], [], [], []
        names = m.active[m.segment[k]]
        own = {lock.name for lock in m.mechanism.locks}
        rates, slopes = e.C @ m.qd[k], e.C @ m.qdd[k] - _bias_part(e)
        fastest, steepest = np.abs(m.qd).max(initial=0.0), np.abs(m.qdd[k]).max(initial=0.0)
        for i, (name, component) in enumerate(e.labels):
            pair, freedom = name.removeprefix("lock "), component.removesuffix("_lock")
            if not component.endswith("_lock") or name in own:
                free.append(i)
                continue
            if f"lock {pair}" in names or f"drive {pair}" in names or f"lock {pair}.{freedom}" in names:
                free.append(i)
                if f"drive {pair}" not in names or (pair, freedom) not in self.resisted:
                    continue
            one = self.resisted.get((pair, freedom))
            if one is None:
                continue
            before = self._ends(k) and any(abs(b[0] - m.time[k]) < 1e-9 for b in one.brakes)
            here = m.time[k : k + 1] + (-1e-9 if before else 1e-9)
            holds = f"friction {pair}" in names or f"brake {pair}" in names
            dry, static = float(one.sliding(here)[0]), float(one.static(here)[0])
            rate, slope = float(rates[i]), float(slopes[i])
            if i in free:
                dry = static = 0.0
            opposing = float(one.opposing(rates[i : i + 1], here)[0]) - one.damping * rate
            if abs(rate) > max(2e-9, (self._at_ends if self._ends(k) else _REST) * fastest):
                given.append(i)
                values.append(-np.sign(rate) * dry - opposing)
            elif holds or abs(slope) <= _STILL * (1.0 + steepest) or self._ends(k) or k + 1 == len(m.time):
                # by Coulomb's law; at the end of a slide, or of the motion, its sense is that of the rate before
                bounded.append(i)
                bounds.append((-static, static))
            else:
                given.append(i)
                values.append(-np.sign(slope) * dry)
        return _Rows(free, bounded, np.array(bounds).reshape(-1, 2), given, values)

    def _ends(self, k: int) -> bool:
        """Whether a sample is the first of two at one instant."""
        return bool(k + 1 < len(self.motion.time) and self.motion.time[k + 1] == self.motion.time[k])

    def require_jump(self, k: int) -> None:
        """Assert that the rates jump by impulses of what holds after the instant, and then agree with it."""
        m = self.motion
        # of more samples at one instant the last one tells what holds
        e = self.equations(k, int(m.segment[k + 1]))
        names = m.active[m.segment[k + 1]]
        own = {lock.name for lock in m.mechanism.locks}
        rows = [
            i
            for i, (name, component) in enumerate(e.labels)
            if not component.endswith("_lock")
            or name in own
            or name in names
            or f"drive {name.removeprefix('lock ')}" in names
            or f"{name}.{component.removesuffix('_lock')}" in names
        ]
        change = m.qd[k + 1] - m.qd[k]
        impulse = e.M @ change
        size = np.abs(e.M @ m.qd[k]).max(initial=0.0) + np.abs(impulse).max(initial=0.0)
        given = np.linalg.lstsq(e.C[rows].T, impulse, rcond=1e-10)[0] if rows else np.zeros(0)
        gap = float(np.abs(impulse - e.C[rows].T @ given).max(initial=0.0))
        assert gap <= 1e-6 * size, (
            f"at t = {m.time[k]:.9g} s the rates jump by more than what holds afterwards {names} can give: "
            f"M Δq̇ − J₊ᵀΛ is {gap:.3g} of {size:.3g} N·m·s"
        )
        resting = [i for i in rows if not e.b[i]]
        if len(resting) == len(rows):
            lost = -float(0.5 * m.qd[k + 1] @ e.M @ m.qd[k + 1] - 0.5 * m.qd[k] @ e.M @ m.qd[k])
            carnot = 0.5 * float(change @ impulse)
            scale = 0.5 * float(m.qd[k] @ e.M @ m.qd[k])
            assert abs(lost - carnot) <= 1e-7 * scale, (
                f"the jump at t = {m.time[k]:.9g} s takes {lost:.9g} J, and ½ Δq̇ᵀMΔq̇ is {carnot:.9g} J"
            )


def _kind(name: str) -> bool:
    return name.partition(" ")[0] in ("lock", "drive", "friction", "brake")


def _bias_part(e: Equations) -> Array:
    """What C q̈ is where the rate of a row does not change: Γ without what a driver prescribes."""
    return np.array([g if c.endswith("_lock") else 0.0 for g, (_, c) in zip(e.Gamma, e.labels, strict=True)])


def _largest(e: Equations, rows: _Rows) -> float:
    return float(np.abs(e.C[rows.given].T @ np.array(rows.values)).max(initial=0.0)) if rows.given else 0.0


def _admissible(e: Equations, rows: _Rows, needed: Array) -> tuple[float, float, Array]:
    """What the nearest admissible forces leave of ``needed``, by how much bounds are exceeded, forces."""
    columns = [*rows.free, *rows.bounded]
    if not columns:
        return float(np.abs(needed).max(initial=0.0)), 0.0, np.zeros(0)
    A = e.C[columns].T
    found = np.linalg.lstsq(A, needed, rcond=1e-11)[0]
    forces = found[len(rows.free) :]
    excess = float((np.abs(forces) - rows.bounds[:, 1]).max(initial=0.0))
    if excess > 0.0:
        room = rows.bounds * (1.0 + _HOLDS) + np.array([-1e-9, 1e-9])
        lower = np.concatenate((np.full(len(rows.free), -np.inf), room[:, 0]))
        upper = np.concatenate((np.full(len(rows.free), np.inf), room[:, 1]))
        found = lsq_linear(A, needed, (lower, upper), method="bvls", tol=1e-14).x
        forces = found[len(rows.free) :]
    return float(np.abs(needed - A @ found).max(initial=0.0)), excess, forces
