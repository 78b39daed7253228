"""What a law does not explain, and what rows do not determine: sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.phrases import counted, number
from mbplugin.stopping.calibration.intervals import Parameter
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.values import TOLERANCE

#: Shape indices below it are below 1 by more than rounding.
_BELOW = 0.98
#: From this median shape index of its rows on, the times of category 1 are those of a ramp.
_RAMP = 0.95
#: What is said of a brake that brakes nothing by itself, and is no brake to be pasted unseen.
WITHOUT_TORQUE = (
    "the best torque is its bound, 0: such a brake holds nothing, so check the rows and their units"
    " before a scene takes it"
)


def times_of_ramp(rows: Sequence[Measurement]) -> bool:
    """Return whether ramps explain the times of rows: they give shape indices of 1 and more."""
    indices = [row.shape_index for row in rows if np.isfinite(row.shape_index)]
    return bool(indices) and float(np.median(indices)) >= _RAMP


def unexplained(
    row: Measurement, time: float, distance: float, *, gravity: bool, depends_on_rate: bool
) -> tuple[str, ...]:
    """Return what the computed time (s) and distance (rad, m) of a row leave unexplained, one clause each.

    Parameters
    ----------
    gravity : bool
        Whether gravity acts on the joint in its stops.
    depends_on_rate : bool
        Whether the law has a part that depends on the rate.
    """
    clauses = []
    for name, computed, measured in (("time", time, row.time), ("distance", distance, row.distance)):
        if np.isfinite(measured) and abs(computed - measured) > TOLERANCE * abs(measured):
            clauses.append(
                f"the computed {name} differs by {number(100 * (computed / measured - 1), '+.0f')} %"
            )
    index = row.shape_index
    if clauses and index < _BELOW:
        clauses.append(_reason(row, index, gravity, depends_on_rate))
    return tuple(clause for clause in clauses if clause)


def _reason(row: Measurement, index: float, gravity: bool, depends_on_rate: bool) -> str:
    """Return why the shape of a stop is beyond a law."""
    if row.category == 1:
        return (
            f"its shape index {index:.2f} is below 1, and no ramp gives that: the time contains a slow tail, such as"
            " the settling of the drive"
        )
    if not gravity and not depends_on_rate:
        return (
            f"its shape index {index:.2f} is below 1, and without gravity no delay with dry friction gives that:"
            " the torque grows with the rate, or the time has a slow tail"
        )
    return ""


def shape_notes(rows: Sequence[Measurement], category: int, gravity: bool) -> tuple[str, ...]:
    """Return what the shape indices of rows show by themselves, one sentence each."""
    low = [row for row in rows if row.shape_index < _BELOW]
    if not low or (category == 0 and gravity):
        return ()
    indices = [row.shape_index for row in low]
    span = f"{min(indices):.2f}" if len(low) == 1 else f"{min(indices):.2f} to {max(indices):.2f}"
    what = f"the shape index 2d/(vT) of {counted(len(low), 'row')} is {span}, below 1"
    if category == 1:
        return (
            f"{what}: no reaction and ramp give that. The measured times contain a slow tail, such as the settling of"
            " the drive, and are not fitted",
        )
    return (
        f"{what}: without gravity no delay with dry friction gives that. The torque grows with the rate (viscous,"
        " or a short-circuited motor), or the times have a slow tail",
    )


def undetermined_note(group: Sequence[str], rows: Sequence[Measurement]) -> str:
    """Return what data do not determine, and which rows would."""
    names = f"{', '.join(group[:-1])} and {group[-1]} are" if len(group) > 1 else f"{group[0]} is"
    how = " only in combination" if len(group) > 1 else ""
    speeds = {row.speed for row in rows}
    if len(speeds) == 1:
        remedy = f"all rows are at one speed ({speeds.pop():.4g}); rows at other speeds separate them"
    else:
        remedy = "more speeds, or repeats with less scatter, separate them"
    return f"{names} determined{how if len(group) > 1 else ' not at all'}: {remedy}"


def without_reaction(
    fitted: Mapping[str, Parameter],
) -> tuple[dict[str, Parameter], tuple[tuple[str, ...], ...], str]:
    """Return parameters with a reaction that was set to 0, what is undetermined, and a sentence on it."""
    ((name, ramp),) = fitted.items()
    reaction = Parameter("reaction", "s", 0.0, None, None, False)
    interval = "" if ramp.low is None else f" ({ramp.low:.4g} to {ramp.high:.4g})"
    if name == "time":
        half = (
            "" if ramp.low is None or ramp.high is None else f" ({ramp.low / 2:.4g} to {ramp.high / 2:.4g})"
        )
        what = f"distances alone determine reaction + time/2 = {ramp.value / 2:.4g} s{half}"
    else:
        what = f"with another reaction than 0 the deceleration is not {ramp.value:.4g} {ramp.unit}{interval}"
    every = {"reaction": reaction, name: replace(ramp, identifiable=False)}
    return every, ((name, "reaction"),), f"{what}; the reaction is set to 0, which gives the longest ramp"
