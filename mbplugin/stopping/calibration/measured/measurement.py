"""A measured stop: one row of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mbplugin.stopping.calibration.measured.units import Quantity


@dataclass(frozen=True)
class Measurement:
    """A measured stop of one joint, SI units.

    Parameters
    ----------
    line : int
        Of the file, from 1.
    joint : str
    category : 0 or 1
    speed : float
        Of the joint at the signal, rad/s or m/s, positive.
    sense : int
        +1 or −1 for the sense of the motion; 0 where the file does not state it.
    payload : Quantity or None
        kg, or a share of the rated payload; None for the payload of the scene.
    extension : Quantity or None
        m from the axis, or a share of the largest extension; None for the start pose.
    q : tuple of (str, float)
        Stated joint coordinates at the signal, rad and m.
    time, distance : float
        From the signal to rest, s; rad or m. NaN where it was not measured.
    repeats : int
        How many stops the row is the mean of.
    time_spread, distance_spread : float or None
        Standard deviation of one stop, s; rad or m.
    columns : mapping of str to Quantity
        The numbers of the row by column, for conditions on rows.
    """

    line: int
    joint: str
    category: int
    speed: float
    sense: int
    payload: Quantity | None
    extension: Quantity | None
    q: tuple[tuple[str, float], ...]
    time: float
    distance: float
    repeats: int = 1
    time_spread: float | None = None
    distance_spread: float | None = None
    columns: Mapping[str, Quantity] = field(default_factory=dict, compare=False)

    @property
    def condition(self) -> tuple[object, ...]:
        """What two repeats of one stop have in common."""
        return self.joint, self.category, self.speed, self.sense, self.payload, self.extension, self.q

    @property
    def shape_index(self) -> float:
        """2 d/(v T): 1 for constant deceleration, more with a reaction at undiminished speed before it."""
        return 2.0 * self.distance / (self.speed * self.time)
