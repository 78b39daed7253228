"""Kinematic pairs: which relative motions are allowed between two bodies, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from math import inf

import numpy as np

from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.spatial import COMPONENTS, Array, Pose, align_z, cross, unit
from mbplugin.phrases import one_line_repr


class RowKind(Enum):
    """What a component of a pair measures; the rows of every program part are made from it."""

    #: A travel or a turn along an axis of the predecessor's joint frame.
    AXIS = "axis"
    #: A turn about an axis that the successor carries.
    CARRIED = "carried"
    #: The angle between the predecessor's x and the successor's y, about their cross product.
    CROSSED = "crossed"
    #: The travel of a screw less that of its turn.
    SCREW = "screw"
    #: The distance of two points.
    DISTANCE = "distance"


@dataclass(frozen=True)
class PairType:
    """What a kind of pair constrains and what it leaves free (wojtyra2013 §2.1).

    Parameters
    ----------
    name : str
        The name used in files and reports.
    constrained : tuple of str
        Labels of its rows, in the predecessor frame.
    free : tuple of str
        Labels of its freedoms, in the order of its joint rates.
    kinds : mapping of str to RowKind
        Of the components that are not along an axis of the predecessor.
    """

    name: str
    constrained: tuple[str, ...]
    free: tuple[str, ...]
    kinds: Mapping[str, RowKind] = field(default_factory=dict, hash=False)

    @property
    def has_coordinates(self) -> bool:
        """Whether its freedoms are all there are, so that a tree can run through it."""
        return len(self.constrained) + len(self.free) == len(COMPONENTS)

    def row_kind(self, component: str) -> RowKind:
        """Return what a component measures."""
        return self.kinds.get(component, RowKind.AXIS)


#: Directions with a cosine nearer to one are the same.
_PARALLEL = 1e-9


def _without(*free: str) -> tuple[str, ...]:
    return tuple(component for component in COMPONENTS if component not in free)


#: Every pair type by name. z is the joint axis; a universal joint turns first about the
#: predecessor's x, then about the successor's y; its row ``rz`` lies along their cross product.
PAIR_TYPES: dict[str, PairType] = {
    kind.name: kind
    for kind in (
        PairType("fixed", COMPONENTS, ()),
        PairType("revolute", _without("rz"), ("rz",)),
        PairType("continuous", _without("rz"), ("rz",)),
        PairType("prismatic", _without("tz"), ("tz",)),
        PairType("screw", _without("rz"), ("rz",), {"tz": RowKind.SCREW}),
        PairType("cylindrical", _without("tz", "rz"), ("tz", "rz")),
        PairType(
            "universal",
            _without("rx", "ry"),
            ("rx", "ry"),
            {"ry": RowKind.CARRIED, "rz": RowKind.CROSSED},
        ),
        PairType("spherical", ("tx", "ty", "tz"), ("rx", "ry", "rz")),
        PairType("planar", ("tz", "rx", "ry"), ("tx", "ty", "rz")),
        PairType("point-on-line", ("tx", "ty"), ("tz", "rx", "ry", "rz")),
        PairType("point-on-plane", ("tz",), ("tx", "ty", "rx", "ry", "rz")),
        PairType("distance", ("d",), (), {"d": RowKind.DISTANCE}),
        PairType("floating", (), COMPONENTS),
    )
}


@one_line_repr
@dataclass(frozen=True)
class Freedom:
    """What a file states of one freedom of a pair; numbers are in rad or m, N·m or N, and per second.

    Parameters
    ----------
    lower, upper : float
        Limits of the coordinate, rad or m.
    effort : float
        Limit of the drive, N·m or N.
    velocity, acceleration, deceleration, jerk : float
        Largest magnitudes under the drive, rad/s or m/s and per second; infinite where the file states none.
    damping, friction : float
        Viscous, N·m·s/rad or N·s/m, and dry, N·m or N.
    load_friction : float
        Dry friction per newton of the force that the joint transmits: μ of a prismatic joint, μ times the radius
        of a revolute one, m.
    """

    lower: float = -inf
    upper: float = inf
    effort: float = inf
    velocity: float = inf
    damping: float = 0.0
    friction: float = 0.0
    acceleration: float = inf
    deceleration: float = inf
    jerk: float = inf
    load_friction: float = 0.0


@one_line_repr
@dataclass(frozen=True, eq=False)
class Pair:
    """A kinematic pair between a predecessor body a and a successor body b.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    type : str
        A key of ``PAIR_TYPES``.
    body_a, body_b : str
        Predecessor (may be ``world``) and successor.
    X_AP : Pose
        Joint frame P in the link frame of body a; its z is the joint axis.
    X_BS : Pose
        Joint frame S in the link frame of body b; P and S coincide at zero joint coordinates.
    closure : bool
        Whether the file states it as the closing of a loop.
    lead : float
        Screw only: travel along +z per turn, m.
    length : float
        Distance only: the distance between the origins of P and S, m.
    freedoms : tuple of Freedom
        Limits, friction and damping, one per free component.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    X_AP: Pose
    X_BS: Pose
    closure: bool = False
    lead: float = 0.0
    length: float = 0.0
    freedoms: tuple[Freedom, ...] = ()

    def __post_init__(self) -> None:
        if self.type not in PAIR_TYPES:
            raise UnknownName(
                f"there is no pair type {self.type!r}",
                where=f"pair {self.name!r}",
                remedy=suggestion(self.type, list(PAIR_TYPES)),
            )
        if not self.freedoms:
            object.__setattr__(self, "freedoms", tuple(Freedom() for _ in self.kind.free))

    @cached_property
    def X_SB(self) -> Pose:
        """Link frame of body b in S."""
        return self.X_BS.inverse()

    @property
    def bodies(self) -> tuple[str, str]:
        """Predecessor and successor."""
        return self.body_a, self.body_b

    @property
    def kind(self) -> PairType:
        """The pair's type."""
        return PAIR_TYPES[self.type]

    def retyped(self, type: str, axis: Array | None = None) -> Pair:
        """Return the pair with another type; limits of freedoms whose direction is kept stay.

        Parameters
        ----------
        type : str
            The new type.
        axis : (3,) array, optional
            In axes of P: the new joint axis, or for a universal joint its second cross axis (the first
            is the old joint axis, the default second one is x of P).
        """
        if type == "universal":
            turn = _cross_axes(np.array([1.0, 0.0, 0.0]) if axis is None else axis)
        else:
            turn = np.eye(3) if axis is None else align_z(axis)
        freedoms = tuple(self._along(c[0], turn[:, "xyz".index(c[1])]) for c in PAIR_TYPES[type].free)
        X_new = Pose(turn, np.zeros(3))
        return replace(self, type=type, freedoms=freedoms, X_AP=self.X_AP @ X_new, X_BS=self.X_BS @ X_new)

    def _along(self, kind: str, direction: Array) -> Freedom:
        """Return the freedom of a kind (t, r) along a direction (3,) in axes of P, or one without limits."""
        for name, freedom in zip(self.kind.free, self.freedoms, strict=True):
            cosine = direction["xyz".index(name[1])] if name[0] == kind else 0.0
            if cosine > 1 - _PARALLEL:
                return freedom
            if cosine < _PARALLEL - 1:
                return replace(freedom, lower=-freedom.upper, upper=-freedom.lower)
        return Freedom()


def _cross_axes(second: Array) -> Array:
    """Return axes (3, 3) of a universal joint: x along the old z, y along ``second`` (3,) made perpendicular."""
    x = np.array([0.0, 0.0, 1.0])
    y = second - (second @ x) * x
    y = unit(y)
    return np.column_stack((x, y, cross(x, y)))
