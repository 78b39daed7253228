"""A loop restrains the same motion more than once.

What it does
------------
Reports every block of the constraint graph whose constraint rows are linearly dependent at the rank
tolerance: its degree of redundancy p, and each independent self-stress. A scene that declares
exactly this value is not reported.

Why it matters
--------------
A rigid model does not determine how the load divides among redundant constraints: reactions are
arbitrary, some solvers jam the mechanism, and a real mechanism of this design needs exact tolerances or
flexibility.

Example
-------
A planar four-bar whose four hinges are all revolute: 20 rows of rank 17, so p = 3.

Remedy
------
Replace passive pairs by weaker ones as the finding proposes (a joint that is driven, braked, limited or
locked is not changed; if such joints prevent a remedy, the finding names them; in MJCF by a slide joint or a
connect), declare the value in the scene file if it is intended (``[lint] degree_of_redundancy``), or model the
listed bodies as flexible.

References
----------
wojtyra2013 (6), (7).
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.blocks import (
    block_place,
    closures_of,
    obstacles_to,
    proposed_changes,
    undeclared_blocks,
)
from mbplugin.linter.checks.formats import format_of
from mbplugin.linter.checks.redundancy_words import redundancy_sentence, remedy_sentence
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per redundant block."""
    for ranked in undeclared_blocks(scene, analysis):
        assert analysis is not None
        members = ranked.block.constraints
        own = frozenset(members)
        stresses = [s for s in analysis.self_stresses if s.constraints[0] in own]
        loaded = {name for s in stresses for name in s.constraints}
        changes, obstacles = proposed_changes(analysis, ranked), obstacles_to(analysis, ranked)
        shaky = any(block.constraints == members for block in analysis.mobility.shaky)
        element, origin = block_place(scene, [name for name in members if name in loaded])
        yield make_finding(
            __name__,
            SEVERITY,
            redundancy_sentence(ranked.redundancy, stresses),
            element=element,
            origin=origin,
            evidence={
                "degree_of_redundancy": ranked.redundancy,
                "constraints": list(members),
                "sigma_r": ranked.sigma_r if ranked.rank else None,
                "sigma_r_plus_1": ranked.sigma_next,
                "self_stresses": [s.text for s in stresses],
                "toml": "\n\n".join(change.toml() for change in changes),
                "obstacles": {obstacle.constraint: list(obstacle.duties) for obstacle in obstacles},
            },
            help=remedy_sentence(changes, obstacles, closures_of(scene), mjcf=format_of(scene) == "mjcf")
            if changes or not shaky
            else "weaker pairs would make a mechanism of this rigid loop: see MB506",
        )
