"""The record of a report says when, by which version and command, and from which files it was made."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shlex
import subprocess
from pathlib import Path
from shutil import which

import numpy as np
import pytest
import trimesh

import mbplugin
from command_line import FOUR_BAR, ROOT, call
from mbplugin.readers import sources_of
from mbplugin.report.record import checked_out, record_facts, record_of
from mbplugin.simulation import run as simulation

ARM = str(ROOT / "assets" / "arm_6r.scene.toml")


def record(*arguments: str) -> dict[str, object]:
    outcome = call(*arguments, "--output-format", "json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["record"]  # type: ignore[no-any-return]


def test_the_hashes_are_those_of_a_second_program() -> None:
    files = record("reactions", ARM)["files"]
    assert isinstance(files, list)
    assert {Path(one["path"]).name for one in files} == {"arm_6r.scene.toml", "arm_6r.urdf"}
    program = which("sha256sum")
    for one in files:
        data = Path(one["path"]).read_bytes()
        assert one["sha256"] == hashlib.sha256(data).hexdigest()
        if program:
            said = subprocess.run([program, one["path"]], capture_output=True, check=True, text=True).stdout
            assert said.split()[0] == one["sha256"]


def test_the_command_can_be_typed_again() -> None:
    arguments = ("simulate", FOUR_BAR, "--duration", "0.01", "--output-format", "json")
    kept = json.loads(call(*arguments).out)["record"]
    assert shlex.split(str(kept["command"])) == ["mbplugin", *arguments]
    assert kept["version"] == mbplugin.__version__


def test_a_file_with_a_blank_is_quoted(tmp_path: Path) -> None:
    file = tmp_path / "four bar.sdf"
    file.write_bytes(Path(FOUR_BAR).read_bytes())
    assert shlex.split(str(record("reactions", str(file))["command"]))[2] == str(file)


def test_the_date_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "951782400")
    assert record("reactions", FOUR_BAR)["date"] == "2000-02-29T00:00:00Z"


@pytest.mark.parametrize("stated", ["yesterday", "1.5", "9" * 30])
def test_what_is_no_time_is_refused(monkeypatch: pytest.MonkeyPatch, stated: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", stated)
    outcome = call("reactions", FOUR_BAR, "--output-format", "json")
    assert (outcome.code, outcome.out) == (2, "")
    assert "SOURCE_DATE_EPOCH" in outcome.err


def test_a_model_from_stdin_has_the_hash_of_what_came() -> None:
    data = Path(FOUR_BAR).read_bytes()
    outcome = call("reactions", "-", "--output-format", "json", stdin=data)
    (one,) = json.loads(outcome.out)["record"]["files"]
    assert one["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_page_has_the_record_of_its_document(tmp_path: Path) -> None:
    file = tmp_path / "motion.html"
    outcome = call("simulate", FOUR_BAR, "--duration", "0.01", "--output", str(file))
    assert outcome.code == 0, outcome.err
    page = file.read_text(encoding="utf-8")
    assert hashlib.sha256(Path(FOUR_BAR).read_bytes()).hexdigest() in page
    assert "date: 2023-11-14T22:13:20Z" in page
    # without the folders of this machine
    assert f"mbplugin simulate {Path(FOUR_BAR).name} --duration 0.01" in page
    assert f"Python: {platform.python_version()}, NumPy: {np.__version__}" in page
    assert str(ROOT) not in page


COMMANDS = (
    ("reactions", FOUR_BAR),
    ("simulate", FOUR_BAR, "--duration", "0.01"),
    ("estop", ARM, "--qd", "j1=0.5"),
    ("stop-table", ARM, "--axes", "j1"),
    ("engines", FOUR_BAR, "--engine", "mujoco"),
)


@pytest.mark.long_after(2)
@pytest.mark.parametrize("arguments", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_a_text_in_a_file_ends_with_its_record(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "report.txt"
    assert call(*arguments, "--output", str(file)).code == 0
    text, shown = file.read_text(encoding="utf-8"), call(*arguments).out
    assert text.startswith(shown) and "SHA-256" not in shown
    kept = json.loads(call(*arguments, "--output-format", "json").out)["record"]
    lines = text[len(shown) :].split("\n")
    named = [
        Path(word).name if word.startswith("/") else word for word in (*arguments, "--output", str(file))
    ]
    assert lines[:2] == ["", "Record"] and lines[2] == f"  date: {kept['date']}"
    assert re.fullmatch(rf"  mbplugin: {re.escape(kept['version'])}(, commit [0-9a-f]{{12}})?", lines[3])
    assert lines[4] == f"  Python: {platform.python_version()}, NumPy: {np.__version__}"
    assert lines[5] == f"  command: mbplugin {shlex.join(named)}"
    assert [f"  file: {Path(one['path']).name}, SHA-256 {one['sha256']}" for one in kept["files"]] == [
        line for line in lines if "SHA-256" in line
    ]


@pytest.mark.parametrize(
    ("files", "commit"),
    [
        ({"HEAD": "a" * 40}, "a" * 12),
        ({"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "b" * 40 + "\n"}, "b" * 12),
        (
            {"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# packed\n{'c' * 40} refs/heads/main\n"},
            "c" * 12,
        ),
        ({"HEAD": "ref: refs/heads/main\n"}, None),
        ({"HEAD": "nothing"}, None),
        ({}, None),
    ],
)
def test_the_commit_is_that_of_the_checkout(
    tmp_path: Path, files: dict[str, str], commit: str | None
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    found = checked_out(tmp_path)
    assert (found and found[:12]) == commit


def test_a_file_that_is_gone_is_named_without_a_hash() -> None:
    known, gone = sources_of(mbplugin.load(FOUR_BAR), ("no/such/file.csv",))
    assert known.sha256 and (gone.path, gone.sha256) == ("no/such/file.csv", None)
    facts = list(record_facts(record_of("mbplugin", "four bar", (known, gone))))
    assert facts[-1] == "file: no/such/file.csv, which could not be read again"


ROBOT = """<robot name="lamp"><link name="base"/><link name="arm">
<visual><geometry><mesh filename="arm.stl"/></geometry></visual>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="2" effort="9"/></joint></robot>"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    trimesh.creation.box((0.4, 0.1, 0.1)).export(tmp_path / "arm.stl")
    (tmp_path / "robot.urdf").write_text(ROBOT, encoding="utf-8")
    return tmp_path / "robot.urdf"


def test_meshes_that_were_read_are_named_with_their_hash(lamp: Path, tmp_path: Path) -> None:
    stop = ("estop", str(lamp), "--base", "fixed", "--qd", "j=1", "--output-format", "json")
    files = json.loads(call(*stop, "--zone", str(tmp_path / "zone.csv")).out)["record"]["files"]
    mesh = tmp_path / "arm.stl"
    assert {one["path"]: one["sha256"] for one in files} == {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (lamp, mesh)
    }
    # statics needs no shape
    assert [one["path"] for one in record("reactions", str(lamp), "--base", "fixed")["files"]] == [str(lamp)]  # type: ignore[attr-defined]


def test_a_hash_is_that_of_what_was_read(lamp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = hashlib.sha256(lamp.read_bytes()).hexdigest()
    compute = simulation.simulate

    def changed_meanwhile(*arguments: object, **more: object) -> object:
        lamp.write_text(ROBOT.replace("lamp", "other"), encoding="utf-8")
        return compute(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(simulation, "simulate", changed_meanwhile)
    (one,) = record("simulate", str(lamp), "--base", "fixed", "--duration", "0.01")["files"]  # type: ignore[misc]
    assert hashlib.sha256(lamp.read_bytes()).hexdigest() != before
    assert one["sha256"] == before
