"""Large assemblies: each subassembly absorbs the ground joints that its neighbours cannot feel."""

from mbplugin.analysis.dca.subassembly.motions import Motions, motions_of
from mbplugin.analysis.dca.subassembly.supports import Supports, eliminate_supports

__all__ = ["Motions", "Supports", "eliminate_supports", "motions_of"]
