"""Tables of what stops a robot: brakes, ramps and actuators."""

from __future__ import annotations

from pydantic import Field

from mbplugin.readers.scene_file.tables.table import Name, NonNegative, Number, Origin, Positive, Share, Table

_VALUES = "the numbers that the origin speaks of, by key; reports name those that were changed since"


class BrakeTable(Table):
    """``[[brake]]``: torques (N·m or N), viscous part (N·m·s/rad), delays (s), wear, short circuit."""

    joint: Name = Field(description="a joint with one freedom")
    torque: NonNegative | None = Field(
        default=None,
        description="while it slides, N·m or N; default: the effort limit, which reports call assumed",
    )
    static_torque: NonNegative | None = Field(
        default=None, description="the most it holds at rest, N·m or N; default: torque"
    )
    viscous: NonNegative = Field(default=0.0, description="N·m·s/rad or N·s/m")
    delay: NonNegative | None = Field(
        default=None,
        description="from the signal until the drive is without power, s; default: 0, which reports call assumed",
    )
    engagement: NonNegative = Field(default=0.0, description="from there until the brake grips, s")
    wear: Share = Field(default=1.0, description="share of both torques that is left, 0 to 1")
    short_circuit: NonNegative | None = Field(
        default=None,
        description="k of k·ω/(1 + (ω/ω₀)²), a motor with short-circuited windings, N·m·s/rad or N·s/m",
    )
    short_circuit_rate: Positive | None = Field(default=None, description="ω₀ of it, rad/s or m/s")
    origin: Origin = Field(default="", description="where the numbers come from, in words; reports show it")
    origin_values: dict[str, Number] = Field(default={}, description=_VALUES)


class RampTable(Table):
    """``[[ramp]]``: how a drive decelerates in categories 1 and 2: time (s) or deceleration, reaction (s)."""

    joint: Name = Field(description="a joint with one freedom")
    time: Positive | None = Field(default=None, description="from any rate to rest, s; or deceleration")
    deceleration: Positive | None = Field(default=None, description="rad/s² or m/s²; or time")
    reaction: NonNegative | None = Field(
        default=None, description="from the signal until the ramp begins, s; default: the brake's delay"
    )
    origin: Origin = Field(default="", description="where the numbers come from, in words; reports show it")
    origin_values: dict[str, Number] = Field(default={}, description=_VALUES)


class ActuatorTable(Table):
    """``[[actuator]]``: rotor inertia (kg·m², motor side), gear ratio, how it brakes (rad/s² or m/s²)."""

    joint: Name = Field(description="a joint with one freedom")
    armature: NonNegative = Field(
        default=0.0, description="inertia of the rotor on the motor's side, kg·m²; of a slide kg"
    )
    gear_ratio: Number = Field(default=1.0, description="turns of the motor per turn of the joint")
    deceleration: Positive | None = Field(
        default=None, description="with which its drive stops the joint, rad/s² or m/s²"
    )
