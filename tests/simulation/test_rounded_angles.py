"""Loops that cannot close, since the angles of their file are rounded: no tolerance of the integrator helps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin import readers
from places import ASSETS

pytest.importorskip("pybullet_data")


def runs(snap: bool, rtol: float) -> tuple[Any, Any]:
    """Return a fifth of a second of the Minitaur in joint and in absolute coordinates."""
    scene = readers.load(ASSETS / "minitaur.scene.toml", snap_angles=snap)
    joint, absolute = (
        mb.simulate(scene, 0.2, rtol=rtol, atol=rtol, coordinates=kind) for kind in ("joint", "absolute")
    )
    return joint, absolute


def imbalance(motion: Any) -> float:
    """Return by how much energy and work differ at most, J."""
    balance = motion.energy + motion.dissipated - motion.applied - motion.driven
    return float(np.abs(balance - balance[0]).max())


@pytest.mark.long
@pytest.mark.no_invariants("the energy balance stays open by what the gap costs")
def test_the_gap_of_rounded_angles_remains_at_every_tolerance() -> None:
    for rtol in (1e-6, 1e-9):
        joint, absolute = runs(False, rtol)
        assert max(joint.residuals.values()) == pytest.approx(9.6e-6, rel=0.01)
        assert np.abs(joint.q[-1] - absolute.q[-1]).max() == pytest.approx(1.55e-8, rel=0.02)
        assert imbalance(absolute) == pytest.approx(1.05e-8, rel=0.02)
    joint, absolute = runs(True, 1e-6)
    assert max(joint.residuals.values()) < 1e-12
    assert np.abs(joint.q[-1] - absolute.q[-1]).max() < 1e-12
    assert imbalance(absolute) < 1e-12
