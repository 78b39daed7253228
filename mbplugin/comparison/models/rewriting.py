"""The second model in the terms of the first: its names, link frames, joint axes and zero positions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.comparison.models.matching import Matching
from mbplugin.comparison.models.merging import Merged
from mbplugin.comparison.models.sides import AXIAL, FLIP, Tolerances, turn_about_z
from mbplugin.model.mechanism import WORLD, Body, Coupling, Freedom, Mechanism, Pair, Term
from mbplugin.model.spatial import Pose


@dataclass(frozen=True, eq=False)
class Rewritten:
    """A mechanism in the terms of another.

    Parameters
    ----------
    mechanism : Mechanism
    signs : dict of str to float
        By the first model's pair: −1 where the axis points the other way.
    offsets : dict of str to float
        The first model's coordinate is sign times the second one's plus this, rad or m.
    reversed : frozenset of str
        Pairs whose bodies are in the other order.
    pairs, bodies : dict of str to str
        The second model's names by those used here.
    sides : dict of str to (Pose, Pose)
        The joint frames of matched pairs as written, in the first model's link frames: of predecessor and successor.
    """

    mechanism: Mechanism
    signs: dict[str, float]
    offsets: dict[str, float]
    reversed: frozenset[str]
    pairs: dict[str, str]
    bodies: dict[str, str]
    sides: dict[str, tuple[Pose, Pose]]


def rewritten(a: Merged, b: Merged, found: Matching, T: dict[str, Pose], limits: Tolerances) -> Rewritten:
    """Return the second model in the terms of the first; what has no twin keeps its name, with a mark.

    Parameters
    ----------
    T : dict of str to Pose
        The second frame of each body in its first.
    limits : Tolerances
        Offsets below them are rounding.
    """
    body_name = {there: here for here, there in found.bodies.items()}
    pair_name = {there: here for here, there in found.pairs.items()}
    for body in b.mechanism.bodies:
        body_name.setdefault(body.name, _free(body.name, set(a.mechanism.body_index)))
    for pair in b.mechanism.pairs:
        pair_name.setdefault(pair.name, _free(pair.name, set(a.mechanism.pair_by_name)))
    signs: dict[str, float] = {}
    offsets: dict[str, float] = {}
    turned: set[str] = set()
    sides: dict[str, tuple[Pose, Pose]] = {}
    pairs = []
    for pair in b.mechanism.pairs:
        moved = _carried(pair, body_name, pair_name, T)
        twin = a.mechanism.pair_by_name.get(moved.name) if pair.name in found.pairs.values() else None
        if twin is not None:
            swap = moved.bodies != twin.bodies and moved.bodies == twin.bodies[::-1]
            sides[twin.name] = (moved.X_BS, moved.X_AP) if swap else (moved.X_AP, moved.X_BS)
            moved, sign, offset, swapped = like(twin, moved, limits)
            signs[twin.name], offsets[twin.name] = sign, offset
            if swapped:
                turned.add(twin.name)
        pairs.append(moved)
    order = {pair.name: k for k, pair in enumerate(a.mechanism.pairs)}
    rank = {body.name: k for k, body in enumerate(a.mechanism.bodies)}
    pairs.sort(key=lambda p: order.get(p.name, len(order)))
    bodies = [_body(body, body_name, T) for body in b.mechanism.bodies]
    bodies.sort(key=lambda body: rank.get(body.name, len(rank)))
    taken = {pair.name for pair in pairs}
    mech = Mechanism(
        b.mechanism.name,
        tuple(bodies),
        tuple(pairs),
        couplings=tuple(_coupling(c, pair_name, signs, offsets, taken) for c in b.mechanism.couplings),
        gravity=T[WORLD].R @ b.mechanism.gravity,
    )
    back = {here: there for there, here in pair_name.items()}
    return Rewritten(
        mech, signs, offsets, frozenset(turned), back, {h: t for t, h in body_name.items()}, sides
    )


def _free(name: str, taken: set[str]) -> str:
    return name if name not in taken else f"{name} (second)"


def _body(body: Body, names: dict[str, str], T: dict[str, Pose]) -> Body:
    name = names[body.name]
    X = T.get(name, Pose.identity())
    return Body(name, body.mass, X.apply(body.p_LC), X.R @ body.I_C @ X.R.T)


def _carried(pair: Pair, bodies: dict[str, str], pairs: dict[str, str], T: dict[str, Pose]) -> Pair:
    """Return a pair with the first model's names and link frames."""
    a, b = bodies[pair.body_a], bodies[pair.body_b]
    return replace(
        pair,
        name=pairs[pair.name],
        body_a=a,
        body_b=b,
        X_AP=T.get(a, Pose.identity()) @ pair.X_AP,
        X_BS=T.get(b, Pose.identity()) @ pair.X_BS,
    )


def like(twin: Pair, pair: Pair, limits: Tolerances) -> tuple[Pair, float, float, bool]:
    """Return a pair with the bodies, axis and zero of its twin; also sign, offset and whether it was reversed.

    Offsets below ``limits`` are rounding.
    """
    swapped = pair.bodies != twin.bodies and pair.bodies == twin.bodies[::-1]
    single = pair.type in AXIAL and pair.type != "cylindrical"
    if swapped:
        # the same motion seen from the other body has the opposite sign, and the flipped axis takes it back
        flip = FLIP if pair.type in AXIAL else Pose.identity()
        pair = replace(
            pair, body_a=pair.body_b, body_b=pair.body_a, X_AP=pair.X_BS @ flip, X_BS=pair.X_AP @ flip
        )
    sign = 1.0
    if pair.type in AXIAL and twin.type in AXIAL and pair.X_AP.R[:, 2] @ twin.X_AP.R[:, 2] < 0:
        sign = -1.0
        freedoms = tuple(replace(f, lower=-f.upper, upper=-f.lower) for f in pair.freedoms)
        pair = replace(pair, X_AP=pair.X_AP @ FLIP, X_BS=pair.X_BS @ FLIP, freedoms=freedoms)
    if pair.type == twin.type == "spherical":
        # any orientation is a zero position, and any axes are good for the forces
        return (
            replace(pair, X_AP=Pose(twin.X_AP.R, pair.X_AP.p), X_BS=Pose(twin.X_BS.R, pair.X_BS.p)),
            sign,
            0.0,
            swapped,
        )
    if not (pair.type in AXIAL and twin.type in AXIAL) or _axis(twin) != _axis(pair):
        return pair, sign, 0.0, swapped
    offset = _offset(twin, pair) if single else 0.0
    if abs(offset) > (limits.length if pair.type == "prismatic" else limits.angle):
        freedoms = tuple(shifted(f, offset) for f in pair.freedoms)
        pair = replace(pair, X_AP=pair.X_AP @ along(pair, -offset), freedoms=freedoms)
    else:
        offset = 0.0
    # axes across the joint's and the place along it are free, of a slider also that across: those of the twin
    D = pair.X_AP.inverse() @ twin.X_AP
    X = Pose(turn_about_z(D.R).R, D.p if pair.type == "prismatic" else np.array([0.0, 0.0, D.p[2]]))
    return replace(pair, X_AP=pair.X_AP @ X, X_BS=pair.X_BS @ X), sign, offset, swapped


def _axis(pair: Pair) -> str:
    return "t" if pair.type == "prismatic" else "r"


def along(pair: Pair, value: float) -> Pose:
    """Return the motion of a pair with one freedom by a value, rad or m."""
    if pair.type == "prismatic":
        return Pose(np.eye(3), np.array([0.0, 0.0, value]))
    c, s = np.cos(value), np.sin(value)
    return Pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))


def _offset(twin: Pair, pair: Pair) -> float:
    """Return the coordinate of a pair at which its bodies are where those of its twin are at zero, negated."""
    X = pair.X_AP.inverse() @ twin.X_AP @ twin.X_SB @ pair.X_BS
    if pair.type == "prismatic":
        return -float(X.p[2])
    return -float(np.arctan2(X.R[1, 0] - X.R[0, 1], X.R[0, 0] + X.R[1, 1]))


def shifted(freedom: Freedom, by: float) -> Freedom:
    """Return a freedom whose coordinate counts from elsewhere, rad or m."""
    return replace(freedom, lower=freedom.lower + by, upper=freedom.upper + by)


def _coupling(
    coupling: Coupling,
    names: dict[str, str],
    signs: dict[str, float],
    offsets: dict[str, float],
    taken: set[str],
) -> Coupling:
    """Return a coupling in the first model's coordinates: q_b = sign · (q_a − offset)."""
    terms, right = [], coupling.offset
    for term in coupling.terms:
        name = names[term.joint]
        sign = signs.get(name, 1.0)
        terms.append(Term(name, term.freedom, sign * term.coefficient))
        right += sign * term.coefficient * offsets.get(name, 0.0)
    name = coupling.name if coupling.name not in taken else f"{coupling.name} (second)"
    return Coupling(name, coupling.type, tuple(terms), right)
