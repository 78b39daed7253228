"""The instant in a step at which the first event function changes sign, for steps in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.stick_slip import AT_REST
from mbplugin.simulation.events.search import LOOKS, START, early_zero, first_zero
from mbplugin.simulation.events.watch import ROW_RATE, WRONG


def first_change_in_python(
    event_functions: AnyArray, values: Callable[[float, Sequence[int]], Array]
) -> tuple[float, int] | None:
    """Return the fraction of a step at which the first event function changes sign, and which; None: none does.

    The compiled search is :func:`mbplugin.simulation.events.locate.first_change`.

    Parameters
    ----------
    event_functions : (n,) record array
    values : callable
        Values of some of the event functions, by their numbers, at a fraction of the step.
    """
    found: list[tuple[float, int]] = []
    looks: dict[float, dict[int, float]] = {}
    candidates = np.flatnonzero(event_functions["candidate"]).tolist()
    for n in candidates:
        event_function = event_functions[n]

        def g(fraction: float, n: int = n) -> float:
            # all candidates are evaluated where one is: the accelerations there cost most
            if fraction not in looks and fraction in LOOKS:
                looks[fraction] = dict(zip(candidates, values(fraction, candidates), strict=True))
            return float(looks[fraction][n] if fraction in looks else values(fraction, (n,))[0])

        # a rate that starts to move is zero at the start, others may be soon after
        slides = event_function["kind"] == ROW_RATE
        zero = first_zero(g, START if not slides or abs(g(0.0)) <= AT_REST else 0.0)
        if zero is None and slides and g(1.0) * event_function["sense"] < -WRONG:
            zero = early_zero(g, float(event_function["sense"]))
        if zero is not None:
            found.append((zero, n))
    return min(found, default=None)
