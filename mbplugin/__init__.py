"""Find overconstraint, undetermined joint reactions and what brakes do to a robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.api import analyze, constraint_matrix, load
    from mbplugin.comparison.agreement import Agreement
    from mbplugin.comparison.crosscheck import crosscheck
    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.errors import MbPluginError
    from mbplugin.joint_reactions.run import reactions
    from mbplugin.linter.run import Report, lint
    from mbplugin.model.mechanism import Lock, Mechanism
    from mbplugin.model.scene import Scene
    from mbplugin.simulation.impact import Hold
    from mbplugin.simulation.run import simulate
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.stopping.run import estop
    from mbplugin.stopping.table.run import stopping_table
    from mbplugin.stopping.table.values import StoppingTable
    from mbplugin.view.gui.show import replay, show

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
    "Agreement": "mbplugin.comparison.agreement",
    "Analysis": "mbplugin.analysis",
    "ConstraintMatrix": "mbplugin.constraints.matrix",
    "Hold": "mbplugin.simulation.locking",
    "Lock": "mbplugin.mechanism",
    "MbPluginError": "mbplugin.errors",
    "Mechanism": "mbplugin.mechanism",
    "Report": "mbplugin.linter.run",
    "Scene": "mbplugin.model.scene",
    "StopReport": "mbplugin.stopping.outcome.values",
    "StoppingTable": "mbplugin.stopping.table.values",
    "Trajectory": "mbplugin.simulation.trajectory.trajectory",
    "analyze": "mbplugin.api",
    "constraint_matrix": "mbplugin.api",
    "crosscheck": "mbplugin.comparison.crosscheck",
    "load": "mbplugin.api",
    "replay": "mbplugin.view.gui.show",
    "show": "mbplugin.view.gui.show",
    "simulate": "mbplugin.simulation.run",
    "stopping_table": "mbplugin.stopping.table.run",
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
