"""Parts of a document that no reader uses: one defect per kind."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from lxml import etree

from mbplugin.csv_tables import CsvTable, quotable, read_csv
from mbplugin.errors import BadNumber, BadUsage, MbPluginError, suggestion
from mbplugin.model import WORLD, Defect, DisjointSets, Mechanism, Pose, Request, decimal
from mbplugin.model.brake_law import UNITS, symbol
from mbplugin.model.mechanism.pair import Between, MotionProfile, Pair
from mbplugin.phrases import dataclass, listed, only_near
from mbplugin.readers.xml import Element, attributes_of, local_name, origin

#: Maximum number of parents named in a hint.
_PARENTS_NAMED = 4
#: Key of an element's text among its attributes.
TEXT = ""
#: Maximum number of names listed in a message, and of characters of a value.
_NAMED, _SHOWN = 4, 60
#: Maximum number of attributes of one element named individually.
_LISTED = 6
#: Columns in their order; their quantity for a joint that turns, and for one that slides.
_COLUMNS = {
    "time": ("time", "time"),
    "value": ("angle", "length"),
    "rate": ("angular rate", "speed"),
    "acceleration": ("angular acceleration", "acceleration"),
}
_HEAD = re.compile(r"\s*([a-z]+)\s*(?:\[[^\]]*\])?\s*")
_UNIT = re.compile(r"\[\s*([^\]]*?)\s*\]")
#: Largest file, bytes.
_LONGEST = 2_000_000


# Elements of a format in which a given element is read, to report a misplaced one.


class Parents:
    """Look-up of the elements in which each element of a format is read."""

    def __init__(self, vocabulary: Vocabulary, key: str) -> None:
        self._vocabulary, self._key = vocabulary, key

    @cached_property
    def _of(self) -> dict[str, dict[str, int]]:
        """Parents of each tag that is read, with their depth; computed only for documents with a misplaced tag."""
        found: dict[str, dict[str, int]] = {}
        todo, seen = deque([(self._key, self._key, 0)]), {self._key}
        while todo:
            key, tag, depth = todo.popleft()
            for child, use in self._vocabulary[key].children.items():
                if isinstance(use, str | Read):
                    found.setdefault(child, {}).setdefault(tag, depth)
                if isinstance(use, str) and use not in seen:
                    seen.add(use)
                    todo.append((use, child, depth + 1))
        return found

    def hint(self, tag: str) -> str:
        """Return a hint on the parents of an element, empty if the format does not have the tag."""
        depths = self._of.get(tag, {})
        # deeper parents are those of extensions
        near = [f"<{name}>" for name, depth in depths.items() if depth <= min(depths.values()) + 1]
        if not near:
            return ""
        *others, last = near[:_PARENTS_NAMED]
        return f"<{tag}> belongs in {', '.join(others) + ' or ' if others else ''}{last}"


# The vocabulary of a format: each name is read, without effect, or reported in a finding.
#
# A reader asks only for what it knows; this table complements it, so that nothing in a file is ignored
# silently. Every attribute and element of a format is in one of three groups; a name in none of them
# is not part of the format.


@dataclass(frozen=True)
class Read:
    """The reader uses it for the scene, or refuses the file because of it."""


@dataclass(frozen=True)
class Idle:
    """It does not affect the mechanics, for the reason given."""

    reason: str


@dataclass(frozen=True)
class Unread:
    """The scene cannot represent it, and a finding reports it.

    Parameters
    ----------
    why : str
        The consequence, in a few words.
    default : str
        The value without effect, which gives no finding.
    note : bool
        Report a hint instead of a warning.
    setting : bool
        It is a setting of one simulator or controller that no mechanism depends on: MB153, which is off by
        default.
    joined : bool
        Report all elements of this use in one finding instead of one per name.
    """

    why: str = ""
    default: str | None = None
    note: bool = False
    setting: bool = False
    joined: bool = False


Use = Read | Idle | Unread
READ = Read()


#: Uses shared by several formats.
LOOKS = Idle("looks and lights")
LABEL = Idle("a label that nothing refers to")
SENSOR = Idle("a sensor measures and moves nothing")
TOUCH = Unread("bodies do not touch here", setting=True)
OF_GAZEBO = Unread("settings of Gazebo's contacts and solver", setting=True, joined=True)
PROGRAM = Unread("what a program does to the model is not known", note=True)
SHAPE = Unread("the shape is left out", note=True)


@dataclass(frozen=True)
class Entry:
    """The permitted content of an element.

    Parameters
    ----------
    attributes : mapping of str to Use
        ``TEXT`` is the element's text.
    children : mapping of str to Use or str
        A use applies to the whole child; a string is the key of the child's entry.
    many : frozenset of str
        Children that are all read, not only the first.
    foreign : Use or None
        Use of unlisted elements; None: they are misspelt.
    rest : Use or None
        Use of unlisted attributes; None: they are misspelt.
    """

    attributes: Mapping[str, Use] = field(default_factory=dict)
    children: Mapping[str, Use | str] = field(default_factory=dict)
    many: frozenset[str] = frozenset()
    foreign: Use | None = None
    rest: Use | None = None


Vocabulary = Mapping[str, Entry]


def each(words: str, use: Use) -> dict[str, Use]:
    """Return a mapping of each word, separated by blanks, to the same use."""
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
    """Return an entry; ``read`` lists attributes that are read, ``many`` children, separated by blanks."""
    attributes: dict[str, Use] = {**dict.fromkeys(read.split(), READ), **(others or {})}
    if text is not None:
        attributes[TEXT] = text
    return Entry(attributes, children or {}, frozenset(many.split()), foreign, rest)


@dataclass(frozen=True, eq=False)
class _Seen:
    """One unread item: its name, use, element, owner and value, and a correction if it is misspelt.

    ``meant`` maps misspelt words, attributes or else the tag, to the only word that each can stand for; ``repeated``
    is True for an element of which the first one counts.
    """

    what: str
    use: Unread
    element: Element
    owner: str
    value: str
    instead: str = ""
    meant: Mapping[str, str] = field(default_factory=dict)
    repeated: bool = False


def unread_defects(root: Element, vocabulary: Vocabulary, key: str) -> tuple[Defect, ...]:
    """Return the elements and attributes of a document that no reader uses, one defect per kind.

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
    """Yield the unread items of a document in file order; iterative, since files nest deeply."""
    todo, parents = [(root, vocabulary[key], "")], Parents(vocabulary, key)
    while todo:
        element, known, owner = todo.pop()
        owner = _name(element) or owner
        yield from _attributes(element, known, owner)
        if (text := _text(element)) and (TEXT in known.attributes or not len(element)):
            yield from _written_text(element, text, known, owner)
        inner: list[tuple[Element, Entry, str]] = []
        firsts: dict[str, Element] = {}
        children = [child for child in element if isinstance(child.tag, str)]
        names = [local_name(child) for child in children]
        stated = set(names)
        for child, name in zip(children, names, strict=True):
            use = known.children.get(name, known.foreign)
            repeated = name in firsts and name not in known.many
            if repeated and _same(content(child), content(firsts[name])):
                # nothing is lost with a copy of the first one
                continue
            firsts.setdefault(name, child)
            if isinstance(use, str) and not repeated:
                inner.append((child, vocabulary[use], owner))
            else:
                yield from _child(element, child, use, known, owner, parents, stated, repeated=repeated)
        todo += reversed(inner)


def _attributes(element: Element, known: Entry, owner: str) -> Iterator[_Seen]:
    """Yield the unread attributes of an element, grouped by reason."""
    unread: dict[Unread | None, dict[str, str]] = {}
    for name, value in attributes_of(element).items():
        # names with a namespace, such as xsi:schemaLocation, belong to other programs
        if str(name).startswith("{"):
            continue
        use = known.attributes.get(str(name), known.rest)
        if (use is None and not _all_zero([str(value)])) or (
            isinstance(use, Unread) and not _says_nothing(str(value), use)
        ):
            unread.setdefault(use, {})[str(name)] = str(value)
    for reason, found in unread.items():
        names = list(found)
        what = f"{_joined(names)} of <{local_name(element)}>"
        said = (f"{name}={value}" for name, value in found.items())
        value = " ".join(said) if len(found) > 1 else found[names[0]]
        if reason is None:
            known_names = tuple(
                word for word, use in known.attributes.items() if word and not getattr(use, "note", False)
            )
            free = [word for word in known_names if element.get(word) is None]
            instead, meant = _proposal(names, known_names), _spelling(names, free)
            yield _Seen(what, Unread(), element, owner, value, instead, meant)
        else:
            yield _Seen(what, reason, element, owner, value)


def _proposal(misspelt: list[str], known: tuple[str, ...]) -> str:
    """Return a spelling proposal for the misspelt words of one element."""
    if len(misspelt) == 1:
        return suggestion(misspelt[0], known)
    meant = {name: close[0] for name in misspelt if (close := get_close_matches(name, known, n=1))}
    if not meant:
        return suggestion(" ", known)
    return f"did you mean {_joined([f'{word!r} for {name!r}' for name, word in meant.items()])}?"


def _spelling(misspelt: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return the correct word for each misspelt one; nothing unless there is one for each, all different."""
    meant = {word: only_near(word, known) for word in misspelt}
    return meant if all(meant.values()) and len(set(meant.values())) == len(meant) else {}


def _joined(words: list[str]) -> str:
    """Join words into a phrase, abbreviating a long list."""
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
    stated: Collection[str],
    *,
    repeated: bool,
) -> Iterator[_Seen]:
    """Yield an element whose content is not scanned, if it is not read; ``stated`` are the names of all children."""
    name = local_name(child)
    what, own = f"<{name}> in <{local_name(element)}>", _name(child) or owner
    if use is None and _all_zero(_values(child)):
        return
    if use is None:
        misplaced = parents.hint(name)
        instead = misplaced or suggestion(name, tuple(known.children))
        free = [word for word in known.children if word in known.many or word not in stated]
        meant = {} if misplaced else _spelling([name], free)
        yield _Seen(what, Unread(), child, own, content(child), instead, meant)
    elif isinstance(use, Unread):
        if not _says_nothing(content(child), use):
            yield _Seen(what, use, child, own, content(child))
    elif repeated and not isinstance(use, Idle):
        why = Unread("the first one counts")
        yield _Seen(f"a second {what}", why, child, own, content(child), repeated=True)


def _written_text(element: Element, text: str, known: Entry, owner: str) -> Iterator[_Seen]:
    """Yield the text of an element if it is not read."""
    tag, use = local_name(element), known.attributes.get(TEXT, known.rest)
    if use is None:
        yield _Seen(f"the text of <{tag}>", Unread(), element, owner, text, "remove it")
    elif isinstance(use, Unread) and not _says_nothing(text, use):
        yield _Seen(f"<{tag}>", use, element, owner, text)


def _values(element: Element) -> list[str]:
    """Return the attribute values and texts of an element and its descendants."""
    parts = [part for part in element.iter() if isinstance(part.tag, str)]
    return [str(v) for part in parts for v in (*part.attrib.values(), _text(part)) if v]


def _all_zero(values: Sequence[str]) -> bool:
    """Return True if the values are one or more numbers, all zero, so that nothing is lost with them."""
    words = [word for value in values for word in value.split()]
    try:
        return bool(words) and not any(decimal(word) for word in words)
    except ValueError:
        return False


def _says_nothing(value: str, use: Unread) -> bool:
    return use.default is not None and _same(value, use.default)


def _name(element: Element) -> str:
    """Return the name of an element, or of the element it refers to."""
    return str(element.get("name") or element.get("reference") or "")


def _text(element: Element) -> str:
    return " ".join((element.text or "").split())


def _same(value: str, default: str) -> bool:
    """Return True if two literals mean the same: words, truth values, or numbers."""
    truth = {"true": "1", "false": "0", "enable": "1", "disable": "0"}
    a, b = (truth.get(text.strip().lower(), text.strip().lower()) for text in (value, default))
    try:
        return [decimal(word) for word in a.split()] == [decimal(word) for word in b.split()]
    except ValueError:
        return a == b


def content(element: Element) -> str:
    """Return the whole content of an element (text, attributes and elements) in one line."""
    parts: list[str] = []
    for event, part in etree.iterwalk(element, events=("start", "end")):
        if not isinstance(part.tag, str):
            continue
        if event == "end":
            parts += [")"] * (part is not element)
            continue
        parts += [f"{local_name(part)}("] * (part is not element)
        parts += [_text(part)] * bool(_text(part))
        parts += [f"{name}={value}" for name, value in attributes_of(part).items()]
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
    evidence = {"values": [seen.value for seen in group], "owners": owners, "lines": lines}
    return Defect(
        "MB153" if first.use.setting else "MB113",
        first.owner,
        f"{what}{whose}{said}{end}",
        origin(first.element),
        {**evidence, **_correction(group)},
        "note" if first.use.note or first.use.setting else "",
    )


def _correction(group: list[_Seen]) -> dict[str, object]:
    """Return the corrections of a group if all its items have one, with the tag and the places of their elements."""
    first = group[0]
    if not all(
        (one.meant or one.repeated) and (one.meant, one.repeated) == (first.meant, first.repeated)
        for one in group
    ):
        return {}
    places = [str(origin(seen.element)) for seen in group]
    correction = {"repeated": True} if first.repeated else {"meant": dict(first.meant)}
    return {"tag": local_name(first.element), "places": places, **correction}


def _what(group: list[_Seen]) -> str:
    """Return the names that are not read; for joined uses, each name, with the first parent."""
    if not group[0].use.joined:
        return group[0].what
    names, _, places = zip(*(seen.what.partition(" in ") for seen in group), strict=True)
    return f"{_joined(list(dict.fromkeys(names)))} in {places[0]}"


# The motion of a driver as a CSV file: time, value, and optionally rate and acceleration.


def read_profile(path: Path, turns: bool, between: Between = "spline") -> MotionProfile:
    """Read the motion from the rows of a CSV file; lines that begin with # are comments.

    Parameters
    ----------
    path : Path
        With a header: ``time`` and ``value``, optionally followed by ``rate`` and ``acceleration``; in s, rad and m,
        or in the unit that the header states in brackets, such as ``value [deg]``.
    turns : bool
        True if the value is an angle, False if it is a length.
    between : "spline" or "rest"
        As for :meth:`MotionProfile.from_points`.

    Raises
    ------
    UnreadableFile, BadUsage, BadNumber
        The file is missing, not a table, or not a motion; with the line.
    """
    table = read_csv(path, _LONGEST)
    (line, header), *rows = table.rows
    factors = [
        _factor(cell, name, turns, table.where(line)) for cell, name in _heads(header, table.where(line))
    ]
    points = [_numbers(table, row, factors, table.where(line)) for line, row in rows]
    try:
        return MotionProfile.from_points(points, between)
    except MbPluginError as error:
        raise type(error)(error.what, where=str(path), expected=error.expected, remedy=error.remedy) from None


def _heads(cells: Sequence[str], where: str) -> list[tuple[str, str]]:
    """Return each cell of the header with its column name, after checking the order of the columns."""
    named = [_HEAD.fullmatch(cell.lower()) for cell in cells]
    names = tuple(match[1] if match else cell for match, cell in zip(named, cells, strict=True))
    if names != tuple(_COLUMNS)[: len(names)] or len(names) < 2:
        wrong = next(
            (k for k, (name, known) in enumerate(zip(names, _COLUMNS, strict=False)) if name != known), -1
        )
        raise BadUsage(
            f"column {wrong + 1} of the motion is {quotable(cells[wrong], 'no name')}"
            if wrong >= 0
            else f"the motion has {len(names)} {'column' if len(names) == 1 else 'columns'}",
            where=where,
            expected="time, value and, where they are stated, rate, acceleration",
        )
    return list(zip(cells, names, strict=True))


def _factor(cell: str, name: str, turns: bool, where: str) -> float:
    """Return the SI factor of the unit in a header cell, 1 without a unit."""
    unit = (_UNIT.search(cell) or [""] * 2)[1]
    if not unit:
        return 1.0
    known = UNITS[_COLUMNS[name][0 if turns else 1]]
    if symbol(unit) not in known:
        raise BadUsage(
            f"column {name} is in {quotable(unit, 'no known unit')}",
            where=where,
            expected=f"one of {', '.join(known)}",
        )
    return known[symbol(unit)]


def _numbers(table: CsvTable, row: Sequence[str], factors: list[float], where: str) -> list[float]:
    if len(row) != len(factors):
        raise BadUsage(
            f"the row has {len(row)} cells", where=where, expected=f"{len(factors)}, as the header"
        )
    try:
        return [table.number(cell) * factor for cell, factor in zip(row, factors, strict=True)]
    except ValueError:
        raise BadNumber(
            "a cell of the motion is not a number", where=where, expected="decimal numbers"
        ) from None


# Fixing roots to the ground, as a fixed base or a static model requires.


def to_world(body: str, X_WL: Pose) -> Pair:
    """Return the fixed pair ``world→body`` that fixes a body's link frame at a pose."""
    return Pair(f"{WORLD}→{body}", "fixed", WORLD, body, X_WL, Pose.identity())


def with_fixed_roots(mech: Mechanism, poses: Mapping[str, Pose]) -> Mechanism:
    """Return the mechanism with the root of every untied part fixed to the ground.

    Parameters
    ----------
    mech : Mechanism
    poses : mapping of body name to Pose
        X_WL of the roots, at which they are fixed.
    """
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return replace(mech, pairs=(*(to_world(name, poses[name]) for name in roots), *mech.pairs))


def with_requested_base(mech: Mechanism, poses: Mapping[str, Pose], request: Request) -> Mechanism:
    """Return the mechanism with the base that was requested, if any.

    Parameters
    ----------
    mech : Mechanism
    poses : mapping of body name to Pose
        X_WL of the roots, at which they are fixed.
    request : Request

    Raises
    ------
    BadUsage
        A free base is requested, and everything is tied to the ground.
    """
    if request.base == "fixed":
        return with_fixed_roots(mech, poses)
    if request.base == "free":
        require_free_root(mech, request.path)
    return mech


def require_free_root(mech: Mechanism, file: str) -> None:
    """Refuse a request for a free base if everything is tied to the ground.

    Raises
    ------
    BadUsage
        No part of the mechanism can move freely in the world.
    """
    if any(joint.pair is None for joint in mech.tree.joints):
        return
    if not mech.bodies:
        raise BadUsage(
            "the base cannot be free, there is no body that moves",
            where=file,
            remedy="give the model a link with mass or do not ask for a free base",
        )
    tie = next(pair for pair in mech.pairs if WORLD in pair.bodies)
    raise BadUsage(
        f"the base cannot be free, pair {tie.name!r} ties it to the world",
        where=file,
        remedy="remove that joint from the file or do not ask for a free base",
    )


# Selection of the joints that close loops, for formats that state joints but no tree.


def mark_closures(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with exactly one pair per independent loop marked as its closure.

    A pair that the file states as a closure is preferred, then a second joint on the same child, then the later joint.
    """
    has_parent: set[str] = set()
    late: list[tuple[bool, bool]] = []
    for pair in pairs:
        late.append((pair.closure, pair.body_b in has_parent))
        has_parent.add(pair.body_b)
    marked = list(pairs)
    groups: DisjointSets[str] = DisjointSets()
    for i in sorted(range(len(pairs)), key=late.__getitem__):
        closes = not groups.join(*pairs[i].bodies)
        if closes is not pairs[i].closure:
            marked[i] = replace(pairs[i], closure=closes)
    return marked
