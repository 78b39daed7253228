"""Elements of XML, written after some of them were spoiled."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from ..words import NUMBERS, WORDS
from .dice import Dice


@dataclass
class Tag:
    """An element: attributes may stand twice, children are elements or text."""

    name: str
    attributes: list[tuple[str, str]] = field(default_factory=list)
    children: list[Tag | str] = field(default_factory=list)

    def text(self, indent: int = 0) -> str:
        """Return the element as it is written."""
        head = "".join([self.name, *(f" {name}={_quoted(value)}" for name, value in self.attributes)])
        pad = " " * indent
        if not self.children:
            return f"{pad}<{head}/>"
        if all(isinstance(one, str) for one in self.children):
            return f"{pad}<{head}>{''.join(map(_escaped, self.children))}</{self.name}>"
        inner = "\n".join(one.text(indent + 1) if isinstance(one, Tag) else one for one in self.children)
        return f"{pad}<{head}>\n{inner}\n{pad}</{self.name}>"

    def all(self) -> Iterator[Tag]:
        """Yield the element and all within it."""
        yield self
        for one in self.children:
            if isinstance(one, Tag):
                yield from one.all()


def _quoted(value: str) -> str:
    return quoteattr(value, {"\n": "&#10;", "\0": "&#0;"})


def _escaped(value: object) -> str:
    return escape(str(value))


def tag(_name: str, *children: Tag | str | None, **attributes: str | None) -> Tag:
    """Return an element; what is None is left out, a trailing underscore of a name too."""
    given = [(name.rstrip("_"), value) for name, value in attributes.items() if value is not None]
    return Tag(_name, given, [child for child in children if child is not None])


def spoil(root: Tag, dice: Dice) -> None:
    """Spoil some of the elements: none of most models, a few of the others."""
    for _ in range(dice.any((0, 0, 0, 1, 1, 2, 3) if dice.wild else (*(0,) * 11, 1))):
        dice.any(_SPOILERS)(root, dice)


def _one(root: Tag, dice: Dice) -> Tag:
    return dice.any(list(root.all()))


def _parent(root: Tag, dice: Dice) -> tuple[Tag, int] | None:
    places = [
        (one, i) for one in root.all() for i, child in enumerate(one.children) if isinstance(child, Tag)
    ]
    return dice.any(places) if places else None


def _drop_attribute(root: Tag, dice: Dice) -> None:
    one = _one(root, dice)
    if one.attributes:
        one.attributes.pop(dice.randrange(len(one.attributes)))


def _change_attribute(root: Tag, dice: Dice) -> None:
    owners = [one for one in root.all() if one.attributes]
    if owners:
        one = dice.any(owners)
        i = dice.randrange(len(one.attributes))
        one.attributes[i] = (one.attributes[i][0], dice.any((*NUMBERS, *WORDS)))


def _exchange_attributes(root: Tag, dice: Dice) -> None:
    """Let an attribute have the value that another one of its name has: references go astray."""
    owners = [(one, i) for one in root.all() for i in range(len(one.attributes))]
    if owners:
        one, i = dice.any(owners)
        name = one.attributes[i][0]
        values = [
            value for other, k in owners for key, value in (other.attributes[k],) if key in (name, "name")
        ]
        one.attributes[i] = (name, dice.any(values))


def _double_attribute(root: Tag, dice: Dice) -> None:
    one = _one(root, dice)
    if one.attributes and dice.chance(0.2):
        one.attributes.append(dice.any(one.attributes))


def _change_text(root: Tag, dice: Dice) -> None:
    owners = [one for one in root.all() if any(isinstance(child, str) for child in one.children)]
    if owners:
        dice.any(owners).children = [dice.any((*NUMBERS, *WORDS))]


def _exchange_texts(root: Tag, dice: Dice) -> None:
    owners = [one for one in root.all() if any(isinstance(child, str) for child in one.children)]
    if owners:
        one = dice.any(owners)
        alike = [other for other in owners if other.name == one.name]
        one.children = deepcopy(dice.any(alike).children)


def _drop(root: Tag, dice: Dice) -> None:
    if (place := _parent(root, dice)) is not None:
        place[0].children.pop(place[1])


def _double(root: Tag, dice: Dice) -> None:
    if (place := _parent(root, dice)) is not None:
        place[0].children.insert(place[1], deepcopy(place[0].children[place[1]]))


def _move(root: Tag, dice: Dice) -> None:
    if (place := _parent(root, dice)) is not None:
        _one(root, dice).children.append(deepcopy(place[0].children[place[1]]))


def _rename(root: Tag, dice: Dice) -> None:
    names = [one.name for one in root.all()]
    one = _one(root, dice)
    if one is not root:
        one.name = dice.any((*names, "unknown", "a:b"))


def _empty(root: Tag, dice: Dice) -> None:
    _one(root, dice).children.clear()


_SPOILERS = (
    *(_drop_attribute, _change_attribute, _exchange_attributes, _change_text, _exchange_texts),
    *(_exchange_attributes, _exchange_texts, _drop, _double, _move, _rename, _empty, _double_attribute),
)
