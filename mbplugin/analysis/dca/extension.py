"""Beyond the paper: the null space of G carried through the tree by statics, which decides every joint.

Null multipliers of the ground joints load the assembly without moving it. So each joint of the tree
carries the sum of the wrenches on the bodies beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.dca.handles import Joint
from mbplugin.spatial import Array, shift_rows


@dataclass(frozen=True, eq=False)
class NullReaction:
    """What null loads put on one inner joint.

    Parameters
    ----------
    multipliers : (k, p) array
        Without units; p null loads of unit length.
    size : float
        How large they could be, whatever the directions of the loads.
    """

    multipliers: Array
    size: float

    def components_unique(self, zero: float) -> tuple[bool, ...]:
        """Return which multipliers no null load changes."""
        return tuple(bool(u) for u in np.linalg.norm(self.multipliers, axis=1) <= zero * self.size)

    def dimension(self, zero: float) -> int:
        """Return the dimension of the family of possible reactions."""
        return int((np.linalg.svd(self.multipliers, compute_uv=False) > zero * self.size).sum())


def carry(
    bodies: Sequence[int],
    joints: Sequence[Joint],
    loads: Mapping[str, tuple[int, Array]],
    columns: tuple[int, ...],
) -> dict[str, NullReaction]:
    """Return the null reactions of the inner joints of one assembly.

    Parameters
    ----------
    bodies : sequence of int
        Of the assembly.
    joints : sequence of Joint
        All joints, without units.
    loads : mapping of ground joint to (body, (d, p) array)
        Null wrenches at the handles.
    """
    by_name = {joint.name: joint for joint in joints}
    center = np.mean([by_name[name].point_W for name in loads], axis=0)
    p = next(iter(loads.values()))[1].shape[1]
    force = {body: np.zeros((6, p)) for body in bodies}
    size = dict.fromkeys(bodies, 0.0)
    for name, (body, at_handle) in loads.items():
        wrench = np.zeros((6, p))
        wrench[list(columns)] = at_handle
        force[body] += shift_rows(wrench.T, by_name[name].point_W - center).T
        size[body] += float(np.linalg.norm(at_handle)) * (1.0 + _arm(by_name[name], center))
    out = {}
    for joint, inner, outer in _from_leaves(bodies, joints):
        F = shift_rows(force[outer].T, center - joint.point_W).T[list(columns)]
        # the joint holds the bodies beyond it in balance
        balance = np.linalg.lstsq(joint.sign(outer) * joint.T, -F, rcond=None)[0]
        out[joint.name] = NullReaction(balance, max(size[outer], 1.0) * (1.0 + _arm(joint, center)))
        force[inner] += force[outer]
        size[inner] += size[outer]
    return out


def _arm(joint: Joint, center: Array) -> float:
    return float(np.linalg.norm(joint.point_W - center))


def _from_leaves(bodies: Sequence[int], joints: Sequence[Joint]) -> list[tuple[Joint, int, int]]:
    """Return (joint, inner body, outer body) of the tree's joints, every body after those beyond it."""
    neighbours: dict[int, list[tuple[int, Joint]]] = {body: [] for body in bodies}
    for joint in joints:
        if not joint.grounded and joint.body_a in neighbours:
            neighbours[joint.body_a].append((joint.body_b, joint))
            neighbours[joint.body_b].append((joint.body_a, joint))
    order: list[tuple[Joint, int, int]] = []
    seen = {bodies[0]}
    queue = [bodies[0]]
    for inner in queue:
        for outer, joint in neighbours[inner]:
            if outer not in seen:
                seen.add(outer)
                queue.append(outer)
                order.append((joint, inner, outer))
    return order[::-1]
