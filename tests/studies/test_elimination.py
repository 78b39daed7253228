"""Dropping redundant rows: one motion, and λ changes exactly where it is not unique (wojtyra2013 §4.4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.studies.elimination import Variants, admissible_sets, elimination_variants
from models import four_bar
from places import ASSETS
from random_mechanisms import scaled

ROBOT = ASSETS / "four_wheel_robot.scene.toml"
SETS = [(6, 21), (18, 21), (19, 21), (18, 20)]
#: Steered by the front arm, driving at 1 m/s, pushed sideways.
STATE = {"q": {"B": 0.2}, "qd": {"1.vx": 1.0}, "loads": [{"body": "1", "force": [0, 300, 0]}]}


@pytest.fixture(scope="module")
def robot() -> mb.Scene:
    return mb.load(ROBOT)


@pytest.fixture(scope="module")
def four(robot: mb.Scene) -> Variants:
    return elimination_variants(robot, SETS, **STATE)


def test_the_rows_are_numbered_as_in_the_paper(four: Variants) -> None:
    assert len(four.labels) == 22 and four.degree_of_redundancy == 2
    assert [four.labels[k - 1] for k in (6, 17, 18, 21, 22)] == [
        ("C", "ty"),
        ("drive", "tz_drive"),
        ("W1", "side"),
        ("W4", "side"),
        ("W5", "side"),
    ]


def test_four_eliminations_of_the_four_wheel_robot_are_one_motion(four: Variants) -> None:
    assert [v.dropped for v in four.variants] == SETS
    assert four.motion_difference < 1e-10
    # it turns: the motion is not trivial
    assert np.abs(four.variants[0].accelerations).max() > 0.1


def test_multipliers_change_exactly_where_they_are_not_unique(four: Variants) -> None:
    assert four.changed == ("B", "C", "W1", "W2", "W3", "W4") == four.non_unique
    for variant in four.variants:
        assert [variant.multipliers[k - 1] for k in variant.dropped] == [0.0, 0.0]


def test_over_the_first_three_w4_is_always_zero(four: Variants) -> None:
    three = replace(four, variants=four.variants[:3])
    assert three.changed == ("B", "C", "W1", "W2", "W3")


def test_all_admissible_sets_of_the_robot(robot: mb.Scene) -> None:
    every = elimination_variants(robot, count=1000, **STATE)
    assert set(SETS) <= {v.dropped for v in every.variants}
    assert every.changed == every.non_unique
    assert every.motion_difference < 1e-8


def test_unique_multipliers_balance_the_bodies_in_every_variant(four: Variants, robot: mb.Scene) -> None:
    """M v̇ = F + Cᵀλ with the whole C, in the plane."""
    from mbplugin.dynamics import newton_euler
    from mbplugin.joint_reactions import closed_state
    from mbplugin.model.scene import read_loads

    state = closed_state(robot, STATE["q"], STATE["qd"], None, None, None)
    matrix = mb.constraint_matrix(state.mech, state.q, state.qd, planar="xy")
    assert matrix.rows == four.labels
    made = newton_euler(state.mech, state.q, state.qd, loads=read_loads(state.mech, STATE["loads"]))
    for variant in four.variants:
        inertia = made.missing(variant.accelerations)[:, [0, 1, 5]].ravel()
        assert matrix.C.T @ variant.multipliers == pytest.approx(inertia, abs=1e-9)
        assert matrix.C @ variant.accelerations[:, [0, 1, 5]].ravel() == pytest.approx(matrix.Gamma, abs=1e-9)


def test_a_falling_four_bar_is_one_motion_over_sampled_sets() -> None:
    mech, q = four_bar()
    mech = replace(mech, gravity=np.array([1.0, -9.81, 2.0]))
    found = elimination_variants(mech, None, q, count=25, seed=4)
    assert len(found.variants) == 25
    assert found.degree_of_redundancy == 3
    assert found.motion_difference < 1e-9
    assert found.changed == found.non_unique == ("j0", "j1", "j2", "j3")
    unique = [k for k, (_, c) in enumerate(found.labels) if c in ("tx", "ty")]
    values = np.array([v.multipliers for v in found.variants])
    assert np.ptp(values[:, unique], axis=0) == pytest.approx(0, abs=1e-8)


def test_without_redundancy_there_is_one_variant_and_nothing_is_dropped() -> None:
    mech, q = four_bar(types=("revolute", "spherical", "universal", "revolute"))
    found = elimination_variants(mech, None, q)
    assert found.degree_of_redundancy == 0
    assert [v.dropped for v in found.variants] == [()]
    assert found.changed == ()


def test_samples_are_admissible_and_differ() -> None:
    Z = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 6)))[0]
    Z[30:] = 0.0
    sets = admissible_sets(Z, count=50, seed=1)
    assert len(set(sets)) == 50
    for rows in sets:
        assert max(rows) < 30
        assert np.linalg.matrix_rank(Z[list(rows)]) == 6
    assert sets == admissible_sets(Z, count=50, seed=1)


@pytest.mark.parametrize(
    ("rows", "kind", "said"),
    [
        ([(1, 2)], BadUsage, "A tx, A ty"),
        ([(21,)], BadUsage, "2 rows"),
        ([(20, 23)], BadUsage, "1 to 22"),
        ([(("W3", "side"), ("W9", "side"))], UnknownName, "did you mean"),
        ([(6, 18, 21)], BadUsage, "cannot be dropped together"),
    ],
)
def test_sets_that_cannot_be_dropped(robot: mb.Scene, rows: list, kind: type, said: str) -> None:
    with pytest.raises(kind, match=said):
        elimination_variants(robot, rows, **STATE)


def test_rows_may_be_integers_of_any_kind(robot: mb.Scene, four: Variants) -> None:
    """As ``np.flatnonzero`` and loops over an array give them."""
    sets = np.array(SETS)
    found = elimination_variants(robot, sets, **STATE)
    assert [v.dropped for v in found.variants] == SETS
    assert all(type(k) is int for v in found.variants for k in v.dropped)
    assert found.motion_difference == four.motion_difference


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ([], "no set of rows"),
        ([()], "2 rows"),
        ([6, 21], "set of rows 6"),
        (["6"], "set of rows '6'"),
        ([(6.0, 21.0)], "6.0 is not a row"),
        ([(True, 21)], "True is not a row"),
        ([("C", "ty")], "'C' is not a row"),
    ],
)
def test_what_is_no_set_is_refused(robot: mb.Scene, sets: list, said: str) -> None:
    with pytest.raises(BadUsage, match=said):
        elimination_variants(robot, sets, **STATE)
    with pytest.raises(BadUsage, match="count of sets is 0"):
        elimination_variants(robot, count=0, **STATE)


def test_the_empty_set_is_one_where_nothing_is_redundant() -> None:
    mech, q = four_bar(types=("revolute", "spherical", "universal", "revolute"))
    assert [v.dropped for v in elimination_variants(mech, [()], q).variants] == [()]
    with pytest.raises(BadUsage, match="the empty set alone"):
        elimination_variants(mech, [], q)


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_the_unit_of_length_changes_no_statement(factor: float) -> None:
    """Forces grow with the unit and moments with its square: the same robot in mm, with multipliers in N·mm."""
    mech, q = four_bar()
    mech = replace(mech, gravity=np.array([1.0, -9.81, 2.0]))
    other = replace(scaled(mech, factor), gravity=factor * mech.gravity)
    sets = [v.dropped for v in elimination_variants(mech, None, q, count=12, seed=4).variants]
    one, two = (elimination_variants(m, sets, q) for m in (mech, other))
    assert one.changed == two.changed == ("j0", "j1", "j2", "j3")
    # a difference that is not rounding: one variant has other accelerations of points, another one of angles
    for column in (0, 5):
        changes = []
        for found, size in ((one, factor**0), (two, factor)):
            first = found.variants[0]
            a = first.accelerations.copy()
            a[1, column] += 0.01 * (size if column < 3 else 1.0)
            changed = (replace(first, accelerations=a), *found.variants[1:])
            changes.append(replace(found, variants=changed).motion_difference)
        assert changes[0] == pytest.approx(changes[1], rel=1e-6)
    # one force or one moment of a millionth, near the border of what counts as changed
    rows = [one.labels.index(("j0", component)) for component in ("tx", "rx")]
    for row, power in zip(rows, (1, 2), strict=True):
        said = []
        for found, size in ((one, 1.0), (two, factor)):
            alone = found.variants[0]
            values = alone.multipliers.copy()
            values[row] += 1e-6 * size**power
            said.append(replace(found, variants=(alone, replace(alone, multipliers=values))).changed)
        assert said[0] == said[1]
