"""A xacro file contains an expression that is expanded only with permission.

What it does
------------
Checks every expression and substitution of a xacro file, and of what it includes, before anything is
expanded. Allowed are numbers, texts, names, arithmetic, comparisons, conditions, indexing, lists and
dictionaries; calls of xacro's own functions and of methods that only compute; ``$(find)``, ``$(arg)``, and
``$(env)`` of ROS's variables; files of the packages. The same holds for ``$(env)`` in a URDF.

Why it matters
--------------
xacro evaluates expressions as Python: a file from an unknown author could run any program, and copy any file
or environment variable into a report.

Example
-------
``value="${(lambda: ().__class__)()}"``, or ``$(env HOME)``.

Remedy
------
Write the value with allowed expressions. For a file that you trust like a program:
``--xacro-unsafe``, or ``[xacro] unsafe = true`` in a configuration that is named with ``--config``.

References
----------
What is trusted, and what is not: ``docs/trust.md``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
