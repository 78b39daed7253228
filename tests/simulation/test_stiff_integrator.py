"""Rodas5P on stiff springs, loops and drivers, against explicit steps and scipy's Radau."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbplugin as mb
from mbplugin.simulation.integrators.methods import rodas5p
from places import ROOT
from rod_arms import arm

BENCHMARKS = ROOT / "examples" / "benchmarks"
TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}

#: A mass on a guide with a spring and a damper so strong that it creeps: time constants 1e-5 s and 1 s.
CREEPING = """
gravity = [0, 0, 0]
body = [{ name = "mass", mass = 1, inertia = [1, 1, 1] }]
pair = [{ name = "s", type = "prismatic", body_a = "world", body_b = "mass", xyz_a = [0, 0, 0], axis = [1, 0, 0] }]
spring = [{ body_a = "world", body_b = "mass", xyz_a = [-2, 0, 0], stiffness = 1e5, damping = 1e5, length = 2 }]
"""

#: A cart follows s = t⁴/2; quintics through its points are exact. The pendulum hangs below its axis.
DRIVEN = """
gravity = [0, 0, -9.81]
body = [{ name = "cart", mass = 1, inertia = [1, 1, 1] }, { name = "bob", mass = 1, inertia = [0, 0, 0] }]
pair = [
  { name = "s", type = "prismatic", body_a = "world", body_b = "cart", xyz_a = [0, 0, 0], axis = [1, 0, 0] },
  { name = "swing", type = "revolute", body_a = "cart", body_b = "bob", xyz_b = [0, 0, 1], axis = [0, -1, 0] },
]
driver = [{ joint = "s", file = "points.csv" }]
"""


def test_coefficients_satisfy_the_conditions_that_make_a_step_exact_for_linear_equations() -> None:
    """For y' = λy a step is R(z)y with R(z) − eᶻ = O(z⁶), R(∞) = 0, and the dense output is of order 4."""

    def amplification(z: complex, fraction: float = 1.0) -> complex:
        U: list[complex] = []
        for s in range(8):
            at = 1.0 + sum(a * u for a, u in zip(rodas5p.A[s], U, strict=False))
            right = z * at + sum(c * u for c, u in zip(rodas5p.C[s], U, strict=False))
            U.append(right / (1.0 / rodas5p.GAMMA - z))
        y1 = 1.0 + complex(rodas5p.A[7, :7] @ U[:7]) + U[7]
        k = rodas5p.H @ np.array(U)
        chord = 1.0 - fraction + fraction * y1
        return chord + fraction * (1.0 - fraction) * complex(k @ [1.0, fraction, fraction**2])

    errors = [abs(amplification(z) - np.exp(z)) for z in (0.2j, 0.1j)]
    assert errors[0] / errors[1] > 2**5.5
    assert abs(amplification(-1e12)) < 1e-9
    assert max(abs(amplification(1j * w)) for w in np.geomspace(1e-3, 1e4, 200)) < 1.0 + 1e-12
    between = [abs(amplification(z, 0.4) - np.exp(0.4 * z)) for z in (0.2j, 0.1j)]
    assert between[0] / between[1] > 2**4.5


def test_systems_are_solved_with_pivoting() -> None:
    """A zero or a small number on the diagonal, against numpy; a singular matrix is called singular."""
    rng = np.random.default_rng(4)
    for n in (1, 2, 5, 12):
        matrix, right = rng.normal(size=(n, n)), rng.normal(size=n)
        if n > 1:
            matrix[0, 0], matrix[n // 2, n // 2] = 0.0, 1e-17
        factors, solution, pivots = matrix.copy(), right.copy(), np.empty(n, dtype=np.int64)
        assert rodas5p.factorize(factors, pivots)
        rodas5p.solve_factorized(factors, pivots, solution)
        assert matrix @ solution == pytest.approx(right, abs=1e-11)
    assert not rodas5p.factorize(np.ones((2, 2)), np.empty(2, dtype=np.int64))
    assert not rodas5p.factorize(np.array([[np.nan]]), np.empty(1, dtype=np.int64))


def test_a_creeping_mass_follows_its_closed_form_in_large_steps(tmp_path: Path) -> None:
    scene = tmp_path / "creeping.scene.toml"
    scene.write_text(CREEPING, encoding="utf-8")
    motion = mb.simulate(scene, 2.0, q={"s": 0.1}, integrator="rodas5p", rtol=1e-8, atol=1e-10)
    fast, slow = np.roots([1.0, 1e5, 1e5])
    t = motion.time
    exact = 0.1 * (fast * np.exp(slow * t) - slow * np.exp(fast * t)) / (fast - slow)
    assert np.abs(motion.q[:, 0] - exact).max() < 1e-8
    assert motion.statistics["evaluations"] < 2000
    assert motion.dissipated[-1] == pytest.approx(0.5e5 * (0.1**2 - exact[-1] ** 2), rel=1e-6)


@pytest.mark.long
def test_the_stiff_governor_takes_a_fifth_of_the_evaluations() -> None:
    """IFToMM A05: explicit steps are as small as its springs ask for."""
    governor = mb.load(BENCHMARKS / "governor.scene.toml")
    exact = mb.simulate(governor, 10.0, **TIGHT)
    explicit = mb.simulate(governor, 10.0, rtol=1e-7, atol=1e-7)
    stiff = mb.simulate(governor, 10.0, rtol=1e-7, atol=1e-7, integrator="rodas5p")
    assert np.abs(stiff.q[-1] - exact.q[-1])[1:].max() < 1e-8
    assert stiff.q[-1, 0] == pytest.approx(exact.q[-1, 0], rel=1e-8)
    assert explicit.statistics["evaluations"] > 5 * stiff.statistics["evaluations"]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("scene", ["squeezer", "bricard", "double_four_bar"])
def test_loops_move_as_with_explicit_steps(scene: str) -> None:
    """Redundant rows, and a drive of constant torque."""
    mech = mb.load(BENCHMARKS / f"{scene}.scene.toml")
    exact = mb.simulate(mech, 0.03, **TIGHT)
    motion = mb.simulate(mech, 0.03, integrator="rodas5p", rtol=1e-9, atol=1e-10)
    assert np.abs(motion.q[-1] - exact.q[-1]).max() < 1e-7
    assert max(motion.residuals.values()) < 1e-10


@pytest.mark.parametrize("readable", [False, True], ids=["compiled", "Python"])
def test_what_changes_with_time_enters_each_stage(readable: bool, tmp_path: Path) -> None:
    """A driven cart carries a pendulum; scipy integrates the pendulum in the accelerating frame of the cart."""
    points = tmp_path / "points.csv"
    t = np.linspace(0.0, 1.5, 16)
    rows = [f"{x},{0.5 * x**4},{2.0 * x**3},{6.0 * x**2}" for x in t]
    points.write_text("\n".join(["time,value,rate,acceleration", *rows]), encoding="utf-8")
    scene = tmp_path / "driven.scene.toml"
    scene.write_text(DRIVEN, encoding="utf-8")
    motion = mb.simulate(
        scene, 1.5, q={"swing": 0.3}, integrator="rodas5p", rtol=1e-9, atol=1e-10, readable=readable
    )
    expected = solve_ivp(
        lambda t, y: [y[1], -9.81 * np.sin(y[0]) - 6.0 * t**2 * np.cos(y[0])],
        (0.0, 1.5), [0.3, 0.0], method="Radau", rtol=1e-11, atol=1e-12,
    )  # fmt: skip
    end = dict(zip(motion.joint_names, motion.q[-1], strict=True))
    assert end["swing"] == pytest.approx(expected.y[0, -1], abs=2e-8)
    assert end["s"] == pytest.approx(0.5 * 1.5**4, abs=1e-12)
    assert motion.statistics["evaluations"] < 20_000


@pytest.mark.parametrize("readable", [False, True], ids=["compiled", "Python"])
def test_a_step_that_is_too_long_is_rejected(readable: bool) -> None:
    """The first step spans ten turns."""
    fast: dict[str, Any] = {"q": {"j0": 0.2}, "qd": {"j0": 200.0, "j1": -300.0}, "limits": "ignore"}
    motion = mb.simulate(
        arm((1.0, 0.7)), 0.05, integrator="rodas5p", rtol=1e-8, atol=1e-8, step=0.5, readable=readable, **fast
    )
    assert motion.outcome == "completed" and motion.statistics["rejected"] > 0
    assert np.abs(motion.energy / motion.energy[0] - 1.0).max() < 1e-6
