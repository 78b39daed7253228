"""``mbplugin simulate``: text, JSON by its schema, files, interruption, and bad input."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, ROOT, call

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
SHORT = ("--duration", "0.05")


def document(*arguments: str) -> dict[str, Any]:
    outcome = call("simulate", *arguments, "--output-format", "json")
    assert outcome.code == 0, outcome.err
    found: dict[str, Any] = json.loads(outcome.out, parse_constant=pytest.fail)
    jsonschema.validate(found, json.loads(call("schema", "simulate").out))
    return found


def test_the_document_is_the_trajectory() -> None:
    found = document(FOUR_BAR, *SHORT, "--qd", "j0=1", "--reactions", "j1")
    motion = mb.simulate(mb.load(FOUR_BAR), 0.05, qd0={"j0": 1.0})
    assert found["time"] == motion.time.tolist() and found["time"][-1] == 0.05
    assert list(found["q"]) == list(motion.mechanism.q_names)
    assert found["q"][motion.joint_names[0]] == motion.q[:, 0].tolist()
    assert found["reactions"]["j1"]["wrench"] == motion.reactions("j1").tolist()
    assert found["reactions"]["j1"]["unique"] == motion.uniqueness("j1").tolist()
    assert (found["outcome"], found["request"]["integrator"]) == ("completed", "dop853")


def test_text_tells_the_end_the_energy_and_what_is_open() -> None:
    out = call("simulate", FOUR_BAR, *SHORT, "--qd", "j0=1", "--reactions", "j1").out
    assert "over 0.05 s, completed" in out and "3 redundant constraints" in out
    assert "energy and work [J]" in out and "constraints hold to" in out
    (row,) = (line.split() for line in out.splitlines() if line.startswith("  j1 ") and "?" in line)
    assert row[0] == "j1" and row[3:6] == ["?"] * 3


def test_what_acts_is_what_the_options_say() -> None:
    door = str(ROOT / "tests" / "oracles" / "door_1_hinge.sdf")
    (joint,) = mb.load(door).mechanism.qd_names
    found = document(door, "--duration", "0.2", "--torque", f"{joint}=2", "--no-damping", "--no-friction")
    assert found["energy"]["applied"][-1] == pytest.approx(2 * (found["q"][joint][-1] - found["q"][joint][0]))
    locked = document(door, "--duration", "0.2", "--qd", f"{joint}=1", "--lock", f"{joint}@0.1")
    assert [(e["kind"], e["time"]) for e in locked["events"]] == [("lock", 0.1)]
    assert locked["qd"][joint][-1] == pytest.approx(0, abs=1e-12)
    assert sorted(set(locked["segment"])) == [0, 1] and locked["active"][1] == [f"lock {joint}"]


@pytest.mark.long
def test_saved_and_drawn(tmp_path: Path) -> None:
    table, picture, report = (tmp_path / name for name in ("m.csv", "m.png", "r.txt"))
    files = ("--save", str(table), "--plot", str(picture), "--output", str(report))
    outcome = call("simulate", FOUR_BAR, *SHORT, "--reactions", "j1", *files)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    header, *rows = csv.reader(io.StringIO(table.read_text(encoding="utf-8")))
    assert header[0] == "time [s]" and header[-1] == "j1 rz [N·m]" and rows[-1][0] == "0.05"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "completed" in report.read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--duration", "0"), "the duration is 0"),
        (("--duration", "-1"), "the duration is -1"),
        (("--duration", "nan"), "the duration is nan"),
        (("--duration", "inf"), "the duration is inf"),
        (("--duration", "soon"), "--duration is 'soon'"),
        ((*SHORT, "--step", "0"), "the step is 0"),
        ((*SHORT, "--rtol", "0"), "the rtol is 0"),
        ((*SHORT, "--atol", "nan"), "the atol is nan"),
        ((*SHORT, "--samples", "0"), "at least one"),
        ((*SHORT, "--integrator", "dop835"), "did you mean 'dop853'"),
        ((*SHORT, "--formulation", "projekted"), "did you mean 'projected'"),
        ((*SHORT, "--redundancy", "elimination"), "did you mean 'eliminate'"),
        ((*SHORT, "--coordinates", "joints"), "did you mean 'joint'"),
        ((*SHORT, "--limits", "halt"), "no limits 'halt'"),
        ((*SHORT, "--formulation", "projected", "--redundancy", "augmented"), "no meaning"),
        ((*SHORT, "--q", "j0=nan"), "a finite number"),
        ((*SHORT, "--qd", "j0"), "--qd has 'j0'"),
        ((*SHORT, "--qd", "j77=1"), "no joint coordinate"),
        ((*SHORT, "--torque", "j77=1"), "no joint rate"),
        ((*SHORT, "--torque", "j0=inf"), "a finite number"),
        ((*SHORT, "--load", "copler:1,0,0"), "did you mean 'coupler'"),
        ((*SHORT, "--lock", "j77@0.01"), "unknown pair 'j77'"),
        ((*SHORT, "--lock", "j0@soon"), "a time, such as 500ms"),
        ((*SHORT, "--lock", "j0@0.06"), "from 0 to the duration"),
        ((*SHORT, "--reactions", "j77"), "unknown pair 'j77'"),
        ((*SHORT, "--save", "motion.xlsx"), "expected .npz or .csv"),
        ((*SHORT, "--plot", "motion.docx"), "expected .png"),
        ((*SHORT, "--save", "nowhere/m.csv"), "no such folder"),
        ((*SHORT, "--output", "nowhere/m.txt"), "no such folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = call("simulate", FOUR_BAR, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_motion_is_kept(tmp_path: Path) -> None:
    """Ctrl-C after some steps: they are reported and saved, and the exit code says so."""
    from mbplugin.simulation.runner import Runner

    told: list[float] = []
    advance = Runner._advance_to

    def interrupted(self: Runner, end: float, progress: object) -> str:
        advance(self, 0.02, None)
        told.append(self.state.t)
        raise KeyboardInterrupt

    saved = tmp_path / "m.npz"
    with mock.patch.object(Runner, "_advance_to", interrupted):
        outcome = call("simulate", FOUR_BAR, "--duration", "5", "--save", str(saved))
    assert outcome.code == 130 and "interrupted" in outcome.out
    with np.load(saved) as arrays:
        assert arrays["time"][-1] == told[0] == 0.02
        assert json.loads(str(arrays["about"]))["outcome"] == "interrupted"


def test_the_bar_goes_to_a_terminal_only() -> None:
    from mbplugin.cli.braking import time_bar

    with time_bar() as nobody:
        assert nobody is None
    with (
        mock.patch("mbplugin.cli.braking.on_terminal", return_value=True),
        mock.patch("sys.stderr", io.StringIO()) as shown,
        mock.patch.dict("os.environ", {"TERM": "xterm", "FORCE_COLOR": "1"}),
        time_bar() as tell,
    ):
        assert tell is not None
        tell(0.5, 2.0)
    assert "0.5 of 2 s" in shown.getvalue()


def test_a_free_base_without_mass_is_held_and_named_first_or_told_how_to_be_held() -> None:
    """An arm on a link without inertia, whose base its file leaves open."""
    arm = str(ROOT / "assets" / "arm_6r.urdf")
    outcome = call("simulate", arm, "--duration", "0.01", "--base", "free")
    assert outcome.code == 2 and "the base 'base' is free" in outcome.err and "--base fixed" in outcome.err
    assert call("simulate", arm, "--duration", "0.01", "--base", "fixed").code == 0
    outcome = call("simulate", arm, "--duration", "0.01")
    assert outcome.code == 0 and outcome.out.startswith(
        "! assumed: base taken as fixed to the ground (--base free)"
    )
