"""The fitted brakes and ramps as tables of a scene, with their origin in comments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from mbplugin.model.ramp import Ramp
from mbplugin.phrases import counted, listed, number
from mbplugin.readers.hashed import Source
from mbplugin.stopping.calibration.cover import as_written
from mbplugin.stopping.calibration.values import CalibratedRow, FittedJoint
from mbplugin.version import __version__
from mbplugin.visible import visible


def toml_of(
    joints: Iterable[FittedJoint],
    rows: Sequence[CalibratedRow],
    measured: Source,
    robot: Iterable[Source],
    date: str,
    hold_out: str | None,
) -> str:
    """Return the ``[[brake]]`` and ``[[ramp]]`` tables of a scene."""
    lines = [
        f"# fitted to measured stops by mbplugin calibrate {__version__} on {date}",
        f"# measured: {measured}",
        *(f"# robot: {source}" for source in robot),
        *([f"# not fitted but predicted: rows with {hold_out}"] if hold_out else []),
    ]
    for joint in joints:
        lines += [
            "",
            *_table(joint, [r for r in rows if (r.joint, r.category) == (joint.joint, joint.category)]),
        ]
    return "".join(f"{visible(line)}\n" for line in lines)


def _table(joint: FittedJoint, rows: Sequence[CalibratedRow]) -> Iterator[str]:
    own = [row for row in rows if not row.held_out]
    lines = listed([str(row.line) for row in own])
    yield f"# {joint.joint}, category {joint.category}: {counted(len(own), 'row')} (line {lines})"
    for name, unit in (("time", "s"), ("distance", joint.unit)):
        gaps = [
            (computed - measured, computed / measured - 1.0)
            for row in own
            if (measured := getattr(row, f"{name}_measured"))
            for computed in (getattr(row, f"{name}_computed"),)
        ]
        if gaps:
            gap, share = max(gaps, key=lambda pair: abs(pair[0]))
            ignored = joint.freedom and getattr(joint, f"{name}_scatter") is None
            note = ", which was not fitted" if ignored else ""
            size, percent = number(gap, "+.3g"), number(100 * share, "+.1f")
            yield f"# largest residual of the {name}{note}: {size} {unit} ({percent} %)"
    yield from (f"# {note}" for note in joint.notes)
    yield "[[ramp]]" if isinstance(joint.stated, Ramp) else "[[brake]]"
    fitted = {}
    for part in fields(joint.stated):
        value = getattr(joint.stated, part.name)
        if part.name in ("joint", "origin"):
            yield f"{part.name} = {json.dumps(value, ensure_ascii=False)}"
        elif value is not None and (part.name in joint.parameters or value != part.default):
            yield f"{part.name} = {_number(value)}{_comment(joint, part.name)}"
            if part.name in joint.parameters:
                fitted[part.name] = _number(value)
    # what was typed by hand later is not evidence, and reports find it by these
    yield f"origin_values = {{ {', '.join(f'{name} = {value}' for name, value in fitted.items())} }}"


def _number(value: float) -> str:
    return repr(as_written(value))


def _comment(joint: FittedJoint, name: str) -> str:
    if joint.margin and joint.margin.time and name in ("delay", "reaction"):
        return f"{_fitted(joint, name)}; and {joint.margin.time:.3g} s to cover line {joint.margin.line}"
    if joint.margin and name in ("delay", "reaction"):
        return f"{_fitted(joint, name)}; covers all fitted rows without a margin"
    return _fitted(joint, name)


def _fitted(joint: FittedJoint, name: str) -> str:
    if name not in joint.parameters:
        return "  # stated"
    parameter = joint.parameters[name]
    unit = f"  # {parameter.unit}"
    if not parameter.identifiable:
        return f"{unit}, not determined by these rows"
    if parameter.low is None or parameter.high is None:
        return f"{unit}, exact fit"
    return f"{unit}, {parameter.low:.4g} to {parameter.high:.4g}"
