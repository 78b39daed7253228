"""Self-stresses that can be selected for the 3D view, and remedies."""

from __future__ import annotations

from mbplugin.analysis.remedies import Remedy, at_singular_pose, no_remedy
from mbplugin.analysis.self_stress import SelfStress
from mbplugin.phrases import counted, listed, number
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, choice, element, section, table


def stresses_section(chapter: Chapter) -> Html | None:
    """Return the self-stresses."""
    analysis = chapter.verdicts
    if analysis is None or not analysis.self_stresses:
        return None
    shown, p = len(analysis.self_stresses), analysis.degree_of_redundancy
    lead = (
        "Internal forces in equilibrium without any load: one for each redundant constraint."
        " Select one or several to see the constraints that they load."
    )
    if shown < p:
        lead += f" {shown} of {p} are listed here."
    return section(
        "Self-stresses",
        element(
            "ol", [_stress(k, stress) for k, stress in enumerate(analysis.self_stresses)], class_="stresses"
        ),
        lead=lead,
    )


def _stress(k: int, stress: SelfStress) -> Html:
    rows = [(choice(c.constraint, "joint"), c.component, number(c.weight, "+.3f")) for c in stress.components]
    return element(
        "li",
        element("button", "show", type="button", data_stress=k, aria_pressed="false"),
        " ",
        stress.text,
        element(
            "details",
            element("summary", counted(len(stress.components), "component")),
            table(("constraint", "component", "weight, scaled"), rows),
        ),
    )


def remedies_section(chapter: Chapter) -> Html | None:
    """Return what to change, each way with its proof and lines to paste."""
    analysis = chapter.verdicts
    if analysis is None or not (analysis.remedies or analysis.obstacles):
        return None
    why_not = [element("p", f"{no_remedy(analysis.obstacles)}.")] if analysis.obstacles else []
    return section(
        "What to change",
        [*why_not, *(_remedy(k, remedy) for k, remedy in enumerate(analysis.remedies))],
        lead="Each remedy is verified by an analysis of the changed mechanism"
        f"{at_singular_pose(analysis.singular_pose)}. Paste its lines into the scene."
        if analysis.remedies
        else "",
    )


def _remedy(k: int, remedy: Remedy) -> Html:
    return element(
        "details",
        element("summary", f"{_in_words(remedy)} → {remedy.proof}"),
        element("pre", remedy.toml),
        open=k == 0,
    )


def _in_words(remedy: Remedy) -> str:
    by_change: dict[tuple[str, str], list[str]] = {}
    for change in remedy.changes:
        by_change.setdefault((change.old, change.new), []).append(change.constraint)
    return "; ".join(f"{listed(names, 6)}: {old} → {new}" for (old, new), names in by_change.items())
