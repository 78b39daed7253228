"""Substitute bodies: what the known joints freeze together, and the small loops between them.

blajer1993 §2: with the known coordinates held, the bodies that their joints join are one body. A dyad is
then a loop of three unknown joints between substitute bodies, whatever loops the tree was cut in.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mbplugin.dynamics.explicit_closure.cycles import Cycle
from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.dynamics.explicit_closure.planar.recognise import may_be_planar
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.graph import adjacency, breadth_first
from mbplugin.model.mechanism.pair import Pair


class SubstituteBodies:
    """The bodies of a mechanism, frozen together where joints are known.

    Parameters
    ----------
    known : set of int
        Rates of the tree, and of the cut pairs behind them.
    """

    def __init__(self, layout: Layout, known: set[int]) -> None:
        bodies = (WORLD, *(body.name for body in layout.mech.bodies))
        planar = [pair for pair in layout.mech.pairs if may_be_planar(layout, pair)]
        frozen = [pair for pair in planar if layout.is_known(pair, known)]
        self._open = [pair for pair in planar if not layout.is_known(pair, known)]
        neighbours = adjacency(bodies, ((*pair.bodies, pair) for pair in frozen))
        # the tree of each substitute body: the way of every body to the one it is named after
        self._towards: dict[str, tuple[str, Pair] | None] = {}
        self._whole: dict[str, str] = {}
        seen: set[str] = set()
        for root in bodies:
            if root in seen:
                continue
            self._towards[root], self._whole[root] = None, root
            for here, there, pair in breadth_first(neighbours, root, seen):
                self._towards[there], self._whole[there] = (here, pair), root

    def loops(self) -> Iterator[Cycle]:
        """Yield the loops round one, two or three open pairs, with the frozen ones on their way."""
        between: dict[frozenset[str], list[Pair]] = {}
        beside: dict[str, set[str]] = {}
        for pair in self._open:
            a, b = self._whole[pair.body_a], self._whole[pair.body_b]
            between.setdefault(frozenset((a, b)), []).append(pair)
            beside.setdefault(a, set()).add(b)
            beside.setdefault(b, set()).add(a)
        for number, pair in enumerate(self._open):
            a, b = self._whole[pair.body_a], self._whole[pair.body_b]
            if a == b:
                yield self._cycle(pair)
                continue
            later = self._open[number + 1 :]
            yield from (self._cycle(pair, p) for p in between[frozenset((a, b))] if p in later)
            for c in beside[a] & beside[b] - {a, b}:
                for p in between[frozenset((a, c))]:
                    yield from (
                        self._cycle(pair, p, r)
                        for r in between[frozenset((b, c))]
                        if p in later and r in later
                    )

    def _cycle(self, *pairs: Pair) -> Cycle:
        """Return the names round a loop: what lies between the ends of open pairs cancels in twos."""
        ends = chain.from_iterable(pair.bodies for pair in pairs)
        cycle = frozenset(pair.name for pair in pairs)
        for end in ends:
            cycle ^= self._way(end)
        return cycle

    def _way(self, body: str) -> Cycle:
        names = []
        while (step := self._towards[body]) is not None:
            body, pair = step
            names.append(pair.name)
        return frozenset(names)
