"""A term of a distance: what it is, its value, and where that comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.phrases import one_line_repr

TermOrigin = Literal["given", "stop", "formula"]
TermUnit = Literal["m", "s", "m/s"]

#: Beyond these a value is in another unit (mm for m, ms for s).
_LARGEST: dict[TermUnit, float] = {"m": 10.0, "s": 10.0, "m/s": 10.0}


@dataclass(frozen=True)
class Quantity:
    """A quantity of a formula: its symbol in the standard, its meaning and its unit."""

    symbol: str
    meaning: str
    unit: TermUnit


@one_line_repr
@dataclass(frozen=True)
class Term:
    """A quantity with its value.

    Parameters
    ----------
    symbol, meaning : str
        As in the standard.
    value : float
    unit : "m", "s" or "m/s"
    origin : "given", "stop" or "formula"
        By the user, from a computed stop, or from other terms.
    source : str
        In words: which stop, or which formula.
    """

    symbol: str
    meaning: str
    value: float
    unit: TermUnit
    origin: TermOrigin
    source: str


def term(quantity: Quantity, value: float, origin: TermOrigin, source: str) -> Term:
    """Return a quantity with its value."""
    return Term(quantity.symbol, quantity.meaning, float(value), quantity.unit, origin, source)


def given_terms(
    standard: str, required: tuple[Quantity, ...], given: Mapping[str, float | None]
) -> dict[str, Term]:
    """Return the terms that only the user knows, by symbol.

    Raises
    ------
    BadUsage
        A term is missing; the message names every one of them.
    UnknownName
        No term of the standard's formula.
    BadNumber
        Negative, not finite, or a size that is another unit's.
    """
    stated = {symbol: value for symbol, value in given.items() if value is not None}
    symbols = [quantity.symbol for quantity in required]
    for symbol in stated:
        if symbol not in symbols:
            raise UnknownName(
                f"{symbol!r} is no term of {standard} that is given", remedy=suggestion(symbol, symbols)
            )
    missing = [quantity for quantity in required if quantity.symbol not in stated]
    if missing:
        names = ", ".join(f"{q.symbol} ({q.meaning}, {q.unit})" for q in missing)
        raise BadUsage(
            f"the distance needs {names}",
            where=standard,
            expected="a value, which no program can know",
            remedy=f"state {','.join(f'{q.symbol}=VALUE' for q in missing)}",
        )
    return {q.symbol: _given(q, float(stated[q.symbol])) for q in required}


def _given(quantity: Quantity, value: float) -> Term:
    most = _LARGEST[quantity.unit]
    if not (isfinite(value) and 0 <= value <= most):
        raise BadNumber(
            f"{quantity.symbol} ({quantity.meaning}) is {value:g} {quantity.unit}",
            expected=f"0 to {most:g} {quantity.unit}",
            remedy=_smaller(quantity, value),
        )
    return term(quantity, value, "given", "given")


def _smaller(quantity: Quantity, value: float) -> str:
    """Return how the number is stated in a smaller unit, of which it is plausible."""
    unit, most = {"m": "mm", "s": "ms", "m/s": "mm/s"}[quantity.unit], _LARGEST[quantity.unit]
    return f"write {quantity.symbol}={value:g}{unit} if that is meant" if most < value <= 1e3 * most else ""
