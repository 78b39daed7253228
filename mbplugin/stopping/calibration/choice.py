"""Choice of the parameters fitted to the rows of a joint: requested ones, or those of the law that fits best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model import Body, Brake, Mechanism, Pair, Pose
from mbplugin.phrases import counted, number
from mbplugin.simulation.friction import breaking_address
from mbplugin.simulation.run import simulate
from mbplugin.stopping.calibration import TOLERANCE, LawName
from mbplugin.stopping.calibration.fit import (
    BRAKE,
    CONSTANT,
    FRICTION,
    RAMP,
    SHORT_CIRCUIT,
    TIMED,
    BrakeModel,
    Fit,
    RampModel,
    RowModel,
    distinct,
    fit,
    measured,
)
from mbplugin.stopping.calibration.intervals import Parameter
from mbplugin.stopping.calibration.measured import Measurement
from mbplugin.stopping.run import estop
from mbplugin.stopping.side_by_side import compiled_lanes
from mbplugin.stopping.table.run import stopping_table

#: Amount by which Akaike's criterion of a law with more parameters must be lower.
_CLEARLY = 4.0
#: Shape indices below this are less than 1 by more than rounding.
_BELOW = 0.98
#: Times of category 1 are those of a ramp if the median shape index of the rows is at least this.
_RAMP = 0.95
#: Note on a brake without torque, which should not go into a scene unchecked.
WITHOUT_TORQUE = (
    "the best torque is its bound, 0: such a brake holds nothing, so check the rows and their units"
    " before a scene takes it"
)


class Choice(NamedTuple):
    """A fit, its law, and notes on the choice, one sentence each."""

    fit: Fit
    law: LawName
    notes: tuple[str, ...]


def requested(names: Sequence[str] | None, category: int) -> tuple[str, ...]:
    """Return the parameters requested for a category, empty if the fit chooses.

    Raises
    ------
    UnknownName
        There is no such parameter.
    BadUsage
        The parameters do not form a law.
    """
    known = (*BRAKE, *RAMP)
    for name in names or ():
        if name not in known:
            raise UnknownName(f"there is no parameter {name!r}", remedy=suggestion(name, known))
    own = tuple(name for name in (BRAKE, RAMP)[category] if name in (names or ()))
    pairs = {"short_circuit", "short_circuit_rate"}
    if category == 0 and own and "torque" not in own and not pairs & set(own) and "viscous" not in own:
        raise BadUsage(f"the parameters are {', '.join(own)}", expected="a torque that brakes among them")
    if category == 0 and len(pairs & set(own)) == 1:
        raise BadUsage("one of short_circuit and short_circuit_rate is fitted", expected="both or neither")
    if category == 1 and own and ("time" in own) == ("deceleration" in own):
        raise BadUsage(
            f"the parameters are {', '.join(own)}", expected="one of time and deceleration among them"
        )
    return own


def choose_brake(model: BrakeModel, names: tuple[str, ...], where: str) -> Choice:
    """Fit a brake to rows; without ``names``, choose between friction and a short-circuited motor.

    Raises
    ------
    BadUsage
        There are fewer numbers than parameters.
    """
    if names:
        require_enough(model.rows, names, where)
        return Choice(fit(model, names), _law_of(names), ())
    numbers = int(np.isfinite(measured(distinct(model.rows)[0])).sum())
    if numbers < 2:
        return Choice(
            fit(model, ("torque",)), "friction", ("one number: one parameter is fitted, the torque",)
        )
    if numbers == 2:
        pairs = [fit(model, pair) for pair in (("torque", "viscous"), ("delay", "torque"))]
        best = min(pairs, key=lambda found: found.squares)
        left = "delay" if "viscous" in best.names else "viscous part"
        note = f"two numbers: two parameters are fitted, {' and '.join(best.names)}; the {left} is not"
        return Choice(best, "friction", (note,))
    friction = fit(model, FRICTION)
    if numbers < 2 + len(SHORT_CIRCUIT) or len(friction.residuals) < 3 + len(SHORT_CIRCUIT):
        return Choice(friction, "friction", ())
    motor = fit(model, SHORT_CIRCUIT)
    gain = criterion(friction, model) - criterion(motor, model)
    if gain > _CLEARLY:
        note = f"a short-circuited motor explains the rows better than viscous friction (AICc lower by {gain:.3g})"
        return Choice(motor, "short_circuit", (note,))
    return Choice(friction, "friction", ())


def choose_ramp(model: RampModel, names: tuple[str, ...], where: str) -> Choice:
    """Fit a ramp to rows; without ``names``, choose the better of constant time and constant deceleration.

    Times that no ramp explains are left out. Distances alone do not determine the reaction, which is then zero.

    Raises
    ------
    BadUsage
        There are fewer numbers than parameters.
    """
    times, notes = times_of_ramp(model.rows), []
    if names:
        require_enough(model.rows, names, where)
        fixed = {} if "reaction" in names else {"reaction": 0.0}
        return Choice(fit(model, names, fixed, times), _law_of(names), ())
    fixed = {} if times else {"reaction": 0.0}
    laws = [tuple(name for name in law if name not in fixed) for law in (TIMED, CONSTANT)]
    require_enough(model.rows, laws[0], where)
    timed, constant = (fit(model, law, fixed, times) for law in laws)
    if len({row.speed for row in model.rows}) == 1:
        notes.append(
            "all rows are at one speed: they do not show whether the time or the deceleration of the ramp is constant;"
            " constant time is taken"
        )
        return Choice(timed, "ramp_time", tuple(notes))
    gain = criterion(timed, model) - criterion(constant, model)
    best, law = (constant, "ramp_deceleration") if gain > 0 else (timed, "ramp_time")
    kinds = ("deceleration", "time") if gain > 0 else ("time", "deceleration")
    notes.append(
        f"a ramp of constant {kinds[0]} explains the rows better than one of constant {kinds[1]}"
        f" (AICc lower by {abs(gain):.3g})"
    )
    return Choice(best, law, tuple(notes))  # type: ignore[arg-type]


def require_enough(rows: Sequence[Measurement], names: Sequence[str], where: str) -> None:
    """Require as many measured numbers as parameters.

    Raises
    ------
    BadUsage
        There are fewer; the message names both.
    """
    numbers = int(np.isfinite(measured(rows)).sum())
    if numbers < len(names):
        raise BadUsage(
            f"{counted(len(rows), 'row')} of joint {rows[0].joint!r}, category {rows[0].category}, with"
            f" {counted(numbers, 'number')} cannot determine {counted(len(names), 'parameter')} ({', '.join(names)})",
            where=where,
            expected="at least as many measured times and distances as parameters",
            remedy="add rows, hold fewer out, or fit fewer with --parameters",
        )


def criterion(found: Fit, model: RowModel) -> float:
    """Return Akaike's criterion corrected for small samples (AICc), up to a constant that all laws share."""
    n, p = len(found.residuals), len(found.names)
    misfit = found.squares
    if not found.stated:
        difference = (model.predict(found.values) - measured(model.rows)) ** 2
        counts = np.array([row.repeats for row in model.rows])[:, None]
        means = [
            (int(used.sum()), float((column * own)[used].mean()))
            for column, own, used in zip(difference.T, np.repeat(counts, 2, 1).T, found.used.T, strict=True)
            if used.any()
        ]
        misfit = sum(number * np.log(max(mean, 1e-300)) for number, mean in means)
    return float(misfit + 2.0 * p * n / max(n - p - 1, 0.5))


def _law_of(names: Sequence[str]) -> LawName:
    if "time" in names or "deceleration" in names:
        return "ramp_time" if "time" in names else "ramp_deceleration"
    if "short_circuit" in names:
        return "short_circuit"
    return "friction"


# Sentences on what a law does not explain and on what rows do not determine.


def times_of_ramp(rows: Sequence[Measurement]) -> bool:
    """Return True if ramps explain the times of rows: ramps give shape indices of 1 or more."""
    indices = [row.shape_index for row in rows if np.isfinite(row.shape_index)]
    return bool(indices) and float(np.median(indices)) >= _RAMP


def unexplained(
    row: Measurement, time: float, distance: float, *, gravity: bool, depends_on_rate: bool
) -> tuple[str, ...]:
    """Return reasons why a row differs from its computed time (s) and distance (rad, m), one clause each.

    Parameters
    ----------
    gravity : bool
        Whether gravity acts on the joint during its stops.
    depends_on_rate : bool
        Whether the law has a rate-dependent part.
    """
    clauses = []
    for name, computed, observed in (("time", time, row.time), ("distance", distance, row.distance)):
        if np.isfinite(observed) and abs(computed - observed) > TOLERANCE * abs(observed):
            clauses.append(
                f"the computed {name} differs by {number(100 * (computed / observed - 1), '+.0f')} %"
            )
    index = row.shape_index
    if clauses and index < _BELOW:
        clauses.append(_reason(row, index, gravity, depends_on_rate))
    return tuple(clause for clause in clauses if clause)


def _reason(row: Measurement, index: float, gravity: bool, depends_on_rate: bool) -> str:
    """Return the reason why a law cannot explain the shape of a stop, empty if unknown."""
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
    """Return the conclusions from the shape indices of rows, one sentence each."""
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
    """Return a sentence on parameters that the data do not determine, and on rows that would."""
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
    """Return the parameters with a reaction set to 0, the undetermined groups, and a sentence on them."""
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


# The machine code of motions and stops, compiled by computing a small example of each.


def compile_everything() -> None:
    """Compile the code of motions and stops, or load it from the cache; without the variational integrator."""
    rod = Body("rod", 1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.01, 0.1, 0.1]))
    hinge = Pair("hinge", "revolute", "world", "rod", Pose.identity(), Pose.identity())
    mech = Mechanism("rod", (rod,), (hinge,))
    ring = Pair("ring", "revolute", "world", "rod", Pose.identity(), Pose.identity())
    simulate(Mechanism("rod", (rod,), (hinge, ring)), 0.01, qd={"hinge": 1.0}).reactions("hinge")
    estop(mech, qd={"hinge": 1.0}, brakes=[Brake("hinge", 20.0)])
    stopping_table(mech, speeds={"hinge": 1.0}, decelerations={"hinge": 2.0}, brakes=[Brake("hinge", 20.0)])
    breaking_address()
    compiled_lanes()
