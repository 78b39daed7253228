"""The vocabulary of a format: each name is read, without effect, or reported in a finding.

A reader asks for what it knows; this table is the other side, so that nothing in a file is passed over
in silence. Every attribute and element of a format is in one of three groups, and what is in none of them
is a word that the format does not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Stands for an element's text among its attributes.
TEXT = ""


@dataclass(frozen=True)
class Read:
    """The reader takes it into the scene, or refuses the file because of it."""


@dataclass(frozen=True)
class Idle:
    """It has no effect on the mechanics, for a reason."""

    reason: str


@dataclass(frozen=True)
class Unread:
    """It has no place in the scene, and a finding says so.

    Parameters
    ----------
    why : str
        What follows from that, in a few words.
    default : str
        The value that says as much as nothing; it is no finding.
    note : bool
        Whether the finding is a hint, no warning.
    joined : bool
        Whether all elements of this use are one finding, not one per name.
    """

    why: str = ""
    default: str | None = None
    note: bool = False
    joined: bool = False


Use = Read | Idle | Unread
READ = Read()
#: Uses that words of several formats have.
LOOKS = Idle("looks and lights")
LABEL = Idle("a label that nothing refers to")
SENSOR = Idle("a sensor measures and moves nothing")
TOUCH = Unread("bodies do not touch here", note=True)
PROGRAM = Unread("what a program does to the model is not known", note=True)
SHAPE = Unread("the shape is left out", note=True)


@dataclass(frozen=True)
class Entry:
    """What an element may hold.

    Parameters
    ----------
    attributes : mapping of str to Use
        ``TEXT`` is the element's text.
    children : mapping of str to Use or str
        A use holds for the whole of the child; a text is the key of its entry.
    many : frozenset of str
        Children of which every one is read, not just the first.
    foreign : Use or None
        Of elements that are not listed; None: they are misspelt.
    rest : Use or None
        Of attributes that are not listed; None: they are misspelt.
    """

    attributes: Mapping[str, Use] = field(default_factory=dict)
    children: Mapping[str, Use | str] = field(default_factory=dict)
    many: frozenset[str] = frozenset()
    foreign: Use | None = None
    rest: Use | None = None


Vocabulary = Mapping[str, Entry]


def each(words: str, use: Use) -> dict[str, Use]:
    """Return one use for words parted by blanks."""
    return dict.fromkeys(words.split(), use)


def entry(
    read: str = "",
    others: Mapping[str, Use] | None = None,
    children: Mapping[str, Use | str] | None = None,
    *,
    many: str = "",
    text: Use | None = None,
    foreign: Use | None = None,
    rest: Use | None = None,
) -> Entry:
    """Return an entry; ``read`` lists attributes that are read, ``many`` children, parted by blanks."""
    attributes: dict[str, Use] = {**dict.fromkeys(read.split(), READ), **(others or {})}
    if text is not None:
        attributes[TEXT] = text
    return Entry(attributes, children or {}, frozenset(many.split()), foreign, rest)
