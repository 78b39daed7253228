"""Rounded angle literals in loops, analysis with the intended angles, and what other simulators read differently."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import Literal

from mbplugin.analysis import Analysis
from mbplugin.analysis.remedies import Change, Freeing, Obstacle, any_type, freeing_change
from mbplugin.analysis.uniqueness import ConstraintVerdict, SelfStress
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.rank import RankedBlock, Spectrum, View, gaps_of_rounding, spectrum
from mbplugin.constraints.reduction import reduce_block
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.linter.rule import constraint_place, listed
from mbplugin.model import PAIR_TYPES, Array, Pair, RowLabel, Simulator, decimal, forward, rigid_groups
from mbplugin.model.scene import Document, Node, Origin, Request, Scene
from mbplugin.phrases import counted, dataclass, shortened
from mbplugin.readers import format_name, reload
from mbplugin.readers.paths import find, read_text
from mbplugin.readers.xml import TURNING, RoundedAngle, document_of, local_name, parse_xml, rounded_angle

_PARTS = ("rpy", "rpy_a", "rpy_b", *TURNING)
#: A singular value is due to rounding if it falls by this factor with the intended angles.
_FALLS = 10.0
#: Relative singular values below this are zero; above it, up to ten times the tolerance, they are suspect.
ZERO = 1e-10
_NEAR = 10.0
#: Maximum number of characters for the bodies of a loop, and for the motions that it restrains.
_LOOP, _MOTIONS = 90, 90


@dataclass(frozen=True)
class RoundedLiteral:
    """One rounded angle, with its location in the file.

    Parameters
    ----------
    angle : RoundedAngle
    name : str
        The joint or link.
    part : str
        The attribute or key: ``rpy``, ``rpy_a``, ``rpy_b``, ``euler`` or ``axisangle``.
    origin : Origin
        Location; its text is the whole literal.
    """

    angle: RoundedAngle
    name: str
    part: str
    origin: Origin


def rounded_literals(scene: Scene, ranked: RankedBlock) -> Iterator[RoundedLiteral]:
    """Yield the rounded angles in the joints of a block and, in formats that state poses of links, in its links."""
    elements = [("constraint", name) for name in ranked.block.constraints]
    elements += [("body", name) for name in ranked.block.bodies]
    for kind, name in elements:
        for part in _PARTS:
            origin = scene.origin.get((kind, name, part))
            words = origin.text.replace(",", " ").split() if origin else []
            for word in words[TURNING.get(part, 0) :]:
                angle = rounded_angle(word)
                if angle and origin:
                    yield RoundedLiteral(angle, name, part, origin)


@lru_cache(maxsize=1)
def made_by_rounding(scene: Scene, analysis: Analysis) -> tuple[tuple[RankedBlock, Spectrum], ...]:
    """Return the blocks whose suspect singular values come from rounded angles, with the spectra for intended angles.

    Cached, because two rules need it and it reads the file again.
    """
    if scene.request is None or scene.request.snap_angles:
        return ()
    blocks = [
        ranked
        for ranked in analysis.blocks
        if suspect_values(ranked, analysis.tolerance) and any(rounded_literals(scene, ranked))
    ]
    spectra = as_meant(scene, analysis, blocks) if blocks else None
    return tuple(
        (ranked, meant)
        for ranked, meant in zip(blocks, spectra or (), strict=spectra is not None)
        if any(meant.relative[k] < value / _FALLS for k, value in suspect_values(ranked, analysis.tolerance))
    )


def largest_gap(scene: Scene, analysis: Analysis) -> tuple[RowLabel, float] | None:
    """Return the row and the size (m, rad) of the largest gap due to rounded angles; None if there is none."""
    found = read_as_meant(scene, analysis)
    if found is None:
        return None
    meant, q = found
    gaps = gaps_of_rounding(scene.mechanism, meant.mechanism, q, analysis.planar or None)
    # prefer lengths: an angle always causes a gap in length elsewhere in the loop
    return max(gaps.items(), key=lambda gap: (gap[0].component.startswith("t"), abs(gap[1])), default=None)


@lru_cache(maxsize=1)
def read_as_meant(scene: Scene, analysis: Analysis) -> tuple[Scene, Array] | None:
    """Return a scene with rounded angles replaced by the intended ones, and its closed pose (nq,), rad and m.

    None if the file cannot be read again, or its loops cannot be closed with these angles.
    """
    try:
        meant = reload(scene, snap_angles=True)
        return meant, assemble(meant.mechanism, analysis.q).q
    except MbPluginError:
        return None


def as_meant(scene: Scene, analysis: Analysis, blocks: Sequence[RankedBlock]) -> list[Spectrum] | None:
    """Return the spectra of some blocks with rounded angles replaced by the intended ones.

    None if the file cannot be read again, or its loops cannot be closed with these angles.
    """
    found = read_as_meant(scene, analysis)
    if found is None:
        return None
    mech, q = found[0].mechanism, found[1]
    poses, columns = forward(mech, q), plane_columns(analysis.planar)
    return [spectrum(reduce_block(mech, poses, ranked.block, columns, q).J) for ranked in blocks]


# The redundant blocks of an analysis, for rules about redundancy.


def undeclared_blocks(scene: Scene, analysis: Analysis | None) -> Iterator[RankedBlock]:
    """Yield the redundant blocks, unless the scene declares exactly this degree of redundancy."""
    if analysis is None or scene.options.degree_of_redundancy == analysis.degree_of_redundancy:
        return
    yield from redundant_blocks(analysis)


def redundant_blocks(analysis: Analysis) -> Iterator[RankedBlock]:
    """Yield the blocks with p > 0."""
    yield from (ranked for ranked in analysis.blocks if ranked.redundancy)


@lru_cache(maxsize=1)
def locked_loops(analysis: Analysis, balls_only: bool = False) -> tuple[tuple[RankedBlock, Freeing], ...]:
    """Return the loops whose closures remove all motion, each with the weaker closure that restores it.

    With ``balls_only``, only ball joints are considered as closures, for formats like MJCF (``<connect>``).
    """
    finite = analysis.mobility.finite
    rigid = [b for b in analysis.blocks if b.rank and b.redundancy and b.reduced.shape[1] == b.rank]
    if finite is None or not rigid:
        return ()
    here = View(analysis.mechanism, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    allowed = _ball if balls_only else any_type
    groups = rigid_groups(analysis.mechanism)
    found = ((b, freeing_change(here, b.block.constraints, finite, groups, allowed)) for b in rigid)
    return tuple((block, freeing) for block, freeing in found if freeing is not None)


def _ball(pair: Pair, type: str) -> bool:
    return type == "spherical"


def non_unique(analysis: Analysis, ranked: RankedBlock) -> list[ConstraintVerdict]:
    """Return the verdicts on the constraints of a block with non-unique reactions."""
    members = set(ranked.block.constraints)
    return [
        verdict
        for verdict in analysis.constraints
        if verdict.name in members and verdict.reaction == "non-unique"
    ]


def proposed_changes(analysis: Analysis, ranked: RankedBlock) -> tuple[Change, ...]:
    """Return the changes of the first proved remedy in a block, which all rules recommend."""
    members = set(ranked.block.constraints)
    return tuple(
        change for r in analysis.remedies[:1] for change in r.changes if change.constraint in members
    )


def obstacles_to(analysis: Analysis, ranked: RankedBlock) -> tuple[Obstacle, ...]:
    """Return the joints of a block whose roles prevent a remedy."""
    members = set(ranked.block.constraints)
    return tuple(obstacle for obstacle in analysis.obstacles if obstacle.constraint in members)


def block_place(scene: Scene, constraints: Sequence[str]) -> tuple[str, Origin | None]:
    """Return the last closure among some constraints, or else the last constraint, and its location."""
    pairs = scene.mechanism.pair_by_name
    closing = [name for name in constraints if name in pairs and pairs[name].closure]
    element = (closing or list(constraints))[-1]
    return element, scene.origin.get(("constraint", element, ""))


def closures_of(scene: Scene) -> frozenset[str]:
    """Return the names of the closures."""
    return frozenset(pair.name for pair in scene.mechanism.pairs if pair.closure)


def suspect_values(ranked: RankedBlock, tolerance: float) -> list[tuple[int, float]]:
    """Return the indices and sizes of singular values that are nonzero but not clearly above the tolerance."""
    return [
        (k, float(value))
        for k, value in enumerate(ranked.spectrum.relative)
        if ZERO < value < _NEAR * tolerance
    ]


# The redundancy and the changes to make, in one sentence each.


def redundancy_sentence(redundancy: int, stresses: Sequence[SelfStress]) -> str:
    """Return a sentence with the number of redundant constraints and the motions that are restrained twice."""
    count = counted(redundancy, "redundant constraint")
    if not stresses:
        return count
    first = stresses[0]
    same = [s for s in stresses if (s.loop, s.closed_by) == (first.loop, first.closed_by)]
    if first.loop:
        who = f"the loop {shortened(first.loop, _LOOP)} restrains"
    else:
        who = f"{listed(first.constraints, 4, _LOOP)} {'restrains' if len(first.constraints) == 1 else 'restrain'}"
    motions = listed([s.restrains for s in same], 6, _MOTIONS)
    rest = redundancy - len(same)
    others = f"; {rest} more in the report" if rest else ""
    return f"{count}: {who} {motions} of {shortened(first.closed_by, 50)} twice{others}"


def remedy_sentence(
    changes: Sequence[Change], obstacles: Sequence[Obstacle], closures: Container[str], *, mjcf: bool
) -> str:
    """Return a sentence with the changes to make, as types of a scene or elements of MJCF.

    Parameters
    ----------
    changes, obstacles : sequence
        Those of a block.
    closures : container of str
        Names of the closures, which MJCF states as equalities, not as joints.
    mjcf : bool
        True if the file is MJCF.
    """
    if changes and mjcf:
        return listed([_in_mjcf(change, change.constraint in closures) for change in changes], 4, 220)
    if changes:
        return "make " + listed([f"{c.constraint} {c.new} instead of {c.old}" for c in changes], 4, 220)
    if not obstacles:
        return "release one of the constraints named"
    names = listed([repr(o.constraint) for o in obstacles], 4, 80)
    return f"declare the redundancy, model the bodies as flexible, or state passive = true in a [[pair]] of {names}"


def _in_mjcf(change: Change, closure: bool) -> str:
    """Return a change in terms of MJCF: closures are connect or weld, and freedoms are added with joints."""
    name, instead = change.constraint, f"({change.new} instead of {change.old})"
    if change.new == "spherical":
        return f"make {name} a connect instead of a weld" if closure else f"make {name} a ball joint"
    slides = {"cylindrical": 1, "point-on-line": 1, "planar": 2, "point-on-plane": 2}.get(change.new, 0)
    if slides:
        joints = "a slide joint" if slides == 1 else f"{slides} slide joints"
        return f"add {joints} at {name} {instead}"
    joint = f"{'slide' if change.new == 'prismatic' else 'hinge'} joint"
    how = f"make {name} a connect and add a {joint}" if closure else f"add a {joint} at {name}"
    return f"{how} {instead}"


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
