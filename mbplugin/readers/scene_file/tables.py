"""The tables of a scene: their keys with types, bounds and descriptions, and the reading of a valid file.

Python's own types state the tables. A file is read by them alone; pydantic, whose import takes longer than that, is
needed only to describe what is wrong with a file, and for the JSON schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf, isfinite
from pathlib import Path
from types import UnionType, new_class
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from mbplugin.choices import LARGEST, Base, NamedPlane, PairTypeName, Simulator
from mbplugin.model import LARGEST_FRICTION, Between, Brake, Request
from mbplugin.readers.paths import resolve

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import CoreSchema


class Bounds:
    """Bounds of a number, or of the length of a text or a list, in an annotation.

    Parameters
    ----------
    **stated : float
        ``ge``, ``gt``, ``le``, ``lt``, ``min_length`` and ``max_length``, as in pydantic; ``allow_inf_nan`` for a
        number that need not be finite.
    """

    def __init__(self, **stated: float) -> None:
        self.stated = stated

    def permit(self, value: Any) -> bool:
        """Return True if a number is within the bounds, or the length of a text or a list."""
        return all(_WITHIN[name](value, bound) for name, bound in self.stated.items())


_WITHIN: dict[str, Callable[[Any, float], bool]] = {
    "ge": lambda value, bound: value >= bound,
    "gt": lambda value, bound: value > bound,
    "le": lambda value, bound: value <= bound,
    "lt": lambda value, bound: value < bound,
    "min_length": lambda value, bound: len(value) >= bound,
    "max_length": lambda value, bound: len(value) <= bound,
    "allow_inf_nan": lambda value, bound: True,
}
#: The default of a key that must be stated.
REQUIRED: Any = object()


class Key(NamedTuple):
    """A key of a table: its default, its description, and its type."""

    default: Any
    description: str
    annotation: Any


def key(*, default: Any = REQUIRED, description: str = "") -> Any:
    """Return the statement of a key in the class of a table; its annotation is the type."""
    return Key(default, description, None)


Number = Annotated[float, Bounds(ge=-LARGEST, le=LARGEST)]
Vector = Annotated[list[Number], Bounds(min_length=3, max_length=3)]
Name = Annotated[str, Bounds(min_length=1)]
#: Origin of numbers, as text.
Origin = Annotated[str, Bounds(max_length=500)]
Positive = Annotated[float, Bounds(gt=0, le=LARGEST)]
NonNegative = Annotated[float, Bounds(ge=0, le=LARGEST)]
Share = Annotated[float, Bounds(ge=0, le=1)]
#: Stiffness; inf is rigid.
StiffnessNumber = Annotated[float, Bounds(allow_inf_nan=True)]
#: ixx iyy izz, or ixx ixy ixz iyy iyz izz as in a URDF.
Inertia = Annotated[list[Number], Bounds(min_length=3, max_length=6)]
#: Description of an orientation.
RPY = "roll, pitch, yaw about the fixed axes x, y, z as in a URDF, rad"
_VALUES = "the numbers that the origin speaks of, by key; reports name those that were changed since"


@dataclass(frozen=True)
class FileName:
    """The name of a file stated in a scene: the type of every key that names one.

    It is not a string, so that nothing opens it by accident: only :meth:`path` locates the file, which is
    in the scene's repository or in a folder that the user gave.

    Parameters
    ----------
    written : str
        As in the scene.
    """

    written: str

    def path(self, request: Request, where: str) -> Path:
        """Return the path of the file.

        Parameters
        ----------
        request : Request
            The request for the scene.
        where : str
            Location of the key, for messages.

        Raises
        ------
        UnresolvedPath
            The file does not exist, is not an ordinary file, or lies outside.
        """
        return resolve(self.written, request, where)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        """Return the schema of a non-empty string."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema(min_length=1))


class RefusedTable(ValueError):
    """A table that its class does not permit; :func:`strict_model` describes the reason."""


class Table:
    """A table of the file: strict types (an integer is a number), finite values, no further keys.

    Parameters
    ----------
    **values : object
        By key.

    Raises
    ------
    RefusedTable
        A key is unknown or lacking, or has another type or a value out of its bounds.
    """

    def __init__(self, /, **values: Any) -> None:
        # a file may have a key that is called self
        fields = self.fields()
        if not fields.keys() >= values.keys():
            raise RefusedTable
        own = vars(self)
        own["stated"] = frozenset(values)
        for name, field in fields.items():
            if name in values:
                own[name] = _reader(field.annotation)(values[name])
            elif field.default is REQUIRED:
                raise RefusedTable
            else:
                own[name] = field.default.copy() if isinstance(field.default, (list, dict)) else field.default

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        """Refuse to change a table."""
        raise AttributeError(f"{type(self).__name__} is read-only")

    @property
    def stated(self) -> frozenset[str]:
        """The keys that the file states."""
        found: frozenset[str] = vars(self)["stated"]
        return found

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, Key]:
        """Return the keys by name, those of the base class first."""
        found = {}
        for name, annotation in get_type_hints(cls, include_extras=True).items():
            own = getattr(cls, name, REQUIRED)
            found[name] = (
                own._replace(annotation=annotation) if isinstance(own, Key) else Key(own, "", annotation)
            )
        return found

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the table."""
        return strict_model(cls).model_json_schema()

    def as_dict(self) -> dict[str, Any]:
        """Return the values of all keys; those of tables within as dictionaries."""
        return {name: _as_plain(getattr(self, name)) for name in self.fields()}


def _as_plain(value: Any) -> Any:
    if isinstance(value, Table):
        return value.as_dict()
    return [_as_plain(one) for one in value] if isinstance(value, list) else value


# Reading of values by the type of their key.


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """Return the function that returns a value of a type, or raises :class:`RefusedTable`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _bounded(*parts)
    if origin in (Union, UnionType):
        return _first_of([_reader(part) for part in parts])
    if origin is Literal:
        return lambda value: _required(value, isinstance(value, str) and value in parts)
    if origin is list:
        (read,) = map(_reader, parts)
        return lambda value: [read(one) for one in _required(value, isinstance(value, list))]
    if origin is dict:
        name, read = map(_reader, parts)
        return lambda value: {
            name(one): read(number) for one, number in _required(value, isinstance(value, dict)).items()
        }
    if issubclass(kind, Table):
        return lambda value: kind(**_required(value, isinstance(value, dict)))
    if kind is FileName:
        return lambda value: FileName(_required(value, isinstance(value, str) and value != ""))
    if kind is float:
        return lambda value: _required(_float(value), isfinite(value))
    # a bool is an int in Python, and not in a scene
    return lambda value: _required(value, type(value) is kind)


def _required(value: Any, permitted: bool) -> Any:
    if not permitted:
        raise RefusedTable
    return value


def _float(value: Any) -> float:
    """Return a number as float; an integer that is too large is refused."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise RefusedTable
    try:
        return float(value)
    except OverflowError:
        raise RefusedTable from None


def _bounded(kind: Any, bounds: Bounds) -> Callable[[Any], Any]:
    read = _float if "allow_inf_nan" in bounds.stated else _reader(kind)

    def bounded(value: Any) -> Any:
        found = read(value)
        return _required(found, bounds.permit(found))

    return bounded


def _first_of(readers: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        for one in readers:
            try:
                return one(value)
            except RefusedTable:
                continue
        raise RefusedTable

    return read


# The same tables as models of pydantic, which describe what is wrong with a file.


def strict_model(table: type[Table]) -> type[BaseModel]:
    """Return the model of pydantic that permits the same values as a table."""
    # for type checkers, which take the hash of a class for that of its values
    hashable: Any = table
    found: type[BaseModel] = _strict_model(hashable)
    return found


@cache
def _strict_model(table: type[Table]) -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, Field

    class Strict(BaseModel):
        model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def field(one: Key) -> Any:
        stated: dict[str, Any] = {"description": one.description} if one.description else {}
        if one.default is REQUIRED:
            return Field(**stated)
        default = strict_model(type(one.default))() if isinstance(one.default, Table) else one.default
        return Field(default=default, **stated)

    fields = table.fields()
    names = {
        "__doc__": table.__doc__,
        "__module__": table.__module__,
        "__annotations__": {name: _for_pydantic(one.annotation) for name, one in fields.items()},
        **{name: field(one) for name, one in fields.items()},
    }
    return new_class(table.__name__, (Strict,), {}, lambda space: space.update(names))


def _for_pydantic(kind: Any) -> Any:
    """Return a type with models of pydantic in place of tables, and its fields in place of bounds."""
    from pydantic import Field

    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        limits: dict[str, Any] = parts[1].stated
        return Annotated[_for_pydantic(parts[0]), Field(**limits)]
    if origin in (Union, UnionType):
        return Union[tuple(map(_for_pydantic, parts))]  # noqa: UP007
    if origin in (list, dict):
        return origin[tuple(map(_for_pydantic, parts))]
    is_table = isinstance(kind, type) and issubclass(kind, Table)
    return strict_model(kind) if is_table else kind


# Tables of the parts of a mechanism: models, bodies, pairs, closures, couplings, wheels, drivers, locks.


class StateTable(Table):
    """``[state]``: joint coordinates (rad, m) and rates by name; these hold, the rest follows or is as in the file."""

    q: dict[str, Number] = key(
        default={},
        description="coordinates by name, rad, m; they hold, and others follow through loops and couplings",
    )
    qd: dict[str, Number] = key(
        default={}, description="rates by name, rad/s, m/s; they hold, and others follow"
    )


class ModelTable(Table):
    """``[[model]]``: a model file, where it stands and whether its root is fixed there."""

    file: FileName = key(
        description="URDF, Xacro, SDF or MJCF file, relative to the scene, in its repository or a package folder"
    )
    name: Name | None = key(
        default=None,
        description="prefix of its names where a scene has several models; default: the model's own",
    )
    base: Base | None = key(
        default=None,
        description="whether its root links are fixed to the ground or free; default: as the file states",
    )
    xyz: Vector = key(default=[0.0, 0.0, 0.0], description="where the model stands in the world, m")
    rpy: Vector = key(default=[0.0, 0.0, 0.0], description=RPY)


class BodyTable(Table):
    """``[[body]]``: a body written in the scene; its link frame in the world, inertia about com."""

    name: Name = key(description="new in the scene; 'world' is the ground")
    mass: NonNegative = key(default=0.0, description="kg")
    xyz: Vector | None = key(
        default=None,
        description="origin of the link frame in the world, m; default: where the pairs put it, or the"
        " origin of the world for a pair that states one side",
    )
    rpy: Vector | None = key(default=None, description=f"of the link frame in the world: {RPY}")
    com: Vector = key(default=[0.0, 0.0, 0.0], description="centre of mass in the link frame, m")
    inertia: Inertia = key(
        default=[0.0, 0.0, 0.0],
        description="about the centre of mass in the axes of the link frame, kg·m²: ixx iyy izz, or ixx"
        " ixy ixz iyy iyz izz",
    )


class ShapeTable(Table):
    """``[[shape]]``: the look or contact surface of a body: a box, sphere, cylinder, capsule, plane, mesh or hull."""

    body: Name = key(description="that has it; 'world' for the ground")
    role: Literal["visual", "collision"] = key(
        default="collision", description="to be seen, or for contact and for the space that the body takes"
    )
    box: Annotated[list[Positive], Bounds(min_length=3, max_length=3)] | None = key(
        default=None, description="edges, m"
    )
    sphere: Positive | None = key(default=None, description="radius, m")
    cylinder: Annotated[list[Positive], Bounds(min_length=2, max_length=2)] | None = key(
        default=None, description="radius and length along z, m"
    )
    capsule: Annotated[list[Positive], Bounds(min_length=2, max_length=2)] | None = key(
        default=None, description="radius, and length along z without the two half balls, m"
    )
    plane: Annotated[list[NonNegative], Bounds(min_length=2, max_length=2)] | None = key(
        default=None, description="lengths along x and y, m; 0 has no end; its normal is z"
    )
    mesh: FileName | None = key(
        default=None, description="a mesh file, seen from the scene's folder or in a package"
    )
    hull: Annotated[list[Vector], Bounds(min_length=4)] | None = key(
        default=None, description="points around which the shape is wrapped, m"
    )
    scale: Vector | None = key(default=None, description="of a mesh; default: 1 1 1")
    xyz: Vector | None = key(default=None, description="origin in the link frame, m; default: 0 0 0")
    rpy: Vector | None = key(default=None, description=f"in the link frame: {RPY}")
    rgba: Annotated[list[Share], Bounds(min_length=4, max_length=4)] | None = key(
        default=None, description="colour and opacity"
    )


class JointTable(Table):
    """What ``[[pair]]`` and ``[[closure]]`` share: bodies, and the joint frame on either side."""

    body_a: Name | None = key(default=None, description="predecessor, 'world' for the ground")
    body_b: Name | None = key(default=None, description="successor, on which reactions act")
    xyz_a: Vector | None = key(
        default=None,
        description="origin of the joint frame in the link frame of body_a, m; default: from the pose and"
        " the side of body_b",
    )
    rpy_a: Vector | None = key(
        default=None, description=f"of the joint frame in the link frame of body_a: {RPY}"
    )
    xyz_b: Vector | None = key(
        default=None,
        description="origin of the joint frame in the link frame of body_b, m; default: from the pose and"
        " the side of body_a",
    )
    rpy_b: Vector | None = key(
        default=None, description=f"of the joint frame in the link frame of body_b: {RPY}"
    )
    axis: Vector | None = key(
        default=None, description="joint axis in the joint frame, any length; default: its z"
    )
    lead: Number | None = key(default=None, description="screw only: travel along the axis per turn, m")
    length: Positive | None = key(
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

    name: Name = key(description="unique among all constraints; without bodies that of a joint of a model")
    type: PairTypeName = key(description="what the pair leaves free")
    passive: bool = key(
        default=False,
        description="whether it has no drive, brake or end stop, whatever the model's file says",
    )
    lower: Number | None = key(default=None, description="lower limit of its coordinate, rad or m")
    upper: Number | None = key(default=None, description="upper limit of its coordinate, rad or m")
    velocity: Positive | None = key(default=None, description="limit of its rate, rad/s or m/s")
    effort: NonNegative | None = key(default=None, description="limit of its drive, N·m or N")
    damping: NonNegative | None = key(default=None, description="viscous, N·m·s/rad or N·s/m")
    friction: NonNegative | None = key(default=None, description="dry, N·m or N")
    friction_coefficient: NonNegative | None = key(
        default=None,
        description="revolute and prismatic: μ of dry friction that grows with the joint's force",
    )
    friction_radius: Positive | None = key(
        default=None, description="revolute with friction_coefficient: radius at which that friction acts, m"
    )
    guide_length: Positive | None = key(
        default=None,
        description="prismatic with friction_coefficient: length of the bush, centred at the joint frame of "
        "body_b, whose ends carry the moments too, m",
    )


class ClosureTable(JointTable):
    """``[[closure]]``: a pair that closes a loop; a side that is not given is taken at the pose."""

    name: Name = key(description="unique among all constraints")
    type: PairTypeName = key(description="what the closure leaves free")
    body_a: Name = key(description="predecessor, 'world' for the ground")
    body_b: Name = key(description="successor, on which reactions act")


class TermTable(Table):
    """One joint of a ``[[coupling]]``; ``freedom`` is needed where the joint has several."""

    joint: Name = key(description="a pair")
    freedom: Name | None = key(default=None, description="such as rz, of a pair that has several")
    coefficient: Number = key(description="of its coordinate (rad, m) in the sum")


class CouplingTable(Table):
    """``[[coupling]]``: joint = ratio · of + offset, or Σ coefficient · joint = offset."""

    name: Name | None = key(default=None, description="default: its type and joint")
    type: Literal["mimic", "gear", "rack"] = key(description="what it stands for; the equation is the same")
    joint: Name | None = key(default=None, description="the joint that follows")
    of: Name | None = key(default=None, description="the joint that leads")
    ratio: Number = key(default=1.0, description="of the two coordinates, rad and m")
    offset: Number = key(default=0.0, description="rad or m")
    terms: list[TermTable] | None = key(
        default=None, description="instead of joint and of: joints whose coordinates add up to the offset"
    )


class PlaneTable(Table):
    """The plane of a rolling wheel, in world axes."""

    point: Vector = key(default=[0.0, 0.0, 0.0], description="on the plane, m")
    normal: Vector = key(default=[0.0, 0.0, 1.0], description="away from the ground, any length")


class PfaffianTable(Table):
    """``[[pfaffian]]``: a knife edge (blocked direction) or a rolling wheel, in the link frame."""

    name: Name = key(description="unique among all constraints")
    type: Literal["knife_edge", "rolling"] = key(
        description="one blocked velocity, or a wheel that rolls without slipping"
    )
    body: Name = key(description="that carries the edge, or the wheel")
    point: Vector = key(
        default=[0.0, 0.0, 0.0], description="of the edge, or the wheel's centre, in the link frame, m"
    )
    direction: Vector | None = key(
        default=None, description="knife edge: in which the point cannot move, in the link frame"
    )
    axis: Vector | None = key(default=None, description="rolling: of the wheel, in the link frame")
    radius: Positive | None = key(default=None, description="rolling: of the wheel, m")
    plane: PlaneTable | None = key(
        default=None, description="rolling: on which it rolls; default: z = 0 of the world"
    )


class DriverTable(Table):
    """``[[driver]]``: a prescribed motion value + rate·t + ½·acceleration·t² of a joint, or through points."""

    joint: Name = key(description="a pair")
    name: Name | None = key(default=None, description="default: 'drive' and the joint")
    freedoms: list[str] = key(default=[], description="such as rz; default: all of the pair")
    value: Number | None = key(default=None, description="at the start, rad or m; default: that of the state")
    rate: Number = key(default=0.0, description="rad/s or m/s")
    acceleration: Number = key(default=0.0, description="rad/s² or m/s²")
    points: list[list[Number]] | None = key(
        default=None,
        description="instead of value, rate and acceleration: rows of time (s), value and, in all rows or in none, rate"
        " and acceleration; after the last row the motion goes on with its rate there",
    )
    file: FileName | None = key(
        default=None,
        description="the same as a CSV file with the columns time, value, rate, acceleration; units in brackets;"
        " in the scene's repository or a package folder",
    )
    between: Between = key(
        default="spline",
        description="through rows of values alone: a cubic spline that begins and ends at rest, or a rest at every row",
    )


_UNTIL: Any = key(default=None, description="when it opens, s; default: never")


class LockTable(Table):
    """``[[lock]]``: a joint that stands still, from the start or from ``at`` on, up to ``until`` (s)."""

    joint: Name = key(description="a pair")
    at: NonNegative | None = key(default=None, description="when it closes, s; default: from the start")
    until: Positive | None = _UNTIL
    freedoms: list[str] = key(default=[], description="such as rz; default: all of the pair")


class HoldTable(Table):
    """``[[hold]]``: a constraint of the mechanism that is active from ``at`` up to ``until`` only (s)."""

    constraint: Name = key(description="a closure, coupling, driver, wheel or knife edge")
    at: NonNegative = key(default=0.0, description="when it closes, s; default: from the start")
    until: Positive | None = _UNTIL


# Tables of loads on a mechanism and of its stiffness: contacts, loads, springs, payloads, stiffness, misfits.


class ContactTable(Table):
    """``[[contact]]``: a point at which a body is pushed, with dry friction, for ``reactions`` and ``lint``."""

    body_a: Name = key(description="that is pushed")
    body_b: Name = key(default="world", description="that pushes; default: the ground")
    point: Vector = key(description="in the link frame of body_a, m")
    normal: Vector = key(description="a unit vector in world axes, into body_a")
    mu: Annotated[float, Bounds(ge=0, le=LARGEST_FRICTION)] = key(description="coefficient of friction")
    name: Name | None = key(
        default=None, description="default: 'contact' and body_a, numbered if it has several"
    )


class LoadTable(Table):
    """``[[load]]``: a force (N) and torque (N·m) on a body at a point of its link frame."""

    body: Name = key(description="on which it acts")
    point: Vector = key(default=[0.0, 0.0, 0.0], description="of application, in the link frame, m")
    force: Vector = key(default=[0.0, 0.0, 0.0], description="at the point, N")
    torque: Vector = key(default=[0.0, 0.0, 0.0], description="besides the force, N·m")
    frame: Literal["world", "body"] = key(
        default="world", description="the axes of force and torque: fixed, or turning with the body"
    )


class SectionTable(Table):
    """A beam section: Young's modulus (Pa), area (m²), second moments (m⁴)."""

    E: Positive = key(description="Young's modulus, Pa")
    A: Positive = key(description="area, m²")
    Iy: Positive = key(description="second moment about the section's y, m⁴")
    Iz: Positive = key(description="second moment about the section's z, m⁴")
    J: Positive = key(description="torsion constant, m⁴")
    nu: Number | None = key(default=None, description="Poisson's ratio; default: 0.3")


class StiffnessTable(Table):
    """``[[stiffness]]``: of a pair (k: six diagonal numbers or 6 × 6, inf is rigid) or body (section)."""

    pair: Name | None = key(default=None, description="whose bearing it is; with k")
    k: list[StiffnessNumber] | list[list[StiffnessNumber]] | None = key(
        default=None,
        description="tx ty tz rx ry rz in the joint frame, N/m and N·m/rad: six on the diagonal, or six"
        " rows of six; inf is rigid",
    )
    body: Name | None = key(
        default=None, description="whose links between its joints are beams; with section"
    )
    section: SectionTable | None = key(default=None, description="of these beams")


class MisfitTable(Table):
    """``[[misfit]]``: of a component of a joint, before it is closed (m, rad): its value, its deviation, or both."""

    joint: Name = key(description="a pair or closure")
    component: Name = key(description="a constrained one, such as tx")
    value: Number | None = key(default=None, description="m or rad")
    sigma: NonNegative | None = key(default=None, description="standard deviation, m or rad")


class LimitTable(Table):
    """``[[limit]]``: the largest load of a joint by misfits: its force (N), or one component (N, N·m)."""

    joint: Name = key(description="a pair or closure")
    value: Positive = key(description="N, or N·m of a moment")
    component: Name | None = key(default=None, description="such as tx; default: the whole force")


class SpringTable(Table):
    """``[[spring]]``: between points of two bodies (N/m, m, N·s/m), or on a joint (N·m/rad or N/m)."""

    stiffness: NonNegative = key(description="between bodies N/m; on a joint N·m/rad or N/m")
    body_a: Name | None = key(default=None, description="one end; 'world' for the ground")
    body_b: Name | None = key(default=None, description="the other end")
    name: Name | None = key(default=None, description="of the spring, for messages")
    xyz_a: Vector | None = key(
        default=None, description="in the link frame of body_a, m; default: its origin"
    )
    xyz_b: Vector | None = key(
        default=None, description="in the link frame of body_b, m; default: its origin"
    )
    point_a: Vector | None = key(default=None, description="the former name of xyz_a")
    point_b: Vector | None = key(default=None, description="the former name of xyz_b")
    length: NonNegative | None = key(default=None, description="free length, m; default: 0")
    damping: NonNegative | None = key(default=None, description="along the spring, N·s/m; default: 0")
    joint: Name | None = key(default=None, description="instead of bodies: a joint of the tree")
    freedom: Name | None = key(default=None, description="such as rz, of a joint that has several")
    rest: Number | None = key(default=None, description="coordinate without force, rad or m; default: 0")


class PayloadTable(Table):
    """``[[payload]]``: a mass (kg) on a body, com in its link frame, inertia about com."""

    body: Name = key(description="that carries it")
    mass: Positive = key(description="kg")
    com: Vector = key(default=[0.0, 0.0, 0.0], description="centre of mass in the link frame of the body, m")
    inertia: Inertia = key(
        default=[0.0, 0.0, 0.0],
        description="about that centre in the axes of the link frame, kg·m², as of a body",
    )


# Tables for stopping a robot: brakes, ramps and actuators.


class UncertaintyTable(Table):
    """``[brake.uncertainty]``, ``[ramp.uncertainty]``: how well measured stops determine the numbers above."""

    parameters: Annotated[list[Name], Bounds(min_length=1, max_length=5)] = key(
        description="the fitted numbers, p of them"
    )
    sizes: list[Positive] = key(description="values that would explain a whole stop, each in its unit")
    speeds: Annotated[list[NonNegative], Bounds(min_length=2, max_length=2)] = key(
        description="the lowest and the highest speed of the measured stops, rad/s or m/s"
    )
    freedom: NonNegative = key(default=0.0, description="degrees of freedom of the scatter; 0: an exact fit")
    covariance: list[list[Number]] = key(
        default=[], description="p rows of p: of the numbers over their sizes; empty for an exact fit"
    )
    unseen: list[list[Number]] = key(
        default=[], description="directions of p numbers in which the measured stops do not change"
    )
    not_determined: list[Name] = key(default=[], description="numbers that are not determined by themselves")
    curved: bool = key(default=False, description="whether the covariance holds near the measured stops only")
    time: NonNegative | None = key(default=None, description="standard deviation of one stop, s")
    time_share: NonNegative | None = key(default=None, description="the same over the computed time")
    distance: NonNegative | None = key(default=None, description="standard deviation of one stop, rad or m")
    distance_share: NonNegative | None = key(default=None, description="the same over the computed distance")
    margin: NonNegative = key(
        default=0.0, description="by which delay or reaction is longer than the fitted one, s"
    )


class _BrakedJoint(Table):
    joint: Name = key(description="a joint with one freedom")


def _stated_number(part: dataclasses.Field[Any]) -> tuple[Any, Key]:
    """Return type and key of a number that a brake states."""
    stated = part.metadata
    number: Any = Positive if stated["positive"] else NonNegative if stated["most"] == inf else Share
    kind = number | None if part.default is None else number
    return kind, key(default=part.default, description=stated["text"])


if TYPE_CHECKING:
    _BrakeNumbers = _BrakedJoint
else:
    # the law states its numbers, and a part added there is a key here
    _numbers = {part.name: _stated_number(part) for part in dataclasses.fields(Brake) if part.metadata}
    _BrakeNumbers = type(
        "_BrakeNumbers",
        (_BrakedJoint,),
        {
            "__module__": __name__,
            "__annotations__": {name: kind for name, (kind, _) in _numbers.items()},
            **{name: stated for name, (_, stated) in _numbers.items()},
        },
    )


_ORIGIN: Any = key(default="", description="where the numbers come from, in words; reports show it")
_UNCERTAINTY: Any = key(default=None, description="of a calibration; gone where a fitted number was changed")


class BrakeTable(_BrakeNumbers):
    """``[[brake]]``: torques (N·m or N), viscous part (N·m·s/rad), delays (s), wear, short circuit."""

    origin: Origin = _ORIGIN
    uncertainty: UncertaintyTable | None = _UNCERTAINTY
    origin_values: dict[str, Number] = key(default={}, description=_VALUES)


class RampTable(Table):
    """``[[ramp]]``: how a drive decelerates in categories 1 and 2: time (s) or deceleration, reaction (s)."""

    joint: Name = key(description="a joint with one freedom")
    time: Positive | None = key(default=None, description="from any rate to rest, s; or deceleration")
    deceleration: Positive | None = key(default=None, description="rad/s² or m/s²; or time")
    reaction: NonNegative | None = key(
        default=None, description="from the signal until the ramp begins, s; default: the brake's delay"
    )
    origin: Origin = _ORIGIN
    uncertainty: UncertaintyTable | None = _UNCERTAINTY
    origin_values: dict[str, Number] = key(default={}, description=_VALUES)


class ActuatorTable(Table):
    """``[[actuator]]``: rotor inertia (kg·m², motor side), gear ratio, how it brakes (rad/s² or m/s²)."""

    joint: Name = key(description="a joint with one freedom")
    armature: NonNegative = key(
        default=0.0, description="inertia of the rotor on the motor's side, kg·m²; of a slide kg"
    )
    gear_ratio: Number = key(default=1.0, description="turns of the motor per turn of the joint")
    deceleration: Positive | None = key(
        default=None, description="with which its drive stops the joint, rad/s² or m/s²"
    )


# The table of the analysis: ``[lint]``.


class LintTable(Table):
    """``[lint]``: options of the analysis, and the degree of redundancy that is intended."""

    tolerance: Annotated[float, Bounds(gt=0, lt=1)] | None = key(
        default=None,
        description="below which a singular value counts as zero, relative to the largest of its block",
    )
    planar: NamedPlane | None = key(default=None, description="analyse the motion in this plane only")
    samples: Annotated[int, Bounds(ge=1)] | None = key(
        default=None, description="poses at which the rank is looked at"
    )
    degree_of_redundancy: Annotated[int, Bounds(ge=0)] | None = key(
        default=None, description="that is intended: another one is an error, this one is not reported"
    )
    misfit_limit: Positive | None = key(
        default=None, description="largest joint force by a misfit of 0.1 mm, N"
    )
    ignore: list[str] = key(default=[], description="codes of rules that are not reported, such as MB601")
    extend_select: list[str] = key(
        default=[], description="codes of rules that are reported besides the usual ones"
    )
    targets: list[Simulator] = key(default=[], description="simulators that have to run the model")
