"""The result of a stop: outcome, times, distances, loads and energies, as values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from mbplugin.model.brake_law import rate_force
from mbplugin.model.enumerations import PAIR_ROLES, PairRole
from mbplugin.model.mechanism.mechanism import WORLD
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import listed, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.simulation.passing_marks import Event, bracketed_zero
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.scenario.scenario import Scenario

#: Instants looked at besides the samples of the motion: about so many, and in each interval at most.
_BETWEEN, _MOST = 240, 24
#: With at least this many intervals, only samples are evaluated.
_ENOUGH = 2000
#: Of so many samples some are passed over: what the joints carry takes about half a millisecond per instant.
_ALL = 4000
#: The share by which interpolated loads may exceed what a brake carries.
_EXCESS = 1e-4
StopOutcome = Literal["stopped", "limit_hit", "not_stopped", "slipped_back", "budget_spent", "loop_opened"]
OUTCOMES: tuple[StopOutcome, ...] = get_args(StopOutcome)
#: How a stop ends, in words.
OUTCOME_WORDS = {
    "stopped": "stopped",
    "limit_hit": "ran into a joint limit",
    "not_stopped": "not stopped",
    "loop_opened": "a loop opened",
    "slipped_back": "slipped back",
    "budget_spent": "still moving when the budget was spent",
}
#: A joint has slipped back when it has come back this far (rad, m), and by this share of its travel.
_BACK, _SHARE = 1e-3, 0.05


# The largest forces and moments that a stop puts on joints, flange and base.


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
    shared : bool
        Whether ``brake`` is more than it can carry: it is one way to share what several brakes hold together, which
        rigid bodies leave open.
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
    """Whether the brake of a joint carries more than it can, as one of several on a freedom.

    Raises
    ------
    RuntimeError
        It is the only one: its joint would have slipped, and a break-away has been missed.
    """
    law = next((brake.law for brake in motion.actions.brakes if brake.joint == pair.name), None)
    place = motion.mechanism.tree.joint_of_pair.get(pair.name)
    friction = pair.freedoms[0]
    if law is None or place is None or friction.load_friction:
        return False
    # what a brake holds includes the dry friction of its joint
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
    """Return the lengths (T,) of vectors (T, 3)."""
    return np.asarray(np.sqrt((vectors**2).sum(axis=1)))


def _largest(time: Array, sizes: Array) -> PeakLoad:
    """Return the largest of some sizes (T,), N or N·m, and its time, of ``time`` (T,), s."""
    k = int(sizes.argmax())
    return PeakLoad(float(sizes[k]), float(time[k]))


# The instants at which a stop is searched for its largest loads.


def peak_instants(motion: Trajectory) -> Array:
    """Return the samples' times, some between, and those at which a brake's law is strongest, (k,), s.

    Of more than 4000 samples that is every n-th, with those at events where these are no more than that.
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
    """Return the sentence about samples at which no loads are looked at, where there are some."""
    chosen, count = _looked_at(motion.time), len(motion.time)
    if len(chosen) == count:
        return ()
    return (
        f"the largest loads are those of {len(chosen)} among {count} samples of a motion with many events;"
        " between them there may be larger ones",
    )


def _looked_at(time: Array) -> AnyArray:
    """Return which samples (k,) of a motion are looked at; ``time`` (T,) are theirs, s."""
    count = len(time)
    if count <= _ALL:
        return np.arange(count)
    twice = np.diff(time) == 0
    events = np.flatnonzero(np.append(twice, False) | np.insert(twice, 0, False))
    even = np.unique(np.linspace(0, count - 1, _ALL).round().astype(int))
    return np.union1d(even, events) if len(events) <= _ALL else even


def _with_between(time: Array) -> Array:
    """Return all samples' times and some between, (k,), s; ``time`` (T,) are those of the samples.

    There are more between where there are few intervals, however short.
    """
    starts, lengths = time[:-1], np.diff(time)
    starts, lengths = starts[lengths > 0], lengths[lengths > 0]
    count = min(max(_BETWEEN // max(len(starts), 1), int(len(starts) < _ENOUGH)), _MOST)
    between = starts[:, None] + lengths[:, None] * (np.arange(1, count + 1) / (count + 1))
    return np.asarray(np.sort(np.concatenate((time, between.ravel()))))


def _passing_times(dense: Trajectory, column: int, rate: float) -> Array:
    """Return when the size of a joint rate passes a value (rad/s or m/s), (k,), s."""

    def beyond(time: float) -> float:
        return float(abs(dense.resample([time]).qd[0, column]) - rate)

    past = np.abs(dense.qd[:, column]) > rate
    starts = np.flatnonzero((past[:-1] != past[1:]) & (np.diff(dense.time) > 0))
    found = []
    for low, high in (dense.time[k : k + 2].tolist() for k in starts.tolist()):
        passed = beyond(low) * beyond(high) < 0
        found.append(bracketed_zero(beyond, low, high, near=2e-12) if passed else low)
    return np.array(found)


# The outcomes of a stop: declared once, for the computation and the schemas.


def slipped_back(back: Array, travels: Array) -> bool:
    """Whether a joint has slipped back; ``back`` (n,) and ``travels`` (n,) are those of all joints, rad and m."""
    return bool((back > np.maximum(_BACK, _SHARE * np.abs(travels))).any())


@one_line_repr
@dataclass(frozen=True)
class JointStop:
    """How one joint stops; angles rad (or m), times s from the signal.

    Parameters
    ----------
    start, end : float
        Coordinate at the signal and at the end.
    rate : float
        At the signal, per second.
    reaction_time, braking_time : float
        Until its brake grips (it is led to rest, in categories 1 and 2), and from there until it rests.
    reaction_travel, braking_travel : float
        Change of the coordinate in these times.
    back : float
        How far it has come back from where it turned, not negative.
    brake_energy : float
        Taken up by its brake, J.
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
        """From the signal to rest, s."""
        return self.reaction_time + self.braking_time

    @property
    def travel(self) -> float:
        """From the signal to rest, rad or m."""
        return self.reaction_travel + self.braking_travel


@one_line_repr
@dataclass(frozen=True, eq=False)
class ToolStop:
    """How a point of the tool stops, world axes, m and m/s.

    Parameters
    ----------
    path : (n, 3) array
        Along the motion.
    speed : float
        At the signal.
    reaction_distance, braking_distance : float
        Length of the path before and after the brakes grip.
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
        """Straight, between the places at the signal and at rest, m."""
        return float(np.linalg.norm(self.path[-1] - self.path[0]))


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweptVolume:
    """The room that is swept: boxes in world axes, m.

    Parameters
    ----------
    bodies : dict of str to (2, 3) array
        Lowest and highest corner of what each body sweeps.
    lower, upper : (3,) array
        Of all moving bodies.
    left_out : tuple of str
        Bodies of which not everything was followed besides joints and centres of mass, since no shape
        is stated, or one is a plane or a mesh that cannot be read.
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
        Released between the signal and the end.
    driven, applied : float
        Work of drives, and of loads.
    brakes, losses : float
        Dissipated by brakes, and by damping and friction.
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
        """The labels of a report and the values, J; zero parts are omitted."""
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
        Where the joints would stand.
    time : float
        To rest, s.
    distance, displacement : float
        Of the tool, along its path and straight, m.
    tool_error : float
        Distance between the tool's places in both answers, m.
    energy_ignored : float
        Kinetic energy that vanishes without anything taking it up, J.
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
    """A joint that runs into its end stop, caught there without rebound.

    Parameters
    ----------
    joint : str
        The rate: that of a joint with more than one freedom has the name of the freedom too.
    freedom : str
        rx to tz.
    rate : float
        Before, rad/s or m/s.
    impulse : float
        On the joint, N·m·s or N·s.
    energy : float
        Kinetic energy lost, J.
    """

    joint: str
    freedom: str
    rate: float
    impulse: float
    energy: float


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
        Until rest (or the end), and until the first brake engages or drive decelerates, s.
    joints : tuple of JointStop
        Those with a brake.
    tool : ToolStop
    corridor : Corridor
    energies : Energies
    naive : Naive
    impact : Impact or None
        If the outcome is ``limit_hit``.
    slowing : tuple of str
        Joint rates that only slow down, as nothing but damping brakes them.
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
        """How the stop ends, and when."""
        if self.outcome == "not_stopped" and self.slowing:
            return f"never at rest ({listed(self.slowing)} only slow{'s' * (len(self.slowing) == 1)} down)"
        return f"{OUTCOME_WORDS[self.outcome]} after {self.time:.4g} s"

    @property
    def braking_time(self) -> float:
        """Time from the engagement of the first brake to the end, s."""
        return self.time - self.reaction_time

    @property
    def falls(self) -> bool:
        """Whether the robot falls freely at the end, as nothing holds its base: such a stop has no distance."""
        mech, motion = self.scenario.mech, self.trajectory
        pull = float(np.linalg.norm(mech.gravity))
        if self.outcome != "not_stopped" or not pull:
            return False
        rates = [motion.qd[-1, joint.qd][:3] for joint in mech.tree.joints if joint.pair is None]
        return any(float(v @ mech.gravity) > 0.5 * pull**2 * motion.time[-1] for v in rates)

    @property
    def events(self) -> tuple[Event, ...]:
        """Brakes that engage, joints that stick, slip and lock, with impulses if rates jump."""
        return self.trajectory.events

    @property
    def assumed(self) -> tuple[str, ...]:
        """Values that were not stated, one sentence each."""
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
            No joint of the report.
        """
        from mbplugin.errors import UnknownName, suggestion

        for one in self.joints:
            if one.name == name:
                return one
        raise UnknownName(
            f"no braked joint is called {name!r}", remedy=suggestion(name, [j.name for j in self.joints])
        )
