"""The ramp of a drive in a controlled stop: stated in a scene, a call or by a calibration."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.errors import BadUsage
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True)
class Ramp:
    """How the drive of a joint decelerates it to rest in categories 1 and 2.

    Parameters
    ----------
    time : float, optional
        Of the ramp, whatever the rate at which it begins, s.
    deceleration : float, optional
        Whatever the rate, rad/s² or m/s²; one of the two is stated.
    reaction : float, optional
        From the signal until the ramp begins, s; by default the delay of the joint's brake.
    origin : str
        Where the numbers come from, such as a data sheet or a calibration; reports of stops show it.
    """

    joint: str
    time: float | None = None
    deceleration: float | None = None
    reaction: float | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        if (self.time is None) == (self.deceleration is None):
            stated = "neither of" if self.time is None else "both"
            raise BadUsage(
                f"the ramp of {self.joint!r} states {stated} time and deceleration", expected="one of them"
            )

    @property
    def sentence(self) -> str:
        """Its numbers in rad or m and s, and where they come from."""
        law = f"of {self.deceleration:.4g} per s²" if self.time is None else f"of {1e3 * self.time:.4g} ms"
        reaction = "" if self.reaction is None else f", {1e3 * self.reaction:.4g} ms after the signal"
        return f"{self.joint}: a ramp {law}{reaction} ({self.origin or 'stated'})"

    def deceleration_from(self, rate: float) -> float:
        """Return the deceleration from a rate (rad/s, m/s), rad/s² or m/s², positive; at rest any would do."""
        if self.deceleration is not None:
            return self.deceleration
        assert self.time is not None
        return abs(rate) / self.time or 1.0
