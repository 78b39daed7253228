"""The input cannot be used, for a reason that has no rule of its own.

What it does
------------
Stops where a reader or the analysis refuses what it was given, and says in one sentence what is wrong,
where, what was expected and what to do.

Why it matters
--------------
Nothing can be said about the mechanism; the exit code is 2.

Example
-------
Any refusal that is none of MB901 to MB910.

Remedy
------
Follow the sentence.

References
----------
The exit codes of ``mbplugin lint``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
