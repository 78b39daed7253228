"""Random mechanisms whose loops close through the ground: what the divide-and-conquer algorithm covers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from models import body_at, pose_at, q_at

# bent universal joints and distances of some length come from frames that do not coincide
ANY = sorted(set(PAIR_TYPES) - {"floating"})


def grounded_mechanism(seed: int, kind: str, tree_like: str) -> tuple[Mechanism, Array]:
    """One or two trees of bodies, tied to the ground by several pairs; pairs of either direction.

    In every third one, bodies welded to the world one after the other take the place of the ground.
    """
    rng = np.random.default_rng(seed)
    trees = 1 + int(rng.random() < 0.2)
    X, ends = {WORLD: Pose.identity()}, []
    ground = [WORLD, "base", "mount"][: int(rng.integers(2, 4)) if seed % 3 == 0 else 1]
    for name in ground[1:]:
        X[name] = Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3))
    for t in range(trees):
        names = [f"b{t}{k}" for k in range(int(rng.integers(1, 7)))]
        for k, name in enumerate(names):
            X[name] = Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3))
            if k:
                # long chains and stars both come up
                ends.append((names[k - 1] if tree_like == "chain" else names[int(rng.integers(k))], name))
        for _ in range(int(rng.integers(0, 5))):
            ends.append((str(rng.choice(ground)), str(rng.choice(names))))
    ends = [ends[k] for k in rng.permutation(len(ends))]
    pairs = [_pair(f"j{k}", a, b, X, rng, kind) for k, (a, b) in enumerate(ends)]
    if len(ground) > 1:
        # a ring of welds would leave open which of its bodies is ground
        pairs = [replace(p, type="revolute", freedoms=()) if p.type == "fixed" else p for p in pairs]
    for inner, outer in pairwise(ground):
        pairs.append(
            Pair(f"weld {outer}", "fixed", inner, outer, X[inner].inverse() @ X[outer], Pose.identity())
        )
    bodies = tuple(body_at(name, float(rng.uniform(0.5, 20))) for name in X if name != WORLD)
    mech = Mechanism("random", bodies, tuple(pairs))
    if not mech.q_names:
        # something has to move
        X["extra"] = Pose.identity()
        mech = Mechanism("random", (*bodies, body_at("extra")), tuple(pairs))
    return mech, q_at(mech, X)


def _pair(name: str, a: str, b: str, X: dict[str, Pose], rng: np.random.Generator, kind: str) -> Pair:
    if rng.random() < 0.5:
        a, b = b, a
    point = rng.uniform(-1, 1, 3)
    X_WP = X_WS = Pose(rotation_from_vector(rng.normal(size=3)), point)
    pair_type, length = str(rng.choice(ANY)), 0.0
    if kind == "planar":
        angle = rng.uniform(0, 2 * np.pi)
        pair_type = "prismatic" if rng.random() < 0.2 else "revolute"
        axis = np.array([np.cos(angle), np.sin(angle), 0]) if pair_type == "prismatic" else [0, 0, 1]
        X_WP = X_WS = pose_at(point, np.array(axis, dtype=float))
    elif kind == "spherical":
        pair_type = "revolute"
        X_WP = X_WS = pose_at(np.zeros(3), rng.normal(size=3))
    elif kind == "balls":
        pair_type = "spherical"
    if pair_type == "distance":
        offset = rng.normal(size=3)
        length = float(np.linalg.norm(offset))
        X_WS = Pose(X_WP.R, point + offset)
    return Pair(name, pair_type, a, b, X[a].inverse() @ X_WP, X[b].inverse() @ X_WS, lead=0.05, length=length)
