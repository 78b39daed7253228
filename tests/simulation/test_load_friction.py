"""Friction that grows with the force in its joint: by hand, against equations solved directly, and its energy."""

from __future__ import annotations

from dataclasses import replace
from math import atan, cos, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize

import mbplugin as mb
from command_line import call
from mbplugin.bullet.motion import Task
from mbplugin.comparison import agreement
from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import all_rows, planar_rows, plane_columns
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import solve
from mbplugin.errors import BadScene
from mbplugin.joint_reactions.statics import rows_at_joint
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism.kinematics import forward
from places import ASSETS, ORACLES

G = 9.81


BEARING = """
body = [{ name = "rod", mass = 2, com = [0.5, 0, 0], inertia = [0.01, 0.1, 0.1] }]
[[pair]]
name = "hinge"
type = "revolute"
body_a = "world"
body_b = "rod"
xyz_a = [0, 0, 0]
axis = [0, 1, 0]
friction_coefficient = 0.3
friction_radius = 0.05
"""


@pytest.fixture
def made(tmp_path: Path):
    """Return a scene of its text."""

    def load(text: str) -> mb.Scene:
        path = tmp_path / "made.scene.toml"
        path.write_text(text)
        return mb.load(path)

    return load


def block(mu: float, angle: float) -> str:
    return f"""
body = [{{ name = "block", mass = 3, inertia = [1, 1, 1] }}]
[[pair]]
name = "slide"
type = "prismatic"
body_a = "world"
body_b = "block"
xyz_a = [0, 0, 0]
axis = [{cos(angle)}, 0, {-sin(angle)}]
friction_coefficient = {mu}
"""


@pytest.mark.parametrize("formulation", ["projected", "kkt", "closing"])
def test_a_block_slides_down_an_incline(made, formulation: str) -> None:
    """a = g (sin φ − μ cos φ); friction dissipates μ m g cos φ along the way."""
    motion = mb.simulate(made(block(0.3, 0.5)), 1.0, samples=4, formulation=formulation)
    a = G * (sin(0.5) - 0.3 * cos(0.5))
    assert motion.qdd[:, 0] == pytest.approx(a, rel=1e-10)
    assert motion.q[:, 0] == pytest.approx(0.5 * a * motion.time**2, abs=1e-9)
    assert motion.dissipated == pytest.approx(0.3 * 3 * G * cos(0.5) * motion.q[:, 0], abs=1e-8)
    assert motion.energy + motion.dissipated == pytest.approx(motion.energy[0], abs=1e-8)


def test_a_block_that_is_slow_enough_stops_and_stays(made) -> None:
    motion = mb.simulate(made(block(0.3, 0.2)), 3.0, qd0={"slide": 1.0}, samples=6)
    a = G * (sin(0.2) - 0.3 * cos(0.2))
    (stick,) = motion.events
    assert (stick.kind, stick.time) == ("stick", pytest.approx(-1.0 / a, rel=1e-8))
    assert motion.q[-1, 0] == pytest.approx(-0.5 / a, rel=1e-8)
    assert abs(motion.qd[-1, 0]) < 1e-15


def test_a_block_on_a_table_that_tilts_slips_at_the_angle_of_friction(made) -> None:
    """tan φ = μ: what sticking can hold follows the load while the table tilts."""
    text = """
body = [
    { name = "table", mass = 5, inertia = [1, 1, 1] },
    { name = "block", mass = 3, inertia = [1, 1, 1] },
]
driver = [{ name = "tilt", joint = "hinge", points = [[0, 0, 0.2], [4, 0.8, 0.2]] }]
[[pair]]
name = "hinge"
type = "revolute"
body_a = "world"
body_b = "table"
xyz_a = [0, 0, 0]
axis = [0, 1, 0]
[[pair]]
name = "slide"
type = "prismatic"
body_a = "table"
body_b = "block"
xyz_a = [0, 0, 0]
axis = [1, 0, 0]
friction_coefficient = 0.4
"""
    motion = mb.simulate(made(text), 2.5)
    slip = next(e for e in motion.events if e.kind == "slip")
    assert slip.time == pytest.approx(atan(0.4) / 0.2, rel=1e-6)
    held = motion.time < slip.time
    assert np.abs(motion.qd[held, 1]).max() < 1e-12
    assert motion.qd[-1, 1] > 0.1


def test_a_shaft_in_a_bearing_under_a_load(made) -> None:
    """The moment μ r N slows a shaft down evenly; N is its weight and the load, together across the axis."""
    text = """
body = [{ name = "shaft", mass = 2, inertia = [0.1, 0.02, 0.1] }]
[[load]]
body = "shaft"
force = [30, 0, 0]
[[pair]]
name = "bearing"
type = "revolute"
body_a = "world"
body_b = "shaft"
xyz_a = [0, 0, 0]
axis = [0, 1, 0]
friction_coefficient = 0.1
friction_radius = 0.02
"""
    motion = mb.simulate(made(text), 20.0, qd0={"bearing": 10.0}, samples=10)
    moment = 0.1 * 0.02 * np.hypot(2 * G, 30.0)
    (stick,) = motion.events
    assert stick.time == pytest.approx(10.0 * 0.02 / moment, rel=1e-8)
    assert motion.dissipated[-1] == pytest.approx(0.5 * 0.02 * 10.0**2, rel=1e-8)
    assert abs(motion.transmitted("bearing")[0, 5]) == pytest.approx(moment, rel=1e-9)


def with_bearings(scene: mb.Scene, arms: dict[str, float]) -> mb.Scene:
    pairs = tuple(
        replace(p, freedoms=(replace(p.freedoms[0], load_friction=arms[p.name]),)) if p.name in arms else p
        for p in scene.mechanism.pairs
    )
    return replace(scene, mechanism=replace(scene.mechanism, pairs=pairs))


def directly(mech: mb.Mechanism, q, qd, rates: dict[str, float], arms: dict[str, float]):
    """Return v̇ (N, 3) and the loads, by a root finder on all multipliers: every pair a constraint."""
    poses, columns = forward(mech, q), plane_columns("xy")
    rows = [planar_rows(r, columns) for r in all_rows(mech, poses, q)]

    def motion(loads):
        force = {
            (n, "rz"): -np.sign(rates[n]) * arm * x for (n, arm), x in zip(arms.items(), loads, strict=True)
        }
        acting = AppliedForces(friction=False)
        solution = solve(absolute_equations(mech, q, qd, acting, planar="xy", resisting=force), "kkt")
        found, start = {}, 0
        for r in rows:
            own = solution.multipliers[start : start + len(r.components)]
            start += len(r.components)
            wrench = own @ rows_at_joint(mech, poses, mech.pair_by_name[r.constraint], r)
            found[r.constraint] = np.linalg.norm(wrench[:3])
        return solution.v_dot, np.array([found[n] for n in arms])

    loads = scipy.optimize.root(lambda x: motion(x)[1] - x, np.full(len(arms), 10.0), tol=1e-13).x
    return motion(loads)[0], loads


@pytest.mark.long
def test_a_linkage_with_friction_in_every_bearing() -> None:
    """In a loop friction changes the loads that it depends on; energy goes where friction takes it."""
    arms = {"O1": 0.03, "O2": 0.02, "O3": 0.02, "O4": 0.03}
    scene = with_bearings(mb.load(ASSETS / "crank_rocker.scene.toml"), arms)
    motion = mb.simulate(scene, 0.3, qd0={"O1": 6.0}, samples=3)
    assert motion.outcome == "completed" and motion.dissipated[-1] > 0.5
    assert motion.energy + motion.dissipated == pytest.approx(motion.energy[0], abs=1e-6)
    mech = motion.mechanism
    at_closure = mb.simulate(scene, 0.3, qd0={"O1": 6.0}, samples=3, coordinates="absolute")
    assert at_closure.q == pytest.approx(motion.q, abs=1e-6)
    # between events, where every bearing slides
    for k in (0, 1, 4):
        q, qd = motion.q[k], motion.qd[k]
        # the rate of the cut pair closes the sum of the relative ones
        rates = dict(zip(mech.qd_names, qd, strict=True)) | {"O4": sum(qd)}
        expected, loads = directly(mech, q, qd, rates, arms)
        poses = forward(mech, q)
        v_dot = body_accelerations(mech, poses, body_twists(mech, poses, qd), motion.qdd[k])
        assert v_dot[:, [0, 1, 5]] == pytest.approx(expected.reshape(-1, 3), rel=1e-7, abs=1e-7)
        for name, load in zip(arms, loads, strict=True):
            assert np.linalg.norm(motion.reactions(name)[k, :3]) == pytest.approx(load, rel=1e-7), name


@pytest.mark.long
def test_with_redundant_rows_the_motion_depends_on_the_choice_and_is_named(tmp_path: Path) -> None:
    """wojtyra2013 §1: the same mechanism with other rows left out moves otherwise, and the result says so."""
    file = tmp_path / "parallelogram_3crank_planar.sdf"
    file.write_text((ORACLES / file.name).read_text())
    scene = mb.load(file)
    for arms, named in (({"b0": 0.1, "b1": 0.1}, True), ({}, False)):
        frictional = with_bearings(scene, arms)
        ways = {
            r: mb.simulate(frictional, 0.3, planar="xy", qd0={"b0": 2.0}, redundancy=r)
            for r in ("eliminate", "minimum-norm")
        }
        apart = np.abs(ways["eliminate"].q[-1] - ways["minimum-norm"].q[-1]).max()
        assert (apart > 1e-4) == named
        for motion in ways.values():
            assert any("b0" in note and "not unique" in note for note in motion.notes) == named
    path = tmp_path / "cranks.scene.toml"
    path.write_text(
        f'lint = {{ planar = "xy" }}\n[[model]]\nfile = "{file.name}"\n'
        '[[pair]]\nname = "b1"\ntype = "revolute"\nfriction_coefficient = 0.2\nfriction_radius = 0.05\n'
    )
    assert "MB302" in call("lint", str(path)).out
    text = " ".join(call("simulate", str(path), "--duration", "0.1", "--qd", "b0=1").out.split())
    assert "the motion is not unique: the friction of b1" in text


@pytest.mark.parametrize(
    ("type_", "lines", "what"),
    [
        ("revolute", "friction_coefficient = 0.3", "both"),
        ("prismatic", "friction_coefficient = 0.3\nfriction_radius = 0.1", "alone"),
        ("spherical", "friction_coefficient = 0.3", "revolute or a prismatic"),
        ("revolute", "friction_radius = 0.3", "both"),
    ],
)
def test_what_cannot_be_is_refused(made, type_: str, lines: str, what: str) -> None:
    text = block(0.3, 0.1).replace('"prismatic"', f'"{type_}"').replace("friction_coefficient = 0.3", lines)
    with pytest.raises(BadScene, match=what):
        made(text)


# The variational integrator, whose steps take friction from the loads in their middle.


def test_momentum_steps_slide_a_block_and_let_it_stick(made) -> None:
    """Under even forces its steps are exact, the one that ends at the stick included."""
    motion = mb.simulate(made(block(0.3, 0.2)), 3.0, qd0={"slide": 1.0}, integrator="variational", step=0.02)
    a = G * (sin(0.2) - 0.3 * cos(0.2))
    (stick,) = motion.events
    assert (stick.kind, stick.time) == ("stick", pytest.approx(-1.0 / a, rel=1e-8))
    assert motion.q[-1, 0] == pytest.approx(-0.5 / a, rel=1e-8)
    assert motion.dissipated[-1] == pytest.approx(0.3 * 3 * G * cos(0.2) * 0.5 / -a, rel=1e-8)


def pendulum_by_hand(mu_r: float, rate: float, duration: float) -> tuple[float, float, float]:
    """Return angle, rate and lost energy of a rod of 2 kg, 0.5 m from a bearing whose load is |m (a − g)|."""
    m, c, inertia = 2.0, 0.5, 0.1 + 2.0 * 0.5**2

    def slope(_: float, y: np.ndarray) -> list[float]:
        angle, speed, _ = y
        out, along = np.array([cos(angle), -sin(angle)]), np.array([-sin(angle), -cos(angle)])

        def load(turn: float) -> float:
            return float(np.linalg.norm(m * (c * turn * along - c * speed**2 * out + np.array([0.0, G]))))

        def rest(turn: float) -> float:
            return inertia * turn - m * G * c * cos(angle) + mu_r * load(turn) * np.sign(speed)

        turn = scipy.optimize.brentq(rest, -100, 100, xtol=1e-14)
        return [speed, turn, mu_r * load(turn) * abs(speed)]

    found = scipy.integrate.solve_ivp(slope, (0, duration), [0, rate, 0], "DOP853", rtol=1e-11, atol=1e-12)
    return tuple(found.y[:, -1])


@pytest.mark.long
def test_momentum_steps_of_a_loaded_bearing_are_of_order_two(made) -> None:
    """Its load changes with angle and rate; half the step leaves a quarter of the errors, of the energy too."""
    scene = made(BEARING)
    expected = pendulum_by_hand(0.015, 3.0, 0.7)
    errors = []
    for step in (0.02, 0.01):
        motion = mb.simulate(scene, 0.7, qd0={"hinge": 3.0}, integrator="variational", step=step)
        assert not motion.events
        balance = np.abs(motion.energy + motion.dissipated - motion.energy[0]).max()
        ends = (motion.q[-1, 0], motion.qd[-1, 0], motion.dissipated[-1])
        errors.append([*np.abs(np.subtract(ends, expected)), balance])
    assert max(errors[1]) < 2e-3
    ratios = np.divide(*errors)
    assert ((ratios > 3.7) & (ratios < 4.3)).all(), ratios


@pytest.mark.long
def test_momentum_steps_of_a_linkage_with_friction_in_every_bearing() -> None:
    """Also the load of the pair that closes the loop counts."""
    arms = {"O1": 0.03, "O2": 0.02, "O3": 0.02, "O4": 0.03}
    scene = with_bearings(mb.load(ASSETS / "crank_rocker.scene.toml"), arms)
    exact = mb.simulate(scene, 0.1, qd0={"O1": 6.0}, rtol=1e-10, atol=1e-11)
    assert exact.dissipated[-1] > 0.1
    errors = []
    for step in (0.005, 0.0025):
        motion = mb.simulate(scene, 0.1, qd0={"O1": 6.0}, integrator="variational", step=step)
        errors.append(
            [np.abs(motion.q[-1] - exact.q[-1]).max(), abs(motion.dissipated[-1] - exact.dissipated[-1])]
        )
    ratios = np.divide(*errors)
    assert ((ratios > 3.5) & (ratios < 4.5)).all(), (errors, ratios)


@pytest.mark.long
def test_a_stop_of_a_joint_with_such_friction(made) -> None:
    """The loop of many stops leaves it to the runner; a brake of 5 N·m and the bearing stop the shaft together."""
    text = block(0.1, 0.0).replace('"prismatic"', '"revolute"') + "friction_radius = 0.02\n"
    scene = made(text)
    stop = mb.estop(
        scene, qd={"slide": 10.0}, brakes=[{"joint": "slide", "torque": 5.0, "static_torque": 5.0}]
    )
    # axis x, inertia 1 kg·m²
    assert stop.time == pytest.approx(10.0 / (5.0 + 0.1 * 0.02 * 3 * G), rel=1e-6)


@pytest.mark.long
@pytest.mark.bullet
def test_pybullet_has_no_such_friction_and_says_so(made) -> None:
    found = mb.crosscheck(made(block(0.3, 0.5)), duration=0.1, engine="pybullet")
    assert (
        found.verdict == "not comparable" and "grows with the load of a joint, as 'slide' has" in found.reason
    )
    without = mb.crosscheck(made(block(0.3, 0.5)), duration=0.1, engine="pybullet", friction=False)
    assert without.verdict == "agrees"


GUIDE = block(0.2, 0.6).replace("mass = 3", "mass = 3, com = [0.1, 0.2, 0.3]") + "guide_length = 0.3\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "joint"),
    [(block(0.3, 0.6), "slide"), (GUIDE, "slide"), (BEARING, "hinge")],
    ids=["guide", "bush by moments", "bearing"],
)
def test_mujoco_confirms_it_by_the_forces_in_its_own_joints(
    made, monkeypatch: pytest.MonkeyPatch, text: str, joint: str
) -> None:
    """A coefficient that is one per cent larger there is found."""
    pytest.importorskip("mujoco")
    found = mb.crosscheck(made(text), 0.5, qd={joint: 3.0}, engine="mujoco")
    assert found.verdict == "agrees", found.reason
    assert all(0.9 < order < 1.1 for order in found.orders)
    right = agreement._task

    def wrong(mech: mb.Mechanism, *rest: Any) -> Task:
        own = mech.pair_by_name[joint].freedoms[0]
        pair = replace(
            mech.pair_by_name[joint], freedoms=(replace(own, load_friction=1.01 * own.load_friction),)
        )
        return right(replace(mech, pairs=(pair,)), *rest)

    monkeypatch.setattr(agreement, "_task", wrong)
    assert mb.crosscheck(made(text), 0.5, qd={joint: 3.0}, engine="mujoco").verdict == "disagrees"


@pytest.mark.slow
def test_loads_in_soft_loops_are_not_compared() -> None:
    pytest.importorskip("mujoco")
    scene = with_bearings(mb.load(ASSETS / "crank_rocker.scene.toml"), {"O1": 0.03})
    found = mb.crosscheck(scene, 0.1, qd={"O1": 6.0}, engine="mujoco")
    assert found.verdict == "not comparable" and "soft loops" in found.reason
