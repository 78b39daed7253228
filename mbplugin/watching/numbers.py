"""The numbers of one update: what is determined, and whether the engine's forces are possible.

Uniqueness is that of :mod:`mbplugin.analysis`, from the left null space of the rows in joint rates, without the rows
of held joints, which follow. That the engine's forces balance the motion and satisfy the inequalities of contacts and
drives is checked for the forces as a whole: then each of them lies in its interval, and no linear program is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from mbplugin.model import TANGENTS, AnyArray, Array, DisjointSets, RowLabel, cross, lock_label, skew
from mbplugin.watching import Geometry, Structure, wrenches_of_motion
from mbplugin.watching.reading import Reading, Touching

#: A contact does not move below this fraction of √(g ℓ): engines let bodies creep.
_STILL = 1e-3
#: Sine of the angle to gravity below which a plane is level.
_LEVEL = 1e-9
#: Friction is as large as it can be above this fraction of μ times the normal force.
_FULL = 0.95
#: A joint is at its limit within this, rad and m.
_AT_LIMIT = 1e-3
#: An entry of a self-stress below this is none: contacts of engines lie beside their planes by their penetration.
_NEGLIGIBLE = 1e-3
#: Moments of rolling and spinning friction up to this, relative to force and length, leave the other forces alone.
_SPINS = 0.02
#: Rows of a block up to which uniqueness is decided at every update.
MOST_ROWS = 200
Kind = Literal["pulls", "friction", "effort", "determined", "balance", "interval", "drift"]


class Mark(NamedTuple):
    """A number of the engine that is not possible, or a constraint that drifts.

    Parameters
    ----------
    constraint, component : str
    kind : str
        ``pulls``, ``friction``, ``effort``, ``determined``, ``interval``: the number of this component; ``balance``:
        the rest of the equation of motion of a joint or base; ``drift``: the gap of a closure.
    value : float
        The engine's number, the rest, or the gap, N, N·m, m or rad.
    limit : float
        What it may be.
    """

    constraint: str
    component: str
    kind: Kind
    value: float
    limit: float

    def __str__(self) -> str:
        """Return the mark as one sentence."""
        name, value, limit = f"{self.constraint}.{self.component}", f"{self.value:.4g}", f"{self.limit:.4g}"
        return {
            "pulls": f"{name}: the contact pulls with {value} N",
            "friction": f"{name}: friction {value} N is more than μ times the normal force, {limit} N",
            "effort": f"{name}: the drive gives {value}, its limit is {limit}",
            "determined": f"{name}: the engine says {value}, the only possible value is {limit}",
            "interval": f"{name}: the engine says {value}, the nearest possible value is {limit}",
            "balance": f"{name}: {value} of the motion is explained by no force that can be read",
            "drift": f"{self.constraint}: the constraint is open by {value} ({self.component}), allowed {limit}",
        }[self.kind]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of closures, gears and contacts at an update, as wrenches at the origin.

    Parameters
    ----------
    W : (m, 6) array
        Unit wrench of each row on body ``b``, world axes.
    a, b : (m,) array of int
        The bodies; the ground is −1.
    J : (m, nv) array
        Entries for the joint rates.
    turn : (m,) array of bool
        Whether a row is a moment.
    engine : (m,) array
        The engine's numbers, N and N·m.
    ties : int
        Number of rows of closures and gears, which come first.
    contact : (m − ties,) array of int
    part : (m − ties,) array of int
        0 for the normal, 1 and 2 for the tangents.
    state : (k,) array of int
        Of each contact: 0 if it holds, 1 if it slips, 2 if it opens.
    normal, friction : (k,) array
        The engine's normal force and the size of its friction, N.
    slip : (k, 3) array
        Direction in which a contact slips.
    """

    W: Array
    a: AnyArray
    b: AnyArray
    J: Array
    turn: AnyArray
    engine: Array
    ties: int
    contact: AnyArray
    part: AnyArray
    state: AnyArray
    normal: Array
    friction: Array
    slip: Array


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the rigid model determines.

    Parameters
    ----------
    rows, held : (m,), (nv,) array of bool
        Whether a row, or the drive of a held joint, is determined.
    redundancy : int
        Degree of redundancy of all rows with the held joints.
    values : (m,) array
        A balancing force of each row, N and N·m; only that of a determined row is meaningful.
    stresses : tuple
        Of each block with self-stresses: its rows (m,), the scaled self-stresses (k, p), and the size of a zero.
    """

    rows: AnyArray
    held: AnyArray
    redundancy: int
    values: Array
    stresses: tuple[tuple[AnyArray, Array, float], ...]


@dataclass(frozen=True, eq=False)
class Numbers:
    """Rows, verdict and balance of one update.

    Parameters
    ----------
    length : float
        Characteristic length, m.
    force : float
        The size that forces are compared with: the weight of what moves, or the largest normal force, N.
    needed : (nv,) or None
        Generalized force that the motion needs from rows and drives; None if the accelerations are unknown.
    wrenches : (N, 6) or None
        Wrench that each body needs, besides its weight and what the script applies, at the origin.
    rest : (nv,) array
        The part of ``needed`` that the engine's forces leave, zero where drives are unread.
    held, stopped : (nv,) array of bool
        Rates that drives hold, and those at the stop of a joint or with a drive whose force is unread.
    """

    structure: Structure
    reading: Reading
    rows: Rows
    length: float
    force: float
    needed: Array | None
    wrenches: Array | None
    rest: Array
    held: AnyArray
    stopped: AnyArray

    @property
    def scale(self) -> Array:
        """Size (nv,) of each generalized force, N and N·m."""
        return np.where(self.structure.turn, self.force * self.length, self.force)

    @cached_property
    def unread_moments(self) -> AnyArray:
        """Which contacts (k,) may transmit moments of rolling and spinning friction that no engine reports."""
        t = self.reading.touching
        if not t.spin.any():
            return np.zeros(len(t), dtype=bool)
        return np.asarray(t.spin * np.maximum(self.rows.normal, 0.0) > _SPINS * self.force * self.length)

    @cached_property
    def verdict(self) -> Verdict:
        """What is determined; computed when it is first asked for."""
        return _verdict(self)

    @cached_property
    def pair_values(self) -> Array:
        """Reaction (k, 6) of each tree pair with the values of the verdict, axes of P at the origin of S."""
        return self.pair_wrenches(self.verdict.values)

    @cached_property
    def pairs_determined(self) -> AnyArray:
        """Which rows (r,) of the tree pairs are determined; computed when it is first asked for."""
        found = np.ones(len(self.structure.pairs.of_row), dtype=bool)
        for own, Z, zero in self.verdict.stresses:
            found &= _pairs_unique(self, own, Z, zero)
        return found

    def pair_wrenches(self, multipliers: Array) -> Array:
        """Return the reaction (k, 6) of each tree pair to multipliers (m,), axes of P at the origin of S, N, N·m."""
        s, rows = self.structure, self.rows
        if self.wrenches is None:
            return np.full((len(s.pairs.pairs), 6), np.nan)
        loads = (s.outside[rows.b] - s.outside[rows.a]).T
        total = s.outside[:-1].T @ self.wrenches - loads @ (rows.W * multipliers[:, None])
        return _in_joint_axes(self.reading.geometry, total[:, :, None])[:, :, 0]


def evaluate(structure: Structure, reading: Reading, length: float) -> Numbers:
    """Return the numbers of an update."""
    s, g = structure, reading.geometry
    rows = _rows(s, reading, length)
    largest = max(rows.normal.tolist(), default=0.0)
    force = max(s.weight(reading.gravity), largest) or 1.0
    # a motor that gives no force at all is switched off
    held = s.hold if s.hold is not None else reading.drives != 0.0
    stopped = at_limit(s, reading) | np.isnan(reading.drives)
    if reading.accelerations is None:
        return Numbers(s, reading, rows, length, force, None, None, np.zeros(len(s.turn)), held, stopped)
    wrenches = wrenches_of_motion(s, g, reading.twists, reading.rates, reading.accelerations, reading.gravity)
    wrenches -= reading.applied
    needed = np.einsum("ij,ij->i", g.S, s.moved[:-1].T @ wrenches) - reading.known
    rest = _rest(s, reading, rows, needed, stopped)
    return Numbers(s, reading, rows, length, force, needed, wrenches, rest, held, stopped)


def _rest(s: Structure, reading: Reading, rows: Rows, needed: Array, stopped: AnyArray) -> Array:
    """Return the part of ``needed`` (nv,) that the engine's forces do not balance, zero in rates ``stopped`` (nv,)."""
    ties, t = rows.engine[: rows.ties], reading.touching
    read = np.isfinite(ties)
    rest = needed - rows.J[: rows.ties][read].T @ ties[read] - _read(reading.drives)
    if len(t):
        # all of each contact's force counts, whatever its rows are
        wrench = np.concatenate((t.force, cross(t.point, t.force)), axis=1)
        rest -= ((s.moved[t.body] - s.moved[t.on]) * (wrench @ reading.geometry.S.T)).sum(axis=0)
    rest[stopped] = 0.0
    if not read.all():
        # unread forces may be whatever explains most
        open_rows = rows.J[: rows.ties][~read]
        rest = rest - open_rows.T @ np.linalg.lstsq(open_rows.T, rest, rcond=1e-9)[0]
    return np.asarray(rest)


def _read(values: Array) -> Array:
    """Return values (n,), with zero in place of those that are not read, ten times as fast as ``numpy.nan_to_num``."""
    return np.where(np.isnan(values), 0.0, values)


def at_limit(s: Structure, reading: Reading) -> AnyArray:
    """Return flags (nv,) of the joint rates at a limit, whose force no engine reports."""
    q = reading.positions
    with np.errstate(invalid="ignore"):
        return np.asarray((q <= s.lower + _AT_LIMIT) | (q >= s.upper - _AT_LIMIT))


# The rows of closures, gears and contacts.


def _rows(s: Structure, reading: Reading, length: float) -> Rows:
    g, touching, closures = reading.geometry, reading.touching, reading.closures
    c, gears = len(closures.of_row), len(s.couplings)
    state, slip, normal, friction = _states(s, reading, length)
    axes = contact_axes(touching.normal, reading.gravity)
    parts = np.where((state == 0) & (touching.mu > 0), 3, np.where(state == 2, 0, 1))
    contact = np.repeat(np.arange(len(touching)), parts)
    part = np.arange(len(contact)) - np.repeat(np.cumsum(parts) - parts, parts)
    m = c + gears + len(contact)
    W, a, b = np.zeros((m, 6)), np.full(m, -1), np.full(m, -1)
    turn, engine = np.zeros(m, dtype=bool), np.empty(m)
    engine[: c + gears] = reading.tied
    if c:
        e = g.R_PC.transpose(0, 2, 1)[closures.of_row, closures.axis]
        own = closures.turn[:, None]
        W[:c, :3] = np.where(own, 0.0, e)
        W[:c, 3:] = np.where(own, e, cross(g.p_SC[closures.of_row], e))
        a[:c], b[:c], turn[:c] = closures.a[closures.of_row], closures.b[closures.of_row], closures.turn
    if len(contact):
        e = axes[contact, part]
        slips = state[contact] == 1
        pushes = e - np.where(slips, touching.mu[contact], 0.0)[:, None] * slip[contact]
        W[c + gears :, :3], W[c + gears :, 3:] = pushes, cross(touching.point[contact], pushes)
        a[c + gears :], b[c + gears :] = touching.on[contact], touching.body[contact]
        engine[c + gears :] = np.einsum("ij,ij->i", touching.force[contact], e)
    J = (s.moved[b] - s.moved[a]) * (W @ g.S.T)
    for k, coupling in enumerate(s.couplings):
        for term in coupling.terms:
            names = s.tree.pair_by_name[term.joint].kind.free
            slice_of = s.tree.tree.joint_of_pair[term.joint].qd
            J[c + k, int(slice_of.start) + names.index(term.freedom)] = term.coefficient
    turn[c : c + gears] = True
    return Rows(W, a, b, J, turn, engine, c + gears, contact, part, state, normal, friction, slip)


def contact_axes(normal: Array, gravity: Array) -> Array:
    """Return the axes (k, 3, 3) of contacts as :meth:`Contact.axes` does for one; normal (k, 3), gravity (3,)."""
    return _axes(normal.tobytes(), gravity.tobytes())


# on flat ground all normals stay
@lru_cache(maxsize=4)
def _axes(normal: bytes, gravity: bytes) -> Array:
    """Return the axes (k, 3, 3) of contacts."""
    n, g = np.frombuffer(normal).reshape(-1, 3), np.frombuffer(gravity)
    downhill = g - (n @ g)[:, None] * n
    level = np.einsum("ij,ij->i", downhill, downhill) <= _LEVEL**2 * (g @ g)
    axis = np.eye(3)[np.where(np.abs(n[level, 0]) > 0.9, 1, 0)]
    downhill[level] = axis - np.einsum("ij,ij->i", axis, n[level])[:, None] * n[level]
    out = np.empty((len(n), 3, 3))
    out[:, 0] = n
    out[:, 1] = downhill / np.sqrt(np.einsum("ij,ij->i", downhill, downhill))[:, None]
    out[:, 2] = cross(n, out[:, 1])
    out.setflags(write=False)
    return out


def _states(s: Structure, reading: Reading, length: float) -> tuple[AnyArray, Array, Array, Array]:
    """Return the state of each contact (k,), its direction of slip (k, 3), and its two forces (k,).

    The engine's forces decide, since its bodies creep: a contact opens if it carries nothing and its points separate;
    it slips if its friction is as large as it can be, and against the motion of its points.
    """
    t, V = reading.touching, reading.twists_after
    k = len(t)
    if not k:
        return np.zeros(0, dtype=int), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
    V_all = np.concatenate((V, np.zeros((1, 6))))
    C_all = np.concatenate((reading.geometry.poses.p_WC, np.zeros((1, 3))))

    def at_point(body: AnyArray) -> Array:
        return V_all[body, :3] + cross(V_all[body, 3:], t.point - C_all[body])

    v = at_point(t.body)
    if (t.on >= 0).any():
        v -= at_point(t.on)
    limit = _STILL * float(np.sqrt(np.sqrt(reading.gravity @ reading.gravity) * length))
    along = np.einsum("ij,ij->i", v, t.normal)
    normal = np.einsum("ij,ij->i", t.force, t.normal)
    sideways, friction = v - along[:, None] * t.normal, t.force - normal[:, None] * t.normal
    speed = np.sqrt(np.einsum("ij,ij->i", sideways, sideways))
    size = np.sqrt(np.einsum("ij,ij->i", friction, friction))
    against = np.einsum("ij,ij->i", friction, sideways) < 0.0
    slips = (speed > limit) & (t.mu > 0) & (size >= _FULL * t.mu * normal) & against
    state = np.where((normal == 0.0) & (along > limit), 2, np.where(slips, 1, 0))
    return state, np.where(slips[:, None], sideways / np.maximum(speed, 1e-300)[:, None], 0.0), normal, size


# Uniqueness, from the left null space of the rows.


def _verdict(n: Numbers) -> Verdict:
    s, rows = n.structure, n.rows
    m, nv = rows.J.shape
    fixed = n.held | n.stopped
    needed = np.zeros(nv) if n.needed is None else n.needed - np.where(fixed, 0.0, _read(n.reading.drives))
    unique, values = np.ones(m, dtype=bool), np.full(m, np.nan)
    stresses = []
    of_column, redundancy = np.ones(nv, dtype=bool), 0
    row_size = np.where(rows.turn, 1.0, 1.0 / n.length)
    column_size = np.where(s.turn, 1.0, n.length)
    scaled = rows.J * row_size[:, None] * column_size
    for own, columns in _blocks(s, rows):
        free = columns & ~fixed
        A = scaled[own][:, free]
        U, sigma, Vt = (
            np.linalg.svd(A) if A.size else (np.eye(len(A)), np.zeros(0), np.zeros((0, A.shape[1])))
        )
        largest = max(float(sigma[0]), 1.0) if sigma.size else 1.0
        rank = int((sigma > s.tolerance * largest).sum())
        below = float(sigma[rank]) if rank < len(sigma) else 0.0
        zero = max(_NEGLIGIBLE, 10 * below / float(sigma[rank - 1])) if rank else _NEGLIGIBLE
        Z = U[:, rank:]
        redundancy += Z.shape[1]
        x = (Vt[:rank] @ (needed * column_size)[free]) / sigma[:rank]
        values[own] = row_size[own] * (U[:, :rank] @ x)
        if not Z.shape[1]:
            continue
        unique[own] = np.abs(Z).max(axis=1) <= zero
        loaded = np.abs(scaled[own].T @ Z).max(axis=1) > zero
        of_column[columns & fixed & loaded] = False
        stresses.append((own, Z * row_size[own][:, None], zero))
    if n.needed is None:
        values[:] = np.nan
    return Verdict(unique, of_column, redundancy, values, tuple(stresses))


def _pairs_unique(n: Numbers, own: AnyArray, Z: Array, zero: float) -> AnyArray:
    """Return flags of the rows of tree pairs free of the self-stresses Z (k, p), N, N·m, of rows ``own`` (m,)."""
    s, g, rows = n.structure, n.reading.geometry, n.rows
    loads = (s.outside[rows.b[own]] - s.outside[rows.a[own]]).T
    # the wrench of each self-stress on what lies outwards of each pair: (pairs, 6, p)
    total = (loads[:, :, None] * rows.W[own]).transpose(0, 2, 1) @ Z
    turned = _in_joint_axes(g, total)
    turned[:, :3] *= n.length
    entries = turned[s.pairs.of_row, s.pairs.axis + 3 * s.pairs.turn]
    return np.asarray(np.abs(entries).max(axis=1, initial=0.0) <= zero)


def _in_joint_axes(g: Geometry, wrenches: Array) -> Array:
    """Return wrenches (k, 6, p) at the origin in axes of P at the origin of S of the tree pairs."""
    force, moment = wrenches[:, :3], wrenches[:, 3:]
    moment = moment - skew(g.p_S) @ force
    R = g.R_P.transpose(0, 2, 1)
    return np.concatenate((R @ force, R @ moment), axis=1)


def _blocks(s: Structure, rows: Rows) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Yield the rows (m,) and the rates (nv,) of the trees that rows join, as masks."""
    if not len(rows.J):
        return
    roots = s.root[s.outer]
    if len(set(roots.tolist())) <= 1:
        yield np.ones(len(rows.J), dtype=bool), np.ones(len(roots), dtype=bool)
        return
    sets: DisjointSets[int] = DisjointSets()
    first = np.where(s.root[rows.b] >= 0, s.root[rows.b], s.root[rows.a])
    second = np.where(s.root[rows.a] >= 0, s.root[rows.a], first)
    for k in range(len(s.couplings)):
        at = np.flatnonzero(rows.J[rows.ties - len(s.couplings) + k])
        joined = roots[at]
        first[rows.ties - len(s.couplings) + k] = joined[0]
        for root in joined.tolist():
            sets.join(int(joined[0]), root)
    for one, other in set(zip(first.tolist(), second.tolist(), strict=True)):
        sets.join(one, other)
    of_row = np.array([sets.find(root) for root in first.tolist()])
    of_column = np.array([sets.find(root) for root in roots.tolist()])
    for block in dict.fromkeys(of_row.tolist()):
        yield of_row == block, of_column == block


# What the engine says that is not possible.


def marks_of(n: Numbers, tolerance: float, drift: float, *, decided: bool) -> Iterator[Mark]:
    """Yield the marks of an update.

    Parameters
    ----------
    tolerance : float
        Largest deviation of a force, relative to the weight of what moves; of a moment, to that times the length.
    drift : float
        Largest gap of a closure, m and rad.
    decided : bool
        Whether determined values are compared too.
    """
    s, rows, labels = n.structure, n.rows, None
    allowed = tolerance * n.force
    yield from _drifts(n, drift)
    if len(rows.normal):
        t, normal, sideways = n.reading.touching, rows.normal, rows.friction
        bad = (normal < -allowed) | (sideways > t.mu * np.maximum(normal, 0.0) + allowed)
        if bad.any():
            labels = contact_names(s, t)
            for k in np.flatnonzero(bad).tolist():
                if normal[k] < -allowed:
                    yield Mark(labels[k], "cn", "pulls", float(normal[k]), 0.0)
                else:
                    yield Mark(
                        labels[k], "ct1", "friction", float(sideways[k]), float(t.mu[k] * max(normal[k], 0.0))
                    )
    with np.errstate(invalid="ignore"):
        over = np.abs(n.reading.drives) > s.effort * (1 + tolerance)
    for k in np.flatnonzero(over).tolist():
        label = lock_label(*s.freedom[k])
        yield Mark(*label, "effort", float(abs(n.reading.drives[k])), float(s.effort[k]))
    if n.needed is None:
        return
    over = np.abs(n.rest) > tolerance * n.scale
    if over.any():
        over = _unexplained(n, tolerance)
    for k in np.flatnonzero(over).tolist():
        joint, component = s.freedom[k]
        yield Mark(joint, component, "balance", float(n.rest[k]), 0.0)
    if decided and over.any():
        yield from _compared(n, tolerance)


def _unexplained(n: Numbers, tolerance: float) -> AnyArray:
    """Return flags (nv,) of the rates whose imbalance unread damping and spinning friction do not explain."""
    s, r, g = n.structure, n.reading, n.reading.geometry
    v, omega, J = r.twists[:, :3], r.twists[:, 3:], g.inertia
    drag = np.empty((len(s.mass), 6))
    drag[:, :3] = s.mass[:, None] * v * (1 + np.linalg.norm(v, axis=1))[:, None]
    drag[:, 3:] = (J @ omega[:, :, None])[:, :, 0] * (1 + np.linalg.norm(omega, axis=1))[:, None]
    drag[:, 3:] += cross(g.poses.p_WC, drag[:, :3])
    damped = r.drag * np.einsum("ij,ij->i", g.S, s.moved[:-1].T @ drag)
    t = r.touching
    spins = (t.spin * np.maximum(n.rows.normal, 0.0)) @ np.abs(s.moved[t.body] - s.moved[t.on])
    allowed = tolerance * n.scale + spins * np.linalg.norm(g.S[:, 3:], axis=1)
    # the rest may be anything from nothing to all of the damping
    low, high = np.minimum(0.0, -damped), np.maximum(0.0, -damped)
    return np.asarray((n.rest < low - allowed) | (n.rest > high + allowed))


def _compared(n: Numbers, tolerance: float) -> Iterator[Mark]:
    """Yield the determined rows whose number differs from the only possible one."""
    rows, verdict = n.rows, n.verdict
    size = tolerance * np.where(rows.turn, n.force * n.length, n.force)
    with np.errstate(invalid="ignore"):
        wrong = verdict.rows & (np.abs(rows.engine - verdict.values) > size)
    if wrong.any():
        labels = row_labels(n)
        for k in np.flatnonzero(wrong).tolist():
            constraint, component = labels[k]
            yield Mark(constraint, component, "determined", float(rows.engine[k]), float(verdict.values[k]))


def _drifts(n: Numbers, largest: float) -> Iterator[Mark]:
    for name, (distance, angle) in drifts_of(n.reading).items():
        if distance > largest:
            yield Mark(name, "distance, m", "drift", distance, largest)
        elif angle > largest:
            yield Mark(name, "angle, rad", "drift", angle, largest)


def drifts_of(reading: Reading) -> dict[str, tuple[float, float]]:
    """Return the gap of each closure, m and rad, in the directions that it constrains."""
    own, g = reading.closures, reading.geometry
    if not own.pairs:
        return {}
    gap = np.einsum("kji,kj->ki", g.R_PC, g.p_SC - g.p_PC)
    if not own.turn.any():
        found = gap[own.of_row, own.axis] ** 2
        distance = np.sqrt(np.bincount(own.of_row, found, len(own.pairs)))
        return {pair.name: (d, 0.0) for pair, d in zip(own.pairs, distance.tolist(), strict=True)}
    # for small angles the axial vector of R_PS is the rotation
    R = g.R_PC.transpose(0, 2, 1) @ g.R_SC
    twist = 0.5 * np.stack(
        (R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]), axis=1
    )
    found = np.where(own.turn, twist[own.of_row, own.axis], gap[own.of_row, own.axis]) ** 2
    distance = np.sqrt(np.bincount(own.of_row, np.where(own.turn, 0.0, found), len(own.pairs)))
    angle = np.sqrt(np.bincount(own.of_row, np.where(own.turn, found, 0.0), len(own.pairs)))
    return {
        pair.name: (d, a) for pair, d, a in zip(own.pairs, distance.tolist(), angle.tolist(), strict=True)
    }


# Names of the rows.


def row_labels(n: Numbers) -> list[RowLabel]:
    """Return the label of each row: closures and gears, then contacts."""
    names = contact_names(n.structure, n.reading.touching)
    parts = ("cn", *TANGENTS)
    contacts = zip(n.rows.contact.tolist(), n.rows.part.tolist(), strict=True)
    return [*n.structure.labels[: n.rows.ties], *(RowLabel(names[c], parts[k]) for c, k in contacts)]


def contact_names(s: Structure, touching: Touching) -> Sequence[str]:
    """Return ``contact BODY`` for each contact, with a number if the body has several."""
    names = [f"contact {s.mech.bodies[k].name}" for k in touching.body.tolist()]
    total: dict[str, int] = {}
    for name in names:
        total[name] = total.get(name, 0) + 1
    seen: dict[str, int] = {}
    out = []
    for name in names:
        if total[name] == 1:
            out.append(name)
            continue
        seen[name] = seen.get(name, 0) + 1
        out.append(f"{name} {seen[name]}")
    return out
