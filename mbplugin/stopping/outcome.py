"""The result of a stop: outcome, times, distances, loads and energies, as values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from mbplugin.model import PAIR_ROLES, WORLD, AnyArray, Array, Pair, PairRole, rate_force
from mbplugin.phrases import listed, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.simulation.passing_marks import Event, bracketed_zero
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.scenario import Scenario

#: Instants evaluated between the samples of the motion: approximate total, and most per interval.
_BETWEEN, _MOST = 240, 24
#: With at least this many intervals, only samples are evaluated.
_ENOUGH = 2000
#: With more samples than this, some are skipped: the joint loads take about half a millisecond per instant.
_ALL = 4000
#: Share by which interpolated loads may exceed the capacity of a brake.
_EXCESS = 1e-4
#: Rates up to this are rounding of drives that hold an arm, rad/s and m/s.
_STILL = 1e-9
StopOutcome = Literal["stopped", "limit_hit", "not_stopped", "slipped_back", "budget_spent", "loop_opened"]
OUTCOMES: tuple[StopOutcome, ...] = get_args(StopOutcome)
#: The outcomes in words.
OUTCOME_WORDS = {
    "stopped": "stopped",
    "limit_hit": "ran into a joint limit",
    "not_stopped": "not stopped",
    "loop_opened": "a loop opened",
    "slipped_back": "slipped back",
    "budget_spent": "still moving when the budget was spent",
}
#: A joint has slipped back if it came back by more than this distance (rad, m) and this share of its travel.
_BACK, _SHARE = 1e-3, 0.05


# The largest forces and moments that a stop puts on joints, flange and base.


@dataclass(frozen=True)
class PeakLoad:
    """The largest magnitude of a load along an axis, N·m or N, and its time, s from the signal."""

    value: float
    time: float


@dataclass(frozen=True)
class AxisPeaks:
    """Peak loads about (or along) the axis of a joint.

    Parameters
    ----------
    freedom : str
        ``rz`` or ``tz``.
    unit : "N·m" or "N"
    total : PeakLoad
        Total load transmitted from one body to the next.
    drive : PeakLoad
        While the drive moves the joint; includes the part that accelerates the drive's own inertia.
    friction : PeakLoad
        Dry and viscous.
    shared : bool
        Whether ``brake`` exceeds the capacity of the brake: several brakes hold a load together, which can be shared
        among rigid bodies in more than one way; this is one of them.
    """

    freedom: str
    unit: str
    total: PeakLoad
    drive: PeakLoad
    brake: PeakLoad
    friction: PeakLoad
    shared: bool = False


@dataclass(frozen=True)
class PeakWrench:
    """Peak loads of one pair.

    Parameters
    ----------
    role : "base", "flange" or "joint"
    force, moment : float
        Largest magnitudes of the total load through it, N and N·m: structure, drive, brake and friction.
    force_time, moment_time : float
        Times of these peaks, s from the signal.
    components : tuple of float
        Largest magnitude of each of tx ty tz rx ry rz at the origin of S, axes of P.
    structural_force, structural_moment : float
        Largest magnitudes of the bearing load, N and N·m: without the components along the freedoms.
    structural_force_time, structural_moment_time : float
        Times of these peaks, s from the signal.
    axis : AxisPeaks or None
        Peaks about or along the axis; None unless the pair has exactly one freedom.
    unique : bool
        Whether a rigid model determines the whole bearing load.
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
        peak = _peak(pair, role, dense)
        if peak.axis is not None and _is_beyond_law(pair, peak.axis, motion, dense):
            peak = replace(peak, axis=replace(peak.axis, shared=True))
        found.append(peak)
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
    total, drive, brake, friction = (
        _largest(motion.time, np.abs(part))
        for part in (along.total, along.drive, along.brake, along.friction)
    )
    return AxisPeaks(along.freedom, along.unit, total, drive, brake, friction)


def _is_beyond_law(pair: Pair, axis: AxisPeaks, motion: Trajectory, dense: Trajectory) -> bool:
    """Return True if the brake of a joint carries more than its capacity, as one of several on a freedom.

    Raises
    ------
    RuntimeError
        It is the only brake: its joint would have slipped, so a break-away has been missed.
    """
    law = next((brake.law for brake in motion.actions.brakes if brake.joint == pair.name), None)
    place = motion.mechanism.tree.joint_of_pair.get(pair.name)
    friction = pair.freedoms[0]
    if law is None or place is None or friction.load_friction:
        return False
    # the load of a holding brake includes the dry friction of its joint
    bound = max(law.static, law.sliding) + friction.friction
    bound += float(np.abs(rate_force(law, dense.qd[:, place.qd.start])).max())
    beyond = axis.brake.value > bound * (1.0 + _EXCESS)
    mech = motion.mechanism
    coupled = mech.tree.cut or mech.couplings or mech.pfaffians or mech.drivers
    if beyond and not coupled:
        raise RuntimeError(
            f"the brake of {pair.name} carries {axis.brake.value:.9g} {axis.unit} at {axis.brake.time:.9g} s,"
            f" and can carry {bound:.9g}"
        )
    return beyond


def _size(vectors: Array) -> Array:
    """Return the magnitudes (T,) of vectors (T, 3)."""
    return np.asarray(np.sqrt((vectors**2).sum(axis=1)))


def _largest(time: Array, sizes: Array) -> PeakLoad:
    """Return the largest of the magnitudes ``sizes`` (T,), N or N·m, and its time, from ``time`` (T,), s."""
    k = int(sizes.argmax())
    return PeakLoad(float(sizes[k]), float(time[k]))


# The instants at which the loads of a stop are evaluated.


def peak_instants(motion: Trajectory) -> Array:
    """Return the instants (k,), s, at which loads are evaluated: samples, times between them, peaks of brake laws.

    Of more than 4000 samples, 4000 evenly spaced ones are used, and those at events unless these are more than 4000.
    """
    time = _with_between(motion.time[_looked_at(motion.time)])
    found = [time]
    peaks = {
        (place.qd.start, rate)
        for brake in motion.actions.brakes
        if (place := motion.mechanism.tree.joint_of_pair.get(brake.joint)) is not None
        for rate in brake.law.peak_rates
    }
    if peaks:
        dense = motion.resample(time)
        found += [_passing_times(dense, column, rate) for column, rate in sorted(peaks)]
    return np.asarray(np.sort(np.concatenate(found)))


def passed_over(motion: Trajectory) -> tuple[str, ...]:
    """Return the note about samples at which no loads are evaluated, if there are any."""
    chosen, count = _looked_at(motion.time), len(motion.time)
    if len(chosen) == count:
        return ()
    return (
        f"the largest loads are those of {len(chosen)} among {count} samples of a motion with many events;"
        " between them there may be larger ones",
    )


def _looked_at(time: Array) -> AnyArray:
    """Return the indices (k,) of the samples to evaluate; ``time`` (T,) are the times of all samples, s."""
    count = len(time)
    if count <= _ALL:
        return np.arange(count)
    twice = np.diff(time) == 0
    events = np.flatnonzero(np.append(twice, False) | np.insert(twice, 0, False))
    even = np.unique(np.linspace(0, count - 1, _ALL).round().astype(int))
    return np.union1d(even, events) if len(events) <= _ALL else even


def _with_between(time: Array) -> Array:
    """Return the times of all samples, ``time`` (T,), and of instants between them, (k,), s.

    The fewer intervals there are, the more instants each gets, whatever its length.
    """
    starts, lengths = time[:-1], np.diff(time)
    starts, lengths = starts[lengths > 0], lengths[lengths > 0]
    count = min(max(_BETWEEN // max(len(starts), 1), int(len(starts) < _ENOUGH)), _MOST)
    between = starts[:, None] + lengths[:, None] * (np.arange(1, count + 1) / (count + 1))
    return np.asarray(np.sort(np.concatenate((time, between.ravel()))))


def _passing_times(dense: Trajectory, column: int, rate: float) -> Array:
    """Return the times (k,), s, at which the magnitude of a joint rate crosses ``rate`` (rad/s or m/s)."""

    def beyond(time: float) -> float:
        return float(abs(dense.resample([time]).qd[0, column]) - rate)

    past = np.abs(dense.qd[:, column]) > rate
    starts = np.flatnonzero((past[:-1] != past[1:]) & (np.diff(dense.time) > 0))
    found = []
    for low, high in (dense.time[k : k + 2].tolist() for k in starts.tolist()):
        passed = beyond(low) * beyond(high) < 0
        found.append(bracketed_zero(beyond, low, high, near=2e-12) if passed else low)
    return np.array(found)


# The results of a stop: of each joint, of the tool, and of the whole robot.


def slipped_back(back: Array, travels: Array) -> AnyArray:
    """Return the stops (...) in which a joint slips back; ``back`` and ``travels`` (..., n) in rad and m."""
    return np.asarray((back > np.maximum(_BACK, _SHARE * np.abs(travels))).any(axis=-1))


@one_line_repr
@dataclass(frozen=True)
class JointStop:
    """The stop of one joint; coordinates in rad or m, times in s from the signal.

    Parameters
    ----------
    start, end : float
        Coordinate at the signal and at the end.
    rate : float
        Rate at the signal, rad/s or m/s.
    reaction_time, braking_time : float
        Time until its brake engages (until its ramp begins, in categories 1 and 2), and from then until rest.
    reaction_travel, braking_travel : float
        Change of the coordinate in these times.
    back : float
        Distance slipped back from its turning point, not negative.
    brake_energy : float
        Energy dissipated by its brake, J.
    """

    name: str
    unit: str
    start: float
    end: float
    rate: float
    reaction_time: float
    braking_time: float
    reaction_travel: float
    braking_travel: float
    back: float
    brake_energy: float
    stopped: bool

    @property
    def time(self) -> float:
        """Time from the signal to rest, s."""
        return self.reaction_time + self.braking_time

    @property
    def travel(self) -> float:
        """Travel from the signal to rest, rad or m."""
        return self.reaction_travel + self.braking_travel


@one_line_repr
@dataclass(frozen=True, eq=False)
class ToolStop:
    """The stop of a tool point; world axes, m and m/s.

    Parameters
    ----------
    path : (n, 3) array
        Positions along the motion.
    speed : float
        Speed at the signal.
    reaction_distance, braking_distance : float
        Length of the path before and after the first brake engages or drive decelerates.
    """

    body: str
    path: Array
    speed: float
    reaction_distance: float
    braking_distance: float

    @property
    def distance(self) -> float:
        """Length of the path from the signal to rest, m."""
        return self.reaction_distance + self.braking_distance

    @property
    def displacement(self) -> float:
        """Straight distance between the positions at the signal and at rest, m."""
        return float(np.linalg.norm(self.path[-1] - self.path[0]))


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweptVolume:
    """The swept volume: boxes in world axes, m.

    Parameters
    ----------
    bodies : dict of str to (2, 3) array
        Lowest and highest corner of the box that each body sweeps.
    lower, upper : (3,) array
        Lowest and highest corner for all bodies together.
    left_out : tuple of str
        Bodies whose boxes may be too small, since no shape is stated, or one is a plane or an unreadable mesh. Their
        joints and centres of mass, and other shapes, are included.
    """

    bodies: dict[str, Array]
    lower: Array
    upper: Array
    left_out: tuple[str, ...]


@one_line_repr
@dataclass(frozen=True)
class Energies:
    """The balance of a stop, J: kinetic + potential + driven + applied = brakes + losses + residual.

    Parameters
    ----------
    kinetic, potential : float
        Energy released between the signal and the end.
    driven, applied : float
        Work of drives, and of loads.
    brakes, losses : float
        Energy dissipated by brakes, and by damping and friction.
    residual : float
        Residual of the balance: the error of the computation.
    """

    kinetic: float
    potential: float
    driven: float
    applied: float
    brakes: float
    losses: float
    residual: float

    @property
    def labelled(self) -> tuple[tuple[str, float], ...]:
        """The parts with their labels in reports, J; zero parts are omitted."""
        parts = (
            ("kinetic energy released", self.kinetic),
            ("potential energy released", self.potential),
            ("work of drives", self.driven),
            ("work of loads", self.applied),
            ("dissipated by brakes", self.brakes),
            ("dissipated by damping and friction", self.losses),
            ("residual", self.residual),
        )
        return tuple((words, value) for words, value in parts if value)


@one_line_repr
@dataclass(frozen=True, eq=False)
class InstantStop:
    """The usual simplification: every rate set to zero when its brake engages.

    Parameters
    ----------
    q : (nq,) array
        Final pose of the joints.
    time : float
        Time to rest, s.
    distance, displacement : float
        Of the tool, along its path and straight, m.
    tool_error : float
        Distance between the tool's final positions here and in the computed stop, m.
    energy_ignored : float
        Kinetic energy that vanishes without being dissipated, J.
    """

    q: Array
    time: float
    distance: float
    displacement: float
    tool_error: float
    energy_ignored: float


@one_line_repr
@dataclass(frozen=True)
class Impact:
    """The impact of a joint on its end stop, without rebound.

    Parameters
    ----------
    joint : str
        Name of the rate, which includes the freedom if the joint has more than one.
    freedom : str
        rx to tz.
    rate : float
        Rate before the impact, rad/s or m/s.
    impulse : float
        Impulse on the joint, N·m·s or N·s.
    energy : float
        Kinetic energy lost, J.
    """

    joint: str
    freedom: str
    rate: float
    impulse: float
    energy: float


def moves(motion: Trajectory) -> bool:
    """Return True if any rate of a motion is more than rounding."""
    return bool(np.abs(motion.qd).max(initial=0.0) > _STILL)


@dataclass(frozen=True, eq=False)
class StopSummary:
    """Result of a stop; joint values are in the order of the brakes.

    Parameters
    ----------
    time : float
        Time from the signal to rest, s.
    times, travels, reaction_travels, back : (n,) array
        Of each joint: time to rest, travel, travel before braking, and distance slipped back; s from the signal,
        rad or m.
    tool_distance : float
        Length of the tool's path from the signal to rest, m.
    tool_displacement : float
        Straight distance between the tool's positions at the signal and at rest, m.
    """

    outcome: StopOutcome
    time: float
    times: Array
    travels: Array
    reaction_travels: Array
    back: Array
    tool_distance: float
    tool_displacement: float
    evaluations: int


@dataclass(frozen=True, eq=False)
class StopReport(Result):
    """The result of a stop.

    Parameters
    ----------
    outcome : "stopped", "limit_hit", "not_stopped", "slipped_back", "budget_spent" or "loop_opened"
    scenario : Scenario
    trajectory : Trajectory
        From the signal on.
    time, reaction_time : float
        Time until rest (or the end), and until the first brake engages or drive decelerates, s.
    joints : tuple of JointStop
        Those with a brake.
    tool : ToolStop
    corridor : SweptVolume
    energies : Energies
    naive : InstantStop
    impact : Impact or None
        If the outcome is ``limit_hit``.
    slowing : tuple of str
        Joint rates that only slow down, because nothing but damping brakes them.
    """

    outcome: StopOutcome
    scenario: Scenario
    trajectory: Trajectory
    time: float
    reaction_time: float
    joints: tuple[JointStop, ...]
    tool: ToolStop
    corridor: SweptVolume
    energies: Energies
    naive: InstantStop
    impact: Impact | None = None
    notes: tuple[str, ...] = field(default=())
    slowing: tuple[str, ...] = ()

    def __repr__(self) -> str:
        facts = (f"category {self.scenario.category}", self.outcome, f"after {self.time:.6g} s")
        return one_line(
            self, self.scenario.mech.name, (*facts, *(("assumed values",) if self.assumed else ()))
        )

    @property
    def verdict(self) -> str:
        """The outcome and its time, in words."""
        if self.outcome == "not_stopped" and self.slowing:
            return f"never at rest ({listed(self.slowing)} only slow{'s' * (len(self.slowing) == 1)} down)"
        return f"{OUTCOME_WORDS[self.outcome]} after {self.time:.4g} s"

    @property
    def braking_time(self) -> float:
        """Time from the engagement of the first brake to the end, s."""
        return self.time - self.reaction_time

    @property
    def moves(self) -> bool:
        """Whether anything moves from the signal on: at once, or until the brakes grip."""
        return moves(self.trajectory)

    @property
    def falls(self) -> bool:
        """Whether the robot is in free fall at the end, because nothing holds its base."""
        mech, motion = self.scenario.mech, self.trajectory
        pull = float(np.linalg.norm(mech.gravity))
        if self.outcome == "stopped" or not pull or not motion.time[-1]:
            return False
        rates = [motion.qd[-1, joint.qd][:3] for joint in mech.tree.joints if joint.pair is None]
        return any(float(v @ mech.gravity) > 0.5 * pull**2 * motion.time[-1] for v in rates)

    @property
    def events(self) -> tuple[Event, ...]:
        """The events: brakes engage, joints stick, slip and lock; with impulses if rates jump."""
        return self.trajectory.events

    @property
    def assumed(self) -> tuple[str, ...]:
        """Assumed values that were not stated, one sentence each."""
        return self.scenario.assumed

    @cached_property
    def peaks(self) -> tuple[PeakWrench, ...]:
        """The largest forces and moments of every joint, the base first."""

        return peak_wrenches(self)

    def joint(self, name: str) -> JointStop:
        """Return the stop of one joint.

        Raises
        ------
        UnknownName
            The report has no joint of that name.
        """
        from mbplugin.errors import UnknownName, suggestion

        for one in self.joints:
            if one.name == name:
                return one
        raise UnknownName(
            f"no braked joint is called {name!r}", remedy=suggestion(name, [j.name for j in self.joints])
        )
