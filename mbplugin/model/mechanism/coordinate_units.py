"""Units of joint coordinates and rates, for headers and axes."""

from __future__ import annotations

from mbplugin.model.component import units_of
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import COMPONENTS


def coordinate_units(mech: Mechanism) -> tuple[str, ...]:
    """Return ``rad``, ``m`` or ``1`` (a component of a quaternion) for every coordinate."""
    units = [""] * len(mech.q_names)
    for joint in mech.tree.joints:
        own = _units(joint)
        # one coordinate more than rates: three turns are a quaternion
        turned = joint.q.stop - joint.q.start > len(own)
        units[joint.q] = [*own[:-3], *["1"] * 4] if turned else own
    return tuple(units)


def rate_units(mech: Mechanism) -> tuple[str, ...]:
    """Return ``rad/s`` or ``m/s`` for every rate."""
    return _per_rate(mech, "/s")


def acceleration_units(mech: Mechanism) -> tuple[str, ...]:
    """Return ``rad/s²`` or ``m/s²`` for every rate."""
    return _per_rate(mech, "/s²")


def _per_rate(mech: Mechanism, time: str) -> tuple[str, ...]:
    units = [""] * len(mech.qd_names)
    for joint in mech.tree.joints:
        units[joint.qd] = [unit + time for unit in _units(joint)]
    return tuple(units)


def momentum_units(mech: Mechanism) -> tuple[str, ...]:
    """Return ``N·m·s`` or ``N·s`` for the generalised momentum of every rate."""
    forces = {units_of(c).rate: units_of(c).force for c in COMPONENTS}
    return tuple(f"{forces[unit]}·s" for unit in rate_units(mech))


def _units(joint: TreeJoint) -> list[str]:
    free = joint.pair.kind.free if joint.pair else COMPONENTS
    return [units_of(component).coordinate for component in free]
