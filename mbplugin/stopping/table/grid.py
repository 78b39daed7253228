"""The grid of a stopping table: at which shares of speed, extension and payload its stops are computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mbplugin.errors import BadNumber, BadUsage

#: The edition of the standard whose form a table has unless another grid is stated.
ANNEX_B = "ISO 10218-1:2011, Annex B"
#: Shares of that form in category 1, percent; in category 0 all are 100 %.
SHARES = (33, 66, 100)
QUANTITIES = ("speed", "extension", "payload")


@dataclass(frozen=True)
class Grid:
    """Shares by quantity, percent, where they are stated.

    Parameters
    ----------
    stated : mapping of str to tuple of int
        By ``speed``, ``extension`` and ``payload``, ascending.
    """

    stated: Mapping[str, tuple[int, ...]]

    @property
    def form(self) -> str | None:
        """The edition of the standard whose form the table has; None for another grid."""
        return None if self.stated else ANNEX_B

    def shares(self, quantity: str, category: int) -> tuple[int, ...]:
        """Return the shares of a quantity in a stop category, percent: stated ones in both categories."""
        return self.stated.get(quantity, (100,) if category == 0 else SHARES)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a report says of a stated grid."""
        if not self.stated:
            return ()
        listed = "; ".join(f"{name} {', '.join(map(str, own))} %" for name, own in self.stated.items())
        return (f"the grid is stated, it is not that of {ANNEX_B}: {listed}",)


def grid_of(given: Mapping[str, Sequence[int]] | None) -> Grid:
    """Return the grid with given shares by quantity, percent.

    Raises
    ------
    BadUsage
        Another quantity, or none of its shares.
    BadNumber
        A share that is no whole percent from 1 to 100; of the payload, from 0.
    """
    stated = {}
    for quantity, shares in (given or {}).items():
        if quantity not in QUANTITIES or not shares:
            raise BadUsage(
                f"the grid has {quantity!r}" + ("" if shares else " without shares"),
                expected="shares of speed, extension or payload",
            )
        lowest = 0 if quantity == "payload" else 1
        for share in shares:
            if share != int(share) or not lowest <= share <= 100:
                raise BadNumber(
                    f"the grid has {share} % {quantity}", expected=f"whole percents from {lowest} to 100"
                )
        stated[quantity] = tuple(sorted({int(share) for share in shares}))
    return Grid({quantity: stated[quantity] for quantity in QUANTITIES if quantity in stated})
