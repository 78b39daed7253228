"""What remedies do to the loads that misfits cause, and to the stiffness that the loops have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

from mbplugin.joint_reactions.misfit.loops import LoopMisfits
from mbplugin.joint_reactions.misfit.values import MisfitEffect, MisfitLoad
from mbplugin.model.enumerations import ReactionUnit

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
    remedies : tuple of RemedyConsequence
        In the order of the analysis.
    """

    kept: MisfitCost
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
    found = []
    for remedy in remedies:
        changed = {change.constraint for change in remedy.changes}
        left = [loop for loop in loops if not changed & set(loop.constraints)]
        stiffest = (_stiffest(response, change.constraint) for change in remedy.changes)
        given_up = tuple(one for one in stiffest if one is not None)
        found.append(
            RemedyConsequence(remedy, _cost(left) if remedy.degree_of_redundancy else None, given_up)
        )
    return RemedyConsequences(kept, tuple(found))


def _cost(loops: Iterable[LoopMisfits]) -> MisfitCost | None:
    """Return the largest force by 0.1 mm, else the largest moment by that, else the largest load by 1 mrad."""
    costs = [MisfitCost(e, load) for loop in loops for e in loop.effects for load in e.loads]
    # equal ones stay in the order of the effects, whatever their rounding
    return max(
        costs,
        key=lambda one: (one.effect.step.unit == "m", one.load.unit == "N", _size(one.load.value)),
        default=None,
    )


def _stiffest(response: MisfitResponse, constraint: str) -> LoopStiffness | None:
    """Return the component of a constraint in which its loop is stiffest, a force first; None where it has none."""
    rows = [k for k in response.stressing if response.labels[k].constraint == constraint]
    found = [
        LoopStiffness(*response.labels[k], float(response.column(k)[k]), response.units[k]) for k in rows
    ]
    return max(found, key=lambda one: (one.unit == "N", _size(one.value)), default=None)


def _size(value: float) -> float:
    return value if isinf(value) else float(f"{abs(value):.9g}")
