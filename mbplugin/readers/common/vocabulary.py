"""The vocabulary of a format: each name is read, without effect, or reported in a finding.

A reader asks for what it knows; this table is the other side, so that nothing in a file is passed over
in silence. Every attribute and element of a format is in one of three groups, and what is in none of them
is a word that the format does not have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lxml import etree

from mbplugin.errors import suggestion
from mbplugin.model.scene import Defect
from mbplugin.readers.common.xml import Element, local_name, origin

#: Stands for an element's text among its attributes.
TEXT = ""
#: How many names a message lists, and how much of a value.
_NAMED, _SHOWN = 4, 60
#: Misspelt attributes of one element that are named one by one.
_MOST = 20


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
    """

    why: str = ""
    default: str | None = None
    note: bool = False


Use = Read | Idle | Unread
READ = Read()


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


@dataclass(frozen=True, eq=False)
class _Seen:
    """One thing that is not read: where, what it says, whose it is; misspelt, which word and the known."""

    what: str
    use: Unread
    element: Element
    owner: str
    value: str
    misspelt: tuple[str, tuple[str, ...]] | None = None


def unread_defects(root: Element, vocabulary: Vocabulary, key: str) -> tuple[Defect, ...]:
    """Return what a document says and no reader takes, one defect per kind.

    Parameters
    ----------
    root : Element
    vocabulary : Vocabulary
    key : str
        The entry of the root element.
    """
    groups: dict[str, list[_Seen]] = {}
    for seen in _scan(root, vocabulary, key):
        groups.setdefault(seen.what, []).append(seen)
    return tuple(_defect(group) for group in groups.values())


def _scan(root: Element, vocabulary: Vocabulary, key: str) -> Iterator[_Seen]:
    """Yield what is not read of a document, in file order; without recursion, files nest deeply."""
    todo = [(root, vocabulary[key], "")]
    while todo:
        element, known, owner = todo.pop()
        owner = _name(element) or owner
        yield from _attributes(element, known, owner)
        if (text := _text(element)) and (TEXT in known.attributes or not len(element)):
            yield from _value(element, TEXT, text, known, owner)
        inner: list[tuple[Element, Entry, str]] = []
        seen: set[str] = set()
        for child in element:
            if not isinstance(child.tag, str):
                continue
            name = local_name(child)
            use = known.children.get(name, known.foreign)
            repeated = name in seen and name not in known.many
            seen.add(name)
            if isinstance(use, str) and not repeated:
                inner.append((child, vocabulary[use], owner))
            else:
                yield from _child(element, child, use, known, owner, repeated=repeated)
        todo += reversed(inner)


def _attributes(element: Element, known: Entry, owner: str) -> Iterator[_Seen]:
    """Yield the attributes of an element that are not read; of many misspelt ones just the first."""
    misspelt = 0
    for name, value in element.attrib.items():
        # names with a namespace belong to other programs, as xsi:schemaLocation does
        if str(name).startswith("{"):
            continue
        for seen in _value(element, str(name), str(value), known, owner):
            misspelt += seen.misspelt is not None
            if misspelt <= _MOST or seen.misspelt is None:
                yield seen
    if misspelt > _MOST:
        what = f"{misspelt - _MOST} more words of <{local_name(element)}>"
        yield _Seen(what, Unread("they are not part of the format"), element, owner, "")


def _child(
    element: Element, child: Element, use: Use | str | None, known: Entry, owner: str, *, repeated: bool
) -> Iterator[_Seen]:
    """Yield an element that is not looked into, where it is not read."""
    name = local_name(child)
    what, own = f"<{name}> in <{local_name(element)}>", _name(child) or owner
    if use is None:
        yield _Seen(what, Unread(), child, own, content(child), (name, tuple(known.children)))
    elif repeated and not isinstance(use, Idle):
        yield _Seen(f"a second {what}", Unread("the first one counts"), child, own, content(child))
    elif isinstance(use, Unread) and not (use.default is not None and _same(content(child), use.default)):
        yield _Seen(what, use, child, own, content(child))


def _value(element: Element, name: str, value: str, known: Entry, owner: str) -> Iterator[_Seen]:
    """Yield an attribute, or the text, of an element that is not read."""
    tag, use = local_name(element), known.attributes.get(name, known.rest)
    if use is None:
        what = f"{name} of <{tag}>" if name else f"the text of <{tag}>"
        words = tuple(word for word in known.attributes if word)
        yield _Seen(what, Unread(), element, owner, value, (name, words))
    elif isinstance(use, Unread) and not (use.default is not None and _same(value, use.default)):
        yield _Seen(f"{name} of <{tag}>" if name else f"<{tag}>", use, element, owner, value)


def _name(element: Element) -> str:
    """Return how an element is called, or what it is about."""
    return str(element.get("name") or element.get("reference") or "")


def _text(element: Element) -> str:
    return " ".join((element.text or "").split())


def _same(value: str, default: str) -> bool:
    """Return whether two literals mean the same: words, truth values, or numbers."""
    truth = {"true": "1", "false": "0", "enable": "1", "disable": "0"}
    a, b = (truth.get(text.strip().lower(), text.strip().lower()) for text in (value, default))
    try:
        return [float(word) for word in a.split()] == [float(word) for word in b.split()]
    except ValueError:
        return a == b


def content(element: Element) -> str:
    """Return everything that an element says, its text, attributes and elements, in one line."""
    parts: list[str] = []
    for event, part in etree.iterwalk(element, events=("start", "end")):
        if not isinstance(part.tag, str):
            continue
        if event == "end":
            parts += [")"] * (part is not element)
            continue
        parts += [f"{local_name(part)}("] * (part is not element)
        parts += [_text(part)] * bool(_text(part))
        parts += [f"{name}={value}" for name, value in part.attrib.items()]
    return " ".join(parts).replace("( ", "(").replace(" )", ")")


def _defect(group: list[_Seen]) -> Defect:
    first = group[0]
    owners = list(dict.fromkeys(seen.owner for seen in group if seen.owner))
    shown = ", ".join(repr(name) for name in owners[:_NAMED])
    more = f" and {len(owners) - _NAMED} more" if len(owners) > _NAMED else ""
    value = first.value if len(first.value) <= _SHOWN else first.value[: _SHOWN - 3] + "..."
    said = f" ({value})" if value else ""
    whose = f" of {shown}{more}" if owners else ""
    why = f": {first.use.why}" if first.use.why else ""
    end = f" is not read{why}"
    if first.misspelt:
        word, known = first.misspelt
        hint = suggestion(word, known) if word else "remove it"
        end = f" is not part of the format and is not read; {hint}"
    lines = [int(seen.element.sourceline or 0) for seen in group]
    return Defect(
        "MB113",
        first.owner,
        f"{first.what}{whose}{said}{end}",
        origin(first.element),
        {"values": [seen.value for seen in group], "owners": owners, "lines": lines},
        "note" if first.use.note else "",
    )
