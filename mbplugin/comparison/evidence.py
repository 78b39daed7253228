"""Evidence for and against each of two different motions: energy, loops, convergence.

A difference between two programs does not show which one is right. Each motion is therefore compared with
conditions that any motion of the mechanism satisfies, both by the same sums over their states: kinetic and
potential energy change only by the work of friction, brakes and dampers along the travel of their joints,
and by the work of torques. Loops stay closed, and results converge as the step decreases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.bullet.build.mass import loaded
from mbplugin.bullet.motion.run import Sampled
from mbplugin.bullet.motion.task import SAME, Task
from mbplugin.comparison.agreement import FIRST_ORDER, Check, Program
from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.model.brake_law import BrakeLaw, rate_force
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory

OURS: Program = "mbplugin"
THEIRS: Program = "PyBullet"
#: The check that a shorter step may pass, and that therefore speaks against no motion.
CONVERGENCE = "order of its own convergence, from 1"
#: Error of an energy beside what is turned over, for ours and for PyBullet extrapolated to step zero.
_OF_OURS, _OF_THEIRS = 1e-4, 1e-3
#: Opening of a loop beside the reach of the mechanism, of ours and of PyBullet's at its smallest step.
_CLOSED, _NEARLY_CLOSED = 1e-8, 1e-4
#: Parts of an interval on which a way there and back is added up.
_PARTS = 8


@dataclass(frozen=True, eq=False)
class _States:
    """A motion as states, the start included: (n,), (n, nq), (n, nv)."""

    time: Array
    q: Array
    qd: Array


def checks_of(
    task: Task, ours: Trajectory, runs: Sequence[Sampled], orders: Sequence[float]
) -> tuple[Check, ...]:
    """Return the checks of both motions.

    Parameters
    ----------
    runs : sequence of Sampled
        PyBullet's at four steps, the coarsest first.
    orders : sequence of float
        With which its coordinates converge to a limit of their own.
    """
    own = _States(ours.time, ours.q, ours.qd)
    theirs = [_with_start(task, run) for run in runs[:4]]
    found = [_account(ours), _closed(task, own.q, OURS, _CLOSED)]
    if reckoned(task):
        (left, turned) = _unaccounted(task, own)
        found.append(_energy(OURS, left, turned, _OF_OURS))
        last, before = (_unaccounted(task, states) for states in (theirs[-1], theirs[-2]))
        found.append(_energy(THEIRS, 2 * last[0] - before[0], last[1], _OF_THEIRS))
    found.append(_closed(task, theirs[-1].q, THEIRS, _NEARLY_CLOSED))
    if len(orders):
        off = abs(orders[-1] - 1.0)
        found.append(Check(THEIRS, CONVERGENCE, off, FIRST_ORDER[1] - 1.0, "1"))
    return tuple(check for check in found if check is not None)


def verdict_of(checks: Sequence[Check]) -> str:
    """Return what the checks say of the two motions, as a clause; nothing without checks."""
    if not checks:
        return ""
    failed = [check for check in checks if not check.passes]
    if not failed:
        return "each motion passes its own checks, which shows neither to be wrong"
    sentences = []
    for program in (OURS, THEIRS):
        own = [check for check in failed if check.program == program]
        if own:
            sentences.append(f"the motion of {program} fails its {' and '.join(map(_fails, own))}")
        else:
            sentences.append(f"that of {program} passes its own")
    return ", ".join(sentences)


def reckoned(task: Task) -> bool:
    """Whether all work can be added up from states: besides gravity only joints of the tree do any."""
    free = any(joint.pair is None for joint in task.mech.tree.joints)
    timed = any(lock.at or lock.until is not None for lock in task.locks)
    closed = any(f.friction or f.damping for pair in task.mech.tree.cut for f in pair.freedoms)
    return not (closed or task.loads or task.springs or task.drives or timed or (free and task.payloads))


def opening(mech: Mechanism, states: Array) -> dict[str, float]:
    """Return how far closures open at most in ``states`` (s, nq), m, by name."""
    held = [pair for pair in mech.tree.cut if any(c[0] == "t" for c in pair.kind.constrained)]
    gaps = {pair.name: 0.0 for pair in held}
    for q in states if held else ():
        poses = forward(mech, q)
        for pair in held:
            p = relative_pose(mech, pair, poses).p
            fixed = [p["xyz".index(c[1])] for c in pair.kind.constrained if c[0] == "t"]
            gaps[pair.name] = max(gaps[pair.name], float(np.linalg.norm(fixed)))
    return gaps


def _fails(check: Check) -> str:
    unit = "" if check.unit == "1" else f" {check.unit}"
    return f"{check.name} ({check.value:.3g}{unit}, bound {check.bound:.2g})"


def _with_start(task: Task, run: Sampled) -> _States:
    return _States(
        np.concatenate(([0.0], run.time)),
        np.concatenate((task.q[None], run.q)),
        np.concatenate((task.qd[None], run.qd)),
    )


def _closed(task: Task, q: Array, program: Program, share: float) -> Check | None:
    """Return the check of how far loops open along q (T, nq), m; None without loops."""
    gaps = opening(task.mech, q)
    if not gaps:
        return None
    p = forward(task.mech, task.q).p_WC
    bound = share * max(1.0, float(np.ptp(p, axis=0).max()))
    return Check(program, "opening of loops", max(gaps.values()), bound, "m")


def _account(ours: Trajectory) -> Check:
    """Hold our energy against our own account of work; what an impact takes is not in it."""
    balance = np.diff(ours.energy + ours.dissipated - ours.applied - ours.driven)
    balance[np.diff(ours.time) == 0] = 0.0
    off = float(np.abs(np.cumsum(balance)).max(initial=0.0))
    turned = float(ours.kinetic.max() + np.ptp(ours.potential) + np.abs(ours.applied).max())
    return Check(OURS, "account of energy and work", off, 1e-6 * max(turned, 1e-6), "J")


def _energy(program: Program, left: Array, turned: float, share: float) -> Check:
    """Return the check of what is left (T,) of the balance of energy, J."""
    bound = share * max(turned, 1e-6)
    return Check(program, "energy against friction along the way", float(np.abs(left).max()), bound, "J")


def _unaccounted(task: Task, states: _States) -> tuple[Array, float]:
    """Return the energy (n,) that has come from nothing since the start, and what is turned over, J."""
    mech = loaded(task.mech, task.payloads)
    kinetic, potential = np.array(
        [_energies(task, mech, q, qd) for q, qd in zip(states.q, states.qd, strict=True)]
    ).T
    work = _work(task, states)
    energy = kinetic + potential
    return energy - energy[0] - work, float(kinetic.max() + np.ptp(potential) + np.abs(work).max())


def _energies(task: Task, mech: Mechanism, q: Array, qd: Array) -> tuple[float, float]:
    """Return kinetic and potential energy at q (nq,) and qd (nv,), J."""
    poses = forward(mech, q)
    kinetic = potential = 0.0
    for body, twist, p, R in zip(
        mech.bodies, body_twists(mech, poses, qd), poses.p_WC, poses.R_WL, strict=True
    ):
        turn = R.T @ twist[3:]
        kinetic += 0.5 * float(body.mass * twist[:3] @ twist[:3] + turn @ body.I_C @ turn)
        potential -= body.mass * float(mech.gravity @ p)
    for spring in task.joint_springs:
        stretched = float(q[mech.q_names.index(spring.joint)]) - spring.rest
        potential += 0.5 * spring.stiffness * stretched**2
    return kinetic, potential


def _work(task: Task, states: _States) -> Array:
    """Return what friction, brakes, dampers and torques have done since the start, (n,), J."""
    done = np.zeros(len(states.time))
    for joint in task.mech.tree.joints:
        if joint.pair is None or joint.q.stop - joint.q.start != joint.qd.stop - joint.qd.start:
            continue
        for k, (name, own) in enumerate(zip(joint.pair.kind.free, joint.pair.freedoms, strict=True)):
            laws = _laws(task, joint.pair.name, name, own)
            if laws:
                parts, rates = _ways(states, joint.q.start + k, joint.qd.start + k)
                for law, closes in laws:
                    acts = states.time[:-1] >= closes - SAME
                    done[1:] -= np.cumsum(acts * _lost(law, parts, rates))
            torque = (task.torques or {}).get(task.mech.qd_names[joint.qd.start + k], 0.0)
            done += torque * (states.q[:, joint.q.start + k] - states.q[0, joint.q.start + k])
    return done


def _laws(task: Task, pair: str, freedom: str, own: Freedom) -> list[tuple[BrakeLaw, float]]:
    """Return the laws of a freedom, its own and those of its brakes, and when they begin to act, s."""
    friction = own.friction if task.friction else 0.0
    damping = own.damping if task.damping else 0.0
    stated = [(BrakeLaw(friction, friction, damping), 0.0)] if friction or damping else []
    brakes = [b for b in task.brakes if (b.joint, b.freedom) == (pair, freedom)]
    return [*stated, *((brake.law, brake.closes) for brake in brakes)]


def _lost(law: BrakeLaw, parts: Array, rates: Array) -> Array:
    """Return the work (n,) that a law takes up in every interval, J.

    Parameters
    ----------
    parts, rates : (parts, n) array
        Way in each part of an interval (rad or m), and the mean rate there.
    """
    lost: Array = law.sliding * np.abs(parts).sum(axis=0) + (rate_force(law, rates) * parts).sum(axis=0)
    return lost


def _ways(states: _States, k: int, n: int) -> tuple[Array, Array]:
    """Return the ways of one coordinate in the parts of every interval, and the mean rates there.

    Both are (parts, n), by cubics through states and rates.
    """
    h = np.diff(states.time)
    q0, q1, v0, v1 = states.q[:-1, k], states.q[1:, k], states.qd[:-1, n], states.qd[1:, n]
    s = np.linspace(0.0, 1.0, _PARTS + 1)[:, None]
    blend = s**2 * (3 - 2 * s)
    path = q0 + (q1 - q0) * blend + h * (v0 * s * (1 - s) ** 2 - v1 * s**2 * (1 - s))
    parts = np.diff(path, axis=0)
    return parts, np.divide(_PARTS * parts, h, out=np.zeros_like(parts), where=h > 0)
