"""Packages around a robot: folders with a package.xml, as a checkout has them and as CMake installs them."""

from __future__ import annotations

from .dice import Dice
from .markup import Tag, spoil, tag
from .sketch import Sketch
from .urdf import robot_tag
from .xacro import xacro

#: What $(find …) and package:// name; the last is nowhere.
NAMES = ("limbs", "arm", "nowhere")
#: Where a package keeps its macros, seen from the package, and how a file names that place.
_LAYOUTS = (("urdf/leg.xacro", "urdf/leg.xacro"), ("description/urdf/leg.xacro", "urdf/leg.xacro"))


def packages(mechanism: Sketch, meshes: dict[str, bytes], dice: Dice) -> dict[str, str]:
    """Return the files of two packages; ``arm/urdf/model.urdf.xacro`` uses macros of the other.

    Parameters
    ----------
    meshes : dict of file name to content
        Files beside the packages; the models name them in many ways.
    """
    place, stated = dice.any(_LAYOUTS)
    files = {f"limbs_folder/{place}": _macros(mechanism, dice), "limbs_folder/config/d.yaml": "{k: 2}\n"}
    if dice.chance(0.1):
        # two files may be meant
        files[f"limbs_folder/other/{stated}"] = _macros(mechanism, dice)
    for folder, name in (("limbs_folder", "limbs"), ("arm", "arm")):
        if not dice.odd():
            files[f"{folder}/package.xml"] = _package(name, dice)
    include = f"$(find {dice.name(NAMES[:1])})/{stated}"
    text = xacro(mechanism, [_in_package(name, dice) for name in sorted(meshes)], [include], dice)
    files["arm/urdf/model.urdf.xacro"] = text
    return files


def fragment(mechanism: Sketch, dice: Dice) -> str:
    """Return a ``<robot>`` without links: what others include, and what folders hold beside robots."""
    robot = robot_tag(mechanism, [], dice)
    kept = ("joint", "gazebo", "transmission", "ros2_control", "loop_joint")
    robot.children = [one for one in robot.children if isinstance(one, Tag) and one.name in kept]
    if dice.chance(0.6):
        robot.children = [one for one in robot.children if isinstance(one, Tag) and one.name != "joint"]
    robot.children.append(tag("material", tag("color", rgba=dice.vector(1, 0, 0, 1)), name="red"))
    spoil(robot, dice)
    return f'<?xml version="1.0"?>\n{robot.text()}\n'


def _macros(mechanism: Sketch, dice: Dice) -> str:
    """Return a file of macros, which may not work by itself."""
    head = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    link = f'<link name="{dice.any(("leg", "$" + "{name}_leg"))}"/>'
    fails = ("<xacro:paint/>", "<xacro:leg/>", '<link name="$(arg side)"/>')
    loose = dice.any(fails) if dice.odd(3) else dice.any(("", "", '<link name="loose"/>'))
    macro = f'<xacro:macro name="leg" params="name">{link}</xacro:macro>'
    name = dice.any(mechanism.bodies) if mechanism.bodies else "b"
    also = dice.any(("", "", '<xacro:include filename="leg.xacro"/>', f'<link name="{_plain(name)}"/>'))
    return f"{head}{macro}{loose}{also}</robot>\n"


def _plain(name: str) -> str:
    return name if name.isidentifier() else "b"


def _package(name: str, dice: Dice) -> str:
    stated = dice.name([name])
    package = tag("package", tag("name", stated), tag("version", "1.0.0"), format="3")
    if dice.odd():
        spoil(package, dice)
    return f'<?xml version="1.0"?>\n{package.text()}\n'


def _in_package(mesh: str, dice: Dice) -> str:
    return dice.any(
        (mesh, f"package://{dice.name(NAMES)}/{mesh}", f"package://limbs/meshes/{mesh}", f"../{mesh}")
    )
