"""Watch a running simulation: which forces are determined, and whether the engine's numbers are possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.reduction import characteristic_length
from mbplugin.constraints.rows import all_rows
from mbplugin.errors import BrokenModel
from mbplugin.joint_reactions import named_lock
from mbplugin.model import BodyPoses, Coupling, Mechanism, Pair, RowLabel, Scene, coordinates_of
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, axis_of, cross, is_turn
from mbplugin.phrases import names_of

#: Rates up to which their products are left out, m/s and rad/s.
_CREEPS = 1e-2


@dataclass(frozen=True, eq=False)
class Structure:
    """Tree, joint axes and rows of a mechanism, by joint rate (nv), body (N), tree pair (k) and row.

    Parameters
    ----------
    mech : Mechanism
        With its closures and couplings.
    tree : Mechanism
        The same without closures and couplings; its rates are those of all arrays.
    hold : (nv,) array of bool, or None
        Rates of the joints that the caller names as held; None: those whose drive gives a force.
    tolerance : float
        Relative rank tolerance.
    inner, outer : (nv,) array of int
        Bodies that a joint rate joins; the ground is −1.
    axis : (nv, 3) array
        Direction in the link frame of ``inner``, in that of the world for a free base.
    point : (nv, 3) array
        A point of the axis in the link frame of ``outer``, m.
    turn : (nv,) array of bool
        Whether a rate is in rad/s, otherwise in m/s.
    free : (nv,) array of bool
        Whether it is a rate of a free base.
    moved : (N + 1, nv) array
        One where a rate moves a body; the last row is the ground.
    outside : (N + 1, k) array
        One where a body lies outwards of a tree pair.
    root : (N + 1,) array of int
        Number of the tree of a body; that of the ground is −1.
    mass, centre, inertia : (N,), (N, 3), (N, 3, 3) array
        kg, m in link frames, kg·m² about the centres of mass.
    pairs, closures : PairFrames
        Tree pairs, and pairs that close loops.
    labels : tuple of RowLabel
        Of the rows of closures and couplings.
    freedom : tuple of (str, str)
        Joint, or body with a free base, and component of each rate.
    lower, upper, effort, damping : (nv,) array
        Limits of the joints and their viscous damping; infinite if there are none.
    """

    mech: Mechanism
    tree: Mechanism
    hold: AnyArray | None
    tolerance: float
    inner: AnyArray
    outer: AnyArray
    axis: Array
    point: Array
    turn: AnyArray
    free: AnyArray
    moved: Array
    outside: Array
    root: AnyArray
    mass: Array
    centre: Array
    inertia: Array
    pairs: PairFrames
    closures: PairFrames
    labels: tuple[RowLabel, ...]
    freedom: tuple[tuple[str, str], ...]
    rate_labels: tuple[str, ...]
    lower: Array
    upper: Array
    effort: Array
    damping: Array

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """The gears."""
        return self.mech.couplings

    def weight(self, gravity: Array) -> float:
        """Return the weight of all bodies that move, N, under gravity (3,), m/s²."""
        return self._moving * float(np.sqrt(gravity @ gravity))

    @cached_property
    def _moving(self) -> float:
        return float(self.mass[self.moved[:-1].any(axis=1)].sum())


@dataclass(frozen=True, eq=False)
class PairFrames:
    """Frames and rows of some pairs.

    Parameters
    ----------
    pairs : tuple of Pair
    a, b : (k,) array of int
        Predecessor and successor; the ground is −1.
    R_AP, R_BS : (k, 3, 3) array
    p_AP, p_BS : (k, 3) array
        m.
    of_row : (m,) array of int
        The pair of each row.
    axis : (m,) array of int
        The axis of P of each row.
    turn : (m,) array of bool
        Whether a row is a moment.
    """

    pairs: tuple[Pair, ...]
    a: AnyArray
    b: AnyArray
    R_AP: Array
    R_BS: Array
    p_AP: Array
    p_BS: Array
    of_row: AnyArray
    axis: AnyArray
    turn: AnyArray

    @classmethod
    def of(cls, pairs: Sequence[Pair], index: dict[str, int]) -> PairFrames:
        """Return the frames and rows of pairs whose bodies have the numbers of ``index``."""
        rows = [(k, name) for k, pair in enumerate(pairs) for name in pair.kind.constrained]
        return cls(
            tuple(pairs),
            np.array([index[pair.body_a] for pair in pairs], dtype=int),
            np.array([index[pair.body_b] for pair in pairs], dtype=int),
            np.array([pair.X_AP.R for pair in pairs]).reshape(-1, 3, 3),
            np.array([pair.X_BS.R for pair in pairs]).reshape(-1, 3, 3),
            np.array([pair.X_AP.p for pair in pairs]).reshape(-1, 3),
            np.array([pair.X_BS.p for pair in pairs]).reshape(-1, 3),
            np.array([k for k, _ in rows], dtype=int),
            np.array([axis_of(name) for _, name in rows], dtype=int),
            np.array([is_turn(name) for _, name in rows], dtype=bool),
        )

    @property
    def labels(self) -> tuple[RowLabel, ...]:
        """Label of each row."""
        return tuple(RowLabel(pair.name, name) for pair in self.pairs for name in pair.kind.constrained)


def structure_of(
    scene: Scene, hold: Iterable[str] | None = None, tolerance: float = DEFAULT_TOLERANCE
) -> Structure:
    """Return the structure of a simulation that was read as a scene.

    Parameters
    ----------
    hold : iterable of str, optional
        Joints that drives hold; by default those whose drive gives a force.
    tolerance : float
        Relative rank tolerance.

    Raises
    ------
    BrokenModel
        It has pairs that no engine has, such as universal joints.
    UnknownName
        A held joint does not exist.
    """
    mech = scene.mechanism
    tree = replace(mech, pairs=tuple(p for p in mech.pairs if not p.closure), couplings=())
    for pair in tree.pairs:
        if not set(pair.kind.free) <= set(COMPONENTS) or pair.type in ("screw", "universal"):
            raise BrokenModel(f"joint {pair.name!r} is a {pair.type} pair, which cannot be watched")
    columns = _columns(tree)
    index = tree.body_index
    closures = PairFrames.of([pair for pair in mech.pairs if pair.closure], index)
    freedom = tuple(
        (joint.pair.name, name) if joint.pair else (joint.outer, name)
        for joint in sorted(tree.tree.joints, key=lambda joint: joint.qd.start)
        for name in (joint.pair.kind.free if joint.pair else COMPONENTS)
    )
    return Structure(
        mech,
        tree,
        _held(mech, hold, freedom),
        tolerance,
        mass=np.array([body.mass for body in mech.bodies]),
        centre=np.array([body.p_LC for body in mech.bodies]).reshape(-1, 3),
        inertia=np.array([body.I_C for body in mech.bodies]).reshape(-1, 3, 3),
        pairs=PairFrames.of([joint.pair for joint in tree.tree.joints if joint.pair], index),
        closures=closures,
        labels=(*closures.labels, *(RowLabel(c.name, "c") for c in mech.couplings)),
        freedom=freedom,
        **columns,
    )


def _held(mech: Mechanism, hold: Iterable[str] | None, freedom: Sequence[tuple[str, str]]) -> AnyArray | None:
    """Return flags (nv,) of the rates of the named joints; None if none are named."""
    if hold is None:
        return None
    locks = [named_lock(mech, name) for name in names_of(hold)]
    wanted = {
        (lock.joint, c) for lock in locks for c in lock.freedoms or mech.pair_by_name[lock.joint].kind.free
    }
    return np.array([own in wanted for own in freedom], dtype=bool)


def _columns(tree: Mechanism) -> dict[str, Any]:
    """Return the arrays of a structure by joint rate: free bases first, then the pairs, as in the mechanism."""
    index, n, nv = tree.body_index, len(tree.bodies), len(tree.qd_names)
    inner, outer = np.zeros(nv, dtype=int), np.zeros(nv, dtype=int)
    axis, point = np.zeros((nv, 3)), np.zeros((nv, 3))
    turn, free = np.zeros(nv, dtype=bool), np.zeros(nv, dtype=bool)
    lower, upper, effort = np.full(nv, -np.inf), np.full(nv, np.inf), np.full(nv, np.inf)
    damping = np.zeros(nv)
    joints = [joint for joint in tree.tree.joints if joint.pair]
    moved, outside = np.zeros((n + 1, nv)), np.zeros((n + 1, len(joints)))
    root = np.full(n + 1, -1)
    k = 0
    for joint in tree.tree.joints:
        if joint.reversed:
            raise BrokenModel(f"the joint of {joint.outer!r} leads inwards, which cannot be watched")
        i, o = index[joint.inner], index[joint.outer]
        moved[o], outside[o] = moved[i], outside[i]
        root[o] = o if i < 0 else root[i]
        moved[o, joint.qd] = 1.0
        inner[joint.qd], outer[joint.qd] = i, o
        if joint.pair is None:
            axis[joint.qd], point[joint.qd] = np.tile(np.eye(3), (2, 1)), tree.bodies[o].p_LC
            turn[joint.qd], free[joint.qd] = [False] * 3 + [True] * 3, True
            continue
        outside[o, k] = 1.0
        k += 1
        pair = joint.pair
        for column, name in zip(range(joint.qd.start, joint.qd.stop), pair.kind.free, strict=True):
            axis[column], point[column] = pair.X_AP.R[:, axis_of(name)], pair.X_BS.p
            turn[column] = is_turn(name)
        if len(pair.freedoms) == 1:
            own = pair.freedoms[0]
            lower[joint.qd], upper[joint.qd], effort[joint.qd] = own.lower, own.upper, own.effort
            damping[joint.qd] = own.damping
    return {
        "inner": inner, "outer": outer, "axis": axis, "point": point, "turn": turn, "free": free, "moved": moved,
        "outside": outside, "root": root, "lower": lower, "upper": upper, "effort": effort,
        "damping": damping,
        "rate_labels": tree.qd_names,
    }  # fmt: skip


def length_of(structure: Structure, mech: Mechanism, poses: BodyPoses) -> float:
    """Return the characteristic length of a mechanism with the contacts of a moment, m."""
    return characteristic_length(all_rows(mech, poses, coordinates_of(mech, poses)), poses.p_WC, mech)


@dataclass(frozen=True, eq=False)
class Geometry:
    """Axes and frames of a structure at body poses, in world axes.

    Parameters
    ----------
    poses : BodyPoses
    S : (nv, 6) array
        Twist of each joint rate.
    measure : (nv, 6) array
        Its product with the relative twist of the bodies of a joint is the rate.
    direction, point : (nv, 3) array
    inertia : (N, 3, 3) array
        About the centres of mass, kg·m².
    R_PC, R_SC, p_PC, p_SC : (c, 3, 3), (c, 3) array
        Axes and origins of P and S of the closures.
    pairs : PairFrames
        The tree pairs.
    """

    poses: BodyPoses
    S: Array
    measure: Array
    direction: Array
    point: Array
    inertia: Array
    R_PC: Array
    R_SC: Array
    p_PC: Array
    p_SC: Array
    pairs: PairFrames

    @cached_property
    def R_P(self) -> Array:
        """Axes (k, 3, 3) of P of the tree pairs."""
        R = np.concatenate((self.poses.R_WL, np.eye(3)[None]))
        return np.asarray(R[self.pairs.a] @ self.pairs.R_AP)

    @cached_property
    def p_S(self) -> Array:
        """Origins (k, 3) of S of the tree pairs, m."""
        own = self.pairs
        return np.asarray(self.poses.p_WL[own.b] + (self.poses.R_WL[own.b] @ own.p_BS[:, :, None])[:, :, 0])


def geometry_of(s: Structure, closures: PairFrames, R_WL: Array, p_WL: Array) -> Geometry:
    """Return the geometry at link poses R_WL (N, 3, 3) and p_WL (N, 3); ``closures`` may have moved frames."""
    # the last row is the ground, which has the index −1
    R = np.concatenate((R_WL, np.eye(3)[None]))
    p = np.concatenate((p_WL, np.zeros((1, 3))))
    p_WC = p_WL + (R_WL @ s.centre[:, :, None])[:, :, 0]
    e = (R[s.inner] @ s.axis[:, :, None])[:, :, 0]
    at = p[s.outer] + (R[s.outer] @ s.point[:, :, None])[:, :, 0]
    arm = cross(at, e)
    S, measure = np.zeros((len(e), 6)), np.zeros((len(e), 6))
    turn = s.turn[:, None]
    S[:, :3], S[:, 3:] = np.where(turn, arm, e), np.where(turn, e, 0.0)
    measure[:, :3], measure[:, 3:] = np.where(turn, 0.0, e), np.where(turn, e, arm)
    inertia = R_WL @ s.inertia @ R_WL.transpose(0, 2, 1)
    own = closures
    return Geometry(
        BodyPoses(R_WL, p_WL, p_WC),
        S,
        measure,
        e,
        at,
        inertia,
        R[own.a] @ own.R_AP,
        R[own.b] @ own.R_BS,
        p[own.a] + (R[own.a] @ own.p_AP[:, :, None])[:, :, 0],
        p[own.b] + (R[own.b] @ own.p_BS[:, :, None])[:, :, 0],
        s.pairs,
    )


def rates_of(s: Structure, g: Geometry, twists: Array) -> Array:
    """Return the joint rates (nv,) of twists (N, 6) at the centres of mass."""
    V = np.zeros((len(twists) + 1, 6))
    V[:-1] = at_origin(g, twists)
    return np.asarray(np.einsum("ij,ij->i", g.measure, V[s.outer] - V[s.inner]))


def at_origin(g: Geometry, twists: Array) -> Array:
    """Return twists (N, 6) at the centres of mass as twists (N, 6) at the origin."""
    out = twists.copy()
    out[:, :3] += cross(g.poses.p_WC, twists[:, 3:])
    return np.asarray(out)


def wrenches_of_motion(
    s: Structure, g: Geometry, twists: Array, rates: Array, accelerations: Array, gravity: Array
) -> Array:
    """Return the wrench (N, 6) that each body needs for its motion, besides its weight, at the origin.

    Parameters
    ----------
    twists : (N, 6) array
        At the centres of mass.
    rates, accelerations : (nv,) array
    gravity : (3,) array
    """
    C, v, omega = g.poses.p_WC, twists[:, :3], twists[:, 3:]
    zero = np.zeros((1, 3))
    J, relative = g.inertia, g.S * accelerations[:, None]
    # products of rates of a robot that creeps are nothing beside gravity
    moving = max(float(np.abs(twists).max(initial=0.0)), float(np.abs(rates).max(initial=0.0))) > _CREEPS
    if moving:
        omega_all = np.concatenate((omega, zero))
        # the point of a joint moves with its outer body, its axis turns with the inner one
        e, at = g.direction, g.point
        v_point = v[s.outer] + cross(omega[s.outer], at - C[s.outer])
        e_dot = cross(omega_all[s.inner], e)
        S_dot = np.zeros_like(g.S)
        turn = s.turn[:, None]
        S_dot[:, :3] = np.where(turn, cross(v_point, e) + cross(at, e_dot), e_dot)
        S_dot[:, 3:] = np.where(turn, e_dot, 0.0)
        relative += S_dot * rates[:, None]
    a = s.moved[:-1] @ relative
    alpha = a[:, 3:]
    acceleration = a[:, :3] + cross(alpha, C) - gravity
    moment = (J @ alpha[:, :, None])[:, :, 0]
    if moving:
        acceleration += cross(omega, v)
        moment += cross(omega, (J @ omega[:, :, None])[:, :, 0])
    force = s.mass[:, None] * acceleration
    out = np.empty((len(C), 6))
    out[:, :3], out[:, 3:] = force, moment + cross(C, force)
    return out
