"""The worst stops of a search as text: assumptions first, then the values, and failing brakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.phrases import counted
from mbplugin.report.text.blocks import table_lines, warning_lines
from mbplugin.report.text.estop import OUTCOME_WORDS
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.stopping.worst.values import FailedBrake, WorstStop, WorstStops

_MEASURES = {"time": "longest time", "travel": "longest travel", "tool_distance": "longest tool path"}
_HEADS = ("value", "table row", "factor", "time", "tool path", "payload")


def worst_stop_lines(
    worst: WorstStops, width: int = PLAIN_WIDTH, *, commands: bool = False
) -> Iterator[Line]:
    """Yield the worst stops; optionally with the command that computes each again."""
    yield from warning_lines(worst.of_effort.warning, width)
    title = (
        f"{worst.model}: worst of {counted(worst.count, 'stop')} of category 0, seed {worst.seed},"
        f" tool {worst.tool}; computed, not measured"
    )
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    for sentence in worst.assumptions[1:]:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    yield Line()
    for outcome, count in worst.outcomes.items():
        yield Line(f"  {OUTCOME_WORDS[outcome]}: {count}")
    yield from table_lines("worst stop", _HEADS, [(_name(w), _cells(w)) for w in worst.found], 12)
    for one in worst.found:
        if one.outcome != "stopped":
            said = f"{_name(one)}: {OUTCOME_WORDS[one.outcome]}"
            yield from (Line(text, "yellow") for text in wrapped(said, width, "  ! ", "    "))
    yield Line()
    for one in worst.found:
        yield from _start(one, width, commands)
    if worst.failed:
        rows = [(_failure(f), [OUTCOME_WORDS[f.outcome], *_rest(f)]) for f in worst.failed]
        yield from table_lines("these stops again", ("worst outcome", "time", "tool path"), rows, 26)


def _name(worst: WorstStop) -> str:
    return f"{worst.axis or 'robot'}: {_MEASURES[worst.measure]}"


def _cells(worst: WorstStop) -> list[str]:
    grid = "–" if worst.grid is None else f"{worst.grid:.4g} {worst.unit}"
    factor = "–" if worst.factor is None else f"{worst.factor:.3g}"
    own = f"{worst.value:.4g} {worst.unit}"
    return [
        own,
        grid,
        factor,
        f"{worst.time:.4g} s",
        f"{worst.tool_distance:.4g} m",
        f"{worst.payload:.4g} kg",
    ]


def _start(worst: WorstStop, width: int, commands: bool) -> Iterator[Line]:
    """Yield what a stop starts from."""
    rates = {name: rate for name, rate in worst.qd.items() if rate}
    parts = [f"{name} {value:.4g}" for name, value in worst.q.items()]
    parts.append("rates " + ", ".join(f"{name} {rate:.4g}" for name, rate in rates.items()))
    for what, factors in (("torque", worst.torque_factors), ("delay", worst.delay_factors)):
        parts += [f"{what} of {name} × {factor:.4g}" for name, factor in factors.items()]
    said = f"{_name(worst)}: from {', '.join(parts)}"
    yield from (Line(text) for text in wrapped(said, width, "  ", "    "))
    if commands and worst.command:
        yield Line(f"    {worst.command}")


def _failure(failed: FailedBrake) -> str:
    kind, amount = failed.failure.kind, failed.failure.amount
    words = {"dead": "dead", "worn": f"at {100 * amount:g} %", "late": f"{1e3 * amount:g} ms late"}
    return f"brake of {failed.joint} {words[kind]}"


def _rest(failed: FailedBrake) -> list[str]:
    rested = failed.time > 0
    return [f"{failed.time:.4g} s", f"{failed.tool_distance:.4g} m"] if rested else ["–", "–"]
