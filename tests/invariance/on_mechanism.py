"""Transformations of a mechanism at a pose, one function each; files are transformed in ``on_urdf``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.model.mechanism import WORLD, Body, Mechanism, Rolling
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation, rotation_from_quaternion
from scaled import scaled as in_units, scaled_coordinates

from .places import anywhere, anywhere_near
from .verdict import Changed


@dataclass(frozen=True, eq=False)
class Posed:
    """A mechanism and joint coordinates at which its loops are closed."""

    mech: Mechanism
    q: Array


def scaled(at: Posed, rng: np.random.Generator, factor: float) -> Changed:
    """Every metre becomes ``factor`` of another unit of length."""
    del rng
    return Changed(in_units(at.mech, factor), scaled_coordinates(at.mech, at.q, factor))


def moved(at: Posed, rng: np.random.Generator) -> Changed:
    """The whole mechanism stands elsewhere in the world, and gravity turns with it."""
    X = anywhere(rng)

    def on_ground(body: str, X_WJ: Pose) -> Pose:
        return X @ X_WJ if body == WORLD else X_WJ

    pairs = tuple(
        replace(p, X_AP=on_ground(p.body_a, p.X_AP), X_BS=on_ground(p.body_b, p.X_BS)) for p in at.mech.pairs
    )
    pfaffians = tuple(
        replace(p, plane_point=X.apply(p.plane_point), plane_normal=X.R @ p.plane_normal)
        if isinstance(p, Rolling)
        else p
        for p in at.mech.pfaffians
    )
    mech = replace(at.mech, pairs=pairs, pfaffians=pfaffians, gravity=X.R @ at.mech.gravity)
    q = np.array(at.q)
    for joint in mech.tree.joints:
        if joint.pair is None:
            free = q[joint.q]
            R = X.R @ rotation_from_quaternion(free[3:])
            q[joint.q] = [*X.apply(free[:3]), *quaternion_from_rotation(R)]
    return Changed(mech, q, turn=X.R)


def renamed(at: Posed, rng: np.random.Generator) -> Changed:
    """Every body and pair has another name, in another order of the alphabet."""
    mech = at.mech
    bodies = {b.name: f"n{k}" for b, k in zip(mech.bodies, rng.permutation(len(mech.bodies)), strict=True)}
    bodies[WORLD] = WORLD
    pairs = {p.name: f"J {k}" for p, k in zip(mech.pairs, rng.permutation(len(mech.pairs)), strict=True)}
    new = replace(
        mech,
        bodies=tuple(replace(b, name=bodies[b.name]) for b in mech.bodies),
        pairs=tuple(
            replace(p, name=pairs[p.name], body_a=bodies[p.body_a], body_b=bodies[p.body_b])
            for p in mech.pairs
        ),
        couplings=tuple(
            replace(c, terms=tuple(replace(t, joint=pairs[t.joint]) for t in c.terms)) for c in mech.couplings
        ),
        drivers=tuple(replace(d, joint=pairs[d.joint]) for d in mech.drivers),
        locks=tuple(replace(lock, joint=pairs[lock.joint]) for lock in mech.locks),
        pfaffians=tuple(replace(p, body=bodies[p.body]) for p in mech.pfaffians),
    )
    locks = {old.name: lock.name for old, lock in zip(mech.locks, new.locks, strict=True)}
    return Changed(new, at.q, names={**pairs, **locks})


def shuffled(at: Posed, rng: np.random.Generator) -> Changed:
    """Bodies and pairs are written in another order; what closes a loop still says so."""
    mech = at.mech
    order = rng.permutation(len(mech.bodies))
    bodies = tuple(mech.bodies[k] for k in order)
    pairs = tuple(mech.pairs[k] for k in rng.permutation(len(mech.pairs)))
    couplings = tuple(mech.couplings[k] for k in rng.permutation(len(mech.couplings)))
    return at_the_same_pose(at, replace(mech, bodies=bodies, pairs=pairs, couplings=couplings))


def recut(at: Posed, rng: np.random.Generator) -> Changed:
    """Every loop is cut at any of its joints: another spanning tree."""
    mech = at.mech
    group = {name: name for name in mech.body_index}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    cut = set()
    for k in rng.permutation(len(mech.pairs)):
        a, b = root(mech.pairs[k].body_a), root(mech.pairs[k].body_b)
        group[a] = b
        if a == b:
            cut.add(mech.pairs[k].name)
    return at_the_same_pose(
        at, replace(mech, pairs=tuple(replace(p, closure=p.name in cut) for p in mech.pairs))
    )


def split(at: Posed, rng: np.random.Generator) -> Changed:
    """A link is two, welded together somewhere; some of its joints are on the second part."""
    mech = at.mech
    body = mech.bodies[int(rng.integers(len(mech.bodies)))]
    X_LH, half = anywhere_near(rng, _size(at)), Body("other half")
    X_HL = X_LH.inverse()

    def side(name: str, X: Pose) -> tuple[str, Pose]:
        return (half.name, X_HL @ X) if name == body.name and rng.random() < 0.5 else (name, X)

    pairs = []
    for pair in mech.pairs:
        (a, X_AP), (b, X_BS) = side(pair.body_a, pair.X_AP), side(pair.body_b, pair.X_BS)
        pairs.append(replace(pair, body_a=a, body_b=b, X_AP=X_AP, X_BS=X_BS))
    weld = Pair("weld of halves", "fixed", body.name, half.name, X_LH, Pose.identity())
    pairs.insert(int(rng.integers(len(pairs) + 1)), weld)
    new = replace(mech, bodies=(*mech.bodies, half), pairs=tuple(pairs))
    return _with_the_same_coordinates(at, new, {half.name: (body.name, X_LH)})


def with_pendulum(at: Posed, rng: np.random.Generator) -> Changed:
    """A link hangs on any body by a hinge of its own."""
    body = at.mech.bodies[int(rng.integers(len(at.mech.bodies)))]
    size = _size(at)
    bob = Body("bob", 1.0, np.array([0.0, 0.0, -size]), 0.01 * size**2 * np.eye(3))
    frame = anywhere_near(rng, size)
    hinge = Pair("pendulum", "revolute", body.name, bob.name, frame, Pose.identity())
    new = replace(at.mech, bodies=(*at.mech.bodies, bob), pairs=(*at.mech.pairs, hinge))
    added = {bob.name: (body.name, frame)}
    return replace(_with_the_same_coordinates(at, new, added), mobility=1, new_unique=True)


def _size(at: Posed) -> float:
    p = forward(at.mech, at.q).p_WC
    return (float(np.ptp(p, axis=0).max()) if len(p) else 0.0) or 1.0


def _with_the_same_coordinates(at: Posed, new: Mechanism, added: Mapping[str, tuple[str, Pose]]) -> Changed:
    """Return a mechanism whose tree has the joints of before, and others that stand at zero."""
    if not set(at.mech.q_names) <= set(new.q_names):
        # a weld within a loop took the place of another tree joint
        return at_the_same_pose(at, new, added)
    values = dict(zip(at.mech.q_names, at.q, strict=True))
    return Changed(new, np.array([values.get(n, x) for n, x in zip(new.q_names, home(new), strict=True)]))


def at_the_same_pose(
    at: Posed, new: Mechanism, added: Mapping[str, tuple[str, Pose]] | None = None
) -> Changed:
    """Return a mechanism of the same bodies at the poses they had; ``added`` ones stand on others."""
    poses = forward(at.mech, at.q)
    places = {b.name: poses.of(k) for k, b in enumerate(at.mech.bodies)}
    places |= {name: places[carrier] @ X for name, (carrier, X) in (added or {}).items()}
    R = np.array([places[b.name].R for b in new.bodies])
    p = np.array([places[b.name].p for b in new.bodies])
    centres = np.array([places[b.name].apply(b.p_LC) for b in new.bodies])
    return Changed(new, coordinates_of(new, BodyPoses(R, p, centres)))
