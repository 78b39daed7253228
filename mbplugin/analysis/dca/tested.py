"""Groups of ground joints as the four tools test them, with the ranks that decide (pekal2024 Table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.tools import TOOLS, GroupRanks, GroupUniqueness, group_ranks

#: A connection of more joints is tested as a whole, and by groups of one verdict, only.
MOST_JOINTS = 24


@dataclass(frozen=True)
class TestedGroup:
    """A group of ground joints of one connection: its ranks, and what each tool says.

    Parameters
    ----------
    answers : tuple of (tool, GroupUniqueness)
    """

    #: No class of tests, whatever its name begins with.
    __test__ = False

    members: tuple[str, ...]
    ranks: GroupRanks
    answers: tuple[tuple[str, GroupUniqueness], ...]


def tested_groups(c: GroundConnection) -> tuple[TestedGroup, ...]:
    """Test single joints, all of one verdict, and the whole connection; a large one is not tested."""
    if c.supports is not None:
        return ()
    groups = _groups(c)
    columns = [[k for j in g for k in range(c.columns[j].start, c.columns[j].stop)] for g in groups]
    ranks = group_ranks(c.G_scaled, c.rank, columns)
    answers = {name: tool(c.G_scaled, c.rank, columns, c.zero_in_G) for name, tool in TOOLS.items()}
    return tuple(
        TestedGroup(g, ranks[k], tuple((name, own[k]) for name, own in answers.items()))
        for k, g in enumerate(groups)
    )


def _groups(c: GroundConnection) -> Sequence[tuple[str, ...]]:
    zero = c.zero_rows
    unique = tuple(j for j in c.joints if zero[c.columns[j]].all())
    others = tuple(j for j in c.joints if j not in unique)
    single = [(j,) for j in c.joints] if len(c.joints) <= MOST_JOINTS else []
    return tuple(dict.fromkeys(single + [g for g in (unique, others, c.joints) if len(g) > 1]))
