"""World poses of all frames of an SDF document, and the bodies they are fixed to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from mbplugin.errors import BadNumber, BrokenModel, UnknownName, UnresolvedPath, suggestion
from mbplugin.model import WORLD, Body, Defect, Origin, OriginKey, Pose, Request, Shape
from mbplugin.readers.paths import unread_number
from mbplugin.readers.sdf import WrittenPose, inertia_of, number_of, pose_of, shape_of, text_of
from mbplugin.readers.xml import Element, child, children, colour_of, local_name, origin, where

#: (major, minor) of the ``<sdf version>`` of the file of an element.
Version = tuple[int, int]
#: First version that states values as element text.
OLDEST: Version = (1, 2)
#: Name of the frame of the model that contains an element.
MODEL_FRAME = "__model__"
Path = tuple[str, ...]


# Links of an SDF document: mass, inertia and shapes.


def read_body(node: Node, name: str, reading: Reading) -> Body:
    """Return the body of a link; a link without ``<inertial>`` is massless.

    Parameters
    ----------
    node : Node
        The link.
    name : str
        Its name in the mechanism.
    reading : Reading
    """
    assert node.member is not None
    inertial = child(node.member.element, "inertial")
    if inertial is None:
        return Body(name)
    if str(inertial.get("auto", "false")).lower() in ("1", "true"):
        reading.not_read(
            inertial,
            name,
            f"the inertia of link {name!r} is left to the simulator (auto), it is read as zero",
        )
        return Body(name)
    X_LI = pose_of(inertial, snap=reading.request.snap_angles).X
    I_I = inertia_of(child(inertial, "inertia"))
    return Body(name, number_of(inertial, "mass", 1.0), X_LI.p, X_LI.R @ I_I @ X_LI.R.T)


def link_origins(node: Node, name: str) -> dict[OriginKey, Origin]:
    """Return the locations of a link and its literals."""
    assert node.member is not None
    element = node.member.element
    found: dict[OriginKey, Origin] = {("body", name, ""): origin(element)}
    if node.member.pose.rpy is not None:
        found["body", name, "rpy"] = node.member.pose.rpy
    inertial = child(element, "inertial")
    if inertial is not None:
        found["body", name, "inertial"] = origin(inertial)
        for part in ("mass", "inertia"):
            literal = child(inertial, part)
            if literal is not None:
                found["body", name, part] = origin(literal, (literal.text or "").strip())
    return found


def read_shapes(node: Node, frames: Frames, reading: Reading) -> tuple[Shape, ...]:
    """Return the visual and collision shapes of a link of known kinds.

    A shape with unreadable numbers is left out, with a defect.
    """
    assert node.member is not None
    shapes: list[Shape] = []
    for role in ("visual", "collision"):
        for element in children(node.member.element, role):
            try:
                shapes += _shapes_of(element, role, node, frames, snap=reading.request.snap_angles)
            except (BadNumber, BrokenModel, UnknownName) as error:
                # no mechanics depend on the shape
                instead = f"this {role} is left out"
                reading.defects.append(unread_number(error, frames.label(node), instead))
    return tuple(shapes)


def _shapes_of(element: Element, role: str, node: Node, frames: Frames, *, snap: bool) -> list[Shape]:
    geometry = child(element, "geometry")
    if geometry is None:
        return []
    written = pose_of(element, snap=snap)
    X_LS = written.X
    if written.relative_to and written.relative_to != node.name:
        base = frames.find(node.reference(written.relative_to, written.where))
        X_LS = frames.pose(node).inverse() @ frames.pose(base) @ X_LS
    material = child(element, "material")
    rgba = () if material is None else colour_of(text_of(material, "diffuse"))
    found = (shape_of(role, item, X_LS) for item in geometry)
    return [replace(shape, rgba=rgba) for shape in found if shape is not None]


# Versions of SDF.


def version_of(root: Element) -> Version:
    """Return the version of an ``<sdf>`` element; without one, the newest rules apply.

    Raises
    ------
    BadNumber
        The text is not a version.
    """
    text = str(root.get("version", "1.11")).strip()
    major, _, minor = text.partition(".")
    if not (major.isdigit() and (minor or "0").isdigit()):
        raise BadNumber(f"the SDF version is {text!r}", where=where(root), expected="1.2 to 1.11")
    return int(major), int(minor or "0")


def require_known_version(root: Element) -> None:
    """Refuse a document in a version that states poses, masses and axes in attributes.

    Raises
    ------
    BrokenModel
        The version is before 1.2, or missing from a ``<gazebo>`` root, which is then not SDF.
    """
    if local_name(root) == "gazebo" and root.get("version") is None:
        raise BrokenModel(
            "the root element is <gazebo> without a version",
            where=where(root),
            expected="a URDF (<robot>) around it, or SDF (<sdf version=...>)",
        )
    if version_of(root) < OLDEST:
        raise BrokenModel(
            f"SDF {root.get('version')} is not read: it states poses, masses and axes in attributes",
            where=where(root),
            expected="SDF 1.2 or later",
            remedy="convert the file with gzsdf convert of Gazebo 1.x to 6.x",
        )


# The content of an SDF document: nested models, with their links, joints and frames.


@dataclass(frozen=True, eq=False)
class Member:
    """A link, joint, frame or Drake constraint of a model, or the frame of a merged include.

    Parameters
    ----------
    kind : "link", "joint", "frame", "constraint" or "merged"
    name : str
    element : Element
    version : (int, int)
        Version of its file.
    pose : WrittenPose
    home : str
        The frame that ``__model__`` refers to for it.
    placement : str
        For a merged include: its frame that the pose positions.
    """

    kind: str
    name: str
    element: Element
    version: Version
    pose: WrittenPose
    home: str = MODEL_FRAME
    placement: str = ""


@dataclass(frozen=True, eq=False)
class Scope:
    """A model, or the world that contains the models; names are unique in it.

    Parameters
    ----------
    name : str
    element : Element
    pose : WrittenPose
        In the enclosing scope.
    members : tuple of Member
    models : tuple of Scope
    placement : str
        The frame of the model that its pose positions; empty for the model frame.
    canonical_link : str
    static : bool
    home : str
        The enclosing frame that ``__model__`` refers to in its pose.
    """

    name: str
    element: Element
    pose: WrittenPose
    members: tuple[Member, ...]
    models: tuple[Scope, ...]
    placement: str = ""
    canonical_link: str = ""
    static: bool = False
    home: str = MODEL_FRAME

    def of_kind(self, kind: str) -> list[Member]:
        """Return the members of one kind, in file order."""
        return [member for member in self.members if member.kind == kind]

    @property
    def has_links(self) -> bool:
        """True if the model or a nested model has a link."""
        return bool(self.of_kind("link")) or any(model.has_links for model in self.models)


@dataclass(eq=False)
class Reading:
    """Results collected while files are read; ``missing`` are the includes that were not found."""

    request: Request
    files: list[str] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    missing: list[UnresolvedPath] = field(default_factory=list)

    def not_read(self, element: Element, name: str, message: str, severity: Literal["", "note"] = "") -> None:
        """Record an item of the file that the mechanism cannot represent."""
        self.defects.append(Defect("MB113", name, message, origin(element), severity=severity))


@dataclass(frozen=True)
class Reference:
    """A use of a name: its model, the name, its location, and the frame that ``__model__`` refers to there."""

    path: Path
    name: str
    where: str
    home: str = MODEL_FRAME


@dataclass(frozen=True, eq=False)
class Node:
    """A frame of the document: of a link, joint, model or the world, or an explicit ``<frame>``.

    Parameters
    ----------
    kind : "world", "model", "link", "joint", "frame" or "merged"
    path : tuple of str
        The model that contains it; for a model, its own path.
    name : str
    X : Pose
        In ``base``.
    base : Reference or None
        The frame its pose is relative to; None for the world.
    carrier : Reference or None
        The frame it is fixed to; None for links and the world.
    placement : Reference or None
        The frame inside it that ``X`` positions, instead of the node itself.
    member : Member or None
    """

    kind: str
    path: Path
    name: str
    X: Pose
    base: Reference | None
    carrier: Reference | None
    placement: Reference | None = None
    member: Member | None = None

    def reference(self, name: str, place: str) -> Reference:
        """Return a reference for a name used in this node's element."""
        return Reference(self.path, name, place, self.member.home if self.member else MODEL_FRAME)


class Frames:
    """The frame graph of a document.

    Parameters
    ----------
    world : Scope

    Raises
    ------
    BrokenModel
        Two links or two models of a scope have the same name.
    """

    def __init__(self, world: Scope) -> None:
        self.world = Node("world", (), WORLD, Pose.identity(), None, None)
        self.links: list[Node] = []
        self.joints: list[Node] = []
        self.constraints: list[Node] = []
        self.static: set[Path] = set()
        self._table: dict[tuple[Path, str], Node] = {}
        self._joints: dict[tuple[Path, str], Node] = {}
        self._poses: dict[int, Pose] = {id(self.world): Pose.identity()}
        self._several = sum(model.has_links for model in world.models) > 1
        self._add_scope(world, (), static=False)

    def pose(self, node: Node) -> Pose:
        """Return X_W of a node in the world at the file's pose."""
        chain: dict[int, Node] = {}
        while id(node) not in self._poses:
            if id(node) in chain:
                raise _cycle(node, "relative_to")
            chain[id(node)] = node
            assert node.base is not None
            node = self.find(node.base)
        X = self._poses[id(node)]
        for step in reversed(chain.values()):
            X = X @ self._local(step)
            self._poses[id(step)] = X
        return X

    def find(self, reference: Reference) -> Node:
        """Return the frame that a name refers to.

        Raises
        ------
        UnknownName
            No link, joint, frame or model of that scope has the name.
        """
        path, name = reference.path, reference.name
        if name == MODEL_FRAME:
            name = reference.home
        node = _scoped(self._table, path, name)
        # a joint to the world is often named world as well
        if name in (WORLD, "__root__") and (node is None or node.kind == "joint"):
            return self.world
        if node is not None:
            return node
        known = [key[1] for key in self._table if key[0] == path and not key[1].startswith("_")]
        raise UnknownName(
            f"no link or frame is called {name!r}", where=reference.where, remedy=suggestion(name, known)
        )

    def find_joint(self, reference: Reference) -> Node | None:
        """Return the joint with a name, or None."""
        return _scoped(self._joints, reference.path, reference.name)

    def carrier(self, node: Node) -> Node:
        """Return the link (or the world) that a frame is fixed to."""
        seen: set[int] = set()
        while node.carrier is not None:
            if id(node) in seen:
                raise _cycle(node, "attached_to")
            seen.add(id(node))
            node = self.find(node.carrier)
        return node

    def body(self, node: Node) -> str:
        """Return the body that a frame is fixed to; a link called ``world`` is the ground."""
        link = self.carrier(node)
        return WORLD if link.name == WORLD else self.label(link)

    def label(self, node: Node) -> str:
        """Return the name of a link or joint in the mechanism."""
        if not node.path:
            return node.name
        inner = "::".join((*node.path[1:], node.name))
        return f"{node.path[0]}/{inner}" if self._several else inner

    def _local(self, node: Node) -> Pose:
        """Return the pose of a node in its base."""
        if node.placement is None:
            return node.X
        X, step = Pose.identity(), self.find(node.placement)
        seen: set[int] = set()
        while step is not node:
            if step.base is None or id(step) in seen:
                raise _cycle(node, "placement_frame")
            seen.add(id(step))
            X, step = self._local(step) @ X, self.find(step.base)
        return node.X @ X.inverse()

    def _add_scope(self, scope: Scope, path: Path, *, static: bool) -> None:
        if static:
            self.static.add(path)
        for order in ("merged", "link", "frame"):
            for member in scope.of_kind(order):
                self._add_member(member, path)
        for model in scope.models:
            self._add_model(model, path, static=static)
        for member in scope.of_kind("joint"):
            self._add_joint(member, path)
        for member in scope.of_kind("constraint"):
            place = where(member.element)
            home = Reference(path, MODEL_FRAME, place, member.home)
            self.constraints.append(
                Node("constraint", path, member.name, Pose.identity(), home, home, None, member)
            )

    def _add_member(self, member: Member, path: Path) -> None:
        """Add a link, a frame, or the frame of a merged include."""
        place, attached = member.pose.where, str(member.element.get("attached_to", ""))
        default = member.home if path else WORLD
        base = Reference(path, member.pose.relative_to or attached or default, place, member.home)
        carrier = None if member.kind == "link" else Reference(path, attached or default, place, member.home)
        placement = Reference(path, member.placement, place) if member.placement else None
        node = Node(member.kind, path, member.name, member.pose.X, base, carrier, placement, member)
        if member.kind == "link":
            if (path, member.name) in self._table:
                raise _twice("links", member.name, where(member.element))
            self.links.append(node)
        self._table.setdefault((path, member.name), node)

    def _add_joint(self, member: Member, path: Path) -> None:
        child = text_of(member.element, "child")
        place = where(member.element)
        base = Reference(path, member.pose.relative_to or child, place, member.home)
        carrier = Reference(path, child, place, member.home)
        node = Node("joint", path, member.name, member.pose.X, base, carrier, None, member)
        self.joints.append(node)
        self._joints.setdefault((path, member.name), node)
        # links and frames take precedence: older files let a joint share a link's name
        self._table.setdefault((path, member.name), node)

    def _add_model(self, model: Scope, outer: Path, *, static: bool) -> None:
        path, place = (*outer, model.name), model.pose.where
        if (outer, model.name) in self._table and self._table[outer, model.name].kind == "model":
            raise _twice("models", model.name, where(model.element))
        base = Reference(outer, model.pose.relative_to or (model.home if outer else WORLD), place, model.home)
        node = Node(
            "model",
            path,
            model.name,
            model.pose.X,
            base,
            Reference(path, model.canonical_link or _first_link(model), place),
            Reference(path, model.placement, place) if model.placement else None,
        )
        self._table.setdefault((outer, model.name), node)
        self._table[path, MODEL_FRAME] = node
        self._add_scope(model, path, static=static or model.static)


def _scoped(table: dict[tuple[Path, str], Node], path: Path, name: str) -> Node | None:
    """Look up a name literally, then as ``model::name``."""
    if (path, name) in table:
        return table[path, name]
    *models, last = name.split("::")
    return table.get(((*path, *models), last))


def _first_link(model: Scope) -> str:
    """Return the default canonical link: the first link, else that of the first nested model with links."""
    for link in model.of_kind("link"):
        return link.name
    return next((f"{m.name}::{_first_link(m)}" for m in model.models if m.has_links), MODEL_FRAME)


def _cycle(node: Node, attribute: str) -> BrokenModel:
    place = node.base.where if node.base else ""
    return BrokenModel(
        f"the {attribute} of {node.name!r} leads back to itself", where=place, remedy="break the cycle"
    )


def _twice(kind: str, name: str, place: str) -> BrokenModel:
    return BrokenModel(f"two {kind} are called {name!r}", where=place, remedy="rename one")
