"""A text is not the finite numbers that belong there.

What it does
------------
Reads every number of the file, counts them, and refuses words, NaN and infinity.

Why it matters
--------------
One NaN makes every result NaN, and simulators pass it on without a word.

Example
-------
``<origin xyz="0 0 nan"/>``, or an ``xyz`` of two numbers.

Remedy
------
Correct the text at the line named.

References
----------
The URDF and SDF specifications.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
