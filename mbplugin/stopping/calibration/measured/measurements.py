"""The rows of a file as stops of a robot: its joints, their units, and speeds from shares."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.measured.table import MeasuredFile, Record
from mbplugin.stopping.table.rated import require_joints

#: A stop within which a joint goes farther than this many times its way at undiminished speed, or less than
#: this share of it, was written in mixed units.
_FARTHEST, _NEAREST = 2.0, 0.05
#: No stop takes longer, s: a separation distance admits no more either.
_LONGEST = 10.0
#: A stop over the whole travel is one: relative to it.
_ROUNDING = 1 + 1e-6


def measurements_of(
    file: MeasuredFile, mech: Mechanism, speeds: Mapping[str, float] | None = None
) -> tuple[Measurement, ...]:
    """Return the measured stops of a robot.

    Parameters
    ----------
    speeds : mapping, optional
        Full speed by joint, rad/s or m/s; by default the velocity limits.

    Raises
    ------
    UnknownName, BadUsage
        A joint that the robot does not have or that has several freedoms, a unit that does not belong to it,
        or a share of an unknown full speed.
    """
    require_joints(mech, speeds or {})
    return tuple(_measurement(file.where(record.line), record, mech, speeds or {}) for record in file.records)


def _measurement(where: str, record: Record, mech: Mechanism, speeds: Mapping[str, float]) -> Measurement:
    numbers, length = record.numbers, _slides(record.joint, mech, where)
    for name in ("speed", "distance", "distance_spread"):
        kind = numbers[name].kind if name in numbers else ""
        if kind == ("angle" if length else "length"):
            raise BadUsage(
                f"the {name} of joint {record.joint!r} is {'an angle' if length else 'a length'}",
                where=where,
                expected="m, as the joint slides" if length else "rad or deg, as the joint turns",
            )
    speed = numbers["speed"].value
    if numbers["speed"].kind == "share":
        speed *= _full_speed(record.joint, mech, speeds, where)
    q = []
    for name, quantity in numbers.items():
        if name.startswith("q "):
            if name[2:] not in mech.q_names:
                raise UnknownName(
                    f"column {name!r} names no coordinate",
                    where=where,
                    remedy=suggestion(name[2:], mech.q_names),
                )
            q.append((name[2:], quantity.value))
    values = {name: quantity.value for name, quantity in numbers.items()}
    row = Measurement(
        record.line,
        record.joint,
        int(values["category"]),
        abs(speed),
        int(values.get("sense", 0)) * (1 if speed > 0 else -1) or (0 if speed > 0 else -1),
        numbers.get("payload"),
        numbers.get("extension"),
        tuple(q),
        values.get("time", nan),
        values.get("distance", nan),
        int(values.get("repeats", 1)),
        values.get("time_spread"),
        values.get("distance_spread"),
        numbers,
    )
    _require_one_unit(row, where)
    freedom = mech.pair_by_name[record.joint].freedoms[0]
    travel, unit = freedom.upper - freedom.lower, "m" if length else "rad"
    _require_below(_LONGEST, row.time, f"takes {row.time:g} s", where, f"{_LONGEST:g} s", "time [ms]")
    _require_below(
        travel * _ROUNDING,
        row.distance,
        f"goes {row.distance:g} {unit}",
        where,
        f"the whole travel of the joint, {travel:.4g} {unit},",
        "distance [mm]" if length else "distance [deg]",
    )
    return row


def _require_one_unit(row: Measurement, where: str) -> None:
    """Require that distance, speed and time fit together, as they do not where degrees meet radians."""
    ratio = 0.5 * row.shape_index
    if ratio > _FARTHEST or ratio < _NEAREST:
        raise BadUsage(
            f"joint {row.joint!r} goes {row.distance:g} in {row.time:g} s from a speed of {row.speed:g} (SI units),"
            f" {ratio:.3g} times its way at undiminished speed",
            where=where,
            expected=f"{_NEAREST:g} to {_FARTHEST:g} times, with all columns in the units of the header",
            remedy="state units in the header, such as speed [deg/s]",
        )


def _require_below(most: float, value: float, what: str, where: str, limit: str, head: str) -> None:
    """Require a time or a distance that a stop can have: where all columns lack their units, they fit together."""
    if value > most:
        raise BadUsage(
            f"the stop {what}",
            where=where,
            expected=f"{limit} at most",
            remedy=f"state the unit in the header, such as {head}",
        )


def _slides(joint: str, mech: Mechanism, where: str) -> bool:
    if joint not in mech.pair_by_name:
        movable = [pair.name for pair in mech.pairs if pair.kind.free]
        raise UnknownName(f"there is no joint {joint!r}", where=where, remedy=suggestion(joint, movable))
    free = mech.pair_by_name[joint].kind.free
    if len(free) != 1:
        raise BadUsage(
            f"joint {joint!r} has {len(free)} freedoms", where=where, expected="a joint with one freedom"
        )
    return free[0][0] == "t"


def _full_speed(joint: str, mech: Mechanism, speeds: Mapping[str, float], where: str) -> float:
    value = speeds.get(joint, mech.pair_by_name[joint].freedoms[0].velocity)
    if not (isfinite(value) and value > 0):
        raise BadUsage(
            f"the speed of joint {joint!r} is a share, and its full speed is not known",
            where=where,
            expected="a velocity limit in the robot's file",
            remedy=f"state it with --speed {joint}=VALUE",
        )
    return float(value)
