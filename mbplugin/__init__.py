"""Find overconstraints and non-unique joint reactions of a robot, and compute its motions and stops."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from mbplugin.api import PUBLIC
from mbplugin.version import __version__ as __version__

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis as Analysis, analyze as analyze
    from mbplugin.analysis.many_poses import PoseAnalyses as PoseAnalyses
    from mbplugin.api import (
        constraint_matrix as constraint_matrix,
        load as load,
        matrix as matrix,
        page as page,
        rule as rule,
    )
    from mbplugin.closing.choice import close as close
    from mbplugin.closing.drift import Closing as Closing
    from mbplugin.comparison.agreement import Agreement as Agreement
    from mbplugin.comparison.models import diff as diff
    from mbplugin.comparison.models.alignment import ModelDiff as ModelDiff
    from mbplugin.comparison.run import crosscheck as crosscheck
    from mbplugin.comparison.side_by_side import SideBySide as SideBySide, engines as engines
    from mbplugin.constraints.many_poses import ConstraintMatrices as ConstraintMatrices
    from mbplugin.constraints.rank import ConstraintMatrix as ConstraintMatrix
    from mbplugin.dynamics.joint_space import (
        bias_forces as bias_forces,
        forward_kinematics as forward_kinematics,
        jacobian as jacobian,
        mass_matrix as mass_matrix,
    )
    from mbplugin.dynamics.tree_calls import (
        ForwardDynamics as ForwardDynamics,
        InverseDynamics as InverseDynamics,
    )
    from mbplugin.errors import MbPluginError as MbPluginError
    from mbplugin.joint_reactions.actuation import inverse_dynamics as inverse_dynamics
    from mbplugin.joint_reactions.envelope import envelope as envelope
    from mbplugin.joint_reactions.many_poses import PoseReactions as PoseReactions
    from mbplugin.joint_reactions.misfit import misfit_response as misfit_response
    from mbplugin.joint_reactions.misfit_response import MisfitResponse as MisfitResponse
    from mbplugin.joint_reactions.run import reactions as reactions
    from mbplugin.joint_reactions.sizing import Envelope as Envelope
    from mbplugin.joint_reactions.values import (
        ActuatorForces as ActuatorForces,
        ReactionMask as ReactionMask,
        reaction_mask as reaction_mask,
    )
    from mbplugin.linter.fixes.run import fix as fix
    from mbplugin.linter.rule import Finding as Finding, Rule as Rule, rules as rules
    from mbplugin.linter.run import Report as Report, lint as lint
    from mbplugin.model import Brake as Brake, Load as Load, Payload as Payload, Scene as Scene
    from mbplugin.model.mechanism import (
        WORLD as WORLD,
        Body as Body,
        Coupling as Coupling,
        Driver as Driver,
        KnifeEdge as KnifeEdge,
        Lock as Lock,
        Mechanism as Mechanism,
        Rolling as Rolling,
        Term as Term,
        TimedConstraint as TimedConstraint,
    )
    from mbplugin.model.mechanism.pair import (
        Contact as Contact,
        Freedom as Freedom,
        MotionProfile as MotionProfile,
        Pair as Pair,
    )
    from mbplugin.model.spatial import JointSpring as JointSpring, Pose as Pose, Spring as Spring
    from mbplugin.simulation.equilibrium import (
        Equilibrium as Equilibrium,
        Linearization as Linearization,
        equilibrium as equilibrium,
        linearize as linearize,
    )
    from mbplugin.simulation.options import UserEvent as UserEvent
    from mbplugin.simulation.run import simulate as simulate
    from mbplugin.simulation.trajectory.trajectory import Trajectory as Trajectory
    from mbplugin.stopping import tolerance_bound as tolerance_bound
    from mbplugin.stopping.calibration import Calibration as Calibration
    from mbplugin.stopping.calibration.run import calibrate as calibrate
    from mbplugin.stopping.outcome import StopReport as StopReport
    from mbplugin.stopping.run import estop as estop
    from mbplugin.stopping.sweep import Swept as Swept, sweep as sweep
    from mbplugin.stopping.table import StoppingTable as StoppingTable
    from mbplugin.stopping.table.run import stop_table as stop_table, stopping_table as stopping_table
    from mbplugin.stopping.worst import worst_stop as worst_stop
    from mbplugin.stopping.zones.distance import (
        protective_distance as protective_distance,
        separation_distance as separation_distance,
    )
    from mbplugin.stopping.zones.union import stop_zone as stop_zone
    from mbplugin.visualization.gui import replay as replay, show as show, view as view
    from mbplugin.watching.run import watch as watch

__all__ = list(PUBLIC)
#: Words of other programs for functions.
_MEANT = {
    **dict.fromkeys(
        (
            "Robot",
            "Model",
            "from_urdf",
            "URDF",
            "Urdf",
            "Mjcf",
            "MjModel",
            "MjSpec",
            "buildModelFromMJCF",
            "RobotWrapper",
            "URDFLoader",
            "Parser",
            "MultibodyPlant",
            "World",
            "Assembly",
            "System",
        ),
        "load",
    ),
    **dict.fromkeys(("check", "validate", "Linter", "check_urdf"), "lint"),
    **dict.fromkeys(("id", "mj_rne"), "inverse_dynamics"),
    "M": "mass_matrix",
    **dict.fromkeys(("rank", "C"), "constraint_matrix"),
    "brake": "estop",
    **dict.fromkeys(("plot", "draw", "render", "visualize", "launch_viewer", "viewer"), "view"),
    **dict.fromkeys(("Joint", "Constraint"), "Pair"),
    **dict.fromkeys(("Link", "Inertia"), "Body"),
    "Force": "Load",
}


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise _NoName(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    import importlib

    return getattr(importlib.import_module(PUBLIC[name]), name)


class _NoName(AttributeError):
    """The error for an unknown name; what is meant is searched for when the message is read.

    The import of a folder of this package asks for its name first, and goes on after this error.
    """

    # tracebacks show the name of what users catch
    __module__, __qualname__ = "builtins", "AttributeError"

    def __str__(self) -> str:
        missing, name = str(self.args[0]), self.name or "_"
        if name.startswith("_"):
            return missing
        from mbplugin.vocabulary import remedy_for_function

        remedy = remedy_for_function(name, _MEANT)
        listed = ", ".join(one for one in __all__ if one.islower())
        return f"{missing}; {remedy or f'known names are {listed}'}"

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        """Return the error with its message only, for other processes."""
        return AttributeError, (str(self),)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _Folder(ModuleType):
    """A folder of this package as its attribute: called as a function, it leads to the function that is meant."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse the call."""
        from mbplugin.vocabulary import remedy_for_function

        folder = self.__name__.rpartition(".")[2]
        remedy = remedy_for_function(folder, _MEANT) or "write mb.NAME(…), with a name of dir(mbplugin)"
        raise TypeError(f"{self.__name__!r} is a module, not a function; {remedy}")


class _Package(ModuleType):
    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; the import of a folder or a module of this package sets it as one."""
        if type(value) is ModuleType and value.__name__ == f"{__name__}.{name}":
            value.__class__ = _Folder
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
# modules that this file imported
for _name, _value in list(vars().items()):
    setattr(sys.modules[__name__], _name, _value)
