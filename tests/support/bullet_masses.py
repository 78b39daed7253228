"""PyBullet's robots as PyBullet reads them, and their masses here."""

import re
from dataclasses import replace
from functools import cache

import numpy as np

from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene
from mbplugin.readers import load
from places import BULLET_DATA

DATA = BULLET_DATA


#: Links whose inertia Bullet dislikes and sets to zero, by its own warning.
ZEROED_BY_BULLET = {
    "TwoJointRobot_w_fixedJoints.urdf": {"link_1", "link_2"},
    "TwoJointRobot_wo_fixedJoints.urdf": {"link_1", "link_2"},
    "mini_cheetah/mini_cheetah.urdf": {"thigh_fr", "thigh_fl", "thigh_hr", "thigh_hl"},
    "spherical_joint_limit.urdf": {"neck"},
    "xarm/link2.urdf": {"link2"},
    "xarm/link2_com.urdf": {"link2"},
    "xarm/link3.urdf": {"link3"},
    "xarm/link3_com.urdf": {"link3"},
    "xarm/xarm6_robot.urdf": {"link2", "link3"},
    "xarm/xarm6_robot_white.urdf": {"link2", "link3"},
    "xarm/xarm6_with_gripper.urdf": {"link2", "link3"},
}


@cache
def ours(file: str) -> Scene | None:
    try:
        return load(DATA / file, base="fixed")
    except MbPluginError:
        return None


def as_pybullet_reads(scene: Scene, zeroed: set[str]) -> Scene:
    """Put in what PyBullet makes of links without inertial, and of inertias that it dislikes."""

    def body(b: Body) -> Body:
        if ("body", b.name, "inertial") not in scene.origin:
            return replace(b, mass=1.0, I_C=np.eye(3))
        return replace(b, I_C=np.zeros((3, 3))) if b.name in zeroed else b

    mech = scene.mechanism
    return replace(scene, mechanism=replace(mech, bodies=tuple(body(b) for b in mech.bodies)))


def is_diagonal(file: str) -> bool:
    """Whether every inertia in a file has zero products."""
    products = re.findall(r"\bi(?:xy|xz|yz)\s*=\s*[\"']([^\"']*)", (DATA / file).read_text(errors="replace"))
    return not any(float(product) for product in products)
