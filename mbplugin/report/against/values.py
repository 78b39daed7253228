"""What differs between two reports, as a value."""

from __future__ import annotations

from dataclasses import dataclass

#: Differences below this share of the largest number under a key are rounding.
ROUNDING = 1e-6

#: What a key may hold; None where one of the reports does not have it.
Scalar = float | int | str | bool | None


@dataclass(frozen=True)
class InputChange:
    """Something that went into the reports and is not the same: a file, the command, the version."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class KeyChange:
    """What changed under one key of all entries of a list.

    Parameters
    ----------
    key : str
        Path of the key, ``[]`` for the entries of a list, such as ``rows[].distance``.
    changed, count : int
        Values that differ, of all under the key in either report.
    where : str
        The entry of the largest difference, by its names; empty where the key is there once.
    old, new : number, str, bool or None
        The values there; None where a report has none.
    relative : float or None
        (new − old)/\\|old\\| there; None for what is no number, and where old is zero.
    """

    key: str
    changed: int
    count: int
    where: str
    old: Scalar
    new: Scalar
    relative: float | None


@dataclass(frozen=True)
class Comparison:
    """A report against an earlier one.

    Parameters
    ----------
    path, sha256 : str
        Of the earlier report.
    date : str
        When it was made; empty where it does not say.
    inputs : tuple of InputChange
    changes : tuple of KeyChange
        In the order of the document.
    count : int
        Values that were compared.
    """

    path: str
    sha256: str
    date: str
    inputs: tuple[InputChange, ...]
    changes: tuple[KeyChange, ...]
    count: int

    @property
    def differs(self) -> bool:
        """Whether a value differs; inputs may differ without that."""
        return bool(self.changes)

    @property
    def sentence(self) -> str:
        """How much differs."""
        changed = sum(change.changed for change in self.changes)
        if not changed:
            return f"none of {self.count} values differs"
        return f"{changed} of {self.count} values differ"
