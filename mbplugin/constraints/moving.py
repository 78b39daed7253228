"""Moving joints of a spanning tree at many poses at once; all other joints become constant offsets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.model import WORLD, BodyPoses, Mechanism, TreeJoint
from mbplugin.model.mechanism.pair import PAIR_TYPES, RowKind, has_quaternion, travel_per_radian
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, Pose, axis_of, cross, is_turn, skew


@dataclass(frozen=True, eq=False)
class Frames:
    """Frames on the outer sides of the moving joints, and motion axes, at K poses; world axes.

    Parameters
    ----------
    X : (K, n + 1, 4, 4) array
        Homogeneous transforms; the last one is the ground, selected by index −1.
    v0, omega : (K, C, 3) array
        Per unit rate: velocity of the moving body's point at the world origin, and angular velocity.
    """

    X: Array
    v0: Array
    omega: Array


@dataclass(frozen=True, eq=False)
class _Kind:
    """The moving joints of one type: their indices among the moving joints, and their coordinates."""

    name: str
    free: tuple[str, ...]
    pitch: Array
    reversed: AnyArray
    nodes: AnyArray
    q: AnyArray
    columns: AnyArray


class MovingTree:
    """A spanning tree of which some joints move; all others keep their coordinates of a given pose.

    Parameters
    ----------
    joints : sequence of int
        Moving joints, as indices among ``mech.tree.joints``.
    poses : BodyPoses
        Body poses from which the fixed joints take their offsets.

    Attributes
    ----------
    rates : (C,) int array
        Indices of the moving rates in qd, in the order of the columns here.
    """

    def __init__(self, mech: Mechanism, joints: Sequence[int], poses: BodyPoses) -> None:
        self.mech, self.poses = mech, poses
        self.joints = [mech.tree.joints[k] for k in sorted(joints)]
        self.node = {joint.outer: k for k, joint in enumerate(self.joints)}
        self._anchors: dict[str, tuple[int, Pose]] = {}
        inner = [self._inner_side(joint) for joint in self.joints]
        self._parent = np.array([parent for parent, _ in inner], dtype=int)
        self._X_in = homogeneous(X for _, X in inner)
        depth: list[int] = []
        for above in self._parent:
            depth.append(0 if above < 0 else depth[above] + 1)
        self._levels: list[AnyArray] = [
            np.flatnonzero(np.array(depth) == d) for d in range(max(depth, default=-1) + 1)
        ]
        sizes = [joint.qd.stop - joint.qd.start for joint in self.joints]
        self.first = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        self.rates = np.array([k for j in self.joints for k in range(j.qd.start, j.qd.stop)], dtype=int)
        self._kinds = self._by_type()

    def anchor(self, body: str) -> tuple[int, Pose]:
        """Return the moving joint (−1: none) that carries a body, and the body's frame relative to its outer side."""
        if body == WORLD:
            return -1, Pose.identity()
        if body not in self._anchors:
            carriers = (joint.outer for joint in self.mech.tree.way_in(body))
            at = next((outer for outer in carriers if outer in self.node), WORLD)
            X_WA = self.poses.of(self.mech.body_index[at])
            X_WB = self.poses.of(self.mech.body_index[body])
            X = X_WA.inverse() @ X_WB if at != body else Pose.identity()
            node = self.node.get(at, -1)
            self._anchors[body] = (node, X if node < 0 else self._outer_body(self.joints[node]) @ X)
        return self._anchors[body]

    def frames(self, Q: Array) -> Frames:
        """Return frames and axes at poses Q (K, nq), whole joint vectors."""
        K, n = len(Q), len(self.joints)
        X_joint = np.zeros((K, n, 4, 4))
        X_joint[..., 3, 3] = 1.0
        for kind in self._kinds:
            R, p = transforms(kind.name, kind.free, kind.pitch, Q[:, kind.q])
            if kind.reversed.any():
                R = np.where(kind.reversed[:, None, None], np.swapaxes(R, -1, -2), R)
                p = np.where(kind.reversed[:, None], -(R @ p[..., None])[..., 0], p)
            X_joint[..., :3, :3][:, kind.nodes], X_joint[..., :3, 3][:, kind.nodes] = R, p
        X_in = np.empty_like(X_joint)
        X = np.empty((K, n + 1, 4, 4))
        X[:, n] = np.eye(4)
        for level in self._levels:
            X_in[:, level] = X[:, self._parent[level]] @ self._X_in[level]
            X[:, level] = X_in[:, level] @ X_joint[:, level]
        return Frames(X, *self._axes(X_in, X))

    def axis_rates(self, frames: Frames, rates: Array) -> tuple[Array, Array]:
        """Return the time derivatives of ``v0`` and ``omega`` (K, C, 3) at rates (K, C) of the moving joints."""
        K, n = len(frames.X), len(self.joints)
        # twists of the outer sides at the world's origin; the last one is the ground
        v, omega = np.zeros((K, n + 1, 3)), np.zeros((K, n + 1, 3))
        for level in self._levels:
            for k in level:
                own = slice(self.first[k], self.first[k + 1])
                parent, step = self._parent[k], rates[:, own, None]
                v[:, k] = v[:, parent] + (frames.v0[:, own] * step).sum(axis=1)
                omega[:, k] = omega[:, parent] + (frames.omega[:, own] * step).sum(axis=1)
        v0_dot, omega_dot = np.zeros_like(frames.v0), np.zeros_like(frames.omega)
        p_in = (frames.X[:, self._parent] @ self._X_in)[..., :3, 3]
        for kind in self._kinds:
            inner, outer, back = self._parent[kind.nodes], kind.nodes, kind.reversed
            on_P, on_S = np.where(back, outer, inner), np.where(back, inner, outer)
            p_S = np.where(back[:, None], p_in[:, outer], frames.X[..., :3, 3][:, outer])
            p_S_dot = v[:, on_S] + cross(omega[:, on_S], p_S)
            for k, component in enumerate(kind.free):
                carried = PAIR_TYPES[kind.name].row_kind(component) is RowKind.CARRIED
                turn = omega[:, on_S if carried else on_P]
                columns = kind.columns[:, k]
                w = frames.omega[:, columns]
                along = frames.v0[:, columns] - cross(p_S, w)
                omega_dot[:, columns] = cross(turn, w)
                v0_dot[:, columns] = (
                    cross(turn, along) + cross(p_S_dot, w) + cross(p_S, omega_dot[:, columns])
                )
        return v0_dot, omega_dot

    def advanced(self, Q: Array, step: Array) -> Array:
        """Return poses Q (K, nq) after a step (K, C) in the moving rates, rad and m."""
        out = np.array(Q)
        for kind in self._kinds:
            out[:, kind.q] = advanced(kind.name, Q[:, kind.q], step[:, kind.columns])
        return out

    def _axes(self, X_in: Array, X_out: Array) -> tuple[Array, Array]:
        """Return velocities at the world origin and angular velocities per unit rate; X_in and X_out (K, n, 4, 4)."""
        v0 = np.zeros((len(X_in), int(self.first[-1]), 3))
        omega = np.zeros_like(v0)
        for kind in self._kinds:
            X_P, X_S = X_in[:, kind.nodes], X_out[:, kind.nodes]
            if kind.reversed.any():
                back = kind.reversed[:, None, None]
                X_P, X_S = np.where(back, X_S, X_P), np.where(back, X_P, X_S)
            v, w = axes(kind.name, kind.free, kind.pitch, X_P[..., :3, :3], X_S[..., :3, :3])
            sign = np.where(kind.reversed, -1.0, 1.0)[:, None, None]
            v0[:, kind.columns] = sign * (v + cross(X_S[..., None, :3, 3], w))
            omega[:, kind.columns] = sign * w
        return v0, omega

    def _inner_side(self, joint: TreeJoint) -> tuple[int, Pose]:
        """Return the moving joint that carries ``joint``, and the inner side of ``joint`` in its outer-side frame."""
        if joint.pair is None:
            return -1, Pose.identity()
        parent, X = self.anchor(joint.inner)
        return parent, X @ (joint.pair.X_BS if joint.reversed else joint.pair.X_AP)

    def _outer_body(self, joint: TreeJoint) -> Pose:
        """Return the outer body's frame relative to the outer side of its joint."""
        if joint.pair is None:
            return Pose(np.eye(3), -self.mech.bodies[self.mech.body_index[joint.outer]].p_LC)
        return joint.pair.X_AP.inverse() if joint.reversed else joint.pair.X_SB

    def _by_type(self) -> list[_Kind]:
        members: dict[str, list[int]] = {}
        for k, joint in enumerate(self.joints):
            members.setdefault("floating" if joint.pair is None else joint.pair.type, []).append(k)
        kinds = []
        for name, nodes in members.items():
            joints = [self.joints[k] for k in nodes]
            pairs = [joint.pair for joint in joints]
            free = COMPONENTS if pairs[0] is None else pairs[0].kind.free
            kinds.append(
                _Kind(
                    name,
                    free,
                    np.array([0.0 if pair is None else travel_per_radian(pair) for pair in pairs]),
                    np.array([joint.reversed for joint in joints], dtype=bool),
                    np.array(nodes),
                    np.array([np.arange(j.q.start, j.q.stop) for j in joints]),
                    np.array([np.arange(self.first[k], self.first[k + 1]) for k in nodes]),
                )
            )
        return kinds


def homogeneous(poses: Iterable[Pose]) -> Array:
    """Return the homogeneous transforms (n, 4, 4) of some poses."""
    found = list(poses)
    X = np.zeros((len(found), 4, 4))
    X[:, 3, 3] = 1.0
    for k, pose in enumerate(found):
        X[k, :3, :3], X[k, :3, 3] = pose.R, pose.p
    return X


# Many joints of one type at many poses at once: X_PS, motion subspaces, steps.
#
# Vectorised counterpart of ``transform`` in ``model.mechanism.pair``, which treats one joint at one pose.


def transforms(kind: str, free: tuple[str, ...], pitch: Array, q: Array) -> tuple[Array, Array]:
    """Return X_PS of joints of one type.

    Parameters
    ----------
    kind : str
        A key of ``PAIR_TYPES``.
    free : tuple of str
        Its freedoms.
    pitch : (n,) array
        Travel per radian of each joint, m/rad.
    q : (K, n, nq) array
        Coordinates, rad and m.

    Returns
    -------
    R : (K, n, 3, 3) array
    p : (K, n, 3) array, m
    """
    p = np.zeros((*q.shape[:2], 3))
    travels = free[: q.shape[2] - 4] if has_quaternion(kind) else free
    R = rotations(q[..., -4:]) if has_quaternion(kind) else None
    for k, component in enumerate(travels):
        axis = axis_of(component)
        if is_turn(component):
            turn = _turns(axis, q[..., k])
            R = turn if R is None else R @ turn
        else:
            p[..., axis] = q[..., k]
    if pitch.any():
        p[..., 2] += pitch * q[..., 0]
    return np.broadcast_to(np.eye(3), (*q.shape[:2], 3, 3)) if R is None else R, p


def axes(kind: str, free: tuple[str, ...], pitch: Array, R_WP: Array, R_WS: Array) -> tuple[Array, Array]:
    """Return velocity of the origin of S and angular velocity per unit rate, (K, n, f, 3), world axes.

    Parameters
    ----------
    pitch : (n,) array
        m/rad.
    R_WP, R_WS : (K, n, 3, 3) array
    """
    v = np.zeros((*R_WP.shape[:2], len(free), 3))
    omega = np.zeros_like(v)
    for k, component in enumerate(free):
        axis = axis_of(component)
        e = (R_WS if PAIR_TYPES[kind].row_kind(component) is RowKind.CARRIED else R_WP)[..., axis]
        (omega if is_turn(component) else v)[:, :, k] = e
    if pitch.any():
        v[:, :, 0] += pitch[:, None] * R_WP[..., 2]
    return v, omega


def advanced(kind: str, q: Array, step: Array) -> Array:
    """Return coordinates q (K, n, nq) of joints of one type after a step (K, n, f) in their rates."""
    if not has_quaternion(kind):
        return np.asarray(q + step)
    half = 0.5 * np.linalg.norm(step[..., -3:], axis=-1, keepdims=True)
    # sin(h)/h, exact at zero as well
    turn = np.concatenate((0.5 * np.sinc(half / np.pi) * step[..., -3:], np.cos(half)), axis=-1)
    turned = _product(turn, q[..., -4:])
    turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
    turned *= np.where(turned[..., -1:] < 0, -1.0, 1.0)
    return np.concatenate((q[..., :-4] + step[..., :-3], turned), axis=-1)


def rotations(xyzw: Array) -> Array:
    """Return the rotations (..., 3, 3) of quaternions xyzw (..., 4), normalised first."""
    xyzw = xyzw / np.linalg.norm(xyzw, axis=-1, keepdims=True)
    K = skew(xyzw[..., :3])
    return np.asarray(np.eye(3) + 2.0 * xyzw[..., 3, None, None] * K + 2.0 * K @ K)


def _turns(axis: int, angle: Array) -> Array:
    """Return rotations (..., 3, 3) about an axis, 0 to 2, by angle (...,), rad."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[..., axis, axis] = 1.0
    R[..., i, i] = R[..., j, j] = c
    R[..., i, j], R[..., j, i] = -s, s
    return R


def _product(a: AnyArray, b: AnyArray) -> Array:
    """Return the product a ∘ b of quaternions a (..., 4) and b (..., 4): rotation b, then rotation a."""
    va, wa, vb, wb = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = wa * vb + wb * va + cross(va, vb)
    return np.concatenate((vector, wa * wb - (va * vb).sum(axis=-1, keepdims=True)), axis=-1)
