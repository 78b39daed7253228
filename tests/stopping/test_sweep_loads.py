"""The largest loads over the stops of a sweep, by hand from what each stop draws."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.sweep import Swept, _taken, largest_loads, sweep_plan
from mbplugin.stopping.sweep.run import SweepReport

MASS, R, G, TORQUE = 3.0, 0.4, 9.81, 50.0
#: A point mass on an arm that turns about the vertical axis; the inertia of a point is nothing.
SCENE = f"""
gravity = [0, 0, {-G}]
body = [{{ name = "arm", mass = {MASS}, com = [{R}, 0, 0], inertia = [1e-9, 1e-9, 1e-9] }}]
pair = [{{ name = "pin", type = "revolute", body_a = "world", body_b = "arm", xyz_a = [0, 0, 0] LIMITS }}]
brake = [{{ joint = "pin", torque = {TORQUE}, delay = 0.0, engagement = 0.0 }}]
payload = [{{ body = "arm", mass = 2.0, com = [{R}, 0, 0] }}]
"""
STATE = {"pin": 5.0}
VARIED = {"seed": 4, "speed_range": (0.2, 1.0), "torque_tolerance": 0.3, "payload_range": (0.0, 1.0)}


@pytest.fixture(name="scene")
def scene_file(tmp_path):
    path = tmp_path / "arm.scene.toml"
    path.write_text(SCENE.replace("LIMITS", ""))
    return path


def drawn(plan):
    """Return the torques of the brake, N·m, the moving masses, kg, and the rates, rad/s, of all stops (n,)."""
    rows = []
    for k in range(plan.count):
        _, qd, brakes, payloads = plan.draw(k)
        rows.append((brakes[0].law.sliding, MASS + sum(one.mass for one in payloads), qd[0]))
    return np.array(rows).T


@pytest.mark.long
def test_the_loads_are_those_of_the_stop_with_the_largest(scene):
    plan = sweep_plan(scene, 4, qd=STATE, **VARIED)
    torque, mass, rate = drawn(plan)
    # across the axis: the centrifugal force at the signal, and the brake's torque over the arm; along it the weight
    expected = {
        ("pin", "radial"): np.hypot(mass * R * rate**2, torque / R),
        ("pin", "axial"): mass * G,
        ("pin", "moment"): mass * G * R,
        ("lock pin", "rz_lock"): torque,
    }
    calls = []
    found = largest_loads(plan, progress=calls.append)
    assert len({int(values.argmax()) for values in expected.values()}) > 1
    for (joint, kind), values in expected.items():
        load = found[joint][kind]
        assert load.value == pytest.approx(values.max(), rel=1e-6), (joint, kind)
        assert load.stop == values.argmax() and load.determined and load.bound_stop is None
    assert found["pin"]["radial"].time == pytest.approx(0.0, abs=1e-9)
    assert calls == [1] * 4 and found.stops == 4 and "4 stops" in repr(found)
    assert "4 stops, " in str(found) and f" of {int(torque.argmax())}" in str(found)


@pytest.mark.long
def test_some_stops_and_some_instants(scene):
    plan = sweep_plan(scene, 4, qd=STATE, **VARIED)
    torque, *_ = drawn(plan)
    found = Swept(SweepReport(4, {}, {}, {}, {}, None), plan, "").envelope(stops=[2, 3, 2], instants=2)
    top = max((2, 3), key=torque.__getitem__)
    assert found["lock pin"]["rz_lock"].stop == top and found.stops == 2
    # signal and rest, and the samples on both sides of the brake's grip and of its end
    assert len(found.time) <= 12
    assert found["lock pin"]["rz_lock"].value == pytest.approx(torque[top], rel=1e-6)


@pytest.mark.long
def test_an_end_stop_is_noted(tmp_path):
    path = tmp_path / "arm.scene.toml"
    path.write_text(SCENE.replace("LIMITS", ", lower = -0.1, upper = 0.05"))
    found = largest_loads(sweep_plan(path, 2, qd=STATE))
    assert any("2 stops reach an end stop: the loads of the impact are not" in note for note in found.notes)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"instants": 0}, BadNumber, "instants is 0"),
        ({"stops": [6]}, BadNumber, "no stop 6; expected 0 to 5"),
        ({"stops": [-1]}, BadNumber, "no stop -1"),
        ({"stops": []}, BadUsage, "no stop of the sweep is requested"),
    ],
)
def test_impossible_stops_and_instants_are_one_sentence(scene, given, error, words):
    with pytest.raises(error, match=words) as caught:
        largest_loads(sweep_plan(scene, 6, qd=STATE), **given)
    assert str(caught.value).count("\n") == 0


@pytest.mark.long
def test_the_command_saves_the_table(scene, tmp_path):
    pytest.importorskip("pyarrow")
    options = ("--qd", "pin=5", "--number", "3", "--torque-tolerance", "0.3", "--jobs", "1")
    file = tmp_path / "loads.csv"
    done = call("sweep", str(scene), "--out", str(tmp_path / "stops"), *options, "--save-envelope", str(file))
    assert done.code == 0 and "3 stops" in done.out
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    rows = {(row["joint"], row["load"]): row for row in csv.DictReader(lines)}
    torque, *_ = drawn(sweep_plan(scene, 3, qd=STATE, torque_tolerance=0.3))
    row = rows["lock pin", "rz_lock"]
    assert float(row["largest determined"]) == pytest.approx(torque.max(), rel=1e-6)
    assert (int(row["stop"]), row["largest of stop"]) == (torque.argmax(), "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--instants", "3"), "--instants is given without --save-envelope"),
        (("--save-envelope", "loads.csv", "--instants", "0"), "--instants is 0"),
        (("--save-envelope", "loads.txt"), "cannot save the largest loads as 'loads.txt'"),
        (("--save-envelope", "missing/loads.csv"), "missing"),
        (("--save-envelope", "zone.csv", "--zone", "zone.csv"), "two outputs are the same file"),
    ],
)
def test_a_wrong_request_is_refused_before_any_stop(scene, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    done = call("sweep", str(scene), "--out", "stops", "--number", "3", "--qd", "pin=5", *options)
    assert done.code == 2 and words in done.err and done.out == ""
    assert not (tmp_path / "stops").exists()


def test_a_saved_sweep_is_not_taken_for_a_motion(scene, tmp_path):
    (tmp_path / "stops").mkdir()
    with pytest.raises(BadUsage, match=r"a sweep's folder.*mbplugin sweep … --save-envelope loads.csv"):
        mb.envelope(scene, tmp_path / "stops")


def test_few_instants_have_both_sides_of_each_jump(tmp_path):
    """Before its brake grips at 0.1 s, the arm turns freely; the sample there is at neither end of the motion."""
    path = tmp_path / "arm.scene.toml"
    path.write_text(SCENE.replace("LIMITS", "").replace("delay = 0.0", "delay = 0.1"))
    plan = sweep_plan(path, 1, qd=STATE)
    motion = run_stop(plan.scenario.from_state(*plan.draw(0)))
    jump, *later = np.flatnonzero(np.diff(motion.time) == 0).tolist()
    assert motion.time[jump] == pytest.approx(0.1)
    taken = _taken(motion, 2)
    assert {0, jump, jump + 1, len(motion.time) - 1} <= set(taken)
    assert all(k in taken and k + 1 in taken for k in later)
    before, after = motion.qdd[[jump, jump + 1], 0]
    assert before == pytest.approx(0.0, abs=1e-12) and after < -1.0
