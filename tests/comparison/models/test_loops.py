"""Models with loops that are written again, in another format or in other link frames, are the same."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbplugin as mb
from mbplugin.model.spatial import rpy_from_rotation
from mbplugin.writers import write

Part = dict[str, Any]
Model = tuple[list[Part], list[Part]]
SUFFIX = {"sdf": "sdf", "mjcf": "xml", "usd": "usda"}
READER = {"sdf": "lxml", "mjcf": "mujoco", "usd": "pxr"}
#: A sphere, a rod, a disc, and a body without symmetry: moments of inertia in kg·m².
SHAPES = 0.02 * np.array([(1.0, 1.0, 1.0), (0.02, 1.0, 1.0), (1.0, 0.5, 0.5), (0.3, 0.6, 0.8)])
GROUND = (np.zeros(3), Rotation.identity())
Frames = dict[str, tuple[np.ndarray, Rotation]]


def quarter(rng: np.random.Generator) -> Rotation:
    """One of the 24 turns that take axes to axes."""
    return Rotation.create_group("O")[int(rng.integers(24))]


def drawn(
    rng: np.random.Generator, bodies: dict[str, np.ndarray], joints: list[tuple[str, ...]], points: Part
) -> Model:
    """Bodies at points, each in a frame of its own; joints (name, type, a, b, point) in the plane across y or z."""
    plane = quarter(rng)
    frames: Frames = {"world": GROUND}
    parts: list[Part] = []
    for name, at in bodies.items():
        frames[name] = plane.apply(at), quarter(rng)
        moments = np.roll(SHAPES[rng.integers(4)], rng.integers(3)).tolist()
        part = {"name": name, "mass": round(rng.uniform(0.5, 5), 2), "inertia": moments}
        parts.append(part | placed(frames[name]))
    pairs = []
    for name, kind, a, b, point in joints:
        a, b = (b, a) if rng.random() < 0.4 else (a, b)
        axis = plane.apply([1, 0, 0] if kind == "prismatic" else [0, 1, 0]) * rng.choice([-1, 1])
        pairs.append({"name": name, "type": kind} | joint(frames, a, b, plane.apply(points[point]), axis))
    return parts, pairs


def placed(frame: tuple[np.ndarray, Rotation]) -> Part:
    return {"xyz": frame[0].tolist(), "rpy": rpy_from_rotation(frame[1].as_matrix()).tolist()}


def joint(frames: Frames, a: str, b: str, point: np.ndarray, axis: np.ndarray) -> Part:
    """A joint at a point of the world, stated on its first body."""
    origin, R = frames[a]
    there = {"xyz_a": R.inv().apply(point - origin).tolist(), "axis": R.inv().apply(axis).tolist()}
    return {"body_a": a, "body_b": b} | there


def four_bar(rng: np.random.Generator) -> Model:
    corners = np.array([(0.0, 0.0), (0.1, 0.2), (0.6, 0.35), (0.5, 0.0)]) + rng.uniform(-0.05, 0.05, (4, 2))
    points = {str(k): np.array([x, 0.0, z]) for k, (x, z) in enumerate(corners)}
    names = ("world", "crank", "coupler", "rocker", "world")
    bodies = {n: (points[str(k)] + points[str(k + 1)]) / 2 for k, n in enumerate(names[1:4])}
    joints = [(f"j{k}", "revolute", *names[k : k + 2], str(k)) for k in range(4)]
    return drawn(rng, bodies, joints, points)


def scissor_lift(rng: np.random.Generator) -> Model:
    """Two bars with a pin between them; below and above a pin and a slider each."""
    at = {"A": (0, 0), "B": (0.4, 0), "M": (0.2, 0.15), "C": (0, 0.3), "D": (0.4, 0.3)}
    points = {name: np.array([x, 0.0, z]) for name, (x, z) in at.items()}
    homes = {"left": "M", "right": "M", "foot": "B", "shoe": "D", "platform": "C"}
    joints = [
        ("pin A", "revolute", "world", "left", "A"),
        ("slide B", "prismatic", "world", "foot", "B"),
        ("pin B", "revolute", "foot", "right", "B"),
        ("pin M", "revolute", "left", "right", "M"),
        ("pin C", "revolute", "right", "platform", "C"),
        ("pin D", "revolute", "left", "shoe", "D"),
        ("slide D", "prismatic", "platform", "shoe", "D"),
    ]
    return drawn(rng, {name: points[p] for name, p in homes.items()}, joints, points)


MODELS = {"four_bar": four_bar, "scissor_lift": scissor_lift}


def weakened(rng: np.random.Generator, model: Model) -> Model:
    """Make pins ball joints, bodies spheres and small parts massless, so that frames are less determined."""
    bodies, pairs = deepcopy(model)
    spheres, massless = rng.random(2) < 0.5
    for body in bodies:
        body["inertia"] = SHAPES[0].tolist() if spheres else body["inertia"]
        if massless and body["name"] in ("foot", "shoe"):
            body.update(mass=0.0, inertia=[0.0, 0.0, 0.0])
    for pair in pairs:
        if pair["type"] == "revolute" and rng.random() < 0.5:
            pair["type"] = "spherical"
    return bodies, pairs


def redrawn(rng: np.random.Generator, model: Model) -> Model:
    """The same model: other link frames, bodies of joints in the other order, everything in another order."""
    old: Frames = {"world": GROUND}
    new: Frames = {"world": GROUND}
    bodies, pairs = [], []
    for body in model[0]:
        origin, R = old[body["name"]] = np.array(body["xyz"]), Rotation.from_euler("xyz", body["rpy"])
        here, S = new[body["name"]] = origin + rng.choice([0.0, 0.1]) * rng.integers(2, size=3), quarter(rng)
        Q = (S.inv() * R).as_matrix()
        inertia = (Q @ np.diag(body["inertia"]) @ Q.T)[np.triu_indices(3)].tolist()
        content = {"com": S.inv().apply(origin - here).tolist(), "inertia": inertia}
        bodies.append(body | placed(new[body["name"]]) | (content if body["mass"] else {}))
    for pair in model[1]:
        (origin, R), a, b = old[pair["body_a"]], pair["body_a"], pair["body_b"]
        point, axis = origin + R.apply(pair["xyz_a"]), R.apply(pair["axis"])
        if rng.random() < 0.5:
            a, b, axis = b, a, -axis
        pairs.append(pair | joint(new, a, b, point, axis))
    rng.shuffle(bodies)
    rng.shuffle(pairs)
    return bodies, pairs


def saved(path: Path, model: Model) -> Path:
    def table(part: Part) -> str:
        own = {k: v for k, v in part.items() if k != "axis" or part["type"] != "spherical"}
        return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in own.items()) + "}"

    rows = ((kind, ", ".join(map(table, parts))) for kind, parts in zip(("body", "pair"), model, strict=True))
    path.write_text("".join(f"{kind} = [{text}]\n" for kind, text in rows))
    return path


def assert_same(a: Path, b: Path) -> None:
    for found in (mb.diff(a, b), mb.diff(b, a)):
        assert found.same, found.differences
        assert max(found.mass_matrix, found.gravity_forces) < 1e-6
        assert found.wrenches is None or found.wrenches < 1e-6


@pytest.mark.long_after(5)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("to", SUFFIX)
@pytest.mark.parametrize("kind", MODELS)
def test_a_loop_in_another_format_is_the_same(kind: str, to: str, seed: int, tmp_path: Path) -> None:
    pytest.importorskip(READER[to])
    scene = saved(tmp_path / "m.scene.toml", MODELS[kind](np.random.default_rng(seed)))
    other = tmp_path / f"m.{SUFFIX[to]}"
    other.write_text(write(mb.load(scene), to).text)
    assert_same(scene, other)


@pytest.mark.long_after(4)
@pytest.mark.parametrize("seed", [0, 1, 2, 20, 64, 66, 74, 87, 95, 98, 117])
def test_a_lift_drawn_in_other_frames_is_the_same(seed: int, tmp_path: Path) -> None:
    """A frame that one body leaves open is settled by others: a slider's child was "turned" or its axis "flipped"."""
    rng = np.random.default_rng(seed)
    model = weakened(rng, scissor_lift(rng))
    scene = saved(tmp_path / "m.scene.toml", model)
    assert_same(scene, saved(tmp_path / "n.scene.toml", redrawn(rng, model)))


@pytest.mark.long_after(1)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", MODELS)
def test_one_change_in_a_loop_is_named_in_any_frames(kind: str, seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    model = MODELS[kind](rng)
    scene = saved(tmp_path / "m.scene.toml", model)
    bodies, pairs = deepcopy(model)
    body, pin = bodies[rng.integers(len(bodies))], pairs[-2]
    body["mass"] *= 1.3
    pin["xyz_a"] = (np.array(pin["xyz_a"]) + 0.1 * np.cross(pin["axis"], [1, 2, 3])).tolist()
    other = saved(tmp_path / "n.scene.toml", redrawn(rng, (bodies, pairs)))
    for found in (mb.diff(scene, other), mb.diff(other, scene)):
        named = {(d.kind, d.element) for d in found.differences}
        assert {("mass", body["name"]), ("origin", pin["name"])} <= named
        assert {element for _, element in named} == {body["name"], pin["name"]}
