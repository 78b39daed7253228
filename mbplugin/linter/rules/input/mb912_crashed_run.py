"""Linting a file failed with an unexpected error.

What it does
------------
Lints each file separately: an error in one, including the end of its process, is reported for that
file, and the others are linted.

Why it matters
--------------
There is no result for this file, so the exit code is 2.

Example
-------
A mesh library that ends the process; memory that runs out.

Remedy
------
This is a bug in mbplugin: please report it with the traceback in the JSON and the file.

References
----------
The exit codes of ``mbplugin lint``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
