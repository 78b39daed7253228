"""Typical mistakes: each is answered by one sentence that says what to type instead."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from mbplugin.cli.app import run
from places import ASSETS

BAR, ARM = str(ASSETS / "four_bar.scene.toml"), str(ASSETS / "arm_6r.scene.toml")
URDF = str(ASSETS / "arm_6r.urdf")
#: What was typed, and what the sentence has to say.
MISTAKES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("lnit", BAR), "did you mean 'lint'"),
    (("check", BAR), f"write mbplugin lint {BAR}"),
    (("stop_tabel", ARM), "did you mean 'stop-table'"),
    (("xyzzy",), "the commands are lint, rule"),
    (("--lint", BAR), "write mbplugin lint "),
    (("lint",), "for example mbplugin lint robot.urdf"),
    (("nowhere.urdf",), "nowhere.urdf: no such file; check the path"),
    (("lint", str(ASSETS / "four_bar")), "four_bar.scene.toml' or "),
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
    (("matrix", BAR, "--save", "C.mat"), "expected a file that ends in .npz or .csv or "),
    (("reactions", BAR, "--load", "coupler"), "expected BODY:FX,FY,FZ"),
    (("reactions", BAR, "--load", "couple:1,2,3"), "did you mean 'coupler'?"),
    (("reactions", BAR, "--load", "coupler:1,2"), "expected three of a force, or six"),
    (("simulate",), "for example mbplugin simulate robot.urdf"),
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
    (("lint", BAR, "--select", "MB999"), "--select names 'MB999', which no rule has; mbplugin rule lists"),
    (("lint", BAR, "--ignore", "redundant-constraint"), "did you mean 'redundant-constraints'?"),
    (("lint", BAR, "--extend-select", "zzz"), "mbplugin rule lists the rules"),
    (("lint", BAR, "--config", "select.toml"), "select.toml:1: ignore names 'MB999'"),
    (("lint", "waived.scene.toml"), "[lint] ignore names 'MB999', which no rule has"),
    (("reactions", "."), "this is a directory; expected a file; name a file of it"),
    (("lint", "robot.step"), "expected URDF (<robot>), SDF (<sdf>)"),
    (("lint", "twins.scene.toml"), "give each [[model]] its own name"),
    (("calibrate", "m.csv", URDF), f"write mbplugin calibrate {URDF} m.csv"),
    (("stop-table", URDF, "--base", "free"), "hold the base (base='fixed' or --base fixed)"),
    (("estop", ARM, "--qd", "j_1=1"), "did you mean 'j1'?"),
    (("estop", ARM, "--payload", "5", "kg"), "write --payload 5kg"),
    (("estop", ARM, "--payload", "-5"), "not negative"),
    (("worst-stop", ARM, "--speed", "180"), "expected NAME=VALUE,…"),
    (("simulate", BAR, "--duration", "1", "--integrator", "euler"), "known names are dop853, dopri5, rk4"),
    (("simulate", BAR, "--duration", "1", "--lock", "j9@0.5"), "known names are j0, j1, j2, j3"),
    (("simulate", BAR, "--duration", "1", "--save", "nowhere/m.npz"), "no such folder"),
    (("reactions", BAR, "--load", "coupler:0;0;-100"), "has 1 number; expected three of a force, or six"),
    (("close", ARM, "--to", "mujoco"), "'mjcf', 'sdf', 'urdf'"),
    (("stop-table", ARM, "--units", "gradians"), "expected some of rad, mrad, deg"),
    (("rule", "MB12"), "expected one that it begins: MB120, MB121, "),
    (("distance", URDF, "--term", "K=1.6"), "write one by mbplugin estop FILE --output-format json"),
)
#: Files of the mistakes.
FILES = {
    "select.toml": 'ignore = ["MB999"]\n',
    "waived.scene.toml": f"[[model]]\nfile = '{Path(URDF).name}'\nbase = 'fixed'\n[lint]\nignore = ['MB999']\n",
    "robot.step": "ISO-10303-21;\n",
    "twins.scene.toml": f"[[model]]\nfile = '{Path(URDF).name}'\nname = 'a'\n" * 2,
    "m.csv": "joint,category,speed,time\nj1,0,1,0.2\n",
}
#: Words of libraries that tell a user nothing.
LEAKED = re.compile(
    r"Value error|Input should|validation error|Traceback|pydantic|click|typer", re.IGNORECASE
)


def test_there_are_seventy() -> None:
    assert len({mistake for mistake, _ in MISTAKES}) == len(MISTAKES) >= 70


@pytest.mark.parametrize(("typed", "instead"), MISTAKES, ids=lambda value: " ".join(value)[:50])
def test_a_mistake_is_answered_by_what_to_type(
    typed: tuple[str, ...],
    instead: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    shutil.copy(URDF, tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(list(typed)) == 2
    written = capsys.readouterr()
    # a lint says among its findings what is wrong with the model
    sentence = written.err or f"{' '.join(written.out.split())}\n"
    assert instead in sentence
    assert sentence.count("\n") == 1 and len(sentence) < 500
    assert not LEAKED.search(sentence)
    assert not re.search(r"[?!]\.|(?<!\.)\.\.(?!\.)|; ?\.|\s\.$", sentence)


@pytest.mark.parametrize(
    ("typed", "warning"),
    [
        (("reactions", URDF, "--base", "fixed", "--q", "j1=90"), "write 90deg if that is meant"),
        (
            ("simulate", "negative.urdf", "--base", "fixed", "--duration", "0.1"),
            "the mass of turret is -65 kg",
        ),
    ],
    ids=["degrees", "negative mass"],
)
def test_what_is_possible_and_unlikely_is_a_warning(
    typed: tuple[str, ...],
    warning: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    robot = Path(URDF).read_text().replace('mass value="65"', 'mass value="-65"')
    (tmp_path / "negative.urdf").write_text(robot)
    monkeypatch.chdir(tmp_path)
    run(list(typed))
    assert warning in capsys.readouterr().err


def test_a_rule_is_found_by_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "201"]) == 0
    assert capsys.readouterr().out.startswith("MB201 redundant-constraints")
