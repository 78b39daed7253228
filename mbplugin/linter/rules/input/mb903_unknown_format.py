"""The format of the file is not supported.

What it does
------------
Checks the root element, and the file name suffix if the root element is ambiguous.

Why it matters
--------------
A reader that guesses the format could read another robot.

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
