"""Work of loads, torques and dampers, by hand, in every kind of coordinates and by every formulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Load
from mbplugin.model.spatial import Pose

WAYS = [
    ("joint", "projected"),
    ("joint", "kkt"),
    ("joint", "partitioning"),
    ("absolute", "projected"),
    ("absolute", "kkt"),
]


def slider(damping: float) -> Mechanism:
    """2 kg on a line along x, no gravity."""
    X = Pose.from_xyz_rpy([0.0, 0.0, 0.0], [0.0, np.pi / 2, 0.0])
    pair = Pair("slide", "prismatic", WORLD, "block", X, X, freedoms=(Freedom(damping=damping),))
    return Mechanism(
        "slider", (Body("block", 2.0, np.zeros(3), 0.01 * np.eye(3)),), (pair,), gravity=np.zeros(3)
    )


@pytest.mark.parametrize(("coordinates", "formulation"), WAYS)
def test_a_push_does_its_work(coordinates: str, formulation: str) -> None:
    """6 N on 2 kg for 0.5 s: x = ½ 3 t² = 0.375 m, W = 2.25 J."""
    push = Load("block", np.array([6.0, 1.0, 0.0]), np.zeros(3), np.zeros(3))
    motion = mb.simulate(slider(0.0), 0.5, loads=[push], coordinates=coordinates, formulation=formulation)
    assert motion.applied[-1] == pytest.approx(2.25, rel=1e-9)
    assert motion.dissipated[-1] == 0.0


@pytest.mark.parametrize(("coordinates", "formulation"), WAYS)
def test_a_damper_takes_its_work(coordinates: str, formulation: str) -> None:
    """2 kg at 3 m/s against 4 N·s/m for 0.5 s: 9 J (1 − e⁻²) = 7.781982450 J."""
    motion = mb.simulate(slider(4.0), 0.5, qd0=[3.0], coordinates=coordinates, formulation=formulation)
    assert motion.dissipated[-1] == pytest.approx(7.781982450870, rel=1e-8)
    assert motion.applied[-1] == 0.0


@pytest.mark.parametrize(("coordinates", "formulation"), WAYS)
def test_a_controller_does_its_work(coordinates: str, formulation: str) -> None:
    """A force 6 N from a function: as the push."""
    motion = mb.simulate(
        replace(slider(0.0), name="led"),
        0.5,
        controller=lambda t, q, qd: np.array([6.0]),
        coordinates=coordinates,
        formulation=formulation,
    )
    assert motion.applied[-1] == pytest.approx(2.25, rel=1e-9)
