"""PyBullet's joint wrenches: its sensors in the joints of a tree, its constraint forces in closures."""

from __future__ import annotations

import importlib.metadata
from dataclasses import replace
from functools import lru_cache

import numpy as np

from mbplugin.bullet import quiet, session
from mbplugin.bullet.built import Built, build, constraint_parts
from mbplugin.bullet.motion import Task, apply_forces
from mbplugin.bullet.reader import MOST_JOINTS
from mbplugin.comparison.side_by_side import Answer, Instant
from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics import newton_euler
from mbplugin.model import WORLD, Array, Body, BodyPoses, Load, Mechanism, Pair, Pose, align_z, cross, forward

ENGINE = "PyBullet"
#: So short that nothing moves, and long enough for its rounding, s.
_STEP = 1e-5
#: Steps until its constraints know of the rates: its first one does not see how a loop turns.
_STEPS = 4
_ITERATIONS = 2000
#: What the sensors may miss of the weight of a pendulum at rest, relative.
_RIGHT = 1e-3
_NOTE = (
    "PyBullet's sensors are wrong in motion; its forces are read at rest, with the inertia forces "
    "of the accelerations that it took"
)


def bullet_wrenches(instant: Instant) -> Answer:
    """Return the joint wrenches of PyBullet at an instant; call it in a child process.

    Its sensors are wrong where bodies turn, though its accelerations are right. In a motion it takes some
    steps, and its forces are read at rest, with the inertia forces of the accelerations that it took as loads.
    """
    version = importlib.metadata.version("pybullet")
    # versions are counted in two ways, and builds differ: a measurement tells more
    if (error := sensor_error()) > _RIGHT:
        reason = (
            f"the joint sensors of this PyBullet ({version}) are wrong: at a pendulum at rest they miss "
            f"{error:.0%} of its weight; those of PyBullet 3.2.7 are right"
        )
        return Answer(ENGINE, version, reason=reason)
    with session() as (_, client):
        task = _task(instant)
        built = build(task.scene, client)
        if reason := _missing(instant, built):
            return Answer(ENGINE, version, reason=reason)
        if instant.at_rest:
            _step(task, built)
            return Answer(ENGINE, version, _wrenches(instant, built))
        inertia = _inertia_forces(instant, task, built)
    still = replace(
        instant,
        qd=np.zeros_like(instant.qd),
        qdd=np.zeros_like(instant.qdd),
        loads=(*instant.loads, *inertia),
        at_rest=True,
    )
    return replace(bullet_wrenches(still), notes=(_NOTE,))


@lru_cache(maxsize=1)
def sensor_error() -> float:
    """Return the relative error of the joint sensors for the weight of a pendulum of two bodies at rest."""
    mech, expected = _pendulum()
    still = np.zeros(len(mech.qd_names))
    instant = Instant(mech, np.zeros(len(mech.q_names)), still, still, (), (), at_rest=True, held=())
    with session() as (_, client):
        built = build(_task(instant).scene, client)
        _step(_task(instant), built)
        found = _wrenches(instant, built)
    weight = max(float(np.linalg.norm(wrench)) for wrench in expected.values())
    return max(float(np.abs(found[name] - wrench).max()) for name, wrench in expected.items()) / weight


def _pendulum() -> tuple[Mechanism, dict[str, Array]]:
    """Return a pendulum in equilibrium, with turned frames, and the wrench (6,) in each joint by its weight."""
    g, along = np.array([0.0, 0.0, -9.81]), Pose(align_z(np.array([0.0, 1.0, 0.0])), np.zeros(3))
    tilted = Pose(align_z(np.array([1.0, 2.0, 2.0]) / 3), np.array([0.1, 0.2, -0.3]))
    # the centre of both is below the axis
    upper, lower = np.array([0.05, 0.1, -0.2]), np.array([-0.1, -0.2, -0.5])
    bodies = (
        Body("upper", 2.0, upper, np.diag([0.02, 0.02, 0.01])),
        Body("lower", 1.0, tilted.inverse().apply(lower), np.diag([0.01, 0.02, 0.02])),
    )
    pairs = (
        Pair("hinge", "revolute", WORLD, "upper", along, along),
        Pair("screwed", "fixed", "upper", "lower", tilted, Pose.identity()),
    )
    carried = {"hinge": ((2.0, upper), (1.0, lower)), "screwed": ((1.0, lower),)}
    points = {"hinge": np.zeros(3), "screwed": tilted.p}
    wrenches = {}
    for name, masses in carried.items():
        forces = [(-m * g, np.cross(p - points[name], -m * g)) for m, p in masses]
        wrenches[name] = np.concatenate([np.sum([one[k] for one in forces], axis=0) for k in (0, 1)])
    return Mechanism("pendulum", bodies, pairs, gravity=g), wrenches


def _task(instant: Instant) -> Task:
    return Task(
        instant.mech,
        instant.q,
        instant.qd,
        _STEP,
        instant.payloads,
        instant.loads,
        damping=False,
        friction=False,
    )


def _step(task: Task, built: Built) -> None:
    """Take one step with sensors in all joints."""
    bullet, where = built.bullet, {"physicsClientId": built.client}
    bullet.setGravity(*task.mech.gravity.tolist(), **where)
    bullet.setTimeStep(_STEP, **where)
    bullet.setPhysicsEngineParameter(
        numSolverIterations=_ITERATIONS, solverResidualThreshold=0, erp=0.2, numSubSteps=0, **where
    )
    with quiet():
        for place in built.places.values():
            if place.link >= 0:
                bullet.enableJointForceTorqueSensor(place.id, place.link, True, **where)
        apply_forces(task, built, {})
        bullet.stepSimulation(**where)


def _inertia_forces(instant: Instant, task: Task, built: Built) -> tuple[Load, ...]:
    """Return the inertia and gyroscopic forces of all bodies by the accelerations of PyBullet's last step."""
    mech = replace(instant.mech, gravity=np.zeros(3))
    for _ in range(_STEPS - 1):
        _step(task, built)
    q, before = built.state()
    _step(task, built)
    after_q, after = built.state()
    twists = [body_twists(mech, forward(mech, at), qd) for at, qd in ((q, before), (after_q, after))]
    made = newton_euler(mech, q, before, payloads=instant.payloads)
    wrenches = -made.missing((twists[1] - twists[0]) / _STEP)
    return tuple(
        Load(body.name, wrench[:3], wrench[3:], body.p_LC)
        for body, wrench in zip(mech.bodies, wrenches, strict=True)
    )


def _missing(instant: Instant, built: Built) -> str:
    """Return the constraints that PyBullet cannot hold or measure."""
    mech = instant.mech
    if built.left_out:
        return built.left_out[0]
    if mech.pfaffians:
        return f"PyBullet has no constraint for {mech.pfaffians[0].name!r} ({mech.pfaffians[0].type})"
    if mech.couplings:
        return f"PyBullet does not report the force of {mech.couplings[0].name!r}"
    screws = [pair.name for pair in mech.pairs if pair.type == "screw"]
    if screws:
        return f"PyBullet has no screw such as {screws[0]!r}"
    merged = built.merged
    if not merged:
        return ""
    return (
        f"PyBullet reports at most {MOST_JOINTS} joints of one tree, so that the force "
        f"of fixed joints such as {merged[0]!r} cannot be measured"
    )


def _wrenches(instant: Instant, built: Built) -> dict[str, Array]:
    mech, cut = instant.mech, built.cut
    poses = forward(mech, instant.q)
    found = {}
    of_pair = cut.tree.joint_of_pair
    for pair in mech.pairs:
        p_WS = poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p)
        if pair.name in of_pair:
            joint = of_pair[pair.name]
            sign = -1.0 if joint.reversed else 1.0
            found[pair.name] = sign * _sensed(built, joint.outer, p_WS)
        else:
            found[pair.name] = _closing(built, poses, pair, p_WS)
    return found


def _sensed(built: Built, body: str, point: Array) -> Array:
    """Return the wrench (6,) that a body gets through its tree joint, at a ``point`` (3,), world axes."""
    place = built.places[body]
    state = built.bullet.getJointStateMultiDof(place.id, place.link, physicsClientId=built.client)
    X_WC = built.pose(body) @ place.X_LC
    force, moment = X_WC.R @ np.array(state[2][:3]), X_WC.R @ np.array(state[2][3:])
    return np.concatenate((force, moment + cross(X_WC.p - point, force)))


def _closing(built: Built, poses: BodyPoses, pair: Pair, point: Array) -> Array:
    """Return the wrench (6,) of a closure on its successor, at the origin of S, a ``point`` (3,), world axes."""
    total = np.zeros(6)
    # PyBullet's first body is the predecessor, but for closures with the ground
    swapped = pair.body_a == WORLD
    body, X = (pair.body_b, pair.X_BS) if swapped else (pair.body_a, pair.X_AP)
    X_WA = poses.of(built.mechanism.body_index[body]) @ X
    parts = constraint_parts(built.cut, pair)
    for constraint, (kind, shift) in zip(built.ties[pair.name], parts, strict=True):
        values = built.bullet.getConstraintState(constraint, physicsClientId=built.client)
        force, moment = _on_first(kind, np.array(values, dtype=float), X_WA.R)
        arm = X_WA.apply(shift) - point
        total += np.concatenate((force, moment + cross(arm, force)))
    return total if swapped else -total


def _on_first(kind: str, values: Array, R_WA: Array) -> tuple[Array, Array]:
    """Return force (3,), N, and moment (3,), N·m, world axes, on the first body of a constraint.

    ``values`` (k,) are those of its rows, N and N·m; ``R_WA`` (3, 3) the axes of its frame in the first body.
    """
    if kind == "prismatic":
        x, y, z = R_WA.T
        # Bullet's first axis is across the slide and x of the frame; its moments begin with that about the slide
        return values[0] * -y + values[1] * x, values[2] * z + values[3] * x + values[4] * y
    if kind == "fixed":
        return values[:3], R_WA @ values[3:6]
    # the rows of a point are written for the second body
    return -values[:3], np.zeros(3)
