"""The result of a writer: the text, notes on equivalent forms, and losses; with helpers common to all writers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from lxml import etree

from mbplugin.errors import BadUsage
from mbplugin.files import replacing
from mbplugin.model import WORLD, Body, LossKind, Mechanism, Request, Scene, State, TreeJoint, freedom_name
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward, welded_bodies
from mbplugin.model.mechanism.pair import Freedom, Pair, RowKind, has_quaternion
from mbplugin.model.spatial import Array, JointSpring, Pose, axis_of, is_turn
from mbplugin.phrases import counted, listed, one_line

#: File ending of each format.
ENDINGS = {"mjcf": ".xml", "sdf": ".sdf", "urdf": ".urdf", "usd": ".usda", "scene": ".scene.toml"}
#: Fields of a scene, with the kind of their loss and the noun for one entry.
_NOUNS: dict[str, tuple[LossKind, str]] = {
    "contacts": ("scene", "contact"),
    "loads": ("scene", "load"),
    "payloads": ("scene", "payload"),
    "brakes": ("scene", "brake"),
    "ramps": ("scene", "ramp"),
    "springs": ("spring", "spring"),
    "stiffness": ("scene", "stiffness"),
    "locks": ("scene", "timed lock"),
    "holds": ("scene", "timed constraint"),
    "misfits": ("scene", "misfit"),
    "shapes": ("shape", "body with shapes"),
    "actuators": ("actuator", "actuator"),
}
_PLURALS = {"stiffness": "stiffnesses", "shapes": "bodies with shapes"}
Element: TypeAlias = etree._Element
Kind = Literal["slide", "hinge", "ball"]


@dataclass(frozen=True)
class Loss:
    """A part of a model missing in the written file: its kind, and one clause."""

    kind: LossKind
    text: str


#: Names of joints, and of bodies, in a written file, where they may be others than in the model.
Renamed = tuple[Mapping[str, str], Mapping[str, str]]


@dataclass(frozen=True)
class Written:
    """The result of a writer.

    Parameters
    ----------
    format : str
        ``mjcf``, ``sdf``, ``urdf``, ``usd`` or ``scene``.
    text : str
        Text of the file.
    held : tuple of str
        Parts of the model that are written in an equivalent form, with the same motion, one clause each.
    losses : tuple of Loss
        Parts of the model that the format cannot state.
    copy_of : Request, optional
        Request for the file of which this is a copy; None if the model was written anew.
    names_from : Request, optional
        Request for the file to whose folder other file names in the text are relative; None if there are no names.
    anew : str
        Why the file of a model that stays in its format is not a copy, a clause.
    renamed : pair of mappings
        New names of joints and of bodies, by the names in the model.
    """

    format: str
    text: str
    held: tuple[str, ...] = ()
    losses: tuple[Loss, ...] = ()
    copy_of: Request | None = None
    names_from: Request | None = None
    anew: str = ""
    renamed: Renamed = ({}, {})

    @property
    def left_out(self) -> tuple[str, ...]:
        """Parts of the model that the format cannot state, one clause each."""
        return tuple(loss.text for loss in self.losses)

    def __repr__(self) -> str:
        facts = (
            counted(len(self.text.splitlines()), "line"),
            counted(len(self.losses), "part") + " left out",
        )
        return one_line(self, self.format, facts)

    def save(self, path: str | Path) -> None:
        """Write the text to a file, completely or not at all.

        Raises
        ------
        BadUsage
            The ending is that of another format, or the file cannot be written.
        """
        ending = ENDINGS[self.format]
        if not Path(path).name.endswith(ending):
            raise BadUsage(
                f"the model is written as {self.format}, and the file is {str(path)!r}",
                expected=f"a file with the ending {ending}",
            )
        with replacing(Path(path)) as temporary:
            self.write(temporary)

    def write(self, path: Path) -> None:
        """Write the text to a file with any name.

        Raises
        ------
        BadUsage
            Names of other files in the text cannot be stated relative to the folder of this file.
        """
        text = self.text
        if self.names_from is not None:
            from mbplugin.writers.xml_text import for_folder

            text = for_folder(text, self.format, self.names_from, path.parent)
        path.write_text(text, encoding="utf-8", newline="")


# Losses: parts of a scene besides bodies and joints that a format cannot state.


def unwritten(scene: Scene, written: Collection[str] = ()) -> Iterator[Loss]:
    """Yield a loss for each nonempty part of a scene not in ``written``, the fields that the writer handles."""
    for field, (kind, noun) in _NOUNS.items():
        number = len(getattr(scene, field))
        if number and field not in written:
            yield Loss(kind, f"{counted(number, noun, _PLURALS.get(field, ''))} of the scene")
    lost = [law.name for law in scene.actuator_laws if law.attributes or law.obstacle]
    if lost and "actuator_laws" not in written:
        which = "actuator" if len(lost) == 1 else "actuators"
        rest = ", of which a plain motor is left" if "actuated" in written else ""
        yield Loss("actuator", f"gears, gains, dynamics and ranges of the {which} {listed(lost)}{rest}")
    if scene.actuated and "actuated" not in written:
        joints = scene.actuated
        which = "drive of the joint" if len(joints) == 1 else "drives of the joints"
        yield Loss("actuator", f"the {which} {listed(joints)}")


def unwritten_constraints(mech: Mechanism, written: Collection[str] = ()) -> Iterator[Loss]:
    """Yield a loss for each kind of constraint, other than pairs, not in ``written``."""
    for field, noun in (
        ("couplings", "coupling"),
        ("drivers", "driver"),
        ("locks", "lock"),
        ("pfaffians", "velocity constraint"),
    ):
        names = [constraint.name for constraint in getattr(mech, field)]
        if names and field not in written:
            kind: LossKind = "coupling" if field == "couplings" else "constraint"
            yield Loss(kind, f"{counted(len(names), noun)}: {listed(names)}")


def springs_between_points(scene: Scene) -> Iterator[Loss]:
    """Yield a loss for springs between points, for formats with joint springs only."""
    between = [spring.label for spring in scene.springs if not isinstance(spring, JointSpring)]
    if between:
        yield Loss("spring", f"{counted(len(between), 'spring')} between points: {listed(between)}")


def states_freedom(pair: Pair) -> bool:
    """Return True if a pair has limits, a drive, damping or friction."""
    return any(freedom != Freedom() for freedom in pair.freedoms)


def limited(freedom: Freedom) -> bool:
    """Return True if a freedom has a limit on either side."""
    return isfinite(freedom.lower) or isfinite(freedom.upper)


# Numbers as text that reads back to the same float.


def number(value: float) -> str:
    """Return a float as the shortest text that reads back to it; −0 is 0."""
    return toml_number(value).removesuffix(".0")


def toml_number(value: float) -> str:
    """Return the same text, but always with a point or an exponent, since TOML distinguishes integers from floats."""
    return repr(float(value) + 0.0)


def row(values: Iterable[float]) -> str:
    """Return floats separated by blanks, as in XML attributes."""
    return " ".join(number(value) for value in values)


# XML elements and their text; names with characters that XML does not allow are rejected.


def element(parent: Element | None, tag: str, attributes: Mapping[str, str] | None = None) -> Element:
    """Return a new element, appended to its parent; without a parent it is a root.

    Raises
    ------
    BadUsage
        An attribute contains a character that XML does not allow.
    """
    made = etree.Element(tag) if parent is None else etree.SubElement(parent, tag)
    for key, value in (attributes or {}).items():
        try:
            made.set(key, value)
        except ValueError:
            raise BadUsage(
                f"the {key} {value!r} has a character that XML does not have", remedy="rename it"
            ) from None
    return made


def document_text(root: Element) -> str:
    """Return a document as text with one element on each line."""
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"


# Closures of any type in formats with only welds and connects: a closure joins a part of one body, welded to the rest.
#
# The part has a share of the body's mass and inertia about the same centre, and is connected to the other body by
# the pair itself. With the weld, both parts move like the original body: rows, motion and forces are the same.


@dataclass(frozen=True, eq=False)
class WithStubs:
    """A mechanism in which closures are replaced by tree joints to parts of bodies (stubs).

    Parameters
    ----------
    mechanism : Mechanism
    state : State
        The state at the same pose; rates of new joints are zero.
    shared : mapping of closure name to str
        The body from which the part for each closure is taken.
    shares : mapping of body name to float
        Fraction of its mass that a body retains.
    stubs : mapping of closure name to str
        The name of each part.
    """

    mechanism: Mechanism
    state: State
    shared: Mapping[str, str]
    shares: Mapping[str, float]
    stubs: Mapping[str, str]


def with_stubs(mech: Mechanism, state: State, closures: Sequence[Pair]) -> WithStubs:
    """Replace some cut pairs by tree joints to parts of bodies; return the mechanism and its state.

    Raises
    ------
    BadUsage
        No body of a closure has a mass that could be shared.
    """
    if not closures:
        return WithStubs(mech, state, {}, {}, {})
    ground = welded_bodies(mech)
    shared = {pair.name: _shared(mech, pair, ground) for pair in closures}
    count = Counter(shared.values())
    stubs = _stub_names(mech, shared)
    bodies = [_share(body, 1 + count[body.name]) if body.name in count else body for body in mech.bodies]
    pairs, welds = [], []
    for pair in mech.pairs:
        body = shared.get(pair.name)
        if body is None:
            pairs.append(pair)
            continue
        stub = stubs[pair.name]
        bodies.append(replace(_share(mech.bodies[mech.body_index[body]], 1 + count[body]), name=stub))
        body_a, body_b = (stub if end == body else end for end in pair.bodies)
        pairs.append(replace(pair, closure=False, body_a=body_a, body_b=body_b))
        # weld at the centre of mass, where the six rows are almost uncoupled in a soft solver
        X_LC = Pose(np.eye(3), mech.bodies[mech.body_index[body]].p_LC)
        welds.append(Pair(f"{stub}_weld", "fixed", body, stub, X_LC, X_LC, closure=True))
    whole = replace(mech, bodies=tuple(bodies), pairs=(*pairs, *welds))
    shares = {name: 1 / (1 + number) for name, number in count.items()}
    return WithStubs(whole, _state(mech, whole, state, shared), shared, shares, stubs)


def _stub_names(mech: Mechanism, shared: Mapping[str, str]) -> dict[str, str]:
    """Return a name for the part of each closure that is unique, also for the weld of the part."""
    taken = {*mech.body_index, *mech.pair_by_name}
    found = {}
    for closure, body in shared.items():
        name, number = f"{body}_at_{closure}", 2
        while taken & {name, f"{name}_weld"}:
            name, number = f"{body}_at_{closure}_{number}", number + 1
        found[closure] = name
        taken.add(name)
    return found


def _shared(mech: Mechanism, pair: Pair, ground: frozenset[str]) -> str:
    """Return the body of a closure that shares its mass: preferably a moving one, and the successor."""
    massive = [
        name
        for name in (pair.body_b, pair.body_a)
        if name != WORLD and mech.bodies[mech.body_index[name]].mass > 0
    ]
    if not massive:
        raise BadUsage(
            f"closure {pair.name!r} ({pair.type}) joins bodies without mass",
            expected="a mass that a part of one of them can have",
            remedy="give one of them a mass, or make the closure spherical or fixed",
        )
    return next((name for name in massive if name not in ground), massive[0])


def _share(body: Body, parts: int) -> Body:
    return replace(body, mass=body.mass / parts, I_C=body.I_C / parts)


def _state(mech: Mechanism, whole: Mechanism, state: State, shared: dict[str, str]) -> State:
    """Return the state of the whole mechanism at the same poses; rates of new joints are zero."""
    poses = forward(mech, state.q)
    at = [mech.body_index[b.name] for b in mech.bodies] + [mech.body_index[b] for b in shared.values()]
    q = coordinates_of(whole, BodyPoses(poses.R_WL[at], poses.p_WL[at], poses.p_WC[at]))
    known = dict(zip(mech.q_names, state.q, strict=True))
    q = np.array([known.get(name, value) for name, value in zip(whole.q_names, q, strict=True)])
    rates = dict(zip(mech.qd_names, state.qd, strict=True))
    return replace(state, q=q, qd=np.array([rates.get(name, 0.0) for name in whole.qd_names]))


# The freedoms of a tree joint as a series of slides, hinges and balls, for formats with simple joints.


@dataclass(frozen=True, eq=False)
class Motion:
    """One simple joint in a series from the inner body to the outer one.

    Parameters
    ----------
    name : str
        Name of the pair for a ball or a pair with one freedom, else ``pair.component``.
    pair, component : str
        The pair and its component; empty component for a ball.
    kind : "slide", "hinge" or "ball"
    axis_W, point_W : (3,) array
        Direction, and a point of the axis or the centre (m), in the world at the pose.
    value : float
        Coordinate at the pose, rad or m; 0 for a ball.
    freedom : Freedom
        Limits, damping and friction.
    """

    name: str
    pair: str
    component: str
    kind: Kind
    axis_W: Array
    point_W: Array
    value: float
    freedom: Freedom


def motions_of(mech: Mechanism, joint: TreeJoint, q: Array, poses: BodyPoses) -> tuple[Motion, ...]:
    """Return the simple joints of a tree joint at a pose q (nq,), in the order in which they move the outer body.

    A screw becomes a slide and a hinge; the caller has to add the row that couples them.
    """
    pair = joint.pair
    if pair is None or not pair.kind.free:
        return ()
    X_WP = poses.of(mech.body_index[pair.body_a]) @ pair.X_AP
    X_WS = poses.of(mech.body_index[pair.body_b]) @ pair.X_BS
    sign = -1.0 if joint.reversed else 1.0
    values = q[joint.q]
    found = []
    for component, value, freedom in _steps(pair, values):
        carried = component and pair.kind.row_kind(component) is RowKind.CARRIED
        axis = (X_WS.R if carried else X_WP.R)[:, axis_of(component or "rz")]
        kind: Kind = "ball" if not component else "hinge" if is_turn(component) else "slide"
        single = component == pair.kind.free[0] and len(pair.kind.free) == 1
        name = pair.name if single or component == "" else freedom_name(pair.name, component)
        found.append(Motion(name, pair.name, component, kind, sign * axis, X_WS.p, value, freedom))
    return tuple(found[::-1] if joint.reversed else found)


def _steps(pair: Pair, values: Array) -> list[tuple[str, float, Freedom]]:
    """Return component, value and freedom of every simple joint from P to S at coordinates ``values`` (c,).

    The three rotations of a ball are one joint.
    """
    free, freedoms = pair.kind.free, pair.freedoms
    if has_quaternion(pair.type):
        travels = [
            (c, float(v), f) for c, v, f in zip(free, values, freedoms, strict=False) if not is_turn(c)
        ]
        return [*travels, ("", 0.0, freedoms[-1])]
    steps = [(c, float(v), f) for c, v, f in zip(free, values, freedoms, strict=True)]
    if pair.type == "screw":
        return [("tz", pair.lead / (2 * np.pi) * steps[0][1], Freedom()), *steps]
    return steps
