"""``reactions``: the wrenches of all joints at a state, and the source of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy.sparse import diags_array

from mbplugin.analysis import uniqueness
from mbplugin.analysis.uniqueness import ConstraintVerdict, Directions
from mbplugin.arguments import checked
from mbplugin.constraints.rows import Rows, plane_columns
from mbplugin.constraints.sparse_qr import strip_of
from mbplugin.errors import BadNumber, BadUsage, MbPluginError
from mbplugin.joint_reactions import ClosedState, Model, closed_state, contact_bounds, statics
from mbplugin.joint_reactions.bounds import Bounds
from mbplugin.joint_reactions.contact_bounds import Bounded, ContactState
from mbplugin.joint_reactions.flexible import (
    Flexible,
    Resolution,
    StiffnessLike,
    StiffnessRequest,
    flexible_model,
    row_sources,
)
from mbplugin.joint_reactions.misfit_response import MisfitResponse, budget, deviations, response_of
from mbplugin.joint_reactions.statics import Balance, System
from mbplugin.joint_reactions.stiffness import (
    acting_point,
    applied_to,
    held_under,
    joints_of,
    lock_label,
    missing_stiffness,
    without_rounding,
)
from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions, WorldWrench
from mbplugin.model import Array, Contact, Pair, ReactionSource, RowLabel, shift_rows
from mbplugin.model.brakes import implausible, warn_of, weightless
from mbplugin.model.mechanism import Constraint, Coupling, Lock, kinematics
from mbplugin.model.mechanism.kinematics import JointValues, NamedNumbers
from mbplugin.model.scene import (
    LoadLike,
    PayloadLike,
    Scene,
    as_scene,
    mechanism_of,
    option_of,
    read_misfit,
    replaced_payloads,
)
from mbplugin.phrases import listed, names_of
from mbplugin.readers import ModelSource, contacts_in, model_of, resting
from mbplugin.readers.contact_points import compare_points, require_different
from mbplugin.readers.standing import (
    ContactLike,
    Stance,
    cannot_stand,
    read_contacts,
    require_free_base,
    require_stance_for,
    stance_of,
    standing,
    stands,
)

if TYPE_CHECKING:
    from mbplugin.joint_reactions.many_poses import PoseReactions

#: Smallest unbalanced share of the load that is noted.
_NOTED = 1e-9
#: Factor on the zero threshold of one self-stress, for sums of several.
_SUMS = 10.0


@overload
def reactions(
    model: ModelSource,
    q: Mapping[str, float | str] | None = None,
    qd: Mapping[str, float | str] | None = None,
    qdd: Mapping[str, float | str] | None = None,
    *,
    loads: Iterable[LoadLike] = (),
    stiffness: StiffnessLike = (),
    payload: Iterable[PayloadLike] | None = None,
    hold: Iterable[str] | None = None,
    contacts: Iterable[ContactLike] | bool = (),
    stance: Iterable[str] | bool | None = None,
    friction: float | None = None,
    misfit: NamedNumbers | None = None,
    misfit_sigma: NamedNumbers | None = None,
    limits: NamedNumbers | None = None,
    estimate: bool | None = None,
    material: str = "steel",
    tolerance: float | None = None,
    planar: str | None = None,
) -> Reactions: ...
@overload
def reactions(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    qdd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    stiffness: StiffnessLike = (),
    payload: Iterable[PayloadLike] | None = None,
    hold: Iterable[str] | None = None,
    contacts: Iterable[ContactLike] | bool = (),
    stance: Iterable[str] | bool | None = None,
    friction: float | None = None,
    misfit: NamedNumbers | None = None,
    misfit_sigma: NamedNumbers | None = None,
    limits: NamedNumbers | None = None,
    estimate: bool | None = None,
    material: str = "steel",
    tolerance: float | None = None,
    planar: str | None = None,
) -> Any: ...
@checked
def reactions(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    qdd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    stiffness: StiffnessLike = (),
    payload: Iterable[PayloadLike] | None = None,
    hold: Iterable[str] | None = None,
    contacts: Iterable[ContactLike] | bool = (),
    stance: Iterable[str] | bool | None = None,
    friction: float | None = None,
    misfit: NamedNumbers | None = None,
    misfit_sigma: NamedNumbers | None = None,
    limits: NamedNumbers | None = None,
    estimate: bool | None = None,
    material: str = "steel",
    tolerance: float | None = None,
    planar: str | None = None,
) -> Reactions | PoseReactions:
    """Compute the force and moment in every joint, and the source of each component; or those at n states, as arrays.

    The state, loads, payloads, springs, actuators and stiffness of a scene are included, in addition to the
    arguments. Loops are closed first. Without rates and accelerations this is statics (drivers only lock
    their joints), with them inverse dynamics; rates and accelerations are then corrected to satisfy the loops
    (C v + b = 0, C v̇ = Γ), those of unnamed joints first.

    Parameters
    ----------
    model : Scene or Mechanism
    q, qd, qdd : mapping or vector, optional
        Joint coordinates, rates and accelerations, rad and m; unnamed ones keep the scene's value,
        accelerations zero. A batch (n, nq) or (n, nv) has one vector in each row.
    loads, payload : iterable, optional
        Load and Payload, or mappings with the keys of the scene's tables.
    stiffness : iterable of Stiffness or mapping, optional
        By pair: six numbers or 6 × 6 in axes of P at the origin of S, N/m and N·m/rad, ``inf`` if
        rigid; by body: a beam section E A Iy Iz J nu. Others are rigid.
    hold : iterable of str, optional
        Joints (or ``joint.freedom``) held fixed in addition to drivers and locks. Default: those with an
        actuator, else those with a finite effort limit; of these, as many as are independent. If these do not
        balance the loads, the joints that the loads move are held as well, and ``assumed_held`` names them.
    contacts : iterable or bool, optional
        Contact, or mappings with the keys of the scene's tables: points that can only push, with dry friction. True
        reads those of a live PyBullet client, or takes those of the scene without comparing them with its shapes.
        Rates that a client has with less energy than a time step of free fall gives it are left out, with a note.
        Components that are then not unique have the smallest and largest value that the contacts, and the effort
        limits of held joints, allow. With contacts no stiffness is estimated by default.
    stance : iterable of str or bool, optional
        Links of a robot with a free base that touch the ground, or patterns: the lowest points of their collision
        shapes become contacts. True selects all links that reach the lowest height. By default a robot with legs or
        wheels that would fall is taken as standing like that; False keeps it free.
    friction : float, optional
        Coefficient of friction of the stance, by default 0.8.
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
        Relative rank tolerance; the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Compute the forces in a plane; components across it are omitted.

    Returns
    -------
    Reactions or PoseReactions
        For a batch: the components that the rigid model determines, arrays with a first axis over the n states. The
        joints held at the first state are held at all. A batch takes loads, payload, hold and tolerance only.
        Wrenches act on the successor, in axes of P at the origin of S, and in world axes there. In
        M v̇ = F + Cᵀλ; the λ of wojtyra2013 (11) and mueller2026 (5) is minus this one.

    Raises
    ------
    BadUsage
        A load moves the mechanism (the message names the motion), the contacts tip or slip, or a stiffness is not
        symmetric positive semidefinite.
    UnknownName
        A load, payload, stiffness, held joint, contact, misfit or limit names something unknown.
    CannotClose
        A loop cannot be closed.
    """
    if kinematics.is_batch(q) or kinematics.is_batch(qd) or kinematics.is_batch(qdd):
        # few callers need it
        from mbplugin.joint_reactions.many_poses import reactions_at_poses

        source = standing(model, *(kinematics.first_of(values) for values in (q, qd, qdd)))
        options = {"stiffness": stiffness, "contacts": contacts, "stance": stance, "friction": friction}
        options |= {"misfit": misfit, "misfit_sigma": misfit_sigma, "limits": limits, "estimate": estimate}
        require_rigid(source, {**options, "planar": planar or option_of(source, "planar", None)})
        return reactions_at_poses(
            source, q, qd, qdd, loads=loads, payload=payload, hold=hold, tolerance=tolerance, alone=reactions
        )
    hold = hold if hold is None else names_of(hold)
    loads, payload = tuple(loads), None if payload is None else tuple(payload)
    touched: Iterable[ContactLike] = () if isinstance(contacts, bool) else contacts or ()
    if contacts is True and not (isinstance(model, Scene) and model.contacts):
        touched = contacts_in(model)
    given, calm = model, tuple[str, ...]()
    model = model_of(model) if stance else standing(model, q, qd, qdd)
    if contacts is True and qd is None and qdd is None:
        model, calm = resting(given, as_scene(model))
    state = noting_masses(closed_state(model, q, qd, qdd, tolerance, planar), model, payload)
    state = replace(state, notes=(*calm, *state.notes))
    applied = applied_to(state, model, loads, payload)
    warn_of(implausible(state.mech, state.qd, applied.payloads))
    state, stated = contacts_of(state, model, touched, contacts is not True)
    ground = stance_under(state, model, stance, friction)
    together = (*stated, *(ground.contacts if ground else ()))
    if contacts is not True:
        require_different(together, state.mech, state.motion.poses)
    state, seen = touching(state, together)
    held, assumed, system, found = held_under(state, model, applied, hold)
    falls = stance is None and not seen and found.share > state.tolerance
    if falls and stands(model, qd, qdd):
        if friction is None:
            again = partial(
                reactions,
                q=q,
                qd=qd,
                qdd=qdd,
                stiffness=stiffness,
                hold=hold,
                misfit=misfit,
                misfit_sigma=misfit_sigma,
                limits=limits,
                estimate=estimate,
                material=material,
                tolerance=tolerance,
                planar=planar,
            )
            try:
                return again(model, stance=True, loads=loads, payload=payload)
            except BadUsage as error:
                on_stand = standing(given, q, qd, qdd, on_stand=True)
                loaded = bool(applied.stated or applied.payloads)
                if not mechanism_of(on_stand).assumed_fixed or (loaded and _stands_unloaded(model, again)):
                    raise
                return with_base_held(error, partial(again, on_stand, loads=loads, payload=payload))
        ground = stance_under(state, model, True, friction)
        state, seen = touching(state, ground.contacts if ground else ())
        held, assumed, system, found = held_under(state, model, applied, hold)
    if ground is None:
        require_stance_for(friction)
    asked = StiffnessRequest(stiffness, False if seen and estimate is None else estimate, material)
    statics.require_balance(system, found, state.tolerance, state.at_rest)
    gap_of, sigma_of = (
        kinematics.numbers(misfit, kinematics.misfit_dimension),
        kinematics.numbers(misfit_sigma, kinematics.misfit_dimension),
    )
    tolerances = stated_tolerances(
        model, gap_of, sigma_of, kinematics.numbers(limits, kinematics.limits_of(state.mech))
    )
    gaps = system.scale * read_misfit(system.labels, tolerances.misfit)
    sigma = read_misfit(system.labels, tolerances.sigma, "standard deviation of the misfit")
    flexible = flexible_model(system, model, found.multipliers, applied, gaps, asked)
    clean = without_rounding(flexible.resolution.multipliers)
    flexible = replace(flexible, resolution=replace(flexible.resolution, multipliers=clean))
    limited = contact_bounds.bounded(
        system, found.multipliers, applied, (*held, *assumed), applied.stated, state.tolerance
    )
    made = collect(state, system, (*held, *assumed), found, flexible, limited)
    notes = (*made.notes, *(ground.notes if ground else ()))
    made = replace(
        made, assumed_held=tuple(map(lock_label, assumed)), contacts=seen, stance=ground, notes=notes
    )
    return with_tolerances(made, response_of(state, system, flexible), tolerances, sigma)


def with_base_held(error: BadUsage, held: Callable[[], Reactions]) -> Reactions:
    """Return the reactions of a robot whose base is held, as it cannot stand, with a note on why.

    Raises
    ------
    BadUsage
        The given error, if the robot cannot be computed like that either.
    """
    try:
        found = held()
    except MbPluginError:
        raise error from None
    return replace(found, notes=(cannot_stand(error), *found.notes))


def _stands_unloaded(model: Model, again: Callable[..., Reactions]) -> bool:
    """Return True if a robot stands by its weight alone: then its loads tip it over, which is no matter of its pose."""
    bare = replace(model, loads=(), payloads=()) if isinstance(model, Scene) else model
    try:
        again(bare, stance=True, payload=())
    except BadUsage:
        return False
    return True


def require_rigid(model: Model, options: Mapping[str, object]) -> None:
    """Raise for arguments that a batch of states does not take.

    Raises
    ------
    BadUsage
        An option is given, or the scene has contacts.
    """
    given = [name for name, value in options.items() if value]
    if isinstance(model, Scene) and model.contacts:
        given.append("[[contact]] tables")
    if given:
        raise BadUsage(
            f"a batch of states takes no {given[0]}",
            expected="loads, payload, hold and tolerance: it computes what the rigid model determines",
            remedy="pass the states one by one",
        )


def noting_masses(state: ClosedState, model: Model, payloads: Iterable[PayloadLike] | None) -> ClosedState:
    """Return the state with notes on moving links without mass, and on payloads of a scene that the call replaces."""
    if not isinstance(model, Scene):
        return state
    replaced = () if payloads is None else replaced_payloads(model.payloads)
    return replace(state, notes=(*state.notes, *weightless(model), *replaced))


def contacts_of(
    state: ClosedState, model: Model, contacts: Iterable[ContactLike], compared: bool
) -> tuple[ClosedState, tuple[Contact, ...]]:
    """Return the contacts of the scene and the call, and the state with notes on implausible contact points.

    Parameters
    ----------
    compared : bool
        Whether to compare the points with the bodies; those of an engine are on them.

    Raises
    ------
    BadUsage
        A point is not on the surface of a body.
    """
    scene = model if isinstance(model, Scene) else None
    found = read_contacts(state.mech, (*(scene.contacts if scene else ()), *contacts))
    if compared and found:
        odd = compare_points(scene, state.mech, state.motion.poses, found)
        state = replace(state, notes=(*state.notes, *odd))
    return state, found


def stance_under(
    state: ClosedState, model: Model, stance: Iterable[str] | bool | None, friction: float | None
) -> Stance | None:
    """Return the stance of a robot with a free base at its closed pose; None if none is requested.

    Raises
    ------
    BadUsage
        The base is fixed.
    """
    if not stance:
        return None
    require_free_base(state.mech)
    links = None if isinstance(stance, bool) else tuple(stance)
    return stance_of(as_scene(model), state.mech, state.motion.poses, links, friction)


def touching(
    state: ClosedState, contacts: tuple[Contact, ...]
) -> tuple[ClosedState, tuple[ContactState, ...]]:
    """Return a state with the contacts that carry force, and the states of all contacts."""
    carrying, seen = contact_bounds.contact_states(state, contacts)
    return replace(state, mech=replace(state.mech, contacts=carrying)), seen


# Assembly of the result.


def collect(
    state: ClosedState,
    system: System,
    held: Sequence[Lock],
    found: Balance,
    flexible: Flexible,
    limited: Bounded = contact_bounds.NOT_BOUNDED,
) -> Reactions:
    """Return the reactions of all constraints, with the source of each value."""
    bounds = limited.bounds
    resolution, source = _decided(system, flexible.resolution, row_sources(system, flexible), bounds)
    labels = {lock.name: lock_label(lock) for lock in held}
    made = tuple(
        _constraint(system, verdict, rows, resolution, source, bounds, verdict.name in labels)
        for verdict, rows in zip(system.verdicts, system.rows, strict=True)
    )
    notes = list(state.notes)
    if found.share > _NOTED:
        notes.append(
            f"loads work on a free motion with {found.share:.2g} of what they could, taken as rounding"
        )
    return Reactions(
        mechanism=system.mech,
        q=state.q,
        qd=state.qd,
        qdd=state.qdd,
        mode="statics" if state.at_rest else "inverse dynamics",
        planar=state.planar,
        tolerance=state.tolerance,
        degree_of_redundancy=system.degree_of_redundancy,
        held=tuple(labels.values()),
        constraints=made,
        families=statics.families(system, found.multipliers),
        unresolved=tuple(label for label, s in zip(system.labels, source, strict=True) if s is None),
        stated=tuple(e.name for e in flexible.stated),
        estimated=flexible.estimates,
        missing=missing_stiffness(system, flexible.covered, resolution.determined),
        notes=(*notes, *flexible.notes, *limited.notes),
        standing=limited.standing,
    )


def _decided(
    system: System, resolution: Resolution, source: Sequence[ReactionSource | None], bounds: Bounds | None
) -> tuple[Resolution, tuple[ReactionSource | None, ...]]:
    """Return the values and sources of all rows, with those on which both bounds agree."""
    if bounds is None:
        return resolution, tuple(source)
    decided = bounds.determined & np.array([s is None for s in source], dtype=bool)
    values = resolution.multipliers.copy()
    values[decided] = 0.5 * (bounds.lower[decided] + bounds.upper[decided]) / system.scale[decided]
    still_open = diags_array(np.where(decided, 0.0, 1.0)) @ resolution.open
    resolution = replace(resolution, multipliers=values, open=still_open.tocsr())
    return resolution, tuple("inequalities" if d else s for d, s in zip(decided, source, strict=True))


def _constraint(
    system: System,
    verdict: ConstraintVerdict,
    rows: Rows,
    resolution: Resolution,
    source: Sequence[ReactionSource | None],
    bounds: Bounds | None,
    held: bool,
) -> ConstraintReaction:
    at = system.slices[verdict.name]
    values = (system.scale * resolution.multipliers)[at]
    values.setflags(write=False)
    sources = source[at]
    limits = [_limits(bounds, at.start + k) for k in range(len(sources))]
    components = tuple(
        ComponentReaction(
            c,
            unit,
            bool(unique),
            None if s is None else float(value),
            s,
            None,
            *(_NO_LIMITS if unique else own),
        )
        for c, unit, unique, value, s, own in zip(
            rows.components, system.units[at], system.unique[at], values, sources, limits, strict=True
        )
    )
    pair = system.mech.pair_by_name.get(verdict.name)
    known = np.where([s is None for s in sources], np.nan, values)
    constraint = system.constraint_by_name[verdict.name]
    open_force, open_moment = open_in(system, constraint, rows)
    return ConstraintReaction(
        name=verdict.name,
        kind="hold" if held else verdict.kind,
        type=verdict.type,
        body_a=verdict.body_a,
        body_b=verdict.body_b,
        reaction=verdict.reaction,
        # the verdicts here have a dimension for every constraint
        indeterminate_dim=verdict.indeterminate_dim or 0,
        point=None if pair is None else statics.joint_point(system, pair),
        wrench=None if pair is None else _wrench(statics.joint_rows(system, pair, rows), known),
        components=components,
        directions=statics.null_directions(system, verdict.name),
        shared_with=statics.sharing(system, verdict.name),
        R_WJ=joint_axes(system, constraint),
        world=world_wrench(system, constraint, rows, resolution, sources),
        open_force=open_force,
        open_moment=open_moment,
    )


_Limits = tuple[float | None, float | None, tuple[str, ...] | None]
_NO_LIMITS: _Limits = (None, None, None)


def _limits(bounds: Bounds | None, row: int) -> _Limits:
    """Return the smallest and largest value of a row, None where unbounded, and the limiting bounds."""
    if bounds is None or not bounds.bounded_by.get(row):
        return _NO_LIMITS
    lower, upper = float(bounds.lower[row]), float(bounds.upper[row])
    return lower if isfinite(lower) else None, upper if isfinite(upper) else None, bounds.bounded_by[row]


def _wrench(L: Array, values: Array) -> Array:
    """Return Lᵀ λ (6,) of rows L (k, 6) and values (k,).

    Components to which an undetermined multiplier contributes are NaN.
    """
    wrench = np.zeros(6)
    for row, value in zip(L, values, strict=True):
        part = np.abs(row) > 1e-12
        wrench[part] += row[part] * value
    wrench.setflags(write=False)
    return wrench


# World wrench, joint axes and undetermined directions of a reaction.


def world_rows(system: System, constraint: Constraint, rows: Rows) -> tuple[str, Array, Array] | None:
    """Return the body on which a constraint acts, its point of action (m), and its rows (k, 6) there, world axes.

    None for a coupling, which acts at several points, and for a constraint without rows.
    """
    if isinstance(constraint, Coupling) or not rows.components:
        return None
    joints = joints_of(system.mech, constraint)
    if joints:
        (pair,) = joints
        point, _ = uniqueness.joint_place(system.mech, system.poses, pair)
        return pair.body_b, point, uniqueness.rows_in_world(system.mech, system.poses, pair, rows)
    # the last entry is that of the successor
    body, entry = rows.entries[-1]
    point = acting_point(system, constraint, body)
    return system.mech.bodies[body].name, point, shift_rows(entry, system.poses.p_WC[body] - point)


def joint_axes(system: System, constraint: Constraint) -> Array | None:
    """Return R_WJ (3, 3), the axes of P in the world, of a pair or of the joint of a drive or lock."""
    joints = joints_of(system.mech, constraint)
    if isinstance(constraint, Coupling) or not joints:
        return None
    return uniqueness.joint_place(system.mech, system.poses, joints[0])[1]


def world_wrench(
    system: System,
    constraint: Constraint,
    rows: Rows,
    resolution: Resolution,
    sources: Sequence[ReactionSource | None],
) -> WorldWrench | None:
    """Return a reaction in world axes, with NaN in components that are not fully determined.

    Parameters
    ----------
    sources : sequence of str or None
        Sources of the constraint's rows.
    """
    found = world_rows(system, constraint, rows)
    if found is None:
        return None
    body, point, L = found
    at = system.slices[constraint.name]
    wrench = L.T @ (system.scale * resolution.multipliers)[at]
    sized = uniqueness.unit_wrenches(L, system.scale[at], system.length)
    limit = _SUMS * max(float(system.zero[at].max()), 1e-8)
    wrench[np.linalg.norm(sized @ strip_of(resolution.open, at).values, axis=1) > limit] = np.nan
    rigid = np.linalg.norm(sized @ system.stress(at).values, axis=1) <= limit
    decided: ReactionSource = "estimated" if "estimated" in sources else "stated"
    wrench.setflags(write=False)
    return WorldWrench(
        body,
        point,
        wrench,
        tuple(
            None if np.isnan(value) else "rigid" if known else decided
            for value, known in zip(wrench, rigid, strict=True)
        ),
    )


def open_in(
    system: System, constraint: Constraint, rows: Rows
) -> tuple[Directions | None, Directions | None]:
    """Return the directions in which the rigid model leaves the force and the moment of a pair open."""
    if not isinstance(constraint, Pair):
        return None, None
    at = system.slices[constraint.name]
    if system.unique[at].all():
        return (), ()
    L = uniqueness.rows_in_world(system.mech, system.poses, constraint, rows)
    stresses = uniqueness.unit_wrenches(L, system.scale[at], system.length) @ system.stress(at).values
    return uniqueness.open_directions(stresses, float(system.zero[at].max()))


# Linear map from a wrench on a body to the joint reactions that the rigid model determines.


@dataclass(frozen=True, eq=False)
class LoadResponse:
    """Change of the reactions at a pose due to a wrench [f; m] on a body, world axes, about its centre of mass.

    Parameters
    ----------
    bodies : tuple of str
        Bodies on which the held joints can balance every wrench.
    p_WC : (N, 3) array
        Their centres of mass, world, m.
    labels : tuple of (constraint, component)
        The components that the rigid model determines.
    matrix : (N, k, 6) array
        The change of each component, N or N·m, for each component of the wrench, N and N·m.
    """

    bodies: tuple[str, ...]
    p_WC: Array
    labels: tuple[RowLabel, ...]
    matrix: Array


def load_response(result: Reactions, q: Array | None = None) -> LoadResponse:
    """Return the map at the pose of ``result``, or at another closed pose q (nq,), with the same held joints.

    The reactions at rest are linear in the load: with M v̇ = 0 they satisfy Cᵀλ = −F, and the unique rows are the
    same for every solution λ (wojtyra2013 §3.1).
    """
    mech = result.mechanism
    q = result.q if q is None else q
    poses = kinematics.forward(mech, q)
    columns = plane_columns(result.planar)
    system = statics.build_system(mech, q, poses, columns, result.tolerance)
    unique = np.flatnonzero(system.unique)
    count = len(mech.bodies)
    matrix, carried = np.zeros((count, len(unique), 6)), np.ones(count, dtype=bool)
    places = [(body, k) for body in range(count) for k in columns]
    missing = np.zeros((len(places), count, 6))
    missing[np.arange(len(places)), [body for body, _ in places], [k for _, k in places]] = -1.0
    for (body, k), found in zip(places, statics.balances(system, missing), strict=True):
        carried[body] &= found.share <= result.tolerance
        matrix[body, :, k] = (system.scale * found.multipliers)[unique]
    return LoadResponse(
        tuple(body.name for body, able in zip(mech.bodies, carried, strict=True) if able),
        poses.p_WC[carried],
        tuple(system.labels[k] for k in unique),
        matrix[carried],
    )


# Misfits, tolerances and limits of a scene and a call, and their results.


@dataclass(frozen=True)
class Tolerances:
    """Misfits and their standard deviations by ``CONSTRAINT.COMPONENT`` (m, rad), limits by name (N, N·m)."""

    misfit: Mapping[str, float] = field(default_factory=dict)
    sigma: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)


def stated_tolerances(
    model: Model,
    misfit: Mapping[str, float] | None,
    sigma: Mapping[str, float] | None,
    limits: Mapping[str, float] | None,
) -> Tolerances:
    """Return the tolerances of the scene and the call; a value of the call replaces the scene's of the same name.

    Raises
    ------
    BadNumber
        A standard deviation is negative.
    """
    own = model.misfits if isinstance(model, Scene) else ()
    limited = model.limits if isinstance(model, Scene) else ()
    for name, value in (sigma or {}).items():
        if value < 0:
            raise BadNumber(
                f"the standard deviation of the misfit {name!r} is {value!r}",
                expected="m or rad, not negative",
            )
    return Tolerances(
        {**{one.name: one.value for one in own if one.value is not None}, **(misfit or {})},
        {**{one.name: one.sigma for one in own if one.sigma is not None}, **(sigma or {})},
        {**{one.name: one.value for one in limited}, **(limits or {})},
    )


def with_tolerances(
    made: Reactions, response: MisfitResponse, tolerances: Tolerances, sigma: Array
) -> Reactions:
    """Return reactions with the standard deviations and misfit budget of stated tolerances, and notes on misfits.

    Parameters
    ----------
    sigma : (m,) array
        Standard deviation of the misfit of each row, m and rad.
    """
    constraints = made.constraints
    if tolerances.sigma:
        spread = deviations(response, sigma)
        found = {label.dotted: float(value) for label, value in zip(response.labels, spread, strict=True)}
        constraints = tuple(_with_sigma(c, found) for c in constraints)
    return replace(
        made,
        constraints=constraints,
        misfit_sigma=dict(tolerances.sigma),
        limits=dict(tolerances.limits),
        budget=budget(response, tolerances.limits),
        response=response,
        notes=(*made.notes, *_without_value(response, tolerances.misfit)),
    )


def _without_value(response: MisfitResponse, misfit: Mapping[str, float]) -> Iterator[str]:
    """Yield a note on every misfit whose loads are undetermined or that causes no load."""
    for name, value in misfit.items():
        row = response.row(name)
        _, loads = response.entries(row)
        if not value:
            continue
        if np.isinf(loads).any():
            missing = response.missing[int(response.infinite_group[row])]
            parts = listed([*missing.bodies, *missing.pairs])
            yield (
                f"nothing determines what the misfit of {name} loads, since parts that it loads have no stiffness:"
                f" state a [[stiffness]] (stiffness=… in Python){f' for {parts}' if parts else ''}"
            )
        elif not loads.any():
            yield f"the misfit of {name} loads nothing: no redundant constraint resists it, whatever the stiffness"


def _with_sigma(constraint: ConstraintReaction, found: Mapping[str, float]) -> ConstraintReaction:
    components = []
    for one in constraint.components:
        sigma = found[f"{constraint.name}.{one.name}"]
        known = one.value is not None and np.isfinite(sigma)
        components.append(replace(one, sigma=sigma if known else None))
    return replace(constraint, components=tuple(components))
