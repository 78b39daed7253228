"""Which bodies and joints of two mechanisms are the same: by name, then by structure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from mbplugin.errors import UnknownName, suggestion
from mbplugin.model import Array, Freedom, Pair, Pose, adjacency, breadth_first
from mbplugin.model.mechanism import WORLD, Body, Coupling, KnifeEdge, Mechanism, Pfaffian, Term

_AFFIXES = re.compile(r"^(joint|link|body)_|_(joint|link|body)$")
#: Types with one axis, whatever turn about it.
AXIAL = ("revolute", "continuous", "screw", "cylindrical", "prismatic")
#: Half a turn about x: the same axis, downwards.
FLIP = Pose(np.diag([1.0, -1.0, -1.0]), np.zeros(3))


# The second model in the terms of the first: its names, link frames, joint axes and zero positions.


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
    """Return the second model in the terms of the first; elements without a twin keep their name, with a mark.

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
        moved = _rewriting_carried(pair, body_name, pair_name, T)
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


def _rewriting_carried(pair: Pair, bodies: dict[str, str], pairs: dict[str, str], T: dict[str, Pose]) -> Pair:
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


@dataclass(eq=False)
class Matching:
    """Names of the first model and those of the second.

    Parameters
    ----------
    bodies, pairs : dict of str to str
        Of merged bodies, the ground included, and of pairs.
    """

    bodies: dict[str, str] = field(default_factory=dict)
    pairs: dict[str, str] = field(default_factory=dict)

    def body(self, a: str, b: str) -> bool:
        """Match two bodies where both are free; return whether that is new."""
        return _put(self.bodies, a, b)

    def pair(self, a: str, b: str) -> bool:
        """Match two pairs where both are free; return whether that is new."""
        return _put(self.pairs, a, b)


def _put(found: dict[str, str], a: str, b: str) -> bool:
    if a in found or b in found.values():
        return False
    found[a] = b
    return True


def matched(a: Merged, b: Merged, stated: Mapping[str, str]) -> Matching:
    """Return the corresponding names.

    Raises
    ------
    UnknownName
        A stated name that neither a link nor a joint has.
    """
    found = Matching()
    found.body(WORLD, WORLD)
    _stated(a, b, stated, found)
    for key in (str, _plain):
        _by_links(a, b, found, key)
        names_a, names_b = a.mechanism.pair_by_name, b.mechanism.pair_by_name
        for one, other in _same(list(names_a), list(names_b), key):
            found.pair(one, other)
    changed = True
    while changed:
        changed = _across_pairs(a, b, found) or _between_bodies(a, b, found) or _outwards(a, b, found)
        changed = changed or _roots(a, b, found)
    return found


def _stated(a: Merged, b: Merged, stated: Mapping[str, str], found: Matching) -> None:
    for one, other in stated.items():
        for name, model in ((one, a), (other, b)):
            if name not in model.links and name not in model.mechanism.pair_by_name:
                known = [*model.links, *model.mechanism.pair_by_name]
                raise UnknownName(
                    f"the map names {name!r}, which is not a link or joint of {model.mechanism.name!r}",
                    remedy=suggestion(name, known),
                )
        groups = a.group_of(one), b.group_of(other)
        if one in a.mechanism.pair_by_name and other in b.mechanism.pair_by_name:
            found.pair(one, other)
        elif groups[0] is None or groups[1] is None:
            raise UnknownName(f"the map names a link and a joint as one: {one!r} and {other!r}")
        else:
            found.body(groups[0], groups[1])


def _plain(name: str) -> str:
    """Return the part of a name that converters keep: without a model's prefix, case, dashes and usual affixes."""
    name = re.sub(r"[^a-z0-9]+", "_", name.rpartition("/")[2].lower()).strip("_")
    return _AFFIXES.sub("", name)


def _same(one: list[str], other: list[str], key: type[str] | object) -> list[tuple[str, str]]:
    """Return the names that are the same under a key, where it is unique on both sides."""
    assert callable(key)
    keyed = [Counter(key(name) for name in names) for names in (one, other)]
    where = {key(name): name for name in other}
    return [(n, where[key(n)]) for n in one if keyed[0][key(n)] == 1 == keyed[1][key(n)]]


def _by_links(a: Merged, b: Merged, found: Matching, key: object) -> None:
    """Match the groups that share most links, heavier ones first."""
    votes: Counter[tuple[str, str]] = Counter()
    group_a = {link: group for group, links in a.frames.items() for link in links}
    group_b = {link: group for group, links in b.frames.items() for link in links}
    for one, other in _same(list(group_a), list(group_b), key):
        heavy = one in a.links and not a.links[one].massless
        votes[group_a[one], group_b[other]] += 1000 if heavy else 1
    for (one, other), _ in votes.most_common():
        found.body(one, other)


def _across_pairs(a: Merged, b: Merged, found: Matching) -> bool:
    """Match the bodies behind matched pairs."""
    changed = False
    for one, other in list(found.pairs.items()):
        ends_a, ends_b = a.mechanism.pair_by_name[one].bodies, b.mechanism.pair_by_name[other].bodies
        known = [found.bodies.get(name) for name in ends_a]
        swapped = known[0] == ends_b[1] or known[1] == ends_b[0]
        for name, target in zip(ends_a, reversed(ends_b) if swapped else ends_b, strict=True):
            if WORLD not in (name, target):
                changed |= found.body(name, target)
    return changed


def _between_bodies(a: Merged, b: Merged, found: Matching) -> bool:
    """Match pairs between bodies that are matched, those of one type first."""
    changed = False
    for pair in a.mechanism.pairs:
        ends = {found.bodies.get(name) for name in pair.bodies}
        if pair.name in found.pairs or None in ends:
            continue
        free = [p for p in b.mechanism.pairs if set(p.bodies) == ends and p.name not in found.pairs.values()]
        if free:
            best = min(free, key=lambda p: (p.kind.free != pair.kind.free, p.closure != pair.closure))
            changed |= found.pair(pair.name, best.name)
    return changed


def _outwards(a: Merged, b: Merged, found: Matching) -> bool:
    """Match one pair that leads from a matched body to a free one: the most alike, and only if it is alike."""
    best: tuple[float, str, str] | None = None
    for pair in a.mechanism.pairs:
        inner = [name for name in pair.bodies if name in found.bodies]
        if pair.name in found.pairs or len(inner) != 1:
            continue
        for other in b.mechanism.pairs:
            there = [name for name in other.bodies if name in found.bodies.values()]
            if other.name in found.pairs.values() or there != [found.bodies[inner[0]]]:
                continue
            unlike = _unlike(a, b, pair, other, inner[0], there[0])
            if best is None or unlike < best[0]:
                best = (unlike, pair.name, other.name)
    return best is not None and found.pair(best[1], best[2])


def _unlike(a: Merged, b: Merged, pair: Pair, other: Pair, inner: str, there: str) -> float:
    """Return a dissimilarity of two pairs, 0 for twins."""
    outer = [
        m.mechanism.bodies[m.mechanism.body_index[n]]
        for m, n in (
            (a, pair.body_b if pair.body_a == inner else pair.body_a),
            (b, other.body_b if other.body_a == there else other.body_a),
        )
    ]
    heavy = max(outer[0].mass, outer[1].mass)
    places = [(p.X_AP if p.body_a == body else p.X_BS).p for p, body in ((pair, inner), (other, there))]
    size = max(*(float(np.linalg.norm(p)) for p in places), 1e-9)
    return (
        3.0 * (pair.kind.free != other.kind.free)
        + (abs(outer[0].mass - outer[1].mass) / heavy if heavy else 0.0)
        + min(1.0, float(np.linalg.norm(places[0] - places[1])) / size)
    )


def _roots(a: Merged, b: Merged, found: Matching) -> bool:
    """Match the free roots where each model has one left."""
    left = [
        [joint.outer for joint in m.mechanism.tree.joints if joint.pair is None and joint.outer not in taken]
        for m, taken in ((a, set(found.bodies)), (b, set(found.bodies.values())))
    ]
    return len(left[0]) == len(left[1]) == 1 and found.body(left[0][0], left[1][0])


# How far two joint frames on one body differ, in what the type of the joint makes of them.


@dataclass(frozen=True)
class Tolerances:
    """What counts as equal: relative, of lengths m, of centres of mass m, of angles rad."""

    relative: float
    length: float
    center: float
    angle: float


def angle_between(R: Array, S: Array) -> float:
    """Return the angle between two rotations R and S (3, 3), rad."""
    D = R.T @ S
    sine = float(np.linalg.norm(D - D.T)) / np.sqrt(8.0)
    return float(np.arctan2(sine, (np.trace(D) - 1) / 2))


def axis_angle(z: Array, w: Array) -> float:
    """Return the angle between two axes z and w (3,) without their signs, rad."""
    return float(np.arctan2(np.linalg.norm(np.cross(z, w)), abs(z @ w)))


def turn_about_z(R: Array) -> Pose:
    """Return the turn about z that is nearest to a rotation R (3, 3)."""
    angle = np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
    c, s = np.cos(angle), np.sin(angle)
    return Pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))


def side_gap(type: str, X: Pose, Y: Pose) -> tuple[float, float]:
    """Return the distance, m, and the angle, rad, between two joint frames on one body.

    Only what counts for the type: the line of a revolute joint, the direction of a prismatic one, the point of a
    spherical one, both frames of any other.
    """
    between = Y.p - X.p
    if type in ("spherical", "distance"):
        return float(np.linalg.norm(between)), 0.0
    if type in AXIAL:
        z = X.R[:, 2]
        # where a slider is across its axis counts together with its other side
        distance = 0.0 if type == "prismatic" else float(np.linalg.norm(between - (between @ z) * z))
        return distance, axis_angle(z, Y.R[:, 2])
    return float(np.linalg.norm(between)), angle_between(X.R, Y.R)


# A mechanism without fixed links: each rigid group is one body.


@dataclass(frozen=True, eq=False)
class Merged:
    """A mechanism whose rigid groups are bodies, with the links of each.

    Parameters
    ----------
    mechanism : Mechanism
        Its bodies are called as the link of each group that is nearest to the base, and have its frame.
    frames : dict of str to dict of str to Pose
        X_GL of all links L of each group G, that of the ground too.
    links : dict of str to Body
        The links as they were.
    """

    mechanism: Mechanism
    frames: dict[str, dict[str, Pose]]
    links: dict[str, Body]

    def group_of(self, link: str) -> str | None:
        """Return the group of a link, or None."""
        return next((name for name, links in self.frames.items() if link in links), None)


def merged(mech: Mechanism) -> Merged:
    """Return a mechanism with fixed links merged; of fixed pairs that close loops, those of split bodies."""
    fixed = [
        pair for pair in mech.pairs if pair.type == "fixed" and (not pair.closure or _is_split(*pair.bodies))
    ]
    nodes = (WORLD, *(body.name for body in mech.bodies))
    neighbours = adjacency(nodes, ((*pair.bodies, pair) for pair in fixed))
    seen: set[str] = set()
    frames: dict[str, dict[str, Pose]] = {}
    group: dict[str, str] = {}
    for root in _merging_outwards(mech):
        if root in seen:
            continue
        frames[root] = {root: Pose.identity()}
        for inner, outer, pair in breadth_first(neighbours, root, seen):
            X = pair.X_AP @ pair.X_SB
            frames[root][outer] = frames[root][inner] @ (X if pair.body_a == inner else X.inverse())
        group.update(dict.fromkeys(frames[root], root))
    links = {body.name: body for body in mech.bodies}
    bodies = tuple(
        combined(name, [(links[link], X) for link, X in frames[name].items()])
        for name in frames
        if name != WORLD
    )
    tied = {id(pair) for pair in fixed}
    pairs = tuple(
        _moved(p, group, frames)
        for p in mech.pairs
        if id(p) not in tied and group[p.body_a] != group[p.body_b]
    )
    left = {pair.name for pair in pairs}
    lean = Mechanism(
        mech.name,
        bodies,
        pairs,
        couplings=tuple(c for c in mech.couplings if all(t.joint in left for t in c.terms)),
        drivers=tuple(d for d in mech.drivers if d.joint in left),
        locks=tuple(lock for lock in mech.locks if lock.joint in left),
        pfaffians=tuple(_carried(p, group, frames) for p in mech.pfaffians if group[p.body] != WORLD),
        gravity=mech.gravity,
    )
    return Merged(lean, frames, links)


def _is_split(one: str, other: str) -> bool:
    """Whether two bodies are the parts into which ``close`` splits a body to close a loop by their weld."""
    short, long = sorted((one, other), key=len)
    return long.startswith(f"{short}_at_")


def _merging_outwards(mech: Mechanism) -> Iterable[str]:
    """Yield the ground and all bodies, inner ones first."""
    yield WORLD
    yield from (joint.outer for joint in mech.tree.joints)


def _moved(pair: Pair, group: dict[str, str], frames: dict[str, dict[str, Pose]]) -> Pair:
    a, b = group[pair.body_a], group[pair.body_b]
    return replace(
        pair,
        body_a=a,
        body_b=b,
        X_AP=frames[a][pair.body_a] @ pair.X_AP,
        X_BS=frames[b][pair.body_b] @ pair.X_BS,
    )


def _carried(pfaffian: Pfaffian, group: dict[str, str], frames: dict[str, dict[str, Pose]]) -> Pfaffian:
    owner = group[pfaffian.body]
    X = frames[owner][pfaffian.body]
    if isinstance(pfaffian, KnifeEdge):
        return replace(
            pfaffian, body=owner, point=X.apply(pfaffian.point), direction=X.R @ pfaffian.direction
        )
    return replace(pfaffian, body=owner, center=X.apply(pfaffian.center), axis=X.R @ pfaffian.axis)


def combined(name: str, parts: Iterable[tuple[Body, Pose]]) -> Body:
    """Return one body of several, each with the pose of its link frame in the new one's."""
    parts = [(body, X) for body, X in parts if not body.massless]
    mass = sum(body.mass for body, _ in parts)
    if not parts:
        return Body(name)
    centers = [X.apply(body.p_LC) for body, X in parts]
    weights = [body.mass for body, _ in parts]
    p_LC = np.average(centers, axis=0, weights=weights) if mass else np.mean(centers, axis=0)
    inertia = np.zeros((3, 3))
    for (body, X), center in zip(parts, centers, strict=True):
        inertia += X.R @ body.I_C @ X.R.T + about(body.mass, center - p_LC)
    return Body(name, mass, np.asarray(p_LC), inertia)


def about(mass: float, arm: Array) -> Array:
    """Return the inertia (3, 3) of a point mass, kg, at an arm (3,), m."""
    return np.asarray(mass * (arm @ arm * np.eye(3) - np.outer(arm, arm)))
