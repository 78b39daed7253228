"""A file is missing, empty, a directory, binary, or may not be read.

What it does
------------
Opens the model and every file that it names.

Why it matters
--------------
There is nothing to analyze; the exit code is 2.

Example
-------
``mbplugin lint robto.urdf``, where the file is called ``robot.urdf``.

Remedy
------
Correct the path or the permissions; export binary models as text.

References
----------
The exit codes of ``mbplugin lint``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
