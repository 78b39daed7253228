"""Mechanisms of planar loops for the closing conditions, and their motion by other means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.explicit_closure import Closing, minimal_accelerations
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.kinematics import displace, forward
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from models import from_world_frames, pose_at, q_at

#: Links of the four-bar of the papers, m.
L0, L1, L2, L3 = 2.0, 0.8, 1.6, 1.7


def paper_four_bar() -> Mechanism:
    """blajer1993 Fig. 2: relative angles clockwise from +y, cut at O₄ = (l₀, 0)."""
    clockwise = (0.0, 0.0, -1.0)
    joint_frames = {"link1": L1, "link2": L2, "link3": L3}
    bodies = tuple(
        Body(name, mass, np.array([0, length / 2, 0]), 0.1 * mass * np.eye(3))
        for mass, (name, length) in zip((2.0, 1.0, 3.0), joint_frames.items(), strict=True)
    )
    at_origin = pose_at(np.zeros(3), clockwise)
    pairs = (
        Pair("a1", "revolute", WORLD, "link1", at_origin, at_origin),
        Pair("a2", "revolute", "link1", "link2", pose_at([0, L1, 0], clockwise), at_origin),
        Pair("a3", "revolute", "link2", "link3", pose_at([0, L2, 0], clockwise), at_origin),
        Pair(
            "o4",
            "revolute",
            WORLD,
            "link3",
            pose_at([L0, 0, 0], clockwise),
            pose_at([0, L3, 0], clockwise),
            closure=True,
        ),
    )
    return Mechanism("four-bar", bodies, pairs, gravity=np.array([0.0, -9.81, 0.0]))


def planar(
    joints: list[tuple[str, str, str, str, tuple[float, float], float]],
    *,
    turn: Array | None = None,
    seed: int = 0,
) -> tuple[Mechanism, Array]:
    """Planar mechanism from joints (name, type, body a, body b, point, direction of a slider in rad).

    Parameters
    ----------
    turn : (3,) array, optional
        Rotation vector of the whole plane, rad.
    """
    rng = np.random.default_rng(seed)
    R = np.eye(3) if turn is None else rotation_from_vector(turn)
    names = list(dict.fromkeys(b for _, _, *joint_frames, _, _ in joints for b in joint_frames if b != WORLD))
    X = {WORLD: Pose.identity()}
    for name in names:
        X[name] = Pose(
            R @ rotation_from_vector(np.array([0, 0, rng.uniform(-3, 3)])), R @ rng.uniform(-1, 1, 3)
        )
    pairs = []
    for name, kind, a, b, point, angle in joints:
        axis = [np.cos(angle), np.sin(angle), 0.0] if kind == "prismatic" else [0.0, 0.0, 1.0]
        X_WP = Pose(R, np.zeros(3)) @ pose_at(np.array([*point, 0.0]), axis)
        pairs.append(Pair(name, kind, a, b, X[a].inverse() @ X_WP, X[b].inverse() @ X_WP))
    bodies = tuple(
        Body(name, rng.uniform(0.5, 2), rng.uniform(-0.2, 0.2, 3), rng.uniform(0.05, 0.3) * np.eye(3))
        for name in names
    )
    mech = Mechanism("planar", bodies, tuple(pairs), gravity=np.array([1.0, -9.0, 2.0]))
    return mech, q_at(mech, X)


def dyads(seed: int, kinds: list[str], *, shuffled: bool = True) -> tuple[Mechanism, Array]:
    """A crank on the ground and dyads hung on it one after another, in a random plane in space.

    Any pair may be the one that closes a loop, and any body its predecessor.
    """
    rng = np.random.default_rng(seed)
    joints = [("crank", "revolute", WORLD, "c", (0.0, 0.0), 0.0)]
    placed, grounded = ["c"], 0
    for k, kind in enumerate(kinds):
        # one end on what moved last, so that nothing becomes a truss
        inner = placed[-1] if k else "c"
        others = [b for b in placed if b != inner]
        outer = WORLD if grounded == 0 or not others or rng.random() < 0.7 else str(rng.choice(others))
        grounded += outer == WORLD
        chain = [inner, f"d{k}", f"e{k}", outer]
        for n, letter in enumerate(kind):
            joint_frames = (chain[n], chain[n + 1]) if rng.random() < 0.5 else (chain[n + 1], chain[n])
            point = (float(rng.uniform(-1, 1)), float(rng.uniform(-1, 1)))
            pair_type = "revolute" if letter == "R" else "prismatic"
            joints.append((f"j{k}{n}", pair_type, *joint_frames, point, float(rng.uniform(0, np.pi))))
        placed += [f"d{k}", f"e{k}"]
    if shuffled:
        # the crank stays in front, where no loop is cut in it
        joints = [joints[0], *(joints[1 + k] for k in rng.permutation(len(joints) - 1))]
    return planar(joints, turn=rng.normal(size=3), seed=seed)


def body_accelerations_by_kkt(mech: Mechanism, q: Array, qd: Array) -> Array:
    """v̇ of all bodies from [[M, −Cᵀ], [C, 0]] (wojtyra2013 (11)), redundant rows by least squares."""
    eq = absolute_equations(mech, q, qd)
    n, m = len(eq.M), len(eq.C)
    big = np.block([[eq.M, -eq.C.T], [eq.C, np.zeros((m, m))]])
    return np.linalg.lstsq(big, np.concatenate((eq.F, eq.Gamma)), rcond=1e-11)[0][:n]


def loop(joints: list[tuple[str, str, Pose]], cut: int, seed: int = 1) -> tuple[Mechanism, Array]:
    """A single loop from the ground back to it, cut at one of its joints, with links of random frames.

    Joints are (name, type, X_WP) in the order of the way; some are passed from the successor on.
    """
    rng = np.random.default_rng(seed)
    names = [WORLD, *(f"b{k}" for k in range(1, len(joints))), WORLD]
    bodies = {
        name: Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-0.5, 0.5, 3))
        for name in names[1:-1]
    }
    made = []
    for k, (name, kind, X_WP) in enumerate(joints):
        ends = (names[k], names[k + 1]) if k < cut else (names[k + 1], names[k])
        made.append((name, kind, *ends, X_WP))
    order = [*made[:cut], *made[:cut:-1], made[cut]]
    mech, q = from_world_frames("loop", bodies, order, gravity=np.array([1.0, -9.0, 2.0]))
    closing = replace(mech.pairs[-1], closure=True)
    return replace(mech, pairs=(*mech.pairs[:-1], closing)), q


def axes_at(point: Array, arcs: list[float], turns: list[float]) -> list[Pose]:
    """Hinges through one point, each an arc from the one before, turned about it by an angle."""
    X, out = Pose(rotation_from_vector(np.array([0.3, -0.4, 0.2])), np.array(point)), []
    for arc, turn in zip(arcs, turns, strict=True):
        out.append(X)
        X = X @ Pose(rotation_from_vector(np.array([0, 0, turn])), np.zeros(3))
        X = X @ Pose(rotation_from_vector(np.array([arc, 0, 0])), np.zeros(3))
    return out


def spherical(frames: list[Pose], cut: int, seed: int = 1) -> tuple[Mechanism, Array]:
    return loop([(f"j{k}", "revolute", X) for k, X in enumerate(frames)], cut, seed)


def check_closing(
    mech: Mechanism, q: Array, closing: Closing, seed: int = 3, tolerance: float = 1e-6
) -> None:
    """g closes and keeps q; A and ξ are derivatives of g; the motion is that of the KKT equations."""
    rng = np.random.default_rng(seed)
    speed = rng.normal(size=len(closing.independent))
    k = closing.independent_coordinates

    def pose(time: float) -> Array:
        step = np.zeros(len(mech.qd_names))
        step[closing.independent_rates] = time * speed
        return closing.g(displace(mech, q, step)[k], near=q)

    np.testing.assert_allclose(pose(0.0), q, atol=1e-9)
    A, h = closing.A(q), 1e-5
    qd = A @ speed
    xi = closing.xi(q, qd)
    size = 1 + np.abs(xi).max()
    np.testing.assert_allclose(displace(mech, pose(-h), 2 * h * qd), pose(h), atol=tolerance * h * size**1.5)
    np.testing.assert_allclose(
        (closing.A(pose(h)) - closing.A(pose(-h))) @ speed / (2 * h), xi, atol=tolerance * size**2
    )
    assert max(closing.residuals(pose(1e-3)).values()) < 1e-9
    check_closed_motion(mech, q, qd, closing)


def check_closed_motion(
    mech: Mechanism, q: Array, qd: Array, closing: Closing, tolerance: float = 1e-9
) -> None:
    """The motion of the closing conditions is that of the KKT equations of all bodies."""
    qdd = minimal_accelerations(joint_equations(mech, q, qd), closing, q)
    poses = forward(mech, q)
    v_dot = body_accelerations(mech, poses, body_twists(mech, poses, qd), qdd).ravel()
    expected = body_accelerations_by_kkt(mech, q, qd)
    np.testing.assert_allclose(v_dot, expected, atol=tolerance * (1 + np.abs(expected).max()))


__all__ = [
    "L0",
    "L1",
    "L2",
    "L3",
    "axes_at",
    "body_accelerations_by_kkt",
    "check_closed_motion",
    "check_closing",
    "dyads",
    "loop",
    "paper_four_bar",
    "planar",
    "spherical",
]
