"""The picture of a mechanism as values: triangles, colours by result, glyphs and arrows.

Nothing here draws: a page, a window or a file shows these values with an engine of its own.
"""

from mbplugin.report.picture.arrows import ReactionArrow, reaction_arrows
from mbplugin.report.picture.bodies import BodyDrawing, Part
from mbplugin.report.picture.glyphs import JointGlyph
from mbplugin.report.picture.mesh import Mesh
from mbplugin.report.picture.palette import LEGEND, Colour, LegendEntry
from mbplugin.report.picture.picture import Picture, picture

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
