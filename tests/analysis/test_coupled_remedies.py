"""Remedies of loops whose joints a coupling names: a type without the freedom that it names is no remedy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose


def slider_crank() -> Mechanism:
    """A slider-crank in the plane zx; couplings hold its joints by the freedoms that they name."""
    ends = {"crank": (0.0, 0.0, 0.2), "rod": (0.4, 0.0, 0.0)}
    bodies = tuple(Body(name, 1.0, np.zeros(3), 0.01 * np.eye(3)) for name in ("crank", "rod", "slider"))

    def hinge(name: str, a: str, at: tuple[float, float, float], b: str) -> Pair:
        y = (0.0, 1.0, 0.0)
        return Pair(name, "revolute", a, b, Pose.from_xyz_axis(at, y), Pose.from_xyz_axis((0, 0, 0), y))

    x = (1.0, 0.0, 0.0)
    guide = Pair(
        "guide",
        "prismatic",
        mb.WORLD,
        "slider",
        Pose.from_xyz_axis((0.4, 0, 0.2), x),
        Pose.from_xyz_axis((0, 0, 0), x),
    )
    pairs = (
        hinge("main", mb.WORLD, (0, 0, 0), "crank"),
        hinge("pin", "crank", ends["crank"], "rod"),
        guide,
        replace(hinge("end", "rod", ends["rod"], "slider"), closure=True),
    )
    named = {"main": "rz", "pin": "rz", "guide": "tz", "end": "rz"}
    couplings = tuple(
        Coupling(f"of {joint}", "mimic", (Term(joint, free, 1.0),)) for joint, free in named.items()
    )
    return Mechanism("slider-crank", bodies, pairs, couplings=couplings)


@pytest.mark.parametrize("planar", [None, "zx"])
def test_joints_that_couplings_name_are_judged_without_a_traceback(planar: str | None) -> None:
    """Their weaker types may lack the freedom that is named."""
    analysis = mb.analyze(slider_crank(), planar=planar)
    assert analysis.remedies == ()
    assert {obstacle.constraint for obstacle in analysis.obstacles} <= {"main", "pin", "guide", "end"}


def test_a_coupling_of_nothing_is_refused() -> None:
    """It has no row: what its length would scale is zero."""
    mech = slider_crank()
    nothing = Coupling("idle", "gear", (Term("main", "rz", 0.0), Term("pin", "rz", 0.0)))
    with pytest.raises(BrokenModel, match="coupling 'idle' has only coefficients of zero"):
        replace(mech, couplings=(nothing,))
