"""The scene: a mechanism, its state, the forces on it, and the file location of each element."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from mbplugin.choices import LARGEST, Base, Massless, Simulator
from mbplugin.errors import BadNumber, BadUsage, UnknownName, answers_wrong_calls, suggestion, takes_units
from mbplugin.model.brake_law import EXAMPLES, SI, Brake, Limit, Misfit, Ramp
from mbplugin.model.mechanism import WORLD, Lock, Mechanism, TimedConstraint
from mbplugin.model.mechanism.identity import RowLabel, pair_and_freedom
from mbplugin.model.mechanism.pair import Contact, Pair
from mbplugin.model.spatial import Array, JointSpring, Pose, Spring, units_of
from mbplugin.phrases import counted, cut_short, dataclass, listed, one_line, one_line_repr
from mbplugin.rendering import Loaded, cell, refuse_attribute

#: Properties of a freedom that a ``[[pair]]`` of a scene can state, those of its drive first.
FREEDOM_KEYS = ("lower", "upper", "velocity", "effort", "damping", "friction")
#: (kind, name, part): kind is ``body``, ``constraint`` or ``model``; part is empty for the element
#: itself, or names one of its literals: ``inertial``, ``mass``, ``inertia``, ``axis``, ``rpy``, ``rpy_a`` …
OriginKey = tuple[str, str, str]
#: Part that marks a body made by a reader and not named in any file, such as one between two joints of one body.
MADE = "made"
LOAD_KEYS = ("body", "force", "torque", "point", "frame")
PAYLOAD_KEYS = ("body", "mass", "com", "inertia")
#: Longest text of a table in a message, characters.
_SHORT = 60


# Roles of a joint besides guidance: it is driven, braked, limited, locked, coupled or sprung.
#
# A joint without any of these roles is passive. Only a passive joint can be given a less restrictive type
# without losing a motor, a brake or an end stop.


@dataclass(frozen=True)
class Duty:
    """A role of a joint.

    Parameters
    ----------
    kind : str
        ``effort``, ``limits``, ``drive``, ``brake``, ``ramp``, ``actuator``, ``coupling``, ``driver``, ``lock``
        or ``spring``.
    text : str
        A phrase, such as "an effort limit of 150 N·m".
    """

    kind: str
    text: str


def duties(model: Scene | Mechanism) -> dict[str, tuple[Duty, ...]]:
    """Return the roles of every joint that is not passive, by name in file order.

    A finite effort limit above zero counts as a drive; an effort limit of zero means that there is none.

    Parameters
    ----------
    model : Scene or Mechanism
        A scene also states brakes, ramps, actuators, timed locks, springs, and the joints with a drive in the file.
    """
    mech = mechanism_of(model)
    found: dict[str, list[Duty]] = {pair.name: list(_of_pair(pair)) for pair in mech.pairs}
    stated = [*_of_mechanism(mech), *(_of_scene(model) if isinstance(model, Scene) else ())]
    for joint, duty in stated:
        if joint in found and duty not in found[joint]:
            found[joint].append(duty)
    return {name: tuple(own) for name, own in found.items() if own}


def _of_pair(pair: Pair) -> Iterator[Duty]:
    for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True):
        unit = units_of(name)
        if isfinite(freedom.effort) and freedom.effort > 0:
            yield Duty("effort", f"an effort limit of {freedom.effort:g} {unit.force}")
        if (isfinite(freedom.lower) or isfinite(freedom.upper)) and freedom.lower < freedom.upper:
            yield Duty("limits", f"limits from {freedom.lower:g} to {freedom.upper:g} {unit.coordinate}")


def _of_mechanism(mech: Mechanism) -> Iterator[tuple[str, Duty]]:
    for coupling in mech.couplings:
        for term in coupling.terms:
            yield term.joint, Duty("coupling", f"the coupling {coupling.name!r}")
    for driver in mech.drivers:
        yield driver.joint, Duty("driver", f"the driver {driver.name!r}")
    for lock in mech.locks:
        yield lock.joint, Duty("lock", "a lock")


def _of_scene(scene: Scene) -> Iterator[tuple[str, Duty]]:
    for joint in scene.actuated:
        yield joint, Duty("drive", "a drive")
    for brake in scene.brakes:
        yield brake.joint, Duty("brake", "a brake")
    for ramp in scene.ramps:
        yield ramp.joint, Duty("ramp", "a ramp")
    for actuator in scene.actuators:
        yield actuator.joint, Duty("actuator", "an actuator")
    for lock in scene.locks:
        yield lock.joint, Duty("lock", "a lock")
    pairs = scene.mechanism.pair_by_name
    for spring in scene.springs:
        if isinstance(spring, JointSpring):
            yield pair_and_freedom(spring.joint, pairs)[0], Duty("spring", "a spring")


# The elements of a model file as written: names, attributes and locations, for rules about the text.


# a tuple, which is cheap to make: a large file has ten thousand of them
class Written(NamedTuple):
    """An element as written.

    Parameters
    ----------
    tag : str
        Tag with its prefix, as in ``drake:joint``.
    text : str
        Text on one line.
    parent : int
        Index of the enclosing element; -1 for the root.
    """

    tag: str
    attributes: Mapping[str, str]
    text: str
    origin: Origin
    parent: int

    def __repr__(self) -> str:
        return one_line(self, self.tag, (self.origin,))


@one_line_repr
@dataclass(frozen=True, eq=False)
class Document:
    """The elements of one model file as a flat list in file order, since files can be nested deeply.

    Parameters
    ----------
    format : str
        ``urdf``.
    elements : tuple of Written
        The root is the first.
    prefix : str
        Prefix that every name of the file has in the scene: ``model/``.
    """

    format: str
    elements: tuple[Written, ...]
    prefix: str = ""

    @property
    def root(self) -> Node:
        """The root element."""
        return Node(self, 0)

    @cached_property
    def inner(self) -> Mapping[int, tuple[int, ...]]:
        """Indices of the child elements, by the index of the parent."""
        found: dict[int, list[int]] = {}
        for position, element in enumerate(self.elements):
            found.setdefault(element.parent, []).append(position)
        return {parent: tuple(positions) for parent, positions in found.items()}


@dataclass(frozen=True, eq=False)
class Node:
    """An element of a document, with access to the elements inside it."""

    document: Document
    position: int

    @property
    def written(self) -> Written:
        """The element as written."""
        return self.document.elements[self.position]

    @property
    def tag(self) -> str:
        """The tag of the element, with its prefix."""
        return self.written.tag

    @property
    def origin(self) -> Origin:
        """The location of the element."""
        return self.written.origin

    @property
    def text(self) -> str:
        """The text of the element on one line."""
        return self.written.text

    @property
    def name(self) -> str:
        """The name of the element in the scene: its attribute ``name`` with the document's prefix; empty if absent."""
        stated = self.get("name")
        return self.document.prefix + stated if stated else ""

    def get(self, attribute: str) -> str:
        """Return an attribute, stripped; empty if absent."""
        return self.written.attributes.get(attribute, "").strip()

    def has(self, attribute: str) -> bool:
        """Return True if the attribute is present."""
        return attribute in self.written.attributes

    def children(self, *tags: str) -> Iterator[Node]:
        """Yield the child elements, all or those with given tags."""
        for position in self.document.inner.get(self.position, ()):
            if not tags or self.document.elements[position].tag in tags:
                yield Node(self.document, position)

    def child(self, tag: str) -> Node | None:
        """Return the first child element with a tag; None if there is none."""
        return next(self.children(tag), None)

    def descendants(self, *tags: str) -> Iterator[Node]:
        """Yield the elements inside at any depth, all or those with given tags, in file order."""
        inside = {self.position}
        for position in range(self.position + 1, len(self.document.elements)):
            element = self.document.elements[position]
            if element.parent not in inside:
                # in file order, all following elements are outside too
                return
            inside.add(position)
            if not tags or element.tag in tags:
                yield Node(self.document, position)


@one_line_repr
@dataclass(frozen=True)
class Request:
    """The arguments of ``load``, stored in the scene so that it can be loaded again.

    Parameters
    ----------
    path : str
        The file; ``<stdin>`` for text that was passed in.
    text : str, optional
        The content if it was passed in rather than read from a file.
    package_dirs : tuple of str
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    snap_angles : bool
        Read rounded angle literals as fractions of π.
    xacro_unsafe : bool
        Expand Xacro without restrictions, as the ``xacro`` program does: the file may run code and read any file.
    xacro_args : tuple of (str, str)
        Names and values of the Xacro arguments.
    massless : "zero" or "pybullet"
        Mass and inertia of URDF links without ``<inertial>``: none, or 1 kg and 1 kg·m² as in PyBullet.
    """

    path: str
    text: str | None = None
    package_dirs: tuple[str, ...] = ()
    base: Base | None = None
    snap_angles: bool = False
    xacro_unsafe: bool = False
    xacro_args: tuple[tuple[str, str], ...] = ()
    massless: Massless = "zero"

    @property
    def folder(self) -> Path:
        """The folder against which relative names are resolved."""
        return Path(os.path.realpath(self.path)).parent if self.text is None else Path.cwd()


@one_line_repr
@dataclass(frozen=True)
class Origin:
    """The location of an element: file, line (from 1; 0 if unknown) and the literal text."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@one_line_repr
@dataclass(frozen=True)
class Defect:
    """A defect that does not stop a reader; the rule with the same code reports it.

    ``severity`` overrides that of the rule, unless it is empty.
    """

    code: str
    element: str
    message: str
    origin: Origin | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    severity: Literal["", "note", "warning", "error"] = ""


@one_line_repr
@dataclass(frozen=True, eq=False)
class Shape:
    """A geometry of a link.

    Parameters
    ----------
    role : "visual" or "collision"
    kind : str
        ``box`` (size x y z), ``sphere`` (radius), ``cylinder`` and ``capsule`` (radius, length along
        z), ``plane``, ``mesh`` (size is the scale) or ``hull``.
    size : tuple of float
        Metres; scale factors for a mesh.
    X_LS : Pose
        Shape frame in the link frame.
    mesh : str
        The mesh file name as written.
    beside : str
        In a scene, the model file relative to which ``mesh`` is looked up; empty means the requested file.
    points : tuple of (x, y, z)
        For a ``hull``, the points that it encloses, in the shape frame, m.
    rgba : tuple of float
        Colour and opacity, 0 to 1; empty if none is stated.
    seen : bool
        Whether a collision shape is also visible.
    triangles : ((n, 3) array, (m, 3) array of int), optional
        Unscaled vertices and triangles of a ``mesh`` without a file.
    """

    role: str
    kind: str
    size: tuple[float, ...]
    X_LS: Pose
    mesh: str = ""
    beside: str = ""
    points: tuple[tuple[float, float, float], ...] = ()
    rgba: tuple[float, ...] = ()
    seen: bool = False
    triangles: tuple[Array, NDArray[np.int64]] | None = field(default=None, repr=False)


@one_line_repr
@dataclass(frozen=True, eq=False)
class State:
    """Joint coordinates and rates in the order of q_names and qd_names, and who stated which of them.

    Stated values are kept exactly and the others are computed from them, see :mod:`mbplugin.constraints.stated_state`.

    Parameters
    ----------
    q : (nq,) array
    qd : (nv,) array
    given, given_rates : frozenset of str
        The coordinates and rates stated by the file or the caller.
    named, named_rates : frozenset of str
        Those of them stated by the caller, who takes precedence over the file.
    """

    q: Array
    qd: Array
    given: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    given_rates: frozenset[str] = frozenset()
    named_rates: frozenset[str] = frozenset()


@takes_units
@one_line_repr
@dataclass(frozen=True, eq=False)
class Load:
    """A force (N) and torque (N·m) on a body at a point of its link frame (m)."""

    body: str
    force: Array
    torque: Array
    point: Array
    frame: str = "world"


@one_line_repr
@dataclass(frozen=True, eq=False)
class Stiffness:
    """The stiffness of a pair (6×6, N/m and N·m/rad, in its predecessor frame), or the beam section of a body."""

    pair: str = ""
    matrix: Array | None = None
    body: str = ""
    section: Mapping[str, float] = field(default_factory=dict)


@takes_units
@one_line_repr
@dataclass(frozen=True, eq=False)
class Payload:
    """A mass (kg) carried by a body: centre of mass (m) in its link frame, inertia (kg·m²)."""

    body: str
    mass: float
    com: Array
    inertia: Array

    def scaled(self, share: float) -> Payload:
        """Return the payload with a fraction of its mass and inertia."""
        return replace(self, mass=share * self.mass, inertia=share * self.inertia)


@one_line_repr
@dataclass(frozen=True)
class Actuator:
    """Rotor inertia (kg·m², motor side), gear ratio and braking deceleration (rad/s² or m/s²) of a joint's drive."""

    joint: str
    armature: float = 0.0
    gear_ratio: float = 1.0
    deceleration: float | None = None


@one_line_repr
@dataclass(frozen=True)
class ActuatorLaw:
    """The force law of an actuator in the terms of MJCF's ``<general>``; it is only converted, not simulated.

    Parameters
    ----------
    name : str
    joint : str
        The driven joint; empty for a tendon, a site, a body or a free root, which ``attributes`` names first.
    attributes : tuple of (str, str)
        Gear, gain, bias, dynamics and ranges that differ from those of a plain motor, in SI units.
    obstacle : str
        A clause that says why the actuator cannot be written on a joint; empty if it can.
    """

    name: str
    joint: str
    attributes: tuple[tuple[str, str], ...] = ()
    obstacle: str = ""


@one_line_repr
@dataclass(frozen=True)
class LintOptions:
    """The ``[lint]`` table of a scene; None stands for the default."""

    tolerance: float | None = None
    planar: str | None = None
    samples: int | None = None
    degree_of_redundancy: int | None = None
    misfit_limit: float | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    targets: tuple[Simulator, ...] = ()


@answers_wrong_calls
@dataclass(frozen=True, eq=False)
class Scene(metaclass=Loaded):
    """The result of ``load``: the mechanism and all other data of a file.

    Parameters
    ----------
    mechanism : Mechanism
    state : State
        The pose and rates of the file.
    origin : mapping of OriginKey to Origin
    files : tuple of str
        Every file that was read.
    defects : tuple of Defect
    shapes : mapping of body name to tuple of Shape
    loads, stiffness, brakes, payloads, actuators, locks, springs, ramps, misfits, limits, holds : tuple
        ``locks`` contains the timed locks; permanent locks are in the mechanism. ``holds`` gives the intervals of
        those constraints of the mechanism that are active only temporarily.
    options : LintOptions
    request : Request or None
        The arguments of ``load``; None for a live client.
    actuated : tuple of str
        Joints with an explicit drive in the file: a transmission, a command interface, an actuator.
    documents : tuple of Document
        The elements of the URDF files as written.
    actuator_laws : tuple of ActuatorLaw
        The actuators of an MJCF file, in file order.
    base_open : bool
        Whether neither the file format nor the caller states if the root is fixed.
    contacts : tuple of Contact
        Points at which bodies touch; they enter ``reactions`` and ``lint``, not motions.
    """

    mechanism: Mechanism
    state: State
    origin: Mapping[OriginKey, Origin] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    defects: tuple[Defect, ...] = ()
    shapes: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    loads: tuple[Load, ...] = ()
    stiffness: tuple[Stiffness, ...] = ()
    brakes: tuple[Brake, ...] = ()
    payloads: tuple[Payload, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    locks: tuple[Lock, ...] = ()
    springs: tuple[Spring | JointSpring, ...] = ()
    options: LintOptions = LintOptions()
    request: Request | None = None
    actuated: tuple[str, ...] = ()
    documents: tuple[Document, ...] = ()
    ramps: tuple[Ramp, ...] = ()
    misfits: tuple[Misfit, ...] = ()
    limits: tuple[Limit, ...] = ()
    holds: tuple[TimedConstraint, ...] = ()
    actuator_laws: tuple[ActuatorLaw, ...] = ()
    base_open: bool = False
    contacts: tuple[Contact, ...] = ()

    def __repr__(self) -> str:
        facts = (
            counted(len(self.mechanism.bodies), "body", "bodies"),
            counted(len(self.mechanism.pairs), "pair"),
        )
        return one_line(self, self.mechanism.name, (*facts, counted(len(self.files), "file")))

    def __getattr__(self, name: str) -> NoReturn:
        """Raise the error for an attribute that does not exist, with what is meant: often one of the mechanism."""
        refuse_attribute(self, name, "mechanism")

    def _repr_html_(self) -> str:
        return cell(self)

    def __getitem__(self, name: str) -> NoReturn:
        """Refuse access by name, since a body and a pair may share one."""
        bodies, pairs = [body.name for body in self.mechanism.bodies], self.mechanism.pair_by_name
        remedy = suggestion(name, (*bodies, *pairs))
        if name in pairs:
            remedy = f"write scene.mechanism.pair_by_name[{name!r}]"
        elif name in bodies:
            remedy = f"write scene.mechanism.bodies[{bodies.index(name)}]"
        raise UnknownName(f"a scene has no parts by name, such as {name!r}", remedy=remedy)


def mechanism_of(model: Scene | Mechanism) -> Mechanism:
    """Return the mechanism of a scene, or the mechanism itself.

    Raises
    ------
    BadUsage
        The value is neither, such as a path or a client id that was not loaded.
    """
    if isinstance(model, Scene):
        return model.mechanism
    if not isinstance(model, Mechanism):
        raise BadUsage(
            f"{model!r} is not a model",
            expected="a Scene or a Mechanism",
            remedy="mbplugin.load reads files and live PyBullet clients",
        )
    return model


def state_at_home(mech: Mechanism) -> State:
    """Return the home state: all joint frames coincide, at rest."""
    from mbplugin.model.mechanism.kinematics import home

    return State(home(mech), np.zeros(len(mech.qd_names)))


def in_coordinates_of(mech: Mechanism, before: Mechanism, state: State) -> State:
    """Restrict a state of mechanism ``before`` to ``mech``, whose joint coordinates are a subset."""
    q, qd = (
        dict(zip(names, values, strict=True))
        for names, values in ((before.q_names, state.q), (before.qd_names, state.qd))
    )
    coordinates, rates = frozenset(mech.q_names), frozenset(mech.qd_names)
    return State(
        np.array([q[name] for name in mech.q_names]),
        np.array([qd[name] for name in mech.qd_names]),
        state.given & coordinates,
        state.named & coordinates,
        state.given_rates & rates,
        state.named_rates & rates,
    )


def as_scene(model: Scene | Mechanism) -> Scene:
    """Return a scene unchanged, or a mechanism as a scene at its home pose, at rest."""
    return model if isinstance(model, Scene) else Scene(model, state_at_home(model))


def state_of(model: Scene | Mechanism) -> tuple[Mechanism, Array | None, Array | None]:
    """Return the mechanism and the scene's joint coordinates and rates, which are None for a mechanism alone."""
    mechanism = mechanism_of(model)
    if isinstance(model, Scene):
        return mechanism, model.state.q, model.state.qd
    return mechanism, None, None


def option_of(model: Scene | Mechanism, name: str, default: Any) -> Any:
    """Return an entry of the scene's ``[lint]`` table, or the default if it states none."""
    value = getattr(model.options, name) if isinstance(model, Scene) else None
    return default if value is None else value


# Loads, payloads and misfits: read from objects or tables, and checked.


LoadLike = Load | Mapping[str, Any]
PayloadLike = Payload | Mapping[str, Any]


def require_table(kind: str, table: Mapping[str, Any], keys: Sequence[str], value: object) -> None:
    """Require that a table names its subject under the first key and has no unknown keys.

    Parameters
    ----------
    keys : sequence of str
        The keys of the name and of the main number come first. A frequent mistake is the name as a key with its number.
    value : object
        A number for the example in the message.

    Raises
    ------
    BadUsage, UnknownName
        The table names no subject, or has an unknown key.
    """
    first, main = keys[:2]
    if not isinstance(table.get(first), str):
        named = next((key for key in table if key not in keys and not isinstance(table[key], str)), first)
        stated = table.get(named, value)
        stated = stated if isinstance(stated, Mapping) else {main: stated}
        example = {first: "NAME" if named == first else named, **stated}
        raise BadUsage(
            f"a {kind} names no {first}: {cut_short(repr(dict(table)), _SHORT)}",
            expected=f"a table of {', '.join(keys)}",
            remedy=f"write {cut_short(repr(example), _SHORT)}",
        )
    for key in table:
        if key not in keys:
            raise UnknownName(
                f"a {kind} has an unknown key {key!r}", remedy=suggestion(str(key), tuple(keys))
            )


def require_kind(kind: str, value: object, wanted: type, keys: Sequence[str]) -> None:
    """Require that an element of a list of loads, payloads or brakes has the right type.

    Raises
    ------
    BadUsage
        It is something else, such as a name, or a key because a table was given instead of a list.
    """
    if not isinstance(value, wanted):
        raise BadUsage(
            f"a {kind} cannot be {value!r}",
            expected=f"a list of tables of {', '.join(keys)}, or of mb.{wanted.__name__}",
        )


def read_loads(mech: Mechanism, loads: Iterable[LoadLike]) -> tuple[Load, ...]:
    """Read loads and check that every body exists and every number is finite.

    Parameters
    ----------
    loads : iterable of Load or mapping
        A mapping has the keys of a scene's ``[[load]]``: body, force (N), torque (N·m), point (m, link
        frame), frame ("world" or "body").

    Raises
    ------
    UnknownName
        A body does not exist, or a key is unknown.
    BadNumber
        A vector is not three finite numbers.
    """
    return tuple(_load(mech, load) for load in loads)


def _load(mech: Mechanism, load: LoadLike) -> Load:
    if isinstance(load, Mapping):
        require_table("load", load, LOAD_KEYS, [0, 0, -10])
        force, torque, point = (load.get(key, np.zeros(3)) for key in ("force", "torque", "point"))
        load = Load(str(load["body"]), force, torque, point, load.get("frame", "world"))
    require_kind("load", load, Load, LOAD_KEYS)
    _check_body(mech, "load", load.body)
    if load.frame not in ("world", "body"):
        raise BadUsage(
            f"the load on {load.body!r} is given in frame {load.frame!r}", expected="world or body"
        )
    where = f"of the load on {load.body!r}"
    force, torque, point = (
        _vector(f"{key} {where}", getattr(load, key), dimension)
        for key, dimension in (("force", "force"), ("torque", "torque"), ("point", "length"))
    )
    return Load(load.body, force, torque, point, load.frame)


def read_payloads(mech: Mechanism, payloads: Iterable[PayloadLike]) -> tuple[Payload, ...]:
    """Read payloads and check that every body exists; arguments and errors as for :func:`read_loads`.

    A mapping has the keys of a scene's ``[[payload]]``: body, mass (kg), com (m), inertia (kg·m²; 3
    moments, or the matrix).
    """
    return tuple(_payload(mech, payload) for payload in payloads)


def replaced_payloads(payloads: Sequence[Payload]) -> tuple[str, ...]:
    """Return a note that the stated payload replaces those of the scene; empty if the scene has none."""
    if not payloads:
        return ()
    names = listed([f"{one.mass:g} kg at {one.body}" for one in payloads])
    return (f"the stated payload replaces the scene's: {names}",)


def _payload(mech: Mechanism, payload: PayloadLike) -> Payload:
    if isinstance(payload, Mapping):
        require_table("payload", payload, PAYLOAD_KEYS, 5)
        mass, com, inertia = (payload.get(key, np.zeros(3)) for key in ("mass", "com", "inertia"))
        payload = Payload(payload["body"], mass if "mass" in payload else 0.0, com, inertia)
    require_kind("payload", payload, Payload, PAYLOAD_KEYS)
    _check_body(mech, "payload", payload.body)
    where = f"of the payload on {payload.body!r}"
    mass = _number(f"the mass {where}", payload.mass, "mass")
    if not 0 <= mass <= LARGEST:
        raise BadNumber(
            f"the payload on {payload.body!r} has mass {mass:g}",
            expected=f"kg, not negative, up to {LARGEST:g}",
        )
    com = _vector(f"com {where}", payload.com, "length")
    return Payload(payload.body, mass, com, _inertia(f"the inertia {where}", payload.inertia))


def read_misfit(labels: tuple[RowLabel, ...], misfit: Mapping[str, float], what: str = "misfit") -> Array:
    """Return the misfit of each row (m,) from values by "constraint.component".

    A misfit is the offset of the successor along a row (m or rad) before the joint is assembled.

    Raises
    ------
    UnknownName
        There is no row with that name.
    BadNumber
        A value is not finite, or too large.
    """
    gaps = np.zeros(len(labels))
    index = {label.dotted: k for k, label in enumerate(labels)}
    for name, value in misfit.items():
        if name not in index:
            raise UnknownName(
                f"the {what} names {name!r}, which is not a row of a constraint",
                expected="CONSTRAINT.COMPONENT",
                remedy=suggestion(name, list(index)),
            )
        gaps[index[name]] = float(value)
        if not abs(gaps[index[name]]) <= LARGEST:
            raise BadNumber(
                f"the {what} {name!r} is {value!r}", expected=f"a finite number up to {LARGEST:g}"
            )
    return gaps


def _check_body(mech: Mechanism, kind: str, name: str) -> None:
    if name == WORLD or name not in mech.body_index:
        raise UnknownName(
            f"the {kind} acts on {name!r}, which is not a body of {mech.name!r}",
            remedy=suggestion(name, [body.name for body in mech.bodies]),
        )


def _number(what: str, value: Any, dimension: str) -> float:
    """Return a number in SI units, from a number or a text with a unit."""
    if isinstance(value, str):
        return SI.value(value, dimension, f"{what} is")
    if not isinstance(value, Real):
        raise BadNumber(f"{what} is {value!r}", expected=EXAMPLES[dimension])
    return float(value)


def _vector(what: str, value: Any, dimension: str) -> Array:
    """Return three finite numbers (3,) in SI units; each may be given as a text with a unit."""
    if isinstance(value, list | tuple):
        value = [SI.value(one, dimension, f"{what} has") if isinstance(one, str) else one for one in value]
    vector = _array(value)
    if vector.shape != (3,) or not (np.abs(vector) <= LARGEST).all():
        raise BadNumber(f"{what} is {value!r}", expected=f"three finite numbers up to {LARGEST:g}")
    return vector


def _inertia(what: str, value: Any) -> Array:
    """Return an inertia matrix (3, 3), from the matrix or three moments, kg·m²."""
    inertia = _array(value)
    if inertia.shape not in ((3,), (3, 3)) or not (np.abs(inertia) <= LARGEST).all():
        raise BadNumber(f"{what} is {value!r}", expected="three moments, or a matrix of three rows, kg·m²")
    return np.diag(inertia) if inertia.ndim == 1 else inertia


def _array(value: Any) -> Array:
    """Return numbers as an array (n,) or (n, m); empty (0,) if they are not numbers."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        return np.zeros(0)
