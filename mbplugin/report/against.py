"""The comparison of two documents: list entries are matched by their names, else by their positions."""

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
from mbplugin.report import plain
from mbplugin.report.documents import DOCUMENTS, DocumentName
from mbplugin.report.documents.part import is_number, output_of, required_keys, violation

#: Keys that are not compared as values: they are inputs, describe the file format, follow from other keys, or
#: change between identical runs (processor time).
_APART = ("record", "schema_version", "generator", "against", "command", "seconds")
#: Keys that identify the entries of a list, in the order in which they name an entry.
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
#: Maximum length of a displayed text value, characters.
_LONGEST = 60
#: Maximum size of an earlier report, bytes; larger ones take minutes to compare.
_LONGEST_REPORT = 16_000_000
#: Maximum number of missing keys in a message.
_NAMED = 4
#: Differences below this share of the largest number under a key are rounding.
ROUNDING = 1e-6
#: A compared value; None if one of the reports does not have it.
Scalar = float | int | str | bool | None


class _Leaf(NamedTuple):
    """The values of two documents at the same key and entry; absent ones are ``_ABSENT``."""

    key: str
    where: str
    old: Any
    new: Any

    @property
    def sentence(self) -> bool:
        """True if the value is an entry of a list of texts, which is matched by its text, not its position."""
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
    """Yield the inputs that differ between two reports."""
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
                # a missing top-level object, such as the worst stops of a table, counts as one difference
                yield _Leaf(path, where, _outside(first), _outside(second))
                continue
            yield from _leaves(first, second, path, where)
    elif _both(list, old, new):
        entries = [[] if one is _ABSENT else one for one in (old, new)]
        for place, first, second in _matched(*entries):
            inner = (
                place
                if isinstance(first, str) or isinstance(second, str)
                else ", ".join(filter(None, (where, place)))
            )
            yield from _leaves(first, second, f"{key}[]", inner)
    else:
        yield _Leaf(key, where, _outside(old), _outside(new))


def _both(kind: type, *values: Any) -> bool:
    """Return True if all values are of a type or absent, and at least one is present."""
    return any(isinstance(one, kind) for one in values) and all(
        one is _ABSENT or isinstance(one, kind) for one in values
    )


def _outside(value: Any) -> Any:
    """Return a plain value as it is, and "a list" or "an object" for one: the other report has none there."""
    if isinstance(value, list):
        return "a list"
    return "an object" if isinstance(value, dict) else value


def _matched(old: list[Any], new: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield matching entries of two lists, with their name, or their number if names are missing or repeated."""
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
    """Return the identifying name of a list entry; empty if it has none."""
    if not isinstance(entry, dict):
        return entry if isinstance(entry, str) else ""
    found = ((key, entry[key]) for key in _NAMES if isinstance(entry.get(key), str | int))
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in found)


def _change(leaves: list[_Leaf]) -> KeyChange | None:
    """Return the change of one key; None if no value differs beyond rounding."""
    scale = max((abs(v) for leaf in leaves for v in (leaf.old, leaf.new) if is_number(v)), default=0.0)
    differing = [leaf for leaf in leaves if _differ(leaf, scale)]
    if not differing:
        return None
    most = max(differing, key=_size)
    old, new = (None if value is _ABSENT else value for value in (most.old, most.new))
    relative = (new - old) / abs(old) if is_number(old) and is_number(new) and old else None
    return KeyChange(most.key, len(differing), len(leaves), most.where, _scalar(old), _scalar(new), relative)


def _differ(leaf: _Leaf, scale: float) -> bool:
    if is_number(leaf.old) and is_number(leaf.new):
        return bool(abs(leaf.new - leaf.old) > ROUNDING * scale)
    return bool(leaf.old != leaf.new)


def _size(leaf: _Leaf) -> float:
    """Return the size of a difference; infinite unless both values are numbers."""
    both = is_number(leaf.old) and is_number(leaf.new)
    return abs(leaf.new - leaf.old) if both else float("inf")


def _scalar(value: Any) -> Scalar:
    return value if value is None or isinstance(value, int | float | str | bool) else str(value)


# The sentences of a comparison, for texts and pages.


def title_of(comparison: Comparison) -> str:
    """Return the title of a comparison, with its earlier report and number of differences."""
    made = f" of {comparison.date}" if comparison.date else ""
    units = " (in rad, m, kg, s and N)" if comparison.differs else ""
    return f"Against {comparison.path}{made}: {comparison.sentence}{units}"


def input_words(change: InputChange) -> str:
    """Return the text of one input that differs."""
    return f"{change.name}: {change.old} → {change.new}"


def change_words(change: KeyChange) -> tuple[str, str, str]:
    """Return the key, the number of its values that differ, and the largest difference with its entry.

    An entry of a list of texts is either new or gone.
    """
    if change.where and change.where in (change.old, change.new):
        return change.key, "new" if change.old is None else "gone", change.where
    share = "" if change.relative is None else f" ({number(100 * change.relative, '+.3g')} %)"
    most = f"{_number_text(change.old)} → {_number_text(change.new)}{share}"
    place = f"{change.where}: " if change.where else ""
    return change.key, f"{change.changed} of {change.count} differ, the most", place + most


def _number_text(value: Scalar) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    return f"{value:.6g}"


# The earlier report, read from its JSON before anything is computed.


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
    """Read the earlier report of a command from its JSON file; None if no file is given.

    Raises
    ------
    UnreadableFile
        The file is missing, or is not JSON.
    BadUsage
        The file is not the JSON of this command.
    """
    if path is None:
        return None
    data = read_bounded(path, _LONGEST_REPORT)
    try:
        found = parse_json(data)
    except ValueError:
        raise UnreadableFile(
            "the earlier report is not JSON", where=str(path), expected=f"the output of mbplugin {document}"
        ) from None
    missing = _missing(found, document)
    if missing:
        other = _command_of(found)
        raise BadUsage(
            f"the earlier report comes from mbplugin {other}"
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
    """Return the required keys of the command's document that are missing."""
    keys = required_keys(output_of(document))
    return [key for key in keys if not isinstance(found, dict) or key not in found]


def _command_of(found: Any) -> str | None:
    """Return the command in the record of a report; None if there is none."""
    record = found.get("record") if isinstance(found, dict) else None
    command = str(record.get("command", "")) if isinstance(record, dict) else ""
    return next((word for word in command.split()[1:] if word in DOCUMENTS), None)


# The differences between two reports.


@dataclass(frozen=True)
class InputChange:
    """An input that differs between the reports, such as a file, the command or the version."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class KeyChange:
    """The change under one key, over all list entries that have it.

    Parameters
    ----------
    key : str
        Path of the key, ``[]`` for the entries of a list, such as ``rows[].distance``.
    changed, count : int
        Number of values that differ, and of all values under the key in either report.
    where : str
        Name of the entry with the largest difference; empty if the key is not in a list.
    old, new : number, str, bool or None
        The values of that entry; None if a report has none.
    relative : float or None
        (new − old)/\\|old\\| of that entry; None unless both are numbers and old is not zero.
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
    """The comparison of a report with an earlier one.

    Parameters
    ----------
    path, sha256 : str
        File and hash of the earlier report.
    date : str
        Date of the earlier report; empty if not stated.
    inputs : tuple of InputChange
    changes : tuple of KeyChange
        In the order of the document.
    count : int
        Number of compared values.
    """

    path: str
    sha256: str
    date: str
    inputs: tuple[InputChange, ...]
    changes: tuple[KeyChange, ...]
    count: int

    @property
    def differs(self) -> bool:
        """True if any value differs; differing inputs do not count."""
        return bool(self.changes)

    @property
    def sentence(self) -> str:
        """The number of values that differ, as a sentence."""
        changed = sum(change.changed for change in self.changes)
        if not changed:
            return f"none of {self.count} values differs"
        return f"{changed} of {self.count} values differ"
