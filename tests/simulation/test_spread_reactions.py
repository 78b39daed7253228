"""Reactions along a motion, chosen among the possible ones: the robot of wojtyra2013, section 4.

The oracle knows the constraint matrix and the masses only: Newton–Euler from finite differences of the
bodies' velocities, pseudo-inverse and elimination by numpy.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.reduction import body_twists
from mbplugin.model.mechanism.kinematics import displace, forward
from mbplugin.simulation.trajectory.trajectory import Trajectory
from places import ASSETS

SCENE = mb.load(ASSETS / "four_wheel_robot.scene.toml")
MECH = SCENE.mechanism
#: Row 18 is W1, row 21 is W4.
W1, W4 = 17, 20
FORCE = np.array([4.0, 1.0])


def steering(t: float) -> tuple[float, float, float]:
    """Value, rate and acceleration of the slider, 0.04 m in 0.5 s."""
    s, h, x = t / 0.5, 0.5, 0.04
    value, rate = x * s**3 * (10 - 15 * s + 6 * s**2), x * 30 * s**2 * (1 - s) ** 2 / h
    return value, rate, x * 60 * s * (1 - s) * (1 - 2 * s) / h**2


def motion(**ways: Any) -> Trajectory:
    return mb.simulate(
        SCENE,
        0.3,
        qd0={"1.vx": 1.0},
        loads=[{"body": "1", "force": [*FORCE, 0.0], "frame": "body"}],
        profiles={"drive": steering},
        integrator="rk4",
        step=0.02,
        **ways,
    )


def needed(moved: Trajectory, k: int) -> tuple[np.ndarray, np.ndarray]:
    """C (22, 21) and Cᵀλ (21,) = M v̇ − F at a sample, in twists (x, y, φ)."""
    q, qd, qdd = moved.q[k], moved.qd[k], moved.qdd[k]
    h = 1e-5
    ahead, behind = (
        body_twists(MECH, forward(MECH, displace(MECH, q, s * h * qd)), qd + s * h * qdd) for s in (1.0, -1.0)
    )
    v_dot = ((ahead - behind) / (2 * h))[:, [0, 1, 5]]
    M = np.array([[b.mass, b.mass, b.I_C[2, 2]] for b in MECH.bodies])
    F = np.zeros_like(v_dot)
    F[0, :2] = forward(MECH, q).R_WL[0][:2, :2] @ FORCE
    return mb.constraint_matrix(SCENE, q, qd, planar="xy").C.toarray(), (M * v_dot - F).ravel()


def told(moved: Trajectory, k: int) -> np.ndarray:
    """λ (22,) as the motion tells it, in the order of the matrix."""
    rows = mb.constraint_matrix(SCENE, planar="xy").rows
    out = []
    for name, component in rows:
        if name in MECH.pair_by_name:
            out.append(moved.reactions(name)[k][["tx", "ty", "tz", "rx", "ry", "rz"].index(component)])
        else:
            out.append(moved.multipliers(name)[k, 0])
    return np.array(out)


def smallest(C: np.ndarray, forces: np.ndarray, moved: Trajectory, k: int) -> np.ndarray:
    """λ of least norm, moments counted in characteristic lengths ℓ: rows in m are divided by ℓ."""
    rows = mb.constraint_matrix(SCENE, planar="xy").rows
    turns = np.array([component[0] == "r" for _, component in rows])
    scale = np.where(turns, 1.0, 1.0 / characteristic(moved, k))
    return scale * (np.linalg.pinv((scale[:, None] * C).T, rcond=1e-8) @ forces)


def characteristic(moved: Trajectory, k: int) -> float:
    from mbplugin.dynamics.absolute import absolute_equations

    equations = absolute_equations(MECH, moved.q[k], moved.qd[k], planar="xy", degree_of_redundancy=2)
    return float(1.0 / equations.row_scale[0])


@pytest.mark.long
@pytest.mark.parametrize("formulation", ["kkt", "projected"])
def test_the_minimum_norm_is_taken_over_the_rows_of_the_coordinates(formulation: str) -> None:
    moved = motion(coordinates="absolute", redundancy="minimum-norm", formulation=formulation)
    for k in (0, 7, len(moved.time) - 1):
        C, forces = needed(moved, k)
        found = told(moved, k)
        assert found @ C == pytest.approx(forces, abs=1e-6)
        assert found == pytest.approx(smallest(C, forces, moved, k), abs=1e-6)
    # over the closing rows alone the smallest ones are others
    joint = motion(redundancy="minimum-norm")
    assert abs(joint.multipliers("W1")[-1, 0] - moved.multipliers("W1")[-1, 0]) > 0.1


@pytest.mark.long
@pytest.mark.parametrize("coordinates", ["joint", "absolute"])
def test_dropped_rows_carry_nothing(coordinates: str) -> None:
    moved = motion(coordinates=coordinates, dropped=(18, 21))
    for k in (0, 7, len(moved.time) - 1):
        C, forces = needed(moved, k)
        kept = [i for i in range(22) if i not in (W1, W4)]
        expected = np.zeros(22)
        expected[kept] = np.linalg.lstsq(C[kept].T, forces, rcond=None)[0]
        assert np.abs(moved.multipliers("W1")[k]).max() == 0 == np.abs(moved.multipliers("W4")[k]).max()
        assert told(moved, k) == pytest.approx(expected, abs=1e-6)
    assert np.abs(motion().multipliers("W1")[-1]).max() > 0.1


@pytest.mark.long
def test_rows_of_the_tree_can_be_dropped_in_absolute_coordinates() -> None:
    # rows 6 and 21: C ty and W4, the first variant of the paper
    moved = motion(coordinates="absolute", dropped=(6, 21))
    assert np.abs(moved.reactions("C")[:, 1]).max() < 1e-12 * np.abs(moved.reactions("B")).max()
    C, forces = needed(moved, 9)
    assert told(moved, 9) @ C == pytest.approx(forces, abs=1e-6)


@pytest.mark.long
def test_unique_reactions_do_not_depend_on_the_way() -> None:
    ways: list[dict[str, Any]] = [
        {},
        {"redundancy": "minimum-norm"},
        {"coordinates": "absolute", "redundancy": "minimum-norm"},
        {"coordinates": "absolute", "redundancy": "mass-weighted"},
        {"coordinates": "absolute", "dropped": (18, 20)},
        {"coordinates": "absolute", "redundancy": "augmented", "formulation": "kkt"},
    ]
    moved = [motion(**way) for way in ways]
    for name in MECH.pair_by_name:
        for first, second in pairwise(moved):
            unique = first.uniqueness(name)
            assert first.reactions(name)[unique] == pytest.approx(second.reactions(name)[unique], abs=1e-6)


def test_a_locked_joint_makes_more_rows_redundant_than_are_dropped() -> None:
    """The slider is driven and locked: p is 3, two rows are named, and one more carries nothing."""
    lock = mb.Lock("H", at=0.1)
    ways = {"qd0": {"1.vx": 1.0}, "locks": [lock], "integrator": "rk4", "step": 0.02}
    moved = mb.simulate(SCENE, 0.2, dropped=(18, 21), **ways)
    locked = moved.time > 0.1
    assert not moved.multipliers("W1").any() and not moved.multipliers("W4").any()
    free = mb.simulate(SCENE, 0.2, **ways)
    for name in ("A", "D", "F", "H"):
        assert moved.reactions(name)[locked] == pytest.approx(free.reactions(name)[locked], abs=1e-9)
