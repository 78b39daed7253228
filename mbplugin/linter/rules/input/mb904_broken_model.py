"""No mechanism can be built from the model.

What it does
------------
Refuses models that contradict themselves: no links, an unknown joint type, a joint without parent or
child, a link that does not exist, two links of one name.

Why it matters
--------------
Any repair would be a guess at the robot; PyBullet ends the process on several of these.

Example
-------
``<parent link="bse"/>`` where the link is called ``base``.

Remedy
------
Correct the element named; the sentence lists the names or types that exist.

References
----------
The URDF and SDF specifications.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
