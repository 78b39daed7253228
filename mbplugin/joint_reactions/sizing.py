"""The largest forces and moments of every joint along a motion: what a bearing or a screw is chosen for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from mbplugin.csv_tables import write_csv
from mbplugin.errors import UnknownName, suggestion
from mbplugin.model import Array, Mechanism, ReactionUnit
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result

#: Part of a reaction: force along the joint's z axis and across it, moment across it and about it; one component.
LoadKind = Literal["axial", "radial", "moment", "torque", "component"]
#: Parts of the wrench of a pair.
PARTS: tuple[LoadKind, ...] = get_args(LoadKind)[:-1]


@one_line_repr
@dataclass(frozen=True)
class LargestLoad:
    """The largest value of one part of a reaction along a motion.

    Parameters
    ----------
    joint, type : str
        The constraint.
    kind : "axial", "radial", "moment", "torque" or "component"
        Parts of the wrench of a pair in axes of P at the origin of S: |tz|, √(tx² + ty²), √(rx² + ry²) and |rz|; or
        the magnitude of the component ``name`` of a drive, a held joint or a contact.
    name : str
        The component; empty for a part of a wrench.
    unit : "N" or "N·m"
    value : float or None
        Where it is determined; None if it is at no instant.
    time : float or None
        When, s; the first of equal ones.
    stated : bool
        Whether stated stiffness determines it at some instant.
    open_instants : int
        Number of instants at which nothing determines it.
    bound : float or None
        No possible value is larger at those instants, by the inequalities of contacts and drives; None without open
        instants, or if nothing bounds it.
    bound_time : float or None
        When the bound is largest, s; if nothing bounds it, the first such instant.
    stop, bound_stop : int or None
        Of a sweep of stops, the number of the stop with the value, and of the one with the bound.
    """

    joint: str
    type: str
    kind: LoadKind
    name: str
    unit: ReactionUnit
    value: float | None
    time: float | None
    stated: bool
    open_instants: int
    bound: float | None
    bound_time: float | None
    stop: int | None = None
    bound_stop: int | None = None

    @property
    def determined(self) -> bool:
        """Whether the value is determined at every instant."""
        return not self.open_instants

    @property
    def largest(self) -> float | None:
        """The value to design for: the larger of value and bound; None if nothing bounds it."""
        if self.open_instants and self.bound is None:
            return None
        return max(self.value or 0.0, self.bound or 0.0)


@dataclass(frozen=True, eq=False)
class Envelope(Result):
    """The largest forces and moments of every joint along a motion.

    Parameters
    ----------
    mechanism : Mechanism
    time : (T,) array
        The instants, s; of a sweep of stops, of each stop from its signal.
    source : str
        Where the motion comes from.
    loads : tuple of LargestLoad
        Constraint by constraint, as in :func:`mbplugin.joint_reactions.run.reactions`.
    held : tuple of str
        Joints held for the balance at some instant.
    tolerance : float
        Relative rank tolerance.
    notes : tuple of str
    stops : int
        Number of stops of a sweep; 0 of a single motion.
    """

    mechanism: Mechanism
    time: Array
    source: str
    loads: tuple[LargestLoad, ...]
    held: tuple[str, ...]
    tolerance: float
    notes: tuple[str, ...] = ()
    stops: int = 0

    def __repr__(self) -> str:
        joints = counted(len({load.joint for load in self.loads}), "joint")
        stops = (counted(self.stops, "stop"),) if self.stops else ()
        facts = (joints, *stops, counted(len(self.time), "instant"), f"tolerance {self.tolerance:g}")
        return one_line(self, self.mechanism.name, facts)

    def __getitem__(self, joint: str) -> dict[str, LargestLoad]:
        """Return the loads of a joint by kind, or by component of a drive, a held joint or a contact."""
        found = {load.name or load.kind: load for load in self.loads if load.joint == joint}
        if not found:
            names = list(dict.fromkeys(load.joint for load in self.loads))
            raise UnknownName(f"there is no joint {joint!r}", remedy=suggestion(joint, names))
        return found

    @property
    def rows(self) -> Iterator[dict[str, object]]:
        """The table: one row for each load."""
        for load in self.loads:
            row: dict[str, object] = {
                "joint": load.joint,
                "type": load.type,
                "load": load.name or load.kind,
                "unit": load.unit,
                "largest determined": load.value,
                "at [s]": load.time,
                "instants not determined": load.open_instants,
                "at most": load.bound,
                "largest at [s]": load.bound_time,
                "by stated stiffness": load.stated,
            }
            if self.stops:
                row |= {"stop": load.stop, "largest of stop": load.bound_stop}
            yield row

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        return {".csv": partial(_write, self)}


def _write(envelope: Envelope, path: Path) -> None:
    rows = list(envelope.rows)
    header = list(rows[0]) if rows else ["joint"]
    comments = (
        f"{envelope.mechanism.name}, {envelope.source}, {len(envelope.time)} instants",
        *envelope.notes,
    )
    write_csv(path, header, [list(row.values()) for row in rows], comments)
