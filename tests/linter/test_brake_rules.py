"""What the rules on brakes say, against numbers by hand and against the stops themselves."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.run import make_scenario
from places import TESTS
from rod_arms import arm

CASES = TESTS / "cases"


def test_gravity_by_hand_and_as_the_stops_feel_it() -> None:
    (finding,) = mb.lint(CASES / "err" / "mb601.scene.toml").findings
    # 2 kg at 0.5 m, level; sampled poses come near it
    assert finding.evidence["static"] == 5.0
    assert finding.evidence["gravity"] == pytest.approx(2 * 9.81 * 0.5, rel=1e-3)
    scene = mb.load(CASES / "err" / "mb601.scene.toml")
    q = np.array([finding.evidence["q"]["j0"]])
    holding = CompiledStop(make_scenario(scene)).holding(q)
    assert abs(holding[0]) == pytest.approx(finding.evidence["gravity"], rel=1e-9)


def test_two_brakes_on_one_degree_of_freedom() -> None:
    (finding,) = mb.lint(CASES / "err" / "mb602.scene.toml").findings
    assert finding.evidence == {"redundant": 1, "brakes": ["j0", "j1"]}


def test_two_brakes_on_one_joint_lock_it_once() -> None:
    text = (CASES / "err" / "mb602.scene.toml").read_text() + '\n[[brake]]\njoint = "j0"\ntorque = 5.0\n'
    (finding,) = mb.lint("twice.scene.toml", text=text).findings
    assert finding.evidence == {"redundant": 1, "brakes": ["j0", "j1"]}


@pytest.mark.long
def test_an_effort_limit_of_zero_is_no_brake_and_every_report_says_so() -> None:
    """The elbow swings on after the stop; the mimic finger, which another one moves, is not named."""
    case = str(CASES / "err" / "mb604.urdf")
    (finding,) = mb.lint(case, ignore=["MB161"]).findings
    assert (finding.code, finding.element, finding.evidence) == (
        "MB604",
        "j1",
        {"effort": 0.0, "elements": ["j1"]},
    )
    sentence = "joint j1 has no brake: its effort limit is 0"
    stop = ("estop", case, "--qd", "j0=0.5", "--duration", "0.5")
    found = json.loads(call(*stop, "--output-format", "json").out)
    assert [note for note in found["notes"] if "has no brake" in note] == [sentence]
    assert [brake["joint"] for brake in found["brakes"]] == ["j0", "grip"]
    assert sentence in call(*stop).out and sentence in call(*stop, "--output-format", "html").out
    scene = mb.load(case)
    braked = mb.estop(scene, qd={"j0": 0.5}, brakes=[{"joint": "j1", "torque": 20.0}], duration=0.5)
    assert not any("has no brake" in note for note in braked.notes)


def test_a_joint_without_any_effort_limit_is_named_too() -> None:
    mech = arm((0.5, 0.4))
    notes = mb.estop(mech, qd={"j0": 1.0}, brakes=[{"joint": "j0", "torque": 50.0}], duration=0.1).notes
    assert "joint j1 has no brake: it states neither a brake nor an effort limit" in notes
