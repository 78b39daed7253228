"""Poses of all frames of an SDF document in the world, and the bodies they are fixed to."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.errors import BrokenModel, UnknownName, suggestion
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.spatial import Pose
from mbplugin.readers.common.xml import where
from mbplugin.readers.sdf.document import MODEL_FRAME, Member, Scope
from mbplugin.readers.sdf.values import text_of

Path = tuple[str, ...]


@dataclass(frozen=True)
class Reference:
    """A name as it is used: in which model, what ``__model__`` means there, and where it stands."""

    path: Path
    name: str
    where: str
    home: str = MODEL_FRAME


@dataclass(frozen=True, eq=False)
class Node:
    """A frame of the document: of a link, joint, model, the world, or one stated as such.

    Parameters
    ----------
    kind : "world", "model", "link", "joint", "frame" or "merged"
    path : tuple of str
        The model it stands in; for a model its own path.
    name : str
    X : Pose
        In ``base``.
    base : Reference or None
        The frame its pose is relative to; None for the world.
    carrier : Reference or None
        The frame it is fixed to; None for links and the world.
    placement : Reference or None
        The frame inside it that ``X`` places, instead of the node itself.
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
        """Return a name that this node's element uses."""
        return Reference(self.path, name, place, self.member.home if self.member else MODEL_FRAME)


class Frames:
    """The frame graph of a document.

    Parameters
    ----------
    world : Scope

    Raises
    ------
    BrokenModel
        Two links or two models with one name in a scope.
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
        """Return the frame that a name means.

        Raises
        ------
        UnknownName
            No link, joint, frame or model of that scope is called so.
        """
        path, name = reference.path, reference.name
        if name == MODEL_FRAME:
            name = reference.home
        node = _scoped(self._table, path, name)
        # a joint to the world is often called world too
        if name in (WORLD, "__root__") and (node is None or node.kind == "joint"):
            return self.world
        if node is not None:
            return node
        known = [key[1] for key in self._table if key[0] == path and not key[1].startswith("_")]
        raise UnknownName(
            f"no link or frame is called {name!r}", where=reference.where, remedy=suggestion(name, known)
        )

    def find_joint(self, reference: Reference) -> Node | None:
        """Return the joint of a name, or None."""
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
        """Return the body a frame is fixed to; a link called ``world`` is the ground."""
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
        # links and frames of one name come first, as older files let a joint share a link's name
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
    """Look a name up as it stands, then as ``model::name``."""
    if (path, name) in table:
        return table[path, name]
    *models, last = name.split("::")
    return table.get(((*path, *models), last))


def _first_link(model: Scope) -> str:
    """Return the default canonical link: the first link, else that of the first model with one."""
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
