"""Forces of actuators that give one motion, and the shares of them that the motion leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.errors import UnknownName, suggestion
from mbplugin.model.enumerations import ReactionUnit
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, one_line
from mbplugin.rendering import Result


@dataclass(frozen=True)
class ActuatorForce:
    """The force of one actuator, on the rate of its joint.

    Parameters
    ----------
    joint : str
        The pair, or ``pair.freedom`` where it has several.
    value : float
        That of the least-norm solution, N·m or N.
    unique : bool
        Whether the motion determines it.
    """

    joint: str
    value: float
    unit: ReactionUnit
    unique: bool


@dataclass(frozen=True, eq=False)
class ActuatorForces(Result):
    """Forces of actuators that give one motion: ``values + shares @ y`` does for every y.

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The closed pose, and the motion that agrees with the constraints.
    forces : tuple of ActuatorForce
        In the order in which the actuators were named.
    shares : (a, s) array
        Basis of the forces that move nothing; each column has a 1 at an actuator of its own (``free``).
    free : tuple of str
        s actuators whose force may be chosen at will.
    mobility : int
        Freedoms of the constraints without the drivers.
    tolerance : float
        Relative rank tolerance.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    qdd: Array
    forces: tuple[ActuatorForce, ...]
    shares: Array
    free: tuple[str, ...]
    mobility: int
    tolerance: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        facts = (
            counted(len(self.forces), "actuator"),
            f"mobility {self.mobility}",
            counted(len(self.free), "open share"),
            f"tolerance {self.tolerance:g}",
        )
        return one_line(self, self.mechanism.name, facts)

    @property
    def values(self) -> Array:
        """The least-norm forces (a,), N·m and N."""
        return np.array([force.value for force in self.forces])

    @property
    def joints(self) -> tuple[str, ...]:
        """The actuated joints, in the order of the values."""
        return tuple(force.joint for force in self.forces)

    def __getitem__(self, joint: str) -> ActuatorForce:
        for force in self.forces:
            if force.joint == joint:
                return force
        raise UnknownName(f"no actuated joint is called {joint!r}", remedy=suggestion(joint, self.joints))
