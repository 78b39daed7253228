"""The redundant blocks of an analysis, as the rules about them need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mbplugin.analysis import Analysis
from mbplugin.analysis.remedies import Change, Obstacle
from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.constraints.rank import RankedBlock
from mbplugin.model.scene import Origin, Scene

#: A relative singular value below this is zero; above, up to ten times the tolerance, it is suspect.
ZERO = 1e-10
_NEAR = 10.0


def undeclared_blocks(scene: Scene, analysis: Analysis | None) -> Iterator[RankedBlock]:
    """Yield the redundant blocks, unless the scene declares just this degree of redundancy."""
    if analysis is None or scene.options.degree_of_redundancy == analysis.degree_of_redundancy:
        return
    yield from redundant_blocks(analysis)


def redundant_blocks(analysis: Analysis) -> Iterator[RankedBlock]:
    """Yield the blocks with p > 0."""
    yield from (ranked for ranked in analysis.blocks if ranked.redundancy)


def non_unique(analysis: Analysis, ranked: RankedBlock) -> list[ConstraintVerdict]:
    """Return the constraints of a block whose reactions the rigid model leaves open."""
    members = set(ranked.block.constraints)
    return [
        verdict
        for verdict in analysis.constraints
        if verdict.name in members and verdict.reaction == "non-unique"
    ]


def proposed_changes(analysis: Analysis, ranked: RankedBlock) -> tuple[Change, ...]:
    """Return what the first proved remedy changes in a block: the one recommendation of all rules."""
    members = set(ranked.block.constraints)
    return tuple(
        change for r in analysis.remedies[:1] for change in r.changes if change.constraint in members
    )


def obstacles_to(analysis: Analysis, ranked: RankedBlock) -> tuple[Obstacle, ...]:
    """Return the joints of a block that stay as they are for what they do, where it has no remedy."""
    members = set(ranked.block.constraints)
    return tuple(obstacle for obstacle in analysis.obstacles if obstacle.constraint in members)


def block_place(scene: Scene, constraints: Sequence[str]) -> tuple[str, Origin | None]:
    """Return the last stated closure among some constraints, else the last one, and its place."""
    pairs = scene.mechanism.pair_by_name
    closing = [name for name in constraints if name in pairs and pairs[name].closure]
    element = (closing or list(constraints))[-1]
    return element, scene.origin.get(("constraint", element, ""))


def closures_of(scene: Scene) -> frozenset[str]:
    """Return the names of the closures."""
    return frozenset(pair.name for pair in scene.mechanism.pairs if pair.closure)


def suspect_values(ranked: RankedBlock, tolerance: float) -> list[tuple[int, float]]:
    """Return the places and sizes of singular values that the tolerance decides or nearly so."""
    return [
        (k, float(value))
        for k, value in enumerate(ranked.spectrum.relative)
        if ZERO < value < _NEAR * tolerance
    ]
