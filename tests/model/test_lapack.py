"""LAPACK's routines without scipy.linalg give what scipy.linalg gives."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.linalg

from mbplugin.model.spatial import pivoted_qr, pivots, solve_triangular

SHAPES = [(5, 3), (3, 5), (4, 4), (0, 3), (3, 0), (1, 1), (40, 30), (200, 150)]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_factors_are_those_of_scipy(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(0).normal(size=shape)
    for found, expected in zip(pivoted_qr(A), scipy.linalg.qr(A, pivoting=True), strict=True):
        assert np.array_equal(found, expected)
    R, order = scipy.linalg.qr(A, mode="r", pivoting=True)
    assert np.array_equal(pivots(A)[0], np.abs(np.diag(R)))
    assert np.array_equal(pivots(A)[1], order)


@pytest.mark.parametrize("lower", [True, False])
def test_triangular_systems_are_solved(lower: bool) -> None:
    rng = np.random.default_rng(1)
    A = (np.tril if lower else np.triu)(rng.normal(size=(6, 6)) + 6 * np.eye(6))
    B = rng.normal(size=(6, 2))
    assert solve_triangular(A, B, lower=lower) == pytest.approx(np.linalg.solve(A, B), abs=1e-12)
    transposed = solve_triangular(A, B[:, 0], lower=lower, transposed=True)
    assert transposed == pytest.approx(np.linalg.solve(A.T, B[:, 0]), abs=1e-12)


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="infs or NaNs"):
        pivots(np.array([[1.0, np.nan]]))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="SciPy's package names the folder of its libraries there")
def test_scipy_is_not_imported_and_can_be_afterwards() -> None:
    code = (
        "import sys, numpy as np; from mbplugin.model.spatial import pivots; pivots(np.eye(2));"
        "assert 'scipy' not in sys.modules; import scipy.linalg;"
        "assert scipy.linalg.lapack._flapack is sys.modules['scipy.linalg._flapack'];"
        "print(scipy.linalg.qr(2 * np.eye(2), mode='r')[0][0, 0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert abs(float(done.stdout)) == 2.0
