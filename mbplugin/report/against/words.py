"""The words of a comparison, for texts and pages."""

from __future__ import annotations

from mbplugin.phrases import number
from mbplugin.report.against.values import Comparison, InputChange, KeyChange, Scalar

#: Characters of a long value.
_LONGEST = 60


def title_of(comparison: Comparison) -> str:
    """Return against which report."""
    made = f" of {comparison.date}" if comparison.date else ""
    units = " (in rad, m, kg, s and N)" if comparison.differs else ""
    return f"Against {comparison.path}{made}: {comparison.sentence}{units}"


def input_words(change: InputChange) -> str:
    """Return one input that is not the same."""
    return f"{change.name}: {change.old} → {change.new}"


def change_words(change: KeyChange) -> tuple[str, str, str]:
    """Return the key, how many of its values differ, and the largest difference with its place.

    A sentence of a list is new or gone.
    """
    if change.where and change.where in (change.old, change.new):
        return change.key, "new" if change.old is None else "gone", change.where
    share = "" if change.relative is None else f" ({number(100 * change.relative, '+.3g')} %)"
    most = f"{_shown(change.old)} → {_shown(change.new)}{share}"
    place = f"{change.where}: " if change.where else ""
    return change.key, f"{change.changed} of {change.count} differ, the most", place + most


def _shown(value: Scalar) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    return f"{value:.6g}"
