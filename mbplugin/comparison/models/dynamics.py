"""Mass matrix, gravity forces and determined joint forces of two models at the same random poses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from mbplugin.constraints.matrix import constraint_matrix
from mbplugin.constraints.reduction.velocity import mass_matrix, velocity_transformation
from mbplugin.model.mechanism import Lock, Mechanism
from mbplugin.model.mechanism.coordinate_units import rate_units
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import displace, forward, home
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.readers.common.grounding import with_fixed_roots

#: Poses, and where their random numbers start.
POSES, SEED = 5, 20
#: Rates without limits move so far, rad and m.
_TURN, _TRAVEL = 1.5, 0.3
#: Rows above which joint forces would take longer than all the rest.
_MOST_ROWS = 600
#: A component with a self-stress above this is not determined.
_OPEN = 1e-6
#: Loops with a smaller residual are closed, m and rad.
_CLOSED = 1e-5
#: Gravity forces below this share of the weights times the longest arm are rounding: gravity is balanced. So are
#: joint forces below this share of the largest, determined or not: a linkage that lies flat has no others.
_BALANCED = 1e-6


@dataclass(frozen=True)
class Dynamics:
    """Largest relative differences over the poses; None where something is not compared."""

    poses: int
    mass_matrix: float | None
    gravity_forces: float | None
    wrenches: float | None


#: Nothing was compared.
NONE = Dynamics(0, None, None, None)


def compare_dynamics(a: Mechanism, b: Mechanism, q: Array) -> Dynamics:
    """Return how far two mechanisms with the same names and coordinates differ at random poses.

    ``q`` (nq,) are coordinates of the first at which its loops are closed, for the joint forces.
    """
    b = _cut_alike(a, b)
    if not a.qd_names or set(a.body_index) != set(b.body_index) or a.q_names != b.q_names:
        return NONE
    rng = np.random.default_rng(SEED)
    gaps = np.zeros((POSES, 2))
    # turns over a length have the unit of travels: kg and kg·m², N and N·m are compared in one
    over = np.array([1.0 / _length(a) if unit == "rad/s" else 1.0 for unit in rate_units(a)])
    for k in range(POSES):
        pose = random_pose(a, rng)
        (M, g, small), (N, h, _) = _terms(a, pose, over), _terms(b, pose, over)
        gaps[k] = _relative(M, N), _relative(g, h, small)
    wrenches = _wrench_gap(a, b, q)
    return Dynamics(POSES, float(gaps[:, 0].max()), float(gaps[:, 1].max()), wrenches)


def _cut_alike(a: Mechanism, b: Mechanism) -> Mechanism:
    """Return the second mechanism with its loops cut where those of the first are, and its bodies in that order."""
    pairs = tuple(
        replace(p, closure=a.pair_by_name[p.name].closure) if p.name in a.pair_by_name else p for p in b.pairs
    )
    return replace(b, pairs=pairs)


def random_pose(mech: Mechanism, rng: np.random.Generator) -> Array:
    """Return a pose (nq,): each joint within its limits, rad and m; loops are not closed."""
    step = np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        free = (
            () if joint.pair is None else tuple(zip(joint.pair.kind.free, joint.pair.freedoms, strict=True))
        )
        for k, (component, freedom) in enumerate(free):
            most = _TURN if component[0] == "r" else _TRAVEL
            low = freedom.lower if isfinite(freedom.lower) else -most
            high = freedom.upper if isfinite(freedom.upper) else most
            step[joint.qd.start + k] = rng.uniform(min(low, high), max(low, high))
    return displace(mech, home(mech), step)


def _length(mech: Mechanism) -> float:
    """Return a length of the mechanism, m: turns times it compare with travels."""
    return mech.largest_arm or 1.0


def _terms(mech: Mechanism, q: Array, over: Array) -> tuple[Array, Array, float]:
    """Return mass matrix (nv, nv) and gravity forces (nv,) at q (nq,) of rates over ``over`` (nv,), what is small."""
    poses = forward(mech, q)
    S = velocity_transformation(mech, poses) * over
    weights = np.zeros(S.shape[0])
    for i, body in enumerate(mech.bodies):
        weights[6 * i : 6 * i + 3] = body.mass * mech.gravity
    travels = S.reshape(len(mech.bodies), 6, -1)[:, :3]
    small = _BALANCED * float(np.linalg.norm(weights) * np.abs(travels).max(initial=0.0))
    return S.T @ mass_matrix(mech, poses) @ S, S.T @ weights, small


def _relative(x: Array, y: Array, small: float = 0.0) -> float:
    """Return the difference of two arrays, x (n,) and y (n,) or of more dimensions, beside the largest entry.

    Where all entries are less than ``small``, beside that.
    """
    largest = max(float(np.abs(x).max(initial=0.0)), float(np.abs(y).max(initial=0.0)), small)
    return float(np.abs(x - y).max(initial=0.0)) / largest if largest else 0.0


def _wrench_gap(a: Mechanism, b: Mechanism, q: Array) -> float | None:
    """Return the largest relative difference of joint forces under gravity that both rigid models determine.

    As many joints are held as the mobility has; loops have to be closed at coordinates q (nq,), else None.
    """
    rows = [[(p.name, p.kind.constrained, p.kind.free) for p in mech.pairs] for mech in (a, b)]
    if rows[0] != rows[1]:
        return None
    if sum(len(p.kind.constrained) + len(p.kind.free) for p in a.pairs) > _MOST_ROWS:
        return None
    roots = [_grounded(mech, q) for mech in (a, b)]
    stated = constraint_matrix(roots[0], q[-len(roots[0].q_names) :])
    # where a mimic is off its offset, the forces of the pose are what they are
    loops = [k for k, row in enumerate(stated.rows) if row[0] in a.pair_by_name]
    if np.abs(stated.Phi[loops]).max(initial=0.0) > _CLOSED:
        return None
    held = _holds(roots[0], stated.C.toarray(), q[-len(roots[0].q_names) :])
    found = [_wrenches(replace(mech, locks=(*mech.locks, *held)), q[-len(mech.q_names) :]) for mech in roots]
    (rows_a, x, open_a), (rows_b, y, open_b) = found
    if rows_a != rows_b:
        return None
    known = ~(open_a | open_b)
    # moments over a length have the unit of forces
    turns = np.array([row[1][0] == "r" for row in rows_a], dtype=bool)
    over = np.where(turns, 1.0 / _length(a), 1.0)
    x, y = x * over, y * over
    return _relative(x[known], y[known], _BALANCED * float(np.abs([x, y]).max(initial=0.0)))


def _grounded(mech: Mechanism, q: Array) -> Mechanism:
    """Return the mechanism with its free roots held where they are at coordinates q (nq,)."""
    poses = forward(mech, q)
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return with_fixed_roots(mech, {name: poses.of(mech.body_index[name]) for name in roots})


def _holds(mech: Mechanism, C: Array, q: Array) -> tuple[Lock, ...]:
    """Return locks of as many joint coordinates as are independent, by the constraints C (m, 6N) at q (nq,)."""
    from scipy.linalg import null_space, qr

    reduced = C @ velocity_transformation(mech, forward(mech, q))
    motions = null_space(reduced, rcond=1e-7) if reduced.size else np.eye(len(mech.qd_names))
    chosen = (
        set(qr(motions.T, pivoting=True, mode="r")[1][: motions.shape[1]].tolist()) if motions.size else set()
    )
    locks = []
    for joint in mech.tree.joints:
        free = () if joint.pair is None else joint.pair.kind.free
        names = tuple(c for k, c in enumerate(free) if joint.qd.start + k in chosen)
        if names and joint.pair is not None:
            locks.append(Lock(joint.pair.name, freedoms=names))
    return tuple(locks)


def _wrenches(mech: Mechanism, q: Array) -> tuple[tuple[RowLabel, ...], Array, AnyArray]:
    """Return the rows of pairs, their multipliers (m,) under gravity at q (nq,), and which (m,) nothing determines."""
    from scipy.linalg import null_space

    matrix = constraint_matrix(mech, q)
    C = matrix.C.toarray()
    weights = np.zeros(C.shape[1])
    for i, body in enumerate(mech.bodies):
        weights[6 * i : 6 * i + 3] = body.mass * mech.gravity
    multipliers = np.linalg.lstsq(C.T, -weights, rcond=1e-9)[0]
    stresses = null_space(C.T, rcond=1e-7)
    # couplings have names and scales of their own
    own = [k for k, row in enumerate(matrix.rows) if row[0] in mech.pair_by_name]
    loose = np.asarray(np.abs(stresses).max(axis=1, initial=0.0) > _OPEN)
    return tuple(matrix.rows[k] for k in own), multipliers[own], loose[own]
