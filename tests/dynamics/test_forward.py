"""One call for q̈ of a tree, against the equations it stands for."""

from __future__ import annotations

import numpy as np
import pytest

from mbplugin.dynamics.tree_model import ForwardDynamics, joint_equations
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.kinematics import displace
from models import chain, four_bar


@pytest.mark.parametrize("pair_type", ["revolute", "cylindrical", "spherical"])
def test_solves_the_equations(pair_type: str) -> None:
    rng = np.random.default_rng(3)
    mech, q = chain(5, pair_type, rng)
    nv = len(mech.qd_names)
    forward = ForwardDynamics(mech)
    for _ in range(3):
        q, qd = displace(mech, q, rng.normal(size=nv)), rng.normal(size=nv)
        made = joint_equations(mech, q, qd)
        np.testing.assert_allclose(made.M @ forward(q, qd), made.F, atol=1e-9 * np.abs(made.F).max())


def test_refuses_a_loop() -> None:
    with pytest.raises(BadUsage, match="closes the tree"):
        ForwardDynamics(four_bar()[0])
