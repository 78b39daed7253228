"""Random mechanisms with loops for property tests: planar, spherical and generic, in an assembled pose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from mbplugin.model.mechanism import WORLD, Coupling, Mechanism, Term
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from models import body_at, pose_at, q_at

_AXIAL = ("revolute", "prismatic", "cylindrical")
_ANY = (*_AXIAL, "spherical", "universal", "planar", "point-on-line", "point-on-plane", "fixed")


def loop_mechanism(seed: int, loops: int, kind: str) -> tuple[Mechanism, Array]:
    """Bodies hung on the ground by a tree of pairs, with ``loops`` more pairs between them.

    Every joint frame is written in the world at the present pose, so all loops are closed there.
    Planar: hinges along z and sliders across. Spherical: all hinges meet at one point.
    """
    rng = np.random.default_rng(seed)
    n = loops + int(rng.integers(2, 5))
    names = [f"b{k}" for k in range(n)]
    X = {WORLD: Pose.identity()}
    for name in names:
        X[name] = Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3))
    joint_frames = [(WORLD if k == 0 else names[int(rng.integers(k))], names[k]) for k in range(n)]
    while len(joint_frames) < n + loops:
        a, b = rng.choice([WORLD, *names], 2, replace=False)
        joint_frames.append((str(a), str(b)))
    pairs = []
    for k, (a, b) in enumerate(joint_frames):
        pair_type, X_WP = _joint(rng, kind)
        pairs.append(
            Pair(f"j{k}", pair_type, a, b, X[a].inverse() @ X_WP, X[b].inverse() @ X_WP, closure=k >= n)
        )
    mech = Mechanism("random", tuple(body_at(name) for name in names), tuple(pairs))
    return mech, q_at(mech, X)


def _joint(rng: np.random.Generator, kind: str) -> tuple[str, Pose]:
    point = rng.uniform(-1, 1, 3)
    if kind == "planar":
        if rng.random() < 0.2:
            angle = rng.uniform(0, 2 * np.pi)
            return "prismatic", pose_at(point, np.array([np.cos(angle), np.sin(angle), 0]))
        return "revolute", pose_at(point)
    if kind == "spherical":
        return "revolute", pose_at(np.zeros(3), rng.normal(size=3))
    return str(rng.choice(_ANY)), Pose(rotation_from_vector(rng.normal(size=3)), point)


#: Mechanisms of one to six loops.
mechanisms = st.builds(
    loop_mechanism,
    st.integers(0, 2**31),
    st.integers(1, 6),
    st.sampled_from(["planar", "spherical", "generic"]),
)


def scaled(mech: Mechanism, factor: float) -> Mechanism:
    """The same mechanism in other units of length."""

    def segment(X: Pose) -> Pose:
        return Pose(X.R, factor * X.p)

    return replace(
        mech,
        bodies=tuple(replace(b, p_LC=factor * b.p_LC, I_C=factor**2 * b.I_C) for b in mech.bodies),
        pairs=tuple(replace(p, X_AP=segment(p.X_AP), X_BS=segment(p.X_BS)) for p in mech.pairs),
    )


def moved(mech: Mechanism, X: Pose) -> Mechanism:
    """The same mechanism elsewhere in the world."""
    return replace(
        mech,
        pairs=tuple(
            replace(
                p,
                X_AP=X @ p.X_AP if p.body_a == WORLD else p.X_AP,
                X_BS=X @ p.X_BS if p.body_b == WORLD else p.X_BS,
            )
            for p in mech.pairs
        ),
    )


def renamed(mech: Mechanism) -> Mechanism:
    """The same mechanism with other names, in the opposite order of the alphabet."""

    def new(name: str) -> str:
        return name if name == WORLD else f"z{999 - int(name[1:])}"

    return replace(
        mech,
        bodies=tuple(replace(b, name=new(b.name)) for b in mech.bodies),
        pairs=tuple(
            replace(p, name=f"J {p.name}", body_a=new(p.body_a), body_b=new(p.body_b)) for p in mech.pairs
        ),
    )


def reordered(mech: Mechanism, seed: int) -> Mechanism:
    """The same mechanism with bodies and pairs in another order, and any pair free to be cut."""
    rng = np.random.default_rng(seed)
    bodies = [mech.bodies[k] for k in rng.permutation(len(mech.bodies))]
    pairs = [replace(mech.pairs[k], closure=False) for k in rng.permutation(len(mech.pairs))]
    return replace(mech, bodies=tuple(bodies), pairs=tuple(pairs))


def with_pendulum(mech: Mechanism) -> Mechanism:
    """The same mechanism with a long pendulum of two links hung on its last body."""
    far = pose_at(np.array([30.0, -20.0, 10.0]), np.array([1.0, 2.0, 3.0]))
    pairs = (
        Pair("pendulum 1", "revolute", mech.bodies[-1].name, "rod", far, Pose.identity()),
        Pair("pendulum 2", "spherical", "rod", "bob", far, Pose.identity()),
    )
    return replace(mech, bodies=(*mech.bodies, body_at("rod"), body_at("bob")), pairs=(*mech.pairs, *pairs))


def geared_twice(mech: Mechanism) -> Mechanism:
    """The same mechanism with a pair of hinges on the ground geared twice alike."""
    hinges = tuple(
        Pair(f"gear hinge {k}", "revolute", WORLD, f"wheel{k}", pose_at([k, 5.0, 0]), Pose.identity())
        for k in range(2)
    )
    gears = tuple(
        Coupling(f"gear{k}", "gear", (Term("gear hinge 0", "rz", 1.0), Term("gear hinge 1", "rz", 2.5)))
        for k in range(2)
    )
    bodies = (*mech.bodies, body_at("wheel0"), body_at("wheel1"))
    return replace(mech, bodies=bodies, pairs=(*mech.pairs, *hinges), couplings=gears)
