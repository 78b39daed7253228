"""The degree of redundancy depends on the rank tolerance.

What it does
------------
Reports singular values of the scaled closure Jacobian between 1e-10 and ten times the tolerance, with the
plateaus of p over the tolerance and the tolerances at which it jumps. It is a note if rounded angles cause
all of them, which MB501 reports.

Why it matters
--------------
Such a mechanism is redundant by intent but not in its numbers, or nearly redundant at this pose. A
solver that includes the constraint computes large forces from a misfit of micrometres; one that does not
obtains another number of freedoms.

Example
-------
PyBullet's Minitaur with closed feet: p = 0 at a tolerance of 1e-7 and p = 4 at 1e-4.

Remedy
------
Correct rounded angles (rule MB501 names them), or give another ``--tolerance`` and state the reason.

References
----------
wojtyra2013 (6): the rank is a statement at a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.blocks import ZERO, block_place, suspect_values
from mbplugin.linter.checks.snapping import made_by_rounding
from mbplugin.linter.files.places import counted
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding, for all blocks together."""
    if analysis is None:
        return
    suspects = {b: suspect_values(b, analysis.tolerance) for b in analysis.blocks}
    blocks = [b for b in analysis.blocks if suspects[b]]
    if not blocks:
        return
    values = sorted(value for found in suspects.values() for _, value in found)
    strict = sum(b.spectrum.redundancy(ZERO) for b in analysis.blocks)
    loose = sum(b.spectrum.redundancy(values[-1] * 1.001) for b in analysis.blocks)
    element, origin = block_place(scene, blocks[0].block.constraints)
    spread = f"{values[0]:.2g}" if values[-1] < 1.05 * values[0] else f"{values[0]:.2g} … {values[-1]:.2g}"
    rounded = {id(ranked) for ranked, _ in made_by_rounding(scene, analysis)}
    yield make_finding(
        __name__,
        "note" if all(id(ranked) in rounded for ranked in blocks) else SEVERITY,
        f"the degree of redundancy depends on the tolerance: it is {strict} below and {loose} above "
        f"{spread}, where {counted(len(values), 'singular value')} of {counted(len(blocks), 'loop')} "
        f"{'lies' if len(values) == 1 else 'lie'}; the tolerance is {analysis.tolerance:g}",
        element=element,
        origin=origin,
        evidence={
            "relative_singular_values": values,
            "tolerance": analysis.tolerance,
            "degree_of_redundancy_below": strict,
            "degree_of_redundancy_above": loose,
            "blocks": [list(b.block.constraints) for b in blocks],
        },
        help="correct rounded angles in these loops (MB501), or choose --tolerance on the side you mean",
    )
