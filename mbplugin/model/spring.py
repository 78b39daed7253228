"""Springs, as a scene or a caller states them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from numbers import Real

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True, eq=False)
class Spring:
    """A spring and damper between two points, along the line that joins them.

    Parameters
    ----------
    body_a, body_b : str
        Bodies; ``world`` for the ground.
    point_a, point_b : (3,) array
        In link frames, m.
    stiffness : float
        N/m.
    length : float
        Without force, m.
    damping : float
        N·s/m.
    """

    body_a: str
    body_b: str
    point_a: Array
    point_b: Array
    stiffness: float
    length: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("point_a", "point_b"):
            point = np.array(getattr(self, name), dtype=float).reshape(3)
            point.setflags(write=False)
            object.__setattr__(self, name, point)
        _require_finite(
            f"the spring {self.body_a!r}–{self.body_b!r}", self.stiffness, self.length, self.damping
        )

    def force_on_a(self, p_AB_W: Array, v_AB_W: Array) -> Array:
        """Return the force (3,) on body a, N; ``kernels/forces.py`` has it again, compiled, on its own records.

        Parameters
        ----------
        p_AB_W, v_AB_W : (3,) array
            From end a to end b, and the derivative of that, m and m/s.
        """
        length = float(np.linalg.norm(p_AB_W))
        if length == 0.0:
            return np.zeros(3)
        e = p_AB_W / length
        tension = self.stiffness * (length - self.length) + self.damping * float(e @ v_AB_W)
        return np.asarray(tension * e)


@one_line_repr
@dataclass(frozen=True)
class JointSpring:
    """A spring on one joint rate: force −stiffness · (q − rest).

    Parameters
    ----------
    joint : str
        A name of ``qd_names`` whose coordinate has the same name.
    stiffness : float
        N·m/rad or N/m.
    rest : float
        Coordinate without force, rad or m.
    """

    joint: str
    stiffness: float
    rest: float = 0.0

    def __post_init__(self) -> None:
        _require_finite(f"the spring of joint {self.joint!r}", self.stiffness, self.rest)

    def force(self, coordinate: float) -> float:
        """Return the force along the joint rate at a coordinate (rad or m), N·m or N."""
        return -self.stiffness * (coordinate - self.rest)


def _require_finite(what: str, *values: float) -> None:
    for value in values:
        if not (isinstance(value, Real) and isfinite(value)):
            raise BadNumber(f"{what} has the value {value!r}", expected="finite numbers in SI units")
