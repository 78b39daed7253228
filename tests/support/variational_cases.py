"""Mechanisms that long runs are made of, and what they must keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mbplugin.constraints.reduction import body_twists
from mbplugin.model.mechanism import Body, KnifeEdge, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory


def run(mech: Any, duration: float, step: float, **more: Any) -> Trajectory:
    values = {"integrator": "variational", "limits": "ignore", "step": step} | more
    return simulate(mech, duration, **values)


def exact(mech: Any, duration: float, **more: Any) -> Trajectory:
    return simulate(mech, duration, rtol=1e-11, atol=1e-12, limits="ignore", **more)


def pendulum(n: int, pair_type: str = "revolute", **of_pair: Any) -> Mechanism:
    """Rods of 1 m that hang on each other, hinges along y."""
    rods = tuple(
        Body(f"b{k}", 1.0 + 0.3 * k, np.array([0.5, 0.0, 0.0]), np.diag([0.05, 0.1, 0.1])) for k in range(n)
    )
    pairs = []
    for k in range(n):
        place = Pose.from_xyz_rpy([1.0 if k else 0.0, 0.0, 0.0], [0.0 if k else -np.pi / 2, 0.0, 0.0])
        on = f"b{k - 1}" if k else "world"
        pairs.append(Pair(f"j{k}", pair_type, on, f"b{k}", place, Pose.identity(), **of_pair))
    return Mechanism("pendulum", rods, tuple(pairs))


def floating_chain(n: int) -> Mechanism:
    rng = np.random.default_rng(3)
    bodies = tuple(
        Body(f"b{k}", 1.0 + 0.3 * k, rng.uniform(-0.2, 0.2, 3), np.diag([0.1, 0.2, 0.25])) for k in range(n)
    )
    joint_frames = Pose.from_xyz_rpy([0.5, 0, 0], [0.3, 0, 0]), Pose.from_xyz_rpy([-0.5, 0, 0], [0, 0.2, 0])
    pairs = tuple(Pair(f"j{k}", "spherical", f"b{k - 1}", f"b{k}", *joint_frames) for k in range(1, n))
    return Mechanism("floating", bodies, pairs, gravity=np.zeros(3))


def momentum(mech: Mechanism, q: Array, qd: Array) -> Array:
    """Momentum, and angular momentum about the origin, body by body."""
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd).reshape(-1, 6)
    out = np.zeros(6)
    for i, body in enumerate(mech.bodies):
        R = poses.R_WL[i]
        p = body.mass * twists[i, :3]
        out += np.concatenate((p, np.cross(poses.p_WC[i], p) + R @ body.I_C @ R.T @ twists[i, 3:]))
    return out


def sled() -> Mechanism:
    """A body on a plane with an edge off its centre of mass."""
    mech = Mechanism(
        "sled",
        (Body("b", 2.0, np.array([0.3, 0.1, 0.0]), 0.1 * np.eye(3)),),
        (Pair("flat", "planar", "world", "b", Pose.identity(), Pose.identity()),),
        gravity=np.array([1.0, -2.0, 0.0]),
    )
    return replace(mech, pfaffians=(KnifeEdge("edge", "b", np.zeros(3), np.array([0.0, 1.0, 0.0])),))
