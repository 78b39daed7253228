"""Runs without end and refused requests, each as a process of its own, as a team's CI starts them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from command_line import ASSETS, Outcome, call_process

BAR = str(ASSETS / "four_bar.scene.toml")
ARM = str(ASSETS / "arm_6r.scene.toml")
#: A block of 1 kg on a slide along x, and a spring to the world.
STIFF = """
body = [{ name = "block", mass = 1.0, inertia = [0.01, 0.01, 0.01] }]
pair = [{ name = "slide", type = "prismatic", body_a = "world", body_b = "block", xyz_a = [0, 0, 0] }]
spring = [{ body_a = "block", body_b = "world", stiffness = 1e12 }]
state = { q = { slide = 1e-3 } }
"""
LOCKS = [word for k in range(1, 2001) for word in ("--lock", f"j0@{1e-4 * k:.4f}:{1e-4 * k + 5e-5:.5f}")]


def ended_early(done: Outcome, duration: float) -> None:
    """Check that a motion ended with its budget, with what was computed until then."""
    assert done.code == 0 and "Traceback" not in done.err, done.err
    found = json.loads(done.out)
    assert found["outcome"] == "budget_spent"
    assert any("of computing were used up" in note for note in found["notes"])
    assert 0 < found["time"][-1] < duration and len(found["time"]) > 10


@pytest.mark.long
@pytest.mark.parametrize("case", ["spring", "locks", "rate"])
def test_a_run_without_end_ends_with_its_budget(case: str, tmp_path: Path) -> None:
    scene = tmp_path / "stiff.scene.toml"
    scene.write_text(STIFF)
    duration = {"spring": 100.0, "locks": 1.0, "rate": 1000.0}[case]
    arguments = {
        "spring": (str(scene),),
        "locks": (BAR, *LOCKS),
        "rate": (BAR, "--qd", "j0=1e6"),
    }[case]
    budget = ("--duration", str(duration), "--max-seconds", "2", "--output-format", "json")
    begun = time.monotonic()
    ended_early(call_process("simulate", *arguments, *budget), duration)
    assert time.monotonic() - begun < 100


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sweep", ARM, "--out", "nowhere", "--number", "100000000000000000"), "at most 10000000"),
        (("simulate", BAR, "--duration", "0.01", "--samples", "1000000000"), "at most 1000000"),
        (("simulate", BAR, "--duration", "1e308"), "up to 1e+09 s"),
        (("estop", ARM, "--payload", "1e308"), "magnitudes up to 1e+30"),
        (("reactions", BAR, "--misfit", "j1.tx=1e308"), "magnitudes up to 1e+30"),
        (("stop-table", ARM, "--axes", ",".join(["j1"] * 500)), "each joint once"),
        (("matrix", BAR, "--output", BAR), "--output is"),
    ],
    ids=["number", "samples", "duration", "payload", "misfit", "axes", "output"],
)
def test_a_request_that_means_nothing_is_refused(arguments: tuple[str, ...], said: str) -> None:
    before = Path(BAR).read_bytes()
    done = call_process(*arguments)
    assert (done.code, done.out) == (2, "") and said in done.err, done.err
    assert "Traceback" not in done.err and done.err.count("\n") == 1
    assert Path(BAR).read_bytes() == before


@pytest.mark.long
def test_a_stop_without_time_says_why_it_has_not_stopped() -> None:
    done = call_process("estop", ARM, "--duration", "1e-12", "--output-format", "json")
    found = json.loads(done.out)
    assert done.code == 0 and found["outcome"] == "not_stopped"
    assert any("still moving" in note and "1e-12 s" in note for note in found["notes"])
