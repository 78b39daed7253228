"""Masses, forces and accelerations in absolute coordinates: M v̇ = F + Cᵀλ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import rows_of
from mbplugin.model import BodyPoses, Driver, Load, Mechanism, Pair, Payload, forward
from mbplugin.model.spatial import Array, Spring, cross, make_read_only, shift_rows, shift_twists


@dataclass(frozen=True, eq=False)
class NewtonEuler:
    """Mass and force of every body at a state, world axes, at the bodies' centres of mass.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        The state.
    twists : (N, 6) array
        [v; ω], m/s and rad/s.
    M : (N, 6, 6) array
        Mass of each body and its payloads, kg and kg·m². Without a payload the blocks are m I and
        R J Rᵀ; a payload couples them, because the reference point remains the body's centre of mass.
    F : (N, 6) array
        Gravity, applied wrenches and gyroscopic terms, N and N·m.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    poses: BodyPoses
    twists: Array
    M: Array
    F: Array

    def missing(self, accelerations: Array) -> Array:
        """Return M v̇ − F (N, 6), the wrenches that the constraints have to supply.

        Parameters
        ----------
        accelerations : (N, 6) array
            v̇ at the centres of mass, world axes.
        """
        return np.asarray(np.einsum("nij,nj->ni", self.M, accelerations) - self.F)


def newton_euler(
    mech: Mechanism,
    q: Array,
    qd: Array | None = None,
    *,
    loads: Sequence[Load] = (),
    payloads: Sequence[Payload] = (),
) -> NewtonEuler:
    """Return masses and forces at joint coordinates q and rates qd (wojtyra2013 (10)).

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        The pose is used as given, loops are not closed first; without rates the bodies are at rest.
    loads : sequence of Load
        Wrenches on bodies.
    payloads : sequence of Payload
        Masses that move with a body.
    """
    rates = np.zeros(len(mech.qd_names)) if qd is None else qd
    poses = forward(mech, q)
    twists = body_twists(mech, poses, rates)
    M, F = np.zeros((len(mech.bodies), 6, 6)), np.zeros((len(mech.bodies), 6))
    for i, body in enumerate(mech.bodies):
        R = poses.R_WL[i]
        M[i], F[i] = _solid(body.mass, R @ body.I_C @ R.T, np.zeros(3), twists[i, 3:], mech.gravity)
    for payload in payloads:
        i = mech.body_index[payload.body]
        added = payload_terms(mech, payload, poses, twists)
        M[i], F[i] = M[i] + added[0], F[i] + added[1]
    for load in loads:
        i = mech.body_index[load.body]
        F[i] += load_wrench(load, poses, i)
    make_read_only(M, F, twists)
    return NewtonEuler(mech, q, rates, poses, twists, M, F)


def payload_terms(mech: Mechanism, payload: Payload, poses: BodyPoses, twists: Array) -> tuple[Array, Array]:
    """Return the mass (6, 6) and force (6,) that a payload adds at its body's centre of mass; twists (N, 6)."""
    i = mech.body_index[payload.body]
    R = poses.R_WL[i]
    arm = poses.of(i).apply(payload.com) - poses.p_WC[i]
    return _solid(payload.mass, R @ payload.inertia @ R.T, arm, twists[i, 3:], mech.gravity)


def load_wrench(load: Load, poses: BodyPoses, body: int) -> Array:
    """Return the wrench (6,) of a load at its body's centre of mass, world axes, N and N·m."""
    X_WL = poses.of(body)
    turn = X_WL.R if load.frame == "body" else np.eye(3)
    wrench = np.concatenate((turn @ load.force, turn @ load.torque))
    return shift_rows(wrench, X_WL.apply(load.point) - poses.p_WC[body])


def _solid(mass: float, J: Array, arm: Array, omega: Array, gravity: Array) -> tuple[Array, Array]:
    """Return mass matrix (6, 6) and force (6,) of a rigid body at a reference point.

    ``arm`` (3,) leads from that point to the centre of mass, m; J (3, 3) is the inertia about the centre of mass,
    kg·m², omega (3,) the angular velocity, rad/s; gravity (3,), m/s².
    """
    X = shift_twists(np.eye(6), arm)
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = mass * np.eye(3), J
    centripetal = cross(omega, cross(omega, arm))
    force = np.concatenate((mass * (gravity - centripetal), -cross(omega, J @ omega)))
    return X.T @ M @ X, X.T @ force


# Forces of a spring between two points, from the poses and twists of its bodies.


def spring_forces(
    mech: Mechanism, spring: Spring, poses: BodyPoses, twists: Array
) -> Iterator[tuple[int, Array, Array]]:
    """Yield body, point (3,) in the world, m, and force (3,), N, for each end that is not on the ground.

    Parameters
    ----------
    twists : (N, 6) array
        Twists of the bodies at their centres of mass, world axes.
    """
    ends = []
    for name, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b)):
        i = mech.body_index[name]
        p = poses.of(i).apply(point)
        v = twists[i, :3] + cross(twists[i, 3:], p - poses.p_WC[i]) if i >= 0 else np.zeros(3)
        ends.append((i, p, v))
    (_, p_a, v_a), (_, p_b, v_b) = ends
    force = spring.force_on_a(p_b - p_a, v_b - v_a)
    for (i, p, _), sign in zip(ends, (1.0, -1.0), strict=True):
        if i >= 0:
            yield i, p, sign * force


# Accelerations of all bodies from joint coordinates, rates and accelerations.


def body_accelerations(mech: Mechanism, poses: BodyPoses, twists: Array, qdd: Array) -> Array:
    """Return v̇ = S q̈ + Ṡ q̇ of all bodies, (N, 6), world axes at the centres of mass.

    The rows of a tree pair and the rates of its freedoms are six equations for its outer body, so no
    derivative of S is needed.

    Parameters
    ----------
    twists : (N, 6) array
        [v; ω] of the bodies.
    qdd : (nv,) array
        Joint accelerations in the order of ``qd_names``, rad/s² and m/s².
    """
    out = np.zeros((len(mech.bodies), 6))
    index = mech.body_index
    for joint in mech.tree.joints:
        if joint.pair is None:
            out[index[joint.outer]] = qdd[joint.qd]
            continue
        entries, rhs = _six_equations(mech, joint.pair, poses, twists, qdd[joint.qd])
        inner = index[joint.inner]
        if inner >= 0:
            rhs = rhs - entries[inner] @ out[inner]
        out[index[joint.outer]] = np.linalg.solve(entries[index[joint.outer]], rhs)
    return out


def _six_equations(
    mech: Mechanism, pair: Pair, poses: BodyPoses, twists: Array, qdd: Array
) -> tuple[dict[int, Array], Array]:
    """Return the coefficients (6, 6) on the accelerations of a pair's bodies, and the right-hand side (6,).

    ``twists`` (N, 6) of the bodies; ``qdd`` (f,), the accelerations of the pair's freedoms, rad/s² and m/s².
    """
    (held,) = rows_of(mech, (pair,), poses, None, twists)
    free = rows_of(mech, (Driver("", pair.name),) if pair.kind.free else (), poses, None, twists)
    parts = [held, *free]
    entries = {body: np.vstack([dict(r.entries)[body] for r in parts]) for body, _ in parts[-1].entries}
    return entries, np.concatenate([r.Gamma for r in parts]) + np.concatenate(
        (np.zeros(len(held.components)), qdd)
    )
