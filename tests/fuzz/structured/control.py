"""What controllers are told in a URDF: transmissions and ros2_control blocks, old ways and new."""

from __future__ import annotations

from .dice import Dice
from .markup import Tag, tag
from .sketch import Joint, Sketch


def transmission(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    """Return a ``<transmission>`` of one joint or several, or in the way of the PR2."""
    interface = tag("hardwareInterface", dice.any(("EffortJointInterface", "PositionJointInterface")))
    joints = [
        tag("joint", interface, name=dice.name([joint.name, *mechanism.names]))
        for _ in range(dice.any((1, 1, 2)))
    ]
    motors = [
        tag("actuator", tag("mechanicalReduction", dice.number(50)), name=f"motor{k}")
        for k in range(dice.any((1, 1, 2, 0)))
    ]
    kind = "transmission_interface/SimpleTransmission"
    if dice.chance(0.3):
        # PR2's: the type is an attribute, the reduction stands beside
        named = [tag(one.name, name=dict(one.attributes)["name"]) for one in (*joints, *motors)]
        reduction = tag("mechanicalReduction", dice.vector(1, -1))
        return tag("transmission", *named, reduction, name=f"t_{joint.name}", type=kind)
    return tag("transmission", tag("type", kind), *joints, *motors, name=f"t_{joint.name}")


def ros2_control(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    """Return a ``<ros2_control>`` with the hardware, joints, sensors and inputs of a system."""
    hardware = tag(
        "hardware",
        tag("plugin", "mock_components/GenericSystem"),
        *(tag("param", dice.number(1), name=name) for name in dice.some(("delay", "mimic", "offset"), 2)),
    )
    parts = [_joint(joint, mechanism, dice) for _ in range(dice.any((1, 1, 2, 4)))]
    if dice.chance(0.2):
        parts.append(tag(dice.any(("sensor", "gpio")), tag("state_interface", name="x"), name="extra"))
    if dice.chance(0.2):
        parts.append(transmission(joint, mechanism, dice))
    kind = dice.name(("system", "actuator", "sensor"))
    return tag("ros2_control", hardware if dice.chance(0.8) else None, *parts, name="c", type=kind)


def _joint(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    bounds = [tag("param", dice.number(value), name=name) for name, value in (("min", -1.0), ("max", 1.0))]
    command = tag("command_interface", *bounds, name=dice.any(("position", "velocity", "effort")))
    state = tag("state_interface", tag("param", dice.number(0), name="initial_value"), name="position")
    mimic = tag("param", dice.name(mechanism.names), name="mimic") if dice.chance(0.2) else None
    name = dice.name([joint.name, joint.name, *mechanism.names])
    return tag("joint", command, state if dice.chance(0.8) else None, mimic, name=name)
