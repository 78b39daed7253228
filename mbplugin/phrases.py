"""Phrases for messages and reports: numbers with their nouns, lists of names, one-line texts; values that have them."""

from __future__ import annotations

import dataclasses
import re
import reprlib
from collections.abc import Collection, Iterable, Sequence, Sized
from dataclasses import MISSING, Field, FrozenInstanceError, fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from math import ceil, floor, log10, prod
from pathlib import PurePath
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

#: The words of a name: they begin with capitals, or are separated by digits and signs.
WORD_IN_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_Type = TypeVar("_Type", bound=type)
#: Times and distances below this are rounding errors.
_ROUNDING = 1e-9
#: Longest name in a short phrase, characters.
_LONGEST_NAME = 90
#: Longest one-line text of a result, characters.
_LONGEST_LINE = 200
#: A word longer than this may be cut, characters.
_WORD = 20
#: Longest field of a value on one line, characters, and the most members of a collection that is written out.
_LONGEST_FIELD, _FEW = 40, 4


class Assumption(str):
    """A sentence on an assumption of a result, with a short form for the first lines of a report.

    Parameters
    ----------
    sentence : str
        The whole sentence, which is the string itself.
    short : str
        What is assumed, in a few words; empty if another assumption says it.
    """

    short: str

    def __new__(cls, sentence: str, short: str) -> Assumption:
        """Return the sentence, with its short form as an attribute."""
        made = super().__new__(cls, sentence)
        made.short = short
        return made

    def __reduce__(self) -> tuple[type[Assumption], tuple[str, str]]:
        """Return the class and the arguments of a copy, for other processes."""
        return Assumption, (str(self), self.short)


def names_of(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names as a tuple; a single string is one name, not a sequence of letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def joined_by_words(sentences: Iterable[str]) -> tuple[str, ...]:
    """Merge sentences ``name: words`` that have the same words into one, at the position of the first."""
    names: dict[str, list[str]] = {}
    for sentence in sentences:
        name, _, words = sentence.partition(": ")
        names.setdefault(words or sentence, []).append(name)
    return tuple(words if own[0] == words else f"{', '.join(own)}: {words}" for words, own in names.items())


def listed(names: Sequence[str], most: int = 8, room: int | None = None) -> str:
    """Return at most ``most`` names joined by commas, and the number of the others.

    ``room`` limits the list to so many characters (at least one name); long names are then shortened.
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
    """Return ``1 link`` or ``2 links``, with an irregular ``plural`` if one is given."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ended(sentence: str) -> str:
    """Return a sentence with a full stop, unless it already ends with a punctuation mark."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def number(value: float, form: str = ".4g") -> str:
    """Return a formatted number; zero after rounding has no sign: 0.0 instead of -0.0 and +0.0."""
    text = format(value, form)
    return text.replace("-", "", 1).replace("+", "", 1) if float(text) == 0.0 else text


def rounded_up(value: float, digits: int = 4) -> str:
    """Return a bound rounded up to so many significant digits."""
    if value <= 0.0:
        return f"{value:.{digits}g}"
    step = 10.0 ** (floor(log10(value)) - digits + 1)
    up = ceil(value / step - 1e-9) * step
    # larger numbers are written out rather than in exponent form
    return f"{up:.0f}" if up >= 10.0**digits else number(up, f".{digits}g")


def at_most_shown(value: float) -> str:
    """Return a time or a distance with three digits, rounded up; a rounding error gives 0."""
    return rounded_up(value, 3) if value > _ROUNDING else "0"


def shortened(text: str, most: int) -> str:
    """Shorten a text to at most ``most`` characters: its beginning and its end, with whole words where it has some."""
    if len(text) <= most:
        return text
    end = most // 3
    head, tail = text[: most - end - 3], text[-end:]
    cut = head.rfind(" ")
    if cut > max(len(head) - _WORD, 0) and text[len(head)] != " ":
        head = head[:cut]
    cut = tail.find(" ")
    if 0 <= cut < _WORD and text[-end - 1] != " ":
        tail = tail[cut + 1 :]
    return f"{head.rstrip()} … {tail.lstrip()}"


def cut_short(text: str, most: int) -> str:
    """Cut a text to one line of at most ``most`` characters."""
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(value: object, name: object, facts: Iterable[object], kind: str = "") -> str:
    """Return the one-line ``repr`` of a result: its type or ``kind``, the name of its subject, and the main facts."""
    about = repr(shortened(str(name), _LONGEST_NAME))
    listed_facts = " ".join(", ".join(map(str, facts)).split())
    return shortened(f"<{kind or type(value).__name__} {about}: {listed_facts}>", _LONGEST_LINE)


def one_line_repr(kind: _Type) -> _Type:
    """Give a dataclass a one-line ``repr``: the fields that differ from their defaults, large ones by their size.

    A class without ``__getattr__`` gets one too: an unknown attribute leads to the one that is meant.
    """

    def line(value: Any) -> str:
        stated = [
            f for f in fields(value) if f.repr and not f.name.startswith("_") and not _is_default(value, f)
        ]
        given = ", ".join(f"{f.name}={_in_brief(getattr(value, f.name))}" for f in stated)
        most = _LONGEST_LINE - len(type(value).__name__) - 2
        return f"{type(value).__name__}({cut_short(given, most)})"

    def refuse(value: Any, name: str) -> NoReturn:
        if name.startswith("__"):
            # pickle asks each value that it reads for such names
            raise AttributeError(
                f"{type(value).__name__!r} object has no attribute {name!r}", name=name, obj=value
            )
        import_module("mbplugin.rendering").refuse_attribute(value, name)
        raise AssertionError  # it always raises

    kind.__repr__ = line  # type: ignore[method-assign, assignment]
    if not hasattr(kind, "__getattr__"):
        kind.__getattr__ = refuse  # type: ignore[attr-defined]
    return kind


# Frozen dataclasses that share their methods. Python before 3.13 compiles six functions for each one, which takes a
# tenth of the time of a lint.

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(kind=None, /, *, frozen=False, eq=True, **stated):
        """Make a dataclass, as :func:`dataclasses.dataclass` does; only ``__init__`` of a frozen one is compiled."""
        if kind is None:
            return partial(dataclass, frozen=frozen, eq=eq, **stated)
        if not frozen:
            return dataclasses.dataclass(kind, eq=eq, **stated)
        own, shared = vars(kind), {"__repr__": _in_one_line}
        if eq:
            shared |= {"__eq__": _is_equal} | ({} if own.get("__hash__") else {"__hash__": _hash})
        for name, method in shared.items():
            if own.get(name) is None:
                setattr(kind, name, method)
        # the standard decorator refuses a class below a frozen one that is not frozen itself
        above = [vars(base)["__dataclass_params__"] for base in kind.__mro__[1:] if is_dataclass(base)]
        frozen_above = [parameters for parameters in above if parameters.frozen]
        for parameters in frozen_above:
            parameters.frozen = False
        try:
            made = dataclasses.dataclass(kind, eq=False, repr=False, **stated)
        finally:
            for parameters in frozen_above:
                parameters.frozen = True
        made.__dataclass_params__.frozen, made.__dataclass_params__.eq = True, eq
        # after the decorator, whose __init__ sets each field once
        made.__setattr__, made.__delattr__ = _set_once, _keep
        return made


def _set_once(self: Any, name: str, value: Any) -> None:
    """Set a field of a new value; refuse to set another attribute, or to set one again."""
    own = self.__dict__
    is_field = name in self.__dataclass_fields__
    # a class that is no dataclass itself may have more attributes
    if name in own if is_field else "__dataclass_fields__" in type(self).__dict__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    own[name] = value


def _keep(self: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _is_equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    names = _compared(self.__class__)
    return tuple([getattr(self, n) for n in names]) == tuple([getattr(other, n) for n in names])


def _hash(self: Any) -> int:
    return hash(tuple([getattr(self, n) for n in _hashed(self.__class__)]))


@cache
def _compared(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.compare)


@cache
def _hashed(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if (f.compare if f.hash is None else f.hash))


@reprlib.recursive_repr()
def _in_one_line(self: Any) -> str:
    given = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({given})"


def _is_default(value: object, field: Field[Any]) -> bool:
    own = getattr(value, field.name)
    if field.default_factory is not MISSING:
        return isinstance(own, Sized) and not hasattr(own, "shape") and not len(own)
    return own is field.default or (not hasattr(own, "shape") and bool(own == field.default))


def _in_brief(value: object) -> str:
    """Return a short text of a field: a small value in full, an array by its shape, a collection by its size."""
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


# The median: NumPy's function imports masked arrays, the standard library's imports exact fractions.


def median(values: Iterable[float]) -> float:
    """Return the median of one or more values."""
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(low + high) / 2


# Control characters made visible, for every text that is printed.


def visible(text: str) -> str:
    r"""Return a text on one line, with escapes for characters that are not printable.

    Control characters, line breaks and marks that change the writing direction become ``\u001b``, ``\u000a``,
    ``\u202e``. Names in files may contain any of them; escaped, they cannot set colours, move the cursor or
    start a new line.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def visible_one_line(error: Exception) -> str:
    """Return the message of a library's error on one line."""
    return " ".join(str(error).split())


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


# The one name that a misspelt one stands for.

#: Shorter names are not corrected; up to the second length, one letter may be wrong, in longer ones two.
_SHORTEST, _SHORT = 3, 7


def only_near(name: str, known: Iterable[str]) -> str:
    """Return the only known name that a misspelt name is near; empty if none is near, or several are.

    One letter may be wrong, missing, added or exchanged with its neighbour, two in names of eight letters and more.
    Names that differ in a digit are different names, not misspelt ones.
    """
    if len(name) < _SHORTEST:
        return ""
    most = 1 if len(name) <= _SHORT else 2
    near = [other for other in dict.fromkeys(known) if other != name and _is_near(name, other, most)]
    return near[0] if len(near) == 1 and _digits(name) == _digits(near[0]) else ""


def _digits(name: str) -> str:
    return "".join(filter(str.isdigit, name))


def _is_near(a: str, b: str, most: int) -> bool:
    """Return True if at most so many letters differ, regardless of capitals."""
    a, b = a.lower(), b.lower()
    if abs(len(a) - len(b)) > most:
        return False
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        earlier, before, row = before, row, [i, *[0] * len(b)]
        for j, y in enumerate(b, start=1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                row[j] = min(row[j], earlier[j - 2] + 1)
    return row[-1] <= most
