"""Typical mistakes: each is answered by one sentence that says what to type instead."""

from __future__ import annotations

import re

import pytest

from mbplugin.cli.app import run
from places import ASSETS

BAR, ARM = str(ASSETS / "four_bar.scene.toml"), str(ASSETS / "arm_6r.scene.toml")
#: What was typed, and what the sentence has to say.
MISTAKES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("lnit", BAR), "did you mean 'lint'"),
    (("check", BAR), "did you mean 'crosscheck'"),
    (("stop_tabel", ARM), "did you mean 'stop-table'"),
    (("xyzzy",), "the commands are lint, rule"),
    (("--lint", BAR), "write mbplugin lint "),
    (("lint",), "for example mbplugin lint robot.urdf"),
    (("nowhere.urdf",), "nowhere.urdf: no such file; check the path"),
    (("lint", str(ASSETS / "four_bar")), "no such file; check the path"),
    (("lint", BAR, "--q", "j0"), "expected NAME=VALUE,…"),
    (("reactions", BAR, "--q", "j0", "1.5"), "write --q j0=1.5"),
    (("reactions", BAR, "--qd", "j0=1", "j1=2"), "write --qd j0=1 --qd j1=2"),
    (("lint", BAR, "--q", "j9=1"), "known names are j0, j1, j2"),
    (("lint", BAR, "--q", "j0=fast"), "expected a finite number"),
    (("lint", BAR, "--q", "j0=90°x"), "with a known unit or none"),
    (("lint", BAR, "-q", "j0=1"), "write --q"),
    (("lint", BAR, "--base", "floating"), "'fixed', 'free'"),
    (("lint", BAR, "--planar", "xz"), "'xy', 'yz', 'zx'"),
    (("lint", BAR, "--tolerance", "tiny"), "expected a number"),
    (("lint", BAR, "--samples", "few"), "expected a whole number"),
    (("lint", "--jobs", "0", BAR), "expected at least 1"),
    (("lint", BAR, "--method", "lu"), "'qr', 'svd'"),
    (("lint", BAR, "--output-format", "yml"), "'text', 'json'"),
    (("lint", BAR, "--format", "json"), "--output-format"),
    (("lint", BAR, "--snap_angles"), "--snap-angles"),
    (("lint", BAR, "--output", "r.doc"), "a file that ends in .txt or .json"),
    (("lint", BAR, "--output", "/nowhere/r.json"), "no such folder"),
    (("lint", BAR, "--fail-on", "warn"), "'error', 'warning', 'note'"),
    (("lint", BAR, "--group", "j0,j8"), "known names are j0, j1, j2, j3"),
    (("lint", BAR, "--report", "json"), "expected FORMAT=FILE"),
    (("lint", BAR, "--output-format", "text", "--output", BAR), "or another ending"),
    (("rule", "MB2011"), "did you mean 'MB201'?"),
    (("rule", "xyzzy"), "known names are MB101"),
    (("schema", "linter"), "'lint', 'scene'"),
    (("matrix", BAR, "--save", "C.mat"), "expected .npz or .csv"),
    (("reactions", BAR, "--load", "coupler"), "expected BODY:FX,FY,FZ"),
    (("reactions", BAR, "--load", "couple:1,2,3"), "did you mean 'coupler'?"),
    (("reactions", BAR, "--load", "coupler:1,2"), "expected three of a force, or six"),
    (("simulate", BAR), "for example mbplugin simulate robot.urdf --duration 2"),
    (("simulate", BAR, "--duration", "-1"), "expected a positive number"),
    (("simulate", BAR, "--duration", "long"), "such as 500ms"),
    (("estop", ARM, "--category", "3"), "expected 0, 1 or 2"),
    (("estop", ARM, "--payload", "heavy"), "such as 5kg"),
    (("estop", ARM, "--qd", "j1=1rpmm"), "did you mean 'rpm'?"),
    (("estop", ARM, "--qd", "1,2,3"), "expected NAME=VALUE,…"),
    (("estop", ARM, "--brake", "j1"), "expected JOINT:KEY=VALUE,…"),
    (("estop", ARM, "--brake", "j1:torqe=5"), "did you mean 'torque'?"),
    (("stop-table", ARM, "--axes", "j77"), "known names are j1, j2"),
    (("sweep", ARM), "for example mbplugin sweep robot.urdf --out stops"),
    (("sweep", ARM, "--out", "s", "--number", "0"), "expected at least one"),
    (("calibrate", ARM), "for example mbplugin calibrate robot.urdf measured.csv"),
    (("view", BAR, "--picture", "a.bmp"), "expected .png or .jpg"),
    (("view", BAR, "--film", "a.gif"), "add --motion FILE or --stop"),
    (("engines", BAR, "--engine", "ode"), "expected some of pybullet, mujoco"),
)
#: Words of libraries that tell a user nothing.
LEAKED = re.compile(
    r"Value error|Input should|validation error|Traceback|pydantic|click|typer", re.IGNORECASE
)


def test_there_are_forty() -> None:
    assert len({mistake for mistake, _ in MISTAKES}) == len(MISTAKES) >= 40


@pytest.mark.parametrize(("typed", "instead"), MISTAKES, ids=lambda value: " ".join(value)[:50])
def test_a_mistake_is_answered_by_what_to_type(
    typed: tuple[str, ...], instead: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(list(typed)) == 2
    sentence = capsys.readouterr().err
    assert instead in sentence
    assert sentence.count("\n") == 1 and len(sentence) < 500
    assert not LEAKED.search(sentence)
