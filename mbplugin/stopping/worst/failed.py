"""The worst stops again, with one brake that fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mbplugin.model.brake_law import BrakeLaw
from mbplugin.model.brakes import JointBrake
from mbplugin.stopping.compiled.batch import StopSummary
from mbplugin.stopping.outcome.outcome import StopOutcome
from mbplugin.stopping.worst.search import StopComputer
from mbplugin.stopping.worst.space import StopSpace, StopStart
from mbplugin.stopping.worst.values import FailedBrake, Failure

#: Outcomes, the most harmless first.
_SEVERITY: tuple[StopOutcome, ...] = (
    "stopped",
    "slipped_back",
    "limit_hit",
    "not_stopped",
    "budget_spent",
    "loop_opened",
)


def failed_brakes(
    computer: StopComputer, starts: Sequence[tuple[StopSpace, StopStart]], failures: Sequence[Failure]
) -> Iterator[FailedBrake]:
    """Yield the worst of the found stops with each brake failing in each way."""
    nominal = computer.scenario.brakes
    for failure in failures:
        for n, brake in enumerate(nominal):
            stops: list[StopSummary] = []
            for space, start in starts:
                own = list(start.brakes(nominal))
                own[n] = _with_failure(own[n], failure)
                stops.append(computer.stop_with(tuple(own), space, start))
            rested = [stop for stop in stops if stop.outcome in ("stopped", "slipped_back")]
            yield FailedBrake(
                brake.joint,
                failure,
                max((stop.outcome for stop in stops), key=_SEVERITY.index),
                max((stop.time for stop in rested), default=0.0),
                max((stop.tool_distance for stop in rested), default=0.0),
            )


def _with_failure(brake: JointBrake, failure: Failure) -> JointBrake:
    if failure.kind == "dead":
        return replace(brake, law=BrakeLaw())
    if failure.kind == "worn":
        return replace(brake, law=brake.law.scaled(failure.amount))
    return replace(brake, engagement=brake.engagement + failure.amount)
