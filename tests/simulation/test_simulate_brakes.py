"""``mbplugin simulate`` with brakes and locks that open: a flywheel by hand, and what the scene states."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from command_line import call

#: A flywheel of 2 kg·m² about z, without gravity.
WHEEL = """
gravity = [0, 0, 0]
[state]
qd = { axle = 6.0 }
[[body]]
name = "wheel"
mass = 1.0
inertia = [1, 1, 2]
[[pair]]
name = "axle"
type = "revolute"
body_a = "world"
body_b = "wheel"
xyz_a = [0, 0, 0]
"""
BRAKE = '[[brake]]\njoint = "axle"\ntorque = 4\ndelay = 0.1\nengagement = 0.1\n'


def motion(tmp_path: Path, scene: str, *options: str) -> dict[str, list[float]]:
    file = tmp_path / "wheel.scene.toml"
    file.write_text(scene, encoding="utf-8")
    out = call("simulate", str(file), "--duration", "5", "--output-format", "json", *options)
    assert out.code == 0, out.err
    found: dict[str, list[float]] = json.loads(out.out)
    return found


def end(found: dict) -> float:  # type: ignore[type-arg]
    return float(found["q"]["axle"][-1])


def test_a_brake_slides_to_rest_by_hand(tmp_path: Path) -> None:
    """Signal, delays, then 4 N·m on 2 kg·m² from 6 rad/s: 3 s and 9 rad."""
    brake = ("--brake", "axle:torque=4,delay=0.1,engagement=0.1")
    assert end(motion(tmp_path, WHEEL, *brake)) == pytest.approx(6 * 0.2 + 9, abs=1e-7)
    found = motion(tmp_path, WHEEL, *brake, "--signal", "0.5")
    assert end(found) == pytest.approx(6 * 0.7 + 9, abs=1e-7)
    assert [(e["kind"], e["time"]) for e in found["events"]] == [
        ("brake", pytest.approx(0.7)),
        ("stick", pytest.approx(3.7)),
    ]


def test_the_brakes_of_a_scene_wait_for_the_signal(tmp_path: Path) -> None:
    assert end(motion(tmp_path, WHEEL + BRAKE)) == pytest.approx(30)
    assert end(motion(tmp_path, WHEEL + BRAKE, "--signal", "0")) == pytest.approx(6 * 0.2 + 9, abs=1e-7)
    # a given one stands in its place
    own = ("--brake", "axle:torque=8")
    assert end(motion(tmp_path, WHEEL + BRAKE, *own)) == pytest.approx(4.5, abs=1e-7)


def test_a_lock_opens_again(tmp_path: Path) -> None:
    found = motion(tmp_path, WHEEL, "--lock", "axle@1:2", "--torque", "axle=4")
    # 6 + 1 rad, a second at rest, and 3 s from rest at 2 rad/s²
    assert end(found) == pytest.approx(7 + 9, abs=1e-7)
    assert [(e["kind"], e["time"]) for e in found["events"]] == [("lock", 1.0), ("release", 2.0)]
    still = np.array(found["time"])
    between = (still > 1) & (still < 2)
    assert not np.array(found["qd"]["axle"])[between].any()


@pytest.mark.parametrize(
    ("times", "exact"),
    # under 4 N·m: free from 6 rad/s on, or from rest
    [("until = 2", 9), ("at = 0\nuntil = 2", 9), ("at = 1\nuntil = 2", 7 + 9), ("at = 1", 7)],
)
def test_the_lock_of_a_scene_has_its_times(tmp_path: Path, times: str, exact: float) -> None:
    scene = f'{WHEEL}[[lock]]\njoint = "axle"\n{times}\n'
    assert end(motion(tmp_path, scene, "--torque", "axle=4")) == pytest.approx(exact, abs=1e-7)


def test_a_joint_locked_for_good_has_no_rate(tmp_path: Path) -> None:
    """The file's rate contradicts its lock; a rate of 0 in the call outranks it, and the joint stands still."""
    scene = f'{WHEEL}[[lock]]\njoint = "axle"\n'
    file = tmp_path / "locked.scene.toml"
    file.write_text(scene, encoding="utf-8")
    refused = call("simulate", str(file), "--duration", "1")
    assert refused.code == 2
    assert "'lock axle' allows has axle = 6" in refused.err and "expected axle = 0" in refused.err
    still = motion(tmp_path, scene, "--torque", "axle=4", "--qd", "axle=0")
    assert np.array(still["q"]["axle"]) == pytest.approx(0.0, abs=1e-12)
    assert np.array(still["qd"]["axle"]) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        ("at = -1", "wheel.scene.toml:17: [[lock]] 1 ('axle'): at is -1; expected at least 0"),
        ("at = 1\nuntil = 1", "the lock of 'axle' closes at 1 s and opens at 1 s; expected a later time"),
        ("until = 0", "until is 0; expected more than 0"),
    ],
)
def test_a_lock_in_the_past_is_refused(tmp_path: Path, times: str, words: str) -> None:
    file = tmp_path / "wheel.scene.toml"
    file.write_text(f'{WHEEL}[[lock]]\njoint = "axle"\n{times}\n', encoding="utf-8")
    for command in (("simulate", str(file), "--duration", "1"), ("estop", str(file)), ("lint", str(file))):
        out = call(*command)
        told = " ".join((out.err if command[0] != "lint" else out.out).split())
        assert out.code == 2 and words in told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--brake", "axle:torque=-1"), "the torque of the brake of 'axle' is -1"),
        (("--brake", "axle:delay=-1,torque=2"), "the delay of the brake of 'axle' is -1"),
        (("--brake", "axle"), "--brake has 'axle'; expected JOINT:KEY=VALUE"),
        (("--brake", "axel:torque=1"), "unknown joint 'axel'"),
        (("--brake", "axle:force=1"), "unknown key 'force'"),
        (("--signal", "1"), "there is a signal to brake, and no brake"),
        (("--brake", "axle:torque=1", "--signal", "-1"), "the brake signal is at -1 s"),
        (("--lock", "axle@3:2"), "closes at 3 s and opens at 2 s"),
        (("--lock", "axle@3:x"), "--lock 'axle@3:x' has 'x'; expected a finite number or a time"),
        (("--lock", "axle@-1"), "the lock of 'axle' closes at -1 s; expected a time from 0"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    file = tmp_path / "wheel.scene.toml"
    file.write_text(WHEEL, encoding="utf-8")
    out = call("simulate", str(file), "--duration", "5", *options)
    assert (out.code, out.out) == (2, "")
    assert words in out.err and out.err.count("\n") == 1
