"""Drivers that follow points or a file: the polynomials, the motion they lead, scenes, options, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.errors import BadNumber, BadUsage, MbPluginError, UnknownName

CORNERS = ((0.0, 0.0), (0.3, 0.04), (0.6, 0.04), (1.0, -0.02))
SCENE = """
gravity = [0, 0, -9.81]
body = [{{ name = "arm", mass = 2.0, com = [0.5, 0, 0], inertia = [0.01, 0.2, 0.2] }}]
pair = [{{ name = "joint", type = "{type}", body_a = "world", body_b = "arm", xyz_a = [0, 0, 0], axis = [0, 1, 0] }}]
[[driver]]
joint = "joint"
{motion}
"""


def by_hand(t: float) -> tuple[float, float, float]:
    """Quintic pieces with a rest at every corner."""
    if t >= CORNERS[-1][0]:
        return CORNERS[-1][1], 0.0, 0.0
    k = sum(t >= time for time, _ in CORNERS[1:])
    (t0, x0), (t1, x1) = CORNERS[k], CORNERS[k + 1]
    h, rise, s = t1 - t0, x1 - x0, (t - t0) / (t1 - t0)
    value = x0 + rise * s**3 * (10 - 15 * s + 6 * s**2)
    return value, rise * 30 * s**2 * (1 - s) ** 2 / h, rise * 60 * s * (1 - s) * (1 - 2 * s) / h**2


def arm(folder: Path, motion: str, type: str = "revolute") -> mb.Scene:
    file = folder / "arm.scene.toml"
    file.write_text(SCENE.format(motion=motion, type=type))
    return mb.load(file)


def test_a_rest_at_every_point_is_a_quintic_by_hand() -> None:
    profile = mb.MotionProfile.from_points(CORNERS, "rest")
    for t in np.linspace(0.0, 1.4, 57):
        np.testing.assert_allclose(profile(float(t)), by_hand(float(t)), atol=1e-12)
    assert profile.breaks == pytest.approx((0.3, 0.6, 1.0))


def test_a_spline_begins_and_ends_at_rest_and_has_no_jump() -> None:
    """3t² − 2t³ is a cubic that does so: the spline through points of it is the cubic itself."""
    times = np.array([0.0, 0.2, 0.7, 1.0])
    profile = mb.MotionProfile.from_points(np.column_stack((times, 3 * times**2 - 2 * times**3)))
    for t in np.linspace(0.0, 0.999, 21):
        expected = (3 * t**2 - 2 * t**3, 6 * t - 6 * t**2, 6 - 12 * t)
        np.testing.assert_allclose(profile(float(t)), expected, atol=1e-12)
    assert profile(5.0) == pytest.approx((1.0, 0.0, 0.0))


@pytest.mark.parametrize(("columns", "error"), [(2, 2e-5), (3, 2e-7)])
def test_points_with_rates_and_accelerations_follow_a_sine(columns: int, error: float) -> None:
    t = np.linspace(0.0, 2.0, 21)
    table = np.column_stack((t, np.sin(t), np.cos(t), -np.sin(t)))[:, : columns + 1]
    profile = mb.MotionProfile.from_points(table)
    between = np.linspace(0.0, 1.99, 83)
    assert max(abs(profile(float(x))[0] - np.sin(x)) for x in between) < error
    # after the last point it goes on with its rate
    assert profile(3.0)[:2] == pytest.approx((np.sin(2.0) + np.cos(2.0), np.cos(2.0)))


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    "options", [{}, {"readable": True}, {"formulation": "kkt"}, {"integrator": "rk4", "step": 5e-3}]
)
def test_a_driven_wheel_robot_follows_it_in_every_method(options: dict[str, object]) -> None:
    """The compiled loops take the polynomials, the readable ones too; a callable is the judge."""
    scene = mb.load(ASSETS / "four_wheel_robot.scene.toml")
    common = {"qd0": {"1.vx": 1.0}, "samples": 20}
    profile = mb.MotionProfile.from_points(CORNERS, "rest")
    judge = mb.simulate(scene, 1.2, profiles={"drive": by_hand}, **common)  # type: ignore[arg-type]
    motion = mb.simulate(scene, 1.2, profiles={"drive": profile}, **common, **options)  # type: ignore[arg-type]
    np.testing.assert_allclose(motion.q[-1], judge.q[-1], atol=1e-6 if options.get("integrator") else 1e-9)
    assert max(motion.residuals.values()) < 1e-12


def test_points_a_file_and_an_option_are_one_motion(tmp_path: Path) -> None:
    points = arm(tmp_path, f"points = {[list(c) for c in CORNERS]}\nbetween = 'rest'")
    by_points = mb.simulate(points, 1.2)
    for t, q, qd in zip(by_points.time, by_points.q[:, 0], by_points.qd[:, 0], strict=True):
        assert (q, qd) == pytest.approx(by_hand(float(t))[:2], abs=1e-9)
    table = ["# measured", "time [ms], value [deg], rate [deg/s], acceleration [deg/s²]"]
    for t in np.linspace(0.0, 1.0, 41):
        value, rate, acceleration = np.rad2deg(by_hand(float(t))).tolist()
        table.append(f"{1e3 * float(t)!r}, {value!r}, {rate!r}, {acceleration!r}")
    (tmp_path / "motion.csv").write_text("\n".join(table))
    by_file = mb.simulate(arm(tmp_path, "file = 'motion.csv'"), 1.2)
    assert by_file.q[-1, 0] == pytest.approx(-0.02, abs=1e-9)
    assert str(tmp_path / "motion.csv") in arm(tmp_path, "file = 'motion.csv'").files
    arm(tmp_path, "rate = 0.0")
    run = ("simulate", str(tmp_path / "arm.scene.toml"), "--duration", "0.5", "--output-format", "json")
    for name in ("drive joint", "joint"):
        if name == "joint":
            text = (tmp_path / "arm.scene.toml").read_text()
            (tmp_path / "arm.scene.toml").write_text(text[: text.index("[[driver]]")])
        document = json.loads(call(*run, "--profile", f"{name}={tmp_path / 'motion.csv'}").out)
        assert document["q"]["joint"][-1] == pytest.approx(by_hand(0.5)[0], abs=1e-7)
        files = [file["path"] for file in document["record"]["files"]]
        assert any(file.endswith("motion.csv") for file in files)


@pytest.mark.bullet
@pytest.mark.long
def test_pybullet_follows_it_too(tmp_path: Path) -> None:
    scene = arm(tmp_path, f"points = {[list(c) for c in CORNERS]}\nbetween = 'rest'")
    agreement = mb.crosscheck(scene, 0.8)
    assert agreement.agrees, agreement


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ("points = [[0, 1]]", "are not a table"),
        ("points = [[0, 1], [1, 2, 3]]", "are not a table"),
        ("points = [[0, 1], [0, 2]]", "the time of point 2 of a motion is 0 s"),
        ("points = [[-1, 1], [0, 2]]", "the time of point 1 of a motion is -1 s"),
        ("points = [[1, 0, 2.0], [2, 1, 0.0]]", "begins at 1 s with the rate 2"),
        ("points = [[0, 0, 0], [1, 1, 0]]\nbetween = 'rest'", "do not rest at every point"),
        ("points = [[0, 1], [1, 2]]\nrate = 1.0", "states points and rate"),
        ("points = [[0, 1], [1, 2]]\nfile = 'a.csv'", "states points and file"),
        ("between = 'rest'", "states between, but no points"),
        ("file = 'none.csv'", "none.csv"),
    ],
)
def test_a_motion_that_cannot_be_is_refused_with_its_line(tmp_path: Path, motion: str, words: str) -> None:
    with pytest.raises(MbPluginError, match=words) as caught:
        arm(tmp_path, motion)
    assert "arm.scene.toml:" in str(caught.value) and str(caught.value).partition(".toml:")[2][0] in "5678"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the table is empty"),
        ("t,value\n0,0\n1,1\n", "motion.csv:1: column 1 of the motion is 't'"),
        ("time\n0\n1\n", "motion.csv:1: the motion has 1 column"),
        ("time,value [mm]\n0,0\n1,1\n", "column value is in 'mm'"),
        ("time,value\n0,0\n1,x\n", "motion.csv:3: a cell"),
        ("time,value\n0,0\n1\n", "motion.csv:3: the row has 1 cells"),
        ("time,value\n0,0\n1,nan\n", "not all finite"),
        ("time,value\n0,0\n0,1\n", "the time of point 2"),
    ],
)
def test_a_file_that_is_no_motion_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "motion.csv").write_text(text)
    outcome = call(
        "simulate",
        str(ASSETS / "four_bar.scene.toml"),
        "--duration",
        "1",
        "--profile",
        f"j1={tmp_path / 'motion.csv'}",
    )
    assert outcome.code == 2 and words.replace("motion.csv", str(tmp_path / "motion.csv")) in " ".join(
        outcome.err.split()
    )


def test_a_profile_of_nothing_is_refused(tmp_path: Path) -> None:
    profile = mb.MotionProfile.from_points(CORNERS)
    with pytest.raises(UnknownName, match="'nobody', which is not a driver"):
        mb.simulate(arm(tmp_path, "rate = 0.0"), 0.1, profiles={"nobody": profile})
    with pytest.raises(UnknownName, match="'joint', which is not a driver"):
        mb.simulate(arm(tmp_path, "rate = 0.0"), 0.1, profiles={"joint": by_hand})
    for text, words in (("j1", "--profile has 'j1'"), ("j9=a.csv", "neither a driver nor a joint")):
        outcome = call("simulate", str(ASSETS / "four_bar.scene.toml"), "--duration", "1", "--profile", text)
        assert outcome.code == 2 and words in " ".join(outcome.err.split())
    for bad, error in (([[0.0, np.inf], [1.0, 0.0]], BadNumber), ("text", BadUsage)):
        with pytest.raises(error):
            mb.MotionProfile.from_points(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("between", ["spline", "rest"])
@pytest.mark.parametrize("step", [5e-324, 1e-160, 1e-80, 1e-20, 1e-3])
def test_times_that_nearly_coincide_give_numbers_or_a_sentence(
    columns: int, between: str, step: float
) -> None:
    if between == "rest" and columns > 1:
        return
    points = [(0.0, *(0.0,) * columns), (step, *(1.0,) * columns), (1.0, *(2.0,) * columns)]
    try:
        profile = mb.MotionProfile.from_points(points, between)
    except BadNumber as error:
        assert "points 1 and 2" in str(error) or "points 2 and 3" in str(error)
        assert step < 1e-3
    else:
        assert np.isfinite([profile(t) for t in (0.0, step, 0.5, 1.0)]).all()
        # interpolation: the motion passes through its points
        assert profile(1.0)[0] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("kind", ["any", "zero", "far"])
def test_points_that_are_apart_are_passed_whatever_they_state(columns: int, kind: str) -> None:
    """Values of zero with rates, and values far from zero: what rounding leaves is no miss."""
    rng = np.random.default_rng([columns, len(kind)])
    for _ in range(200):
        time = np.concatenate(([0.0], np.cumsum(rng.uniform(1e-3, 2.0, rng.integers(1, 5)))))
        points = rng.normal(size=(len(time), columns))
        if kind != "any":
            points[:, 0] = 0.0 if kind == "zero" else 1e6
        profile = mb.MotionProfile.from_points(np.column_stack((time, points)))
        found = np.array([profile(t)[:columns] for t in time[:-1]])
        np.testing.assert_allclose(found[:, 0], points[:-1, 0], rtol=1e-9, atol=1e-9)
        # far from zero, what rounding leaves of a value is divided by steps of a millisecond, twice
        if kind != "far":
            np.testing.assert_allclose(found, points[:-1], rtol=1e-6, atol=1e-6)
