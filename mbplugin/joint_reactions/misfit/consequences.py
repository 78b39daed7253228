"""What remedies do to the loads that misfits cause, and to the stiffness that the loops have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

from mbplugin.joint_reactions.misfit.loops import LoopMisfits
from mbplugin.joint_reactions.misfit.values import MisfitEffect, MisfitLoad
from mbplugin.model.enumerations import CoordinateUnit, ReactionUnit

if TYPE_CHECKING:
    from mbplugin.analysis.remedies import Remedy
    from mbplugin.joint_reactions.misfit.response import MisfitResponse


class MisfitCost(NamedTuple):
    """The largest load that 0.1 mm causes, or 1 mrad where no length misfits.

    Parameters
    ----------
    effect : MisfitEffect
    load : MisfitLoad
        Infinite where no compliance limits it.
    """

    effect: MisfitEffect
    load: MisfitLoad


class LoopStiffness(NamedTuple):
    """With what a loop opposes a displacement in a constraint component: a diagonal entry of B.

    Parameters
    ----------
    constraint, component : str
    value : float
        N/m or N·m/rad; infinite where nothing in the loop yields.
    unit : "N" or "N·m"
    """

    constraint: str
    component: str
    value: float
    unit: ReactionUnit


@dataclass(frozen=True)
class RemedyConsequence:
    """What a remedy does.

    Parameters
    ----------
    remedy : Remedy
    after : MisfitCost or None
        The largest load that is left; None where no misfit costs anything any more.
    given_up : tuple of LoopStiffness
        Of each constraint that the remedy changes, the component in which its loop was stiffest.
    """

    remedy: Remedy
    after: MisfitCost | None
    given_up: tuple[LoopStiffness, ...]


@dataclass(frozen=True)
class RemedyConsequences:
    """What it costs to keep all redundant constraints, and what each remedy does to that.

    Parameters
    ----------
    kept : MisfitCost
        Without any change.
    kept_turned : MisfitCost or None
        The same by 1 mrad, where 0.1 mm and 1 mrad both cost something.
    remedies : tuple of RemedyConsequence
        In the order of the analysis.
    """

    kept: MisfitCost
    kept_turned: MisfitCost | None
    remedies: tuple[RemedyConsequence, ...]


def consequences_of(
    remedies: Sequence[Remedy], loops: Sequence[LoopMisfits], response: MisfitResponse
) -> RemedyConsequences | None:
    """Return what remedies do; None where no misfit costs anything.

    A remedy takes all redundancy from the loops that it changes: what it leaves is the cost of the others.
    """
    kept = _cost(loops)
    if kept is None:
        return None
    stiffest, found = _stiffest(response), []
    for remedy in remedies:
        changed = {change.constraint for change in remedy.changes}
        left = [loop for loop in loops if not changed & set(loop.constraints)]
        given_up = tuple(
            stiffest[change.constraint] for change in remedy.changes if change.constraint in stiffest
        )
        found.append(
            RemedyConsequence(remedy, _cost(left) if remedy.degree_of_redundancy else None, given_up)
        )
    turned = _cost(loops, {"rad"}) if kept.effect.step.unit == "m" else None
    return RemedyConsequences(kept, turned, tuple(found))


def _cost(
    loops: Iterable[LoopMisfits], units: Collection[CoordinateUnit] = ("m", "rad")
) -> MisfitCost | None:
    """Return the largest force by 0.1 mm, else the largest moment by that, else the largest load by 1 mrad."""
    effects = [
        effect for loop in loops for effect in loop.effects if effect.loads and effect.step.unit in units
    ]
    # misfits that nothing limits share their loads, all of them
    largest = {
        key: max(loads, key=lambda load: (load.unit == "N", _size(load.value)))
        for key, loads in {id(effect.loads): effect.loads for effect in effects}.items()
    }
    costs = [MisfitCost(effect, largest[id(effect.loads)]) for effect in effects]
    # equal ones stay in the order of the effects, whatever their rounding
    return max(
        costs,
        key=lambda one: (one.effect.step.unit == "m", one.load.unit == "N", _size(one.load.value)),
        default=None,
    )


def _stiffest(response: MisfitResponse) -> dict[str, LoopStiffness]:
    """Return the component of each constraint in which its loop is stiffest, a force first."""
    own = response.finite.diagonal()
    found: dict[str, LoopStiffness] = {}
    for k in response.stressing:
        value = float("inf") if response.infinite_group[k] >= 0 else float(own[k])
        one = LoopStiffness(*response.labels[k], value, response.units[k])
        best = found.get(one.constraint)
        if best is None or _rank(one) > _rank(best):
            found[one.constraint] = one
    return found


def _rank(one: LoopStiffness) -> tuple[bool, float]:
    return one.unit == "N", _size(one.value)


def _size(value: float) -> float:
    return value if isinf(value) else float(f"{abs(value):.9g}")
