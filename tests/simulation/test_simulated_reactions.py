"""Reactions of motions that were really computed: before and after locks, sticking and sliding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from absolute_wrenches import absolute_wrenches
from command_line import ASSETS
from mbplugin.model.mechanism import Lock, Mechanism
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.simulation.trajectory.trajectory import Trajectory

SCENE = mb.load(ASSETS / "four_bar.scene.toml")


def assert_like_single_states(motion: Trajectory, held: dict[int, tuple[str, ...]], friction: bool) -> None:
    """At samples of every segment: as ``mb.reactions`` of the mechanism that held there."""
    for segment, joints in held.items():
        k = int(np.flatnonzero(motion.segment == segment)[-1])
        for name in ("j0", "j1", "j3"):
            mech = replace(motion.mechanism, locks=tuple(Lock(joint) for joint in joints))
            theirs = mb.reactions(mech, motion.q[k], motion.qd[k], motion.qdd[k], hold=[])[name].wrench
            known = motion.uniqueness(name)[k]
            assert known.tolist() == np.isfinite(theirs).tolist()
            if not friction:
                assert motion.reactions(name)[k][known] == pytest.approx(theirs[known], rel=1e-6, abs=1e-6)


def test_before_and_after_a_lock() -> None:
    motion = mb.simulate(SCENE, 0.6, qd0={"j0": 2.0}, locks=[Lock("j0", at=0.4)])
    assert motion.active == ((), ("lock j0",))
    assert_like_single_states(motion, {0: (), 1: ("j0",)}, friction=False)
    before, after = motion.reactions("j1")[
        [np.flatnonzero(motion.segment == s)[i] for s, i in ((0, -1), (1, 0))]
    ]
    assert np.abs(before - after).max() > 0.1
    assert motion.multipliers("lock j0")[0] == 0 and motion.multipliers("lock j0")[-1] != 0


def rubbing() -> Mechanism:
    pairs = tuple(
        replace(p, freedoms=(Freedom(friction=6.0),)) if p.name == "j0" else p for p in SCENE.mechanism.pairs
    )
    return replace(SCENE.mechanism, pairs=pairs)


def test_sliding_and_sticking_in_a_loop() -> None:
    """Dry friction is a torque about the hinge: the other joints carry what the equations say."""
    motion = mb.simulate(rubbing(), 1.5, q0=SCENE.state.q, qd0={"j0": 2.0})
    kinds = [event.kind for event in motion.events]
    assert "stick" in kinds and ("friction j0",) in motion.active
    sliding = int(np.flatnonzero(motion.segment == 0)[3])
    theirs = absolute_wrenches(motion.mechanism, motion.q[sliding], motion.qd[sliding], motion.actions)
    for name, wrench in theirs.items():
        known = motion.uniqueness(name)[sliding]
        assert motion.reactions(name)[sliding][known] == pytest.approx(wrench[known], rel=1e-6, abs=1e-6)
    stuck = int(np.flatnonzero(motion.segment == motion.active.index(("friction j0",)))[-1])
    at_rest = mb.reactions(SCENE.mechanism, motion.q[stuck], hold=["j0"])
    for name in ("j0", "j1", "j3"):
        known = motion.uniqueness(name)[stuck]
        assert motion.reactions(name)[stuck][known] == pytest.approx(at_rest[name].wrench[known], abs=1e-6)
    assert motion.multipliers("lock j0")[stuck, 0] == pytest.approx(
        at_rest.value("lock j0", "rz_lock"), abs=1e-6
    )


def test_resampled_ones_go_on_being_reactions() -> None:
    motion = mb.simulate(SCENE, 0.5, qd0={"j0": 2.0}, rtol=1e-10)
    times = np.linspace(0, 0.5, 200)
    film = motion.resample(times)
    fine = mb.simulate(SCENE, 0.5, qd0={"j0": 2.0}, rtol=1e-10, step=0.002).resample(times)
    assert film.reactions("j1") == pytest.approx(
        fine.reactions("j1"), abs=1e-2 * np.abs(fine.reactions("j1")).max()
    )
    assert film.energy == pytest.approx(np.full(200, motion.energy[0]), rel=1e-4)
