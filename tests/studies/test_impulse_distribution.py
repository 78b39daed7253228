"""Distribution of impulses: trees, sliders and a parallelogram whose shares are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import WORLD, Lock
from mbplugin.model.spatial import Pose
from mbplugin.simulation.impact import activate
from mbplugin.studies import impulse_shares
from models import chain, four_bar, from_world_frames, pose_at
from states import random_states


def test_shares_of_a_tree_are_the_impulses_of_its_locks() -> None:
    mech, q = chain(3, "revolute", np.random.default_rng(2))
    held = replace(mech, locks=(Lock("j1"), Lock("j2")))
    armature = {"j1": 0.4, "j0": 0.2}
    equations = joint_equations(held, q, np.array([1.0, -2.0, 0.5]), AppliedForces(armature=armature))
    U = np.array([0.3, -0.2, 0.1])
    found = activate(equations, None, ["lock j1", "lock j2"], U)
    taken = impulse_shares(held, q, found.jump, impulse=U, armature=armature)
    assert taken.unique.all() and taken.determined.all()
    for joint in ("j1", "j2"):
        value = found.impulse[f"lock {joint}", "rz_lock"]
        assert taken.of(f"lock {joint}")["rz_lock"] == pytest.approx(value, rel=1e-10)
    with pytest.raises(mb.MbPluginError, match="did you mean"):
        taken.of("lock j3")


def test_two_sliders_bolted_together_share_by_their_masses() -> None:
    """Two carriages, bolted by a flexible joint, braked at once: the bolt carries nothing."""
    X = {"left": Pose(np.eye(3), np.zeros(3)), "right": Pose(np.eye(3), np.array([0.0, 1.0, 0.0]))}
    rail = (1.0, 0.0, 0.0)
    joints = [
        ("rail1", "prismatic", WORLD, "left", pose_at(np.zeros(3), rail)),
        ("rail2", "prismatic", WORLD, "right", pose_at(np.array([0.0, 1.0, 0.0]), rail)),
        ("bolt", "fixed", "left", "right", pose_at(np.array([0.0, 0.5, 0.0]), rail)),
    ]
    mech, q = from_world_frames("carriages", X, joints, locks=(Lock("rail1"), Lock("rail2")))
    mech = replace(
        mech,
        bodies=(replace(mech.bodies[0], mass=2.0), replace(mech.bodies[1], mass=5.0)),
        pairs=tuple(replace(p, closure=p.name == "bolt") for p in mech.pairs),
    )
    found = activate(joint_equations(mech, q, np.array([3.0, 3.0])), None, ["lock rail1", "lock rail2"])
    assert found.qd_plus == pytest.approx([0.0, 0.0], abs=1e-14)
    assert {n for n, _ in found.open_impulses} >= {"lock rail1", "lock rail2"}
    rigid = impulse_shares(mech, q, found.jump)
    # rigid carriages on rigid rails would decide alone: the bolt's stiffness says nothing about them
    partly = impulse_shares(mech, q, found.jump, stiffness={"bolt": [1e6] * 6})
    assert not partly.determined.all() and np.isnan(partly.of("lock rail1")["tz_lock"])
    assert np.isnan([rigid.of(f"lock {n}")["tz_lock"] for n in ("rail1", "rail2")]).all()
    for k in (1e4, 1e9):
        soft = {name: [k] * 6 for name in ("bolt", "rail1", "rail2")}
        taken = impulse_shares(mech, q, found.jump, stiffness=soft)
        assert taken.of("lock rail1")["tz_lock"] == pytest.approx(-6.0, rel=1e-9)
        assert taken.of("lock rail2")["tz_lock"] == pytest.approx(-15.0, rel=1e-9)
        assert taken.of("bolt")["tz"] == pytest.approx(0.0, abs=1e-9)


def test_a_parallelogram_braked_at_both_ends_shares_by_symmetry() -> None:
    """Every hinge equally stiff: two alike cranks and their brakes take the same shock."""
    mech, q = four_bar()
    held = replace(mech, locks=(Lock("j0"), Lock("j3")))
    ((pose, qd),) = random_states(mech, q, 1, redundancy=3, seed=1)
    found = activate(joint_equations(held, pose, qd), None, ["lock j0", "lock j3"])
    soft = {name: [1e6] * 3 + [1e4] * 3 for name in ("j0", "j1", "j2", "j3")}
    one, other = (
        impulse_shares(held, pose, found.jump, stiffness=soft).of(f"lock {j}")["rz_lock"]
        for j in ("j0", "j3")
    )
    assert abs(one) > 1e-3 and one == pytest.approx(other, rel=1e-9)
    total = sum(found.impulse[f"lock {j}", "rz_lock"] for j in ("j0", "j3"))
    assert one + other == pytest.approx(total, rel=1e-9)
