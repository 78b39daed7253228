"""The task of a PyBullet motion: a mechanism, its state, and the changes with their times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.bullet.motion.wheels import off_wheels
from mbplugin.model.applied_forces import AppliedForces, BrakeForce
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.scene import Load, Payload, Scene, State
from mbplugin.model.spatial import Array
from mbplugin.model.spring import JointSpring, Spring

if TYPE_CHECKING:
    from mbplugin.simulation.events.schedule import TimedDrive


#: Times that differ by less are the same, s.
SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Task:
    """One motion, as PyBullet and we compute it.

    Parameters
    ----------
    mech : Mechanism
        Without drivers.
    q, qd : (nq,), (nv,) array
        At the start, loops closed.
    duration : float
        s.
    payloads, loads, torques, springs, joint_springs : as in Actions
    brakes : tuple of BrakeForce
        With the times at which they grip.
    locks : tuple of Lock
        With the times at which they close and open.
    drives : tuple of TimedDrive
        What leads joints, for good or for a while.
    """

    mech: Mechanism
    q: Array
    qd: Array
    duration: float
    payloads: tuple[Payload, ...] = ()
    loads: tuple[Load, ...] = ()
    torques: Mapping[str, float] | None = None
    springs: tuple[Spring, ...] = ()
    joint_springs: tuple[JointSpring, ...] = ()
    damping: bool = True
    friction: bool = True
    brakes: tuple[BrakeForce, ...] = ()
    locks: tuple[Lock, ...] = ()
    drives: tuple[TimedDrive, ...] = ()

    @property
    def instants(self) -> tuple[float, ...]:
        """When something changes, from 0 to the duration, s."""
        times = {0.0, self.duration}
        for lock in self.locks:
            times |= {lock.at or 0.0, *(() if lock.until is None else (lock.until,))}
        times |= {brake.closes for brake in self.brakes}
        for drive in self.drives:
            times |= {start for start, _ in drive.motion_segments}
            times |= set() if drive.until is None else {drive.until}
        inner = [0.0]
        for time in sorted(times):
            if inner[-1] + SAME < time < self.duration - SAME:
                inner.append(time)
        return (*inner, self.duration)

    @property
    def constrained(self) -> bool:
        """Whether PyBullet's iterations have anything to solve."""
        mech = self.mech
        resisted = self.friction and any(f.friction for pair in mech.pairs for f in pair.freedoms)
        ties = (
            mech.tree.cut,
            mech.pfaffians,
            mech.couplings,
            mech.locks,
            self.locks,
            self.brakes,
            self.drives,
            resisted,
        )
        return any(ties) or any(pair.type == "screw" for pair in mech.pairs)

    @property
    def rows(self) -> int:
        """How many rows of closures and couplings PyBullet iterates over, about."""
        closed = sum(len(pair.kind.constrained) for pair in self.mech.tree.cut)
        return closed + len(self.mech.couplings) + 3 * len(self.mech.pfaffians)

    @property
    def scene(self) -> Scene:
        """What is built: with payloads, without dampers that do not count and without wheels."""
        mech = off_wheels(self.mech)
        if not self.damping:
            pairs = (
                replace(p, freedoms=tuple(replace(f, damping=0.0) for f in p.freedoms)) for p in mech.pairs
            )
            mech = replace(mech, pairs=tuple(pairs))
        return Scene(mech, State(self.q, self.qd), payloads=self.payloads)

    @property
    def actions(self) -> AppliedForces:
        """What acts, as our own motion takes it."""
        return AppliedForces(
            self.loads,
            self.payloads,
            self.springs,
            self.joint_springs,
            dict(self.torques or {}),
            damping=self.damping,
            friction=self.friction,
            brakes=self.brakes,
        )

    def counts(self, step: float) -> tuple[int, ...]:
        """Return the numbers of steps between the instants, none longer than ``step`` (s)."""
        lengths = np.diff(self.instants)
        return tuple(int(np.ceil(length / step * (1 - 1e-12))) for length in lengths)


@dataclass(frozen=True)
class Solver:
    """How PyBullet solves its constraints: everything that changes its motion besides the step."""

    iterations: int = 500
    residual_threshold: float = 0.0
    erp: float = 0.2
