"""The public names: the module of each one, and the functions that only forward a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mbplugin.arguments import checked

if TYPE_CHECKING:
    from pathlib import Path

    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.linter.rule import Rule
    from mbplugin.model.enumerations import Base, Massless
    from mbplugin.model.mechanism.kinematics import JointValues
    from mbplugin.model.scene import Scene
    from mbplugin.readers.source import ModelSource
    from mbplugin.rendering import Result


#: Each public name, and the module that defines it; a module is imported when its name is first used.
PUBLIC = {
    "ActuatorForces": "mbplugin.joint_reactions.values",
    "Agreement": "mbplugin.comparison.agreement",
    "Analysis": "mbplugin.analysis.result",
    "Body": "mbplugin.model.mechanism.mechanism",
    "Brake": "mbplugin.model.brake_law",
    "Calibration": "mbplugin.stopping.calibration.values",
    "Closing": "mbplugin.closing.values",
    "ConstraintMatrix": "mbplugin.constraints.matrix",
    "Coupling": "mbplugin.model.mechanism.mechanism",
    "Driver": "mbplugin.model.mechanism.mechanism",
    "Finding": "mbplugin.linter.finding",
    "Freedom": "mbplugin.model.mechanism.pair",
    "JointSpring": "mbplugin.model.spatial",
    "KnifeEdge": "mbplugin.model.mechanism.mechanism",
    "Load": "mbplugin.model.scene",
    "Lock": "mbplugin.model.mechanism.mechanism",
    "MbPluginError": "mbplugin.errors",
    "Mechanism": "mbplugin.model.mechanism.mechanism",
    "MisfitResponse": "mbplugin.joint_reactions.misfit_response",
    "ModelDiff": "mbplugin.comparison.models.alignment",
    "MotionProfile": "mbplugin.model.mechanism.pair",
    "Pair": "mbplugin.model.mechanism.pair",
    "Payload": "mbplugin.model.scene",
    "Pose": "mbplugin.model.spatial",
    "ReactionMask": "mbplugin.joint_reactions.values",
    "Report": "mbplugin.linter.run",
    "Rolling": "mbplugin.model.mechanism.mechanism",
    "Rule": "mbplugin.linter.rule",
    "Scene": "mbplugin.model.scene",
    "SideBySide": "mbplugin.comparison.side_by_side.run",
    "Spring": "mbplugin.model.spatial",
    "StopReport": "mbplugin.stopping.outcome",
    "StoppingTable": "mbplugin.stopping.table.values",
    "Swept": "mbplugin.stopping.sweep.swept",
    "Term": "mbplugin.model.mechanism.mechanism",
    "TimedConstraint": "mbplugin.model.mechanism.mechanism",
    "Trajectory": "mbplugin.simulation.trajectory.trajectory",
    "UserEvent": "mbplugin.simulation.options",
    "WORLD": "mbplugin.model.mechanism.mechanism",
    "analyze": "mbplugin.analysis.analysis",
    "calibrate": "mbplugin.stopping.calibration.run",
    "close": "mbplugin.closing.choice",
    "constraint_matrix": "mbplugin.api",
    "crosscheck": "mbplugin.comparison.run",
    "diff": "mbplugin.comparison.models.run",
    "engines": "mbplugin.comparison.side_by_side.run",
    "estop": "mbplugin.stopping.run",
    "inverse_dynamics": "mbplugin.joint_reactions.actuation",
    "lint": "mbplugin.linter.run",
    "load": "mbplugin.api",
    "matrix": "mbplugin.api",
    "misfit_response": "mbplugin.joint_reactions.misfit",
    "page": "mbplugin.api",
    "protective_distance": "mbplugin.stopping.zones.distance",
    "reaction_mask": "mbplugin.joint_reactions.values",
    "reactions": "mbplugin.joint_reactions.run",
    "replay": "mbplugin.visualization.gui.show",
    "rule": "mbplugin.api",
    "rules": "mbplugin.linter.registry",
    "separation_distance": "mbplugin.stopping.zones.distance",
    "show": "mbplugin.visualization.gui.show",
    "simulate": "mbplugin.simulation.run",
    "stop_table": "mbplugin.stopping.table.run",
    "stop_zone": "mbplugin.stopping.zones.union",
    "stopping_table": "mbplugin.stopping.table.run",
    "sweep": "mbplugin.stopping.sweep.swept",
    "tolerance_bound": "mbplugin.stopping.order_statistics",
    "view": "mbplugin.visualization.gui.show",
    "worst_stop": "mbplugin.stopping.worst",
}


@checked
def load(
    source: ModelSource,
    *,
    package_dirs: Sequence[str | Path] = (),
    base: Base | None = None,
    xacro_unsafe: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    massless: Massless = "zero",
) -> Scene:
    """Read a model file, a scene file or a live PyBullet client; what was read before is its scene.

    Parameters
    ----------
    source : path, PyBullet client, Scene or Mechanism
        A URDF, Xacro, SDF, MJCF or ``.scene.toml`` file, or a PyBullet client: its id, or a ``BulletClient``; an
        ``MjModel``, ``MjData`` or ``MjSpec`` of MuJoCo, a ``Model`` of Pinocchio, or a robot of yourdfpy or urchin;
        a Scene as it is, and a Mechanism at home.
    package_dirs : sequence of str or Path
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads.
    xacro_args : mapping of str to str, optional
        Values of xacro's arguments, as ``name:=value`` states them for the program.
    massless : "zero" or "pybullet"
        What links of a URDF without ``<inertial>`` weigh: nothing, or 1 kg with 1 kg·m² as in PyBullet.

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
        if package_dirs or base or xacro_unsafe or xacro_args or massless != "zero":
            raise BadUsage("options of reading were given for a model that was read", remedy="give its file")
        return as_scene(source)
    return loaded(
        source,
        base=base,
        package_dirs=tuple(map(str, package_dirs)),
        xacro_unsafe=xacro_unsafe,
        xacro_args=xacro_args,
        massless=massless,
    )


@checked
def constraint_matrix(
    mech: ModelSource, q: JointValues = None, qd: JointValues = None, *, planar: str | None = None
) -> ConstraintMatrix:
    """Return the labelled constraint matrix of a model at a pose (m, rad, s).

    Loops are not closed first; what q does not name keeps the scene's value.
    """
    from mbplugin.constraints.matrix import constraint_matrix as build
    from mbplugin.model.brakes import stated_coordinates
    from mbplugin.model.mechanism.kinematics import rate_vector
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
    from mbplugin.report.results.presentation import page_of_all

    return page_of_all(results)
