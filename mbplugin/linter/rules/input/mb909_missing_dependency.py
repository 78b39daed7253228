"""A package that this input needs is not installed.

What it does
------------
Requires an optional package only if a file needs it: MuJoCo for MJCF, xacro for xacro files,
PyBullet for overlaps.

Why it matters
--------------
Without it the file cannot be read.

Example
-------
``mbplugin lint humanoid.xml`` without the ``mujoco`` package.

Remedy
------
Install the extra that the message names, such as ``pip install 'mbplugin[mjcf]'``.

References
----------
The optional dependencies in ``pyproject.toml``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
