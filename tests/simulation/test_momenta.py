"""Generalised momenta along a motion: by hand, by the energy, and across locks, docking and hand-over."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from locked_mechanisms import pendulum_3r, two_arms_one_part
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.mechanism import WORLD, Body, Lock, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array, Pose
from models import pose_at

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
LOCKED = (Lock("j2", 0.2), Lock("j3", 0.35))


def cart_and_bob() -> Mechanism:
    """A cart (3 kg) along x with a bob (2 kg, 0.3 kg·m²) that hangs 0.5 m below its hinge along z."""
    along = Pose(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), np.zeros(3))
    cart = Body("cart", 3.0, np.zeros(3), np.eye(3))
    bob = Body("bob", 2.0, np.array([0.0, -0.5, 0.0]), 0.3 * np.eye(3))
    track = Pair("track", "prismatic", WORLD, "cart", along, along)
    hinge = Pair("hinge", "revolute", "cart", "bob", Pose.identity(), Pose.identity())
    return Mechanism("cart", (cart, bob), (track, hinge), gravity=np.array([0.0, -9.81, 0.0]))


def test_a_cart_with_a_pendulum_by_hand() -> None:
    """p_x = (m + M) ẋ + m l cos φ φ̇ is kept; p_φ = m l cos φ ẋ + (I + m l²) φ̇."""
    motion = mb.simulate(cart_and_bob(), 1.0, q0={"hinge": 0.4}, qd0={"track": 0.2, "hinge": 1.5})
    phi, (x, turn) = motion.q[:, 1], motion.qd.T
    along = 5.0 * x + 2.0 * 0.5 * np.cos(phi) * turn
    about = 2.0 * 0.5 * np.cos(phi) * x + (0.3 + 2.0 * 0.25) * turn
    assert motion.joint_names == ("track", "hinge")
    np.testing.assert_allclose(motion.momenta, np.column_stack((along, about)), atol=1e-12)
    np.testing.assert_allclose(motion.momenta[:, 0], motion.momenta[0, 0], atol=1e-7)
    assert np.ptp(motion.momenta[:, 1]) > 1.0 and not motion.momenta.flags.writeable


def test_half_of_momentum_times_rate_is_the_kinetic_energy() -> None:
    """With payloads and the inertia of drives, in a loop as in a tree."""
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    tool = scene.mechanism.bodies[-1].name
    payload = Payload(tool, 3.0, np.array([0.0, 0.1, 0.2]), 0.01 * np.eye(3))
    arm = mb.simulate(scene, 0.2, payloads=[payload], armature={"j1": 2.0})
    loop = mb.simulate(mb.load(FOUR_BAR), 0.2, qd0={"j0": 1.0}, armature={"j0": 0.7})
    for motion in (arm, loop):
        half = 0.5 * np.einsum("ij,ij->i", motion.momenta, motion.qd)
        np.testing.assert_allclose(half, motion.kinetic, atol=1e-10 * motion.kinetic.max())


def around(motion: mb.Trajectory, time: float) -> tuple[int, int]:
    """The samples before and after an event."""
    first, last = np.flatnonzero(motion.time == time)
    return int(first), int(last)


def test_unlocked_joints_keep_their_momenta_across_a_lock() -> None:
    mech, q = pendulum_3r()
    motion = mb.simulate(mech, 0.5, q0=q, locks=LOCKED)
    size = np.abs(motion.momenta).max()
    for time, kept in ((0.2, [0, 2]), (0.35, [0])):
        before, after = around(motion, time)
        jump = motion.momenta[after] - motion.momenta[before]
        event = next(e for e in motion.events if e.time == time)
        assert np.abs(jump[kept]).max() < 1e-12 * size
        # and the locked ones change by their impulses
        for (name, _), impulse in event.impulse.items():
            k = motion.joint_names.index(name.removeprefix("lock "))
            assert jump[k] == pytest.approx(impulse, abs=1e-9 * size)
    assert len(event.impulse) == 2


def test_the_usual_simplification_keeps_no_momentum() -> None:
    mech, q = pendulum_3r()
    motion = mb.simulate(mech, 0.3, q0=q, locks=LOCKED[:1], transition="naive")
    before, after = around(motion, 0.2)
    jump = motion.momenta[after] - motion.momenta[before]
    assert np.abs(jump[[0, 2]]).min() > 1e-3 * np.abs(motion.momenta[before]).max()


def allowed(mech: Mechanism, q: Array) -> Array:
    """H (nv, f): the joint rates that all rows at a pose allow."""
    J = joint_equations(mech, q, np.zeros(len(mech.qd_names))).C
    _, sigma, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((sigma > 1e-9 * sigma[0]).sum()) :].T)


def test_in_a_loop_the_projected_momentum_is_kept() -> None:
    """Hᵀ(p₊ − p₋) = 0, H spanning the rates that are possible afterwards (two arms that hold one part)."""
    mech, q = two_arms_one_part()
    lock = Lock("lj0", 0.05)
    motion = mb.simulate(mech, 0.1, q0=q, qd0={"lj0": 0.5}, locks=[lock])
    before, after = around(motion, 0.05)
    H = allowed(replace(mech, locks=(Lock("lj0"),)), motion.q[after])
    jump = motion.momenta[after] - motion.momenta[before]
    assert 0 < H.shape[1] < len(jump)
    assert np.abs(H.T @ jump).max() < 1e-10 * np.abs(motion.momenta).max()
    # what the lock takes away is not little
    assert np.abs(jump).max() > 1e-3 * np.abs(motion.momenta).max()


def docking() -> Mechanism:
    """Two boxes of 2 and 3 kg on one track along x, and a coupler that may hold them together."""
    along = Pose(np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]), np.zeros(3))
    boxes = tuple(Body(n, m, np.zeros(3), np.eye(3)) for n, m in (("left", 2.0), ("right", 3.0)))
    tracks = tuple(Pair(f"x_{b.name}", "prismatic", WORLD, b.name, along, along) for b in boxes)
    dock = Pair("dock", "fixed", "left", "right", pose_at(np.zeros(3)), pose_at(np.zeros(3)), closure=True)
    return Mechanism("docking", boxes, (*tracks, dock), gravity=np.zeros(3))


def test_two_boxes_that_dock() -> None:
    """Momentum is kept, and m₁ m₂/(m₁ + m₂) v²/2 of energy lost."""
    motion = mb.simulate(
        docking(),
        1.0,
        q0={"x_left": -0.5},
        qd0={"x_left": 1.5, "x_right": -0.5},
        holds=[mb.TimedConstraint("dock", at=0.4, until=0.8)],
    )
    before, after = around(motion, 0.4)
    total = motion.momenta.sum(axis=1)
    np.testing.assert_allclose(total, 2 * 1.5 - 3 * 0.5, atol=1e-12)
    np.testing.assert_allclose(motion.qd[after:], 1.5 / 5, atol=1e-12)
    lost = motion.kinetic[before] - motion.kinetic[after]
    assert lost == pytest.approx(2 * 3 / 5 * 2.0**2 / 2, abs=1e-12)


def test_files_and_the_document_have_momenta(tmp_path: Path) -> None:
    table = tmp_path / "m.csv"
    flags = ("--duration", "0.05", "--qd", "j0=1", "--lock", "j0@0.02", "--transition", "naive")
    out = call("simulate", FOUR_BAR, *flags, "--save", str(table), "--output-format", "json").out
    found = json.loads(out)
    jsonschema.validate(found, json.loads(call("schema", "simulate").out))
    scene = mb.load(FOUR_BAR)
    motion = mb.simulate(scene, 0.05, qd0={"j0": 1.0}, locks=[Lock("j0", 0.02)], transition="naive")
    assert found["request"]["transition"] == "naive"
    assert found["momentum"] == dict(zip(motion.joint_names, motion.momenta.T.tolist(), strict=True))
    header, *rows = csv.reader(io.StringIO(table.read_text(encoding="utf-8")))
    column = header.index("momentum j1 [N·m·s]")
    assert [float(row[column]) for row in rows] == motion.momenta[:, 1].tolist()
    motion.save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as file:
        assert (file["momenta"] == motion.momenta).all()
        assert file["momenta_units"].tolist() == ["N·m·s"] * 3


def test_an_unknown_transition_is_named() -> None:
    outcome = call("simulate", FOUR_BAR, "--duration", "0.01", "--transition", "naiv")
    assert outcome.code == 2 and "there is no transition 'naiv'" in outcome.err and "naive" in outcome.err
