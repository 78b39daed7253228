"""Drift and noise: the measures by hand, and the two engines on loops whose forces are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.closing.drift import _can_be_held, drifts, white_noise
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import home, violation
from mbplugin.model.mechanism.pair import (
    PAIR_TYPES,
    Pair,
    PairType,
    has_quaternion,
    pair_transform,
    zero_coordinates,
)
from mbplugin.model.spatial import Pose, axis_of, is_turn, rotation_from_vector
from models import four_bar, pose_at
from places import ASSETS

pytest.importorskip("mujoco")


def test_white_noise_is_that_of_the_values_and_none_in_a_smooth_signal() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(20000, 2)) * [3.0, 4.0]
    t = np.linspace(0, 2, 20000)[:, None]
    assert white_noise(noise) == pytest.approx(5.0, rel=0.03)
    assert white_noise(noise + 100 * np.sin(3 * t)) == pytest.approx(5.0, rel=0.03)
    assert white_noise(np.sin(3 * t)) < 1e-6
    assert white_noise(noise[:2]) == 0.0


@pytest.mark.parametrize(
    ("kind", "p", "turn", "expected"),
    [
        ("revolute", (0.3, 0.4, 1.2), (0, 0, 0.5), (1.3, 0.0)),
        ("revolute", (0, 0, 0), (0.2, 0, 0), (0.0, 0.2)),
        ("point-on-line", (0.3, 0.4, 7.0), (1, 1, 0), (0.5, 0.0)),
        ("point-on-plane", (3, 4, 0.2), (1, 1, 0), (0.2, 0.0)),
        ("prismatic", (0.3, 0.4, 7.0), (0, 0, 0.1), (0.5, 0.1)),
        ("universal", (0, 0, 0), (0, 0, 0.1), (0.0, 0.1)),
        ("spherical", (0, 0, 0), (0.3, 0.2, 0.1), (0.0, 0.0)),
        ("distance", (0.3, 0.4, 0.0), (0, 0, 0), (0.2, 0.0)),
    ],
)
def test_a_gap_is_what_the_pair_holds(
    kind: str, p: tuple[float, ...], turn: tuple[float, ...], expected: tuple[float, float]
) -> None:
    pair = Pair("c", kind, WORLD, "b", Pose.identity(), Pose.identity(), length=0.3)
    X = Pose(rotation_from_vector(np.array(turn, dtype=float)), np.array(p, dtype=float))
    assert violation(pair, X) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "kind", [kind for kind in PAIR_TYPES.values() if kind.name != "distance"], ids=lambda k: k.name
)
def test_every_pair_violates_along_what_it_holds_and_nowhere_else(kind: PairType) -> None:
    rng = np.random.default_rng(7)
    pair = Pair(
        "c",
        kind.name,
        WORLD,
        "b",
        Pose.identity(),
        Pose.identity(),
        lead=0.02 if kind.size == "lead" else 0.0,
    )
    q = rng.uniform(-0.5, 0.5, size=len(zero_coordinates(kind.name, kind.free)))
    if has_quaternion(kind.name):
        q[-4:] /= np.linalg.norm(q[-4:])
    X = pair_transform(pair, q)
    assert violation(pair, X) == pytest.approx((0.0, 0.0), abs=1e-12)
    for component in kind.constrained:
        step = 1e-4 * np.eye(3)[axis_of(component)]
        moved = (
            Pose(X.R, X.p + step) if not is_turn(component) else Pose(rotation_from_vector(step) @ X.R, X.p)
        )
        gap, angle = violation(pair, moved)
        assert (angle if is_turn(component) else gap) > 5e-5, component


def beam() -> Mechanism:
    """A beam of 4 kg and 2 m on a hinge at one end and a ball at the other: the ball carries half its weight."""
    body = Body("beam", 4.0, np.array([1.0, 0, 0]), 0.5 * np.eye(3))
    hinge = Pair(
        "hinge", "revolute", WORLD, "beam", pose_at([0, 0, 0], (0, 1, 0)), pose_at([0, 0, 0], (0, 1, 0))
    )
    ball = Pair("ball", "spherical", WORLD, "beam", pose_at([2, 0, 0]), pose_at([2, 0, 0]), closure=True)
    return Mechanism("beam", (body,), (hinge, ball))


@pytest.mark.bullet
def test_the_force_at_rest_is_the_weight_by_statics_in_both_engines() -> None:
    mech = beam()
    found = drifts((mech, np.zeros(1)), (mech, np.zeros(1)), (), 0.5)
    assert found.drives == "free"
    for drift in (*found.before, *found.after):
        assert drift.reason == ""
        assert drift.closures[0].force == pytest.approx(0.5 * 4.0 * 9.81, rel=0.01)
        assert drift.gap < 1e-3 and drift.noise < 0.5


@pytest.mark.bullet
def test_a_free_base_stands_still() -> None:
    """Else the beam would fall with it, and its ball would carry nothing."""
    mech = beam()
    base = Body("base", 50.0, np.zeros(3), np.eye(3))
    pairs = tuple(replace(pair, body_a="base") for pair in mech.pairs)
    free = Mechanism("beam", (base, *mech.bodies), pairs)
    q = home(free)
    for drift in drifts((free, q), (free, q), (), 0.3).before:
        assert drift.closures[0].force == pytest.approx(0.5 * 4.0 * 9.81, rel=0.01)


@pytest.mark.long
@pytest.mark.bullet
def test_rounding_in_a_redundant_loop_loads_it_and_the_weakest_closure_does_not() -> None:
    """The Minitaur of PyBullet: its legs do not quite fit, which a ball resists and a point on a line does not."""
    found = mb.close(ASSETS / "minitaur.scene.toml", "mjcf")
    # nor does it move as before
    assert found.before.structural_redundancy and not found.strays
    assert found.drift.before[0].engine == "MuJoCo"
    for before, after in zip(found.drift.before, found.drift.after, strict=True):
        forces = [max(one.force for one in drift.closures) for drift in (before, after)]
        assert forces[0] > 1000 * forces[1], before.engine
        assert after.noise < before.noise and after.gap < before.gap


@pytest.mark.long
def test_a_loop_that_comes_apart_is_measured_with_its_drives_held() -> None:
    """At a weight of a hundred thousand times the usual one the steps are too long for the motion."""
    mech, q = four_bar()
    heavy = replace(mech, gravity=np.array([0.0, -1e6, 0.0]))
    found = drifts((heavy, q), (heavy, q), ("j0", "j1", "j2"), 0.5)
    assert found.drives == "held"
    assert all(drift.gap < 0.1 for drift in found.before if not drift.reason)
    fine = drifts((four_bar()[0], q), (four_bar()[0], q), ("j0",), 0.05)
    assert fine.drives == "free"


def test_couplings_between_held_joints_are_no_rows() -> None:
    mech, _ = four_bar()
    gear = Coupling("gear", "gear", (Term("j0", "rz", 1.0), Term("j1", "rz", 1.0)))
    mech = replace(mech, couplings=(gear,))
    assert _can_be_held(mech, ("j0", "j1")) == ["j0", "j1"]
    assert _can_be_held(mech, ("j0", "j2")) == ["j2"]


def test_a_model_without_a_loop_has_no_drift_and_says_so() -> None:
    mech = beam()
    open_chain = Mechanism("beam", mech.bodies, mech.pairs[:1])
    found = drifts((open_chain, np.zeros(1)), (open_chain, np.zeros(1)), ())
    assert {drift.reason for drift in found.before} == {"the model has no loop"}
