"""The result of the divide-and-conquer test, with its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.model import DcaModel
from mbplugin.analysis.dca.propagation import Decision, Propagation
from mbplugin.analysis.dca.tested import TestedGroup, tested_groups
from mbplugin.analysis.dca.tools import TOOLS, GroupUniqueness
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.enumerations import Uniqueness
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


@dataclass(frozen=True)
class DcaVerdict:
    """What the test says about the reaction of one pair.

    Parameters
    ----------
    reaction : str
        ``unique``, ``non-unique`` or ``undecided``.
    components : tuple of (str, bool or None)
        Whether each component is unique; None where this method does not tell.
    indeterminate_dim : int or None
        Dimension of the family of possible reactions; None where this method does not tell.
    decided_by : str
        ``step 2``, ``step 4``, ``step 6``, ``extension``, ``no rows``, or empty.
    """

    name: str
    reaction: Uniqueness
    components: tuple[tuple[str, bool | None], ...]
    indeterminate_dim: int | None
    decided_by: str


@dataclass(frozen=True, eq=False)
class DcaResult:
    """The divide-and-conquer uniqueness test of a mechanism at a pose.

    Parameters
    ----------
    q : (nq,) array
        The closed pose.
    samples : int
        Poses sampled to tell a singular pose.
    extended : bool
        Whether the null space was carried through the tree where the steps stalled.
    model : DcaModel
        Joints, handles and the binary assembly tree.
    connections : tuple of GroundConnection
        One per assembly that has several ground joints.
    propagation : Propagation
        The paper's steps, without the extension.
    verdicts : tuple of DcaVerdict
        One per pair, in file order.
    """

    mechanism: Mechanism
    q: Array
    planar: str | None
    tolerance: float
    samples: int
    extended: bool
    model: DcaModel
    connections: tuple[GroundConnection, ...]
    propagation: Propagation
    verdicts: tuple[DcaVerdict, ...]

    @cached_property
    def G(self) -> Array:
        """G = TᵀΦ₁₁T of all multi-joint connections, SI (pekal2024 (54)), (m, m)."""
        return _block_diagonal([c.G for c in self.connections])

    @cached_property
    def N(self) -> Array:
        """Null space of G, unit columns in N and N·m (pekal2024 (46)), (m, m − rank)."""
        return _block_diagonal([c.N for c in self.connections])

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Columns of G by ground joint."""
        out: dict[str, slice] = {}
        start = 0
        for c in self.connections:
            out.update({j: slice(start + s.start, start + s.stop) for j, s in c.columns.items()})
            start += len(c.labels)
        return out

    @property
    def columns(self) -> int:
        """Columns of G."""
        return sum(len(c.labels) for c in self.connections)

    @property
    def rank(self) -> int:
        """Rank of G."""
        return sum(c.rank for c in self.connections)

    @property
    def degree_of_redundancy(self) -> int:
        """Columns of G minus its rank, the p of the whole mechanism."""
        return sum(c.redundancy for c in self.connections)

    @cached_property
    def reactions(self) -> dict[str, str]:
        """Pair name to ``unique``, ``non-unique`` or ``undecided``."""
        return {v.name: v.reaction for v in self.verdicts}

    @cached_property
    def tested(self) -> tuple[TestedGroup, ...]:
        """Groups of ground joints with their ranks and what each tool says (pekal2024 Table 1)."""
        return tuple(group for c in self.connections for group in tested_groups(c))

    @property
    def order(self) -> tuple[Decision, ...]:
        """The decisions of the paper's steps, in the order of propagation."""
        return self.propagation.decisions

    @property
    def stalled(self) -> tuple[str, ...]:
        """Bodies at which the paper's steps stop."""
        return self.propagation.stalled

    @property
    def flexible_bodies(self) -> tuple[str, ...]:
        """Bodies with a non-unique reaction: to be modelled as flexible (pekal2024 §4)."""
        return self._bodies_with("non-unique")

    @property
    def undecided_bodies(self) -> tuple[str, ...]:
        """Bodies with an undecided reaction and no non-unique one."""
        flexible = self.flexible_bodies
        return tuple(name for name in self._bodies_with("undecided") if name not in flexible)

    @property
    def trace(self) -> str:
        """The whole test step by step, in words."""
        from mbplugin.analysis.dca.trace import explain

        return explain(self)

    def test_group(self, members: Sequence[str], tool: str = "qr") -> GroupUniqueness:
        """Test ground joints as one group: their effect on the otherwise assembled mechanism.

        Raises
        ------
        UnknownName
            A member that is no pair.
        BadUsage
            A pair that does not touch the ground, or an unknown tool.
        """
        if tool not in TOOLS:
            raise BadUsage(f"the tool is {tool!r}", expected=f"one of {', '.join(TOOLS)}")
        for name in members:
            self._require_ground_joint(name)
        answers = [
            TOOLS[tool](c.G_scaled, c.rank, [columns], c.zero_in_G)[0]
            for c in self.connections
            if (columns := _columns_of(c, members))
        ]
        return GroupUniqueness(
            all(a.assembly_effect_unique for a in answers), all(a.components_unique for a in answers)
        )

    def _require_ground_joint(self, name: str) -> None:
        if name not in self.mechanism.pair_by_name:
            known = [pair.name for pair in self.mechanism.pairs]
            raise UnknownName(f"the group names an unknown pair {name!r}", remedy=suggestion(name, known))
        joint = self.model.joint.get(name)
        if joint is not None and (not joint.grounded or name in self.model.welded):
            raise BadUsage(
                f"pair {name!r} is not between the assembly and the ground",
                expected="ground joints, which are what G describes",
                remedy="use method qr for other groups",
            )

    def _bodies_with(self, reaction: str) -> tuple[str, ...]:
        welded = set(self.model.welded.values())
        touched = {
            body
            for joint in self.model.joint.values()
            if self.reactions[joint.name] == reaction
            for body in joint.moving
            if body not in welded
        }
        return tuple(body.name for k, body in enumerate(self.mechanism.bodies) if k in touched)


def _columns_of(connection: GroundConnection, members: Sequence[str]) -> list[int]:
    slices = [connection.columns[name] for name in dict.fromkeys(members) if name in connection.columns]
    return [k for s in slices for k in range(s.start, s.stop)]


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    """Return blocks as one matrix (m, n), zero beside them."""
    out = scipy.linalg.block_diag(*blocks) if blocks else np.zeros((0, 0))
    out.setflags(write=False)
    return np.asarray(out)
