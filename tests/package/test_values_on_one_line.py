"""What a result looks like in an interpreter: one line that says what one wants to know first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.brakes import AppliedForces
from mbplugin.phrases import one_line_repr
from mbplugin.stopping.scenario.start import Move, Recorded
from places import ASSETS, ROOT
from public_values import ARM, FOUR_BAR, PUBLISHED, made, too_long
from rod_arms import arm

#: How each value is made, and what its line must say.
VALUES: dict[str, tuple[Callable[[], object], tuple[str, ...]]] = {
    "Scene": (lambda: mb.load(FOUR_BAR), ("four_bar", "4 bodies", "5 pairs")),
    "Mechanism": (lambda: mb.load(FOUR_BAR).mechanism, ("four_bar", "4 bodies", "0 couplings")),
    "Report": (lambda: mb.lint(ROOT / "tests/cases/err/mb128.urdf"), ("mb128.urdf", "0 errors")),
    "Finding": (
        lambda: mb.lint(ROOT / "tests/cases/err/mb128.urdf").findings[0],
        ("MB128", "note", "urdf:26"),
    ),
    "Analysis": (
        lambda: mb.analyze(mb.load(FOUR_BAR)),
        ("3 redundant constraints", "mobility 1", "tolerance 0.0001"),
    ),
    "ConstraintMatrix": (lambda: mb.constraint_matrix(mb.load(FOUR_BAR)), ("26 × 24", "26 holonomic rows")),
    "Reactions": (lambda: mb.reactions(mb.load(FOUR_BAR)), ("statics", "3 redundant constraints")),
    "Trajectory": (lambda: mb.simulate(mb.load(FOUR_BAR), 0.01), ("0.01 s", "3 samples", "completed")),
    "StopReport": (
        lambda: mb.estop(mb.load(ARM), qd={"j1": 0.5}),
        ("category 0", "stopped", "assumed values"),
    ),
    "Calibration": (
        lambda: mb.calibrate(
            mb.load(PUBLISHED / "tm5_700.urdf", base="fixed"),
            PUBLISHED / "tm5_700.csv",
            hold_out="speed=100%",
        ),
        ("tm5-700", "3 fits", "81 rows, 27 of them predicted"),
    ),
    "StoppingTable": (lambda: mb.stopping_table(mb.load(ARM), axes=["j1"], categories=[0]), ("1 row", "j1")),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_one_line(name: str) -> None:
    make, said = VALUES[name]
    line = repr(make())
    assert line.startswith(f"<{name} ") and line.endswith(">")
    assert len(line) <= 200 and "\n" not in line
    assert [part for part in said if part not in line] == []


LONG = "long\nname " * 1000
X, ZERO = np.array([1.0, 0.0, 0.0]), np.zeros(3)
HOME = mb.Pose(np.eye(3), ZERO)
#: What public functions take, with names longer than any line.
#: Poses of the four-bar that close its loop.
POSES = np.tile(mb.analyze(FOUR_BAR).q, (9, 1))
TAKEN = (
    mb.Body(LONG),
    mb.Brake(LONG, 3.0),
    mb.Contact(LONG, LONG, ZERO, X, 0.5),
    mb.Coupling(LONG, "gear", (mb.Term(LONG, "rz", 1.0), mb.Term(LONG, "rz", -2.0))),
    mb.Driver(LONG, LONG, rate=1.0),
    mb.ForwardDynamics(replace(arm((0.5, 0.4)), name=LONG)),
    mb.InverseDynamics(replace(arm((0.5, 0.4)), name=LONG)),
    mb.Freedom(lower=-1.0, upper=1.0, effort=30.0, velocity=2.0, damping=0.1, friction=0.2),
    mb.JointSpring(LONG, 3.0),
    mb.KnifeEdge(LONG, LONG, ZERO, X),
    mb.Load(LONG, X, ZERO, ZERO),
    mb.Lock(LONG, 0.5),
    mb.MotionProfile(tuple((float(k), (0.0, 1.0 / 3)) for k in range(99))),
    mb.Pair(LONG, "revolute", LONG, LONG, HOME, HOME),
    mb.Payload(LONG, 3.0, ZERO, np.eye(3)),
    mb.Pose(np.linalg.qr(np.ones((3, 3)) + np.eye(3))[0], X / 3),
    mb.Rolling(LONG, LONG, ZERO, X, 0.3),
    mb.Spring(LONG, LONG, ZERO, X, 100.0),
    mb.Term(LONG, "rz", 1.0),
    mb.TimedConstraint(LONG, 0.1),
    mb.UserEvent(lambda t, q, qd: t, LONG),
    Move(np.zeros(99), dict.fromkeys(map(str, range(99)), 1.0), 0.5),
    Recorded(Path(LONG), 0.5),
    mb.constraint_matrix(FOUR_BAR, POSES),
    mb.analyze(FOUR_BAR, POSES),
    mb.reactions(FOUR_BAR, POSES, hold=["j0"]),
    AppliedForces(
        torques=dict.fromkeys(map(str, range(999)), 1.0), loads=(mb.Load(LONG, X, ZERO, ZERO),) * 99
    ),
)
#: Scenes with brakes, ramps, springs, wheels, couplings, actuators, payloads and shapes.
SCENES = ("arm_6r", "four_bar", "four_wheel_robot", "husky", "minitaur", "racecar", "spatial_parallelogram")


@pytest.mark.parametrize("scene", [ASSETS / f"{name}.scene.toml" for name in SCENES], ids=SCENES)
def test_all_that_a_scene_holds_is_one_line(scene: Path) -> None:
    assert not too_long(mb.load(scene), scene.name)


@pytest.mark.parametrize("value", TAKEN, ids=lambda value: type(value).__name__)
def test_all_that_a_function_takes_is_one_line(value: object) -> None:
    assert not too_long(value, "")
    assert repr(value).startswith(f"{type(value).__name__}(")


def test_every_rule_is_one_line() -> None:
    assert not too_long(mb.rules(), "rules")


def test_each_public_type_is_tried() -> None:
    from mbplugin.rendering import Result

    public = {value for name in mb.__all__ if isinstance(value := getattr(mb, name), type)}
    # those with a line of their own are above; a rule and an error are not values
    others = {v for v in public if not issubclass(v, Result | Exception)} - {mb.Rule}
    assert others - set(map(type, TAKEN)) <= {mb.Scene, mb.Mechanism, mb.Finding}


def test_a_line_says_what_is_not_at_its_default() -> None:
    assert repr(mb.Brake("j1", 3.0, delay=0.1)) == "Brake(joint='j1', torque=3, delay=0.1)"
    assert repr(mb.Pose(np.eye(3), X / 2)) == "Pose(R=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], p=[0.5, 0, 0])"
    couple = mb.Coupling("c", "gear", (mb.Term("a", "rz", 1.0), mb.Term("b", "rz", -2.0)))
    assert repr(couple) == "Coupling(name='c', type='gear', terms=2 × Term)"
    body = mb.Body("b", 2.0, ZERO, np.arange(81.0).reshape(9, 9)[:3, :3] / 7)
    assert repr(body) == "Body(name='b', mass=2, p_LC=[0, 0, 0], I_C=3 × 3 array)"


def test_what_is_not_printed_whole_is_told_by_its_size() -> None:
    @one_line_repr
    @dataclass
    class Odd:
        given: Any
        usual: tuple[int, ...] = ()

    told = {
        "'xxx": "x" * 99,
        "9 × 9 array": np.zeros((9, 9)),
        "99 × int": [1] * 99,
        "(1, 'a')": (1, "a"),
        "[a, b]": np.array(["a", "b"]),
        "5 × str": dict.fromkeys("abcde"),
        "Report(…)": made("Report"),
        "None": None,
    }
    for part, value in told.items():
        assert repr(Odd(value)).startswith(f"Odd(given={part}")
    assert repr(Odd(1.0, (2,))) == "Odd(given=1, usual=(2,))"


def test_long_names_leave_room_for_the_facts() -> None:
    mechanism = replace(mb.load(FOUR_BAR).mechanism, name="long\nname " * 1000)
    line = repr(mechanism)
    assert len(line) <= 200 and "\n" not in line and line.endswith("0 couplings>")
