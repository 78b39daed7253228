"""Loops that are far from closed: group by group, what stays open is named with its gap and the starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.closure import Closure, Residuals
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward, home, relative_pose
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Pose
from models import body_at, pose_at
from scaled import scaled, scaled_coordinates
from walking_machine import walking_machine


def open_gap(mech: Mechanism, q: np.ndarray) -> float:
    """The widest gap of a closure, m, computed pair by pair."""
    poses = forward(mech, q)
    return max(float(np.linalg.norm(relative_pose(mech, pair, poses).p)) for pair in mech.tree.cut)


@pytest.mark.long
def test_twelve_legs_on_one_crank_close_from_the_stretched_pose() -> None:
    """By hand: 6 bars and 6 independent rows a leg, 9 rows in all; the crank is the only freedom."""
    mech, q = walking_machine(12)
    assert open_gap(mech, q) > 1.5
    result = mb.analyze(mech, q, samples=1)
    assert open_gap(mech, result.q) < 1e-9
    assert (result.degree_of_redundancy, result.dof) == (36, 1)
    assert result.assembly.starts > 1 and result.assembly.degenerate == ()
    # the crank is what all legs share: it is held
    assert result.q[mech.q_names.index("shaft")] == 0.0


def test_the_same_seed_closes_to_the_same_pose() -> None:
    mech, q = walking_machine(3)
    first, second, other = (assemble(mech, q, given=("shaft",), seed=seed).q for seed in (4, 4, 5))
    np.testing.assert_array_equal(first, second)
    assert open_gap(mech, other) < 1e-9


def test_a_given_crank_stays_while_the_legs_close() -> None:
    mech, q = walking_machine(4)
    crank = mech.q_names.index("shaft")
    q[crank] = 0.8
    closed = assemble(mech, q, given=("shaft",))
    assert open_gap(mech, closed.q) < 1e-9 and closed.q[crank] == 0.8


@pytest.mark.long
def test_a_leg_that_is_too_short_is_named_with_its_gap_and_the_starts() -> None:
    """Two bars of 0.1 m bridge a distance of at least 0.5 m - 0.15 m; only that leg is in the group."""
    mech, q = walking_machine(4, short=2)
    with pytest.raises(CannotClose) as raised:
        assemble(mech, q)
    text = str(raised.value)
    assert "group 'plate on pivot2', 'arm on pivot2', 'ankle2'" in text
    assert "not closed on its own either: 'arm on pivot2' (0.15 m)" in text
    assert "(seed 0)" in text and "cannot" not in text
    starts, gap = (
        text.split("not closed in ")[1].split(" starts")[0],
        text.split("best gap ")[1].split(" m")[0],
    )
    assert int(starts) >= 48 and float(gap) == pytest.approx(0.15, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("s", [1e-3, 1e3])
def test_legs_close_to_the_same_pose_in_other_units(s: float) -> None:
    mech, q = walking_machine(4)
    there, start = scaled(mech, s), scaled_coordinates(mech, q, s)
    expected, found = (assemble(*case, given=("shaft",)) for case in ((mech, q), (there, start)))
    assert found.starts == expected.starts > 1
    np.testing.assert_allclose(found.q, expected.q, atol=1e-6)
    short = walking_machine(2, short=1)[0]
    with pytest.raises(CannotClose) as here:
        assemble(short, home(short))
    with pytest.raises(CannotClose) as there:
        assemble(scaled(short, s), home(short))
    gap = [float(str(e.value).split("best gap ")[1].split(" m")[0]) for e in (here, there)]
    assert gap[1] == pytest.approx(s * gap[0], rel=0.01)


def test_a_crank_that_must_turn_for_one_loop_is_not_held_for_ever() -> None:
    """Two cranks' loops close at any angle, the third one, a strut of 0.2 m, only where the pin is near."""
    mech, q = walking_machine(3)
    strut = Pair(
        "strut", "distance", "world", "crank", pose_at([-0.3, 0, 0]), pose_at([0.15, 0.0, 0]), length=0.2
    )
    held = replace(mech, pairs=(*mech.pairs, strut))
    closed = assemble(held, q)
    # the pin at (0.15 cos a, -0.15 sin a) is 0.2 m from (-0.3, 0)
    angle = np.arccos((0.2**2 - 0.3**2 - 0.15**2) / (2 * 0.3 * 0.15))
    assert abs(np.cos(closed.q[mech.q_names.index("shaft")])) == pytest.approx(abs(np.cos(angle)), abs=1e-9)
    assert closed.worst < 1e-9


def flat_parallelograms(*, slide: float) -> Mechanism:
    """Three equal cranks on a coupler, all bars on one line at zero; the coupler is ``slide`` m too short.

    The slide in the coupler closes the first loop on the line, where the second one has rank 1 instead of 2.
    """
    along_x = pose_at([0, 0, 0], (1.0, 0, 0))
    pairs = (
        Pair("a", "revolute", "world", "crank", pose_at([0, 0, 0]), pose_at([0, 0, 0])),
        Pair("b", "revolute", "crank", "coupler", pose_at([0.5, 0, 0]), pose_at([0, 0, 0])),
        Pair("slide", "prismatic", "coupler", "end", pose_at([1 - slide, 0, 0], (1.0, 0, 0)), along_x),
        Pair("c", "revolute", "end", "rocker", pose_at([0, 0, 0]), pose_at([0.5, 0, 0])),
        Pair("d", "revolute", "coupler", "middle", pose_at([0.5, 0, 0]), pose_at([0.5, 0, 0])),
        Pair("e", "spherical", "world", "rocker", pose_at([1, 0, 0]), pose_at([0, 0, 0]), closure=True),
        Pair("f", "spherical", "world", "middle", pose_at([0.5, 0, 0]), pose_at([0, 0, 0]), closure=True),
    )
    names = ("crank", "coupler", "end", "rocker", "middle")
    return Mechanism("parallelograms", tuple(body_at(name) for name in names), pairs)


def test_a_degenerate_branch_is_left_and_reported() -> None:
    """On the line the loops have rank 3, elsewhere 4 (2 rows out of the plane are redundant anyway)."""
    mech = flat_parallelograms(slide=0.1)
    closed = assemble(mech, home(mech))
    assert set(closed.degenerate) == {"e", "f"} and closed.worst < 1e-9
    result = mb.analyze(mech, home(mech))
    assert not result.singular_pose and result.degree_of_redundancy == 2


def test_a_flat_pose_that_is_given_closed_is_kept_and_called_singular() -> None:
    mech = flat_parallelograms(slide=0.0)
    closed = assemble(mech, home(mech))
    np.testing.assert_array_equal(closed.q, home(mech))
    result = mb.analyze(mech, home(mech))
    assert result.singular_pose and (result.degree_of_redundancy, result.structural_redundancy) == (3, 2)


def test_of_several_closed_poses_the_one_inside_the_limits_is_taken() -> None:
    """Two bars of 1 m reach a point 1.2 m away with the elbow up or down; the start cannot close at all."""
    hinge = Pose.identity()
    bar = Pose(np.eye(3), np.array([1.0, 0, 0]))
    for lower, upper, sign in ((0.0, 3.0, 1), (-3.0, 0.0, -1)):
        pairs = (
            Pair("shoulder", "revolute", "world", "one", hinge, hinge),
            Pair("elbow", "revolute", "one", "two", bar, hinge, freedoms=(Freedom(lower, upper),)),
            Pair("tie", "spherical", "world", "two", pose_at([1.2, 0, 0]), bar, closure=True),
        )
        mech = Mechanism("arm", (body_at("one"), body_at("two")), pairs)
        # stretched along x: no bar can move the end towards the point
        closed = assemble(mech, home(mech))
        elbow = 2 * np.arccos(0.6)
        assert closed.q[mech.q_names.index("elbow")] == pytest.approx(sign * elbow, abs=1e-9)
        assert closed.beyond_limits == ()


def test_equations_at_the_last_poses_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    mech, q = walking_machine(2)
    computed: list[int] = []
    whole = Residuals.at
    monkeypatch.setattr(Residuals, "at", lambda self, Q: computed.append(len(Q)) or whole(self, Q))
    system = Closure(mech, q).system(Closure(mech, q).components[0])
    computed.clear()
    J, Phi = system.linearised(q[None])
    again = system.linearised(np.array(q)[None])
    assert computed == [1] and again[0] is J and again[1] is Phi
    moved = system.stepped(q[None], np.full((1, J.pattern.shape[1]), 0.1))
    assert not np.allclose(system.linearised(moved)[1], Phi)
    assert computed == [1, 1]
    # what is kept cannot be changed by a descent
    with pytest.raises(ValueError, match="read-only"):
        Phi[0] = 0.0
    # other poses of the same number are other poses
    np.testing.assert_array_equal(system.linearised(q[None])[1], Phi)
