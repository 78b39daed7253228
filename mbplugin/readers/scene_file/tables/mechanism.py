"""Tables of what a mechanism consists of: models, bodies, pairs, closures, couplings, wheels, drivers, locks."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mbplugin.model.enumerations import Base, PairTypeName
from mbplugin.model.mechanism.motion_profile import Between
from mbplugin.readers.scene_file.tables.table import (
    RPY,
    FileName,
    Inertia,
    Name,
    NonNegative,
    Number,
    Positive,
    Table,
    Vector,
)


class StateTable(Table):
    """``[state]``: joint coordinates (rad, m) and rates by name; these hold, the rest follows or is as in the file."""

    q: dict[str, Number] = Field(
        default={},
        description="coordinates by name, rad, m; they hold, and others follow through loops and couplings",
    )
    qd: dict[str, Number] = Field(
        default={}, description="rates by name, rad/s, m/s; they hold, and others follow"
    )


class ModelTable(Table):
    """``[[model]]``: a model file, where it stands and whether its root is fixed there."""

    file: FileName = Field(
        description="URDF, Xacro, SDF or MJCF file, relative to the scene, in its repository or a package folder"
    )
    name: Name | None = Field(
        default=None,
        description="prefix of its names where a scene has several models; default: the model's own",
    )
    base: Base | None = Field(
        default=None,
        description="whether its root links are fixed to the ground or free; default: as the file states",
    )
    xyz: Vector = Field(default=[0.0, 0.0, 0.0], description="where the model stands in the world, m")
    rpy: Vector = Field(default=[0.0, 0.0, 0.0], description=RPY)


class BodyTable(Table):
    """``[[body]]``: a body written in the scene; its link frame in the world, inertia about com."""

    name: Name = Field(description="new in the scene; 'world' is the ground")
    mass: NonNegative = Field(default=0.0, description="kg")
    xyz: Vector | None = Field(
        default=None,
        description="origin of the link frame in the world, m; default: where the pairs put it, or the"
        " origin of the world for a pair that states one side",
    )
    rpy: Vector | None = Field(default=None, description=f"of the link frame in the world: {RPY}")
    com: Vector = Field(default=[0.0, 0.0, 0.0], description="centre of mass in the link frame, m")
    inertia: Inertia = Field(
        default=[0.0, 0.0, 0.0],
        description="about the centre of mass in the axes of the link frame, kg·m²: ixx iyy izz, or ixx"
        " ixy ixz iyy iyz izz",
    )


class JointTable(Table):
    """What ``[[pair]]`` and ``[[closure]]`` share: bodies, and the joint frame on either side."""

    body_a: Name | None = Field(default=None, description="predecessor, 'world' for the ground")
    body_b: Name | None = Field(default=None, description="successor, on which reactions act")
    xyz_a: Vector | None = Field(
        default=None,
        description="origin of the joint frame in the link frame of body_a, m; default: from the pose and"
        " the side of body_b",
    )
    rpy_a: Vector | None = Field(
        default=None, description=f"of the joint frame in the link frame of body_a: {RPY}"
    )
    xyz_b: Vector | None = Field(
        default=None,
        description="origin of the joint frame in the link frame of body_b, m; default: from the pose and"
        " the side of body_a",
    )
    rpy_b: Vector | None = Field(
        default=None, description=f"of the joint frame in the link frame of body_b: {RPY}"
    )
    axis: Vector | None = Field(
        default=None, description="joint axis in the joint frame, any length; default: its z"
    )
    lead: Number | None = Field(default=None, description="screw only: travel along the axis per turn, m")
    length: Positive | None = Field(
        default=None,
        description="distance only: between the origins of both sides, m; default: that of the pose",
    )


class PairTable(JointTable):
    """``[[pair]]``: with bodies a new pair; with name, type and axis the new type of a pair.

    ``passive``: whatever the file says, this joint has no drive, brake or end stop. A pair of one freedom may
    state its limits (rad, m), the velocity and effort of its drive (rad/s, m/s; N·m, N), damping
    (N·m·s/rad, N·s/m) and dry friction (N·m, N), as a URDF does. A revolute or prismatic pair may also state
    Coulomb friction that grows with the force that the joint transmits.
    """

    name: Name = Field(description="unique among all constraints; without bodies that of a joint of a model")
    type: PairTypeName = Field(description="what the pair leaves free")
    passive: bool = Field(
        default=False,
        description="whether it has no drive, brake or end stop, whatever the model's file says",
    )
    lower: Number | None = Field(default=None, description="lower limit of its coordinate, rad or m")
    upper: Number | None = Field(default=None, description="upper limit of its coordinate, rad or m")
    velocity: Positive | None = Field(default=None, description="limit of its rate, rad/s or m/s")
    effort: NonNegative | None = Field(default=None, description="limit of its drive, N·m or N")
    damping: NonNegative | None = Field(default=None, description="viscous, N·m·s/rad or N·s/m")
    friction: NonNegative | None = Field(default=None, description="dry, N·m or N")
    friction_coefficient: NonNegative | None = Field(
        default=None,
        description="revolute and prismatic: μ of dry friction that grows with the joint's force",
    )
    friction_radius: Positive | None = Field(
        default=None, description="revolute with friction_coefficient: radius at which that friction acts, m"
    )


class ClosureTable(JointTable):
    """``[[closure]]``: a pair that closes a loop; a side that is not given is taken at the pose."""

    name: Name = Field(description="unique among all constraints")
    type: PairTypeName = Field(description="what the closure leaves free")
    body_a: Name = Field(description="predecessor, 'world' for the ground")
    body_b: Name = Field(description="successor, on which reactions act")


class TermTable(Table):
    """One joint of a ``[[coupling]]``; ``freedom`` is needed where the joint has several."""

    joint: Name = Field(description="a pair")
    freedom: Name | None = Field(default=None, description="such as rz, of a pair that has several")
    coefficient: Number = Field(description="of its coordinate (rad, m) in the sum")


class CouplingTable(Table):
    """``[[coupling]]``: joint = ratio · of + offset, or Σ coefficient · joint = offset."""

    name: Name | None = Field(default=None, description="default: its type and joint")
    type: Literal["mimic", "gear", "rack"] = Field(description="what it stands for; the equation is the same")
    joint: Name | None = Field(default=None, description="the joint that follows")
    of: Name | None = Field(default=None, description="the joint that leads")
    ratio: Number = Field(default=1.0, description="of the two coordinates, rad and m")
    offset: Number = Field(default=0.0, description="rad or m")
    terms: list[TermTable] | None = Field(
        default=None, description="instead of joint and of: joints whose coordinates add up to the offset"
    )


class PlaneTable(Table):
    """The plane of a rolling wheel, in world axes."""

    point: Vector = Field(default=[0.0, 0.0, 0.0], description="on the plane, m")
    normal: Vector = Field(default=[0.0, 0.0, 1.0], description="away from the ground, any length")


class PfaffianTable(Table):
    """``[[pfaffian]]``: a knife edge (blocked direction) or a rolling wheel, in the link frame."""

    name: Name = Field(description="unique among all constraints")
    type: Literal["knife_edge", "rolling"] = Field(
        description="one blocked velocity, or a wheel that rolls without slipping"
    )
    body: Name = Field(description="that carries the edge, or the wheel")
    point: Vector = Field(
        default=[0.0, 0.0, 0.0], description="of the edge, or the wheel's centre, in the link frame, m"
    )
    direction: Vector | None = Field(
        default=None, description="knife edge: in which the point cannot move, in the link frame"
    )
    axis: Vector | None = Field(default=None, description="rolling: of the wheel, in the link frame")
    radius: Positive | None = Field(default=None, description="rolling: of the wheel, m")
    plane: PlaneTable | None = Field(
        default=None, description="rolling: on which it rolls; default: z = 0 of the world"
    )


class DriverTable(Table):
    """``[[driver]]``: a prescribed motion value + rate·t + ½·acceleration·t² of a joint, or through points."""

    joint: Name = Field(description="a pair")
    name: Name | None = Field(default=None, description="default: 'drive' and the joint")
    freedoms: list[str] = Field(default=[], description="such as rz; default: all of the pair")
    value: Number | None = Field(
        default=None, description="at the start, rad or m; default: that of the state"
    )
    rate: Number = Field(default=0.0, description="rad/s or m/s")
    acceleration: Number = Field(default=0.0, description="rad/s² or m/s²")
    points: list[list[Number]] | None = Field(
        default=None,
        description="instead of value, rate and acceleration: rows of time (s), value and, in all rows or in none, rate"
        " and acceleration; after the last row the motion goes on with its rate there",
    )
    file: FileName | None = Field(
        default=None,
        description="the same as a CSV file with the columns time, value, rate, acceleration; units in brackets;"
        " in the scene's repository or a package folder",
    )
    between: Between = Field(
        default="spline",
        description="through rows of values alone: a cubic spline that begins and ends at rest, or a rest at every row",
    )


class LockTable(Table):
    """``[[lock]]``: a joint that stands still, from the start or from ``at`` on, up to ``until`` (s)."""

    joint: Name = Field(description="a pair")
    at: NonNegative | None = Field(default=None, description="when it closes, s; default: from the start")
    until: Positive | None = Field(default=None, description="when it opens, s; default: never")
    freedoms: list[str] = Field(default=[], description="such as rz; default: all of the pair")


class HoldTable(Table):
    """``[[hold]]``: a constraint of the mechanism that is active from ``at`` up to ``until`` only (s)."""

    constraint: Name = Field(description="a closure, coupling, driver, wheel or knife edge")
    at: NonNegative = Field(default=0.0, description="when it closes, s; default: from the start")
    until: Positive | None = Field(default=None, description="when it opens, s; default: never")
