"""A rate that others undo moves no mass, also where rounding leaves something of it."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.tree_model import _rigid, joint_equations, tree_model, without_mass
from mbplugin.errors import BrokenModel
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import displace, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, align_z
from models import chain

AXIS = np.array([0.933984752552, 0.00842208783968, 0.838663318979])


def slide(root_mass: float, axis: Array = AXIS) -> Mechanism:
    """A free body, and a block of 5 kg on a skew slide of it, off the line of the slide."""
    at = Pose(align_z(axis), np.array([0.1, 0.2, 0.3]))
    bodies = (
        Body("root", root_mass, np.array([0.0, 0.02, 0.0]), root_mass * 0.01 * np.eye(3)),
        Body("block", 5.0, np.array([0.3, -0.2, 0.1]), np.diag([0.1, 0.2, 0.25])),
    )
    return Mechanism("slide", bodies, (Pair("s", "prismatic", "root", "block", at, at),))


def test_a_massless_free_root_under_a_slide_is_refused() -> None:
    # of some directions, rounding leaves 1e-16 kg
    for axis in np.random.default_rng(2).normal(size=(20, 3)):
        with pytest.raises(BrokenModel, match="moves no mass"):
            mb.simulate(slide(0.0, axis), 0.01)
        with pytest.raises(BrokenModel, match="moves no mass"):
            joint_equations(slide(0.0, axis), home(slide(0.0)), np.zeros(7))


@pytest.mark.parametrize("mass", [1e-8, 1.0])
def test_a_light_root_is_none_without_mass(mass: float) -> None:
    model = tree_model(slide(mass), AppliedForces())
    model.evaluate(home(slide(mass)), np.zeros(7))
    assert not without_mass(model.composites, model.rates).any()


@pytest.mark.parametrize("pair_type", ["revolute", "cylindrical", "spherical"])
def test_what_lies_outwards_is_the_diagonal_of_the_mass_matrix(pair_type: str) -> None:
    rng = np.random.default_rng(5)
    mech, q = chain(5, pair_type, rng)
    q = displace(mech, q, rng.normal(size=len(mech.qd_names)))
    qd = np.zeros(len(mech.qd_names))
    model = tree_model(mech, AppliedForces())
    model.evaluate(q, qd)
    expected = np.diag(joint_equations(mech, q, qd).M)
    np.testing.assert_allclose(_rigid(model.composites, model.rates), expected, rtol=1e-10)
