"""Norms of B_X in a plane: by hand, for a bar on three parallel cranks of 1 m, and wherever its masses are."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

import mbplugin as mb

CRANKS = {"a": 0.0, "b": 1.0, "c": 2.0}


def _scene(height: float) -> str:
    bodies = [
        f'[[body]]\nname = "{name}"\nmass = 1.0\ncom = [{x}, {y}, {height}]\ninertia = [1.0, 1.5, 1.0]'
        for name, x, y in (*((name, x, 0.5) for name, x in CRANKS.items()), ("bar", 1.0, 1.0))
    ]
    pairs = [
        f'[[pair]]\nname = "{name}{y}"\ntype = "revolute"\nbody_a = "{first}"\nbody_b = "{second}"\n'
        f"xyz_a = [{x}, {y}, 0]\nxyz_b = [{x}, {y}, 0]"
        for name, x in CRANKS.items()
        for y, first, second in ((0, "world", name), (1, name, "bar"))
    ]
    return "\n".join((*bodies, *pairs))


@pytest.mark.parametrize("height", [0.0, 0.7])
def test_norms_of_B_in_a_plane(height: float, tmp_path: Path) -> None:
    """The self-stress is f, -2f, f along the cranks: f = 1/√12; a moment counts by the characteristic length."""
    file = tmp_path / "cranks.scene.toml"
    file.write_text(_scene(height))
    analysis = mb.analyze(str(file), planar="xy")
    assert analysis.degree_of_redundancy == 1
    f, arm = 1 / sqrt(12), 1 / analysis.characteristic_length
    outer, middle = f * sqrt(2 + arm**2), 2 * f * sqrt(2)
    by_hand = {"a0": f, "b0": 2 * f, "c0": f, "a1": outer, "b1": middle, "c1": outer}
    assert {v.name: v.B_norm for v in analysis.constraints} == pytest.approx(by_hand, rel=1e-9)
