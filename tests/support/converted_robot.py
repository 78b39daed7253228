"""A robot as URDF, and what a converter may do to it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

from lxml import etree

Root = etree._Element

#: An arm with a parallelogram, a gripper with a mimic, a camera that is fixed, and a tool frame without mass.
ROBOT = """<robot name="arm">
 <link name="world"/>
 <link name="base"><inertial><origin xyz="0 0 0.1"/><mass value="12"/>
  <inertia ixx="0.2" iyy="0.25" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="mount" type="fixed"><parent link="world"/><child link="base"/></joint>
 <link name="shoulder"><inertial><origin xyz="0.02 -0.03 0.15" rpy="0.1 0.2 0.3"/><mass value="8"/>
  <inertia ixx="0.12" iyy="0.1" izz="0.06" ixy="0.004" ixz="-0.006" iyz="0.003"/></inertial></link>
 <joint name="pan" type="revolute"><parent link="base"/><child link="shoulder"/><origin xyz="0 0.05 0.3"/>
  <axis xyz="0 0 1"/><limit lower="-1.2" upper="2.5" effort="80" velocity="2"/></joint>
 <link name="upper"><inertial><origin xyz="0.25 0.04 -0.02"/><mass value="5"/>
  <inertia ixx="0.02" iyy="0.11" izz="0.12" ixy="0.005" ixz="0.002" iyz="-0.004"/></inertial></link>
 <joint name="lift" type="revolute"><parent link="shoulder"/><child link="upper"/>
  <origin xyz="0.1 0.08 0.2" rpy="0.2 -0.3 0.5"/>
  <axis xyz="0 1 0"/><limit lower="-0.5" upper="1.8" effort="70" velocity="2"/></joint>
 <link name="fore"><inertial><origin xyz="0.2 -0.01 0.03"/><mass value="3"/>
  <inertia ixx="0.012" iyy="0.04" izz="0.045" ixy="0.001" ixz="-0.002" iyz="0.0015"/></inertial></link>
 <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0.5 0.02 0.01"/>
  <axis xyz="0 1 0"/><limit lower="-1.5" upper="1.5" effort="50" velocity="3"/></joint>
 <link name="camera"><inertial><origin xyz="0.01 0 0.02"/><mass value="0.4"/>
  <inertia ixx="0.001" iyy="0.0012" izz="0.0009" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="camera_mount" type="fixed"><parent link="fore"/><child link="camera"/>
  <origin xyz="0.1 0 0.06" rpy="0 0.4 0"/></joint>
 <link name="wrist"><inertial><origin xyz="0 0.01 0.05"/><mass value="1.5"/>
  <inertia ixx="0.004" iyy="0.005" izz="0.002" ixy="0.0003" ixz="0.0002" iyz="-0.0001"/></inertial></link>
 <joint name="roll" type="continuous"><parent link="fore"/><child link="wrist"/>
  <origin xyz="0.45 0 0.03" rpy="0 0.3 0"/><axis xyz="1 0 0"/><limit effort="20" velocity="4"/></joint>
 <link name="tool0"/>
 <joint name="tool_mount" type="fixed"><parent link="wrist"/><child link="tool0"/>
  <origin xyz="0.03 0 0.12" rpy="0 1.2 0"/></joint>
 <link name="left"><inertial><origin xyz="0.01 0.02 0.03"/><mass value="0.2"/>
  <inertia ixx="2e-4" iyy="3e-4" izz="2.5e-4" ixy="1e-5" ixz="0" iyz="0"/></inertial></link>
 <joint name="grip" type="prismatic"><parent link="wrist"/><child link="left"/><origin xyz="0 0.03 0.1"/>
  <axis xyz="0 1 0"/><limit lower="-0.01" upper="0.04" effort="30" velocity="0.2"/></joint>
 <link name="right"><inertial><origin xyz="0.01 -0.02 0.03"/><mass value="0.2"/>
  <inertia ixx="2e-4" iyy="3e-4" izz="2.5e-4" ixy="-1e-5" ixz="0" iyz="0"/></inertial></link>
 <joint name="follow" type="prismatic"><parent link="wrist"/><child link="right"/><origin xyz="0 -0.03 0.1"/>
  <axis xyz="0 -1 0"/><limit lower="-0.02" upper="0.09" effort="30" velocity="0.2"/>
  <mimic joint="grip" multiplier="2" offset="0.005"/></joint>
 <link name="rod"><inertial><origin xyz="0.25 0.01 0"/><mass value="0.9"/>
  <inertia ixx="0.002" iyy="0.02" izz="0.021" ixy="2e-4" ixz="0" iyz="1e-4"/></inertial></link>
 <joint name="rod_pin" type="revolute"><parent link="shoulder"/><child link="rod"/>
  <origin xyz="0.1 0.08 0.3" rpy="0.2 -0.3 0.5"/><axis xyz="0 1 0"/>
  <limit lower="-0.6" upper="1.9" effort="1" velocity="2"/></joint>
 <link name="crank"><inertial><origin xyz="0 0 0.05"/><mass value="0.3"/>
  <inertia ixx="4e-4" iyy="5e-4" izz="2e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="crank_pin" type="revolute"><parent link="upper"/><child link="crank"/>
  <origin xyz="0.4 -0.02 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1.1" effort="1" velocity="2"/></joint>
 <loop_joint name="coupler" type="revolute"><link1 link="crank" xyz="0 0 0.1" rpy="0 0 0"/>
  <link2 link="rod" xyz="{rod}" rpy="0 0 0"/><axis xyz="0 1 0"/></loop_joint>
</robot>"""


def robot() -> Root:
    """Return the robot, its loop closed at zero joint coordinates."""
    import numpy as np

    from mbplugin.model.spatial import rotation_from_rpy

    # from the rod's pin to the loop's pin: both pins are turned alike, and are 0.1 m apart along the shoulder's z
    R = rotation_from_rpy((0.2, -0.3, 0.5))
    point = np.array([0.4, -0.02, 0.1]) - R.T @ [0.0, 0.0, 0.1]
    return etree.fromstring(ROBOT.replace("{rod}", " ".join(f"{x:.12g}" for x in point)))


def text(root: Root) -> str:
    """Return the URDF of a robot."""
    return etree.tostring(root).decode()


def link(root: Root, name: str, part: str = "") -> Root:
    """Return a link, or one element of its inertial."""
    found = root.find(f"link[@name='{name}']")
    return found if not part else found.find(f"inertial/{part}")


def joint(root: Root, name: str, part: str = "") -> Root:
    """Return a joint, or one of its elements."""
    found = root.find(f"joint[@name='{name}']")
    return found if not part else found.find(part)


def numbers(element: Root, attribute: str) -> list[float]:
    """Return the numbers of an attribute."""
    return [float(word) for word in element.get(attribute).split()]


def put(element: Root, attribute: str, values: list[float]) -> None:
    """Write numbers to an attribute."""
    element.set(attribute, " ".join(repr(float(x)) for x in values))


def changed(change: Callable[[Root], object]) -> str:
    """Return the URDF of the robot after a change."""
    root = deepcopy(robot())
    change(root)
    return text(root)
