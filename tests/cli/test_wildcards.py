"""Patterns in the place of names of joints."""

from __future__ import annotations

import json

import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.cli.quantities import Quantities, matching
from mbplugin.errors import UnknownName
from mbplugin.model.brake_law import SI

ARM = str(ASSETS / "arm_6r.scene.toml")


def test_a_pattern_stands_for_all_joints_that_it_matches() -> None:
    given = Quantities(SI, mb.load(ARM).mechanism)
    names = [f"j{k}" for k in range(1, 7)]
    assert given.joints(["j*"], "--hold") == tuple(names)
    assert given.joints(["j[12],j?", "j2"], "--hold") == ("j[12]", *names, "j2")
    assert given.coordinates(["j*=0.1"]) == dict.fromkeys(names, 0.1)
    assert given.rates(["j?=10deg/s"]).keys() == set(names)
    assert [brake["joint"] for brake in given.brakes(["j*:torque=5,delay=0.01"])] == names
    assert [lock.joint for lock in given.locks(["j*@0.1:0.2"])] == names
    assert [(hold.constraint, hold.at) for hold in given.holds(["j*@0.1:0.2"])] == [(n, 0.1) for n in names]


def test_a_pattern_and_a_name_that_state_the_same_are_refused() -> None:
    refused = call("estop", ARM, "--qd", "j*=0.1", "--qd", "j2=0.2")
    assert refused.code == 2 and "--qd states 'j2' twice" in refused.err
    with pytest.raises(UnknownName, match=r"--hold names 'k\*', which no joint matches"):
        matching("k*", ("j1",), "--hold")
    assert matching("j*", ("j*", "j1"), "--hold") == ("j*",)


def test_what_follows_another_joint_is_not_matched() -> None:
    scene = mb.load(ASSETS.parent / "tests" / "cases" / "err" / "mb161.urdf")
    followers = {coupling.terms[0].joint for coupling in scene.mechanism.couplings}
    assert followers and not followers & set(Quantities(SI, scene.mechanism).joints(["*"], "--hold"))


@pytest.mark.parametrize("option", ["--hold", "--actuated"])
def test_all_joints_of_an_arm_are_held_by_one_pattern(option: str) -> None:
    one = json.loads(call("reactions", ARM, option, "j*", "--output-format", "json").out)
    all_named = json.loads(call("reactions", ARM, option, "j1,j2,j3,j4,j5,j6", "--output-format", "json").out)
    assert one["constraints"] == all_named["constraints"]
