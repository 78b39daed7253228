"""Numbers as text that reads back to the same float."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: float) -> str:
    """Return a float as the shortest text that reads back to it; −0 is 0."""
    return toml_number(value).removesuffix(".0")


def toml_number(value: float) -> str:
    """Return the same with a point or an exponent, since TOML tells integers and floats apart."""
    return repr(float(value) + 0.0)


def row(values: Iterable[float]) -> str:
    """Return floats separated by blanks, as XML attributes list them."""
    return " ".join(number(value) for value in values)
