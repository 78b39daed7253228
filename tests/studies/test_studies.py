"""The public functions of studies take what a user has: a file, a scene, a mechanism and named joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from linkage import Linkage
from mbplugin import studies
from mbplugin.dynamics.formulations import eliminate, solve
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.studies.elimination import SCHEMES, cos_squared
from places import ASSETS, ORACLES

LINKAGE = Linkage((1.0, 3.0, 9.0), gravity=9.81)


@pytest.mark.parametrize("crank", [0.3, 2.9])
def test_the_criterion_of_the_papers_linkage(crank: float) -> None:
    mech, q = LINKAGE.mechanism(crank)
    equations = LINKAGE.equations(LINKAGE.closed(crank), np.zeros(3))
    expected = cos_squared(equations, eliminate(equations))
    found = studies.projective_criterion(mech, q)
    assert tuple(found) == mech.qd_names
    assert list(found.values()) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("crank", [0.3, 1.2, 4.4])
def test_the_force_at_the_cut_in_relative_angles(crank: float, scheme: str) -> None:
    """(blajer1994 (42)–(45)) in motion under gravity, against the equations by hand."""
    mech, q = LINKAGE.mechanism(crank)
    alpha = LINKAGE.closed(crank)
    rate = LINKAGE.rates(alpha, 2.0)
    expected = solve(LINKAGE.equations(alpha, rate), "kkt").multipliers
    found = studies.pair_forces(mech, q, rate, scheme=scheme, planar="xy")
    assert set(found) == {("O4", "tx"), ("O4", "ty")}
    # the directions of the pair's frame in the plane are its own
    force = np.hypot(*found.values())
    assert force == pytest.approx(np.hypot(*expected), rel=1e-9)
    assert force > 10.0


def test_relative_and_absolute_coordinates_give_the_same_forces() -> None:
    file = ASSETS / "crank_rocker.scene.toml"
    state = {"q": {"O1": 0.7}, "qd": {"O1": 3.0}}
    relative = studies.pair_forces(file, **state)
    absolute = studies.pair_forces(file, **state, coordinates="absolute")
    assert {name for name, _ in relative} == {"O4"} and {name for name, _ in absolute} == {
        "O1",
        "O2",
        "O3",
        "O4",
    }
    for label, value in relative.items():
        assert absolute[label] == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert max(map(abs, relative.values())) > 1.0


def test_forces_that_are_not_unique_and_schemes_that_there_are_not() -> None:
    with pytest.raises(BadUsage, match="not unique: 3 of the constraints are redundant"):
        studies.pair_forces(ORACLES / "four_bar_4R.sdf")
    with pytest.raises(UnknownName, match="no scheme '36'"):
        studies.pair_forces(ASSETS / "crank_rocker.scene.toml", scheme="36")


def test_cuts_of_a_file() -> None:
    cuts = studies.rank_cuts(ASSETS / "crank_rocker.scene.toml", {"O1": 1.0})
    scene = mb.load(ASSETS / "crank_rocker.scene.toml")
    at = mb.analyze(scene, {"O1": 1.0}).q
    assert [(c.pair, c.independence) for c in cuts] == [
        (c.pair, pytest.approx(c.independence, rel=1e-9)) for c in studies.rank_cuts(scene.mechanism, at)
    ]
    best = studies.projective_criterion(scene, {"O1": 1.0})
    assert cuts[[c.pair for c in cuts].index("O4")].independence == pytest.approx(
        max(best.values()), rel=1e-9
    )


def test_closing_conditions_of_a_file_close_it() -> None:
    file = ASSETS / "crank_rocker.scene.toml"
    closing = studies.closing_conditions(file, {"O1": 0.4}, independent=["O1"])
    assert closing.q[0] == pytest.approx(0.4)
    later = closing.g(np.array([1.9]))
    assert later[0] == 1.9 and closing.residuals(later)["O4"] < 1e-14
    assert studies.closing_conditions(file).explicit
    with pytest.raises(UnknownName, match="'O9'"):
        studies.closing_conditions(file, independent=["O9"])


def test_friction_that_grows_with_its_load_leaves_no_ideal_pairs() -> None:
    scene = mb.load(ASSETS / "crank_rocker.scene.toml")
    first, *others = scene.mechanism.pairs
    first = replace(first, freedoms=(replace(first.freedoms[0], load_friction=0.01),))
    mech = replace(scene.mechanism, pairs=(first, *others))
    for study in (studies.pair_forces, studies.divide_and_conquer):
        with pytest.raises(BadUsage, match="grows with"):
            study(mech, planar="xy")
    with pytest.raises(BadUsage, match="not an ideal pair"):
        mb.analyze(mech, method="dca", planar="xy")
