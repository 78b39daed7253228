"""Quantities without a time step: PyBullet's mass matrix, inverse dynamics and joint sensors against ours.

They are compared if PyBullet defines them (one tree on the ground, joints of one axis) and if they
are unique: in a loop, reactions may be non-unique.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.bullet.build.build import build
from mbplugin.bullet.build.built import Built
from mbplugin.bullet.build.chain import outer_frame
from mbplugin.bullet.motion.task import Task
from mbplugin.bullet.session import quiet, session
from mbplugin.comparison.agreement import Row
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array, cross

#: Relative deviation that is rounding.
_EXACT = 1e-8
#: A step so short that the sensors tell what acts at its start, s.
_MOMENT = 1e-9


@dataclass(frozen=True, eq=False)
class Statics:
    """What PyBullet tells at the start; entries are None where it has no answer.

    Parameters
    ----------
    mass : (nv, nv) array
    torque : (nv,) array
        For the accelerations of :func:`accelerations`.
    wrenches : dict of pair to (6,) array
        [f; m] on the successor at the origin of S, world axes, at rest, free of motors, brakes and loads.
    """

    mass: Array | None = None
    torque: Array | None = None
    wrenches: dict[str, Array] | None = None


def gravity_only(task: Task) -> Task:
    """Return the task without anything that acts besides gravity."""
    mech = replace(task.mech, locks=())
    return replace(
        task,
        mech=mech,
        loads=(),
        torques=None,
        springs=(),
        joint_springs=(),
        damping=False,
        friction=False,
        brakes=(),
        locks=(),
        drives=(),
    )


def accelerations(mech: Mechanism) -> Array:
    """Return joint accelerations (nv,) at which inverse dynamics is compared, rad/s² and m/s²."""
    return np.asarray(np.cos(1.0 + np.arange(len(mech.qd_names))))


def query_statics(task: Task) -> Statics:
    """Return what PyBullet tells at the start of a task."""
    task = gravity_only(task)
    with session() as (bullet, client):
        built = build(task.scene, client)
        bullet.setGravity(*task.mech.gravity.tolist(), physicsClientId=client)
        with quiet():
            mass, torque = _of_tree(task, built)
            return Statics(mass, torque, _sensors(task, built))


def statics_rows(task: Task, theirs: Statics) -> list[Row]:
    """Return the rows of what PyBullet had an answer to."""
    from mbplugin.dynamics.joint import joint_equations

    task = gravity_only(task)
    mech, rows = task.mech, list[Row]()
    if theirs.mass is not None and theirs.torque is not None:
        equations = joint_equations(mech, task.q, task.qd, task.actions)
        size = np.sqrt(np.outer(np.diag(equations.M), np.diag(equations.M)))
        off = float((np.abs(theirs.mass - equations.M) / size).max())
        rows.append(Row("mass matrix", mech.name, "1", off, _EXACT))
        ours = equations.M @ accelerations(mech) - equations.F
        # over the root of the inertia that they move, forces and moments have one unit
        over = np.sqrt(np.diag(equations.M))
        off = float(np.abs((theirs.torque - ours) / over).max() / max(np.abs(ours / over).max(), 1e-300))
        rows.append(Row("inverse dynamics", mech.name, "1", off, _EXACT))
    own = _reactions(task) if theirs.wrenches else {}
    for pair, wrench in (theirs.wrenches or {}).items():
        for part, unit in ((slice(0, 3), "N"), (slice(3, 6), "N·m")):
            largest = max(float(np.abs(w[part]).max()) for w in own.values())
            off = float(np.abs(wrench[part] - own[pair][part]).max())
            rows.append(Row("reaction", pair, unit, off, 1e-6 * max(largest, 1e-6)))
    return rows


def _of_tree(task: Task, built: Built) -> tuple[Array | None, Array | None]:
    mech = task.mech
    motors = [(name, motor) for name, own in built.motors.items() for motor in own]
    axes = {m.link: mech.qd_names.index(name) for name, m in motors if name in mech.qd_names}
    plain = len(built.ids) == 1 and len(axes) == len(mech.qd_names) == len(motors)
    if not plain or any(m.step.kind == "spherical" for _, m in motors) or not axes:
        return None, None
    order = [axes[link] for link in sorted(axes)]
    requested = [vector[order].tolist() for vector in (task.q, task.qd, accelerations(mech))]
    bullet, where = built.bullet, {"physicsClientId": built.client}
    try:
        M = bullet.calculateMassMatrix(built.ids[0], requested[0], **where)
        torque = bullet.calculateInverseDynamics(built.ids[0], *requested, **where)
    except (bullet.error, SystemError):
        # it refuses trees with links of no mass
        return None, None
    mass, tau = np.empty((len(order), len(order))), np.empty(len(order))
    mass[np.ix_(order, order)], tau[order] = np.array(M), np.array(torque)
    return mass, tau


def _sensors(task: Task, built: Built) -> dict[str, Array] | None:
    """Return the wrenches of all joints that move, from one very short step.

    At rest: in motion PyBullet's sensors miss a part of the velocity-dependent forces, and do not fit the
    accelerations of its own motion.
    """
    mech = task.mech
    if mech.tree.cut or mech.couplings or mech.pfaffians or built.ties:
        return None
    bullet, where = built.bullet, {"physicsClientId": built.client}
    for motors in built.motors.values():
        bullet.enableJointForceTorqueSensor(motors[-1].id, motors[-1].link, True, **where)
    built.set_state(task.q)
    bullet.setTimeStep(_MOMENT, **where)
    bullet.stepSimulation(**where)
    poses, found = forward(mech, task.q), {}
    for joint in mech.tree.joints:
        if joint.pair is None or joint.pair.name not in built.motors or joint.reversed:
            continue
        motor, place = built.motors[joint.pair.name][-1], built.places[joint.outer]
        state = bullet.getJointStateMultiDof(motor.id, motor.link, **where)
        X_WL = poses.of(mech.body_index[joint.outer])
        X_WC = X_WL @ place.X_LC
        force, moment = X_WC.R @ np.array(state[2][:3]), X_WC.R @ np.array(state[2][3:])
        p_WS = (X_WL @ outer_frame(joint)).p
        found[joint.pair.name] = np.concatenate((force, moment + cross(X_WC.p - p_WS, force)))
    return found


def _reactions(task: Task) -> dict[str, Array]:
    """Return our wrenches at the start in world axes."""
    from mbplugin.simulation.run import simulate

    motion = simulate(
        task.mech, _MOMENT, q=task.q, payload=task.payloads, damping=False, friction=False, limits="ignore"
    )
    poses = forward(task.mech, task.q)
    out = {}
    for joint in task.mech.tree.joints:
        if joint.pair is not None:
            pair = joint.pair
            R_WP = (poses.of(task.mech.body_index[pair.body_a]) @ pair.X_AP).R
            f, m = motion.reactions(pair.name)[0].reshape(2, 3)
            out[pair.name] = np.concatenate((R_WP @ f, R_WP @ m))
    return out
