"""Reactions along a motion that the stated stiffness decides: by hand, and against inverse dynamics."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.spatial import Spring
from places import ASSETS, ORACLES

HINGE = [1e6, 1e6, 1e6, 1e4, 1e4, 0]
CRANKS = ORACLES / "parallelogram_3crank_planar.sdf"
BEAM = {"E": 2.1e11, "A": 1e-4, "Iy": 2e-9, "Iz": 1e-9, "J": 2e-9}


def door(*, stated: bool = True) -> str:
    text = '[[body]]\nname = "door"\nmass = 12\nxyz = [0.4, 0, 0]\ninertia = [1, 2, 2]\n'
    for k, z in enumerate((-0.75, 0.0, 0.75)):
        table = "closure" if k else "pair"
        text += f'[[{table}]]\nname = "h{k}"\ntype = "revolute"\nbody_a = "world"\nbody_b = "door"\n'
        text += f"xyz_a = [0, 0, {z}]\naxis = [0, 0, 1]\n"
        text += f'[[stiffness]]\npair = "h{k}"\nk = [1e6, 1e6, 1e6, inf, inf, 0]\n' if stated else ""
    return text


@pytest.fixture
def swinging(tmp_path: Path) -> Path:
    path = tmp_path / "door.scene.toml"
    path.write_text("gravity = [0, 0, 0]\n" + door())
    return path


def test_three_equal_hinges_share_the_centripetal_force(swinging: Path) -> None:
    """By hand: m ω² a = 12 · 9 · 0.4 = 43.2 N through the middle of the door, a third at each hinge."""
    motion = mb.simulate(swinging, 1.0, qd0={"h0": 3.0}, samples=7)
    heading = motion.q[:, 0]
    for hinge in ("h0", "h1", "h2"):
        force = motion.reactions(hinge)
        expected = -14.4 * np.column_stack((np.cos(heading), np.sin(heading)))
        assert force[:, :2] == pytest.approx(expected, abs=1e-6)
        assert motion.determined(hinge)[:, :3].all() and not motion.uniqueness(hinge)[:, :2].all()


def test_without_stiffness_the_choice_is_that_of_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "door.scene.toml"
    path.write_text("gravity = [0, 0, 0]\n" + door(stated=False))
    motion = mb.simulate(path, 0.1, qd0={"h0": 3.0}, samples=2)
    assert not np.allclose(np.hypot(*motion.reactions("h1")[0, :2]), 14.4, atol=1.0)
    assert (motion.determined("h1") == motion.uniqueness("h1")).all()


def test_a_drive_bends_the_crank_that_it_turns() -> None:
    """Against inverse dynamics with the drive as a row: there its torque is a multiplier, here an applied force."""
    scene = mb.load(CRANKS)
    beams = {body.name: BEAM for body in scene.mechanism.bodies}
    options = {"planar": "xy", "qd0": {"b0": 1.0}, "torques": {"b0": 20.0}, "samples": 3}
    motion = mb.simulate(scene, 0.3, stiffness=beams, **options)
    rigid = mb.simulate(scene, 0.3, **options)
    for k in range(4):
        state = motion.q[k], motion.qd[k], motion.qdd[k]
        found = mb.reactions(scene, *state, stiffness=beams, hold=("b0",), planar="xy")
        for pair in motion.pair_names:
            assert motion.reactions(pair)[k] == pytest.approx(found[pair].wrench, abs=1e-9)
    # the motion is that of the rigid model, the reactions are not
    assert motion.q == pytest.approx(rigid.q, abs=1e-12)
    assert np.abs(motion.reactions("t1") - rigid.reactions("t1")).max() > 1.0


@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_springs_dampers_and_locks_along_the_way(coordinates: str) -> None:
    """λ = λ₀ + S y: what the rigid model determines stays, whatever acts and holds, in either coordinates."""
    scene = mb.load(CRANKS)
    beams = {body.name: BEAM for body in scene.mechanism.bodies}
    options = {
        "planar": "xy",
        "qd0": {"b0": 1.0},
        "springs": [Spring("world", "platform", [0, 3, 0], [0, 0, 0], stiffness=40.0, damping=2.0)],
        "locks": [mb.Lock("t0", at=0.2)],
        "coordinates": coordinates,
        "samples": 4,
    }
    motion, rigid = (mb.simulate(scene, 0.4, stiffness=s, **options) for s in (beams, ()))
    for pair in motion.pair_names:
        unique = rigid.uniqueness(pair)
        assert motion.reactions(pair)[unique] == pytest.approx(rigid.reactions(pair)[unique], abs=1e-8)
        assert motion.determined(pair).all()


def test_the_command_reports_what_the_stiffness_determines(swinging: Path, tmp_path: Path) -> None:
    line = (str(swinging), "--duration", "0.2", "--qd", "h0=3", "--reactions", "h0,h1", "--samples", "2")
    text = " ".join(call("simulate", *line).out.split())
    assert "h1 14.4" in text
    assert "what the rigid model does not determine, the stated stiffness does" in text
    document = json.loads(call("simulate", *line, "--output-format", "json").out)
    own = document["reactions"]["h1"]
    assert own["determined"][0][:3] == [True, True, True]
    assert own["unique"][0][:2] == [False, False]
    assert own["wrench"][0][0] == pytest.approx(-14.4, abs=1e-6)


def test_what_is_wrong_is_refused_before_the_motion() -> None:
    with pytest.raises(UnknownName, match="j9"):
        mb.simulate(ASSETS / "four_bar.scene.toml", 0.1, stiffness={"j9": HINGE})
    with pytest.raises(BadUsage, match="no 6 × 6"):
        mb.simulate(ASSETS / "four_bar.scene.toml", 0.1, stiffness={"j0": [1, 2]})
