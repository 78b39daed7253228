"""A scene file does not follow the schema.

What it does
------------
Reads the TOML and compares tables, keys and values with the schema; unknown keys are errors.

Why it matters
--------------
If an unknown key were ignored, a closure could be missing without a warning.

Example
-------
``[[closuer]]``, or ``xyz_a = [0, 1]``.

Remedy
------
Correct the given line; where a key is unknown, the message proposes the nearest one.

References
----------
The scene schema, ``mbplugin schema scene``; TOML 1.0.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
