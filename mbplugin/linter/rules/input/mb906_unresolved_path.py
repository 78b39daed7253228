"""A file that the model names cannot be found.

What it does
------------
Looks beside the model, in the package folders given, on ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, and
in pybullet_data.

Why it matters
--------------
Parts of the mechanism would be missing.

Example
-------
``file = "package://my_robot/arm.urdf"`` in a scene, with the package somewhere else.

Remedy
------
Pass ``--package-dir DIR`` with the folder that holds the package, or correct the name.

References
----------
The ROS convention for ``package://``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
