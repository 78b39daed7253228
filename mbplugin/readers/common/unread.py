"""What a document says and no reader takes: one defect per kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from lxml import etree

from mbplugin.errors import suggestion
from mbplugin.model.bounds import decimal
from mbplugin.model.scene import Defect
from mbplugin.phrases import listed
from mbplugin.readers.common.parents import Parents
from mbplugin.readers.common.vocabulary import TEXT, Entry, Idle, Unread, Use, Vocabulary
from mbplugin.readers.common.xml import Element, attributes_of, local_name, origin

#: How many names a message lists, and how much of a value.
_NAMED, _SHOWN = 4, 60
#: Attributes of one element that are named one by one.
_LISTED = 6


@dataclass(frozen=True, eq=False)
class _Seen:
    """One thing that is not read: where, what it says, whose it is; what to write, where it is misspelt."""

    what: str
    use: Unread
    element: Element
    owner: str
    value: str
    instead: str = ""


def unread_defects(root: Element, vocabulary: Vocabulary, key: str) -> tuple[Defect, ...]:
    """Return what a document says and no reader takes, one defect per kind.

    Parameters
    ----------
    root : Element
    vocabulary : Vocabulary
    key : str
        The entry of the root element.
    """
    groups: dict[str | Unread, list[_Seen]] = {}
    for seen in _scan(root, vocabulary, key):
        groups.setdefault(seen.use if seen.use.joined else seen.what, []).append(seen)
    return tuple(_defect(group) for group in groups.values())


def _scan(root: Element, vocabulary: Vocabulary, key: str) -> Iterator[_Seen]:
    """Yield what is not read of a document, in file order; without recursion, files nest deeply."""
    todo, parents = [(root, vocabulary[key], "")], Parents(vocabulary, key)
    while todo:
        element, known, owner = todo.pop()
        owner = _name(element) or owner
        yield from _attributes(element, known, owner)
        if (text := _text(element)) and (TEXT in known.attributes or not len(element)):
            yield from _written_text(element, text, known, owner)
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
                yield from _child(element, child, use, known, owner, parents, repeated=repeated)
        todo += reversed(inner)


def _attributes(element: Element, known: Entry, owner: str) -> Iterator[_Seen]:
    """Yield the attributes of an element that are not read, those with one reason together."""
    unread: dict[Unread | None, dict[str, str]] = {}
    for name, value in attributes_of(element).items():
        # names with a namespace belong to other programs, as xsi:schemaLocation does
        if str(name).startswith("{"):
            continue
        use = known.attributes.get(str(name), known.rest)
        if use is None or (isinstance(use, Unread) and not _says_nothing(str(value), use)):
            unread.setdefault(use, {})[str(name)] = str(value)
    for reason, found in unread.items():
        names = list(found)
        what = f"{_joined(names)} of <{local_name(element)}>"
        said = (f"{name}={value}" for name, value in found.items())
        value = " ".join(said) if len(found) > 1 else found[names[0]]
        if reason is None:
            known_names = tuple(word for word in known.attributes if word)
            yield _Seen(what, Unread(), element, owner, value, _proposal(names, known_names))
        else:
            yield _Seen(what, reason, element, owner, value)


def _proposal(misspelt: list[str], known: tuple[str, ...]) -> str:
    """Return what to write for misspelt words of one element."""
    if len(misspelt) == 1:
        return suggestion(misspelt[0], known)
    meant = {name: close[0] for name in misspelt if (close := get_close_matches(name, known, n=1))}
    if not meant:
        return suggestion(" ", known)
    return f"did you mean {_joined([f'{word!r} for {name!r}' for name, word in meant.items()])}?"


def _joined(words: list[str]) -> str:
    """Return words as one phrase, the first of many."""
    if len(words) > _LISTED:
        words = [*words[:_LISTED], f"{len(words) - _LISTED} more"]
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _child(
    element: Element,
    child: Element,
    use: Use | str | None,
    known: Entry,
    owner: str,
    parents: Parents,
    *,
    repeated: bool,
) -> Iterator[_Seen]:
    """Yield an element that is not looked into, where it is not read."""
    name = local_name(child)
    what, own = f"<{name}> in <{local_name(element)}>", _name(child) or owner
    if use is None:
        instead = parents.hint(name) or suggestion(name, tuple(known.children))
        yield _Seen(what, Unread(), child, own, content(child), instead)
    elif isinstance(use, Unread):
        if not _says_nothing(content(child), use):
            yield _Seen(what, use, child, own, content(child))
    elif repeated and not isinstance(use, Idle):
        yield _Seen(f"a second {what}", Unread("the first one counts"), child, own, content(child))


def _written_text(element: Element, text: str, known: Entry, owner: str) -> Iterator[_Seen]:
    """Yield the text of an element where it is not read."""
    tag, use = local_name(element), known.attributes.get(TEXT, known.rest)
    if use is None:
        yield _Seen(f"the text of <{tag}>", Unread(), element, owner, text, "remove it")
    elif isinstance(use, Unread) and not _says_nothing(text, use):
        yield _Seen(f"<{tag}>", use, element, owner, text)


def _says_nothing(value: str, use: Unread) -> bool:
    return use.default is not None and _same(value, use.default)


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
        return [decimal(word) for word in a.split()] == [decimal(word) for word in b.split()]
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
    value = first.value if len(first.value) <= _SHOWN else first.value[: _SHOWN - 3] + "..."
    said = f" ({value})" if value else ""
    whose = f" of {listed(list(map(repr, owners)), _NAMED)}" if owners else ""
    what = _what(group)
    verb = "are" if " and " in what else "is"
    why = f": {first.use.why}" if first.use.why else ""
    end = f" {verb} not read{why}"
    if first.instead:
        strange = "" if " belongs in " in first.instead else f" {verb} not part of the format and"
        end = f"{strange} {verb} not read{'' if strange else ' there'}; {first.instead}"
    lines = [int(seen.element.sourceline or 0) for seen in group]
    return Defect(
        "MB113",
        first.owner,
        f"{what}{whose}{said}{end}",
        origin(first.element),
        {"values": [seen.value for seen in group], "owners": owners, "lines": lines},
        "note" if first.use.note else "",
    )


def _what(group: list[_Seen]) -> str:
    """Return what is not read; of elements that are joined, which stand in one, each name."""
    if not group[0].use.joined:
        return group[0].what
    names, _, places = zip(*(seen.what.partition(" in ") for seen in group), strict=True)
    return f"{_joined(list(dict.fromkeys(names)))} in {places[0]}"
