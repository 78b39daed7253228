"""A name refers to no body, pair or coordinate.

What it does
------------
Resolves every name in closures, couplings, drivers, locks and coordinates.

Why it matters
--------------
A closure on the wrong body gives another mechanism, so a similar name is never used instead.

Example
-------
``body_b = "lower_lge"`` in a ``[[closure]]``.

Remedy
------
Correct the name; the message proposes the nearest one.

References
----------
The scene schema, ``mbplugin schema scene``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
