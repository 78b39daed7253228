"""Numbers by name that may be texts with a unit: full speeds, decelerations, misfits and limits of reactions.

The name says the dimension. One that is unknown takes any unit, and is refused where the numbers are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mbplugin.model.mechanism.coordinate_units import rate_units
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.units import DIMENSION_OF, SI

#: In SI units, or a text with its unit such as ``90deg/s``.
NamedNumbers = Mapping[str, float | str]
#: Returns the dimension of a name, empty where that is unknown.
DimensionOfName = Callable[[str], str]

_OF_RATE = {
    "acceleration": {"angular rate": "angular acceleration", "speed": "acceleration"},
    "force": {"angular rate": "torque", "speed": "force"},
}


def numbers(values: NamedNumbers | None, dimension: DimensionOfName) -> dict[str, float]:
    """Return values by name in SI units.

    Raises
    ------
    BadUsage
        A text that is no finite number with a unit of its dimension.
    """
    return {
        name: SI.value(value, dimension(name), f"{name!r} has the value") if isinstance(value, str) else value
        for name, value in (values or {}).items()
    }


def rates_of(mech: Mechanism) -> DimensionOfName:
    """Return the dimensions of rates, and of the joints with one freedom."""
    found = {
        pair.name: "speed" if pair.kind.free[0][0] == "t" else "angular rate"
        for pair in mech.pairs
        if len(pair.kind.free) == 1
    }
    units = (DIMENSION_OF[unit] for unit in rate_units(mech))
    found.update(zip(mech.qd_names, units, strict=True))
    return lambda name: found.get(name, "")


def accelerations_of(mech: Mechanism) -> DimensionOfName:
    """Return the dimensions of the accelerations of rates."""
    rates = rates_of(mech)
    return lambda name: _OF_RATE["acceleration"].get(rates(name), "")


def forces_of(mech: Mechanism) -> DimensionOfName:
    """Return the dimensions of the torques and forces on rates."""
    rates = rates_of(mech)
    return lambda name: _OF_RATE["force"].get(rates(name), "")


def misfit_dimension(name: str) -> str:
    """Return the dimension of the misfit of a ``CONSTRAINT.COMPONENT``."""
    return {"t": "length", "r": "angle"}.get(name.rpartition(".")[2][:1], "")


def limits_of(mech: Mechanism) -> DimensionOfName:
    """Return the dimensions of the largest loads of a ``JOINT`` or ``JOINT.COMPONENT``."""
    joints = {constraint.name for constraint in mech.constraints()}
    loads = {"t": "force", "r": "torque"}
    return lambda name: "force" if name in joints else loads.get(name.rpartition(".")[2][:1], "")
