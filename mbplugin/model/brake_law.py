"""The law of a brake: its parameters, and its force as a function of the joint rate; units, ramps and misfits.

Only this module defines the parts of a law. The records of the kernels, the options, the documents and their
schemas, and the commands of a stopping table take them from the fields below.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field, fields, replace
from itertools import groupby
from math import inf, isfinite, pi, sqrt
from numbers import Real
from typing import Any

from mbplugin.choices import LARGEST, decimal
from mbplugin.errors import BadUsage, suggestion, takes_units
from mbplugin.phrases import dataclass, one_line_repr

_ANGLE = {"rad": 1.0, "mrad": 1e-3, "deg": pi / 180, "rev": 2 * pi}
_LENGTH = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6}
#: Examples for messages, by dimension.
EXAMPLES = {
    "angle": "an angle, such as 90deg",
    "length": "a length, such as 35mm",
    "time": "a time, such as 500ms",
    "mass": "a mass, such as 5kg",
    "force": "a force, such as 10N",
    "torque": "a torque, such as 0.1Nm",
    "angular rate": "an angular rate, such as 200deg/s",
    "speed": "a speed, such as 250mm/s",
    "angular acceleration": "an angular acceleration, such as 500deg/s²",
    "acceleration": "an acceleration, such as 2m/s²",
    "rotary damping": "a rotary damping, such as 5Nms/rad",
    "damping": "a damping, such as 5Ns/m",
    "number": "a number without a unit",
}
#: Dimensions of the unit symbols in documents: ``rad``, ``m/s`` and so on.
DIMENSION_OF = {"rad": "angle", "m": "length", "rad/s": "angular rate", "m/s": "speed", "1": "number"}
_QUANTITY = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*([^\s\d.+-]\S*)\s*")
_SPELLINGS = (("·", ""), ("⋅", ""), ("*", ""), ("°", "deg"), ("µ", "u"), ("μ", "u"))
#: Dimensions of brake parameters by their unit: for a revolute joint, and for a prismatic one.
_DIMENSIONS = {
    "N·m, N": ("torque", "force"),
    "N·m·s/rad": ("rotary damping", "damping"),
    "rad/s": ("angular rate", "speed"),
    "s": ("time", "time"),
    "": ("number", "number"),
}


# Physical units: parsing of texts such as ``90deg``, and conversion for output.
#
# All computations use SI units with radians. This is the only table of units.


def _per(units: dict[str, float], time: str) -> dict[str, float]:
    return {f"{name}/{time}": size for name, size in units.items()}


#: Unit symbols of each dimension with their sizes in SI units; the SI unit is the first.
UNITS: dict[str, dict[str, float]] = {
    "angle": _ANGLE,
    "length": _LENGTH,
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6},
    "mass": {"kg": 1.0, "g": 1e-3, "t": 1e3},
    "force": {"N": 1.0, "kN": 1e3, "mN": 1e-3},
    "torque": {"Nm": 1.0, "kNm": 1e3, "Ncm": 1e-2, "Nmm": 1e-3, "mNm": 1e-3},
    "angular rate": {**_per(_ANGLE, "s"), "rpm": 2 * pi / 60},
    "speed": _per(_LENGTH, "s"),
    "angular acceleration": _per(_ANGLE, "s²"),
    "acceleration": _per(_LENGTH, "s²"),
    "rotary damping": {"Nms/rad": 1.0, "Nms/deg": 180 / pi},
    "damping": {"Ns/m": 1.0, "Ns/mm": 1e3},
}


DIMENSION_OF |= {"rad/s²": "angular acceleration", "m/s²": "acceleration"}


#: Symbols of units that are written out.
_WRITTEN_OUT = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("degree", "degrees"), "deg"),
    **dict.fromkeys(("radian", "radians"), "rad"),
    **dict.fromkeys(("meter", "meters", "metre", "metres"), "m"),
    **dict.fromkeys(("millimeter", "millimeters", "millimetre", "millimetres"), "mm"),
    **dict.fromkeys(("kilogram", "kilograms"), "kg"),
    **dict.fromkeys(("newton", "newtons"), "N"),
}


def symbol(written: str) -> str:
    """Return the symbol of a unit as in the table: ``deg/s²`` for ``°/s^2`` and ``deg/s`` for ``degrees/second``."""
    for other, own in _SPELLINGS:
        written = written.replace(other, own)
    written = "/".join(_WRITTEN_OUT.get(part.strip(), part) for part in written.split("/"))
    return re.sub(r"/s(\^2|2)$", "/s²", written)


@dataclass(frozen=True)
class Units:
    """The units of angles and lengths for input and output; the units of rates follow from them.

    Parameters
    ----------
    angle, length : str
        Unit symbols.
    """

    angle: str = "rad"
    length: str = "m"

    @property
    def is_si(self) -> bool:
        """True if these are the SI units, so that nothing is converted."""
        return self == SI

    def shown(self, unit: str) -> tuple[float, str]:
        """Return the factor from an SI unit (``rad``, ``m/s`` …) and the new symbol; other units are unchanged."""
        for si, own in (("rad", self.angle), ("m", self.length)):
            if unit == si or unit.startswith(f"{si}/s"):
                return 1.0 / UNITS[DIMENSION_OF[si]][own], own + unit[len(si) :]
        return 1.0, unit

    def value(self, text: str, dimension: str, what: str) -> float:
        """Return the number of a text in SI units; a number without a unit is in these units.

        Parameters
        ----------
        text : str
            ``1.5``, ``90deg``, ``35 mm``.
        dimension : str
            A key of ``UNITS``, ``number`` for no unit, or empty if any unit is accepted.
        what : str
            Start of the error messages: the option and the joint.

        Raises
        ------
        BadUsage
            The text is not a finite number, or its unit is unknown or of another dimension.
        """
        bare, match = _float(text), _QUANTITY.fullmatch(text)
        if bare is not None or match is None:
            return self._checked(bare, self._own_size(dimension), text, dimension, what)
        written = symbol(match[2])
        owner = next((name for name, sizes in UNITS.items() if written in sizes), "")
        expected = EXAMPLES.get(dimension, "a number, such as 90deg or 35mm")
        if not owner:
            known = UNITS.get(dimension, {})
            if re.fullmatch(r"\s*[-+]?\d+,\d+\D*", text):
                point = text.strip().replace(",", ".")
                raise BadUsage(
                    f"{what} {text.strip()!r}", expected="a decimal point", remedy=f"write {point}"
                )
            if dimension and known:
                raise BadUsage(
                    f"{what} {text.strip()!r}, which has an unknown unit",
                    expected=expected,
                    remedy=suggestion(written, list(known)),
                )
            raise BadUsage(f"{what} {text.strip()!r}", expected="a finite number, with a known unit or none")
        if dimension and owner != dimension:
            article = "an" if owner[0] in "aeiou" else "a"
            raise BadUsage(f"{what} {text.strip()!r}, which is {article} {owner}", expected=expected)
        return self._checked(float(match[1]), UNITS[owner][written], text, dimension, what)

    def _own_size(self, dimension: str) -> float:
        """Return the size in SI units of this object's unit of a dimension."""
        si = next((unit for unit, name in DIMENSION_OF.items() if name == dimension), "")
        return 1.0 / self.shown(si)[0]

    def _checked(self, value: float | None, size: float, text: str, dimension: str, what: str) -> float:
        expected = "a finite number" + (f" or {EXAMPLES[dimension]}" if dimension in UNITS else "")
        if value is None or not isfinite(value):
            raise BadUsage(f"{what} {text!r}", expected=expected)
        if abs(value * size) > LARGEST:
            raise BadUsage(f"{what} {text!r}", expected=f"magnitudes up to {LARGEST:g}")
        return value * size


def _float(text: str) -> float | None:
    try:
        return decimal(text)
    except ValueError:
        return None


#: Radians and metres.
SI = Units()


class Said(str):
    """A sentence with quantities: the text is in SI units, and :meth:`in_units` returns it in other units.

    Parameters
    ----------
    template : str
        Template with ``{}`` for each quantity; other braces are doubled.
    *quantities : (float, str)
        Values with their SI units.
    """

    __slots__ = ("quantities", "template")
    template: str
    quantities: tuple[tuple[float, str], ...]

    def __new__(cls, template: str, *quantities: tuple[float, str]) -> Said:
        """Return the sentence in SI units."""
        made = super().__new__(cls, template.format(*(f"{value:.4g} {unit}" for value, unit in quantities)))
        made.template, made.quantities = template, quantities
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.template, *self.quantities)

    def in_units(self, units: Units) -> str:
        """Return the sentence with its quantities in the given units."""
        parts = []
        for value, unit in self.quantities:
            size, shown = units.shown(unit)
            parts.append(f"{size * value:.4g} {shown}")
        return self.template.format(*parts)


def said_in(sentences: Iterable[str], units: Units) -> tuple[str, ...]:
    """Return sentences with their quantities in the given units."""
    return tuple(one.in_units(units) if isinstance(one, Said) else one for one in sentences)


def quoted(text: str) -> str:
    """Escape the braces of a text for the template of a sentence."""
    return text.replace("{", "{{").replace("}", "}}")


def read_units(names: Iterable[str], what: str) -> Units:
    """Return the units for the given symbols, at most one of angles and one of lengths.

    Raises
    ------
    BadUsage
        A symbol is neither, or two are of one dimension.
    """
    found: dict[str, str] = {}
    for name in names:
        unit = symbol(name.strip())
        dimension = next((d for d in ("angle", "length") if unit in UNITS[d]), "")
        if not dimension:
            raise BadUsage(
                f"{what} names {name.strip()!r}", expected=f"some of {', '.join((*_ANGLE, *_LENGTH))}"
            )
        if dimension in found:
            raise BadUsage(f"{what} names {found[dimension]!r} and {unit!r}", expected=f"one {dimension}")
        found[dimension] = unit
    return Units(**found)


def in_both(value: float, unit: str, other: str) -> str:
    """Return a value in an SI unit, and in another unit: ``200 rad/s (11459 deg/s)``."""
    size = UNITS[DIMENSION_OF.get(unit, "mass" if unit == "kg" else "length")][other]
    return f"{value:g} {unit} ({value / size:.5g} {other})"


def _stated(default: float | None, unit: str, text: str, *, positive: bool = False, most: float = inf) -> Any:
    """Return a number of a brake; ``text`` describes it, with its unit, in the schema of scene files."""
    return field(default=default, metadata={"unit": unit, "text": text, "positive": positive, "most": most})


def _part(key: str, text: str, default: float = 0.0) -> Any:
    return field(default=default, metadata={"key": key, "text": text})


@one_line_repr
@dataclass(frozen=True)
class FitUncertainty:
    """Uncertainty of the parameters of a brake or a ramp fitted to measured stops, as a calibration states it.

    Parameters
    ----------
    parameters : tuple of str
        Names of the p fitted parameters of the brake or the ramp.
    sizes : (p,) tuple of float
        Scales: values that would explain a whole stop alone, in the unit of each parameter.
    speeds : (2,) tuple of float
        The lowest and the highest speed of the measured stops, rad/s or m/s.
    freedom : float
        Degrees of freedom of the scatter; 0 for an exact fit, which has no residuals.
    covariance : (p, p) tuple of tuple of float
        Covariance of the fitted parameters divided by their scales; empty if there is no scatter.
    unseen : tuple of (p,) tuple of float
        Null directions of the scaled parameters: the measured rows do not depend on them.
    not_determined : tuple of str
        Parameters that the measured rows alone do not determine.
    curved : bool
        Whether the covariance is valid only near the measured conditions, because the model is nonlinear.
    time, distance : float or None
        Standard deviation of one stop about the computed one, s; rad or m. None if it is not known, or the
        scatter is proportional to the value.
    time_share, distance_share : float or None
        The same relative to the computed value. If both are stated, the data do not show which one applies.
    margin : float
        Margin by which the delay or the reaction exceeds the fitted one, s.
    """

    parameters: tuple[str, ...]
    sizes: tuple[float, ...]
    speeds: tuple[float, ...]
    freedom: float = 0.0
    covariance: tuple[tuple[float, ...], ...] = ()
    unseen: tuple[tuple[float, ...], ...] = ()
    not_determined: tuple[str, ...] = ()
    curved: bool = False
    time: float | None = None
    time_share: float | None = None
    distance: float | None = None
    distance_share: float | None = None
    margin: float = 0.0


@takes_units
@one_line_repr
@dataclass(frozen=True)
class Brake:
    """A brake as stated in a scene, a call or an option.

    Parameters
    ----------
    torque, static_torque : float, optional
        Dry friction torque when sliding, and the largest holding torque at rest, N·m or N.
    viscous : float
        Viscous coefficient, N·m·s/rad or N·s/m.
    delay, engagement : float
        Time from the signal until the drive is without power, and from then until the brake engages, s. A delay that
        is not stated is 0, and reports of stops note that.
    wear : float
        Remaining fraction of the dry torques, 0 to 1.
    short_circuit, short_circuit_rate : float, optional
        For a motor with short-circuited windings: torque per rate near rest, N·m·s/rad or N·s/m, and the rate of the
        largest torque, rad/s or m/s.
    origin : str
        Source of the numbers, such as a data sheet or a calibration; reports of stops show it.
    uncertainty : FitUncertainty, optional
        Uncertainty from a calibration.
    """

    joint: str
    torque: float | None = _stated(
        None,
        "N·m, N",
        "torque while it slides, N·m or N; default: the effort limit, which reports call assumed",
    )
    static_torque: float | None = _stated(
        None, "N·m, N", "largest holding torque at rest, N·m or N; default: torque"
    )
    viscous: float = _stated(0.0, "N·m·s/rad", "N·m·s/rad or N·s/m")
    delay: float | None = _stated(
        None,
        "s",
        "time from the signal until the drive loses power, s; default: 0, which reports call assumed",
    )
    engagement: float = _stated(0.0, "s", "time from the loss of power until the brake engages, s")
    wear: float = _stated(1.0, "", "remaining fraction of the dry torques, 0 to 1", most=1.0)
    short_circuit: float | None = _stated(
        None, "N·m·s/rad", "k of k·ω/(1 + (ω/ω₀)²), a motor with short-circuited windings, N·m·s/rad or N·s/m"
    )
    short_circuit_rate: float | None = _stated(
        None, "rad/s", "ω₀ of a motor with short-circuited windings, rad/s or m/s", positive=True
    )
    origin: str = ""
    uncertainty: FitUncertainty | None = None

    def law(self, effort: float) -> BrakeLaw:
        """Return the law of the brake; ``effort`` (N·m or N) replaces a torque that is not stated."""
        torque = self.wear * (effort if self.torque is None else self.torque)
        static = torque if self.static_torque is None else self.wear * self.static_torque
        rate = inf if self.short_circuit_rate is None else self.short_circuit_rate
        return BrakeLaw(torque, static, self.viscous, self.short_circuit or 0.0, rate)


@dataclass(frozen=True)
class BrakeLaw:
    """Force law that opposes the motion of a freedom: a brake, or the friction and damping of the joint itself.

    The force is the sum of a dry part, opposite to the motion, and a part that depends on the rate, see
    :func:`rate_force`. At rest only the dry part acts.

    Parameters
    ----------
    sliding, static : float
        Dry friction when sliding, and the largest holding force at rest, N·m or N.
    viscous : float
        Viscous coefficient, N·m·s/rad or N·s/m.
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
        """Return the combined law of two on one freedom, at most one of which has a short-circuited motor."""
        if self.short_circuit and other.short_circuit:
            raise BadUsage("two short-circuited motors brake one freedom", expected="one at most")
        both = {name: getattr(self, name) + getattr(other, name) for name in PARTS}
        both["short_circuit_rate"] = (self if self.short_circuit else other).short_circuit_rate
        return BrakeLaw(**both)

    def scaled(self, factor: float) -> BrakeLaw:
        """Return the law with its torques multiplied by a factor; the viscous part is unchanged."""
        return replace(self, **{name: factor * getattr(self, name) for name in SCALED})

    @property
    def without_dry_part(self) -> BrakeLaw:
        """The part that depends on the rate."""
        return replace(self, sliding=0.0, static=0.0)

    @property
    def without_linear_part(self) -> BrakeLaw:
        """The part left to apply when a torque-limited motor does the dry part and a damper the viscous one."""
        return replace(self.without_dry_part, viscous=0.0)

    @property
    def peak_rates(self) -> tuple[float, ...]:
        """Positive rate at which the rate-dependent part has a local maximum, rad/s or m/s; empty if there is none.

        With a viscous part c it is the first root of c (1 + x)² + k (1 - x) = 0, x = (ω/ω₀)².
        """
        c, k = self.viscous, self.short_circuit
        if not k or k < 8.0 * c:
            return ()
        x = 2.0 * (c + k) / (k - 2.0 * c + sqrt(k * (k - 8.0 * c)))
        return (sqrt(x) * self.short_circuit_rate,)

    def words(self, force: str, rate: str) -> str:
        """Return the law in words, with its numbers.

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
        """Return the parts by their JSON keys; None (null) stands for infinity."""
        values = {part.metadata["key"]: getattr(self, part.name) for part in fields(self)}
        return {key: value if isfinite(value) else None for key, value in values.items()}


#: The names of the parts of a law, in the order of the records of the kernels.
PARTS = tuple(part.name for part in fields(BrakeLaw))
#: The parts that are torques: a factor on the torque of a brake applies to these.
SCALED = ("sliding", "static", "short_circuit")


def rate_force(law: Any, rate: Any) -> Any:
    """Return the rate-dependent force of a law, opposite to the rate, N·m or N; the function is also compiled.

    Parameters
    ----------
    law : BrakeLaw, or a record with its parts
    rate : float or array
        rad/s or m/s.
    """
    share = rate / law.short_circuit_rate
    saturation = 1.0 + share * share
    return law.viscous * rate + law.short_circuit * rate / saturation


def depends_on_rate(law: Any) -> bool:
    """Return True if a law has a part that depends on the rate; the function is also compiled."""
    return bool(law.viscous != 0.0 or law.short_circuit != 0.0)


def dimension_of(key: str, slides: bool) -> str:
    """Return the dimension of a brake parameter for a sliding or a turning joint; empty if it is not a number.

    A parameter whose unit is not in the table is a number without a unit, in SI units.
    """
    units = {part.name: part.metadata["unit"] for part in fields(Brake) if part.metadata}
    return _DIMENSIONS.get(units[key], ("number", "number"))[slides] if key in units else ""


def bad_number(brake: Brake) -> tuple[str, str] | None:
    """Return the key of an invalid number of a brake and the expected value; None if all are valid."""
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
    """Return a key that contradicts the others, a clause on the brake, and the expected value; None if there is none.

    Parameters
    ----------
    effort : float
        Replaces a torque that is not stated, N·m or N; infinite if there is no effort limit.
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
    """Return the keys of a brake with their units, for the help text of an option."""
    return ", ".join(_grouped())


def _grouped() -> Iterator[str]:
    stated = [part for part in fields(Brake) if part.metadata]
    for unit, parts in groupby(stated, lambda part: str(part.metadata["unit"])):
        names = ", ".join(part.name for part in parts)
        yield f"{names} ({unit})" if unit else names


# The deceleration ramp of a drive in a controlled stop, stated in a scene, a call or by a calibration.


@one_line_repr
@dataclass(frozen=True)
class Ramp:
    """The ramp by which the drive of a joint decelerates it to rest in stop categories 1 and 2.

    Parameters
    ----------
    time : float, optional
        Duration of the ramp, independent of the initial rate, s.
    deceleration : float, optional
        Deceleration, independent of the initial rate, rad/s² or m/s²; exactly one of the two is stated.
    reaction : float, optional
        Time from the signal until the ramp begins, s; by default the delay of the joint's brake.
    origin : str
        Source of the numbers, such as a data sheet or a calibration; reports of stops show it.
    uncertainty : FitUncertainty, optional
        Uncertainty from a calibration.
    """

    joint: str
    time: float | None = None
    deceleration: float | None = None
    reaction: float | None = None
    origin: str = ""
    uncertainty: FitUncertainty | None = None

    def __post_init__(self) -> None:
        if (self.time is None) == (self.deceleration is None):
            stated = "neither of" if self.time is None else "both"
            raise BadUsage(
                f"the ramp of {self.joint!r} states {stated} time and deceleration", expected="one of them"
            )

    def sentence(self, coordinate: str) -> Said:
        """Return a sentence with the numbers and their source; ``coordinate`` is the unit of the joint, rad or m."""
        origin, joint = quoted(self.origin or "stated"), quoted(self.joint)
        reaction = "" if self.reaction is None else f", {1e3 * self.reaction:.4g} ms after the signal"
        if self.time is not None:
            return Said(f"{joint}: a ramp of {1e3 * self.time:.4g} ms{reaction} ({origin})")
        assert self.deceleration is not None
        return Said(f"{joint}: a ramp of {{}}{reaction} ({origin})", (self.deceleration, f"{coordinate}/s²"))

    def deceleration_from(self, rate: float) -> float:
        """Return the deceleration from a rate (rad/s, m/s), rad/s² or m/s², positive; at rest it is arbitrary."""
        if self.deceleration is not None:
            return self.deceleration
        assert self.time is not None
        return abs(rate) / self.time or 1.0


# Misfits, their tolerances, and limits of the loads that they cause.


@dataclass(frozen=True)
class Misfit:
    """The offset of a joint's successor along a row before the joint is assembled.

    Parameters
    ----------
    joint, component : str
        The row: a constraint and its component.
    value : float or None
        The offset, m or rad.
    sigma : float or None
        Its standard deviation, m or rad; misfits of different rows are independent.
    """

    joint: str
    component: str
    value: float | None = None
    sigma: float | None = None

    @property
    def name(self) -> str:
        """The row as written on the command line, ``JOINT.COMPONENT``."""
        return f"{self.joint}.{self.component}"


@dataclass(frozen=True)
class Limit:
    """The limit of the load that misfits cause in a joint.

    Parameters
    ----------
    joint : str
    value : float
        Limit of the joint's resultant force, N; or of one component, N or N·m.
    component : str
        Empty for the resultant force.
    """

    joint: str
    value: float
    component: str = ""

    @property
    def name(self) -> str:
        """The name as written on the command line, ``JOINT`` or ``JOINT.COMPONENT``."""
        return f"{self.joint}.{self.component}" if self.component else self.joint
