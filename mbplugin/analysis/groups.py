"""Three different uniqueness tests for the reactions of a group of constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.uniqueness import StressedBlock, bodies_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.enumerations import Uniqueness
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


@dataclass(frozen=True)
class GroupVerdict:
    """What is unique about a group.

    Parameters
    ----------
    reaction : str
        Body by body: ``unique`` iff C_Xᵀ Z_X = 0.
    components_unique : bool
        Every multiplier of the group.
    assembly_effect_unique : bool or None
        The effect of ground joints on the otherwise assembled mechanism (pekal2024 (27)); None where
        a member does not touch the ground.
    resultant_unique : bool
        The sum of its wrenches at one point, the foundation load for example.
    """

    members: tuple[str, ...]
    reaction: Uniqueness
    components_unique: bool
    assembly_effect_unique: bool | None
    resultant_unique: bool


def group_verdict(
    mech: Mechanism, poses: BodyPoses, stressed: Sequence[StressedBlock], members: Sequence[str]
) -> GroupVerdict:
    """Answer the three questions for a group of constraints.

    Raises
    ------
    UnknownName
        A member that is no constraint.
    """
    known = {c.name: c for c in mech.constraints()}
    for name in members:
        if name not in known:
            raise UnknownName(
                f"the group names an unknown constraint {name!r}", remedy=suggestion(name, list(known))
            )
    touching = [s for s in stressed if s.ranked.redundancy and len(s.rows_of(members))]
    grounded = all(WORLD in bodies_of(mech, known[name]) for name in members)
    return GroupVerdict(
        tuple(members),
        "unique" if all(_body_by_body(s, poses, members) for s in touching) else "non-unique",
        all((np.linalg.norm(s.rows_of(members), axis=1) <= s.ranked.zero).all() for s in touching),
        all(_assembly_effect(mech, s, poses, members) for s in touching) if grounded else None,
        all(_resultant(mech, s, poses, members) for s in touching),
    )


def _body_by_body(s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> bool:
    forces = _body_wrenches(s, poses, members)
    return all(np.abs(F).max() <= s.ranked.zero * 10 for F in forces.values())


def _resultant(mech: Mechanism, s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> bool:
    """Sum the wrenches on the successors, or on the other body where the successor is the ground."""
    total = np.zeros((6, s.Z.shape[1]))
    for name in members:
        constraint = next(c for c in mech.constraints() if c.name == name)
        body_a, body_b = bodies_of(mech, constraint)
        receiver = mech.body_index[body_a if body_b == WORLD else body_b]
        total += _body_wrenches(s, poses, (name,)).get(receiver, np.zeros_like(total))
    return bool(np.abs(total).max() <= s.ranked.zero * 10)


def _assembly_effect(mech: Mechanism, s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> bool:
    """Project the group's wrenches on the motions that all joints off the ground allow."""
    # here, because linting a robot without loops needs no scipy, which takes long to import
    import scipy.linalg

    known = {c.name: c for c in mech.constraints()}
    inner = [r for r in s.ranked.reduced.rows if WORLD not in bodies_of(mech, known[r.constraint])]
    bodies = sorted({body for r in s.ranked.reduced.rows for body, _ in r.entries})
    C = _dense(inner, poses, s, bodies)
    V = scipy.linalg.null_space(C) if len(C) else np.eye(6 * len(bodies))
    forces = _body_wrenches(s, poses, members)
    F = np.vstack([forces.get(body, np.zeros((6, s.Z.shape[1]))) for body in bodies])
    return bool(np.abs(V.T @ F).max(initial=0.0) <= s.ranked.zero * 10)


def _body_wrenches(s: StressedBlock, poses: BodyPoses, members: Sequence[str]) -> dict[int, Array]:
    """Return the scaled wrenches that the group's self-stresses put on each body, at one point."""
    wrenches: dict[int, Array] = {}
    start = 0
    for r in s.ranked.reduced.rows:
        stop = start + len(r.components)
        if r.constraint in members:
            for body, _ in r.entries:
                W = s.ranked.reduced.about_common_point(r, body, poses)
                total = wrenches.get(body, np.zeros((6, s.Z.shape[1])))
                wrenches[body] = total + W.T @ s.Z[start:stop]
        start = stop
    return wrenches


def _dense(rows: Sequence[Rows], poses: BodyPoses, s: StressedBlock, bodies: list[int]) -> Array:
    """Return rows (k, 6 b) on the scaled twists of b bodies about the common point."""
    C = np.zeros((sum(len(r.components) for r in rows), 6 * len(bodies)))
    start = 0
    for r in rows:
        stop = start + len(r.components)
        for body, _ in r.entries:
            column = 6 * bodies.index(body)
            C[start:stop, column : column + 6] = s.ranked.reduced.about_common_point(r, body, poses)
        start = stop
    return C
