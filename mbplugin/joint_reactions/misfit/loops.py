"""What misfits of closing constraints cost, loop by loop."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions.misfit.run import misfit_response
from mbplugin.joint_reactions.misfit.values import MisfitEffect
from mbplugin.model.scene import Scene

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.misfit.response import MisfitResponse


@dataclass(frozen=True)
class LoopMisfits:
    """What misfits cost in constraints that stress each other.

    Parameters
    ----------
    constraints : tuple of str
        That are loaded, in the order of the mechanism.
    effects : tuple of MisfitEffect
        Of 0.1 mm or 1 mrad of each component of the closing constraints, the most expensive first.
    """

    constraints: tuple[str, ...]
    effects: tuple[MisfitEffect, ...]


def loop_misfits(scene: Scene, analysis: Analysis) -> tuple[LoopMisfits, ...]:
    """Return what misfits of the closing constraints of a scene cost; nothing without redundant constraints.

    Loops whose forces cannot be computed have no answer.
    """
    response = response_at(scene, analysis)
    if response is None:
        return ()
    closing = {pair.name for pair in analysis.mechanism.pairs if pair.closure}
    closing.update(stress.closed_by for stress in analysis.self_stresses)
    return by_loop(response, closing)


@lru_cache(maxsize=1)
def response_at(scene: Scene, analysis: Analysis) -> MisfitResponse | None:
    """Return the response at the pose of an analysis; None without redundant constraints, or where it has none."""
    if not analysis.degree_of_redundancy:
        return None
    try:
        return misfit_response(
            scene, analysis.q, tolerance=analysis.tolerance, planar=analysis.planar or None
        )
    except MbPluginError:
        return None


def by_loop(response: MisfitResponse, closing: Collection[str]) -> tuple[LoopMisfits, ...]:
    """Return the effects of the rows of ``closing``, those that load the same constraints together.

    Where none of these constraints costs anything, the effects are of all constraints.
    """
    rows = [k for k in response.stressing if response.labels[k].constraint in closing]
    effects = [response.effect(row) for row in rows or response.stressing]
    names = list(dict.fromkeys(label.constraint for label in response.labels))
    # misfits that nothing limits share their loads, all of them
    shared = groupby(effects, key=lambda effect: id(effect.loads))
    loops = _overlapping({load.constraint for load in next(same).loads} for _, same in shared)
    return tuple(
        LoopMisfits(
            tuple(name for name in names if name in loop),
            tuple(effect for effect in effects if effect.constraint in loop),
        )
        for loop in loops
    )


def _overlapping(sets: Iterable[set[str]]) -> list[set[str]]:
    """Return the unions of sets that have members in common."""
    found: list[set[str]] = []
    for one in sets:
        apart = [other for other in found if not other & one]
        joined = one.union(*(other for other in found if other & one))
        found = [joined, *apart]
    return found
