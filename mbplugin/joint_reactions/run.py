"""``reactions``: the wrench of every joint at a state, and what determines it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.arguments import checked
from mbplugin.dynamics.newton_euler import newton_euler
from mbplugin.joint_reactions.collect import collect
from mbplugin.joint_reactions.holding import held_joints, with_held
from mbplugin.joint_reactions.misfit.build import response_of
from mbplugin.joint_reactions.misfit.stated import stated_tolerances, with_tolerances
from mbplugin.joint_reactions.springs import spring_loads
from mbplugin.joint_reactions.state import ClosedState, Model, closed_state
from mbplugin.joint_reactions.statics import balance, require_balance
from mbplugin.joint_reactions.stiffness.elements import Applied
from mbplugin.joint_reactions.stiffness.flexible import StiffnessRequest, flexible_model
from mbplugin.joint_reactions.stiffness.pair_stiffness import StiffnessLike
from mbplugin.joint_reactions.system import build_system
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.loads import LoadLike, PayloadLike, read_loads, read_misfit, read_payloads
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.named_numbers import NamedNumbers, limits_of, misfit_dimension, numbers
from mbplugin.model.plausible import implausible, warn_of
from mbplugin.model.scene import Load, Payload, Scene
from mbplugin.model.spatial import Array
from mbplugin.readers.source import ModelSource, model_of

#: Beside the largest multiplier, what is smaller is 0; 1.570796327 rad in a file leaves up to 1e-11.
_ROUNDING = 1e-11


@checked
def reactions(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    qdd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    stiffness: StiffnessLike = (),
    payload: Iterable[PayloadLike] = (),
    hold: Iterable[str] | None = None,
    misfit: NamedNumbers | None = None,
    misfit_sigma: NamedNumbers | None = None,
    limits: NamedNumbers | None = None,
    estimate: bool | None = None,
    material: str = "steel",
    tolerance: float | None = None,
    planar: str | None = None,
) -> Reactions:
    """Compute the force and moment in every joint, and what determines each component.

    The state, loads, payloads, springs, actuators and stiffness of a scene are included; the arguments
    are added. Loops are closed first. Without rates and accelerations this is statics (drivers only
    hold), with them inverse dynamics; rates and accelerations are then corrected to satisfy the loops
    (C v + b = 0, C v̇ = Γ), those of unnamed joints first.

    Parameters
    ----------
    model : Scene or Mechanism
    q, qd, qdd : mapping or vector, optional
        Joint coordinates, rates and accelerations, rad and m; what is not named keeps the scene's
        value, accelerations zero.
    loads, payload : iterable, optional
        Load and Payload, or mappings with the keys of the scene's tables.
    stiffness : iterable of Stiffness or mapping, optional
        By pair: six numbers or 6 × 6 in axes of P at the origin of S, N/m and N·m/rad, ``inf`` if
        rigid; by body: a beam section E A Iy Iz J nu. Others are rigid.
    hold : iterable of str, optional
        Joints (or ``joint.freedom``) held in addition to drivers and locks. Default: those with an
        actuator, else those with a finite effort limit; of these, as many as are independent.
    misfit : mapping, optional
        "constraint.component" to the gap, m or rad, by which the successor is offset before assembly.
    misfit_sigma : mapping, optional
        "constraint.component" to the standard deviation of its misfit, m or rad; misfits are independent.
    limits : mapping, optional
        "joint" to the largest force, N, or "joint.component" to the largest force or moment, N or N·m,
        that a misfit may cause there.
    estimate : bool, optional
        Whether to estimate beam sections from the links' shapes. Default: only in loops for which no
        stiffness is stated.
    material : "steel" or "aluminium"
        Material of estimated sections.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Compute the forces in a plane; components across it are omitted.

    Returns
    -------
    Reactions
        Wrenches act on the successor, in axes of P at the origin of S, and in world axes there. In
        M v̇ = F + Cᵀλ; the λ of wojtyra2013 (11) and mueller2026 (5) is minus this one.

    Raises
    ------
    BadUsage
        A load that moves the mechanism (the message names the motion), a stiffness that is not symmetric
        positive semidefinite.
    UnknownName
        A load, payload, stiffness, held joint, misfit or limit of what does not exist.
    CannotClose
        A loop that cannot be closed.
    """
    model = model_of(model)
    asked = StiffnessRequest(stiffness, estimate, material)
    state = closed_state(model, q, qd, qdd, tolerance, planar)
    applied = applied_to(state, model, loads, payload)
    warn_of(implausible(state.mech, state.qd, applied.payloads))
    held = held_joints(state.motion, hold, _actuated(model), state.tolerance)
    system = build_system(
        with_held(state.mech, held), state.q, state.motion.poses, state.motion.columns, state.tolerance
    )
    found = balance(system, applied.equations.missing(applied.accelerations))
    require_balance(system, found, state.tolerance, state.at_rest)
    gap_of, sigma_of = numbers(misfit, misfit_dimension), numbers(misfit_sigma, misfit_dimension)
    tolerances = stated_tolerances(model, gap_of, sigma_of, numbers(limits, limits_of(state.mech)))
    gaps = system.scale * read_misfit(system.labels, tolerances.misfit)
    sigma = read_misfit(system.labels, tolerances.sigma, "standard deviation of the misfit")
    flexible = flexible_model(system, model, found.multipliers, applied, gaps, asked)
    clean = without_rounding(flexible.resolution.multipliers)
    resolution = replace(flexible.resolution, multipliers=clean)
    made = collect(state, system, held, found, replace(flexible, resolution=resolution))
    return with_tolerances(made, response_of(state, system, flexible), tolerances, sigma)


def applied_to(
    state: ClosedState, model: Model, loads: Iterable[LoadLike], payloads: Iterable[PayloadLike]
) -> Applied:
    """Return loads, springs and payloads of the scene and the call, with the equations they enter."""
    own: tuple[Sequence[Load], Sequence[Payload]] = ((), ())
    if isinstance(model, Scene):
        own = model.loads, model.payloads
    springs = spring_loads(state.mech, model.springs if isinstance(model, Scene) else (), state.q, state.qd)
    all_loads = (*own[0], *springs, *read_loads(state.mech, loads))
    all_payloads = (*own[1], *read_payloads(state.mech, payloads))
    made = newton_euler(state.mech, state.q, state.qd, loads=all_loads, payloads=all_payloads)
    return Applied(made, state.accelerations, all_loads, all_payloads)


def _actuated(model: Model) -> tuple[str, ...]:
    return tuple(a.joint for a in model.actuators) if isinstance(model, Scene) else ()


def without_rounding(values: Array) -> Array:
    """Return values (n,) without what is rounding beside the largest: that of angles with ten digits, too."""
    return np.where(np.abs(values) < _ROUNDING * np.abs(values).max(initial=0.0), 0.0, values)
