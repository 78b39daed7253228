"""Descents of large equations, by sparse factors: the steps and the poses of dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from benchmark_mechanisms import n_four_bar
from command_line import ASSETS
from mbplugin.constraints import DEFAULT_TOLERANCE, descent as jacobians
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.closure import Closure
from mbplugin.constraints.descent import Jacobians, Pattern, damped_steps, shortest_step
from mbplugin.model.spatial import Array
from places import ORACLES
from random_mechanisms import loop_mechanism


def perturbed(mech: mb.Mechanism, q: Array, seed: int, size: float = 0.05) -> Array:
    closure = Closure(mech, q)
    return closure.displaced(q, size * np.random.default_rng(seed).normal(size=len(closure.units)))


def sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jacobians, "LARGEST_DENSE", -1)


def full(J: Array) -> Jacobians:
    count, width = J.shape
    return Jacobians(Pattern(J.shape, [(slice(0, count), np.arange(width))]), J.reshape(1, -1))


def assert_same_pose(mech: mb.Mechanism, q: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    dense = assemble(mech, q)
    sparse(monkeypatch)
    found = assemble(mech, q)
    assert found.worst <= max(1e-9, 1.01 * dense.worst)
    np.testing.assert_allclose(found.q, dense.q, rtol=0, atol=1e-9)
    assert (found.starts, found.degenerate) == (dense.starts, dense.degenerate)


@pytest.mark.long_after(10)
@pytest.mark.parametrize("file", sorted(ORACLES.glob("*.sdf")), ids=lambda file: file.stem)
def test_the_oracles_close_to_the_same_pose(file, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = mb.load(file)
    q = assemble(scene.mechanism, scene.state.q).q
    # some close only because their lengths are special: on the way the last singular value passes the tolerance
    assert_same_pose(scene.mechanism, perturbed(scene.mechanism, q, 3), monkeypatch)


@pytest.mark.bullet
@pytest.mark.parametrize("given", [True, False])
def test_what_only_small_singular_values_could_close_stays_open(
    given: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rounded legs of the Minitaur miss by 1e-5 m, with a singular value of 0.4 times the tolerance."""
    scene = mb.load(ASSETS / "minitaur.scene.toml")
    q = scene.state.q
    q = q if given else perturbed(scene.mechanism, assemble(scene.mechanism, q).q, 3)
    assert_same_pose(scene.mechanism, q, monkeypatch)


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
@pytest.mark.parametrize("seed", range(3))
def test_random_mechanisms_close_to_the_same_pose(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mech, q = loop_mechanism(seed, 2 + seed, kind)
    assert_same_pose(mech, perturbed(mech, q, seed), monkeypatch)


@pytest.mark.long
def test_many_coupled_loops_close_to_the_same_pose(monkeypatch: pytest.MonkeyPatch) -> None:
    mech, q, _ = n_four_bar(30)
    assert_same_pose(mech, perturbed(mech, q, 5), monkeypatch)


def test_the_equations_of_many_loops_are_large() -> None:
    mech, q, _ = n_four_bar(110)
    closure = Closure(mech, q)
    (component,) = closure.components
    J, _ = closure.system(component).linearised(perturbed(mech, q, 5)[None])
    assert J.large
    # eight entries at most of each row, however many loops there are
    assert J.values.shape[1] <= 8 * J.pattern.shape[0]


@pytest.mark.parametrize("smallest", [0.9, 0.5, 1e-3, 1e-12])
@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (6, 6)])
def test_the_shortest_step_is_that_of_the_pseudoinverse(
    shape: tuple[int, int], smallest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three singular values count, one does not, though it is not rounding; the right-hand side is not in the range."""
    rng = np.random.default_rng(1)
    U, V = (np.linalg.qr(rng.normal(size=(n, n)))[0] for n in shape)
    sigma = 2.0 * np.array([1.0, 0.5, 1.1 * DEFAULT_TOLERANCE, smallest * DEFAULT_TOLERANCE])
    J, rhs = U[:, :4] * sigma @ V[:, :4].T, rng.normal(size=shape[0])
    sparse(monkeypatch)
    expected = np.linalg.pinv(J, rcond=DEFAULT_TOLERANCE) @ rhs
    assert np.linalg.norm(shortest_step(full(J), rhs) - expected) < 1e-9 * np.linalg.norm(expected)


def test_a_small_loop_beside_a_large_one_moves_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that share nothing have each their own tolerance; what has no slope stays."""
    pattern = Pattern((3, 3), [(slice(k, k + 1), np.array([k])) for k in range(3)])
    J, rhs = Jacobians(pattern, np.array([[1.0, 1e-8, 1e-200]])), np.array([1.0, 1e-8, 1.0])
    sparse(monkeypatch)
    np.testing.assert_allclose(shortest_step(J, rhs), [1.0, 1.0, 0.0], atol=1e-9)


def test_damped_steps_and_ranks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    pattern = Pattern((8, 5), [(slice(0, 5), np.array([0, 2])), (slice(5, 8), np.array([1, 2, 4]))])
    J = Jacobians(pattern, rng.normal(size=(3, 19)))
    J.values[1, 10:] = 0.0
    Phi, damping = 0.1 * rng.normal(size=(3, 8)), np.array([1e-2, 1e-5, 1e-9])
    steps, ranks = damped_steps(J, Phi, damping), J.ranks()
    assert ranks.tolist() == [4, 2, 4]
    sparse(monkeypatch)
    np.testing.assert_allclose(damped_steps(J, Phi, damping), steps, rtol=1e-6, atol=1e-9)
    assert J.ranks().tolist() == [4, 2, 4]


def test_a_wave_along_a_long_chain_is_no_misfit() -> None:
    """All of 20 000 unknowns have to move a little: the singular value is π/40 000 of the largest."""
    n = 20_000
    pattern = Pattern((n - 1, n), [(slice(k, k + 1), np.array([k, k + 1])) for k in range(n - 1)])
    J = Jacobians(pattern, np.tile([-1.0, 1.0], n - 1)[None])
    wave = np.cos(np.pi * (np.arange(n) + 0.5) / n)
    assert J.large
    np.testing.assert_allclose(shortest_step(J, np.diff(wave)), wave, rtol=0, atol=1e-6)
