"""What resists the rate of a row: a damper in a cut pair, dry friction, a brake."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.model.spatial import Array

#: A resistance along a row: ``viscous`` part, ``sliding`` and ``static`` dry part, N·m or N. ``sense`` is
#: the sign of the rate while it slides, else zero. ``stuck`` is the constant force, N·m or N, of one that
#: sticks and depends on rows that hold: its own row has no multiplier.
RESISTANCE = np.dtype(
    [
        ("row", np.int64),
        ("viscous", np.float64),
        ("sliding", np.float64),
        ("static", np.float64),
        ("sense", np.float64),
        ("stuck", np.float64),
    ],
    align=True,
)


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
    """Add what resistances do to ``f`` and ``tau``, and their power to ``power[0]``."""
    for n in range(len(resistances)):
        resistance = resistances[n]
        if resistance.viscous == 0.0 and resistance.sense == 0.0 and resistance.stuck == 0.0:
            continue
        rate = row_rate(composites, rows, terms, resistance.row, qd)
        force = -resistance.viscous * rate - resistance.sense * resistance.sliding + resistance.stuck
        power[0] += force * rate
        row = rows[resistance.row]
        if row.kind == RATE:
            rates[row.rate].tau += force
            continue
        a, b = composites[row.a], composites[row.b]
        for i in range(6):
            a.f[i] -= force * row.on_a[i]
            b.f[i] -= force * row.on_b[i]
