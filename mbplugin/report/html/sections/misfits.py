"""What misfits of closing constraints cost, as tables."""

from __future__ import annotations

from mbplugin.joint_reactions.misfit.loops import LoopMisfits
from mbplugin.joint_reactions.misfit.values import MisfitEffect
from mbplugin.phrases import listed
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Child, Html, choice, element, section, table
from mbplugin.report.misfits import consequence_words, lacking_words, load_words, rounding_words, source_words

#: Misfits of one loop that the page shows; the JSON has all.
_MISFITS = 24


def misfits_section(chapter: Chapter) -> Html | None:
    """Return the loads that a misfit of each closing component causes."""
    if chapter.report is None or not chapter.report.misfits:
        return None
    return section(
        "What a misfit costs",
        element("p", rounding_words(rounding)) if (rounding := chapter.report.rounding) is not None else None,
        [_loop(loop) for loop in chapter.report.misfits],
        element("h3", "What the remedies do to that"),
        element("ul", [element("li", sentence) for sentence in consequence_words(chapter.report)]),
        lead="Loads that a misfit of 0.1 mm or 1 mrad causes by itself, the largest first.",
    )


def _loop(loop: LoopMisfits) -> Html:
    rows = [_row(effect) for effect in loop.effects[:_MISFITS]]
    more = len(loop.effects) - len(rows)
    return element(
        "div",
        element("h3", f"Loop of {listed(loop.constraints)}"),
        table(("misfit", "constraint", "component", "loads", "stiffness"), rows),
        element("p", f"{more} more are in the JSON.") if more else None,
    )


def _row(effect: MisfitEffect) -> tuple[Child, ...]:
    place = (str(effect.step), choice(effect.constraint, "joint"), effect.component)
    if effect.infinite:
        return (*place, "no compliance limits them", f"missing: {lacking_words(effect)}")
    return (*place, load_words(effect), source_words(effect))
