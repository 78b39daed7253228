"""The JSON document of ``mbplugin reactions`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mbplugin.joint_reactions.values import Mode
from mbplugin.model.enumerations import (
    ConstraintKind,
    CoordinateUnit,
    ReactionSource,
    ReactionUnit,
    Uniqueness,
)
from mbplugin.report.documents.part import (
    ByName,
    Count,
    Matrix,
    OpenForce,
    OpenMoment,
    Part,
    PlanarModel,
    Recorded,
    Size,
    Three,
    Weight,
    by_name,
    key,
)

if TYPE_CHECKING:
    from mbplugin.joint_reactions.values import Reactions

_SixOrNull = Annotated[list[float | None], Field(min_length=6, max_length=6)]


class _ComponentReaction(Part):
    name: str
    unit: ReactionUnit
    unique: bool = key("whether the rigid model determines it")
    value: float | None = key("on the successor; null where nothing determines it")
    source: ReactionSource | None = key("what determines the value: model or stiffness")
    sigma: Size | None = key(
        "standard deviation for the stated tolerances; left out where none is stated or nothing determines it",
        optional=True,
    )


class _WorldWrench(Part):
    body: str = key("on which it acts")
    point: Three = key("where it acts, world, m")
    wrench: _SixOrNull = key("force (N) and moment (N·m) there; null where not determined")
    sources: Annotated[list[ReactionSource | None], Field(min_length=6, max_length=6)] = key(
        "what determines each of the six"
    )


class _ConstraintReaction(Part):
    name: str
    kind: Literal[ConstraintKind, "hold"]
    type: str
    body_a: str
    body_b: str
    reaction: Uniqueness
    indeterminate_dim: Count
    point: Three | None = key("where the wrench acts, world, m; null for no pair")
    wrench: _SixOrNull | None = key(
        "force (N) and moment (N·m) on the successor at the origin of S, axes of P"
    )
    components: list[_ComponentReaction]
    null_directions: list[list[Weight]] = key("changes, N and N·m, that the rigid model does not notice")
    shared_with: list[str] = key("constraints that change with it")
    R_WJ: Matrix | None = key(
        "rows of the rotation whose columns are the axes of P in the world; a drive's or lock's joint"
    )
    world: _WorldWrench | None = key("in world axes; null for a coupling")
    open_force: OpenForce
    open_moment: OpenMoment

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of a reaction."""
        return super().of(value, null_directions=[direction.components for direction in value.directions])


class _Parameter(Part):
    constraint: str
    component: str
    unit: ReactionUnit


class _Relation(Part):
    constraint: str
    component: str
    unit: ReactionUnit
    constant: float = key("value where all parameters are zero")
    terms: list[Weight]


class _Family(Part):
    parameters: list[_Parameter] = key("components that may take any value")
    relations: list[_Relation] = key("component = constant + Σ weight · parameter")


class _Section(Part):
    E: Size = key("Pa")
    A: Size = key("m²")
    Iy: Size = key("m⁴")
    Iz: Size = key("m⁴")
    J: Size = key("m⁴")
    nu: float


class _Estimate(Part):
    body: str
    beam: Count = key("which beam of the body's frame")
    section: _Section
    material: str
    shapes: list[str]
    length: Size = key("m")
    stations: Count = key("slices that met the shapes; 0: their bounding box")


class _LabelledComponent(Part):
    constraint: str
    component: str


class _MissingStiffness(Part):
    bodies: list[str]
    pairs: list[str]


class _MisfitBudget(Part):
    constraint: str
    component: str
    largest: Size = key("m or rad; 0 where no compliance limits the load")
    unit: CoordinateUnit
    decided_by: str = key("the limit that is met first, JOINT or JOINT.COMPONENT")


class _ActuatorForce(Part):
    joint: str
    value: float = key("on the rate of the joint; of least norm where it is not unique")
    unit: ReactionUnit
    unique: bool = key("whether the motion determines it")


class _Actuation(Part):
    mobility: Count
    forces: list[_ActuatorForce]
    free: list[str] = key("actuators whose force may be chosen at will")
    shares: list[list[float]] = key(
        "forces of all actuators, by row, per unit of each free one, by column; they move nothing"
    )


class Output(Recorded):
    """Joint reactions at a state."""

    source: str = key("the FILE as it was given")
    model: PlanarModel
    mode: Mode
    gravity: Three = key("m/s², world axes", read="mechanism.gravity")
    q: ByName = key("the closed pose, rad and m")
    qd: ByName = key("rates that agree with the constraints, rad/s and m/s")
    qdd: ByName = key("accelerations that agree with the constraints, rad/s² and m/s²")
    held: list[str] = key("joints held besides drivers and locks")
    tolerance: Size = key("relative rank tolerance")
    degree_of_redundancy: Count = key("with the held joints")
    constraints: list[_ConstraintReaction]
    families: list[_Family]
    stated: list[str] = key("pairs and bodies whose stated stiffness was used")
    estimated: list[_Estimate]
    unresolved: list[_LabelledComponent] = key("components that nothing determines")
    stiffness_missing: _MissingStiffness = key(
        "what needs a stiffness before the unresolved components have values; never the ground",
        read="missing",
    )
    misfit_sigma: dict[str, Size] = key(
        "stated standard deviations by CONSTRAINT.COMPONENT, m and rad", optional=True
    )
    limits: dict[str, Size] = key(
        "stated limits of loads by JOINT or JOINT.COMPONENT, N and N·m", optional=True
    )
    budget: list[_MisfitBudget] = key(
        "largest misfit of each component that keeps every joint below its limit, the smallest first",
        optional=True,
    )
    actuation: _Actuation | None = key(
        "forces of the actuators for this motion, with rotor inertia, damping and friction", optional=True
    )
    notes: list[str]


def reactions_document(result: Reactions, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one result; what nothing determines has the value null."""
    mech = result.mechanism
    return Output.of(
        result,
        source=source,
        model=(mech.name, files, result.planar or False),
        q=by_name(mech.q_names, result.q),
        qd=by_name(mech.qd_names, result.qd),
        qdd=by_name(mech.qd_names, result.qdd),
    )
