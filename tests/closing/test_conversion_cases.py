"""Small models that conversions once got wrong, in every format and under the same commands."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin.closing.commanded import FOLLOWS
from mbplugin.closing.drift import Closing
from places import ORACLES, ROOT

CASES = sorted((ROOT / "tests" / "cases" / "conversions").iterdir())
FORMATS = ("mjcf", "urdf", "sdf", "usd", "scene")
#: SDF has no closure that is weak enough for these.
LEFT = {("door_of_two_connects", "sdf"), ("hinge_of_two_connects", "sdf"), ("two_parents", "sdf")}
#: Losses that act on no motion here: contacts do not act, and no joint comes near its largest speed.
HARMLESS = {"shape", "contact", "setting"}


def converted(file: Path, to: str) -> Closing:
    pytest.importorskip("mujoco")
    if "usd" in (to, file.suffix[1:4]):
        pytest.importorskip("pxr")
    return mb.close(file, to)


@pytest.mark.long
@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_a_case_moves_as_before_or_says_what_it_lost(file: Path, to: str) -> None:
    found = converted(file, to)
    assert found.keeps_mobility
    assert found.proved != ((file.stem, to) in LEFT)
    lost = {loss.kind for loss in found.written.losses} - HARMLESS
    moved = found.commanded
    assert moved is not None and not moved.reason
    assert lost or max(moved.angle, moved.distance) <= FOLLOWS
    assert not found.strays


def test_the_servo_of_a_four_bar_keeps_its_gains() -> None:
    file = next(file for file in CASES if file.stem == "four_bar_position_servo")
    found = converted(file, "mjcf")
    assert found.written.losses == () and 'kp="50" kv="2" forcerange="-3 3"' in found.text
    assert found.commanded is not None and found.commanded.kind == "command"
    assert found.commanded.angle < FOLLOWS


def test_what_changes_joints_of_the_tree_is_written_anew() -> None:
    """A loop that a weld closes with three hinges: one of these becomes another joint."""
    file = next(file for file in CASES if file.stem == "four_bar_weld")
    found = converted(file, "mjcf")
    assert found.written.copy_of is None and "of the tree becomes" in found.written.anew
    assert found.proved


@pytest.mark.long
def test_a_difference_of_the_engines_steps_is_told_from_one_of_the_models() -> None:
    """Loops are cut elsewhere in the stage, where MuJoCo's steps err in another way: shorter ones err less."""
    found = converted(ORACLES / "stewart_6UPS.sdf", "usd")
    assert found.commanded is not None and found.commanded.step < 5e-4
    assert max(found.commanded.angle, found.commanded.distance) < FOLLOWS and not found.strays
