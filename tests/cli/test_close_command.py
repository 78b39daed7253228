"""``mbplugin close``: the text, the JSON, the file, the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from mbplugin.choices import LOSS_KINDS
from mbplugin.cli.app import run
from mbplugin.report.documents.part import schema_of
from places import ASSETS, ORACLES

mujoco = pytest.importorskip("mujoco")
FOUR_BAR = str(ASSETS / "four_bar.scene.toml")


def test_the_file_is_written_and_mujoco_loads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "closed.xml"
    assert (
        run(["close", FOUR_BAR, "--to", "mjcf", "--write", str(file), "--no-drift", "--allow-loss", "all"])
        == 0
    )
    model = mujoco.MjModel.from_xml_path(str(file))
    assert model.neq == 1
    printed = capsys.readouterr().out
    assert "1 closure without redundancy (p = 3 before, 0 after; mobility 1 before, 1 after)" in printed
    assert printed.index("Assumptions") < printed.index("Closures") < printed.index("Written in another way")
    assert "point-on-line instead of revolute" in printed


@pytest.mark.long
@pytest.mark.bullet
def test_the_document_follows_its_schema_and_has_the_drift(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["close", FOUR_BAR, "--to", "mjcf", "--allow-loss", "all", "--output-format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema_of("close"))
    assert list(document)[:4] == ["schema_version", "generator", "record", "assumptions"]
    assert document["proved"] and document["written"] is None
    assert [drift["engine"] for drift in document["drift"]["after"]] == ["MuJoCo", "PyBullet"]
    assert all(0 < drift["gap"] < 0.01 for drift in document["drift"]["after"])


@pytest.mark.long
def test_a_loss_that_is_not_allowed_is_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, source = tmp_path / "closed.xml", tmp_path / "loaded.scene.toml"
    (tmp_path / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    source.write_text(Path(FOUR_BAR).read_text() + '\n[[load]]\nbody = "coupler"\nforce = [0, 0, -1]\n')
    words = ["close", str(source), "--to", "mjcf", "--no-drift", "--write", str(file)]
    assert run(words) == 1
    assert file.exists() and "(joint,scene), see below; --allow-loss joint,scene" in capsys.readouterr().out
    # each kind by itself is not enough, both are, and so is all
    assert run([*words, "--allow-loss", "joint"]) == 1
    assert "(scene), see below; --allow-loss scene accepts" in capsys.readouterr().out
    assert run([*words, "--allow-loss", "joint", "--allow-loss", "scene"]) == 0
    assert "accepts" not in (printed := capsys.readouterr().out) and "1 load of the scene" in printed
    assert run([*words, "--allow-loss", "all", "--output-format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["refused"] == []
    assert [loss["text"] for loss in document["losses"]] == document["left_out"]
    assert {loss["kind"] for loss in document["losses"]} == {"joint", "scene"}


def test_a_model_of_which_nothing_is_lost_is_exit_code_0(tmp_path: Path) -> None:
    model = tmp_path / "pendulum.xml"
    model.write_text(
        '<mujoco model="p"><worldbody><body name="a"><joint name="j" axis="0 1 0"/>'
        '<inertial pos="0 0 -1" mass="1" diaginertia="1 1 1"/></body></worldbody>'
        '<actuator><motor name="m" joint="j" gear="3"/></actuator></mujoco>'
    )
    assert run(["close", str(model), "--to", "mjcf", "--no-drift"]) == 0
    # the gear has no place in a URDF
    assert run(["close", str(model), "--to", "urdf", "--no-drift"]) == 1
    assert run(["close", str(model), "--to", "urdf", "--no-drift", "--allow-loss", "actuator"]) == 0


def test_every_kind_of_loss_is_one_that_the_guide_explains() -> None:
    guide = (ASSETS.parent / "docs" / "close.md").read_text()
    assert all(f"`{kind}`" in guide for kind in LOSS_KINDS)


def test_a_scene_is_written_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "closed.scene.toml"
    assert (
        run(["close", FOUR_BAR, "--to", "scene", "--write", str(file), "--no-drift", "--allow-loss", "all"])
        == 0
    )
    assert run(["lint", str(file)]) == 0


def test_redundancy_that_is_left_is_exit_code_1_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = tmp_path / "driven.scene.toml"
    model = tmp_path / "four_bar_4R.sdf"
    model.write_text((ORACLES / "four_bar_4R.sdf").read_text())
    names = [line.split('"')[1] for line in model.read_text().splitlines() if "<joint" in line]
    drives = "".join(f'\n[[actuator]]\njoint = "{name}"\n' for name in names)
    scene.write_text(f'[[model]]\nfile = "{model.name}"\n{drives}')
    file = tmp_path / "closed.xml"
    assert run(["close", str(scene), "--to", "mjcf", "--write", str(file), "--no-drift"]) == 1
    assert "has an actuator" in capsys.readouterr().out
    assert file.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FOUR_BAR, "--to", "step"), "'step'"),
        ((FOUR_BAR, "--to", "mjcf", "--write", "{tmp}/robot.urdf"), "expected a file with the ending .xml"),
        ((FOUR_BAR, "--to", "mjcf", "--write", "{tmp}/none/robot.xml"), "no such folder"),
        (("missing.urdf", "--to", "mjcf", "--write", "{tmp}/robot.xml"), "missing.urdf"),
        ((FOUR_BAR, "--to", "mjcf", "--q", "nothing=1"), "nothing"),
        ((FOUR_BAR, "--to", "mjcf", "--allow-loss", "shapes"), "did you mean 'shape'?"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.replace("{tmp}", str(tmp_path)) for word in arguments]
    assert run(["close", *words]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_input_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "robot.xml"
    assert (
        run(["close", FOUR_BAR, "--to", "mjcf", "--write", str(file), "--no-drift", "--allow-loss", "all"])
        == 0
    )
    text = file.read_text()
    assert run(["close", str(file), "--to", "mjcf", "--write", str(file), "--no-drift"]) == 2
    assert file.read_text() == text
    assert "robot.xml" in capsys.readouterr().err
