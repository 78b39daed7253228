"""A model and its written file under the same commands: equal, and apart where one number is another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from driven_models import ACTUATORS, LINKS, MODEL
from mbplugin import readers
from mbplugin.closing import choice
from mbplugin.closing.commanded import Commanded, commanded, commanded_in_bullet
from mbplugin.model.scene import Request
from mbplugin.writers.written import Written
from places import ASSETS, ORACLES

mujoco = pytest.importorskip("mujoco")


LARGE = pytest.param("stewart_6UPS", marks=pytest.mark.long)
FORMATS, LOOP = ("mjcf", "sdf", "usd", "urdf", "scene"), "spatial_parallelogram.scene.toml"
INERTIAL = '<inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def model_in(folder: Path, text: str = LINKS + ACTUATORS) -> Path:
    file = folder / "model.xml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("text", [LINKS + ACTUATORS, MODEL], ids=["chain", "loop"])
@pytest.mark.parametrize("anew", [False, True])
def test_a_model_and_its_mjcf_move_alike(tmp_path: Path, text: str, anew: bool, monkeypatch) -> None:
    if anew:
        monkeypatch.setattr(choice, "is_of_format", lambda scene, to: False)
    found = mb.close(model_in(tmp_path, text), "mjcf")
    assert (found.written.copy_of is None) is anew
    assert found.commanded.kind == "command" and found.commanded.driven
    assert found.commanded.reason == "" and found.commanded.moved > 1e-3
    assert max(found.commanded.angle, found.commanded.distance) < 1e-4 and not found.strays


@pytest.mark.parametrize("to", ["mjcf", "sdf", "usd"])
def test_joints_without_actuators_get_torques(to: str) -> None:
    if to == "usd":
        pytest.importorskip("pxr")
    found = mb.close(ASSETS / "arm_6r.urdf", to)
    assert found.commanded.kind == "torque" and len(found.commanded.driven) == 6
    assert found.commanded.reason == "" and found.commanded.moved > 0.01
    # damping of a hinge is not in single precision in USD, all else is written to the last digit
    assert max(found.commanded.angle, found.commanded.distance) < 1e-5


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('gear="12"', 'gear="13"'),
        ('kp="25"', 'kp="28"'),
        ('damping="0.02"', 'damping="0.05"'),
        ('armature="0.01"', 'armature="0.05"'),
        ('mass="0.7"', 'mass="0.8"'),
        ('axis="0 0 1"', 'axis="0 0.1 1"'),
        ('pos="0.3 0 0"', 'pos="0.31 0 0"'),
        ('forcerange="-15 15"', 'forcerange="-0.1 0.1"'),
    ],
)
def test_one_other_number_moves_it_apart(tmp_path: Path, was: str, becomes: str) -> None:
    text = LINKS + ACTUATORS
    assert text.count(was) == 1
    scene = mb.load(model_in(tmp_path, text))
    found = mb.close(scene, "mjcf", measure_drift=False)
    wrong = Written("mjcf", text.replace(was, becomes))
    ours = commanded(scene, scene.state.q, Written("mjcf", text), scene, scene, ())
    theirs = commanded(scene, scene.state.q, wrong, scene, scene, ())
    assert max(ours.angle, ours.distance) == 0.0
    assert max(theirs.angle, theirs.distance) > 1e-3
    assert replace(found, commanded=theirs).strays and not replace(found, commanded=ours).strays


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("", ""),
        ('mass="0.7"', 'mass="0.8"'),
        ('axis="0 0 1"', 'axis="0 0.1 1"'),
        ('pos="0.3 0 0"', 'pos="0.31 0 0"'),
        ('damping="0.02"', 'damping="0.05"'),
    ],
)
def test_pybullet_sees_one_other_number_too(tmp_path: Path, was: str, becomes: str) -> None:
    text = LINKS + "</mujoco>"
    scene = mb.load(model_in(tmp_path, text))
    driven = tuple(name for name in scene.mechanism.qd_names if name in scene.mechanism.pair_by_name)
    wrong = readers.load("model.xml", text=text.replace(was, becomes) if was else text)
    found = commanded_in_bullet(scene, scene.state.q, Written("mjcf", text), scene, wrong, driven)
    assert found.reason == "" and found.kind == "torque" and found.driven == driven
    assert found.moved > 1e-3
    apart = max(found.angle, found.distance)
    assert apart > 1e-3 if was else apart == 0.0
    # it counts where MuJoCo has no answer, and only there
    closing = mb.close(scene, "mjcf", measure_drift=False)
    silent, same = Commanded("MuJoCo", reason="none"), Commanded("MuJoCo")
    assert replace(closing, commanded=silent, commanded_in_bullet=found).strays is bool(was)
    assert not replace(closing, commanded=same, commanded_in_bullet=found).strays


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("name", "to"),
    [
        *(("arm_6r.urdf", to) for to in FORMATS),
        (LOOP, "usd"),
        *(pytest.param(LOOP, to, marks=pytest.mark.long) for to in FORMATS if to != "usd"),
    ],
)
def test_in_pybullet_every_format_moves_like_the_model(name: str, to: str) -> None:
    """The bodies of the second have names that USD writes in another way."""
    found = mb.close(ASSETS / name, to)
    motion = found.commanded_in_bullet
    assert motion.reason == "" and motion.moved > 0.01
    assert max(motion.angle, motion.distance) < 1e-5
    assert found.commanded.reason == ""


def test_a_file_that_strays_is_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of a writer that neither p nor the mobility shows."""
    write = choice.write

    def faulty(scene, to):
        written = write(scene, to)
        return replace(written, text=written.text.replace('damping="0.02"', 'damping="0.2"'))

    monkeypatch.setattr(choice, "write", faulty)
    monkeypatch.setattr(choice, "is_of_format", lambda scene, to: False)
    monkeypatch.setattr(choice, "_unsaid", lambda *_: ())
    done = call("close", str(model_in(tmp_path)), "--to", "mjcf", "--allow-loss", "shape")
    assert done.code == 1
    assert "not proved: the written file moves in another way under the same commands" in " ".join(
        done.out.split()
    )


def test_a_model_with_redundant_constraints_need_not_move_alike() -> None:
    """Where they do not quite fit, the model resists that and the file does not, as the Minitaur of ``test_drift``."""
    redundant = mb.close(ORACLES / "four_bar_4R.sdf", "mjcf", measure_drift=False)
    apart = replace(redundant, commanded=Commanded("MuJoCo", angle=1.0, distance=1.0))
    assert apart.before.structural_redundancy and apart.written.losses == () and not apart.strays
    assert replace(apart, before=replace(apart.before, structural_redundancy=0)).strays


def test_the_reason_stands_where_there_is_no_answer(tmp_path: Path) -> None:
    text = '<robot name="r"><link name="a"><inertial><mass value="1"/></inertial></link></robot>'
    file = tmp_path / "r.urdf"
    file.write_text(text)
    found = mb.close(file, "sdf")
    assert "body 'a' moves, and has mass 1 kg and moments of inertia 0 to 0" in found.commanded.reason
    done = call("close", str(file), "--to", "mjcf")
    assert done.code == 2 and "state its inertia, or --base fixed" in done.err
    assert call("close", str(file), "--to", "mjcf", "--base", "fixed").code == 0


def test_an_arm_stands_on_the_ground_in_mjcf_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text((ASSETS / "arm_6r.urdf").read_text())
    found = mb.close(file, "mjcf")
    assert mujoco.MjModel.from_xml_string(found.text).nv == 6
    done = call("close", str(file), "--to", "mjcf", "--no-drift", "--allow-loss", "all")
    assert "is taken as fixed to the ground: --base free" in " ".join(done.out.split())
    file.write_text(file.read_text().replace('<link name="base"/>', f'<link name="base">{INERTIAL}</link>'))
    free = mb.close(mb.load(file, base="free"), "mjcf", measure_drift=False)
    assert mujoco.MjModel.from_xml_string(free.text).nv == 12


@pytest.mark.parametrize("name", ["four_bar_4R", "four_bar_RSRR", "bennett_4R", "sarrus_6R", LARGE])
def test_loops_that_become_mjcf_move_alike(name: str) -> None:
    found = mb.close(ORACLES / f"{name}.sdf", "mjcf")
    assert found.proved and found.commanded.reason == ""
    assert max(found.commanded.angle, found.commanded.distance) < 1e-3


def test_the_request_of_a_text_is_its_own(tmp_path: Path) -> None:
    scene = readers.load("model.xml", text=LINKS + ACTUATORS)
    assert scene.request == Request("model.xml", LINKS + ACTUATORS)
    found = mb.close(scene, "mjcf")
    assert found.written.copy_of is None and max(found.commanded.angle, found.commanded.distance) < 1e-4
    assert np.isfinite(found.commanded.moved)
