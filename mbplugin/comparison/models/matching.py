"""Which bodies and joints of two mechanisms are the same: by name, then by structure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mbplugin.comparison.models.merging import Merged
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.mechanism import WORLD, Pair

_AFFIXES = re.compile(r"^(joint|link|body)_|_(joint|link|body)$")


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
    """Return which names correspond.

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
                    f"the map names {name!r}, which is no link or joint of {model.mechanism.name!r}",
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
    """Return what of a name converters keep: without a model's prefix, case, dashes and usual affixes."""
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
    """Return how little two pairs look like each other, 0 for twins."""
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
