"""Velocity constraints between a body and the ground: knife edges and rolling wheels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True, eq=False)
class KnifeEdge:
    """A point of a body that cannot move sideways (wojtyra2013 (30)); row ``side``.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    body : str
        The body that carries the edge.
    point : (3,) array
        Contact point in the link frame, m.
    direction : (3,) array
        The blocked direction in the link frame, of any length.
    """

    name: str
    body: str
    point: Array
    direction: Array

    type = "knife_edge"
    holonomic: tuple[str, ...] = ()
    nonholonomic: tuple[str, ...] = ("side",)


@one_line_repr
@dataclass(frozen=True, eq=False)
class Rolling:
    """A thin wheel that rolls on a plane: rows ``normal`` (holonomic), ``roll`` and ``side``.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    body : str
        The wheel's body.
    center, axis : (3,) array
        Wheel centre (m) and spin axis in the link frame.
    radius : float
        m.
    plane_point, plane_normal : (3,) array
        A point of the plane (m) and its upward normal, in world axes.
    """

    name: str
    body: str
    center: Array
    axis: Array
    radius: float
    plane_point: Array = field(default_factory=lambda: np.zeros(3))
    plane_normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    type = "rolling"
    holonomic: tuple[str, ...] = ("normal",)
    nonholonomic: tuple[str, ...] = ("roll", "side")


Pfaffian = KnifeEdge | Rolling
