"""The verdict and its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from mbplugin.phrases import counted
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, joined
from mbplugin.report.rounding import shown
from mbplugin.report.summary import findings_summary
from mbplugin.report.text.engines import engines_verdict
from mbplugin.report.text.lint import analysis_verdict, verdict
from mbplugin.report.text.stopping.estop import OUTCOME_WORDS

_AGREEMENTS: Mapping[str, str] = {
    "agrees": "PyBullet agrees",
    "disagrees": "PyBullet disagrees",
    "not asymptotic": "Undecided: PyBullet's error does not shrink in proportion to its step",
    "not comparable": "Undecided: the two motions cannot be compared",
}


def verdict_section(chapter: Chapter) -> Html:
    """Return the first lines of a chapter."""
    said = sentence(chapter)
    return joined(
        [
            [element("p", one, class_="alarm", role="alert") for one in chapter.warnings],
            element("p", said, class_=f"verdict {grade(chapter)}") if said else None,
            element("dl", [_tile(*tile) for tile in _tiles(chapter)], class_="tiles"),
        ]
    )


def grade(chapter: Chapter) -> str:
    """Return good (agrees), fair (assumed or undetermined) or bad (dangerous), which colours the verdict."""
    if chapter.report is not None and chapter.report.exit_code:
        return "bad"
    if set(_outcomes(chapter)) - {"stopped"} or _too_short(chapter):
        return "bad"
    if chapter.difference is not None:
        return "good" if chapter.difference.same else "bad"
    if chapter.agreement is not None:
        # a comparison that decides nothing is not dangerous
        if chapter.agreement.verdict == "disagrees":
            return "bad"
        return "good" if chapter.agreement.agrees and not chapter.agreement.assumed else "fair"
    if chapter.side_by_side is not None and not chapter.side_by_side.agrees:
        return "bad"
    if chapter.side_by_side is not None and not chapter.side_by_side.compared:
        return "fair"
    made = chapter.distance
    if chapter.warnings or (made is not None and (made.stop.assumed or made.tool_choice.reason)):
        return "fair"
    if chapter.calibration is not None and any(row.unexplained for row in chapter.calibration.rows):
        return "fair"
    redundant = chapter.verdicts is not None and chapter.verdicts.degree_of_redundancy
    found = chapter.report is not None and chapter.report.findings
    return "fair" if redundant or found else "good"


def _outcomes(chapter: Chapter) -> Iterator[str]:
    """Yield how the stops that are shown end."""
    if chapter.stop is not None:
        yield chapter.stop.outcome
    if chapter.table is not None:
        yield from (row["outcome"] for row in chapter.table.rows)
    if chapter.worst is not None:
        yield from (one.outcome for one in chapter.worst.found)
    if chapter.sweep is not None:
        yield from chapter.sweep.report.outcomes


def sentence(chapter: Chapter) -> str:
    """Return the verdict in one line."""
    if chapter.stop is not None:
        stop = chapter.stop
        joint = f"{stop.impact.joint} " if stop.impact is not None else ""
        return (
            f"{stop.scenario.mech.name}: stop of category {stop.scenario.category},"
            f" {joint}{OUTCOME_WORDS[stop.outcome]} after {stop.time:.4g} s; computed, not measured"
        )
    if chapter.motion is not None:
        motion = chapter.motion
        outcome = motion.outcome.replace("_", " ")
        return f"{motion.mechanism.name}: motion over {motion.time[-1]:.6g} s, {outcome}"
    if chapter.table is not None:
        outcomes = Counter(row["outcome"] for row in chapter.table.rows)
        return (
            f"{chapter.table.model}: stopping table, tool {chapter.table.tool}{_missed(outcomes)}{_too_short(chapter)};"
            " computed, not measured"
        )
    if chapter.worst is not None:
        worst = chapter.worst
        return f"{worst.model}: worst of {counted(worst.count, 'stop')}{_longest(chapter)}; computed, not measured"
    if chapter.distance is not None:
        made = chapter.distance
        return f"{made.stop.model}: {made.symbol} = {made.value:.4f} m by {made.standard}; computed, not measured"
    if chapter.sweep is not None:
        swept = chapter.sweep.report
        stops = f"{counted(swept.count, 'stop')}{_largest(chapter)}{_missed(swept.outcomes)}"
        return f"{chapter.sweep.plan.scenario.mech.name}: {stops}; computed, not measured"
    if chapter.calibration is not None:
        missed = sum(bool(row.unexplained) for row in chapter.calibration.rows)
        rows = counted(len(chapter.calibration.rows), "measured row")
        return f"{chapter.calibration.model}: {rows}, {missed} of them not explained by what was fitted"
    if chapter.difference is not None:
        return f"{chapter.difference.a.name} and {chapter.difference.b.name}: {chapter.difference.verdict}"
    if chapter.side_by_side is not None:
        return f"{chapter.side_by_side.mechanism.name}: {engines_verdict(chapter.side_by_side, 'non-unique')}"
    if chapter.agreement is not None:
        return _AGREEMENTS[chapter.agreement.verdict]
    if chapter.report is not None:
        return verdict(chapter.report)
    return "" if chapter.verdicts is None else analysis_verdict(chapter.verdicts)


def _too_short(chapter: Chapter) -> str:
    """Return how many measured stops took longer or went farther than computed, nothing where none did."""
    beside = chapter.table.measured if chapter.table is not None else None
    rows = [] if beside is None else beside.rows
    uncovered = sum(not row.covered for row in rows)
    return f", TOO SHORT for {uncovered} of {counted(len(rows), 'measured stop')}" if uncovered else ""


def _missed(outcomes: Mapping[str, int]) -> str:
    """Return how many stops do not end at rest, nothing where all do."""
    number, count = sum(outcomes.values()), outcomes.get("stopped", 0)
    return (
        f", {number - count} of {counted(number, 'stop')} not at rest within the limits"
        if count < number
        else ""
    )


def _longest(chapter: Chapter) -> str:
    """Return the longest time to rest and the longest tool path that a search found, with their axes."""
    rested = [one for one in chapter.worst.found if one.outcome == "stopped"] if chapter.worst else []
    if not rested:
        return ""
    size, m = chapter.units.shown("m")
    slow = max(rested, key=lambda one: one.time)
    far = max(rested, key=lambda one: one.tool_distance)
    return (
        f": {slow.time:.4g} s to rest ({slow.axis or 'robot'}),"
        f" {shown(far.tool_distance, size=size)} {m} of tool path ({far.axis or 'robot'})"
    )


def _largest(chapter: Chapter) -> str:
    """Return the longest time to rest and the longest tool path of a sweep."""
    found = chapter.sweep.report.quantiles if chapter.sweep else {}
    if not {"time", "tool_distance"} <= set(found):
        return ""
    size, m = chapter.units.shown("m")
    slow, far = (max(found[name].values()) for name in ("time", "tool_distance"))
    return f": at most {slow:.4g} s to rest, {shown(far, size=size)} {m} of tool path"


def _tile(value: str, words: str) -> Html:
    return element("div", element("dt", words), element("dd", value))


def _tiles(chapter: Chapter) -> Iterator[tuple[str, str]]:
    if chapter.stop is not None:
        stop = chapter.stop
        rested = stop.outcome == "stopped"
        yield f"{stop.time:.4g} s", f"from the signal to {'rest' if rested else 'the end of the motion'}"
        size, m = chapter.units.shown("m")
        yield f"{shown(stop.tool.distance, size=size)} {m}", f"path of the tool {stop.tool.body}"
        yield f"{shown(stop.tool.speed, size=size)} {m}/s", "tool at the signal"
        yield f"{shown(stop.naive.tool_error, size=size)} {m}", "tool error with rates set to zero"
    analysis = chapter.verdicts
    if analysis is not None and chapter.stop is None:
        several = sum(c.reaction == "non-unique" for c in analysis.constraints)
        flexible = sum(not body.may_stay_rigid for body in analysis.bodies)
        yield str(analysis.degree_of_redundancy), "redundant constraints"
        finite = analysis.finite_dof
        if finite is None or finite == analysis.dof:
            yield str(analysis.dof), f"mobility (Grübler {analysis.gruebler})"
        else:
            yield (
                str(finite),
                f"mobility in fact; {analysis.dof} to first order (Grübler {analysis.gruebler})",
            )
        yield f"{several} of {len(analysis.constraints)}", "reactions not unique"
        yield f"{flexible} of {len(analysis.bodies)}", "bodies that must be flexible"
    if chapter.report is not None:
        yield findings_summary([chapter.report]), "findings"
