"""No mechanism can be built from the model.

What it does
------------
Reports models that are inconsistent: no links, an unknown joint type, a joint without parent or
child, a link that does not exist, two links with the same name.

Why it matters
--------------
Any automatic repair would be a guess; PyBullet ends the process on several of these.

Example
-------
``<parent link="bse"/>`` where the link is called ``base``.

Remedy
------
Correct the named element; the message lists the existing names or types.

References
----------
The URDF and SDF specifications.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
