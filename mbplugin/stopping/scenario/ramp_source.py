"""What the ramps of a controlled stop come from: given values, the scene's ramps, actuators, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mbplugin.model.brakes import JointBrake
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.ramp import Ramp
from mbplugin.model.scene import Actuator
from mbplugin.model.spatial import Array
from mbplugin.stopping.scenario.decelerations import Decelerations, decelerations_at
from mbplugin.stopping.scenario.stated_ramps import ramp_decelerations, rates_at_ramps


@dataclass(frozen=True, eq=False)
class RampSource:
    """What is stated on the ramps of a robot, whatever state it is in at the signal.

    Parameters
    ----------
    stated : tuple of Ramp
        Of the scene.
    actuators : tuple of Actuator
        Of the scene.
    given : mapping of str to float
        Decelerations by joint, rad/s² or m/s²; they come before what is stated.
    """

    stated: tuple[Ramp, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)

    def decelerations(
        self,
        mech: Mechanism,
        brakes: tuple[JointBrake, ...],
        state: tuple[Array, Array, Array],
        inertias: Callable[[], Array],
    ) -> Decelerations:
        """Return the decelerations of the joints with brakes for one state at the signal.

        Parameters
        ----------
        brakes : tuple of JointBrake
            Their delays are the reactions of the drives.
        state : (nq,), (nv,), (nv,) array
            Coordinates, rates and accelerations at the signal, rad and m.
        inertias : callable
            Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

        Raises
        ------
        BadUsage, UnknownName, BadNumber
            As for :func:`decelerations_at`.
        """
        given = {**ramp_decelerations(self.stated, rates_at_ramps(mech, brakes, state)), **self.given}
        return decelerations_at(mech, [brake.joint for brake in brakes], inertias, self.actuators, given)
