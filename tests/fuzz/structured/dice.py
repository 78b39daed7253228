"""Random values: mostly what a person writes, sometimes what nobody should."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from ..words import NUMBERS, WORDS

T = TypeVar("T")

#: How often a value of a case is wild: many of the cases are what their author meant.
WILDNESS = (0.0, 0.0, 0.0, 0.002, 0.005, 0.01, 0.03)
#: Numbers that are finite and of a size that readers accept.
STRANGE = ("0", "-0", "-1", "1e-16", "1e-9", "1e-300", "1e6", "1e16", "1e29", "-1e29", "1.5707", "3.14159265")
_LENGTHS = (0.0, 0.0, 0.0, 0.5, 1.0, 1.0, -0.5, -1.0, 0.25)


class Dice(Random):
    """A source of values.

    Parameters
    ----------
    text : str
        Alone decides everything that is drawn.
    """

    wild: float

    def __new__(cls, text: str) -> Dice:
        return super().__new__(cls)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.wild = self.choice(WILDNESS)
        #: One unit for a whole case: most robots are metres large.
        self.scale = self.choice((1.0, 1.0, 1.0, 1.0, 1e-3, 1e3))

    def chance(self, share: float) -> bool:
        """Return True so often."""
        return self.random() < share

    def odd(self, factor: float = 1.0) -> bool:
        """Return True as often as this case is wild."""
        return self.random() < self.wild * factor

    def any(self, choices: Sequence[T]) -> T:
        """Return one of the choices."""
        return choices[self.randrange(len(choices))]

    def some(self, choices: Sequence[T], most: int) -> list[T]:
        """Return up to so many of the choices, perhaps one several times."""
        return [self.any(choices) for _ in range(self.randint(0, most))] if choices else []

    def length(self) -> float:
        """Return a coordinate, m."""
        return self.scale * (self.any(_LENGTHS) if self.chance(0.8) else self.gauss(0, 1))

    def angle(self) -> float:
        """Return an angle, rad."""
        return self.any((0.0, 0.0, 0.0, 1.5707963267948966, 1.5707, 3.14159, self.uniform(-3, 3)))

    def positive(self) -> float:
        """Return a number above zero."""
        return self.any((1.0, 0.1, 0.01, 10.0, 10 ** self.uniform(-3, 3)))

    def number(self, usual: float) -> str:
        """Return a number as text: the usual one, or a wild one."""
        if not self.odd():
            return f"{usual:.12g}"
        return self.any(STRANGE) if self.chance(0.7) else self.any(NUMBERS)

    def vector(self, *usual: float) -> str:
        """Return numbers with spaces between, now and then one too few or too many."""
        words = [self.number(value) for value in usual]
        if self.odd(0.3):
            words = self.any((words[:-1], [*words, "1"], []))
        return " ".join(words)

    def name(self, known: Sequence[str]) -> str:
        """Return a name that exists, or one that does not."""
        return self.word() if self.odd() or not known else self.any(known)

    def word(self) -> str:
        """Return a word on which programs fall."""
        return self.any(WORDS)

    def axis(self) -> tuple[float, float, float]:
        """Return a direction."""
        if self.chance(0.8):
            return self.any(
                ((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, -1.0))
            )
        return (self.gauss(0, 1), self.gauss(0, 1), self.gauss(0, 1))
