"""Mechanisms that several tests need, built from numbers."""

from __future__ import annotations

import numpy as np

from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, align_z


def pose_at(point: Array, axis: Array | tuple[float, float, float] = (0.0, 0.0, 1.0)) -> Pose:
    """A frame at a point with its z along an axis."""
    return Pose(align_z(np.asarray(axis, dtype=float)), np.array(point, dtype=float))


def body_at(name: str, mass: float = 1.0) -> Body:
    return Body(name, mass, np.zeros(3), 0.01 * np.eye(3))


def from_world_frames(
    name: str,
    bodies: dict[str, Pose],
    joints: list[tuple[str, str, str, str, Pose]],
    **extra: object,
) -> tuple[Mechanism, Array]:
    """A mechanism from body poses and joint frames in the world, and its q at that pose.

    Joints are (name, type, body_a, body_b, X_WP); every free root is put where its pose says.
    """
    X = {"world": Pose.identity(), **bodies}
    pairs = tuple(
        Pair(n, t, a, b, X[a].inverse() @ X_WP, X[b].inverse() @ X_WP) for n, t, a, b, X_WP in joints
    )
    mech = Mechanism(name, tuple(body_at(b) for b in bodies), pairs, **extra)  # type: ignore[arg-type]
    return mech, q_at(mech, bodies)


def q_at(mech: Mechanism, bodies: dict[str, Pose]) -> Array:
    from mbplugin.model.mechanism.kinematics import free_pose

    q = home(mech)
    for joint in mech.tree.joints:
        if joint.pair is None:
            q[joint.q] = free_pose(mech, joint.outer, bodies[joint.outer])
    return q


def chain(n: int, pair_type: str, rng: np.random.Generator) -> tuple[Mechanism, Array]:
    """An open chain of n bodies on the ground, joints at random places and in random directions."""
    pairs = []
    for k in range(n):
        a = "world" if k == 0 else f"b{k - 1}"
        X_AP = Pose.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3))
        X_BS = Pose.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3))
        length = 0.7 if pair_type == "distance" else 0.0
        pairs.append(Pair(f"j{k}", pair_type, a, f"b{k}", X_AP, X_BS, lead=0.02, length=length))
    mech = Mechanism("chain", tuple(body_at(f"b{k}") for k in range(n)), tuple(pairs))
    return mech, home(mech)


def ring(n: int, radius: float | None = None) -> tuple[Mechanism, Array]:
    """A planar ring of n links and n parallel hinges, the first link on the ground by a hinge's place."""
    radius = n / (2 * np.pi) if radius is None else radius
    angle = 2 * np.pi * np.arange(n) / n
    corner = radius * np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    middle = 0.5 * (corner + np.roll(corner, -1, axis=0))
    bodies = {f"b{k}": Pose(np.eye(3), middle[k]) for k in range(n)}
    joints = [
        (f"j{k}", "revolute", f"b{k - 1 if k else n - 1}", f"b{k}", pose_at(corner[k])) for k in range(n)
    ]
    return from_world_frames("ring", bodies, joints)


def four_bar(*, types: tuple[str, str, str, str] = ("revolute",) * 4) -> tuple[Mechanism, Array]:
    """The unit-square four-bar in the x-y plane, hinges along z."""
    bodies = {
        "crank": Pose(np.eye(3), np.array([0, 0.5, 0.0])),
        "coupler": Pose(np.eye(3), np.array([0.5, 1, 0.0])),
        "rocker": Pose(np.eye(3), np.array([1, 0.5, 0.0])),
    }
    places = [
        ("world", "crank", [0, 0, 0]),
        ("crank", "coupler", [0, 1, 0]),
        ("coupler", "rocker", [1, 1, 0]),
        ("world", "rocker", [1, 0, 0]),
    ]
    joints = [
        (f"j{k}", types[k], a, b, pose_at(np.array(p, dtype=float))) for k, (a, b, p) in enumerate(places)
    ]
    return from_world_frames("four-bar", bodies, joints)


def coupled_four_bars(n: int) -> tuple[Mechanism, Array]:
    """N unit-square windows of a planar four-bar side by side (IFToMM A02), hinges along z."""
    bodies = {f"v{k}": Pose(np.eye(3), np.array([k, 0.5, 0.0])) for k in range(n + 1)}
    bodies |= {f"h{k}": Pose(np.eye(3), np.array([k + 0.5, 1.0, 0.0])) for k in range(n)}
    joints = [(f"g{k}", "revolute", "world", f"v{k}", pose_at(np.array([k, 0.0, 0.0]))) for k in range(n + 1)]
    for k in range(n):
        joints.append((f"a{k}", "revolute", f"v{k}", f"h{k}", pose_at(np.array([k, 1.0, 0.0]))))
        joints.append((f"b{k}", "revolute", f"h{k}", f"v{k + 1}", pose_at(np.array([k + 1, 1.0, 0.0]))))
    return from_world_frames("four-bars", bodies, joints)


__all__ = [
    "body_at",
    "chain",
    "coupled_four_bars",
    "forward",
    "four_bar",
    "from_world_frames",
    "pose_at",
    "q_at",
    "ring",
]
