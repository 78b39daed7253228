"""Joints of a URDF as kinematic pairs, and their mimics as couplings."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, suggestion
from mbplugin.files import toml_text
from mbplugin.model import PAIR_TYPES, WORLD, Array, Coupling, Freedom, Pair, Pose, Term, align_z, unit
from mbplugin.readers.sdf import JOINT_OF_GAZEBO, SDF, bound_of, cap_of, lead_of
from mbplugin.readers.unread import (
    LABEL,
    OF_GAZEBO,
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
from mbplugin.readers.urdf.extended_urdf import Draft, carried, joined, only_child, require_two, required
from mbplugin.readers.xml import (
    Element,
    angles,
    attribute_limit,
    attribute_numbers,
    child,
    children,
    local_name,
    number,
    numbers,
    origin,
    pose_of_origin,
    where,
)

#: Permitted values of ``<loop_joint type>``: every pair defined by two frames and an axis.
LOOP_TYPES = {
    **{name: name for name, kind in PAIR_TYPES.items() if not kind.size and name != "floating"},
    "ball": "spherical",
}
_CLOSING = re.compile(r"closing_(.+)_1")
#: Permitted types of a ``<gazebo><joint>``, in SDF's words.
GAZEBO_TYPES = {
    **{name: name for name in ("revolute", "continuous", "prismatic", "screw", "universal", "fixed")},
    "ball": "spherical",
}
#: Permitted values of ``<joint type>``; ``spherical`` is PyBullet's addition.
URDF_TYPES = {
    name: name for name in ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
}
#: Permitted values of ``<drake:joint type>``.
DRAKE_TYPES = {**URDF_TYPES, "ball": "spherical", "universal": "universal", "screw": "screw"}
#: Pairs whose joint frame is rotated to the axis; the others have no axis (Drake's universal joint
#: rotates about x and y of the joint frame).
AXIAL = ("revolute", "continuous", "prismatic", "planar", "screw", "cylindrical")
#: The name of each mimicking pair, and its ``<mimic>``.
Mimics = list[tuple[str, Element]]
_COLOUR = Idle("colours and textures")
_CONTROL = Unread("drives and their control are not modelled", setting=True)
_PROGRAM = Unread("what a program does to the robot is not known", note=True)
_GRAVITY_OF_ONE = Unread("gravity acts on every body here", default="true")
_ORIGIN = entry("xyz rpy quat_xyzw")
_VALUE = entry("value")
_UNSCALED = {"scale": Unread("only a mesh is scaled", default="1 1 1")}
_GEOMETRY: dict[str, Entry] = {
    "geometry": entry(
        children={
            **{kind: kind for kind in ("box", "sphere", "cylinder", "capsule", "mesh", "plane")},
            "drake:ellipsoid": SHAPE,
            "drake:capsule": SHAPE,
            "cdf": SHAPE,
        },
        others={"name": LABEL},
    ),
    "box": entry("size", _UNSCALED),
    "sphere": entry("radius", _UNSCALED),
    "cylinder": entry("radius length", _UNSCALED),
    "capsule": entry("radius length", _UNSCALED),
    "mesh": entry("filename scale", children={"drake:declare_convex": Idle("says how shapes touch")}),
    "plane": entry("normal"),
}
_LINK: dict[str, Entry] = {
    "link": entry(
        "name",
        {"type": LABEL},
        {
            "inertial": "inertial",
            "visual": "visual",
            "collision": "collision",
            "contact": TOUCH,
            "self_collision_checking": TOUCH,
            "collision_checking": TOUCH,
            "sensor": SENSOR,
            "audio_source": Idle("a sound"),
            "drake:self_collision_filter": TOUCH,
            "self_filter": TOUCH,
            # as <gazebo> of the link would state them
            "gravity": _GRAVITY_OF_ONE,
            "kinematic": Unread("no body is moved by a program here", default="false"),
        },
        many="visual collision sensor",
    ),
    "inertial": entry(children={"origin": "origin", "mass": "value", "inertia": "inertia"}),
    "inertia": entry(
        "ixx ixy ixz iyy iyz izz",
        each("iyx izx izy", Unread("an inertia is symmetric: ixy, ixz and iyz count", note=True)),
    ),
    "origin": _ORIGIN,
    "value": _VALUE,
    "visual": entry(
        "",
        {"name": LABEL, "group": LABEL},
        {"origin": "origin", "geometry": "geometry", "material": _COLOUR, "drake:accepting": LABEL},
    ),
    "collision": entry(
        "",
        {"name": LABEL, "group": TOUCH, "concave": TOUCH},
        {
            "origin": "origin",
            "geometry": "geometry",
            "material": _COLOUR,
            "verbose": LABEL,
            "drake:proximity_properties": TOUCH,
            "max_contacts": TOUCH,
        },
    ),
}
_MECHANICAL: dict[str, Use | str] = {
    "origin": "origin",
    "parent": "end",
    "child": "end",
    "axis": "axis",
    "limit": "limit",
    "dynamics": "dynamics",
    "mimic": "mimic",
    "calibration": "calibration",
    "safety_controller": "safety_controller",
    "joint_properties": "joint_properties",
    "drake:screw_thread_pitch": "value",
    "drake:controller_gains": _CONTROL,
    "controller_gains": _CONTROL,
    "drake:mimic": Unread("write <mimic>"),
}
_JOINT: dict[str, Entry] = {
    "joint": entry("name type", {"dont_collapse": Idle("fixed joints are never merged here")}, _MECHANICAL),
    "end": entry("link"),
    "axis": entry("xyz"),
    "limit": entry(
        "lower upper effort velocity acceleration deceleration jerk",
        {
            "drake:acceleration": Unread("write acceleration"),
            "twist": Unread("PyBullet alone reads it, for spherical joints", note=True),
            **each("command_effort current gear_velocity", _CONTROL),
        },
    ),
    "dynamics": entry("damping friction"),
    "mimic": entry("joint multiplier offset"),
    "calibration": entry(
        "",
        dict.fromkeys(("rising", "falling", "reference_position"), Idle("where a reference switch sits")),
    ),
    "joint_properties": entry("", each("damping friction", Unread("write <dynamics>", default="0"))),
    "safety_controller": entry(
        "",
        each(
            "soft_lower_limit soft_upper_limit k_position k_velocity",
            Unread("limits of a controller are not modelled", setting=True),
        ),
    ),
    "loop_joint": entry(
        "name type",
        {},
        {
            "link1": "side",
            "link2": "side",
            "axis": "axis",
            "limit": Unread("the loop is closed without limits"),
            "dynamics": Unread("the loop is closed without friction"),
        },
        many="link1",
    ),
    "side": entry("link xyz rpy quat_xyzw"),
    "ball": entry(
        "name",
        {},
        {
            "drake:ball_constraint_body_A": "body_name",
            "drake:ball_constraint_body_B": "body_name",
            "drake:ball_constraint_p_AP": "point",
            "drake:ball_constraint_p_BQ": "point",
        },
    ),
    "body_name": entry("name", text=READ),
    "point": entry("value", text=READ),
}
_GAZEBO = {
    "gazebo": entry(
        "",
        {"reference": Idle("names whose settings follow; the settings are judged one by one")},
        {
            "joint": "gazebo_joint",
            "plugin": _PROGRAM,
            "link": "gazebo_link",
            "static": Unread("--base fixed, or base in a scene file, fixes the robot", default="false"),
            "gravity": _GRAVITY_OF_ONE,
            "turnGravityOff": Unread("gravity acts on every body here", default="false"),
            "springStiffness": Unread("state it as [[spring]] in a scene file", default="0"),
            "springReference": Unread("state it as [[spring]] in a scene file", default="0"),
            "dampingFactor": Unread("bodies are not damped here", default="0"),
            "sensor": SENSOR,
            "material": _COLOUR,
            "visual": _COLOUR,
            "provideFeedback": Idle("Gazebo's measuring of joint forces"),
            "preserveFixedJoint": Idle("fixed joints are never merged here"),
            "disableFixedJointLumping": Idle("fixed joints are never merged here"),
        },
        many="joint plugin sensor link",
        foreign=OF_GAZEBO,
    ),
}
#: A link inside a URDF's ``<gazebo>``.
_GAZEBO_LINK = {
    "gazebo_link": entry(
        "name",
        {},
        {
            **dict.fromkeys(("pose", "inertial", "visual", "collision"), READ),
            "gravity": _GRAVITY_OF_ONE,
            "sensor": SENSOR,
        },
        many="visual collision sensor",
        foreign=OF_GAZEBO,
    )
}
URDF: Vocabulary = {
    **SDF,
    **_GEOMETRY,
    **_LINK,
    **_JOINT,
    **_GAZEBO,
    **_GAZEBO_LINK,
    "gazebo_joint": JOINT_OF_GAZEBO,
    "robot": entry(
        "name",
        {"version": Idle("every version is read by the same rules")},
        {
            "link": "link",
            "joint": "joint",
            "drake:joint": "joint",
            "loop_joint": "loop_joint",
            "drake:ball_constraint": "ball",
            "gazebo": "gazebo",
            "material": _COLOUR,
            "sensor": SENSOR,
            "transmission": _CONTROL,
            "drake:transmission": _CONTROL,
            "ros2_control": _CONTROL,
            "drake:linear_bushing_rpy": Unread("bushings are not modelled"),
            "drake:linear_spring_damper": Unread("state it as [[spring]] in a scene file"),
            "drake:prismatic_spring": Unread("state it as [[spring]] in a scene file"),
            "drake:revolute_spring": Unread("state it as [[spring]] in a scene file"),
            "drake:distance_constraint": Unread("state it as a [[closure]] of type distance"),
            "constraint": Unread(
                "it is proposed for URDF and no program reads it; state it as <loop_joint> or as [[closure]] of a scene"
            ),
            "force_element": Unread("state it as [[spring]] or [[load]] in a scene file"),
            "actuator": _CONTROL,
            "mujoco": Unread("MuJoCo alone reads it", setting=True),
            "frame": Unread("frames that no joint uses are left out", note=True),
            "drake:collision_filter_group": TOUCH,
            "self_collision_checking": TOUCH,
            **{
                f"xacro:{word}": Idle("a definition that xacro leaves behind")
                for word in ("property", "arg", "macro")
            },
        },
        many="link joint drake:joint loop_joint drake:ball_constraint gazebo transmission frame "
        "force_element actuator ros2_control drake:collision_filter_group drake:linear_bushing_rpy "
        "drake:linear_spring_damper drake:prismatic_spring drake:revolute_spring "
        "drake:distance_constraint drake:transmission",
    ),
}


# Loop closures in a URDF, in every convention for them.
#
# ``<loop_joint>`` (old Drake, Isaac), ``<drake:ball_constraint>``, ``<gazebo><joint>``, and the dummy
# links of onshape-to-robot, which state where a loop closes but not by which joint.


def read_closures(robot: Element, draft: Draft) -> None:
    """Add the closures of a file to its pairs, in file order."""
    for element in robot:
        if not isinstance(element.tag, str):
            continue
        kind = local_name(element)
        if kind == "loop_joint":
            _loop_joint(element, draft)
        elif kind == "drake:ball_constraint":
            _ball_constraint(element, draft)
        elif kind == "gazebo":
            for joint in children(element, "joint"):
                read_gazebo_joint(joint, draft)


def _loop_joint(element: Element, draft: Draft) -> None:
    stated = required(element, "name")
    owner = f"loop joint {stated!r}"
    # some files call the second side <link1> as well
    sides = children(element, "link1") + children(element, "link2")
    if len(sides) != 2:
        raise BrokenModel(
            f"{owner} has {len(sides)} sides",
            where=where(element),
            expected="<link1> and <link2>",
            remedy="correct it",
        )
    kind = pair_type(element, LOOP_TYPES, owner)
    a, b = (draft.require_body(required(side, "link"), side, owner) for side in sides)
    require_two((a, b), element, owner)
    name = draft.unique(stated, element)
    turn = axis_turn(element, kind, name, draft)
    X_AP, X_BS = (pose_of_origin(side, snap=draft.request.snap_angles) @ turn for side in sides)
    literals = {
        part: (side, str(side.get("rpy")))
        for part, side in zip(("rpy_a", "rpy_b"), sides, strict=True)
        if side.get("rpy") is not None
    }
    pair = Pair(name, kind, a, b, X_AP, X_BS, closure=True)
    draft.add(pair, element, **literals)


def _ball_constraint(element: Element, draft: Draft) -> None:
    owner = "<drake:ball_constraint>"
    tags = [f"{local_name(element)}_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ")]
    ends = [only_child(element, tag) for tag in tags[:2]]
    a, b = (draft.require_body(_value(end, "name"), end, owner) for end in ends)
    require_two((a, b), element, owner)
    X_AP, X_BS = (_point(child(element, tag)) for tag in tags[2:])
    if X_AP is None and X_BS is None:
        raise BrokenModel(
            f"{owner} states no point",
            where=where(element),
            expected=f"<{tags[2]}> and <{tags[3]}>",
            remedy="add them",
        )
    if X_AP is None and X_BS is not None:
        X_AP = carried(X_BS, b, a, draft.zero_poses())
    elif X_BS is None and X_AP is not None:
        X_BS = carried(X_AP, a, b, draft.zero_poses())
    assert X_AP is not None and X_BS is not None
    stated = element.get("name")
    name = draft.unique(stated or f"ball_constraint_{a}_{b}", element, written=bool(stated))
    draft.add(Pair(name, "spherical", a, b, X_AP, X_BS, closure=True), element)


def _value(element: Element, attribute: str) -> str:
    """Return an attribute, or else the element's text, where SDF states the same constraint."""
    text = element.get(attribute) or (element.text or "").strip()
    return str(text) if text else required(element, attribute)


def _point(element: Element | None) -> Pose | None:
    if element is None:
        return None
    text = _value(element, "value")
    return Pose(np.eye(3), numbers(text, 3, where(element), f"value of <{local_name(element)}>"))


def note_open_closures(draft: Draft) -> None:
    """Report unconnected dummy links of onshape-to-robot: the file does not state the joint type."""
    closed = {frozenset(pair.bodies) for pair in draft.pairs.values()}
    for link in draft.links:
        match = _CLOSING.fullmatch(link)
        if match is None:
            continue
        name, other = match.group(1), f"closing_{match.group(1)}_2"
        if other not in draft.links or frozenset((link, other)) in closed:
            continue
        toml = (
            f'[[closure]]\nname = {toml_text(name)}\ntype = "revolute"\nbody_a = {toml_text(link)}\n'
            f"body_b = {toml_text(other)}\n"
            "xyz_a = [0, 0, 0]\nxyz_b = [0, 0, 0]"
        )
        message = (
            f"links {link!r} and {other!r} mark where loop {name!r} closes, but the file does not say as "
            "what; declare it in a scene file with [[closure]] name, type (revolute, spherical, …), "
            f"body_a = {toml_text(link)}, body_b = {toml_text(other)}"
        )
        draft.report("MB112", name, message, draft.origin[("body", link, "")], toml=toml)


# ``<gazebo><joint>``: an SDF joint inside a URDF, which Gazebo adds to the converted model.


def read_gazebo_joint(element: Element, draft: Draft) -> None:
    """Add an SDF joint: its pose is given in the child link; the parent side follows from the zero pose."""
    stated = required(element, "name")
    owner = f"Gazebo joint {stated!r}"
    kind = pair_type(element, GAZEBO_TYPES, owner)
    ends = [only_child(element, tag) for tag in ("parent", "child")]
    a, b = (draft.require_body((end.text or "").strip(), end, owner) for end in ends)
    require_two((a, b), element, owner)
    X_WL = draft.zero_poses()
    X_BJ = _pose(child(element, "pose"), b, X_WL, draft, owner)
    X_BS = X_BJ @ Pose(_turn(element, kind, X_WL(b) @ X_BJ, owner), np.zeros(3))
    pair = Pair(
        draft.unique(stated, element, foreign=True),
        kind,
        a,
        b,
        X_AP=carried(X_BS, b, a, X_WL),
        X_BS=X_BS,
        # a joint that connects its links for the first time closes no loop
        closure=joined(draft.pairs.values(), a, b),
        lead=lead_of(element) if kind == "screw" else 0.0,
        freedoms=_gazebo_freedoms(element, kind),
    )
    pose = child(element, "pose")
    words = [] if pose is None else (pose.text or "").split()
    literals = {"rpy": (pose, " ".join(words[3:]))} if pose is not None and len(words) == 6 else {}
    draft.add(pair, element, **literals)


def _pose(element: Element | None, body: str, X_WL: Callable[[str], Pose], draft: Draft, owner: str) -> Pose:
    """Return the joint frame in the child link."""
    if element is None:
        return Pose.identity()
    text = element.text or "0 0 0 0 0 0"
    numbers(text, 6, where(element), f"<pose> of {owner}")
    words = text.replace(",", " ").split()
    xyz = numbers(" ".join(words[:3]), 3, where(element), "position in <pose>")
    rpy = angles(" ".join(words[3:]), where(element), "angles in <pose>", snap=draft.request.snap_angles)
    X = Pose.from_xyz_rpy(xyz, rpy)
    frame = str(element.get("relative_to") or "")
    if not frame or frame == body:
        return X
    if frame == "__model__":
        return X_WL(body).inverse() @ X
    return carried(X, draft.require_body(frame, element, owner), body, X_WL)


def _turn(element: Element, kind: str, X_WJ: Pose, owner: str) -> Array:
    """Return R_JP (3, 3): z along the axis; for a universal joint, x and y along its two axes."""
    if kind in ("fixed", "spherical"):
        return np.eye(3)
    first = _gazebo_axis(child(element, "axis"), np.array([0.0, 0.0, 1.0]), X_WJ, owner)
    if kind != "universal":
        return align_z(first)
    x = unit(first)
    second = _gazebo_axis(child(element, "axis2"), np.array([0.0, 1.0, 0.0]), X_WJ, owner)
    y = second - (second @ x) * x
    if np.linalg.norm(y) < 1e-9 * np.linalg.norm(second):
        raise BrokenModel(
            f"the two axes of {owner} are parallel",
            where=where(element),
            expected="<axis> across <axis2>",
            remedy="correct one of them",
        )
    y = unit(y)
    return np.column_stack((x, y, np.cross(x, y)))


def _gazebo_axis(element: Element | None, default: Array, X_WJ: Pose, owner: str) -> Array:
    """Return an axis (3,) in the joint frame, or the ``default`` (3,).

    Older files may state it in the model frame, marked as such.
    """
    if element is None:
        return default
    xyz = child(element, "xyz")
    if xyz is None or not (xyz.text or "").strip():
        return default
    axis = numbers(xyz.text or "", 3, where(xyz), f"<xyz> of {owner}")
    if np.linalg.norm(axis) < 1e-12:
        raise BrokenModel(
            f"the axis of {owner} is zero",
            where=where(xyz),
            expected="a direction",
            remedy="correct it",
        )
    in_model = _text(element, "use_parent_model_frame") in ("1", "true")
    if in_model or xyz.get("expressed_in") == "__model__":
        return np.asarray(X_WJ.R.T @ axis)
    return axis


def _gazebo_freedoms(element: Element, kind: str) -> tuple[Freedom, ...]:
    free = PAIR_TYPES[kind].free
    axes = [child(element, tag) for tag in ("axis", "axis2")[: len(free)]]
    if kind == "spherical":
        return tuple(Freedom() for _ in free)
    return tuple(_freedom(axis, bounded=kind != "continuous") for axis in axes)


def _freedom(axis: Element | None, *, bounded: bool) -> Freedom:
    limit, dynamics = (child(axis, tag) if axis is not None else None for tag in ("limit", "dynamics"))
    return Freedom(
        bound_of(limit, "lower", -inf) if bounded else -inf,
        bound_of(limit, "upper", inf) if bounded else inf,
        cap_of(limit, "effort"),
        cap_of(limit, "velocity"),
        _number(dynamics, "damping", 0.0),
        _number(dynamics, "friction", 0.0),
    )


def _number(element: Element | None, tag: str, default: float) -> float:
    text = _text(element, tag)
    return number(text, where(element), f"<{tag}>") if element is not None and text else default


def _text(element: Element | None, tag: str) -> str:
    found = child(element, tag) if element is not None else None
    return (found.text or "").strip() if found is not None else ""


def read_joints(robot: Element, draft: Draft) -> Mimics:
    """Read every ``<joint>`` and ``<drake:joint>`` in file order, and return their mimics."""
    mimics = []
    for element in robot:
        if isinstance(element.tag, str) and local_name(element) in ("joint", "drake:joint"):
            name = _read_joint(element, draft)
            mimics += [(name, mimic) for mimic in children(element, "mimic")[:1]]
    return mimics


def pair_type(element: Element, types: dict[str, str], owner: str) -> str:
    """Return the pair type that an element states.

    Raises
    ------
    BrokenModel
        The type is missing or unknown.
    """
    stated = required(element, "type")
    if stated not in types:
        raise BrokenModel(
            f"{owner} has the unknown type {stated!r}",
            where=where(element),
            expected=f"one of {', '.join(types)}",
            remedy="correct the type",
        )
    return types[stated]


def _read_joint(element: Element, draft: Draft) -> str:
    stated = required(element, "name")
    owner = f"joint {stated!r}"
    kind = pair_type(element, DRAKE_TYPES if local_name(element) == "drake:joint" else URDF_TYPES, owner)
    body_a, body_b = _ends(element, draft, owner)
    name = draft.unique(stated, element)
    place = child(element, "origin")
    turn = axis_turn(element, kind, name, draft)
    pair = Pair(
        name,
        kind,
        body_a,
        body_b,
        X_AP=pose_of_origin(place, snap=draft.request.snap_angles) @ turn,
        X_BS=turn,
        lead=float(attribute_numbers(only_child(element, "drake:screw_thread_pitch"), "value", 1, "")[0])
        if kind == "screw"
        else 0.0,
        freedoms=_freedoms(element, kind, name, draft),
    )
    literals = {}
    for part in ("rpy", "quat_xyzw"):
        if place is not None and place.get(part) is not None:
            literals[part] = (place, str(place.get(part)))
    axis = child(element, "axis")
    if axis is not None:
        literals["axis"] = (axis, str(axis.get("xyz", "")))
    draft.add(pair, element, **literals)
    if kind in ("revolute", "prismatic") and child(element, "limit") is None:
        message = f"{owner} is {kind} without <limit>; PyBullet refuses the file"
        draft.report("MB111", name, message, element)
    return name


def _ends(element: Element, draft: Draft, owner: str) -> tuple[str, str]:
    parent, successor = only_child(element, "parent"), only_child(element, "child")
    body_a = draft.require_link(required(parent, "link"), parent, owner, BrokenModel)
    body_b = draft.require_link(required(successor, "link"), successor, owner, BrokenModel)
    require_two((body_a, body_b), element, owner)
    if body_b == WORLD:
        raise BrokenModel(
            f"{owner} has the ground as its child",
            where=where(successor),
            expected=f"the link {WORLD!r} as a root only",
            remedy="rename that link, or swap <parent> and <child>",
        )
    return body_a, body_b


def axis_turn(element: Element, kind: str, name: str, draft: Draft) -> Pose:
    """Return the rotation of the file's joint frame that aligns its z with the joint axis."""
    if kind not in AXIAL:
        return Pose.identity()
    return Pose(align_z(_axis(element, name, draft)), np.zeros(3))


def _axis(element: Element, name: str, draft: Draft) -> Array:
    """Return the joint axis (3,); the default is x, in the specification and in PyBullet."""
    axis = child(element, "axis")
    if axis is None:
        return np.array([1.0, 0.0, 0.0])
    vector = attribute_numbers(axis, "xyz", 3, "1 0 0")
    if np.linalg.norm(vector) < 1e-12:
        draft.report(
            "MB106",
            name,
            f"the axis of joint {name!r} is zero; 1 0 0 is taken",
            axis,
            literal=str(axis.get("xyz")),
        )
        return np.array([1.0, 0.0, 0.0])
    return vector


def _freedoms(element: Element, kind: str, name: str, draft: Draft) -> tuple[Freedom, ...]:
    """Return one entry per degree of freedom; bounds are read only for a single bounded one."""
    count = len(PAIR_TYPES[kind].free)
    limit, dynamics = child(element, "limit"), child(element, "dynamics")
    lower, upper = _bounds(limit) if count == 1 and kind != "continuous" else (-inf, inf)
    columns = (
        [_cap(limit, "effort", name, draft)] * count,
        [_cap(limit, "velocity", name, draft)] * count,
        _per_freedom(dynamics, "damping", count),
        _per_freedom(dynamics, "friction", count),
        *([_cap(limit, cap, name, draft)] * count for cap in ("acceleration", "deceleration", "jerk")),
    )
    return tuple(Freedom(lower, upper, *values) for values in zip(*columns, strict=True))


def _bounds(limit: Element | None) -> tuple[float, float]:
    if limit is None or (limit.get("lower") is None and limit.get("upper") is None):
        # by the specification this means 0…0, a locked joint; PyBullet leaves it free, as intended
        return -inf, inf
    lower, upper = (attribute_limit(limit, side, "0") for side in ("lower", "upper"))
    # lower > upper means "no limits" in PyBullet
    return (lower, upper) if lower <= upper else (-inf, inf)


def _cap(limit: Element | None, attribute: str, name: str, draft: Draft) -> float:
    """Return a limit (effort, velocity, …) of a joint; inf if it is absent, or not a number, which is reported."""
    if limit is None or limit.get(attribute) is None:
        return inf
    try:
        return attribute_limit(limit, attribute, "")
    except BadNumber as error:
        draft.report_unread(error, name, "no limit is taken")
        return inf


def _per_freedom(element: Element | None, attribute: str, count: int) -> list[float]:
    text = None if element is None else element.get(attribute)
    if element is None or text is None:
        return [0.0] * count
    # Drake gives planar joints three dampings; otherwise one number applies to all degrees of freedom
    size = count if len(text.split()) == count else 1
    values = numbers(text, size, where(element), f"{attribute} of <{local_name(element)}>")
    return [float(value) for value in np.broadcast_to(values, count)]


def couplings(mimics: Mimics, draft: Draft) -> tuple[Coupling, ...]:
    """Return a coupling per ``<mimic>``; an unusable one is a defect."""
    found = []
    for name, mimic in mimics:
        if coupling := _mimic(mimic, draft.pairs[name], draft):
            found.append(coupling)
            draft.origin[("constraint", coupling.name, "")] = origin(mimic)
    return tuple(found)


def _mimic(mimic: Element, pair: Pair, draft: Draft) -> Coupling | None:
    if pair.type == "fixed":
        # reduced models retain the mimics of joints that were fixed; there is no coordinate left to couple
        return None
    leader = required(mimic, "joint")
    multiplier = float(attribute_numbers(mimic, "multiplier", 1, "1")[0])
    offset = float(attribute_numbers(mimic, "offset", 1, "0")[0])
    problem = ""
    if leader not in draft.pairs:
        problem = f"that does not exist; {suggestion(leader, list(draft.pairs))}"
    elif leader == pair.name:
        problem = "which is itself"
    elif len(draft.pairs[leader].kind.free) != 1:
        problem = f"which is {draft.pairs[leader].type} and so has no single freedom"
    elif len(pair.kind.free) != 1:
        problem = f"but a {pair.type} joint has more than one freedom"
    if problem:
        message = f"joint {pair.name!r} mimics joint {leader!r}, {problem}; the mimic is left out"
        draft.report("MB108", pair.name, message, mimic, joint=leader)
        return None
    terms = (
        Term(pair.name, pair.kind.free[0], 1.0),
        Term(leader, draft.pairs[leader].kind.free[0], -multiplier),
    )
    return Coupling(f"mimic {pair.name}", "mimic", terms, offset)
