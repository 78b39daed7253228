"""The input cannot be used, for a reason that has no rule of its own.

What it does
------------
Stops if a reader or the analysis cannot use its input; the message states what is wrong,
where, what was expected and what to do.

Why it matters
--------------
The mechanism cannot be analyzed; the exit code is 2.

Example
-------
Any unusable input that is not covered by MB901 to MB910.

Remedy
------
Follow the remedy in the message.

References
----------
The exit codes of ``mbplugin lint``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
