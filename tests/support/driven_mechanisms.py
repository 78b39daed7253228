"""Mechanisms whose motion between samples is known by hand."""

from __future__ import annotations

import numpy as np

import mbplugin as mb
from command_line import ASSETS
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, align_z

FOUR_BAR = mb.load(ASSETS / "four_bar.scene.toml")


def sliders(second: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> Mechanism:
    """10 kg along x, 1 kg on it along ``second``; no gravity."""
    along = Pose(align_z(np.array([1.0, 0.0, 0.0])), np.zeros(3))
    other = Pose(along.R.T @ align_z(np.array(second)), np.zeros(3))
    bodies = tuple(Body(name, m, np.zeros(3), 0.1 * np.eye(3)) for name, m in (("a", 10.0), ("b", 1.0)))
    pairs = (
        Pair("x", "prismatic", WORLD, "a", along, Pose.identity()),
        Pair("y", "prismatic", "a", "b", other, Pose.identity()),
    )
    return Mechanism("sliders", bodies, pairs, gravity=np.zeros(3))


def ramp(v: float, a: float, t: Array) -> tuple[Array, Array, Array]:
    """Led to rest from the rate v at the deceleration a: coordinate, rate, acceleration."""
    s = np.minimum(t, v / a)
    return v * s - a * s**2 / 2, v - a * s, np.where(t < v / a, -a, 0.0)
