"""Coordinate partitioning: the projective criterion of blajer1994 and the change of coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkage import LENGTHS, Linkage
from mbplugin.dynamics.formulations import (
    Equations,
    best_coordinates,
    eliminate,
    independent_coordinates,
    partition,
    partitioning,
    pivoted_coordinates,
    solve,
    tangents,
)
from mbplugin.errors import BadUsage
from mbplugin.model.spatial import Array
from mbplugin.studies.elimination import SCHEMES, complementary_cos_squared, cos_squared, forces_of

#: Links alike, and a coupler that is as heavy as a flywheel.
ALIKE, HEAVY_COUPLER = Linkage((1.0, 2.0, 2.0)), Linkage((1.0, 40.0, 2.0))
TURN = np.linspace(0.0, 2 * np.pi, 73)


def criterion(equations: Equations) -> Array:
    return cos_squared(equations, eliminate(equations))


def over_a_turn(linkage: Linkage) -> Array:
    """cos²αᵢ (73, 3) of the three angles."""
    return np.array([criterion(linkage.equations(linkage.closed(a), np.zeros(3))) for a in TURN])


def pendulum(mass: float, J: float, rho: float, gamma: float) -> Equations:
    """A physical pendulum in x, y, γ (blajer1994 (24)), hanging from the origin, x down."""
    s, c = np.sin(gamma), np.cos(gamma)
    M = np.diag([mass, mass, J])
    return Equations(
        "absolute",
        (("pin", "tx"), ("pin", "ty")),
        np.zeros(3),
        M,
        np.array([9.81 * mass, 0.0, 0.0]),
        np.array([[1.0, 0.0, rho * s], [0.0, 1.0, -rho * c]]),
        np.zeros(2),
        np.zeros(2),
        np.full(2, 1 / rho),
        np.array([rho, rho, 1.0]),
        0,
        lambda rhs: np.linalg.solve(M, rhs),
    )


@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.1, 2.0, -2.5])
def test_pendulum_criterion(gamma: float) -> None:
    """blajer1994 (26)."""
    mass, J, rho = 3.0, 0.7, 0.6
    share = mass * rho**2 / (mass * rho**2 + J)
    expected = [share * np.sin(gamma) ** 2, share * np.cos(gamma) ** 2, J / (mass * rho**2 + J)]
    assert criterion(pendulum(mass, J, rho, gamma)) == pytest.approx(expected, rel=1e-12)


def test_the_best_coordinate_of_a_pendulum_turns_with_it() -> None:
    """With little inertia of its own: y near the lowest point, x a quarter turn later; else the angle."""
    for gamma, J, best in [(0.2, 1e-3, 1), (1.4, 1e-3, 0), (0.2, 10.0, 2)]:
        equations = pendulum(1.0, J, 1.0, gamma)
        assert independent_coordinates(equations, eliminate(equations)).tolist() == [best]


def test_a_mathematical_pendulum_is_left_where_a_coordinate_stands_still() -> None:
    """cos²α_x = 0 at γ = 0: x cannot be independent there."""
    equations = pendulum(1.0, 0.5, 1.0, 0.0)
    assert criterion(equations)[0] == pytest.approx(0, abs=1e-15)
    with pytest.raises(BadUsage, match="depend on each other"):
        partition(eliminate(equations), np.array([0]))
    with pytest.raises(BadUsage, match="expected 1"):
        partition(eliminate(equations), np.array([0, 1]))


def test_the_linkage_is_closed() -> None:
    for crank in TURN:
        for branch in (1, -1):
            assert ALIKE.tip(ALIKE.closed(crank, branch)) == pytest.approx([LENGTHS[0], 0], abs=1e-12)


@pytest.mark.parametrize("linkage", [ALIKE, HEAVY_COUPLER])
def test_both_forms_of_the_criterion_are_one(linkage: Linkage) -> None:
    for crank in TURN:
        equations = linkage.equations(linkage.closed(crank), np.zeros(3))
        sum_of_both = criterion(equations) + complementary_cos_squared(equations, eliminate(equations))
        assert sum_of_both == pytest.approx(1.0, rel=1e-9)


def test_the_tangent_of_the_linkage_is_that_of_the_paper() -> None:
    """D = [1, −X, Y] of blajer1994 (43), with the sign that its misprint lacks."""
    l0, l1, l2, l3 = LENGTHS
    a1, a2, a3 = ALIKE.closed(0.7)
    X = (l0 * l1 * np.cos(a1) + l0 * l2 * np.cos(a1 + a2)) / (l2 * l3 * np.sin(a3))
    Y = l0 * l1 * np.cos(a1) / (l2 * l3 * np.sin(a3))
    equations = ALIKE.equations(np.array([a1, a2, a3]), np.zeros(3))
    H = partition(eliminate(equations), np.array([0])).H
    assert H[:, 0] == pytest.approx([1, -X, Y], rel=1e-12)


@pytest.mark.parametrize("linkage", [ALIKE, HEAVY_COUPLER])
def test_criterion_over_a_turn(linkage: Linkage) -> None:
    """As in Fig. 3 of blajer1994: α₃ is singular at π/2 and 3π/2, α₁ and α₂ serve everywhere."""
    values = over_a_turn(linkage)
    at = {round(float(np.degrees(a))): row for a, row in zip(TURN, values, strict=True)}
    assert at[90][2] == pytest.approx(0, abs=1e-12) and at[270][2] == pytest.approx(0, abs=1e-12)
    assert values[:, :2].min() > 0.01
    assert sum(row[2] < 1e-9 for row in at.values()) == 2


def test_the_best_coordinate_depends_on_the_masses_but_not_its_geometric_choice() -> None:
    """Where a singular value decomposition chooses by geometry alone, the criterion sees the masses."""
    alike, heavy = over_a_turn(ALIKE), over_a_turn(HEAVY_COUPLER)
    assert np.abs(alike - heavy).max() > 0.1
    # neither α₁ nor α₂ is the best over the whole turn
    assert set(alike.argmax(axis=1)) == {0, 1}
    assert (alike.argmax(axis=1) != heavy.argmax(axis=1)).any()
    for crank in TURN:
        chosen = []
        for linkage in (ALIKE, HEAVY_COUPLER):
            equations = linkage.equations(linkage.closed(crank), np.zeros(3))
            chosen.append(pivoted_coordinates(equations, eliminate(equations)).tolist())
        assert chosen[0] == chosen[1]


@pytest.mark.long
def test_a_coordinate_is_kept_while_good_and_changed_before_it_fails() -> None:
    """α₂ of a linkage with a heavy crank, whose criterion falls to a sixth of that of α₁."""
    linkage = Linkage((40.0, 2.0, 2.0))
    current, sets = np.array([1]), []
    for crank in np.linspace(np.pi / 2, 2.5 * np.pi, 361):
        equations = linkage.equations(linkage.closed(crank), np.zeros(3))
        values = criterion(equations)
        following = independent_coordinates(equations, eliminate(equations), current)
        assert values[following[0]] >= 0.5 * values.max()
        assert (following[0] == current[0]) == (values[current[0]] >= 0.5 * values.max())
        current = following
        sets.append(int(current[0]))
    assert sets == sorted(sets, reverse=True) and set(sets) == {0, 1}


@pytest.mark.long
def test_accelerations_do_not_jump_where_the_independent_coordinate_changes() -> None:
    """Turns of the crank in time, by Runge–Kutta steps in whatever coordinate is the best: energy stays."""
    linkage = replace(ALIKE, gravity=9.81)
    alpha = linkage.closed(0.3)
    state = np.concatenate((alpha, linkage.rates(alpha, 8.0)))
    current, used, step = np.array([0]), set(), 1e-3
    energy, largest = linkage.energy(state[:3], state[3:]), 0.0

    def slope(x: Array) -> Array:
        equations = linkage.equations(x[:3], x[3:])
        return np.concatenate((x[3:], partitioning(equations, eliminate(equations), current).v_dot))

    for _ in range(1200):
        equations = linkage.equations(state[:3], state[3:])
        constraints = eliminate(equations)
        best = independent_coordinates(equations, constraints)
        if best[0] != current[0]:
            before, after = (partitioning(equations, constraints, c).v_dot for c in (current, best))
            largest = max(largest, float(np.abs(after - before).max() / np.abs(after).max()))
            current = best
        used.add(int(current[0]))
        k1 = slope(state)
        k2 = slope(state + step / 2 * k1)
        k3 = slope(state + step / 2 * k2)
        state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + slope(state + step * k3))
    assert state[0] > 2 * np.pi and used == {0, 1}
    assert largest < 1e-10
    assert linkage.energy(state[:3], state[3:]) == pytest.approx(energy, rel=1e-7)
    assert linkage.tip(state[:3]) == pytest.approx([LENGTHS[0], 0], abs=1e-6)


def test_several_coordinates_are_chosen_together() -> None:
    """Two twins and three triplets: the twins have the larger criterion, but only one of them is free."""
    M = np.eye(5)
    geared = Equations(
        "joint",
        (("twins", "c"), ("triplets 1", "c"), ("triplets 2", "c")),
        np.zeros(5),
        M,
        np.arange(1.0, 6.0),
        np.array([[1.0, -1, 0, 0, 0], [0, 0, 1, -1, 0], [0, 0, 0, 1, -1]]),
        np.zeros(3),
        np.zeros(3),
        np.ones(3),
        np.ones(5),
        0,
        lambda rhs: np.linalg.solve(M, rhs),
    )
    constraints = eliminate(geared)
    assert criterion(geared) == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])
    twin, triplet = best_coordinates(tangents(geared, constraints))
    assert twin in (0, 1) and triplet in (2, 3, 4)
    # a pair with 1 + 2 shared, three with 3 + 4 + 5
    assert partitioning(geared, constraints).v_dot == pytest.approx([1.5, 1.5, 4, 4, 4])


def test_the_force_at_the_cut_joint() -> None:
    """B of blajer1994 (44), three schemes, and closing conditions Ĉ = [−A, I] (31) that distribute by it."""
    linkage = replace(ALIKE, gravity=9.81)
    l0, l1, l2, _ = LENGTHS
    alpha = linkage.closed(2.1)
    a1, a2 = alpha[0], alpha[0] + alpha[1]
    x, y = np.array([0.0, l1 * np.sin(a1), l1 * np.sin(a1) + l2 * np.sin(a2)]), np.zeros(3)
    y[1:] = [-l1 * np.cos(a1), -l1 * np.cos(a1) - l2 * np.cos(a2)]
    B = np.array([y, x - l0])
    equations = linkage.equations(alpha, linkage.rates(alpha, 3.0))
    assert np.abs(equations.C - B).max() < 1e-12
    parts = partition(eliminate(equations), np.array([0]))
    closing = replace(
        equations, C=np.column_stack((-parts.H[1:], np.eye(2))), Gamma=parts.xi[1:], row_scale=np.ones(2)
    )
    expected = solve(equations, "kkt").multipliers
    reaction = B.T @ expected
    for scheme in SCHEMES:
        assert forces_of(equations, scheme=scheme) == pytest.approx(expected, rel=1e-9)
        assert forces_of(closing, B, scheme) == pytest.approx(expected, rel=1e-9)
    others = solve(closing, "kkt").multipliers
    assert closing.C.T @ others == pytest.approx(reaction, rel=1e-9)
    assert others != pytest.approx(expected, rel=0.1)
