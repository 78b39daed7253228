"""Which parameters are fitted to the rows of a joint: the requested ones, or those of the law that fits best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.phrases import counted
from mbplugin.stopping.calibration.bench import distinct
from mbplugin.stopping.calibration.explain import times_of_ramp
from mbplugin.stopping.calibration.fit import Fit, fit, measured
from mbplugin.stopping.calibration.laws import (
    BRAKE,
    CONSTANT,
    FRICTION,
    RAMP,
    SHORT_CIRCUIT,
    TIMED,
    BrakeModel,
    RampModel,
    RowModel,
)
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.values import LawName

#: By so much Akaike's criterion of a law with more parameters must be lower.
_CLEARLY = 4.0


class Choice(NamedTuple):
    """A fit, the law that it belongs to, and what was decided about it, one sentence each."""

    fit: Fit
    law: LawName
    notes: tuple[str, ...]


def requested(names: Sequence[str] | None, category: int) -> tuple[str, ...]:
    """Return the parameters that are requested for a category, none where the fit chooses.

    Raises
    ------
    UnknownName
        No such parameter.
    BadUsage
        Parameters that make no law.
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
    """Return the fit of a brake to rows; without names that of friction, or of a short-circuited motor.

    Raises
    ------
    BadUsage
        Fewer numbers than parameters.
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
    """Return the fit of a ramp to rows; without names of constant time or constant deceleration, by the fit.

    Times that no ramp gives are left out; the reaction cannot be seen in distances, and is then zero.

    Raises
    ------
    BadUsage
        Fewer numbers than parameters.
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
        Names both.
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
    """Return Akaike's criterion with its correction for few numbers (AICc), up to what all laws share."""
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
