"""Large assemblies: each subassembly absorbs the ground joints that its neighbours cannot feel."""

from mbplugin.analysis.dca.subassembly.ground import ground_supports
from mbplugin.analysis.dca.subassembly.supports import Supports

__all__ = ["Supports", "ground_supports"]
