"""The position equations at many open poses: the residuals of one pose at a time, and exact derivatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from mbplugin.constraints.closure import Closure, drawn
from mbplugin.constraints.rows import rows_of
from mbplugin.model.mechanism import Coupling, Driver, Mechanism, Rolling, Term
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.spatial import Array, Pose
from models import body_at

_STEP = 1e-6


def frame(rng: np.random.Generator) -> Pose:
    return Pose.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3))


def two_branches(tree: str, cut: str, seed: int) -> Mechanism:
    """Two chains from the ground, joined by a pair of type ``cut``.

    The second joint of each chain is of type ``tree``, once from its predecessor outwards, once inwards.
    """
    rng = np.random.default_rng(seed)
    names = ["a0", "a1", "b0", "b1"]
    pairs = [
        Pair("ja", "universal", "world", "a0", frame(rng), frame(rng)),
        Pair("out", tree, "a0", "a1", frame(rng), frame(rng), lead=0.3),
        Pair("jb", "cylindrical", "world", "b0", frame(rng), frame(rng)),
        Pair("in", tree, "b1", "b0", frame(rng), frame(rng), lead=0.3),
        Pair("cut", cut, "a1", "b1", frame(rng), frame(rng), closure=True, lead=0.2, length=0.4),
    ]
    return Mechanism("two branches", tuple(body_at(name) for name in names), tuple(pairs))


def open_poses(closure: Closure, count: int, seed: int) -> Array:
    mech = closure.mech
    rng = np.random.default_rng(seed)
    return drawn(closure, np.repeat(home(mech)[None], count, axis=0), range(len(mech.tree.joints)), rng)


def assert_exact(mech: Mechanism, *, seed: int, factors: Mapping[str, float] = MappingProxyType({})) -> None:
    """Residuals are those of the rows, m, and J is their difference quotient in every joint rate.

    ``factors`` are the metres per unit of rows that are neither in m nor in rad, by constraint.
    """
    closure = Closure(mech, home(mech))
    for q in open_poses(closure, 3, seed):
        J, Phi = closure.linearise(q)
        rows = rows_of(mech, closure.constraints, forward(mech, q), q)
        units = [factors.get(r.constraint, np.where(r.translation, 1.0, closure.length)) for r in rows]
        metres = [unit * r.Phi * r.holonomic for unit, r in zip(units, rows, strict=True)]
        np.testing.assert_allclose(Phi, np.concatenate(metres), atol=1e-9)
        for k in range(J.shape[1]):
            step = np.zeros(J.shape[1])
            step[k] = _STEP
            ahead, behind = (closure.linearise(closure.displaced(q, s))[1] for s in (step, -step))
            np.testing.assert_allclose(J[:, k], (ahead - behind) / (2 * _STEP), atol=2e-6, rtol=1e-5)


@pytest.mark.parametrize(
    "cut", [name for name, kind in PAIR_TYPES.items() if kind.constrained and name != "screw"]
)
def test_derivatives_of_every_closing_pair_are_exact_at_open_poses(cut: str) -> None:
    assert_exact(two_branches("revolute", cut, 1), seed=2)


@pytest.mark.parametrize("tree", [name for name in PAIR_TYPES if name not in ("distance", "floating")])
def test_derivatives_by_every_tree_joint_are_exact_in_both_directions(tree: str) -> None:
    assert_exact(two_branches(tree, "spherical", 3), seed=4)


def test_derivatives_by_a_free_base_are_exact() -> None:
    """A body on three strings: only distances leave a base free that is tied to the ground."""
    rng = np.random.default_rng(7)
    strings = [
        Pair(f"string{k}", "distance", *ends, frame(rng), frame(rng), closure=True, length=0.5)
        for k, ends in enumerate((("world", "a"), ("b", "world"), ("world", "b")))
    ]
    hinge = Pair("hinge", "revolute", "b", "a", frame(rng), frame(rng))
    assert_exact(Mechanism("kite", (body_at("a"), body_at("b")), (hinge, *strings)), seed=8)


def test_couplings_drivers_and_wheels_are_exact_as_well() -> None:
    mech = two_branches("prismatic", "cylindrical", 5)
    gear = Coupling("gear", "gear", (Term("ja", "rx", 2.0), Term("out", "tz", -0.5)), offset=0.3)
    cut = Coupling("rack", "rack", (Term("jb", "tz", 2.0), Term("cut", "tz", 1.0)))
    wheel = Rolling(
        "wheel", "a1", np.zeros(3), np.array([0.0, 0.6, 0.8]), 0.2, np.zeros(3), np.array([0.0, 0.0, 1.0])
    )
    drivers = (Driver("drive", "in", value=0.7), Driver("two", "jb", ("rz",), value=0.1))
    mech = replace(mech, couplings=(gear, cut), drivers=drivers, pfaffians=(wheel,))
    length = Closure(mech, home(mech)).length
    # the largest term of a row of turns and travels counts as one length
    assert_exact(mech, seed=6, factors={"gear": length / max(2.0, 0.5 * length)})


@pytest.mark.parametrize("seed", range(4))
def test_many_poses_at_once_are_the_same_as_one_by_one(seed: int) -> None:
    mech = two_branches("spherical", "revolute", seed)
    closure = Closure(mech, home(mech))
    (component,) = closure.components
    system, Q = closure.system(component), open_poses(closure, 5, seed)
    J, Phi = system.linearised(Q)
    for k, q in enumerate(Q):
        J_one, Phi_one = system.linearised(q[None])
        np.testing.assert_allclose(J.dense()[k], J_one.dense()[0], atol=1e-12)
        np.testing.assert_allclose(Phi[k], Phi_one[0], atol=1e-12)
    step = np.random.default_rng(seed).normal(size=(5, len(system.rates)))
    for q, there, one in zip(Q, system.stepped(Q, step), step, strict=True):
        whole = np.zeros(len(mech.qd_names))
        whole[system.rates] = one
        np.testing.assert_allclose(there, closure.displaced(q, whole), atol=1e-12)
