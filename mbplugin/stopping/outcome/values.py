"""The result of a stop: outcome, times, distances, loads and energies, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.simulation.events.event import Event
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome.outcome import StopOutcome
from mbplugin.stopping.scenario.scenario import Scenario

if TYPE_CHECKING:
    from mbplugin.stopping.outcome.peaks import PeakWrench


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

    def __repr__(self) -> str:
        facts = (f"category {self.scenario.category}", self.outcome, f"after {self.time:.6g} s")
        return one_line(
            self, self.scenario.mech.name, (*facts, *(("assumed values",) if self.assumed else ()))
        )

    @property
    def braking_time(self) -> float:
        """Time from the engagement of the first brake to the end, s."""
        return self.time - self.reaction_time

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
        from mbplugin.stopping.outcome.peaks import peak_wrenches

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
