"""The public names: the module of each one, and the functions that only forward a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mbplugin.arguments import checked

if TYPE_CHECKING:
    from pathlib import Path

    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.linter.rule import Rule
    from mbplugin.model.enumerations import Base
    from mbplugin.model.mechanism.kinematics import JointValues
    from mbplugin.model.scene import Scene
    from mbplugin.readers.source import ModelSource
    from mbplugin.rendering import Result


#: Each public name, and the module that defines it; a module is imported when its name is first used.
PUBLIC = {
    "ActuatorForces": "mbplugin.joint_reactions.actuator_forces",
    "Agreement": "mbplugin.comparison.agreement",
    "Analysis": "mbplugin.analysis.result",
    "Body": "mbplugin.model.mechanism.body",
    "Brake": "mbplugin.model.brake_law",
    "Calibration": "mbplugin.stopping.calibration.values",
    "Closing": "mbplugin.closing.values",
    "ConstraintMatrix": "mbplugin.constraints.matrix",
    "Coupling": "mbplugin.model.mechanism.coupling",
    "Driver": "mbplugin.model.mechanism.coupling",
    "Finding": "mbplugin.linter.finding",
    "Freedom": "mbplugin.model.mechanism.pair",
    "JointSpring": "mbplugin.model.spring",
    "KnifeEdge": "mbplugin.model.mechanism.pfaffian",
    "Load": "mbplugin.model.scene",
    "Lock": "mbplugin.model.mechanism.coupling",
    "MbPluginError": "mbplugin.errors",
    "Mechanism": "mbplugin.model.mechanism.mechanism",
    "MisfitResponse": "mbplugin.joint_reactions.misfit.response",
    "ModelDiff": "mbplugin.comparison.models.values",
    "MotionProfile": "mbplugin.model.mechanism.motion_profile",
    "Pair": "mbplugin.model.mechanism.pair",
    "Payload": "mbplugin.model.scene",
    "Pose": "mbplugin.model.spatial",
    "ReactionMask": "mbplugin.joint_reactions.mask",
    "Report": "mbplugin.linter.run",
    "Rolling": "mbplugin.model.mechanism.pfaffian",
    "Rule": "mbplugin.linter.rule",
    "Scene": "mbplugin.model.scene",
    "SideBySide": "mbplugin.comparison.side_by_side.values",
    "Spring": "mbplugin.model.spring",
    "StopReport": "mbplugin.stopping.outcome.values",
    "StoppingTable": "mbplugin.stopping.table.values",
    "Swept": "mbplugin.stopping.sweep.swept",
    "Term": "mbplugin.model.mechanism.coupling",
    "TimedConstraint": "mbplugin.model.mechanism.coupling",
    "Trajectory": "mbplugin.simulation.trajectory.trajectory",
    "UserEvent": "mbplugin.simulation.options",
    "WORLD": "mbplugin.model.mechanism.body",
    "analyze": "mbplugin.analysis.run",
    "calibrate": "mbplugin.stopping.calibration.run",
    "close": "mbplugin.closing.run",
    "constraint_matrix": "mbplugin.api",
    "crosscheck": "mbplugin.comparison.crosscheck",
    "diff": "mbplugin.comparison.models.run",
    "engines": "mbplugin.comparison.side_by_side.run",
    "estop": "mbplugin.stopping.run",
    "inverse_dynamics": "mbplugin.joint_reactions.actuation",
    "lint": "mbplugin.linter.run",
    "load": "mbplugin.api",
    "matrix": "mbplugin.api",
    "misfit_response": "mbplugin.joint_reactions.misfit.run",
    "page": "mbplugin.api",
    "protective_distance": "mbplugin.stopping.zones.protective",
    "reaction_mask": "mbplugin.joint_reactions.mask",
    "reactions": "mbplugin.joint_reactions.run",
    "replay": "mbplugin.visualization.gui.show",
    "rule": "mbplugin.api",
    "rules": "mbplugin.linter.registry",
    "separation_distance": "mbplugin.stopping.zones.separation",
    "show": "mbplugin.visualization.gui.show",
    "simulate": "mbplugin.simulation.run",
    "stop_table": "mbplugin.stopping.table.run",
    "stop_zone": "mbplugin.stopping.zones.run",
    "stopping_table": "mbplugin.stopping.table.run",
    "sweep": "mbplugin.stopping.sweep.study",
    "tolerance_bound": "mbplugin.stopping.order_statistics",
    "view": "mbplugin.visualization.gui.show",
    "worst_stop": "mbplugin.stopping.worst.run",
}


@checked
def load(
    source: ModelSource,
    *,
    package_dirs: Sequence[str | Path] = (),
    base: Base | None = None,
    xacro_unsafe: bool = False,
    xacro_args: Mapping[str, str] | None = None,
) -> Scene:
    """Read a model file, a scene file or a live PyBullet client; what was read before is its scene.

    Parameters
    ----------
    source : path, PyBullet client, Scene or Mechanism
        A URDF, Xacro, SDF, MJCF or ``.scene.toml`` file, or a PyBullet client: its id, or a ``BulletClient``;
        a Scene as it is, and a Mechanism at home.
    package_dirs : sequence of str or Path
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads.
    xacro_args : mapping of str to str, optional
        Values of xacro's arguments, as ``name:=value`` states them for the program.

    Raises
    ------
    MbPluginError
        Unusable input; the message is one sentence.
    BadUsage
        Options of reading, and a model that was read.
    """
    from mbplugin.errors import BadUsage
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.model.scene import Scene, as_scene
    from mbplugin.readers.source import loaded

    if isinstance(source, Scene | Mechanism):
        if package_dirs or base or xacro_unsafe or xacro_args:
            raise BadUsage("options of reading were given for a model that was read", remedy="give its file")
        return as_scene(source)
    return loaded(
        source,
        base=base,
        package_dirs=tuple(map(str, package_dirs)),
        xacro_unsafe=xacro_unsafe,
        xacro_args=xacro_args,
    )


@checked
def constraint_matrix(
    mech: ModelSource, q: JointValues = None, qd: JointValues = None, *, planar: str | None = None
) -> ConstraintMatrix:
    """Return the labelled constraint matrix of a model at a pose (m, rad, s).

    Loops are not closed first; what q does not name keeps the scene's value.
    """
    from mbplugin.constraints.matrix import constraint_matrix as build
    from mbplugin.model.mechanism.kinematics import rate_vector
    from mbplugin.model.plausible import stated_coordinates
    from mbplugin.model.scene import option_of, state_of
    from mbplugin.readers.source import model_of

    mech = model_of(mech)
    mechanism, base_q, base_qd = state_of(mech)
    return build(
        mechanism,
        stated_coordinates(mechanism, q, base_q),
        rate_vector(mechanism, qd, base_qd),
        planar=planar or option_of(mech, "planar", None),
    )


#: By the name of the command.
matrix = constraint_matrix


@checked
def rule(code: str | int) -> Rule:
    """Return a rule of the linter by its code, the number of its code, or its name.

    Its ``documentation`` is that of ``mbplugin rule``.

    Raises
    ------
    UnknownName
        No such rule.
    """
    from mbplugin.linter.registry import find_rule

    return find_rule(code)


@checked
def page(*results: Result) -> str:
    """Return one HTML page, a single file, with a chapter for each result.

    Parameters
    ----------
    *results
        What the other functions return: reports, motions, stops, tables (SI units).

    Raises
    ------
    BadUsage
        No result, or one that has no page.
    """
    from mbplugin.report.results.cell import page_of_all

    return page_of_all(results)
