"""What the schemas of simulators say of a joint: rotor inertia, damping, friction, drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import degrees, inf, isfinite, radians
from typing import Any

from mbplugin.errors import BadNumber
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism import Freedom
from mbplugin.readers.usd.freedoms import DIRECTIONS
from mbplugin.readers.usd.stage import Stage

#: Attributes by what they state, the first one that a file has counts.
ARMATURE = ("newton:armature", "physxJoint:armature", "mjc:armature")
DAMPING = ("newton:damping", "mjc:damping")
FRICTION = ("newton:friction", "mjc:frictionloss")
VELOCITY = ("newton:velocityLimit", "physxJoint:maxJointVelocity")
#: Directions that an instance of DriveAPI stands for.
_DRIVES = {
    **{key: (value,) for key, value in DIRECTIONS.items()},
    "linear": ("tx", "ty", "tz"),
    "angular": ("rx", "ry", "rz"),
}


@dataclass(frozen=True)
class JointExtras:
    """What a joint has beside its geometry, SI units; of each pair the translation's value comes first.

    Parameters
    ----------
    armature, damping, friction, velocity : tuple of (float, float)
        Of translations and of rotations: kg and kg·m², N·s/m and N·m·s/rad, N and N·m, m/s and rad/s.
    efforts : mapping of str to float
        Largest force or torque of the drive of a direction, N or N·m.
    """

    armature: tuple[float, float]
    damping: tuple[float, float]
    friction: tuple[float, float]
    velocity: tuple[float, float]
    efforts: Mapping[str, float] = field(default_factory=dict)

    def drives(self, direction: str) -> bool:
        """Return whether a drive acts along or about a direction; one without force does not."""
        return self.efforts.get(direction, 0.0) > 0

    def armature_of(self, direction: str) -> float:
        """Return the rotor inertia of a direction, kg or kg·m²."""
        return self.armature[direction[0] == "r"]

    def apply(self, freedom: Freedom, direction: str) -> Freedom:
        """Return the freedom of a direction (``tx`` … ``rz``) with its damping, friction, effort and velocity."""
        turns = direction[0] == "r"
        return replace(
            freedom,
            damping=self.damping[turns],
            friction=self.friction[turns],
            velocity=self.velocity[turns],
            effort=self.efforts.get(direction, inf),
        )


def joint_extras(stage: Stage, prim: Any) -> JointExtras:
    """Return what a joint prim states beside its geometry.

    Raises
    ------
    BadNumber
        A number that cannot be used.
    """
    force = stage.kilogram * stage.metre
    torque = force * stage.metre
    armature = _first(stage, prim, ARMATURE, 0.0)[1]
    name, damping = _first(stage, prim, DAMPING, 0.0)
    # Newton's angular units are degrees, MuJoCo's radians
    per_radian = degrees(damping) if name.startswith("newton") else damping
    friction = _first(stage, prim, FRICTION, 0.0)[1]
    speed = _first(stage, prim, VELOCITY, inf)[1]
    return JointExtras(
        (stage.kilogram * armature, stage.kilogram * stage.metre**2 * armature),
        (stage.kilogram * damping, torque * per_radian),
        (force * friction, torque * friction),
        (stage.metre * speed, radians(speed)),
        _efforts(stage, prim, force, torque),
    )


def _efforts(stage: Stage, prim: Any, force: float, torque: float) -> dict[str, float]:
    """Return the largest effort of each direction with a drive, N or N·m."""
    found: dict[str, float] = {}
    for schema in stage.schemas(prim):
        api, _, instance = schema.partition(":")
        if api != "PhysicsDriveAPI" or instance not in _DRIVES:
            continue
        most = stage.number(prim, f"drive:{instance}:physics:maxForce", inf)
        for direction in _DRIVES[instance]:
            found[direction] = (torque if direction[0] == "r" else force) * most if isfinite(most) else inf
    return found


def _first(stage: Stage, prim: Any, names: tuple[str, ...], default: float) -> tuple[str, float]:
    """Return the first of some attributes that a file states, and its value."""
    for name in names:
        if stage.authored(prim, name):
            value = stage.number(prim, name, default)
            if abs(value) > LARGEST and value != inf:
                raise BadNumber(f"{name} is {value:g}", where=stage.where(prim), expected="a finite number")
            return name, value if isfinite(value) or default == inf else default
    return "", default
