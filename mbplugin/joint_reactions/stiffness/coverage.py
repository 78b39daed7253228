"""Where the stated stiffness is complete, so that it may decide a reaction.

A rigid part is not an infinitely stiff one: its compliance may be omitted only if no result depends on
it. In a hybrid model only bodies that no non-unique reaction loads may stay rigid (pekal2024 §1).
So a non-unique reaction is *covered* if every body on which it acts has a stiffness, or if the joint
that carries it has one of its own, beside which the bodies count as rigid. The ground is no body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.joint_reactions.stiffness.elements import Element, attachments, frame_of
from mbplugin.joint_reactions.system import System
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.ground import welded_bodies
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray


@dataclass(frozen=True)
class MissingStiffness:
    """What has to be given a stiffness before the open reactions have values.

    Parameters
    ----------
    bodies : tuple of str
        In the order of the mechanism; never the ground or what is welded to it.
    pairs : tuple of str
        Joints where no body can bend: between the ground and bodies that are held in one place only.
    """

    bodies: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.bodies or self.pairs)


NOTHING_MISSING = MissingStiffness()


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which reactions act on stated stiffness only.

    Parameters
    ----------
    uncovered : (m,) bool array
        Rows of constraints with a non-unique reaction whose bodies and joint lack stiffness.
    lacking : dict of constraint to tuple of str
        Bodies without stiffness on each constraint with a non-unique reaction, those that can bend.
    """

    uncovered: AnyArray
    lacking: dict[str, tuple[str, ...]]


def coverage(system: System, elements: Sequence[Element]) -> Coverage:
    """Return which non-unique reactions act on flexible bodies, or in flexible joints, only.

    Parameters
    ----------
    elements : sequence of Element
        Pairs and bodies that give way, stated or estimated.
    """
    giving = {e.name for e in elements if e.kind == "pair"}
    flexible = {e.name for e in elements if e.kind == "body"}
    exempt = _exempt(system)
    uncovered = np.zeros(len(system.scale), dtype=bool)
    lacking: dict[str, tuple[str, ...]] = {}
    for constraint, verdict in zip(system.mech.constraints(), system.verdicts, strict=True):
        if verdict.unique:
            continue
        joints = joints_of(system.mech, constraint)
        bare = [pair for pair in joints if pair.name not in giving]
        rigid = _ends(joints, verdict) - flexible - exempt
        lacking[constraint.name] = tuple(sorted(rigid, key=system.mech.body_index.__getitem__))
        if joints and not bare:
            continue
        ends = _ends(bare, verdict)
        uncovered[system.slices[constraint.name]] = not ends & flexible or bool(ends - flexible - exempt)
    return Coverage(uncovered, lacking)


def missing_stiffness(system: System, covered: Coverage, determined: AnyArray) -> MissingStiffness:
    """Return what lacks stiffness for the reactions that are not ``determined`` (m,).

    Where all reactions of a self-stress are covered and it still bends nothing, all that it loads is named.
    """
    group = system.stress_groups
    partly = set(group[covered.uncovered].tolist())
    bodies: set[str] = set()
    pairs: list[str] = []
    for name, lacking in covered.lacking.items():
        rows = system.slices[name]
        waits = covered.uncovered[rows].any() or not partly & set(group[rows].tolist())
        if determined[rows].all() or not waits:
            continue
        bodies.update(lacking)
        if not lacking and name in system.mech.pair_by_name:
            pairs.append(name)
    return MissingStiffness(tuple(b.name for b in system.mech.bodies if b.name in bodies), tuple(pairs))


def joints_of(mech: Mechanism, constraint: Constraint) -> tuple[Pair, ...]:
    """Return the pairs whose joints a constraint acts in: its own, or those of a drive, lock or coupling."""
    match constraint:
        case Pair():
            return (constraint,)
        case Driver():
            return (mech.pair_by_name[constraint.joint],)
        case Lock():
            return (mech.pair_by_name[constraint.joint],)
        case Coupling():
            return tuple(mech.pair_by_name[term.joint] for term in constraint.terms)
        case _:
            return ()


def _ends(joints: Sequence[Pair], verdict: ConstraintVerdict) -> set[str]:
    """Return the bodies at some joints; what is in no joint, as a wheel, acts on one body."""
    return {body for pair in joints for body in pair.bodies} or {verdict.body_b}


def _exempt(system: System) -> set[str]:
    """Return what cannot bend: the ground, and bodies that are held in one place only."""
    pairs = system.mech.pair_by_name
    tying = {r.constraint for r in system.rows if r.components and r.constraint in pairs}
    found = {WORLD, *welded_bodies(system.mech, tying)}
    for k, body in enumerate(system.mech.bodies):
        if frame_of(system, k, attachments(system, k)) is None:
            found.add(body.name)
    return found
