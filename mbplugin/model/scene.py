"""The scene: a mechanism, its state, the forces on it, and the place in the files of each element."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.brake_law import Brake as Brake
from mbplugin.model.enumerations import Base, Simulator
from mbplugin.model.mechanism.coupling import Lock, TimedConstraint
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.misfits import Limit, Misfit
from mbplugin.model.ramp import Ramp as Ramp
from mbplugin.model.spatial import Array, Pose
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.phrases import counted, one_line, one_line_repr

if TYPE_CHECKING:
    from mbplugin.model.document import Document


@one_line_repr
@dataclass(frozen=True)
class Request:
    """The arguments of ``load``, kept in the scene so that it can be loaded again.

    Parameters
    ----------
    path : str
        The file; ``<stdin>`` for text that was handed over.
    text : str, optional
        The content, where it was handed over rather than read.
    package_dirs : tuple of str
        Folders in which ``package://`` and relative names are searched.
    base : "fixed" or "free", optional
        Overrides the base of the root links in the file.
    snap_angles : bool
        Read rounded angle literals as fractions of π.
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads.
    xacro_args : tuple of (str, str)
        Names and values of xacro's arguments.
    """

    path: str
    text: str | None = None
    package_dirs: tuple[str, ...] = ()
    base: Base | None = None
    snap_angles: bool = False
    xacro_unsafe: bool = False
    xacro_args: tuple[tuple[str, str], ...] = ()

    @property
    def folder(self) -> Path:
        """The folder against which relative names are resolved."""
        return Path(os.path.realpath(self.path)).parent if self.text is None else Path.cwd()


@one_line_repr
@dataclass(frozen=True)
class Origin:
    """Where an element was written: file, line (from 1) and the literal text."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


#: (kind, name, part): kind is ``body``, ``constraint`` or ``model``; part is empty for the element
#: itself, or names a literal of it: ``inertial``, ``mass``, ``inertia``, ``axis``, ``rpy``, ``rpy_a`` …
OriginKey = tuple[str, str, str]
#: Part of a body that no file names: a reader made it, between two joints of one body for example.
MADE = "made"


@one_line_repr
@dataclass(frozen=True)
class Defect:
    """Something a reader saw and could read past; a rule of the same code reports it.

    ``severity`` is stated where it weighs less or more than the rule says; empty: as the rule says.
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
        The mesh's file as written.
    beside : str
        The model file next to which it is looked up, in a scene; empty: the file that was asked for.
    points : tuple of (x, y, z)
        Of a ``hull``: what it is wrapped around, in the shape frame, m.
    """

    role: str
    kind: str
    size: tuple[float, ...]
    X_LS: Pose
    mesh: str = ""
    beside: str = ""
    points: tuple[tuple[float, float, float], ...] = ()


@one_line_repr
@dataclass(frozen=True, eq=False)
class State:
    """Joint coordinates and rates in the order of q_names and qd_names, and which of them are stated by whom.

    What is stated holds exactly and the rest follows, see :mod:`mbplugin.constraints.stated_state`.

    Parameters
    ----------
    q : (nq,) array
    qd : (nv,) array
    given, given_rates : frozenset of str
        The coordinates and rates that somebody states: the file or the caller.
    named, named_rates : frozenset of str
        Those among them that the caller states, who outranks the file.
    """

    q: Array
    qd: Array
    given: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    given_rates: frozenset[str] = frozenset()
    named_rates: frozenset[str] = frozenset()


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
    """Stiffness of a pair (6×6, N/m and N·m/rad, in its predecessor frame) or a body's beam section."""

    pair: str = ""
    matrix: Array | None = None
    body: str = ""
    section: Mapping[str, float] = field(default_factory=dict)


@one_line_repr
@dataclass(frozen=True, eq=False)
class Payload:
    """A mass (kg) carried by a body: centre of mass (m) in its link frame, inertia (kg·m²)."""

    body: str
    mass: float
    com: Array
    inertia: Array

    def scaled(self, share: float) -> Payload:
        """Return the same body with a share of its mass."""
        return replace(self, mass=share * self.mass, inertia=share * self.inertia)


@one_line_repr
@dataclass(frozen=True)
class Actuator:
    """Rotor inertia (kg·m², motor side), gear ratio and braking of a joint's drive (rad/s² or m/s²)."""

    joint: str
    armature: float = 0.0
    gear_ratio: float = 1.0
    deceleration: float | None = None


@one_line_repr
@dataclass(frozen=True)
class LintOptions:
    """The ``[lint]`` table of a scene; None means the default."""

    tolerance: float | None = None
    planar: str | None = None
    samples: int | None = None
    degree_of_redundancy: int | None = None
    misfit_limit: float | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    targets: tuple[Simulator, ...] = ()


@dataclass(frozen=True, eq=False)
class Scene:
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
        ``locks`` contains locks with times; permanent locks are in the mechanism. ``holds`` are times of constraints of
        the mechanism that are active only for a while.
    options : LintOptions
    request : Request or None
        None for a live client.
    actuated : tuple of str
        Joints with an explicit drive in the file: a transmission, a command interface, an actuator.
    documents : tuple of Document
        The elements of the URDFs as written.
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

    def __repr__(self) -> str:
        facts = (
            counted(len(self.mechanism.bodies), "body", "bodies"),
            counted(len(self.mechanism.pairs), "pair"),
        )
        return one_line(self, self.mechanism.name, (*facts, counted(len(self.files), "file")))

    def __getitem__(self, name: str) -> NoReturn:
        """Refuse a name: a body and a pair may have the same."""
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
        Neither of them: a path or a client id that was not loaded.
    """
    if isinstance(model, Scene):
        return model.mechanism
    if not isinstance(model, Mechanism):
        raise BadUsage(
            f"{model!r} is no model",
            expected="a Scene or a Mechanism",
            remedy="mbplugin.load reads files and live PyBullet clients",
        )
    return model


def state_at_home(mech: Mechanism) -> State:
    """Return the state at which all joint frames coincide, at rest."""
    from mbplugin.model.mechanism.kinematics import home

    return State(home(mech), np.zeros(len(mech.qd_names)))


def as_scene(model: Scene | Mechanism) -> Scene:
    """Return a scene as it is, and a mechanism as a scene at home, at rest."""
    return model if isinstance(model, Scene) else Scene(model, state_at_home(model))


def state_of(model: Scene | Mechanism) -> tuple[Mechanism, Array | None, Array | None]:
    """Return the mechanism with the joint coordinates and rates of the scene; None for a bare mechanism."""
    mechanism = mechanism_of(model)
    if isinstance(model, Scene):
        return mechanism, model.state.q, model.state.qd
    return mechanism, None, None


def option_of(model: Scene | Mechanism, name: str, default: Any) -> Any:
    """Return an entry of the scene's ``[lint]`` table, or the default where it states none."""
    value = getattr(model.options, name) if isinstance(model, Scene) else None
    return default if value is None else value


def with_coordinates(scene: Scene, values: Mapping[str, float | str]) -> Scene:
    """Return the scene with some joint coordinates (rad, m) given; they are held when loops close."""
    from mbplugin.model.plausible import stated_coordinates

    q = stated_coordinates(scene.mechanism, values, scene.state.q)
    named = scene.state.named | set(values)
    return replace(scene, state=replace(scene.state, q=q, given=scene.state.given | named, named=named))
