"""Read SDF as a scene; here the elements and attributes that SDF has, and the values in its notation."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf, pi

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model import Array, Origin, Pose, Shape, align_z, decimal, rotation_from_quaternion
from mbplugin.readers.unread import (
    LABEL,
    LOOKS,
    PROGRAM,
    READ,
    SENSOR,
    SHAPE,
    TOUCH,
    Entry,
    Idle,
    Unread,
    Use,
    Vocabulary,
    each,
    entry,
)
from mbplugin.readers.xml import Element, angles, child, limit, local_name, number, numbers, origin, where

_SOLVER = Unread("a setting of the simulator's solver; constraints are rigid here", setting=True)
_MODELS = "model link joint frame include drake:joint drake:ball_constraint plugin"


def _number(*names: str) -> dict[str, Use | str]:
    return dict.fromkeys(names, "text")


_GEOMETRY: dict[str, Entry] = {
    "sdf_geometry": entry(
        children={
            "box": "sdf_box",
            "sphere": "sdf_sphere",
            "cylinder": "sdf_cylinder",
            "capsule": "sdf_cylinder",
            "plane": "sdf_plane",
            "mesh": "sdf_mesh",
            **dict.fromkeys(("ellipsoid", "cone", "heightmap", "image", "polyline"), SHAPE),
            "empty": Idle("no shape"),
            "drake:capsule": SHAPE,
            "drake:ellipsoid": SHAPE,
        }
    ),
    "sdf_box": entry(children=_number("size")),
    "sdf_sphere": entry(children=_number("radius")),
    "sdf_cylinder": entry(children=_number("radius", "length")),
    "sdf_plane": entry(children=_number("normal", "size")),
    "sdf_mesh": entry(
        "",
        {"optimization": Idle("how a mesh is simplified for contact")},
        {
            **_number("uri", "scale"),
            "submesh": SHAPE,
            "convex_decomposition": Idle("how a mesh is simplified for contact"),
            "drake:declare_convex": Idle("how a mesh is simplified for contact"),
        },
    ),
}

_INERTIA: dict[str, Entry] = {
    "sdf_inertial": entry(
        "auto",
        {},
        {
            "pose": "pose",
            "mass": "text",
            "inertia": "sdf_inertia",
            "density": Unread("the mass that is written counts"),
            "auto_inertia_params": Unread("inertias are not computed from shapes"),
            "fluid_added_mass": Unread("there is no fluid here"),
        },
    ),
    "sdf_inertia": entry(children=_number("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "velocity_decay": entry(
        children=each("linear angular", Unread("bodies are not damped here", default="0")),
    ),
}

_LINK: dict[str, Entry] = {
    "sdf_link": entry(
        "name",
        {},
        {
            "pose": "pose",
            "inertial": "sdf_inertial",
            "collision": "sdf_collision",
            "visual": "sdf_visual",
            "gravity": Unread("gravity acts on every body here", default="true"),
            "kinematic": Unread("forces move every body here", default="false"),
            "enable_wind": Unread("there is no wind here", default="false"),
            "velocity_decay": "velocity_decay",
            "self_collide": TOUCH,
            "must_be_base_link": Unread("write the joint to the world, or use --base", default="false"),
            "sensor": SENSOR,
            "battery": Idle("energy of a battery moves nothing"),
            "projector": LOOKS,
            "light": LOOKS,
            "particle_emitter": LOOKS,
            "audio_sink": Idle("a sound"),
            "audio_source": Idle("a sound"),
            "plugin": PROGRAM,
            "drake:visual": LOOKS,
        },
        many="collision visual sensor light plugin particle_emitter",
    ),
    "sdf_collision": entry(
        "",
        {"name": LABEL},
        {
            "pose": "pose",
            "geometry": "sdf_geometry",
            "surface": TOUCH,
            "max_contacts": TOUCH,
            "laser_retro": SENSOR,
            "density": Unread("inertias are not computed from shapes", note=True),
            "auto_inertia_params": Unread("inertias are not computed from shapes", note=True),
            "drake:proximity_properties": TOUCH,
        },
    ),
    "sdf_visual": entry(
        "",
        {"name": LABEL},
        {
            "pose": "pose",
            "geometry": "sdf_geometry",
            **dict.fromkeys(
                ("material", "cast_shadows", "laser_retro", "transparency", "visibility_flags", "meta"),
                LOOKS,
            ),
            "plugin": LOOKS,
            "drake:illustration_properties": LOOKS,
            "drake:perception_properties": LOOKS,
        },
    ),
}

_JOINT_PARTS: dict[str, Use | str] = {
    "pose": "pose",
    "parent": "text",
    "child": "text",
    "axis": "sdf_axis",
    "axis2": "sdf_axis",
    "thread_pitch": "text",
    "screw_thread_pitch": "text",
    "gearbox_ratio": "text",
    "gearbox_reference_body": "text",
    "physics": _SOLVER,
    "sensor": SENSOR,
    "drake:rotor_inertia": "text",
    "drake:gear_ratio": "text",
    "drake:mimic": "sdf_mimic",
    "drake:screw_thread_pitch": "text",
    "drake:parent": "text",
    "drake:child": "text",
    "drake:axis": "sdf_axis",
    "drake:controller_gains": Unread("drives and their control are not modelled", setting=True),
}

_JOINT: dict[str, Entry] = {
    "sdf_joint": entry("name type", {}, _JOINT_PARTS),
    "sdf_axis": entry(
        "",
        {},
        {
            "xyz": "sdf_xyz",
            "drake:xyz": "sdf_xyz",
            "use_parent_model_frame": "text",
            "initial_position": "text",
            "dynamics": "sdf_dynamics",
            "limit": "sdf_limit",
            "mimic": "sdf_mimic",
        },
    ),
    "sdf_xyz": entry("expressed_in", text=READ),
    "sdf_dynamics": entry(children=_number("damping", "friction", "spring_reference", "spring_stiffness")),
    "sdf_limit": entry(
        children={
            **_number("lower", "upper", "effort", "velocity"),
            "stiffness": Unread("end stops are rigid here", default="1e8", note=True),
            "dissipation": Unread("end stops are rigid here", default="1.0", note=True),
            "drake:acceleration": Unread("limits of acceleration are not read from SDF", note=True),
        }
    ),
    "sdf_mimic": entry(
        "joint axis multiplier offset reference", {}, _number("multiplier", "offset", "reference")
    ),
}

#: A joint inside a URDF's ``<gazebo>``: axes without mimic, spring and initial position.
JOINT_OF_GAZEBO = entry(
    "name type",
    {},
    {
        **{k: v for k, v in _JOINT_PARTS.items() if not k.startswith(("drake:", "gearbox"))},
        "axis": "gazebo_axis",
        "axis2": "gazebo_axis",
    },
)
_GAZEBO_AXIS = {
    "gazebo_axis": entry(
        children={
            "xyz": "sdf_xyz",
            "use_parent_model_frame": "text",
            "initial_position": Unread("the joint starts at the file's pose", default="0"),
            "dynamics": "gazebo_dynamics",
            "limit": "sdf_limit",
            "mimic": Unread("write it as a [[coupling]] in a scene file"),
        }
    ),
    "gazebo_dynamics": entry(
        children={
            **_number("damping", "friction"),
            "spring_reference": Unread("state it as [[spring]] in a scene file", default="0"),
            "spring_stiffness": Unread("state it as [[spring]] in a scene file", default="0"),
        }
    ),
}

_PARTS: dict[str, Use | str] = {
    "model": "sdf_model",
    "joint": "sdf_joint",
    "frame": "sdf_frame",
    "include": "sdf_include",
    "plugin": PROGRAM,
    "drake:joint": "sdf_joint",
    "drake:ball_constraint": "sdf_ball",
    "drake:linear_bushing_rpy": Unread("bushings are not modelled"),
    "drake:distance_constraint": Unread("state it as a [[closure]] of type distance"),
    "drake:collision_filter_group": TOUCH,
}

SDF: Vocabulary = {
    **_GEOMETRY,
    **_INERTIA,
    **_LINK,
    **_JOINT,
    **_GAZEBO_AXIS,
    "text": entry(text=READ),
    "pose": entry(
        "relative_to rotation_format degrees", {"frame": Unread("write relative_to", default="")}, text=READ
    ),
    "sdf": entry(
        "version",
        {},
        {"world": "sdf_world", "model": "sdf_model", "light": LOOKS, "actor": LOOKS},
        many="model world",
    ),
    "sdf_model": entry(
        "name canonical_link placement_frame",
        {},
        {
            **_PARTS,
            "pose": "pose",
            "static": "text",
            "link": "sdf_link",
            "self_collide": TOUCH,
            "allow_auto_disable": Idle("lets the simulator skip what rests"),
            "enable_wind": Unread("there is no wind here", default="false"),
            "gripper": Unread("nothing is gripped here", note=True),
        },
        many=_MODELS,
    ),
    "sdf_frame": entry("name attached_to", {}, {"pose": "pose"}),
    "sdf_include": entry(
        "merge",
        {},
        {
            **_number("uri", "name", "static", "placement_frame"),
            "pose": "pose",
            "plugin": PROGRAM,
            "experimental:params": Unread("the included file is read as it is"),
        },
        many="plugin",
    ),
    "sdf_ball": entry(
        "name",
        {},
        _number(*(f"drake:ball_constraint_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ"))),
    ),
    "sdf_world": entry(
        "name",
        {},
        {
            **_PARTS,
            "gravity": "text",
            "physics": "sdf_physics",
            "state": READ,
            "population": Unread("write the models out"),
            "road": LOOKS,
            "light": LOOKS,
            "scene": LOOKS,
            "gui": LOOKS,
            "audio": Idle("a sound"),
            "actor": Unread("its course is not followed", note=True),
            "wind": Unread("there is no wind here", note=True),
            "atmosphere": Idle("acts on sensors and plugins"),
            "magnetic_field": Idle("acts on sensors and plugins"),
            "spherical_coordinates": Idle("where on earth the model stands"),
        },
        many=f"{_MODELS} light actor road population physics",
    ),
    "sdf_physics": entry(
        "",
        {
            "name": LABEL,
            "type": Idle("the simulator's own engine"),
            "default": LABEL,
        },
        {"gravity": Unread("write <gravity> in <world>")},
        foreign=Idle("steps and solvers of the simulator's own integration"),
    ),
}


# Values in SDF's notation: element text, poses in several formats, bounds that may be infinite.


def inertia_of(element: Element | None) -> Array:
    """Return the inertia matrix (3, 3) in its axes, kg·m²; unstated values have the defaults of the format."""
    if element is None:
        return np.eye(3)
    xx, yy, zz = (number_of(element, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
    xy, xz, yz = (number_of(element, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def shape_of(role: str, element: Element, X_LS: Pose) -> Shape | None:
    """Return the shape of an element of ``<geometry>``, None for an unknown kind."""
    kind = local_name(element) if isinstance(element.tag, str) else ""
    if kind == "box":
        return Shape(role, kind, tuple(vector_of(element, "size", 3, "1 1 1")), X_LS)
    if kind == "sphere":
        return Shape(role, kind, (number_of(element, "radius", 1.0),), X_LS)
    if kind in ("cylinder", "capsule"):
        size = (number_of(element, "radius", 1.0), number_of(element, "length", 1.0))
        return Shape(role, kind, size, X_LS)
    if kind == "plane":
        normal = vector_of(element, "normal", 3, "0 0 1")
        turn = align_z(normal) if normal.any() else np.eye(3)
        size = (
            tuple(vector_of(element, "size", 2, "1 1")) if child(element, "size") is not None else (1.0, 1.0)
        )
        return Shape(role, kind, size, X_LS @ Pose(turn, np.zeros(3)))
    if kind == "mesh":
        return Shape(
            role, kind, tuple(vector_of(element, "scale", 3, "1 1 1")), X_LS, text_of(element, "uri")
        )
    return None


@dataclass(frozen=True, eq=False)
class WrittenPose:
    """A ``<pose>`` as written.

    Parameters
    ----------
    X : Pose
        In the frame named by ``relative_to``.
    relative_to : str
        Empty if the file names none; the default depends on the element.
    rpy : Origin or None
        The three angle words and their line; None for quaternions, degrees and without a pose.
    where : str
        File and line.
    """

    X: Pose
    relative_to: str
    rpy: Origin | None
    where: str

    @classmethod
    def none(cls, owner: Element) -> WrittenPose:
        """Return the identity pose of an element without ``<pose>``."""
        return cls(Pose.identity(), "", None, where(owner))


def text_of(element: Element, tag: str, default: str = "") -> str:
    """Return the stripped text of a child element (``tag`` or ``drake:tag``)."""
    found = part(element, tag)
    return (found.text or "").strip() if found is not None else default


def part(element: Element, tag: str) -> Element | None:
    """Return the first child with a tag, with or without Drake's prefix."""
    found = child(element, tag)
    return child(element, f"drake:{tag}") if found is None else found


def vector_of(element: Element, tag: str, count: int, default: str) -> Array:
    """Return the numbers in a child element's text, (count,); an empty one has its default, as in libsdformat."""
    found = part(element, tag)
    place = element if found is None else found
    text = "" if found is None else (found.text or "").strip()
    text = text or default
    return numbers(text, count, where(place), f"<{tag}> of <{local_name(element)}>")


def number_of(element: Element, tag: str, default: float) -> float:
    """Return the number in a child element's text."""
    return float(vector_of(element, tag, 1, repr(default))[0])


def lead_of(element: Element) -> float:
    """Return the travel per turn of a screw, m.

    ``screw_thread_pitch`` (1.10) is this value, positive for a right-handed thread. The older
    ``thread_pitch`` has always been read as rad/m, positive for a left-handed thread; its default is 1.

    Raises
    ------
    BrokenModel
        ``thread_pitch`` is zero.
    """
    if child(element, "screw_thread_pitch") is not None:
        return number_of(element, "screw_thread_pitch", 1.0)
    pitch = number_of(element, "thread_pitch", 1.0)
    if pitch == 0.0:
        raise BrokenModel(
            "a screw joint has thread_pitch 0", where=where(element), expected="rad/m, not zero"
        )
    return -2 * pi / pitch


def flag_of(element: Element, tag: str, default: bool = False) -> bool:
    """Return a truth value written as true/false or 1/0."""
    text = text_of(element, tag).lower()
    return default if not text else text in ("1", "true")


def bound_of(element: Element | None, tag: str, default: float) -> float:
    """Return a limit; words and magnitudes that mean infinity give ±inf."""
    found = None if element is None else child(element, tag)
    if found is None or not (found.text or "").strip():
        return default
    text = (found.text or "").strip()
    try:
        value = decimal(text)
    except ValueError:
        value = 0.0
    if isinf(limit(value)):
        return limit(value)
    return number(text, where(found), f"<{tag}>")


def cap_of(element: Element | None, tag: str) -> float:
    """Return an effort or velocity limit; a negative one is not enforced."""
    value = bound_of(element, tag, inf)
    return inf if value < 0 else value


def pose_of(owner: Element, *, snap: bool) -> WrittenPose:
    """Return the ``<pose>`` of an element, by default the identity in the default frame.

    Raises
    ------
    BadNumber
        Wrong count, a number that is not finite, or a zero quaternion.
    """
    element = child(owner, "pose")
    if element is None:
        return WrittenPose.none(owner)
    relative_to, place = str(element.get("relative_to", "")), where(element)
    words = (element.text or "").replace(",", " ").split()
    what = f"<pose> of <{local_name(owner)}>"
    if not words:
        return WrittenPose(Pose.identity(), relative_to, None, place)
    if element.get("rotation_format", "euler_rpy") == "quat_xyzw":
        values = numbers(" ".join(words), 7, place, what)
        if not values[3:].any():
            raise BadNumber(f"{what} has a zero quaternion", where=place, expected="a unit quaternion")
        X = Pose(rotation_from_quaternion(values[3:]), values[:3])
        return WrittenPose(X, relative_to, None, place)
    values = numbers(" ".join(words), 6, place, what)
    if str(element.get("degrees", "false")).lower() in ("1", "true"):
        X = Pose.from_xyz_rpy(values[:3], np.deg2rad(values[3:]))
        return WrittenPose(X, relative_to, None, place)
    literal = " ".join(words[3:])
    X = Pose.from_xyz_rpy(values[:3], angles(literal, place, what, snap=snap))
    return WrittenPose(X, relative_to, origin(element, literal), place)
