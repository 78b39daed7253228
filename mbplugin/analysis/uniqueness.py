"""Which reactions are unique, read off the left null space (wojtyra2013 (21)–(27))."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from mbplugin.analysis.tools import TOOLS, RowVerdict
from mbplugin.analysis.tools.verdict import from_self_stresses
from mbplugin.constraints.rank import RankedBlock
from mbplugin.constraints.reduction.null_space import block_null_space
from mbplugin.constraints.reduction.strips import strip_of
from mbplugin.model.enumerations import ConstraintKind, Uniqueness
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr


@dataclass(frozen=True)
class ComponentVerdict:
    """Whether one reaction component is determined by the rigid model; None where undecided."""

    name: str
    unique: bool | None


@one_line_repr
@dataclass(frozen=True)
class ConstraintVerdict:
    """What the rigid model says about the reaction of one constraint.

    Parameters
    ----------
    name, kind, type, body_a, body_b : str
        ``kind`` is pair, closure, coupling, driver, pfaffian or lock.
    reaction : str
        ``unique``, ``non-unique`` or ``undecided``.
    indeterminate_dim : int or None
        Dimension of the family of possible reactions; None where the method does not tell.
    open_force, open_moment : tuple of (x, y, z) or None
        Orthonormal directions, world axes, that span the open forces, and the open moments at the
        joint's point (the origin of S); none where the reaction is unique. They do not depend on how
        the joint frame is turned about a free axis, as the components do. None for what is no pair,
        and where the method does not tell.
    B_norm : float or None
        Frobenius norm of B_X (wojtyra2013 (27)), lengths in characteristic lengths: 0 where the reaction is
        unique. None where the method does not tell.
    """

    name: str
    kind: ConstraintKind
    type: str
    body_a: str
    body_b: str
    reaction: Uniqueness
    indeterminate_dim: int | None
    components: tuple[ComponentVerdict, ...]
    open_force: tuple[tuple[float, float, float], ...] | None = None
    open_moment: tuple[tuple[float, float, float], ...] | None = None
    B_norm: float | None = None

    @property
    def unique(self) -> bool:
        """Whether the whole reaction is unique."""
        return self.reaction == "unique"


#: Random self-stresses drawn from a large block; at least as many as a constraint has rows.
_DRAWN = 8
#: Self-stresses of a large block that share closing rows are written together, up to so many.
_TOGETHER = 300


@dataclass(frozen=True, eq=False)
class StressedBlock:
    """A block with its scaled self-stresses.

    Parameters
    ----------
    Z : (m, p) array
        Orthonormal basis, rows as in ``ranked.reduced.labels``; of a large block some random
        self-stresses instead, of largest entry one.
    """

    ranked: RankedBlock
    Z: Array

    @property
    def complete(self) -> bool:
        """Whether Z is a basis."""
        return self.ranked.elimination is None

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

    def parts(self) -> Iterator[tuple[AnyArray, Array]]:
        """Yield the rows (n,) and the self-stresses (n, s) of parts that share no closing row with others."""
        if self.complete:
            yield np.arange(len(self.Z)), self.Z
            return
        from scipy.sparse.csgraph import connected_components

        local = self.ranked.local_stresses
        closing = local[-self.ranked.reduced.shape[0] :]
        part = connected_components(abs(closing.T) @ abs(closing), directed=False)[1]
        order = np.argsort(part, kind="stable")
        by_column = local.T.tocsr()[order]
        bounds = np.flatnonzero(np.diff(part[order], prepend=-1, append=-1)).tolist()
        for start, stop in itertools.pairwise(bounds):
            own = strip_of(by_column, slice(start, min(stop, start + _TOGETHER)))
            yield own.columns, own.values.T


def stress(blocks: Iterable[RankedBlock]) -> tuple[StressedBlock, ...]:
    """Return the self-stresses of every block."""
    return tuple(StressedBlock(b, _self_stresses(b)) for b in blocks)


def _self_stresses(ranked: RankedBlock) -> Array:
    """Return a basis (m, p) of the scaled self-stresses, or random ones of a large block."""
    p = ranked.redundancy
    if ranked.elimination is None:
        return block_null_space(ranked.reduced, p)
    drawn = np.random.default_rng(0).normal(size=(p, _DRAWN * bool(p)))
    Z = ranked.reduced.self_stresses(ranked.elimination.null_vectors(drawn))
    return np.asarray(Z / np.maximum(np.abs(Z).max(axis=0, initial=0.0), 1e-300))


def constraint_verdicts(
    mech: Mechanism,
    stressed: Sequence[StressedBlock],
    components: dict[str, tuple[str, ...]],
    method: str = "svd",
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdict of every constraint; what lies in no redundant block is unique.

    Parameters
    ----------
    components : dict of constraint name to row labels
        In the view of the analysis, space or plane.
    method : str
        The tool; a large block is judged from random self-stresses whatever the tool.
    """
    unique: dict[str, list[bool]] = {}
    dims: dict[str, int] = {}
    for s in stressed:
        if s.ranked.redundancy:
            verdict = _judged(s, method)
            dims.update(verdict.indeterminate_dim)
            unique.update({name: verdict.unique[rows].tolist() for name, rows in s.slices.items()})
    return tuple(
        _verdict(mech, c, components[c.name], unique.get(c.name), dims.get(c.name, 0))
        for c in mech.constraints()
    )


def _judged(s: StressedBlock, method: str) -> RowVerdict:
    if s.complete:
        # the divide-and-conquer test judges the whole mechanism; until then any tool will do
        return TOOLS.get(method, TOOLS["svd"])(s.ranked.reduced, s.ranked.redundancy, s.ranked.zero)
    return from_self_stresses(s.ranked.reduced, s.Z, s.ranked.zero)


def _verdict(
    mech: Mechanism, constraint: Constraint, labels: tuple[str, ...], unique: list[bool] | None, dim: int
) -> ConstraintVerdict:
    flags = [True] * len(labels) if unique is None else unique
    body_a, body_b = bodies_of(mech, constraint)
    return ConstraintVerdict(
        constraint.name,
        kind_of(constraint),
        type_of(constraint),
        body_a,
        body_b,
        "unique" if all(flags) else "non-unique",
        dim,
        _components(labels, tuple(flags)),
    )


@lru_cache(maxsize=256)
def _components(labels: tuple[str, ...], flags: tuple[bool, ...]) -> tuple[ComponentVerdict, ...]:
    """Return the verdicts on components; those of a thousand hinges are the same."""
    return tuple(ComponentVerdict(c, u) for c, u in zip(labels, flags, strict=True))


def kind_of(constraint: Constraint) -> ConstraintKind:
    """Return pair, closure, coupling, driver, lock or pfaffian."""
    if isinstance(constraint, Pair):
        return "closure" if constraint.closure else "pair"
    kinds: dict[type, ConstraintKind] = {Coupling: "coupling", Driver: "driver", Lock: "lock"}
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
            pair = mech.pair_by_name[constraint.terms[0].joint]
        case Driver() | Lock():
            pair = mech.pair_by_name[constraint.joint]
        case _:
            return WORLD, constraint.body
    return pair.bodies
