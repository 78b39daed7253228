"""Bodies that may stay rigid in a model with correct reactions (pekal2024 §4: flexible-body advice)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.ground import welded_bodies
from mbplugin.model.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class BodyVerdict:
    """Whether a body may stay rigid in a hybrid model: every reaction on it is unique."""

    name: str
    may_stay_rigid: bool


def body_verdicts(mech: Mechanism, verdicts: Sequence[ConstraintVerdict]) -> tuple[BodyVerdict, ...]:
    """Return the verdict of every body; what is welded to the world is ground, not a body."""
    tying = {v.name for v in verdicts if v.components and v.name in mech.pair_by_name}
    flexible = {body for v in verdicts if not v.unique for body in _touched(mech, v)}
    flexible -= {WORLD, *welded_bodies(mech, tying)}
    return tuple(BodyVerdict(body.name, body.name not in flexible) for body in mech.bodies)


def _touched(mech: Mechanism, verdict: ConstraintVerdict) -> set[str]:
    touched = {verdict.body_a, verdict.body_b}
    for coupling in mech.couplings:
        if coupling.name == verdict.name:
            pairs = [mech.pair_by_name[term.joint] for term in coupling.terms]
            touched |= {body for pair in pairs for body in pair.bodies}
    return touched
