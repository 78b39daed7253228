"""Sliders lead along the constraint manifold: by hand, and by the constraint matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, ORACLES
from linkage import Linkage
from mbplugin.constraints.closure import solve_at_poses
from mbplugin.constraints.many_poses import redundancy_at_poses
from mbplugin.constraints.rank import View
from mbplugin.constraints.rows import plane_columns
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.simulation.manifold import Manifold, PoseVerdict, Step
from mbplugin.visualization.gui import status_lines

FILES = [
    ASSETS / "minitaur.scene.toml",
    ASSETS / "four_bar.scene.toml",
    ASSETS / "spatial_parallelogram.scene.toml",
    ORACLES / "parallelogram_3UU.sdf",
    ORACLES / "stewart_6UPS.sdf",
    ORACLES / "slider_crank_planar.sdf",
]


def manifold_of(model: mb.Scene | Mechanism, q: object = None) -> Manifold:
    found = mb.analyze(model, q)  # type: ignore[arg-type]
    view = View(found.mechanism, found.q, plane_columns(found.planar), found.tolerance)
    return Manifold(view, found.structural_redundancy)


def gap(model: mb.Scene | Mechanism, q: np.ndarray) -> float:
    """The largest position residual of all constraints, by the constraint matrix."""
    return float(np.abs(mb.constraint_matrix(model, q).Phi).max(initial=0.0))


def with_motor(mech: Mechanism, name: str) -> Mechanism:
    """Give one joint a motor, so that it leads."""
    pairs = (replace(p, freedoms=(Freedom(effort=1.0),)) if p.name == name else p for p in mech.pairs)
    return replace(mech, pairs=tuple(pairs))


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_led_pose_satisfies_the_constraints(file) -> None:  # type: ignore[no-untyped-def]
    scene = mb.load(file)
    manifold = manifold_of(scene)
    start = gap(scene, manifold.view.q)
    assert manifold.sliders
    for slider in (manifold.sliders[0], manifold.sliders[-1]):
        followed = manifold.lead(slider, manifold.view.q, 0.2)
        assert followed.moved == pytest.approx(0.2, abs=1e-12) and not followed.stopped
        assert np.abs(followed.q - manifold.view.q).max() > 0.05
        assert gap(scene, followed.q) <= max(1e-6, 5 * start)


@pytest.mark.bullet
def test_the_other_leading_coordinates_stay() -> None:
    manifold = manifold_of(mb.load(ASSETS / "minitaur.scene.toml"))
    names = manifold.mech.q_names
    first, *others = manifold.sliders
    assert len(others) == 7 and all(s.name.startswith("motor_") for s in manifold.sliders)
    followed = manifold.lead(first, manifold.view.q, 0.3)
    for slider in others:
        k = names.index(slider.name)
        assert followed.q[k] == manifold.view.q[k]
    assert followed.q[names.index(first.name)] == pytest.approx(first.start + 0.3)


@pytest.mark.parametrize("way", [1.5, -4.0])
def test_a_crank_leads_the_others_where_the_hand_solution_has_them(way: float) -> None:
    linkage = Linkage((1.0, 1.0, 1.0))
    # q counts from this pose
    start = linkage.closed(0.3)
    mech, q = linkage.mechanism(0.3)
    manifold = manifold_of(with_motor(mech, "O1"), q)
    (slider,) = manifold.sliders
    followed = manifold.lead(slider, q, way)
    assert slider.name == "O1" and followed.q[0] == pytest.approx(way)
    error = start + followed.q - linkage.closed(0.3 + way)
    assert np.abs(np.angle(np.exp(1j * error))).max() < 1e-6


def test_a_loop_ends_where_its_links_are_stretched() -> None:
    """Ground 3, links 2, 1.2 and 1.5 m: by the law of cosines the first link stops when the others align."""
    linkage = Linkage((1.0, 1.0, 1.0), sizes=(3.0, 2.0, 1.2, 1.5))
    sine = (3.0**2 + 2.0**2 - (1.2 + 1.5) ** 2) / (2 * 3.0 * 2.0)
    limit = float(np.arcsin(sine))
    mech, q = linkage.mechanism(limit + 0.3)
    manifold = manifold_of(with_motor(mech, "O1"), q)
    (slider,) = manifold.sliders
    assert slider.name == "O1"
    followed = manifold.lead(slider, manifold.view.q, -1.0)
    assert followed.stopped == "the loop lets it go no farther"
    assert followed.moved == pytest.approx(-0.3, abs=2e-3)
    assert gap(mech, followed.q) < 1e-6
    # and it goes back
    back = manifold.lead(slider, followed.q, 0.2)
    assert not back.stopped and back.moved == pytest.approx(0.2)


def test_a_step_into_another_assembly_is_none() -> None:
    """From so far away the solver may close the loop in another way, which no robot could."""
    mech, q = Linkage((1.0, 1.0, 1.0)).mechanism(0.3)
    manifold = manifold_of(with_motor(mech, "O1"), q)
    ((pose, reason),) = manifold._followed([Step(manifold.sliders[0], q, 1.2)])
    assert reason == "the loop would have to jump" and np.array_equal(pose, q)


def test_paths_of_several_starts_are_those_of_each_alone() -> None:
    mech, q = Linkage((1.0, 1.0, 1.0)).mechanism(0.3)
    manifold = manifold_of(with_motor(mech, "O1"), q)
    slider = manifold.sliders[0]
    away = manifold.lead(slider, q, 0.4).q
    starts = [(slider, q), (slider, away), (replace(slider, upper=slider.start + 0.2), q)]
    together = manifold.along(starts, 7)
    for start, path in zip(starts, together, strict=True):
        (alone,) = manifold.along([start], 7)
        assert path.q == pytest.approx(alone.q, abs=1e-9) and path.values == pytest.approx(alone.values)
        assert (path.start, path.low, path.high) == (alone.start, alone.low, alone.high)


def test_a_joint_stops_at_its_limit() -> None:
    scene = mb.load(ASSETS / "arm_6r.urdf")
    manifold = manifold_of(scene)
    slider = manifold.sliders[1]
    followed = manifold.lead(slider, manifold.view.q, 100.0)
    assert followed.stopped == "j2 is at its limit"
    assert followed.moved == pytest.approx(slider.upper - slider.start, abs=1e-3)


def test_p_is_told_where_it_changes() -> None:
    """The folded rectangle has p = 4 in its singular pose and 3 beside it."""
    manifold = manifold_of(mb.load(ORACLES / "four_bar_fold_rectangle.sdf"))
    here = manifold.verdict_at(manifold.view.q)
    followed = manifold.lead(manifold.sliders[0], manifold.view.q, 0.5)
    there = manifold.verdict_at(followed.q)
    assert (here.degree_of_redundancy, here.singular) == (4, True)
    assert (there.degree_of_redundancy, there.singular) == (3, False)
    assert there.rank == here.rank + 1
    assert status_lines(here)[1][0] == "singular pose" and status_lines(there)[1][0] == ""


def test_what_is_told() -> None:
    assert status_lines(PoseVerdict(0, 12, False))[0] == ("p = 0, rank 12", "unique")
    assert status_lines(PoseVerdict(2, 12, False), "j1 stays at 3")[2] == ("j1 stays at 3", "naive")


def test_a_door_on_two_hinges_has_one_slider() -> None:
    manifold = manifold_of(mb.load(ORACLES / "door_2_hinges.sdf"))
    assert [slider.name for slider in manifold.sliders] == ["h0"]


def test_limits_of_any_size_take_a_bounded_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """They come from a file; where the range that is shown ends before them, the page says so."""
    mech = mb.load(ORACLES / "door_2_hinges.sdf").mechanism
    wide = (
        replace(p, freedoms=(Freedom(lower=-2.0, upper=1e9),)) if p.name == "h0" else p for p in mech.pairs
    )
    manifold = manifold_of(replace(mech, pairs=tuple(wide)))
    (slider,) = manifold.sliders
    steps, followed = [0], manifold._followed

    def counted(*args: Any) -> tuple[np.ndarray, str]:
        steps[0] += 1
        return followed(*args)

    monkeypatch.setattr(manifold, "_followed", counted)
    path = manifold.along([(slider, manifold.view.q)], 20)[0]
    assert steps[0] < 1000
    assert path.high == "its limits go on to 1e+09" and "go on" not in path.low
    assert path.values[0] == pytest.approx(-2.0, abs=1e-3) and path.values[-1] == pytest.approx(10 * np.pi)


def test_free_bases_stay() -> None:
    scene = mb.load(ASSETS / "arm_6r.urdf", base="free")
    manifold = manifold_of(scene)
    assert [slider.name for slider in manifold.sliders] == ["j1", "j2", "j3", "j4", "j5", "j6"]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("file", FILES[:3], ids=lambda path: path.name)
def test_a_course_is_closed_everywhere_and_rises(file: object) -> None:
    scene = mb.load(file)  # type: ignore[arg-type]
    manifold = manifold_of(scene)
    for slider in manifold.sliders[:2]:
        path = manifold.along([(slider, manifold.view.q)], 6)[0]
        assert path.values[path.start] == slider.start
        assert np.array_equal(path.q[path.start], manifold.view.q)
        assert (np.diff(path.values) > 0).all()
        assert slider.lower - 1e-9 <= path.values[0] and path.values[-1] <= slider.upper + 1e-9
        ends = (slider.lower, path.values[0], path.low), (slider.upper, path.values[-1], path.high)
        for limit, value, why in ends:
            assert bool(why) == (abs(limit - value) > 1e-6)
        start = gap(scene, manifold.view.q)
        # a loop that rounding has opened stays as open
        assert max(gap(scene, q) for q in path.q) < 3 * start + 1e-6


@pytest.mark.long_after(2)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_redundancies_of_many_poses_are_those_of_each(file: Any) -> None:
    manifold = manifold_of(mb.load(file))
    paths = manifold.along([(slider, manifold.view.q) for slider in manifold.sliders[:3]], 4)
    Q = np.concatenate([path.q for path in paths])
    expected = [manifold.verdict_at(q).degree_of_redundancy for q in Q]
    assert redundancy_at_poses(manifold.view, Q).tolist() == expected


@pytest.mark.bullet
def test_legs_are_closed_together_as_each_alone() -> None:
    """The four legs of Minitaur, of as many rows and rates, in an order that is not theirs."""
    manifold = manifold_of(mb.load(ASSETS / "minitaur.scene.toml"))
    closure, q = manifold.closure, manifold.view.q
    (alike,) = closure.alike
    assert alike.rows.shape[0] == alike.columns.shape[0] == 4
    movable = np.ones(len(closure.units), dtype=bool)
    rates = np.array([slider.rate for slider in manifold.sliders])[[5, 0, 7, 2, 4, 1]]
    movable[rates] = False
    starts = np.array([q] * len(rates))
    for k, rate in enumerate(rates):
        joint = next(j for j in manifold.mech.tree.joints if j.qd.start == rate)
        # the first ones are closed at once, and leave the others
        starts[k, joint.q.start] += 0.1 * max(0, k - 1)
    ends, gaps = solve_at_poses(closure, starts, rates, movable)
    # the rounded angles of the file leave no smaller gap
    assert gaps.max() < 2e-5
    for k, rate in enumerate(rates):
        alone, gap_alone = solve_at_poses(closure, starts[k : k + 1], rates[k : k + 1], movable)
        np.testing.assert_allclose(ends[k], alone[0], atol=1e-9)
        assert gaps[k] == pytest.approx(gap_alone[0], rel=1e-6)
        others = [k2 for system in closure.systems if rate not in system.rates for k2 in system.rates]
        kept = [j.q.start for j in manifold.mech.tree.joints if j.qd.start in others]
        np.testing.assert_array_equal(ends[k][kept], q[kept])
