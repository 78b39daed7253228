"""Short-circuit braking, k ω / (1 + (ω/ω₀)²), from the scene to the report, against closed solutions."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf, log, sqrt
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize_scalar

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadNumber, BadUsage, MbPluginError
from mbplugin.model.brake_law import Brake, BrakeLaw, contradiction, rate_force
from mbplugin.model.brakes import read_brakes
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array
from mbplugin.report.documents.part import schema_of
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.evaluation import joint_stops
from mbplugin.stopping.run import make_scenario, run_stop
from mbplugin.stopping.sweep.plan import SweepPlan
from rod_arms import arm, two_rods

INERTIA = 3.0 * 1.2**2 / 3
K, PEAK_RATE, SPEED = 0.8, 4.0, 12.0
MOTOR = Brake("j0", 0.0, short_circuit=K, short_circuit_rate=PEAK_RATE)
SCENE = """
body = [{ name = "rotor", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
gravity = [0.0, 0.0, 0.0]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "rotor", xyz_a = [0, 0, 0] }]
state = { qd = { j0 = 12.0 } }
"""


def rotor(**change: Any) -> mb.StopReport:
    """Return the stop of a rod of 1.44 kg·m² about its end, without gravity."""
    brake = replace(MOTOR, **change)
    return mb.estop(
        arm((1.2,), 3.0, gravity=0.0), qd={"j0": SPEED}, brakes=[brake], rtol=1e-11, atol=1e-13, duration=15.0
    )


def law(rate: Array) -> Array:
    """The torque as the handbook has it, N·m."""
    return K * rate / (1.0 + (rate / PEAK_RATE) ** 2)


@pytest.fixture(scope="module")
def slowed() -> mb.StopReport:
    return rotor()


def test_a_rotor_slows_down_by_the_closed_solution(slowed: mb.StopReport) -> None:
    """ln(ω/ω₁) + (ω² − ω₁²)/(2 ω₀²) = −k t/J."""
    motion = slowed.trajectory
    rate = motion.qd[:, 0]
    time = -(np.log(rate / SPEED) + (rate**2 - SPEED**2) / (2 * PEAK_RATE**2)) * INERTIA / K
    assert len(rate) > 10 and rate[-1] < 0.2 * PEAK_RATE
    assert motion.time == pytest.approx(time, abs=1e-9)


def test_a_motor_alone_holds_nothing(slowed: mb.StopReport) -> None:
    assert slowed.outcome == "not_stopped" and slowed.trajectory.qd[-1, 0] > 0.0
    assert any("j0" in note for note in slowed.notes)


def test_the_motor_takes_up_the_kinetic_energy(slowed: mb.StopReport) -> None:
    motion = slowed.trajectory
    lost = float(motion.kinetic[0] - motion.kinetic[-1])
    assert slowed.joint("j0").brake_energy == pytest.approx(lost, rel=1e-9)
    assert motion.dissipated[-1] == pytest.approx(lost, rel=1e-9)


def test_the_peak_between_two_samples_is_found(slowed: mb.StopReport) -> None:
    """The largest torque is k ω₀/2, when the rate is ω₀."""
    peak = slowed.peaks[0].axis.brake
    passes = (log(SPEED / PEAK_RATE) + (SPEED**2 - PEAK_RATE**2) / (2 * PEAK_RATE**2)) * INERTIA / K
    assert np.abs(slowed.trajectory.time - passes).min() > 1e-4, "no sample is there"
    assert peak.value == pytest.approx(K * PEAK_RATE / 2, rel=1e-13)
    assert peak.time == pytest.approx(passes, abs=1e-9)


@pytest.mark.parametrize("viscous", [0.0, 0.01, 0.09, 0.11])
def test_the_rates_of_the_largest_torque(viscous: float) -> None:
    own = BrakeLaw(viscous=viscous, short_circuit=K, short_circuit_rate=PEAK_RATE)
    rates = np.linspace(0.0, 10.0 * PEAK_RATE, 4001)
    rises = np.diff(rate_force(own, rates)) > 0
    if rises.all():
        assert own.peak_rates == ()
        return
    first = rates[int(rises.argmin())]
    best = minimize_scalar(
        lambda rate: -rate_force(own, rate), bounds=(first - 0.1, first + 0.1), options={"xatol": 1e-9}
    )
    assert own.peak_rates == pytest.approx((best.x,), abs=1e-6)


def test_with_a_friction_brake_it_stops_by_hand() -> None:
    """The rate obeys J ω̇ = −T − k ω/(1 + (ω/ω₀)²), and both together take up the kinetic energy."""
    found = rotor(torque=1.5, static_torque=2.0, delay=0.1, engagement=0.05)

    def slows(_: float, y: Array) -> list[float]:
        return [-(1.5 + law(y[0])) / INERTIA]

    def rests(_: float, y: Array) -> float:
        return float(y[0])

    rests.terminal = True  # type: ignore[attr-defined]
    by_hand = solve_ivp(slows, (0.15, 20.0), [SPEED], "DOP853", rtol=1e-12, atol=1e-13, events=rests)
    assert found.outcome == "stopped"
    assert found.joint("j0").time == pytest.approx(by_hand.t_events[0][0], abs=1e-8)
    assert found.joint("j0").brake_energy == pytest.approx(0.5 * INERTIA * SPEED**2, rel=1e-9)


@pytest.mark.parametrize(
    ("integrator", "coordinates"),
    [
        ("dop853", "joint"),
        ("rk4", "joint"),
        ("variational", "joint"),
        pytest.param("dop853", "absolute", marks=pytest.mark.long),
    ],
)
def test_every_way_to_compute_a_motion_has_the_law(integrator: str, coordinates: str) -> None:
    mech = arm((1.0, 1.0))
    brakes = [replace(MOTOR, torque=1.0), Brake("j1", 0.5, short_circuit=0.4, short_circuit_rate=3.0)]
    step = None if integrator == "dop853" else 1e-3
    found = mb.simulate(
        mech,
        0.2,
        q0=[0.3, 0.5],
        qd0=[5.0, -9.0],
        brakes=brakes,
        integrator=integrator,
        step=step,
        coordinates=coordinates,
    )

    def moves(_: float, y: Array) -> Array:
        M, h = two_rods(y[:2], y[2:])
        k, peak = np.array([K, 0.4]), np.array([PEAK_RATE, 3.0])
        brake = np.sign(y[2:]) * [1.0, 0.5] + k * y[2:] / (1.0 + (y[2:] / peak) ** 2)
        return np.concatenate((y[2:], np.linalg.solve(M, -h - brake)))

    by_hand = solve_ivp(moves, (0.0, 0.2), [0.3, 0.5, 5.0, -9.0], "DOP853", rtol=1e-11, atol=1e-12)
    assert (by_hand.y[2] > 0).all() and (by_hand.y[3] < 0).all()
    tolerance = 1e-4 if integrator == "variational" else 1e-6
    assert found.q[-1] == pytest.approx(by_hand.y[:2, -1], abs=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_many_stops_are_those_of_the_runner(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2 + seed
    freedom = Freedom(friction=0.2, damping=0.1)
    brakes = [
        Brake(
            f"j{k}",
            t,
            1.1 * t,
            0.3 * k,
            0.01,
            0.01,
            short_circuit=rng.uniform(1, 9),
            short_circuit_rate=rng.uniform(0.3, 2),
        )
        for k, t in enumerate(rng.uniform(20, 60, n) / (1 + np.arange(n)))
    ]
    q, qd = rng.uniform(-1, 1, n), rng.uniform(-3, 3, n)
    mech = arm(tuple(rng.uniform(0.3, 0.8, n)), limits=freedom)
    scenario = replace(make_scenario(mech, q, qd, brakes=brakes), duration=1.5, rtol=1e-10, atol=1e-12)
    motion = run_stop(scenario)
    compiled = CompiledStop(scenario, rtol=1e-9, atol=1e-11)
    many = compiled.stop(q, qd)
    assert many.travels == pytest.approx(motion.q[-1] - q, abs=1e-6)
    assert motion.outcome == "stopped" == many.outcome
    assert many.times == pytest.approx([joint.time for joint in joint_stops(scenario, motion)], abs=1e-5)
    # without its motors the arm goes elsewhere: the law is in both
    compiled.set_brakes(tuple(replace(b, law=replace(b.law, short_circuit=0.0)) for b in scenario.brakes))
    assert np.abs(compiled.stop(q, qd).travels - many.travels).max() > 1e-4


def test_a_tolerance_of_torques_scales_the_motor() -> None:
    mech = arm((1.0, 0.8))
    brakes = [Brake(f"j{k}", 40.0, viscous=1.0, short_circuit=3.0, short_circuit_rate=2.0) for k in range(2)]
    plan = SweepPlan(make_scenario(mech, qd={"j0": 1.0}, brakes=brakes), 5, seed=3, torque_tolerance=0.2)
    for drawn in (plan.draw(k)[2] for k in range(5)):
        for brake in drawn:
            factor = brake.law.sliding / 40.0
            assert 0.8 <= factor <= 1.2 and factor != 1.0
            assert brake.law.short_circuit == pytest.approx(3.0 * factor, rel=1e-15)
            assert (brake.law.short_circuit_rate, brake.law.viscous) == (2.0, 1.0)


def test_wear_and_the_electrical_part_are_separate() -> None:
    brake = replace(MOTOR, torque=10.0, wear=0.5)
    assert brake.law(inf) == BrakeLaw(5.0, 5.0, 0.0, K, PEAK_RATE)


@pytest.mark.slow
def test_pybullet_and_mujoco_agree_with_first_order() -> None:
    brakes = [
        replace(MOTOR, torque=0.5),
        Brake("j1", 0.2, viscous=0.1, short_circuit=0.4, short_circuit_rate=3.0),
    ]
    found = mb.crosscheck(arm((1.0, 0.8)), 0.3, q=[0.3, 0.5], qd=[6.0, -8.0], brakes=brakes)
    assert found.second is not None
    for one in (found, found.second):
        assert one.verdict == "agrees", one.reason
        assert len(one.orders) == 3 and all(0.7 < order < 1.3 for order in one.orders)


def test_a_scene_and_an_option_are_the_same_stop(tmp_path: Path) -> None:
    keys = "torque=2.5,short_circuit=0.8,short_circuit_rate=4.0,delay=0.02"
    (tmp_path / "plain.scene.toml").write_text(SCENE)
    table = "{ joint = 'j0', " + keys.replace("=", " = ").replace(",", ", ") + " }"
    (tmp_path / "braked.scene.toml").write_text(f"brake = [{table}]\n{SCENE}")
    found = []
    for arguments in (["braked.scene.toml"], ["plain.scene.toml", "--brake", f"j0:{keys}"]):
        done = call("estop", str(tmp_path / arguments[0]), *arguments[1:], "--output-format", "json")
        assert done.code == 0, done.err
        found.append(json.loads(done.out))
        jsonschema.validate(found[-1], schema_of("estop"))
    first, second = found
    assert first["joints"] == second["joints"] and first["brakes"] == second["brakes"]
    assert first["brakes"][0]["short_circuit"] == 0.8 and first["brakes"][0]["short_circuit_rate"] == 4.0
    assert first["outcome"] == "stopped"


def test_a_brake_without_a_motor_says_null(tmp_path: Path) -> None:
    scene = tmp_path / "r.scene.toml"
    scene.write_text(SCENE)
    done = call("estop", str(scene), "--brake", "j0:torque=9", "--output-format", "json")
    document = json.loads(done.out)
    jsonschema.validate(document, schema_of("estop"))
    assert (document["brakes"][0]["short_circuit"], document["brakes"][0]["short_circuit_rate"]) == (
        0.0,
        None,
    )


@pytest.mark.parametrize(
    ("stated", "error", "sentence"),
    [
        ({"short_circuit": -1.0, "short_circuit_rate": 2.0}, BadNumber, "circuit of the brake of 'j0' is -1"),
        ({"short_circuit": inf, "short_circuit_rate": 2.0}, BadNumber, "circuit of the brake of 'j0' is inf"),
        ({"short_circuit": 1.0, "short_circuit_rate": 0.0}, BadNumber, "rate of the brake of 'j0' is 0"),
        ({"short_circuit": 1.0, "short_circuit_rate": inf}, BadNumber, "rate of the brake of 'j0' is inf"),
        ({"short_circuit": 1.0}, BadUsage, "states short_circuit and no short_circuit_rate"),
        ({"short_circuit_rate": 1.0}, BadUsage, "states short_circuit_rate and no short_circuit"),
    ],
)  # fmt: skip
def test_what_no_motor_can_be(stated: dict[str, float], error: type[MbPluginError], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        read_brakes(arm((1.0,)), [{"joint": "j0", "torque": 1.0, **stated}])


@pytest.mark.parametrize("line", ["short_circuit = 1.0", "short_circuit_rate = 1.0"])
def test_a_scene_with_half_a_motor_is_refused_at_its_line(line: str, tmp_path: Path) -> None:
    scene = tmp_path / "r.scene.toml"
    scene.write_text(f"{SCENE}\n[[brake]]\njoint = 'j0'\ntorque = 1.0\n{line}\n")
    done = call("lint", str(scene))
    assert done.code == 2 and "both or neither" in done.out and ":10: " in done.out


def test_two_motors_on_one_freedom_are_no_law() -> None:
    own = BrakeLaw(short_circuit=1.0, short_circuit_rate=2.0)
    with pytest.raises(BadUsage, match="two short-circuited motors"):
        own + own
    assert (own + BrakeLaw(1.0)).short_circuit_rate == 2.0 == (BrakeLaw(1.0) + own).short_circuit_rate
    assert contradiction(MOTOR, inf, "N·m") is None
    assert own.peak_rates == (2.0,) and sqrt(own.peak_rates[0] ** 2) == 2.0
