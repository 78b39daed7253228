"""The tables of a ``.scene.toml`` file, as pydantic models; unknown keys are errors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from mbplugin.model.bounds import LARGEST
from mbplugin.model.enumerations import Base, NamedPlane, PairTypeName, Simulator

Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Name = Annotated[str, Field(min_length=1)]
#: Where numbers come from, in words.
Origin = Annotated[str, Field(max_length=500)]
Positive = Annotated[float, Field(gt=0, le=LARGEST)]
NonNegative = Annotated[float, Field(ge=0, le=LARGEST)]
#: inf is rigid.
StiffnessNumber = Annotated[float, Field(allow_inf_nan=True)]
#: ixx iyy izz, or ixx ixy ixz iyy iyz izz as in a URDF.
Inertia = Annotated[list[Number], Field(min_length=3, max_length=6)]


class Table(BaseModel):
    """A table of the file: strict types (an integer is a number), finite values, no further keys."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class StateTable(Table):
    """``[state]``: joint coordinates (rad, m) and rates by name; the rest keeps the file's value."""

    q: dict[str, Number] = {}
    qd: dict[str, Number] = {}


class ModelTable(Table):
    """``[[model]]``: a model file, where it stands and whether its root is fixed there."""

    file: Name
    name: Name | None = None
    base: Base | None = None
    xyz: Vector = [0.0, 0.0, 0.0]
    rpy: Vector = [0.0, 0.0, 0.0]


class BodyTable(Table):
    """``[[body]]``: a body written in the scene; its link frame in the world, inertia about com."""

    name: Name
    mass: NonNegative = 0.0
    xyz: Vector | None = None
    rpy: Vector | None = None
    com: Vector = [0.0, 0.0, 0.0]
    inertia: Inertia = [0.0, 0.0, 0.0]


class JointTable(Table):
    """What ``[[pair]]`` and ``[[closure]]`` share: bodies, and the joint frame on either side."""

    body_a: Name | None = None
    body_b: Name | None = None
    xyz_a: Vector | None = None
    rpy_a: Vector | None = None
    xyz_b: Vector | None = None
    rpy_b: Vector | None = None
    axis: Vector | None = None
    lead: Number | None = None
    length: Positive | None = None


class PairTable(JointTable):
    """``[[pair]]``: with bodies a new pair; with name, type and axis the new type of a pair.

    ``passive``: whatever the file says, this joint has no drive, brake or end stop. A pair of one freedom may
    state its limits (rad, m), the velocity and effort of its drive (rad/s, m/s; N·m, N), damping
    (N·m·s/rad, N·s/m) and dry friction (N·m, N), as a URDF does.
    """

    name: Name
    type: PairTypeName
    passive: bool = False
    lower: Number | None = None
    upper: Number | None = None
    velocity: Positive | None = None
    effort: NonNegative | None = None
    damping: NonNegative | None = None
    friction: NonNegative | None = None


class ClosureTable(JointTable):
    """``[[closure]]``: a pair that closes a loop; a side that is not given is taken at the pose."""

    name: Name
    type: PairTypeName
    body_a: Name
    body_b: Name


class TermTable(Table):
    """One joint of a ``[[coupling]]``; ``freedom`` is needed where the joint has several."""

    joint: Name
    freedom: Name | None = None
    coefficient: Number


class CouplingTable(Table):
    """``[[coupling]]``: joint = ratio · of + offset, or Σ coefficient · joint = offset."""

    name: Name | None = None
    type: Literal["mimic", "gear", "rack"]
    joint: Name | None = None
    of: Name | None = None
    ratio: Number = 1.0
    offset: Number = 0.0
    terms: list[TermTable] | None = None


class PlaneTable(Table):
    """The plane of a rolling wheel, in world axes."""

    point: Vector = [0.0, 0.0, 0.0]
    normal: Vector = [0.0, 0.0, 1.0]


class PfaffianTable(Table):
    """``[[pfaffian]]``: a knife edge (blocked direction) or a rolling wheel, in the link frame."""

    name: Name
    type: Literal["knife_edge", "rolling"]
    body: Name
    point: Vector = [0.0, 0.0, 0.0]
    direction: Vector | None = None
    axis: Vector | None = None
    radius: Positive | None = None
    plane: PlaneTable | None = None


class DriverTable(Table):
    """``[[driver]]``: a prescribed motion value + rate·t + ½·acceleration·t² of a joint."""

    joint: Name
    name: Name | None = None
    freedoms: list[str] = []
    value: Number | None = None
    rate: Number = 0.0
    acceleration: Number = 0.0


class LockTable(Table):
    """``[[lock]]``: a joint that stands still, from the start or from ``at`` on, up to ``until`` (s)."""

    joint: Name
    at: NonNegative | None = None
    until: Positive | None = None
    freedoms: list[str] = []


class LoadTable(Table):
    """``[[load]]``: a force (N) and torque (N·m) on a body at a point of its link frame."""

    body: Name
    point: Vector = [0.0, 0.0, 0.0]
    force: Vector = [0.0, 0.0, 0.0]
    torque: Vector = [0.0, 0.0, 0.0]
    frame: Literal["world", "body"] = "world"


class SectionTable(Table):
    """A beam section: Young's modulus (Pa), area (m²), second moments (m⁴)."""

    E: Positive
    A: Positive
    Iy: Positive
    Iz: Positive
    J: Positive
    nu: Number | None = None


class StiffnessTable(Table):
    """``[[stiffness]]``: of a pair (k: six diagonal numbers or 6 × 6, inf is rigid) or body (section)."""

    pair: Name | None = None
    k: list[StiffnessNumber] | list[list[StiffnessNumber]] | None = None
    body: Name | None = None
    section: SectionTable | None = None


class MisfitTable(Table):
    """``[[misfit]]``: of a component of a joint, before it is closed (m, rad): its value, its deviation, or both."""

    joint: Name
    component: Name
    value: Number | None = None
    sigma: NonNegative | None = None


class LimitTable(Table):
    """``[[limit]]``: of what misfits may load a joint with: its force (N), or one component (N, N·m)."""

    joint: Name
    value: Positive
    component: Name | None = None


class SpringTable(Table):
    """``[[spring]]``: between points of two bodies (N/m, m, N·s/m), or on a joint (N·m/rad or N/m)."""

    stiffness: NonNegative
    body_a: Name | None = None
    body_b: Name | None = None
    point_a: Vector | None = None
    point_b: Vector | None = None
    length: NonNegative | None = None
    damping: NonNegative | None = None
    joint: Name | None = None
    freedom: Name | None = None
    rest: Number | None = None


class BrakeTable(Table):
    """``[[brake]]``: torques (N·m or N), viscous part (N·m·s/rad), delays (s), wear factor, short circuit."""

    joint: Name
    torque: NonNegative | None = None
    static_torque: NonNegative | None = None
    viscous: NonNegative = 0.0
    delay: NonNegative = 0.0
    engagement: NonNegative = 0.0
    wear: NonNegative = 1.0
    short_circuit: NonNegative | None = None
    short_circuit_rate: Positive | None = None
    origin: Origin = ""


class RampTable(Table):
    """``[[ramp]]``: how a drive decelerates in categories 1 and 2: time (s) or deceleration, reaction (s)."""

    joint: Name
    time: Positive | None = None
    deceleration: Positive | None = None
    reaction: NonNegative | None = None
    origin: Origin = ""


class PayloadTable(Table):
    """``[[payload]]``: a mass (kg) on a body, com in its link frame, inertia about com."""

    body: Name
    mass: Positive
    com: Vector = [0.0, 0.0, 0.0]
    inertia: Inertia = [0.0, 0.0, 0.0]


class ActuatorTable(Table):
    """``[[actuator]]``: rotor inertia (kg·m², motor side), gear ratio, how it brakes (rad/s² or m/s²)."""

    joint: Name
    armature: NonNegative = 0.0
    gear_ratio: Number = 1.0
    deceleration: Positive | None = None


class LintTable(Table):
    """``[lint]``: options of the analysis, and the degree of redundancy that is intended."""

    tolerance: Annotated[float, Field(gt=0, lt=1)] | None = None
    planar: NamedPlane | None = None
    samples: Annotated[int, Field(ge=1)] | None = None
    degree_of_redundancy: Annotated[int, Field(ge=0)] | None = None
    misfit_limit: (
        Annotated[Positive, Field(description="largest joint force by a misfit of 0.1 mm, N")] | None
    ) = None
    ignore: list[str] = []
    extend_select: list[str] = []
    targets: list[Simulator] = []


class SceneFile(Table):
    """A whole scene file."""

    gravity: Vector | None = None
    state: StateTable = StateTable()
    model: list[ModelTable] = []
    body: list[BodyTable] = []
    pair: list[PairTable] = []
    closure: list[ClosureTable] = []
    coupling: list[CouplingTable] = []
    pfaffian: list[PfaffianTable] = []
    driver: list[DriverTable] = []
    lock: list[LockTable] = []
    load: list[LoadTable] = []
    stiffness: list[StiffnessTable] = []
    misfit: list[MisfitTable] = []
    limit: list[LimitTable] = []
    spring: list[SpringTable] = []
    brake: list[BrakeTable] = []
    ramp: list[RampTable] = []
    payload: list[PayloadTable] = []
    actuator: list[ActuatorTable] = []
    lint: LintTable = LintTable()
