"""The text is not well-formed XML.

What it does
------------
Parses the file with entities disabled, and accepts the same errors as PyBullet's parser: text before
``<?xml``, two hyphens in a comment, and prefixes that are not declared.

Why it matters
--------------
Elements after the error would be lost, and a truncated file would look like a smaller robot.

Example
-------
``<link name="arm">`` without its ``</link>``.

Remedy
------
Correct the text at the given line; copy a truncated file again.

References
----------
Extensible Markup Language (XML) 1.0, section 2.1.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
