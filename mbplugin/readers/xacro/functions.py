"""The functions and methods that an expression of xacro may call, over data of bounded size.

The tables here are closed: nothing else can be called. Every function takes and returns data; those with results
much larger than their arguments check the size in advance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from mbplugin.processes.foreign import Refusal

#: None, truth values, numbers, strings; lists, tuples and dictionaries of data; sets of scalars.
Data: TypeAlias = Any

#: Maximum number of elements and characters of a value, bits of an integer, and nesting depth of lists.
LARGEST, BITS, DEEPEST = 1_000_000, 1 << 14, 100
#: Maximum number of digits or width in a format, and argument of a factorial.
_WIDEST, _FACTORIAL = 1000, 1000

_SCALARS = (type(None), bool, int, float, str)
#: The types known to ``isinstance``, by name.
TYPES: dict[str, type] = {
    "str": str,
    "float": float,
    "int": int,
    "bool": bool,
    "list": list,
    "tuple": tuple,
    "dict": dict,
}
_FORMAT = re.compile(r"%(?:%|[-+ #0]{0,5}(\d*)(?:\.(\d*))?[diouxXeEfFgGsr])")
#: A brace of ``str.format``, doubled, or a field with a plain name and format; attributes and indices are not matched.
_FIELD = re.compile(r"\{\{|\}\}|\{\w*(?::[<>=^]?[-+ ]?0?(\d*)(?:\.(\d*))?[bdoxXeEfFgGs%]?)?\}")


class Refused(Refusal):
    """An expression that is not evaluated; the text names the part that is not permitted."""


@dataclass(frozen=True)
class Function:
    """A function that expressions may call.

    Parameters
    ----------
    call : callable
    words : tuple of str
        The names of keyword arguments; ``("*",)`` for any.
    """

    call: Callable[..., Data]
    words: tuple[str, ...] = ()

    def takes(self, word: str) -> bool:
        """Return True if the function accepts a keyword argument with this name."""
        return word in self.words or "*" in self.words


def require_data(value: Any) -> Data:
    """Return a value after checking that it is data of bounded size.

    Raises
    ------
    Refused
        The value is anything else, or too large.
    """
    kind = type(value)
    if kind is not float and kind is not bool and value is not None:
        _extent(value, 0)
    return value


#: Cached extents of large lists by identity, with the list, so that its identity is not reused.
#: No expression can extend a list in place, so a cached extent remains an upper bound.
_SEEN: dict[int, tuple[Any, tuple[int, int]]] = {}
_LARGE, _MOST_SEEN = 64, 4096


def _extent(value: Any, depth: int) -> tuple[int, int]:
    """Return the number of elements and characters of data, and its nesting depth.

    A part that occurs twice counts twice, as it would in the text of the value.
    """
    kind = type(value)
    if kind is float or kind is bool or value is None:
        return 1, 0
    if kind is int:
        if value.bit_length() > BITS:
            raise Refused(f"an integer with more than {BITS} bits")
        return 1, 0
    if kind is str:
        require_room(len(value))
        return 1 + len(value), 0
    if kind is frozenset:
        if depth or not all(type(item) in _SCALARS for item in value):
            raise Refused("a set within a list, or of lists")
        size = 1 + sum(_extent(item, 1)[0] for item in value)
        require_room(size)
        return size, 1
    if kind is not list and kind is not tuple and kind is not dict:
        raise Refused(f"a value of type {kind.__name__!r}")
    if (seen := _SEEN.get(id(value))) is not None:
        size, height = seen[1]
    else:
        if depth == DEEPEST:
            raise Refused(f"more than {DEEPEST} lists within each other")
        size, height = 1, 0
        for part in value if kind is not dict else (part for pair in value.items() for part in pair):
            more, below = _extent(part, depth + 1)
            size, height = size + more, max(height, below)
            require_room(size)
        height += 1
        if size > _LARGE:
            if len(_SEEN) == _MOST_SEEN:
                _SEEN.clear()
            _SEEN[id(value)] = value, (size, height)
    if depth + height > DEEPEST:
        raise Refused(f"more than {DEEPEST} lists within each other")
    return size, height


def require_room(size: int) -> None:
    """Refuse a size above the maximum number of elements and characters.

    Raises
    ------
    Refused
        With the maximum number.
    """
    if size > LARGEST:
        raise Refused(f"a text or list of more than {LARGEST} elements")


def total(left: Data, right: Data) -> Data:
    """Return the sum of numbers, or the concatenation of strings or lists.

    Raises
    ------
    TypeError
        An argument is a set.
    """
    if type(left) is frozenset or type(right) is frozenset:
        raise TypeError("sets cannot be added")
    return left + right


def product(left: Data, right: Data) -> Data:
    """Return a product of numbers, or a repeated string or list, of bounded size.

    Raises
    ------
    Refused
        The result would be too large.
    """
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right.bit_length() > BITS + 1:
            raise Refused(f"an integer with more than {BITS} bits")
        return left * right
    for sequence, number in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple) and isinstance(number, int):
            require_room(len(sequence) * number)
    return left * right


def power(base: Data, exponent: Data) -> Data:
    """Return a power of bounded size.

    Raises
    ------
    Refused
        The result would be too large.
    """
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1
    if whole and base.bit_length() * abs(exponent) > BITS:
        raise Refused(f"a power with more than {BITS} bits")
    return base**exponent


def formatted(left: Data, right: Data) -> Data:
    """Return a remainder, or a string with its ``%d``, ``%.3f``, ``%s`` … replaced by numbers and strings.

    Raises
    ------
    Refused
        A value is not a scalar, or the format is too complex or its result too large.
    """
    if not isinstance(left, str):
        return left % right
    values = right if isinstance(right, tuple) else (right,)
    if not all(type(value) in _SCALARS for value in values):
        raise Refused("a format of something else than numbers and texts")
    for place in re.finditer(r"%", _FORMAT.sub(_refuse_wide, left)):
        raise Refused(f"a format that is not simple, at character {place.start()}")
    require_room(len(left) + sum(_extent(value, 0)[0] for value in values))
    return left % values


def _with_fields(text: str, /, *values: Data, **words: Data) -> str:
    """Return a text with its fields ``{}``, ``{0}``, ``{name:.3f}`` … replaced by numbers and strings.

    Raises
    ------
    Refused
        A value is not a scalar, a field is more than a name and a plain format, or the result is too large.
    """
    given = (*values, *words.values())
    if not all(type(value) in _SCALARS for value in given):
        raise Refused("a format of something else than numbers and texts")
    if re.search(r"[{}]", _FIELD.sub(_refuse_wide, text)):
        raise Refused("a format with more than plain fields, such as {}, {0} or {name:.3f}")
    digits = (value.bit_length() if isinstance(value, int) else _extent(value, 0)[0] for value in given)
    require_room(len(text) + text.count("{") * (_WIDEST + max(digits, default=0)))
    try:
        return text.format(*values, **words)
    except (KeyError, IndexError) as error:
        raise NameError(f"a format has no value for the field {error.args[0]!r}") from None


def _refuse_wide(match: re.Match[str]) -> str:
    if any(digits and (len(digits) > 4 or int(digits) > _WIDEST) for digits in match.groups()):
        raise Refused(f"a format of more than {_WIDEST} digits")
    return ""


def _elements(value: Data) -> list[Data]:
    """Return the elements of a string, list, dictionary or set, those of a set sorted."""
    if isinstance(value, frozenset):
        return sorted(value, key=lambda item: (type(item).__name__, item))
    if not isinstance(value, str | list | tuple | dict):
        raise TypeError(f"{type(value).__name__!r} object is not iterable")
    return list(value)


def _all_elements(values: Iterable[Data]) -> list[list[Data]]:
    return [_elements(value) for value in values]


def _text(value: Data = "") -> str:
    if isinstance(value, frozenset):
        # the order of its elements varies between processes
        raise Refused("the text of a set")
    return str(value)


def _number(value: Data = 0, base: int = 10) -> int:
    return int(value) if base == 10 and not isinstance(value, str) else int(value, base)


def _dictionary(pairs: Data = (), **words: Data) -> dict[Data, Data]:
    return dict(
        pairs if isinstance(pairs, dict) else [tuple(_elements(pair)) for pair in _elements(pairs)], **words
    )


def _numbers(*limits: int) -> list[int]:
    numbers = range(*limits)
    require_room(2 * len(numbers))
    return list(numbers)


def _rounded(value: Data, ndigits: Data = None) -> Data:
    if isinstance(ndigits, int) and abs(ndigits) > _WIDEST:
        raise Refused(f"round to more than {_WIDEST} digits")
    return round(value, ndigits)


def _sum(values: Data, start: Data = 0) -> Data:
    for value in (*_elements(values), start):
        if not isinstance(value, int | float):
            raise TypeError("only numbers have a sum")
    return sum(_elements(values), start)


def _sorted(values: Data, reverse: Data = False) -> list[Data]:
    return sorted(_elements(values), reverse=bool(reverse))


def _zip(*values: Data) -> list[Data]:
    return list(zip(*_all_elements(values), strict=False))


def _enumerated(values: Data, start: int = 0) -> list[Data]:
    return list(enumerate(_elements(values), start))


def _extreme(choose: Callable[..., Data]) -> Callable[..., Data]:
    def chosen(*values: Data, **default: Data) -> Data:
        return choose(*(_all_elements(values) if len(values) == 1 else values), **default)

    return chosen


def _set(values: Data = ()) -> frozenset[Data]:
    return frozenset(_elements(values))


def _small(function: Callable[..., Data]) -> Callable[..., Data]:
    """Restrict a fast-growing function of integers to small arguments."""

    def called(*values: Data) -> Data:
        if any(isinstance(value, int) and abs(value) > _FACTORIAL for value in values):
            raise Refused(f"{function.__name__} of more than {_FACTORIAL}")
        return function(*values)

    return called


def _product_of(values: Data, start: Data = 1) -> Data:
    result = start
    for value in _elements(values):
        if not isinstance(value, int | float) or not isinstance(result, int | float):
            raise TypeError("only numbers have a product")
        result = require_data(product(result, value))
    return result


def _least_multiple(*values: int) -> int:
    result = 1
    for value in values:
        result = require_data(math.lcm(result, value))
    return result


def _tokens(text: str, sep: str = ",; ", skip_empty: Data = True) -> list[str]:
    """Split a string at separators, as ``xacro.tokenize`` does."""
    parts = re.split(f"[{re.escape(sep)}]", text)
    return [part for part in parts if part] if skip_empty else parts


def _fatal(*parts: Data) -> Data:
    raise ValueError(" ".join(map(_text, parts)))


def _silent(*_parts: Data, **_words: Data) -> str:
    """Return an empty string like xacro's message functions, whose messages are not shown here."""
    return ""


_BUILTIN: dict[str, Function] = {
    "list": Function(lambda values=(): _elements(values)),
    "dict": Function(_dictionary, ("*",)),
    "len": Function(len),
    "str": Function(_text),
    "float": Function(float),
    "int": Function(_number, ("base",)),
    "bool": Function(bool),
    "min": Function(_extreme(min), ("default",)),
    "max": Function(_extreme(max), ("default",)),
    "round": Function(_rounded, ("ndigits",)),
    "sorted": Function(_sorted, ("reverse",)),
    "range": Function(_numbers),
}
_PYTHON: dict[str, Function] = {
    **_BUILTIN,
    "abs": Function(abs),
    "all": Function(lambda values: all(_elements(values))),
    "any": Function(lambda values: any(_elements(values))),
    "divmod": Function(divmod),
    "enumerate": Function(_enumerated, ("start",)),
    "ord": Function(ord),
    "repr": Function(lambda value: repr(value) if not isinstance(value, frozenset) else _text(value)),
    "reversed": Function(lambda values: _elements(values)[::-1]),
    "set": Function(_set),
    "frozenset": Function(_set),
    "sum": Function(_sum, ("start",)),
    "tuple": Function(lambda values=(): tuple(_elements(values))),
    "zip": Function(_zip),
}
_MATH: dict[str, Function] = {
    name: Function(function)
    for name, function in vars(math).items()
    if callable(function) and not name.startswith("_")
} | {
    "factorial": Function(_small(math.factorial)),
    "comb": Function(_small(math.comb)),
    "perm": Function(_small(math.perm)),
    "prod": Function(_product_of, ("start",)),
    "lcm": Function(_least_multiple),
}
_XACRO: dict[str, Function] = {
    "dotify": Function(_dictionary),
    "tokenize": Function(_tokens, ("sep", "skip_empty")),
    "fatal": Function(_fatal),
    **{name: Function(_silent, ("*",)) for name in ("message", "warning", "error", "print_location")},
}
#: Values of predefined names, also in the namespaces ``math`` and ``python``.
CONSTANTS: Mapping[str, Data] = {
    **{name: value for name, value in vars(math).items() if isinstance(value, float)},
    "True": True,
    "False": False,
}
#: Functions by the names that xacro gives them.
FUNCTIONS: Mapping[str, Function] = {
    **_MATH,
    **_BUILTIN,
    "dotify": _XACRO["dotify"],
    **{f"math.{name}": function for name, function in _MATH.items()},
    **{f"python.{name}": function for name, function in _PYTHON.items()},
    **{f"xacro.{name}": function for name, function in _XACRO.items()},
}


def _joined(separator: str, values: Data) -> str:
    parts = _elements(values)
    if not all(type(part) is str for part in parts):
        raise TypeError("only texts can be joined")
    require_room(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _replaced(text: str, old: str, new: str, count: int = -1) -> str:
    found = text.count(old) if count < 0 else min(count, text.count(old))
    require_room(len(text) + found * len(new))
    return text.replace(old, new, count)


_PLAIN_TEXT = (
    *("splitlines", "partition", "rpartition", "strip", "lstrip", "rstrip", "upper", "lower", "title"),
    *("capitalize", "startswith", "endswith", "find", "rfind", "index", "count", "isdigit", "isalpha"),
    *("isalnum", "isnumeric", "removeprefix", "removesuffix"),
)


def _of_sets(method: Callable[[frozenset[Data], frozenset[Data]], Data]) -> Function:
    return Function(lambda owner, other: method(owner, _set(other)))


#: Methods by the type of their owner, which is their first argument.
METHODS: Mapping[type, Mapping[str, Function]] = {
    str: {
        **{name: Function(getattr(str, name)) for name in _PLAIN_TEXT},
        "split": Function(str.split, ("sep", "maxsplit")),
        "rsplit": Function(str.rsplit, ("sep", "maxsplit")),
        "join": Function(_joined),
        "replace": Function(_replaced),
        "format": Function(_with_fields, ("*",)),
    },
    # pop shortens a list in place, as in xacro itself; nothing here extends one
    list: {"index": Function(list.index), "count": Function(list.count), "pop": Function(list.pop)},
    tuple: {"index": Function(tuple.index), "count": Function(tuple.count)},
    dict: {
        "get": Function(dict.get),
        "keys": Function(lambda owner: list(owner)),
        "values": Function(lambda owner: list(owner.values())),
        "items": Function(lambda owner: list(owner.items())),
    },
    frozenset: {
        "difference": _of_sets(frozenset.difference),
        "union": _of_sets(frozenset.union),
        "intersection": _of_sets(frozenset.intersection),
        "issubset": _of_sets(frozenset.issubset),
        "issuperset": _of_sets(frozenset.issuperset),
    },
}
