"""Numbers, alone and with their nouns, and names in one phrase."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Sized
from dataclasses import MISSING, Field, fields
from math import ceil, floor, log10, prod
from pathlib import PurePath
from types import FunctionType
from typing import Any, TypeVar

_Type = TypeVar("_Type", bound=type)
#: What is smaller is rounding of a time, a distance or a way.
_ROUNDING = 1e-9
#: Characters of one name where a phrase is to be short.
_LONGEST_NAME = 90
#: Characters of a result on one line.
_LONGEST_LINE = 200
#: Characters of one field of a value on one line, and members of an array or a collection that are few.
_LONGEST_FIELD, _FEW = 40, 4


def names_of(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a text alone is one name, and not one for each of its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def joined_by_words(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences of the form ``name: words``; names with the same words are one sentence, at the first."""
    names: dict[str, list[str]] = {}
    for sentence in sentences:
        name, _, words = sentence.partition(": ")
        names.setdefault(words or sentence, []).append(name)
    return tuple(words if own[0] == words else f"{', '.join(own)}: {words}" for words, own in names.items())


def listed(names: Sequence[str], most: int = 8, room: int | None = None) -> str:
    """Return names joined by commas, and how many more there are: at most ``most``.

    With ``room``, no more than fit into so many characters, long ones shortened.
    """
    shown: list[str] = []
    for name in names[:most]:
        short = name if room is None else shortened(name, _LONGEST_NAME)
        if room is not None and shown and len(", ".join((*shown, short))) > room:
            break
        shown.append(short)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 link`` or ``2 links``, with a plural of its own where one is given."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ended(sentence: str) -> str:
    """Return a sentence with a full stop, where it does not end in a mark of its own."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def number(value: float, form: str = ".4g") -> str:
    """Return a number in a format; what is zero in it has no sign: 0.0 instead of -0.0 and +0.0."""
    text = format(value, form)
    return text.replace("-", "", 1).replace("+", "", 1) if float(text) == 0.0 else text


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a bound with so many significant digits, none of them rounded down."""
    if value <= 0.0:
        return f"{value:.{digits}g}"
    step = 10.0 ** (floor(log10(value)) - digits + 1)
    up = ceil(value / step - 1e-9) * step
    # whole numbers of more digits are written out
    return f"{up:.0f}" if up >= 10.0**digits else number(up, f".{digits}g")


def at_most_shown(value: float) -> str:
    """Return a time, a distance or a way with three digits, rounded up; rounding is 0."""
    return rounded_up(value, 3) if value > _ROUNDING else "0"


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters: its beginning and its end, where it is longer."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 3]} … {text[-end:]}"


def cut_short(text: str, most: int) -> str:
    """Return a text on one line of at most ``most`` characters: its beginning, where it is longer."""
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(value: object, name: object, facts: Iterable[object], kind: str = "") -> str:
    """Return the ``repr`` of a result: its type or kind, what it is about, and what one wants to know first."""
    about = repr(shortened(str(name), _LONGEST_NAME))
    listed_facts = " ".join(", ".join(map(str, facts)).split())
    return shortened(f"<{kind or type(value).__name__} {about}: {listed_facts}>", _LONGEST_LINE)


def one_line_repr(kind: _Type) -> _Type:
    """Give a dataclass a ``repr`` of one line: its fields that are not at their defaults, large ones by their size."""

    def line(value: Any) -> str:
        stated = [
            f for f in fields(value) if f.repr and not f.name.startswith("_") and not _is_default(value, f)
        ]
        given = ", ".join(f"{f.name}={_in_brief(getattr(value, f.name))}" for f in stated)
        most = _LONGEST_LINE - len(type(value).__name__) - 2
        return f"{type(value).__name__}({cut_short(given, most)})"

    kind.__repr__ = line  # type: ignore[method-assign, assignment]
    return kind


def _is_default(value: object, field: Field[Any]) -> bool:
    own = getattr(value, field.name)
    if field.default_factory is not MISSING:
        return isinstance(own, Sized) and not hasattr(own, "shape") and not len(own)
    return own is field.default or (not hasattr(own, "shape") and bool(own == field.default))


def _in_brief(value: object) -> str:
    """Return a short text of a field: a value as it is, an array by its shape, a collection by its size."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        text = _numbers(value.tolist()) if prod(shape) <= _FEW**2 and hasattr(value, "tolist") else ""
        return text if 0 < len(text) <= _LONGEST_FIELD else f"{' × '.join(map(str, shape))} array"
    if isinstance(value, str | PurePath):
        return repr(shortened(str(value), _LONGEST_FIELD))
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, FunctionType):
        return value.__qualname__
    if not isinstance(value, Collection) or len(value) <= _FEW:
        text = repr(value)
        if len(text) <= _LONGEST_FIELD and "\n" not in text:
            return text
    if isinstance(value, Collection):
        return f"{len(value)} × {type(next(iter(value))).__name__}"
    return f"{type(value).__name__}(…)"


def _numbers(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


# The median; NumPy's imports masked arrays, and that of the standard library exact fractions.


def median(values: Iterable[float]) -> float:
    """Return the median of some values, at least one."""
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(low + high) / 2


# Control characters made visible: one place for every text that is printed.


def visible(text: str) -> str:
    r"""Return a text in one line, with escapes for what does not print.

    Control characters, line breaks, and marks that change the direction of reading become ``\u001b``,
    ``\u000a``, ``\u202e``; names in files may hold any of them, and neither colour nor move a cursor here,
    nor begin a line of their own.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def visible_one_line(error: Exception) -> str:
    """Return the message of a library's error, its lines joined by blanks."""
    return " ".join(str(error).split())


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
