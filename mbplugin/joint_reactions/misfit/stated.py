"""The misfits, tolerances and limits of a scene and a call, and what they add to the reactions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.joint_reactions.misfit.response import MisfitResponse
from mbplugin.joint_reactions.misfit.tolerances import budget, deviations
from mbplugin.joint_reactions.state import Model
from mbplugin.joint_reactions.values import ConstraintReaction, Reactions
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed


@dataclass(frozen=True)
class Tolerances:
    """Misfits and their standard deviations by ``CONSTRAINT.COMPONENT`` (m, rad), limits by name (N, N·m)."""

    misfit: Mapping[str, float] = field(default_factory=dict)
    sigma: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


def stated_tolerances(
    model: Model,
    misfit: Mapping[str, float] | None,
    sigma: Mapping[str, float] | None,
    limits: Mapping[str, float] | None,
) -> Tolerances:
    """Return what the scene and the call state; the call replaces the scene's values of the same name.

    Raises
    ------
    BadNumber
        A standard deviation below zero.
    """
    own = model.misfits if isinstance(model, Scene) else ()
    limited = model.limits if isinstance(model, Scene) else ()
    for name, value in (sigma or {}).items():
        if value < 0:
            raise BadNumber(
                f"the standard deviation of the misfit {name!r} is {value!r}",
                expected="m or rad, not negative",
            )
    return Tolerances(
        {**{one.name: one.value for one in own if one.value is not None}, **(misfit or {})},
        {**{one.name: one.sigma for one in own if one.sigma is not None}, **(sigma or {})},
        {**{one.name: one.value for one in limited}, **(limits or {})},
    )


def with_tolerances(
    made: Reactions, response: MisfitResponse, tolerances: Tolerances, sigma: Array
) -> Reactions:
    """Return reactions with the standard deviations and the budget of stated tolerances, and what a misfit lacks.

    Parameters
    ----------
    sigma : (m,) array
        Standard deviation of the misfit of each row, m and rad.
    """
    constraints = made.constraints
    if tolerances.sigma:
        spread = deviations(response, sigma)
        found = {label.dotted: float(value) for label, value in zip(response.labels, spread, strict=True)}
        constraints = tuple(_with_sigma(c, found) for c in constraints)
    return replace(
        made,
        constraints=constraints,
        misfit_sigma=dict(tolerances.sigma),
        limits=dict(tolerances.limits),
        budget=budget(response, tolerances.limits),
        response=response,
        notes=(*made.notes, *_without_value(response, tolerances.misfit)),
    )


def _without_value(response: MisfitResponse, misfit: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence on every misfit whose loads have no value, or that loads nothing."""
    for name, value in misfit.items():
        row = response.row(name)
        _, loads = response.entries(row)
        if not value:
            continue
        if np.isinf(loads).any():
            missing = response.missing[int(response.infinite_group[row])]
            parts = listed([*missing.bodies, *missing.pairs])
            yield (
                f"nothing determines what the misfit of {name} loads, since parts that it loads have no stiffness:"
                f" state a [[stiffness]] (stiffness=… in Python){f' for {parts}' if parts else ''}"
            )
        elif not loads.any():
            yield f"the misfit of {name} loads nothing: no redundant constraint resists it, whatever the stiffness"


def _with_sigma(constraint: ConstraintReaction, found: Mapping[str, float]) -> ConstraintReaction:
    components = []
    for one in constraint.components:
        sigma = found[f"{constraint.name}.{one.name}"]
        known = one.value is not None and np.isfinite(sigma)
        components.append(replace(one, sigma=sigma if known else None))
    return replace(constraint, components=tuple(components))
