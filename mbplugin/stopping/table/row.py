"""One row of a stopping table: its inputs and results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.stopping.compiled.batch import StopSummary
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.table.extension import ExtensionPose

#: A joint that is not the axis and moves farther than this is named, rad or m.
_MOVES = 1e-9


class RowCase(NamedTuple):
    """The stop of a row.

    Parameters
    ----------
    category, number : int
        Stop category, and number of the axis, from 1.
    axis : str
    shares : (int, int, int)
        Of speed, extension and payload, percent.
    pose : ExtensionPose
    speed : float
        Of the axis, rad/s or m/s, not negative.
    deceleration : float or None
        Of the axis in category 1, rad/s² or m/s².
    """

    category: int
    number: int
    axis: str
    shares: tuple[int, int, int]
    pose: ExtensionPose
    speed: float
    deceleration: float | None


def row_values(case: RowCase, stop: StopSummary, scenario: Scenario, payload: float) -> dict[str, object]:
    """Return a row as :class:`~mbplugin.stopping.table.values.StoppingTable` has it, without its command.

    Parameters
    ----------
    payload : float
        Mass that is carried, kg.
    """
    n = [brake.joint for brake in scenario.brakes].index(case.axis)
    brake, time = scenario.brakes[n], float(stop.times[n])
    reaction = brake.engagement_time if case.category == 0 else brake.delay
    _require_numbers(case, stop, n, payload, _unit(brake.freedom))
    return {
        "category": case.category,
        "axis": case.number,
        "joint": case.axis,
        "unit": _unit(brake.freedom),
        "speed_percent": case.shares[0],
        "extension_percent": case.shares[1],
        "payload_percent": case.shares[2],
        "speed": case.speed,
        "sense": int(case.pose.sense),
        "extension": case.pose.extension,
        "payload": payload,
        "deceleration": case.deceleration,
        "time": time,
        "distance": abs(float(stop.travels[n])),
        "reaction_time": min(reaction, time),
        "reaction_distance": abs(float(stop.reaction_travels[n])),
        "rest_time": stop.time,
        "tool_distance": stop.tool_distance,
        "tool_displacement": stop.tool_displacement,
        "outcome": stop.outcome,
        "slips": _slips(case.axis, stop, scenario),
        "q": dict(zip(scenario.mech.q_names, case.pose.q.tolist(), strict=True)),
    }


def _require_numbers(case: RowCase, stop: StopSummary, n: int, payload: float, unit: str) -> None:
    """Refuse a stop whose motion went beyond what numbers can say.

    Raises
    ------
    BadNumber
        With the speed and the payload of the row.
    """
    found = (stop.time, stop.times[n], stop.travels[n], stop.tool_distance, stop.tool_displacement)
    if not np.isfinite(found).all():
        raise BadNumber(
            f"the stop of {case.axis!r} at {case.speed:g} {unit}/s with {payload:g} kg cannot be computed: "
            "its numbers grow beyond all limits",
            expected="speeds, masses and payloads of a machine",
        )


def _slips(axis: str, stop: StopSummary, scenario: Scenario) -> list[dict[str, object]]:
    """Return which other joints move, how far (rad or m, signed) and until when (s)."""
    return [
        {
            "joint": brake.joint,
            "unit": _unit(brake.freedom),
            "travel": float(stop.travels[n]),
            "time": float(stop.times[n]),
        }
        for n, brake in enumerate(scenario.brakes)
        if brake.joint != axis and abs(stop.travels[n]) > _MOVES
    ]


def _unit(freedom: str) -> str:
    return "m" if freedom[0] == "t" else "rad"
