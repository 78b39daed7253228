"""Remedies that re-analysis confirms: nothing is redundant any more and the mobility is as before."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.analysis.remedies import Remedy, apply_changes, candidate_remedies
from mbplugin.analysis.uniqueness import stress
from mbplugin.analysis.view import View
from mbplugin.mechanism.kinematics import coordinates_of


def proved_remedies(view: View) -> tuple[Remedy, ...]:
    """Return the proved remedies at a generic pose; none for large blocks."""
    if not view.redundancy or any(b.elimination for b in view.blocks):
        return ()
    rows = _rows(view)
    proved = []
    for changes in candidate_remedies(view.mech, view.poses, stress(view.blocks)):
        changed = apply_changes(view.mech, changes)
        # the changed pairs have other coordinates for the same body poses
        after = replace(view, mech=changed, q=coordinates_of(changed, view.poses))
        released = rows - _rows(after)
        # as many rows fewer as were redundant: rank, and with it the mobility, is what it was
        if after.redundancy == 0 and released == view.redundancy:
            columns = len(view.columns) * len(view.mech.bodies)
            proved.append(Remedy(changes, after.redundancy, columns - rows + released))
    return tuple(proved)


def _rows(view: View) -> int:
    return sum(len(components) for components in view.row_labels.values())
