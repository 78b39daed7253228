"""Mechanisms that brakes close: the 3R pendulum, two arms on one part, a four-bar with a pendulum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from models import from_world_frames, pose_at


def pendulum_3r() -> tuple[Mechanism, Array]:
    """mueller2026 §6: three links of 1 m and 108 kg in the x-y plane, hinges along z, gravity −y."""
    bodies = tuple(
        Body(f"link{k}", 108.0, np.array([0.5, 0.0, 0.0]), np.diag([0.72, 9.36, 9.36])) for k in (1, 2, 3)
    )
    pairs = tuple(
        Pair(
            f"j{k}",
            "revolute",
            WORLD if k == 1 else f"link{k - 1}",
            f"link{k}",
            pose_at(np.array([0.0 if k == 1 else 1.0, 0.0, 0.0])),
            Pose.identity(),
        )
        for k in (1, 2, 3)
    )
    mech = Mechanism("3R", bodies, pairs, gravity=np.array([0.0, -9.81, 0.0]))
    return mech, np.full(3, np.pi / 6)


def heavy(mech: Mechanism, seed: int) -> Mechanism:
    """The same mechanism with bodies of different mass, inertia and centre of mass."""
    rng = np.random.default_rng(seed)

    def inertia() -> Array:
        R = rotation_from_vector(rng.normal(size=3))
        return np.asarray(R @ np.diag(rng.uniform(0.05, 0.06, 3)) @ R.T)

    bodies = tuple(
        replace(b, mass=rng.uniform(0.5, 3.0), p_LC=rng.uniform(-0.1, 0.1, 3), I_C=inertia())
        for b in mech.bodies
    )
    return replace(mech, bodies=bodies)


def spatial_four_bar_with_pendulum() -> tuple[Mechanism, Array]:
    """Spatial four-bar whose coupler carries a pendulum; hinges ``crank`` and ``rocker`` on the ground.

    The coupler hangs on the crank by a cross with two hinges, and on the rocker by the spherical joint
    that closes the loop: mobility 1 and no redundancy; the revolute ``pendulum`` adds one.
    """
    A, B, C, D = (np.array(p) for p in ((0, 0, 0), (0.1, 0.3, 0.2), (1.0, 0.7, 0.1), (1.2, 0.0, -0.1)))
    middle = 0.5 * (B + C)
    bodies = {
        "link1": Pose(rotation_from_vector(np.array([0.1, 0.2, 0.3])), 0.5 * (A + B)),
        "cross": Pose(np.eye(3), B),
        "coupler": Pose(rotation_from_vector(np.array([0.3, -0.2, 0.1])), middle),
        "link3": Pose(rotation_from_vector(np.array([-0.2, 0.1, 0.4])), 0.5 * (C + D)),
        "bob": Pose(np.eye(3), middle + np.array([0.05, -0.3, 0.0])),
    }
    joints = [
        ("crank", "revolute", WORLD, "link1", pose_at(A, (0.1, 0.0, 1.0))),
        ("cross1", "revolute", "link1", "cross", pose_at(B, (0.0, 0.3, 1.0))),
        ("cross2", "revolute", "cross", "coupler", pose_at(B, (1.0, 0.2, 0.0))),
        ("rocker", "revolute", WORLD, "link3", pose_at(D, (0.2, 0.1, 1.0))),
        ("pendulum", "revolute", "coupler", "bob", pose_at(middle, (0.3, 0.1, 1.0))),
        ("at_rocker", "spherical", "coupler", "link3", pose_at(C)),
    ]
    mech, q = from_world_frames("four-bar with pendulum", bodies, joints)
    return heavy(replace(mech, gravity=np.array([0.0, -9.81, 0.0])), 7), q


def two_arms_one_part() -> tuple[Mechanism, Array]:
    """Two 3R arms in space that hold one part rigidly, and a pendulum that hangs on the part.

    One loop of 6 hinges with a part in the middle, which no direction of freedom closes: mobility 0 of
    the arms but for 3 parallel hinges each; here all axes are along z, so that the loop moves in a plane.
    """
    z = np.array([0.0, 0.0, 1.0])
    left = [np.array(p) for p in ((-1.0, 0.0, 0.0), (-0.9, 0.6, 0.0), (-0.2, 0.8, 0.0))]
    right = [np.array(p) for p in ((1.0, 0.0, 0.1), (0.8, 0.7, 0.1), (0.3, 0.9, 0.1))]
    bodies, joints = {}, []
    for side, points in (("l", left), ("r", right)):
        joint_frames = [*points[1:], np.array([0.0, 0.85, 0.05])]
        for k in range(3):
            bodies[f"{side}{k}"] = Pose(np.eye(3), 0.5 * (points[k] + joint_frames[k]))
            inner = WORLD if k == 0 else f"{side}{k - 1}"
            joints.append((f"{side}j{k}", "revolute", inner, f"{side}{k}", pose_at(points[k], z)))
    bodies["part"] = Pose(np.eye(3), np.array([0.0, 0.85, 0.05]))
    bodies["bob"] = Pose(np.eye(3), np.array([0.1, 0.5, 0.05]))
    joints.append(("grip_l", "fixed", "l2", "part", pose_at(np.array([-0.1, 0.83, 0.05]))))
    joints.append(
        ("pendulum", "revolute", "part", "bob", pose_at(np.array([0.0, 0.85, 0.05]), (0.3, 0.0, 1.0)))
    )
    joints.append(("grip_r", "fixed", "r2", "part", pose_at(np.array([0.1, 0.87, 0.05]))))
    mech, q = from_world_frames("two arms", bodies, joints)
    closed = tuple(replace(p, closure=p.name == "grip_r") for p in mech.pairs)
    return heavy(replace(mech, pairs=closed, gravity=np.array([0.0, -9.81, 0.0])), 3), q
