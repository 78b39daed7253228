"""What is fitted of a joint: the parameters of its brake or its ramp, with units, and the model of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import JointBrake
from mbplugin.model.ramp import Ramp
from mbplugin.model.spatial import Array
from mbplugin.stopping.calibration.bench import Bench, distinct
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.scenario.ramps import Ramps

#: Fitted of a brake, and of a ramp; the names are those of the tables of a scene.
FRICTION = ("delay", "torque", "viscous")
SHORT_CIRCUIT = ("delay", "torque", "short_circuit", "short_circuit_rate")
BRAKE = ("delay", "torque", "viscous", "short_circuit", "short_circuit_rate")
RAMP = ("reaction", "time", "deceleration")
TIMED, CONSTANT = ("reaction", "time"), ("reaction", "deceleration")
#: A stop that takes so many times the longest measured one does not end, as far as a fit is concerned.
_LONGEST = 4.0
_UNITS = {
    "delay": ("s", "s"),
    "reaction": ("s", "s"),
    "time": ("s", "s"),
    "torque": ("N·m", "N"),
    "viscous": ("N·m·s/rad", "N·s/m"),
    "short_circuit": ("N·m·s/rad", "N·s/m"),
    "short_circuit_rate": ("rad/s", "m/s"),
    "deceleration": ("rad/s²", "m/s²"),
}


def unit_of(parameter: str, freedom: str) -> str:
    """Return the unit of a parameter of a joint with a freedom such as ``rz``."""
    return _UNITS[parameter][freedom[0] == "t"]


class RowModel(Protocol):
    """The computed stops of the rows of a joint; parameters are given by name."""

    @property
    def rows(self) -> Sequence[Measurement]:
        """The rows."""
        ...

    @property
    def sizes(self) -> Mapping[str, float]:
        """Of each parameter the value that would explain a whole stop alone."""
        ...

    @property
    def starts(self) -> Sequence[Mapping[str, float]]:
        """Values from which a fit begins."""
        ...

    @property
    def highest(self) -> Mapping[str, float]:
        """Upper bounds of parameters that have one."""
        ...

    def predict(self, values: Mapping[str, float]) -> Array:
        """Return times and distances (n, 2) of the rows, s, rad or m."""
        ...


class BrakeModel:
    """Stops of category 0 on the simulator: gravity, coupling and payload are those of each row."""

    def __init__(self, bench: Bench, joint: str, rows: Sequence[Measurement], fixed: Brake) -> None:
        self.rows, self._bench, self._fixed = rows, bench, fixed
        self._own = [brake.joint for brake in bench.brakes].index(joint)
        firsts, self._index = distinct(rows)
        self.stops = [bench.start(row) for row in firsts]
        self.gravity = max(
            abs(stop.gravity) / (stop.inertia * row.speed / _span(row))
            for stop, row in zip(self.stops, firsts, strict=True)
        )
        self._duration = _LONGEST * max(_span(row) for row in firsts)
        bench.compiled.scenario = replace(bench.compiled.scenario, duration=self._duration)
        self.sizes, self.starts, self.highest = self._guesses(firsts)

    def predict(self, values: Mapping[str, float]) -> Array:
        """Return times and distances (n, 2) of the rows, s, rad or m."""
        compiled, n = self._bench.compiled, self._own
        brakes = list(self._bench.brakes)
        brakes[n] = braked(brakes[n], brake_with(self._fixed, values))
        compiled.set_brakes(tuple(brakes))
        compiled.scenario = replace(compiled.scenario, duration=self._duration)
        found = []
        for stop in self.stops:
            compiled.set_payloads(stop.payloads)
            out = compiled.stop(stop.q, stop.qd)
            moving = out.outcome in ("not_stopped", "loop_opened")
            found.append((self._duration if moving else float(out.times[n]), abs(float(out.travels[n]))))
        self._bench.count(len(found))
        return np.array(found)[self._index]

    def _guesses(
        self, firsts: Sequence[Measurement]
    ) -> tuple[dict[str, float], list[dict[str, float]], dict[str, float]]:
        speed, time = max(row.speed for row in firsts), float(np.median([_span(row) for row in firsts]))
        pull = max(max(stop.gravity for stop in self.stops), 0.0)
        inertial = max(
            stop.inertia * row.speed / _span(row) for stop, row in zip(self.stops, firsts, strict=True)
        )
        torque = inertial + pull
        sizes = {
            "delay": time,
            "torque": torque,
            "viscous": torque / speed,
            "short_circuit": 2 * torque / speed,
            "short_circuit_rate": speed,
        }
        index = float(np.nanmedian([row.shape_index for row in firsts] + [1.0]))
        late = min(max((index - 1.0) * time, 0.02 * time), 0.8 * time)
        motor = {"delay": 0.05 * time, "torque": 0.5 * inertial + 1.1 * pull, "short_circuit": torque / speed}
        starts = [
            {
                "delay": late,
                "torque": inertial * time / (time - late) + 1.05 * pull,
                "viscous": 0.05 * sizes["viscous"],
            },
            {"delay": 0.05 * time, "torque": 0.5 * inertial + 1.1 * pull, "viscous": 0.5 * sizes["viscous"]},
        ]
        wide = [{**motor, "short_circuit_rate": share * speed} for share in (0.3, 1.0)]
        starts = [{**motor, **start, "short_circuit_rate": speed} for start in starts]
        return (
            sizes,
            [*starts, *({**starts[1], **start} for start in wide)],
            {"short_circuit_rate": 20 * speed},
        )


class RampModel:
    """Controlled stops in closed form: they need no masses."""

    def __init__(self, rows: Sequence[Measurement]) -> None:
        self.rows = rows
        self._speeds = np.array([row.speed for row in rows])
        time = float(np.median([_span(row) for row in rows]))
        speed = float(np.median(self._speeds))
        ways = np.array([row.distance / row.speed for row in rows])
        mean = float(np.nanmedian(ways)) if np.isfinite(ways).any() else 0.5 * time
        self.sizes = {"reaction": time, "time": 2 * mean, "deceleration": 0.5 * speed / mean}
        self.starts = [{"reaction": 0.1 * mean, "time": 1.8 * mean, "deceleration": 0.6 * speed / mean}]
        self.highest = {"deceleration": 1e3 * speed / mean}

    def predict(self, values: Mapping[str, float]) -> Array:
        """Return times and distances (n, 2) of the rows, s, rad or m."""
        n = len(self._speeds)
        deceleration = values.get("deceleration")
        slowed = self._speeds / values["time"] if deceleration is None else np.full(n, deceleration)
        ramps = Ramps(np.zeros(n), self._speeds, np.full(n, values["reaction"]), slowed)
        ends = ramps.ends
        return np.column_stack((ends, ramps.at(float(ends.max()))[0]))


def brake_with(fixed: Brake, values: Mapping[str, float]) -> Brake:
    """Return a brake with fitted values; what is not fitted is as in ``fixed``."""
    numbers: dict[str, Any] = dict(values)
    return replace(fixed, **numbers)


def braked(brake: JointBrake, stated: Brake) -> JointBrake:
    """Return the brake of a joint with stated numbers."""
    return replace(brake, law=stated.law(0.0), delay=stated.delay or 0.0, engagement=stated.engagement)


def ramp_with(joint: str, values: Mapping[str, float]) -> Ramp:
    """Return the ramp of a joint with fitted values."""
    return Ramp(joint, values.get("time"), values.get("deceleration"), values["reaction"])


def _span(row: Measurement) -> float:
    """Return the time of a stop, s; of one without, that of constant deceleration over its distance."""
    return row.time if np.isfinite(row.time) else 2.0 * row.distance / row.speed
