"""The compiled least squares of stick and slip against LAPACK's."""

from __future__ import annotations

import numpy as np

from mbplugin.simulation.breaking_away import least_squares, orthogonalize


def test_it_is_the_smallest_solution_also_where_columns_depend_on_each_other() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        m, n, rank = random.integers(1, 8), random.integers(1, 8), random.integers(1, 8)
        A = 10.0 ** random.uniform(-9, 9) * random.normal(size=(m, rank)) @ random.normal(size=(rank, n))
        b = random.normal(size=m)
        expected = np.linalg.lstsq(A, b, rcond=1e-10)[0]
        assert np.allclose(
            least_squares(A, b, 1e-10), expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max()
        )


def test_columns_of_zeros_and_none_at_all() -> None:
    assert least_squares(np.zeros((3, 2)), np.ones(3), 1e-10).tolist() == [0.0, 0.0]
    assert least_squares(np.zeros((3, 0)), np.ones(3), 1e-10).tolist() == []


def test_the_factors_are_those_of_a_singular_value_decomposition() -> None:
    A = np.random.default_rng(4).normal(size=(6, 4)) * 10.0 ** np.arange(0, -12, -3)
    W, V, sigma = orthogonalize(A)
    assert np.allclose(W @ V.T, A, atol=1e-14)
    assert np.allclose(V.T @ V, np.eye(4), atol=1e-14)
    assert np.allclose(np.sort(sigma)[::-1], np.linalg.svd(A, compute_uv=False), rtol=1e-12)
