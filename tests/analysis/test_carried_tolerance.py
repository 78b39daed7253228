"""A result is judged at the rank tolerance that it was computed with."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.model.mechanism.pair import Pair
from mbplugin.report.documents.motions import simulate_document
from mbplugin.report.documents.stopping import estop_document
from mbplugin.report.html.chapters import motion_chapter, stop_chapter
from mbplugin.visualization import replay_of
from mbplugin.visualization.gui import seen_in_motion
from places import ASSETS

MINITAUR = ASSETS / "minitaur.scene.toml"
STRICT = 1e-8


@pytest.fixture(scope="module")
def robot() -> mb.Scene:
    """Angles that are rounded to five digits: redundant at the default tolerance, not at a strict one."""
    return mb.load(MINITAUR)


@pytest.fixture(scope="module")
def strict(robot: mb.Scene) -> mb.Scene:
    """The same robot with the tolerance in its ``[lint]`` table."""
    return replace(robot, options=replace(robot.options, tolerance=STRICT))


def motorised(pair: Pair) -> bool:
    return pair.name.startswith("motor_") and pair.type in ("revolute", "continuous")


def closures(scene: mb.Scene) -> list[str]:
    return [pair.name for pair in scene.mechanism.pairs if pair.closure]


@pytest.mark.long
@pytest.mark.bullet
@pytest.mark.parametrize("by_scene", [False, True])
def test_a_motion_without_redundancy_has_unique_reactions(
    robot: mb.Scene, strict: mb.Scene, by_scene: bool
) -> None:
    motion = mb.simulate(strict, 1e-3) if by_scene else mb.simulate(robot, 1e-3, tolerance=STRICT)
    assert (motion.degree_of_redundancy, motion.tolerance) == (0, STRICT)
    loose = mb.simulate(robot, 1e-3)
    assert loose.degree_of_redundancy > 0
    for name in closures(robot):
        assert motion.uniqueness(name).all()
    assert not all(loose.uniqueness(name).all() for name in closures(robot))


@pytest.mark.long
@pytest.mark.bullet
def test_reactions_under_a_lock_are_judged_at_the_tolerance_of_the_motion(robot: mb.Scene) -> None:
    """With p = 0 the multipliers are those of all rows; C^T lambda leaves nothing over."""
    joint = next(p.name for p in robot.mechanism.pairs if p.type == "revolute" and not p.closure)
    motion = mb.simulate(robot, 1e-3, tolerance=STRICT, locks=[mb.Lock(joint, at=5e-4)])
    by_all = mb.simulate(
        robot, 1e-3, tolerance=STRICT, locks=[mb.Lock(joint, at=5e-4)], redundancy="minimum-norm"
    )
    for name in closures(robot):
        assert motion.uniqueness(name).all()
        size = np.abs(motion.reactions(name)).max()
        assert motion.reactions(name)[-1] == pytest.approx(by_all.reactions(name)[-1], abs=1e-4 * size)


@pytest.mark.bullet
def test_reports_and_pictures_take_the_tolerance_of_the_motion(robot: mb.Scene) -> None:
    motion = mb.simulate(robot, 1e-3, tolerance=STRICT)
    assert simulate_document(motion, defaultdict(lambda: None), (), "", ())["tolerance"] == STRICT
    chapter = motion_chapter(robot, motion)
    assert chapter.analysis is not None and chapter.analysis.degree_of_redundancy == 0
    made = replay_of(robot, motion)
    assert made.tolerance == STRICT
    seen = seen_in_motion(robot, made)
    assert seen.mechanism is robot.mechanism


@pytest.mark.long
@pytest.mark.bullet
def test_a_stop_is_computed_at_the_tolerance_of_the_scene(robot: mb.Scene, strict: mb.Scene) -> None:
    brakes = [{"joint": p.name, "torque": 5.0} for p in robot.mechanism.pairs if motorised(p)]
    stops = [mb.estop(model, brakes=brakes, duration=2e-3, limits="ignore") for model in (robot, strict)]
    stops.append(mb.estop(robot, brakes=brakes, duration=2e-3, limits="ignore", tolerance=STRICT))
    assert [stop.trajectory.tolerance for stop in stops] == [DEFAULT_TOLERANCE, STRICT, STRICT]
    assert [stop.trajectory.degree_of_redundancy > 0 for stop in stops] == [True, False, False]
    assert estop_document(stops[1], "", ())["tolerance"] == STRICT
    chapter = stop_chapter(robot, stops[2])
    assert chapter.analysis is not None and chapter.analysis.tolerance == STRICT


@pytest.mark.bullet
def test_of_drives_that_move_together_but_for_rounding_one_leads(robot: mb.Scene) -> None:
    """Both hips of a leg turn about one axis, so that both knees follow the angle between its thighs.

    Two knee drives of a leg would hold it by the sixth digit of that axis, and fling the hips about.
    """
    brakes = [{"joint": p.name, "torque": 5.0} for p in robot.mechanism.pairs if motorised(p)]
    motion = mb.estop(robot, brakes=brakes, duration=2e-3, limits="ignore").trajectory
    led = [name for name in motion.active[-1] if name.startswith("drive knee_")]
    legs = {name.removeprefix("drive knee_").removesuffix("R_link").removesuffix("L_link") for name in led}
    assert len(led) == len(legs) == 4
    hips = [name.startswith("motor_") for name in motion.mechanism.q_names]
    assert np.abs(motion.q[:, hips]) == pytest.approx(np.pi / 2, abs=1e-6)


@pytest.mark.long
def test_a_table_is_computed_at_the_tolerance_of_the_scene() -> None:
    arm = mb.load(ASSETS / "arm_6r.scene.toml")
    arm = replace(arm, options=replace(arm.options, tolerance=STRICT))
    table = mb.stopping_table(arm, axes=["j1"], categories=(0,))
    assert table.tolerance == STRICT
    assert json.loads(table.text("json"))["tolerance"] == STRICT
