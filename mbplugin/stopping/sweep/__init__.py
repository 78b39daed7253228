"""``sweep``, and its result with all data for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from typing_extensions import Unpack

from mbplugin.arguments import checked
from mbplugin.joint_reactions.flexible import StiffnessLike
from mbplugin.joint_reactions.sizing import Envelope
from mbplugin.model.brakes import warn_of
from mbplugin.model.enumerations import Backend, StopLimits
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.scene import LoadLike, mechanism_of
from mbplugin.phrases import counted, one_line
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.readers.standing import standing
from mbplugin.rendering import Result
from mbplugin.simulation.options import MAX_SECONDS
from mbplugin.stopping.order_statistics import ToleranceBound
from mbplugin.stopping.run import PayloadValue, StopArguments, make_scenario
from mbplugin.stopping.scenario.start import read_recording, recorded_coordinates
from mbplugin.stopping.sweep.loads import largest_loads
from mbplugin.stopping.sweep.plan import SweepPlan, connected, joblib_with
from mbplugin.stopping.sweep.run import SweepReport
from mbplugin.stopping.sweep.run import sweep as run_plan

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
    """Compute many stops; each depends only on the seed and its number, on whatever machine it is computed.

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
        Number of processes; −1 for all cores.
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
    scenario = make_scenario(
        standing(mech, q, qd, *stated),
        q,
        qd,
        category=category,
        payload=payload,
        loads=loads,
        **common,
    )
    warn_of(scenario.warnings)
    states, names = None, tuple[str, ...]()
    if trajectory is not None:
        recorded = read_recording(Path(trajectory), scenario.mech.q_names, scenario.mech.qd_names)
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
            As for :func:`mbplugin.stopping.sweep.loads.largest_loads`.

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
