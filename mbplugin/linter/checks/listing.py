"""One finding for all that a rule finds in a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10, pi
from typing import Any

from mbplugin.linter.finding import ELEMENTS, Finding, Severity
from mbplugin.linter.rule import Rule, body_place, make_finding
from mbplugin.model.scene import Origin, Scene

#: Characters of a list in a message.
_MOST = 160
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
#: Up to here a joint may turn, rad; and up to here people write degrees.
_TWO_TURNS, _DEGREES_MOST = 4 * pi, 720.0


@dataclass(frozen=True)
class Instance:
    """An element that a rule reports: its name, its place, and what the message shows of it."""

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
    """Yield one finding for all instances, at the first of them; nothing where there are none.

    Parameters
    ----------
    rule : Rule
    severity : Severity
    instances : sequence of Instance
    what : str
        What is the matter, before the list.
    help : str
    so : str
        What follows from it, after the list.
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
    """Return one finding about several links, at a part of the first of them.

    Parameters
    ----------
    rule : Rule
    severity : Severity
    scene : Scene
    links : sequence of str
    message : str
    *parts : str
        The part of a link that is wrong, and what stands for it where that is not written.
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
    """Return phrases in one text, as many of them as fit, at least one."""
    shown: list[str] = []
    for phrase in dict.fromkeys(phrases):
        if shown and sum(map(len, shown)) + len(phrase) > most:
            break
        shown.append(phrase if len(phrase) <= most else phrase[: most - 3] + "...")
    left = len(dict.fromkeys(phrases)) - len(shown)
    return ", ".join(shown) + (f" and {left} more" if left else "")


# Names that differ by a side: left and right, FL and FR, l_ and r_.


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


# Angles that should be in radians and look like degrees.


def in_degrees(values: Iterable[float]) -> bool:
    """Return whether the limits of a joint are whole degrees: one beyond two turns, none a fraction.

    Powers of ten stand for "no limit".
    """
    stated = [abs(float(value)) for value in values if value]
    whole = all(value <= _DEGREES_MOST and value == round(value) for value in stated)
    return whole and any(value > _TWO_TURNS and log10(value) % 1 for value in stated)
