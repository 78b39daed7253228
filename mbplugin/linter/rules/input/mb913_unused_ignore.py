"""A waiver of the configuration matches nothing.

What it does
------------
Compares every ``[[waive]]`` with the findings in its files. A waiver is not checked if its rule was not
run, if none of its files was linted, or if one of them was unusable.

Why it matters
--------------
The model was corrected, or the element has a new name; the remaining waiver could suppress a new finding
without a review.

Example
-------
``element = "elbow"`` after the joint was renamed to ``elbow_joint``.

Remedy
------
Delete the waiver, or correct its element.

References
----------
The configuration in ``docs/teams.md``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "warning"

__all__ = ["SEVERITY", "check"]
