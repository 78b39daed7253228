"""Numbers beside which others are rounding, alone and in the report of a stop."""

from __future__ import annotations

from math import inf, nan

import pytest

from command_line import call
from mbplugin.report import largest_of, shown
from places import BULLET_DATA


@pytest.mark.parametrize(
    ("value", "largest", "size", "text"),
    [
        (1.9e-30, 1.0, 1.0, "0"),
        (-2e-13, 1.0, 1.0, "0"),
        (2e-12, 1.0, 1.0, "2e-12"),
        (5.1e-11, 300.0, 1.0, "0"),
        (2e-13, 1e-3, 1.0, "2e-13"),
        (0.0, 0.0, 1.0, "0"),
        (0.5, 1.0, 180.0, "90"),
        (inf, 1.0, 1.0, "inf"),
        (nan, 1.0, 1.0, "nan"),
    ],
)
def test_what_is_rounding_is_zero(value: float, largest: float, size: float, text: str) -> None:
    assert shown(value, largest, size) == text


def test_the_largest_of_none_is_zero() -> None:
    assert (largest_of([]), largest_of([1.0, -3.0])) == (0.0, 3.0)


@pytest.mark.bullet
def test_joints_at_rest_have_no_rounding() -> None:
    """A robot that turns about the vertical: brakes hold the other joints where they are, to rounding."""
    robot = BULLET_DATA / "kuka_iiwa" / "model.urdf"
    done = call("estop", str(robot), "--base", "fixed", "--qd", "lbr_iiwa_joint_1=1.5")
    assert done.code == 0, done.err
    lines = [line.replace("N·m", "") for line in done.out.splitlines()]
    tables = [line.split()[1:] for line in lines if line.startswith("  lbr_iiwa_joint_3 ")]
    assert set(tables[0][1:]) == {"0"}, tables[0]
    # the drive and the friction along its axis, beside a brake of 128 N·m
    assert tables[2][-3] == tables[2][-1] == "0" and float(tables[2][-2]) > 100
    assert "e-3" not in done.out and "e-2" not in done.out
