"""What a stop asks of a joint: its bearing and its axis apart, against Newton and Euler written here."""

from __future__ import annotations

import json
from itertools import pairwise
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from driven_mechanisms import FOUR_BAR, ramp, sliders
from mbplugin.constraints.reduction import velocity_transformation
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping import outcome as peak_instants
from mbplugin.stopping.outcome import PeakWrench
from rod_arms import G, arm

ARM = ASSETS / "arm_6r.urdf"


def peak_of(report: mb.StopReport, pair: str) -> PeakWrench:
    return next(one for one in report.peaks if one.pair == pair)


def test_a_pendulum_led_to_rest_by_hand() -> None:
    """The drive carries m g l cos q + (I + J) α and overcomes friction; the bearing carries forces alone."""
    mass, half, deceleration, rate = 3.0, 0.6, 5.0, 2.0
    limits = Freedom(friction=1.5, damping=0.4)
    report = mb.estop(
        arm((1.2,), mass, limits=limits),
        qd={"j0": rate},
        category=2,
        brakes=[Brake("j0", 40.0)],
        decelerations={"j0": deceleration},
        armature={"j0": 0.7},
    )
    inertia, end = mass * 1.2**2 / 3, rate / deceleration
    t = np.linspace(0, end * (1 - 1e-12), 4001)
    q, qd, qdd = ramp(rate, deceleration, t)
    weight = mass * G * half
    total = inertia * qdd + weight * np.cos(q)
    rubbing = -1.5 - 0.4 * qd
    drive = total + 0.7 * qdd - rubbing
    # after its end the joint rests
    rest = weight * np.cos(q[-1])
    axis = peak_of(report, "j0").axis
    assert axis is not None and (axis.freedom, axis.unit) == ("rz", "N·m")
    assert axis.total.value == pytest.approx(max(np.abs(total).max(), rest), rel=1e-6)
    assert axis.drive.value == pytest.approx(max(np.abs(drive).max(), rest), rel=1e-6)
    assert axis.friction.value == pytest.approx(1.5 + 0.4 * rate, rel=1e-9)
    assert axis.friction.time == 0.0 and axis.brake.value == 0.0
    along, across = -half * qd**2 + G * np.sin(q), half * qdd + G * np.cos(q)
    size = mass * np.hypot(along, across)
    peak = peak_of(report, "j0")
    assert peak.structural_force == peak.force == pytest.approx(max(size.max(), mass * G), rel=1e-6)
    assert peak.structural_moment < 1e-9
    assert peak.moment == pytest.approx(axis.total.value, rel=1e-12)
    forces = report.trajectory.axis_forces("j0")
    assert forces is not None
    led = report.trajectory.time < end - 1e-9
    exact = np.interp(report.trajectory.time[led], t, drive)
    assert forces.drive[led] == pytest.approx(exact, abs=1e-5)


def test_sliders_by_hand() -> None:
    """In a row along x: 10 kg at −10 m/s² and 1 kg at −12 m/s² until 0.1 s, then 1 kg at −2 m/s²."""
    report = mb.estop(
        sliders((1.0, 0.0, 0.0)),
        qd={"x": 1.0, "y": 1.0},
        category=2,
        brakes=[Brake("x", 500.0), Brake("y", 500.0)],
        decelerations={"x": 10.0, "y": 2.0},
    )
    for pair, force in (("x", 10.0 * 10.0 + 1.0 * 12.0), ("y", 12.0)):
        peak = peak_of(report, pair)
        assert peak.axis is not None and peak.axis.unit == "N"
        assert peak.axis.drive.value == pytest.approx(force, rel=1e-12)
        assert peak.axis.total.value == pytest.approx(force, rel=1e-12)
        assert peak.axis.drive.time <= 0.1 and peak.force == pytest.approx(force, rel=1e-12)
        assert peak.structural_force < 1e-10


class NewtonEuler:
    """The arm of the file, read and computed here: what passes through each joint, in world axes."""

    def __init__(self) -> None:
        robot = ElementTree.parse(ARM).getroot()

        def numbers(element: ElementTree.Element, tag: str, key: str) -> Array:
            found = element.find(tag)
            assert found is not None
            return np.array([float(x) for x in found.get(key, "").split()])

        self.joints = []
        links = {link.get("name"): link for link in robot.findall("link")}
        for joint in robot.findall("joint"):
            child = joint.find("child")
            assert child is not None
            body = links[child.get("link")].find("inertial")
            assert body is not None
            mass, inertia = body.find("mass"), body.find("inertia")
            assert mass is not None and inertia is not None
            i = {k: float(v) for k, v in inertia.attrib.items()}
            J = np.array(
                [
                    [i["ixx"], i["ixy"], i["ixz"]],
                    [i["ixy"], i["iyy"], i["iyz"]],
                    [i["ixz"], i["iyz"], i["izz"]],
                ]
            )
            self.joints.append(
                (
                    joint.get("name"),
                    numbers(joint, "origin", "xyz"),
                    numbers(joint, "axis", "xyz"),
                    float(mass.get("value", "")),
                    numbers(body, "origin", "xyz"),
                    J,
                )
            )

    def wrenches(self, q: Array, qd: Array, qdd: Array) -> dict[str, tuple[Array, Array, float]]:
        """Force (3,), moment about the joint (3,), and the part of the latter about the axis."""
        R, w, dw = np.eye(3), np.zeros(3), np.zeros(3)
        p, a, passed = np.zeros(3), np.array([0.0, 0.0, G]), []
        for (name, origin, axis, mass, com, J), x, v, dv in zip(self.joints, q, qd, qdd, strict=True):
            arm_ = R @ origin
            a = a + np.cross(dw, arm_) + np.cross(w, np.cross(w, arm_))
            p = p + arm_
            z = R @ axis
            dw = dw + z * dv + np.cross(w, z * v)
            w = w + z * v
            K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
            R = R @ (np.eye(3) + np.sin(x) * K + (1 - np.cos(x)) * K @ K)
            c = R @ com
            force = mass * (a + np.cross(dw, c) + np.cross(w, np.cross(w, c)))
            J_W = R @ J @ R.T
            passed.append((name, p, z, p + c, force, J_W @ dw + np.cross(w, J_W @ w)))
        out = {}
        for k, (name, p, z, *_) in enumerate(passed):
            force = sum((f for *_, f, _ in passed[k:]), np.zeros(3))
            moment = sum((m + np.cross(c - p, f) for _, _, _, c, f, m in passed[k:]), np.zeros(3))
            out[str(name)] = (force, moment, float(moment @ z))
        return out


STATE = {
    "q": {"j1": 0.3, "j2": 0.5, "j3": 0.8, "j5": -0.4},
    "qd": {"j1": 1.5, "j2": -1.2, "j3": 1.0, "j5": 2.0},
}


@pytest.mark.parametrize("category", [0, 1, 2])
def test_an_arm_by_newton_and_euler(category: int) -> None:
    slow = {"j1": 6.0, "j2": 4.0, "j3": 9.0, "j4": 5.0, "j5": 11.0, "j6": 5.0}
    decelerations = {} if category == 0 else {"decelerations": slow}
    report = mb.estop(mb.load(ARM, base="fixed"), **STATE, category=category, payload=None, **decelerations)  # type: ignore[arg-type]
    motion, arm6 = report.trajectory, NewtonEuler()
    theirs = [arm6.wrenches(*state) for state in zip(motion.q, motion.qd, motion.qdd, strict=True)]
    for joint in ("j1", "j2", "j3", "j4", "j5", "j6"):
        force, moment, about = (np.array([one[joint][n] for one in theirs]) for n in range(3))
        forces = motion.axis_forces(joint)
        assert forces is not None
        size = np.abs(about).max()
        assert forces.total == pytest.approx(about, abs=1e-9 * (1 + size))
        parts = forces.drive + forces.brake + forces.friction
        assert forces.total == pytest.approx(parts, abs=1e-9 * (1 + size))
        whole = motion.transmitted(joint)
        assert np.linalg.norm(whole[:, :3], axis=1) == pytest.approx(np.linalg.norm(force, axis=1), rel=1e-9)
        assert np.linalg.norm(whole[:, 3:], axis=1) == pytest.approx(np.linalg.norm(moment, axis=1), rel=1e-9)
        bending = np.sqrt((moment**2).sum(axis=1) - about**2)
        bearing = motion.reactions(joint)
        assert np.linalg.norm(bearing[:, 3:], axis=1) == pytest.approx(bending, abs=1e-6 * (1 + size))
        assert not bearing[:, 5].any()


@pytest.mark.long
@pytest.mark.parametrize("category", [1, 2])
def test_peaks_of_ramps_by_newton_and_euler(category: int) -> None:
    """The motion of a led arm is known by hand, and so are its peaks: from a fine grid of both sides."""
    slow = {"j1": 6.0, "j2": 4.0, "j3": 9.0, "j4": 5.0, "j5": 11.0, "j6": 5.0}
    brakes = [Brake(name, 2000.0) for name in slow]
    robot = mb.load(ARM, base="fixed")
    report = mb.estop(robot, **STATE, category=category, brakes=brakes, decelerations=slow)  # type: ignore[arg-type]
    ends = {name: abs(STATE["qd"].get(name, 0.0)) / slow[name] for name in slow}
    edges = sorted({0.0, *ends.values()})
    t = np.concatenate([np.linspace(a, b - 1e-12, 150) for a, b in pairwise(edges)])
    t = np.append(t, edges[-1] + 0.01)
    states = np.zeros((3, len(t), 6))
    for k, (name, a) in enumerate(slow.items()):
        v = STATE["qd"].get(name, 0.0)
        for part, values in enumerate(ramp(abs(v), a, t)):
            states[part, :, k] = np.sign(v) * values
        states[0, :, k] += STATE["q"].get(name, 0.0)
    arm6 = NewtonEuler()
    theirs = [arm6.wrenches(*states[:, n]) for n in range(len(t))]
    for joint in slow:
        force, moment, about = (np.array([one[joint][n] for one in theirs]) for n in range(3))
        peak = peak_of(report, joint)
        assert peak.axis is not None
        bending = np.sqrt((moment**2).sum(axis=1) - about**2)
        sizes = (np.linalg.norm(force, axis=1), np.linalg.norm(moment, axis=1), bending, np.abs(about))
        found = (peak.force, peak.moment, peak.structural_moment, peak.axis.total.value)
        for ours, size in zip(found, sizes, strict=True):
            assert ours == pytest.approx(size.max(), rel=2e-4)
        assert peak.axis.drive.value == pytest.approx(np.abs(about).max(), rel=2e-4)
        near = np.abs(t - peak.force_time) < 3e-3
        assert sizes[0][near].max() == pytest.approx(sizes[0].max(), rel=1e-2)


def test_an_arm_by_pybullet() -> None:
    pybullet = pytest.importorskip("pybullet")
    report = mb.estop(
        mb.load(ARM, base="fixed"),
        **STATE,  # type: ignore[arg-type]
        category=2,
        decelerations=dict.fromkeys(("j1", "j2", "j3", "j4", "j5", "j6"), 4.0),
    )
    motion = report.trajectory
    client = pybullet.connect(pybullet.DIRECT)
    try:
        pybullet.setGravity(0, 0, -G, physicsClientId=client)
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        body = pybullet.loadURDF(str(ARM), useFixedBase=True, flags=flags, physicsClientId=client)
        for k in range(0, len(motion.time), 3):
            state = [list(values[k]) for values in (motion.q, motion.qd, motion.qdd)]
            torques = pybullet.calculateInverseDynamics(body, *state, physicsClientId=client)
            for joint, torque in zip(("j1", "j2", "j3", "j4", "j5", "j6"), torques, strict=True):
                forces = motion.axis_forces(joint)
                assert forces is not None
                assert forces.drive[k] == pytest.approx(torque, rel=1e-4, abs=1e-3)
    finally:
        pybullet.disconnect(client)


@pytest.mark.parametrize("motion_of", ["brake", "drive", "cut"])
def test_powers_along_all_axes_are_those_of_the_motion(motion_of: str) -> None:
    """Bearings do no work: what acts along the axes is what changes kinetic and potential energy."""
    if motion_of == "brake":
        motion = mb.simulate(FOUR_BAR, 0.6, qd0={"j0": 3.0}, brakes=[Brake("j0", 3.0, viscous=0.2)])
    elif motion_of == "drive":
        report = mb.estop(
            FOUR_BAR, qd={"j0": 3.0}, category=2, brakes=[Brake("j0", 9.0)], decelerations={"j0": 8.0}
        )
        motion = report.trajectory
    else:
        cut = FOUR_BAR.mechanism.tree.cut[0].name
        motion = mb.simulate(FOUR_BAR, 0.6, qd0={"j0": 3.0}, brakes=[Brake(cut, 2.0, viscous=0.3)])
    step = 1e-5
    at = np.array([t for t in np.linspace(0.02, motion.time[-1] - 0.02, 17) if _clear(motion, t)])
    here, ahead, behind = (motion.resample(at + shift) for shift in (0.0, step, -step))
    change = (ahead.energy - behind.energy) / (2 * step)
    power = np.zeros(len(at))
    for name in motion.mechanism.pair_by_name:
        forces = here.axis_forces(name)
        if forces is not None:
            power += forces.total * _rates(here, name)
            parts = forces.drive + forces.brake + forces.friction
            assert forces.total == pytest.approx(parts, abs=1e-7 * (1 + np.abs(parts).max()))
    assert np.abs(power).max() > 0.5
    assert power == pytest.approx(change, abs=1e-5 * (1 + np.abs(change).max()))


def _clear(motion: Trajectory, t: float) -> bool:
    return bool(np.abs(motion.time - t).min() > 1e-4)


def _rates(motion: Trajectory, name: str) -> Array:
    """Rate of a revolute pair about its axis, from the twists of its bodies."""
    mech, out = motion.mechanism, []
    pair = mech.pair_by_name[name]
    for q, qd in zip(motion.q, motion.qd, strict=True):
        poses = forward(mech, q)
        v = (velocity_transformation(mech, poses) @ qd).reshape(-1, 6)
        b = mech.body_index[pair.body_b]
        z = poses.R_WL[b] @ pair.X_BS.R[:, 2]
        before = np.zeros(3) if pair.body_a == "world" else v[mech.body_index[pair.body_a], 3:]
        out.append(float(z @ (v[b, 3:] - before)))
    return np.array(out)


def test_a_brake_keeps_its_sense_until_the_joint_rests() -> None:
    """At the last instant of sliding the rate is zero, and the brake still acts against what it was."""
    report = mb.estop(arm((1.2,), 3.0, gravity=0.0), qd={"j0": 2.5}, brakes=[Brake("j0", 40.0)])
    forces = report.trajectory.axis_forces("j0")
    assert forces is not None
    stick = next(e.time for e in report.events if e.kind == "stick")
    before, after = np.flatnonzero(report.trajectory.time == stick)[[0, -1]]
    assert forces.brake[before] == pytest.approx(-40.0) == pytest.approx(forces.total[before])
    assert forces.brake[after] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.long
def test_reports_tell_bearing_drive_and_brake() -> None:
    options = ("estop", str(ARM), "--base", "fixed", "--qd", "j1=1.5,j2=-1.2", "--category", "2")
    schema = json.loads(call("schema", "estop").out)
    document = json.loads(call(*options, "--output-format", "json").out)
    jsonschema.validate(document, schema)
    report = mb.estop(mb.load(ARM, base="fixed"), qd={"j1": 1.5, "j2": -1.2}, category=2)
    for progress, peak in zip(document["peaks"], report.peaks, strict=True):
        assert progress["structural_force"] == peak.structural_force
        if peak.axis is None:
            assert progress["axis"] is None and progress["role"] == "base"
            continue
        assert progress["axis"]["drive"] == {"value": peak.axis.drive.value, "time": peak.axis.drive.time}
    text = call(*options).out
    (line,) = (one for one in text.splitlines() if one.startswith("  j2  ") and "N·m" in one)
    axis = peak_of(report, "j2").axis
    assert axis is not None and axis.drive.value > 100
    assert f"{axis.total.value:.4g} N·m" in line and f"{axis.drive.value:.4g}" in line.split()
    assert f"{peak_of(report, 'j2').structural_moment:.4g}" in line.split()


def test_a_motion_of_many_events_says_how_many_of_its_samples_were_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stop() -> mb.StopReport:
        return mb.estop(mb.load(ARM, base="fixed"), qd={"j1": 1.0, "j2": 1.0, "j3": -1.0})

    whole = stop()
    assert not any("among" in note for note in whole.notes)
    time = whole.trajectory.time
    monkeypatch.setattr(peak_instants, "_ALL", 10)
    part = stop()
    (note,) = (note for note in part.notes if "among" in note)
    assert f"among {len(time)} samples" in note
    for all_of_it, some in zip(whole.peaks, part.peaks, strict=True):
        assert 0.9 * all_of_it.moment <= some.moment <= all_of_it.moment * (1 + 1e-9)


def test_of_many_samples_those_at_events_are_looked_at() -> None:
    time = np.sort(np.append(np.linspace(0.0, 1.0, 100_001), [0.123456, 0.5, 0.654321]))
    jumps = np.sort(np.append(time, [0.123456, 0.654321]))
    chosen = jumps[peak_instants._looked_at(jumps)]
    assert 4000 <= len(chosen) <= 4008 and chosen[[0, -1]].tolist() == [0.0, 1.0]
    assert all(np.count_nonzero(chosen == at) == 2 for at in (0.123456, 0.5, 0.654321))
    assert np.diff(chosen).max() < 1.05 / 4000
    everywhere = np.repeat(np.linspace(0.0, 1.0, 20_000), 2)
    assert len(peak_instants._looked_at(everywhere)) == 4000
