"""Stick and slip: which resistances hold and which slide at an instant, several of them at once.

At rest a resistance holds while the force it needs stays within its static part; otherwise it slides and
works against the rate. With several joints that act on each other this is a complementarity problem; it
is solved by changing one resistance at a time, the worst first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbplugin.dynamics.kernels.solve import row_acceleration, row_rate
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.simulation.machine import Machine
from mbplugin.spatial import AnyArray, Array

#: A rate is at rest below this, rad/s and m/s.
AT_REST = 1e-9
_HOLDS = 1.0 + 1e-9

#: Evaluates the accelerations with some resistances (bool, per resistance) held, and returns the machine.
Hold = Callable[[AnyArray], Machine]


def rates_of(model: TreeModel, qd: Array) -> Array:
    """Return the rate of every resistance at the configured state."""
    rows, terms = model.table.rows, model.table.terms
    return np.array([row_rate(model.solids, rows, terms, r["row"], qd) for r in model.resistances])


def decide(model: TreeModel, hold: Hold, rates: Array, in_force: AnyArray) -> AnyArray:
    """Set the ``sense`` of every resistance and return which ones hold.

    Parameters
    ----------
    hold : callable
    rates : (n,) array
        Of the resistances; those at rest are decided, the others slide.
    in_force : (n,) array of bool
        Which resistances act at all.
    """
    dry = in_force & (model.resistances["static"] > 0)
    moving = np.abs(rates) > AT_REST
    model.resistances["sense"] = np.where(dry & moving, np.sign(rates), 0.0)
    held = dry & ~moving
    for _ in range(4 * int(held.sum()) + 4):
        machine = hold(held)
        change = _worst_holder(model, machine, held)
        if change is None:
            change = _wrong_slider(model, machine, dry & ~moving & ~held)
            if change is None:
                return held
            model.resistances["sense"][change] = 0.0
        held = held.copy()
        held[change] = not held[change]
    return held


def _worst_holder(model: TreeModel, machine: Machine, held: AnyArray) -> int | None:
    """Return the holding resistance that is overloaded most, now made to slide, or None."""
    force = dict(zip(machine.chosen.tolist(), machine.multipliers.tolist(), strict=True))
    worst, sense = _HOLDS, 0.0
    which: int | None = None
    for n in np.flatnonzero(held).tolist():
        needed = force.get(int(model.resistances["row"][n]), 0.0)
        load = abs(needed) / float(model.resistances["static"][n])
        if load > worst:
            worst, which = load, n
            sense = -float(np.sign(needed))
    if which is not None:
        model.resistances["sense"][which] = sense
    return which


def _wrong_slider(model: TreeModel, machine: Machine, starting: AnyArray) -> int | None:
    """Return a resistance that was let go but accelerates against its sense, or None."""
    table = model.table
    for n in np.flatnonzero(starting).tolist():
        row = int(model.resistances["row"][n])
        acceleration = row_acceleration(model.solids, model.rates, table.rows, table.terms, row)
        acceleration -= table.rows["gamma"][row]
        if acceleration * model.resistances["sense"][n] < 0:
            return int(n)
    return None
