"""Which formulations, redundancy handlings and coordinates go together, and the one call for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.equations import COORDINATES, Equations
from mbplugin.dynamics.formulations.kkt import kkt
from mbplugin.dynamics.formulations.null_space import null_space
from mbplugin.dynamics.formulations.partitioning import partitioning
from mbplugin.dynamics.formulations.projected import projected
from mbplugin.dynamics.formulations.voronets import voronets
from mbplugin.dynamics.redundancy.augmented import augmented
from mbplugin.dynamics.redundancy.eliminate import Row, eliminate
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.redundancy.mass_weighted import mass_weighted
from mbplugin.dynamics.redundancy.minimum_norm import minimum_norm
from mbplugin.dynamics.solution import Solution
from mbplugin.errors import BadUsage, MbPluginError, UnknownName, suggestion
from mbplugin.model.spatial import AnyArray

_HANDLINGS: dict[str, Callable[[Equations], Independent]] = {
    "eliminate": eliminate,
    "minimum-norm": minimum_norm,
    "mass-weighted": mass_weighted,
}
_FORMULATIONS: dict[str, Callable[[Equations, Independent], Solution]] = {
    "kkt": kkt,
    "null-space": null_space,
    "projected": projected,
    "voronets": voronets,
    "partitioning": partitioning,
}


@dataclass(frozen=True)
class Meaning:
    """What a formulation can be combined with.

    Parameters
    ----------
    redundancy : tuple of str
        Handlings of redundant rows.
    coordinates : tuple of str
        Kinds of coordinates.
    why_not : str
        Why nothing else.
    """

    redundancy: tuple[str, ...]
    coordinates: tuple[str, ...]
    why_not: str


_EACH = tuple(_HANDLINGS)
_NO_ITERATION = "the augmented Lagrangian is a way of solving the kkt equations; here no multipliers are left"
#: Every meaningful combination, by formulation.
TABLE: dict[str, Meaning] = {
    "kkt": Meaning((*_EACH, "augmented"), COORDINATES, "there is no other"),
    "null-space": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "projected": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "voronets": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "partitioning": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "closing": Meaning(
        ("eliminate",),
        ("joint",),
        "closed forms give the dependent joints, and rows they do not need are left out",
    ),
}
REDUNDANCY = TABLE["kkt"].redundancy


def solve(
    equations: Equations,
    formulation: str = "projected",
    redundancy: str = "eliminate",
    dropped: Sequence[Row] = (),
    independent: AnyArray | None = None,
) -> Solution:
    """Return accelerations and multipliers of a mechanism at a state.

    Parameters
    ----------
    equations : Equations
        Of a state that satisfies the constraints.
    formulation, redundancy : str
        As in ``TABLE``; they change the way, not the motion.
    dropped : sequence of int (from 0) or (constraint, component)
        Rows to eliminate; by default they are chosen.
    independent : (k,) array of int, optional
        Independent coordinates of formulation ``partitioning``; by default the best of this state.

    Raises
    ------
    BadUsage
        A combination without meaning, or rows that cannot be dropped.
    UnknownName
        A formulation, handling or row that there is not.
    MbPluginError
        The equations cannot be solved in double precision.
    """
    _require_meaning(equations, formulation, redundancy, dropped)
    if not equations.rank and not dropped:
        return Solution(equations.solve_M(equations.F), np.zeros(len(equations.C)))
    if redundancy == "augmented":
        return augmented(equations)
    constraints = eliminate(equations, dropped) if dropped else _HANDLINGS[redundancy](equations)
    try:
        if independent is not None and formulation == "partitioning":
            return partitioning(equations, constraints, independent)
        return _FORMULATIONS[formulation](equations, constraints)
    except np.linalg.LinAlgError:
        raise MbPluginError(
            f"the equations of motion of formulation {formulation!r} are singular to machine precision here",
            remedy="compare masses, lengths and centres of mass: some differ by many orders of magnitude",
        ) from None


def _require_meaning(equations: Equations, formulation: str, redundancy: str, dropped: Sequence[Row]) -> None:
    if formulation not in TABLE:
        raise UnknownName(
            f"there is no formulation {formulation!r}", remedy=suggestion(formulation, list(TABLE))
        )
    if redundancy not in REDUNDANCY:
        raise UnknownName(
            f"there is no redundancy handling {redundancy!r}", remedy=suggestion(redundancy, REDUNDANCY)
        )
    meaning = TABLE[formulation]
    if redundancy not in meaning.redundancy or equations.coordinates not in meaning.coordinates:
        raise BadUsage(
            f"formulation {formulation!r} with {redundancy!r} in {equations.coordinates} coordinates"
            f" has no meaning: {meaning.why_not}",
            expected=f"{_either(meaning.redundancy)} in {_either(meaning.coordinates)} coordinates",
        )
    if dropped and redundancy != "eliminate":
        raise BadUsage(f"rows are to be dropped, but {redundancy!r} keeps all", expected="'eliminate'")
    if formulation not in _FORMULATIONS:
        raise BadUsage(
            "closing conditions come from the geometry of a mechanism, not from its equations at a state",
            remedy="use mbplugin.dynamics.explicit_closure.minimal_accelerations",
        )


def _either(names: Sequence[str]) -> str:
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
