"""The example of engines' contact forces: PyBullet's and MuJoCo's lie in the intervals, and differ from each other."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

from places import ROOT

#: Accepted deviation from an interval, relative to the sum of all normal forces: what PyBullet's iterations leave.
TOLERANCE = 0.01
EXAMPLE = ROOT / "examples" / "18_contact_forces_of_engines.py"
TABLE, GRIPPER = "table on four legs", "gripper with a block"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    pytest.importorskip("mujoco")
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module")
def found(example: dict[str, Any]) -> dict[str, Any]:
    return example["all_contacts"]()


def column(contacts: list[Any], name: str) -> np.ndarray:
    return np.array([getattr(contact, name) for contact in contacts])


@pytest.mark.long
def test_all_forces_of_engines_lie_in_their_intervals(found: dict[str, Any]) -> None:
    counts = {scene: [len(contacts) for contacts in engines.values()] for scene, engines in found.items()}
    assert counts == {TABLE: [4, 4], GRIPPER: [4, 4], "Husky": [8], "Minitaur": [9]}
    for engines in found.values():
        for contacts in engines.values():
            lower, upper, engine = (column(contacts, name) for name in ("lower", "upper", "engine"))
            size = TOLERANCE * engine.sum()
            assert (lower - size <= engine).all() and (engine <= upper + size).all()
            # an interval that is no wider than the tolerance would say nothing
            assert (upper - lower > 10 * size).all()


@pytest.mark.parametrize("scene", [TABLE, GRIPPER])
def test_the_engines_differ_where_their_intervals_agree(found: dict[str, Any], scene: str) -> None:
    bullet, mujoco = (found[scene][engine] for engine in ("PyBullet", "MuJoCo"))
    assert column(bullet, "point") == pytest.approx(column(mujoco, "point"), abs=2e-3)
    size = TOLERANCE * column(bullet, "engine").sum()
    for end in ("lower", "upper"):
        assert column(bullet, end) == pytest.approx(column(mujoco, end), abs=size)
    assert np.abs(column(bullet, "engine") - column(mujoco, "engine")).min() > 3 * size


@pytest.mark.parametrize("engine", ["PyBullet", "MuJoCo"])
def test_the_intervals_of_the_table_by_hand(
    example: dict[str, Any], found: dict[str, Any], engine: str
) -> None:
    """Three balances leave one free force: legs gain and lose in turn until one of them lifts."""
    weight = example["TABLE"] * example["GRAVITY"]
    contacts = found[TABLE][engine]
    feet = column(contacts, "point")[:, :2]
    turns = np.sign(feet[:, 0] * feet[:, 1])
    A = np.vstack((np.ones(4), np.sign(feet).T * np.array([[0.5], [0.3]])))
    start = np.linalg.lstsq(A, weight * np.array([1.0, *example["CENTRE"]]), rcond=None)[0]
    least, most = (-start[turns > 0]).max(), start[turns < 0].min()
    ends = np.sort([start + turns * least, start + turns * most], axis=0)
    assert column(contacts, "lower") == pytest.approx(ends[0], abs=0.5)
    assert column(contacts, "upper") == pytest.approx(ends[1], abs=0.5)
    assert A @ column(contacts, "engine") == pytest.approx(A @ start, abs=0.01 * weight)


@pytest.mark.parametrize("engine", ["PyBullet", "MuJoCo"])
def test_each_finger_presses_with_the_force_of_its_motor(
    example: dict[str, Any], found: dict[str, Any], engine: str
) -> None:
    contacts = found[GRIPPER][engine]
    side = column(contacts, "point")[:, 1] > 0
    for finger in (side, ~side):
        assert column(contacts, "engine")[finger].sum() == pytest.approx(example["SQUEEZE"], rel=1e-3)
    # by one pad alone a finger may press with all that its motor has
    assert column(contacts, "upper") == pytest.approx(example["LIMIT"], rel=1e-3)
    assert column(contacts, "lower") == pytest.approx(0.0, abs=0.01 * example["LIMIT"])
