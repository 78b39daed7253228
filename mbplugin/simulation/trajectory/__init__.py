"""The numbers at the samples of a trajectory, its mechanism between events, and the motions of its bodies.

Pages of lints import this module, so the kernels are imported only by the functions that need them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model import AppliedForces, Constraint, Holder, Lock, Mechanism, Pair, pair_and_freedom
from mbplugin.model.spatial import AnyArray, Array, make_read_only
from mbplugin.simulation import MotionRange
from mbplugin.simulation.options import Outcome
from mbplugin.simulation.passing_marks import Event

if TYPE_CHECKING:
    from mbplugin.joint_reactions.stiffness_estimate import Section
    from mbplugin.simulation.steppers import Leading
    from mbplugin.simulation.trajectory.record import Playback


@dataclass(frozen=True, eq=False)
class StatedStiffness:
    """Stated flexibility: compliance (6, 6) of pairs and sections of bodies, by name."""

    pairs: Mapping[str, Array]
    sections: Mapping[str, Section]

    def __bool__(self) -> bool:
        return bool(self.pairs or self.sections)


@dataclass(frozen=True, eq=False)
class Samples:
    """The fields of :class:`~mbplugin.simulation.trajectory.trajectory.Trajectory`, which documents them."""

    mechanism: Mechanism
    actions: AppliedForces
    time: Array
    q: Array
    qd: Array
    qdd: Array
    kinetic: Array
    potential: Array
    dissipated: Array
    applied: Array
    driven: Array
    active: tuple[tuple[str, ...], ...]
    segment: Array
    residuals: dict[str, float]
    events: tuple[Event, ...] = ()
    outcome: Outcome = "completed"
    notes: tuple[str, ...] = ()
    planar: str | None = None
    redundancy: str = "eliminate"
    degree_of_redundancy: int = 0
    statistics: dict[str, float] = field(default_factory=dict)
    held: tuple[Constraint, ...] = ()
    coordinates: str = "joint"
    dropped: tuple[tuple[str, str], ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    independent: tuple[Leading, ...] = ()
    playback: Playback | None = field(default=None, repr=False)
    stiffness: StatedStiffness | None = field(default=None, repr=False)
    motion_range: MotionRange | None = field(default=None, repr=False)

    # Python would iterate over what has __getitem__
    __iter__ = None
    __contains__ = None

    def __getitem__(self, name: object) -> NoReturn:
        """Refuse access by name, since a joint has a coordinate, a rate and a reaction.

        Raises
        ------
        UnknownName
            Always; its remedy is what to write.
        """
        mech, written = self.mechanism, list[str]()
        for array, names in (("q", mech.q_names), ("qd", mech.qd_names)):
            if isinstance(name, str) and name in names:
                written.append(f"motion.{array}[:, {names.index(name)}]")
        if isinstance(name, str) and name in self.pair_names:
            written.append(f"motion.reactions({name!r})")
        known = list(dict.fromkeys((*mech.q_names, *self.pair_names)))
        raise UnknownName(
            f"a motion has no parts by name, such as {name!r}",
            remedy=f"write {' or '.join(written)}" if written else suggestion(str(name), known),
        )

    @property
    def pair_names(self) -> tuple[str, ...]:
        """Names of all pairs, including timed closures."""
        return (*self.mechanism.pair_by_name, *(c.name for c in self.held if isinstance(c, Pair)))

    @cached_property
    def momenta(self) -> Array:
        """Generalised momenta M(q) q̇ (T, nv), in the order of ``qd``: N·m·s for rotations, N·s for translations.

        M includes the payloads and the inertia of the drives. It is that of the tree in space: a planar view, closures
        and drivers do not change it. When a constraint closes, momenta change by the generalised impulses along the
        rates; momenta without an impulse are continuous.
        """
        from mbplugin.dynamics.kernels import move
        from mbplugin.dynamics.kernels.articulated import factor, mass_matrix
        from mbplugin.dynamics.tree_model import borrowers, tree_model

        model = tree_model(self.mechanism, self.actions)
        out, M = np.empty(self.qd.shape), np.empty((len(model.rates), len(model.rates)))
        for k, (q, qd) in enumerate(zip(self.q, self.qd, strict=True)):
            move(model.composites, model.rates, q, qd)
            factor(model.composites, model.rates)
            mass_matrix(model.composites, model.rates, M)
            out[k] = M @ qd
        for one in borrowers(self.mechanism, self.actions):
            follower, leader = (self.mechanism.qd_names.index(name) for name in (one.follower, one.leader))
            out[:, follower] -= one.armature * self.qd[:, follower]
            out[:, leader] += one.borrowed * self.qd[:, leader]
        make_read_only(out)
        return out


# The active constraints of each segment of a motion: the mechanism with closed locks, brakes and sticking joints.


@dataclass(frozen=True, eq=False)
class Held:
    """A mechanism with one set of active constraints, and the samples at which they apply.

    Parameters
    ----------
    mech : Mechanism
        With locks for additional constraints; locked freedoms have no dry friction, as the lock includes it.
    active : tuple of str
        Names of the active constraints besides the mechanism's own.
    samples : (s,) array of int
        Indices of the samples.
    """

    mech: Mechanism
    active: tuple[str, ...]
    samples: AnyArray

    def spread(self, most: int) -> list[int]:
        """Return up to ``most`` of the samples, evenly spread."""
        at = np.linspace(0, len(self.samples) - 1, min(most, len(self.samples)))
        return [int(k) for k in self.samples[at.round().astype(int)]]


def held_mechanisms(trajectory: Samples) -> Iterator[Held]:
    """Yield every segment of a motion that has samples."""
    for k, active in enumerate(trajectory.active):
        samples = np.flatnonzero(trajectory.segment == k)
        if samples.size:
            yield Held(_closed(trajectory.mechanism, active, trajectory.held), active, samples)


def _closed(mech: Mechanism, active: tuple[str, ...], for_a_while: tuple[Constraint, ...]) -> Mechanism:
    """Return the mechanism with the additional active constraints.

    These are locks for ``lock j``, ``friction j``, ``brake j`` and the like, and timed constraints.
    """
    from mbplugin.simulation.impact import with_constraints

    mech = with_constraints(mech, [c for c in for_a_while if c.name in active])
    own = {constraint.name for constraint in mech.constraints()}
    holders = (Holder.of(name) for name in active if name not in own)
    joints = dict.fromkeys(holder.joint for holder in holders if holder)
    locks = tuple(_lock(mech, joint) for joint in joints)
    held = {
        (lock.joint, freedom)
        for lock in locks
        for freedom in (lock.freedoms or mech.pair_by_name[lock.joint].kind.free)
    }
    pairs = tuple(_without_friction(pair, held) for pair in mech.pairs)
    return replace(mech, pairs=pairs, locks=(*mech.locks, *locks))


def _lock(mech: Mechanism, joint: str) -> Lock:
    """Return the lock of a joint, or of one freedom for a name ``joint.freedom``."""
    pair, freedom = pair_and_freedom(joint, mech.pair_by_name)
    return Lock(pair, freedoms=(freedom,) if freedom else ())


def _without_friction(pair: Pair, held: set[tuple[str, str]]) -> Pair:
    freedoms = tuple(
        replace(freedom, friction=0.0, load_friction=0.0) if (pair.name, name) in held else freedom
        for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True)
    )
    return pair if freedoms == pair.freedoms else replace(pair, freedoms=freedoms)


# Poses and twists of all bodies along a motion.


@dataclass(frozen=True, eq=False)
class PointMotion:
    """The path of a point fixed in a body, world axes.

    Parameters
    ----------
    p_W, v_W : (T, 3) array
        Position and velocity at the samples, m and m/s.
    """

    p_W: Array
    v_W: Array


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """Poses and twists of all bodies at the samples of a motion, world axes.

    Parameters
    ----------
    R_WL, p_WL : (T, N, 3, 3), (T, N, 3) array
        Link frames, m.
    p_WC : (T, N, 3) array
        Centres of mass, m.
    twists : (T, N, 6) array
        [v; ω] at the centres of mass, m/s and rad/s.
    """

    R_WL: Array
    p_WL: Array
    p_WC: Array
    twists: Array

    def point(self, body: int, p_L: Array) -> tuple[Array, Array]:
        """Return positions and velocities (T, 3) of a body's point p_L (3,) in its link frame, m and m/s."""
        path = self.p_WL[:, body] + self.R_WL[:, body] @ p_L
        twist = self.twists[:, body]
        return path, twist[:, :3] + np.cross(twist[:, 3:], path - self.p_WC[:, body])


def body_motions(mech: Mechanism, q: Array, qd: Array | None = None) -> BodyMotions:
    """Return poses and twists of all bodies at coordinates q (T, nq) and rates qd (T, nv), by default at rest."""
    from mbplugin.dynamics.kernels import move
    from mbplugin.dynamics.kernels.composite_bodies import composite_records, find_composites, rate_records

    of = find_composites(mech, apart=True)
    composites = composite_records(mech, of)
    rates = rate_records(mech, of, np.zeros(len(mech.qd_names)))
    rows = np.zeros((len(q), len(rates))) if qd is None else qd
    bodies = list(of.of_body)
    out = np.empty((len(q), len(bodies), 3, 3)), *(np.empty((len(q), len(bodies), n)) for n in (3, 3, 6))
    for k in range(len(q)):
        # copied, as the kernel would be compiled again for read-only arrays
        move(composites, rates, q[k].copy(), rows[k].copy())
        for values, part in zip(out, ("R", "p", "c", "v"), strict=True):
            values[k] = composites[part][bodies]
    R_WK, p_WK, p_WC, twists = out
    R_KL, p_KL = (np.array([getattr(X, part) for X in of.X_KL]) for part in ("R", "p"))
    return BodyMotions(R_WK @ R_KL, p_WK + np.einsum("tnij,nj->tni", R_WK, p_KL), p_WC, twists)
