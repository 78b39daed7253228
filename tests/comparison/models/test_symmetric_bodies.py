"""Bodies that look the same from several sides: their frames follow from the joints, in either order of the models."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb

SUFFIX = {"urdf": "urdf", "mjcf": "xml", "sdf": "sdf"}
#: A sphere, a rod, a disc: moments of inertia in shares of the largest.
SHAPES = [(1.0, 1.0, 1.0), (0.02, 1.0, 1.0), (1.0, 0.5, 0.5)]
Part = dict[str, Any]


def places(rng: np.random.Generator) -> list[float]:
    return np.round(rng.uniform(-0.6, 0.6, 3) * (rng.random(3) < 0.5), 2).tolist()


def tree(seed: int) -> tuple[list[Part], list[Part]]:
    """Return the bodies and pairs of a tree of spheres, rods and discs; centres of mass are the origins."""
    rng = np.random.default_rng(seed)
    bodies: list[Part] = []
    pairs: list[Part] = []
    for k in range(int(rng.integers(3, 6))):
        moments = 0.02 * np.roll(SHAPES[rng.integers(3)], rng.integers(3))
        bodies.append({"name": f"b{k}", "mass": round(rng.uniform(0.5, 5), 2), "inertia": moments.tolist()})
        ends = [("world" if k == 0 else f"b{rng.integers(k)}", places(rng)), (f"b{k}", places(rng))]
        (a, xyz_a), (b, xyz_b) = ends[:: -1 if rng.random() < 0.4 else 1]
        kind = str(rng.choice(["revolute", "prismatic"]))
        axis = (np.eye(3)[rng.integers(3)] * rng.choice([-1, 1])).tolist()
        pairs.append(
            {"name": f"j{k}", "type": kind, "body_a": a, "body_b": b, "xyz_a": xyz_a, "xyz_b": xyz_b}
            | {"axis": axis}
        )
    return bodies, pairs


def saved(path: Path, bodies: list[Part], pairs: list[Part]) -> Path:
    def table(part: Part) -> str:
        return "{" + ", ".join(f"{key} = {json.dumps(value)}" for key, value in part.items()) + "}"

    rows = ((name, ", ".join(map(table, parts))) for name, parts in (("body", bodies), ("pair", pairs)))
    path.write_text("".join(f"{name} = [{text}]\n" for name, text in rows))
    return path


def written(model: Path, to: str, path: Path) -> Path:
    mb.close(model, to, measure_drift=False).save(path)
    return path


def both(a: Path, b: Path) -> tuple[mb.ModelDiff, mb.ModelDiff]:
    return mb.diff(a, b), mb.diff(b, a)


def assert_same(found: mb.ModelDiff) -> None:
    assert found.same, found.differences
    assert max(found.mass_matrix, found.gravity_forces, found.wrenches) < 1e-9


@pytest.mark.long_after(11)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("to", SUFFIX)
def test_a_tree_in_another_format_is_the_same(seed: int, to: str, tmp_path: Path) -> None:
    scene = saved(tmp_path / "m.scene.toml", *tree(seed))
    for found in both(scene, written(scene, to, tmp_path / f"m.{SUFFIX[to]}")):
        assert_same(found)


def changed(what: str, bodies: list[Part], pairs: list[Part], rng: np.random.Generator) -> tuple[str, str]:
    """Change one number of a tree, and return the kind and the element of the difference."""
    k = int(rng.integers(1, len(bodies)))
    pair = pairs[k]
    if what == "mass":
        bodies[k]["mass"] *= 1.3
        return "mass", f"b{k}"
    if what == "axis":
        pair["axis"] = [-x for x in pair["axis"]]
        return "axis", f"j{k}"
    parent = "xyz_a" if pair["body_b"] == f"b{k}" else "xyz_b"
    # across the axis: along it, a slider has another zero
    shift = 0.1 * np.cross(pair["axis"], rng.normal(size=3))
    pair[parent] = (np.array(pair[parent]) + shift).tolist()
    return "origin", f"j{k}"


@pytest.mark.long_after(1)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("what", ["mass", "axis", "offset"])
def test_one_change_is_named_in_either_order(seed: int, what: str, tmp_path: Path) -> None:
    bodies, pairs = tree(seed)
    scene = saved(tmp_path / "m.scene.toml", bodies, pairs)
    bodies, pairs = deepcopy((bodies, pairs))
    expected = changed(what, bodies, pairs, np.random.default_rng(seed))
    other = saved(tmp_path / "n.scene.toml", bodies, pairs)
    for to, suffix in SUFFIX.items():
        for found in both(scene, written(other, to, tmp_path / f"n.{suffix}")):
            assert [(d.kind, d.element) for d in found.differences] == [expected]


def test_a_robot_that_stands_elsewhere_is_the_same_and_that_is_said(tmp_path: Path) -> None:
    bodies, pairs = tree(0)
    scene = saved(tmp_path / "m.scene.toml", bodies, pairs)
    ground = pairs[0]
    side = "xyz_a" if ground["body_a"] == "world" else "xyz_b"
    ground[side] = (np.array(ground[side]) + 0.1 * np.cross(ground["axis"], [1.0, 2.0, 3.0])).tolist()
    for found in both(scene, saved(tmp_path / "n.scene.toml", bodies, pairs)):
        assert_same(found)
        assert any("the whole robot stands" in n.text for n in found.normalised)
