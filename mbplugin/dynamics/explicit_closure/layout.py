"""Where coordinates and rates lie: those of the tree, and behind them the freedoms of the cut pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism.joint import measure, zero_coordinates
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array

#: A cut pair has no more freedoms in a plane than these.
PER_CUT = 3


@dataclass(frozen=True, eq=False)
class Layout:
    """Indices into y (coordinates) and yd (rates).

    Parameters
    ----------
    places : dict of pair name to (int, int)
        First coordinate and first rate of each pair; only pairs whose coordinates are the integrals
        of their rates, and cut pairs.
    """

    mech: Mechanism
    places: dict[str, tuple[int, int]]

    @property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return len(self.mech.q_names)

    @property
    def nv(self) -> int:
        """Number of joint rates."""
        return len(self.mech.qd_names)

    @property
    def cut_size(self) -> int:
        """Number of freedoms kept for cut pairs."""
        return PER_CUT * len(self.mech.tree.cut)

    def is_cut(self, name: str) -> bool:
        """Return whether a pair closes a loop."""
        return name not in self.mech.tree.joint_of_pair

    def is_known(self, pair: Pair, known: set[int]) -> bool:
        """Return whether all rates of a pair are among the known ones.

        A cut pair has fewer freedoms in a plane than places; a dyad makes them known together.
        """
        rate = self.places[pair.name][1]
        if self.is_cut(pair.name):
            return not pair.kind.free or not known.isdisjoint(range(rate, rate + PER_CUT))
        return known.issuperset(range(rate, rate + len(pair.kind.free)))

    def coordinates(self, rates: AnyArray) -> AnyArray:
        """Return the indices (m,) of the coordinates of some rates (k,), whole joints where they are not alike."""
        chosen = set(np.asarray(rates).tolist())
        out: list[int] = []
        for joint in self.mech.tree.joints:
            rate, at = range(joint.qd.start, joint.qd.stop), range(joint.q.start, joint.q.stop)
            if len(rate) == len(at):
                out += [q for v, q in zip(rate, at, strict=True) if v in chosen]
            elif chosen & set(rate):
                out += at
        return np.array(sorted(out), dtype=int)


def layout(mech: Mechanism) -> Layout:
    """Return the places of all pairs."""
    places = {
        name: (joint.q.start, joint.qd.start)
        for name, joint in mech.tree.joint_of_pair.items()
        if joint.pair is not None and _plain(joint.pair.type, joint.pair.kind.free)
    }
    for k, pair in enumerate(mech.tree.cut):
        places[pair.name] = (len(mech.q_names) + PER_CUT * k, len(mech.qd_names) + PER_CUT * k)
    return Layout(mech, places)


def _plain(pair_type: str, free: tuple[str, ...]) -> bool:
    return len(zero_coordinates(pair_type, free)) == len(free)


def with_cut(layout: Layout, q: Array) -> Array:
    """Return y (nq + c,) at joint coordinates q (nq,), the c places of cut pairs at zero."""
    return np.concatenate((q, np.zeros(layout.cut_size)))


def measured(layout: Layout, q: Array) -> Array:
    """Return y (nq + c,) at a closed pose q (nq,), with the coordinates of the cut pairs read from body poses.

    Turns that a cut pair leaves free besides its own are counted from this pose on, so they are zero.
    """
    y, poses = with_cut(layout, q), forward(layout.mech, q)
    for pair in layout.mech.tree.cut:
        X_PS, (at, _) = relative_pose(layout.mech, pair, poses), layout.places[pair.name]
        if pair.type in ("cylindrical", "point-on-line"):
            y[at] = X_PS.p[2]
        elif len(own := measure(pair, X_PS)) <= PER_CUT:
            y[at : at + len(own)] = own
    return y
