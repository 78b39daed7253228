"""An ignore of the configuration matches nothing.

What it does
------------
Compares every ``[[ignore]]`` with what was found in the files it is for. An ignore of a rule that was not
run, or for files of which none was linted or one was unusable, is not judged.

Why it matters
--------------
The finding was mended, or the element is called otherwise now; what stays behind would silence a finding
that nobody has looked at.

Example
-------
``element = "elbow"`` where the joint is called ``elbow_joint`` since last week.

Remedy
------
Delete the ignore, or correct its element.

References
----------
The configuration in ``docs/teams.md``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "warning"

__all__ = ["SEVERITY", "check"]
