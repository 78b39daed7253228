"""A loop restrains the same motion more than once.

What it does
------------
Reports every block of the constraint graph whose constraint rows are linearly dependent at the rank
tolerance: its degree of redundancy p, and each independent self-stress in words.

Why it matters
--------------
A rigid simulator cannot tell how the load divides among redundant constraints: reactions are
arbitrary, some solvers jam, and a real mechanism built this way needs exact tolerances or
flexibility.

Remedy
------
Replace pairs by weaker ones as the finding proposes, declare the value in the scene file when it is
intended (``[lint] degree_of_redundancy``), or model the listed bodies as flexible.

References
----------
wojtyra2013 (6), (7).
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.lint.finding import Finding, Severity
from mbplugin.lint.registry import make_finding
from mbplugin.sources.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per redundant block."""
    if analysis is None or scene.options.degree_of_redundancy == analysis.degree_of_redundancy:
        return
    for ranked in analysis.blocks:
        if not ranked.redundancy:
            continue
        members = ranked.block.constraints
        texts = [s.text for s in analysis.self_stresses if s.constraints[0] in members]
        remedy = analysis.remedies[0] if analysis.remedies else None
        changes = [c for c in remedy.changes if c.constraint in members] if remedy else []
        yield make_finding(
            __name__,
            SEVERITY,
            f"{ranked.redundancy} redundant constraint{'s' if ranked.redundancy > 1 else ''}: "
            + "; ".join(texts),
            element=members[-1],
            origin=scene.origin.get(("constraint", members[-1], "")),
            evidence={
                "degree_of_redundancy": ranked.redundancy,
                "constraints": list(members),
                "sigma_r": ranked.sigma_r,
                "sigma_r_plus_1": ranked.sigma_next,
            },
            help="make " + " and ".join(f"{c.constraint} {c.new} instead of {c.old}" for c in changes)
            if changes
            else "release one of the constraints named",
        )
