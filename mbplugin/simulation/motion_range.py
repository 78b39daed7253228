"""Range of the accelerations under dry friction whose normal forces the rigid model does not determine.

With sliding directions known, the accelerations a, the multipliers λ and the loads N of joints satisfy
M a = F + Dᵀλ − G N and K a = Γ: D has the pushes of contacts that slip, normal and friction together, where K has their
normals, and G has the friction per load of the joints. Contacts that hold have a normal and two tangents in both. All
solutions are z = z₀ + Y y. Those with λn ≥ 0 at contacts, friction of at most μ λn where they hold, and N equal to the
size |R z + r| of the force in its joint are possible motions. The smallest and the largest value of each acceleration
are linear programs with N ≥ |R z + r| and the cones of friction, which planes cut out where a solution violates them.
Where N ends up above the size, the end is an outer bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from mbplugin.constraints import rank_tolerance
from mbplugin.constraints.reduction import body_twists, tree_motion
from mbplugin.constraints.rows import contact_rows
from mbplugin.constraints.stated_state import stated_state
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.tree_model import TreeModel, equations_of
from mbplugin.errors import BrokenModel
from mbplugin.joint_reactions.cones import OPTIONS
from mbplugin.model import Array, Contact, Scene, option_of, scene_actions
from mbplugin.model.mechanism.kinematics import acceleration_units, forward
from mbplugin.phrases import listed
from mbplugin.simulation import AccelerationRange, ContactsOpen, MotionRange
from mbplugin.simulation.friction import AT_REST, LoadFriction, rates_of
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import pose_problem

#: Contacts separate, or slip, above this fraction of √(g ℓ).
_STILL = 1e-3
#: Singular values below this fraction of the largest are zero, for the solutions of all equations together.
_SINGULAR = 1e-11
#: A range is a single value below this fraction of the largest acceleration.
_EQUAL = 1e-8
#: Largest size of y for a finite end, and the share of it at which an end counts as infinite.
_BOX, _AT_THE_BOX = 1e6, 0.99
#: Most planes that cut out one end, and the relative violation at which it is found.
_CUTS, _ENOUGH = 60, 1e-11
#: Most contacts in a sentence.
_NAMED = 4
#: Most passes of the loads of a self-stress.
_PASSES = 200
#: Normal forces that pull by less, and friction above its limit by less, are rounding, relative to the loads.
_PULLS = 1e-8
#: A load above the size of its force by this fraction makes an end an outer bound.
_LOOSE = 1e-6


def acceleration_range(scene: Scene) -> MotionRange | None:
    """Return the range of the accelerations of a scene at its state; None if friction leaves none of them open.

    Considered are contacts of the scene that slip at its rates and joints with friction that grows with their load and
    that slide. Contacts that separate carry nothing; those that do not move hold, and the range is that of motions in
    which they go on to hold.

    Raises
    ------
    ContactsOpen
        Something slips, and no forces keep all contacts closed and those that hold in place.
    CannotClose, ContradictedState, BadUsage, BrokenModel
        The state has no motion.
    """
    by_load = any(f.load_friction > 0 for pair in scene.mechanism.pairs for f in pair.freedoms)
    if not scene.state.qd.any():
        return None
    if not by_load and not any(contact.mu > 0 for contact in scene.contacts):
        return None
    planar = option_of(scene, "planar", None)
    options = Options(1.0, tolerance=rank_tolerance(scene, None), planar=planar)
    stated = stated_state(scene, None, None, scene.mechanism, (scene.state.q, scene.state.qd))
    problem = pose_problem(scene.mechanism, scene_actions(scene), stated, (), options)
    touching = _touching(problem.model, problem.q, problem.qd, scene.contacts)
    return range_at(problem.model, 0.0, problem.q, problem.qd, options.tolerance, touching)


def range_at(
    model: TreeModel, time: float, q: Array, qd: Array, tolerance: float, contacts: Sequence[Contact] = ()
) -> MotionRange | None:
    """Return the range of the accelerations of a model at a state; None if friction leaves none of them open.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        A closed pose and rates that satisfy all constraints.
    tolerance : float
        Rank tolerance.
    contacts : sequence of Contact
        Those that carry force: they slip, have no friction, or hold.

    Raises
    ------
    ContactsOpen
        No forces keep all contacts closed, and those that hold in place: the body tips, lifts off or slips.
    BrokenModel
        The equations of motion have no solution.
    """
    sliding = _Sliding(model, time, q, qd)
    if not sliding.names and not any(contact.slip is not None for contact in contacts):
        return None
    found = _solutions(_made(model, time, q, qd, sliding, contacts), tolerance)
    if found is None:
        return None
    found.require_closed()
    if not found.Y.size:
        return None
    units = acceleration_units(model.mech)
    ranges = []
    size = max(float(np.abs(found.origin[: found.nv] * found.scale[: found.nv]).max()), 1e-300)
    for k, name in enumerate(model.mech.qd_names):
        if not np.abs(found.Y[k]).max() > _EQUAL:
            continue
        (lower, tight), (upper, tight_too) = (found.end(k, sign) for sign in (1.0, -1.0))
        if upper - lower > _EQUAL * max(size, abs(found.scale[k])):
            ranges.append(AccelerationRange(name, lower, upper, units[k], tight and tight_too))
    holding = tuple(contact.name for contact in contacts if _holds(contact))
    return MotionRange(found.open_names(), tuple(ranges), holding=holding) if ranges else None


# Sliding contacts and joints.


def _touching(model: TreeModel, q: Array, qd: Array, contacts: Sequence[Contact]) -> tuple[Contact, ...]:
    """Return the contacts that carry force at q (nq,) and qd (nv,), with the directions of those that slip."""
    mech = model.mech
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    limit = _STILL * np.sqrt(np.linalg.norm(mech.gravity) * model.length)
    carrying = []
    for contact in contacts:
        axes = contact.axes(mech.gravity)
        rows = contact_rows(mech, replace(contact, mu=contact.mu or 1.0), poses)
        rate = sum((e @ twists[body] for body, e in rows.entries), np.zeros(3))
        sideways = float(np.linalg.norm(rate[1:]))
        if rate[0] > limit:
            continue
        slips = contact.mu > 0 and sideways > limit
        carrying.append(replace(contact, slip=rate[1:] @ axes[1:] / sideways) if slips else contact)
    return tuple(carrying)


def _opening(contacts: Sequence[Contact]) -> ContactsOpen:
    """Return the error that some of the contacts that carry force opens, or slips."""
    holding = [contact.name for contact in contacts if _holds(contact)]
    also = f" and {listed(holding, _NAMED)} {'holds' if len(holding) == 1 else 'hold'}" if holding else ""
    return ContactsOpen(
        f"no forces satisfy the equations of motion while all contacts stay closed{also}",
        remedy="state contacts that stay closed in this motion",
    )


def _holds(contact: Contact) -> bool:
    """Return True if a contact that carries force holds by friction."""
    return contact.mu > 0 and contact.slip is None


class _Sliding:
    """The joints of a model that slide at a state with friction that grows with their load; q (nq,), qd (nv,)."""

    def __init__(self, model: TreeModel, time: float, q: Array, qd: Array) -> None:
        """Find the joints that slide at q (nq,) and qd (nv,)."""
        self._model, self._at = model, (q, qd, time)
        self.by_load = LoadFriction(model)
        slides = np.zeros(0, dtype=bool)
        if self.by_load:
            model.evaluate(q, qd, time)
            slides = np.abs(rates_of(model, qd))[self.by_load.places] > AT_REST
        self.which = np.flatnonzero(slides)
        self.names = tuple(self.by_load.names[k] for k in self.which.tolist())

    def loads(self, k: int | None) -> None:
        """Set the load of one sliding joint to 1 N and those of the others to zero; of all for None."""
        loads = np.zeros(len(self.by_load.places))
        if k is not None:
            loads[self.which[k]] = 1.0
        self.by_load.let(loads)

    def forces(self, qdd: Array, multipliers: Array) -> list[Array]:
        """Return the force (3,) in each sliding joint, N, for qdd (nv,) and multipliers (m,)."""
        q, qd, time = self._at
        self._model.evaluate(q, qd, time)
        read = self.by_load.forces(qdd, multipliers)
        return [read[k] for k in self.which.tolist()]


# The equations, and all their solutions.


class _Equations(NamedTuple):
    """M a = F + Dᵀλ − G N, K a = Γ, in units that make rows and columns dimensionless.

    ``one_sided`` are the indices of multipliers that only push, with their contacts; the two tangents of one that holds
    follow. ``R`` (3, nv + m) and ``r`` (3,) give the force in each sliding joint, which ``names`` names.
    """

    M: Array
    F: Array
    D: Array
    K: Array
    Gamma: Array
    G: Array
    scale: Array
    one_sided: tuple[tuple[int, Contact], ...]
    R: list[Array]
    r: list[Array]
    names: tuple[str, ...]


def _made(
    model: TreeModel, time: float, q: Array, qd: Array, sliding: _Sliding, contacts: Sequence[Contact]
) -> _Equations:
    """Return the equations at a state q (nq,), qd (nv,)."""
    nv, m = len(qd), model.table.persistent
    if len(model.resistances):
        model.evaluate(q, qd, time)
        model.slide(qd)
    sliding_forces = []
    for k in (None, *range(len(sliding.names))):
        sliding.loads(k)
        equations = equations_of(model, q, qd, time=time, degree_of_redundancy=0, decided=True)
        sliding_forces.append(equations.F)
    sliding.loads(None)
    equations = equations_of(model, q, qd, time=time, degree_of_redundancy=0, decided=True)
    G = np.array([sliding_forces[0] - F for F in sliding_forces[1:]]).reshape(-1, nv).T
    K, Gamma, D = _contact_rows(model, q, qd, contacts)
    col = equations.column_scale
    row = np.concatenate((equations.row_scale, np.full(len(K), 1.0 / model.length)))
    K, D = (row[:, None] * np.vstack((equations.C, part)) * col for part in (K, D))
    M = col[:, None] * equations.M * col
    R, r = _load_maps(sliding, nv, m)
    # loads across the guides do no work, and cause friction all the same
    across = max((model.length * float(np.abs(one).max()) for one in r), default=0.0)
    force = max(float(np.abs(col * equations.F).max()), across, 1e-300)
    per = force / float(np.abs(M).max())
    scale = np.concatenate((col * per, row * force, np.full(len(sliding.names), force / model.length)))
    starts = m + np.cumsum([0, *(3 if _holds(contact) else 1 for contact in contacts)])
    R = [np.hstack((one, np.zeros((3, len(K) - m)))) * scale[: nv + len(K)] for one in R]
    return _Equations(
        M * per / force,
        col * equations.F / force,
        D,
        K,
        row * np.concatenate((equations.Gamma, Gamma)) / per,
        col[:, None] * G / model.length,
        scale,
        tuple(zip(starts.tolist(), contacts, strict=False)),
        [one * model.length / force for one in R],
        [one * model.length / force for one in r],
        sliding.names,
    )


def _contact_rows(
    model: TreeModel, q: Array, qd: Array, contacts: Sequence[Contact]
) -> tuple[Array, Array, Array]:
    """Return rows (k, nv) of contacts in joint rates at q (nq,), qd (nv,), their Γ (k,), and the pushes (k, nv).

    The rows are the normal, and where a contact holds the tangents.
    """
    mech, nv = model.mech, len(qd)
    if not contacts:
        return np.zeros((0, nv)), np.zeros(0), np.zeros((0, nv))
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    beside = body_accelerations(mech, poses, twists, np.zeros(nv))
    motion = tree_motion(mech, poses)
    closed = [one if _holds(one) else replace(one, mu=0.0, slip=None) for one in contacts]
    rows = [contact_rows(mech, one, poses, twists) for one in closed]
    pushes = [contact_rows(mech, one, poses) for one in contacts]
    Gamma = np.concatenate(
        [
            r.Gamma - sum((entry @ beside[body] for body, entry in r.entries), np.zeros(len(r.components)))
            for r in rows
        ]
    )
    return motion.reduce(rows), Gamma, motion.reduce(pushes)


def _load_maps(sliding: _Sliding, nv: int, m: int) -> tuple[list[Array], list[Array]]:
    """Return R (3, nv + m) and r (3,) of each sliding joint: its force is R (a, λ) + r, N."""
    if not sliding.names:
        return [], []
    r = sliding.forces(np.zeros(nv), np.zeros(m))
    columns = [sliding.forces(unit[:nv], unit[nv:]) for unit in np.eye(nv + m)]
    R = [np.array([column[k] - r[k] for column in columns]).T for k in range(len(r))]
    return R, r


@dataclass(frozen=True, eq=False)
class _Solutions:
    """All solutions z = origin + Y y of the equations for z = (a, λ, N), and the inequalities on them.

    Parameters
    ----------
    A : (k, n) array
        The equations A z = b.
    origin : (n,) array
    Y : (n, p) array
    of_rows : (nv + m, s) array
        Solutions without force or friction: the self-stresses, and what contacts that slip do besides.
    nv : int
        Number of accelerations.
    scale : (n,) array
        Unit of each entry of z.
    """

    made: _Equations
    A: Array
    origin: Array
    Y: Array
    of_rows: Array
    nv: int
    scale: Array

    def open_names(self) -> tuple[str, ...]:
        """Names of the slipping contacts and joints whose normal force or load is not determined."""
        m = len(self.made.D)
        rows = [(self.nv + k, one.name) for k, one in self.made.one_sided if one.slip is not None]
        rows += [(self.nv + m + k, name) for k, name in enumerate(self.made.names)]
        # the two ends of a bush have one name
        return tuple(dict.fromkeys(name for row, name in rows if np.abs(self.Y[row]).max() > _EQUAL))

    def end(self, k: int, sign: float) -> tuple[float, bool]:
        """Return the smallest (``sign`` 1) or largest (−1) acceleration k, and whether it is reached.

        Raises
        ------
        ContactsOpen
            No solution satisfies the inequalities.
        """
        y, exact = self._least(sign * self.Y[k])
        z = self.origin + self.Y @ y
        reached = all(N - norm <= _LOOSE * (1.0 + abs(N)) for N, norm in self.loads(z))
        if np.abs(y).max() > _AT_THE_BOX * _BOX and abs(z[k] - self.origin[k]) > 1.0:
            return -sign * inf, reached or self._grows(k, -sign)
        return float(z[k] * self.scale[k]), reached and exact

    def require_closed(self) -> None:
        """Require forces that keep all contacts closed, and those that hold in place.

        Raises
        ------
        ContactsOpen
            There are none.
        """
        if not self.made.one_sided:
            return
        if self.Y.shape[1]:
            self._least(np.zeros(self.Y.shape[1]))
            return
        size = max(1.0, float(np.abs(self.origin).max()))
        if any(-self.origin[self.nv + k] > _PULLS * size for k, _ in self.made.one_sided) or any(
            sideways - most > _PULLS * size for _, sideways, most in self._friction(self.origin)
        ):
            raise _opening([one for _, one in self.made.one_sided])

    def _least(self, c: Array) -> tuple[Array, bool]:
        """Return y (p,) of a solution with the least c·y, c (p,), and whether it satisfies all inequalities.

        Raises
        ------
        ContactsOpen
            No solution satisfies the inequalities.
        """
        cuts = self._first_cuts()
        for _ in range(_CUTS):
            G, h = (np.array(part) for part in zip(*cuts, strict=True))
            found = linprog(c, A_ub=G, b_ub=h, bounds=(-_BOX, _BOX), method="highs-ds", options=OPTIONS)
            if found.status == 2 and self.made.one_sided:
                raise _opening([one for _, one in self.made.one_sided])
            if found.status != 0:
                raise BrokenModel(f"the range of the accelerations is not found: {found.message}")
            more = self._violated(found.x)
            if not more:
                return np.asarray(found.x), True
            cuts += more
        return np.asarray(found.x), False

    def is_known(self, k: int) -> bool:
        """Return True if the force in joint k is the same in all solutions."""
        change = self.made.R[k] @ self.Y[: self.nv + len(self.made.D)]
        return bool(np.abs(change).max(initial=0.0) <= _EQUAL)

    def _grows(self, k: int, sign: float) -> bool:
        """Return True if some self-stress, with the friction that it causes, moves acceleration k without limit."""
        width = self.of_rows.shape[0]
        A, of_loads = self.A[:, :width], self.A[:, width:]
        response = -np.linalg.pinv(A, rcond=_SINGULAR) @ of_loads
        pushes = [self.nv + row for row, _ in self.made.one_sided]
        for stress in (*self.of_rows.T, *-self.of_rows.T):
            N = np.zeros(of_loads.shape[1])
            for _ in range(_PASSES):
                z, before = stress + response @ N, N
                N = np.array([np.linalg.norm(R @ z) for R in self.made.R])
                if np.abs(N - before).max(initial=0.0) <= _ENOUGH * N.max(initial=0.0):
                    break
            else:
                continue
            if sign * z[k] > _EQUAL and (z[pushes] >= -_EQUAL).all():
                return True
        return False

    def _first_cuts(self) -> list[tuple[Array, float]]:
        """Return g and h of inequalities g·y ≤ h: contacts push, and loads are at least the force on each axis."""
        m = len(self.made.D)
        rows = [self.nv + k for k, _ in self.made.one_sided]
        rows += [self.nv + m + k for k in range(len(self.made.names))]
        cuts = [(-self.Y[row], float(self.origin[row])) for row in rows]
        for k in range(len(self.made.names)):
            for axis in np.vstack((np.eye(3), -np.eye(3))):
                cuts.append(self._cut(k, axis))
        for row, one in self.made.one_sided:
            if _holds(one):
                cuts += [self._cone_cut(row, one.mu, side) for side in np.vstack((np.eye(2), -np.eye(2)))]
        return cuts

    def _cone_cut(self, row: int, mu: float, side: Array) -> tuple[Array, float]:
        """Return g and h of the inequality that friction along a side (2,) is at most μ times the normal force."""
        n = self.nv + row
        along = np.array([-mu, *side])
        return along @ self.Y[n : n + 3], -float(along @ self.origin[n : n + 3])

    def _friction(self, z: Array) -> list[tuple[int, float, float]]:
        """Return for each contact that holds its row, and the friction of a solution z (n,) and its limit."""
        at = [(row, self.nv + row, one.mu) for row, one in self.made.one_sided if _holds(one)]
        return [(row, float(np.linalg.norm(z[n + 1 : n + 3])), float(mu * z[n])) for row, n, mu in at]

    def _cut(self, k: int, axis: Array) -> tuple[Array, float]:
        """Return g and h of the inequality that load k is at least the force along an axis (3,)."""
        m = len(self.made.D)
        at = self.nv + m + k
        part = axis @ self.made.R[k]
        g = part @ self.Y[: self.nv + m] - self.Y[at]
        return g, float(self.origin[at] - part @ self.origin[: self.nv + m] - axis @ self.made.r[k])

    def _violated(self, y: Array) -> list[tuple[Array, float]]:
        """Return cuts for the loads below the size of their force, and the friction above its limit, at y (p,)."""
        z, cuts = self.origin + self.Y @ y, []
        for k, (N, norm) in enumerate(self.loads(z)):
            if norm - N > _ENOUGH * (1.0 + abs(N)) and norm > 0.0:
                cuts.append(self._cut(k, self._force(k, z) / norm))
        mus = {row: one.mu for row, one in self.made.one_sided}
        for row, sideways, most in self._friction(z):
            if sideways - most > _PULLS * (1.0 + abs(most)):
                n = self.nv + row
                cuts.append(self._cone_cut(row, mus[row], z[n + 1 : n + 3] / sideways))
        return cuts

    def _force(self, k: int, z: Array) -> Array:
        """Return the force (3,) in joint k for a solution z (n,)."""
        return np.asarray(self.made.R[k] @ z[: self.nv + len(self.made.D)] + self.made.r[k])

    def loads(self, z: Array) -> list[tuple[float, float]]:
        """Return each load of a solution z (n,), and the size of the force in its joint."""
        first = self.nv + len(self.made.D)
        return [
            (float(z[first + k]), float(np.linalg.norm(self._force(k, z))))
            for k in range(len(self.made.names))
        ]


def _solutions(made: _Equations, tolerance: float) -> _Solutions | None:
    """Return all solutions of the equations; None if joints slide and there is one for each set of their loads.

    Raises
    ------
    BrokenModel
        The equations have no solution.
    """
    nv, m = made.M.shape[0], len(made.D)
    # normals tilted by rounding must not hold the body; the forces of contacts that only push stay bounded
    K, joints = _truncated(made.K, tolerance), made.one_sided[0][0] if made.one_sided else m
    D = np.vstack((_truncated(made.D[:joints], tolerance), made.D[joints:]))
    A = np.block([[made.M, -D.T, made.G], [K, np.zeros((m, m + made.G.shape[1]))]])
    b = np.concatenate((made.F, made.Gamma))
    of_rows = _solved(A[:, : nv + m], b)[1]
    if not of_rows.shape[1] and made.names:
        return None
    fixed: set[int] = set()
    while True:
        origin, Y = _solved(A, b)
        if np.abs(A @ origin - b).max() > tolerance * max(1.0, np.abs(b).max()):
            if made.one_sided:
                raise _opening([contact for _, contact in made.one_sided])
            raise BrokenModel("no forces satisfy the equations of motion")
        found = _Solutions(made, A, origin, Y, of_rows, nv, made.scale)
        # a force that no solution changes is the load of its joint
        more = [k for k in range(len(made.names)) if k not in fixed and found.is_known(k)]
        if not more:
            return found
        for k in more:
            A = np.vstack((A, np.eye(A.shape[1])[nv + m + k]))
            b = np.append(b, found.loads(origin)[k][1])
        fixed.update(more)


def _solved(A: Array, b: Array) -> tuple[Array, Array]:
    """Return the least-squares solution (n,) of A z = b, for A (k, n) and b (k,), and the null space of A (n, p)."""
    U, sizes, Vt = np.linalg.svd(A)
    rank = int((sizes > _SINGULAR * sizes[0]).sum())
    return Vt[:rank].T @ ((U[:, :rank].T @ b) / sizes[:rank]), Vt[rank:].T


def _truncated(rows: Array, tolerance: float) -> Array:
    """Return rows (m, nv) without the singular values below a relative tolerance."""
    if not rows.size:
        return rows
    U, sizes, Vt = np.linalg.svd(rows, full_matrices=False)
    return np.asarray((U * np.where(sizes > tolerance * sizes[0], sizes, 0.0)) @ Vt)
