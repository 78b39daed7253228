"""Closing a pose: joint coordinates at which every loop is closed, by damped Gauss–Newton."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.reduction.scaling import characteristic_length, rate_scale
from mbplugin.constraints.reduction.velocity import tree_motion
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism.coupling import Driver
from mbplugin.model.mechanism.kinematics import BodyPoses, displace, forward
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.spatial import AnyArray, Array

#: A loop counts as closed when what rounding leaves open is below this fraction of its size.
CLOSED = 1e-3
_CONVERGED = 1e-12
_ITERATIONS = 60
#: A descent ends when so many steps have not made the squares of the residuals smaller by so much.
_PATIENCE, _PROGRESS = 6, 0.98
_RESTARTS = 20
#: What is smaller than this fraction of the largest entry of J is rounding.
_NOTHING = 1e-14
#: Columns from which on it pays to look for parts.
_WORTH_PARTING = 60
#: Bodies times restarts: a mechanism of hundreds of bodies is not guessed into place.
_EFFORT = 300
#: Of one iteration: rad, and travels against the mechanism's length.
_LARGEST_STEP = 0.5
#: What is beyond a limit by less is rounding: rad or lengths of the mechanism, and parts of the value.
_LIMIT_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Assembly:
    """A closed pose and how well each constraint is closed.

    Parameters
    ----------
    q : (nq,) array
    residual_file, residual : dict of constraint name to float
        Largest position residual at the given pose and at q, in m (rotations times ``length``).
    length : float
        Characteristic length, m.
    moved : float
        Largest change of a joint coordinate, rad or m.
    beyond_limits : tuple of str
        Joints that had to leave their limits.
    """

    q: Array
    residual_file: dict[str, float]
    residual: dict[str, float]
    length: float
    moved: float
    beyond_limits: tuple[str, ...] = ()

    @property
    def worst_file(self) -> float:
        """Largest residual at the given pose, m."""
        return max(self.residual_file.values(), default=0.0)

    @property
    def worst(self) -> float:
        """Largest residual at the closed pose, m."""
        return max(self.residual.values(), default=0.0)


def assemble(mech: Mechanism, q: Array, given: Collection[str] = (), *, seed: int = 0) -> Assembly:
    """Close all loops, starting at q and moving what was not given first.

    Parameters
    ----------
    mech : Mechanism
    q : (nq,) array
        The pose of the file.
    given : collection of str
        Coordinate names to be held when the loops close without moving them.
    seed : int
        Of the restarts from disturbed poses.

    Raises
    ------
    CannotClose
        Names the constraint that stays open and by how much.
    """
    problem = Closure(mech, q)
    if not problem.constraints:
        return Assembly(q, {}, {}, problem.length, 0.0)
    before = problem.initial
    if max(before.values()) <= _CONVERGED * problem.length:
        return Assembly(q, before, before, problem.length, 0.0)
    attempt = _best_attempt(problem, q, _held_sets(mech, given), seed)
    after = problem.residuals(attempt)
    worst = max(after, key=lambda name: after[name])
    if after[worst] > CLOSED * problem.length:
        raise _cannot_close(problem, worst, after[worst])
    attempt, beyond = _respect_limits(problem, q, attempt)
    moved = float(np.abs(attempt - q).max()) if q.size else 0.0
    return Assembly(attempt, before, problem.residuals(attempt), problem.length, moved, beyond)


class Closure:
    """The position equations of a mechanism, in metres; steps are dimensionless (``units``).

    Parameters
    ----------
    mech : Mechanism
    q : (nq,) array
        A pose, for the characteristic length and the ``initial`` residuals.

    Attributes
    ----------
    units : (nv,) array
        The unit of each joint rate: the characteristic length for travels, 1 rad for turns.
    """

    def __init__(self, mech: Mechanism, q: Array) -> None:
        self.mech = mech
        self.constraints = constraints_to_close(mech)
        rows, poses = self._at(q)
        self.length = characteristic_length(rows, poses.p_WC, mech)
        self.units = rate_scale(mech, self.length)
        self.initial = self._largest(rows)
        self.restarts = min(_RESTARTS, max(2, _EFFORT // max(1, len(mech.bodies))))

    def _at(self, q: Array) -> tuple[list[Rows], BodyPoses]:
        poses = forward(self.mech, q)
        return rows_of(self.mech, self.constraints, poses, q), poses

    def _largest(self, rows: list[Rows]) -> dict[str, float]:
        return {r.constraint: float(np.abs(self._metres(r) * r.Phi).max()) for r in rows}

    def residuals(self, q: Array) -> dict[str, float]:
        """Return the largest residual of each constraint at q (nq,), m."""
        return self._largest(self._at(q)[0])

    def closed(self, q: Array) -> bool:
        """Return whether every residual at q (nq,) is small against the mechanism."""
        return max(self.residuals(q).values(), default=0.0) <= CLOSED * self.length

    def solve(self, q: Array, movable: AnyArray, converged: float = _CONVERGED) -> Array:
        """Return the end (nq,) of damped Gauss–Newton steps from q (nq,) in the rates ``movable`` (nv,) of bool.

        The largest entry of a dimensionless step below ``converged`` ends them.
        """
        size = np.inf
        best, since = q, 0
        for _ in range(_ITERATIONS):
            J, Phi = self.linearise(q)
            # a loop that is out of reach is circled for ever
            since = 0 if float(Phi @ Phi) < _PROGRESS * size else since + 1
            if float(Phi @ Phi) < size:
                best, size = q, float(Phi @ Phi)
            if since > _PATIENCE:
                break
            step = np.zeros(J.shape[1])
            step[movable] = _truncated_solution(J[:, movable], -Phi)
            step *= min(1.0, _LARGEST_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-300))
            if float(np.abs(step).max(initial=0.0)) < converged:
                break
            q = self.displaced(q, step)
        return best

    def displaced(self, q: Array, step: Array) -> Array:
        """Return the pose (nq,) a dimensionless step (nv,) away from q (nq,)."""
        return displace(self.mech, q, self.units * step)

    def linearise(self, q: Array) -> tuple[Array, Array]:
        """Return Jacobian (k, nv) in dimensionless joint rates and residual (k,) at q (nq,), both in metres."""
        rows, poses = self._at(q)
        J = tree_motion(self.mech, poses).reduce(rows)
        scale = np.concatenate([np.where(r.holonomic, self._metres(r), 0.0) for r in rows])
        return J * scale[:, None] * self.units, np.concatenate([r.Phi for r in rows]) * scale

    def _metres(self, rows: Rows) -> Array:
        return np.where(rows.translation, 1.0, self.length)


def constraints_to_close(mech: Mechanism) -> list[Constraint]:
    """Return the constraints that the joint coordinates do not satisfy by themselves."""
    drivers: list[Driver] = [d for d in mech.drivers if d.value is not None]
    rolling = [p for p in mech.pfaffians if p.holonomic]
    cut = [p for p in mech.tree.cut if p.kind.constrained]
    return [*cut, *mech.couplings, *drivers, *rolling]


def _truncated_solution(J: Array, rhs: Array) -> Array:
    x = np.zeros(J.shape[1])
    for rows, columns in independent_parts(J):
        x[columns] = _solution_of_part(J[np.ix_(rows, columns)], rhs[rows])
    return x


def independent_parts(J: Array) -> list[tuple[AnyArray, AnyArray]]:
    """Return rows and columns of the parts of J (k, n) that share nothing: loops that do not touch.

    The work on one part grows with its cube. Rows and columns of zeros belong to none.
    """
    rows, columns = np.nonzero(np.abs(J) > _NOTHING * np.abs(J).max(initial=0.0))
    if J.shape[1] < _WORTH_PARTING or not rows.size:
        return [(np.unique(rows), np.unique(columns))] if rows.size else []
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = sum(J.shape)
    graph = coo_array((np.ones(rows.size), (rows, J.shape[0] + columns)), shape=(size, size))
    part = connected_components(graph, directed=False)[1]
    found = []
    for number in np.unique(part[rows]):
        members = np.flatnonzero(part == number)
        found.append((members[members < J.shape[0]], members[members >= J.shape[0]] - J.shape[0]))
    return found


def _solution_of_part(J: Array, rhs: Array) -> Array:
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    # what only smaller ones could close is a misfit by rounding: chasing it would fling the mechanism about
    kept = sigma > DEFAULT_TOLERANCE * sigma[0]
    return np.asarray(Vt[kept].T @ ((U[:, kept].T @ rhs) / sigma[kept]))


def _held_sets(mech: Mechanism, given: Collection[str]) -> list[AnyArray]:
    """Return movable rates, from the most held to none held: given joints and free roots, then less."""
    free_roots = np.zeros(len(mech.qd_names), dtype=bool)
    named = np.zeros(len(mech.qd_names), dtype=bool)
    for joint in mech.tree.joints:
        if joint.pair is None:
            free_roots[joint.qd] = True
        if any(name in given for name in mech.q_names[joint.q]):
            named[joint.qd] = True
    sets = [~(named | free_roots), ~named, np.ones_like(named)]
    return [s for k, s in enumerate(sets) if k == 0 or (s != sets[k - 1]).any()]


def _best_attempt(problem: Closure, q: Array, movable_sets: list[AnyArray], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    best, best_size = q, np.inf
    for restart in range(problem.restarts + 1):
        spread = 0.0 if restart == 0 else 0.2 + 1.3 * restart / problem.restarts
        for movable in movable_sets:
            start = problem.displaced(q, spread * rng.normal(size=movable.size) * movable)
            end = problem.solve(start, movable)
            size = max(problem.residuals(end).values())
            if size < best_size:
                best, best_size = end, size
            if best_size <= CLOSED * problem.length:
                return best
    return best


def _cannot_close(problem: Closure, name: str, gap: float) -> CannotClose:
    return CannotClose(
        f"the loop through {name!r} cannot be closed: its two sides stay {gap:.4g} m apart"
        f" ({problem.restarts} restarts)",
        expected=f"a gap below {CLOSED * problem.length:.2g} m",
        remedy="correct its frames, or give a starting pose nearer to the closed one",
    )


def _respect_limits(problem: Closure, start: Array, q: Array) -> tuple[Array, tuple[str, ...]]:
    """Return a closed pose inside the joint limits where one is found, and who is left outside."""
    tolerated = _beyond_limits(problem, start).keys()
    outside = _beyond_limits(problem, q).keys() - tolerated
    movable = np.ones(len(problem.mech.qd_names), dtype=bool)
    trial = np.array(q)
    for _ in range(len(problem.mech.tree.joints)):
        now = {n: limit for n, limit in _beyond_limits(problem, trial).items() if n not in tolerated}
        if not now:
            return trial, ()
        for name, limit in now.items():
            joint = problem.mech.tree.joint_of_pair[name]
            trial[joint.q], movable[joint.qd] = limit, False
        trial = problem.solve(trial, movable)
        if max(problem.residuals(trial).values()) > CLOSED * problem.length:
            break
    return q, tuple(sorted(outside))


def _beyond_limits(problem: Closure, q: Array) -> dict[str, float]:
    """Return the single-freedom joints outside their limits, and the limit they passed."""
    beyond: dict[str, float] = {}
    for joint in problem.mech.tree.joints:
        if joint.pair is None or len(joint.pair.freedoms) != 1:
            continue
        freedom, value = joint.pair.freedoms[0], float(q[joint.q][0])
        slack = _LIMIT_SLACK * (float(problem.units[joint.qd][0]) + abs(value))
        if freedom.lower <= freedom.upper and not freedom.lower - slack <= value <= freedom.upper + slack:
            beyond[joint.pair.name] = freedom.lower if value < freedom.lower else freedom.upper
    return beyond
