"""A file that the model names cannot be found.

What it does
------------
Searches the folder of the model, the given package folders, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH,
GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, ``~/.gz`` and pybullet_data. It is a warning for models that an SDF file
includes and for visual files of MJCF: the rest is analyzed without them.

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

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader did without; what stopped it is an error of its own."""
    return reported_defects(__name__, SEVERITY, scene, "pass --package-dir DIR with the folder that holds it")
