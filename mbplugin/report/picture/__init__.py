"""The picture of a mechanism as data: triangles, colours by result, glyphs and arrows.

Nothing here renders: a page, a window or a file draws this data with its own engine.
"""

from mbplugin.report.picture.bodies import BodyDrawing, JointGlyph, Mesh, Part
from mbplugin.report.picture.picture import (
    LEGEND,
    Colour,
    LegendEntry,
    Picture,
    ReactionArrow,
    picture,
    reaction_arrows,
)

__all__ = [
    "LEGEND",
    "BodyDrawing",
    "Colour",
    "JointGlyph",
    "LegendEntry",
    "Mesh",
    "Part",
    "Picture",
    "ReactionArrow",
    "picture",
    "reaction_arrows",
]
