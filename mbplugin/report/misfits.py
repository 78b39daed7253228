"""Misfits in words: their sizes, the loads that they cause, and what limits allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mbplugin.model.enumerations import CoordinateUnit

if TYPE_CHECKING:
    from mbplugin.joint_reactions.misfit.tolerances import MisfitBudget
    from mbplugin.joint_reactions.values import Reactions

_SMALL: Mapping[CoordinateUnit, str] = {"m": "mm", "rad": "mrad"}


def misfit_words(value: float, unit: CoordinateUnit) -> str:
    """Return a misfit of ``value`` m or rad in mm or mrad."""
    return f"{1e3 * value:.6g} {_SMALL[unit]}"


def budget_words(one: MisfitBudget) -> str:
    """Return the largest misfit that the limits allow in one component."""
    label = f"{one.constraint} {one.component}"
    if one.largest == 0:
        return f"{label}: none, as no compliance limits the load of {one.decided_by}"
    return f"{label}: {misfit_words(one.largest, one.unit)}, limited by {one.decided_by}"


def deviation_rows(result: Reactions) -> list[tuple[str, str]]:
    """Return each component with the standard deviation of its load; without those that no misfit loads."""
    return [
        (f"{c.name} {one.name}", "?" if one.sigma is None else f"{one.sigma:.6g} {one.unit}")
        for c in result.constraints
        for one in c.components
        if one.sigma is None or one.sigma > 0
    ]
