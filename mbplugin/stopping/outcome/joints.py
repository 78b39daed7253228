"""How every braked joint stops, read from the motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from mbplugin.constraints.reduction.blocks import find_blocks
from mbplugin.model.brake_law import BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.brakes import JointBrake
from mbplugin.model.component import units_of
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome.values import JointStop
from mbplugin.stopping.scenario.drives import grip_times
from mbplugin.stopping.scenario.scenario import Scenario

#: A joint rests below this rate, rad/s or m/s: what the events of other joints leave of its own.
_RESTS = 1e-5
#: While the other joints of its loop are faster than this, rad/s or m/s, a joint turns at a dead centre.
_TURNS = 1e-3
#: Nodes between two samples for the work of brakes whose force depends on the rate.
_NODES = 6


class JointHistory(NamedTuple):
    """The samples of one joint: time, coordinate, rate and acceleration (T,)."""

    time: Array
    q: Array
    qd: Array
    qdd: Array


def joint_stops(scenario: Scenario, motion: Trajectory) -> tuple[JointStop, ...]:
    """Return how the joints with a brake stop; those that close a loop have no coordinate and no entry."""
    engagement_time = grip_times(scenario)
    brakes = [brake for brake in scenario.brakes if scenario.rate_of(brake.joint) >= 0]
    acting = [brake for brake in brakes if brake.joint in engagement_time]
    works = _rate_works(motion, {b.joint: b.law for b in acting if depends_on_rate(b.law)})
    none = np.zeros(max(len(motion.time) - 1, 0))
    out = []
    for brake in brakes:
        joint, course = brake.joint, course_of(motion, brake.joint)
        others, reaction = _others_in_loops(motion, joint), reaction_time(scenario, brake)
        energy = 0.0
        if joint in engagement_time:
            energy = brake_energy(brake, course, works.get(joint, none), engagement_time[joint])
        out.append(_stop(brake, course, others, reaction, energy))
    return tuple(out)


def _others_in_loops(motion: Trajectory, joint: str) -> Array:
    """Return the largest rate (T,) of the other joints in the loops of a joint, rad/s and m/s."""
    mech = motion.mechanism
    members = {
        name for block in find_blocks(mech) if joint in block.constraints for name in block.constraints
    }
    places = [place.qd for name, place in mech.tree.joint_of_pair.items() if name in members - {joint}]
    columns = [k for place in places for k in range(place.start, place.stop)]
    return np.asarray(np.abs(motion.qd[:, columns]).max(axis=1, initial=0.0))


def course_of(motion: Trajectory, joint: str) -> JointHistory:
    """Return the samples of a joint with one freedom."""
    place = motion.mechanism.tree.joint_of_pair[joint]
    k = place.qd.start
    return JointHistory(motion.time, motion.q[:, place.q.start], motion.qd[:, k], motion.qdd[:, k])


def reaction_time(scenario: Scenario, brake: JointBrake) -> float:
    """Return when a joint starts to be braked or led, s."""
    return brake.engagement_time if scenario.category == 0 else brake.delay


def _stop(
    brake: JointBrake, course: JointHistory, others: Array, reaction: float, energy: float
) -> JointStop:
    """Return how one joint stops; ``others`` (T,) are the largest rates of its loops, rad/s and m/s."""
    moving = np.flatnonzero(np.abs(course.qd) > _RESTS)
    last = int(moving[-1]) + 1 if moving.size else 0
    stopped = last < len(course.time)
    end = float(course.time[min(last, len(course.time) - 1)])
    k = sample_at(course.time, reaction)
    reaction = min(reaction, end)
    return JointStop(
        brake.joint,
        units_of(brake.freedom).coordinate,
        float(course.q[0]),
        float(course.q[-1]),
        float(course.qd[0]),
        reaction,
        end - reaction,
        float(course.q[k] - course.q[0]),
        float(course.q[-1] - course.q[k]),
        _back(course, others, k),
        energy,
        stopped,
    )


def sample_at(time: Array, t: float) -> int:
    """Return the last sample of ``time`` (T,) that is not after a time, s."""
    return max(0, int(np.searchsorted(time, t + 1e-12, side="right")) - 1)


def _back(course: JointHistory, others: Array, k: int) -> float:
    """Return how far a joint has come back from where it turned after sample k.

    At a dead centre of its loop a joint turns while the others (T,) move on: that is no way back.
    """
    v = np.where(np.abs(course.qd) > _RESTS, course.qd, 0.0)
    passed = (others > _TURNS) & ((v == 0.0) | (np.append(0.0, v[:-1] * v[1:]) < 0.0))
    passed[: k + 1] = False
    if v[k] == 0.0 and not passed.any():
        return 0.0
    k = int(np.flatnonzero(passed).max(initial=k))
    moves = v[k:][v[k:] != 0.0]
    way = np.sign(moves[:1].sum()) * (course.q[k:] - course.q[k])
    return float(way.max() - way[-1])


def brake_energy(brake: JointBrake, course: JointHistory, works: Array, engagement_time: float) -> float:
    """Return the work that a brake takes up, J: ∫ |τ q̇| dt, the dry part and that which depends on the rate.

    The dry part is exact, since a sample stands wherever the rate changes its sign.

    Parameters
    ----------
    works : (T - 1,) array
        Of the part that depends on the rate, from each sample to the next, J.
    """
    k = sample_at(course.time, engagement_time)
    return float(brake.law.sliding * np.abs(np.diff(course.q[k:])).sum() + works[k:].sum())


def _rate_works(motion: Trajectory, laws: Mapping[str, BrakeLaw]) -> dict[str, Array]:
    """Return the work of what depends on the rate (T - 1,), J, by joint; by Gauss' quadrature."""
    if not laws:
        return {}
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    h = np.diff(motion.time)
    at = motion.time[:-1, None] + 0.5 * h[:, None] * (1.0 + nodes)
    dense = motion.resample(at[h > 0].ravel())
    out = {}
    for joint, law in laws.items():
        rates = course_of(dense, joint).qd.reshape(-1, _NODES)
        out[joint] = np.zeros(len(h))
        out[joint][h > 0] = 0.5 * h[h > 0] * ((rate_force(law, rates) * rates) @ weights)
    return out
