"""A knife edge or a wheel of the ground itself: it does not move, so nothing is to be held."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from command_line import ASSETS, call
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import WORLD, Body, KnifeEdge, Mechanism, Rolling

EDGE = 'name = "edge"\ntype = "knife_edge"\nbody = "world"\ndirection = [0, 1, 0]\n'
WHEEL = 'name = "wheel"\ntype = "rolling"\nbody = "world"\naxis = [0, 1, 0]\nradius = 0.5\n'


@pytest.mark.parametrize("command", ["lint", "matrix"])
@pytest.mark.parametrize("table", [EDGE, WHEEL], ids=["edge", "wheel"])
def test_a_scene_with_one_is_refused_with_its_line(command: str, table: str, tmp_path: Path) -> None:
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    file = tmp_path / "s.scene.toml"
    file.write_text(f'[[model]]\nfile = "four_bar.urdf"\n\n[[pfaffian]]\n{table}')
    done = call(command, str(file), "--output-format", "json")
    assert done.code == 2 and "s.scene.toml:7" in done.err and "'world'" in done.err, done.err
    assert "a body that moves" in done.err and "MB912" not in done.out


@pytest.mark.parametrize(
    "constraint",
    [
        KnifeEdge("edge", WORLD, np.zeros(3), np.array([0.0, 1, 0])),
        Rolling("wheel", WORLD, np.zeros(3), np.array([0.0, 1, 0]), 0.5),
    ],
    ids=lambda constraint: constraint.name,
)
def test_a_mechanism_with_one_is_refused(constraint) -> None:
    with pytest.raises(BrokenModel, match="'world', which does not move"):
        Mechanism("m", (Body("a", 1.0, np.zeros(3), np.eye(3)),), (), pfaffians=(constraint,))
