"""Solids: bodies that fixed pairs hold together, with their payloads, as one mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array, Pose, skew


@dataclass(frozen=True, eq=False)
class Composite:
    """One moving composite body and the joint that carries it.

    Its frame K is the joint's outer frame (the link frame of a free root).

    Parameters
    ----------
    joint : TreeJoint
    parent : int
        The composite body that carries the joint; 0 is the ground, the composite bodies count from 1.
    X_in : Pose
        The joint's inner frame in the parent's frame K (in the world for the ground).
    mass : float
        kg.
    p_KC : (3,) array
        Common centre of mass, m.
    I_C : (3, 3) array
        Inertia about it, in axes of K, kg·m².
    p_KR : (3,) array
        Point to which the rates of a free root refer: the root link's own centre of mass, m.
    """

    joint: TreeJoint
    parent: int
    X_in: Pose
    mass: float
    p_KC: Array
    I_C: Array
    p_KR: Array


@dataclass(frozen=True, eq=False)
class Composites:
    """All composite bodies, outwards from the ground, and where each body of the mechanism sits.

    Parameters
    ----------
    composites : tuple of Solid
    of_body : tuple of int
        The composite body of each body; 0 is the ground.
    X_KL : tuple of Pose
        Link frame of each body in the frame of its composite body (in the world for the ground).
    """

    composites: tuple[Composite, ...]
    of_body: tuple[int, ...]
    X_KL: tuple[Pose, ...]

    def frame(self, mech: Mechanism, body: str, X_LF: Pose) -> tuple[int, Pose]:
        """Return the composite body of a body and a frame of its link in the composite body's frame."""
        if body == WORLD:
            return 0, X_LF
        i = mech.body_index[body]
        return self.of_body[i], self.X_KL[i] @ X_LF


def find_composites(mech: Mechanism, payloads: Sequence[Payload] = (), *, apart: bool = False) -> Composites:
    """Return the composite bodies of a mechanism; ``apart`` makes every body one, as fixed pairs carry loads too."""
    of_body, X_KL = [0] * len(mech.bodies), [Pose.identity()] * len(mech.bodies)
    carried: list[tuple[TreeJoint, int, Pose]] = []
    for joint in mech.tree.joints:
        inner, outer = mech.body_index[joint.inner], mech.body_index[joint.outer]
        k, X_inner = (of_body[inner], X_KL[inner]) if inner >= 0 else (0, Pose.identity())
        X_in, X_out = _joint_frames(joint)
        if not apart and joint.pair is not None and not joint.pair.kind.free:
            of_body[outer], X_KL[outer] = k, X_inner @ X_in @ X_out
        else:
            carried.append((joint, k, X_inner @ X_in))
            of_body[outer], X_KL[outer] = len(carried), X_out
    masses = _masses(mech, payloads, of_body, X_KL, len(carried))
    composites = tuple(
        Composite(joint, parent, X_in, *masses[k], mech.bodies[mech.body_index[joint.outer]].p_LC)
        for k, (joint, parent, X_in) in enumerate(carried)
    )
    return Composites(composites, tuple(of_body), tuple(X_KL))


def _joint_frames(joint: TreeJoint) -> tuple[Pose, Pose]:
    """Return the inner joint frame in the inner link, and the outer link in the outer joint frame."""
    if joint.pair is None:
        return Pose.identity(), Pose.identity()
    if joint.reversed:
        return joint.pair.X_BS, joint.pair.X_AP.inverse()
    return joint.pair.X_AP, joint.pair.X_SB


@dataclass(frozen=True, eq=False)
class CarriedMasses:
    """The masses of composite bodies, for payloads that change.

    Parameters
    ----------
    mech : Mechanism
    of_body : sequence of int
    X_KL : sequence of Pose
        As in :class:`Composites`.
    parts : tuple of list
        Mass (kg), centre of mass (m) and inertia (kg·m²) of the bodies of each composite body, in its frame K.
    """

    mech: Mechanism
    of_body: Sequence[int]
    X_KL: Sequence[Pose]
    parts: tuple[list[tuple[float, Array, Array]], ...]

    def with_payloads(self, payloads: Sequence[Payload]) -> dict[int, tuple[float, Array, Array]]:
        """Return mass, centre of mass and inertia of the composite bodies that carry payloads, by their number."""
        found: dict[int, list[tuple[float, Array, Array]]] = {}
        for payload in payloads:
            i = self.mech.body_index[payload.body]
            k, R = self.of_body[i], self.X_KL[i].R
            if k:
                part = (payload.mass, self.X_KL[i].apply(payload.com), R @ payload.inertia @ R.T)
                found.setdefault(k, list(self.parts[k - 1])).append(part)
        return {k: _together(own) for k, own in found.items()}


def carried_masses(
    mech: Mechanism, of_body: Sequence[int], X_KL: Sequence[Pose], count: int
) -> CarriedMasses:
    """Return the masses of so many composite bodies without payloads."""
    parts: list[list[tuple[float, Array, Array]]] = [[] for _ in range(count)]
    for i, body in enumerate(mech.bodies):
        if of_body[i]:
            R = X_KL[i].R
            parts[of_body[i] - 1].append((body.mass, X_KL[i].apply(body.p_LC), R @ body.I_C @ R.T))
    return CarriedMasses(mech, of_body, X_KL, tuple(parts))


def _masses(
    mech: Mechanism, payloads: Sequence[Payload], of_body: list[int], X_KL: list[Pose], count: int
) -> list[tuple[float, Array, Array]]:
    """Return mass, centre of mass and inertia of every composite body."""
    carried = carried_masses(mech, of_body, X_KL, count)
    loaded = carried.with_payloads(payloads)
    return [loaded.get(k) or _together(own) for k, own in enumerate(carried.parts, 1)]


def _together(parts: list[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    mass = sum(m for m, _, _ in parts)
    com = sum((m * c for m, c, _ in parts), np.zeros(3)) / mass if mass > 0 else parts[0][1]
    inertia = np.zeros((3, 3))
    for m, c, own in parts:
        arm = skew(c - com)
        inertia += own - m * arm @ arm
    return mass, com, inertia
