"""The presentations of a motion and of its comparison with PyBullet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mbplugin.report.results.presentation import Presentation

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.html.chart import Html
    from mbplugin.report.text.layout import Line
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Curves that a notebook shows of a motion: coordinates and rates.
_CHARTS = 2


def _samples(motion: Trajectory) -> list[dict[str, Any]]:
    from mbplugin.simulation.trajectory.resampling import columns

    named = {column.header: column.values.tolist() for column in columns(motion)}
    return [dict(zip(named, values, strict=True)) for values in zip(*named.values(), strict=True)]


def _motion_lines(motion: Trajectory, width: int) -> Iterator[Line]:
    from mbplugin.report.text.reactions import simulate_lines

    return simulate_lines(motion, width=width)


def _motion_document(motion: Trajectory) -> dict[str, Any]:
    from mbplugin.report.documents.motions import simulate_document

    document = simulate_document(motion, None, (), motion.mechanism.name, ())
    # what was requested is known to the command alone
    del document["request"]
    return document


def _motion_chapter(motion: Trajectory) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    mech = motion.mechanism
    return Chapter(title=f"Motion of {mech.name}", model=mech, motion=motion)


def charts_of(motion: Trajectory) -> Iterator[Html]:
    """Yield the first curves of a motion, as its page has them."""
    from itertools import islice

    from mbplugin.report.html.chart import figure
    from mbplugin.report.html.sections.view import motion_charts

    if len(motion.time) > 1:
        yield from (figure(chart, note) for chart, note in islice(motion_charts(motion, ()), _CHARTS))


def _deviations(found: Agreement) -> list[dict[str, Any]]:
    names = ("quantity", "element", "deviation", "bound", "unit", "agrees", "time")
    return [{name: getattr(row, name) for name in names} for row in found.rows]


def _agreement_lines(found: Agreement, width: int) -> Iterator[Line]:
    from mbplugin.report.text.compared import crosscheck_lines

    return crosscheck_lines(found, "PyBullet and mbplugin", width)


def _agreement_document(found: Agreement) -> dict[str, Any]:
    from mbplugin.report.documents.motions import crosscheck_document

    return crosscheck_document(found, "", ())


def _agreement_chapter(found: Agreement) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    return Chapter(title="Beside PyBullet", agreement=found)


PRESENTATIONS = {
    "Trajectory": Presentation(
        rows=_samples,
        document=_motion_document,
        lines=_motion_lines,
        chapter=_motion_chapter,
        pictures=charts_of,
    ),
    "Agreement": Presentation(
        rows=_deviations,
        document=_agreement_document,
        lines=_agreement_lines,
        chapter=_agreement_chapter,
    ),
}
