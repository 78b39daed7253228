"""``separation_distance``: the distance S of a safeguard from the hazard zone, ISO 13855:2024."""

from __future__ import annotations

from collections.abc import Mapping

from mbplugin.arguments import checked
from mbplugin.stopping.zones.distance import Distance
from mbplugin.stopping.zones.figures import STOPPING, StopFigures, StopLike, figures_of, require_rest
from mbplugin.stopping.zones.term import Quantity, given_terms, term

STANDARD = "ISO 13855:2024"
FORMULA = "S = K·T + D_DS + Z"
#: What only the user knows, in the order of the formula.
GIVEN = (
    Quantity("K", "approach speed of the person or part of the body", "m/s"),
    Quantity("t1", "response time of detection and control, until the stop signal", "s"),
    Quantity("D_DS", "reach distance that the protective device leaves", "m"),
    Quantity("Z", "supplementary distance", "m"),
)
_T2 = Quantity("t2", STOPPING, "s")
_T = Quantity("T", "overall system response time", "s")
_KT = Quantity("K·T", "approach during the response time", "m")
_S = Quantity("S", "separation distance", "m")
_NOTES = (
    "computed, not measured: the standard asks for measured stopping times",
    "S is measured from the hazard zone, whose boundary moves with the robot: to the zone that the stop"
    " sweeps, not to where the robot was at the signal",
    "smallest distances, reaching over, under and around, and the values of K are requirements of the"
    " standard that are not checked here",
)


@checked
def separation_distance(
    stop: StopLike,
    *,
    K: float | None = None,
    t1: float | None = None,
    D_DS: float | None = None,
    Z: float | None = None,
) -> Distance:
    """Compute the separation distance S = K·T + D_DS + Z with T = t1 + t2; t2 is that of the stop.

    Parameters
    ----------
    stop : StopReport, StoppingTable, path of the JSON document of one, or StopFigures
        The slowest stop of a table counts.
    K : float
        Approach speed, m/s. No term has a default.
    t1 : float
        From the intrusion to the stop signal, s: detection, evaluation, communication.
    D_DS : float
        Reach distance of the protective device, m.
    Z : float
        Supplementary distance, m.

    Raises
    ------
    BadUsage
        A term is missing, or a stop does not come to rest.
    BadNumber
        A term that cannot be.
    UnreadableFile
        No JSON document of stops.
    """
    return separation_of(figures_of(stop), {"K": K, "t1": t1, "D_DS": D_DS, "Z": Z})


def separation_of(figures: StopFigures, values: Mapping[str, float | None]) -> Distance:
    """Return the distance S of the figures of a stop, with the given terms by symbol.

    Raises
    ------
    BadUsage, BadNumber, UnknownName
        As for :func:`separation_distance`, and a symbol that the formula does not have.
    """
    require_rest(figures)
    given = given_terms(STANDARD, GIVEN, values)
    t2 = term(_T2, figures.time, "stop", figures.slowest)
    T = term(_T, given["t1"].value + t2.value, "formula", "t1 + t2")
    approach = term(_KT, given["K"].value * T.value, "formula", "K·T")
    value = approach.value + given["D_DS"].value + given["Z"].value
    terms = (given["K"], given["t1"], t2, T, approach, given["D_DS"], given["Z"])
    total = term(_S, value, "formula", "K·T + D_DS + Z")
    return Distance("S", value, STANDARD, FORMULA, (*terms, total), figures, _NOTES)
