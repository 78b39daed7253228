"""The time of the whole run was over before a file was linted.

What it does
------------
Ends the run when its time is over (``--max-seconds``, 900 s): files that are being linted are ended, and
those that were not reached are reported one by one.

Why it matters
--------------
Nothing is known about this file, so the exit code is 2. Without a limit, a hundred files that each use the
whole time of an engine would block a server for hours.

Example
-------
A folder with a hundred files that each take a minute.

Remedy
------
Lint fewer files per run, use more processes (``--jobs``), or state a longer ``--max-seconds``.

References
----------
The exit codes of ``mbplugin lint``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
