"""What resists the rate of a row: a damper in a cut pair, dry friction, a brake."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.model.brake_law import PARTS, BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.spatial import AnyArray, Array

#: A resistance along a row: the parts of its law. ``sense`` is the sign of the rate while it slides, else
#: zero. ``stuck`` is the constant force, N·m or N, of one that sticks and depends on rows that hold: its own
#: row has no multiplier.
RESISTANCE = np.dtype(
    [
        ("row", np.int64),
        *((part, np.float64) for part in PARTS),
        ("sense", np.float64),
        ("stuck", np.float64),
    ],
    align=True,
)
_rate_force, _depends_on_rate = kernel(rate_force), kernel(depends_on_rate)


def resistance_records(first_row: int, laws: Sequence[BrakeLaw]) -> AnyArray:
    """Return resistances (n,) with these n laws on rows one behind the other."""
    out = np.zeros(len(laws), dtype=RESISTANCE)
    for n, law in enumerate(laws):
        out[n]["row"] = first_row + n
        store_law(out[n], law)
    return out


def law_of(resistance: Records) -> BrakeLaw:
    """Return the law of a resistance."""
    return BrakeLaw(*(float(resistance[part]) for part in PARTS))


def store_law(resistance: Records, law: BrakeLaw) -> None:
    """Give a resistance a law."""
    for part in PARTS:
        resistance[part] = getattr(law, part)


def store_laws(resistances: AnyArray, laws: Sequence[BrakeLaw], places: Sequence[int]) -> None:
    """Give the resistances (n,) at some places laws."""
    for part in PARTS:
        resistances[part][places] = [getattr(law, part) for law in laws]


def add_law(resistance: Records, law: BrakeLaw) -> None:
    """Let a law act besides the one that a resistance has."""
    store_law(resistance, law_of(resistance) + law)


def sliding_forces(resistances: AnyArray, rates: Array) -> Array:
    """Return what resistances (n,) do along their rows while they slide at rates (n,), N·m or N."""
    laws = resistances.view(np.recarray)
    return np.asarray(-resistances["sense"] * resistances["sliding"] - rate_force(laws, rates))


@kernel
def resist(
    composites: Records,
    rates: Records,
    rows: Records,
    terms: Records,
    resistances: Records,
    qd: Array,
    power: Array,
) -> None:
    """Add what resistances do at ``qd`` (nv,) to ``f`` and ``tau``, and their power to ``power`` (3,) at 0, W."""
    for n in range(len(resistances)):
        resistance = resistances[n]
        if resistance.sense == 0.0 and resistance.stuck == 0.0 and not _depends_on_rate(resistance):
            continue
        row = rows[resistance.row]
        rate = qd[row.rate] if row.kind == RATE else row_rate(composites, rows, terms, resistance.row, qd)
        force = -_rate_force(resistance, rate) - resistance.sense * resistance.sliding + resistance.stuck
        power[0] += force * rate
        if row.kind == RATE:
            rates[row.rate].tau += force
            continue
        a, b = composites[row.a], composites[row.b]
        for i in range(6):
            a.f[i] -= force * row.on_a[i]
            b.f[i] -= force * row.on_b[i]
