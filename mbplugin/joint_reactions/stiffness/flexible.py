"""The stiffness of a mechanism, stated and where needed estimated, and the reactions that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.state import Model
from mbplugin.joint_reactions.stiffness.beams import Section
from mbplugin.joint_reactions.stiffness.compliance import Resolution, resolve
from mbplugin.joint_reactions.stiffness.coverage import Coverage, coverage
from mbplugin.joint_reactions.stiffness.elements import Applied, Element, stated_elements
from mbplugin.joint_reactions.stiffness.estimate import MATERIALS, Estimate
from mbplugin.joint_reactions.stiffness.estimating import estimated_elements, estimated_rows
from mbplugin.joint_reactions.stiffness.pair_stiffness import StiffnessLike, read_stiffness
from mbplugin.joint_reactions.system import System
from mbplugin.model.enumerations import ReactionSource
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Flexible:
    """What gives way in a mechanism, and what follows from it.

    Parameters
    ----------
    stated, added : tuple of Element
        With stated stiffness, and with an estimate.
    """

    resolution: Resolution
    covered: Coverage
    stated: tuple[Element, ...]
    added: tuple[Element, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StiffnessRequest:
    """The stiffness that a call states, beside that of the scene.

    Parameters
    ----------
    estimate : bool or None
        Whether to estimate beam sections; None: only in loops for which no stiffness is stated.

    Raises
    ------
    BadUsage
        A material that is not known.
    """

    stiffness: StiffnessLike = ()
    estimate: bool | None = None
    material: str = "steel"

    def __post_init__(self) -> None:
        if self.material not in MATERIALS:
            raise BadUsage(f"the material is {self.material!r}", expected=f"one of {', '.join(MATERIALS)}")


def flexible_model(
    system: System,
    model: Model,
    multipliers: Array,
    applied: Applied,
    gaps: Array,
    request: StiffnessRequest,
) -> Flexible:
    """Return the stiffness of a model, and the reactions of least elastic energy.

    Parameters
    ----------
    multipliers, gaps : (m,) array
        One balancing λ₀ and the gaps before assembly, scaled.
    """
    pairs, sections = _stated(model, request.stiffness)
    elements = stated_elements(system, pairs, sections, applied)
    covered = coverage(system, elements)
    resolution = resolve(system, multipliers, elements, gaps, covered.uncovered)
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()
    added: Sequence[Element] = ()
    if isinstance(model, Scene) and request.estimate is not False and not resolution.determined.all():
        everywhere = bool(request.estimate)
        added, estimates, notes = estimated_elements(
            system, model, sections, elements, resolution, applied, request.material, everywhere
        )
        if added:
            covered = coverage(system, [*elements, *added])
            resolution = resolve(system, multipliers, [*elements, *added], gaps, covered.uncovered)
    return Flexible(resolution, covered, tuple(elements), tuple(added), estimates, notes)


def _stated(model: Model, stiffness: StiffnessLike) -> tuple[dict[str, Array], dict[str, Section]]:
    """Return flexibility by pair and sections by body; what the call states replaces the scene's."""
    mech = model.mechanism if isinstance(model, Scene) else model
    own = read_stiffness(mech, model.stiffness if isinstance(model, Scene) else ())
    given = read_stiffness(mech, stiffness)
    return {**own[0], **given[0]}, {**own[1], **given[1]}


def row_sources(system: System, flexible: Flexible) -> tuple[ReactionSource | None, ...]:
    """Return what determines each row: the rigid model, a stated or an estimated stiffness, or nothing."""
    guessed = estimated_rows(system, flexible.added)
    return tuple(
        "rigid" if unique else None if not known else "estimated" if estimate else "stated"
        for unique, known, estimate in zip(
            system.unique, flexible.resolution.determined, guessed, strict=True
        )
    )
