"""Which environment variables a model may read: those of ROS, and no others."""

from __future__ import annotations

#: How the names of ROS's variables begin; a model may put them into its texts, and so into reports.
ROS_PREFIXES = ("ROS_", "AMENT_", "COLCON_", "RMW_", "GAZEBO_", "GZ_", "IGN_")


def is_ros_variable(name: str) -> bool:
    """Return whether a variable is one of ROS."""
    return name.startswith(ROS_PREFIXES)
