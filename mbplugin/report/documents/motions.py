"""The JSON documents of ``simulate``, ``modes``, ``crosscheck`` and ``reactions`` (contract)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from mbplugin import choices
from mbplugin.comparison.agreement import Agreement, EngineName, Program, Verdict
from mbplugin.joint_reactions.sizing import LoadKind
from mbplugin.joint_reactions.values import Mode, Reactions
from mbplugin.model import base_sentence, rate_units
from mbplugin.report.documents.part import (
    Against,
    ByName,
    Count,
    Matrix,
    OpenForce,
    OpenMoment,
    Part,
    PlanarModel,
    Record,
    Recorded,
    Series,
    Size,
    Three,
    Weight,
    by_name,
    key,
    with_keys,
)
from mbplugin.report.documents.stopping import EffortLimits
from mbplugin.simulation.equilibrium import Linearization, Stability
from mbplugin.simulation.options import Outcome
from mbplugin.simulation.passing_marks import EventKind
from mbplugin.stopping.scenario import assumed_brakes, brakes_of_effort

if TYPE_CHECKING:
    from mbplugin.report.against import Comparison
    from mbplugin.report.record import Record as RecordValue
    from mbplugin.simulation.trajectory.trajectory import Trajectory

_SeriesByName = dict[str, Series]
_SixOrNull = Annotated[list[float | None], Field(min_length=6, max_length=6)]


class _Request(Part):
    duration: Size = key("s")
    integrator: str
    step: Size | None = key("s")
    rtol: Size
    atol: Size
    formulation: choices.Formulation
    redundancy: choices.Redundancy
    coordinates: choices.Coordinates
    transition: choices.TransitionRule = key(
        "how locks close: by the momentum balance, or their own rates set to zero", optional=True
    )
    samples: Count | None
    limits: choices.Limits
    damping: bool
    friction: bool
    max_seconds: Size = key("of computing, s; a longer motion ends as budget_spent")


class _Energy(Part):
    kinetic: Series = key("J")
    potential: Series = key("J; that of gravity is zero at the world origin")
    dissipated: Series = key("work lost in dampers and friction since the start, J")
    applied: Series = key("work done by loads, torques and controllers, J")
    driven: Series = key("work done by drivers, J")


class _Impulse(Part):
    constraint: str
    component: str
    value: float
    unique: bool = key("whether the rigid model determines it")


class _MotionEvent(Part):
    time: Size = key("s")
    kind: EventKind
    joint: str
    velocity_before: Series = key("rad/s and m/s, as the keys of qd")
    velocity_after: Series
    impulse: list[_Impulse] = key("N·s and N·m·s, on the successor")
    text: str

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of an event."""
        impulse = [(*label, size, label not in value.open_impulses) for label, size in value.impulse.items()]
        return super().of(value, impulse=impulse)


class _PairReaction(Part):
    wrench: list[Annotated[list[float], Field(min_length=6, max_length=6)]] = key(
        "force (N) and moment (N·m) on the successor at the origin of S, axes of P"
    )
    unique: list[Annotated[list[bool], Field(min_length=6, max_length=6)]] = key(
        "whether the rigid model determines each component"
    )
    determined: list[Annotated[list[bool], Field(min_length=6, max_length=6)]] = key(
        "whether the rigid model or the stated stiffness does; only with stated stiffness", optional=True
    )


class _Leading(Part):
    time: float = key("s, from when on")
    names: list[str] = key("joint rates")


class _AccelerationRange(Part):
    name: str = key("a joint rate")
    lower: float | None = key("null: no limit")
    upper: float | None = key("null: no limit")
    unit: str
    exact: bool = key("whether both ends are reached; otherwise the range may be wider than what is possible")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a range."""
        lower, upper = (end if isfinite(end) else None for end in (value.lower, value.upper))
        return super().of(value, lower=lower, upper=upper)


class _MotionRange(Part):
    time: Size = key("s")
    sliding: list[str] = key("joints whose friction depends on a force that the rigid model leaves open")
    accelerations: list[_AccelerationRange]


class SimulateOutput(Recorded):
    """A motion."""

    source: str = key("the FILE as it was given")
    model: PlanarModel
    request: _Request
    outcome: Outcome
    degree_of_redundancy: Count
    tolerance: Size = key("relative rank tolerance")
    time: Series = key("s; an event has two samples, before and after it")
    q: _SeriesByName = key("rad, m and components of quaternions xyzw, by coordinate")
    qd: _SeriesByName = key("rad/s and m/s, by joint rate")
    qdd: _SeriesByName = key("rad/s² and m/s², by joint rate")
    momentum: _SeriesByName = key("M(q) q̇, N·m·s and N·s, by joint rate", optional=True)
    energy: _Energy
    active: list[list[str]] = key("active locks, brakes and frictions besides the constraints, by segment")
    segment: list[Count] = key("the index into active at each sample")
    independent: list[_Leading] = key(
        "the independent joint rates from a time on, of formulations closing and partitioning", optional=True
    )
    residuals: dict[str, Size] = key("largest position residual of every closing constraint, m or rad")
    events: list[_MotionEvent]
    reactions: dict[str, _PairReaction] = key("of the requested pairs")
    statistics: dict[str, float]
    assumed: list[str] = key("joints without a brake, one sentence each", optional=True)
    of_effort: EffortLimits = key("brakes that are not stated", optional=True)
    motion_range: _MotionRange | None = key(
        "accelerations that are possible where it first slides, if the motion is not unique", optional=True
    )
    notes: list[str]


def simulate_document(
    motion: Trajectory,
    request: Mapping[str, Any] | None,
    pairs: Sequence[str],
    source: str,
    files: Sequence[str],
) -> dict[str, Any]:
    """Return the document of one motion, with the reactions of ``pairs``.

    A motion does not store its request: if ``request`` is None, that key is null.
    """
    mech = motion.mechanism
    return SimulateOutput.of(
        motion,
        source=source,
        model=(mech.name, files, motion.planar or False),
        request=request,
        q=by_name(mech.q_names, motion.q.T),
        qd=by_name(mech.qd_names, motion.qd.T),
        qdd=by_name(mech.qd_names, motion.qdd.T),
        momentum=by_name(mech.qd_names, motion.momenta.T),
        energy=motion,
        assumed=assumed_brakes(motion.actions.brakes),
        of_effort=brakes_of_effort(motion.actions.brakes),
        reactions={
            pair: (
                motion.reactions(pair),
                motion.uniqueness(pair),
                motion.determined(pair) if motion.stiffness else None,
            )
            for pair in pairs
        },
    )


# The JSON document of ``mbplugin modes`` (contract: keys may be added, never renamed).


class _Equilibrium(Part):
    stability: Stability = key("neutral: some freedom has no stiffness, and none is unstable")
    q: ByName = key("the pose of rest, rad and m")
    start: ByName = key("the closed pose from which it was searched")
    force: Size = key("largest generalised force left, N·m and N")
    steps: int = key("of the search")


class _Coordinate(Part):
    name: str
    unit: Literal["rad", "m"]


class _Mode(Part):
    frequency: Size = key("natural frequency without damping, Hz; zero if neutral or unstable")
    stiffness: float = key("ω², rad²/s²; negative if unstable")
    damping_ratio: float | None = key("share of critical damping; null unless ω² > 0")
    growth_time: float | None = key("time in which a deviation grows by e, s; null unless unstable")
    shape: ByName = key("joint rates, the largest is 1")


class _Eigenvalue(Part):
    real: float
    imaginary: float


class ModesOutput(Recorded):
    """The equilibrium of a mechanism, and small motions M s̈ + D ṡ + K s = 0 about it."""

    model: PlanarModel
    tolerance: Size = key("relative rank tolerance")
    assumptions: list[str]
    held: list[str] = key("joints held by --hold")
    equilibrium: _Equilibrium
    coordinates: list[_Coordinate] = key("independent joint rates s, the order of the matrices")
    mass: list[Series] = key("kg·m² and kg")
    damping: list[Series] = key("N·m·s/rad and N·s/m")
    stiffness: list[Series] = key("N·m/rad and N/m")
    modes: list[_Mode] = key("by rising ω²")
    eigenvalues: list[_Eigenvalue] = key("of the damped system, 1/s")
    notes: list[str]


def modes_document(found: Linearization, files: Sequence[str]) -> dict[str, Any]:
    """Return the JSON document of small motions."""
    rest, mech = found.equilibrium, found.mechanism
    units = dict(zip(mech.qd_names, rate_units(mech), strict=True))
    return ModesOutput.of(
        found,
        model=(mech.name, files, rest.planar or False),
        tolerance=rest.tolerance,
        assumptions=base_sentence(mech.assumed_fixed),
        held=rest.held,
        equilibrium=_Equilibrium.of(
            rest, q=by_name(mech.q_names, rest.q), start=by_name(mech.q_names, rest.start)
        ),
        coordinates=[(name, "rad" if units[name].startswith("rad") else "m") for name in rest.coordinates],
        modes=[
            _Mode.of(
                mode,
                damping_ratio=mode.damping_ratio if isfinite(mode.damping_ratio) else None,
                growth_time=mode.growth_time if isfinite(mode.growth_time) else None,
                shape=by_name(mech.qd_names, mode.shape),
            )
            for mode in found.modes
        ],
        eigenvalues=[(float(one.real), float(one.imag)) for one in found.eigenvalues],
        notes=rest.notes,
    )


# The JSON document of ``mbplugin crosscheck`` (contract: keys may be added, never renamed).


class _Solver(Part):
    iterations: Size = key("of PyBullet's solver", optional=True)
    residual_threshold: Size = key("of PyBullet's solver", optional=True)
    erp: Size = key("error reduction parameter")


class _Comparison(Part):
    quantity: str
    element: str = key("a body, joint or coordinate")
    unit: str
    deviation: Size = key(
        "between PyBullet and us; values that depend on the step are extrapolated to step zero"
    )
    bound: Size = key("the bound of the deviation")
    agrees: bool
    errors: list[Size] = key("largest deviation at each of the steps")
    orders: Series
    time: Size | None = key("when the deviation first leaves its bound, or is largest, s")


class _Check(Part):
    program: Program
    name: str
    value: Size = key("its deviation")
    bound: Size = key("the largest deviation allowed")
    unit: str
    passes: bool


class _Curves(Part):
    time: Series = key("s")
    ours: dict[str, Series] = key("rad and m, by coordinate")
    pybullet: dict[str, Series] = key(
        "rad and m, by coordinate, at the smallest step of the engine, whichever it is", read="bullet"
    )

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of the curves."""
        ours, bullet = (by_name(value.names, curves.T) for curves in (value.ours, value.bullet))
        return super().of(value, ours=ours, pybullet=bullet)


class _Second(Part):
    engine: EngineName
    version: str
    verdict: Verdict
    reason: str = key("one sentence")
    steps: list[Size] = key("its steps, s")
    orders: list[float | None] = key("observed orders, as above")
    solver: _Solver = key(read="settings")
    rows: list[_Comparison]
    checks: list[_Check]
    notes: list[str]


class CrosscheckOutput(Recorded):
    """Whether the motion of PyBullet or MuJoCo converges to that of mbplugin."""

    source: str = key("the FILE as it was given")
    files: list[str]
    verdict: Verdict
    reason: str = key("one sentence")
    assumed: list[str] = key("values of brakes and decelerations that are not stated", optional=True)
    of_effort: EffortLimits = key("brakes and decelerations that are not stated", optional=True)
    duration: Size = key("s")
    tolerance: Size = key("relative rank tolerance of our motion", optional=True)
    engine: EngineName = key("the engine of what follows", optional=True)
    version: str = key("of the engine", optional=True)
    second: _Second | None = key("the same motion in the other engine, if both are used", optional=True)
    steps: list[Size] = key("the engine's steps, s, each half of the one before")
    orders: list[float | None] = key(
        "observed orders of all coordinates together, one for each halving; null where the engine's"
        " motion leaves all bounds"
    )
    solver: _Solver = key(read="settings")
    rows: list[_Comparison] = key("the model first, then the checks without a step, then the motion")
    checks: list[_Check] = key("evidence for and against each motion, if the motions do not agree")
    curves: _Curves | None
    notes: list[str]


def crosscheck_document(found: Agreement, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one cross-check."""
    return CrosscheckOutput.of(found, source=source, files=files)


# Record of a document, and differences from an earlier one.


def with_record(document: dict[str, Any], record: RecordValue) -> dict[str, Any]:
    """Return the document with its record after the key ``generator``."""
    return with_keys(document, "generator", record=Record.of(record))


def with_comparison(document: dict[str, Any], comparison: Comparison | None) -> dict[str, Any]:
    """Return the document with the differences from an earlier report after its record."""
    return document if comparison is None else with_keys(document, "record", against=Against.of(comparison))


# The JSON document of ``mbplugin reactions`` (contract: keys may be added, never renamed).


class _ComponentReaction(Part):
    name: str
    unit: choices.ReactionUnit
    unique: bool = key("whether the rigid model determines it")
    value: float | None = key("on the successor; null where undetermined")
    source: choices.ReactionSource | None = key(
        "the source that determines the value: model, stiffness or inequalities"
    )
    sigma: Size | None = key(
        "standard deviation for the stated tolerances; omitted if none is stated or it is undetermined",
        optional=True,
    )
    lower: float | None = key(
        "smallest value that contacts, friction and limits of drives allow, where the rigid model determines none; left"
        " out where nothing bounds it",
        optional=True,
    )
    upper: float | None = key("largest such value", optional=True)
    bounded_by: list[str] = key(
        "the limits that decide these bounds: CONTACT.cn, CONTACT.friction or JOINT.effort", optional=True
    )


class _WorldWrench(Part):
    body: str = key("on which it acts")
    point: Three = key("where it acts, world, m")
    wrench: _SixOrNull = key("force (N) and moment (N·m) there; null where not determined")
    sources: Annotated[list[choices.ReactionSource | None], Field(min_length=6, max_length=6)] = key(
        "the source that determines each of the six"
    )


class _ConstraintReaction(Part):
    name: str
    kind: Literal[choices.ConstraintKind, "hold"]
    type: str
    body_a: str
    body_b: str
    reaction: choices.Uniqueness
    indeterminate_dim: Count
    point: Three | None = key("where the wrench acts, world, m; null for no pair")
    wrench: _SixOrNull | None = key(
        "force (N) and moment (N·m) on the successor at the origin of S, axes of P"
    )
    components: list[_ComponentReaction]
    null_directions: list[list[Weight]] = key("changes, N and N·m, that the rigid model leaves open")
    shared_with: list[str] = key("constraints that change with it")
    R_WJ: Matrix | None = key(
        "rows of the rotation whose columns are the axes of P in the world; a drive's or lock's joint"
    )
    world: _WorldWrench | None = key("in world axes; null for a coupling")
    open_force: OpenForce
    open_moment: OpenMoment

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a reaction."""
        return super().of(value, null_directions=[direction.components for direction in value.directions])


class _Parameter(Part):
    constraint: str
    component: str
    unit: choices.ReactionUnit


class _Relation(Part):
    constraint: str
    component: str
    unit: choices.ReactionUnit
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
    beam: Count = key("the beam of the body's frame")
    section: _Section
    material: str
    shapes: list[str]
    length: Size = key("m")
    stations: Count = key("slices that cut the shapes; 0: their bounding box was used")


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
    unit: choices.CoordinateUnit
    decided_by: str = key("the limit that is met first, JOINT or JOINT.COMPONENT")


class _ActuatorForce(Part):
    joint: str
    value: float = key("on the rate of the joint; of least norm where it is not unique")
    unit: choices.ReactionUnit
    unique: bool = key("whether the motion determines it")


class _Actuation(Part):
    mobility: Count
    forces: list[_ActuatorForce]
    free: list[str] = key("actuators whose force is free to choose")
    shares: list[list[float]] = key(
        "forces of all actuators, by row, per unit of each free one, by column; they move nothing"
    )


class _Contact(Part):
    name: str
    body: str = key("that is pushed")
    on: str = key("that pushes; world is the ground")
    point: Three = key("world, m")
    normal: Three = key("into the body, world axes")
    mu: Size = key("coefficient of friction")
    state: Literal["holds", "slips", "opens"]


class StancePart(Part):
    """The links on which a robot stands."""

    links: list[str] = key("whose lowest points touch the ground")
    friction: Size = key("coefficient of friction of these contacts")
    assumed: bool = key("whether the links are assumed, not named")
    assumed_friction: bool = key("whether the coefficient is assumed, not stated")


class _Standing(Part):
    sides: Count = key("of the polygon around the circle of friction")
    friction_factor: Size | None = key("on all coefficients of friction, with which the contacts just hold")
    smallest_friction: Size | None = key("that holds, if all contacts state the same coefficient")
    load_factor: Size | None = key("to which the stated loads can grow; null without loads or without limit")
    load_limited_by: list[str] = key("the limit reached there: CONTACT.cn or CONTACT.friction")
    sideways: Size | None = key(
        "smallest load, in proportion to the masses and relative to the weight, at which a contact opens or slips"
    )
    sideways_direction: Three | None = key("of that load, world axes, the weakest of sixteen")
    sideways_limited_by: list[str] = key(
        "the limit reached there: CONTACT.cn if it tips, CONTACT.friction if it slips"
    )


class _LargestLoad(Part):
    joint: str
    type: str
    kind: LoadKind = key(
        "axial |tz|, radial √(tx² + ty²), moment √(rx² + ry²), torque |rz| of a pair; component of others"
    )
    name: str = key("the component; empty for a part of a wrench")
    unit: choices.ReactionUnit
    value: Size | None = key("the largest at the instants where it is determined")
    time: float | None = key("when, s")
    stated: bool = key("whether stated stiffness determines it at some instant")
    open_instants: Count = key("instants at which nothing determines it")
    bound: Size | None = key("no possible value is larger at those instants; null if nothing bounds it")
    bound_time: float | None = key("when the bound is largest, or first missing, s")


class _Envelope(Part):
    source: str = key("where the motion comes from")
    time: Series = key("the instants, s")
    held: list[str] = key("joints held at some instant")
    loads: list[_LargestLoad]
    notes: list[str]


class ReactionsOutput(Recorded):
    """Joint reactions at a state."""

    source: str = key("the FILE as it was given")
    model: PlanarModel
    mode: Mode
    gravity: Three = key("m/s², world axes", read="mechanism.gravity")
    assumed_fixed: list[str] = key(
        "roots that are assumed to be fixed to the ground", read="mechanism.assumed_fixed", optional=True
    )
    q: ByName = key("the closed pose, rad and m")
    qd: ByName = key("rates that agree with the constraints, rad/s and m/s")
    qdd: ByName = key("accelerations that agree with the constraints, rad/s² and m/s²")
    held: list[str] = key("joints held besides drivers and locks")
    assumed_held: list[str] = key(
        "held joints that have no drive in the file, and that the load would move", optional=True
    )
    tolerance: Size = key("relative rank tolerance")
    degree_of_redundancy: Count = key("with the held joints")
    constraints: list[_ConstraintReaction]
    families: list[_Family]
    stated: list[str] = key("pairs and bodies whose stated stiffness was used")
    estimated: list[_Estimate]
    unresolved: list[_LabelledComponent] = key("undetermined components")
    stiffness_missing: _MissingStiffness = key(
        "elements that need a stiffness before the unresolved components have values; never the ground",
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
    contacts: list[_Contact] = key("points at which bodies touch, and how they behave", optional=True)
    standing: _Standing | None = key("margins of the contacts", optional=True)
    stance: StancePart | None = key("links on which the robot stands", optional=True)
    envelope: _Envelope | None = key(
        "largest loads along a motion, of which the other keys are the first instant", optional=True
    )
    notes: list[str]


def reactions_document(result: Reactions, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of joint reactions; undetermined components are null."""
    mech = result.mechanism
    return ReactionsOutput.of(
        result,
        source=source,
        model=(mech.name, files, result.planar or False),
        q=by_name(mech.q_names, result.q),
        qd=by_name(mech.qd_names, result.qd),
        qdd=by_name(mech.qd_names, result.qdd),
    )
