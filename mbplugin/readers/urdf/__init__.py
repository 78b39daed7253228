"""Read URDF as a scene: links, joints, closures in all usual conventions, and mimics.

PyBullet cannot be used as the reader: it drops mimics and closures, and crashes on loops and on several roots.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, BrokenModel, Fragment, MbPluginError, Template, UnknownFormat
from mbplugin.model import WORLD, Array, Body, Mechanism, Pair, Pose, align_z, quaternion_from_rotation
from mbplugin.model.scene import Defect, Request, Scene, Shape, State, state_at_home
from mbplugin.readers.sdf import inertia_of, number_of, pose_of, shape_of
from mbplugin.readers.unread import unread_defects
from mbplugin.readers.urdf import extended_urdf
from mbplugin.readers.urdf.joints import URDF, couplings, note_open_closures, read_closures, read_joints
from mbplugin.readers.xml import (
    ROS_PREFIXES,
    Element,
    attribute_numbers,
    attributes_of,
    child,
    children,
    colour_of,
    document_of,
    is_ros_variable,
    local_name,
    numbers,
    origin,
    parse_xml,
    pose_of_origin,
    quaternion_defects,
    where,
)

#: A number followed by a full stop or a C suffix, as in ``-1.57.``
_TRAILING = re.compile(r"([+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?)[.f]|([+-]?\d+)f")
_VECTORS = ("xyz", "rpy", "scale", "size")
_SCALARS = (
    *("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
    *("damping", "friction", "value", "radius", "length"),
)
_REPAIRED = (*_VECTORS, *_SCALARS)
_ENVIRONMENT = re.compile(r"\$\((optenv|env)\s+([^\s)]+)\s*([^)]*)\)")
#: Elements that state the mechanism; only their attributes are expanded.
_READ = ("link", "joint", "drake:joint", "loop_joint", "drake:ball_constraint")
#: Definitions that xacro leaves behind, which have no effect on their own.
_HARMLESS = ("xacro:property", "xacro:arg", "xacro:macro")


def read_urdf(text: str, request: Request) -> Scene:
    """Return the scene of a URDF text.

    Parameters
    ----------
    text : str
    request : Request
        The file name for messages, package folders, base and snapping.

    Raises
    ------
    BrokenXml, UnknownFormat, BrokenModel, BadNumber, UnknownName, BadUsage
        The message states file and line.
    """
    robot = parse_xml(text, request.path)
    if local_name(robot) != "robot":
        raise UnknownFormat(
            f"the root element is <{local_name(robot)}>", where=where(robot), expected="a URDF's <robot>"
        )
    if "$" in text or "xacro" in text:
        expand(robot, every_variable=request.xacro_unsafe)
    return _scene(robot, request)


def _scene(robot: Element, request: Request) -> Scene:
    draft = extended_urdf.Draft(request, defects=repair_numbers(robot))
    read_links(robot, draft)
    read_gazebo_links(robot, draft)
    mimics = read_joints(robot, draft)
    mark_closures(draft)
    extension = extended_urdf.read_extension(request)
    if extension:
        extended_urdf.retype_joints(extension, draft)
    read_closures(robot, draft)
    if extension:
        extended_urdf.add_loops(extension, draft)
    closures = extended_urdf.read_loop_closures(request)
    driven = extended_urdf.add_hinges(closures, draft) if closures else ()
    note_open_closures(draft)
    freed = free_base(draft)
    hold_base(draft, freed)
    coupled = couplings(mimics, draft)
    draft.defects += (*unread_defects(robot, URDF, "robot"), *quaternion_defects(robot, "URDF"))
    name = str(robot.get("name") or Path(request.path).stem)
    draft.origin[("model", name, "")] = origin(robot)
    mech = Mechanism(name, tuple(draft.bodies), tuple(draft.pairs.values()), coupled)
    return Scene(
        mechanism=mech,
        state=_state(mech, freed),
        origin=draft.origin,
        files=(request.path, *(beside.file for beside in (extension, closures) if beside)),
        defects=tuple(draft.defects),
        shapes=draft.shapes,
        request=request,
        actuated=tuple(dict.fromkeys((*driven_joints(robot, draft), *_motors(extension, draft), *driven))),
        documents=(document_of(robot, "urdf"),),
        base_open=request.base is None,
    )


def _motors(extension: extended_urdf.Extension | None, draft: extended_urdf.Draft) -> tuple[str, ...]:
    """Return the existing joints that an extension lists as driven."""
    return tuple(name for name in extension.driven if name in draft.pairs) if extension else ()


# ``<gazebo><link>``: an SDF link inside a URDF, which Gazebo adds to the converted model.


def read_gazebo_links(robot: Element, draft: extended_urdf.Draft) -> None:
    """Add every SDF link at its pose in the model, which its joints refer to.

    A link with the name of a URDF ``<link>`` only states Gazebo settings for that link.
    """
    for gazebo in children(robot, "gazebo"):
        for element in children(gazebo, "link"):
            name = extended_urdf.required(element, "name")
            if name in draft.links:
                continue
            draft.links[name] = None
            draft.origin[("body", name, "")] = origin(element)
            draft.stated_poses[name] = pose_of(element, snap=draft.request.snap_angles).X
            draft.bodies.append(_body(name, element, draft))
            if shapes := _shapes(name, element, draft):
                draft.shapes[name] = shapes


def _body(name: str, link: Element, draft: extended_urdf.Draft) -> Body:
    inertial = child(link, "inertial")
    if inertial is None:
        return Body(name)
    X_LC = pose_of(inertial, snap=False).X
    for part, element in (("inertial", inertial), ("mass", child(inertial, "mass"))):
        if element is not None:
            draft.origin[("body", name, part)] = origin(element, (element.text or "").strip())
    I_C = inertia_of(child(inertial, "inertia"))
    return Body(name, number_of(inertial, "mass", 1.0), X_LC.p, X_LC.R @ np.asarray(I_C) @ X_LC.R.T)


def _shapes(name: str, link: Element, draft: extended_urdf.Draft) -> tuple[Shape, ...]:
    shapes: list[Shape] = []
    for role in ("visual", "collision"):
        for element in children(link, role):
            geometry = child(element, "geometry")
            try:
                X_LS = pose_of(element, snap=False).X
                found = [shape_of(role, item, X_LS) for item in (geometry if geometry is not None else ())]
            except (BadNumber, BrokenModel) as error:
                draft.report_unread(error, name, f"this {role} is left out")
                continue
            shapes += [shape for shape in found if shape is not None]
    return tuple(shapes)


# Driven joints of a URDF, from its ``<transmission>`` and ``<ros2_control>`` elements (names only).


def driven_joints(robot: Element, draft: extended_urdf.Draft) -> tuple[str, ...]:
    """Return the driven joints, without duplicates, in file order of the elements.

    A joint of ``<ros2_control>`` is driven if it has a command interface; with state interfaces only, it is a sensor.
    """
    named = [*_of_transmissions(robot), *_of_ros2_control(robot)]
    return tuple(dict.fromkeys(name for name in named if name in draft.pairs))


def _of_transmissions(robot: Element) -> Iterator[str]:
    for transmission in children(robot, "transmission"):
        for joint in children(transmission, "joint"):
            yield (joint.get("name") or joint.text or "").strip()


def _of_ros2_control(robot: Element) -> Iterator[str]:
    for control in children(robot, "ros2_control"):
        for joint in children(control, "joint"):
            if children(joint, "command_interface"):
                yield (joint.get("name") or "").strip()
        yield from _of_transmissions(control)


# Malformed numbers that PyBullet accepts are read as in PyBullet, and reported.


def repair_numbers(robot: Element) -> list[Defect]:
    """Correct malformed literals of links and joints in place, and return a defect for each."""
    defects = []
    for owner in robot:
        if not isinstance(owner.tag, str) or local_name(owner) not in ("link", "joint", "drake:joint"):
            continue
        for element in owner.iter():
            # by name: to list n attributes takes libxml2 n² steps
            stated = ((name, element.get(name)) for name in _REPAIRED)
            for name, text in [(name, str(text)) for name, text in stated if text is not None]:
                if (taken := _taken(name, text)) == text:
                    continue
                message = (
                    f"{name}={text!r} of <{local_name(element)}> is malformed; {taken!r} is taken, "
                    "as PyBullet does"
                )
                evidence = {"literal": text, "taken": taken}
                place = origin(element, text)
                defects.append(Defect("MB114", str(owner.get("name", "")), message, place, evidence))
                element.set(name, taken)
    return defects


def _taken(name: str, text: str) -> str:
    words = text.split()
    repaired = [_without_trailing(word) for word in words]
    if name in _VECTORS and len(words) > 3:
        repaired = repaired[:3]
    return text if repaired == words else " ".join(repaired)


def _without_trailing(word: str) -> str:
    match = _TRAILING.fullmatch(word)
    return (match.group(1) or match.group(2)) if match else word


# The graph of a URDF: joints that close loops, root links, and the fixed base.


def mark_closures(draft: extended_urdf.Draft) -> None:
    """Mark as closures every further joint to the same child, and the last joint of each ring without a root.

    Such a joint states its frame only on its parent, since its child's frame belongs to another joint. On the
    child, the frame is where it lies with all joints at zero.
    """
    parent: dict[str, Pair] = {}
    closing: dict[str, str] = {}
    for pair in draft.pairs.values():
        if pair.body_b in parent:
            closing[pair.name] = f"joint {parent[pair.body_b].name!r} already has its child {pair.body_b!r}"
        else:
            parent[pair.body_b] = pair
    for name in _ring_joints(parent):
        closing[name] = "its links form a ring without a root"
    if not closing:
        return
    for name in closing:
        draft.pairs[name] = replace(draft.pairs[name], closure=True)
    X_WL = draft.zero_poses()
    for name, why in closing.items():
        pair = draft.pairs[name]
        X_BS = extended_urdf.carried(pair.X_AP, pair.body_a, pair.body_b, X_WL)
        draft.pairs[name] = replace(pair, X_BS=X_BS)
        message = (
            f"joint {name!r} closes a loop: {why}; it is taken where it lies with all joints at zero, "
            "and PyBullet crashes on such a file"
        )
        draft.report("MB115", name, message, draft.origin[("constraint", name, "")])


def _ring_joints(parent: dict[str, Pair]) -> list[str]:
    """Return the last joint in file order of every ring of parents."""
    order = {pair.name: number for number, pair in enumerate(parent.values())}
    done: set[str] = set()
    closing = []
    for start in parent:
        path: dict[str, Pair] = {}
        link = start
        while link in parent and link not in done and link not in path:
            path[link] = parent[link]
            link = parent[link].body_a
        if link in path:
            members = list(path.values())[list(path).index(link) :]
            closing.append(max((pair.name for pair in members), key=lambda name: order[name]))
        done.update(path)
    return closing


def hold_base(draft: extended_urdf.Draft, places: Mapping[str, Pose]) -> None:
    """Fix the root links to the ground if requested, at their places X_WL, else at the origin; report several roots.

    Raises
    ------
    BadUsage
        A free base is requested although the root link is the ground.
    """
    successors = {pair.body_b for pair in draft.pairs.values() if not pair.closure}
    # a link in <gazebo> is an SDF link, which needs no parent; PyBullet ignores it
    roots = [link for link in draft.links if link not in successors and link not in draft.stated_poses]
    if draft.request.base == "free" and WORLD in roots:
        raise BadUsage(
            f"the base cannot be free: the root link is {WORLD!r}, which is the ground",
            where=str(draft.origin[("body", WORLD, "")]),
            remedy="leave --base out, or rename that link",
        )
    if len(roots) > 1:
        names = ", ".join(repr(link) for link in roots)
        message = f"the model has {len(roots)} root links, {names}; PyBullet crashes on such a file"
        draft.report("MB110", roots[1], message, draft.origin[("body", roots[1], "")], roots=roots)
    if draft.request.base == "fixed":
        held = [link for link in roots if link != WORLD]
        identity = Pose.identity()
        bases = [
            Pair(f"{WORLD}→{link}", "fixed", WORLD, link, places.get(link, identity), identity)
            for link in held
        ]
        draft.pairs = {**{pair.name: pair for pair in bases}, **draft.pairs}
        for pair in bases:
            draft.origin[("constraint", pair.name, "")] = draft.origin[("body", pair.body_b, "")]


def free_base(draft: extended_urdf.Draft) -> dict[str, Pose]:
    """Leave out root links without mass and collision shapes that only a floating joint connects, and these joints.

    A root that no joint holds is free already, so that its pose and that of the joint mean the same six freedoms
    twice, and a base that is to be fixed is the link that the joint frees. A model without any mass is left as it is.

    Returns
    -------
    dict of str to Pose
        X_WL at home of the links that the joints free, which are roots from now on; empty if nothing is left out.
    """
    successors = {pair.body_b for pair in draft.pairs.values()}
    bodies = {body.name: body for body in draft.bodies}
    places: dict[str, Pose] = {}
    for root in [name for name in bodies if name not in successors]:
        pairs = [pair for pair in draft.pairs.values() if root in pair.bodies]
        if [pair.type for pair in pairs] != ["floating"] or not any(one.mass for one in draft.bodies):
            continue
        (floating,), body, shapes = pairs, bodies[root], draft.shapes.get(root, ())
        collides = any(shape.role == "collision" for shape in shapes)
        if floating.closure or body.mass or body.I_C.any() or collides or root in draft.stated_poses:
            continue
        freed, place = floating.body_b, draft.origin[("constraint", floating.name, "")]
        message = (
            f"{floating.name!r} frees {freed!r} from {root!r}, which has no mass: {freed!r} is read as the free base"
            f"{', without the shapes of ' + repr(root) if shapes else ''}"
        )
        draft.defects.append(Defect("MB113", floating.name, message, place, severity="note"))
        draft.bodies.remove(body)
        draft.shapes.pop(root, None)
        del draft.pairs[floating.name], draft.links[root]
        places[freed] = floating.X_AP @ floating.X_BS.inverse()
    return places


def _state(mech: Mechanism, freed: Mapping[str, Pose]) -> State:
    """Return the home state, with free bases at their poses X_WL."""
    state = state_at_home(mech)
    q = state.q.copy()
    for joint in mech.tree.joints:
        if joint.pair is None and joint.outer in freed:
            X_WL = freed[joint.outer]
            com = X_WL.apply(mech.bodies[mech.body_index[joint.outer]].p_LC)
            q[joint.q] = [*com, *quaternion_from_rotation(X_WL.R)]
    return replace(state, q=q)


# Links of a URDF: mass, centre of mass, inertia and shapes.


def read_links(robot: Element, draft: extended_urdf.Draft) -> None:
    """Read every link into the draft; a link called ``world`` is the ground, not a body.

    Raises
    ------
    Fragment
        There are no links and no joints.
    BrokenModel
        There are joints but no links, or two links have the same name, which makes joints ambiguous.
    """
    elements = children(robot, "link")
    if not elements:
        cut = bool(children(robot, "joint"))
        error, remedy = (
            (BrokenModel, "add one") if cut else (Fragment, "add one, or name the file that uses this")
        )
        raise error(
            "the model has no links", where=where(robot), expected="at least one <link>", remedy=remedy
        )
    for material in robot.iter("material"):
        # a link may refer to a material defined in another one
        if (rgba := _colour(material)) and material.get("name"):
            draft.colours.setdefault(str(material.get("name")), rgba)
    for element in elements:
        name = extended_urdf.required(element, "name")
        if name in draft.links:
            raise BrokenModel(
                f"a second link is called {name!r}, so its joints could mean either",
                where=where(element),
                expected=f"other names than at {draft.origin[('body', name, '')]}",
                remedy="rename one of them",
            )
        draft.links[name] = None
        draft.origin[("body", name, "")] = origin(element)
        if shapes := _links_shapes(element, name, draft):
            draft.shapes[name] = shapes
        if name != WORLD:
            draft.bodies.append(_links_body(name, element, draft))


def _links_body(name: str, link: Element, draft: extended_urdf.Draft) -> Body:
    inertial = child(link, "inertial")
    if inertial is None:
        return Body(name) if draft.request.massless == "zero" else Body(name, 1.0, I_C=np.eye(3))
    # snapping is for joint geometry; a rounded inertial frame has no effect on it
    place = child(inertial, "origin")
    X_LC = pose_of_origin(place, snap=False)
    if place is not None and place.get("quat_xyzw") is not None:
        draft.origin[("body", name, "quat_xyzw")] = origin(place, str(place.get("quat_xyzw")))
    draft.origin[("body", name, "inertial")] = origin(inertial)
    mass, moments = child(inertial, "mass"), child(inertial, "inertia")
    value = 0.0
    I_C: Array = np.zeros((3, 3))
    if mass is not None:
        value = float(attribute_numbers(mass, "value", 1, "")[0])
        draft.origin[("body", name, "mass")] = origin(mass, str(mass.get("value")))
    if moments is not None:
        I_C = X_LC.R @ _inertia(moments) @ X_LC.R.T
        draft.origin[("body", name, "inertia")] = origin(moments)
    return Body(name, value, X_LC.p, I_C)


def _inertia(element: Element) -> Array:
    """Return the inertia matrix (3, 3) of an ``<inertia>``, kg·m²."""
    xx, xy, xz, yy, yz, zz = (
        float(attribute_numbers(element, f"i{axes}", 1, "0")[0])
        for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
    )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _links_shapes(link: Element, name: str, draft: extended_urdf.Draft) -> tuple[Shape, ...]:
    """Return the shapes of a link; one with unreadable numbers is left out, with a defect."""
    shapes: list[Shape] = []
    for role in ("visual", "collision"):
        for element in children(link, role):
            try:
                shapes += _shapes_of(element, role, draft)
            except (BadNumber, BrokenModel) as error:
                # no mechanics depend on the shape
                draft.report_unread(error, name, f"this {role} is left out")
    return tuple(shapes)


def _shapes_of(element: Element, role: str, draft: extended_urdf.Draft) -> list[Shape]:
    geometry, material = child(element, "geometry"), child(element, "material")
    X_LS = pose_of_origin(child(element, "origin"), snap=False)
    found = (_shape(role, solid, X_LS) for solid in (geometry if geometry is not None else ()))
    rgba: tuple[float, ...] = ()
    if material is not None:
        rgba = _colour(material) or draft.colours.get(str(material.get("name")), ())
    return [replace(shape, rgba=rgba) for shape in found if shape is not None]


def _colour(material: Element) -> tuple[float, ...]:
    found = child(material, "color")
    return () if found is None else colour_of(str(found.get("rgba", "")))


def _shape(role: str, solid: Element, X_LS: Pose) -> Shape | None:
    kind = local_name(solid)
    if kind == "box":
        return Shape(role, kind, _sizes(attribute_numbers(solid, "size", 3, "")), X_LS)
    if kind == "sphere":
        return Shape(role, kind, _sizes(attribute_numbers(solid, "radius", 1, "")), X_LS)
    if kind in ("cylinder", "capsule"):
        radius, length = (attribute_numbers(solid, name, 1, "")[0] for name in ("radius", "length"))
        return Shape(role, kind, (float(radius), float(length)), X_LS)
    if kind == "mesh":
        return Shape(role, kind, _scale(solid), X_LS, mesh=str(solid.get("filename", "")))
    if kind == "plane":
        normal = attribute_numbers(solid, "normal", 3, "0 0 1")
        turn = align_z(normal) if normal.any() else np.eye(3)
        return Shape(role, kind, (), X_LS @ Pose(turn, np.zeros(3)))
    return None


def _sizes(values: Array) -> tuple[float, ...]:
    """Convert ``values`` (n,) to a tuple."""
    return tuple(float(value) for value in values)


def _scale(mesh: Element) -> tuple[float, ...]:
    text = str(mesh.get("scale", "1 1 1"))
    # a single factor violates the specification, but PyBullet applies it to all three axes
    count = 1 if len(text.replace(",", " ").split()) == 1 else 3
    values = _sizes(numbers(text, count, where(mesh), "scale of <mesh>"))
    return values * 3 if count == 1 else values


# ROS substitutions left in a URDF: ``$(optenv …)`` and ``$(env …)`` of ROS variables are expanded.
#
# Other variables may hold confidential values that would appear in reports, so they are not read for a model.


def expand(robot: Element, *, every_variable: bool = False) -> None:
    """Replace environment substitutions in place.

    Parameters
    ----------
    robot : Element
    every_variable : bool
        Also read variables that are not ROS's.

    Raises
    ------
    MbPluginError
        A variable is set but is not one of ROS.
    Template
        Another substitution or a xacro element remains: the text is a template, not a model.
    """
    for element in robot:
        if not isinstance(element.tag, str):
            continue
        name = local_name(element)
        if name.startswith("xacro:") and name not in _HARMLESS:
            raise _template(f"<{name}>", element)
        if name in _READ:
            for part in element.iter():
                _expand_attributes(part, every_variable)


def _expand_attributes(element: Element, every_variable: bool) -> None:
    for name, text in attributes_of(element).items():
        # files named by shapes are looked up later, and only when a mesh is needed
        if "$" not in text or name == "filename":
            continue
        for _, variable, _ in _ENVIRONMENT.findall(text):
            if variable in os.environ and not (every_variable or is_ros_variable(variable)):
                raise MbPluginError(
                    f"the environment variable {variable!r} does not belong to ROS, so it is not read for a model",
                    where=where(element),
                    expected=f"names that begin with {', '.join(ROS_PREFIXES)}",
                    remedy="write the value out, or pass --xacro-unsafe if you trust the file",
                    code="MB914",
                )
        text = _ENVIRONMENT.sub(_from_environment, text)
        if "$(" in text or "${" in text:
            raise _template(repr(text), element)
        element.set(name, text)


def _from_environment(match: re.Match[str]) -> str:
    kind, variable, default = match.groups()
    if variable in os.environ:
        return os.environ[variable]
    return default.strip() if kind == "optenv" else match.group()


def _template(what: str, element: Element) -> Template:
    return Template(
        f"{what} is xacro that was not expanded",
        where=where(element),
        expected="a plain URDF",
        remedy="run xacro on the text first, or pass the path of its file",
    )
