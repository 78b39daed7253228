"""Mutations: of bytes, of words, of values, of elements and of lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from .words import NUMBERS, PIECES, VALUES, WORDS

Mutation = Callable[[bytes, Random, bytes], bytes]

_NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
_QUOTED = re.compile(rb"\"[^\"<\n]*\"|'[^'<\n]*'")
_TEXT = re.compile(rb">([^<>\n]+)<")
_ELEMENT = re.compile(rb"<([A-Za-z_][\w:.-]*)[^<>]*?(?:/>|>)")
_ATTRIBUTE = re.compile(rb"\s[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')")
_VALUE = re.compile(rb"(?<=[=:]) *[^\n=:]+$", re.MULTILINE)
#: Nothing grows beyond this.
LARGEST = 200_000


def mutated(data: bytes, random: Random, other: bytes) -> bytes:
    """Return a text after one to four mutations; ``other`` is a text to take pieces from."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        data = random.choice(MUTATIONS)(data, random, other)[:LARGEST]
    return data


def _somewhere(data: bytes, random: Random) -> tuple[int, int]:
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + int(2 ** random.uniform(0, 9)))


def _pick(pattern: re.Pattern[bytes], data: bytes, random: Random) -> tuple[int, int] | None:
    found = [match.span() for match in pattern.finditer(data)]
    return random.choice(found) if found else None


def _replace(data: bytes, span: tuple[int, int] | None, new: bytes) -> bytes:
    return data if span is None else data[: span[0]] + new + data[span[1] :]


def flip_bytes(data: bytes, random: Random, other: bytes) -> bytes:
    """Change some bytes to others."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8))):
        if changed:
            changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def cut(data: bytes, random: Random, other: bytes) -> bytes:
    """Take a part out."""
    return _replace(data, _somewhere(data, random), b"")


def truncate(data: bytes, random: Random, other: bytes) -> bytes:
    """End the text early."""
    return data[: random.randrange(len(data) + 1)]


def repeat(data: bytes, random: Random, other: bytes) -> bytes:
    """Write a part several times."""
    start, end = _somewhere(data, random)
    return data[:start] + data[start:end] * random.choice((2, 2, 3, 100)) + data[end:]


def insert_piece(data: bytes, random: Random, other: bytes) -> bytes:
    """Write a piece of markup into the text."""
    start, _ = _somewhere(data, random)
    return data[:start] + random.choice(PIECES) + data[start:]


def splice(data: bytes, random: Random, other: bytes) -> bytes:
    """Write a part of another text into this one."""
    (start, end), (a, b) = _somewhere(data, random), _somewhere(other, random)
    return data[:start] + other[a:b] + data[random.choice((start, end)) :]


def change_number(data: bytes, random: Random, other: bytes) -> bytes:
    """Put another number, or none, in place of one."""
    return _replace(data, _pick(_NUMBER, data, random), random.choice(NUMBERS).encode())


def scale_number(data: bytes, random: Random, other: bytes) -> bytes:
    """Make a number much larger, much smaller, or a little different."""
    span = _pick(_NUMBER, data, random)
    if span is None:
        return data
    factor = random.choice((-1.0, 1 + 1e-6, 1e-9, 1e9, 1e3, 1e-3, 1e200, random.gauss(1, 1)))
    return _replace(data, span, repr(float(data[slice(*span)]) * factor).encode())


def change_all_numbers(data: bytes, random: Random, other: bytes) -> bytes:
    """Put one number in place of every tenth."""
    new, share = random.choice(NUMBERS).encode(), random.choice((0.02, 0.1, 1.0))
    return _NUMBER.sub(lambda match: new if random.random() < share else match.group(), data)


def change_word(data: bytes, random: Random, other: bytes) -> bytes:
    """Put another word in place of a quoted one."""
    span = _pick(_QUOTED, data, random)
    return data if span is None else _replace(data, (span[0] + 1, span[1] - 1), random.choice(WORDS).encode())


def change_text(data: bytes, random: Random, other: bytes) -> bytes:
    """Put another word in place of an element's text."""
    new = random.choice((*WORDS, *NUMBERS)).encode()
    return _replace(data, _pick(_TEXT, data, random), b">" + new + b"<")


def exchange_words(data: bytes, random: Random, other: bytes) -> bytes:
    """Put a quoted word of the text in place of another one."""
    source, target = _pick(_QUOTED, data, random), _pick(_QUOTED, data, random)
    return data if source is None else _replace(data, target, data[slice(*source)])


def drop_attribute(data: bytes, random: Random, other: bytes) -> bytes:
    """Take an attribute away."""
    return _replace(data, _pick(_ATTRIBUTE, data, random), b"")


def _element(data: bytes, random: Random) -> tuple[int, int] | None:
    """Return the span of an element with what is in it."""
    starts = list(_ELEMENT.finditer(data))
    if not starts:
        return None
    match = random.choice(starts)
    if match.group().endswith(b"/>"):
        return match.span()
    end = data.find(b"</" + match.group(1) + b">", match.end())
    return (match.start(), end + len(match.group(1)) + 3) if end >= 0 else match.span()


def drop_element(data: bytes, random: Random, other: bytes) -> bytes:
    """Take an element away."""
    return _replace(data, _element(data, random), b"")


def move_element(data: bytes, random: Random, other: bytes) -> bytes:
    """Write an element at the place of another."""
    source, target = _element(data, random), _element(data, random)
    if source is None or target is None:
        return data
    return data[: target[0]] + data[slice(*source)] + data[random.choice(target) :]


def foreign_element(data: bytes, random: Random, other: bytes) -> bytes:
    """Write an element of another text at the place of one of this."""
    source, target = _element(other, random), _element(data, random)
    if source is None or target is None:
        return data
    return data[: target[0]] + other[slice(*source)] + data[random.choice(target) :]


def nest(data: bytes, random: Random, other: bytes) -> bytes:
    """Put an element into itself many times."""
    match = random.choice(list(_ELEMENT.finditer(data)) or [None])
    if match is None:
        return data
    depth = random.choice((2, 20, 300, 2000))
    opening = match.group().replace(b"/>", b">")
    return _replace(data, match.span(), opening * depth + (b"</" + match.group(1) + b">") * depth)


def move_line(data: bytes, random: Random, other: bytes) -> bytes:
    """Write a line somewhere else, here or twice."""
    lines = data.split(b"\n")
    line = random.choice((lines, lines, other.split(b"\n")))
    lines.insert(random.randrange(len(lines) + 1), random.choice(line))
    if random.random() < 0.5:
        del lines[random.randrange(len(lines))]
    return b"\n".join(lines)


def change_value(data: bytes, random: Random, other: bytes) -> bytes:
    """Put a value of another kind behind a ``=`` or ``:``."""
    return _replace(data, _pick(_VALUE, data, random), b" " + random.choice(VALUES))


#: The gentle ones are listed twice: what breaks the syntax shows little of what comes after.
MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bytes, cut, truncate, repeat, insert_piece, splice, nest, change_all_numbers, change_text),
    *(change_number, scale_number, change_word, exchange_words, drop_attribute) * 2,
    *(drop_element, move_element, foreign_element, move_line, change_value) * 2,
)
