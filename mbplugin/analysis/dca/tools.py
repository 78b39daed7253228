"""Four numerical tools that decide which columns of G have unique multipliers (pekal2024 §3.1–3.4).

A tool takes G (m, m), its rank r, groups of columns and the size below which an entry of a unit null
vector is zero. It returns one :class:`GroupUniqueness` per group. The rank is decided beforehand and
the same for all tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis import tools
from mbplugin.analysis.tools.rank_comparison import gap_threshold, rank_above
from mbplugin.model.spatial import Array


@dataclass(frozen=True)
class GroupUniqueness:
    """What a tool says about a group of reactions.

    Parameters
    ----------
    assembly_effect_unique : bool
        Its effect on the otherwise assembled mechanism.
    components_unique : bool
        Every single multiplier of it: the second step of the tool.
    """

    assembly_effect_unique: bool
    components_unique: bool


@dataclass(frozen=True)
class GroupRanks:
    """Ranks of the tested and of the remaining columns of G beside its own (pekal2024 (26)).

    Parameters
    ----------
    columns : int
        Of the group: ``tested`` is full if it is as large.
    tested, remaining, whole : int
        Of G_T, G_R and G.
    """

    columns: int
    tested: int
    remaining: int
    whole: int

    @property
    def excess(self) -> int:
        """What the group and the rest share: zero where the effect of the group is unique (pekal2024 (27))."""
        return self.tested + self.remaining - self.whole

    @property
    def full(self) -> bool:
        """Whether G_T has full rank."""
        return self.tested == self.columns


Columns = Sequence[int]
Tool = Callable[[Array, int, Sequence[Columns], float], tuple[GroupUniqueness, ...]]


def rank_comparison(
    G: Array, rank: int, groups: Sequence[Columns], zero: float
) -> tuple[GroupUniqueness, ...]:
    """Compare the ranks of the tested and the remaining columns with that of G (pekal2024 (27))."""
    return tuple(
        GroupUniqueness(r.excess == 0, r.excess == 0 and r.full) for r in group_ranks(G, rank, groups)
    )


def group_ranks(G: Array, rank: int, groups: Sequence[Columns]) -> tuple[GroupRanks, ...]:
    """Return the ranks that groups of columns of G (m, m) have, counted in the gap of the whole G."""
    threshold = gap_threshold(G, rank, 1.0)
    return tuple(
        GroupRanks(
            len(columns),
            rank_above(G[:, columns], threshold),
            rank_above(np.delete(G, columns, axis=1), threshold),
            rank,
        )
        for columns in groups
    )


def pivoted_qr(G: Array, rank: int, groups: Sequence[Columns], zero: float) -> tuple[GroupUniqueness, ...]:
    """Take the arbitrary directions from the last columns of Q, Gᵀ E = Q R (pekal2024 (28)–(37))."""
    return _by_directions(G, rank, tools.qr.left_null_basis(G.T, len(G) - rank), groups, zero)


def svd(G: Array, rank: int, groups: Sequence[Columns], zero: float) -> tuple[GroupUniqueness, ...]:
    """Take the arbitrary directions from the last right singular vectors (pekal2024 (38)–(44))."""
    return _by_directions(G, rank, tools.svd.left_null_basis(G.T, len(G) - rank), groups, zero)


def null_space(G: Array, rank: int, groups: Sequence[Columns], zero: float) -> tuple[GroupUniqueness, ...]:
    """Test G_T N_T = 0, and the rows of N for the components (pekal2024 (45)–(51)).

    N comes from the columns of G that others can replace, each with the weights that replace it.
    """
    N: Array = np.linalg.qr(tools.null_space.left_null_basis(G.T, len(G) - rank))[0]

    def row_uniqueness(columns: Columns) -> GroupUniqueness:
        unique = _vanishes(G[:, columns] @ N[columns], G, zero)
        return GroupUniqueness(unique, unique and bool((np.linalg.norm(N[columns], axis=1) <= zero).all()))

    return tuple(row_uniqueness(columns) for columns in groups)


#: The tools by the name that the option ``method`` gives their counterparts on the whole matrix.
TOOLS: dict[str, Tool] = {
    "rank": rank_comparison,
    "qr": pivoted_qr,
    "svd": svd,
    "nullspace": null_space,
}


def _by_directions(
    G: Array, rank: int, directions: Array, groups: Sequence[Columns], zero: float
) -> tuple[GroupUniqueness, ...]:
    """Test B = G_T Q_T on the arbitrary ``directions`` (m, p), then the rank of G_T for the components."""
    threshold = gap_threshold(G, rank, 1.0)

    def row_uniqueness(columns: Columns) -> GroupUniqueness:
        G_T = G[:, columns]
        unique = _vanishes(G_T @ directions[columns], G, zero)
        return GroupUniqueness(unique, unique and rank_above(G_T, threshold) == len(columns))

    return tuple(row_uniqueness(columns) for columns in groups)


def _vanishes(B: Array, G: Array, zero: float) -> bool:
    """Return whether B (m, p) is zero beside G."""
    return float(np.abs(B).max(initial=0.0)) <= zero * float(np.abs(G).max(initial=1.0))
