"""What files state of joints besides their geometry: drives, friction, rotors, springs; compared where both can."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import degrees, inf, isclose, isfinite

from mbplugin.comparison.models.bodies import Found
from mbplugin.comparison.models.causes import factor_cause
from mbplugin.comparison.models.rewriting import Rewritten
from mbplugin.comparison.models.sides import Tolerances
from mbplugin.comparison.models.values import Difference, NotCompared, StatedKind
from mbplugin.errors import MbPluginError
from mbplugin.model.component import is_turn, units_of
from mbplugin.model.mechanism import Freedom, Mechanism, Pair
from mbplugin.model.mechanism.identity import pair_and_freedom
from mbplugin.model.scene import Scene
from mbplugin.model.spring import JointSpring
from mbplugin.phrases import counted, listed
from mbplugin.readers import format_name
from mbplugin.readers.source import ModelSource, client_id

_DRIVES: tuple[StatedKind, ...] = ("effort", "velocity", "damping", "friction")
_RATES: tuple[StatedKind, ...] = ("acceleration", "deceleration", "jerk")
#: Everything that a freedom has besides its limits.
_OF_FREEDOM: tuple[StatedKind, ...] = (*_DRIVES, *_RATES, "load_friction")
_EVERY = frozenset((*_OF_FREEDOM, "armature", "spring"))
#: What each format has a place for, as far as it is read.
STATES: Mapping[str, frozenset[str]] = {
    "urdf": frozenset((*_DRIVES, *_RATES)),
    "xacro": frozenset((*_DRIVES, *_RATES)),
    # rotors are Drake's extension of SDF: a file that has one of them can state all
    "sdf": frozenset((*_DRIVES, "spring")),
    "mjcf": frozenset(("effort", "damping", "friction", "armature", "spring")),
    "usd": frozenset((*_DRIVES, "armature")),
    "scene": frozenset((*_DRIVES, "load_friction", "armature", "spring")),
    "pybullet": frozenset(_DRIVES),
    "mechanism": frozenset(_OF_FREEDOM),
    "python": _EVERY,
}
#: Formats that write 0 and "no limit" in the same way.
_NO_ZERO = {"mjcf": ("effort",), "pybullet": ("effort", "velocity")}
#: What a format is called.
_NAMES = {
    **{name: name.upper() for name in ("urdf", "sdf", "mjcf", "usd")},
    "xacro": "URDF",
    "scene": "a scene",
    "pybullet": "a PyBullet client",
    "mechanism": "a mechanism",
    "python": "a scene made in Python",
}
#: What each quantity is called.
WORDS: Mapping[StatedKind, str] = {
    "limit": "limits",
    "effort": "effort limit",
    "velocity": "velocity limit",
    "damping": "damping",
    "friction": "dry friction",
    "acceleration": "acceleration limit",
    "deceleration": "deceleration limit",
    "jerk": "jerk limit",
    "load_friction": "friction per load",
    "armature": "rotor inertia",
    "spring": "spring",
}
#: Fields of scenes and mechanisms that are not compared, and what one entry is called.
_NOT_COMPARED = {
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
        """Return whether the format has a place for a quantity of a pair."""
        freedoms = pair.freedoms
        if kind == "limit":
            if any(isfinite(f.lower) or isfinite(f.upper) for f in freedoms):
                return True
            return self._has_freedoms(pair) and (len(freedoms) == 1 or pair.type == "universal")
        if kind in _OF_FREEDOM:
            if any(getattr(f, kind) != getattr(Freedom(), kind) for f in freedoms):
                return True
            if kind in _RATES and self.format == "scene" and not self.scene.documents:
                return False
            known = STATES[self.format] | (frozenset(_RATES) if self.scene.documents else frozenset())
            return kind in known and self._has_freedoms(pair)
        return kind in STATES[self.format]

    def _has_freedoms(self, pair: Pair) -> bool:
        """Return whether the format states anything of the freedoms of a pair of this type."""
        if self.format in ("mechanism", "python", "usd"):
            return True
        if self.format == "sdf":
            return pair.type != "spherical"
        if pair.closure:
            return False
        return len(pair.freedoms) == 1 or self.format in ("urdf", "xacro", "mjcf")

    def has_no_zero(self, kind: str) -> bool:
        """Return whether the format writes 0 and no limit alike."""
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
    """Yield what differs of drives, friction, rotors and springs, and what one side has no place for."""
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
    rotors = [_rotors(side.scene) for side in sides]
    springs = [_springs(side.scene) for side in sides]
    for name in a.pair_by_name:
        if name in b.signs:
            yield from _extras("armature", name, b.pairs[name], rotors, sides, b, unstated, limits)
            yield from _extras("spring", name, b.pairs[name], springs, sides, b, unstated, limits)
    for (kind, side), joints in unstated.items():
        yield _unstated(kind, side, joints, sides)
    yield from _whole(sides)


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
            text = f"{WORDS[kind]} of 0 of {a.name!r}: {side.name} ({'AB'[k]}) writes it as no limit"
            yield NotCompared(kind, "AB"[k], (a.name,), text)  # type: ignore[arg-type]
            return
    ours, theirs = (_values(kind, pair, own) for pair, own in zip((a, b), values, strict=True))
    yield Difference(kind, a.name, name, ours, theirs, _cause(kind, *apart[0]))


def _same(x: float, y: float, limits: Tolerances) -> bool:
    return x == y or abs(x - y) <= limits.relative * max(abs(x), abs(y)) < inf


def _values(kind: StatedKind, pair: Pair, values: list[float]) -> str:
    """Return what a file states of the freedoms of a joint: one number where all have the same."""
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
    }
    return f"{value:.6g} {units[kind]}".rstrip() if isfinite(value) else "no limit"


def _cause(kind: StatedKind, x: float, y: float) -> str:
    word = WORDS[kind]
    if y == getattr(Freedom(), kind):
        return f"{word} lost"
    if x == getattr(Freedom(), kind):
        return f"{word} only in the second"
    for one, other in ((x, y), (y, x)):
        if kind in ("velocity", *_RATES) and isclose(other, degrees(one), rel_tol=2e-3):
            return f"{word} in degrees"
    said = factor_cause(x, y)
    return f"{word} {said}" if said in ("doubled", "halved") else said


def _rotors(scene: Scene) -> dict[str, tuple[float, ...]]:
    """Return rotor inertia (kg·m²) and gear ratio of the drives, by joint."""
    return {x.joint: (x.armature, x.gear_ratio) for x in scene.actuators if x.armature}


def _springs(scene: Scene) -> dict[str, tuple[float, ...]]:
    """Return stiffness and rest position (rad, m) of the springs, by joint; of several freedoms the first."""
    pairs = scene.mechanism.pair_by_name
    found: dict[str, tuple[float, ...]] = {}
    for spring in scene.springs:
        if isinstance(spring, JointSpring):
            found.setdefault(pair_and_freedom(spring.joint, pairs)[0], (spring.stiffness, spring.rest))
    return found


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
    """Yield a difference of the rotor or the spring of a joint, or note which side has no place for it."""
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
    word = WORDS[kind]
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
    text = f"{WORDS[kind]}: {sides[side].name} ({one}) has no place for it there; {other} states it of {listed(joints)}"
    return NotCompared(kind, one, tuple(joints), text)  # type: ignore[arg-type]


def _whole(sides: tuple[Side, Side]) -> Iterator[NotCompared]:
    """Yield what scenes state besides the robot, which is not compared."""
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
