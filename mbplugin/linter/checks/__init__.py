"""Computations shared by several rules; here how findings list elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10, pi
from typing import Any

from mbplugin.linter.rule import ELEMENTS, Finding, Rule, Severity, body_place, make_finding
from mbplugin.model import Origin, Scene
from mbplugin.phrases import WORD_IN_NAME

#: Maximum number of characters of a list in a message.
_MOST = 160
#: Words in a name for the left side, with the corresponding words for the right side.
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
#: Words for a side that are also recognized inside a word, as in leftfinger.
_INSIDE = re.compile(r"left|right", re.IGNORECASE)
#: Largest plausible joint limit, rad; and largest limit that may be meant in degrees.
_TWO_TURNS, _DEGREES_MOST = 4 * pi, 720.0


@dataclass(frozen=True)
class Instance:
    """An element reported by a rule: its name, its location, and its text in the message."""

    element: str
    origin: Origin | None
    shown: str


def joined_finding(
    rule: Rule,
    severity: Severity,
    instances: Sequence[Instance],
    what: str,
    *,
    help: str,
    so: str = "",
    evidence: Mapping[str, Any] | None = None,
) -> Iterator[Finding]:
    """Yield one finding for all instances, located at the first one; nothing if there are none.

    Parameters
    ----------
    rule : Rule
    severity : Severity
    instances : sequence of Instance
    what : str
        The problem; precedes the list.
    help : str
    so : str
        The consequence; follows the list.
    evidence : mapping, optional
    """
    if not instances:
        return
    yield make_finding(
        rule,
        severity,
        f"{what}: {shortened([instance.shown for instance in instances])}{f'; {so}' if so else ''}",
        element=instances[0].element,
        origin=instances[0].origin,
        evidence={
            ELEMENTS: [instance.element for instance in instances],
            "places": [str(instance.origin) for instance in instances if instance.origin],
            **(evidence or {}),
        },
        help=help,
    )


def links_finding(
    rule: Rule,
    severity: Severity,
    scene: Scene,
    links: Sequence[str],
    message: str,
    *parts: str,
    help: str,
    evidence: Mapping[str, Any],
) -> Finding:
    """Return one finding about several links, located at a part of the first one.

    Parameters
    ----------
    rule : Rule
    severity : Severity
    scene : Scene
    links : sequence of str
    message : str
    *parts : str
        The part of a link that is wrong, followed by fallbacks for its location if it is not in the file.
    help : str
    evidence : mapping
    """
    places = [body_place(scene, link, *parts) for link in links]
    return make_finding(
        rule,
        severity,
        message,
        element=links[0],
        origin=places[0],
        evidence={**evidence, ELEMENTS: list(links), "places": [str(place) for place in places if place]},
        help=help,
    )


def shortened(phrases: Sequence[str], most: int = _MOST) -> str:
    """Return distinct phrases joined in one text, as many as fit, at least one, and the number of the others."""
    shown: list[str] = []
    for phrase in dict.fromkeys(phrases):
        if shown and sum(map(len, shown)) + len(phrase) > most:
            break
        shown.append(phrase if len(phrase) <= most else phrase[: most - 3] + "...")
    left = len(dict.fromkeys(phrases)) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


# Names that differ in the side: left and right, FL and FR, l_ and r_.


def twins(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of names that differ only in the side, the left one first.

    Names with two words for a side, such as ``front_rightL``, are skipped as ambiguous.
    """
    known = dict.fromkeys(names)
    for name in known:
        places = list(_sides(name))
        if len(places) == 1 and (other := _exchanged(name, *places[0])) in known:
            yield name, other


def _sides(name: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word for a side in a name."""
    right = set(_WORDS.values())
    inside = [match.span() for match in _INSIDE.finditer(name)]
    yield from inside
    for match in WORD_IN_NAME.finditer(name):
        word, (start, end) = match.group().lower(), match.span()
        if (word in _WORDS or word in right) and not any(a <= start and end <= b for a, b in inside):
            yield start, end


def _exchanged(name: str, start: int, end: int) -> str:
    """Return the name with the word for the left side replaced by that for the right; "" if it is not a left side."""
    right = _WORDS.get(name[start:end].lower())
    return name[:start] + _like(name[start:end], right) + name[end:] if right else ""


def _like(pattern: str, word: str) -> str:
    """Return a word with the capitalization of another one."""
    if pattern.isupper():
        return word.upper()
    return word.capitalize() if pattern[:1].isupper() else word


# Angles that should be in radians but look like degrees.


def in_degrees(values: Iterable[float]) -> bool:
    """Return True if the limits of a joint look like degrees: all are integers, and one exceeds two turns in rad.

    Powers of ten do not count as exceeding, since they stand for "no limit".
    """
    stated = [abs(float(value)) for value in values if value]
    whole = all(value <= _DEGREES_MOST and value == round(value) for value in stated)
    return whole and any(value > _TWO_TURNS and log10(value) % 1 for value in stated)
