"""``misfit_response``: the load that a misfit of each constraint component causes in every joint."""

from __future__ import annotations

import numpy as np

from mbplugin.arguments import checked
from mbplugin.joint_reactions.misfit.build import response_of
from mbplugin.joint_reactions.misfit.response import MisfitResponse
from mbplugin.joint_reactions.run import applied_to
from mbplugin.joint_reactions.state import closed_state
from mbplugin.joint_reactions.stiffness.flexible import StiffnessRequest, flexible_model
from mbplugin.joint_reactions.stiffness.pair_stiffness import StiffnessLike
from mbplugin.joint_reactions.system import build_system
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.readers.source import ModelSource, model_of


@checked
def misfit_response(
    model: ModelSource,
    q: JointValues = None,
    *,
    stiffness: StiffnessLike = (),
    estimate: bool | None = None,
    material: str = "steel",
    tolerance: float | None = None,
    planar: str | None = None,
) -> MisfitResponse:
    """Compute what a misfit of each constraint component costs: B = S (Sᵀ F S)⁻¹ Sᵀ.

    Loops are closed first. Drivers and locks of the model hold; no load acts.

    Parameters
    ----------
    model : Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; what is not named keeps the scene's value.
    stiffness, estimate, material
        As for :func:`mbplugin.joint_reactions.run.reactions`; N/m and N·m/rad.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Compute the forces in a plane.

    Returns
    -------
    MisfitResponse
        Loads act on the successor, in the axes of its constraint. The most expensive misfit comes first;
        what no compliance limits is infinite and names the bodies that need a stiffness.

    Raises
    ------
    BadUsage
        A stiffness that is not symmetric positive semidefinite.
    UnknownName
        A stiffness of a pair or body that does not exist.
    CannotClose
        A loop that cannot be closed.
    """
    model = model_of(model)
    request = StiffnessRequest(stiffness, estimate, material)
    state = closed_state(model, q, None, None, tolerance, planar)
    system = build_system(state.mech, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    nothing = np.zeros(len(system.scale))
    applied = applied_to(state, model, (), ())
    flexible = flexible_model(system, model, nothing, applied, nothing, request)
    return response_of(state, system, flexible)
