"""Mimics and gears of two models, in the coordinates of the first."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from mbplugin.comparison.models.bodies import Found
from mbplugin.comparison.models.causes import factor_cause
from mbplugin.comparison.models.sides import Tolerances
from mbplugin.comparison.models.values import Difference
from mbplugin.model.mechanism import Coupling, Mechanism

_Row = tuple[dict[tuple[str, str], float], float]


def compare_couplings(a: Mechanism, b: Mechanism, limits: Tolerances) -> Iterator[Found]:
    """Yield couplings that are lost, added, or have other factors."""
    rows_a = [(c, _row(c)) for c in a.couplings]
    rows_b = [(c, _row(c)) for c in b.couplings]
    left = list(rows_b)
    for coupling, row in rows_a:
        twin = next((other for other in left if set(other[1][0]) == set(row[0])), None)
        if twin is None:
            yield Difference("coupling", coupling.name, "", _shown(row), "", f"{coupling.type} lost")
            continue
        left.remove(twin)
        if not _same(row, twin[1], limits):
            cause = _cause(row, twin[1])
            yield Difference("coupling", coupling.name, twin[0].name, _shown(row), _shown(twin[1]), cause)
    for coupling, row in left:
        known = any(set(row[0]) == set(other[0]) for _, other in rows_a)
        cause = f"doubled {coupling.type}" if known else f"{coupling.type} only in the second"
        yield Difference("coupling", "", coupling.name, "", _shown(row), cause)


def _row(coupling: Coupling) -> _Row:
    """Return the factors of a coupling and its right side, the factor of the first term being one."""
    total: dict[tuple[str, str], float] = {}
    for term in coupling.terms:
        key = (term.joint, term.freedom)
        total[key] = total.get(key, 0.0) + term.coefficient
    first = total[coupling.terms[0].joint, coupling.terms[0].freedom] or 1.0
    return {key: value / first for key, value in total.items()}, coupling.offset / first


def _same(a: _Row, b: _Row, limits: Tolerances) -> bool:
    """Return whether two rows are multiples of each other."""
    key = next(iter(a[0]))
    if b[0][key] == 0.0:
        return False
    k = a[0][key] / b[0][key]
    size = max(map(abs, a[0].values()))
    near = all(abs(a[0][name] - k * b[0][name]) <= limits.relative * size for name in a[0])
    bound = limits.angle if key[1][0] == "r" else limits.length
    return near and abs(a[1] - k * b[1]) <= bound


def _cause(a: _Row, b: _Row) -> str:
    slopes = [next((-v for k, v in list(row[0].items())[1:]), 0.0) for row in (a, b)]
    if isclose(slopes[0], slopes[1], rel_tol=1e-3):
        return factor_cause(a[1], b[1]) or ("offset lost" if b[1] == 0 else "offset")
    if slopes[0] and isclose(slopes[1], 1 / slopes[0], rel_tol=1e-3):
        return "multiplier inverted"
    if isclose(slopes[1], 1.0) and slopes[0] != 1.0:
        return "multiplier lost"
    said = factor_cause(*slopes)
    return f"multiplier: {said}" if said else "multiplier"


def _shown(row: _Row) -> str:
    (first, _), *others = row[0].items()
    terms = " ".join(f"{'-' if v > 0 else '+'} {abs(v):.6g} · {k[0]}" for k, v in others)
    offset = f" + {row[1]:.6g}" if row[1] else ""
    return f"{first[0]} = {terms.removeprefix('+ ')}{offset}"
