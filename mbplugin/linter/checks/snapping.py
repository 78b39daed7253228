"""Rounded angle literals in loops, and analysis of the loops with the intended angles."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mbplugin.analysis import Analysis
from mbplugin.analysis.remedies import Change, Freeing, Obstacle, any_type, freeing_change
from mbplugin.analysis.uniqueness import ConstraintVerdict, SelfStress
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.rank import RankedBlock, Spectrum, View, gaps_of_rounding, spectrum
from mbplugin.constraints.reduction import reduce_block
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.linter.rule import listed
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import forward, rigid_groups
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Origin, Scene
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, shortened
from mbplugin.readers import reload
from mbplugin.readers.xml import TURNING, RoundedAngle, rounded_angle

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
        if _falls(ranked, meant, analysis.tolerance)
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


def _falls(ranked: RankedBlock, meant: Spectrum, tolerance: float) -> bool:
    return any(meant.relative[k] < value / _FALLS for k, value in suspect_values(ranked, tolerance))


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
