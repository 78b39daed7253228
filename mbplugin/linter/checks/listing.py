"""One finding for all that a rule finds in a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import ELEMENTS, Finding, Severity
from mbplugin.linter.rule import Rule, make_finding
from mbplugin.model.scene import Origin, Scene

#: Characters of a list in a message.
_MOST = 160


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
