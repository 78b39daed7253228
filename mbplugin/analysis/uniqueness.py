"""Which reactions are unique, read off the left null space (THEORY §4, wojtyra2013 (21)–(27))."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.analysis.rank import RankedBlock
from mbplugin.constraints.null_space import block_null_space
from mbplugin.mechanism.body import WORLD
from mbplugin.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.mechanism.mechanism import Constraint, Mechanism
from mbplugin.mechanism.pair import Pair
from mbplugin.spatial import Array


@dataclass(frozen=True)
class ComponentVerdict:
    """Whether one reaction component is determined by the rigid model."""

    name: str
    unique: bool


@dataclass(frozen=True)
class ConstraintVerdict:
    """What the rigid model says about the reaction of one constraint.

    Parameters
    ----------
    name, kind, type, body_a, body_b : str
        ``kind`` is pair, closure, coupling, driver, pfaffian or lock.
    reaction : str
        ``unique``, ``non-unique`` or ``undecided``.
    indeterminate_dim : int
        Dimension of the family of possible reactions.
    components : tuple of ComponentVerdict
    """

    name: str
    kind: str
    type: str
    body_a: str
    body_b: str
    reaction: str
    indeterminate_dim: int
    components: tuple[ComponentVerdict, ...]

    @property
    def unique(self) -> bool:
        """Whether the whole reaction is unique."""
        return self.reaction == "unique"


@dataclass(frozen=True, eq=False)
class StressedBlock:
    """A block with an orthonormal basis of its scaled self-stresses.

    Parameters
    ----------
    ranked : RankedBlock
    Z : (m, p) array
        Rows as in ``ranked.reduced.labels``.
    """

    ranked: RankedBlock
    Z: Array

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Rows of each constraint in Z."""
        found: dict[str, slice] = {}
        start = 0
        for rows in self.ranked.reduced.rows:
            found[rows.constraint] = slice(start, start + len(rows.components))
            start += len(rows.components)
        return found

    def rows_of(self, constraints: Collection[str]) -> Array:
        """Return the rows of Z that belong to some constraints, (k, p)."""
        parts = [self.Z[self.slices[name]] for name in constraints if name in self.slices]
        return np.vstack(parts) if parts else np.zeros((0, self.Z.shape[1]))

    def indeterminate_dim(self, Z_X: Array) -> int:
        """Return the rank of some rows of Z."""
        if 0 in Z_X.shape:
            return 0
        return int((np.linalg.svd(Z_X, compute_uv=False) > self.ranked.zero).sum())


def stress(blocks: Iterable[RankedBlock], method: str = "svd") -> tuple[StressedBlock, ...]:
    """Return the self-stresses of every block."""
    return tuple(StressedBlock(b, block_null_space(b.reduced, b.redundancy, method)) for b in blocks)


def constraint_verdicts(
    mech: Mechanism, stressed: Sequence[StressedBlock], components: dict[str, tuple[str, ...]]
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdict of every constraint; what lies in no redundant block is unique.

    Parameters
    ----------
    components : dict of constraint name to row labels
        In the view of the analysis, space or plane.
    """
    block_of = {name: s for s in stressed if s.Z.shape[1] for name in s.ranked.block.constraints}
    verdicts = []
    for constraint in mech.constraints():
        labels, dim = components[constraint.name], 0
        unique = np.ones(len(labels), dtype=bool)
        if s := block_of.get(constraint.name):
            Z_X = s.rows_of((constraint.name,))
            unique = np.linalg.norm(Z_X, axis=1) <= s.ranked.zero
            dim = 0 if unique.all() else max(1, s.indeterminate_dim(Z_X))
        body_a, body_b = bodies_of(mech, constraint)
        verdicts.append(
            ConstraintVerdict(
                constraint.name,
                kind_of(constraint),
                type_of(constraint),
                body_a,
                body_b,
                "unique" if unique.all() else "non-unique",
                dim,
                tuple(ComponentVerdict(c, bool(u)) for c, u in zip(labels, unique, strict=True)),
            )
        )
    return tuple(verdicts)


def kind_of(constraint: Constraint) -> str:
    """Return pair, closure, coupling, driver, lock or pfaffian."""
    if isinstance(constraint, Pair):
        return "closure" if constraint.closure else "pair"
    kinds = {Coupling: "coupling", Driver: "driver", Lock: "lock"}
    return kinds.get(type(constraint), "pfaffian")


def type_of(constraint: Constraint) -> str:
    """Return the type as the reports name it."""
    if isinstance(constraint, Driver | Lock):
        return kind_of(constraint)
    return constraint.type


def bodies_of(mech: Mechanism, constraint: Constraint) -> tuple[str, str]:
    """Return predecessor and successor (of the first joint, for a coupling)."""
    match constraint:
        case Pair():
            pair = constraint
        case Coupling():
            pair = mech.pair_by_name[constraint.terms[0].pair]
        case Driver():
            pair = mech.pair_by_name[constraint.pair]
        case Lock():
            pair = mech.pair_by_name[constraint.joint]
        case _:
            return WORLD, constraint.body
    return pair.body_a, pair.body_b
