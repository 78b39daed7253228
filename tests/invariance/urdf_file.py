"""A URDF as its elements: reading, loops added at a pose, and writing it again."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array, Pose, rotation_from_vector, rpy_from_rotation

#: What may close a loop.
LOOPS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "point-on-line", "fixed")
#: What the transformations know; a file with more of it is transformed as a mechanism.
_KNOWN = {"link", "joint", "loop_joint", "material", "transmission", "gazebo", "sensor", "ros2_control"}
#: Attributes that are rewritten; a slip of the pen in one is what other tests look at.
_NUMBERS = {"xyz", "rpy", "lower", "upper", "effort", "velocity", "damping", "friction", "multiplier"}
_NUMBERS |= {"offset", "size", "radius", "length", "scale", "ixx", "ixy", "ixz", "iyy", "iyz", "izz"}


@dataclass(frozen=True, eq=False)
class Urdf:
    """A URDF, the pose it is looked at, and whether its root stands on the ground.

    Parameters
    ----------
    robot : Element
        Never changed; every transformation begins with a copy.
    q : mapping of joint name to value
        Of the joints with a single freedom, rad and lengths of the file.
    base : "fixed", "free" or None
    place : Pose
        Where the root stands.
    """

    robot: ET.Element
    q: Mapping[str, float]
    base: str | None
    place: Pose = field(default_factory=Pose.identity)

    def write(self, folder: Path) -> Path:
        """Write the file into a folder, with a scene beside it where it does not stand at the origin."""
        file = folder / "robot.urdf"
        ET.ElementTree(self.robot).write(file, encoding="utf-8", xml_declaration=True)
        if not self.place.p.any():
            return file
        base = f'base = "{self.base}"\n' if self.base else ""
        xyz, rpy = (list(map(float, v)) for v in (self.place.p, rpy_from_rotation(self.place.R)))
        scene = folder / "robot.scene.toml"
        scene.write_text(f'[[model]]\nfile = "robot.urdf"\nxyz = {xyz}\nrpy = {rpy}\n{base}')
        return scene

    def load(self, folder: Path) -> mb.Scene:
        """Return what our reader makes of it."""
        file = self.write(folder)
        return mb.load(file) if file.suffix == ".toml" else mb.load(file, base=self.base)


def read(file: Path) -> ET.Element | None:
    """Return the elements of a file that the transformations understand, or nothing."""
    try:
        robot = ET.parse(file).getroot()
        for element in robot.iter():
            for name in _NUMBERS & element.attrib.keys():
                if numbers_of(element, name).size != 3 and name in ("xyz", "rpy", "scale", "size"):
                    return None
    except (ET.ParseError, ValueError):
        return None
    known = robot.tag == "robot" and {e.tag for e in robot} <= _KNOWN and robot.findall("link")
    plain = not any(e.get("quat_xyzw") for e in robot.iter()) and not robot.findall("gazebo/joint")
    # a reader replaces what stands in $(...), so that a name of the file is none of the model
    plain = plain and not any("$(" in value for e in robot.iter() for value in e.attrib.values())
    # which of two joints into one link closes the loop is a matter of their order
    children = [child.get("link") for child in robot.findall("joint/child")]
    plain = plain and len(set(children)) == len(children)
    names = [[e.get("name") for e in robot.findall(tag)] for tag in ("link", "joint")]
    return robot if known and plain and all(len(set(n)) == len(n) for n in names) else None


def at_random(robot: ET.Element, base: str | None, folder: Path, rng: np.random.Generator) -> Urdf:
    """Return a robot at a random pose within its limits, with up to three loops closed there."""
    scene = Urdf(robot, {}, base).load(folder)
    mech = scene.mechanism
    # a mimic is met where the file puts it
    q = {} if mech.couplings else _random_pose(mech, rng)
    closed = mb.analyze(scene, q, samples=0)
    q = {p.name: closed.q[mech.tree.joint_of_pair[p.name].q][0] for p in _single(mech)}
    with_loops = _copy(robot)
    links = [link.get("name") for link in robot.findall("link")]
    loops = int(rng.integers(1, 4)) if len(links) > 1 else 0
    for k in range(loops):
        with_loops.append(_loop(mech, closed.q, f"loop {k}", [str(n) for n in links], rng))
    return Urdf(with_loops, {name: float(value) for name, value in q.items()}, base)


def _copy(robot: ET.Element) -> ET.Element:
    return ET.fromstring(ET.tostring(robot))


def _single(mech: Mechanism) -> list:
    return [j.pair for j in mech.tree.joints if j.pair and len(j.pair.kind.free) == 1]


def _random_pose(mech: Mechanism, rng: np.random.Generator) -> dict[str, float]:
    q = {}
    for pair in _single(mech):
        most = 0.1 if pair.kind.free[0] == "tz" else 2.0
        freedom = pair.freedoms[0]
        low, high = max(freedom.lower, -most), min(freedom.upper, most)
        q[pair.name] = float(rng.uniform(low, high)) if low < high else float(freedom.lower)
    return q


def _loop(mech: Mechanism, q: Array, name: str, links: list[str], rng: np.random.Generator) -> ET.Element:
    """Return a joint between two links that is closed at the pose, often along another joint."""
    poses = forward(mech, q)
    joint = ET.Element("loop_joint", name=name, type=str(rng.choice(LOOPS)))
    extent = float(np.ptp(poses.p_WC, axis=0).max()) or 1.0
    X_WP = Pose(rotation_from_vector(rng.normal(size=3)), poses.p_WC[0] + rng.uniform(-extent, extent, 3))
    if mech.pairs and rng.random() < 0.6:
        pair = mech.pairs[int(rng.integers(len(mech.pairs)))]
        along = poses.of(mech.body_index[pair.body_a]) @ pair.X_AP
        X_WP = Pose(along.R, X_WP.p)
    for side, link in zip(("link1", "link2"), rng.choice(links, 2, replace=False), strict=True):
        X = poses.of(mech.body_index[str(link)]).inverse() @ X_WP
        ET.SubElement(joint, side, link=str(link), **written(X))
    ET.SubElement(joint, "axis", xyz="0 0 1")
    return joint


def written(X: Pose) -> dict[str, str]:
    """Return xyz and rpy of a frame as attributes, to the last digit."""
    return {"xyz": text_of(X.p), "rpy": text_of(rpy_from_rotation(X.R))}


def text_of(values: Array) -> str:
    """Return numbers as they are written in a file, to the last digit."""
    return " ".join(repr(float(v)) for v in values)


def numbers_of(element: ET.Element, attribute: str, default: str = "0 0 0") -> Array:
    """Return the numbers of an attribute."""
    return np.array([float(v) for v in element.get(attribute, default).split()])


def pose_of(element: ET.Element | None) -> Pose:
    """Return the frame that an element writes as xyz and rpy."""
    if element is None:
        return Pose.identity()
    return Pose.from_xyz_rpy(numbers_of(element, "xyz"), numbers_of(element, "rpy"))
