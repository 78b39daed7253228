"""Tables of what acts on a mechanism and how stiff it is: loads, springs, payloads, stiffness, misfits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from mbplugin.readers.scene_file.tables.table import (
    Inertia,
    Name,
    NonNegative,
    Number,
    Positive,
    StiffnessNumber,
    Table,
    Vector,
)


class LoadTable(Table):
    """``[[load]]``: a force (N) and torque (N·m) on a body at a point of its link frame."""

    body: Name = Field(description="on which it acts")
    point: Vector = Field(default=[0.0, 0.0, 0.0], description="of application, in the link frame, m")
    force: Vector = Field(default=[0.0, 0.0, 0.0], description="at the point, N")
    torque: Vector = Field(default=[0.0, 0.0, 0.0], description="besides the force, N·m")
    frame: Literal["world", "body"] = Field(
        default="world", description="the axes of force and torque: fixed, or turning with the body"
    )


class SectionTable(Table):
    """A beam section: Young's modulus (Pa), area (m²), second moments (m⁴)."""

    E: Positive = Field(description="Young's modulus, Pa")
    A: Positive = Field(description="area, m²")
    Iy: Positive = Field(description="second moment about the section's y, m⁴")
    Iz: Positive = Field(description="second moment about the section's z, m⁴")
    J: Positive = Field(description="torsion constant, m⁴")
    nu: Number | None = Field(default=None, description="Poisson's ratio; default: 0.3")


class StiffnessTable(Table):
    """``[[stiffness]]``: of a pair (k: six diagonal numbers or 6 × 6, inf is rigid) or body (section)."""

    pair: Name | None = Field(default=None, description="whose bearing it is; with k")
    k: list[StiffnessNumber] | list[list[StiffnessNumber]] | None = Field(
        default=None,
        description="tx ty tz rx ry rz in the joint frame, N/m and N·m/rad: six on the diagonal, or six"
        " rows of six; inf is rigid",
    )
    body: Name | None = Field(
        default=None, description="whose links between its joints are beams; with section"
    )
    section: SectionTable | None = Field(default=None, description="of these beams")


class MisfitTable(Table):
    """``[[misfit]]``: of a component of a joint, before it is closed (m, rad): its value, its deviation, or both."""

    joint: Name = Field(description="a pair or closure")
    component: Name = Field(description="a constrained one, such as tx")
    value: Number | None = Field(default=None, description="m or rad")
    sigma: NonNegative | None = Field(default=None, description="standard deviation, m or rad")


class LimitTable(Table):
    """``[[limit]]``: of what misfits may load a joint with: its force (N), or one component (N, N·m)."""

    joint: Name = Field(description="a pair or closure")
    value: Positive = Field(description="N, or N·m of a moment")
    component: Name | None = Field(default=None, description="such as tx; default: the whole force")


class SpringTable(Table):
    """``[[spring]]``: between points of two bodies (N/m, m, N·s/m), or on a joint (N·m/rad or N/m)."""

    stiffness: NonNegative = Field(description="between bodies N/m; on a joint N·m/rad or N/m")
    body_a: Name | None = Field(default=None, description="one end; 'world' for the ground")
    body_b: Name | None = Field(default=None, description="the other end")
    point_a: Vector | None = Field(
        default=None, description="in the link frame of body_a, m; default: its origin"
    )
    point_b: Vector | None = Field(
        default=None, description="in the link frame of body_b, m; default: its origin"
    )
    length: NonNegative | None = Field(default=None, description="free length, m; default: 0")
    damping: NonNegative | None = Field(default=None, description="along the spring, N·s/m; default: 0")
    joint: Name | None = Field(default=None, description="instead of bodies: a joint of the tree")
    freedom: Name | None = Field(default=None, description="such as rz, of a joint that has several")
    rest: Number | None = Field(default=None, description="coordinate without force, rad or m; default: 0")


class PayloadTable(Table):
    """``[[payload]]``: a mass (kg) on a body, com in its link frame, inertia about com."""

    body: Name = Field(description="that carries it")
    mass: Positive = Field(description="kg")
    com: Vector = Field(
        default=[0.0, 0.0, 0.0], description="centre of mass in the link frame of the body, m"
    )
    inertia: Inertia = Field(
        default=[0.0, 0.0, 0.0],
        description="about that centre in the axes of the link frame, kg·m², as of a body",
    )
