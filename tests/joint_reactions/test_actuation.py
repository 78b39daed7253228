"""Inverse dynamics with redundant actuation, by hand, in projected equations of the tree, and by statics."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from closed_mechanisms import planar
from command_line import call
from mbplugin.constraints.assembly import assemble
from mbplugin.dynamics.formulations import eliminate
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.spatial import Array
from models import chain, four_bar
from places import ORACLES, ROOT

#: A platform on three legs of two links: hinges on the ground, knees, hinges on the platform.
FEET, KNEES, TOPS = (
    ((0, 0), (2, 0), (1, 1.8)),
    ((0.2, 0.7), (2.3, 0.6), (1.7, 1.6)),
    ((0.7, 0.5), (1.5, 0.4), (1.1, 1.0)),
)
MOTORS = ("foot0", "foot1", "foot2", "knee0")


def platform_3rrr() -> tuple[Mechanism, Array]:
    joints = []
    for k in range(3):
        joints.append((f"foot{k}", "revolute", WORLD, f"upper{k}", FEET[k], 0.0))
        joints.append((f"knee{k}", "revolute", f"upper{k}", f"lower{k}", KNEES[k], 0.0))
        joints.append((f"top{k}", "revolute", f"lower{k}", "platform", TOPS[k], 0.0))
    mech, q = planar(joints, seed=3)
    return mech, assemble(mech, q).q


def test_two_motors_on_a_parallelogram_by_hand() -> None:
    """Cranks of 1 m and 1 kg accelerate at α, the coupler moves without turning; upright, gravity needs nothing.

    Power: (c₀ + c₃) q̇ = [2 (I + m/4) + m] α q̇ with I = 0.01 kg m² and m = 1 kg. Only the sum is determined.
    """
    mech, q = four_bar()
    alpha = 3.0
    found = mb.inverse_dynamics(mech, q, qdd={"j0": alpha}, actuated=["j0", "j3"])
    needed = (2 * (0.01 + 0.25) + 1.0) * alpha
    assert found.values == pytest.approx([needed / 2, needed / 2], rel=1e-12)
    assert [force.unique for force in found.forces] == [False, False]
    assert found.mobility == 1
    assert found.shares.shape == (2, 1)
    assert found.shares[:, 0] / found.shares[0, 0] == pytest.approx([1.0, -1.0], rel=1e-12)
    assert found["j0"].unit == "N·m"
    # the motor with three times the rating takes nine times the torque: c/w² is the same for both
    rated = mb.inverse_dynamics(
        mech, q, qdd={"j0": alpha}, actuated=["j0", "j3"], weights={"j0": 1.0, "j3": 3.0}
    )
    assert rated.values == pytest.approx([0.1 * needed, 0.9 * needed], rel=1e-12)
    alone = mb.inverse_dynamics(mech, q, qdd={"j0": alpha}, actuated=["j3"])
    assert alone.values == pytest.approx([needed], rel=1e-12)
    assert alone["j3"].unique
    assert alone.shares.shape == (1, 0)


def projected(
    mech: Mechanism, q: Array, qd: Array, qdd: Array, motors: tuple[str, ...]
) -> tuple[Array, Array]:
    """Least norm and projector on the open shares by N_J (M q̈ − F − B c) = 0 (mueller2026 (9))."""
    equations = joint_equations(mech, q, qd)
    J = eliminate(equations).C
    N_J = np.eye(len(q)) - np.linalg.pinv(J) @ J
    B = np.eye(len(q))[:, [mech.qd_names.index(name) for name in motors]]
    pseudoinverse = np.linalg.pinv(N_J @ B, rcond=1e-9)
    least = pseudoinverse @ N_J @ (equations.M @ qdd - equations.F)
    return least, np.eye(len(motors)) - pseudoinverse @ N_J @ B


def projector(shares: Array) -> Array:
    basis = np.linalg.qr(shares)[0]
    return basis @ basis.T


def moved() -> mb.ActuatorForces:
    mech, q = platform_3rrr()
    return mb.inverse_dynamics(
        mech,
        q,
        {"foot0": 0.7, "foot1": -0.4, "foot2": 0.9},
        {"foot0": 2.0, "foot1": 1.0, "foot2": -3.0},
        actuated=MOTORS,
    )


def test_a_platform_with_four_motors_is_that_of_the_projected_equations() -> None:
    found = moved()
    least, open_shares = projected(found.mechanism, found.q, found.qd, found.qdd, MOTORS)
    assert found.values == pytest.approx(least, rel=1e-9)
    assert projector(found.shares) == pytest.approx(open_shares, abs=1e-9)
    assert (found.mobility, len(found.free)) == (3, 1)
    assert np.abs(found.values).min() > 0.1
    assert not any(force.unique for force in found.forces)


def test_every_share_gives_the_same_motion_and_other_joint_forces() -> None:
    found = moved()
    results = []
    for y in (0.0, 12.0, -7.0):
        torques = dict(zip(found.joints, (found.values + found.shares @ [y]).tolist(), strict=True))
        equations = joint_equations(found.mechanism, found.q, found.qd, AppliedForces(torques=torques))
        rows = eliminate(equations)
        big = np.block([[equations.M, -rows.C.T], [rows.C, np.zeros((len(rows.C), len(rows.C)))]])
        solved = np.linalg.solve(big, np.concatenate((equations.F, rows.Gamma)))
        assert solved[: len(found.qdd)] == pytest.approx(found.qdd, rel=1e-9, abs=1e-9)
        results.append(solved[len(found.qdd) :])
    assert np.abs(results[1] - results[0]).max() > 1.0


def test_of_the_statics_of_held_joints_it_is_the_open_part() -> None:
    """Motors as locks: their rows of the self-stresses are the shares, of every λ₀ the least norm is ours."""
    found = moved()
    held = mb.reactions(found.mechanism, found.q, found.qd, found.qdd, hold=MOTORS)
    assert {held[f"lock {name}"].unique for name in MOTORS} == {False}
    (family,) = [f for f in held.families if any(r.constraint.startswith("lock") for r in f.relations)]
    of_row = {(r.constraint, r.component): r for r in family.relations}
    assert len(family.parameters) == 1
    parameter = family.parameters[0][:2]
    constant, slope = [], []
    for name in MOTORS:
        row = of_row.get((f"lock {name}", "rz_lock"))
        assert row is not None or parameter == (f"lock {name}", "rz_lock")
        constant.append(row.constant if row else 0.0)
        slope.append(row.terms[0].weight if row else 1.0)
    along = np.array(slope) / np.linalg.norm(slope)
    assert found.values == pytest.approx(constant - along * (along @ constant), rel=1e-7)
    assert projector(found.shares) == pytest.approx(np.outer(along, along), abs=1e-7)


def test_the_least_is_less_than_all_others_in_parts_of_the_weights() -> None:
    mech, q = platform_3rrr()
    weights = dict(zip(MOTORS, (5.0, 10.0, 2.0, 1.0), strict=True))
    found = mb.inverse_dynamics(mech, q, qdd={"foot0": 1.0}, actuated=MOTORS, weights=weights)
    size = np.array(list(weights.values()))
    norm = np.linalg.norm(found.values / size)
    for y in (1e-2, -1e-2):
        assert np.linalg.norm((found.values + found.shares @ [y]) / size) > norm


def test_of_enough_motors_some_may_be_determined() -> None:
    """Two four-bars side by side: the second has one motor, which shares nothing with the two of the first."""
    mech, _ = four_bar()
    other = replace(
        mech,
        bodies=tuple(replace(b, name=f"{b.name}2") for b in mech.bodies),
        pairs=tuple(
            replace(
                p,
                name=f"{p.name}b",
                body_a=p.body_a if p.body_a == WORLD else f"{p.body_a}2",
                body_b=p.body_b if p.body_b == WORLD else f"{p.body_b}2",
            )
            for p in mech.pairs
        ),
    )
    both = replace(mech, bodies=(*mech.bodies, *other.bodies), pairs=(*mech.pairs, *other.pairs))
    found = mb.inverse_dynamics(both, qdd={"j0": 1.0, "j0b": 2.0}, actuated=["j0", "j3", "j1b"])
    assert [force.unique for force in found.forces] == [False, False, True]
    assert found["j1b"].value == pytest.approx(-2.0 * (2 * 0.26 + 1.0))
    assert found.shares[2] == pytest.approx([0.0])


def test_what_the_file_says_of_a_joint_counts_by_hand(tmp_path: Path) -> None:
    """A wheel: (I + J n²) α + d ω + friction; reactions have the hinge alone."""
    path = tmp_path / "wheel.scene.toml"
    path.write_text(
        "gravity = [0, 0, 0]\n[[body]]\nname = 'wheel'\nmass = 1\ninertia = [0.1, 0.1, 0.2]\n"
        "[[pair]]\nname = 'axle'\ntype = 'revolute'\nbody_a = 'world'\nbody_b = 'wheel'\nxyz_a = [0, 0, 0]\n"
        "damping = 0.5\nfriction = 0.3\n"
        "[[actuator]]\njoint = 'axle'\narmature = 1e-4\ngear_ratio = 50\n",
        encoding="utf-8",
    )
    found = mb.inverse_dynamics(path, qd={"axle": -2.0}, qdd={"axle": 4.0})
    assert found.joints == ("axle",)
    assert found.values == pytest.approx([(0.2 + 0.25) * 4 - 0.5 * 2 - 0.3])
    ideal = mb.inverse_dynamics(path, qd={"axle": -2.0}, qdd={"axle": 4.0}, damping=False, friction=False)
    assert ideal.values == pytest.approx([(0.2 + 0.25) * 4])
    assert mb.inverse_dynamics(path, qdd={"axle": 4.0}).values == pytest.approx([(0.2 + 0.25) * 4])


@pytest.mark.parametrize("seed", range(2))
def test_a_chain_is_that_of_its_equations_with_loads(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mech, q = chain(4, "revolute", rng)
    qd, qdd = rng.normal(size=4), rng.normal(size=4)
    load = {"body": "b3", "force": [3.0, -5.0, 7.0], "torque": [0.3, 0.1, 0.2], "point": [0.1, 0.2, 0.3]}
    found = mb.inverse_dynamics(mech, q, qd, qdd, actuated=mech.qd_names, loads=[load])
    held = mb.reactions(mech, q, qd, qdd, hold=mech.qd_names, loads=[load])
    assert found.values == pytest.approx([held.value(f"lock {n}", "rz_lock") for n in mech.qd_names])
    bare = mb.inverse_dynamics(mech, q, qd, qdd, actuated=mech.qd_names)
    equations = joint_equations(mech, q, qd)
    assert bare.values == pytest.approx(equations.M @ qdd - equations.F)


def test_drivers_are_motors_and_a_closure_may_be_one() -> None:
    scene = mb.load(ROOT / "assets" / "crank_rocker.scene.toml")
    driver = mb.Driver("motor", "O1", rate=2.0)
    driven = replace(scene, mechanism=replace(scene.mechanism, drivers=(driver,)))
    by_driver = mb.inverse_dynamics(driven)
    assert by_driver.joints == ("O1",)
    assert by_driver.values == pytest.approx(
        [mb.reactions(driven, qdd={}).value("motor", "rz_drive")], rel=1e-9
    )
    # the rocker's joint on the ground closes the loop; its torque times its rate is the power of the other
    at_end = mb.inverse_dynamics(scene, qd={"O1": 2.0}, actuated=["O4"])
    at_start = mb.inverse_dynamics(scene, qd={"O1": 2.0}, actuated=["O1"])
    both = mb.inverse_dynamics(scene, qd={"O1": 2.0}, actuated=["O1", "O4"])
    ratio = at_start.values[0] / at_end.values[0]
    assert both.shares[:, 0] / both.shares[1, 0] == pytest.approx([-ratio, 1.0], rel=1e-7)


def test_forces_and_torques_share_whatever_the_unit_of_length() -> None:
    """A motor and a cylinder on one hexapod's leg: the open shares do no work in any motion."""
    scene = mb.load(ORACLES / "stewart_6UPS.sdf")
    legs = [f"p{k}" for k in range(6)]
    found = mb.inverse_dynamics(scene, actuated=[*legs, "u0"])
    assert [force.unit for force in found.forces[:6]] == ["N"] * 6
    assert found.mobility == 6
    assert len(found.free) == len(found.forces) - 6
    only = mb.inverse_dynamics(scene, actuated=legs)
    assert all(force.unique for force in only.forces)
    held = mb.reactions(scene, hold=legs)
    assert only.values == pytest.approx([held.value(f"lock {leg}", "tz_lock") for leg in legs], rel=1e-6)


def test_what_actuators_cannot_do_is_said() -> None:
    mech, q = platform_3rrr()
    with pytest.raises(mb.MbPluginError, match="no actuated joint moves this motion"):
        mb.inverse_dynamics(mech, q, actuated=["foot0", "foot1"])
    with pytest.raises(mb.MbPluginError, match="nothing says which joints"):
        mb.inverse_dynamics(mech, q)
    with pytest.raises(mb.MbPluginError, match="the actuated joint, 'foot9', is not a pair"):
        mb.inverse_dynamics(mech, q, actuated=["foot9"])
    with pytest.raises(mb.MbPluginError, match="'knee1', which is not actuated"):
        mb.inverse_dynamics(mech, q, actuated=MOTORS, weights={"knee1": 1.0})
    with pytest.raises(mb.MbPluginError, match="'foot1' has no weight"):
        mb.inverse_dynamics(mech, q, actuated=MOTORS, weights={"foot0": 1.0})
    with pytest.raises(mb.MbPluginError, match="positive number"):
        mb.inverse_dynamics(mech, q, actuated=MOTORS, weights=dict.fromkeys(MOTORS, 0.0))


@pytest.mark.long
def test_the_command_prints_torques_and_their_share() -> None:
    file = str(ROOT / "assets" / "four_bar.scene.toml")
    command = ["reactions", file, "--qd", "j0=2", "--qdd", "j0=1", "--actuated", "j0,j3"]
    found = mb.inverse_dynamics(file, qd={"j0": 2.0}, qdd={"j0": 1.0}, actuated=["j0", "j3"])
    document = json.loads(call(*command, "--output-format", "json").out)
    jsonschema.validate(document, json.loads(call("schema", "reactions").out))
    assert [f["value"] for f in document["actuation"]["forces"]] == pytest.approx(found.values)
    assert document["actuation"]["free"] == ["j3"]
    # the crank turns by −25/8 of the rocker: a torque of 1 on the rocker is one of 0.32 on the crank
    assert document["actuation"]["shares"] == [pytest.approx([0.32]), pytest.approx([1.0])]
    text = " ".join(call(*command).out.split())
    assert "1 N·m in j3 with 0.32 N·m in j0" in text
    assert re.search(r"^  j0  +-1\.26561= +N·m$", call(*command).out, re.MULTILINE)
    assert "actuation" not in json.loads(call("reactions", file, "--output-format", "json").out)
    page = call(*command, "--output-format", "html").out
    assert "shared, of least norm" in page and "1 N·m in j3 with 0.32 N·m in j0" in page
    refused = call(*command, "--hold", "j0")
    assert refused.code == 2
    assert "--actuated and --hold are given together" in refused.err


def test_a_rotor_on_a_closing_joint_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "rocker.scene.toml"
    text = (ROOT / "assets" / "crank_rocker.scene.toml").read_text(encoding="utf-8")
    path.write_text(f"{text}\n[[actuator]]\njoint = 'O4'\narmature = 1e-4\n", encoding="utf-8")
    with pytest.raises(mb.MbPluginError, match=r"'O4', which closes a loop .* let another joint of its loop"):
        mb.inverse_dynamics(path, qd={"O1": 1.0})
    with pytest.raises(mb.MbPluginError, match="'O4', which closes a loop"):
        mb.simulate(path, 0.1)


@pytest.mark.bullet
def test_four_driven_wheels_share_the_thrust_by_hand() -> None:
    """A skid-steered robot straight ahead: Σ c = (m r² + Σ I) α, and how the wheels share it nothing says."""
    scene = mb.load(ROOT / "assets" / "husky.scene.toml")
    wheels = [name for name in scene.mechanism.qd_names if name.endswith("_wheel")]
    found = mb.inverse_dynamics(scene, qdd={wheels[0]: 2.0}, actuated=wheels)
    radius = found.qdd[scene.mechanism.qd_names.index("base_footprint.vx")] / 2.0
    mass = sum(body.mass for body in scene.mechanism.bodies)
    bodies = {body.name: body for body in scene.mechanism.bodies}
    spin = [bodies[scene.mechanism.pair_by_name[name].body_b].I_C[1, 1] for name in wheels]
    assert found.values.sum() == pytest.approx(2.0 * (mass * radius**2 + sum(spin)), rel=1e-9)
    assert found.values == pytest.approx(found.values.mean(), rel=1e-9)
    assert (found.mobility, len(found.free)) == (1, 3)
    assert found.shares.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
