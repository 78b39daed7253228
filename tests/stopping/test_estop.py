"""Stops of robots, against solutions by hand and against each other."""

from __future__ import annotations

from dataclasses import replace
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbplugin as mb
from mbplugin.dynamics.formulations import Equations
from mbplugin.errors import BadUsage, MbPluginError, UnknownName
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom
from mbplugin.model.scene import Scene, as_scene
from mbplugin.model.spatial import Array
from mbplugin.report.text import plain_text
from mbplugin.report.text.stop import estop_lines
from mbplugin.simulation.impact import Transition
from mbplugin.stopping import evaluation as impact
from mbplugin.stopping.run import estop
from mbplugin.stopping.scenario.start import Move, Recorded, assumed_deceleration
from places import BULLET_DATA, ORACLES, ROOT
from rod_arms import G, arm, two_rods

IIWA = BULLET_DATA / "kuka_iiwa" / "model.urdf"


@pytest.fixture(scope="module")
def iiwa() -> Scene:
    return mb.load(IIWA, base="fixed")


def iiwa_state(iiwa: Scene) -> tuple[dict[str, float], dict[str, float]]:
    names = iiwa.mechanism.q_names
    q = dict(zip(names, [0.0, 0.6, 0.0, -1.2, 0.0, 0.5, 0.0], strict=True))
    qd = dict(zip(names, [1.5, 0.5, 0.0, -1.0, 0.3, 1.0, 2.0], strict=True))
    return q, qd


def test_one_joint_by_hand() -> None:
    inertia, speed, torque = 3.0 * 1.2**2 / 3, 2.5, 4.0
    brake = Brake("j0", torque, delay=0.05, engagement=0.02)
    report = estop(arm((1.2,), 3.0, gravity=0.0), qd={"j0": speed}, brakes=[brake], rtol=1e-11)
    (joint,) = report.joints
    assert report.outcome == "stopped"
    assert joint.reaction_time == pytest.approx(0.07) and joint.reaction_travel == pytest.approx(0.07 * speed)
    assert joint.braking_time == pytest.approx(inertia * speed / torque, abs=1e-9)
    assert joint.braking_travel == pytest.approx(inertia * speed**2 / (2 * torque), abs=1e-9)
    assert joint.brake_energy == pytest.approx(0.5 * inertia * speed**2, rel=1e-9)
    assert report.tool.speed == pytest.approx(0.0, abs=1e-9), "the tool's origin is on the axis"
    assert report.naive.q[0] == pytest.approx(0.07 * speed)
    assert report.naive.energy_ignored == pytest.approx(0.5 * inertia * speed**2)


def test_tool_at_the_tip() -> None:
    report = estop(
        arm((1.2,), 3.0, gravity=0.0),
        qd={"j0": 2.5},
        brakes=[Brake("j0", 4.0)],
        tool_point=np.array([1.2, 0, 0]),
    )
    assert report.tool.speed == pytest.approx(1.2 * 2.5, rel=1e-8)
    assert report.tool.distance == pytest.approx(1.2 * report.joints[0].travel, rel=1e-4)
    assert report.naive.tool_error == pytest.approx(2 * 1.2 * sin(report.joints[0].travel / 2), rel=1e-6)


def test_a_weak_brake_lets_a_rising_pendulum_slip_back() -> None:
    report = estop(arm((1.0,), 2.0), qd={"j0": 3.0}, brakes=[Brake("j0", 4.0)], duration=1.2)
    assert report.outcome == "slipped_back"
    assert report.joints[0].back > 0.1


def test_a_falling_robot_that_nothing_holds_is_not_stopped() -> None:
    report = estop(arm((1.0,), 2.0), qd={"j0": -0.5}, brakes=[Brake("j0", 1.0)], duration=0.3)
    assert report.outcome == "not_stopped"
    assert report.time == pytest.approx(0.3)


def test_an_end_stop_takes_the_impulse() -> None:
    limits = Freedom(lower=-1.0, upper=0.3, effort=5.0)
    brakes = [Brake("j0", 1e-3), Brake("j1", 1e-3)]
    mech = arm((1.0, 1.0), gravity=0.0, limits=limits)
    report = estop(mech, q={"j0": 0.28}, qd={"j0": 2.0, "j1": -2.0}, brakes=brakes)
    assert report.outcome == "limit_hit"
    assert report.impact is not None and report.impact.joint == "j0"
    q, qd = report.trajectory.q[-1], report.trajectory.qd[-1]
    assert q[0] == pytest.approx(0.3, abs=1e-9)
    M, _ = two_rods(q, np.zeros(2))
    # the other joint turns freely: M Δq̇ = (Λ, 0)
    jump = np.array([-qd[0], M[1, 0] * qd[0] / M[1, 1]])
    assert report.impact.impulse == pytest.approx(abs((M @ jump)[0]), rel=1e-8)
    assert report.impact.energy == pytest.approx(0.5 * jump @ M @ jump, rel=1e-8)


def test_an_end_stop_at_a_singular_pose_says_that_no_impulse_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    real = impact.activate

    def lost(equations: Equations, *args: object) -> Transition:
        """The same instant, with rows of which none is left."""
        C = np.zeros_like(equations.C)
        return real(replace(equations, C=C, degree_of_redundancy=0), *args)  # type: ignore[arg-type]

    monkeypatch.setattr(impact, "activate", lost)
    limits = Freedom(lower=-1.0, upper=0.3, effort=5.0)
    report = estop(arm((1.0,), gravity=0.0, limits=limits), q={"j0": 0.28}, qd={"j0": 2.0})
    assert report.outcome == "limit_hit" and report.impact is None
    text = " ".join(plain_text(estop_lines(report)).split())
    assert "j0 runs into its end stop at a singular pose" in text and "nan" not in text


@pytest.mark.parametrize("inertia", [0.0, 1e-320])
def test_a_joint_that_moves_no_mass_has_no_assumed_ramp(inertia: float) -> None:
    mech = arm((1.0, 1.0), limits=Freedom(effort=5.0))
    with pytest.raises(
        BadUsage, match="no ramp for joint 'j1': it states no deceleration, and moves an inertia of"
    ):
        assumed_deceleration(mech, "j1", lambda: np.array([1.0, inertia]))


@pytest.mark.parametrize(("freedom", "unit", "per"), [("ry", "rad", "N·m·s"), ("tz", "m", "N·s")])
def test_an_end_stop_of_a_joint_with_two_freedoms(freedom: str, unit: str, per: str) -> None:
    """One freedom of a joint without a brake meets its limit."""
    kind = {"ry": "universal", "tz": "cylindrical"}[freedom]
    mech = arm((1.0, 1.0), gravity=0.0)
    limits = tuple(Freedom(upper=0.3 if own == freedom else 9.0) for own in PAIR_TYPES[kind].free)
    shoulder = replace(mech.pairs[0], type=kind, freedoms=limits)
    mech = replace(mech, pairs=(shoulder, mech.pairs[1]))
    at = f"j0.{freedom}"
    report = estop(mech, q={at: 0.28}, qd={at: 2.0}, brakes=[Brake("j1", 1e-3)])
    assert report.outcome == "limit_hit"
    assert report.impact is not None and (report.impact.joint, report.impact.freedom) == (at, freedom)
    text = plain_text(estop_lines(report))
    words = f"{at} runs into its end stop at {report.impact.rate:.4g} {unit}/s: {report.impact.impulse:.4g} {per},"
    assert words in " ".join(text.split())


def test_a_delay_goes_on_and_an_engagement_falls() -> None:
    """While its drive leads it the rod keeps its rate; then it falls freely until the brake grips."""
    brake = Brake("j0", 50.0, delay=0.1, engagement=0.1)
    report = estop(arm((1.0,), 1.0), qd={"j0": 1.0}, brakes=[brake], rtol=1e-11)
    motion = report.trajectory
    led = motion.time < 0.1
    assert np.abs(motion.qd[led, 0] - 1.0).max() < 1e-10
    inertia = 1.0 / 3

    def falls(t: float, y: Array) -> list[float]:
        return [y[1], -G * 0.5 * cos(y[0]) / inertia]

    free = solve_ivp(falls, (0.1, 0.2), [0.1, 1.0], "DOP853", rtol=1e-12, atol=1e-13)
    grip = next(event for event in report.events if event.kind == "brake")
    assert grip.time == pytest.approx(0.2)
    assert grip.velocity_before[0] == pytest.approx(free.y[1, -1], abs=1e-9)


@pytest.mark.bullet
def test_a_led_stop_follows_its_ramp_then_the_brakes_hold(iiwa: Scene) -> None:
    q, qd = iiwa_state(iiwa)
    slow = dict.fromkeys(q, 4.0)
    report = estop(iiwa, q, qd, category=1, decelerations=slow, payload=5.0)
    assert report.outcome == "stopped"
    for joint in report.joints:
        v = qd[joint.name]
        assert joint.braking_time == pytest.approx(abs(v) / 4.0 if v else 0.0, abs=1e-9)
        assert joint.braking_travel == pytest.approx(v * abs(v) / 8.0, abs=1e-9)
    kinds = [event.kind for event in report.events]
    assert kinds.count("brake") == 7 and kinds.index("brake") < kinds.index("release")
    assert abs(report.energies.residual) < 1e-9 * report.energies.kinetic
    held = estop(iiwa, q, qd, category=2, decelerations=slow, payload=5.0)
    assert held.outcome == "stopped" and not any(event.kind == "brake" for event in held.events)
    assert np.abs(held.trajectory.q[-1] - report.trajectory.q[-1]).max() < 1e-12


@pytest.mark.bullet
def test_energy_of_a_stop_is_balanced(iiwa: Scene) -> None:
    q, qd = iiwa_state(iiwa)
    report = estop(iiwa, q, qd, payload=5.0)
    energies = report.energies
    assert report.outcome == "stopped"
    assert abs(energies.residual) < 1e-6 * energies.kinetic
    # what the brakes take up is counted joint by joint; the rest is the damping of the file
    assert energies.losses > 1e-3 * energies.kinetic
    still = estop(iiwa, q, qd, payload=5.0, damping=False)
    assert abs(still.energies.losses) < 1e-6 * energies.kinetic


@pytest.mark.bullet
def test_peaks_are_those_of_the_motion(iiwa: Scene) -> None:
    q, qd = iiwa_state(iiwa)
    report = estop(iiwa, q, qd, payload=5.0)
    base, flange = report.peaks[0], report.peaks[-1]
    assert (base.role, flange.role) == ("base", "flange")
    assert flange.pair == "lbr_iiwa_joint_7"
    forces = np.linalg.norm(report.trajectory.reactions(base.pair)[:, :3], axis=1)
    assert base.force >= forces.max() - 1e-9
    weight = 9.81 * (sum(body.mass for body in iiwa.mechanism.bodies) + 5.0)
    at_rest = report.trajectory.reactions(base.pair)[-1, :3]
    assert np.linalg.norm(at_rest) == pytest.approx(weight, rel=1e-6)


@pytest.mark.bullet
def test_a_moment_in_a_recorded_motion(tmp_path: Path, iiwa: Scene) -> None:
    name = iiwa.mechanism.q_names[0]
    time = np.linspace(0, 1, 101)
    table = "\n".join(f"{t},{t**3}" for t in time)
    file = tmp_path / "motion.csv"
    file.write_text(f"time [s],q {name} [rad]\n{table}\n")
    q, qd, qdd = Recorded(file, 0.7).state(iiwa.mechanism, iiwa.state.q)
    assert (q[0], qd[0], qdd[0]) == pytest.approx((0.343, 3 * 0.49, 6 * 0.7), rel=1e-6)
    report = estop(iiwa, start=Recorded(file, 0.7))
    assert report.joints[0].start == pytest.approx(0.343)
    with pytest.raises(BadUsage, match="from 0 to 1 s"):
        Recorded(file, 1.2).state(iiwa.mechanism, iiwa.state.q)


@pytest.mark.bullet
def test_a_moment_in_a_move(iiwa: Scene) -> None:
    mech = iiwa.mechanism
    first, second = mech.q_names[:2]
    move = Move({}, {first: 1.0, second: -0.5}, 0.3, dict.fromkeys(mech.q_names, 2.0), 0.2)
    q, qd, _ = move.state(mech, iiwa.state.q)
    # at full speed since 0.1 s: 2 rad/s · (0.3 − 0.1) s, and half of it for the other joint
    assert q[:2] == pytest.approx([0.4, -0.2]) and qd[:2] == pytest.approx([2.0, -1.0])
    total = 0.5 + 0.2
    for t in np.linspace(0.01, total - 0.01, 9):
        h = 1e-6
        ahead, behind = (replace(move, at=t + d).state(mech, iiwa.state.q) for d in (h, -h))
        rate = replace(move, at=t).state(mech, iiwa.state.q)[1]
        assert (ahead[0] - behind[0]) / (2 * h) == pytest.approx(rate, abs=1e-5)


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        ({"category": 3}, BadUsage, "no stop category 3"),
        ({"q": {"lbr_iiwa_joint_2": 3.0}}, BadUsage, "above its upper limit"),
        ({"payload": {"body": "hand", "mass": 1.0}}, UnknownName, "'hand', which is not a body"),
        ({"tool": "hand"}, UnknownName, "the tool is 'hand'"),
        ({"category": 1, "decelerations": {"elbow": 1.0}}, UnknownName, "'elbow', which has no brake"),
        ({"brakes": [Brake("world→lbr_iiwa_link_0", 1.0)]}, BadUsage, "fixed joint"),
    ],
)
def test_stops_that_cannot_be(
    iiwa: Scene, request_: dict[str, object], error: type[MbPluginError], words: str
) -> None:
    with pytest.raises(error, match=words):
        estop(iiwa, **request_)  # type: ignore[arg-type]


def test_a_category_the_robot_has_no_ramp_for() -> None:
    with pytest.raises(BadUsage, match=r"no ramp for joint 'j0'"):
        estop(arm((1.0,)), qd={"j0": 1.0}, category=1, brakes=[Brake("j0", 50.0)])
    # where no brake is stated at all, it and the ramp are assumed
    assert estop(arm((1.0,)), qd={"j0": 1.0}, category=1).scenario.ramps_of_effort == ("j0",)


@pytest.mark.parametrize("viscous", [0.0, 7.0])
def test_a_brake_takes_up_the_whole_energy_and_nothing_is_lost_beside_it(viscous: float) -> None:
    """Two joints about the vertical, no friction: all kinetic energy ends in the brakes."""
    mech = arm((1.0, 0.7), gravity=0.0)
    brakes = [Brake("j0", 20.0, viscous=viscous), Brake("j1", 10.0, viscous=0.5 * viscous)]
    stop = estop(mech, [0.1, 0.4], [2.0, -3.0], brakes=brakes)
    taken = sum(stop.joint(joint).brake_energy for joint in ("j0", "j1"))
    assert stop.outcome == "stopped"
    assert taken == pytest.approx(float(stop.trajectory.kinetic[0]), rel=1e-9)
    assert stop.energies.losses == 0.0


def test_a_loop_whose_only_brake_is_where_it_closes() -> None:
    """The energy that the brake takes is what the loop had: the four-bar has one freedom and no load."""
    mech = mb.load(ORACLES / "four_bar_4R.sdf").mechanism
    (closing,) = mech.tree.cut
    found = mb.estop(mech, qd={mech.qd_names[0]: 0.5}, brakes=[{"joint": closing.name, "torque": 5.0}])
    motion = found.trajectory
    assert found.outcome == "stopped"
    before, after = (motion.kinetic[k] + motion.potential[k] for k in (0, -1))
    assert motion.dissipated[-1] == pytest.approx(before - after, rel=1e-6)


@pytest.mark.bullet
def test_a_robot_with_a_free_base_is_said_to_fall() -> None:
    stop = mb.estop(mb.load(IIWA, base="free"), qd={"lbr_iiwa_joint_1": 0.1}, duration=0.2)
    assert stop.outcome == "not_stopped" and stop.falls
    assert "falls: nothing holds its base" in str(stop) and "along its path" not in str(stop)
    assert "falls: nothing holds its base" in stop.to_html()
    assert stop.notes[-1].endswith("base is free (base='fixed' or --base fixed bolts it down)")


@pytest.mark.bullet
def test_a_falling_robot_whose_brake_slips_falls() -> None:
    stop = mb.estop(
        mb.load(IIWA, base="free"),
        qd={"lbr_iiwa_joint_2": 3.0},
        brakes=[{"joint": "lbr_iiwa_joint_2", "torque": 1e-3}],
    )
    assert stop.outcome in ("limit_hit", "slipped_back") and stop.falls
    assert str(stop).startswith(f"{stop.scenario.mech.name} falls")


@pytest.mark.bullet
def test_an_arm_that_sags_until_its_brakes_grip_is_stopped() -> None:
    late = [
        {"joint": f"lbr_iiwa_joint_{k}", "torque": 300.0, "delay": 0.01, "engagement": 0.3}
        for k in range(1, 8)
    ]
    stop = mb.estop(mb.load(IIWA, base="fixed"), q={"lbr_iiwa_joint_2": 0.5}, brakes=late)
    assert stop.outcome == "stopped" and stop.moves
    assert "nothing moves" not in str(stop) and "stop of category 0, stopped after" in str(stop)


@pytest.mark.bullet
def test_a_robot_that_nothing_moves_and_nothing_holds_is_not_said_to_stop() -> None:
    """Its brakes are too weak for its own weight."""
    weak = [{"joint": f"lbr_iiwa_joint_{k}", "torque": 1.0} for k in range(1, 8)]
    stop = mb.estop(mb.load(IIWA, base="fixed"), q={"lbr_iiwa_joint_2": 1.0}, brakes=weak)
    assert stop.outcome == "limit_hit"
    assert "ran into a joint limit after" in str(stop).splitlines()[0] + str(stop).splitlines()[1]


def test_a_payload_that_is_a_text_is_read_if_it_is_a_mass() -> None:
    arm = ROOT / "assets" / "arm_6r.scene.toml"
    times = [mb.estop(arm, payload=mass).time for mass in ("5kg", 5.0, 0.0)]  # type: ignore[arg-type]
    assert times[0] == times[1] != times[2]
    with pytest.raises(BadUsage, match="payload is 'five'; expected a number or a Payload"):
        mb.estop(arm, payload="five")  # type: ignore[arg-type]


def test_a_stop_says_that_it_leaves_the_contacts_of_a_scene_out() -> None:
    mech = arm((1.2,), 3.0, gravity=0.0)
    foot = mb.Contact("foot", mech.bodies[0].name, np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.5)
    for contacts, noted in (((foot,), True), ((), False)):
        stop = estop(replace(as_scene(mech), contacts=contacts), qd={"j0": 2.5}, brakes=[Brake("j0", 4.0)])
        assert any("contacts of the scene are left out" in note for note in stop.notes) == noted
