"""The banded factorization and the independent rows of sparse bases, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from mbplugin.constraints.sparse_qr import banded_factor
from mbplugin.joint_reactions.statics import independent_rows
from mbplugin.model.spatial import Array


def chain(links: int, seed: int) -> Array:
    """Rows (5 links, 2 links) that each touch the unknowns of two neighbouring links, in any order."""
    rng = np.random.default_rng(seed)
    A = np.zeros((5 * links, 2 * links))
    for k in range(links):
        own = np.arange(2 * k, min(2 * k + 4, 2 * links))
        A[5 * k : 5 * k + 5, own] = rng.normal(size=(5, len(own)))
    return A[rng.permutation(len(A))][:, rng.permutation(2 * links)]


@pytest.mark.parametrize("links", [1, 3, 60])
def test_the_solution_is_that_of_least_squares_with_gaps(links: int) -> None:
    A, rng = chain(links, links), np.random.default_rng(7)
    rhs, gaps = rng.normal(size=len(A)), rng.normal(size=A.shape[1])
    y = banded_factor(csr_array(A), rhs).solution(gaps)
    assert A.T @ (rhs - A @ y) + gaps == pytest.approx(0.0, abs=1e-11)


@pytest.mark.parametrize("links", [1, 3, 200])
def test_the_rows_of_the_inverse_have_the_products_of_the_inverse_square(links: int) -> None:
    A = chain(links, links)
    G = banded_factor(csr_array(A), np.zeros(len(A))).inverse()
    assert (G @ G.T).toarray() == pytest.approx(np.linalg.inv(A.T @ A), abs=1e-12)
    # what has faded is not kept: a row has as many entries however long the chain is
    assert links < 200 or G.nnz < 60 * A.shape[1]


@pytest.mark.long
def test_an_inverse_that_does_not_fade_is_whole() -> None:
    """The differences of neighbours have sums as their inverse: all of its triangle."""
    A = np.eye(300) - np.eye(300, k=1)
    G = banded_factor(csr_array(A), np.zeros(300)).inverse()
    assert (G @ G.T).toarray() == pytest.approx(np.linalg.inv(A.T @ A), rel=1e-9)


def test_rows_of_very_different_size_keep_their_digits() -> None:
    A = chain(30, 1) * 10.0 ** np.random.default_rng(2).uniform(-6, 6, 150)[:, None]
    y = np.random.default_rng(3).normal(size=60)
    assert banded_factor(csr_array(A), A @ y).solution(np.zeros(60)) == pytest.approx(y, rel=1e-8)


@pytest.mark.parametrize("smallest", [1.0, 1e-4, 1e-12])
def test_the_smallest_singular_value_is_found(smallest: float) -> None:
    A = chain(40, 5)
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    sigma[-1] = min(smallest, sigma[-1])
    found = banded_factor(csr_array(U @ np.diag(sigma) @ Vt), np.zeros(200)).smallest()
    assert 0.9 * sigma[-1] - 1e-14 < found < 1.1 * sigma[-1] + 1e-14


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        banded_factor(csr_array(chain(20, 1)[:30]), np.zeros(30))


def test_all_rows_are_combinations_of_independent_ones() -> None:
    B = chain(50, 9)
    pivots, T = independent_rows(csr_array(B))
    assert len(set(pivots.tolist())) == B.shape[1]
    assert T @ B[pivots] == pytest.approx(B, abs=1e-9)
    assert abs(T).max() < 100
