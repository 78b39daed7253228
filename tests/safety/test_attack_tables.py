"""Sizes that no machine has, for many stops at once: refused with a sentence, never null or a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import ASSETS, call

ARM = str(ASSETS / "arm_6r.scene.toml")
SWEEP = ("sweep", ARM, "--qd", "j1=1", "--out", "stops", "--number", "1", "--jobs", "1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("stop-table", ARM, "--payload", "1e308"), "up to 1e+30"),
        (("stop-table", ARM, "--payload", "nan"), "up to 1e+30"),
        ((*SWEEP, "--q-spread", "1e308"), "up to 1e+30"),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else "",
)
def test_sizes_that_no_machine_has_are_refused(
    arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*arguments, "--output-format", "json")
    assert done.code == 2 and said in done.err, done.err
    assert done.out == "" and "Traceback" not in done.err


@pytest.mark.parametrize(
    ("option", "rows"), [(("--payload", "1e30"), slice(None)), (("--speed", "j1=1e30"), slice(1))]
)
def test_a_stop_that_no_brake_makes_is_not_reported_as_one(option: tuple[str, str], rows: slice) -> None:
    """The weight of 1e30 kg moves every joint into its limit, as the speed does the first one, or it is refused."""
    done = call("stop-table", ARM, *option, "--output-format", "json")
    if done.code == 2:
        assert done.err.startswith("mbplugin: the numbers of a stop are out of range")
        return
    found = json.loads(done.out)["rows"][rows]
    assert {row["outcome"] for row in found} <= {"limit_hit", "not_stopped"}


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ("0,0 0.01,1e300 0.02,0", "column j1 is 1e+300 at 0.01 s; expected magnitudes up to 1e+30"),
        ("0,0 0.01,0.1 1e16,0.2", "the samples are 0.01 to 1e+16 s apart"),
        ("0,0 1e-300,1 0.02,0", "column j1 changes by 1e+300 per second at 0 s"),
        ("0,0 1e-310,1 0.02,0", "column j1 changes by inf per second at 0 s"),
    ],
)
@pytest.mark.parametrize("command", ["estop", "sweep", pytest.param("view", marks=pytest.mark.bullet)])
def test_a_recording_that_no_machine_makes_is_refused(
    command: str, cells: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "motion.csv").write_text("time,j1\n" + cells.replace(" ", "\n") + "\n")
    arguments = {
        "estop": ("--trajectory", "motion.csv", "--at", "0.015"),
        "sweep": ("--trajectory", "motion.csv", "--out", "stops", "--number", "1", "--jobs", "1"),
        "view": ("--motion", "motion.csv", "--picture", "p.png", "--size", "9x9"),
    }
    done = call(command, ARM, *arguments[command])
    assert (done.code, done.out) == (2, "") and said in done.err, done.err
