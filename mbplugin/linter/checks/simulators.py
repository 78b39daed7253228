"""What simulators do with the constraints that a file states beside its tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from mbplugin.linter.checks.formats import format_of
from mbplugin.linter.checks.urdf_elements import urdf_documents
from mbplugin.linter.files.places import constraint_place
from mbplugin.model.document import Node
from mbplugin.model.enumerations import Simulator
from mbplugin.model.mechanism import PAIR_TYPES
from mbplugin.model.scene import Origin, Scene

#: What a simulator makes of a constraint that it does not apply: nothing, or it does not load the file.
Treatment = Literal["ignored", "an error"]


@dataclass(frozen=True)
class Stated:
    """A constraint as a file states it: what it is called, how it is written, and where."""

    element: str
    written: str
    origin: Origin | None


#: By format and way to write a constraint: the simulators that do not apply it. What is not known of a
#: simulator is not here.
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
    # Drake reads <drake:mimic> and ignores <mimic>, Gazebo the other way round; a scene has no difference
    ("sdf", "<mimic>"): {"pybullet": "ignored"},
    ("mjcf", "<connect>"): {"pybullet": "ignored"},
    ("mjcf", "<weld>"): {"drake": "ignored", "pybullet": "ignored"},
    ("mjcf", "<equality><joint>"): {"drake": "ignored", "pybullet": "ignored"},
}

#: What a simulator is called.
LABELS: dict[Simulator, str] = {
    "mujoco": "MuJoCo",
    "newton": "Newton",
    "isaac": "Isaac Sim",
    "gazebo": "Gazebo",
    "drake": "Drake",
    "pybullet": "PyBullet",
}
_ANY = frozenset(PAIR_TYPES) - {"floating"}
#: Types of closures that each simulator has a constraint for; Newton with its MuJoCo solver.
CLOSURES: dict[Simulator, frozenset[str]] = {
    "mujoco": frozenset({"spherical", "fixed"}),
    "newton": frozenset({"spherical", "fixed", "revolute", "continuous"}),
    "isaac": _ANY - {"screw"},
    "gazebo": frozenset({"fixed", "revolute", "continuous", "prismatic", "screw", "universal", "spherical"}),
    "drake": frozenset({"spherical", "fixed", "distance"}),
    "pybullet": frozenset({"spherical", "fixed", "prismatic", "revolute", "continuous"}),
}
#: Simulators that close a loop at a hinge by two points of its axis: 6 rows for 5.
TWO_POINTS: tuple[Simulator, ...] = ("newton", "pybullet")
#: Simulators that solve constraints by iterations over their rows, one after the other.
ITERATIVE: tuple[Simulator, ...] = ("isaac", "gazebo", "pybullet")


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
    """Yield the constraints of an SDF or MJCF file, which has one way to write each."""
    for coupling in scene.mechanism.couplings:
        if coupling.type == "mimic":
            written = "<mimic>" if kind == "sdf" else "<equality><joint>"
            yield Stated(coupling.name, written, constraint_place(scene, coupling.name))
    if kind == "mjcf":
        for pair in scene.mechanism.pairs:
            if pair.closure:
                written = "<connect>" if pair.type == "spherical" else "<weld>"
                yield Stated(pair.name, written, constraint_place(scene, pair.name))
