"""What distances take from stops: the stopping time, the way of the tool, and its speed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import parse_json, read_bounded
from mbplugin.phrases import listed, one_line_repr
from mbplugin.stopping.scenario.effort_limits import NO_EFFORT_LIMITS, EffortLimits
from mbplugin.stopping.scenario.tool_choice import NO_TOOL, ToolChoice

if TYPE_CHECKING:
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.stopping.table.values import StoppingTable
    from mbplugin.stopping.worst.values import WorstStops

#: Of what distances are computed: a stop, a table, worst stops, the path of the JSON of one, or its figures.
StopLike: TypeAlias = "StopReport | StoppingTable | WorstStops | StopFigures | str | Path"
#: The commands whose documents have stops.
StopDocument: TypeAlias = Literal["estop", "stop-table", "worst-stop"]
#: The meaning of the time of a stop, in both standards.
STOPPING = "stopping time, from the stop signal to rest"
_EXPECTED = "the JSON document of estop, stop-table or worst-stop"
_REMEDY = "write one by mbplugin estop FILE --output-format json --output stop.json"


@one_line_repr
@dataclass(frozen=True)
class StopFigures:
    """The figures of one stop, or the largest ones of several.

    Parameters
    ----------
    model : str
    time : float
        From the signal until all joints rest, s.
    travel : float
        Way of the tool along its path, from the signal to rest, m.
    speed : float or None
        Of the tool at the signal, m/s; None for several stops.
    slowest, farthest : str
        Of which stop time and travel are, in words.
    unrested : tuple of str
        The stops that do not end at rest, with their outcomes.
    assumed : tuple of str
        What the stops assume, one sentence each.
    of_effort : EffortLimits
        The joints whose brake or deceleration is not stated.
    tool_choice : ToolChoice
        Of which point travel and speed are, and whether somebody stated it.
    file, sha256 : str
        The document that was read; empty for values.
    row_speed : float
        Of the tool at the signal, m/s, the largest of the rows of a table, whose axis moves alone; 0 without rows.
    """

    model: str
    time: float
    travel: float
    speed: float | None
    slowest: str
    farthest: str
    unrested: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    of_effort: EffortLimits = NO_EFFORT_LIMITS
    tool_choice: ToolChoice = NO_TOOL
    file: str = ""
    sha256: str = ""
    row_speed: float = 0.0

    @property
    def known_speed(self) -> float:
        """Of the tool at the signal, as far as the stops tell: that of the one stop, or the largest of rows, m/s."""
        return self.row_speed if self.speed is None else self.speed


def figures_of(stop: StopLike) -> StopFigures:
    """Return the figures of a stop, a table, worst stops, or the JSON document of one.

    Raises
    ------
    UnreadableFile, BadUsage
        No document of stops, or something else.
    """
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.stopping.table.values import StoppingTable
    from mbplugin.stopping.worst.values import WorstStops

    if isinstance(stop, StopFigures):
        return stop
    if isinstance(stop, (str, Path)):
        return figures_of_document(read_bounded(Path(stop)), str(stop))
    if isinstance(stop, WorstStops):
        found = [_of_worst(vars(one), stop.model, stop.category) for one in stop.found]
        several = _of_several(stop.model, found, stop.assumptions, stop.of_effort)
        return replace(several, tool_choice=stop.tool_choice)
    if isinstance(stop, StoppingTable):
        rows = [_of_row(row, stop.model) for row in stop.rows]
        worst = stop.worst
        rows += [_of_worst(vars(one), stop.model, worst.category) for one in worst.found] if worst else []
        also = worst.only_here(stop.assumptions) if worst else ()
        several = _of_several(stop.model, rows, (*stop.assumptions, *also), stop.of_effort)
        return replace(several, tool_choice=stop.tool_choice)
    if isinstance(stop, StopReport):
        scenario = stop.scenario
        values = (stop.time, stop.tool.distance, stop.tool.speed)
        name = scenario.mech.name
        one = _of_stop(name, scenario.category, stop.outcome, values, scenario.assumed, scenario.of_effort)
        return replace(one, tool_choice=scenario.tool_choice)
    raise BadUsage(
        f"{stop!r} is no stop", expected="a StopReport, a StoppingTable, WorstStops, or a path of their JSON"
    )


def figures_of_document(
    data: bytes, name: str, violation: Callable[[Any, StopDocument], str] | None = None
) -> StopFigures:
    """Return the figures of a JSON document of ``estop``, ``stop-table`` or ``worst-stop``.

    Parameters
    ----------
    data : bytes
    name : str
    violation : callable, optional
        Returns the first place at which a document is not what the schema of its command says; empty for none.

    Raises
    ------
    UnreadableFile
    """
    try:
        document = parse_json(data)
        if violation and violation(document, _kind_of(document)):
            raise _without_stops(name)
        found, choice = _of_document(document), _tool_choice(document)
    except ValueError:
        raise UnreadableFile("this is no JSON", where=name, expected=_EXPECTED, remedy=_REMEDY) from None
    except (KeyError, TypeError, AttributeError):
        raise _without_stops(name) from None
    return replace(found, tool_choice=choice, file=name, sha256=hashlib.sha256(data).hexdigest())


def _without_stops(name: str) -> UnreadableFile:
    return UnreadableFile(
        "this document has no stopping times", where=name, expected=_EXPECTED, remedy=_REMEDY
    )


def require_rest(figures: StopFigures) -> StopFigures:
    """Return figures all stops of which begin in motion and end at rest.

    Raises
    ------
    BadUsage
        Nothing moves; or names the stops that do not.
    """
    if figures.time == 0.0 and figures.travel == 0.0:
        raise BadUsage(
            f"there is no distance for a stop of {figures.model!r} that begins at rest",
            where=figures.file,
            expected="a stop of a robot that moves",
            remedy="state its rates with --qd, or compute a stop-table",
        )
    if figures.unrested:
        raise BadUsage(
            f"there is no distance for a stop that does not end at rest: {listed(figures.unrested, 3)}",
            where=figures.file,
            expected="the outcome stopped",
        )
    return figures


def _kind_of(document: Any) -> StopDocument:
    """Return which command's document of stops this is."""
    return "stop-table" if "rows" in document else "worst-stop" if "found" in document else "estop"


def _of_document(document: Any) -> StopFigures:
    model = str(document["model"]["name"])
    of_effort = _of_effort(document.get("of_effort", {}))
    if "rows" in document or "found" in document:
        searched = document if "found" in document else document.get("worst") or {}
        stops = [_of_row(row, model) for row in document.get("rows", ())]
        # of a table without a word of it they are of category 0
        category = int(searched.get("category", 0))
        stops += [_of_worst(found, model, category) for found in searched.get("found", ())]
        assumed = dict.fromkeys([*document["assumptions"], *searched.get("assumptions", ())])
        return _of_several(model, stops, tuple(assumed), of_effort)
    tool = document["tool"]
    values = (document["time"], tool["distance"], tool["speed"])
    return _of_stop(model, document["category"], document["outcome"], values, document["assumed"], of_effort)


def _of_effort(document: Any) -> EffortLimits:
    return EffortLimits(*(tuple(map(str, document.get(key, ()))) for key in EffortLimits._fields))


def _tool_choice(document: Any) -> ToolChoice:
    """Return the tool of a document; one of an earlier release does not say whether it was named."""
    found = document.get("tool_choice")
    if found is None:
        tool = document["tool"]
        body = str(tool if isinstance(tool, str) else tool["body"])
        return ToolChoice(body, reason="the document does not say whether it was")
    x, y, z = (float(value) for value in found["point"])
    return ToolChoice(str(found["body"]), (x, y, z), str(found["reason"]), tuple(map(str, found["still_on"])))


def _of_stop(
    model: str,
    category: Any,
    outcome: Any,
    values: tuple[Any, Any, Any],
    assumed: Any,
    of_effort: EffortLimits,
) -> StopFigures:
    time, travel, speed = (_number(value) for value in values)
    name = f"stop of category {int(category)} of {model}"
    unrested = () if outcome == "stopped" else (f"{name} ({str(outcome).replace('_', ' ')})",)
    return StopFigures(model, time, travel, speed, name, name, unrested, tuple(map(str, assumed)), of_effort)


class _Figure(NamedTuple):
    """One of several stops."""

    name: str
    time: float
    travel: float
    outcome: str
    speed: float = 0.0


def _of_several(
    model: str, stops: Sequence[_Figure], assumptions: Any, of_effort: EffortLimits
) -> StopFigures:
    """Return the largest figures of several stops."""
    if not stops:
        raise TypeError
    slowest, farthest = max(stops, key=lambda stop: stop.time), max(stops, key=lambda stop: stop.travel)
    unrested = tuple(
        f"{stop.name} ({stop.outcome.replace('_', ' ')})" for stop in stops if stop.outcome != "stopped"
    )
    said = tuple(map(str, assumptions))
    fastest = max(stop.speed for stop in stops)
    return StopFigures(
        model,
        slowest.time,
        farthest.travel,
        None,
        slowest.name,
        farthest.name,
        unrested,
        said,
        of_effort,
        row_speed=fastest,
    )


def _of_row(row: Mapping[str, Any], model: str) -> _Figure:
    shares = (f"{row[key]} % {what}" for key, what in _SHARES)
    name = f"stop of category {row['category']} of {model}, {row['joint']}, {', '.join(shares)}"
    # the other joints stand: the tool turns about the axis, or slides with it; a document may have fewer columns
    arm = 1.0 if row.get("unit") == "m" else _number(row.get("extension", 0.0))
    values = (_number(row["rest_time"]), _number(row["tool_distance"]), str(row["outcome"]))
    return _Figure(name, *values, arm * _number(row.get("speed", 0.0)))


def _of_worst(found: Mapping[str, Any], model: str, category: int) -> _Figure:
    measure = str(found["measure"]).replace("_", " ")
    name = f"worst stop of category {category} of {model}, {found['axis'] or 'all axes'}, by its {measure}"
    return _Figure(name, _number(found["time"]), _number(found["tool_distance"]), str(found["outcome"]))


_SHARES = (("speed_percent", "speed"), ("extension_percent", "extension"), ("payload_percent", "payload"))


def _number(value: Any) -> float:
    """Return a finite number that is not negative.

    Raises
    ------
    TypeError
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (isfinite(value) and value >= 0):
        raise TypeError
    return float(value)
