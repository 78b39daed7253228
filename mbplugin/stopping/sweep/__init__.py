"""``sweep``, its result with all data for reports, and the largest joint loads over its stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from typing_extensions import Unpack

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.joint_reactions.envelope import LargestLoads, reactions_at
from mbplugin.joint_reactions.flexible import StiffnessLike
from mbplugin.joint_reactions.sizing import Envelope
from mbplugin.model import Array, Backend, JointValues, LoadLike, StopLimits, mechanism_of, warn_of
from mbplugin.phrases import counted, one_line
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.motions import MOST_INSTANTS
from mbplugin.readers.standing import standing
from mbplugin.rendering import Result
from mbplugin.simulation.options import MAX_SECONDS
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping import ToleranceBound
from mbplugin.stopping.run import PayloadValue, StopArguments, make_scenario, run_stop
from mbplugin.stopping.scenario.start import read_recording, recorded_coordinates
from mbplugin.stopping.sweep.plan import (
    FAST_PART,
    PART,
    SweepPlan,
    computed_in_one_process,
    connected,
    joblib_with,
)
from mbplugin.stopping.sweep.run import SweepReport, sweep as run_plan


@checked
def largest_loads(
    plan: SweepPlan,
    *,
    stops: Iterable[int] | None = None,
    instants: int | None = None,
    stiffness: StiffnessLike = (),
    progress: Callable[[int], None] | None = None,
) -> Envelope:
    """Compute the largest force and moment of every joint over the stops of a sweep.

    Each stop is computed again from its number, with the brakes, the payload and the state that it draws, and the
    reactions at its instants are those of :func:`mbplugin.joint_reactions.run.reactions`. Brakes and drives are the
    forces that the joints with a brake need for the motion.

    Parameters
    ----------
    plan : SweepPlan
    stops : iterable of int, optional
        Numbers of the stops, from 0; by default all of the plan.
    instants : int, optional
        Number of samples of each stop, evenly among those from the signal to rest, to which both sides of every jump
        of the acceleration are added; by default all samples.
    stiffness : as for :func:`mbplugin.joint_reactions.run.reactions`
        None is estimated.
    progress : callable, optional
        Called with 1 after each stop.

    Returns
    -------
    Envelope
        Loads in N and N·m, times in s from the signal of the stop that is named beside them.

    Raises
    ------
    BadNumber
        ``instants`` is impossible, or the plan has no stop with one of the numbers.
    BadUsage
        No stop is requested, or at some instant the reactions cannot be computed; the message has the stop and the
        time.
    """
    if instants is not None and not 1 <= instants <= MOST_INSTANTS:
        raise BadNumber(f"instants is {instants}", expected=f"1 to {MOST_INSTANTS}")
    numbers = range(plan.count) if stops is None else tuple(dict.fromkeys(stops))
    if wrong := [k for k in numbers if not 0 <= k < plan.count]:
        raise BadNumber(f"the sweep has no stop {wrong[0]}", expected=f"0 to {plan.count - 1}")
    if not numbers:
        raise BadUsage("no stop of the sweep is requested", expected="at least one")
    scenario, largest = plan.scenario, LargestLoads()
    times: list[Array] = []
    hits = 0
    for k in numbers:
        q, qd, brakes, payloads = plan.draw(k)
        motion = run_stop(scenario.from_state(q, qd, brakes, payloads))
        hits += motion.outcome == "limit_hit"
        given: dict[str, Any] = {
            "loads": scenario.actions.loads,
            "payload": payloads,
            "stiffness": stiffness,
            "hold": tuple(dict.fromkeys(brake.joint for brake in brakes)),
            "tolerance": scenario.tolerance,
        }
        taken = _taken(motion, instants)
        for i in taken:
            time = float(motion.time[i])
            state = motion.q[i], motion.qd[i], motion.qdd[i]
            largest.add(reactions_at(scenario.mech, state, f"{time:.6g} s of stop {k}", given), time, k)
        times.append(motion.time[taken])
        if progress is not None:
            progress(1)
    notes = []
    if hits:
        notes.append(
            f"{counted(hits, 'stop')} reach an end stop: the loads of the impact are not among these"
        )
    return largest.envelope(np.concatenate(times), f"sweep with seed {plan.seed}", len(numbers), notes)


def _taken(motion: Trajectory, instants: int | None) -> list[int]:
    """Return the places of the samples of a motion that count: some, and both sides of each jump of the acceleration.

    A brake that grips is often the largest load, and lasts for one sample.
    """
    count = len(motion.time)
    if instants is None:
        return list(range(count))
    even = np.round(np.linspace(0, count - 1, min(instants, count))).astype(int)
    jumps = np.flatnonzero(np.diff(motion.time) == 0)
    return sorted({*even.tolist(), *jumps.tolist(), *(jumps + 1).tolist()})


# ``sweep``: many stops of a robot with random states, brakes and payloads.


@checked
def sweep(
    mech: ModelSource,
    folder: str | Path,
    count: int = 1000,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    seed: int = 0,
    trajectory: str | Path | None = None,
    q_spread: float = 0.0,
    speed_range: tuple[float, float] = (1.0, 1.0),
    category: int = 0,
    torque_tolerance: float = 0.0,
    delay_tolerance: float = 0.0,
    payload: PayloadValue = None,
    payload_range: tuple[float, float] = (1.0, 1.0),
    loads: Iterable[LoadLike] = (),
    limits: StopLimits = "stop",
    duration: float = 10.0,
    max_seconds: float = MAX_SECONDS,
    backend: Backend = "loky",
    jobs: int = -1,
    address: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **common: Unpack[StopArguments],
) -> Swept:
    """Compute many random stops; each depends only on the seed and its number, on whatever machine it is computed.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    folder : path
        For the part files; the same sweep in the folder is continued.
    count : int
        Number of stops.
    q, qd : mapping or vector, optional
        Centre of the states at the signal, rad and m; values that are not named are the scene's.
    trajectory : path, optional
        A motion, ``.csv`` or ``.npz``, from whose samples the states are drawn instead.
    q_spread : float
        Largest variation of the coordinates in either direction, rad and m.
    speed_range, payload_range : (float, float)
        Range of the factor on the rates, and on the mass and inertia of the payload.
    torque_tolerance, delay_tolerance : float
        Of the brakes, relative, in both directions, independent for each joint.
    category, payload, loads, limits, duration, max_seconds
        As for ``estop``.
    backend : "loky", "dask" or "ray"
        This machine's cores, or a cluster at ``address``.
    jobs : int
        Number of processes, or of threads where these are enough; −1 for all cores.
    progress : callable, optional
        Called with the number of stops done, and of all stops.
    **common : StopArguments
        As for ``estop``.

    Returns
    -------
    Swept
        Its ``report`` has quantiles, worst cases and the table of all stops.

    Raises
    ------
    BadUsage, BadNumber
        An argument is invalid.
    MissingDependency
        joblib, pyarrow or the backend is not installed.
    """
    joblib_with(backend)
    plan = sweep_plan(
        mech,
        count,
        q,
        qd,
        seed=seed,
        trajectory=trajectory,
        q_spread=q_spread,
        speed_range=speed_range,
        category=category,
        torque_tolerance=torque_tolerance,
        delay_tolerance=delay_tolerance,
        payload=payload,
        payload_range=payload_range,
        loads=loads,
        limits=limits,
        duration=duration,
        max_seconds=max_seconds,
        **common,
    )
    with connected(backend, address, jobs):
        report = run_plan(plan, folder, jobs=jobs, backend=backend, progress=progress)
    return Swept(report, plan, str(folder))


def sweep_plan(
    mech: ModelSource,
    count: int,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    seed: int = 0,
    trajectory: str | Path | None = None,
    q_spread: float = 0.0,
    speed_range: tuple[float, float] = (1.0, 1.0),
    category: int = 0,
    torque_tolerance: float = 0.0,
    delay_tolerance: float = 0.0,
    payload: PayloadValue = None,
    payload_range: tuple[float, float] = (1.0, 1.0),
    loads: Iterable[LoadLike] = (),
    limits: str = "stop",
    duration: float = 10.0,
    max_seconds: float = MAX_SECONDS,
    **common: Unpack[StopArguments],
) -> SweepPlan:
    """Return the plan of a sweep; arguments as for :func:`sweep`."""
    mech = model_of(mech)
    stated = () if trajectory is None else (recorded_coordinates(Path(trajectory), mechanism_of(mech)),)
    mech = standing(mech, q, qd, *stated)
    states, rates, names = None, None, tuple[str, ...]()
    if trajectory is not None:
        own = mechanism_of(mech)
        recorded = read_recording(Path(trajectory), own.q_names, own.qd_names)
        rates = np.abs(recorded.states(own, np.zeros(len(own.q_names)))[:, len(own.q_names) :]).max(axis=0)
    scenario = make_scenario(
        mech,
        q,
        qd,
        category=category,
        payload=payload,
        loads=loads,
        massless_at_rest=True,
        other_rates=rates,
        **common,
    )
    warn_of(scenario.warnings)
    if trajectory is not None:
        states, names = recorded.states(scenario.mech, scenario.q), tuple(sorted(recorded.q))
    return SweepPlan(
        replace(scenario, limits=limits, duration=duration, max_seconds=max_seconds),
        count,
        seed,
        states,
        q_spread,
        speed_range,
        torque_tolerance,
        delay_tolerance,
        payload_range,
        part=FAST_PART if computed_in_one_process(scenario) else PART,
        recorded=names,
    )


@dataclass(frozen=True, eq=False)
class Swept(Result):
    """The result of a sweep: its plan, its report (s, m, rad), and its folder.

    Parameters
    ----------
    report : SweepReport
    plan : SweepPlan
    folder : str
        Folder of the part files.
    bounds : mapping of str to ToleranceBound
        By quantity; empty if none were requested.
    """

    report: SweepReport
    plan: SweepPlan
    folder: str
    bounds: Mapping[str, ToleranceBound] = field(default_factory=dict)

    def __repr__(self) -> str:
        outcomes = (f"{number} {name}" for name, number in self.report.outcomes.items())
        facts = (counted(self.report.count, "stop"), *outcomes, f"seed {self.plan.seed}")
        return one_line(self, self.plan.scenario.mech.name, facts)

    def envelope(
        self,
        *,
        stops: Iterable[int] | None = None,
        instants: int | None = None,
        stiffness: StiffnessLike = (),
        progress: Callable[[int], None] | None = None,
    ) -> Envelope:
        """Compute the largest force and moment of every joint over these stops, each of which is computed again.

        Parameters
        ----------
        stops, instants, stiffness, progress
            As for :func:`mbplugin.stopping.sweep.largest_loads`.

        Returns
        -------
        Envelope
            Loads in N and N·m, times in s from the signal of the stop that is named beside them.

        Raises
        ------
        BadUsage, BadNumber
            An argument is invalid, or the reactions at some instant cannot be computed.
        """
        return largest_loads(
            self.plan, stops=stops, instants=instants, stiffness=stiffness, progress=progress
        )
