"""Drives of joints that share a freedom: by hand, written in other ways, and against a second program.

One rule: every drive that is still powered holds the motion of its joint until it is powered off, or has led it to
rest. The longest one on a freedom counts, whichever joint has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario.drives import choose_drives
from mbplugin.stopping.sweep import sweep_plan
from mbplugin.stopping.sweep.plan import stopper_of
from shared_freedoms import (
    Machine,
    Writing,
    cart,
    crank_rocker,
    differential,
    parallelogram,
    stop_by_steps,
    train,
)

#: Relative tolerance of a step at which the rest of a long one is found to the last digits.
FINE = 1e-10
#: A pinion of 0.02 kg·m² and a rack of 2 kg that it moves by 0.05 m/rad.
RACK = """
gravity = [0, 0, 0]
body = [{ name = "a", mass = 1, inertia = [1, 1, 0.02] }, { name = "s", mass = 2, inertia = [1, 1, 0.3] }]
pair = [
    { name = "A", type = "revolute", body_a = "world", body_b = "a", xyz_a = [0, 0, 0] },
    { name = "S", type = "prismatic", axis = [1, 0, 0], body_a = "world", body_b = "s", xyz_a = [0, 0, 0] },
]
coupling = [{ type = "rack", joint = "S", of = "A", ratio = 0.05 }]
state.qd = { A = 3.0, S = 0.15 }
"""
#: Cranks A and C of 0.2 m and the coupler that joins them; D closes the loop.
PARALLELOGRAM = """
gravity = [0, 0, 0]
body = [
    { name = "a", mass = 1, com = [0.1, 0, 0], inertia = [1e-3, 1e-3, 0.02] },
    { name = "b", mass = 2, xyz = [0.2, 0, 0], com = [0, 0.25, 0], inertia = [1e-3, 1e-3, 0.05] },
    { name = "c", mass = 1.5, xyz = [0, 0.5, 0], com = [0.1, 0, 0], inertia = [1e-3, 1e-3, 0.03] },
]
pair = [
    { name = "A", type = "revolute", body_a = "world", body_b = "a", xyz_a = [0, 0, 0] },
    { name = "B", type = "revolute", body_a = "a", body_b = "b", xyz_a = [0.2, 0, 0] },
    { name = "C", type = "revolute", body_a = "world", body_b = "c", xyz_a = [0, 0.5, 0] },
]
closure = [{ name = "D", type = "revolute", body_a = "b", body_b = "c", xyz_b = [0.2, 0, 0] }]
state.qd = { A = 3.0, B = -3.0, C = 3.0 }
"""


def loaded(folder: Path, text: str) -> mb.Scene:
    file = folder / "machine.scene.toml"
    file.write_text(text, encoding="utf-8")
    return mb.load(file)


def brakes(torques: dict[str, float], delays: dict[str, float]) -> list[dict[str, float | str]]:
    return [
        {"joint": joint, "torque": torque, "delay": delays.get(joint, 0.0), "engagement": 0.0}
        for joint, torque in torques.items()
    ]


def contradictions(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "contradict" in note or "cannot all keep" in note]


@pytest.mark.parametrize("delays", [{"S": 0.1}, {"A": 0.1}, {"A": 0.1, "S": 0.1}, {"A": 0.02, "S": 0.1}])
def test_a_rack_goes_on_until_the_last_of_its_drives_is_off(tmp_path: Path, delays: dict[str, float]) -> None:
    """By hand: 0.1 s at 3 rad/s are 0.3 rad; 0.02 + 2·0.05² = 0.025 kg·m² have 0.1125 J, which 1 N·m and 4 N at
    0.05 m take up in 0.1125 / 1.2 = 0.09375 rad, 2·0.09375 / 3 = 0.0625 s. Together 0.39375 rad and 0.1625 s.
    """
    stop = mb.estop(loaded(tmp_path, RACK), brakes=brakes({"A": 1.0, "S": 4.0}, delays))
    assert stop.joint("A").travel == pytest.approx(0.39375, rel=1e-7)
    assert stop.joint("S").travel == pytest.approx(0.05 * 0.39375, rel=1e-7)
    assert stop.time == pytest.approx(0.1625, abs=1e-5)
    assert contradictions(stop.notes) == []


@pytest.mark.parametrize("late", ["A", "B", "C", "D"])
def test_a_parallelogram_goes_on_until_the_last_of_its_drives_is_off(tmp_path: Path, late: str) -> None:
    """By hand: A, B, C turn at 3, −3 and 3 rad/s, D at 3. 0.05 s are 0.15 rad; (0.02 + 1·0.1²) + 2·0.2² +
    (0.03 + 1.5·0.1²) = 0.155 kg·m² have 0.6975 J, which 0.5 + 0.3 + 0.4 N·m take up in 0.58125 rad: 0.73125 rad.
    The drive of D, which closes the loop, counts as the others do; its brake of 0 N·m takes up nothing.
    """
    torques = {"A": 0.5, "B": 0.3, "C": 0.4, **({"D": 0.0} if late == "D" else {})}
    stop = mb.estop(loaded(tmp_path, PARALLELOGRAM), brakes=brakes(torques, {late: 0.05}), rtol=FINE)
    for joint, sense in (("A", 1), ("B", -1), ("C", 1)):
        assert stop.joint(joint).travel == pytest.approx(sense * 0.73125, rel=1e-9)
    # a joint rests below 1e-5 rad/s
    assert stop.time == pytest.approx(0.05 + 2 * 0.58125 / 3, abs=1e-5)
    assert contradictions(stop.notes) == []


@pytest.mark.parametrize("late", [{"A": 0.02, "C": 0.05}, {"A": 0.05, "C": 0.02}, {"A": 0.05, "C": 0.05}])
def test_a_folded_parallelogram_has_one_drive_that_leads(tmp_path: Path, late: dict[str, float]) -> None:
    """With all links in one line A and C could turn each by itself; the motion at hand turns both."""
    folded = PARALLELOGRAM.replace("com = [0.1, 0, 0]", "com = [0, 0.1, 0]").replace(
        "[0.2, 0, 0]", "[0, 0.2, 0]"
    )
    scenario = make_scenario(loaded(tmp_path, folded), brakes=brakes({"A": 0.5, "B": 0.3, "C": 0.4}, late))
    chosen = choose_drives(scenario)
    assert [one.brake.joint for one in chosen.leading] == [max(late, key=lambda joint: late[joint])]
    assert chosen.notes == ()


@pytest.mark.long
def test_the_delay_of_either_joint_is_varied_in_a_sweep(tmp_path: Path) -> None:
    """Of each stop by hand: 3 rad/s until the last drive is off, then 0.09375 rad; see the rack above."""
    torques = {"A": 1.0, "S": 4.0}
    for late in torques:
        plan = sweep_plan(
            loaded(tmp_path, RACK), 12, brakes=brakes(torques, {late: 0.1}), delay_tolerance=0.5, seed=4
        )
        stopper, seen = stopper_of(plan.scenario), set()
        for k in range(plan.count):
            drawn = plan.draw(k)
            latest = max(brake.delay for brake in drawn[2])
            found = stopper.stop(*drawn)
            assert np.abs(found.travels).max() == pytest.approx(3.0 * latest + 0.09375, rel=1e-6)
            seen.add(round(latest, 6))
        assert len(seen) == plan.count


@pytest.mark.parametrize("category", [1, 2])
@pytest.mark.parametrize("longer", ["A", "C", "D"])
def test_of_two_ramps_the_longer_one_counts_and_both_are_named(
    tmp_path: Path, category: int, longer: str
) -> None:
    """By hand: 3 rad/s to rest in 0.6 s are 0.9 rad, whatever the other ramp of 0.3 s states."""
    shorter = "C" if longer == "A" else "A"
    ramps = f'ramp = [{{joint="{longer}", time=0.6, reaction=0.0}}, {{joint="{shorter}", time=0.3, reaction=0.0}}]\n'
    stated = brakes({longer: 2.0, shorter: 2.0}, {longer: 0.02, shorter: 0.02})
    stop = mb.estop(loaded(tmp_path, PARALLELOGRAM + ramps), brakes=stated, category=category)
    assert stop.joint("A").travel == pytest.approx(0.9, rel=1e-7)
    assert stop.trajectory.time[-1] == pytest.approx(0.6, rel=1e-6)
    (note,) = contradictions(stop.notes)
    assert f"'{longer}' (at rest after 0.6 s)" in note and f"'{shorter}' (0.3 s)" in note


def test_ramps_that_agree_are_not_mentioned(tmp_path: Path) -> None:
    ramps = 'ramp = [{joint="A", time=0.6, reaction=0.1}, {joint="C", deceleration=5.0, reaction=0.1}]\n'
    stop = mb.estop(
        loaded(tmp_path, PARALLELOGRAM + ramps), brakes=brakes({"A": 2.0, "C": 2.0}, {}), category=1
    )
    assert contradictions(stop.notes) == []
    assert stop.joint("A").travel == pytest.approx(0.3 + 0.9, rel=1e-7)


def test_two_rates_of_a_four_bar_cannot_both_be_kept(tmp_path: Path) -> None:
    """The ratio of crank and rocker changes: the one that is powered longer keeps its rate, and the note says so."""
    made = crank_rocker(np.random.default_rng(3))
    for longer, shorter in (("A", "D"), ("D", "A")):
        late = {longer: 0.05, shorter: 0.02}
        own = replace(made, delays=tuple(late.get(joint, 0.0) for joint in made.joints))
        stop = mb.estop(loaded(tmp_path, own.scene(Writing(leader=2))))
        (note,) = contradictions(stop.notes)
        assert f"'{longer}', powered until 0.05 s, keeps its own" in note and f"'{shorter}' (" in note
        joint = stop.joint(longer)
        moved = stop.trajectory.resample(np.array([0.0, 0.025, 0.05])).q[
            :, stop.trajectory.mechanism.q_names.index(longer)
        ]
        assert np.diff(moved) == pytest.approx([0.025 * joint.rate] * 2, rel=1e-7)


FAMILIES: dict[str, tuple[Callable[[np.random.Generator], Machine], int]] = {
    "train": (train, 70),
    "differential": (differential, 30),
    "cart": (cart, 30),
    "parallelogram": (parallelogram, 40),
    "crank_rocker": (crank_rocker, 30),
}


def machine(family: str, number: int) -> Machine:
    return FAMILIES[family][0](np.random.default_rng([sorted(FAMILIES).index(family), number]))


def travels(folder: Path, made: Machine, writing: Writing) -> np.ndarray:
    """Return the time to rest and the travels of the joints that have a coordinate, angles and metres."""
    stop = mb.estop(loaded(folder, made.scene(writing)), rtol=FINE)
    assert stop.outcome == "stopped"
    found = {joint.name: joint.travel for joint in stop.joints}
    lengths = dict(zip(made.joints, np.where(made.slides, writing.length, 1.0).tolist(), strict=True))
    return np.array(
        [stop.trajectory.time[-1], *(found.get(joint, np.nan) / lengths[joint] for joint in made.joints)]
    )


def require_equal(found: np.ndarray, expected: np.ndarray, what: object, rel: float = 1e-6) -> None:
    both = np.isfinite(found) & np.isfinite(expected)
    assert both.sum() >= 2
    scale = np.abs(expected[both]).max()
    np.testing.assert_allclose(found[both], expected[both], rtol=rel, atol=rel * scale, err_msg=str(what))


#: Ten machines at a time.
TENS = [(family, first) for family, (_, count) in FAMILIES.items() for first in range(0, count, 10)]


@pytest.mark.long
@pytest.mark.parametrize(("family", "first"), TENS)
def test_a_stop_does_not_depend_on_how_its_machine_is_written(
    tmp_path: Path, family: str, first: int
) -> None:
    """Seeds are [family, number]; 200 machines in all."""
    for number in range(first, first + 10):
        made = machine(family, number)
        expected = travels(tmp_path, made, Writing())
        rng = np.random.default_rng(number)
        leader = int(rng.integers(1, 4))
        writings = [
            Writing(order=number + 1),
            Writing(leader=leader),
            Writing(length=float(rng.choice([1e3, 0.1]))),
        ]
        for writing in writings:
            require_equal(travels(tmp_path, made, writing), expected, (family, number, writing))
        if made.exchangeable:
            other = made.with_late(int(rng.integers(len(made.joints))))
            require_equal(
                travels(tmp_path, other, Writing(leader=leader)), expected, (family, number, other.delays)
            )


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
def test_a_stop_is_that_of_a_second_program(tmp_path: Path, family: str) -> None:
    """Ten machines of each family; by steps of 0.2 and 0.1 ms, extrapolated to none."""
    for number in range(10):
        made = machine(family, number)
        time, moved = stop_by_steps(made)
        found = travels(tmp_path, made, Writing(order=number))
        assert found[0] == pytest.approx(time, abs=3e-4), (family, number)
        require_equal(found[1:], moved, (family, number), rel=2e-5)
