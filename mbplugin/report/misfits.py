"""Misfits in words: their sizes, the loads that they cause, and what limits allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isinf
from typing import TYPE_CHECKING

from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.phrases import listed

if TYPE_CHECKING:
    from mbplugin.joint_reactions.misfit.consequences import LoopStiffness, MisfitCost, RemedyConsequences
    from mbplugin.joint_reactions.misfit.loops import LoopMisfits
    from mbplugin.joint_reactions.misfit.response import MisfitResponse
    from mbplugin.joint_reactions.misfit.tolerances import MisfitBudget
    from mbplugin.joint_reactions.misfit.values import MisfitEffect
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.linter.run import Report
    from mbplugin.model.scene import Scene

#: Loads of one misfit that a sentence lists, and misfits of one loop; the JSON has all.
_LOADS = 6
_MISFITS = 12
#: Titles of what tolerances cause, and of what limits allow.
DEVIATIONS_TITLE = "Standard deviations for the stated tolerances (? where nothing gives way)"
BUDGET_TITLE = "Largest misfit within the limits, without other loads"
_SMALL: Mapping[CoordinateUnit, str] = {"m": "mm", "rad": "mrad"}


def misfit_words(value: float, unit: CoordinateUnit) -> str:
    """Return a misfit of ``value`` m or rad in mm or mrad."""
    return f"{1e3 * value:.4g} {_SMALL[unit]}"


def budget_words(one: MisfitBudget) -> str:
    """Return the largest misfit that the limits allow in one component."""
    label = f"{one.constraint} {one.component}"
    if one.largest == 0:
        return f"{label}: none, as no compliance limits the load of {one.decided_by}"
    return f"{label}: {misfit_words(one.largest, one.unit)}, limited by {one.decided_by}"


def deviation_rows(result: Reactions) -> list[tuple[str, str]]:
    """Return each component with the standard deviation of its load; without those that no misfit loads."""
    return [
        (f"{c.name} {one.name}", "?" if one.sigma is None else f"{one.sigma:.4g} {one.unit}")
        for c in result.constraints
        for one in c.components
        if one.sigma is None or one.sigma > 0
    ]


def effect_words(effect: MisfitEffect) -> str:
    """Return what a misfit of one component costs, the largest load first."""
    misfit = f"{effect.step} at {effect.constraint} {effect.component}"
    if effect.infinite:
        endless = dict.fromkeys(load.constraint for load in effect.loads if load.source is None)
        return (
            f"{misfit}: no compliance limits the load of {listed(tuple(endless), _LOADS)}; "
            f"it needs a stiffness of {lacking_words(effect)}"
        )
    return f"{misfit}: {load_words(effect)} ({source_words(effect)} stiffness)"


def load_words(effect: MisfitEffect) -> str:
    """Return the loads of a misfit, the largest first."""
    loads = [f"{load.constraint} {load.component} {load.value:.4g} {load.unit}" for load in effect.loads]
    return listed(loads, _LOADS)


def lacking_words(effect: MisfitEffect) -> str:
    """Return the bodies and joints that need a stiffness before every load has a value."""
    return listed((*effect.missing.bodies, *effect.missing.pairs), _LOADS)


def source_words(effect: MisfitEffect) -> str:
    """Return whether the stiffness that determines the loads is stated or estimated."""
    sources = {load.source for load in effect.loads}
    return " and ".join(source for source in ("stated", "estimated") if source in sources)


def loop_words(loop: LoopMisfits | MisfitResponse) -> Iterator[str]:
    """Yield what misfits of one loop, or of all, cost, the most expensive first."""
    yield from (effect_words(effect) for effect in loop.effects[:_MISFITS])
    if len(loop.effects) > _MISFITS:
        yield f"and {len(loop.effects) - _MISFITS} more: the JSON has all"


def rounding_words(effect: MisfitEffect) -> str:
    """Return what the rounded angles of a file cost together."""
    return f"rounded angles together, a gap of {effect_words(effect)}"


def consequence_words(report: Report) -> Iterator[str]:
    """Yield what remedies do to the loads of misfits, a sentence each, and what it costs to keep all."""
    found, analysis = report.consequences, report.analysis
    if found is None or analysis is None:
        return
    for k, one in enumerate(found.remedies, 1):
        names = listed(list(dict.fromkeys(change.constraint for change in one.remedy.changes)), _LOADS)
        left = "a misfit costs nothing" if one.after is None else _cost_words(one.after)
        lost = listed([_stiffness_words(stiffness) for stiffness in one.given_up], _LOADS)
        gives = f"; the loop no longer opposes {lost}" if lost else ""
        yield f"remedy {k} ({names}): then {left}{gives}"
    yield _kept_words(found, report.scene, analysis.degree_of_redundancy)


def _kept_words(found: RemedyConsequences, scene: Scene | None, redundancy: int) -> str:
    """Return what it costs to keep all redundant constraints: an advice where that is limited and allowed."""
    kept, turned = found.kept, found.kept_turned
    limit = scene.options.misfit_limit if scene is not None and kept.load.unit == "N" else None
    also = f"; {_cost_words(turned)}" if turned is not None else ""
    if isinf(kept.load.value) or (turned is not None and isinf(turned.load.value)):
        return f"kept as it is: {_cost_words(kept)}{also}"
    if limit is not None and abs(kept.load.value) > limit:
        return f"kept as it is: {_cost_words(kept)}, ABOVE the limit of {limit:g} N{also}"
    declared = f"[lint] degree_of_redundancy = {redundancy} declares it"
    if limit is None:
        return f"keep it where that is allowed: {_cost_words(kept)}{also}; {declared}"
    return f"keep it: {_cost_words(kept)}, within the limit of {limit:g} N{also}; {declared}"


def _cost_words(cost: MisfitCost) -> str:
    effect, load = cost.effect, cost.load
    place = f"at {effect.constraint} {effect.component}"
    if isinf(load.value):
        return f"no compliance limits what {effect.step} {place} costs; state a stiffness of {lacking_words(effect)}"
    size = f"{abs(load.value):.4g} {load.unit} in {load.constraint}"
    return f"a misfit of {effect.step} costs at most {size} ({place}; {load.source} stiffness)"


def _stiffness_words(one: LoopStiffness) -> str:
    unit = {"N": "N/m", "N·m": "N·m/rad"}[one.unit]
    value = "without any compliance" if isinf(one.value) else f"with {one.value:.4g} {unit}"
    return f"{one.constraint} {one.component} {value}"
