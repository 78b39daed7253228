"""The comparison of two documents: entries of lists are matched by their names, else by their places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import parse_json, read_bounded
from mbplugin.phrases import number, visible
from mbplugin.report.documents import DOCUMENTS, DocumentName
from mbplugin.report.documents.part import output_of, plain, required_keys, violation

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
#: Characters of a long value.
_LONGEST = 60
#: Bytes of an earlier report; more takes minutes to compare, value by value.
_LONGEST_REPORT = 16_000_000
#: Missing keys that a message names.
_NAMED = 4
#: Differences below this share of the largest number under a key are rounding.
ROUNDING = 1e-6
#: What a key may hold; None where one of the reports does not have it.
Scalar = float | int | str | bool | None


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
    """Return the differences between an earlier report and a new document with its record."""
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
    """Return the identifying name of an entry of a list; empty for none."""
    if not isinstance(entry, dict):
        return entry if isinstance(entry, str) else ""
    found = ((key, entry[key]) for key in _NAMES if isinstance(entry.get(key), str | int))
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in found)


def _change(leaves: list[_Leaf]) -> KeyChange | None:
    """Return the change of one key; None for none."""
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


# The words of a comparison, for texts and pages.


def title_of(comparison: Comparison) -> str:
    """Return against which report."""
    made = f" of {comparison.date}" if comparison.date else ""
    units = " (in rad, m, kg, s and N)" if comparison.differs else ""
    return f"Against {comparison.path}{made}: {comparison.sentence}{units}"


def input_words(change: InputChange) -> str:
    """Return one input that is not the same."""
    return f"{change.name}: {change.old} → {change.new}"


def change_words(change: KeyChange) -> tuple[str, str, str]:
    """Return the key, how many of its values differ, and the largest difference with its place.

    A sentence of a list is new or gone.
    """
    if change.where and change.where in (change.old, change.new):
        return change.key, "new" if change.old is None else "gone", change.where
    share = "" if change.relative is None else f" ({number(100 * change.relative, '+.3g')} %)"
    most = f"{_shown(change.old)} → {_shown(change.new)}{share}"
    place = f"{change.where}: " if change.where else ""
    return change.key, f"{change.changed} of {change.count} differ, the most", place + most


def _shown(value: Scalar) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    return f"{value:.6g}"


# An earlier report, read from its JSON before anything is computed.


@dataclass(frozen=True, eq=False)
class EarlierReport:
    """The JSON document of an earlier report.

    Parameters
    ----------
    path, sha256 : str
        The file, and the hash of its content.
    document : dict
    """

    path: str
    sha256: str
    document: dict[str, Any]


def read_earlier(path: Path | None, document: DocumentName) -> EarlierReport | None:
    """Return the earlier report of a command from its JSON file; None where no file is given.

    Raises
    ------
    UnreadableFile
        The file is missing, or no JSON.
    BadUsage
        It is not the JSON of this command.
    """
    if path is None:
        return None
    data = read_bounded(path, _LONGEST_REPORT)
    try:
        found = parse_json(data)
    except ValueError:
        raise UnreadableFile(
            "the earlier report is no JSON", where=str(path), expected=f"what mbplugin {document} wrote"
        ) from None
    missing = _missing(found, document)
    if missing:
        other = _command_of(found)
        raise BadUsage(
            f"the earlier report is that of mbplugin {other}"
            if other not in (None, document)
            else f"the earlier report has no {', '.join(missing[:_NAMED])}",
            where=str(path),
            expected=f"the JSON of mbplugin {document}",
        )
    if wrong := violation(found, document):
        raise BadUsage(
            f"the earlier report has another {visible(wrong)} than mbplugin {document} writes",
            where=str(path),
            expected=f"the JSON of mbplugin {document}",
            remedy=f"write it once more with mbplugin {document} --output",
        )
    if any("path" not in source for source in (found.get("record") or {}).get("files", ())):
        raise BadUsage(
            "the record of the earlier report lists a file without its path",
            where=str(path),
            expected=f"the JSON of mbplugin {document}",
        )
    return EarlierReport(str(path), sha256(data).hexdigest(), found)


def _missing(found: Any, document: DocumentName) -> list[str]:
    """Return the keys that every document of a command has and this one has not."""
    keys = required_keys(output_of(document))
    return [key for key in keys if not isinstance(found, dict) or key not in found]


def _command_of(found: Any) -> str | None:
    """Return the command that a report says made it; None where it says none."""
    record = found.get("record") if isinstance(found, dict) else None
    command = str(record.get("command", "")) if isinstance(record, dict) else ""
    return next((word for word in command.split()[1:] if word in DOCUMENTS), None)


# What differs between two reports, as a value.


@dataclass(frozen=True)
class InputChange:
    """Something that went into the reports and is not the same: a file, the command, the version."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class KeyChange:
    """What changed under one key of all entries of a list.

    Parameters
    ----------
    key : str
        Path of the key, ``[]`` for the entries of a list, such as ``rows[].distance``.
    changed, count : int
        Values that differ, of all under the key in either report.
    where : str
        The entry of the largest difference, by its names; empty where the key is there once.
    old, new : number, str, bool or None
        The values there; None where a report has none.
    relative : float or None
        (new − old)/\\|old\\| there; None for what is no number, and where old is zero.
    """

    key: str
    changed: int
    count: int
    where: str
    old: Scalar
    new: Scalar
    relative: float | None


@dataclass(frozen=True)
class Comparison:
    """A report against an earlier one.

    Parameters
    ----------
    path, sha256 : str
        Of the earlier report.
    date : str
        When it was made; empty where it does not say.
    inputs : tuple of InputChange
    changes : tuple of KeyChange
        In the order of the document.
    count : int
        Values that were compared.
    """

    path: str
    sha256: str
    date: str
    inputs: tuple[InputChange, ...]
    changes: tuple[KeyChange, ...]
    count: int

    @property
    def differs(self) -> bool:
        """Whether a value differs; inputs may differ without that."""
        return bool(self.changes)

    @property
    def sentence(self) -> str:
        """How much differs."""
        changed = sum(change.changed for change in self.changes)
        if not changed:
            return f"none of {self.count} values differs"
        return f"{changed} of {self.count} values differ"
