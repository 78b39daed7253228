"""Identity of rows and of what holds a joint: the one place that writes and reads their names.

Names are texts in files, documents and messages: ``lock j2`` is the lock of joint ``j2``, ``rz_lock`` its row.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Literal, NamedTuple, get_args

#: What holds or leads a joint besides the constraints of the mechanism.
HolderKind = Literal["lock", "brake", "friction", "drive"]
_KINDS = get_args(HolderKind)
#: What the component of a row of a lock and of a driver has behind its freedom.
_LOCK, _DRIVE = "_lock", "_drive"


class Holder(NamedTuple):
    """What holds or leads a joint; its text is the name of a constraint.

    Parameters
    ----------
    kind : "lock", "brake", "friction" or "drive"
    joint : str
        The pair, or one freedom of it as :func:`freedom_name` writes it.
    """

    kind: HolderKind
    joint: str

    def __str__(self) -> str:
        return f"{self.kind} {self.joint}"

    @classmethod
    def of(cls, name: str) -> Holder | None:
        """Return what a name says, None where it is the name of another constraint."""
        kind, _, joint = name.partition(" ")
        return cls(kind, joint) if kind in _KINDS and joint else None  # type: ignore[arg-type]


class RowLabel(NamedTuple):
    """The identity of a row: its constraint and its component in that constraint."""

    constraint: str
    component: str

    def __str__(self) -> str:
        return f"{self.constraint} {self.component}"

    @property
    def dotted(self) -> str:
        """The label as it is written on the command line, ``CONSTRAINT.COMPONENT``."""
        return f"{self.constraint}.{self.component}"

    @property
    def holder(self) -> Holder | None:
        """What the row holds a joint by, None for a row of another constraint."""
        return Holder.of(self.constraint)

    @property
    def of_lock(self) -> bool:
        """Whether the row is that of a lock."""
        return self.component.endswith(_LOCK)

    @property
    def freedom(self) -> str:
        """The component, for a row of a lock or of a driver without what marks it as such."""
        return freedom_of(self.component)


def lock_component(freedom: str) -> str:
    """Return the component of the row that locks a freedom."""
    return freedom + _LOCK


def drive_component(freedom: str) -> str:
    """Return the component of the row that drives a freedom."""
    return freedom + _DRIVE


def freedom_of(component: str) -> str:
    """Return the freedom that a row of a lock or of a driver holds; other components as they are."""
    return component.removesuffix(_DRIVE).removesuffix(_LOCK)


def freedom_name(pair: str, freedom: str, count: int = 0) -> str:
    """Return the name of one freedom of a pair; a single one (of ``count``) is called as its pair."""
    return pair if count == 1 else f"{pair}.{freedom}"


def pair_and_freedom(name: str, pairs: Container[str]) -> tuple[str, str]:
    """Return the pair that a name says, and its freedom: "" where the name is that of a pair.

    Of a name that is neither, the pair is what stands before the last point.
    """
    if name in pairs:
        return name, ""
    pair, _, freedom = name.rpartition(".")
    return pair, freedom


def lock_label(joint: str, freedom: str) -> RowLabel:
    """Return the label of the row by which a lock holds a freedom of a joint."""
    return RowLabel(str(Holder("lock", joint)), lock_component(freedom))


def freedom_held(label: RowLabel) -> tuple[str, str]:
    """Return the joint and the freedom that a row of friction, a brake or a lock holds.

    Raises
    ------
    ValueError
        The row holds no joint.
    """
    holder = label.holder
    if holder is None:
        raise ValueError(f"row {label} holds no joint")
    return holder.joint, label.freedom
