"""Joints of an SDF document as pairs whose frames coincide at the file's pose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, UnresolvedPath
from mbplugin.model import PAIR_TYPES, WORLD, Array, Freedom, Pair, Pose, align_z, cross, unit
from mbplugin.model.scene import Defect, Origin, OriginKey, Request
from mbplugin.readers.paths import find, gazebo_caches, read_text, real_path, unread_number
from mbplugin.readers.sdf import (
    SDF,
    WrittenPose,
    bound_of,
    cap_of,
    flag_of,
    lead_of,
    number_of,
    part,
    pose_of,
    text_of,
    vector_of,
)
from mbplugin.readers.sdf.frames import (
    MODEL_FRAME,
    Frames,
    Member,
    Node,
    Reading,
    Scope,
    Version,
    require_known_version,
    version_of,
)
from mbplugin.readers.unread import unread_defects
from mbplugin.readers.xml import (
    Element,
    child,
    children,
    local_name,
    origin,
    parse_xml,
    quaternion_defects,
    where,
)

#: Pair types by joint type; a gearbox is a coupling, not a pair.
TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "ball": "spherical",
    "universal": "universal",
    "revolute2": "universal",
    "screw": "screw",
    "fixed": "fixed",
    "planar": "planar",
}
GEARBOX = "gearbox"
#: Largest cosine at which two axes count as perpendicular.
_PERPENDICULAR = 1e-3
#: Largest distance at which a joint and a frame count as coincident, m.
_SAME_PLACE = 1e-6
#: Permitted content of a file without a world.
_CONTENTS = ("model", "include", "light", "actor")
#: Elements of a model that become members, by tag.
_MEMBERS = {"link": "link", "joint": "joint", "frame": "frame", "drake:joint": "joint"}
#: A light included by nearly every world; it has no bodies, so its file is not needed.
_SUN = "sun"
#: A model on the Gazebo server, cached locally by Gazebo: owner, name, and optionally a version.
_FUEL = re.compile(
    r"https?://fuel\.(?:gazebosim|ignitionrobotics)\.org/1\.0/([^/]+)/models/([^/]+?)(?:/(\d+|tip))?"
)
#: Maximum nesting of models, and number of files: two includes in each of 30 files give a billion models.
_DEEPEST, _MOST_FILES = 100, 1000


@dataclass(frozen=True, eq=False)
class AxisSpring:
    """The spring of one axis stated in ``<dynamics>``: torque −stiffness · (q − reference).

    Parameters
    ----------
    name : str
        The joint coordinate, ``joint`` or ``joint.freedom``.
    stiffness : float
        N·m/rad or N/m.
    reference : float
        rad or m.
    place : Element
        The ``<dynamics>`` element.
    """

    name: str
    stiffness: float
    reference: float
    place: Element


@dataclass(frozen=True, eq=False)
class ReadJoint:
    """A pair, its axes in the world, and its start coordinates (None if unstated)."""

    pair: Pair
    axes_W: tuple[Array, ...]
    start: tuple[float | None, ...]
    origin: dict[OriginKey, Origin] = field(default_factory=dict)
    springs: tuple[AxisSpring, ...] = ()


def joint_type(node: Node) -> str:
    """Return the joint's type.

    Raises
    ------
    BrokenModel
        SDF does not have this type.
    """
    assert node.member is not None
    element = node.member.element
    kind = str(element.get("type", ""))
    if kind not in TYPES and kind != GEARBOX:
        what = (
            f"joint {node.name!r} has the unknown type {kind!r}"
            if kind
            else f"joint {node.name!r} has no type"
        )
        raise BrokenModel(what, where=where(element), expected=", ".join((*TYPES, GEARBOX)))
    return kind


def ends(node: Node, frames: Frames) -> tuple[Node, Node]:
    """Return the links (or the world) that a joint's parent and child are fixed to.

    Raises
    ------
    BrokenModel
        Parent or child is missing, or both are on one body.
    UnknownName
        A frame does not exist.
    """
    assert node.member is not None
    element = node.member.element
    found = []
    for tag in ("parent", "child"):
        name = text_of(element, tag)
        if not name:
            raise BrokenModel(
                f"joint {node.name!r} has no <{tag}>", where=where(element), remedy=f"name its {tag}"
            )
        place = part(element, tag)
        found.append(
            frames.carrier(frames.find(node.reference(name, where(element if place is None else place))))
        )
    if frames.body(found[0]) == frames.body(found[1]):
        raise BrokenModel(
            f"joint {node.name!r} joins {frames.body(found[0])!r} to itself",
            where=where(element),
            remedy="give it two different bodies",
        )
    return found[0], found[1]


def read_joint(node: Node, name: str, frames: Frames, reading: Reading) -> ReadJoint:
    """Return the pair of a joint other than a gearbox.

    Parameters
    ----------
    node : Node
    name : str
        Its name in the mechanism.
    frames : Frames
    reading : Reading
    """
    assert node.member is not None
    element, kind = node.member.element, joint_type(node)
    type = TYPES[kind]
    parent, child_node = ends(node, frames)
    report_apart(node, frames, reading)
    axes = axes_of(node, kind, frames, reading)
    X_WP = Pose(_joint_axes(node, kind, axes, frames), frames.pose(node).p)
    elements = [part(element, tag) for tag in ("axis", "axis2")][: len(axes)]
    freedoms = tuple(_freedom(axis, kind, name, reading) for axis in elements)
    pair = Pair(
        name=name,
        type=type,
        body_a=frames.body(parent),
        body_b=frames.body(child_node),
        X_AP=link_pose(parent, frames).inverse() @ X_WP,
        X_BS=link_pose(child_node, frames).inverse() @ X_WP,
        lead=lead_of(element) if kind == "screw" else 0.0,
        freedoms=freedoms if len(freedoms) == len(PAIR_TYPES[type].free) else (),
    )
    start = tuple(
        None
        if axis is None or part(axis, "initial_position") is None
        else number_of(axis, "initial_position", 0.0)
        for axis in elements
    )
    return ReadJoint(pair, axes, start, _origins(node, name), _springs(elements, pair))


def link_pose(link: Node, frames: Frames) -> Pose:
    """Return X_WL of a link; identity for the ground, whatever its name."""
    return Pose.identity() if frames.body(link) == WORLD else frames.pose(link)


def axes_of(node: Node, kind: str, frames: Frames, reading: Reading) -> tuple[Array, ...]:
    """Return the unit axes of a joint in the world.

    Raises
    ------
    BrokenModel
        A joint with one axis does not state it.
    """
    assert node.member is not None
    if kind in ("fixed", "ball", "planar"):
        return ()
    axes: list[Array] = []
    tags = ("axis", "axis2") if kind in ("universal", "revolute2") else ("axis",)
    for tag in tags:
        element = part(node.member.element, tag)
        if element is None and len(tags) == 1:
            raise BrokenModel(
                f"{kind} joint {node.name!r} has no <{tag}>",
                where=where(node.member.element),
                remedy="add it",
            )
        axes.append(
            _default_axis(node, tag, axes, frames, reading)
            if element is None
            else axis_in_world(node, element, frames, reading)
        )
    return tuple(axes)


def _default_axis(node: Node, tag: str, first: Sequence[Array], frames: Frames, reading: Reading) -> Array:
    """Return an axis (3,) that a joint with two axes omits, in the world.

    If both are omitted, they are x and y of the joint, as in Drake and DART; a second axis is the format's
    default z, or y if the first one is along z.
    """
    assert node.member is not None
    R_WJ = frames.pose(node).R
    stated = part(node.member.element, "axis") is not None
    order: tuple[int, ...] = (2, 1, 0) if stated else (1, 2, 0)
    if not first:
        order = (0,)
    across = [k for k in order if not first or abs(float(R_WJ[:, k] @ first[0])) <= _PERPENDICULAR]
    k = across[0] if across else order[0]
    message = f"joint {node.name!r} has no <{tag}>; {'xyz'[k]} of the joint is taken"
    reading.defects.append(
        Defect("MB113", frames.label(node), message, origin(node.member.element), severity="note")
    )
    return np.asarray(R_WJ[:, k])


def axis_in_world(node: Node, element: Element, frames: Frames, reading: Reading) -> Array:
    """Return the unit vector (3,) of an ``<axis>`` in the world; a zero axis is reported and read as z."""
    xyz = vector_of(element, "xyz", 3, "0 0 1")
    length = float(np.linalg.norm(xyz))
    if length == 0.0:
        message = f"the axis of joint {node.name!r} is zero; it is read as 0 0 1"
        literal = {"literal": text_of(element, "xyz")}
        reading.defects.append(Defect("MB106", frames.label(node), message, origin(element), literal))
        xyz, length = np.array([0.0, 0.0, 1.0]), 1.0
    return np.asarray(frames.pose(_expressed_in(node, element, frames)).R @ xyz / length)


def _expressed_in(node: Node, element: Element, frames: Frames) -> Node:
    """Return the frame in which an axis is expressed.

    Up to 1.4 it is the model; since 1.5 the joint, or the model with ``use_parent_model_frame``; since
    1.7 also any frame named by ``expressed_in``.
    """
    assert node.member is not None
    xyz = child(element, "xyz")
    name = "" if xyz is None else str(xyz.get("expressed_in", ""))
    if not name and flag_of(element, "use_parent_model_frame", node.member.version < (1, 5)):
        name = MODEL_FRAME if node.path else WORLD
    return frames.find(node.reference(name, where(element))) if name else node


def _joint_axes(node: Node, kind: str, axes: Sequence[Array], frames: Frames) -> Array:
    """Return R_WP (3, 3): z along the axis; for a universal joint, x and y along its two axes."""
    R_WJ = frames.pose(node).R
    if not axes:
        return R_WJ
    if len(axes) == 1:
        return np.asarray(R_WJ @ align_z(R_WJ.T @ axes[0]))
    assert node.member is not None
    x, second = axes
    # rounding may give two unit vectors a product beyond one
    cosine = float(np.clip(x @ second, -1.0, 1.0))
    if abs(cosine) > _PERPENDICULAR:
        raise BrokenModel(
            f"the axes of {kind} joint {node.name!r} meet at {np.degrees(np.arccos(cosine)):.4g} degrees",
            where=where(node.member.element),
            expected="perpendicular axes",
            remedy="write it as two revolute joints with a link between them",
        )
    y = second - cosine * x
    y = unit(y)
    return np.column_stack((x, y, cross(x, y)))


def _freedom(axis: Element | None, kind: str, name: str, reading: Reading) -> Freedom:
    """Return the limits, damping and friction of one axis."""
    if axis is None:
        return Freedom()
    limit, dynamics = child(axis, "limit"), child(axis, "dynamics")
    bounded = kind != "continuous"
    return Freedom(
        lower=bound_of(limit, "lower", -inf) if bounded else -inf,
        upper=bound_of(limit, "upper", inf) if bounded else inf,
        effort=_cap(limit, "effort", name, reading),
        velocity=_cap(limit, "velocity", name, reading),
        damping=0.0 if dynamics is None else number_of(dynamics, "damping", 0.0),
        friction=0.0 if dynamics is None else number_of(dynamics, "friction", 0.0),
    )


def _cap(limit: Element | None, tag: str, name: str, reading: Reading) -> float:
    """Return an effort or velocity limit; inf if it is not a number, which is reported."""
    try:
        return cap_of(limit, tag)
    except BadNumber as error:
        reading.defects.append(unread_number(error, name, "no limit is taken"))
        return inf


def _springs(elements: Sequence[Element | None], pair: Pair) -> tuple[AxisSpring, ...]:
    """Return the springs of the axes with a stiffness."""
    free, found = pair.kind.free, []
    for freedom, axis in zip(free, elements, strict=False):
        dynamics = None if axis is None else child(axis, "dynamics")
        if dynamics is None or not (stiffness := number_of(dynamics, "spring_stiffness", 0.0)):
            continue
        name = pair.name if len(free) == 1 else f"{pair.name}.{freedom}"
        reference = number_of(dynamics, "spring_reference", 0.0)
        found.append(AxisSpring(name, stiffness, reference, dynamics))
    return tuple(found)


def _origins(node: Node, name: str) -> dict[OriginKey, Origin]:
    assert node.member is not None
    element = node.member.element
    found: dict[OriginKey, Origin] = {("constraint", name, ""): origin(element)}
    if node.member.pose.rpy is not None:
        found["constraint", name, "rpy"] = node.member.pose.rpy
    axis = part(element, "axis")
    xyz = None if axis is None else child(axis, "xyz")
    if xyz is not None:
        found["constraint", name, "axis"] = origin(xyz, (xyz.text or "").strip())
    return found


# Joints that do not coincide with the frame named by their ``<parent>``.


def report_apart(node: Node, frames: Frames, reading: Reading) -> None:
    """Report a joint whose parent is a ``<frame>`` at another position.

    SDF defines the pose of a joint in its child, and uses only the body of the parent. A file that names a frame
    there has most often placed it where the joint is meant to be.
    """
    assert node.member is not None
    place = child(node.member.element, "parent")
    if place is None:
        return
    frame = frames.find(node.reference((place.text or "").strip(), node.member.pose.where))
    if frame.kind != "frame":
        return
    distance = float(np.linalg.norm(frames.pose(frame).p - frames.pose(node).p))
    if distance > _SAME_PLACE:
        message = (
            f"joint {node.name!r} is {distance:.3g} m away from the frame {frame.name!r} that its <parent> names; "
            "SDF places a joint in its child, so a mechanism other than the one meant is analyzed"
        )
        evidence = {"distance_m": distance, "frame": frame.name}
        reading.defects.append(Defect("MB119", frames.label(node), message, origin(place), evidence))


# Reading an SDF file and the local files it includes into scopes.


def read_document(text: str, reading: Reading) -> Scope:
    """Return the world of a document; models without a world are placed in an empty one.

    Raises
    ------
    BrokenModel
        No ``<sdf>`` root, no content, an element without a name, or an include that includes itself.
    UnresolvedPath
        An included file cannot be located.
    """
    request = reading.request
    reading.files.append(request.path)
    root = _sdf_root(text, request.path)
    reading.defects += (*unread_defects(root, SDF, "sdf"), *quaternion_defects(root, "SDF"))
    worlds = children(root, "world")
    for extra in worlds[1:]:
        name = str(extra.get("name", "world"))
        reading.not_read(extra, name, f"world {name!r} is not read, only the first world of a file is")
    container = worlds[0] if worlds else root
    if not worlds and not any(children(root, name) for name in _CONTENTS):
        raise BrokenModel("the file has no model", where=request.path, expected="a <model> or a <world>")
    state = child(container, "state")
    if state is not None:
        reading.not_read(state, "state", "a saved <state> is not read; the poses of the models count")
    world = _scope(container, version_of(root), reading, request, (_identity(request.path),))
    return replace(world, models=tuple(_numbered(world.models, reading)))


def _numbered(models: tuple[Scope, ...], reading: Reading) -> Iterator[Scope]:
    """Append numbers to later models of the same name; models do not refer to each other."""
    taken = {model.name for model in models}
    seen: set[str] = set()
    for model in models:
        name, count = model.name, 1
        while name in seen or (count > 1 and name in taken):
            count += 1
            name = f"{model.name}#{count}"
        if name != model.name:
            message = f"two models are called {model.name!r}; the later one is read as {name!r}"
            reading.defects.append(
                Defect("MB107", model.name, message, origin(model.element), severity="warning")
            )
        seen.add(name)
        yield replace(model, name=name)


def _sdf_root(text: str, file: str) -> Element:
    root = parse_xml(text, file)
    if local_name(root) not in ("sdf", "gazebo"):
        raise BrokenModel(
            f"the root element is <{local_name(root)}>", where=where(root), expected="<sdf version=...>"
        )
    require_known_version(root)
    return root


def _identity(path: str) -> str:
    return str(real_path(path))


def _required_name(element: Element) -> str:
    name = str(element.get("name", "")).strip()
    if not name:
        raise BrokenModel(
            f"a <{local_name(element)}> has no name", where=where(element), remedy="add a name attribute"
        )
    return name


def _scope(
    element: Element, version: Version, reading: Reading, request: Request, stack: tuple[str, ...]
) -> Scope:
    """Read a ``<world>``, ``<sdf>`` or ``<model>`` element; ``stack`` holds the enclosing files and models."""
    if len(stack) > _DEEPEST:
        raise BrokenModel(
            "the models nest too deeply", where=where(element), expected=f"at most {_DEEPEST} in each other"
        )
    snap = request.snap_angles
    members: list[Member] = []
    models: list[Scope] = []
    for item in element:
        tag = local_name(item) if isinstance(item.tag, str) else ""
        if tag in _MEMBERS:
            pose = pose_of(item, snap=snap)
            members.append(Member(_MEMBERS[tag], _required_name(item), item, version, pose))
        elif tag == "drake:ball_constraint":
            name = str(item.get("name", ""))
            members.append(Member("constraint", name, item, version, WrittenPose.none(item)))
        elif tag == "model":
            models.append(_scope(item, version, reading, request, (*stack, where(item))))
        elif tag == "include":
            _add_include(item, version, reading, request, stack, members, models)
    is_model = local_name(element) == "model"
    return Scope(
        name=_required_name(element) if is_model else str(element.get("name", "")),
        element=element,
        pose=pose_of(element, snap=snap) if is_model else WrittenPose.none(element),
        members=tuple(members),
        models=tuple(models),
        placement=str(element.get("placement_frame", "")),
        canonical_link=str(element.get("canonical_link", "")),
        static=flag_of(element, "static"),
    )


def _add_include(
    item: Element,
    version: Version,
    reading: Reading,
    request: Request,
    stack: tuple[str, ...],
    members: list[Member],
    models: list[Scope],
) -> None:
    """Read an ``<include>``: a nested model, or with ``merge`` additional members of this one."""
    try:
        model = _included_model(item, reading, request, stack)
    except UnresolvedPath as error:
        # the rest of the file is analysed without it
        message = f"{error.what}; the file is analyzed without it, expected {error.expected}"
        name = text_of(item, "name") or text_of(item, "uri")
        reading.missing.append(error)
        reading.defects.append(Defect("MB906", name, message, origin(item), severity="warning"))
        return
    if model is None:
        return
    if str(item.get("merge", "false")).lower() not in ("1", "true"):
        models.append(model)
        return
    frame = f"_merged__{model.name}__model__"
    members.append(Member("merged", frame, item, version, model.pose, placement=model.placement))
    members.extend(replace(m, home=frame) if m.home == MODEL_FRAME else m for m in model.members)
    models.extend(replace(m, home=frame) for m in model.models)


def _included_model(
    item: Element, reading: Reading, request: Request, stack: tuple[str, ...]
) -> Scope | None:
    """Return the included model with the name, pose and flags of the include; None for a light or an actor."""
    uri = text_of(item, "uri")
    if not uri:
        raise BrokenModel("an <include> has no <uri>", where=where(item), remedy="name the file to include")
    if uri.rstrip("/").rpartition("/")[2].lower() == _SUN:
        return None
    file = _locate(uri, request, where(item))
    if _identity(file) in stack:
        raise BrokenModel(f"{uri!r} includes itself", where=where(item), remedy="break the cycle")
    root = _sdf_root(read_text(file), file)
    reading.files.append(file)
    if len(reading.files) > _MOST_FILES:
        raise BrokenModel(f"more than {_MOST_FILES} files are included", where=where(item))
    # names in the included file are looked up beside it, then in the folders of the including file
    folders = (*request.package_dirs, str(request.folder))
    inner_request = replace(request, path=file, text=None, package_dirs=folders)
    element = child(root, "model")
    if element is None:
        if child(root, "light") is not None or child(root, "actor") is not None:
            return None
        raise BrokenModel("the included file has no <model>", where=f"{file}:{root.sourceline}")
    reading.defects += (*unread_defects(root, SDF, "sdf"), *quaternion_defects(root, "SDF"))
    model = _scope(element, version_of(root), reading, inner_request, (*stack, _identity(file)))
    return replace(
        model,
        name=text_of(item, "name") or model.name,
        pose=model.pose if child(item, "pose") is None else pose_of(item, snap=request.snap_angles),
        placement=text_of(item, "placement_frame") or model.placement,
        static=flag_of(item, "static", model.static),
    )


def _locate(uri: str, request: Request, place: str) -> str:
    """Return the file of an include: the named file, or the model file of the named folder."""
    listed = ""
    for file in _model_files(uri.rstrip("/"), request):
        if Path(file).exists():
            return file
        listed = listed or Path(file).name
    raise UnresolvedPath(
        f"{uri!r} lists {listed!r}, which is missing" if listed else f"{uri!r} cannot be found",
        where=place,
        expected="a local SDF file, or a folder with model.config or model.sdf",
        remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds the model, "
        "or set GZ_SIM_RESOURCE_PATH",
    )


def _model_files(uri: str, request: Request) -> Iterator[str]:
    if fuel := _FUEL.fullmatch(uri):
        for kept in _cached_versions(*fuel.groups()):
            yield from _model_files(str(kept), request)
        return
    folder = uri.rpartition("/")[2]
    config = find(f"{uri}/model.config", request)
    # the search may drop a package name, but the folder of the model must match
    if config and real_path(config).parent.name == folder:
        yield str(Path(config).parent / _listed_file(config))
    model = find(f"{uri}/model.sdf", request)
    if model and real_path(model).parent.name == folder:
        yield model
    if (file := find(uri, request)) is not None:
        yield file


def _cached_versions(owner: str, name: str, version: str | None) -> list[Path]:
    """Return the folders of cached versions of a model from the Gazebo server, the newest first."""
    kept = (
        versions
        for root in gazebo_caches()
        for host in ("fuel.gazebosim.org", "fuel.ignitionrobotics.org")
        for versions in (root / host / owner.lower() / "models" / unquote(name).lower()).glob("*")
    )
    numbered = [folder for folder in kept if folder.name.isdecimal()]
    wanted = [folder for folder in numbered if version in (None, "tip", folder.name)]
    return sorted(wanted, key=lambda folder: -int(folder.name))


def _listed_file(config: str) -> str:
    """Return the newest SDF file that a ``model.config`` lists."""
    listed = children(parse_xml(read_text(config), config), "sdf")
    if not listed:
        raise BrokenModel(
            "the file lists no <sdf>", where=config, expected="<sdf version=...>model.sdf</sdf>"
        )
    newest = max(listed, key=version_of)
    return (newest.text or "").strip()
