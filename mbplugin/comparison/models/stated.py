"""What files state of joints besides their geometry: drives, friction, rotors, springs; compared where both can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from math import degrees, inf, isclose, isfinite

import numpy as np

from mbplugin.comparison.models.alignment import (
    DIFFERENCE_NAMES,
    Difference,
    Normalised,
    NotCompared,
    StatedKind,
)
from mbplugin.comparison.models.matching import Matching, Merged, Rewritten, Tolerances, about, angle_between
from mbplugin.errors import MbPluginError
from mbplugin.formats import DRIVES, FORMATS, RATES
from mbplugin.model import WORLD, ActuatorLaw, Body, Freedom, Mechanism, Pair, Scene, pair_and_freedom
from mbplugin.model.spatial import Array, JointSpring, Pose, is_turn, units_of, vector_from_rotation
from mbplugin.phrases import counted, listed
from mbplugin.readers import ModelSource, client_id, format_name

#: Everything that a freedom has besides its limits.
_OF_FREEDOM: tuple[StatedKind, ...] = (*DRIVES, *RATES, "load_friction", "guide_length")
_EVERY = frozenset((*_OF_FREEDOM, "armature", "spring", "actuator"))
#: Quantities for which each format has a place, as far as it is read.
STATES: Mapping[str, frozenset[str]] = {
    **{one.name: frozenset(one.states) for one in FORMATS},
    "pybullet": frozenset(DRIVES),
    "mechanism": frozenset(_OF_FREEDOM),
    "python": _EVERY,
}
#: Formats that write 0 and "no limit" in the same way.
_NO_ZERO = {"mjcf": ("effort",), "pybullet": ("effort", "velocity")}
#: What a format is called.
_NAMES = {
    **{one.name: one.title for one in FORMATS},
    "pybullet": "a PyBullet client",
    "mechanism": "a mechanism",
    "python": "a scene made in Python",
}
#: Fields of scenes and mechanisms that are not compared, and what one entry is called.
_NOT_COMPARED = {
    "contacts": "contact",
    "loads": "load",
    "payloads": "payload",
    "brakes": "brake",
    "ramps": "ramp",
    "stiffness": "stiffness",
    "locks": "timed lock",
    "holds": "timed constraint",
    "misfits": "misfit",
}
_OF_MECHANISM = {"drivers": "driver", "locks": "lock", "pfaffians": "velocity constraint"}
#: Findings of readers about what they leave out of a mechanism.
_UNREAD = ("MB113",)
Found = Difference | Normalised
#: Factors between two values, and what they stand for.
_FACTORS = (
    (2.0, "doubled"),
    (0.5, "halved"),
    (10.0, "10x"),
    (0.1, "0.1x"),
    (1000.0, "units: 1000x"),
    (0.001, "units: 0.001x"),
    (100.0, "units: 100x (centimetres)"),
    (0.01, "units: 0.01x (centimetres)"),
    (0.0254, "units: inches"),
    (1 / 0.0254, "units: inches"),
    (1e6, "units: millimetres squared (1e6x)"),
    (1e-6, "units: millimetres squared (1e-6x)"),
    (1e4, "units: centimetres squared (1e4x)"),
    (1e-4, "units: centimetres squared (1e-4x)"),
    (1e9, "units: grams and millimetres (1e9x)"),
    (1e-9, "units: grams and millimetres (1e-9x)"),
    (0.45359237, "units: pounds"),
    (1 / 0.45359237, "units: pounds"),
)
_CLOSE = 2e-3


@dataclass(frozen=True, eq=False)
class Side:
    """One of two models with the format that it is stated in.

    Parameters
    ----------
    scene : Scene
    format : str
        A key of ``STATES``.
    """

    scene: Scene
    format: str

    @property
    def name(self) -> str:
        """The format in words."""
        return _NAMES[self.format]

    def states(self, kind: StatedKind, pair: Pair) -> bool:
        """Return True if the format can state a quantity of a pair."""
        freedoms = pair.freedoms
        if kind == "limit":
            if any(isfinite(f.lower) or isfinite(f.upper) for f in freedoms):
                return True
            return self._has_freedoms(pair) and (len(freedoms) == 1 or pair.type == "universal")
        if kind in _OF_FREEDOM:
            if any(getattr(f, kind) != getattr(Freedom(), kind) for f in freedoms):
                return True
            if kind in RATES and self.format == "scene" and not self.scene.documents:
                return False
            known = STATES[self.format] | (frozenset(RATES) if self.scene.documents else frozenset())
            return kind in known and self._has_freedoms(pair)
        return kind in STATES[self.format]

    def _has_freedoms(self, pair: Pair) -> bool:
        """Return True if the format states anything about the freedoms of a pair of this type."""
        if self.format in ("mechanism", "python", "usd"):
            return True
        if self.format == "sdf":
            return pair.type != "spherical"
        if pair.closure:
            return False
        return len(pair.freedoms) == 1 or self.format in ("urdf", "xacro", "mjcf")

    def has_no_zero(self, kind: str) -> bool:
        """Return True if the format writes 0 and no limit alike."""
        return kind in _NO_ZERO.get(self.format, ())


def side_of(source: ModelSource, scene: Scene) -> Side:
    """Return a model with the format that it was stated in."""
    if client_id(source) is not None:
        return Side(scene, "pybullet")
    if isinstance(source, Mechanism):
        return Side(scene, "mechanism")
    if scene.request is None:
        return Side(scene, "python")
    try:
        return Side(scene, format_name(scene.request))
    except MbPluginError:
        # the file is gone, and what was read of it is compared
        return Side(scene, "python")


def compare_stated(
    a: Mechanism, b: Rewritten, sides: tuple[Side, Side], limits: Tolerances
) -> Iterator[Found | NotCompared]:
    """Yield differences of drives, friction, rotors and springs, and quantities that one side cannot state."""
    unstated: dict[tuple[StatedKind, int], list[str]] = {}
    for pair in a.pairs:
        twin = b.mechanism.pair_by_name.get(pair.name)
        if twin is None or pair.name not in b.signs or pair.kind.free != twin.kind.free:
            continue
        for kind in ("limit", *_OF_FREEDOM):
            could = [side.states(kind, p) for side, p in zip(sides, (pair, twin), strict=True)]
            if all(could):
                # limits are compared with axes and zero positions
                if kind != "limit":
                    yield from _freedoms(kind, pair, twin, b.pairs[pair.name], sides, limits)
            elif any(could) and _is_stated(kind, (pair, twin)[could.index(True)]):
                unstated.setdefault((kind, could.index(False)), []).append(pair.name)
    # rotor inertia, kg·m², and gear ratio of the drives
    rotors: list[dict[str, tuple[float, ...]]] = [
        {x.joint: (x.armature, x.gear_ratio) for x in side.scene.actuators if x.armature} for side in sides
    ]
    springs = [_springs(side.scene) for side in sides]
    laws = [_laws(*order) for order in (sides, sides[::-1])]
    for name in a.pair_by_name:
        if name in b.signs:
            yield from _extras("armature", name, b.pairs[name], rotors, sides, b, unstated, limits)
            yield from _extras("spring", name, b.pairs[name], springs, sides, b, unstated, limits)
            yield from _actuators(name, b.pairs[name], laws, sides, unstated)
    yield from _other_actuators(sides)
    for (kind, side), joints in unstated.items():
        yield _unstated(kind, side, joints, sides)
    yield from _whole(sides)
    yield from _unread(sides)


def _is_stated(kind: StatedKind, pair: Pair) -> bool:
    keys = ("lower", "upper") if kind == "limit" else (kind,)
    return any(getattr(f, key) != getattr(Freedom(), key) for f in pair.freedoms for key in keys)


def _freedoms(
    kind: StatedKind, a: Pair, b: Pair, name: str, sides: tuple[Side, Side], limits: Tolerances
) -> Iterator[Found | NotCompared]:
    """Yield a difference of one quantity of a joint that both files can state."""
    values = [[float(getattr(f, kind)) for f in pair.freedoms] for pair in (a, b)]
    apart = [(x, y) for x, y in zip(*values, strict=True) if not _same(x, y, limits)]
    if not apart:
        return
    for k, side in enumerate(sides):
        if side.has_no_zero(kind) and all(pair[k] == inf and pair[1 - k] == 0.0 for pair in apart):
            text = (
                f"{DIFFERENCE_NAMES[kind]} of 0 of {a.name!r}: {side.name} ({'AB'[k]}) writes it as no limit"
            )
            yield NotCompared(kind, "AB"[k], (a.name,), text)  # type: ignore[arg-type]
            return
    ours, theirs = (_values(kind, pair, own) for pair, own in zip((a, b), values, strict=True))
    yield Difference(kind, a.name, name, ours, theirs, _cause(kind, *apart[0]))


def _same(x: float, y: float, limits: Tolerances) -> bool:
    return x == y or abs(x - y) <= limits.relative * max(abs(x), abs(y)) < inf


def _values(kind: StatedKind, pair: Pair, values: list[float]) -> str:
    """Return the values that a file states for the freedoms of a joint: one number where all are equal."""
    found = [_number(kind, c, x) for c, x in zip(pair.kind.free, values, strict=True)]
    if len(set(found)) == 1:
        return found[0]
    return ", ".join(f"{c} {text}" for c, text in zip(pair.kind.free, found, strict=True))


def _number(kind: StatedKind, component: str, value: float) -> str:
    unit = units_of(component)
    units = {
        "effort": unit.force,
        "velocity": unit.rate,
        "damping": f"{unit.force}·s/{unit.coordinate}",
        "friction": unit.force,
        "acceleration": unit.acceleration,
        "deceleration": unit.acceleration,
        "jerk": f"{unit.coordinate}/s³",
        "load_friction": "m" if is_turn(component) else "",
        "guide_length": "m",
    }
    return f"{value:.6g} {units[kind]}".rstrip() if isfinite(value) else "no limit"


def _cause(kind: StatedKind, x: float, y: float) -> str:
    word = DIFFERENCE_NAMES[kind]
    if y == getattr(Freedom(), kind):
        return f"{word} lost"
    if x == getattr(Freedom(), kind):
        return f"{word} only in the second"
    for one, other in ((x, y), (y, x)):
        if kind in ("velocity", *RATES) and isclose(other, degrees(one), rel_tol=2e-3):
            return f"{word} in degrees"
    said = factor_cause(x, y)
    return f"{word} {said}" if said in ("doubled", "halved") else said


def _springs(scene: Scene) -> dict[str, tuple[float, ...]]:
    """Return stiffness and rest position (rad, m) of the springs, by joint; of several freedoms the first."""
    pairs = scene.mechanism.pair_by_name
    found: dict[str, tuple[float, ...]] = {}
    for spring in scene.springs:
        if isinstance(spring, JointSpring):
            found.setdefault(pair_and_freedom(spring.joint, pairs)[0], (spring.stiffness, spring.rest))
    return found


def _laws(side: Side, other: Side) -> dict[str, tuple[str, ...]]:
    """Return the laws of the actuators of joints, in an order that no name decides.

    Plain motors are among them where the other model can state them too: elsewhere a drive is all that is known.
    """
    both = all("actuator" in STATES[one.format] for one in (side, other))
    found: dict[str, list[str]] = {}
    for law in side.scene.actuator_laws:
        if law.joint and (both or law.attributes or law.obstacle):
            found.setdefault(law.joint, []).append(_law(law))
    return {joint: tuple(sorted(laws)) for joint, laws in found.items()}


def _law(law: ActuatorLaw) -> str:
    said = [f"{key}={value.replace(' ', ',')}" for key, value in law.attributes]
    return " ".join([*said, f"({law.obstacle})"] if law.obstacle else said) or "a plain motor"


def _other_actuators(sides: tuple[Side, Side]) -> Iterator[Difference]:
    """Yield a difference of the actuators of tendons, sites, bodies and free roots, which only their names match."""
    if not all("actuator" in STATES[side.format] for side in sides):
        return
    ours, theirs = ({law.name: _law(law) for law in s.scene.actuator_laws if not law.joint} for s in sides)
    for name in dict.fromkeys((*ours, *theirs)):
        a, b = ours.get(name, ""), theirs.get(name, "")
        if a != b:
            cause = "actuator lost" if not b else "actuator only in the second" if not a else ""
            here, there = (name if own else "" for own in (a, b))
            yield Difference("actuator", here, there, a or "none", b or "none", cause)


def _actuators(
    name: str,
    there: str,
    values: list[dict[str, tuple[str, ...]]],
    sides: tuple[Side, Side],
    unstated: dict[tuple[StatedKind, int], list[str]],
) -> Iterator[Difference]:
    """Yield a difference of gears, gains, dynamics and ranges of the actuators of a joint."""
    ours, theirs = values[0].get(name, ()), values[1].get(there, ())
    if ours == theirs:
        return
    for k, own in enumerate((theirs, ours)):
        if own and "actuator" not in STATES[sides[k].format]:
            unstated.setdefault(("actuator", k), []).append(name)
            return
    cause = "actuator lost" if not theirs else "actuator only in the second" if not ours else ""
    text_a, text_b = ("; ".join(own) or "none" for own in (ours, theirs))
    yield Difference("actuator", name, there, text_a, text_b, cause)


def _extras(
    kind: StatedKind,
    name: str,
    there: str,
    values: list[dict[str, tuple[float, ...]]],
    sides: tuple[Side, Side],
    b: Rewritten,
    unstated: dict[tuple[StatedKind, int], list[str]],
    limits: Tolerances,
) -> Iterator[Difference]:
    """Yield a difference of the rotor or the spring of a joint, or note the side that cannot state it."""
    ours, theirs = values[0].get(name), values[1].get(there)
    if ours is None and theirs is None:
        return
    for k, own in enumerate((theirs, ours)):
        if own is not None and kind not in STATES[sides[k].format] and not values[k]:
            unstated.setdefault((kind, k), []).append(name)
            return
    pair = b.mechanism.pair_by_name[name]
    component = pair.kind.free[0] if pair.kind.free else "rz"
    if kind == "armature":
        x, y = (own[0] * own[1] ** 2 if own else 0.0 for own in (ours, theirs))
        if _same(x, y, limits):
            return
    elif ours is not None and theirs is not None:
        x, y = ours[0], theirs[0]
        rest = b.signs[name] * theirs[1] + b.offsets[name]
        bound = limits.angle if is_turn(component) else limits.length
        if _same(x, y, limits) and abs(rest - ours[1]) <= bound:
            return
    else:
        x, y = (own[0] if own else 0.0 for own in (ours, theirs))
    word = DIFFERENCE_NAMES[kind]
    cause = f"{word} lost" if theirs is None else f"{word} only in the second" if ours is None else ""
    text_a, text_b = (_extra(kind, component, own) for own in (ours, theirs))
    yield Difference(kind, name, there, text_a, text_b, cause or factor_cause(x, y))


def _extra(kind: StatedKind, component: str, own: tuple[float, ...] | None) -> str:
    """Return the two numbers of a rotor or of a spring as text."""
    turns = is_turn(component)
    if own is None:
        return "none"
    if kind == "armature":
        ratio = f", gear ratio {own[1]:.6g}" if own[1] != 1.0 else ""
        return f"{own[0]:.6g} {'kg·m²' if turns else 'kg'}{ratio}"
    unit = units_of(component)
    return f"{own[0]:.6g} {unit.force}/{unit.coordinate}, at rest at {own[1]:.6g} {unit.coordinate}"


def _unstated(kind: StatedKind, side: int, joints: list[str], sides: tuple[Side, Side]) -> NotCompared:
    one, other = "AB"[side], "AB"[1 - side]
    word = "limits" if kind == "limit" else DIFFERENCE_NAMES[kind]
    text = (
        f"{word}: {sides[side].name} ({one}) has no place for it there; {other} states it of {listed(joints)}"
    )
    return NotCompared(kind, one, tuple(joints), text)  # type: ignore[arg-type]


def _whole(sides: tuple[Side, Side]) -> Iterator[NotCompared]:
    """Yield the contents of scenes besides the robot, which are not compared."""
    scenes = [side.scene for side in sides]
    entries = [
        (field, noun, [len(getattr(s, field)) for s in scenes]) for field, noun in _NOT_COMPARED.items()
    ]
    entries += [
        (field, noun, [len(getattr(s.mechanism, field)) for s in scenes])
        for field, noun in _OF_MECHANISM.items()
    ]
    between = [sum(not isinstance(x, JointSpring) for x in s.springs) for s in scenes]
    plural = {"stiffness": "stiffnesses", "spring between points": "springs between points"}
    for _, noun, numbers in (*entries, ("springs", "spring between points", between)):
        if any(numbers):
            own = ", ".join(
                f"{counted(number, noun, plural.get(noun, ''))} in {side}"
                for side, number in zip("AB", numbers, strict=True)
                if number
            )
            yield NotCompared("scene", "", (), f"{own}: what a scene adds to the robot is not compared")


def _left_out(scene: Scene) -> Iterator[tuple[str, str, str]]:
    """Yield the elements that a reader leaves out: owner or kind, description, and values."""
    for defect in scene.defects:
        if defect.code in _UNREAD:
            name = defect.element or defect.message.partition(" (")[0]
            yield name, defect.message, str(defect.evidence.get("values", ""))


def _unread(sides: tuple[Side, Side]) -> Iterator[NotCompared]:
    """Yield the elements that readers leave out of either file, and differences between them."""
    parts = [set(_left_out(side.scene)) for side in sides]
    if not any(parts):
        return
    own = " and ".join(
        f"{counted(len(found), 'part')} of {side}" for found, side in zip(parts, "AB", strict=True) if found
    )
    apart = sorted({element for element, *_ in parts[0] ^ parts[1]})
    where = f"they differ in {listed(apart)}" if apart else "they are the same in both"
    yield NotCompared(
        "unread", "", tuple(apart), f"{own}, which mbplugin does not read (lint names them): {where}"
    )


# Masses, centres of mass, inertias and frames of matched bodies.


def compare_bodies(
    a: Merged, b: Merged, found: Matching, T: dict[str, Pose], limits: Tolerances
) -> Iterator[Found]:
    """Yield the differences between the bodies of two models."""
    for name, there in found.bodies.items():
        ours, theirs = a.frames[name], b.frames[there]
        yield from _frames(a, b, name, there, T[name], limits)
        if name == WORLD:
            yield from _on_the_ground(a, b, T[name], limits)
            continue
        heavy_a = {link for link in ours if not a.links[link].massless}
        heavy_b = {link for link in theirs if not b.links[link].massless}
        if heavy_a == heavy_b and heavy_a:
            for link in sorted(heavy_a, key=list(ours).index):
                D = ours[link].inverse() @ T[name] @ theirs[link]
                yield from _properties(link, link, a.links[link], _moved(b.links[link], D), limits)
            continue
        total_a = a.mechanism.bodies[a.mechanism.body_index[name]]
        total_b = _moved(b.mechanism.bodies[b.mechanism.body_index[there]], T[name])
        for difference in _properties(name, there, total_a, total_b, limits):
            several = difference.kind == "mass" and max(len(heavy_a), len(heavy_b)) > 1
            sums = [
                f"{v}, computed: the sum of fixed links" for v in (difference.value_a, difference.value_b)
            ]
            yield replace(difference, value_a=sums[0], value_b=sums[1]) if several else difference
        if len(heavy_a) != len(heavy_b):
            links = sorted(heavy_a ^ heavy_b)
            yield Normalised("fixed links", name, f"merged: {', '.join(links)}")
    yield from _lost(a, b, found)


def _moved(body: Body, X: Pose) -> Body:
    """Return the mass properties of a body in another frame."""
    return Body(body.name, body.mass, X.apply(body.p_LC), X.R @ body.I_C @ X.R.T)


def _properties(name: str, there: str, a: Body, b: Body, limits: Tolerances) -> Iterator[Difference]:
    """Yield the differences of mass, centre of mass and inertia, the last two in the first model's frame."""
    frame = f", computed in the frame of {name!r} of the first model"
    heaviest = max(a.mass, b.mass)
    if abs(a.mass - b.mass) > limits.relative * heaviest:
        yield Difference(
            "mass", name, there, f"{a.mass:.6g} kg", f"{b.mass:.6g} kg", mass_cause(a.mass, b.mass)
        )
    if a.mass and b.mass and np.linalg.norm(a.p_LC - b.p_LC) > limits.center:
        cause = center_cause(a.p_LC, b.p_LC)
        yield Difference("center", name, there, _point(a.p_LC) + frame, _point(b.p_LC) + frame, cause)
    largest = max(float(np.abs(a.I_C).max()), float(np.abs(b.I_C).max()))
    if np.abs(a.I_C - b.I_C).max() > 10 * limits.relative * largest:
        ours, theirs = (_matrix(body.I_C) + frame for body in (a, b))
        yield Difference("inertia", name, there, ours, theirs, inertia_cause(a, b))


def _matrix(inertia: Array) -> str:
    """Return an ``inertia`` (3, 3) as text."""
    xx, yy, zz = np.diag(inertia)
    xy, xz, yz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    return f"({xx:.5g}, {yy:.5g}, {zz:.5g}; {xy:.3g}, {xz:.3g}, {yz:.3g}) kg·m²"


def _frames(a: Merged, b: Merged, name: str, there: str, T: Pose, limits: Tolerances) -> Iterator[Found]:
    """Yield frames that moved: a difference where the frame is all that a link has."""
    ours, theirs = a.frames[name], b.frames[there]
    for link, X in ours.items():
        if link == WORLD:
            distance, angle = float(np.linalg.norm(T.p)), angle_between(np.eye(3), T.R)
            if distance > limits.length or angle > limits.angle:
                apart = f"{distance:.4g} m and {np.degrees(angle):.4g}° (computed)"
                yield Normalised("ground", link, f"the whole robot stands {apart} from where the first does")
            continue
        if link not in theirs:
            if a.links[link].massless and name != link:
                yield Normalised("frame", link, f"the massless frame {link!r} is only in the first model")
            continue
        Y = T @ theirs[link]
        distance, angle = float(np.linalg.norm(X.p - Y.p)), angle_between(X.R, Y.R)
        if distance <= limits.length and angle <= limits.angle:
            continue
        frame_only = a.links[link].massless and b.links[link].massless and link not in (name, there)
        if frame_only:
            yield Difference("frame", link, link, _pose(X), _pose(Y), place_cause(X.p, Y.p))
        else:
            by = f"{distance:.4g} m and {np.degrees(angle):.4g}° (computed)"
            yield Normalised("link frame", link, f"the link frame is moved by {by}, its contents are not")
    for link in theirs:
        if link not in ours and link != WORLD and b.links[link].massless and there != link:
            yield Normalised("frame", link, f"the massless frame {link!r} is only in the second model")


def _on_the_ground(a: Merged, b: Merged, T: Pose, limits: Tolerances) -> Iterator[Found]:
    """Yield the differences between links fixed to the ground: they do not move, and load only their fixture."""
    for link, X in a.frames[WORLD].items():
        if link == WORLD or link not in b.frames[WORLD] or a.links[link].massless or b.links[link].massless:
            continue
        D = X.inverse() @ T @ b.frames[WORLD][link]
        for found in _properties(link, link, a.links[link], _moved(b.links[link], D), limits):
            said = "fixed to the ground: no motion differs, only the reaction of what fixes it"
            yield replace(found, cause=f"{found.cause}, {said}" if found.cause else said)
    for one, other, said in ((a, b, "first"), (b, a, "second")):
        only = [link for link in one.frames[WORLD] if link != WORLD and link not in other.frames[WORLD]]
        if only:
            names = ", ".join(only)
            yield Normalised("ground", names, f"links of the ground that only the {said} model has: {names}")


def _lost(a: Merged, b: Merged, found: Matching) -> Iterator[Found]:
    """Yield the bodies without a twin; massless ones are frames."""
    for body in a.mechanism.bodies:
        if body.name not in found.bodies:
            yield _single(body, body.name, "", "body lost")
    for body in b.mechanism.bodies:
        if body.name not in found.bodies.values():
            yield _single(body, "", body.name, "body only in the second")


def _single(body: Body, a: str, b: str, cause: str) -> Found:
    if body.massless:
        return Normalised("frame", body.name, f"the massless body {body.name!r} is only in one model")
    value = f"{body.mass:.6g} kg"
    return Difference("body", a, b, value if a else "", value if b else "", cause)


def _point(p: Array) -> str:
    """Return a point p (3,) as text."""
    return f"({', '.join(f'{x:.6g}' for x in np.where(np.abs(p) < 1e-12, 0.0, p))}) m"


def _pose(X: Pose) -> str:

    turn = np.degrees(vector_from_rotation(X.R))
    return f"{_point(X.p)}, turned by ({', '.join(f'{x:.4g}' for x in turn + 0.0)})°, computed"


# What probably happened: the mistakes of converters that numbers show.


def factor_cause(a: float, b: float) -> str:
    """Return the usual meaning of the factor between two values; empty for an unusual one."""
    if a == 0.0 or b == 0.0 or not (isfinite(a) and isfinite(b)):
        return ""
    ratio = b / a
    for factor, said in _FACTORS:
        if isclose(abs(ratio), factor, rel_tol=_CLOSE):
            return said + (", sign changed" if ratio < 0 else "")
    return "sign changed" if isclose(ratio, -1.0, rel_tol=_CLOSE) else ""


def mass_cause(a: float, b: float) -> str:
    """Return the probable cause of two masses, kg."""
    if b == 0.0 or a == 0.0:
        return "mass lost" if b == 0.0 else "mass only in the second"
    said = factor_cause(a, b)
    return f"mass {said}" if said in ("doubled", "halved") else said


def limit_cause(a: float, b: float) -> str:
    """Return the probable cause of two limits, rad or m."""
    if isfinite(a) and not isfinite(b):
        return "limit lost"
    if isfinite(b) and not isfinite(a):
        return "limit only in the second"
    if isclose(b, degrees(a), rel_tol=_CLOSE) or isclose(a, degrees(b), rel_tol=_CLOSE):
        return "limit in degrees"
    said = factor_cause(a, b)
    return said if said != "sign changed" else "limit with the opposite sign"


def center_cause(a: Array, b: Array) -> str:
    """Return the probable cause of two centres of mass, a (3,) and b (3,) in one frame, m."""
    size_a, size_b = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if size_b < 1e-9 * max(size_a, 1e-9) or size_b == 0.0:
        return "centre of mass lost: it is at the link frame"
    if size_a > 0 and np.allclose(a / size_a, b / size_b, atol=_CLOSE):
        return factor_cause(size_a, size_b)
    if np.allclose(np.abs(a), np.abs(b), atol=_CLOSE * size_a):
        return "centre of mass mirrored"
    if isclose(size_a, size_b, rel_tol=_CLOSE):
        return "centre of mass in another frame"
    return ""


def inertia_cause(a: Body, b: Body) -> str:
    """Return the probable cause of two inertias about the centres of mass, in one frame."""
    return next(_inertia_causes(a, b), "")


def _inertia_causes(a: Body, b: Body) -> Iterator[str]:
    ours, theirs = a.I_C, b.I_C
    size = max(float(np.abs(ours).max()), 1e-30)
    if not theirs.any():
        yield "inertia lost"
    if np.allclose(theirs, np.eye(3) * theirs[0, 0], rtol=_CLOSE) and theirs[0, 0] in (1.0, 0.001, 0.01, 0.1):
        yield f"placeholder inertia of {theirs[0, 0]:g}"
    ratios = theirs[np.abs(ours) > _CLOSE * size] / ours[np.abs(ours) > _CLOSE * size]
    if (
        len(ratios)
        and np.allclose(ratios, ratios[0], rtol=_CLOSE)
        and (said := factor_cause(1.0, float(ratios[0])))
    ):
        yield f"inertia {said}" if said in ("doubled", "halved") else said
    if np.allclose(np.diag(ours), np.diag(theirs), atol=_CLOSE * size):
        if np.allclose(theirs, np.diag(np.diag(theirs)), atol=_CLOSE * size):
            yield "products of inertia lost"
        if np.allclose(np.abs(ours), np.abs(theirs), atol=_CLOSE * size):
            yield "products of inertia with the opposite sign"
    shift = about(a.mass, a.p_LC)
    if a.p_LC.any() and np.allclose(theirs, ours + shift, atol=_CLOSE * size):
        yield "inertia about the link frame in place of the centre of mass"
    if a.p_LC.any() and np.allclose(theirs + shift, ours, atol=_CLOSE * size):
        yield "inertia about the centre of mass in place of the link frame"
    moments = np.linalg.eigvalsh(ours), np.linalg.eigvalsh(theirs)
    if np.allclose(*moments, atol=_CLOSE * size):
        for order in permutations(range(3)):
            if np.allclose(ours[np.ix_(order, order)], theirs, atol=_CLOSE * size):
                yield "inertia in another frame: axes exchanged"
        yield "inertia in another frame"


def axis_cause(z: Array, w: Array) -> str:
    """Return the probable cause of two unit axes z (3,) and w (3,) in one frame that are not parallel."""
    for order in permutations(range(3)):
        if order != (0, 1, 2) and np.allclose(np.abs(z[list(order)]), np.abs(w), atol=_CLOSE):
            return "axis in another frame: components exchanged"
    if np.allclose(w, [0, 0, 1], atol=_CLOSE) or np.allclose(w, [1, 0, 0], atol=_CLOSE):
        return "axis left at a default"
    return "axis in another frame"


def place_cause(a: Array, b: Array) -> str:
    """Return the probable cause of two positions a (3,) and b (3,) in one frame, m."""
    size_a, size_b = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if size_a and size_b < 1e-9 * size_a:
        return "position lost"
    if size_a and size_b and np.allclose(a / size_a, b / size_b, atol=_CLOSE):
        return factor_cause(size_a, size_b)
    if np.allclose(np.abs(a), np.abs(b), atol=_CLOSE * max(size_a, 1e-9)):
        return "position mirrored"
    return "position in another frame" if isclose(size_a, size_b, rel_tol=_CLOSE) else ""
