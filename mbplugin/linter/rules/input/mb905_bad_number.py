"""A value is not the expected number or list of finite numbers.

What it does
------------
Reads every number of the file, checks their count, and reports words, NaN and infinity.

Why it matters
--------------
One NaN makes every result NaN, and simulators propagate it without a warning.

Example
-------
``<origin xyz="0 0 nan"/>``, or an ``xyz`` of two numbers.

Remedy
------
Correct the text at the given line.

References
----------
The URDF and SDF specifications.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
