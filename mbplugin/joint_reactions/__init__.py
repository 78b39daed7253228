"""Joint reactions at a state, and what determines them; here the closed state at which they are computed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from mbplugin.constraints import FEWER_VALUES, rank_tolerance, reduction, unsatisfied
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.rows import Rows, planar_rows, plane_columns, rows_of
from mbplugin.constraints.stated_state import closed_pose, following_rates, seen_rates, stated_state
from mbplugin.dynamics import body_accelerations, spring_forces
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model import Array, Constraint, Driver, JointSpring, Lock, Mechanism, Spring, pair_and_freedom
from mbplugin.model.mechanism import kinematics
from mbplugin.model.scene import Load, Scene, State, mechanism_of, option_of
from mbplugin.phrases import dataclass, names_of

#: Holding a joint is effective only if it takes part in a free motion by more than this fraction.
_INDEPENDENT = 1e-6
#: A gap of accelerations that no step closes is rounding of the file below this fraction of the largest gap, …
_FOLLOWED = 1e-3
#: … and floating-point rounding below this fraction of the accelerations themselves.
_ROUNDING = 1e-10
Model = Scene | Mechanism


# Held joints: drivers and locks, actuated joints, and joints named by the caller.


def held_joints(
    motion: JointMotion, hold: Iterable[str] | None, actuated: Sequence[str], tolerance: float
) -> tuple[Lock, ...]:
    """Return the joints to hold in addition to the drivers and locks of the mechanism.

    Parameters
    ----------
    hold : iterable of str, or None
        Pairs, or ``pair.freedom``. None selects the actuated joints or, if the mechanism has no driver,
        lock or actuator, the joints with a finite effort limit; of these only as many as are
        independent, in file order.
    actuated : sequence of str
        Pairs with an actuator.
    tolerance : float
        Rank tolerance.

    Raises
    ------
    UnknownName, BadUsage
        A name of no pair, or a pair without that freedom.
    """
    mech = motion.mech
    if hold is not None:
        named = {lock.name: lock for lock in (named_lock(mech, name) for name in names_of(hold))}
        return tuple(lock for lock in named.values() if not _already_held(mech, lock))
    candidates = [pair.name for pair in mech.pairs if pair.name in set(actuated)]
    if not candidates and not mech.drivers and not mech.locks:
        candidates = limited_joints(mech)
    locks = [lock for lock in map(Lock, candidates) if not _already_held(mech, lock)]
    return _independent(motion, locks, tolerance) if locks else ()


def held_besides(
    motion: JointMotion, held: Sequence[Lock], moved: Iterable[str], tolerance: float
) -> tuple[Lock, ...]:
    """Return the joints among ``moved`` that can be held independently of those already ``held``.

    In file order, but joints with several freedoms after those with one, which drives act on, and followers of
    couplings last, since the drive is on the leading joint.

    Parameters
    ----------
    moved : iterable of str
        Coordinates that a load moves.
    """
    mech = motion.mech
    order = {p.name: (kinematics.follows(mech, p), len(p.kind.free) > 1, k) for k, p in enumerate(mech.pairs)}
    locks = sorted((named_lock(mech, name) for name in sorted(moved)), key=lambda lock: order[lock.joint])
    return one_for_each(_independent(motion, [*held, *locks], tolerance)[len(held) :])


def one_for_each(locks: Iterable[Lock]) -> tuple[Lock, ...]:
    """Return one lock for each joint, since the freedoms of a ball joint are found one by one."""
    freedoms: dict[str, list[str]] = {}
    for lock in locks:
        freedoms.setdefault(lock.joint, []).extend(lock.freedoms)
    return tuple(Lock(joint, freedoms=tuple(names)) for joint, names in freedoms.items())


def with_held(mech: Mechanism, held: Sequence[Lock]) -> Mechanism:
    """Return the mechanism with more joints locked."""
    return replace(mech, locks=(*mech.locks, *held)) if held else mech


def limited_joints(mech: Mechanism) -> list[str]:
    """Return the pairs whose freedoms all have a finite effort limit."""
    return [p.name for p in mech.pairs if p.freedoms and all(0 < f.effort < np.inf for f in p.freedoms)]


def named_lock(mech: Mechanism, name: str, what: str = "the joint to hold") -> Lock:
    """Return the lock of a pair, or of ``pair.freedom``.

    Raises
    ------
    UnknownName, BadUsage
        A name of no pair, or a pair without that freedom.
    """
    joint, freedom = pair_and_freedom(name, mech.pair_by_name)
    pair, freedoms = mech.pair_by_name.get(joint), (freedom,) if freedom else ()
    if pair is None:
        raise UnknownName(
            f"{what}, {name!r}, is not a pair of {mech.name!r}",
            remedy=suggestion(name, [p.name for p in mech.pairs if p.kind.free]),
        )
    if not pair.kind.free or not set(freedoms) <= set(pair.kind.free):
        free = ", ".join(pair.kind.free) or "no freedom at all"
        raise BadUsage(f"{pair.type} pair {pair.name!r} cannot be held as {name!r}: it has {free}")
    return Lock(pair.name, freedoms=freedoms)


def _already_held(mech: Mechanism, lock: Lock) -> bool:
    """Return True if drivers and locks of the mechanism already hold all freedoms of a lock."""
    kind = mech.pair_by_name[lock.joint].kind
    wanted = set(lock.freedoms or kind.free)
    for driver in mech.drivers:
        if driver.joint == lock.joint:
            wanted -= set(driver.freedoms or kind.free)
    for other in mech.locks:
        if other.joint == lock.joint:
            wanted -= set(other.freedoms or kind.free)
    return not wanted


def _independent(motion: JointMotion, locks: Sequence[Lock], tolerance: float) -> tuple[Lock, ...]:
    """Return the locks, in order, that each remove free motions independently of those before."""
    blocks = rank_blocks(motion.mech, motion.poses, motion.columns, tolerance, motion.q)
    free = motion.free_motions(sum(block.redundancy for block in blocks))
    chosen = []
    for lock in locks:
        rows = rows_of(motion.mech, (lock,), motion.poses, motion.q)
        moved = motion.jacobian([planar_rows(r, motion.columns) for r in rows]) @ free
        if np.linalg.matrix_rank(moved, _INDEPENDENT) < len(moved) or not len(moved):
            continue
        chosen.append(lock)
        free = free @ _null(moved)
    return tuple(chosen)


def _null(rows: Array) -> Array:
    """Return a basis (n, n − k) of the null space of independent rows (k, n)."""
    return np.asarray(np.linalg.svd(rows)[2][len(rows) :].T)


# Joint rates and accelerations that satisfy all loops: C v + b = 0 and C v̇ = Γ.


@dataclass(frozen=True, eq=False)
class JointMotion:
    """The closing constraints of a mechanism at a pose, in joint rates.

    Parameters
    ----------
    q : (nq,) array
        A closed pose.
    columns : tuple of int
        Twist components that count, all six or those of a plane.
    """

    mech: Mechanism
    q: Array
    poses: kinematics.BodyPoses
    columns: tuple[int, ...]

    @cached_property
    def closing(self) -> tuple[Constraint, ...]:
        """All constraints except tree pairs, in the order of the rows."""
        in_tree = self.mech.tree.joint_of_pair
        return tuple(c for c in self.mech.constraints() if c.name not in in_tree)

    def rows(self, twists: Array | None = None) -> list[Rows]:
        """Return the rows of the closing constraints; ``twists`` (N, 6)."""
        rows = rows_of(self.mech, self.closing, self.poses, self.q, twists)
        return [planar_rows(r, self.columns) for r in rows]

    @cached_property
    def length(self) -> float:
        """Characteristic length, m."""
        return reduction.characteristic_length(self.rows(), self.poses.p_WC, self.mech)

    @cached_property
    def units(self) -> Array:
        """Unit of each rate, (nv,): the characteristic length for travels, 1 rad for turns.

        Zero for a rate without motion in the plane.
        """
        seen = seen_rates(reduction.tree_motion(self.mech, self.poses).axes, self.columns)
        return reduction.rate_scale(self.mech, self.length) * seen

    def jacobian(self, rows: list[Rows]) -> Array:
        """Return dimensionless rows in dimensionless joint rates, (k, nv)."""
        J = reduction.tree_motion(self.mech, self.poses).reduce(rows)
        scale = [reduction.row_scale(r, self.length) for r in rows]
        return np.asarray((np.concatenate(scale)[:, None] if scale else 1.0) * J * self.units)

    def free_motions(self, redundancy: int) -> Array:
        """Return an orthonormal basis (nv, f) of the scaled rates that all constraints allow."""
        J = self.jacobian(self.rows())
        inside = self.units > 0
        Vt = np.linalg.svd(J[:, inside])[2] if len(J) else np.eye(int(inside.sum()))
        rank = min(len(J) - redundancy, len(Vt))
        free = np.zeros((len(inside), len(Vt) - rank))
        free[inside] = Vt[rank:].T
        return free

    def _follow(self, wanted: Array, gap: Array, named: Collection[str]) -> Array:
        """Return accelerations (nv,) near ``wanted`` (nv,) that close a ``gap`` (k,) of the k closing rows.

        Named ones stay unchanged if the others can close the gap; the correction is the smallest one, in
        characteristic lengths.

        Raises
        ------
        BadUsage
            No accelerations close it: two drivers contradict each other, for example.
        """
        rows = self.rows()
        if not rows or not gap.any():
            return wanted
        J = self.jacobian(rows)
        gap = gap * np.concatenate([reduction.row_scale(r, self.length) for r in rows])
        free = np.array([name not in named for name in self.mech.qd_names])
        size = max(float(np.abs(gap).max()), 1e-300)
        # a gap in redundant rows that are already satisfied is rounding, which no step closes
        moved = np.divide(wanted, self.units, out=np.zeros_like(wanted), where=self.units > 0)
        closed = max(_FOLLOWED * size, _ROUNDING * float((np.abs(J) @ np.abs(moved)).max(initial=0.0)))
        for movable in (free, np.ones_like(free)):
            step = np.zeros(len(wanted))
            step[movable] = np.linalg.lstsq(J[:, movable], -gap, rcond=1e-4)[0] if movable.any() else 0.0
            left = J @ step + gap
            if np.abs(left).max() <= closed:
                return np.asarray(wanted + step * self.units)
        worst = int(np.abs(left).argmax())
        owner = [r.constraint for r in rows for _ in r.components][worst]
        raise unsatisfied("accelerations", owner, FEWER_VALUES)

    def rates(self, wanted: Array, named: Collection[str]) -> Array:
        """Return joint rates (nv,) near ``wanted`` (nv,) with C v + b = 0 (wojtyra2013 (5)), the named ones unchanged.

        Raises
        ------
        ContradictedState
            Named rates contradict each other.
        """
        names = frozenset(named)
        stated = State(self.q, wanted, given_rates=names, named_rates=names)
        return following_rates(self.mech, self.q, stated, self.columns, self.poses)[0]

    def accelerations(self, wanted: Array, qd: Array, named: Collection[str]) -> tuple[Array, Array]:
        """Return joint accelerations (nv,) with C v̇ = Γ (wojtyra2013 (8)), and v̇ of all bodies (N, 6).

        The accelerations are near ``wanted`` (nv,); the rates are ``qd`` (nv,).
        """
        twists = reduction.body_twists(self.mech, self.poses, qd)
        v_dot = body_accelerations(self.mech, self.poses, twists, wanted)
        qdd = self._follow(wanted, self._gap(self.rows(twists), v_dot), named)
        return qdd, v_dot if qdd is wanted else body_accelerations(self.mech, self.poses, twists, qdd)

    def _gap(self, rows: list[Rows], v_dot: Array) -> Array:
        """Return C v̇ − Γ of the closing rows, (k,), for accelerations of the bodies v_dot (N, 6)."""
        sides = [
            sum((e @ v_dot[i] for i, e in r.entries), np.zeros(len(r.components))) - r.Gamma for r in rows
        ]
        return np.concatenate(sides) if sides else np.zeros(0)


@dataclass(frozen=True, eq=False)
class ClosedState:
    """A mechanism at a closed pose with a motion that satisfies its constraints."""

    mech: Mechanism
    q: Array
    qd: Array
    qdd: Array
    accelerations: Array
    at_rest: bool
    planar: str | None
    tolerance: float
    motion: JointMotion
    notes: tuple[str, ...]


def closed_state(
    model: Model,
    q: kinematics.JointValues,
    qd: kinematics.JointValues,
    qdd: kinematics.JointValues,
    tolerance: float | None,
    planar: str | None,
    *,
    closing: bool = False,
) -> ClosedState:
    """Close the loops and let rates and accelerations follow, see :mod:`mbplugin.constraints.stated_state`.

    With ``closing``, a vector q is only the start of the search for a closed pose.

    Raises
    ------
    BadUsage
        The tolerance is not between 0 and 1; no rates or accelerations satisfy the constraints.
    CannotClose
        The loops cannot be closed.
    ContradictedState
        Stated coordinates or rates contradict each other.
    UnknownName, BadNumber
        As for :func:`mbplugin.model.mechanism.kinematics.joint_vector`.
    """
    scene = model if isinstance(model, Scene) else None
    mech = mechanism_of(model)
    tolerance, planar = rank_tolerance(scene, tolerance), planar or option_of(model, "planar", None)
    stated = stated_state(model, q, qd, closing=closing)
    closed, notes = closed_pose(mech, stated)
    wanted = kinematics.acceleration_vector(mech, qdd)
    motion = JointMotion(mech, closed.q, kinematics.forward(mech, closed.q), plane_columns(planar))
    still = np.zeros(len(mech.qd_names)), np.zeros((len(mech.bodies), 6))
    if qd is None and qdd is None and not stated.qd.any():
        return ClosedState(
            mech, closed.q, still[0], still[0], still[1], True, planar, tolerance, motion, notes
        )
    v, corrected = following_rates(mech, closed.q, stated, motion.columns, motion.poses)
    a, v_dot = motion.accelerations(wanted, v, set(qdd) if isinstance(qdd, Mapping) else ())
    notes += corrected or _corrections(mech, "rates", "s", stated.qd, v)
    notes += _corrections(mech, "accelerations", "s²", wanted, a)
    return ClosedState(mech, closed.q, v, a, v_dot, False, planar, tolerance, motion, notes)


def _corrections(mech: Mechanism, what: str, per: str, before: Array, after: Array) -> tuple[str, ...]:
    """Return a note if values had to change from ``before`` (nv,) to ``after`` (nv,) to satisfy the constraints."""
    units = np.array(kinematics.rate_units(mech))
    found = []
    for unit in ("rad/s", "m/s"):
        own = units == unit
        change = float(np.abs(after - before)[own].max(initial=0.0))
        if change > 1e-9 * max(1.0, float(np.abs(after[own]).max(initial=0.0))):
            found.append(f"{change:.3g} {unit.removesuffix('s')}{per}")
    if not found:
        return ()
    return (f"{what} made to agree with the constraints: changed by up to {' and '.join(found)}",)


# Springs at a state, as equivalent loads.


def spring_loads(
    mech: Mechanism, springs: Iterable[Spring | JointSpring], q: Array, qd: Array
) -> tuple[Load, ...]:
    """Return the forces of springs on the bodies at a state, as loads in world axes.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
    """
    found: list[Load] = []
    for spring in springs:
        found += _at_joint(mech, spring, q) if isinstance(spring, JointSpring) else _ends(mech, spring, q, qd)
    return tuple(found)


def _ends(mech: Mechanism, spring: Spring, q: Array, qd: Array) -> Iterator[Load]:
    """Yield the loads at both ends of a spring, at q (nq,) and qd (nv,)."""
    poses = kinematics.forward(mech, q)
    for i, p, force in spring_forces(mech, spring, poses, reduction.body_twists(mech, poses, qd)):
        yield Load(mech.bodies[i].name, force, np.zeros(3), poses.of(i).inverse().apply(p))


def _at_joint(mech: Mechanism, spring: JointSpring, q: Array) -> Iterator[Load]:
    """Yield the loads of a joint spring on both bodies at q (nq,)."""
    k = mech.qd_names.index(spring.joint)
    joint = next(j for j in mech.tree.joints if j.qd.start <= k < j.qd.stop)
    pair = joint.pair
    assert pair is not None
    force = spring.force(float(q[mech.q_names.index(spring.joint)]))
    poses = kinematics.forward(mech, q)
    (rows,) = rows_of(mech, (Driver("", pair.name, (pair.kind.free[k - joint.qd.start],)),), poses, q)
    for i, entry in rows.entries:
        if i >= 0:
            wrench = force * entry[0]
            point = pair.X_AP.p if mech.bodies[i].name == pair.body_a else pair.X_BS.p
            arm = poses.p_WC[i] - poses.of(i).apply(point)
            yield Load(mech.bodies[i].name, wrench[:3], wrench[3:] + np.cross(arm, wrench[:3]), point)
