"""Scene files around models: bodies and pairs of their own, closures, couplings, springs, brakes, locks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from mbplugin.choices import PairTypeName

from .dice import Dice
from .sketch import Sketch, relative
from .tables import Literal, Table, spoil_tables, toml

PAIRS: tuple[str, ...] = get_args(PairTypeName)
_STRANGE = (0.0, -1.0, 1e-300, 1e-9, 1e6, 1e12, 1e29, 1e31, float("nan"), float("inf"))


class _Names:
    """What a scene may refer to."""

    def __init__(self, mechanism: Sketch, dice: Dice) -> None:
        self.mechanism, self.dice = mechanism, dice
        self.own: list[str] = []

    def body(self) -> str:
        return self.dice.name([*self.mechanism.bodies, "world", *self.own])

    def joint(self) -> str:
        return self.dice.name(self.mechanism.names)

    def number(self, usual: float) -> Any:
        if not self.dice.odd():
            return usual
        return self.dice.any((*_STRANGE, Literal("1"), Literal("'1'"), Literal("[1]")))

    def vector(self, *usual: float) -> Any:
        return [self.number(value) for value in usual]


def scene(mechanism: Sketch, models: list[str], dice: Dice) -> str:
    """Return the text of a scene file.

    Parameters
    ----------
    models : list of str
        Model files; the first one is that of the sketch.
    """
    names = _Names(mechanism, dice)
    root: dict[str, Any] = {}
    if dice.chance(0.3):
        root["gravity"] = names.vector(0, 0, -9.81)
    if dice.chance(0.3):
        root["state"] = {
            "q": {names.joint(): names.number(dice.angle()) for _ in range(2)},
            "qd": {names.joint(): names.number(dice.any((0.1, 1.0, 10.0))) for _ in range(2)},
        }
    root["model"] = [_model(file, i, names) for i, file in enumerate(models[: dice.any((1, 1, 1, 1, 2))])]
    if dice.chance(0.2):
        root["body"] = [_body(i, names) for i in range(2)]
        root["pair"] = [_pair(i, names) for i in range(2)]
    if dice.chance(0.1):
        root.setdefault("pair", []).append({"name": names.joint(), "type": dice.any(PAIRS)})
    if mechanism.loops and dice.chance(0.6):
        root["closure"] = [_closure(joint, names) for joint in mechanism.loops]
    for key, writer in _TABLES.items():
        if dice.chance(0.15):
            root[key] = [writer(names) for _ in range(dice.randint(1, 3))]
    if dice.chance(0.2):
        root["lint"] = _lint(names)
    spoil_tables(root, dice)
    return toml(root, dice)


def _model(file: str, i: int, names: _Names) -> Table:
    dice, table = names.dice, {"file": names.dice.name([file])}
    found: Table = dict(table)
    if i or dice.chance(0.1):
        found["name"] = dice.any(("arm", "other", f"m{i}"))
        found["xyz"] = names.vector(0, 0, float(i))
    if dice.chance(0.6):
        found["base"] = dice.any(("fixed", "fixed", "free"))
    return found


def _body(i: int, names: _Names) -> Table:
    names.own.append(f"own{i}")
    moments = names.vector(0.1, 0.1, 0.1) if names.dice.chance(0.7) else names.vector(0.1, 0, 0, 0.1, 0, 0.1)
    return {
        "name": f"own{i}",
        "mass": names.number(1.0),
        "xyz": names.vector(float(i), 0, 0),
        "inertia": moments,
    }


def _pair(i: int, names: _Names) -> Table:
    return {
        **_typed(names),
        "name": names.dice.any((f"p{i}", f"p{i}", "p0")),
        "body_a": names.body(),
        "body_b": f"own{i}",
        "xyz_a": names.vector(0.0, names.dice.length(), 0.0),
    }


def _typed(names: _Names) -> Table:
    kind = names.dice.any(PAIRS)
    table: Table = {"type": kind}
    if kind == "screw":
        table["lead"] = names.number(0.01)
    if kind == "distance":
        table["length"] = names.number(1.0)
    if names.dice.chance(0.4):
        table["axis"] = names.vector(*names.dice.axis())
    return table


def _closure(joint: Any, names: _Names) -> Table:
    a, b = names.mechanism.link(joint.parent), names.mechanism.link(joint.child)
    table = {**_typed(names), "name": f"c{joint.name}", "body_a": a.name, "body_b": b.name}
    table["xyz_a"] = names.vector(*relative(a, joint.at))
    if names.dice.chance(0.6):
        table["xyz_b"] = names.vector(*relative(b, joint.at))
    return table


def _coupling(names: _Names) -> Table:
    if names.dice.chance(0.5):
        terms = [{"joint": names.joint(), "coefficient": names.number(1.0)} for _ in range(2)]
        return {"type": names.dice.any(("gear", "rack")), "terms": terms, "offset": names.number(0.0)}
    return {"type": "mimic", "joint": names.joint(), "of": names.joint(), "ratio": names.number(2.0)}


def _pfaffian(names: _Names) -> Table:
    if names.dice.chance(0.5):
        return {
            "name": "edge",
            "type": "knife_edge",
            "body": names.body(),
            "direction": names.vector(0, 1, 0),
        }
    plane = {"point": names.vector(0, 0, 0), "normal": names.vector(0, 0, 1)}
    return {
        "name": "roll",
        "type": "rolling",
        "body": names.body(),
        "axis": names.vector(0, 1, 0),
        "radius": names.number(0.5),
        "plane": plane,
    }


def _driver(names: _Names) -> Table:
    return {"joint": names.joint(), "value": names.number(0.0), "rate": names.number(0.1)}


def _lock(names: _Names) -> Table:
    table: Table = {"joint": names.joint()}
    if names.dice.chance(0.5):
        table["at"] = names.number(0.01)
        if names.dice.chance(0.5):
            table["until"] = names.number(0.02)
    return table


def _load(names: _Names) -> Table:
    table = {"body": names.body(), "force": names.vector(0, 0, -10), "point": names.vector(0, 0.1, 0)}
    return {**table, "frame": names.dice.any(("world", "body"))}


def _stiffness(names: _Names) -> Table:
    if names.dice.chance(0.3):
        section = {
            key: names.number(value)
            for key, value in zip(("E", "A", "Iy", "Iz", "J"), (2e11, 1e-4, 1e-8, 1e-8, 2e-8), strict=True)
        }
        return {"body": names.body(), "section": section}
    return {
        "pair": names.joint(),
        "k": [names.dice.any((float("inf"), names.number(1e6), names.number(0.0))) for _ in range(6)],
    }


def _spring(names: _Names) -> Table:
    rate = names.number(names.dice.any((100.0, 1.0, 1e6)))
    if names.dice.chance(0.5):
        return {"stiffness": rate, "joint": names.joint(), "rest": names.number(0.1)}
    ends = {
        "xyz_a": names.vector(0, 0, 0.1),
        "point_b": names.vector(0, 0, 0),
        "damping": names.number(0.1),
    }
    return {"stiffness": rate, "body_a": names.body(), "body_b": names.body(), **ends}


def _brake(names: _Names) -> Table:
    table = {"joint": names.joint(), "torque": names.number(10.0), "delay": names.number(0.01)}
    if names.dice.chance(0.3):
        table |= {
            "static_torque": names.number(names.dice.any((12.0, 5.0))),
            "engagement": names.number(0.01),
        }
    return table


def _ramp(names: _Names) -> Table:
    key = names.dice.any(("time", "deceleration"))
    return {"joint": names.joint(), key: names.number(0.3), "reaction": names.number(0.05)}


def _payload(names: _Names) -> Table:
    return {"body": names.body(), "mass": names.number(1.0), "com": names.vector(0.1, 0, 0)}


def _shape(names: _Names) -> Table:
    kinds: tuple[Table, ...] = (
        {"box": [names.number(0.1), 0.2, 0.3]},
        {"sphere": names.number(0.1)},
        {"cylinder": [names.number(0.1), 0.2]},
        {"capsule": [0.1, names.number(0.2)]},
        {"plane": [0, names.number(1.0)]},
        {"mesh": "part.stl", "scale": names.vector(1, 1, 1)},
        {"hull": [[0, 0, 0], [1, 0, 0], [0, 1, 0], names.vector(0, 0, 1)]},
    )
    return {
        "body": names.body(),
        "xyz": names.vector(0, 0.1, 0),
        "rgba": [0, 1, 0, 1],
        **names.dice.any(kinds),
    }


def _actuator(names: _Names) -> Table:
    return {"joint": names.joint(), "armature": names.number(1e-4), "gear_ratio": names.number(100.0)}


def _lint(names: _Names) -> Table:
    table = {"tolerance": names.number(1e-5), "samples": 2, "degree_of_redundancy": names.dice.any((0, 1, 3))}
    return {key: value for key, value in table.items() if names.dice.chance(0.5)}


_TABLES: dict[str, Callable[[_Names], Table]] = {
    "coupling": _coupling,
    "pfaffian": _pfaffian,
    "driver": _driver,
    "lock": _lock,
    "load": _load,
    "stiffness": _stiffness,
    "spring": _spring,
    "brake": _brake,
    "ramp": _ramp,
    "payload": _payload,
    "shape": _shape,
    "actuator": _actuator,
}
