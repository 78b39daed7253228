"""Motion in time: integrators, projection onto the constraints, events, and the trajectory.

Here are the accelerations that friction leaves open where the rigid model does not determine its normal forces.
"""

from __future__ import annotations

from math import inf

from mbplugin.errors import BrokenModel
from mbplugin.phrases import dataclass, listed, one_line_repr

#: Most ranges in a sentence.
_NAMED = 3


class ContactsOpen(BrokenModel):
    """No forces keep all contacts closed, and those that hold in place, at a state."""


@one_line_repr
@dataclass(frozen=True)
class AccelerationRange:
    """The smallest and the largest acceleration of a joint rate.

    Parameters
    ----------
    name : str
        The joint rate.
    lower, upper : float
        rad/s² or m/s²; infinite if the forces in the joints can press against each other without limit.
    unit : str
    exact : bool
        Whether both ends are reached; otherwise the range contains all possible accelerations, and may be wider.
    """

    name: str
    lower: float
    upper: float
    unit: str
    exact: bool

    @property
    def words(self) -> str:
        """The range as a clause."""
        low, high = (f"{end:.6g}" for end in (self.lower, self.upper))
        if self.lower == -inf and self.upper == inf:
            return f"the acceleration of {self.name!r} can have any value"
        if self.lower == -inf:
            return f"the acceleration of {self.name!r} is at most {high} {self.unit}"
        if self.upper == inf:
            return f"the acceleration of {self.name!r} is at least {low} {self.unit}"
        return f"the acceleration of {self.name!r} lies between {low} and {high} {self.unit}"


@one_line_repr
@dataclass(frozen=True)
class MotionRange:
    """Accelerations that friction leaves open at a state, and the friction that leaves them open.

    Parameters
    ----------
    sliding : tuple of str
        Contacts and joints whose friction depends on a force that the rigid model does not determine.
    accelerations : tuple of AccelerationRange
        Only those that are not unique.
    time : float
        The instant, s.
    holding : tuple of str
        Contacts that hold, as the range assumes.
    """

    sliding: tuple[str, ...]
    accelerations: tuple[AccelerationRange, ...]
    time: float = 0.0
    holding: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The ranges as one sentence without a full stop."""
        words = "; ".join(one.words for one in self.accelerations[:_NAMED])
        more = f"; and {len(self.accelerations) - _NAMED} more" if len(self.accelerations) > _NAMED else ""
        outer = "" if all(one.exact for one in self.accelerations) else " (outer bounds)"
        at = f"at {self.time:.4g} s " if self.time else ""
        hold = "holds" if len(self.holding) == 1 else "hold"
        held = f" while {listed(self.holding, _NAMED)} {hold}" if self.holding else ""
        share = "shares" if len(self.sliding) == 1 else "share"
        return f"{at}{words}{more}{outer}{held}, depending on how {listed(self.sliding)} {share} the load"
