"""The largest forces and moments that a stop puts on joints, flange and base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.mechanism.body import WORLD
from mbplugin.mechanism.pair import Pair
from mbplugin.simulation.trajectory import Trajectory
from mbplugin.spatial import COMPONENTS, Array

if TYPE_CHECKING:
    from mbplugin.estop.values import StopReport

#: Instants looked at besides the steps of the motion.
_BETWEEN = 60


@dataclass(frozen=True)
class PeakWrench:
    """What one pair has to take at most.

    Parameters
    ----------
    pair : str
    role : "base", "flange" or "joint"
    force, moment : float
        Largest sizes, N and N·m, with what its brake does along its freedom.
    force_time, moment_time : float
        When, s from the signal.
    components : tuple of float
        Largest size of each of tx ty tz rx ry rz at the origin of S, axes of P.
    unique : bool
        Whether a rigid model determines all of them.
    """

    pair: str
    role: str
    force: float
    moment: float
    force_time: float
    moment_time: float
    components: tuple[float, ...]
    unique: bool


def peak_wrenches(report: StopReport) -> tuple[PeakWrench, ...]:
    """Return the peaks of all pairs: the base, the joints in the order of the file, the flange."""
    motion = report.trajectory
    mech = motion.mechanism
    between = np.linspace(motion.time[0], motion.time[-1], _BETWEEN + 2)[1:-1]
    dense = motion.resample(np.sort(np.concatenate((motion.time, between))))
    carrier = mech.tree.joint_of_body[report.tool.body].pair
    found = []
    for pair in mech.pairs:
        role = "base" if WORLD in (pair.body_a, pair.body_b) else "joint"
        if role == "joint" and carrier is not None and pair.name == carrier.name:
            role = "flange"
        unique = bool(dense.uniqueness(pair.name).all()) if motion.degree_of_redundancy else True
        found.append(_peak(pair.name, role, dense.time, _carried(dense, pair), unique))
    order = ("base", "joint", "flange")
    return tuple(sorted(found, key=lambda one: order.index(one.role)))


def _carried(motion: Trajectory, pair: Pair) -> Array:
    """Return what a pair takes (T, 6): its reaction, and its brake about the axis."""
    wrench: Array = motion.reactions(pair.name).copy()
    for brake in motion.actions.brakes:
        if brake.pair == pair.name:
            wrench[:, COMPONENTS.index(brake.freedom)] += motion.braking(pair.name)
    return wrench


def _peak(pair: str, role: str, time: Array, wrench: Array, unique: bool) -> PeakWrench:
    force = np.sqrt((wrench[:, :3] ** 2).sum(axis=1))
    moment = np.sqrt((wrench[:, 3:] ** 2).sum(axis=1))
    f, m = int(force.argmax()), int(moment.argmax())
    largest = tuple(float(value) for value in np.abs(wrench).max(axis=0))
    return PeakWrench(
        pair, role, float(force[f]), float(moment[m]), float(time[f]), float(time[m]), largest, unique
    )
