"""A step in which nothing changes but by rounding is refused: it gave null coordinates and exit code 0."""

from __future__ import annotations

import pytest

from command_line import ASSETS, call

BAR = str(ASSETS / "four_bar.scene.toml")


@pytest.mark.parametrize("integrator", ["variational", "rk4", "dop853"])
def test_a_step_below_rounding_is_refused(integrator: str) -> None:
    done = call("simulate", BAR, "--duration", "0.01", "--integrator", integrator, "--step", "1e-300")
    assert done.code == 2 and "at least 1e-13 s" in done.err and done.out == ""
