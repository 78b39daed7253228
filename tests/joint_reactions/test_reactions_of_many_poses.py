"""Reactions at many states are the reactions at the single states."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage, ContradictedState, UnknownName
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.spatial import Array
from models import four_bar
from random_mechanisms import loop_mechanism

#: Relative to the largest reaction of a state.
EQUAL = 1e-12


def closed(model: Any, q: Array, count: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    mech: Mechanism = getattr(model, "mechanism", model)
    starts = np.array([displace(mech, q, rng.uniform(-0.1, 0.1, len(mech.qd_names))) for _ in range(count)])
    found: Array = mb.analyze(model, starts).q
    return found


def same(many: Any, k: int, one: Any) -> None:
    own = {(c.name, part.name): part for c in one.constraints for part in c.components}
    assert {tuple(label) for label in many.labels} == set(own)
    size = max([abs(part.value) for part in own.values() if part.source == "rigid"], default=1.0)
    for n, label in enumerate(many.labels):
        part = own[tuple(label)]
        assert many.unique[k, n] == part.unique
        if part.unique:
            assert many.values[k, n] == pytest.approx(part.value, abs=EQUAL * size)
        else:
            assert np.isnan(many.values[k, n])
    for constraint in one.constraints:
        if constraint.wrench is not None and constraint.name in many.mechanism.pair_by_name:
            known = np.isfinite(many.wrench(constraint.name)[k])
            assert many.wrench(constraint.name)[k, known] == pytest.approx(
                constraint.wrench[known], abs=EQUAL * size
            )
            assert known.tolist() == np.isfinite(constraint.wrench).tolist()
    assert many.degree_of_redundancy[k] == one.degree_of_redundancy


def tree() -> tuple[Mechanism, Array]:
    return loop_mechanism(4, 0, "generic")


def loop(kind: str) -> tuple[Mechanism, Array]:
    return loop_mechanism(2, 1, kind)


def every_joint(mech: Mechanism) -> Iterable[str]:
    return [p.name for p in mech.pairs if p.kind.free and p.name in mech.tree.joint_of_pair]


@pytest.mark.parametrize("make", [tree, four_bar, lambda: loop("planar"), lambda: loop("generic")])
def test_at_rest_they_are_the_single_ones(make: Any) -> None:
    mech, q = make()
    Q = closed(mech, q, 4)
    hold = ["j0"] if make is four_bar else every_joint(mech)
    load = {"body": mech.bodies[-1].name, "force": [1.0, 20.0, -5.0]}
    many = mb.reactions(mech, Q, loads=[load], hold=hold)
    assert len(many) == 4
    for k in range(4):
        same(many, k, mb.reactions(mech, Q[k], loads=[load], hold=hold, estimate=False))


def test_a_scene_with_its_payloads_loads_and_held_joints() -> None:
    scene = mb.load("assets/arm_6r.scene.toml")
    rng = np.random.default_rng(0)
    Q = rng.uniform(-1, 1, (4, len(scene.mechanism.q_names)))
    many = mb.reactions(scene, Q, payload=[{"body": scene.mechanism.bodies[-1].name, "mass": 3.0}])
    for k in range(4):
        one = mb.reactions(scene, Q[k], payload=[{"body": scene.mechanism.bodies[-1].name, "mass": 3.0}])
        same(many, k, one)
        assert many.held == one.held
    four = mb.load("assets/four_bar.scene.toml")
    many = mb.reactions(four, closed(four, mb.analyze(four, samples=0).q, 3))
    for k in range(3):
        same(many, k, mb.reactions(four, many.q[k], estimate=False))


def test_in_motion_they_are_the_single_ones() -> None:
    mech, q = tree()
    rng = np.random.default_rng(1)
    Q, Qd, Qdd = closed(mech, q, 3), *rng.normal(size=(2, 3, len(mech.qd_names)))
    many = mb.reactions(mech, Q, Qd, Qdd, hold=every_joint(mech))
    for k in range(3):
        same(many, k, mb.reactions(mech, Q[k], Qd[k], Qdd[k], hold=every_joint(mech), estimate=False))
    scene = mb.load("assets/four_bar.scene.toml")
    motion = mb.simulate(scene, duration=0.02)
    some = slice(None, None, max(1, len(motion.q) // 3))
    Q = mb.analyze(scene, motion.q[some]).q
    many = mb.reactions(scene, Q, motion.qd[some])
    for k in range(len(Q)):
        one = mb.reactions(scene, Q[k], motion.qd[some][k], estimate=False)
        same(many, k, one)
        assert many.qdd[k] == pytest.approx(one.qdd, abs=1e-10)


def test_an_open_pose_is_an_error_with_its_number() -> None:
    mech, q = four_bar()
    Q = np.array([q, q + 0.1])
    with pytest.raises(ContradictedState, match=r"^pose 1 of 2: "):
        mb.reactions(mech, Q, hold=["j0"])


def test_loads_that_nothing_balances_name_the_pose() -> None:
    mech, q = tree()
    with pytest.raises(BadUsage, match=r"under the load|falls"):
        mb.reactions(mech, np.array([q, q]), hold=[])


def test_what_a_batch_does_not_take_is_one_sentence(tmp_path: Path) -> None:
    mech, q = four_bar()
    Q = np.array([q, q])
    for option in ({"estimate": True}, {"planar": "xy"}, {"stiffness": {"j0": {}}}, {"friction": 0.5}):
        with pytest.raises(
            BadUsage, match=f"a batch of states takes no {next(iter(option))}; expected loads"
        ):
            mb.reactions(mech, Q, **option)
    many = mb.reactions(mech, Q, hold=["j0"])
    with pytest.raises(UnknownName, match="there is no constraint 'j9'"):
        many.value("j9", "tx")
    with pytest.raises(UnknownName, match="'j1' has no component 'rz'"):
        many.value("j1", "rz")
    with pytest.raises(UnknownName, match="there is no pair 'j9'"):
        many.wrench("j9")
    assert many.value("j1", "tx").shape == (2,)
    many.save(tmp_path / "r.npz")
    with np.load(tmp_path / "r.npz") as read:
        assert read["values"].shape == many.values.shape
    assert replace(many, q=many.q).held == ("j0",)
