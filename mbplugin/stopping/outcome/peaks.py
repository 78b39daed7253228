"""The largest forces and moments that a stop puts on joints, flange and base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.enumerations import PAIR_ROLES, PairRole
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome.peak_instants import peak_instants

if TYPE_CHECKING:
    from mbplugin.stopping.outcome.values import StopReport


@dataclass(frozen=True)
class PeakLoad:
    """The largest size of something that acts along an axis, N·m or N, and when, s from the signal."""

    value: float
    time: float


@dataclass(frozen=True)
class AxisPeaks:
    """What acts about the axis of a joint (or along it) at most.

    Parameters
    ----------
    freedom : str
        ``rz`` or ``tz``.
    unit : "N·m" or "N"
    total : PeakLoad
        All that passes from one body to the next.
    drive : PeakLoad
        While the drive leads the joint; with what accelerates the drive's own inertia.
    friction : PeakLoad
        Dry and viscous.
    """

    freedom: str
    unit: str
    total: PeakLoad
    drive: PeakLoad
    brake: PeakLoad
    friction: PeakLoad


@dataclass(frozen=True)
class PeakWrench:
    """What one pair has to take at most.

    Parameters
    ----------
    role : "base", "flange" or "joint"
    force, moment : float
        Largest sizes of all that passes through it, N and N·m: structure, drive, brake and friction.
    force_time, moment_time : float
        When, s from the signal.
    components : tuple of float
        Largest size of each of tx ty tz rx ry rz at the origin of S, axes of P.
    structural_force, structural_moment : float
        Largest sizes of what the bearing carries, N and N·m: without the part along the freedoms.
    structural_force_time, structural_moment_time : float
        When, s from the signal.
    axis : AxisPeaks or None
        About or along the axis; None for a pair that has not exactly one freedom.
    unique : bool
        Whether a rigid model determines all that the bearing carries.
    """

    pair: str
    role: PairRole
    force: float
    moment: float
    force_time: float
    moment_time: float
    components: tuple[float, ...]
    structural_force: float
    structural_moment: float
    structural_force_time: float
    structural_moment_time: float
    axis: AxisPeaks | None
    unique: bool


def peak_wrenches(report: StopReport) -> tuple[PeakWrench, ...]:
    """Return the peaks of all pairs: the base, the joints in the order of the file, the flange."""
    motion = report.trajectory
    mech = motion.mechanism
    dense = motion.resample(peak_instants(motion))
    carrier = mech.tree.joint_of_body[report.tool.body].pair
    found = []
    for pair in mech.pairs:
        role: PairRole = "base" if WORLD in pair.bodies else "joint"
        if role == "joint" and carrier is not None and pair.name == carrier.name:
            role = "flange"
        found.append(_peak(pair, role, dense))
    return tuple(sorted(found, key=lambda one: PAIR_ROLES.index(one.role)))


def _peak(pair: Pair, role: PairRole, motion: Trajectory) -> PeakWrench:
    time, whole, bearing = motion.time, motion.transmitted(pair.name), motion.reactions(pair.name)
    force, moment = (_largest(time, _size(half)) for half in (whole[:, :3], whole[:, 3:]))
    carried, bent = (_largest(time, _size(half)) for half in (bearing[:, :3], bearing[:, 3:]))
    return PeakWrench(
        pair.name,
        role,
        force.value,
        moment.value,
        force.time,
        moment.time,
        tuple(float(value) for value in np.abs(whole).max(axis=0)),
        carried.value,
        bent.value,
        carried.time,
        bent.time,
        _axis(pair, motion),
        bool(motion.uniqueness(pair.name).all()) if motion.degree_of_redundancy else True,
    )


def _axis(pair: Pair, motion: Trajectory) -> AxisPeaks | None:
    along = motion.axis_forces(pair.name)
    if along is None:
        return None
    parts = (along.total, along.drive, along.brake, along.friction)
    return AxisPeaks(along.freedom, along.unit, *(_largest(motion.time, np.abs(part)) for part in parts))


def _size(vectors: Array) -> Array:
    """Return the lengths (T,) of vectors (T, 3)."""
    return np.asarray(np.sqrt((vectors**2).sum(axis=1)))


def _largest(time: Array, sizes: Array) -> PeakLoad:
    """Return the largest of some sizes (T,), N or N·m, and its time, of ``time`` (T,), s."""
    k = int(sizes.argmax())
    return PeakLoad(float(sizes[k]), float(time[k]))
