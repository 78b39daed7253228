"""The largest forces and moments of every joint over the stops of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.joint_reactions.envelope import LargestLoads, reactions_at
from mbplugin.joint_reactions.flexible import StiffnessLike
from mbplugin.joint_reactions.sizing import Envelope
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted
from mbplugin.readers.motions import MOST_INSTANTS
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.sweep.plan import SweepPlan


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
