"""Closing a pose: joint coordinates at which every loop is closed, group by group."""

from mbplugin.constraints.assembly.assemble import assemble
from mbplugin.constraints.assembly.closure import CLOSED, Closure, constraints_to_close
from mbplugin.constraints.assembly.descent import independent_parts
from mbplugin.constraints.assembly.starts import Assembly

__all__ = ["CLOSED", "Assembly", "Closure", "assemble", "constraints_to_close", "independent_parts"]
