"""``reaction_mask``: the components of what passes through a joint that a rigid model determines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import null_space

import mbplugin as mb
from command_line import ASSETS, ROOT
from mbplugin.model.mechanism import Lock
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import COMPONENTS, Array, shift_rows

ORACLES = ROOT / "tests" / "oracles"
FILES = (
    *("door_2_hinges", "door_3_hinges", "four_bar_4R", "four_bar_RSRR", "bennett_4R", "sarrus_6R"),
    *("parallelogram_3UU", "parallelogram_3SS", "stewart_6UPS", "slider_crank_planar"),
)


def by_null_space(scene: mb.Scene, axes: str) -> Array:
    """The wrenches of all left null vectors of C, from body twists: an axis without any is determined."""
    mech = scene.mechanism
    cm = mb.constraint_matrix(scene)
    Z = null_space(cm.C.toarray().T, rcond=1e-6)
    poses = forward(mech, scene.state.q)
    found = []
    for pair in mech.pairs:
        b = mech.body_index[pair.body_b]
        point = poses.of(b).apply(pair.X_BS.p)
        at = [k for k, (name, _) in enumerate(cm.rows) if name == pair.name]
        rows = shift_rows(cm.C.toarray()[at, 6 * b : 6 * b + 6], poses.p_WC[b] - point)
        wrench = (rows.T @ Z[at]).reshape(2, 3, -1)
        R_WP = (poses.of(mech.body_index[pair.body_a]) @ pair.X_AP).R
        turned = wrench if axes == "world" else np.einsum("ji,hjk->hik", R_WP, wrench)
        found.append(np.abs(turned).max(axis=2, initial=0.0).ravel() < 1e-7)
    return np.array(found)


@pytest.mark.parametrize("axes", ["joint", "world"])
@pytest.mark.parametrize("name", FILES)
def test_it_is_what_the_left_null_space_has_no_part_in(name: str, axes: str) -> None:
    scene = mb.load(ORACLES / f"{name}.sdf")
    mask = mb.reaction_mask(scene, axes=axes)
    assert np.asarray(mask).dtype == bool
    np.testing.assert_array_equal(mask, by_null_space(scene, axes))
    assert mask.joints == tuple(p.name for p in scene.mechanism.pairs)
    assert mask.labels[7] == (mask.joints[1], "ty")


@pytest.mark.bullet
def test_it_agrees_with_the_verdicts_of_the_analysis() -> None:
    scene = mb.load(ASSETS / "minitaur.scene.toml")
    mask, analysis = mb.reaction_mask(scene), mb.analyze(scene)
    seen = 0
    for verdict in analysis.constraints:
        if verdict.name not in mask.joints:
            continue
        for component in verdict.components:
            if component.name in COMPONENTS:
                seen += 1
                assert mask[verdict.name][COMPONENTS.index(component.name)] == component.unique
    assert seen > 100
    assert mask.degree_of_redundancy == analysis.degree_of_redundancy


def test_a_planar_four_bar_in_space_by_hand() -> None:
    """In the plane all is determined: two forces and the moment about the axis, which is zero."""
    mask = mb.reaction_mask(ORACLES / "four_bar_4R.sdf")
    np.testing.assert_array_equal(mask, [[True, True, False, False, False, True]] * 4)
    planar = mb.reaction_mask(ORACLES / "four_bar_4R.sdf", planar="xy")
    np.testing.assert_array_equal(planar, [[True, True, False, False, False, True]] * 4)


def test_two_brakes_on_one_freedom_share_a_torque_that_nothing_determines() -> None:
    free, held = (mb.reaction_mask(ORACLES / "four_bar_4R.sdf", hold=hold) for hold in ((), ("j0", "j3")))
    assert free["j0"][5] and free["j3"][5]
    assert not held["j0"][5] and not held["j3"][5]
    # the coupler, along x here, is a two-force member of that self-stress
    np.testing.assert_array_equal(held["j1"], [False, True, False, False, False, True])


def test_locks_of_the_model_count_as_held_joints(tmp_path: Path) -> None:
    from dataclasses import replace

    mech = mb.load(ORACLES / "four_bar_4R.sdf").mechanism
    locked = replace(mech, locks=(Lock("j0"), Lock("j3")))
    held = mb.reaction_mask(mech, hold=("j0", "j3"))
    np.testing.assert_array_equal(mb.reaction_mask(locked), held)


def test_a_coupled_chain_shares_its_moments_through_the_gear(tmp_path: Path) -> None:
    """Two hinges on one axis, geared 1:1, both held: the torque may go either way round."""
    hinge = '[[{0}]]\nname = "{1}"\ntype = "revolute"\nbody_a = "world"\nbody_b = "{2}"\n' + (
        "xyz_a = [{3}, 0, 0]\naxis = [0, 0, 1]\n"
    )
    body = '[[body]]\nname = "{}"\nmass = 1.0\nxyz = [{}, 0, 0]\n'
    text = body.format("a", 0.1) + body.format("b", 1.1)
    text += hinge.format("pair", "ja", "a", 0) + hinge.format("pair", "jb", "b", 1)
    text += '[[coupling]]\nname = "g"\ntype = "gear"\nterms = [{ joint = "ja", coefficient = 1 }, '
    text += '{ joint = "jb", coefficient = -1 }]\n'
    path = tmp_path / "geared.scene.toml"
    path.write_text(text)
    one = mb.reaction_mask(path, hold=("ja",))
    both = mb.reaction_mask(path, hold=("ja", "jb"))
    assert np.asarray(one).all()
    # the lock's torque and the gear's on one side always add up to the same
    assert np.asarray(both).all()


def test_a_joint_that_does_not_exist_is_named() -> None:
    mask = mb.reaction_mask(ORACLES / "four_bar_4R.sdf")
    with pytest.raises(mb.MbPluginError, match="no joint 'j9'"):
        mask["j9"]
    with pytest.raises(mb.MbPluginError, match="axes are 'body'"):
        mb.reaction_mask(ORACLES / "four_bar_4R.sdf", axes="body")
