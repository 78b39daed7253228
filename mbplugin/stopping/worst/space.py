"""The stops among which the worst ones are searched: points of a unit cube, one number for each quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mbplugin.model.brakes import JointBrake
from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.table.rated import payload_share


@dataclass(frozen=True, eq=False)
class StopStart:
    """What one stop starts from.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        rad and m, rad/s and m/s.
    share : float
        Of the rated payload.
    torque_factors, delay_factors : (n,) array
        Of the brakes.
    """

    q: Array
    qd: Array
    share: float
    torque_factors: Array
    delay_factors: Array

    def brakes(self, nominal: tuple[JointBrake, ...]) -> tuple[JointBrake, ...]:
        """Return the brakes with their torques and delays multiplied."""
        factors = zip(nominal, self.torque_factors.tolist(), self.delay_factors.tolist(), strict=True)
        return tuple(
            replace(
                brake,
                law=brake.law.scaled(torque),
                delay=late * brake.delay,
                engagement=late * brake.engagement,
            )
            for brake, torque, late in factors
        )


@dataclass(frozen=True, eq=False)
class StopSpace:
    """All stops of a search.

    Parameters
    ----------
    scenario : Scenario
        Of category 0, without payloads; its pose gives the coordinates that have no range.
    rated : Payload
    speeds : mapping of str to float
        Full speed of each axis that moves, rad/s or m/s.
    axis : str or None
        The only axis that moves, at full speed; None where all move, each at up to full speed.
    torque_tolerance, delay_tolerance : float
        Of the brakes, relative, either way, each joint by itself.
    payload_range : (float, float)
        Shares of the rated payload.
    """

    scenario: Scenario
    rated: Payload
    speeds: Mapping[str, float]
    axis: str | None
    torque_tolerance: float = 0.0
    delay_tolerance: float = 0.0
    payload_range: tuple[float, float] = (0.0, 1.0)

    @cached_property
    def _ranges(self) -> tuple[AnyArray, Array, Array]:
        """Indices into q (k,), and the range of each of these coordinates."""
        where, ranges = [], []
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None and joint.pair.kind.free:
                low, high = coordinate_range(joint.pair)
                if low < high:
                    where.append(joint.q.start)
                    ranges.append((low, high))
        lows, highs = np.array(ranges, dtype=float).reshape(-1, 2).T
        return np.array(where, dtype=int), lows, highs

    @property
    def _moving(self) -> tuple[str, ...]:
        return tuple(self.speeds) if self.axis is None else (self.axis,)

    @property
    def _sizes(self) -> tuple[int, int, int, int, int]:
        """How many numbers the pose, the rates, the payload, the torques and the delays take."""
        n, (low, high) = len(self.scenario.brakes), self.payload_range
        return (
            len(self._ranges[0]),
            len(self._moving),
            int(bool(self.rated.mass) and low < high),
            n * (self.torque_tolerance > 0),
            n * (self.delay_tolerance > 0),
        )

    @property
    def dimension(self) -> int:
        """How many numbers a stop takes."""
        return sum(self._sizes)

    def start(self, x: Array) -> StopStart:
        """Return the stop at a point x (d,) of the unit cube."""
        pose, rates, share, torques, delays = np.split(np.clip(x, 0.0, 1.0), np.cumsum(self._sizes)[:-1])
        s, (where, low, high) = self.scenario, self._ranges
        q, qd = s.q.copy(), np.zeros(len(s.qd))
        q[where] = low + pose * (high - low)
        for axis, rate in zip(self._moving, 2.0 * rates - 1.0, strict=True):
            # a single axis has full speed in one sense or the other
            size = rate if self.axis is None else (1.0 if rate >= 0.0 else -1.0)
            qd[s.rate_of(axis)] = size * self.speeds[axis]
        least, most = self.payload_range
        n = len(s.brakes)
        return StopStart(
            q,
            qd,
            float(least + share[0] * (most - least)) if share.size else most,
            1.0 + self.torque_tolerance * (2.0 * torques - 1.0) if torques.size else np.ones(n),
            1.0 + self.delay_tolerance * (2.0 * delays - 1.0) if delays.size else np.ones(n),
        )

    def point(self, q: Array, rates: Mapping[str, float]) -> Array:
        """Return the point (d,) of a stop with nominal brakes and the largest payload.

        Parameters
        ----------
        q : (nq,) array
            rad and m, within the ranges.
        rates : mapping of str to float
            Of the moving axes, rad/s or m/s; those left out are zero.
        """
        where, low, high = self._ranges
        _, _, share, torques, delays = self._sizes
        sizes = [0.5 + 0.5 * rates.get(axis, 0.0) / self.speeds[axis] for axis in self._moving]
        rest = ((q[where] - low) / (high - low), sizes, np.ones(share), np.full(torques + delays, 0.5))
        return np.clip(np.concatenate(rest), 0.0, 1.0)

    def payloads(self, start: StopStart) -> tuple[Payload, ...]:
        """Return what is carried."""
        return payload_share(self.rated, start.share)


def coordinate_range(pair: Pair) -> tuple[float, float]:
    """Return the range of the coordinate of a pair with one freedom, rad or m.

    That of its limits; a whole turn where it has none, and none of a travel without limits.
    """
    freedom = pair.freedoms[0]
    turn = np.pi if is_turn(pair.kind.free[0]) else 0.0
    low, high = freedom.lower, freedom.upper
    return (low, high) if np.isfinite([low, high]).all() and low < high else (-turn, turn)
