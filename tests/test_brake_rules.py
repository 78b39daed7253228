"""What the rules on brakes say, against numbers by hand and against the stops themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.estop.batch import StopMachine
from mbplugin.estop.run import make_scenario

CASES = Path(__file__).parent / "cases"


def test_gravity_by_hand_and_as_the_stops_feel_it() -> None:
    (finding,) = mb.lint(CASES / "err" / "mb601.scene.toml").findings
    # 2 kg at 0.5 m, level; sampled poses come near it
    assert finding.evidence["static"] == 5.0
    assert finding.evidence["gravity"] == pytest.approx(2 * 9.81 * 0.5, rel=1e-3)
    scene = mb.load(CASES / "err" / "mb601.scene.toml")
    q = np.array([finding.evidence["q"]["j0"]])
    holding = StopMachine(make_scenario(scene)).holding(q)
    assert abs(holding[0]) == pytest.approx(finding.evidence["gravity"], rel=1e-9)


def test_two_brakes_on_one_degree_of_freedom() -> None:
    (finding,) = mb.lint(CASES / "err" / "mb602.scene.toml").findings
    assert finding.evidence == {"redundant": 1, "brakes": ["j0", "j1"]}
