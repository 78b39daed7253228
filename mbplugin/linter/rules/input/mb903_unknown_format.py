"""The file is of no format that can be read.

What it does
------------
Looks at the root element, and at the ending where that says nothing.

Why it matters
--------------
A reader that guesses would read another robot than the one meant.

Example
-------
A file that begins with ``<svg>``.

Remedy
------
Pass a URDF, SDF, MJCF, xacro or ``.scene.toml`` file.

References
----------
The formats in the documentation of ``mbplugin.load``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
