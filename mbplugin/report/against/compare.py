"""The comparison of two documents: entries of lists are matched by their names, else by their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from mbplugin.report.against.earlier import EarlierReport
from mbplugin.report.against.values import ROUNDING, Comparison, InputChange, KeyChange, Scalar
from mbplugin.report.documents.json import plain

#: Keys that are compared as inputs, that say how a file is written, that follow from the others, or that
#: another run of the same has otherwise: its processor time.
_APART = ("record", "schema_version", "generator", "against", "command", "seconds")
#: Keys that tell the entries of a list from each other, in the order in which a place is named.
_NAMES = (
    "category",
    "name",
    "joint",
    "body",
    "kind",
    "measure",
    "row",
    "speed_percent",
    "extension_percent",
    "payload_percent",
    "component",
    "path",
    "engine",
)
_ABSENT = object()


class _Leaf(NamedTuple):
    """Two values at one place; absent ones are ``_ABSENT``."""

    key: str
    where: str
    old: Any
    new: Any

    @property
    def sentence(self) -> bool:
        """Whether it is a text of a list of texts, whose place says nothing: each is compared by itself."""
        return self.where in (self.old, self.new) and self.where != ""


def compared(earlier: EarlierReport, document: Mapping[str, Any]) -> Comparison:
    """Return what differs between an earlier report and a new document with its record."""
    new = plain(document)
    old = earlier.document
    record = old.get("record") or {}
    by_key: dict[tuple[str, str], list[_Leaf]] = {}
    for leaf in _leaves(old, new, "", ""):
        by_key.setdefault((leaf.key, leaf.where if leaf.sentence else ""), []).append(leaf)
    changes = [change for leaves in by_key.values() if (change := _change(leaves)) is not None]
    return Comparison(
        earlier.path,
        earlier.sha256,
        str(record.get("date", "")),
        tuple(_inputs(record, new["record"])),
        tuple(changes),
        sum(len(leaves) for leaves in by_key.values()),
    )


def _inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[InputChange]:
    """Yield what went into two reports and is not the same."""
    if not old:
        yield InputChange("record", "none", "of this report")
        return
    for key in ("command", "version", "robot", "standard"):
        before, after = str(old.get(key) or "none"), str(new.get(key) or "none")
        if before != after:
            yield InputChange(key, before, after)
    hashes = [
        {str(one["path"]): one.get("sha256") for one in record.get("files", ())} for record in (old, new)
    ]
    for path in dict.fromkeys((*hashes[0], *hashes[1])):
        before, after = (_hash_words(path, own) for own in hashes)
        if before != after:
            yield InputChange(path, before, after)


def _hash_words(path: str, hashes: Mapping[str, Any]) -> str:
    return f"SHA-256 {hashes[path] or 'not known'}" if path in hashes else "not read"


def _leaves(old: Any, new: Any, key: str, where: str) -> Iterator[_Leaf]:
    """Yield the values of two trees side by side."""
    if _both(dict, old, new):
        before, after = ({} if one is _ABSENT else one for one in (old, new))
        for name in dict.fromkeys((*before, *after)):
            if name in _APART:
                continue
            path = f"{key}.{name}" if key else name
            first, second = before.get(name, _ABSENT), after.get(name, _ABSENT)
            if not key and any(one is _ABSENT for one in (first, second)) and _both(dict, first, second):
                # a whole part, such as the worst stops of a table, is one difference
                yield _Leaf(path, where, _outside(first), _outside(second))
                continue
            yield from _leaves(first, second, path, where)
    elif _both(list, old, new):
        entries = [[] if one is _ABSENT else one for one in (old, new)]
        for place, first, second in _matched(*entries):
            inner = place if isinstance(first, str) or isinstance(second, str) else _joined(where, place)
            yield from _leaves(first, second, f"{key}[]", inner)
    else:
        yield _Leaf(key, where, _outside(old), _outside(new))


def _both(kind: type, *values: Any) -> bool:
    """Whether values are of a kind, one of them perhaps absent."""
    return any(isinstance(one, kind) for one in values) and all(
        one is _ABSENT or isinstance(one, kind) for one in values
    )


def _outside(value: Any) -> Any:
    """Return a value, of a list or an object only that it is one: the other report has none there."""
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else value


def _joined(*places: str) -> str:
    return ", ".join(filter(None, places))


def _matched(old: list[Any], new: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the entries of two lists that belong together: the name of their place, and both."""
    names = [[_name(entry) for entry in entries] for entries in (old, new)]
    if all(all(own) and len(set(own)) == len(own) for own in names) and (old or new):
        before, after = (
            dict(zip(own, entries, strict=True)) for own, entries in zip(names, (old, new), strict=True)
        )
        for name in dict.fromkeys((*before, *after)):
            yield name, before.get(name, _ABSENT), after.get(name, _ABSENT)
        return
    for k, (first, second) in enumerate(zip_longest(old, new, fillvalue=_ABSENT), 1):
        yield f"entry {k}", first, second


def _name(entry: Any) -> str:
    """Return what names an entry of a list; nothing where nothing does."""
    if not isinstance(entry, dict):
        return entry if isinstance(entry, str) else ""
    found = ((key, entry[key]) for key in _NAMES if isinstance(entry.get(key), str | int))
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in found)


def _change(leaves: list[_Leaf]) -> KeyChange | None:
    """Return what differs under one key; None where nothing does."""
    scale = max((abs(v) for leaf in leaves for v in (leaf.old, leaf.new) if _is_number(v)), default=0.0)
    differing = [leaf for leaf in leaves if _differ(leaf, scale)]
    if not differing:
        return None
    most = max(differing, key=_size)
    old, new = (None if value is _ABSENT else value for value in (most.old, most.new))
    relative = (new - old) / abs(old) if _is_number(old) and _is_number(new) and old else None
    return KeyChange(most.key, len(differing), len(leaves), most.where, _scalar(old), _scalar(new), relative)


def _differ(leaf: _Leaf, scale: float) -> bool:
    if _is_number(leaf.old) and _is_number(leaf.new):
        return bool(abs(leaf.new - leaf.old) > ROUNDING * scale)
    return bool(leaf.old != leaf.new)


def _size(leaf: _Leaf) -> float:
    """Return how large a difference is: what is no number, or there once only, comes first."""
    both = _is_number(leaf.old) and _is_number(leaf.new)
    return abs(leaf.new - leaf.old) if both else float("inf")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _scalar(value: Any) -> Scalar:
    return value if value is None or isinstance(value, int | float | str | bool) else str(value)
