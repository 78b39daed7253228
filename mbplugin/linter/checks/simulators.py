"""Support of simulators for the constraints that a file states in addition to its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Literal

from mbplugin.errors import MbPluginError
from mbplugin.linter.rule import constraint_place
from mbplugin.model import Simulator
from mbplugin.model.brake_law import decimal
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.model.scene import Document, Node, Origin, Request, Scene
from mbplugin.readers import format_name
from mbplugin.readers.paths import find, read_text
from mbplugin.readers.xml import document_of, local_name, parse_xml

#: A simulator ignores a constraint that it does not support, or fails to load the file.
Treatment = Literal["ignored", "an error"]
#: Simulators that do not support a constraint, by format and notation of the constraint. Simulators with unknown
#: support are not listed.
UNSUPPORTED: dict[tuple[str, str], dict[Simulator, Treatment]] = {
    ("urdf", "<mimic>"): {"pybullet": "ignored"},
    ("urdf", "<loop_joint>"): {
        "mujoco": "ignored",
        "newton": "ignored",
        "gazebo": "ignored",
        "drake": "an error",
        "pybullet": "ignored",
    },
    ("urdf", "<drake:ball_constraint>"): {
        "mujoco": "ignored",
        "newton": "ignored",
        "isaac": "ignored",
        "gazebo": "ignored",
        "pybullet": "ignored",
    },
    ("urdf", "<gazebo><joint>"): {
        "mujoco": "ignored",
        "newton": "ignored",
        "isaac": "ignored",
        "drake": "ignored",
        "pybullet": "ignored",
    },
    ("urdf", "closed_loop"): {
        "mujoco": "ignored",
        "newton": "ignored",
        "isaac": "ignored",
        "gazebo": "ignored",
        "drake": "ignored",
        "pybullet": "ignored",
    },
    # Drake reads <drake:mimic> and ignores <mimic>, Gazebo does the opposite; a scene does not distinguish them
    ("sdf", "<mimic>"): {"pybullet": "ignored"},
    ("mjcf", "<connect>"): {"pybullet": "ignored"},
    ("mjcf", "<weld>"): {"drake": "ignored", "pybullet": "ignored"},
    ("mjcf", "<equality><joint>"): {"drake": "ignored", "pybullet": "ignored"},
}
#: Names of the simulators.
LABELS: dict[Simulator, str] = {
    "mujoco": "MuJoCo",
    "newton": "Newton",
    "isaac": "Isaac Sim",
    "gazebo": "Gazebo",
    "drake": "Drake",
    "pybullet": "PyBullet",
}
_ANY = frozenset(PAIR_TYPES) - {"floating"}
#: Types of closures that each simulator supports; Newton with its MuJoCo solver.
CLOSURES: dict[Simulator, frozenset[str]] = {
    "mujoco": frozenset({"spherical", "fixed"}),
    "newton": frozenset({"spherical", "fixed", "revolute", "continuous"}),
    "isaac": _ANY - {"screw"},
    "gazebo": frozenset({"fixed", "revolute", "continuous", "prismatic", "screw", "universal", "spherical"}),
    "drake": frozenset({"spherical", "fixed", "distance"}),
    "pybullet": frozenset({"spherical", "fixed", "prismatic", "revolute", "continuous"}),
}
#: Simulators that close a loop at a hinge with two points of its axis: 6 rows instead of 5.
TWO_POINTS: tuple[Simulator, ...] = ("newton", "pybullet")
#: Simulators that solve constraints iteratively, row by row.
ITERATIVE: tuple[Simulator, ...] = ("isaac", "gazebo", "pybullet")
#: Formats whose files state no joint positions: loops are stated at zero coordinates, closed or not.
WITHOUT_POSE = ("urdf", "xacro")
#: Joints with one freedom that has a lower and an upper limit.
BOUNDED = ("revolute", "prismatic")
#: Joints with one freedom.
SINGLE = (*BOUNDED, "continuous")


@dataclass(frozen=True)
class Stated:
    """A constraint stated in a file: its name, its notation, and its location."""

    element: str
    written: str
    origin: Origin | None


def stated_constraints(scene: Scene) -> Iterator[tuple[str, Stated]]:
    """Yield the couplings and closures of the files of a scene, each with the format of its file."""
    for document in urdf_documents(scene):
        for element in document.root.children():
            yield from (("urdf", stated) for stated in _of_urdf(element))
    beside = ((pair, constraint_place(scene, pair.name)) for pair in scene.mechanism.pairs if pair.closure)
    for pair, place in beside:
        if place is not None and place.file.endswith((".yaml", ".yml")):
            yield "urdf", Stated(pair.name, "closed_loop", place)
    kind = format_of(scene)
    if kind in ("sdf", "mjcf"):
        yield from ((kind, stated) for stated in _of_mechanism(scene, kind))


def _of_urdf(element: Node) -> Iterator[Stated]:
    mimic = element.child("mimic") if element.tag == "joint" else None
    if mimic:
        yield Stated(element.name, "<mimic>", mimic.origin)
    elif element.tag in ("loop_joint", "drake:ball_constraint"):
        yield Stated(element.name, f"<{element.tag}>", element.origin)
    elif element.tag == "gazebo":
        for joint in element.children("joint"):
            yield Stated(joint.name, "<gazebo><joint>", joint.origin)


def _of_mechanism(scene: Scene, kind: str) -> Iterator[Stated]:
    """Yield the constraints of an SDF or MJCF file, in which each has a single notation."""
    for coupling in scene.mechanism.couplings:
        if coupling.type == "mimic":
            written = "<mimic>" if kind == "sdf" else "<equality><joint>"
            yield Stated(coupling.name, written, constraint_place(scene, coupling.name))
    if kind == "mjcf":
        for pair in scene.mechanism.pairs:
            if pair.closure:
                written = "<connect>" if pair.type == "spherical" else "<weld>"
                yield Stated(pair.name, written, constraint_place(scene, pair.name))


# The format of a scene's file, for rules that depend on what a format can state.


def format_of(scene: Scene) -> str:
    """Return ``urdf``, ``xacro``, ``sdf``, ``mjcf``, ``usd`` or ``scene``; empty for a live client."""
    if scene.request is None:
        return ""
    try:
        return format_name(scene.request)
    # the file was deleted after it was read
    except MbPluginError:
        return ""


# The elements of the URDFs of a scene, as written.


def urdf_documents(scene: Scene) -> Iterator[Document]:
    """Yield the URDFs of a scene."""
    return (document for document in scene.documents if document.format == "urdf")


def written_joints(scene: Scene, *types: str) -> Iterator[Node]:
    """Yield the ``<joint>`` elements of the given types, or all."""
    for document in urdf_documents(scene):
        for joint in document.root.children("joint", "drake:joint"):
            if not types or joint.get("type") in types:
                yield joint


def written_links(scene: Scene) -> Iterator[Node]:
    """Yield the ``<link>`` elements."""
    for document in urdf_documents(scene):
        yield from document.root.children("link")


def number(node: Node | None, attribute: str) -> float | None:
    """Return an attribute as a number; None if it is missing or not a number."""
    found = numbers(node, attribute)
    return found[0] if len(found) == 1 else None


def numbers(node: Node | None, attribute: str) -> list[float]:
    """Return the numbers of an attribute; an empty list if any word is not a number."""
    if node is None:
        return []
    try:
        found = [decimal(word) for word in node.get(attribute).replace(",", " ").split()]
    except ValueError:
        return []
    return [] if any(isnan(value) for value in found) else found


# The SRDF next to a URDF: groups, states and disabled pairs, as a document.


def srdf_beside(document: Document, scene: Scene) -> Document | None:
    """Return the SRDF with the name of a URDF in the same folder; None if there is none.

    An unreadable SRDF is ignored: the program that needs it reports the error.
    """
    file = document.root.origin.file
    if scene.request is None or scene.request.text is not None or not file:
        return None
    name = Path(file).name.partition(".")[0]
    beside: Request = replace(scene.request, path=file, text=None)
    path = find(str(beside.folder / f"{name}.srdf"), beside)
    if path is None:
        return None
    try:
        root = parse_xml(read_text(path), path)
    except MbPluginError:
        return None
    return document_of(root, "srdf") if local_name(root) == "robot" else None
