"""A rigid body: mass, centre of mass and inertia in its link frame."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr

#: The name of the ground, which is not a body.
WORLD = "world"


@one_line_repr
@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body.

    Parameters
    ----------
    name : str
        Unique name; ``world`` is reserved for the ground.
    mass : float
        kg; zero for a massless link.
    p_LC : (3,) array
        Centre of mass C in the link frame L, metres.
    I_C : (3, 3) array
        Inertia about C in link axes, kg·m².
    """

    name: str
    mass: float = 0.0
    p_LC: Array = field(default_factory=lambda: np.zeros(3))
    I_C: Array = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def massless(self) -> bool:
        """Whether the body has neither mass nor inertia."""
        return self.mass == 0.0 and not self.I_C.any()
