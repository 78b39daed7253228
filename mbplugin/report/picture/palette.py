"""Colours by result, those of Okabe and Ito, which can be distinguished with colour blindness; and the legend."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A colour: ``#rrggbb``, how much of it covers what is behind (1: all), and what replaces it on dark paper."""

    hex: str
    alpha: float = 1.0
    dark: str = ""

    @property
    def on_dark(self) -> str:
        """The colour on dark paper, ``#rrggbb``."""
        return self.dark or self.hex

    @property
    def rgba(self) -> tuple[float, float, float, float]:
        """Red, green, blue and alpha, 0 … 1."""
        red, green, blue = (int(self.hex[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return red, green, blue, self.alpha


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend: key of the palette, what it marks (body, joint or arrow), and the words."""

    key: str
    marks: str
    text: str

    @property
    def colour(self) -> Colour:
        """Its colour."""
        return PALETTE[self.key]


PALETTE: dict[str, Colour] = {
    "rigid": Colour("#56b4e9"),
    "flexible": Colour("#e69f00"),
    "ground": Colour("#8c8c8c"),
    # a floor fills the picture, and words stand before it
    "floor": Colour("#f0f2f4"),
    "unjudged": Colour("#c3c9d1"),
    "unique": Colour("#009e73"),
    "non-unique": Colour("#d55e00"),
    "undecided": Colour("#f0e442"),
    "known": Colour("#0072b2", dark="#3fa0e0"),
    "open": Colour("#d55e00", 0.45),
    "resolved": Colour("#7a3b00", dark="#c99a6b"),
    "selected": Colour("#cc79a7"),
    "naive": Colour("#882255", 0.4, dark="#d2629a"),
    "signal": Colour("#8c8c8c", 0.25, dark="#b5bcc4"),
    "path": Colour("#0072b2", dark="#3fa0e0"),
}

LEGEND: tuple[LegendEntry, ...] = (
    LegendEntry("rigid", "body", "may stay rigid"),
    LegendEntry("flexible", "body", "must be flexible for correct reactions"),
    LegendEntry("ground", "body", "ground"),
    LegendEntry("unjudged", "body", "not judged"),
    LegendEntry("unique", "joint", "reaction unique"),
    LegendEntry("non-unique", "joint", "reaction not unique"),
    LegendEntry("undecided", "joint", "reaction undecided"),
    LegendEntry("known", "arrow", "reaction, known part"),
    LegendEntry("open", "arrow", "reaction, undetermined directions"),
    LegendEntry("resolved", "arrow", "reaction by stated or estimated stiffness"),
    LegendEntry("selected", "body", "selected"),
    LegendEntry("naive", "body", "rates set to zero (naive)"),
    LegendEntry("signal", "body", "pose at the signal"),
    LegendEntry("path", "arrow", "path of the tool"),
)


def legend_of(keys: set[str]) -> tuple[LegendEntry, ...]:
    """Return the lines of the legend that a picture needs, in its order."""
    return tuple(entry for entry in LEGEND if entry.key in keys)
