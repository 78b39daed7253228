"""The map from a wrench to the reactions: a hand solution, and reactions that are computed with the load itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, ORACLES
from mbplugin.joint_reactions.run import load_response
from mbplugin.model.mechanism.kinematics import forward

MODELS = {
    "four-bar": ASSETS / "four_bar.scene.toml",
    "minitaur": ASSETS / "minitaur.scene.toml",
    "door": ORACLES / "door_2_hinges.sdf",
    "planar": ASSETS / "crank_rocker.scene.toml",
}


#: Joints without drives, which have to be held.
HELD = {"planar": ["O1"], "door": ["h0"]}


@pytest.mark.long_after(3)
@pytest.mark.parametrize(("name", "file"), MODELS.items(), ids=MODELS)
def test_the_map_adds_what_the_load_adds(name: str, file: Path) -> None:
    scene = mb.load(file, base="fixed")
    base = mb.reactions(scene, estimate=False, hold=HELD.get(name))
    found = load_response(base)
    assert found.bodies and found.labels
    assert all(base[c][k].unique for c, k in found.labels)
    poses = forward(base.mechanism, base.q)
    rng = np.random.default_rng(3)
    for k in rng.choice(len(found.bodies), size=min(4, len(found.bodies)), replace=False):
        force, torque, point = rng.normal(size=(3, 3))
        if base.planar:
            force[2] = torque[:2] = point[2] = 0.0
        body = base.mechanism.body_index[found.bodies[k]]
        load = {"body": found.bodies[k], "force": force, "torque": torque, "point": point}
        loaded = mb.reactions(scene, estimate=False, loads=[load], hold=base.held)
        arm = poses.of(body).apply(point) - found.p_WC[k]
        wrench = np.concatenate((force, torque + np.cross(arm, force)))
        added = [loaded.value(*label) - base.value(*label) for label in found.labels]
        assert found.matrix[k] @ wrench == pytest.approx(added, abs=1e-9 * max(1.0, np.abs(added).max()))


def test_a_cantilever_by_hand() -> None:
    """A rod welded to the ground at its end carries −f and −r × f there."""
    rod = mb.Body("rod", 2.0, np.array([0.7, 0.0, 0.0]), 0.1 * np.eye(3))
    frame = mb.Pose(np.eye(3), np.zeros(3))
    mech = mb.Mechanism("cantilever", (rod,), (mb.Pair("weld", "fixed", mb.WORLD, "rod", frame, frame),))
    found = load_response(mb.reactions(mech))
    assert found.labels == tuple(("weld", c) for c in ("tx", "ty", "tz", "rx", "ry", "rz"))
    wrench = np.array([3.0, -1.0, 2.0, 0.5, 0.25, -0.75])
    moment = wrench[3:] + np.cross([0.7, 0.0, 0.0], wrench[:3])
    assert found.matrix[0] @ wrench == pytest.approx(-np.concatenate((wrench[:3], moment)), abs=1e-12)


def test_a_body_that_nothing_holds_cannot_be_loaded() -> None:
    """On a free body every load is a motion; on the fixed one beside it none is."""
    frame = mb.Pose(np.eye(3), np.zeros(3))
    bodies = tuple(mb.Body(name, 1.0, np.zeros(3), np.eye(3)) for name in ("fixed", "free"))
    weld = mb.Pair("weld", "fixed", mb.WORLD, "fixed", frame, frame)
    mech = mb.Mechanism("two", bodies, (weld,), gravity=np.zeros(3))
    assert load_response(mb.reactions(mech)).bodies == ("fixed",)
