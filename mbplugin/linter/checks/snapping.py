"""Rounded angle literals in loops, and what the loops would be with the angles that were meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mbplugin.analysis import Analysis
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.rank import RankedBlock
from mbplugin.constraints.reduction.null_space import Spectrum, spectrum
from mbplugin.constraints.reduction.reduce import reduce_block
from mbplugin.constraints.rounding import gaps_of_rounding
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.linter.checks.blocks import suspect_values
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Origin, Scene
from mbplugin.model.spatial import Array
from mbplugin.readers import reload
from mbplugin.readers.common.numbers import RoundedAngle, rounded_angle

_PARTS = ("rpy", "rpy_a", "rpy_b")
#: A singular value was made by rounding when it falls by this factor with the angles meant.
_FALLS = 10.0


@dataclass(frozen=True)
class RoundedLiteral:
    """One rounded angle where it was written.

    Parameters
    ----------
    angle : RoundedAngle
    name : str
        The joint or link.
    part : str
        ``rpy``, ``rpy_a`` or ``rpy_b``.
    origin : Origin
        Its text is the whole literal.
    """

    angle: RoundedAngle
    name: str
    part: str
    origin: Origin


def rounded_literals(scene: Scene, ranked: RankedBlock) -> Iterator[RoundedLiteral]:
    """Yield the rounded angles in the joints of a block and, where a format poses links, in its links."""
    elements = [("constraint", name) for name in ranked.block.constraints]
    elements += [("body", name) for name in ranked.block.bodies]
    for kind, name in elements:
        for part in _PARTS:
            origin = scene.origin.get((kind, name, part))
            for word in origin.text.replace(",", " ").split() if origin else ():
                angle = rounded_angle(word)
                if angle and origin:
                    yield RoundedLiteral(angle, name, part, origin)


@lru_cache(maxsize=1)
def made_by_rounding(scene: Scene, analysis: Analysis) -> tuple[tuple[RankedBlock, Spectrum], ...]:
    """Return the blocks whose suspect singular values come from rounded angles, with the spectra as meant.

    Two rules ask for it, and it reads the file again.
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
    """Return the row and the size (m, rad) of the largest gap that rounded angles make; None where there is none."""
    found = read_as_meant(scene, analysis)
    if found is None:
        return None
    meant, q = found
    gaps = gaps_of_rounding(scene.mechanism, meant.mechanism, q, analysis.planar or None)
    # lengths come first: an angle has a gap of length elsewhere in the loop
    return max(gaps.items(), key=lambda gap: (gap[0].component.startswith("t"), abs(gap[1])), default=None)


@lru_cache(maxsize=1)
def read_as_meant(scene: Scene, analysis: Analysis) -> tuple[Scene, Array] | None:
    """Return a scene with rounded angles read as what they stand for, and its closed pose (nq,), rad and m.

    None where the file cannot be read again, or its loops cannot be closed then.
    """
    try:
        meant = reload(scene, snap_angles=True)
        return meant, assemble(meant.mechanism, analysis.q).q
    except MbPluginError:
        return None


def _falls(ranked: RankedBlock, meant: Spectrum, tolerance: float) -> bool:
    return any(meant.relative[k] < value / _FALLS for k, value in suspect_values(ranked, tolerance))


def as_meant(scene: Scene, analysis: Analysis, blocks: Sequence[RankedBlock]) -> list[Spectrum] | None:
    """Return the spectra of some blocks with rounded angles read as what they stand for.

    None where the file cannot be read again, or its loops cannot be closed then.
    """
    found = read_as_meant(scene, analysis)
    if found is None:
        return None
    mech, q = found[0].mechanism, found[1]
    poses, columns = forward(mech, q), plane_columns(analysis.planar)
    return [spectrum(reduce_block(mech, poses, ranked.block, columns, q).J) for ranked in blocks]
