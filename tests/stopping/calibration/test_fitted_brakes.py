"""Brakes from stops that another program made: values, intervals, and what such stops do not determine."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.stopping.calibration.fit import Fit, Problem, RowModel
from mbplugin.stopping.calibration.intervals import determination
from measured_stops import boom, friction, ramp, short_circuit, table, written

BRAKE = {"delay": 0.03, "torque": 5.0, "viscous": 1.0}
MOTOR = {"delay": 0.02, "torque": 3.0, "short_circuit": 4.0, "short_circuit_rate": 2.0}
SPEEDS = (1.0, 2.0, 3.0, 4.0)
#: Standard deviations of time and distance, s and rad.
NOISE = (0.002, 0.004)


def values(fitted: mb.Calibration) -> dict[str, float]:
    (joint,) = fitted.joints
    return {name: parameter.value for name, parameter in joint.parameters.items()}


def covered(fitted: mb.Calibration, true: dict[str, float]) -> dict[str, bool]:
    """Whether each interval holds the true value."""
    found = fitted.joints[0].parameters
    intervals = {name: (found[name].low, found[name].high) for name in true}
    return {
        name: low is not None and high is not None and low <= true[name] <= high
        for name, (low, high) in intervals.items()
    }


@pytest.mark.long
def test_exact_stops_give_back_the_brake(tmp_path: Path) -> None:
    fitted = mb.calibrate(boom(), written(tmp_path, table(friction(*BRAKE.values()), SPEEDS)))
    assert fitted.joints[0].law == "friction"
    assert values(fitted) == pytest.approx(BRAKE, rel=1e-4)
    assert all(parameter.identifiable for parameter in fitted.joints[0].parameters.values())
    assert not any(row.unexplained for row in fitted.rows)


def test_exact_stops_give_back_a_short_circuited_motor(tmp_path: Path) -> None:
    law = short_circuit(*MOTOR.values())
    fitted = mb.calibrate(boom(), written(tmp_path, table(law, (1.0, 2.0, 4.0, 6.0, 8.0))))
    assert fitted.joints[0].law == "short_circuit"
    assert values(fitted) == pytest.approx(MOTOR, rel=1e-3)
    for row in fitted.rows:
        assert (row.time_computed, row.distance_computed) == pytest.approx(law(row.speed), rel=1e-5)


@pytest.mark.long
def test_the_intervals_hold_the_true_brake_in_95_of_100_data_sets(tmp_path: Path) -> None:
    """All three values at once: the intervals of one joint hold together."""
    counts, together = dict.fromkeys(BRAKE, 0), 0
    for seed in range(100):
        text = table(friction(*BRAKE.values()), SPEEDS, repeats=3, noise=NOISE, seed=seed)
        fitted = mb.calibrate(boom(), written(tmp_path, text), parameters=list(BRAKE))
        inside = covered(fitted, BRAKE)
        counts = {name: counts[name] + inside[name] for name in BRAKE}
        together += all(inside.values())
    assert together >= 95, counts


@pytest.mark.slow
def test_the_intervals_hold_the_true_motor_in_95_of_100_data_sets(tmp_path: Path) -> None:
    together, law = 0, short_circuit(*MOTOR.values())
    for seed in range(100):
        text = table(law, (1.0, 2.0, 4.0, 6.0, 8.0), repeats=3, noise=NOISE, seed=seed)
        fitted = mb.calibrate(boom(), written(tmp_path, text), parameters=list(MOTOR))
        together += all(covered(fitted, MOTOR).values())
    assert together >= 95


def test_the_scatter_is_found(tmp_path: Path) -> None:
    text = table(friction(*BRAKE.values()), SPEEDS, repeats=40, noise=NOISE, seed=1)
    (joint,) = mb.calibrate(boom(), written(tmp_path, text), parameters=list(BRAKE)).joints
    assert (joint.time_scatter, joint.distance_scatter) == pytest.approx(NOISE, rel=0.2)
    assert joint.freedom == 2 * 160 - 3


def test_means_of_repeats_weigh_as_much_as_the_repeats(tmp_path: Path) -> None:
    exact = table(friction(*BRAKE.values()), SPEEDS)
    lines = exact.splitlines()
    spread = [f"{line},25,0.002,0.004" for line in lines[1:]]
    text = "\n".join([f"{lines[0]},repeats,time_spread,distance_spread", *spread])
    single = text.replace(",25,", ",1,")
    wide, narrow = (
        mb.calibrate(boom(), written(tmp_path, t), parameters=list(BRAKE)).joints[0].parameters
        for t in (single, text)
    )
    for name in ("torque", "viscous"):
        halves = [(p[name].high or 0) - p[name].value for p in (wide, narrow)]
        assert halves[0] / halves[1] == pytest.approx(5.0, rel=1e-3)


def test_rows_at_one_speed_do_not_separate_delay_from_viscous(tmp_path: Path) -> None:
    text = table(friction(*BRAKE.values()), [2.0], repeats=6, noise=NOISE)
    fitted = mb.calibrate(boom(), written(tmp_path, text), parameters=list(BRAKE))
    (joint,) = fitted.joints
    assert {"delay", "viscous"} <= set(joint.undetermined[0])
    for name in ("delay", "viscous"):
        parameter = joint.parameters[name]
        assert not parameter.identifiable and parameter.low is None and parameter.high is None
    assert any("delay" in note and "viscous" in note and "one speed (2)" in note for note in joint.notes)
    assert "not determined by these rows" in fitted.toml


@pytest.mark.long
def test_speeds_that_differ_by_less_than_the_scatter_shows_do_not_either(tmp_path: Path) -> None:
    text = table(friction(*BRAKE.values()), [2.0, 2.01], repeats=4, noise=NOISE)
    (joint,) = mb.calibrate(boom(), written(tmp_path, text), parameters=list(BRAKE)).joints
    assert {"delay", "viscous"} <= set(joint.undetermined[0])
    assert any("less scatter" in note for note in joint.notes)


def test_one_stop_gives_two_numbers_and_proves_nothing(tmp_path: Path) -> None:
    fitted = mb.calibrate(boom(), written(tmp_path, table(friction(0.0, 5.0, 1.0), [2.0])))
    (joint,) = fitted.joints
    assert values(fitted) == pytest.approx({"torque": 5.0, "viscous": 1.0}, rel=1e-4)
    assert joint.freedom == 0 and joint.time_scatter is None
    assert any("proves nothing" in note for note in joint.notes)
    assert all(parameter.low is None for parameter in joint.parameters.values())


def test_a_shape_index_below_1_without_gravity_is_no_dry_friction(tmp_path: Path) -> None:
    text = table(friction(0.0, 1.0, 4.0), SPEEDS)
    fitted = mb.calibrate(boom(), written(tmp_path, text), parameters=["delay", "torque"])
    assert all(row.shape_index is not None and row.shape_index < 0.9 for row in fitted.rows)
    assert any("no delay with dry friction" in clause for row in fitted.rows for clause in row.unexplained)
    assert any("no delay with dry friction" in note for note in fitted.joints[0].notes)


def test_held_out_rows_are_predicted(tmp_path: Path) -> None:
    law = friction(*BRAKE.values())
    text = table(law, SPEEDS, repeats=3, noise=NOISE)
    fitted = mb.calibrate(boom(), written(tmp_path, text), hold_out="speed>=3")
    held = [row for row in fitted.rows if row.held_out]
    assert {row.speed for row in held} == {3.0, 4.0} and len(held) == 6
    for row in held:
        assert (row.time_computed, row.distance_computed) == pytest.approx(law(row.speed), rel=0.03)
    assert (fitted.joints[0].rows, fitted.joints[0].held_out) == (6, 6)


@pytest.mark.parametrize("reaction", [0.0, 0.04])
def test_a_ramp_of_constant_time_is_chosen(tmp_path: Path, reaction: float) -> None:
    text = table(ramp(reaction, 0.3), SPEEDS, repeats=3, noise=(0.001, 0.001), category=1)
    (joint,) = mb.calibrate(boom(), written(tmp_path, text)).joints
    assert joint.law == "ramp_time"
    assert joint.parameters["time"].value == pytest.approx(0.3, rel=0.02)
    assert joint.parameters["reaction"].value == pytest.approx(reaction, abs=0.004)


def test_a_ramp_of_constant_deceleration_is_chosen(tmp_path: Path) -> None:
    text = table(friction(0.05, 10.0, 0.0), SPEEDS, category=1)
    (joint,) = mb.calibrate(boom(), written(tmp_path, text)).joints
    assert joint.law == "ramp_deceleration"
    assert joint.parameters["deceleration"].value == pytest.approx(10.0 / 1.44, rel=1e-4)
    assert joint.parameters["reaction"].value == pytest.approx(0.05, rel=1e-3)


def test_distances_alone_do_not_separate_reaction_and_ramp(tmp_path: Path) -> None:
    text = table(ramp(0.05, 0.3), SPEEDS, category=1)
    lines = [line.split(",") for line in text.splitlines()]
    blank = "\n".join(
        ",".join([*cells[:3], cells[3] if k == 0 else "", cells[4]]) for k, cells in enumerate(lines)
    )
    fitted = mb.calibrate(boom(), written(tmp_path, blank), parameters=["reaction", "time"])
    assert set(fitted.joints[0].undetermined[0]) == {"reaction", "time"}
    assert all(row.time_measured is None and row.shape_index is None for row in fitted.rows)


def test_what_is_not_fitted_is_as_the_scene_states(tmp_path: Path) -> None:
    from dataclasses import replace

    from mbplugin.model.brake_law import Brake
    from mbplugin.model.mechanism.kinematics import home
    from mbplugin.model.scene import Scene, State

    robot = boom()
    scene = Scene(robot, State(home(robot), home(robot)), brakes=(Brake("j0", 99.0, delay=0.03),))
    file = written(tmp_path, table(friction(0.03, 5.0, 1.0), [2.0]))
    (joint,) = mb.calibrate(scene, file, parameters=["torque", "viscous"]).joints
    stated = joint.stated
    assert isinstance(stated, Brake) and stated.origin.startswith("calibrated on ")
    own = replace(scene.brakes[0], torque=stated.torque, viscous=stated.viscous)
    assert replace(stated, origin="", uncertainty=None) == own
    assert joint.parameters["torque"].value == pytest.approx(5.0, rel=1e-4)


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"),
    [
        (["torqe"], UnknownName, "did you mean 'torque'"),
        (["delay"], BadUsage, "a torque that brakes"),
        (["torque", "short_circuit"], BadUsage, "both or neither"),
        (["delay", "torque", "viscous"], BadUsage, "cannot determine 3 parameters .delay, torque, viscous"),
    ],
)
def test_parameters_that_cannot_be_fitted(
    tmp_path: Path, parameters: list[str], error: type[Exception], sentence: str
) -> None:
    file = written(tmp_path, table(friction(*BRAKE.values()), [2.0]))
    with pytest.raises(error, match=sentence):
        mb.calibrate(boom(), file, parameters=parameters)


class Deaf:
    """A law whose numbers have no effect."""

    sizes = {"torque": 1.0, "viscous": 1.0}  # noqa: RUF012
    highest: dict[str, float] = {}  # noqa: RUF012

    def predict(self, values: dict[str, float]) -> np.ndarray:
        return np.zeros((2, 2))


def test_numbers_without_effect_are_not_determined() -> None:
    model, names, measured = cast("RowModel", Deaf()), ("torque", "viscous"), np.ones((2, 2))
    problem = Problem(model, names, {}, measured, np.ones((2, 2), dtype=bool))
    found = problem.solve(np.ones(2), np.ones((2, 2)))
    with np.errstate(all="raise"):
        known = determination(
            Fit(problem, problem.values(found.x), found.x, np.ones((2, 2)), False, found.fun, found.jac)
        )
    assert sorted(name for group in known.undetermined for name in group) == ["torque", "viscous"]
