"""What one misfit costs: the loads that it causes, the largest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mbplugin.errors import UnknownName, suggestion
from mbplugin.joint_reactions.stiffness.coverage import MissingStiffness
from mbplugin.model.enumerations import CoordinateUnit, ReactionSource, ReactionUnit


class MisfitStep(NamedTuple):
    """A misfit of a size that a workshop knows."""

    size: float
    unit: CoordinateUnit

    def __str__(self) -> str:
        factor, name = (1e3, "mm") if self.unit == "m" else (1e3, "mrad")
        return f"{factor * self.size:g} {name}"


class MisfitLoad(NamedTuple):
    """The load that a misfit causes in one component of a reaction.

    Parameters
    ----------
    value : float
        On the successor, N or N·m; ``inf``, whatever its sign, where no compliance limits it.
    source : "stated", "estimated", "rigid" or None
        The stiffness that determines it; None where it is infinite.
    """

    constraint: str
    component: str
    unit: ReactionUnit
    value: float
    source: ReactionSource | None


@dataclass(frozen=True)
class MisfitEffect:
    """What a misfit of one component costs.

    Parameters
    ----------
    constraint, component : str
        That misfits.
    step : MisfitStep
        The misfit for which the loads are: 0.1 mm or 1 mrad.
    loads : tuple of MisfitLoad
        That it causes, the largest first; empty where nothing is overconstrained.
    missing : MissingStiffness
        Bodies and joints that need a stiffness before an infinite load has a value.
    rows : mapping of str to int
        The rows that there are, loaded or not, by their ``CONSTRAINT.COMPONENT``.
    """

    constraint: str
    component: str
    step: MisfitStep
    loads: tuple[MisfitLoad, ...]
    missing: MissingStiffness
    rows: Mapping[str, int] = field(repr=False, compare=False)

    @property
    def infinite(self) -> bool:
        """Whether no compliance limits some of the loads."""
        return any(np.isinf(load.value) for load in self.loads)

    @property
    def largest(self) -> MisfitLoad | None:
        """The largest load; None where there is none."""
        return self.loads[0] if self.loads else None

    def __getitem__(self, name: str) -> float:
        """Return the load of ``CONSTRAINT.COMPONENT``, N or N·m; zero where there is none.

        Raises
        ------
        UnknownName
            No row has that name.
        """
        row_of(name, self.rows)
        found = (one.value for one in self.loads if f"{one.constraint}.{one.component}" == name)
        return next(found, 0.0)


def row_of(name: str, rows: Mapping[str, int]) -> int:
    """Return the number of a row ``CONSTRAINT.COMPONENT``.

    Raises
    ------
    UnknownName
        No row has that name.
    """
    if name not in rows:
        raise UnknownName(
            f"{name!r} is no row of a constraint",
            expected="CONSTRAINT.COMPONENT",
            remedy=suggestion(name, list(rows)),
        )
    return rows[name]
