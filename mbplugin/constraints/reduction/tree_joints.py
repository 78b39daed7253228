"""The tree of a block: the freedoms of each tree joint, and the wrench that its pair transmits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.reduction.scaling import BlockFrame
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import SpanningTree, TreeJoint
from mbplugin.model.spatial import ROTATION, Array, shift_rows
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True, eq=False)
class TreeJointRows:
    """One tree joint of a block, in the block's dimensionless frame.

    Parameters
    ----------
    inner, outer : str
        The bodies it joins, ``inner`` nearer to the root.
    depth : int
        Number of joints from the root to ``outer``.
    rates : slice
        Its columns of J.
    local : (6, f) array
        Orthonormal motion axes at its own point.
    rows : Rows or None
        Its pair's rows; None where a root floats.
    arm : (3,) array
        From its own point to the block's, in characteristic lengths.
    own : (k, 6) array
        The rows on a twist of ``outer`` at its own point.
    """

    inner: str
    outer: str
    depth: int
    rates: slice
    local: Array
    rows: Rows | None
    arm: Array
    own: Array


def block_links(
    mech: Mechanism,
    poses: BodyPoses,
    tree: SpanningTree,
    rows: Mapping[str, Rows],
    frame: BlockFrame,
    grounded: bool,
) -> tuple[TreeJointRows, ...]:
    """Return the tree joints of a block, outwards; their axes are what their rows leave free."""
    at = [_place(mech, poses, joint) for joint in tree.joints]
    W = _own_rows(mech, poses, tree, rows, frame, at)
    free = _free_twists(W, frame.mask)
    arms = [(frame.point - point) / frame.length for point in at]
    links: list[TreeJointRows] = []
    depth: dict[str, int] = {}
    rates, reference_chosen = 0, grounded
    for k, joint in enumerate(tree.joints):
        local = free[k]
        if joint.pair is None and not reference_chosen:
            # without the ground the first root is the reference: no row sees the block move as one
            reference_chosen, local = True, np.zeros((6, 0))
        depth[joint.outer] = depth.get(joint.inner, 0) + 1
        slot = slice(rates, rates + local.shape[1])
        rates = slot.stop
        own = None if joint.pair is None else rows[joint.pair.name]
        links.append(
            TreeJointRows(joint.inner, joint.outer, depth[joint.outer], slot, local, own, arms[k], W[k])
        )
    return tuple(links)


def balancing(links: Sequence[TreeJointRows]) -> list[Array]:
    """Return what takes a wrench on each ``outer``, about the block's point, to the multipliers that balance it.

    One matrix (k, 6) per joint.
    """
    own = [link.own for link in links]
    carries = _by_shape(own, lambda stack: np.asarray(-np.linalg.pinv(np.swapaxes(stack, 1, 2)), dtype=float))
    arms = np.array([link.arm for link in links]).reshape(-1, 1, 3)
    shifts = shift_rows(np.broadcast_to(np.eye(6), (len(links), 6, 6)), arms)
    groups: dict[int, list[int]] = defaultdict(list)
    for k, matrix in enumerate(carries):
        groups[len(matrix)].append(k)
    out = list(carries)
    for members in groups.values():
        stack = np.array([carries[k] for k in members]) @ np.swapaxes(shifts[members], 1, 2)
        for k, matrix in zip(members, stack, strict=True):
            out[k] = matrix
    return out


def _place(mech: Mechanism, poses: BodyPoses, joint: TreeJoint) -> Array:
    """Return the point (3,) of a joint, m: the origin of S, or the centre of mass of a floating root."""
    if joint.pair is None:
        return np.asarray(poses.p_WC[mech.body_index[joint.outer]])
    return poses.of(mech.body_index[joint.pair.body_b]).apply(joint.pair.X_BS.p)


def _own_rows(
    mech: Mechanism,
    poses: BodyPoses,
    tree: SpanningTree,
    rows: Mapping[str, Rows],
    frame: BlockFrame,
    at: Sequence[Array],
) -> list[Array]:
    """Return each joint's rows (k, 6) on its outer body, about its own point; none where it floats."""
    out: list[Array] = [np.zeros((0, 6))] * len(at)
    paired = [k for k, joint in enumerate(tree.joints) if joint.pair is not None]
    items = []
    for k in paired:
        joint = tree.joints[k]
        assert joint.pair is not None
        body, own = mech.body_index[joint.outer], rows[joint.pair.name]
        items.append((own, next(e for b, e in own.entries if b == body), poses.p_WC[body], at[k]))
    for k, W in zip(paired, frame.rows_at_all(items), strict=True):
        out[k] = W
    return out


def _free_twists(W: list[Array], mask: Array) -> list[Array]:
    """Return orthonormal bases (6, f) of the twists that independent rows leave free; ``mask`` (6,).

    Their columns are pure translations and pure rotations where there are any.
    """
    inside = mask > 0

    def null_space(stack: Array) -> Array:
        rank = stack.shape[1]
        if rank:
            Vt = np.linalg.svd(stack[:, :, inside])[2]
        else:
            Vt = np.broadcast_to(np.eye(int(inside.sum())), (len(stack), *[int(inside.sum())] * 2))
        free = np.zeros((len(stack), 6, Vt.shape[1] - rank))
        free[:, inside] = np.swapaxes(Vt[:, rank:], 1, 2)
        if free.shape[2] < 2:
            return free
        return np.asarray(free @ np.swapaxes(np.linalg.svd(free[:, ROTATION])[2], 1, 2), dtype=float)

    return _by_shape(W, null_space)


def _by_shape(matrices: list[Array], function: Callable[[Array], Array]) -> list[Array]:
    """Apply a function to stacks of equally shaped matrices and return its results in order."""
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for k, matrix in enumerate(matrices):
        groups[matrix.shape].append(k)
    out: list[Array] = [np.zeros(0)] * len(matrices)
    for members in groups.values():
        results = function(np.array([matrices[k] for k in members]))
        for k, result in zip(members, results, strict=True):
            out[k] = result
    return out
