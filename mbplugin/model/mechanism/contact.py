"""Contact points: one-sided constraints with dry friction at one instant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, BrokenModel, answers_wrong_calls
from mbplugin.model.brake_law import LARGEST
from mbplugin.model.spatial import Array, cross
from mbplugin.phrases import one_line_repr

#: Maximum number of contacts of one analysis.
MOST_CONTACTS = 2000
#: Largest friction coefficient; larger values are mistakes.
LARGEST_FRICTION = 100.0
#: Largest deviation of the length of a normal from one; files round to three digits.
_UNIT = 1e-3
#: Sine of the angle between gravity and normal below which the plane is level.
_LEVEL = 1e-9
#: Sides of the regular polygon that stands for the circle of friction, which it exceeds by up to 2 %.
SIDES = 16
#: Components of the force at a contact: along the normal, and along two tangents.
NORMAL, TANGENTS = "cn", ("ct1", "ct2")


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Contact:
    """A contact point that holds at an instant: row ``cn`` can only push, ``ct1`` and ``ct2`` are dry friction.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    body : str
        The body that is pushed.
    point : (3,) array
        Contact point in the link frame of ``body``, m.
    normal : (3,) array
        Unit vector in world axes, into ``body``.
    mu : float
        Coefficient of friction; 0 leaves only the row ``cn``.
    on : str
        The body that pushes, by default the ground.
    slip : (3,) array, optional
        Direction in which ``body`` slips on the other one, a unit vector in world axes: then the friction is
        ``mu`` times the normal force, against it, and ``cn`` is the only row.

    Raises
    ------
    BadUsage, BadNumber
        A body touches itself, the ground is pushed, or a number is impossible.
    """

    name: str
    body: str
    point: Array
    normal: Array
    mu: float
    on: str = "world"
    slip: Array | None = None

    type = "contact"

    def __post_init__(self) -> None:
        what = f"contact {self.name!r}" if self.name else f"the contact of {self.body!r}"
        if self.body == "world":
            raise BadUsage(
                f"{what} pushes the ground", expected="a body that moves, with the ground as body_b"
            )
        if self.body == self.on:
            raise BadUsage(f"{what} is between {self.body!r} and itself", expected="two bodies")
        point, normal = (np.array(value, dtype=float) for value in (self.point, self.normal))
        if point.shape != (3,) or not (np.abs(point) <= LARGEST).all():
            raise BadNumber(f"the point of {what} is {self.point!r}", expected="three finite numbers, m")
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else np.nan
        if not abs(length - 1.0) <= _UNIT:
            raise BadNumber(
                f"the normal of {what} has the length {length:g}", expected="a unit vector in world axes"
            )
        if not 0 <= self.mu <= LARGEST_FRICTION:
            raise BadNumber(
                f"the friction coefficient of {what} is {self.mu!r}",
                expected=f"a number from 0 to {LARGEST_FRICTION:g}",
            )
        for name, value in (("point", point), ("normal", normal / length)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def components(self) -> tuple[str, ...]:
        """Labels of the rows."""
        return (NORMAL, *TANGENTS) if self.mu > 0 and self.slip is None else (NORMAL,)

    @property
    def pushes(self) -> Array:
        """Direction (3,) of the force per unit of ``cn``, world axes: the normal, less friction if it slips."""
        return self.normal if self.slip is None else self.normal - self.mu * self.slip

    def axes(self, gravity: Array) -> Array:
        """Return the directions (3, 3) of ``cn``, ``ct1`` and ``ct2`` in the world, by row.

        ``ct1`` points downhill on an inclined plane, along the world's x axis (or y) on a level one.

        Parameters
        ----------
        gravity : (3,) array
            m/s², world axes.
        """
        return np.array(_axes(self.normal.tobytes(), np.asarray(gravity, dtype=float).tobytes()))


# most contacts of a scene have one normal
@lru_cache(maxsize=64)
def _axes(normal: bytes, gravity: bytes) -> Array:
    """Return the directions (3, 3) of the rows of a contact by row."""
    n, g = np.frombuffer(normal), np.frombuffer(gravity)
    downhill = g - (g @ n) * n
    if np.linalg.norm(downhill) <= _LEVEL * np.linalg.norm(g):
        axis = np.eye(3)[1 if abs(n[0]) > 0.9 else 0]
        downhill = axis - (axis @ n) * n
    t1 = downhill / np.linalg.norm(downhill)
    return np.array([n, t1, cross(n, t1)])


def require_few(contacts: tuple[Contact, ...]) -> None:
    """Raise if there are more contacts than the largest permitted number.

    Raises
    ------
    BrokenModel
    """
    if len(contacts) > MOST_CONTACTS:
        raise BrokenModel(
            f"there are {len(contacts)} contacts",
            expected=f"{MOST_CONTACTS} at most",
            remedy="keep the corners of each face only",
        )
