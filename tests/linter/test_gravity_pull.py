"""The largest torque of gravity that MB601 states, against another search with kinematics of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import differential_evolution
from scipy.spatial.transform import Rotation

import mbplugin as mb
from command_line import ROOT
from mbplugin.linter.rule import Finding
from mbplugin.linter.rules.reactions import BrakeWeakerThanGravity
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import home
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Payload, Scene, State
from mbplugin.model.spatial import Array, Pose

ARM = ROOT / "assets" / "arm_6r.urdf"
WEAK = 1e-6


def random_tree(seed: int) -> Scene:
    """Five joints, one of them a slide, the last one beside the one before it; limits anywhere."""
    rng = np.random.default_rng(seed)
    behind = ["world", "b0", "b1", "b2", "b2"]
    bodies, pairs = [], []
    for k, inner in enumerate(behind):
        bodies.append(Body(f"b{k}", rng.uniform(0.5, 4), rng.uniform(-0.5, 0.5, 3), 0.1 * np.eye(3)))
        X_AP = Pose(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-0.6, 0.6, 3))
        X_BS = Pose(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-0.1, 0.1, 3))
        kind = "prismatic" if k == 1 + seed % 3 else "revolute"
        low = rng.uniform(-2.5, 0.5)
        freedoms = (Freedom(lower=low, upper=low + rng.uniform(0.5, 4.5)),)
        pairs.append(Pair(f"j{k}", kind, inner, f"b{k}", X_AP, X_BS, freedoms=freedoms))
    mech = Mechanism("tree", tuple(bodies), tuple(pairs), gravity=rng.uniform(-9, 9, 3))
    brakes = tuple(Brake(pair.name, WEAK) for pair in pairs)
    payload = Payload("b3", 2.0, rng.uniform(-0.3, 0.3, 3), np.zeros((3, 3)))
    state = State(home(mech), np.zeros(len(pairs)))
    return Scene(mech, state, brakes=brakes, payloads=(payload,))


def pulls_by_hand(scene: Scene, q: Array) -> Array:
    """The torques (k, n) of gravity on k joints at coordinates (k, n)."""
    mech = scene.mechanism
    q = q.reshape(len(q), -1)
    place = {"world": (np.tile(np.eye(3), (q.shape[1], 1, 1)), np.zeros((q.shape[1], 3)))}
    joints, names = {}, [pair.name for pair in mech.pairs]
    for pair, value in zip(mech.pairs, q, strict=True):
        R, p = place[pair.body_a]
        p, R = p + R @ pair.X_AP.p, R @ pair.X_AP.R
        joints[pair.name] = R[:, :, 2], p, pair.type == "prismatic"
        if pair.type == "prismatic":
            p = p + value[:, None] * R[:, :, 2]
        else:
            R = R @ Rotation.from_rotvec(value[:, None] * [0.0, 0.0, 1.0]).as_matrix()
        R = R @ pair.X_BS.R.T
        place[pair.body_b] = R, p - R @ pair.X_BS.p
    masses = [(b.name, b.mass, b.p_LC) for b in mech.bodies] + [
        (load.body, load.mass, load.com) for load in scene.payloads
    ]
    out = np.zeros_like(q)
    for name, mass, com in masses:
        centre = place[name][0] @ com + place[name][1]
        for joint in mech.tree.way_in(name):
            assert joint.pair is not None
            axis, at, slides = joints[joint.pair.name]
            way = axis if slides else np.cross(axis, centre - at)
            out[names.index(joint.pair.name)] += mass * way @ mech.gravity
    return out


def found_in(scene: Scene) -> dict[str, Finding]:
    return {
        str(finding.element): finding for finding in BrakeWeakerThanGravity().check(scene, mb.analyze(scene))
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_pull_is_the_largest_one_within_the_limits(seed: int) -> None:
    scene = random_tree(seed)
    bounds = [(pair.freedoms[0].lower, pair.freedoms[0].upper) for pair in scene.mechanism.pairs]
    for name, finding in found_in(scene).items():
        k, stated = int(name[1:]), finding.evidence["gravity"]
        q = np.array(list(finding.evidence["q"].values()))
        assert all(low - 1e-12 <= x <= high + 1e-12 for x, (low, high) in zip(q, bounds, strict=True))
        assert abs(pulls_by_hand(scene, q)[k, 0]) == pytest.approx(stated, rel=1e-9)
        largest = differential_evolution(
            lambda q, k=k: -np.abs(pulls_by_hand(scene, q)[k]),
            *(bounds,),
            seed=1,
            popsize=12,
            maxiter=60,
            polish=False,
            updating="deferred",
            vectorized=True,
        )
        assert stated > -largest.fun * (1 - 1e-3)
        assert "up to" in finding.message


def test_a_robot_on_a_free_base_is_pulled_by_at_least_that() -> None:
    """Its base may tilt: what is said is only what was found."""
    words = {}
    for base in ("fixed", "free"):
        scene = mb.load(ARM, base=base)
        words[base] = found_in(replace(scene, brakes=(Brake("j2", 20.0),)))["j2"].message
    assert "pulls with up to" in words["fixed"] and "pulls with at least" in words["free"]
