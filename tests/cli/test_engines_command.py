"""``mbplugin engines``: the table, the JSON, the exit codes."""

from __future__ import annotations

import json

import pytest

from mbplugin.cli.app import run
from places import ASSETS, ORACLES

pytest.importorskip("mujoco")
FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
MUJOCO = ("--engine", "mujoco")


@pytest.mark.long
def test_the_table_marks_what_nothing_determines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engines", FOUR_BAR, "--load", "coupler:10,5,20", *MUJOCO]) == 0
    printed = capsys.readouterr().out
    block = printed.split("j1 (continuous)")[1].split("j2 (")[0]
    rows = {line.split()[0]: line for line in block.splitlines() if line.startswith("    ")}
    open_rows = [name for name, line in rows.items() if "open" in line]
    assert open_rows == ["fz", "mx", "my"]
    assert all("*" in rows[name] for name in open_rows)
    assert not any("*" in line for name, line in rows.items() if name not in open_rows)


@pytest.mark.long
def test_the_json_has_null_where_ours_is_open(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engines", FOUR_BAR, *MUJOCO, "--output-format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["degree_of_redundancy"] == 3 and document["agrees"]
    for joint in document["joints"]:
        ours = joint["wrenches"]["mbplugin"]
        assert [value is not None for value in ours] == joint["unique"]


@pytest.mark.long
@pytest.mark.bullet
def test_an_engine_without_an_answer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engines", str(ASSETS / "husky.scene.toml"), *MUJOCO]) == 0
    assert "no answer of MuJoCo: MuJoCo has no constraint" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FOUR_BAR, "--engine", "ode"), "'ode'; expected some of pybullet, mujoco"),
        ((str(ORACLES / "sarrus_6R.sdf"), *MUJOCO, "--hold", ""), "moves under the load"),
        ((str(ASSETS / "four_bar.urdf"), *MUJOCO, "--base", "free"), "falls under the load"),
    ],
)
def test_bad_usage_is_one_sentence(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["engines", *arguments]) == 2
    assert message in capsys.readouterr().err
