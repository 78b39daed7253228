"""The public names with the module that defines each, and the functions that only forward a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from mbplugin.arguments import checked

if TYPE_CHECKING:
    from pathlib import Path

    from mbplugin.constraints.many_poses import ConstraintMatrices
    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.linter.rule import Rule
    from mbplugin.model import Base, JointValues, Massless, Poses, Scene
    from mbplugin.readers import ModelSource
    from mbplugin.rendering import Result


#: Module that defines each public name; it is imported when the name is first used.
PUBLIC = {
    "ActuatorForces": "mbplugin.joint_reactions.values",
    "Agreement": "mbplugin.comparison.agreement",
    "Analysis": "mbplugin.analysis",
    "Body": "mbplugin.model.mechanism",
    "Brake": "mbplugin.model.brake_law",
    "Calibration": "mbplugin.stopping.calibration",
    "Closing": "mbplugin.closing.drift",
    "ConstraintMatrices": "mbplugin.constraints.many_poses",
    "ConstraintMatrix": "mbplugin.constraints.rank",
    "Contact": "mbplugin.model.mechanism.pair",
    "Coupling": "mbplugin.model.mechanism",
    "Driver": "mbplugin.model.mechanism",
    "Envelope": "mbplugin.joint_reactions.sizing",
    "Equilibrium": "mbplugin.simulation.equilibrium",
    "Finding": "mbplugin.linter.rule",
    "ForwardDynamics": "mbplugin.dynamics.tree_calls",
    "Freedom": "mbplugin.model.mechanism.pair",
    "InverseDynamics": "mbplugin.dynamics.tree_calls",
    "JointSpring": "mbplugin.model.spatial",
    "KnifeEdge": "mbplugin.model.mechanism",
    "Linearization": "mbplugin.simulation.equilibrium",
    "Load": "mbplugin.model.scene",
    "Lock": "mbplugin.model.mechanism",
    "MbPluginError": "mbplugin.errors",
    "Mechanism": "mbplugin.model.mechanism",
    "MisfitResponse": "mbplugin.joint_reactions.misfit_response",
    "ModelDiff": "mbplugin.comparison.models.alignment",
    "MotionProfile": "mbplugin.model.mechanism.pair",
    "Pair": "mbplugin.model.mechanism.pair",
    "Payload": "mbplugin.model.scene",
    "Pose": "mbplugin.model.spatial",
    "PoseAnalyses": "mbplugin.analysis.many_poses",
    "PoseReactions": "mbplugin.joint_reactions.many_poses",
    "ReactionMask": "mbplugin.joint_reactions.values",
    "Report": "mbplugin.linter.run",
    "Rolling": "mbplugin.model.mechanism",
    "Rule": "mbplugin.linter.rule",
    "Scene": "mbplugin.model.scene",
    "SideBySide": "mbplugin.comparison.side_by_side",
    "Spring": "mbplugin.model.spatial",
    "StopReport": "mbplugin.stopping.outcome",
    "StoppingTable": "mbplugin.stopping.table",
    "Swept": "mbplugin.stopping.sweep",
    "Term": "mbplugin.model.mechanism",
    "TimedConstraint": "mbplugin.model.mechanism",
    "Trajectory": "mbplugin.simulation.trajectory.trajectory",
    "UserEvent": "mbplugin.simulation.options",
    "WORLD": "mbplugin.model.mechanism",
    "analyze": "mbplugin.analysis",
    "bias_forces": "mbplugin.dynamics.joint_space",
    "calibrate": "mbplugin.stopping.calibration.run",
    "close": "mbplugin.closing.choice",
    "constraint_matrix": "mbplugin.api",
    "crosscheck": "mbplugin.comparison.run",
    "diff": "mbplugin.comparison.models",
    "engines": "mbplugin.comparison.side_by_side",
    "envelope": "mbplugin.joint_reactions.envelope",
    "equilibrium": "mbplugin.simulation.equilibrium",
    "estop": "mbplugin.stopping.run",
    "fix": "mbplugin.linter.fixes.run",
    "forward_kinematics": "mbplugin.dynamics.joint_space",
    "inverse_dynamics": "mbplugin.joint_reactions.actuation",
    "jacobian": "mbplugin.dynamics.joint_space",
    "linearize": "mbplugin.simulation.equilibrium",
    "lint": "mbplugin.linter.run",
    "load": "mbplugin.api",
    "mass_matrix": "mbplugin.dynamics.joint_space",
    "matrix": "mbplugin.api",
    "misfit_response": "mbplugin.joint_reactions.misfit",
    "page": "mbplugin.api",
    "protective_distance": "mbplugin.stopping.zones.distance",
    "reaction_mask": "mbplugin.joint_reactions.values",
    "reactions": "mbplugin.joint_reactions.run",
    "replay": "mbplugin.visualization.gui",
    "rule": "mbplugin.api",
    "rules": "mbplugin.linter.rule",
    "separation_distance": "mbplugin.stopping.zones.distance",
    "show": "mbplugin.visualization.gui",
    "simulate": "mbplugin.simulation.run",
    "stop_table": "mbplugin.stopping.table.run",
    "stop_zone": "mbplugin.stopping.zones.union",
    "stopping_table": "mbplugin.stopping.table.run",
    "sweep": "mbplugin.stopping.sweep",
    "tolerance_bound": "mbplugin.stopping",
    "view": "mbplugin.visualization.gui",
    "watch": "mbplugin.watching.run",
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
    """Read a model into a scene: a file, a live PyBullet client, or a model of another library.

    Parameters
    ----------
    source : path, PyBullet client, Scene or Mechanism
        A URDF, Xacro, SDF, MJCF or ``.scene.toml`` file; a PyBullet client: its id, or a ``BulletClient``; an
        ``MjModel``, ``MjData`` or ``MjSpec`` of MuJoCo, a ``Model`` of Pinocchio, or a robot of yourdfpy or urchin.
        A Scene is returned unchanged, a Mechanism as a scene at its home pose, at rest.
    package_dirs : sequence of str or Path
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    xacro_unsafe : bool
        Expand Xacro without restrictions, as the ``xacro`` program does: the file may run code and read any file.
    xacro_args : mapping of str to str, optional
        Values of the Xacro arguments, which the ``xacro`` program takes as ``name:=value``.
    massless : "zero" or "pybullet"
        Mass and inertia of URDF links without ``<inertial>``: none, or 1 kg and 1 kg·m² as in PyBullet.

    Raises
    ------
    MbPluginError
        The input is unusable; the message is one sentence.
    BadUsage
        Reading options are given with a Scene or a Mechanism.
    """
    from mbplugin.errors import BadUsage
    from mbplugin.model import Mechanism, Scene, as_scene
    from mbplugin.readers import loaded

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


@overload
def constraint_matrix(
    mech: ModelSource,
    q: Mapping[str, float | str] | None = None,
    qd: JointValues = None,
    *,
    planar: str | None = None,
) -> ConstraintMatrix: ...
@overload
def constraint_matrix(
    mech: ModelSource, q: Poses, qd: JointValues = None, *, planar: str | None = None
) -> Any: ...
@checked
def constraint_matrix(
    mech: ModelSource, q: JointValues = None, qd: JointValues = None, *, planar: str | None = None
) -> ConstraintMatrix | ConstraintMatrices:
    """Return the labelled constraint matrix of a model at a pose, or those of n poses (m, rad, s).

    Loops are not closed first.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping, (nq,) or (n, nq) array, optional
        Joint coordinates in the order of ``q_names``; those that a mapping does not name keep the scene's value.
    qd : mapping, (nv,) or (n, nv) array, optional
        Joint rates in the order of ``qd_names``; they enter Γ only.
    planar : "xy", "yz" or "zx", optional
        Project to three coordinates per body and drop the rows that vanish there.

    Returns
    -------
    ConstraintMatrix or ConstraintMatrices
        For a batch of poses or rates its arrays have a first axis over the n poses.

    Raises
    ------
    UnknownName, BadNumber
        A coordinate does not exist or is not finite; a vector or batch has another shape.
    """
    from mbplugin.constraints.many_poses import constraint_matrices
    from mbplugin.constraints.rank import constraint_matrix as build
    from mbplugin.model import is_batch, rate_vector, stated_coordinates, states
    from mbplugin.model.scene import option_of, state_of
    from mbplugin.readers import model_of

    mech = model_of(mech)
    mechanism, base_q, base_qd = state_of(mech)
    planar = planar or option_of(mech, "planar", None)
    if is_batch(q) or is_batch(qd):
        return constraint_matrices(mechanism, *states(mechanism, q, qd, base_q, base_qd), planar)
    return build(
        mechanism,
        stated_coordinates(mechanism, q, base_q),
        rate_vector(mechanism, qd, base_qd),
        planar=planar,
    )


#: The same function under the name of the command.
matrix = constraint_matrix


@checked
def rule(code: str | int) -> Rule:
    """Return a lint rule by its code, the number of its code, or its name.

    Its ``documentation`` is the text that ``mbplugin rule`` prints.

    Raises
    ------
    UnknownName
        There is no such rule.
    """
    from mbplugin.linter.rule import find_rule

    return find_rule(code)


@checked
def page(*results: Result) -> str:
    """Return a self-contained HTML page with one chapter per result.

    Parameters
    ----------
    *results
        Results of the other functions: reports, motions, stops, tables (SI units).

    Raises
    ------
    BadUsage
        No result is given, or a result has no page.
    """
    from mbplugin.report.results import page_of_all

    return page_of_all(results)
