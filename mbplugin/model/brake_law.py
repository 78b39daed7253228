"""The law of a brake: what is stated of it, and its force against the rate of a joint.

This is the only place that knows the parts of a law. The records of the kernels, the options, the documents
and their schemas, and the commands of a stopping table take them from the fields below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from itertools import groupby
from math import inf, isfinite, sqrt
from numbers import Real
from typing import Any

from mbplugin.errors import BadUsage
from mbplugin.phrases import one_line_repr

#: Dimensions of what is stated of a brake, by its unit: of a joint that turns, and of one that slides.
_DIMENSIONS = {
    "N·m, N": ("torque", "force"),
    "N·m·s/rad": ("rotary damping", "damping"),
    "rad/s": ("angular rate", "speed"),
    "s": ("time", "time"),
    "": ("number", "number"),
}


def _stated(default: float | None, unit: str, *, positive: bool = False, most: float = inf) -> Any:
    return field(default=default, metadata={"unit": unit, "positive": positive, "most": most})


def _part(key: str, text: str, default: float = 0.0) -> Any:
    return field(default=default, metadata={"key": key, "text": text})


@one_line_repr
@dataclass(frozen=True)
class Brake:
    """A brake as a scene, a call or an option states it.

    Parameters
    ----------
    torque, static_torque : float, optional
        Dry part while it slides, and the most it holds at rest, N·m or N.
    viscous : float
        N·m·s/rad or N·s/m.
    delay, engagement : float
        From the signal until the drive is without power, and from there until the brake engages, s. A delay that
        is not stated is 0, and reports of stops say so.
    wear : float
        Share of the dry parts that is left, 0 to 1.
    short_circuit, short_circuit_rate : float, optional
        Of a motor whose windings are short-circuited: torque over rate near rest, N·m·s/rad or N·s/m, and
        the rate of the largest torque, rad/s or m/s.
    origin : str
        Where the numbers come from, such as a data sheet or a calibration; reports of stops show it.
    """

    joint: str
    torque: float | None = _stated(None, "N·m, N")
    static_torque: float | None = _stated(None, "N·m, N")
    viscous: float = _stated(0.0, "N·m·s/rad")
    delay: float | None = _stated(None, "s")
    engagement: float = _stated(0.0, "s")
    wear: float = _stated(1.0, "", most=1.0)
    short_circuit: float | None = _stated(None, "N·m·s/rad")
    short_circuit_rate: float | None = _stated(None, "rad/s", positive=True)
    origin: str = ""

    def law(self, effort: float) -> BrakeLaw:
        """Return its law; ``effort`` (N·m or N) stands for a torque that is not stated."""
        torque = self.wear * (effort if self.torque is None else self.torque)
        static = torque if self.static_torque is None else self.wear * self.static_torque
        rate = inf if self.short_circuit_rate is None else self.short_circuit_rate
        return BrakeLaw(torque, static, self.viscous, self.short_circuit or 0.0, rate)


@dataclass(frozen=True)
class BrakeLaw:
    """What resists the rate of a freedom: a brake, or the friction and the damping of the joint itself.

    The force is the dry part, against the sense of the motion, and a part that depends on the rate; see
    :func:`rate_force`. At rest only the dry part holds.

    Parameters
    ----------
    sliding, static : float
        Dry part while it slides, and the most it holds at rest, N·m or N.
    viscous : float
        N·m·s/rad or N·s/m.
    short_circuit, short_circuit_rate : float
        k and ω₀ of k·ω/(1 + (ω/ω₀)²), N·m·s/rad and rad/s or N·s/m and m/s: a motor with short-circuited
        windings. The largest torque is k·ω₀/2, at ω₀.
    """

    sliding: float = _part("torque", "N·m, N; wear included")
    static: float = _part("static", "")
    viscous: float = _part("viscous", "N·m·s/rad, N·s/m")
    short_circuit: float = _part("short_circuit", "N·m·s/rad, N·s/m")
    short_circuit_rate: float = _part("short_circuit_rate", "of the largest torque, rad/s, m/s", inf)

    def __add__(self, other: BrakeLaw) -> BrakeLaw:
        """Return the law of both together on one freedom, of which one at most is that of a motor."""
        if self.short_circuit and other.short_circuit:
            raise BadUsage("two short-circuited motors brake one freedom", expected="one at most")
        both = {name: getattr(self, name) + getattr(other, name) for name in PARTS}
        both["short_circuit_rate"] = (self if self.short_circuit else other).short_circuit_rate
        return BrakeLaw(**both)

    def scaled(self, factor: float) -> BrakeLaw:
        """Return the law of a brake whose torques are larger by a factor; the viscous part is the same."""
        torques = ("sliding", "static", "short_circuit")
        return replace(self, **{name: factor * getattr(self, name) for name in torques})

    @property
    def without_dry_part(self) -> BrakeLaw:
        """What depends on the rate."""
        return replace(self, sliding=0.0, static=0.0)

    @property
    def without_linear_part(self) -> BrakeLaw:
        """What neither a motor with a largest torque nor a damper does."""
        return replace(self.without_dry_part, viscous=0.0)

    @property
    def peak_rates(self) -> tuple[float, ...]:
        """Rates from 0 on at which the part that depends on the rate is largest, rad/s or m/s.

        With a viscous part c that is where c (1 + x)² + k (1 - x) = 0 for the first time, x = (ω/ω₀)².
        """
        c, k = self.viscous, self.short_circuit
        if not k or k < 8.0 * c:
            return ()
        x = 2.0 * (c + k) / (k - 2.0 * c + sqrt(k * (k - 8.0 * c)))
        return (sqrt(x) * self.short_circuit_rate,)

    def words(self, force: str, rate: str) -> str:
        """Return what it does, with its numbers.

        Parameters
        ----------
        force, rate : str
            The units, such as N·m and rad/s.
        """
        per_rate = f"{force}/({rate})"
        held = f" and holds {self.static:.4g} {force}" if self.static != self.sliding else ""
        parts = [f"slides with {self.sliding:.4g} {force}{held}"]
        if self.viscous:
            parts.append(f"{self.viscous:.4g} {per_rate} viscous")
        if self.short_circuit:
            largest = f"largest torque at {self.short_circuit_rate:.4g} {rate}"
            parts.append(f"{self.short_circuit:.4g} {per_rate} of a short-circuited motor ({largest})")
        return ", ".join(parts)

    def document(self) -> dict[str, float | None]:
        """Return the parts by their keys in JSON; null stands for what is infinite."""
        values = {part.metadata["key"]: getattr(self, part.name) for part in fields(self)}
        return {key: value if isfinite(value) else None for key, value in values.items()}


#: The names of the parts of a law, in the order of the records of the kernels.
PARTS = tuple(part.name for part in fields(BrakeLaw))


def rate_force(law: Any, rate: Any) -> Any:
    """Return the part of a law that depends on the rate, against the rate, N·m or N; it is compiled too.

    Parameters
    ----------
    law : BrakeLaw, or a record with its parts
    rate : float or array
        rad/s or m/s.
    """
    saturation = 1.0 + (rate / law.short_circuit_rate) ** 2
    return law.viscous * rate + law.short_circuit * rate / saturation


def depends_on_rate(law: Any) -> bool:
    """Return whether a law has a part that depends on the rate; it is compiled too."""
    return bool(law.viscous != 0.0 or law.short_circuit != 0.0)


def dimension_of(key: str, slides: bool) -> str:
    """Return the dimension of what is stated of the brake of a joint that slides or turns; empty of no number."""
    units = {part.name: part.metadata["unit"] for part in fields(Brake) if part.metadata}
    return _DIMENSIONS[units[key]][slides] if key in units else ""


def bad_number(brake: Brake) -> tuple[str, str] | None:
    """Return the key of a number that no brake can have, and what is expected; None where there is none."""
    for part in fields(Brake):
        value = getattr(brake, part.name)
        if not part.metadata or value is None:
            continue
        is_finite = isinstance(value, Real) and isfinite(value)
        if part.metadata["positive"] and not (is_finite and value > 0):
            return part.name, "a positive number"
        if not (is_finite and value >= 0):
            return part.name, "a number that is not negative"
        if value > part.metadata["most"]:
            return part.name, f"a share of the torque that is left, 0 to {part.metadata['most']:g}"
    return None


def contradiction(brake: Brake, effort: float, unit: str) -> tuple[str, str, str] | None:
    """Return a key that contradicts the others, a clause on the brake, and what is expected; else None.

    Parameters
    ----------
    effort : float
        Stands for a torque that is not stated, N·m or N; infinite where there is none.
    unit : "N·m" or "N"
    """
    torque, static = effort if brake.torque is None else brake.torque, brake.static_torque
    if static is not None and isfinite(torque) and static < torque:
        clause = f"holds {static:g} {unit} and slides with {torque:g} {unit}"
        return "static_torque", clause, "static_torque not below torque"
    pair = ("short_circuit", "short_circuit_rate")
    for key, other in (pair, pair[::-1]):
        if getattr(brake, key) is not None and getattr(brake, other) is None:
            return key, f"states {key} and no {other}", "both or neither"
    return None


def stated_keys() -> str:
    """Return what can be stated of a brake, with units, for the help of an option."""
    return ", ".join(_grouped())


def _grouped() -> Iterator[str]:
    stated = [part for part in fields(Brake) if part.metadata]
    for unit, parts in groupby(stated, lambda part: str(part.metadata["unit"])):
        names = ", ".join(part.name for part in parts)
        yield f"{names} ({unit})" if unit else names
