"""The worst stops of a search as text: assumptions first, then the values, and failing brakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, number
from mbplugin.report.rounding import shown
from mbplugin.report.text.blocks import warning_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.stopping.estop import OUTCOME_WORDS
from mbplugin.report.text.table import table_lines
from mbplugin.stopping.worst.in_units import worst_in_units

if TYPE_CHECKING:
    from mbplugin.stopping.worst.values import FailedBrake, WorstStop, WorstStops

WORST_HEADS = ("value", "table row", "factor", "time", "tool path", "payload")
FAILURE_HEADS = ("worst outcome", "time", "tool path")


def worst_stop_lines(
    worst: WorstStops, width: int = PLAIN_WIDTH, *, commands: bool = False, units: Units = SI
) -> Iterator[Line]:
    """Yield the worst stops; optionally with the command that computes each again."""
    yield from warning_lines(worst.of_effort.warning, width)
    yield from warning_lines(worst.tool_choice.warning, width)
    yield from warning_lines(worst.searches.warning, width)
    title = (
        f"{worst.model}: worst of {counted(worst.count, 'stop')} of category {worst.category}, seed"
        f" {worst.seed}, tool {worst.tool}; computed, not measured"
    )
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    for sentence in worst.assumptions[1:]:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    yield Line()
    yield from found_lines(worst, width, commands=commands, units=units)


def found_lines(worst: WorstStops, width: int, *, commands: bool, units: Units) -> Iterator[Line]:
    """Yield what was searched and found, without the assumptions."""
    worst = worst_in_units(worst, units)
    for outcome, count in worst.outcomes.items():
        yield Line(f"  {OUTCOME_WORDS[outcome]}: {count}")
    cells = [(one.name, worst_cells(one, units.length)) for one in worst.found]
    yield from table_lines("worst stop", WORST_HEADS, cells, width, 12)
    for one in worst.found:
        if one.outcome != "stopped":
            said = f"{one.name}: {OUTCOME_WORDS[one.outcome]}"
            yield from (Line(text, "yellow") for text in wrapped(said, width, "  ! ", "    "))
    yield Line()
    for one in worst.found:
        said = f"{one.name}: from {worst_start(one)}"
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))
        if commands and one.command:
            yield Line(f"    {one.command}")
    if worst.failed:
        rows = [(failure_name(one), failure_cells(one, units.length)) for one in worst.failed]
        yield from table_lines("these stops again", FAILURE_HEADS, rows, width, 26)


def worst_cells(worst: WorstStop, length: str) -> list[str]:
    """Return the cells under the heads, with the unit of lengths."""
    grid = "–" if not worst.grid else f"{shown(worst.grid)} {worst.unit}"
    if worst.outcome == "limit_hit":
        # every stop that was searched ends at a limit: none came to rest by its brakes
        return ["–", grid, "–", "–", "–", f"{worst.payload:.4g} kg"]
    # a stop that does not end goes on after what was computed
    more = "> " if worst.outcome in ("not_stopped", "budget_spent", "loop_opened") else ""
    factor = "–" if worst.factor is None else f"{more}{worst.factor:.3g}"
    own = f"{more}{shown(worst.value)} {worst.unit}"
    return [
        own,
        grid,
        factor,
        f"{worst.time:.4g} s",
        f"{shown(worst.tool_distance)} {length}",
        f"{worst.payload:.4g} kg",
    ]


def worst_start(worst: WorstStop) -> str:
    """Return what a stop starts from."""
    rates = {name: rate for name, rate in worst.qd.items() if rate}
    parts = [f"{name} {number(value)}" for name, value in worst.q.items()]
    parts.append("rates " + ", ".join(f"{name} {rate:.4g}" for name, rate in rates.items()))
    for what, factors in (("torque", worst.torque_factors), ("delay", worst.delay_factors)):
        parts += [f"{what} of {name} × {factor:.4g}" for name, factor in factors.items()]
    return ", ".join(parts)


def failure_name(failed: FailedBrake) -> str:
    """Return which brake fails, and how."""
    kind, amount = failed.failure.kind, failed.failure.amount
    words = {"dead": "dead", "worn": f"at {100 * amount:g} %", "late": f"{1e3 * amount:g} ms late"}
    return f"brake of {failed.joint} {words[kind]}"


def failure_cells(failed: FailedBrake, length: str) -> list[str]:
    """Return the cells under the heads, with the unit of lengths."""
    rest = [f"{failed.time:.4g} s", f"{failed.tool_distance:.4g} {length}"] if failed.time > 0 else ["–", "–"]
    return [OUTCOME_WORDS[failed.outcome], *rest]
