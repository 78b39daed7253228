"""What reports say of the forces of actuators: the title, and what may be added to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbplugin.joint_reactions.actuator_forces import ActuatorForces

#: Marks the force of an actuator that shares it with others.
SHARED = "="
TITLE = "Actuators: the force that this motion needs, with rotor inertia, damping and friction"


def share_words(found: ActuatorForces) -> Iterator[str]:
    """Yield for each actuator whose force may be chosen what goes with 1 N·m or 1 N of it."""
    for name, column in zip(found.free, found.shares.T, strict=True):
        others = " and ".join(
            f"{value:.6g} {force.unit} in {force.joint}"
            for force, value in zip(found.forces, column.tolist(), strict=True)
            if value and force.joint != name
        )
        yield f"1 {found[name].unit} in {name}" + (f" with {others}" if others else " alone")
