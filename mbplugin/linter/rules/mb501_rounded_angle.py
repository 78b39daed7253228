"""A rounded angle decides whether a loop is redundant.

What it does
------------
For loops with singular values near the tolerance, reads the file again with rounded angles replaced by
the nearest simple fractions of π. If this reduces such a singular value to a tenth or less, the rule reports
the literals: one finding per value, with all its places in the file. A value whose error is below a tenth of
the worst one in its loops is a warning, because it matters only after the others are corrected. The message
has the gap that all rounded angles make where the loops stand as meant; ``lint -v`` has the loads that it causes.

Why it matters
--------------
``1.57075`` is 4.6e-5 rad less than π/2. Axes that should be parallel are then not parallel: the
constraint is redundant by intent and inconsistent by rounding, and a solver that includes it locks the
loop or loads it with large forces.

Example
-------
``<origin rpy="1.57075 0 3.141592" …/>`` in PyBullet's minitaur.urdf.

Remedy
------
Write the angle with 16 digits, ``1.5707963267948966``; meanwhile analyze with ``--snap-angles``.

References
----------
wojtyra2013 (6): with rounded data the rank is a statement at a tolerance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mbplugin.analysis import Analysis
from mbplugin.constraints.rank import RankedBlock
from mbplugin.constraints.reduction.null_space import Spectrum
from mbplugin.linter.checks.blocks import ZERO, suspect_values
from mbplugin.linter.checks.snapping import (
    RoundedLiteral,
    largest_gap,
    made_by_rounding,
    rounded_literals,
)
from mbplugin.linter.files.places import counted
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"
#: Literals with errors below this fraction of the worst one do not decide.
_MINOR = 0.1


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per distinct rounded value."""
    if analysis is None:
        return
    caused = made_by_rounding(scene, analysis)
    literals = [literal for ranked, _ in caused for literal in rounded_literals(scene, ranked)]
    worst = max((abs(literal.angle.error) for literal in literals), default=0.0)
    by_value: dict[str, list[RoundedLiteral]] = {}
    for literal in literals:
        by_value.setdefault(literal.angle.literal.lstrip("+-"), []).append(literal)
    gap = largest_gap(scene, analysis) if literals else None
    for same in by_value.values():
        minor = abs(same[0].angle.error) < _MINOR * worst
        yield _finding(
            same, caused, analysis.tolerance, "warning" if minor else SEVERITY, None if minor else gap
        )


def _finding(
    same: Sequence[RoundedLiteral],
    caused: Sequence[tuple[RankedBlock, Spectrum]],
    tolerance: float,
    severity: Severity,
    gap: tuple[RowLabel, float] | None,
) -> Finding:
    first = same[0]
    angle, names = first.angle, list(dict.fromkeys(literal.name for literal in same))
    values = [value for ranked, _ in caused for _, value in suspect_values(ranked, tolerance)]
    written = sum(ranked.spectrum.redundancy(ZERO) for ranked, _ in caused)
    meant = sum(spectrum.redundancy(tolerance) for _, spectrum in caused)
    return make_finding(
        __name__,
        severity,
        f'{first.part}="{first.origin.text}" of {first.name} stands for {angle.name}: {angle.literal} is '
        f"{abs(angle.error):.2g} rad off, in {counted(len(names), 'joint')} of "
        f"{counted(len(caused), 'loop')} with a degree of redundancy of {meant} as meant, and {written} as written"
        f" at tolerances below {min(values):.2g}{_words(gap)}",
        element=first.name,
        origin=first.origin,
        evidence={
            "literal": angle.literal,
            "stands_for": angle.name,
            "meant_rad": angle.meant,
            "error_rad": angle.error,
            "joints": names,
            "places": [
                {
                    "file": literal.origin.file,
                    "line": literal.origin.line,
                    "joint": literal.name,
                    "text": literal.origin.text,
                }
                for literal in same
            ],
            "degree_of_redundancy_meant": meant,
            "degree_of_redundancy_written": written,
            "gap": None if gap is None else [*gap[0], abs(gap[1])],
        },
        help=f"write {angle.meant!r}, or analyze as meant with --snap-angles",
    )


def _words(gap: tuple[RowLabel, float] | None) -> str:
    """Return the largest gap that all rounded angles make together; nothing where there is none."""
    if gap is None:
        return ""
    (constraint, component), size = gap
    unit = "m" if component.startswith("t") else "rad"
    return f"; together they are a gap of {1e6 * abs(size):.2g} µ{unit} at {constraint} {component}"
