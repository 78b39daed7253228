"""Where estimates of stiffness are called for, and the flexible bodies made of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from mbplugin.joint_reactions.stiffness.compliance import Resolution
from mbplugin.joint_reactions.stiffness.elements import Applied, Element, attachments, body_element, frame_of
from mbplugin.joint_reactions.stiffness.estimate import WIDEST, Estimate, estimated_sections, left_out
from mbplugin.joint_reactions.system import System
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import AnyArray


def estimated_elements(
    system: System,
    scene: Scene,
    stated_bodies: Collection[str],
    elements: Sequence[Element],
    resolution: Resolution,
    applied: Applied,
    material: str,
    everywhere: bool,
) -> tuple[list[Element], tuple[Estimate, ...], tuple[str, ...]]:
    """Return flexible bodies for the reactions that nothing determines yet, and notes on what was left out.

    Parameters
    ----------
    everywhere : bool
        Also where some stiffness is stated; else only where there is none, because whoever states
        stiffness means the rest to be rigid.
    """
    group = system.stress_groups
    wanted = set(group[~resolution.determined].tolist())
    if not everywhere:
        wanted -= {int(g) for e in elements for g in group[e.rows]}
    wanted.discard(-1)
    added: list[Element] = []
    used: list[Estimate] = []
    notes: list[str] = []
    for body, model_body in enumerate(system.mech.bodies):
        at = attachments(system, body)
        found = frame_of(system, body, at)
        if found is None or model_body.name in stated_bodies or not wanted & set(group[at.rows].tolist()):
            continue
        shapes = scene.shapes.get(model_body.name, ())
        made = estimated_sections(
            model_body.name, shapes, scene.request, found[0], system.poses.of(body), material
        )
        if note := left_out(model_body.name, shapes, scene.request):
            notes.append(note)
        if made is None:
            continue
        if any((WIDEST * one.length) ** 2 < one.section.A for one in made):
            notes.append(
                f"no beam section of {model_body.name!r} is estimated: its shapes are more than {WIDEST:g} times"
                " as wide as the beam is long"
            )
            continue
        element = body_element(system, body, [e.section for e in made], applied, "estimated")
        if element is not None:
            added.append(element)
            used.extend(made)
    return added, tuple(used), tuple(notes)


def estimated_rows(system: System, added: Sequence[Element]) -> AnyArray:
    """Return which rows, (m,) bool, have values that rest on an estimate."""
    group = system.stress_groups
    touched = {int(g) for e in added for g in group[e.rows]} - {-1}
    return np.isin(group, list(touched)) if touched else np.zeros(len(group), dtype=bool)
