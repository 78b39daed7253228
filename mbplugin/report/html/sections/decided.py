"""How the rank was decided: the number of redundant constraints over the tolerance."""

from __future__ import annotations

from math import log10

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chart import Chart, Curve, figure
from mbplugin.report.html.markup import Html, element, section
from mbplugin.report.text.lint import reasons

#: What stands for no tolerance at all on an axis of powers of ten.
_LEAST = 1e-16


def decided_section(chapter: Chapter) -> Html | None:
    """Return the reasons, and the plateaus of the count."""
    analysis = chapter.verdicts
    if analysis is None:
        return None
    chart = _plateaus(analysis)
    return section(
        "How this was decided",
        element("ul", [element("li", sentence) for sentence in reasons(analysis)]),
        element("div", figure(chart), class_="charts") if chart else None,
    )


def _plateaus(analysis: Analysis) -> Chart | None:
    plateaus = analysis.plateaus
    # a count that is the same at every tolerance is a sentence, not a curve
    if len({p.degree_of_redundancy for p in plateaus}) < 2:
        return None
    edges = [max(p.start, _LEAST) for p in plateaus] + [max(plateaus[-1].stop, _LEAST)]
    counts = [p.degree_of_redundancy for p in plateaus]
    curve = Curve("redundant constraints", np.log10(edges), np.array([*counts, counts[-1]], dtype=float))
    used = (log10(analysis.tolerance), f"tolerance used: {analysis.tolerance:g}")
    return Chart(
        "Redundant constraints by rank tolerance",
        "relative tolerance",
        "number",
        (curve,),
        (used,),
        steps=True,
        powers="x",
    )
