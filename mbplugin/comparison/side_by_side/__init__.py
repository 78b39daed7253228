"""``engines``: the joint wrenches of several engines at one instant, side by side."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from typing import NamedTuple

import numpy as np

from mbplugin.analysis.uniqueness import joint_place
from mbplugin.arguments import checked
from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics import newton_euler
from mbplugin.errors import (
    BadUsage,
    ImplausibleValue,
    MbPluginError,
    UnknownName,
    install_command,
    suggestion,
)
from mbplugin.joint_reactions import ClosedState, closed_state, held_joints, spring_loads
from mbplugin.joint_reactions.run import noting_masses, reactions, stance_under
from mbplugin.joint_reactions.statics import BALANCED_STANCE, System, build_system
from mbplugin.joint_reactions.stiffness import applied_to, held_under
from mbplugin.joint_reactions.values import Mode, coupled_wrench, joint_mask
from mbplugin.model import WORLD, BodyPoses, Driver, JointValues, Lock, Mechanism
from mbplugin.model.mechanism import kinematics
from mbplugin.model.mechanism.pair import Contact, Pair, motion_subspace
from mbplugin.model.scene import (
    Load,
    LoadLike,
    Payload,
    PayloadLike,
    Scene,
    State,
    mechanism_of,
    read_loads,
    read_payloads,
)
from mbplugin.model.spatial import COMPONENTS, ROTATION, TRANSLATION, AnyArray, Array, cross, half_of
from mbplugin.phrases import counted, listed, one_line, one_line_repr
from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.standing import Stance, cannot_stand, require_stance_for, standing, stands
from mbplugin.rendering import Result
from mbplugin.version import __version__

#: Those that are asked where none is named, on every machine the same.
BY_DEFAULT = ("pybullet", "mujoco")
_LIMITS = Limits(
    seconds=60.0,
    cpu=60,
    memory=4 << 30,
    written=1 << 30,
    purpose=Purpose("computed", "the joint forces", "a model that takes less", "simplify it"),
)
#: Maximum number of contacts named in a message.
_NAMED = 6
#: A held joint that moves by more than this, rad/s or m/s, contradicts a given rate.
_MOVES = 1e-9
#: Mass that other engines get for a massless body with a freedom, relative to that of all bodies.
_SPECK = 1e-9
#: The name of our own column.
OURS = "mbplugin"
#: Unique components of engines that agree differ by less than this fraction of the largest in the joint.
AGREES = 0.01
#: The largest force or moment of a joint counts as at least this fraction of the model's largest.
_FLOOR = 0.01
#: Beside forces, moments count as at least this fraction of the largest force times the model's length.
_SMALL_MOMENT = 0.001


class _Engine(NamedTuple):
    """An engine: its name, its function, the package that it imports, and the command that installs it."""

    name: str
    function: str
    package: str
    remedy: str


#: The other engines, by the names that choose them.
ENGINES: Mapping[str, _Engine] = {
    "pybullet": _Engine("PyBullet", "bullet.bullet_wrenches", "pybullet", install_command("bullet")),
    "mujoco": _Engine("MuJoCo", "mujoco.mujoco_wrenches", "mujoco", install_command("mjcf")),
    "pinocchio": _Engine(
        "Pinocchio", "pinocchio.pinocchio_wrenches", "pinocchio", install_command("pinocchio")
    ),
}


@checked
def engines(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    hold: Iterable[str] | None = None,
    stance: Iterable[str] | bool | None = None,
    friction: float | None = None,
    only: Iterable[str] | None = None,
    tolerance: float | None = None,
) -> SideBySide:
    """Compute the joint forces of a model with several engines, and say where they have to agree.

    Every engine gets the same bodies, loops, state and loads, without damping, friction, limits and contacts,
    and runs in a process of its own with limits of time and memory. Without rates this is statics, with held
    joints as in ``reactions``; with rates it is the instant of a motion whose accelerations follow from the loads,
    and only joints that are named hold. A robot that stands on the ground gets contact forces that balance its
    loads: one of the sets that friction allows, the same for all engines.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q, qd : mapping or vector, optional
        Joint coordinates and rates, rad and m; what is not named keeps the scene's value. Loops are closed.
    loads, payload : iterable, optional
        As for ``reactions``.
    hold : iterable of str, optional
        Joints that are held as a whole; their drive's force is in their wrench.
    stance : iterable of str or bool, optional
        Links that touch the ground, as for ``reactions``. By default a robot with legs or wheels that would fall is
        taken as standing on its lowest links; False keeps it free.
    friction : float, optional
        Coefficient of friction of the stance, by default 0.8.
    only : iterable of str, optional
        Engines to ask: ``pybullet``, ``mujoco``, ``pinocchio``; default: the first two.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.DEFAULT_TOLERANCE``.

    Returns
    -------
    SideBySide

    Raises
    ------
    BadUsage
        A load that moves the mechanism at rest, a stance that cannot carry it, an unknown engine, a joint that is
        held in part.
    CannotClose
        A loop that cannot be closed.
    """
    model = model_of(model) if stance else standing(model, q, qd)
    if not (stance or (stance is None and stands(model, qd))):
        model = standing(model, q, qd, on_stand=True)
    chosen = _chosen(only)
    loads, payload = tuple(loads), None if payload is None else tuple(payload)
    held = tuple[str, ...]()
    try:
        ground, forces = _on_the_ground(model, q, qd, loads, payload, stance, friction, tolerance)
    except BadUsage as error:
        on_stand = standing(model, q, qd, on_stand=True)
        if (
            stance
            or friction is not None
            or (isinstance(model, Scene) and model.contacts)
            or not mechanism_of(on_stand).assumed_fixed
            or _stands_unloaded(model, q, qd, (*loads, *(payload or ())), tolerance)
        ):
            raise
        model = on_stand
        held, ground, forces = (cannot_stand(error),), None, ()
    loads = (*loads, *forces)
    instant, system, state = instant_of(model, q, qd, loads, payload, hold, tolerance)
    answers = [_ours(model, instant, system), *(_ask(name, instant) for name in chosen)]
    return SideBySide(
        mechanism=instant.mech,
        q=state.q,
        qd=state.qd,
        qdd=state.qdd,
        mode="statics" if instant.at_rest else "inverse dynamics",
        held=instant.held,
        assumed_held=instant.assumed_held,
        tolerance=state.tolerance,
        degree_of_redundancy=system.degree_of_redundancy,
        engines=tuple(answers),
        joints=_joints(mechanism_of(model), instant, system, answers),
        notes=(
            *held,
            *state.notes,
            *(note for a in answers for note in a.notes),
            *_contact_notes(ground, forces),
        ),
        stance=ground,
    )


def _chosen(only: Iterable[str] | None) -> list[str]:
    names = list(BY_DEFAULT) if only is None else list(dict.fromkeys(only))
    if unknown := [name for name in names if name not in ENGINES]:
        raise BadUsage(f"the engine is {unknown[0]!r}", expected=f"some of {', '.join(ENGINES)}")
    return names


def _on_the_ground(
    model: Scene | Mechanism,
    q: JointValues,
    qd: JointValues,
    loads: tuple[LoadLike, ...],
    payload: tuple[PayloadLike, ...] | None,
    stance: Iterable[str] | bool | None,
    friction: float | None,
    tolerance: float | None,
) -> tuple[Stance | None, tuple[Load, ...]]:
    """Return the stance of a robot, and contact forces that balance its loads; None and none without a stance.

    Contacts of the scene take the place of a stance.

    Raises
    ------
    BadUsage
        A friction without a stance, a stance in a motion, contacts between bodies or on a robot that something else
        holds, or contacts that no admissible forces balance.
    """
    stated = model.contacts if isinstance(model, Scene) else ()
    loose = [joint.pair is None for joint in mechanism_of(model).tree.joints].count(True) == 1 and not any(
        WORLD in pair.bodies for pair in mechanism_of(model).pairs
    )
    if stated and (stance or not loose or any(contact.on != WORLD for contact in stated)):
        raise BadUsage(
            f"the scene states {counted(len(stated), 'contact')}, whose forces the loads alone do not decide",
            expected="contacts with the ground of one robot that nothing else holds, and no stance beside them",
            remedy="leave the [[contact]] tables out; 'mbplugin reactions' bounds their forces",
        )
    touches = bool(stance or stated) or (stance is None and stands(model, qd))
    state = closed_state(model, q, qd, None, tolerance, None) if touches else None
    if state is None or not (stance or stated or state.at_rest):
        require_stance_for(friction)
        return None, ()
    if not state.at_rest:
        raise BadUsage(
            f"{'contacts are' if stated else 'a stance is'} given for a motion",
            expected="a robot at rest",
            remedy=f"leave out the rates (--qd), or the {'contacts' if stated else 'stance'}",
        )
    ground = None if stated else stance_under(state, model, stance or True, friction)
    missing = applied_to(state, model, loads, payload).equations.missing(state.accelerations)
    return ground, _contact_forces(state, missing, ground.contacts if ground else stated)


def _stands_unloaded(
    model: Scene | Mechanism,
    q: JointValues,
    qd: JointValues,
    loads: tuple[LoadLike | PayloadLike, ...],
    tolerance: float | None,
) -> bool:
    """Return True if a robot with ``loads`` stands by its weight alone: they tip it over, not its pose."""
    if not isinstance(model, Scene) or not (loads or model.loads or model.payloads):
        return False
    bare = replace(model, loads=(), payloads=())
    try:
        _on_the_ground(bare, q, qd, (), (), None, None, tolerance)
    except BadUsage:
        return False
    return True


def _contact_notes(ground: Stance | None, forces: Collection[Load]) -> tuple[str, ...]:
    if not forces:
        return ()
    said = "contact forces are loads here, one of the sets that balance the robot: 'mbplugin reactions' bounds them"
    return (*(ground.notes if ground else ()), said)


def _contact_forces(state: ClosedState, missing: Array, contacts: Sequence[Contact]) -> tuple[Load, ...]:
    """Return forces inside the friction cones that balance ``missing`` (N, 6), the wrenches at the centres of mass.

    Without friction if the normals alone can balance them; else each force is a sum, with non-negative factors, of the
    edges of a pyramid in its cone.

    Raises
    ------
    BadUsage
        No such forces exist.
    """
    mech, poses = state.mech, state.motion.poses
    points = np.array([poses.of(mech.body_index[c.body]).apply(c.point) for c in contacts])
    centre, size = points.mean(axis=0), max(mech.largest_arm, 1e-9)
    wanted = np.zeros(6)
    for body, wrench in enumerate(missing):
        moment = wrench[3:] + cross(poses.p_WC[body] - centre, wrench[:3])
        wanted += [*wrench[:3], *(moment / size)]
    # few callers need it
    from scipy.optimize import nnls

    for edges_of in ((lambda contact: [contact.pushes]), partial(_pyramid, gravity=mech.gravity)):
        pushes = [(k, edge) for k, contact in enumerate(contacts) for edge in edges_of(contact)]
        owners, edges = [k for k, _ in pushes], np.array([edge for _, edge in pushes])
        moments = np.cross(points[owners] - centre, edges) / size
        factors, left = nnls(np.hstack((edges, moments)).T, wanted)
        if left <= state.tolerance * np.linalg.norm(wanted):
            break
    else:
        raise BadUsage(
            f"{listed([contact.name for contact in contacts], _NAMED)} cannot carry this load",
            expected=BALANCED_STANCE,
            remedy="'mbplugin reactions' says whether it tips or slips; or hold the base, with --base fixed",
        )
    forces = np.zeros((len(points), 3))
    np.add.at(forces, owners, factors[:, None] * edges)
    return tuple(
        Load(contact.body, force, np.zeros(3), contact.point)
        for contact, force in zip(contacts, forces, strict=True)
        if force.any()
    )


def _pyramid(contact: Contact, gravity: Array) -> list[Array]:
    """Return the edges, (3,) each, of a pyramid in the friction cone of a contact.

    ``gravity`` (3,) is in m/s², world axes. A contact that slips, or has no friction, has one edge.
    """
    if contact.slip is not None or not contact.mu:
        return [contact.pushes]
    normal, *sideways = contact.axes(gravity)
    return [normal + sign * contact.mu * side for side in sideways for sign in (1.0, -1.0)]


def _ours(model: Scene | Mechanism, instant: Instant, system: System) -> Answer:
    """Return our wrenches in world axes; NaN in undetermined components."""
    if isinstance(model, Scene):
        state = State(instant.q, np.zeros_like(instant.qd))
        model = replace(
            model,
            mechanism=instant.mech,
            state=state,
            loads=(),
            payloads=(),
            springs=(),
            actuators=(),
            contacts=(),
        )
    else:
        model = instant.mech
    moving = (None, None) if instant.at_rest else (instant.qd, instant.qdd)
    with _own_pose():
        result = reactions(
            model,
            instant.q,
            *moving,
            loads=instant.loads,
            payload=instant.payloads,
            hold=(),
            stance=False,
            estimate=False,
            tolerance=None if isinstance(model, Mechanism) else model.options.tolerance,
        )
    return Answer(OURS, __version__, {p.name: coupled_wrench(system, result, p) for p in instant.mech.pairs})


@contextlib.contextmanager
def _own_pose() -> Iterator[None]:
    """Do not warn of coordinates in a block: they are those of the instant, and what was stated has been checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ImplausibleValue)
        yield


def _ask(name: str, instant: Instant) -> Answer:
    """Return the answer of an engine, run in a child process, or the reason why there is none."""
    engine = ENGINES[name]
    if find_spec(engine.package) is None:
        return Answer(engine.name, reason=f"{engine.name} is not installed ({engine.remedy})")
    module, function = engine.function.split(".")
    asked = getattr(import_module(f"mbplugin.comparison.side_by_side.{module}"), function)
    heavy = replace(instant, mech=_without_massless_movers(instant.mech))
    try:
        answer: Answer = in_own_child(engine.name, _LIMITS, "", os.environ, asked, heavy)
    except MbPluginError as error:
        return Answer(engine.name, reason=str(error))
    bad = [pair for pair, wrench in answer.wrenches.items() if not np.isfinite(wrench).all()]
    if bad:
        return replace(answer, wrenches={}, reason=f"{engine.name} has no finite force in {bad[0]!r}")
    return answer


def _without_massless_movers(mech: Mechanism) -> Mechanism:
    """Return the mechanism with a negligible mass for each massless body that has a freedom.

    Other engines refuse such a body, or move the masses of bodies that are fixed to it into it, and with them the
    forces in their joints.
    """
    total, size = sum(body.mass for body in mech.bodies), mech.largest_place or 1.0
    movers = {joint.outer for joint in mech.tree.joints if joint.pair is None or joint.pair.kind.free}
    bodies = (
        replace(body, mass=_SPECK * total, I_C=_SPECK * total * size**2 * np.eye(3))
        if body.name in movers and body.massless
        else body
        for body in mech.bodies
    )
    return replace(mech, bodies=tuple(bodies))


def _joints(
    mech: Mechanism, instant: Instant, system: System, answers: Iterable[Answer]
) -> tuple[JointWrench, ...]:
    with_answer = [answer for answer in answers if not answer.reason]
    of_joint: dict[str, dict[str, Array]] = {}
    places = {pair.name: joint_place(system.mech, system.poses, pair) for pair in instant.mech.pairs}
    for pair in instant.mech.pairs:
        # ours is in axes of P already, because NaN cannot be turned
        turn = np.kron(np.eye(2), places[pair.name][1].T)
        of_joint[pair.name] = {
            a.engine: a.wrenches[pair.name] if a.engine == OURS else turn @ a.wrenches[pair.name]
            for a in with_answer
        }
    size = sizes(of_joint, instant.mech.largest_arm)
    found = []
    for pair in instant.mech.pairs:
        values = np.array(list(of_joint[pair.name].values()))
        spread = np.fmax.reduce(values) - np.fmin.reduce(values)
        point, R_WJ = places[pair.name]
        found.append(
            JointWrench(
                name=pair.name,
                type=mech.pair_by_name[pair.name].type,
                body_a=pair.body_a,
                body_b=pair.body_b,
                held=pair.name in instant.held,
                point=point,
                R_WJ=R_WJ,
                unique=joint_mask(system, pair),
                wrenches=of_joint[pair.name],
                spread=np.nan_to_num(spread),
                size=size[pair.name],
            )
        )
    return tuple(found)


# A mechanism as a tree: where a loop is cut, a body has a second part that hangs in the cut joint.


@dataclass(frozen=True, eq=False)
class Part:
    """A body, or one part of it.

    Parameters
    ----------
    name : str
        That of the body for its first part.
    body : str
        The body that it is part of.
    inner : str
        The part or ``world`` that it is jointed to.
    pair : Pair, optional
        The joint; a body without one is free.
    reversed : bool
        Whether the body is the joint's predecessor.
    point : (3,) array
        The joint's place, the origin of S, in the world, m.
    motions : tuple of (str, (3,) array)
        "HINGE", "SLIDE" with their axes or "BALL", in the order from ``inner``, world axes.
    rates : (k,) array
        Of these, rad/s or m/s; three for a ball, its angular velocity in world axes.
    """

    name: str
    body: str
    inner: str
    pair: Pair | None
    reversed: bool
    point: Array
    motions: tuple[tuple[str, Array], ...]
    rates: Array


def parts_of(instant: Instant) -> list[Part]:
    """Return the parts, inner ones before outer ones."""
    mech = instant.mech
    poses = kinematics.forward(mech, instant.q)
    twists = body_twists(mech, poses, instant.qd)
    found = []
    for joint in mech.tree.joints:
        found.append(_part(mech, poses, twists, joint.outer, joint.outer, joint.inner, joint.pair))
    for pair in mech.tree.cut:
        body, inner = (pair.body_b, pair.body_a) if pair.body_b != WORLD else (pair.body_a, WORLD)
        found.append(_part(mech, poses, twists, f"{body} in {pair.name}", body, inner, pair))
    return found


def _part(
    mech: Mechanism, poses: BodyPoses, twists: Array, name: str, body: str, inner: str, pair: Pair | None
) -> Part:
    """Return a part whose body moves with ``twists`` (n, 6), world axes, m/s and rad/s."""
    index = mech.body_index[body]
    free: tuple[str, ...]
    if pair is None:
        point, turned = poses.p_WC[index], False
        free, S = COMPONENTS, np.eye(6)
    else:
        X_WP = poses.of(mech.body_index.get(pair.body_a, -1)) @ pair.X_AP
        X_WS = poses.of(mech.body_index.get(pair.body_b, -1)) @ pair.X_BS
        point, turned = X_WS.p, pair.body_b != body
        free, S = pair.kind.free, motion_subspace(pair, X_WP.R, X_WS.R)
        S = -S if turned else S
    relative = _twist_at(mech, poses, twists, body, point) - _twist_at(mech, poses, twists, inner, point)
    rates = np.asarray(np.linalg.lstsq(S, relative, rcond=None)[0], dtype=float)
    motions, values = _motions(free, S, rates, turned)
    return Part(name, body, inner, pair, turned, point, tuple(motions), np.array(values))


def _motions(
    free: tuple[str, ...], S: Array, rates: Array, turned: bool
) -> tuple[list[tuple[str, Array]], list[float]]:
    """Return the coordinates that move and their rates, from the inner part outwards.

    ``S`` (6, k) has a column per freedom, world axes; ``rates`` (k,) are theirs, rad/s and m/s.
    """
    ball = {"rx", "ry", "rz"} <= set(free)
    steps: list[tuple[str, Array, list[float]]] = []
    for column, freedom in enumerate(free):
        axis = S[half_of(freedom), column]
        if freedom.startswith("t"):
            steps.append(("SLIDE", axis, [rates[column]]))
        elif not ball:
            steps.append(("HINGE", axis, [rates[column]]))
    if ball:
        turns = [column for column, freedom in enumerate(free) if freedom.startswith("r")]
        steps.append(("BALL", np.eye(3)[2], list(S[ROTATION, turns] @ rates[turns])))
    if turned:
        steps.reverse()
    return [(kind, axis) for kind, axis, _ in steps], [value for *_, values in steps for value in values]


def _twist_at(mech: Mechanism, poses: BodyPoses, twists: Array, body: str, point: Array) -> Array:
    """Return the twist (6,) of a body at a ``point`` (3,), world axes, from ``twists`` (n, 6) at mass centres."""
    if body == WORLD:
        return np.zeros(6)
    index = mech.body_index[body]
    omega = twists[index][ROTATION]
    v = twists[index][TRANSLATION] + cross(omega, point - poses.p_WC[index])
    return np.concatenate((v, omega))


# The instant that all engines compute: one closed state, the accelerations that follow, and what acts.


@dataclass(frozen=True, eq=False)
class Instant:
    """What every engine is given.

    Parameters
    ----------
    mech : Mechanism
        Held joints are fixed pairs; no drivers, no locks.
    q, qd, qdd : (nq,), (nv,), (nv,) array
        A closed pose, and the motion that follows from the loads; zeros in statics.
    loads, payloads : tuple
        All that acts besides gravity; springs as their forces at this state.
    at_rest : bool
        Statics.
    held : tuple of str
    assumed_held : tuple of str
        Those of them that are held by assumption.
    """

    mech: Mechanism
    q: Array
    qd: Array
    qdd: Array
    loads: tuple[Load, ...]
    payloads: tuple[Payload, ...]
    at_rest: bool
    held: tuple[str, ...]
    assumed_held: tuple[str, ...] = ()


def instant_of(
    model: Scene | Mechanism,
    q: JointValues,
    qd: JointValues,
    loads: Iterable[LoadLike],
    payloads: Iterable[PayloadLike] | None,
    hold: Iterable[str] | None,
    tolerance: float | None,
) -> tuple[Instant, System, ClosedState]:
    """Return the instant, all rows of its mechanism, and the state that was closed.

    Raises
    ------
    BadUsage
        A held joint that is to move, or drivers in a motion.
    MbPluginError
        As for :func:`mbplugin.joint_reactions.run.reactions`.
    """
    asked = noting_masses(closed_state(model, q, qd, None, tolerance, None), model, payloads)
    mech = mechanism_of(model)
    holders: list[Driver | Lock] = [*mech.locks]
    assumed: tuple[Lock, ...] = ()
    in_part: list[str] = []
    if asked.at_rest:
        loads, payloads = tuple(loads), None if payloads is None else tuple(payloads)
        held, assumed, *_ = held_under(asked, model, applied_to(asked, model, loads, payloads), hold)
        in_part = list(dict.fromkeys(lock.joint for lock in assumed if _in_part(mech, lock, assumed)))
        assumed = tuple(replace(lock, freedoms=()) if lock.joint in in_part else lock for lock in assumed)
        holders += [*mech.drivers, *held, *assumed]
    elif mech.drivers:
        raise BadUsage(
            f"driver {mech.drivers[0].name!r} prescribes a motion",
            expected="motions that follow from the loads",
            remedy="take the driver out of the scene, or compare at rest",
        )
    else:
        holders += held_joints(asked.motion, hold or (), (), asked.tolerance)
    following = _following(mech, {holder.joint for holder in holders})
    holders += map(Lock, following)
    untold = _coupled(mech, {holder.joint for holder in holders}) if asked.at_rest and hold is None else []
    holders += map(Lock, untold)
    fixed = with_fixed(mech, asked.motion.poses, holders)
    scene = replace(model, mechanism=fixed) if isinstance(model, Scene) else fixed
    state = _at_fixed(asked, fixed, tuple(dict.fromkeys(h.joint for h in holders)))
    # a joint with a spring may be one of those that are held, and has no coordinate then
    springs = spring_loads(asked.mech, model.springs if isinstance(model, Scene) else (), asked.q, asked.qd)
    own: tuple[Sequence[Load], Sequence[Payload]] = ((), ())
    if isinstance(scene, Scene):
        own = scene.loads, scene.payloads
    if following:
        what = f"{listed(following)} would follow what is held by its coupling; it is held itself"
        state = replace(state, notes=(*state.notes, what))
    if in_part:
        said = f"the load turns {listed(in_part)} about some axes only"
        whole = "held as a whole, since no other engine holds a part of a joint: --hold (hold=...) states other joints"
        state = replace(
            state, notes=(*state.notes, f"{said}; {'it is' if len(in_part) == 1 else 'they are'} {whole}")
        )
    if untold:
        joints = (
            f"{listed(untold)} are coupled to each other, and no other engine gives the force of a coupling"
        )
        state = replace(
            state, notes=(*state.notes, f"{joints}; they are held: --hold (hold=...) states other joints")
        )
    acting = (*own[0], *springs, *read_loads(fixed, loads))
    carried = tuple(own[1]) if payloads is None else read_payloads(fixed, payloads)
    system = build_system(fixed, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    if not state.at_rest:
        state = _accelerated(state, system, acting, carried)
    names = tuple(dict.fromkeys(h.joint for h in holders))
    return (
        Instant(
            fixed,
            state.q,
            state.qd,
            state.qdd,
            acting,
            carried,
            state.at_rest,
            names,
            tuple(dict.fromkeys(lock.joint for lock in assumed)),
        ),
        system,
        state,
    )


def _in_part(mech: Mechanism, lock: Lock, locks: Collection[Lock]) -> bool:
    """Return True if locks hold some of the freedoms of a joint only, such as the spin of a rod between two balls."""
    free = set(mech.pair_by_name[lock.joint].kind.free)
    own = [one for one in locks if one.joint == lock.joint]
    return (
        not any(set(one.freedoms or free) == free for one in own)
        and set[str]().union(*(one.freedoms for one in own)) != free
    )


def _following(mech: Mechanism, held: Collection[str]) -> list[str]:
    """Return the joints that couplings to held ones leave no freedom."""
    still, found = set(held), list[str]()
    left = {c.name: {term.joint for term in c.terms} - still for c in mech.couplings}
    of_joint: dict[str, list[str]] = {}
    for name, joints in left.items():
        for joint in joints:
            of_joint.setdefault(joint, []).append(name)
    due = [name for name, joints in left.items() if len(joints) == 1]
    while due:
        for joint in left[due.pop()] - still:
            still.add(joint)
            found.append(joint)
            for name in of_joint[joint]:
                left[name].discard(joint)
                due += [name] * (len(left[name]) == 1)
    return found


def _coupled(mech: Mechanism, held: Collection[str]) -> list[str]:
    """Return the coupled joints, of couplings none of whose joints is held."""
    terms = [{term.joint: None for term in coupling.terms} for coupling in mech.couplings]
    return list(dict.fromkeys(chain.from_iterable(joints for joints in terms if not joints.keys() & held)))


def _at_fixed(asked: ClosedState, fixed: Mechanism, held: tuple[str, ...]) -> ClosedState:
    """Return the state in the coordinates that are left when held joints are fixed."""
    rates = dict(zip(asked.mech.qd_names, asked.qd.tolist(), strict=True))
    gone = set(rates) - set(fixed.qd_names)
    if moving := [name for name in sorted(gone) if abs(rates[name]) > _MOVES]:
        raise BadUsage(
            f"{moving[0]!r} is held and moves with {rates[moving[0]]:.3g} rad/s or m/s",
            remedy="do not hold it, or give rates at which it rests",
        )
    q = kinematics.coordinates_of(fixed, asked.motion.poses)
    qd = np.array([rates[name] for name in fixed.qd_names])
    still = None if asked.at_rest else qd
    with _own_pose():
        made = closed_state(fixed, q, still, None, asked.tolerance, None)
    return replace(made, notes=asked.notes, at_rest=asked.at_rest)


def _accelerated(
    state: ClosedState, system: System, loads: Sequence[Load], payloads: Sequence[Payload]
) -> ClosedState:
    """Return the state with the accelerations that the loads cause.

    In joint rates: Nᵀ Sᵀ (M v̇ − F) = 0 for v̇ = v̇₀ + S N a, with v̇₀ one that the constraints allow and N a
    basis of the free motions (wojtyra2013 (13)).
    """
    motion, mech = state.motion, state.mech
    N = motion.units[:, None] * motion.free_motions(system.degree_of_redundancy)
    SN = np.array([body_twists(mech, motion.poses, column) for column in N.T]).reshape(
        N.shape[1], len(mech.bodies), 6
    )
    made = newton_euler(mech, state.q, state.qd, loads=loads, payloads=payloads)
    missing = made.missing(state.accelerations)
    mass = np.einsum("ani,nij,bnj->ab", SN, made.M, SN)
    a = np.linalg.lstsq(mass, -np.einsum("ani,ni->a", SN, missing), rcond=1e-12)[0]
    qdd, v_dot = motion.accelerations(state.qdd + N @ a, state.qd, ())
    return replace(state, qdd=qdd, accelerations=v_dot)


# What one engine answers: a wrench for every joint, or why it has none.


@one_line_repr
@dataclass(frozen=True, eq=False)
class Answer:
    """The joint wrenches of one engine.

    Parameters
    ----------
    engine : str
        Its name.
    version : str
        Empty where it did not run.
    wrenches : mapping of pair to (6,) array
        [f; m] on the successor at the origin of S, world axes, N and N·m; empty without an answer.
    reason : str
        Why there is no answer, one sentence; empty with one.
    notes : tuple of str
    """

    engine: str
    version: str = ""
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    reason: str = ""
    notes: tuple[str, ...] = ()


# The result of ``engines``: the wrench of every joint by several engines, and where they may differ.


@one_line_repr
@dataclass(frozen=True, eq=False)
class JointWrench:
    """What passes through one joint, by every engine that answers.

    Parameters
    ----------
    name, type, body_a, body_b : str
        Of the pair; ``type`` is that of the model, also where the joint is held.
    held : bool
        Whether it is held, so that its drive's force is in the wrench.
    point : (3,) array
        The origin of S in the world, m.
    R_WJ : (3, 3) array
        Axes of P in the world, by column.
    unique : (6,) array of bool
        Whether the rigid model determines each component.
    wrenches : mapping of engine to (6,) array
        [f; m] on the successor at ``point``, axes of P, N and N·m; NaN in ours where nothing determines it.
    spread : (6,) array
        Largest difference between two engines, N and N·m.
    size : (6,) array
        The largest force, and moment, of any engine in this joint, N and N·m; at least a hundredth of the largest
        in the model.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    held: bool
    point: Array
    R_WJ: Array
    unique: AnyArray
    wrenches: Mapping[str, Array]
    spread: Array
    size: Array

    @property
    def difference(self) -> Array:
        """The spread (6,) as a fraction of the size; zero where nothing acts."""
        return np.divide(self.spread, self.size, out=np.zeros(6), where=self.size > 0)

    @property
    def agrees(self) -> AnyArray:
        """Whether all engines have the same value of each component, (6,)."""
        return np.asarray(self.difference <= AGREES)


@dataclass(frozen=True, eq=False)
class SideBySide(Result):
    """Joint wrenches of several engines at one instant.

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The closed pose and the motion, rad, m and s, in the coordinates of ``mechanism``, whose held joints are
        fixed pairs.
    mode : "statics" or "inverse dynamics"
        The second at an instant of motion.
    held : tuple of str
        Joints that are held as a whole.
    assumed_held : tuple of str
        Those of them that the file gives no drive, and that nothing else would hold.
    tolerance : float
        Relative rank tolerance.
    degree_of_redundancy : int
        With the held joints.
    engines : tuple of Answer
        Ours first; those without an answer have a reason.
    joints : tuple of JointWrench
        In file order.
    stance : Stance or None
        The contacts whose forces balance the loads of a robot on legs or wheels.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    qdd: Array
    mode: Mode
    held: tuple[str, ...]
    tolerance: float
    degree_of_redundancy: int
    engines: tuple[Answer, ...]
    joints: tuple[JointWrench, ...]
    notes: tuple[str, ...] = ()
    assumed_held: tuple[str, ...] = ()
    stance: Stance | None = None

    def __repr__(self) -> str:
        names = ", ".join(e.engine for e in self.answers)
        redundant = counted(self.degree_of_redundancy, "redundant constraint")
        facts = (self.mode, names, redundant, f"tolerance {self.tolerance:g}")
        return one_line(self, self.mechanism.name, facts)

    def __getitem__(self, joint: str) -> JointWrench:
        for candidate in self.joints:
            if candidate.name == joint:
                return candidate
        names = [candidate.name for candidate in self.joints]
        raise UnknownName(f"there is no joint {joint!r}", remedy=suggestion(joint, names))

    @property
    def answers(self) -> Iterator[Answer]:
        """Those that have an answer."""
        return (answer for answer in self.engines if not answer.reason)

    @property
    def compared(self) -> bool:
        """Whether at least two engines answer."""
        return len(list(self.answers)) > 1

    @cached_property
    def agrees(self) -> bool:
        """Whether all engines have the same value of every unique component."""
        return all(bool(joint.agrees[joint.unique].all()) for joint in self.joints)

    @cached_property
    def largest_unique_difference(self) -> float:
        """The largest difference in a unique component, as a fraction of the load of its joint."""
        return max((float(j.difference[j.unique].max(initial=0.0)) for j in self.joints), default=0.0)

    @cached_property
    def largest_undetermined_difference(self) -> float:
        """The largest difference in a non-unique component, as a fraction of the load of its joint."""
        return max((float(j.difference[~j.unique].max(initial=0.0)) for j in self.joints), default=0.0)


def sizes(wrenches: Mapping[str, Mapping[str, Array]], length: float) -> dict[str, Array]:
    """Return the largest force and moment (6,) of each joint, from the wrenches (6,) by joint and engine.

    ``length`` is that of the model, m.
    """
    largest = {
        name: np.nan_to_num(np.fmax.reduce(np.abs(list(of.values())))).reshape(2, 3).max(axis=1)
        for name, of in wrenches.items()
    }
    floor = _FLOOR * np.array(list(largest.values())).max(axis=0, initial=0.0) if largest else np.zeros(2)
    floor[1] = max(floor[1], _SMALL_MOMENT / _FLOOR * floor[0] * length)
    return {name: np.repeat(np.maximum(two, floor), 3) for name, two in largest.items()}


# Held joints as fixed pairs, so that every engine transmits their whole wrench in one way.


def with_fixed(mech: Mechanism, poses: BodyPoses, holders: Collection[Driver | Lock]) -> Mechanism:
    """Return the mechanism with held joints as fixed pairs at a pose, without drivers and locks.

    The axes of P and the origin of S stay where they were, so that a wrench is in the same frame.

    Raises
    ------
    BadUsage
        Only some of the freedoms of a joint are held, or a held joint is coupled to another one.
    """
    held: dict[str, set[str]] = {}
    for holder in holders:
        free = mech.pair_by_name[holder.joint].kind.free
        held.setdefault(holder.joint, set()).update(holder.freedoms or free)
    for name, freedoms in held.items():
        if freedoms != set(mech.pair_by_name[name].kind.free):
            raise BadUsage(
                f"only {', '.join(sorted(freedoms))} of joint {name!r} is held",
                expected="joints that are held as a whole",
                remedy=f"hold {name!r}",
            )
    couplings = []
    for coupling in mech.couplings:
        own = {term.joint for term in coupling.terms}
        if own <= held.keys():
            continue
        if both := own & held.keys():
            raise BadUsage(
                f"joint {min(both)!r} is held, and coupled by {coupling.name!r}",
                remedy="hold a joint that is not coupled",
            )
        couplings.append(coupling)
    pairs = tuple(
        kinematics.fixed_at(p, kinematics.relative_pose(mech, p, poses)) if p.name in held else p
        for p in mech.pairs
    )
    return replace(mech, pairs=pairs, couplings=tuple(couplings), drivers=(), locks=())
