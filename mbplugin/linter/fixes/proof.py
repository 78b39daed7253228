"""The proof of a fix: the finding is gone, no worse one appears, and the robot differs in nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.comparison.models import diff
from mbplugin.comparison.models.alignment import Difference
from mbplugin.errors import MbPluginError
from mbplugin.linter.fixes.edits import Fix
from mbplugin.linter.fixes.sources import elements_of
from mbplugin.linter.rule import SEVERITIES
from mbplugin.linter.run import Report
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Scene, Shape

#: Two models are the same to this relative tolerance; angles that were rounded, to that of ``mbplugin diff``.
_SAME, _ROUNDED = 1e-7, 1e-3
#: Differences of a whole model that follow from those of its parts.
_OF_WHOLE = ("redundancy", "mobility", "dynamics", "reactions")
#: What is normalised in a model that is compared with itself.
_OF_ANY = ("fixed links", "gravity", "base")
Facts = Counter[tuple[str, str]]


@dataclass(frozen=True)
class Change:
    """A change of the robot: its kind, the elements it is about, and its text."""

    kind: str
    elements: frozenset[str]
    text: str

    def is_by(self, fix: Fix) -> bool:
        """Return True if a fix is meant to make this change."""
        if self.kind in _OF_WHOLE:
            whole = {"redundancy": fix.redundancy, "mobility": fix.mobility}
            return whole.get(self.kind, bool(fix.touches) or fix.rounding)
        return bool(self.elements & fix.touches)


def judged(before: Report, after: Report, fixes: Sequence[Fix]) -> tuple[str, tuple[Change, ...]]:
    """Return the objection to fixes, empty if they hold, and their changes of the robot.

    Parameters
    ----------
    before, after : Report
        The reports on the model without and with the fixes, by all rules.
    fixes : sequence of Fix
    """
    broken = next((f for f in after.findings if f.code.startswith("MB9") and f.severity == "error"), None)
    if broken is not None and before.scene is not None:
        return f"the edited file cannot be used ({broken.code}: {broken.message})", ()
    known, left = _facts(before), _facts(after)
    for key, number in Counter((fix.code, fix.element) for fix in fixes).items():
        if left[key] > max(known[key] - number, 0):
            return f"{key[0]} is still reported for {key[1]!r}", ()
    if before.scene is None:
        # what an unusable file hid, its next error or a finding, was there before
        return "", ()
    most = max(SEVERITIES.index(_severity(before, fix)) for fix in fixes)
    for finding in after.findings:
        new = [name for name in elements_of(finding) if not known[finding.code, name]]
        worse = SEVERITIES.index(finding.severity) > most or finding.severity == "error"
        if new and worse:
            return f"{finding.code} appears ({finding.severity}: {finding.message})", ()
    if after.scene is None:
        return "", ()
    try:
        changes = tuple(_changes(before.scene, after.scene, fixes))
    except MbPluginError as error:
        return f"the models cannot be compared ({error.what})", ()
    for change in changes:
        if not any(change.is_by(fix) for fix in fixes) and not _read_alike(before.scene, after.scene, change):
            return f"the robot changes: {change.text}", ()
    return "", changes


def _facts(report: Report) -> Facts:
    return Counter((finding.code, name) for finding in report.findings for name in elements_of(finding))


def _severity(report: Report, fix: Fix) -> str:
    own = (f.severity for f in report.findings if f.code == fix.code and fix.element in elements_of(f))
    return max(own, key=SEVERITIES.index, default="note")


def _read_alike(before: Scene, after: Scene, change: Change) -> bool:
    """Return True if all elements of a change were read alike, so that only the alignment of the models differs.

    Frames are aligned across joints, so that the changed axis of one joint may show as a turned frame of a neighbour.
    """
    if change.kind == "shapes":
        return False
    old, new = before.mechanism, after.mechanism
    parts = [name for name in change.elements if name in old.body_index or name in old.pair_by_name]
    return bool(parts) and all(_same_part(old, new, name) for name in parts)


def _same_part(old: Mechanism, new: Mechanism, name: str) -> bool:
    """Return True if a body or pair has the same numbers in two readings."""
    if name in old.body_index and name in new.body_index:
        a, b = old.bodies[old.body_index[name]], new.bodies[new.body_index[name]]
        arrays = (([a.mass], [b.mass]), (a.p_LC, b.p_LC), (a.I_C, b.I_C))
        return all(np.allclose(one, other, rtol=_SAME, atol=_SAME) for one, other in arrays)
    if name not in old.pair_by_name or name not in new.pair_by_name:
        return False
    first, second = old.pair_by_name[name], new.pair_by_name[name]
    frames = ((first.X_AP, second.X_AP), (first.X_BS, second.X_BS))
    return (first.kind, first.body_a, first.body_b, first.freedoms) == (
        second.kind,
        second.body_a,
        second.body_b,
        second.freedoms,
    ) and all(np.allclose(X.R, Y.R, atol=_SAME) and np.allclose(X.p, Y.p, atol=_SAME) for X, Y in frames)


# The changes of the robot.


def _changes(before: Scene, after: Scene, fixes: Sequence[Fix]) -> Iterator[Change]:
    """Yield the differences between two readings of a model."""
    tolerance = _ROUNDED if any(fix.rounding for fix in fixes) else _SAME
    compared = diff(before, after, tolerance=tolerance)
    yield from map(_of_difference, compared.differences)
    # where a joint is moved, the frame of the link behind it moves along
    joints: dict[str, set[str]] = {}
    for pair in before.mechanism.pairs:
        joints.setdefault(pair.body_b, set()).add(pair.name)
    for one in compared.normalised:
        # two readings of one file differ in nothing else that would need normalisation
        if one.kind not in _OF_ANY:
            yield Change(one.kind, _names(one.element, *joints.get(one.element, ())), one.text)
    for link in sorted({*before.shapes, *after.shapes}):
        old, new = before.shapes.get(link, ()), after.shapes.get(link, ())
        if not _same_shapes(old, new):
            text = f"shapes of {link}: {_shown(old)} → {_shown(new)}"
            yield Change("shapes", _names(link), text)


def _of_difference(difference: Difference) -> Change:
    values = f"{difference.value_a or 'none'} → {difference.value_b or 'none'}"
    # the coupling of a mimic is named after its joint
    stated = {difference.element_a, difference.element_b}
    names = _names(*stated, *(name.removeprefix("mimic ") for name in stated))
    return Change(difference.kind, names, f"{difference.kind} of {difference.element}: {values}")


def _names(*stated: str) -> frozenset[str]:
    """Return names with and without the prefix of their model."""
    return frozenset({*stated, *(name.rpartition("/")[2] for name in stated)})


def _same_shapes(old: Sequence[Shape], new: Sequence[Shape]) -> bool:
    """Return True if shapes are the same; colours do not count."""
    return len(old) == len(new) and all(
        (a.role, a.kind, a.size, a.mesh, a.points) == (b.role, b.kind, b.size, b.mesh, b.points)
        and np.allclose(a.X_LS.R, b.X_LS.R, atol=_SAME)
        and np.allclose(a.X_LS.p, b.X_LS.p, atol=_SAME)
        for a, b in zip(old, new, strict=True)
    )


def _shown(shapes: Sequence[Shape]) -> str:
    return ", ".join(f"{shape.role} {shape.kind}" for shape in shapes) or "none"
