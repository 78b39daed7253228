"""Upper bounds of stops whose brakes come from measured ones, which another program made with scatter."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import nct, norm

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadScene
from mbplugin.model.brake_law import Brake, FitUncertainty
from mbplugin.stopping.calibration.intervals import bounds_of, tolerance_factor
from measured_stops import HEAD, INERTIA, Law, boom, friction, ramp, table, written
from rod_arms import arm

SPEEDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
FULL = {"speed": [100], "extension": [100], "payload": [100]}
SCENE = """
gravity = [0.0, 0.0, -9.81]
body = [{ name = "boom", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "boom", xyz_a = [0, 0, 0], axis = [0, 0, 1] }]
"""


def noisy(law: Law, noise: tuple[float, float], seed: int, *, relative: bool) -> str:
    """Two stops at each speed with errors of time and distance, s and rad or shares of each."""
    rng, lines = np.random.default_rng(seed), [HEAD]
    for speed in SPEEDS * 2:
        exact = np.array(law(speed))
        time, way = exact + rng.normal(size=2) * noise * (exact if relative else 1.0)
        lines.append(f"j0,0,{speed!r},{float(time)!r},{float(way)!r}")
    return "\n".join(lines) + "\n"


def rows_of(stated: Brake, speeds: tuple[float, ...], **given) -> list[dict]:
    """The rows of tables at full speeds."""
    return [
        mb.stopping_table(
            boom(), speeds={"j0": speed}, categories=[0], grid=FULL, brakes=[stated], **given
        ).rows[0]
        for speed in speeds
    ]


def contents(
    law: Law, noise: tuple[float, float], seeds: range, *, relative: bool, folder: Path
) -> np.ndarray:
    """Shares of fresh stops below the bounds (calibrations, speeds, 2), in closed form."""
    out = []
    for seed in seeds:
        file = written(folder, noisy(law, noise, seed, relative=relative))
        (joint,) = mb.calibrate(boom(), file).joints
        own = []
        for speed, row in zip((0.5, 2.0, 3.0), rows_of(joint.stated, (0.5, 2.0, 3.0)), strict=True):
            exact = np.array(law(speed))
            sigma = np.array(noise) * (exact if relative else 1.0)
            bounds = np.array([row["time_bound"] or np.nan, row["distance_bound"] or np.nan])
            own.append(norm.cdf((bounds - exact) / sigma))
        out.append(own)
    return np.array(out)


@pytest.mark.long
@pytest.mark.parametrize(
    ("relative", "noise"),
    [pytest.param(False, (0.01, 0.01), marks=pytest.mark.long), (True, (0.03, 0.03))],
)
def test_bounds_cover_the_stated_share_of_fresh_stops(
    tmp_path: Path, relative: bool, noise: tuple[float, float]
) -> None:
    share = contents(friction(0.03, 5.0, 1.0), noise, range(10), relative=relative, folder=tmp_path)
    assert np.isfinite(share).all()
    assert share.mean() >= 0.95
    # and they are no wider than they have to be
    assert np.median(share) < 0.99999


@pytest.mark.long
@pytest.mark.parametrize(
    ("law", "relative", "noise"),
    [
        (friction(0.03, 5.0, 1.0), False, (0.01, 0.01)),
        (friction(0.03, 5.0, 1.0), True, (0.03, 0.03)),
        (friction(0.05, 20.0, 0.0), False, (0.01, 0.01)),
    ],
)
def test_in_100_calibrations_the_table_covers_at_least_the_stated_share(
    tmp_path: Path, law: Law, relative: bool, noise: tuple[float, float]
) -> None:
    share = contents(law, noise, range(100), relative=relative, folder=tmp_path)
    known = share[np.isfinite(share)]
    assert len(known) >= 0.99 * share.size
    assert known.mean() >= 0.95
    # each bound by itself: 95 % of them would be exact, and these are 600 that are not independent
    assert (known >= 0.95).mean() >= 0.90


@pytest.mark.parametrize("freedom", [1.0, 5.0, 40.0])
@pytest.mark.parametrize("leverage", [0.01, 0.2, 1.5])
def test_the_factor_is_that_of_the_noncentral_student_distribution(leverage: float, freedom: float) -> None:
    """P(ŷ + k s ≥ μ + z σ) where ŷ has the variance h σ², s its own degrees of freedom."""
    found = tolerance_factor(leverage, freedom, 0.9, 0.95)
    assert nct.cdf(found / np.sqrt(leverage), freedom, norm.ppf(0.9) / np.sqrt(leverage)) == pytest.approx(
        0.95
    )


def test_of_one_fitted_number_the_bound_is_the_classical_one(tmp_path: Path) -> None:
    """A torque from ten times of one stop: mean plus k standard deviations, with k of a normal sample."""
    rng = np.random.default_rng(3)
    times = INERTIA * 2.0 / 20.0 + rng.normal(size=10) * 0.002
    lines = "\n".join(f"j0,0,2.0,{time!r}," for time in times.tolist())
    file = written(tmp_path, f"{HEAD}\n{lines}\n")
    (joint,) = mb.calibrate(boom(), file, parameters=["torque"]).joints
    (row,) = rows_of(joint.stated, (2.0,))
    k = nct.ppf(0.95, 9, norm.ppf(0.95) * np.sqrt(10)) / np.sqrt(10)
    assert row["time_bound"] == pytest.approx(times.mean() + k * times.std(ddof=1), rel=1e-3)
    assert row["distance_bound"] is None


@pytest.mark.long
def test_a_longer_delay_of_a_margin_is_not_counted_twice(tmp_path: Path) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, repeats=2, noise=(0.01, 0.01), seed=4))
    plain, covered = (
        rows_of(mb.calibrate(boom(), file, cover=cover).joints[0].stated, SPEEDS) for cover in (False, True)
    )
    for before, after in zip(plain, covered, strict=True):
        assert after["time"] > before["time"] + 1e-3
        assert after["time_bound"] == pytest.approx(max(before["time_bound"], after["time"]), rel=1e-4)


@pytest.mark.long
def test_a_larger_share_has_a_larger_bound(tmp_path: Path) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, repeats=2, noise=(0.01, 0.01), seed=5))
    stated = mb.calibrate(boom(), file).joints[0].stated
    bounds = [rows_of(stated, (2.0,), share=share)[0]["time_bound"] for share in (0.5, 0.9, 0.95, 0.99)]
    assert bounds == sorted(bounds) and bounds[-1] > bounds[0] + 0.01


def test_rows_at_one_speed_bound_stops_at_this_speed_alone(tmp_path: Path) -> None:
    """Delay, torque and viscous part are open, but their combination at this speed is not."""
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), [2.0], repeats=10, noise=(0.005, 0.005), seed=6))
    calibration = mb.calibrate(boom(), file)
    (joint,) = calibration.joints
    fitted = joint.stated.uncertainty
    assert fitted is not None and len(fitted.unseen) == 1
    assert fitted.parameters == ("delay", "torque", "viscous")
    same, other = rows_of(joint.stated, (2.0, 1.0))
    assert same["time_bound"] > same["time"] and same["distance_bound"] > same["distance"]
    assert other["time_bound"] is None and other["distance_bound"] is None
    assert same["evidence"] == other["evidence"] == "calibrated"
    # with other masses the same speed tells nothing either
    heavy = mb.stopping_table(
        arm((1.2,), 6.0, gravity=0.0), speeds={"j0": 2.0}, categories=[0], grid=FULL, brakes=[joint.stated]
    )
    assert heavy.rows[0]["time_bound"] is None
    assert any("this stop depends on it" in text for text in heavy.unbounded)


def test_an_exact_fit_has_no_bound_and_says_so(tmp_path: Path) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 0.0), [2.0]))
    (joint,) = mb.calibrate(boom(), file).joints
    made = mb.stopping_table(boom(), speeds={"j0": 2.0}, categories=[0], grid=FULL, brakes=[joint.stated])
    assert not made.bounded and made.rows[0]["time_bound"] is None
    assert any("an exact fit shows no scatter" in text for text in made.warnings)
    assert "an exact fit shows no scatter" in str(made)


def scene_with(folder: Path, tables: str, name: str = "boom") -> Path:
    file = folder / f"{name}.scene.toml"
    file.write_text(SCENE + tables, encoding="utf-8")
    return file


@pytest.mark.parametrize(("category", "law"), [(0, friction(0.03, 5.0, 1.0)), (1, ramp(0.05, 0.3))])
def test_a_scene_takes_the_bounds_along_and_the_distance_counts_them(
    tmp_path: Path, category: int, law: Law
) -> None:
    file = written(tmp_path, table(law, SPEEDS, repeats=2, noise=(0.01, 0.01), seed=7, category=category))
    found = mb.calibrate(boom(), file)
    brake = '[[brake]]\njoint = "j0"\ntorque = 50.0\ndelay = 0.02\n' if category else ""
    scene = scene_with(tmp_path, found.toml + brake)
    made = mb.stopping_table(scene, speeds={"j0": 3.0}, categories=[category], grid=FULL)
    (row,) = made.rows
    fitted = found.joints[0].stated.uncertainty
    assert fitted is not None
    if category == 0:
        assert row["time_bound"] == pytest.approx(
            rows_of(found.joints[0].stated, (3.0,))[0]["time_bound"], rel=1e-4
        )
    else:
        # closed forms: reaction + time, and the way by it
        slopes = np.array([1.0, 1.0]) * fitted.sizes
        variance = slopes @ np.array(fitted.covariance) @ slopes
        sigma = fitted.time or (fitted.time_share or 0.0) * row["time"]
        sigma = max(sigma, (fitted.time_share or 0.0) * row["time"])
        k = tolerance_factor(variance / sigma**2, fitted.freedom, 0.95, 0.95)
        assert row["time_bound"] == pytest.approx(row["time"] + k * sigma, rel=1e-4)
    path = tmp_path / "stop.json"
    path.write_text(made.text("json"), encoding="utf-8")
    for source in (made, path):
        distance = mb.separation_distance(source, K=1.6, t1=0.1, D_DS=0.85, Z=0.0)
        assert distance.term("t2").value == pytest.approx(row["rest_time_bound"])
        assert distance.term("t2").source.endswith(", upper bound")
        assert any("with 95 % confidence" in text for text in distance.stop.assumed)


@pytest.mark.long
def test_a_worst_stop_has_the_bounds_of_its_axis_and_a_distance_counts_them(tmp_path: Path) -> None:
    """Without gravity all poses stop alike: the worst stop is the row at full speed."""
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, repeats=2, noise=(0.01, 0.01), seed=7))
    stated = mb.calibrate(boom(), file).joints[0].stated
    (row,) = rows_of(stated, (3.0,))
    worst = mb.worst_stop(boom(), speeds={"j0": 3.0}, brakes=[stated], samples=1, limits="ignore")
    for one in worst.found:
        key = {"time": "time", "travel": "distance", "tool_distance": "tool_distance"}[one.measure]
        assert one.time_bound == pytest.approx(row["rest_time_bound"], rel=1e-6)
        if row[f"{key}_bound"] is not None:
            assert one.bound == pytest.approx(row[f"{key}_bound"], rel=1e-6)
    made = mb.separation_distance(worst, K=1.6, t1=0.1, D_DS=0.85, Z=0.0)
    assert made.term("t2").value == pytest.approx(row["rest_time_bound"], rel=1e-6)
    assert made.term("t2").source.endswith(", upper bound")
    wider = mb.worst_stop(
        boom(), speeds={"j0": 3.0}, brakes=[stated], samples=1, limits="ignore", share=0.999
    )
    assert wider.found[0].time_bound > worst.found[0].time_bound + 0.005
    varied = mb.worst_stop(
        boom(), speeds={"j0": 3.0}, brakes=[stated], samples=1, limits="ignore", torque_tolerance=0.1
    )
    assert varied.found[0].time_bound is None


@pytest.mark.long
def test_a_number_that_was_changed_has_no_bound(tmp_path: Path) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, repeats=2, noise=(0.01, 0.01), seed=8))
    found = mb.calibrate(boom(), file)
    delay = next(line for line in found.toml.splitlines() if line.startswith("delay = "))
    for old, new, bounded in (
        (delay, "delay = 0.001", False),
        ("[[brake]]", "[[brake]]\nwear = 0.9", False),
        ("[[brake]]", "[[brake]]\nstatic_torque = 90.0", True),
    ):
        assert old in found.toml
        scene = scene_with(tmp_path, found.toml.replace(old, new, 1))
        made = mb.stopping_table(scene, speeds={"j0": 2.0}, categories=[0], grid=FULL)
        assert made.bounded == bounded
        assert (made.rows[0]["evidence"] == "calibrated") == bounded


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("parameters", '["delay", "torque", "torque"]', "twice"),
        ("parameters", '["delay", "torque", "time"]', "'time'"),
        ("sizes", "[1.0, 2.0]", "3 numbers"),
        ("covariance", "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]", "3 rows"),
        ("covariance", "[[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]", "symmetric"),
        ("covariance", "[[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]", "negative"),
        ("freedom", "0.0", "degrees of freedom"),
        ("curved", "false\nnot_determined = ['torque', 'torque']", "twice"),
        ("curved", "false\nunseen = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]", "4 unseen directions"),
    ],
)
def test_an_uncertainty_that_is_none_is_refused(tmp_path: Path, key: str, value: str, said: str) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, repeats=2, noise=(0.01, 0.01), seed=8))
    toml = mb.calibrate(boom(), file).toml
    lines = [f"{key} = {value}" if line.startswith(f"{key} = ") else line for line in toml.splitlines()]
    if key == "curved":
        lines.append(f"{key} = {value}")
    assert "\n".join(lines) != toml.rstrip()
    with pytest.raises(BadScene, match=said):
        mb.load(scene_with(tmp_path, "\n".join(lines) + "\n"))


@pytest.mark.long
def test_calibrate_says_first_how_many_rows_exceed_the_fit(tmp_path: Path) -> None:
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), SPEEDS, repeats=2, noise=(0.01, 0.01), seed=9))
    robot = scene_with(tmp_path, "")
    plain, covered = (call("calibrate", str(robot), str(file), *more) for more in ((), ("--cover",)))
    count = sum(not row.covered for row in mb.calibrate(boom(), file).rows)
    assert count > 2 and plain.code == covered.code == 0, plain.err
    first = " ".join(plain.out.split("\n\n")[0].split())
    assert f"{count} of 12 fitted rows took longer or went farther than computed" in first
    assert "--cover" in plain.out
    assert "no fitted row took longer or went farther than computed" in " ".join(covered.out.split())
    assert "--cover" not in covered.out
    document = json.loads(call("calibrate", str(robot), str(file), "--output-format", "json").out)
    assert f"{count} of 12" in document["verdict"]


def test_a_brake_without_a_calibration_has_no_bound() -> None:
    assert bounds_of(Brake("j0", 20.0), 1.0, lambda numbers: np.ones(2), 0.95, 0.95) is None
    made = rows_of(Brake("j0", 20.0), (2.0,))[0]
    assert made["time_bound"] is None and made["evidence"] == "stated"


def test_a_direction_that_no_row_shows_leaves_open_what_depends_on_it() -> None:
    fitted = FitUncertainty(
        ("delay", "torque"),
        (0.1, 10.0),
        (0.5, 2.0),
        5.0,
        ((1e-6, 0.0), (0.0, 0.0)),
        ((0.0, 1.0),),
        ("torque",),
        time=0.01,
        distance=0.01,
    )
    stated = replace(Brake("j0", 10.0, delay=0.05), uncertainty=fitted)

    def late(numbers: dict[str, float]) -> np.ndarray:
        delay = numbers.get("delay", 0.05)
        return np.array([delay + 0.1, 2 * delay + 0.1])

    def slow(numbers: dict[str, float]) -> np.ndarray:
        return late(numbers) + 1.0 / numbers.get("torque", 10.0)

    known, lost = (bounds_of(stated, 1.0, predict, 0.95, 0.95) for predict in (late, slow))
    assert known is not None and known.time is not None and not known.missing
    assert lost is not None and lost.time is None and "do not determine torque" in lost.missing


@pytest.mark.long
@pytest.mark.no_invariants(
    "rest is located 0.2 ns late, at a rate of -1e-9 rad/s, against which the brake still acts"
)
def test_a_stop_in_which_another_joint_slips_has_no_bound(tmp_path: Path) -> None:
    """In a fit the other joints stand."""
    mech = arm((1.0, 1.0), 3.0, gravity=0.0)
    lines = [HEAD]
    rng = np.random.default_rng(11)
    for speed in SPEEDS * 2:
        brakes = [Brake("j0", 40.0, delay=0.02), Brake("j1", 1e4, delay=0.0)]
        stop = mb.estop(mech, qd={"j0": speed}, brakes=brakes).joint("j0")
        time, way = np.array([stop.time, abs(stop.travel)]) + rng.normal(size=2) * 0.002
        lines.append(f"j0,0,{speed!r},{float(time)!r},{float(way)!r}")
    (joint,) = mb.calibrate(mech, written(tmp_path, "\n".join(lines) + "\n")).joints
    for holds, bounded in ((1e4, True), (1.0, False)):
        made = mb.stopping_table(
            mech,
            axes=["j0"],
            speeds={"j0": 2.0},
            categories=[0],
            grid=FULL,
            brakes=[joint.stated, Brake("j1", holds, delay=0.0)],
        )
        (row,) = made.rows
        assert bool(row["slips"]) is not bounded
        assert (row["time_bound"] is not None) is bounded
        assert any("another joint slips" in text for text in made.warnings) is not bounded
        # without a bound nothing is "at most", and a distance says it on top
        assert (", at most " in str(made).split("\n\n")[0].replace("\n ", "")) is bounded
        distance = mb.separation_distance(made, K=1.6, t1=0.1, D_DS=0.85, Z=0.0)
        assert any("NO UPPER BOUND" in text for text in distance.warnings) is not bounded
        file = tmp_path / "stop.json"
        file.write_text(made.text("json"), encoding="utf-8")
        again = mb.separation_distance(file, K=1.6, t1=0.1, D_DS=0.85, Z=0.0)
        assert again.warnings == distance.warnings and again.stop.unbounded == made.unbounded


def test_a_few_rows_do_not_choose_a_ramp_that_meets_no_time(tmp_path: Path) -> None:
    """Three rows of a ramp of constant time: their distances, by chance, fit a sharp ramp after a long reaction."""
    rows = ((60, 391.3, 13.09), (120, 401.8, 26.67), (180, 409.4, 40.71))
    lines = [f"j0,1,{speed},{time},{way}" for speed, time, way in rows]
    head = "joint,category,speed [deg/s],time [ms],distance [deg]"
    (joint,) = mb.calibrate(boom(), written(tmp_path, "\n".join([head, *lines]) + "\n")).joints
    assert joint.law == "ramp_time"
    assert joint.parameters["time"].value == pytest.approx(0.353, abs=0.02)
    assert joint.parameters["reaction"].value == pytest.approx(0.048, abs=0.02)
