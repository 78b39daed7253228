"""A file that the model names cannot be found.

What it does
------------
Searches the folder of the model, the given package folders, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH, and
pybullet_data.

Why it matters
--------------
Parts of the mechanism would be missing.

Example
-------
``file = "package://my_robot/arm.urdf"`` in a scene, with the package in another folder.

Remedy
------
Pass ``--package-dir DIR`` with the folder that contains the package, or correct the name.

References
----------
The ROS convention for ``package://``.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
