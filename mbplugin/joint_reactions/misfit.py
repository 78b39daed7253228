"""``misfit_response``: the loads that a misfit of each constraint component causes in all joints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import isinf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbplugin.arguments import checked
from mbplugin.constraints.rank import gaps_of_rounding
from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions import closed_state
from mbplugin.joint_reactions.flexible import StiffnessLike, StiffnessRequest, flexible_model
from mbplugin.joint_reactions.misfit_response import (
    MisfitEffect,
    MisfitLoad,
    MisfitResponse,
    MisfitStep,
    response_of,
)
from mbplugin.joint_reactions.statics import build_system
from mbplugin.joint_reactions.stiffness import applied_to
from mbplugin.model import Array, CoordinateUnit, JointValues, Mechanism, ReactionUnit, Scene
from mbplugin.readers import ModelSource, model_of

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.analysis.remedies import Remedy

# Effect of remedies on the loads of misfits and on the stiffness of the loops.


class MisfitCost(NamedTuple):
    """The largest load due to a misfit of 0.1 mm, or of 1 mrad if no length can misfit.

    Parameters
    ----------
    effect : MisfitEffect
    load : MisfitLoad
        Infinite if no compliance limits it.
    """

    effect: MisfitEffect
    load: MisfitLoad


class LoopStiffness(NamedTuple):
    """Stiffness of a loop against a displacement in a constraint component: a diagonal entry of B.

    Parameters
    ----------
    constraint, component : str
    value : float
        N/m or N·m/rad; infinite if no part of the loop is flexible.
    unit : "N" or "N·m"
    """

    constraint: str
    component: str
    value: float
    unit: ReactionUnit


@dataclass(frozen=True)
class RemedyConsequence:
    """Effect of a remedy.

    Parameters
    ----------
    remedy : Remedy
    after : MisfitCost or None
        The largest remaining load; None if no misfit causes a load any more.
    given_up : tuple of LoopStiffness
        The stiffest component in each constraint that the remedy changes.
    """

    remedy: Remedy
    after: MisfitCost | None
    given_up: tuple[LoopStiffness, ...]


@dataclass(frozen=True)
class RemedyConsequences:
    """Largest misfit load with all redundant constraints kept, and the effect of each remedy.

    Parameters
    ----------
    kept : MisfitCost
        Without any change.
    kept_turned : MisfitCost or None
        The same due to 1 mrad, if both 0.1 mm and 1 mrad cause loads.
    remedies : tuple of RemedyConsequence
        In the order of the analysis.
    """

    kept: MisfitCost
    kept_turned: MisfitCost | None
    remedies: tuple[RemedyConsequence, ...]


def consequences_of(
    remedies: Sequence[Remedy], loops: Sequence[LoopMisfits], response: MisfitResponse
) -> RemedyConsequences | None:
    """Return the consequences of remedies; None if no misfit causes a load.

    A remedy removes all redundancy from the loops that it changes, so only the loads of the other loops remain.
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
    """Return the largest force due to 0.1 mm, else the largest moment, else the largest load due to 1 mrad."""
    effects = [
        effect for loop in loops for effect in loop.effects if effect.loads and effect.step.unit in units
    ]
    # effects with unlimited loads share the same tuple of loads
    largest = {
        key: max(loads, key=lambda load: (load.unit == "N", _size(load.value)))
        for key, loads in {id(effect.loads): effect.loads for effect in effects}.items()
    }
    costs = [MisfitCost(effect, largest[id(effect.loads)]) for effect in effects]
    # rounded, so that equal values stay in the order of the effects
    return max(
        costs,
        key=lambda one: (one.effect.step.unit == "m", one.load.unit == "N", _size(one.load.value)),
        default=None,
    )


def _stiffest(response: MisfitResponse) -> dict[str, LoopStiffness]:
    """Return the stiffest component of each constraint; translations come before rotations."""
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


# Loads due to misfits of closing constraints, loop by loop.


@dataclass(frozen=True)
class LoopMisfits:
    """Effects of misfits in constraints that stress each other.

    Parameters
    ----------
    constraints : tuple of str
        The loaded constraints, in the order of the mechanism.
    effects : tuple of MisfitEffect
        Effects of 0.1 mm or 1 mrad in each component of the closing constraints, largest loads first.
    """

    constraints: tuple[str, ...]
    effects: tuple[MisfitEffect, ...]


def loop_misfits(scene: Scene, analysis: Analysis) -> tuple[LoopMisfits, ...]:
    """Return the effects of misfits of a scene's closing constraints, loop by loop.

    Empty without redundant constraints, or if the forces cannot be computed.
    """
    response = response_at(scene, analysis)
    if response is None:
        return ()
    closing = {pair.name for pair in analysis.mechanism.pairs if pair.closure}
    closing.update(stress.closed_by for stress in analysis.self_stresses)
    return by_loop(response, closing)


@lru_cache(maxsize=1)
def response_at(scene: Scene, analysis: Analysis) -> MisfitResponse | None:
    """Return the response at the pose of an analysis; None without redundant constraints or if it has no solution."""
    if not analysis.degree_of_redundancy:
        return None
    try:
        return misfit_response(
            scene, analysis.q, tolerance=analysis.tolerance, planar=analysis.planar or None
        )
    except MbPluginError:
        return None


def by_loop(response: MisfitResponse, closing: Collection[str]) -> tuple[LoopMisfits, ...]:
    """Return the effects of misfits in the constraints ``closing``, grouped by the constraints that they load.

    If misfits of these constraints cause no loads, effects of all constraints are returned.
    """
    rows = [k for k in response.stressing if response.labels[k].constraint in closing]
    effects = [response.effect(row) for row in rows or response.stressing]
    names = list(dict.fromkeys(label.constraint for label in response.labels))
    # effects with unlimited loads share the same tuple of loads
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
    """Return the unions of overlapping sets."""
    found: list[set[str]] = []
    for one in sets:
        apart = [other for other in found if not other & one]
        joined = one.union(*(other for other in found if other & one))
        found = [joined, *apart]
    return found


# Loads due to rounded angles of a file, which leave gaps in its loops.


def rounding_effect(
    written: Mechanism, meant: Scene, q: Array, *, tolerance: float, planar: str | None = None
) -> MisfitEffect | None:
    """Return the combined effect of the rounded angles of a file; None if no loop has a gap.

    Constraint and size are those of the largest gap, the loads are due to all gaps together.

    Parameters
    ----------
    written : Mechanism
    meant : Scene
        The same file with the intended angles.
    q : (nq,) array
        Its closed pose, rad and m.
    tolerance : float
        Relative rank tolerance.
    planar : str, optional

    Raises
    ------
    MbPluginError
        As for :func:`mbplugin.misfit_response`.
    """
    response = misfit_response(meant, q, tolerance=tolerance, planar=planar)
    gaps = gaps_of_rounding(written, meant.mechanism, response.q, planar)
    misfit = np.array([gaps.get(label, 0.0) for label in response.labels])
    misfit[~response.adjustable] = 0.0
    sizes = np.abs(misfit) * np.where([unit == "N" for unit in response.units], 1.0, response.length)
    if not sizes.any():
        return None
    k = int(sizes.argmax())
    step = MisfitStep(float(abs(misfit[k])), "m" if response.units[k] == "N" else "rad")
    return MisfitEffect(*response.labels[k], step, *response.loads_of(misfit), response.rows_by_name)


@checked
def misfit_response(
    model: ModelSource,
    q: JointValues = None,
    *,
    stiffness: StiffnessLike = (),
    estimate: bool | None = None,
    material: str = "steel",
    tolerance: float | None = None,
    planar: str | None = None,
) -> MisfitResponse:
    """Compute the loads due to a misfit of each constraint component: B = S (Sᵀ F S)⁻¹ Sᵀ.

    Loops are closed first. Drivers and locks of the model are fixed; no load acts.

    Parameters
    ----------
    model : Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; unnamed ones keep the scene's value.
    stiffness, estimate, material
        As for :func:`mbplugin.joint_reactions.run.reactions`; N/m and N·m/rad.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Compute the forces in a plane.

    Returns
    -------
    MisfitResponse
        Loads act on the successor, in the axes of its constraint. The misfit with the largest load comes first.
        Loads that no compliance limits are infinite, with the bodies that need a stiffness.

    Raises
    ------
    BadUsage
        A stiffness is not symmetric positive semidefinite.
    UnknownName
        A stiffness names an unknown pair or body.
    CannotClose
        A loop cannot be closed.
    """
    model = model_of(model)
    request = StiffnessRequest(stiffness, estimate, material)
    state = closed_state(model, q, None, None, tolerance, planar)
    system = build_system(state.mech, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    nothing = np.zeros(len(system.scale))
    applied = applied_to(state, model, (), ())
    flexible = flexible_model(system, model, nothing, applied, nothing, request)
    return response_of(state, system, flexible)
