"""Stacked linear programs against HiGHS, and bounds by both solvers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import mbplugin as mb
from mbplugin.joint_reactions import cones
from mbplugin.joint_reactions.simplex import least, polyhedra
from mbplugin.model.mechanism import Body, Mechanism


def programs(rng, count, rows, columns, degenerate, dependent):
    """Return E, e and c of feasible programs; some with unbounded costs, degenerate vertices and dependent rows."""
    E = rng.normal(size=(count, rows, columns))
    E[:, :, ::2] = np.abs(E[:, :, ::2])
    w = rng.uniform(0, 1, (count, columns))
    if degenerate:
        w[:, rows // 2 :] = 0.0
    if dependent:
        E[:, -1] = E[:, 0] - 2 * E[:, 1]
    # costs with prices that prove a least value, but for each fifth program
    c = np.einsum("krn,kr->kn", E, rng.normal(size=(count, rows))) + rng.uniform(0, 1, (count, columns))
    c[::5] = rng.normal(size=c[::5].shape)
    return E, np.einsum("krn,kn->kr", E, w), c


@pytest.mark.long_after(2)
@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(3, 12), (6, 64), (14, 40)])
def test_stacked_programs_have_the_values_of_highs(rows, columns, degenerate, dependent):
    rng = np.random.default_rng(rows + 100 * degenerate + 10 * dependent)
    E, e, c = programs(rng, 60, rows, columns, degenerate, dependent)
    start = polyhedra(E, e)
    assert start.missing.max() < 1e-9
    found = least(start, np.arange(60), c)
    assert found.solved.all()
    bounded = 0
    for k in range(60):
        other = linprog(c[k], A_eq=E[k], b_eq=e[k], bounds=(0, None), method="highs")
        if other.status == 3:
            assert found.value[k] == -np.inf
            continue
        bounded += 1
        assert found.value[k] == pytest.approx(other.fun, abs=1e-9)
        assert found.w[k].min() > -1e-9 and np.abs(E[k] @ found.w[k] - e[k]).max() < 1e-9
        # reduced costs prove that no other point is better
        assert found.reduced[k].min() > -1e-8 and abs(found.reduced[k] @ found.w[k]) < 1e-8
    assert bounded >= 48


def test_an_empty_polyhedron_says_what_is_missing():
    E = np.array([[[1.0, 2.0], [1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]]])
    start = polyhedra(E, np.array([[1.0, 1.25], [1.0, -0.5]]))
    assert start.missing == pytest.approx([0.25, 0.5])


def test_a_further_column_moves_the_vertex():
    # w0 + w1 = 1 and w0 = s: the largest s is 1
    start = polyhedra(np.array([[[1.0, 1.0], [1.0, 0.0]]]), np.array([[1.0, 0.0]]))
    found = least(start, np.zeros(1, int), np.array([[0.0, 0.0, -1.0]]), np.array([[0.0, -1.0]]))
    assert found.value == pytest.approx([-1.0]) and found.w[0] == pytest.approx([1.0, 0.0, 1.0])


@pytest.mark.long
def test_a_general_solver_gives_the_same_bounds(monkeypatch):
    mech, contacts = wall()
    small = mb.reactions(mech, contacts=contacts)
    monkeypatch.setattr(cones, "_LARGE", 0)
    large = mb.reactions(mech, contacts=contacts)
    pairs = [
        (getattr(a, end), getattr(b, end))
        for one, other in zip(small.constraints, large.constraints, strict=True)
        for a, b in zip(one.components, other.components, strict=True)
        for end in ("lower", "upper")
    ]
    assert len(pairs) == 2 * 3 * len(contacts) and sum(a is None for a, _ in pairs) == 0
    assert np.array([a for a, _ in pairs]) == pytest.approx(np.array([b for _, b in pairs]), abs=1e-8)
    assert small.standing.sideways == pytest.approx(large.standing.sideways, abs=1e-9)


def wall():
    """Return two bricks and a third on both, with two points of contact on each."""
    centers = {"left": (0.0, 0.05), "right": (0.2, 0.05), "top": (0.1, 0.15)}
    bodies = tuple(Body(name, 1.0, np.array([x, 0, z]), 1e-3 * np.eye(3)) for name, (x, z) in centers.items())
    places = [("left", "world", -0.08), ("left", "world", 0.08), ("right", "world", 0.12)]
    places += [("right", "world", 0.28), ("top", "left", 0.02), ("top", "right", 0.18)]
    contacts = [
        mb.Contact(
            f"{name} {x} {y}",
            name,
            np.array([x, y, centers[name][1] - 0.05]),
            np.array([0, 0, 1.0]),
            0.5,
            below,
        )
        for name, below, x in places
        for y in (-0.04, 0.04)
    ]
    return Mechanism("wall", bodies), contacts
