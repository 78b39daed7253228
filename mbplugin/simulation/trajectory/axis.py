"""Forces along the single freedom of a joint: total, drive, brake, friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.component import units_of
from mbplugin.model.mechanism.identity import Holder, HolderKind
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.mechanism.pair import Pair, RowKind
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, make_read_only
from mbplugin.simulation.active_set.stick_slip import AT_REST

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class AxisForces:
    """Torques about the axis of a joint, or forces along it, at every sample; on the successor.

    Where a drive leads, what the brake or friction of the joint could carry at rest is counted to the
    drive; where a brake holds, friction is counted to the brake. While the drive leads a joint that moves,
    its force overcomes friction.

    Parameters
    ----------
    freedom : str
        ``rz`` or ``tz``.
    unit : "N·m" or "N"
    total : (T,) array
        What passes from the predecessor to the successor along the freedom.
    drive : (T,) array
        Of the drive that leads the joint, with what accelerates its own inertia (armature).
    brake : (T,) array
    friction : (T,) array
        Dry and viscous.
    """

    freedom: str
    unit: str
    total: Array
    drive: Array
    brake: Array
    friction: Array


def axis_forces(motion: Trajectory, joint: str) -> AxisForces | None:
    """Return what acts along the freedom of a joint, None for one that has not exactly one."""
    pair = motion.mechanism.pair_by_name[joint]
    if len(pair.kind.free) != 1:
        return None
    freedom = pair.kind.free[0]
    drive, friction = _driven(motion, pair)
    brake = _of_brake(motion, joint)
    friction += _of_friction(motion, pair, brake)
    total = _along(pair, motion.transmitted(joint))
    make_read_only(total, drive, brake, friction)
    return AxisForces(freedom, units_of(freedom).force, total, drive, brake, friction)


def _along(pair: Pair, wrench: Array) -> Array:
    """Return the power of a wrench (T, 6) per unit rate of the freedom, (T,)."""
    along: Array = wrench[:, COMPONENTS.index(pair.kind.free[0])].copy()
    if pair.kind.row_kind("tz") is RowKind.SCREW:
        along += travel_per_radian(pair) * wrench[:, 2]
    return along


def _while(motion: Trajectory, kind: HolderKind, joint: str) -> AnyArray:
    """Return at which samples a joint was held or led that way, (T,) of bool."""
    name = str(Holder(kind, joint))
    return np.asarray(np.array([name in names for names in motion.active], dtype=bool)[motion.segment])


def _holding(motion: Trajectory, joint: str) -> Array:
    """Return what holds or leads a joint by a row of its own, (T,)."""
    rows = motion._wrenches.of_rest.get(str(Holder("lock", joint)))
    return np.zeros(len(motion.time)) if rows is None or not rows.shape[1] else rows[:, 0]


def _of_brake(motion: Trajectory, joint: str) -> Array:
    """Return the force of the brake of a joint, (T,), N·m or N; zero where it has none."""
    braked = joint in {brake.joint for brake in motion.actions.brakes}
    return motion.braking(joint).copy() if braked else np.zeros(len(motion.time))


def _of_friction(motion: Trajectory, pair: Pair, brake: Array) -> Array:
    """Return dry friction and damping, (T,), without the dry friction that a drive overcomes, N·m or N.

    ``brake`` (T,) is the brake's force.
    """
    slid = motion._wrenches.of_resistance.get((pair.name, pair.kind.free[0]))
    out = np.zeros(len(brake))
    if slid is not None:
        out += slid - np.where(_while(motion, "brake", pair.name), 0.0, brake)
    out += np.where(_while(motion, "friction", pair.name), _holding(motion, pair.name), 0.0)
    joint = motion.mechanism.tree.joint_of_pair.get(pair.name)
    if joint is not None and motion.actions.damping:
        out -= pair.freedoms[0].damping * motion.qd[:, joint.qd.start]
    return out


def _driven(motion: Trajectory, pair: Pair) -> tuple[Array, Array]:
    """Return the force of a drive, and the dry friction that it overcomes, (T,) each."""
    joint = motion.mechanism.tree.joint_of_pair.get(pair.name)
    leads = _while(motion, "drive", pair.name)
    drive = np.where(leads, _holding(motion, pair.name), 0.0)
    friction = np.zeros(len(drive))
    if joint is not None and motion.actions.friction:
        rate = motion.qd[:, joint.qd.start]
        sense = np.where(np.abs(rate) > AT_REST, np.sign(rate), 0.0)
        friction = np.where(leads, -pair.freedoms[0].friction * sense, 0.0)
    drive = drive - friction
    for driver in motion.mechanism.drivers:
        if driver.joint == pair.name:
            drive = drive + motion.multipliers(driver.name)[:, 0]
    return drive, friction
