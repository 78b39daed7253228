"""A mechanism without fixed links: each rigid group is one body."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.model.mechanism import WORLD, Body, KnifeEdge, Mechanism, Pair, Pfaffian
from mbplugin.model.mechanism.graph import adjacency, breadth_first
from mbplugin.model.spatial import Array, Pose


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
    for root in _outwards(mech):
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


def _outwards(mech: Mechanism) -> Iterable[str]:
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
