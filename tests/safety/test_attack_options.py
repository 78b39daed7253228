"""Options of a size that no machine has, runs that would never end, and requests that mean nothing."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, EITHER_WAY, Call, call
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose, Spring

BAR = str(ASSETS / "four_bar.scene.toml")
ARM = str(ASSETS / "arm_6r.scene.toml")
SHORT = ("simulate", BAR, "--duration", "0.01")
STOP_TABLE = ("stop-table", ARM)

REFUSED = [
    ((*SHORT, "--payload", "coupler:1e308"), "magnitudes up to 1e+30"),
    ((*SHORT, "--payload", "coupler:1@nan,0,0"), "finite"),
    ((*SHORT, "--load", "coupler:1e308,0,0"), "magnitudes up to 1e+30"),
    ((*SHORT, "--torque", "j0=1e308"), "magnitudes up to 1e+30"),
    ((*SHORT, "--qd", "j0=1e300"), "magnitudes up to 1e+30"),
    ((*SHORT, "--q", "j0=1e300"), "magnitudes up to 1e+30"),
    ((*SHORT, "--brake", "j0:torque=1e308"), "magnitudes up to 1e+30"),
    ((*SHORT, "--lock", "j0@1e300"), "magnitudes up to 1e+30"),
    ((*SHORT, "--lock", "j0@nan"), "a finite number or a time"),
    ((*SHORT, "--samples", "1000000000"), "at most 1000000"),
    ((*SHORT, "--max-seconds", "0"), "positive"),
    ((*SHORT, "--max-seconds", "nan"), "positive"),
    (("simulate", BAR, "--duration", "1e308"), "up to 1e+09 s"),
    (("reactions", BAR, "--payload", "coupler:1e308"), "magnitudes up to 1e+30"),
    (("reactions", BAR, "--load", "coupler:0,1e308,0"), "magnitudes up to 1e+30"),
    (("reactions", BAR, "--misfit", "j1.tx=1e308"), "magnitudes up to 1e+30"),
    (("estop", ARM, "--payload", "1e308"), "magnitudes up to 1e+30"),
    (("estop", ARM, "--duration", "1e308"), "up to 1e+09 s"),
    ((*STOP_TABLE, "--axes", ",".join(["j1"] * 500)), "each joint once"),
    (("sweep", ARM, "--out", "nowhere", "--number", "100000000000000000"), "at most 10000000"),
    (("sweep", ARM, "--out", "nowhere", "--number", "1", "--speed-range", "1,1e308"), "magnitudes"),
]


@pytest.mark.parametrize("call", EITHER_WAY)
@pytest.mark.parametrize(
    ("arguments", "said"), REFUSED, ids=lambda value: " ".join(value[-2:]) if isinstance(value, tuple) else ""
)
def test_numbers_that_no_machine_has_are_refused(
    call: Call, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begun = time.process_time()
    done = call(*arguments)
    assert done.code == 2 and said in done.err, done.err
    assert done.out == "" and "Traceback" not in done.err
    assert time.process_time() - begun < 10


@pytest.mark.long
@pytest.mark.parametrize(
    "more",
    [
        ("--duration", "1e9"),
        pytest.param(
            ("--duration", "100", "--qd", "j0=1e4"),
            marks=pytest.mark.no_invariants(
                "1600 turns per second: a relative tolerance of 1e-8 loses 2e-6 of the energy"
            ),
        ),
        ("--duration", "1e3", "--integrator", "rk4", "--step", "1e-7"),
        ("--duration", "1e3", "--samples", "1000000"),
    ],
    ids=["long", "fast", "small steps", "samples"],
)
def test_a_motion_without_end_ends_with_its_budget_and_what_was_computed(more: tuple[str, ...]) -> None:
    call(*SHORT)  # compiles
    begun = time.monotonic()
    done = call("simulate", BAR, *more, "--max-seconds", "1", "--output-format", "json")
    assert time.monotonic() - begun < 30
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["outcome"] == "budget_spent"
    assert any("1 s of computing were used up" in note for note in found["notes"])
    assert 0 < found["time"][-1] < float(more[1]) and len(found["time"]) == len(found["q"]["j0"]) > 10


def stiff() -> Mechanism:
    """A slide of 1 kg along x."""
    at = Pose(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), np.zeros(3))
    return Mechanism(
        "stiff",
        (Body("block", 1.0, np.zeros(3), 0.01 * np.eye(3)),),
        (Pair("slide", "prismatic", WORLD, "block", at, at),),
    )


@pytest.mark.long
def test_a_hard_spring_ends_with_the_budget_on_the_exact_motion() -> None:
    """k = 1e12 N/m at 1 kg: x = 1 mm · cos(1e6 t); ten seconds are 1.6 million periods."""
    spring = Spring("block", WORLD, np.zeros(3), np.zeros(3), 1e12)
    motion = mb.simulate(
        stiff(), 10.0, q0={"slide": 1e-3}, springs=[spring], max_seconds=1.0, rtol=1e-10, atol=1e-14
    )
    assert motion.outcome == "budget_spent" and 0 < motion.time[-1] < 10
    early = motion.time < 1e-4
    assert early.sum() > 10
    assert motion.q[early, 0] == pytest.approx(1e-3 * np.cos(1e6 * motion.time[early]), abs=1e-7)


@pytest.mark.long
def test_what_the_budget_leaves_is_the_beginning_of_the_whole_motion() -> None:
    cut = mb.simulate(mb.load(BAR), 1e9, qd0={"j0": 2.0}, max_seconds=0.5)
    whole = mb.simulate(mb.load(BAR), 1.0, qd0={"j0": 2.0})
    assert cut.outcome == "budget_spent" and whole.outcome == "completed"
    at = [0.2, 0.5, 0.9]
    assert cut.resample(at).q == pytest.approx(whole.resample(at).q, abs=1e-6)


def test_a_motion_in_time_is_not_cut() -> None:
    assert mb.simulate(mb.load(BAR), 0.01, max_seconds=60).outcome == "completed"


def test_memory_ends_a_motion_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from mbplugin.simulation import options

    monkeypatch.setattr(options, "MOST_BYTES", 1_000_000)
    motion = mb.simulate(mb.load(BAR), 1e6)
    assert motion.outcome == "budget_spent"
    (note,) = (n for n in motion.notes if "were used up" in n)
    assert "steps" in note and "shorter duration" in note
    assert 100 < len(motion.time) < 5000


@pytest.mark.long
def test_many_locks_end_with_the_budget() -> None:
    locks = [mb.Lock("j0", at=1e-4 * k, until=1e-4 * k + 5e-5) for k in range(1, 2001)]
    begun = time.monotonic()
    motion = mb.simulate(mb.load(BAR), 1.0, locks=locks, max_seconds=1.0)
    assert motion.outcome == "budget_spent" and time.monotonic() - begun < 30


@pytest.mark.parametrize("call", EITHER_WAY)
def test_a_stop_that_is_given_no_time_says_why_it_has_not_stopped(call: Call) -> None:
    done = call("estop", ARM, "--duration", "1e-12", "--output-format", "json")
    found = json.loads(done.out)
    assert found["outcome"] == "not_stopped"
    (note,) = (n for n in found["notes"] if "still moving" in n)
    assert "1e-12 s" in note and all(f"j{k}" in note for k in range(1, 7))


@pytest.mark.parametrize("call", EITHER_WAY)
def test_a_stop_ends_with_its_budget(call: Call) -> None:
    done = call("estop", ARM, "--max-seconds", "1e-6", "--output-format", "json")
    found = json.loads(done.out)
    assert done.code == 0 and found["outcome"] == "budget_spent"
    assert any("1e-06 s of computing were used up" in note for note in found["notes"])


@pytest.mark.bullet
@pytest.mark.parametrize("call", EITHER_WAY)
@pytest.mark.parametrize("command", ["lint", "simulate", "estop", "reactions", "crosscheck", "stop-table"])
@pytest.mark.parametrize("sliding", ["torque = 30", ""], ids=["stated", "effort"])
def test_a_brake_that_holds_less_than_it_slides_with_is_refused_by_every_command(
    call: Call, command: str, sliding: str, tmp_path: Path
) -> None:
    """Every joint of the arm has an effort limit above 20 N·m, the sliding torque where none is stated."""
    shutil.copy(ASSETS / "arm_6r.urdf", tmp_path)
    scene = tmp_path / "arm.scene.toml"
    scene.write_text(
        f'[[model]]\nfile = "arm_6r.urdf"\nbase = "fixed"\n\n[[brake]]\njoint = "j1"\n{sliding}\n'
        "static_torque = 20\n"
    )
    more = ("--duration", "0.01") if command in ("simulate", "crosscheck") else ()
    done = call(command, str(scene), *more)
    assert done.code == 2
    assert "holds 20" in done.out + done.err and "static_torque not below torque" in done.out + done.err


@pytest.mark.parametrize("call", EITHER_WAY)
@pytest.mark.parametrize(
    ("first", "second", "angle"),
    [
        ("0.1 0.5 0.7", "0.1 0.5 0.7", "0 degrees"),
        ("0.1 0.5 0.7", "-0.1 -0.5 -0.7", "180 degrees"),
        ("1 0 0", "1 1 0", "45 degrees"),
    ],
)
def test_parallel_axes_of_a_universal_joint_meet_at_an_angle(
    call: Call, first: str, second: str, angle: str, tmp_path: Path
) -> None:
    """The unit vector of (0.1, 0.5, 0.7) times itself is 1 + 2e-16 in floating point."""
    axes = f"<axis><xyz>{first}</xyz></axis><axis2><xyz>{second}</xyz></axis2>"
    model = tmp_path / "robot.sdf"
    model.write_text(
        '<sdf version="1.9"><model name="m"><link name="a"/><link name="b"/>'
        f'<joint name="u" type="universal"><parent>a</parent><child>b</child>{axes}</joint></model></sdf>'
    )
    done = call("lint", str(model))
    assert done.code == 2 and f"meet at {angle}" in " ".join(done.out.split())


@pytest.mark.long
def test_a_motion_without_seconds_left_is_not_followed_again() -> None:
    """Its pictures took a hundred times what the motion was allowed: every instant was computed again."""
    spring = Spring("block", WORLD, np.zeros(3), np.zeros(3), 1e12)
    state = {"q0": {"slide": 1e-3}, "springs": [spring], "rtol": 1e-10, "atol": 1e-14}
    cut = mb.simulate(stiff(), 10.0, max_seconds=0.5, **state)
    assert cut.outcome == "budget_spent" and "interpolated between its samples" in cut.notes[-1]
    assert cut.playback is None
    at = np.linspace(0.0, 1e-5, 50)
    assert cut.resample(at).q[:, 0] == pytest.approx(1e-3 * np.cos(1e6 * at), abs=1e-6)
    assert mb.simulate(stiff(), 1e-5, **state).playback is not None


@pytest.mark.parametrize(
    "line",
    [
        ("estop", ARM, "--output"),
        ("lint", ARM, "--output"),
        ("lint", ARM, "--write-scene"),
        ("matrix", ARM, "--save"),
        ("simulate", ARM, "--duration", "0.01", "--save"),
        ("stop-table", ARM, "--output"),
        ("worst-stop", ARM, "--output"),
        ("rule", "MB101", "--output"),
    ],
)
@pytest.mark.parametrize(("name", "reason"), [("x" * 300, "name too long"), ("a\0b", "null")])
def test_an_output_that_no_folder_can_hold_is_refused(line: tuple[str, ...], name: str, reason: str) -> None:
    outcome = call(*line, name + (".npz" if "--save" in line else ".json"))
    assert (outcome.code, outcome.out) == (2, "")
    assert reason in outcome.err and "bug" not in outcome.err
