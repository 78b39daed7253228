"""Names that differ by a side: left and right, FL and FR, l_ and r_."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: Words of a name that mean the left side, and what the right side is called.
_WORDS = {
    "left": "right",
    "l": "r",
    "fl": "fr",
    "rl": "rr",
    "bl": "br",
    "hl": "hr",
    "lf": "rf",
    "lr": "rr",
    "lb": "rb",
    "lh": "rh",
    "lm": "rm",
    "ml": "mr",
}
#: The words of a name: capitals begin one, digits and signs part them.
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Also inside a word, as in leftfinger.
_INSIDE = re.compile(r"left|right", re.IGNORECASE)


def twins(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names of which one is the other with the sides exchanged, the left one first.

    A name with two sides, as ``front_rightL``, says not which of them is mirrored.
    """
    known = dict.fromkeys(names)
    for name in known:
        places = list(_sides(name))
        if len(places) == 1 and (other := _exchanged(name, *places[0])) in known:
            yield name, other


def _sides(name: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the words for a side in a name, from and to."""
    right = set(_WORDS.values())
    inside = [match.span() for match in _INSIDE.finditer(name)]
    yield from inside
    for match in _WORD.finditer(name):
        word, (start, end) = match.group().lower(), match.span()
        if (word in _WORDS or word in right) and not any(a <= start and end <= b for a, b in inside):
            yield start, end


def _exchanged(name: str, start: int, end: int) -> str:
    """Return the name with the left side at a place made the right one; as it is where there is none."""
    right = _WORDS.get(name[start:end].lower())
    return name[:start] + _like(name[start:end], right) + name[end:] if right else ""


def _like(pattern: str, word: str) -> str:
    """Return a word in capitals or not, as another one is."""
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[:1].isupper() else word
