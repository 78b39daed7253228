"""Standard deviations of loads from tolerances of misfits, and the misfits that limits of loads allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions.misfit.response import STEPS, MisfitResponse, row_lengths
from mbplugin.model.bounds import LARGEST
from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.model.spatial import AnyArray, Array

#: Part of the largest response of a limited load below which a response is rounding.
_ROUNDING = 1e-9
#: Part of the largest deviation below which one is rounding.
_NOTHING = 1e-13


@dataclass(frozen=True)
class MisfitBudget:
    """The largest misfit of one component that keeps every limited load below its limit.

    Parameters
    ----------
    constraint, component : str
        That may misfit.
    largest : float
        m or rad; 0 where no compliance limits the load.
    unit : "m" or "rad"
    decided_by : str
        The limit that is met first, ``JOINT`` or ``JOINT.COMPONENT``.
    """

    constraint: str
    component: str
    largest: float
    unit: CoordinateUnit
    decided_by: str


def deviations(response: MisfitResponse, sigma: Array) -> Array:
    """Return the standard deviation of each load, (m,), for independent misfits: √(Σ B² σ²).

    Parameters
    ----------
    sigma : (m,) array
        Standard deviations of the misfits, m and rad.

    Returns
    -------
    (m,) array
        N and N·m; ``inf`` where no compliance limits the load.
    """
    variance = np.zeros(len(sigma))
    for row in np.flatnonzero(sigma).tolist():
        loaded, values = response.entries(row)
        variance[loaded] += (values * sigma[row]) ** 2
    found = np.sqrt(variance)
    finite = found[np.isfinite(found)]
    found[found < _NOTHING * finite.max(initial=0.0)] = 0.0
    return np.asarray(found)


def budget(response: MisfitResponse, limits: Mapping[str, float]) -> tuple[MisfitBudget, ...]:
    """Return the largest misfit of each component, the smallest first, without any other load.

    A component whose misfit loads no limited joint is not among them.

    Parameters
    ----------
    limits : mapping
        ``JOINT`` to the largest resultant force, N; ``JOINT.COMPONENT`` to that of one component, N or N·m.

    Raises
    ------
    UnknownName
        No constraint and no row has that name.
    BadUsage
        A joint without a component that is a force.
    BadNumber
        A limit that is not positive and finite.
    """
    limited = {
        name: (rows_of_limit(response, name), _positive(name, value)) for name, value in limits.items()
    }
    if not limited:
        return ()
    scale = row_lengths(response.factor)
    found = []
    for row in response.stressing:
        column = response.column(row)
        allowed = [
            (value / float(np.linalg.norm(column[rows])), name)
            for name, (rows, value) in limited.items()
            if np.abs(column[rows]).max() > _ROUNDING * scale[row] * scale[rows].max()
        ]
        if allowed:
            largest, name = min(allowed)
            unit = STEPS[response.units[row]].unit
            found.append(MisfitBudget(*response.labels[row], largest, unit, name))
    # equal ones stay in the order of the file, whatever their rounding
    by_row = sorted(found, key=lambda one: response.row(f"{one.constraint}.{one.component}"))
    lever = {"m": 1.0, "rad": response.length}
    return tuple(sorted(by_row, key=lambda one: float(f"{one.largest * lever[one.unit]:.9g}")))


def rows_of_limit(response: MisfitResponse, name: str) -> AnyArray:
    """Return the rows (k,) whose resultant a limit ``JOINT`` or ``JOINT.COMPONENT`` is of.

    Raises
    ------
    UnknownName
        No constraint and no row has that name.
    BadUsage
        A joint without a component that is a force.
    """
    own = [k for k, label in enumerate(response.labels) if label.constraint == name]
    forces = [k for k in own if response.units[k] == "N"]
    if forces:
        return np.array(forces)
    names = [label.dotted for label in response.labels]
    if own:
        raise BadUsage(
            f"the limit of {name!r} is of a joint that carries no force",
            expected=f"the limit of a component, such as {names[own[0]]}",
        )
    if name not in names:
        joints = dict.fromkeys(label.constraint for label in response.labels)
        raise UnknownName(
            f"the limit names {name!r}, which is no joint and no row of one",
            expected="JOINT or JOINT.COMPONENT",
            remedy=suggestion(name, [*joints, *names]),
        )
    return np.array([names.index(name)])


def _positive(name: str, value: float) -> float:
    number = float(value)
    if not 0 < number <= LARGEST:
        raise BadNumber(
            f"the limit of {name!r} is {value!r}", expected=f"a positive number up to {LARGEST:g}"
        )
    return number
