"""Mimics and gears of two models, in the coordinates of the first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from math import isclose

from mbplugin.comparison.models.bodies import Found
from mbplugin.comparison.models.causes import factor_cause
from mbplugin.comparison.models.rewriting import Rewritten
from mbplugin.comparison.models.sides import Tolerances
from mbplugin.comparison.models.values import Difference
from mbplugin.model.mechanism import Coupling, Mechanism

_Row = tuple[dict[tuple[str, str], float], float]


def compare_couplings(
    a: Mechanism, b: Rewritten, other: Mechanism, moved: Collection[str], limits: Tolerances
) -> Iterator[Found]:
    """Yield couplings that are lost, added, or have other factors.

    Parameters
    ----------
    b : Rewritten
        The second model in the terms of the first.
    other : Mechanism
        The second model as written: its numbers are shown.
    moved : collection of str
        Joints of the first model whose axis or zero position differs, which alone explains a coupling that is
        written in the same way in both files.
    """
    rows_a = [(c, _row(c)) for c in a.couplings]
    names = {there: here for here, there in b.pairs.items()}
    left = [
        _Twin(
            c,
            _row(c),
            _row(replace(own, terms=tuple(replace(t, joint=names[t.joint]) for t in own.terms))),
            own,
        )
        for c, own in zip(b.mechanism.couplings, other.couplings, strict=True)
    ]
    for coupling, row in rows_a:
        twin = next((other for other in left if set(other.row[0]) == set(row[0])), None)
        if twin is None:
            yield Difference("coupling", coupling.name, "", _shown(coupling), "", f"{coupling.type} lost")
            continue
        left.remove(twin)
        if _same(row, twin.row, limits):
            continue
        if _same(row, twin.written, limits) and any(t.joint in moved for t in coupling.terms):
            continue
        theirs = _shown(twin.own)
        if not _same(twin.row, twin.written, limits):
            theirs += f", computed in the coordinates of A: {_shown(twin.coupling)}"
        cause = _cause(row, twin.written)
        yield Difference("coupling", coupling.name, twin.coupling.name, _shown(coupling), theirs, cause)
    for twin in left:
        known = any(set(twin.row[0]) == set(other[0]) for _, other in rows_a)
        kind = twin.coupling.type
        cause = f"doubled {kind}" if known else f"{kind} only in the second"
        yield Difference("coupling", "", twin.coupling.name, "", _shown(twin.own), cause)


@dataclass(frozen=True, eq=False)
class _Twin:
    """A coupling of the second model: in the first one's coordinates, its row, the row as written, and as written."""

    coupling: Coupling
    row: _Row
    written: _Row
    own: Coupling


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


def _shown(coupling: Coupling) -> str:
    """Return a coupling, solved for its first joint; what had to be divided for that is named as computed."""
    row = _row(coupling)
    (first, _), *others = row[0].items()
    terms = " ".join(f"{'-' if v > 0 else '+'} {abs(v):.6g} · {k[0]}" for k, v in others)
    offset = f" + {row[1]:.6g}" if row[1] else ""
    divided = abs(coupling.terms[0].coefficient) != 1.0
    return f"{first[0]} = {terms.removeprefix('+ ')}{offset}{' (computed)' if divided else ''}"
