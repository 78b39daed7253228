"""All assumptions and notes."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.phrases import joined_by_words
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section
from mbplugin.stopping.scenario.effort_limits import assumed_brakes


def assumptions_section(chapter: Chapter) -> Html | None:
    """Return the sentences, each once."""
    sentences = list(dict.fromkeys(_sentences(chapter)))
    if not sentences:
        return None
    return section("Assumptions and notes", element("ul", [element("li", one) for one in sentences]))


def _sentences(chapter: Chapter) -> Iterator[str]:
    yield from chapter.notes
    if chapter.stop is not None:
        yield from chapter.stop.scenario.stated
        yield from joined_by_words(chapter.stop.assumed)
        yield from chapter.stop.notes
    if chapter.table is not None:
        yield from chapter.table.assumptions
    if chapter.reactions is not None:
        yield from chapter.reactions.notes
        for e in chapter.reactions.estimated:
            yield (
                f"{e.body}: stiffness estimated as a beam of {e.material}, {e.length:.4g} m long,"
                f" A {e.section.A:.3g} m²."
            )
    if chapter.motion is not None:
        yield from joined_by_words(assumed_brakes(chapter.motion.actions.brakes))
    if chapter.agreement is not None:
        yield from joined_by_words(chapter.agreement.assumed)
    if chapter.moving is not None:
        yield from chapter.moving.notes
