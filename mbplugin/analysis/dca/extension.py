"""Beyond the paper: the null space of G carried through the tree by statics, which decides every joint.

Null multipliers of the ground joints load the assembly without moving it. So each joint of the tree
carries the sum of the wrenches on the bodies beyond it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.dca.handles import Joint
from mbplugin.model.mechanism.graph import adjacency, breadth_first
from mbplugin.model.spatial import Array, shift_rows


@dataclass(frozen=True, eq=False)
class NullReaction:
    """What null loads put on one joint.

    Parameters
    ----------
    multipliers : (k, p) array
        Without units; p null loads of unit length.
    zero : (p,) array
        Size below which they are zero, in proportion to what the loads could give in any direction.
    """

    multipliers: Array
    zero: Array

    def beside(self, other: NullReaction) -> NullReaction:
        """Return the reaction to two independent sets of null loads."""
        multipliers = np.hstack((self.multipliers, other.multipliers))
        return NullReaction(multipliers, np.concatenate((self.zero, other.zero)))

    def components_unique(self) -> tuple[bool, ...]:
        """Return which multipliers no null load changes."""
        return tuple(bool(u) for u in np.linalg.norm(self.multipliers / self.zero, axis=1) <= 1.0)

    def dimension(self) -> int:
        """Return the dimension of the family of possible reactions."""
        return int((np.linalg.svd(self.multipliers / self.zero, compute_uv=False) > 1.0).sum())


#: A null load: the body it acts on, the joint at whose handle, and the wrenches (d, p).
Load = tuple[int, Joint, Array]
#: A joint with the body on the near side, and the one beyond it.
Edge = tuple[Joint, int, int]


def carry(
    edges: Sequence[Edge], loads: Sequence[Load], columns: tuple[int, ...], zero: float
) -> dict[str, NullReaction]:
    """Return what null loads put on the joints of a tree.

    Parameters
    ----------
    edges : sequence of (Joint, int, int)
        From the leaves to the root, without units.
    loads : sequence of (int, Joint, (d, p) array)
        On bodies of the tree; one at least.
    columns : tuple of int
        Twist columns of the view.
    zero : float
        Size below which an entry of a unit null load is zero.
    """
    center = np.mean([joint.point_W for _, joint, _ in loads], axis=0)
    force: dict[int, Array] = {}
    size: dict[int, float] = {}

    def load(body: int, wrenches: Array, largest: float) -> None:
        force[body] = force.get(body, 0.0) + wrenches
        size[body] = size.get(body, 0.0) + largest

    for body, joint, at_handle in loads:
        wrenches = np.zeros((6, at_handle.shape[1]))
        wrenches[list(columns)] = at_handle
        about_center = shift_rows(wrenches.T, joint.point_W - center).T
        load(body, about_center, float(np.linalg.norm(at_handle)) * (1.0 + _arm(joint, center)))
    nothing = np.zeros_like(force[loads[0][0]])
    out = {}
    for joint, inner, outer in edges:
        F, largest = force.get(outer, nothing), size.get(outer, 0.0)
        F_handle = shift_rows(F.T, center - joint.point_W).T[list(columns)]
        # the joint holds the bodies beyond it in balance
        solved = np.linalg.lstsq(joint.sign(outer) * joint.T, -F_handle, rcond=None)[0]
        balance = np.asarray(solved, dtype=float)
        bound = zero * max(largest, 1.0) * (1.0 + _arm(joint, center))
        out[joint.name] = NullReaction(balance, np.full(balance.shape[1], bound))
        load(inner, F, largest)
    return out


def _arm(joint: Joint, center: Array) -> float:
    """Return the distance of a joint from ``center`` (3,), m."""
    return float(np.linalg.norm(joint.point_W - center))


def edges_of(bodies: Sequence[int], joints: Sequence[Joint]) -> list[Edge]:
    """Return the joints of the tree of some bodies, from the leaves to the first body."""
    members = set(bodies)
    own = (joint for joint in joints if not joint.grounded and joint.body_a in members)
    neighbours = adjacency(bodies, ((joint.body_a, joint.body_b, joint) for joint in own))
    outwards = breadth_first(neighbours, bodies[0], set())
    return [(joint, inner, outer) for inner, outer, joint in outwards][::-1]
