"""Find overconstraint, undetermined joint reactions and what brakes do to a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.bullet.agreement import Agreement
    from mbplugin.bullet.crosscheck import crosscheck
    from mbplugin.bullet.gui import replay, show
    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.entry import analyze, constraint_matrix, load
    from mbplugin.errors import MbPluginError
    from mbplugin.estop.run import estop
    from mbplugin.estop.table import stopping_table
    from mbplugin.estop.table_values import StoppingTable
    from mbplugin.estop.values import StopReport
    from mbplugin.lint.run import Report, lint
    from mbplugin.mechanism import Lock, Mechanism
    from mbplugin.reactions.run import reactions
    from mbplugin.simulation.locking import Hold
    from mbplugin.simulation.run import simulate
    from mbplugin.simulation.trajectory import Trajectory
    from mbplugin.sources.scene import Scene

__version__ = "0.1.0"

__all__ = [
    "Agreement",
    "Analysis",
    "ConstraintMatrix",
    "Hold",
    "Lock",
    "MbPluginError",
    "Mechanism",
    "Report",
    "Scene",
    "StopReport",
    "StoppingTable",
    "Trajectory",
    "analyze",
    "constraint_matrix",
    "crosscheck",
    "estop",
    "lint",
    "load",
    "reactions",
    "replay",
    "show",
    "simulate",
    "stopping_table",
]

#: Rooms that are public functions themselves.
_ROOMS = ("estop", "lint", "reactions")
_HOME = {
    "Agreement": "mbplugin.bullet.agreement",
    "Analysis": "mbplugin.analysis",
    "ConstraintMatrix": "mbplugin.constraints.matrix",
    "Hold": "mbplugin.simulation.locking",
    "Lock": "mbplugin.mechanism",
    "MbPluginError": "mbplugin.errors",
    "Mechanism": "mbplugin.mechanism",
    "Report": "mbplugin.lint.run",
    "Scene": "mbplugin.sources.scene",
    "StopReport": "mbplugin.estop.values",
    "StoppingTable": "mbplugin.estop.table_values",
    "Trajectory": "mbplugin.simulation.trajectory",
    "analyze": "mbplugin.entry",
    "constraint_matrix": "mbplugin.entry",
    "crosscheck": "mbplugin.bullet.crosscheck",
    "load": "mbplugin.entry",
    "replay": "mbplugin.bullet.gui",
    "show": "mbplugin.bullet.gui",
    "simulate": "mbplugin.simulation.run",
    "stopping_table": "mbplugin.estop.table",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _ROOMS:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
