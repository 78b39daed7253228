"""Parse numbers of options with their units, each in the dimension of its joint or key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any

import numpy as np

from mbplugin.cli.options import put_once, split
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model import Array, Lock, Mechanism, TimedConstraint, accelerations_of, follows, rates_of
from mbplugin.model.brake_law import DIMENSION_OF, SI, UNITS, Units, dimension_of
from mbplugin.model.mechanism.kinematics import forces_of, limits_of, misfit_dimension
from mbplugin.phrases import counted

_LOAD, _PAYLOAD = "BODY:FX,FY,FZ[,MX,MY,MZ][@X,Y,Z]", "BODY:MASS[@X,Y,Z]"


@dataclass(frozen=True, eq=False)
class Quantities:
    """Parser of the numbers of options.

    Parameters
    ----------
    units : Units
        Units of numbers without a unit.
    mech : Mechanism
        Determines which joints turn and which slide.
    """

    units: Units
    mech: Mechanism

    def coordinates(self, texts: Sequence[str] | None, option: str = "--q") -> dict[str, float]:
        """Return coordinates by name, rad and m."""
        dimension = self._coordinates
        return named(
            texts, option, lambda name: dimension.get(name, ""), self.units, self._leading(dimension)
        )

    def rates(self, texts: Sequence[str] | None, option: str = "--qd") -> dict[str, float]:
        """Return rates by name, rad/s and m/s."""
        return named(texts, option, self._rates, self.units, self._leading(self.mech.qd_names))

    def accelerations(self, texts: Sequence[str] | None, option: str) -> dict[str, float]:
        """Return accelerations by name, rad/s² and m/s²."""
        known = self._leading(self.mech.qd_names)
        return named(texts, option, accelerations_of(self.mech), self.units, known)

    def rest_speed(self, text: str | None) -> float:
        """Return the speed of ``--rest-speed``, rad/s, or m/s if it has a linear unit; 0 without the option.

        Raises
        ------
        BadUsage
            The text is not a speed, or has no unit although the default units are not SI.
        """
        if text is None:
            return 0.0
        if not self.units.is_si and text.strip()[-1:].isdigit():
            raise BadUsage(
                f"--rest-speed {text!r} has no unit, and is one number for joints that turn and that slide",
                expected="a speed with its unit, such as 0.1deg/s or 1mm/s",
            )
        sliding = text.replace(" ", "").endswith(tuple(UNITS["speed"]))
        return self.units.value(text, "speed" if sliding else "angular rate", "--rest-speed")

    def torques(self, texts: Sequence[str] | None, option: str = "--torque") -> dict[str, float]:
        """Return generalised forces by rate name, N·m and N."""
        return named(texts, option, forces_of(self.mech), self.units, self._leading(self.mech.qd_names))

    def misfits(self, texts: Sequence[str] | None, option: str = "--misfit") -> dict[str, float]:
        """Return misfits by ``NAME.COMPONENT``, rad and m."""
        return named(texts, option, misfit_dimension, self.units)

    def limits(self, texts: Sequence[str] | None) -> dict[str, float]:
        """Return load limits by ``JOINT`` or ``JOINT.COMPONENT``, N and N·m."""
        return named(texts, "--limit", limits_of(self.mech), self.units)

    def brakes(self, texts: Sequence[str] | None) -> list[dict[str, Any]]:
        """Return the brakes stated by ``--brake``."""
        return [brake for text in texts or () for brake in self._brakes(text)]

    def joints(self, texts: Sequence[str] | None, option: str) -> tuple[str, ...]:
        """Return the joints (or ``joint.freedom``) of comma-separated names and patterns."""
        return tuple(name for part in split(texts) for name in matching(part, self._joints, option))

    def locks(self, texts: Sequence[str] | None) -> list[Lock]:
        """Return the locks stated by ``--lock``."""
        return [lock for text in texts or () for lock in self._locks(text)]

    def holds(self, texts: Sequence[str] | None) -> list[TimedConstraint]:
        """Return the timed constraints stated by ``--hold``."""

        found = []
        for text in texts or ():
            name, at, times = text.rpartition("@")
            parts = [self.units.value(t, "time", f"--hold {text!r} has") for t in times.split(":", 1) if at]
            found += [
                TimedConstraint(one, *parts) if at else TimedConstraint(one)
                for one in matching(name if at else text, self._joints, "--hold")
            ]
        return found

    def loads(self, texts: Sequence[str] | None) -> list[dict[str, Any]]:
        """Return the loads stated by ``--load``, N, N·m and m."""
        return [self._load(text) for text in texts or ()]

    def payloads(self, texts: Sequence[str] | None) -> list[dict[str, Any]] | None:
        """Return the payloads stated by ``--payload``, kg and m; None without the option."""
        return [self._payload(text) for text in texts] if texts else None

    def tool_payloads(self, texts: Sequence[str] | None) -> float | list[dict[str, Any]] | None:
        """Return the payloads of ``--payload``; a single mass (kg) is one at the tool; None without the option.

        Raises
        ------
        BadUsage
            A mass or a payload is stated in another form.
        """
        if not texts:
            return None
        if len(texts) == 1 and ":" not in texts[0]:
            if {"@", "="} & {*texts[0]}:
                meant = _with_colon(texts[0])
                raise BadUsage(
                    f"--payload has {texts[0]!r}",
                    expected=f"MASS, or {_PAYLOAD}",
                    remedy=f"write --payload {meant}" if meant else "",
                )
            return self.units.value(texts[0], "mass", "--payload has")
        return self.payloads(texts)

    def point(self, text: str | None, option: str) -> Array | None:
        """Return the point (3,), m, given as ``X,Y,Z``; None without the option."""
        return None if text is None else np.array(self._point(option, text, text))

    def _brakes(self, text: str) -> Iterator[dict[str, Any]]:
        joints, colon, values = text.rpartition(":")
        if not colon or not joints.strip():
            raise BadUsage(f"--brake has {text!r}", expected="JOINT:KEY=VALUE,…")
        for joint in matching(joints.strip(), self._joints, "--brake"):
            dimension = partial(dimension_of, slides=self._rates(joint) == "speed")
            yield {"joint": joint, **named([values], "--brake", dimension, self.units)}

    def _locks(self, text: str) -> Iterator[Lock]:

        joints, at, times = text.rpartition("@")
        if not at:
            yield from (Lock(joint) for joint in matching(text, self._joints, "--lock"))
            return
        begin, *end = (self.units.value(t, "time", f"--lock {text!r} has") for t in times.split(":", 1))
        for joint in matching(joints, self._joints, "--lock"):
            yield Lock(joint, begin, until=end[0] if end else None)

    def _load(self, text: str) -> dict[str, Any]:
        body, values, point = self._parts("--load", text, _LOAD)
        if len(values) not in (3, 6):
            raise BadUsage(
                f"--load {text!r} has {counted(len(values), 'number')}", expected="three of a force, or six"
            )
        force = self._numbers("--load", text, values[:3], "force")
        torque = self._numbers("--load", text, values[3:], "torque")
        return {"body": body, "force": force, "torque": torque or [0.0] * 3, "point": point}

    def _payload(self, text: str) -> dict[str, Any]:
        body, values, point = self._parts("--payload", text, _PAYLOAD)
        if len(values) != 1:
            raise BadUsage(f"--payload {text!r} has {counted(len(values), 'number')}", expected="one mass")
        (mass,) = self._numbers("--payload", text, values, "mass")
        return {"body": body, "mass": mass, "com": point}

    def _parts(self, option: str, text: str, expected: str) -> tuple[str, list[str], list[float]]:
        """Return body, numbers and point of ``BODY:…[@…]``; the default point is the origin of the link."""
        body, colon, rest = text.rpartition(":")
        values, at, place = rest.partition("@")
        if not colon or not body.strip():
            meant = _with_colon(text)
            raise BadUsage(
                f"{option} has {text!r}", expected=expected, remedy=f"write {option} {meant}" if meant else ""
            )
        point = self._point(option, text, place) if at else [0.0] * 3
        return body.strip(), values.split(","), point

    def _point(self, option: str, text: str, place: str) -> list[float]:
        point = self._numbers(option, text, place.split(","), "length")
        if len(point) != 3:
            raise BadUsage(f"{option} {text!r} has a point of {len(point)} numbers", expected="three")
        return point

    def _numbers(self, option: str, text: str, parts: list[str], dimension: str) -> list[float]:
        return [self.units.value(part, dimension, f"{option} {text!r} has") for part in parts]

    @cached_property
    def _coordinates(self) -> dict[str, str]:
        from mbplugin.model import coordinate_units

        units = (DIMENSION_OF[unit] for unit in coordinate_units(self.mech))
        return dict(zip(self.mech.q_names, units, strict=True))

    @cached_property
    def _joints(self) -> tuple[str, ...]:
        """The joints that a pattern can match: movable joints that do not follow a coupling."""
        pairs = (joint.pair for joint in self.mech.tree.joints)
        return tuple(p.name for p in pairs if p is not None and p.kind.free and not follows(self.mech, p))

    def _leading(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the coordinates or rates that a pattern can match: those of joints that do not follow a coupling."""
        own = set(self._joints)
        return tuple(name for name in names if name in own)

    @cached_property
    def _rates(self) -> Callable[[str], str]:
        return rates_of(self.mech)


def _with_colon(text: str) -> str:
    """Return ``BODY:NUMBERS`` for ``BODY=NUMBERS`` and ``BODY,NUMBERS``; an empty text for anything else."""
    return re.sub(r"^([A-Za-z_]\w*)[=, ]\s*", r"\1:", text) if re.match(r"[A-Za-z_]\w*[=, ]", text) else ""


def named(
    texts: Sequence[str] | None,
    option: str,
    dimension: Callable[[str], str],
    units: Units = SI,
    known: Sequence[str] = (),
) -> dict[str, float]:
    """Return values by name from ``NAME=VALUE,…``, in SI units.

    Parameters
    ----------
    dimension : callable
        Returns the dimension of a name; empty if any unit is accepted.
    known : sequence of str
        Names that a pattern with ``*`` or ``?`` can match.

    Raises
    ------
    BadUsage
        A name or value is missing, a value is not a finite number of the dimension, or a name is given twice.
    """
    values: dict[str, float] = {}
    for part in split(texts):
        name, equals, text = part.rpartition("=")
        name = name.strip()
        if not equals or not name:
            raise BadUsage(f"{option} has {part!r}", expected="NAME=VALUE,…")
        if "=" in name and len(name.split()) > 1:
            joined = ",".join(part.split())
            raise BadUsage(
                f"{option} has {part!r}", expected="commas between", remedy=f"write {option} {joined}"
            )
        for one in matching(name, known, option):
            value = units.value(text, dimension(one), f"{option} gives {one!r} the value")
            put_once(values, one, value, option)
    return values


def matching(name: str, known: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the known names that match a pattern with ``*`` or ``?``; any other name is returned as is.

    Raises
    ------
    UnknownName
        The pattern matches no name.
    """
    if not known or name in known or not set("*?") & set(name):
        return (name,)
    found = tuple(one for one in known if fnmatchcase(one, name))
    if not found:
        raise UnknownName(
            f"{option} names {name!r}, which no joint matches", remedy=suggestion(name, tuple(known))
        )
    return found
