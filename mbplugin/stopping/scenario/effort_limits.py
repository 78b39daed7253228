"""Brakes and decelerations that are not stated: the effort limits of the joints stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import BrakeForce
from mbplugin.model.brakes import JointBrake
from mbplugin.phrases import listed

#: Published times over those of the default brakes, smallest and largest of six rows (UR5, UR3, category 0);
#: the table is in ``docs/estop.md``.
PUBLISHED_OVER_DEFAULT = (1.2, 7.1)


class EffortLimits(NamedTuple):
    """The joints whose brake, or whose deceleration, is the effort limit, and those whose brake grips at once."""

    brakes: tuple[str, ...] = ()
    ramps: tuple[str, ...] = ()
    delays: tuple[str, ...] = ()

    @property
    def joints(self) -> tuple[str, ...]:
        """All, each once."""
        return tuple(dict.fromkeys((*self.brakes, *self.ramps, *self.delays)))

    @property
    def heading(self) -> str:
        """What is assumed, in a few words; empty where everything is stated."""
        return f"ASSUMED, NOT STATED: {self._what()}" if self.joints else ""

    @property
    def warning(self) -> str:
        """What stands on top of a report; empty where everything is stated."""
        if not self.joints:
            return ""
        low, high = PUBLISHED_OVER_DEFAULT
        of_file = " (effort limits of the file)" if self.brakes or self.ramps else ""
        parts = [f"{self.heading}{of_file}."]
        if self.brakes:
            parts.append(
                f"The stops that the maker of UR5 and UR3 publishes take {low:g} to {high:g} times as long as with"
                " such brakes."
            )
        if self.ramps:
            parts.append(
                "A ramp is a setting of the drive, and may be slower than what its effort limit allows."
            )
        if self.delays:
            parts.append(
                "A brake without a delay grips with the signal, which none does: a stop takes longer."
            )
        names = (("brakes", self.brakes), ("ramps", self.ramps), ("delays", self.delays))
        missing = " and ".join(name for name, joints in names if joints)
        parts.append(
            f"No number below is evidence for safety: state the {missing}; stops with --require-brakes refuse"
            " assumed ones."
        )
        return " ".join(parts)

    def require_none(self) -> None:
        """Refuse a stop with such a brake or deceleration.

        Raises
        ------
        BadUsage
            Names the joints.
        """
        if self.joints:
            ramps = "[[ramp]] or --deceleration, or stop in category 0"
            keys = ("torque",) * bool(self.brakes) + ("delay",) * bool(self.delays)
            key = f"{' and '.join(keys)} in [[brake]] or --brake" if keys else ramps
            also = f" and {ramps}" if keys and self.ramps else ""
            raise BadUsage(
                f"stated brakes are required, and assumed are {self._what()}",
                expected="data of the manufacturer or of a calibration",
                remedy=f"state {key}{also}",
            )

    def _what(self) -> str:
        parts = (
            ("delays of the brakes", self.delays),
            ("brakes", self.brakes),
            ("decelerations", self.ramps),
        )
        return " and ".join(f"the {what} of {listed(joints)}" for what, joints in parts if joints)


#: Everything is stated.
NO_EFFORT_LIMITS = EffortLimits()


def brakes_of_effort(brakes: Iterable[JointBrake | BrakeForce]) -> EffortLimits:
    """Return the joints whose brake states no torque, and those whose brake grips at once."""
    known = tuple(brakes)
    return EffortLimits(
        tuple(brake.joint for brake in known if brake.assumed),
        delays=tuple(brake.joint for brake in known if brake.at_once),
    )


def assumed_brakes(brakes: Iterable[JointBrake | BrakeForce]) -> tuple[str, ...]:
    """Return what brakes leave out, one sentence for each joint."""
    return tuple(f"{brake.joint}: {', '.join(said)}" for brake in brakes if (said := _said(brake)))


def _said(brake: JointBrake | BrakeForce) -> tuple[str, ...]:
    return (*brake.assumed, *("its delay is 0 s, as none is stated",) * brake.at_once)
