"""``protective_distance``: the protective separation distance S_p of a robot, ISO/TS 15066:2016."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber
from mbplugin.stopping.zones.distance import Distance
from mbplugin.stopping.zones.figures import STOPPING, StopFigures, StopLike, figures_of, require_rest
from mbplugin.stopping.zones.term import Quantity, Term, given_terms, term

STANDARD = "ISO/TS 15066:2016, 5.5.4 (since 2025 in ISO 10218-2)"
FORMULA = "S_p = S_h + S_r + S_s + C + Z_d + Z_r"
#: What only the user knows, in the order of the formula.
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
_NOTES = (
    "computed, not measured",
    "speeds are constant and straight at each other; S_s and v_r are those of the tool's point: where an"
    " elbow, a gripper or a payload goes farther, use the zone that the stop sweeps",
    "v_h and C depend on the person and the sensor, and are requirements of the standard that are not"
    " checked here",
)


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
) -> Distance:
    """Compute the protective separation distance S_p = S_h + S_r + S_s + C + Z_d + Z_r.

    S_h = v_h (T_r + T_s), S_r = v_r T_r; T_s and S_s are those of the stop.

    Parameters
    ----------
    stop : StopReport, StoppingTable, path of the JSON document of one, or StopFigures
        The longest time and the longest way of a table count, each from its own row.
    v_h : float
        Speed of the person, m/s. No term has a default but v_r.
    T_r : float
        From the intrusion to the stop signal, s.
    C, Z_d, Z_r : float
        m.
    v_r : float, optional
        Speed of the robot, m/s; of a single stop by default that of the tool at the signal, and never below it.

    Raises
    ------
    BadUsage
        A term is missing, or a stop does not come to rest.
    BadNumber
        A term that cannot be, or a speed of the robot below that at which its stops begin.
    UnreadableFile
        No JSON document of stops.
    """
    values = {"v_h": v_h, "T_r": T_r, "C": C, "Z_d": Z_d, "Z_r": Z_r, "v_r": v_r}
    return protective_of(figures_of(stop), values)


def protective_of(figures: StopFigures, values: Mapping[str, float | None]) -> Distance:
    """Return the distance S_p of the figures of a stop, with the given terms by symbol.

    Raises
    ------
    BadUsage, BadNumber, UnknownName
        As for :func:`protective_distance`, and a symbol that the formula does not have.
    """
    require_rest(figures)
    computed = values.get("v_r") is None and figures.speed is not None
    given = given_terms(STANDARD, GIVEN if computed else (*GIVEN, _V_R), values)
    speed = _computed_speed(figures) if computed else _no_slower(given["v_r"], figures)
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
    """Return a given speed of the robot, which is not below that of the tool at the signal."""
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


def _computed_speed(figures: StopFigures) -> Term:
    return term(_V_R, figures.speed or 0.0, "stop", f"tool at the signal, {figures.slowest}")
