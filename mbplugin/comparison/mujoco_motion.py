"""The motion of a task in MuJoCo, step by step, and the parts that MuJoCo does not support.

The model is the MJCF that :mod:`mbplugin.writers.mjcf` writes. MuJoCo's constraints are springs and dampers; here
they are as stiff as its step allows: the damper stops a relative motion within one step, and the spring removes a
share of the remaining gap in every step, as in PyBullet. Locks and drives are rows on single joints that are
switched on and off. Friction that grows with the load of a joint is a friction loss that follows the force in the
joint, which MuJoCo has computed in the step before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbplugin.bullet.motion import (
    SAME,
    Rate,
    Sampled,
    Solver,
    Task,
    driven_rate,
    is_locked,
    law_at,
    needed_axes,
    sampled_every,
)
from mbplugin.bullet.tree import loaded
from mbplugin.comparison.agreement import Begun, Statics, accelerations, gravity_only
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BadUsage
from mbplugin.model import WORLD, Mechanism, Scene, State, forward, freedom_name
from mbplugin.model.brake_law import BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.mechanism.pair import Freedom, Pair, has_quaternion
from mbplugin.model.spatial import Array, Pose, axis_of, cross, is_turn, quaternion_from_rotation
from mbplugin.readers.mjcf.compile import has_diverged
from mbplugin.writers.mjcf import HARDEST, MjcfDocument, mjcf_document
from mbplugin.writers.written import document_text, element

#: With MuJoCo's fewer line searches friction is met badly.
_ITERATIONS, _SEARCHES, _TOLERANCE, _SEARCHED = 100, 200, 1e-15, 1e-6
#: Evaluations at the start of an interval, after which friction agrees with the loads that depend on it.
_SETTLING = 50
#: Of the names of rows on single joints.
_ROW = "__row__"


def begin(task: Task, step: float, solver: Solver) -> Begun:
    """Return MuJoCo's statics and first motions of a task, or its obstacles; call it in a child process."""
    if gone := left_out(task):
        return Begun(gone)
    return Begun((), query_statics(task), tuple(run_motion(task, step, (1, 2, 4, 8), solver)))


def left_out(task: Task) -> tuple[str, ...]:
    """Return the parts of a task that MuJoCo cannot simulate, one sentence each."""
    try:
        document = _document(task)
    except BadUsage as error:
        return (f"MuJoCo cannot have the model: {error.what}",)
    if not document.losses:
        try:
            _compiled(document)
        except ValueError as error:
            return (f"MuJoCo refuses the model: {' '.join(str(error).split())}",)
    return (
        *(f"MuJoCo has no counterpart of {loss.text}" for loss in document.losses),
        *_without_joint(task, document),
        *_uneven_balls(task),
        *_loaded_loops(task),
    )


def _uneven_balls(task: Task) -> Iterator[str]:
    """Name dampers of balls: MuJoCo's damp about all axes alike, and here they are not compared."""
    for pair in task.mech.pairs if task.damping else ():
        turns = [f for c, f in zip(pair.kind.free, pair.freedoms, strict=True) if is_turn(c)]
        if has_quaternion(pair.type) and any(freedom.damping for freedom in turns):
            yield f"the damping of {pair.name!r}, which turns in three directions, is not set in MuJoCo"


def _loaded_loops(task: Task) -> Iterator[str]:
    """Name joints whose friction grows with loads that the soft constraints of loops would share otherwise."""
    for pair in task.mech.pairs if task.friction and task.mech.tree.cut else ():
        if any(freedom.load_friction for freedom in pair.freedoms):
            yield f"the friction of {pair.name!r} grows with its load, which MuJoCo's soft loops share otherwise"


def run_motion(task: Task, step: float, refinements: tuple[int, ...], solver: Solver) -> list[Sampled]:
    """Return MuJoCo's motion at steps of ``step`` s over each of the refinements; call it in a child process."""
    return [_run(task, step, refinement, solver) for refinement in refinements]


# The model: the MJCF of the task, with a row on each single joint that is locked or driven at some time.


@dataclass(frozen=True, eq=False)
class _Made:
    """A compiled model with its data.

    Parameters
    ----------
    mujoco : module
    model, data : MjModel, MjData
    task : Task
    mech : Mechanism
        With payloads in the bodies that carry them.
    bodies : mapping of body to int
        Numbers of the bodies that MuJoCo has.
    dofs : mapping of (pair, freedom) to (int, int)
        Where coordinate and rate of each single joint are.
    rows : mapping of (pair, freedom) to int
        The row on each.
    """

    mujoco: Any
    model: Any
    data: Any
    task: Task
    mech: Mechanism
    bodies: Mapping[str, int]
    dofs: Mapping[tuple[str, str], tuple[int, int]]
    rows: Mapping[tuple[str, str], int]


def _document(task: Task) -> MjcfDocument:
    """Return the model as MJCF: bodies, joints, closures and couplings, without anything that acts.

    Raises
    ------
    BadUsage
        MJCF cannot hold it.
    """
    unloaded = [replace(p, freedoms=tuple(Freedom() for _ in p.freedoms)) for p in task.mech.pairs]
    mech = replace(loaded(task.mech, task.payloads), pairs=tuple(unloaded), locks=(), drivers=())
    # the coordinates of a free body are those of its centre of mass, which a payload moves
    q, poses = task.q.copy(), forward(task.mech, task.q)
    for joint in mech.tree.joints:
        if joint.pair is None:
            k = mech.body_index[joint.outer]
            q[joint.q][:3] = poses.of(k).apply(mech.bodies[k].p_LC)
    return mjcf_document(Scene(mech, State(q, task.qd)))


def _made(task: Task) -> _Made:
    import mujoco

    # else it writes them into a file of the working folder
    mujoco.set_mju_user_warning(lambda _: None)
    document = _document(task)
    names = _joint_names(document.whole.mechanism)
    model = _compiled(document)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.iterations, model.opt.ls_iterations = _ITERATIONS, _SEARCHES
    model.opt.tolerance, model.opt.ls_tolerance = _TOLERANCE, _SEARCHED
    disable = mujoco.mjtDisableBit
    model.opt.disableflags |= int(disable.mjDSBL_CONTACT) | int(disable.mjDSBL_EULERDAMP)
    model.eq_solimp[:], model.dof_solimp[:] = HARDEST, HARDEST
    data = mujoco.MjData(model)
    mech = loaded(task.mech, task.payloads)
    made = _Made(
        mujoco,
        model,
        data,
        task,
        mech,
        {model.body(k).name: k for k in range(1, model.nbody)},
        {
            own: (int(model.joint(name).qposadr[0]), int(model.joint(name).dofadr[0]))
            for own, name in names.items()
        },
        {own: int(model.equality(_ROW + name).id) for own, name in names.items()},
    )
    _set_rates(made, {stub: document.whole.shared[name] for name, stub in document.whole.stubs.items()})
    return made


def _compiled(document: MjcfDocument) -> Any:
    """Return the model of a document, with an inactive row on each single joint."""
    import mujoco

    rows = element(document.root, "equality")
    for name in _joint_names(document.whole.mechanism).values():
        row = {"name": _ROW + name, "joint1": name, "polycoef": "0 0 0 0 0", "active": "false"}
        element(rows, "joint", row)
    return mujoco.MjModel.from_xml_string(document_text(document.root))


def _joint_names(mech: Mechanism) -> dict[tuple[str, str], str]:
    """Return the names that the MJCF gives to its hinges and slides, by pair and freedom."""
    found = {}
    for joint in mech.tree.joints:
        pair = joint.pair
        if pair is None or (pair.type == "floating" and joint.inner == WORLD):
            # MJCF has a free joint for it
            continue
        for freedom in pair.kind.free:
            if not (has_quaternion(pair.type) and is_turn(freedom)):
                single = len(pair.kind.free) == 1
                found[pair.name, freedom] = pair.name if single else freedom_name(pair.name, freedom)
    return found


def _set_rates(made: _Made, parts: Mapping[str, str]) -> None:
    """Give all joints the rates at which bodies have their twists; ``parts`` are bodies that others are welded to."""
    mujoco, model, data, task = made.mujoco, made.model, made.data, made.task
    mujoco.mj_forward(model, data)
    if not task.qd.any() or not model.nv:
        return
    poses = forward(task.mech, task.q)
    twists = body_twists(task.mech, poses, task.qd)
    J, wanted = [], []
    for name, number in made.bodies.items():
        k = task.mech.body_index[parts.get(name, name)]
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, linear, angular, poses.p_WC[k], number)
        J += [linear, angular]
        wanted += [twists[k, :3], twists[k, 3:]]
    data.qvel[:] = np.linalg.lstsq(np.vstack(J), np.concatenate(wanted), rcond=None)[0]


def _without_joint(task: Task, document: MjcfDocument) -> Iterator[str]:
    """Name forces on freedoms without a single joint, or on bodies that MuJoCo lacks."""
    whole = document.whole.mechanism
    have = _joint_names(whole)
    permanent = [
        ("lock", lock.joint, freedom)
        for lock in task.mech.locks
        for freedom in lock.freedoms or task.mech.pair_by_name[lock.joint].kind.free
    ]
    missing = {
        (kind, pair): None
        for kind, pair, freedom in (*permanent, *needed_axes(task))
        if (pair, freedom) not in have
    }
    yield from (f"MuJoCo has no single joint for the {kind} of {pair!r}" for kind, pair in missing)
    names = {n for pair, freedom in have for n in (pair, freedom_name(pair, freedom))}
    for name in (*(task.torques or {}), *(spring.joint for spring in task.joint_springs)):
        if name not in names:
            yield f"MuJoCo has no single joint for the torque or spring of {name!r}"
    bodies = {item.get("name") for item in document.root.iter("body")} | {WORLD}
    acted = [load.body for load in task.loads] + [end for s in task.springs for end in (s.body_a, s.body_b)]
    acted += [
        end for j in whole.tree.joints if j.pair and has_quaternion(j.pair.type) for end in j.pair.bodies
    ]
    acted += [
        end
        for j in whole.tree.joints
        if task.friction and j.pair and any(f.load_friction for f in _stated(task, j.pair.name))
        for end in (j.outer, j.pair.body_b)
    ]
    for name in dict.fromkeys(acted):
        if name not in bodies:
            yield f"MuJoCo has no body {name!r}, which carries no mass"


def _stated(task: Task, pair: str) -> tuple[Freedom, ...]:
    """Return the stated data of the freedoms of a pair; none for joints that only the MJCF has."""
    own = task.mech.pair_by_name.get(pair)
    return () if own is None else own.freedoms


# One motion.


def _run(task: Task, step: float, refinement: int, solver: Solver) -> Sampled:
    made = _made(task)
    mujoco, model, data = made.mujoco, made.model, made.data
    acts = bool(task.loads or task.springs)
    samples: list[tuple[float, Array, Array, Array, Array]] = []
    changed = []
    instants = task.instants
    for start, end, count in zip(instants[:-1], instants[1:], task.counts(step), strict=True):
        fine = count * refinement
        h = (end - start) / fine
        stiffness = solver.erp / h**2
        model.opt.timestep = h
        model.eq_solref[:], model.dof_solref[:] = (-stiffness, -1.0 / h), (-stiffness, -1.0 / h)
        driven, laws = _set_rows(made, start + SAME)
        every = refinement * sampled_every(count)
        if start > 0:
            _lead(made, driven, start, h * stiffness)
            _jump(made, h)
        bearings = _bearings(made)
        for _ in range(_SETTLING if bearings else 0):
            mujoco.mj_step1(model, data)
            _apply(made, laws, acts=acts)
            mujoco.mj_forward(model, data)
            _follow_loads(made, bearings)
        # dampers act on the rate at the end of a step; MuJoCo's own way does that after its constraints are met
        model.dof_armature[:] = h * model.dof_damping
        for k in range(1, fine + 1):
            _lead(made, driven, start + k * h, h * stiffness)
            mujoco.mj_step1(model, data)
            _apply(made, laws, acts=acts)
            mujoco.mj_step2(model, data)
            _follow_loads(made, bearings)
            if k == 1 and start > 0:
                changed.append(_state(made)[1])
            if k % every == 0 or k == fine:
                # rounding must not put an instant behind itself
                samples.append((end if k == fine else start + k * h, *_state(made)))
        if has_diverged(mujoco, data):
            # it has begun anew, and what it tells is not a motion
            samples = [
                (time, q + np.nan, qd + np.nan, p_WC + np.nan, R_WL + np.nan)
                for time, q, qd, p_WC, R_WL in samples
            ]
    columns = [np.array(column) for column in zip(*samples, strict=True)]
    return Sampled(columns[0], columns[1], columns[2], columns[3], columns[4], tuple(changed))


def _set_rows(
    made: _Made, time: float
) -> tuple[dict[tuple[str, str], Rate], dict[tuple[str, str], BrakeLaw]]:
    """Set locks, drives, friction, dampers and brakes as they are from an instant on.

    Returns
    -------
    driven : mapping of (pair, freedom) to Rate
    laws : mapping of (pair, freedom) to BrakeLaw
        Parts that are to be applied as torques.
    """
    model, data = made.model, made.data
    driven, laws = {}, {}
    freedoms = {
        (pair.name, name): freedom
        for pair in made.task.mech.pairs
        for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True)
    }
    for own, (at, dof) in made.dofs.items():
        locked, rate = is_locked(made.task, *own, time), driven_rate(made.task, *own, time)
        row = made.rows[own]
        if locked and not data.eq_active[row]:
            model.eq_data[row, 0] = data.qpos[at] - model.qpos0[at]
        elif rate is not None and not locked:
            driven[own] = rate
        data.eq_active[row] = locked or rate is not None
        law = law_at(made.task, *own, freedoms[own], time)
        model.dof_frictionloss[dof], model.dof_damping[dof] = law.sliding, law.viscous
        if depends_on_rate(law.without_linear_part):
            laws[own] = law.without_linear_part
    return driven, laws


def _lead(made: _Made, driven: Mapping[tuple[str, str], Rate], time: float, per_rate: float) -> None:
    """Shift the rows of driven joints so far that one step removes the gap at the rate of a time, s.

    ``per_rate`` is the rate that a row gives to its joint for one unit of its gap, 1/s.
    """
    model, data = made.model, made.data
    for own, rate in driven.items():
        at = made.dofs[own][0]
        model.eq_data[made.rows[own], 0] = data.qpos[at] - model.qpos0[at] + rate(time) / per_rate


def _jump(made: _Made, h: float) -> None:
    """Apply the impulses of constraints that begin to act, as those of a step of ``h`` s in which nothing else acts.

    Dampers have no part in them.
    """
    made.model.dof_armature[:] = 0.0
    made.mujoco.mj_forward(made.model, made.data)
    made.data.qvel[:] += h * (made.data.qacc - made.data.qacc_smooth)


def _apply(made: _Made, laws: Mapping[tuple[str, str], BrakeLaw], *, acts: bool) -> None:
    """Apply loads, torques, springs and laws of brakes for one step, as they are at its start."""
    task, data = made.task, made.data
    data.qfrc_applied[:] = 0.0
    if task.torques or task.joint_springs or laws:
        torques = task.torques or {}
        springs = {spring.joint: spring for spring in task.joint_springs}
        for own, (at, dof) in made.dofs.items():
            for name in dict.fromkeys((own[0], freedom_name(*own))):
                data.qfrc_applied[dof] += torques.get(name, 0.0)
                if name in springs:
                    data.qfrc_applied[dof] += springs[name].force(float(data.qpos[at]))
            if own in laws:
                data.qfrc_applied[dof] -= rate_force(laws[own], float(data.qvel[dof]))
    if not acts:
        return
    data.xfrc_applied[:] = 0.0
    for load in task.loads:
        X_WL = _pose(made, load.body)
        turn = X_WL.R if load.frame == "body" else np.eye(3)
        _push(made, load.body, turn @ load.force, X_WL.apply(load.point), turn @ load.torque)
    for spring in task.springs:
        ends = ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
        (p_a, v_a), (p_b, v_b) = (_end(made, body, point) for body, point in ends)
        force = spring.force_on_a(p_b - p_a, v_b - v_a)
        _push(made, spring.body_a, force, p_a)
        _push(made, spring.body_b, -force, p_b)


@dataclass(frozen=True)
class _Bearing:
    """A joint whose friction grows with its load: its pair, the body behind it, its dof, and its constant friction."""

    pair: Pair
    body: int
    dof: int
    constant: float


def _bearings(made: _Made) -> list[_Bearing]:
    """Return the joints whose friction grows with their load; their present friction loss is the constant part."""
    if not made.task.friction:
        return []
    found = []
    for joint in made.mech.tree.joints:
        pair = joint.pair
        if pair is not None and len(pair.freedoms) == 1 and pair.freedoms[0].load_friction:
            dof = made.dofs[pair.name, pair.kind.free[0]][1]
            found.append(
                _Bearing(pair, made.bodies[joint.outer], dof, float(made.model.dof_frictionloss[dof]))
            )
    return found


def _follow_loads(made: _Made, bearings: list[_Bearing]) -> None:
    """Set the friction losses of ``bearings`` by the forces of the last evaluated state."""
    if not bearings:
        return
    model, data = made.model, made.data
    made.mujoco.mj_rnePostConstraint(model, data)
    for one in bearings:
        load = _load(made, one)
        model.dof_frictionloss[one.dof] = one.constant + one.pair.freedoms[0].load_friction * load


def _load(made: _Made, one: _Bearing) -> float:
    """Return the force across a hinge or a guide, N; the forces at both ends of a guide of stated length."""
    model, data = made.model, made.data
    moment, force = data.cfrc_int[one.body][:3], data.cfrc_int[one.body][3:]
    if one.pair.type != "prismatic":
        return float(np.linalg.norm(force))
    (joint,) = (k for k in range(model.njnt) if model.jnt_dofadr[k] == one.dof)
    axis = data.xaxis[joint]
    across, length = force - (force @ axis) * axis, one.pair.freedoms[0].guide_length
    if not length:
        return float(np.linalg.norm(across))
    # the bush is on body_b, centred at its joint frame
    p = _pose(made, one.pair.body_b).apply(one.pair.X_BS.p)
    about = moment + cross(data.subtree_com[model.body_rootid[one.body]] - p, force)
    couple = cross(about, axis) / length
    return float(np.linalg.norm(across / 2 + couple) + np.linalg.norm(across / 2 - couple))


def _push(made: _Made, body: str, force: Array, point: Array, torque: Array | float = 0.0) -> None:
    """Apply a force (3,), N, at a point (3,), m, and a torque (3,), N·m, all in world axes."""
    if body != WORLD:
        number = made.bodies[body]
        moment = torque + cross(point - made.data.xipos[number], force)
        made.data.xfrc_applied[number] += np.concatenate((force, moment))


def _end(made: _Made, body: str, point: Array) -> tuple[Array, Array]:
    """Return position and velocity (3,) of a point (3,) of a body, world axes, m and m/s."""
    if body == WORLD:
        return point, np.zeros(3)
    X_WL = _pose(made, body)
    v, w = _twist(made, body)
    return X_WL.apply(point), v + cross(w, X_WL.R @ point)


# What MuJoCo tells of a state.


def _state(made: _Made) -> tuple[Array, Array, Array, Array]:
    """Return q (nq,), qd (nv,), and centres of mass (N, 3), m, and orientations (N, 3, 3) of the bodies."""
    mujoco, model, data, mech = made.mujoco, made.model, made.data, made.task.mech
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    q, qd = np.zeros(len(mech.q_names)), np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        if joint.pair is None:
            q[joint.q], qd[joint.qd] = _base(made, joint.outer)
            continue
        for k, freedom in enumerate(joint.pair.kind.free):
            if (joint.pair.name, freedom) in made.dofs:
                at, dof = made.dofs[joint.pair.name, freedom]
                q[joint.q.start + k], qd[joint.qd.start + k] = data.qpos[at], data.qvel[dof]
        if has_quaternion(joint.pair.type):
            q[joint.q], qd[joint.qd] = _ball(made, joint.pair)
    poses = forward(mech, q)
    p_WC, R_WL = poses.p_WC.copy(), poses.R_WL.copy()
    for k, body in enumerate(mech.bodies):
        # a body without mass between two joints has no frame of its own in MuJoCo
        if body.name in made.bodies:
            X_WL = _pose(made, body.name)
            p_WC[k], R_WL[k] = X_WL.apply(body.p_LC), X_WL.R
    return q, qd, p_WC, R_WL


def _pose(made: _Made, body: str) -> Pose:
    if body == WORLD:
        return Pose.identity()
    number = made.bodies[body]
    return Pose(made.data.xmat[number].reshape(3, 3).copy(), made.data.xpos[number].copy())


def _twist(made: _Made, body: str) -> tuple[Array, Array]:
    """Return the velocity (3,) of the origin of L and the angular velocity (3,) of a body, world axes."""
    if body == WORLD:
        return np.zeros(3), np.zeros(3)
    out = np.zeros(6)
    kind = made.mujoco.mjtObj.mjOBJ_XBODY
    made.mujoco.mj_objectVelocity(made.model, made.data, kind, made.bodies[body], out, 0)
    return out[3:], out[:3]


def _base(made: _Made, body: str) -> tuple[Array, Array]:
    """Return coordinates (7,) and rates (6,) of a free body at its centre of mass."""
    own, X_WL = made.task.mech.bodies[made.task.mech.body_index[body]], _pose(made, body)
    v, w = _twist(made, body)
    q = np.concatenate((X_WL.apply(own.p_LC), quaternion_from_rotation(X_WL.R)))
    return q, np.concatenate((v + cross(w, X_WL.R @ own.p_LC), w))


def _ball(made: _Made, pair: Pair) -> tuple[Array, Array]:
    """Return coordinates and rates of a pair with a quaternion, from the poses and twists of its bodies."""
    (X_WA, X_WB), ((v_A, w_A), (v_B, w_B)) = (
        [_pose(made, body) for body in pair.bodies],
        [_twist(made, body) for body in pair.bodies],
    )
    X_WP, X_WS = X_WA @ pair.X_AP, X_WB @ pair.X_BS
    X_PS = X_WP.inverse() @ X_WS
    v = v_B + cross(w_B, X_WS.p - X_WB.p) - v_A - cross(w_A, X_WS.p - X_WA.p)
    travels = [axis_of(c) for c in pair.kind.free if not is_turn(c)]
    q = np.concatenate((X_PS.p[travels], quaternion_from_rotation(X_PS.R)))
    return q, np.concatenate(((X_WP.R.T @ v)[travels], X_WP.R.T @ (w_B - w_A)))


# Statics: mass matrix, inverse dynamics and joint wrenches at the start.


def query_statics(task: Task) -> Statics:
    """Return the statics that MuJoCo computes at the start of a task; call it in a child process."""
    task = gravity_only(task)
    made = _made(task)
    mujoco, model, data, mech = made.mujoco, made.model, made.data, task.mech
    joints = sorted((j for j in mech.tree.joints if j.pair), key=lambda joint: joint.qd.start)
    freedoms = [(j.pair.name, freedom) for j in joints if j.pair for freedom in j.pair.kind.free]
    order = [made.dofs[own][1] for own in freedoms if own in made.dofs]
    mass = torque = None
    if order and len(order) == len(mech.qd_names) == model.nv:
        M = np.zeros((model.nv, model.nv))
        for column, unit in zip(M.T, np.eye(model.nv), strict=True):
            product = np.zeros(model.nv)
            mujoco.mj_mulM(model, data, product, unit)
            column[:] = product
        mass = M[np.ix_(order, order)]
        # else it takes the forces of closures for known
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        data.qacc[order] = accelerations(mech)
        mujoco.mj_inverse(model, data)
        torque = np.array(data.qfrc_inverse[order])
    return Statics(mass, torque, _wrenches(made))


def _wrenches(made: _Made) -> dict[str, Array] | None:
    """Return the wrench (6,) of every joint that moves, on its successor at the origin of S, world axes, at rest."""
    mujoco, model, data, mech = made.mujoco, made.model, made.data, made.task.mech
    if mech.tree.cut or mech.couplings or any(pair.type == "screw" for pair in mech.pairs):
        # the forces of soft rows count in them
        return None
    data.qvel[:] = 0.0
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    poses, found = forward(mech, made.task.q), {}
    shared = {j.inner for j in mech.tree.joints} - set(made.bodies) - {WORLD}
    for joint in mech.tree.joints:
        if (
            joint.pair is None
            or joint.reversed
            or not joint.pair.kind.free
            or {joint.inner, joint.outer} & shared
        ):
            continue
        number = made.bodies[joint.outer]
        moment, force = data.cfrc_int[number][:3], data.cfrc_int[number][3:]
        p_WS = (poses.of(mech.body_index[joint.outer]) @ joint.pair.X_BS).p
        arm = data.subtree_com[model.body_rootid[number]] - p_WS
        found[joint.pair.name] = np.concatenate((force, moment + cross(arm, force)))
    return found
