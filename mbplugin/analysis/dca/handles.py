"""Handles: the points at which joints act on a body, and the subspaces of transmitted forces and freedoms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mbplugin.constraints.reduction.scaling import row_scale
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, shift_rows


@dataclass(frozen=True, eq=False)
class Joint:
    """A pair as the divide-and-conquer algorithm sees it: one handle on each of its bodies.

    Both handles lie at the origin of the successor frame, in world axes. A vector has d = 6 entries
    in space and 3 in a plane.

    Parameters
    ----------
    body_a, body_b : int
        Predecessor and successor; −1 is the ground, bodies welded to it included.
    support : int
        The welded body on the side of the ground; −1 where that is the world, or no side is ground.
    components : tuple of str
        Labels of its k multipliers.
    point_W : (3,) array
        The handles.
    T : (d, k) array
        Wrench on the successor at the handle per multiplier (pekal2024 (18)).
    unit : (k,) array
        A multiplier in N or N·m is ``unit`` times its value here, up to a factor common to all.
    """

    name: str
    body_a: int
    body_b: int
    support: int
    components: tuple[str, ...]
    point_W: Array
    T: Array
    unit: Array

    @cached_property
    def S(self) -> Array:
        """Motion subspace, orthogonal to T (pekal2024 (19)), (d, d − k)."""
        # the left singular vectors beyond those of T span what T does no work on
        return np.asarray(np.linalg.svd(self.T)[0][:, self.T.shape[1] :])

    @property
    def grounded(self) -> bool:
        """Whether it ties a body to the ground."""
        return self.body_a < 0 or self.body_b < 0

    @property
    def moving(self) -> tuple[int, ...]:
        """Its bodies that are not ground."""
        return tuple(body for body in (self.body_a, self.body_b) if body >= 0)

    @property
    def touched(self) -> tuple[int, ...]:
        """All bodies that its reaction loads, those welded to the ground included."""
        return (*self.moving, self.support) if self.support >= 0 else self.moving

    def sign(self, body: int) -> float:
        """Return +1 for the successor, on which the multipliers act, and −1 for the predecessor."""
        return 1.0 if body == self.body_b else -1.0


def joint_handles(
    mech: Mechanism,
    poses: BodyPoses,
    rows: Sequence[Rows],
    columns: tuple[int, ...],
    length: float,
    welded: Mapping[str, int],
) -> tuple[Joint, ...]:
    """Return the joints of all pairs that constrain anything, in file order; welds keep their bodies.

    Parameters
    ----------
    rows : sequence of Rows
        Of the pairs, in the view of the analysis.
    columns : tuple of int
        Twist columns of that view.
    length : float
        All lengths are divided by it; 1 leaves SI units.
    welded : mapping of pair name to int
        Fixed pairs that make a body part of the ground.
    """
    ground = frozenset(welded.values())
    joints = (
        _joint(mech, poses, mech.pair_by_name[r.constraint], r, columns, length) for r in rows if r.components
    )
    return tuple(joint if joint.name in welded else _on_ground(joint, ground) for joint in joints)


def _on_ground(joint: Joint, ground: frozenset[int]) -> Joint:
    """Return the joint with bodies that are welded to the ground counted as ground."""
    support = next((body for body in (joint.body_a, joint.body_b) if body in ground), -1)
    if support < 0:
        return joint
    a, b = (-1 if body in ground else body for body in (joint.body_a, joint.body_b))
    return replace(joint, body_a=a, body_b=b, support=support)


def _joint(
    mech: Mechanism, poses: BodyPoses, pair: Pair, rows: Rows, columns: tuple[int, ...], length: float
) -> Joint:
    body_a, body_b = mech.body_index[pair.body_a], mech.body_index[pair.body_b]
    point = poses.of(body_b).apply(pair.X_BS.p)
    # the rows act on the relative twist, so either body's entry tells them; the ground has none
    body, entry = rows.entries[0]
    sign = 1.0 if body == body_b else -1.0
    unit = row_scale(rows, length)
    sized = sign * shift_rows(entry, poses.p_WC[body] - point)
    sized = sized * np.array([length] * 3 + [1.0] * 3) * unit[:, None]
    T = sized[:, list(columns)].T
    return Joint(pair.name, body_a, body_b, -1, rows.components, point / length, T, unit)


def handles_of_bodies(bodies: int, joints: Sequence[Joint]) -> tuple[tuple[str, ...], ...]:
    """Return the names of the joints at the nonempty handles of every body, in file order."""
    handles: list[list[str]] = [[] for _ in range(bodies)]
    for joint in joints:
        for body in joint.touched:
            handles[body].append(joint.name)
    return tuple(tuple(names) for names in handles)
