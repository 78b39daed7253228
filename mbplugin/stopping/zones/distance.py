"""Separation distances: the formula of a standard with all its terms."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage, UnknownName, UnreadableFile, suggestion
from mbplugin.files import parse_json, read_bounded
from mbplugin.phrases import listed, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.stopping.scenario import NO_EFFORT_LIMITS, NO_TOOL, EffortLimits, ToolChoice
from mbplugin.stopping.table import StoppingTable, at_most

if TYPE_CHECKING:
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.worst_search import WorstStops

#: Sources of distances: a stop, a table, worst stops, the path of the JSON of one of these, or its figures.
StopLike: TypeAlias = "StopReport | StoppingTable | WorstStops | StopFigures | str | Path"
#: Commands whose documents contain stops.
StopDocument: TypeAlias = Literal["estop", "stop-table", "worst-stop"]
#: The meaning of the time of a stop, in both standards.
STOPPING = "stopping time, from the stop signal to rest"
_EXPECTED = "the JSON document of estop, stop-table or worst-stop"
_REMEDY = "write one by mbplugin estop FILE --output-format json --output stop.json"
_SHARES = (("speed_percent", "speed"), ("extension_percent", "extension"), ("payload_percent", "payload"))
#: Appended to the name of a stop whose upper bound is used.
_UPPER = ", upper bound"
TermOrigin = Literal["given", "stop", "formula"]
TermUnit = Literal["m", "s", "m/s"]
#: Larger values are probably in another unit (mm for m, ms for s).
_LARGEST: dict[TermUnit, float] = {"m": 10.0, "s": 10.0, "m/s": 10.0}
STANDARD = "ISO/TS 15066:2016, 5.5.4 (since 2025 in ISO 10218-2)"
FORMULA = "S_p = S_h + S_r + S_s + C + Z_d + Z_r"
_NOTES = (
    "computed, not measured",
    "speeds are constant and straight at each other; S_s and v_r are those of the tool's point: where an"
    " elbow, a gripper or a payload goes farther, use the zone that the stop sweeps",
    "v_h and C depend on the person and the sensor, and are requirements of the standard that are not"
    " checked here",
)
SEPARATION_STANDARD = "ISO 13855:2024"
SEPARATION_FORMULA = "S = K·T + D_DS + Z"
_SEPARATION_NOTES = (
    "computed, not measured: the standard asks for measured stopping times",
    "S is measured from the hazard zone, whose boundary moves with the robot: to the zone that the stop"
    " sweeps, not to where the robot was at the signal",
    "smallest distances, reaching over, under and around, and the values of K are requirements of the"
    " standard that are not checked here",
)


# The figures of stops on which distances depend: the stopping time, the tool path, and the tool speed.


@one_line_repr
@dataclass(frozen=True)
class StopFigures:
    """The figures of one stop, or the largest figures of several stops.

    Parameters
    ----------
    model : str
    time : float
        Time from the signal until all joints are at rest, s.
    travel : float
        Length of the tool path from the signal to rest, m.
    speed : float or None
        Speed of the tool at the signal, m/s; None for several stops.
    slowest, farthest : str
        The stops to which time and travel belong, in words.
    unrested : tuple of str
        The stops that do not end at rest, with their outcomes.
    assumed : tuple of str
        Assumptions of the stops, one sentence each.
    of_effort : EffortLimits
        Joints whose brake or deceleration is not stated.
    tool_choice : ToolChoice
        The point to which travel and speed refer, and why it was chosen.
    file, sha256 : str
        The document that was read; empty for values.
    unbounded : tuple of str
        Why calibrated stops have no upper bound, and what measured stops do not determine, one sentence each.
    row_speed : float
        Largest speed of the tool at the signal in the rows of a table, whose axes move alone, m/s; 0 without rows.
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
    unbounded: tuple[str, ...] = ()
    row_speed: float = 0.0

    @property
    def known_speed(self) -> float:
        """Speed of the tool at the signal as far as known, m/s: that of the single stop, or the largest of the rows."""
        return self.row_speed if self.speed is None else self.speed


def figures_of(stop: StopLike, category: int | None = None) -> StopFigures:
    """Return the figures of a stop, a table, worst stops, or the JSON document of one of these.

    Parameters
    ----------
    stop : StopLike
    category : 0, 1 or 2, optional
        Category of the stops to use; required if a table has several.

    Raises
    ------
    UnreadableFile, BadUsage
        The argument is not a document or value with stops, or it has several categories.
    """
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.worst_search import WorstStops

    if isinstance(stop, StopFigures):
        return stop
    if isinstance(stop, (str, Path)):
        return figures_of_document(read_bounded(Path(stop)), str(stop), category=category)
    if isinstance(stop, WorstStops):
        found = [_of_worst(vars(one), stop.model, stop.category) for one in stop.found]
        several = _of_several(stop.model, _of_category(found, category), stop.assumptions, stop.of_effort)
        return replace(several, tool_choice=stop.tool_choice)
    if isinstance(stop, StoppingTable):
        rows = [_of_row(row, stop.model) for row in stop.rows]
        rows += [_of_worst(vars(one), stop.model, w.category) for w in stop.searched for one in w.found]
        assumed = [*stop.assumptions, *(said for worst in stop.searched for said in worst.assumptions)]
        assumed += filter(None, [stop.bound_sentence])
        several = _of_several(
            stop.model, _of_category(rows, category), tuple(dict.fromkeys(assumed)), stop.of_effort
        )
        return replace(several, tool_choice=stop.tool_choice, unbounded=stop.unbounded)
    if isinstance(stop, StopReport):
        scenario = stop.scenario
        values = (stop.time, stop.tool.distance, stop.tool.speed)
        name = scenario.mech.name
        _require_category({scenario.category}, category)
        one = _of_stop(name, scenario.category, stop.outcome, values, scenario.assumed, scenario.of_effort)
        return replace(one, tool_choice=scenario.tool_choice)
    raise BadUsage(
        f"{stop!r} is not a stop",
        expected="a StopReport, a StoppingTable, WorstStops, or a path of their JSON",
    )


def figures_of_document(
    data: bytes,
    name: str,
    violation: Callable[[Any, StopDocument], str] | None = None,
    category: int | None = None,
) -> StopFigures:
    """Return the figures of a JSON document of ``estop``, ``stop-table`` or ``worst-stop``.

    Parameters
    ----------
    data : bytes
    name : str
    violation : callable, optional
        Returns the first location at which a document violates the schema of its command; empty if there is none.
    category : 0, 1 or 2, optional
        As for :func:`figures_of`.

    Raises
    ------
    UnreadableFile, BadUsage
    """
    try:
        document = parse_json(data)
        if violation and violation(document, _kind_of(document)):
            raise _without_stops(name)
        found, choice = _of_document(document, category), _tool_choice(document)
    except ValueError:
        raise UnreadableFile("this is not JSON", where=name, expected=_EXPECTED, remedy=_REMEDY) from None
    except (KeyError, TypeError, AttributeError):
        raise _without_stops(name) from None
    return replace(found, tool_choice=choice, file=name, sha256=hashlib.sha256(data).hexdigest())


def _without_stops(name: str) -> UnreadableFile:
    return UnreadableFile(
        "this document has no stopping times", where=name, expected=_EXPECTED, remedy=_REMEDY
    )


def require_rest(figures: StopFigures) -> StopFigures:
    """Require that all stops begin in motion and end at rest; return the figures.

    Raises
    ------
    BadUsage
        Nothing moves, or stops do not end at rest; the message names them.
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
    """Return the command that wrote a document of stops."""
    return "stop-table" if "rows" in document else "worst-stop" if "found" in document else "estop"


def _of_document(document: Any, category: int | None) -> StopFigures:
    model = str(document["model"]["name"])
    of_effort = _of_effort(document.get("of_effort", {}))
    if "rows" in document or "found" in document:
        in_table = (document.get("worst"), *document.get("more_worst", ()))
        searches = [document] if "found" in document else [worst for worst in in_table if worst]
        stops = [_of_row(row, model) for row in document.get("rows", ())]
        # worst stops in a table of an earlier release are of category 0
        stops += [_of_worst(one, model, int(w.get("category", 0))) for w in searches for one in w["found"]]
        assumed = [*document["assumptions"], *(said for worst in searches for said in worst["assumptions"])]
        assumed += filter(None, [document.get("bound_sentence")])
        several = _of_several(model, _of_category(stops, category), tuple(dict.fromkeys(assumed)), of_effort)
        return replace(several, unbounded=tuple(map(str, document.get("unbounded", ()))))
    _require_category({int(document["category"])}, category)
    tool = document["tool"]
    values = (document["time"], tool["distance"], tool["speed"])
    return _of_stop(model, document["category"], document["outcome"], values, document["assumed"], of_effort)


def _of_effort(document: Any) -> EffortLimits:
    named = {key: tuple(map(str, document.get(key, ()))) for key in EffortLimits._fields if key != "holding"}
    return EffortLimits(**named, holding=bool(document.get("holding", False)))


def _tool_choice(document: Any) -> ToolChoice:
    """Return the tool of a document; documents of earlier releases do not state whether it was named."""
    found = document.get("tool_choice")
    if found is None:
        tool = document["tool"]
        body = str(tool if isinstance(tool, str) else tool["body"])
        return ToolChoice(body, reason="of which the document does not say whether it was given")
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
    """The figures of one of several stops."""

    category: int
    name: str
    time: float
    travel: float
    outcome: str
    speed: float = 0.0
    time_is_bound: bool = False
    travel_is_bound: bool = False


def _of_category(stops: Sequence[_Figure], category: int | None) -> list[_Figure]:
    """Return the stops of a category; without one, all stops must have the same category."""
    _require_category({stop.category for stop in stops}, category)
    return [stop for stop in stops if category is None or stop.category == category]


def _require_category(there: Collection[int], category: int | None) -> None:
    """Raise an error if no category is given for stops of several, or if the given one has no stops."""
    shown = " and ".join(map(str, sorted(there)))
    if category is None and len(there) > 1:
        raise BadUsage(
            f"the stops have the categories {shown}, but a distance needs one category",
            expected="the category of the stop triggered by the safeguard",
            remedy=f"pass --category {max(there)} (category={max(there)})",
        )
    if category is not None and there and category not in there:
        raise BadUsage(f"there is no stop of category {category}", expected=f"category {shown}")


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
        slowest.name + _UPPER * slowest.time_is_bound,
        farthest.name + _UPPER * farthest.travel_is_bound,
        unrested,
        said,
        of_effort,
        row_speed=fastest,
    )


def _of_row(row: Mapping[str, Any], model: str) -> _Figure:
    shares = (f"{row[key]} % {what}" for key, what in _SHARES)
    name = f"stop of category {row['category']} of {model}, {row['joint']}, {', '.join(shares)}"
    # the other joints are at rest, so the tool turns about the axis or slides with it; a document may lack columns
    arm = 1.0 if row.get("unit") == "m" else _number(row.get("extension", 0.0))
    time, travel = (_number(at_most(row, key)) for key in ("rest_time", "tool_distance"))
    bounded = [row.get(f"{key}_bound") is not None for key in ("rest_time", "tool_distance")]
    speed = arm * _number(row.get("speed", 0.0))
    return _Figure(int(row["category"]), name, time, travel, str(row["outcome"]), speed, *bounded)


def _of_worst(found: Mapping[str, Any], model: str, category: int) -> _Figure:
    measure = str(found["measure"]).replace("_", " ")
    name = f"worst stop of category {category} of {model}, {found['axis'] or 'all axes'}, by its {measure}"
    time, travel = (_number(at_most(found, key)) for key in ("time", "tool_distance"))
    bounded = [found.get(f"{key}_bound") is not None for key in ("time", "tool_distance")]
    return _Figure(category, name, time, travel, str(found["outcome"]), 0.0, *bounded)


def _number(value: Any) -> float:
    """Return a finite number that is not negative as a float.

    Raises
    ------
    TypeError
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (isfinite(value) and value >= 0):
        raise TypeError
    return float(value)


# Terms of a distance: quantity, value, and source of the value.


@dataclass(frozen=True)
class Quantity:
    """A quantity of a formula: its symbol in the standard, its meaning and its unit."""

    symbol: str
    meaning: str
    unit: TermUnit


@one_line_repr
@dataclass(frozen=True)
class Term:
    """A quantity with its value.

    Parameters
    ----------
    symbol, meaning : str
        As in the standard.
    value : float
    unit : "m", "s" or "m/s"
    origin : "given", "stop" or "formula"
        Given by the user, taken from a computed stop, or computed from other terms.
    source : str
        The stop or the formula, in words.
    """

    symbol: str
    meaning: str
    value: float
    unit: TermUnit
    origin: TermOrigin
    source: str


def term(quantity: Quantity, value: float, origin: TermOrigin, source: str) -> Term:
    """Return the term of a quantity with a value."""
    return Term(quantity.symbol, quantity.meaning, float(value), quantity.unit, origin, source)


def given_terms(
    standard: str, required: tuple[Quantity, ...], given: Mapping[str, float | None]
) -> dict[str, Term]:
    """Return the terms that only the user knows, by symbol.

    Raises
    ------
    BadUsage
        Terms are missing; the message names all of them.
    UnknownName
        A symbol is not a term of the standard's formula that can be stated.
    BadNumber
        A value is negative, not finite, or so large that it must be in another unit.
    """
    stated = {symbol: value for symbol, value in given.items() if value is not None}
    symbols = [quantity.symbol for quantity in required]
    for symbol in stated:
        if symbol not in symbols:
            raise UnknownName(
                f"{symbol!r} is not a term of {standard} that is given", remedy=suggestion(symbol, symbols)
            )
    missing = [quantity for quantity in required if quantity.symbol not in stated]
    if missing:
        names = ", ".join(f"{q.symbol} ({q.meaning}, {q.unit})" for q in missing)
        raise BadUsage(
            f"the distance needs {names}",
            where=standard,
            expected="a value for each, because no program can know it",
            remedy=f"state {','.join(f'{q.symbol}=VALUE' for q in missing)}",
        )
    return {q.symbol: _given(q, float(stated[q.symbol])) for q in required}


def _given(quantity: Quantity, value: float) -> Term:
    most = _LARGEST[quantity.unit]
    if not (isfinite(value) and 0 <= value <= most):
        raise BadNumber(
            f"{quantity.symbol} ({quantity.meaning}) is {value:g} {quantity.unit}",
            expected=f"0 to {most:g} {quantity.unit}",
            remedy=_smaller(quantity, value),
        )
    return term(quantity, value, "given", "given")


def _smaller(quantity: Quantity, value: float) -> str:
    """Return a remedy that states the number in a smaller unit, if that is plausible."""
    unit, most = {"m": "mm", "s": "ms", "m/s": "mm/s"}[quantity.unit], _LARGEST[quantity.unit]
    return f"write {quantity.symbol}={value:g}{unit} if that is meant" if most < value <= 1e3 * most else ""


# ``protective_distance``: the protective separation distance S_p of a robot, ISO/TS 15066:2016.


#: Quantities that only the user knows, in the order of the formula.
GIVEN = (
    Quantity("v_h", "speed of the person towards the robot", "m/s"),
    Quantity("T_r", "reaction time of the robot system, until the stop signal", "s"),
    Quantity("C", "intrusion distance, before the person is detected", "m"),
    Quantity("Z_d", "uncertainty of the position of the person", "m"),
    Quantity("Z_r", "uncertainty of the position of the robot", "m"),
)
_V_R = Quantity("v_r", "speed of the robot towards the person", "m/s")
_T_S = Quantity("T_s", STOPPING, "s")
_S_H = Quantity("S_h", "way of the person until the robot rests", "m")
_S_R = Quantity("S_r", "way of the robot during its reaction time", "m")
_S_S = Quantity("S_s", "way of the tool during the stop, along its path", "m")
_S_P = Quantity("S_p", "protective separation distance", "m")


@checked
def protective_distance(
    stop: StopLike,
    *,
    v_h: float | None = None,
    T_r: float | None = None,
    C: float | None = None,
    Z_d: float | None = None,
    Z_r: float | None = None,
    v_r: float | None = None,
    category: int | None = None,
) -> Distance:
    """Compute the protective separation distance S_p = S_h + S_r + S_s + C + Z_d + Z_r.

    S_h = v_h (T_r + T_s), S_r = v_r T_r; T_s and S_s are taken from the stop.

    Parameters
    ----------
    stop : StopReport, StoppingTable, path of the JSON document of one, or StopFigures
        For a table, the longest time and the longest tool path are used, which may be of different rows.
    v_h : float
        Speed of the person, m/s. No term except v_r has a default.
    T_r : float
        Time from the intrusion to the stop signal, s.
    C, Z_d, Z_r : float
        Intrusion distance, and uncertainties of the positions of person and robot, m.
    v_r : float, optional
        Speed of the robot, m/s, not below that of the tool at the signal, which is the default for a single stop.
    category : 0, 1 or 2, optional
        Category of the stops to use; required if a table has several.

    Raises
    ------
    BadUsage
        A term is missing, or a stop does not come to rest.
    BadNumber
        A term is out of range, or the speed of the robot is below that at which its stops begin.
    UnreadableFile
        The file is not a JSON document of stops.
    """
    values = {"v_h": v_h, "T_r": T_r, "C": C, "Z_d": Z_d, "Z_r": Z_r, "v_r": v_r}
    return protective_of(figures_of(stop, category), values)


def protective_of(figures: StopFigures, values: Mapping[str, float | None]) -> Distance:
    """Return the distance S_p from the figures of a stop and the given terms by symbol.

    Raises
    ------
    BadUsage, BadNumber, UnknownName
        As for :func:`protective_distance`, or the formula does not have a symbol.
    """
    require_rest(figures)
    computed = values.get("v_r") is None and figures.speed is not None
    given = given_terms(STANDARD, GIVEN if computed else (*GIVEN, _V_R), values)
    if computed:
        speed = term(_V_R, figures.speed or 0.0, "stop", f"tool at the signal, {figures.slowest}")
    else:
        speed = _no_slower(given["v_r"], figures)
    v, T_r_value = given["v_h"], given["T_r"].value
    T_s = term(_T_S, figures.time, "stop", figures.slowest)
    parts = (
        term(_S_H, v.value * (T_r_value + T_s.value), "formula", "v_h·(T_r + T_s)"),
        term(_S_R, speed.value * T_r_value, "formula", "v_r·T_r"),
        term(_S_S, figures.travel, "stop", figures.farthest),
        *(given[symbol] for symbol in ("C", "Z_d", "Z_r")),
    )
    value = sum(part.value for part in parts)
    total = term(_S_P, value, "formula", FORMULA.partition(" = ")[2])
    terms = (v, given["T_r"], T_s, speed, *parts, total)
    return Distance("S_p", value, STANDARD, FORMULA, terms, figures, _NOTES)


def _no_slower(speed: Term, figures: StopFigures) -> Term:
    """Return the given speed of the robot; raise an error if it is below that of the tool at the signal."""
    known = figures.known_speed
    if speed.value < known * (1.0 - 1e-9):
        remedy = f"compute the stop from {speed.value:g} m/s"
        raise BadNumber(
            f"v_r ({_V_R.meaning}) is {speed.value:g} m/s, and the tool moves at {known:.6g} m/s when the stop begins",
            where=figures.file,
            expected=f"{ceil(1e4 * known) / 1e4:g} m/s or more",
            remedy=remedy if figures.speed is None else f"leave v_r out, or {remedy}",
        )
    return speed


# ``separation_distance``: the distance S of a safeguard from the hazard zone, ISO 13855:2024.


#: Quantities that only the user knows, in the order of the formula.
SEPARATION_GIVEN = (
    Quantity("K", "approach speed of the person or part of the body", "m/s"),
    Quantity("t1", "response time of detection and control, until the stop signal", "s"),
    Quantity("D_DS", "reach distance that the protective device leaves", "m"),
    Quantity("Z", "supplementary distance", "m"),
)
_T2 = Quantity("t2", STOPPING, "s")
_T = Quantity("T", "overall system response time", "s")
_KT = Quantity("K·T", "approach during the response time", "m")
_S = Quantity("S", "separation distance", "m")


@checked
def separation_distance(
    stop: StopLike,
    *,
    K: float | None = None,
    t1: float | None = None,
    D_DS: float | None = None,
    Z: float | None = None,
    category: int | None = None,
) -> Distance:
    """Compute the separation distance S = K·T + D_DS + Z with T = t1 + t2; t2 is taken from the stop.

    Parameters
    ----------
    stop : StopReport, StoppingTable, path of the JSON document of one, or StopFigures
        For a table, the slowest stop is used.
    K : float
        Approach speed, m/s. No term has a default.
    t1 : float
        Time from the intrusion to the stop signal, s: detection, evaluation, communication.
    D_DS : float
        Reach distance of the protective device, m.
    Z : float
        Supplementary distance, m.
    category : 0, 1 or 2, optional
        Category of the stops to use; required if a table has several.

    Raises
    ------
    BadUsage
        A term is missing, or a stop does not come to rest.
    BadNumber
        A term is out of range.
    UnreadableFile
        The file is not a JSON document of stops.
    """
    return separation_of(figures_of(stop, category), {"K": K, "t1": t1, "D_DS": D_DS, "Z": Z})


def separation_of(figures: StopFigures, values: Mapping[str, float | None]) -> Distance:
    """Return the distance S from the figures of a stop and the given terms by symbol.

    Raises
    ------
    BadUsage, BadNumber, UnknownName
        As for :func:`separation_distance`, or the formula does not have a symbol.
    """
    require_rest(figures)
    given = given_terms(SEPARATION_STANDARD, SEPARATION_GIVEN, values)
    t2 = term(_T2, figures.time, "stop", figures.slowest)
    T = term(_T, given["t1"].value + t2.value, "formula", "t1 + t2")
    approach = term(_KT, given["K"].value * T.value, "formula", "K·T")
    value = approach.value + given["D_DS"].value + given["Z"].value
    terms = (given["K"], given["t1"], t2, T, approach, given["D_DS"], given["Z"])
    total = term(_S, value, "formula", "K·T + D_DS + Z")
    return Distance(
        "S", value, SEPARATION_STANDARD, SEPARATION_FORMULA, (*terms, total), figures, _SEPARATION_NOTES
    )


@dataclass(frozen=True, eq=False)
class Distance(Result):
    """A separation distance, from a computed stop, not a measured one.

    Parameters
    ----------
    symbol : str
        S or S_p.
    value : float
        m.
    standard : str
        The standard with its edition.
    formula : str
    terms : tuple of Term
        In the order of the formula; the distance itself is the last one.
    stop : StopFigures
        Source of the stopping time and travel.
    notes : tuple of str
        Limitations of the distance, one sentence each.
    """

    symbol: str
    value: float
    standard: str
    formula: str
    terms: tuple[Term, ...]
    stop: StopFigures
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return one_line(self, self.stop.model, (f"{self.symbol} = {self.value:.4g} m", self.standard))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to show above the terms, if the stop has assumptions or lacks bounds."""
        own = (*self.stop.of_effort.warnings, *self.stop.unbounded, self.tool_choice.warning)
        return tuple(filter(None, own))

    @property
    def tool_choice(self) -> ToolChoice:
        """The tool whose path is a term; no tool if only the stopping time is used."""
        return self.stop.tool_choice if any(term.symbol == "S_s" for term in self.terms) else NO_TOOL

    def term(self, symbol: str) -> Term:
        """Return a term by its symbol."""
        return next(term for term in self.terms if term.symbol == symbol)
