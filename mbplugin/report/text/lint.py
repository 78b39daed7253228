"""The lint report as text: its first screen, and the whole report with findings, reasons and remedies."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from mbplugin.analysis.remedies import Change, Remedy, at_singular_pose, no_remedy
from mbplugin.linter.overview import Freedoms, Kind, Overview, Place, freedoms_of, overview_of, verdict_of
from mbplugin.phrases import counted, cut_short, listed, visible
from mbplugin.report import findings_summary, ignored_lines, runs_summary
from mbplugin.report.record import consequence_words, loop_words, rounding_words
from mbplugin.report.text import MOST_NAMES, PLAIN_WIDTH, Line, plain_text, wrapped

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.linter.rule import Finding
    from mbplugin.linter.run import Report


SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
#: Maximum numbers of kinds of findings that are shown in full, and in two lines each if they are notes.
_IN_FULL, _TWO_LINES = 4, 9
#: Lines of the first screen of one report, which leave room for the line that says where more is.
_SCREEN = 23
#: Maximum number of lines of one file, of parts of one kind, and of groups of reactions that are listed.
_LINES, _PARTS, _REACTIONS = 4, 2, 8
#: Longest path of a file that is shown with its folders, characters.
_LONGEST_PATH = 40
#: Minimum width left for a message on the line of its kind, characters.
_LEAST_MESSAGE = 24
_HEADING = "bold"
#: Maximum number of redundantly restrained motions listed with -v; -vv lists all.
_STRESSES = 12
_CODE = "green"
#: Maximum number of changes of a remedy, or of findings of one rule, shown with -v; if there are more,
#: this many of each kind are shown.
_PASTED, _OF_EACH_KIND = 12, 3
#: Only what fails a run; the overview; the whole report; the report with every list in full and with misfits.
Detail = Literal["quiet", "brief", "full", "everything"]


# The first screen: verdict, counts, each kind of finding once, and the reactions to distrust.


def overview_lines(report: Report, width: int, among: int = 1) -> Iterator[Line]:
    """Yield the first screen of a report: about two lines for each kind of finding.

    Parameters
    ----------
    width : int
        Width of the lines, characters.
    among : int
        Number of reports; of several, each states its file.
    """
    overview = overview_of(report)
    style = "bold red" if overview.exit_code else "bold yellow" if overview.kinds else "bold green"
    head = [Line(text, style) for text in wrapped(_verdict(report, overview, among), width, "", "  ")]
    head += [Line(text, style) for text in wrapped(_outcome(report, overview), width, "", "  ")]
    for sentence in overview.assumptions:
        head += [Line(text) for text in wrapped(f"Assumed: {sentence}", width, "", "  ")]
    for sentence in _reactions(overview):
        head += [Line(text) for text in wrapped(sentence, width, "", "  ")]
    yield from head
    for lines in _kinds_of(overview, width, _SCREEN - len(head) if among == 1 else 0):
        yield from lines


def _outcome(report: Report, overview: Overview) -> str:
    counts = findings_summary([report]) if overview.kinds or overview.ignored else "no findings"
    if overview.verdict in ("skipped", "configuration") and not overview.exit_code:
        return counts
    return f"{'FAILS' if overview.exit_code else 'PASSES'}: {counts}"


def _kinds_of(overview: Overview, width: int, room: int) -> list[list[Line]]:
    """Return the lines of each kind of finding: short ones, and in full as many of the first as there is room for."""
    number = len(overview.kinds)
    shown = [
        [_in_one_line(kind, width)]
        if kind.severity == "note" and number > _TWO_LINES
        else list(_in_two_lines(kind, width))
        for kind in overview.kinds
    ]
    for index, kind in enumerate(overview.kinds):
        whole = list(_in_full(kind, width))
        added = len(whole) - len(shown[index])
        if number > _IN_FULL and added > room - sum(map(len, shown)):
            break
        shown[index] = whole
    return shown


def _in_one_line(kind: Kind, width: int) -> Line:
    """Return the line of a kind with the beginning of its remedy."""
    head, remedy = _head(kind, width), kind_remedy(kind)
    return _styled(kind, cut_short(f"{head} → {remedy}" if remedy else head, width))


def more_line(reports: Sequence[Report], width: int) -> Iterator[Line]:
    """Yield the line that says where more is."""
    codes = [finding.code for report in reports for finding in report.findings]
    rule = f", mbplugin explain {codes[0]}" if codes else ""
    text = f"More: -v (whole report), --output-format html (a page){rule}"
    yield from (Line(line) for line in wrapped(text, width, "", "  "))


def kind_remedy(kind: Kind, below: str = "see -v") -> str:
    """Return the first remedy of a kind and the number of the others; ``below`` says where lines to paste are."""
    if not kind.remedies:
        return ""
    first, *others = kind.remedies
    # lines to paste follow
    first = f"{first} {below}" if first.endswith(":") else first
    return f"{first} (and {counted(len(others), 'other remedy', 'other remedies')})" if others else first


def shown_places(places: Sequence[Place], names_only: bool = False) -> str:
    """Return the files with their lines, such as ``robot.urdf:3, 17``; without their folders if ``names_only``."""
    lines: dict[str, list[int]] = {}
    for place in places:
        name = PurePath(place.file).name if names_only else _short(place.file)
        lines.setdefault(name, []).extend([place.line] if place.line else [])
    numbers = {name: listed([str(line) for line in sorted(own)], _LINES) for name, own in lines.items()}
    return "; ".join(f"{name}:{own}" if own else name for name, own in numbers.items())


def _short(file: str) -> str:
    """Return the path of a file below the working directory, and the name of any other."""
    path = relative_path(file)
    return PurePath(path).name if PurePath(path).is_absolute() or len(path) > _LONGEST_PATH else path


def freedoms_sentence(freedoms: Freedoms) -> str:
    """Return the degrees of freedom of the joints and of the free bases."""
    bases = "the free base" if freedoms.bases == 1 else f"{freedoms.bases} free bases"
    return f"{freedoms.joints} of the joints, {6 * freedoms.bases} of {bases}"


def relative_path(file: str) -> str:
    """Return an absolute path relative to the working directory if it lies below; others unchanged."""
    with contextlib.suppress(OSError):
        return _below(file, os.getcwd())  # noqa: PTH109
    return file


@lru_cache(maxsize=1000)
def _below(file: str, folder: str) -> str:
    """Return an absolute path relative to a folder if it lies below; others unchanged."""
    with contextlib.suppress(ValueError):
        if Path(file).is_absolute():
            return str(Path(file).relative_to(folder))
    return file


def _verdict(report: Report, overview: Overview, among: int) -> str:
    analysis, file = report.analysis, relative_path(report.source)
    if analysis is None:
        nothing = "" if overview.verdict == "configuration" else ", nothing was analyzed"
        return f"{file}: {overview.verdict.upper()}{nothing}"
    name = analysis.mechanism.name
    where = f" ({file})" if among > 1 and file != name else ""
    return f"{name}{where}: {', '.join(_facts(analysis, overview))}"


def _facts(analysis: Analysis, overview: Overview) -> Iterator[str]:
    yield overview.verdict.upper() + (" as declared" if overview.declared else "")
    p, ps = analysis.degree_of_redundancy, analysis.structural_redundancy
    if p:
        elsewhere = f" at this singular pose ({ps} elsewhere)" if p > ps else ""
        yield counted(p, "redundant constraint") + elsewhere
    parts = "" if overview.freedoms is None else f": {freedoms_sentence(overview.freedoms)}"
    formula = "" if analysis.gruebler == analysis.dof else f" (Grübler: {analysis.gruebler})"
    plane = f" in the {analysis.planar} plane" if analysis.planar else ""
    yield analysis.mobility.words + parts + formula + plane


def _reactions(overview: Overview) -> Iterator[str]:
    for groups, words in (
        (overview.distrusted, "Distrust the reactions of"),
        (overview.undecided, "The method cannot decide the reactions of"),
    ):
        if groups:
            count = sum(len(group.names) for group in groups)
            labels = listed([group.label for group in groups], _REACTIONS, room=150)
            yield f"{words} {count} of {overview.constraints} constraints: {labels}"


def _in_full(kind: Kind, width: int) -> Iterator[Line]:
    """Yield the whole message of a kind's first finding, and the remedy unless the message has it."""
    first, *rest = wrapped(f"{_head(kind, width)}: {_message(kind)}", width, "", "    ")
    yield _styled(kind, first)
    yield from map(Line, rest)
    if (remedy := kind_remedy(kind)) and remedy not in _message(kind):
        yield from map(Line, wrapped(remedy, width, "  → ", "    "))


def _in_two_lines(kind: Kind, width: int) -> Iterator[Line]:
    """Yield the beginning of the message if it fits on the line of the kind, and the beginning of the remedy."""
    head = _head(kind, width)
    whole = f"{head}: {_message(kind)}" if len(head) + _LEAST_MESSAGE <= width else head
    yield _styled(kind, cut_short(whole, width))
    if remedy := kind_remedy(kind):
        yield Line(cut_short(f"  → {remedy}", width))


def _styled(kind: Kind, text: str) -> Line:
    text = visible(text)
    return Line(text, SEVERITY_STYLES[kind.severity], min(len(_counted(kind)), len(text)))


def _counted(kind: Kind) -> str:
    return f"{counted(kind.count, kind.severity)} {kind.code}"


def _head(kind: Kind, width: int) -> str:
    """Return the number of findings, the rule, the parts if there are several findings, and the places.

    Folders are left out if the line would become wider than ``width``.
    """
    about = [f"{_counted(kind)} {kind.name}"]
    if kind.count > 1 and kind.parts:
        about.append(listed([part.label for part in kind.parts], _PARTS, room=60))
    if not kind.places:
        return visible(", ".join(about))
    whole, short = (visible(", ".join((*about, shown_places(kind.places, names)))) for names in (False, True))
    return whole if len(whole) <= width else short


def _message(kind: Kind) -> str:
    """Return the message of the first finding, without the place at its beginning."""
    finding = kind.findings[0]
    message = finding.message
    for place in (f"{finding.file}:{finding.line}: ", f"{finding.file}: "):
        message = message.removeprefix(place) if finding.file else message
    return message


# The whole report: the verdict first, then findings, reasons and remedies.


def lint_text(
    reports: Sequence[Report],
    width: int = PLAIN_WIDTH,
    explain_dca: bool = False,
    detail: Detail = "brief",
) -> str:
    """Return the reports as plain text."""
    return plain_text(lint_lines(reports, width, explain_dca, detail))


def lint_lines(
    reports: Sequence[Report], width: int, explain_dca: bool = False, detail: Detail = "brief"
) -> Iterator[Line]:
    """Yield the lines of the reports, and a summary of the runs if there are several.

    Of several reports, ``full`` shows only those with findings. ``quiet`` shows only findings that fail a run.
    With ``explain_dca``, each report ends with the steps of the divide-and-conquer test.
    """
    shown = [report for report in reports if _is_shown(report, len(reports), explain_dca, detail)]
    for k, report in enumerate(shown):
        if k:
            yield Line()
        yield from _brief(report, width, len(reports)) if detail == "brief" else _run(report, width, detail)
        if explain_dca and report.analysis is not None and report.analysis.dca is not None:
            yield Line()
            from mbplugin.analysis.dca.trace import explain

            yield from map(Line, explain(report.analysis.dca, width).splitlines())
    if detail == "brief" and shown:
        yield from more_line(shown, width)
    if len(reports) > 1:
        if shown:
            yield Line()
        yield from (Line(text, _HEADING) for text in wrapped(runs_summary(reports), width, "", "  "))


def _is_shown(report: Report, among: int, explain_dca: bool, detail: Detail) -> bool:
    if detail == "quiet":
        return any(report.fails(finding) for finding in report.findings)
    concerned = bool(report.findings or report.suppressed)
    return detail in ("brief", "everything") or among == 1 or explain_dca or concerned


def verdict(report: Report) -> str:
    """Return the one-line verdict of a report."""
    if verdict_of(report) == "configuration":
        return f"{relative_path(report.source)}: configuration"
    if report.analysis is None:
        why = "skipped" if report.skipped else "unusable input"
        return f"{report.source}: {why}, nothing was analyzed"
    return analysis_verdict(report.analysis)


def analysis_verdict(analysis: Analysis) -> str:
    """Return the one-line verdict of an analysis."""
    p, ps = analysis.degree_of_redundancy, analysis.structural_redundancy
    redundancy = f"{counted(p, 'redundant constraint')}" if p else "no redundant constraint"
    if p > ps:
        redundancy += f" at this singular pose ({ps} elsewhere)"
    formula = "" if analysis.gruebler == analysis.dof else f" (Grübler: {analysis.gruebler})"
    plane = f" in the {analysis.planar} plane" if analysis.planar else ""
    return f"{analysis.mechanism.name}: {redundancy}, {analysis.mobility.words}{_of_base(analysis)}{formula}{plane}"


def _of_base(analysis: Analysis) -> str:
    """Return the degrees of freedom of the joints and of a floating base; empty if the robot is tied to the ground."""
    freedoms = freedoms_of(analysis)
    return "" if freedoms is None else f" ({freedoms_sentence(freedoms)})"


def _brief(report: Report, width: int, among: int) -> Iterator[Line]:
    """Yield the first screen of a report, and the answers for requested groups."""
    yield from overview_lines(report, width, among)
    if report.analysis is not None:
        yield from _groups(report.analysis, width)


def _run(report: Report, width: int, detail: Detail) -> Iterator[Line]:
    style = "bold green" if report.exit_code == 0 and not report.findings else "bold yellow"
    style = "bold red" if report.exit_code else style
    yield from (Line(text, style) for text in wrapped(verdict(report), width, "", "  "))
    if detail == "quiet":
        yield from _findings([finding for finding in report.findings if report.fails(finding)], width)
        return
    yield from _findings(report.findings, width, verbose=detail == "everything")
    if report.analysis is not None:
        yield from _sections(report.analysis, width, verbose=detail == "everything")
    if detail == "everything":
        yield from _misfits(report, width)
    yield Line()
    for sentence in (*ignored_lines(report), findings_summary([report])):
        yield from (Line(text) for text in wrapped(sentence, width, "", "  "))


def _sections(analysis: Analysis, width: int, *, verbose: bool) -> Iterator[Line]:
    yield from _stresses(analysis, width, verbose=verbose)
    yield from _reaction_lines(analysis, width)
    yield from _undecided(analysis, width)
    yield from _groups(analysis, width)
    yield from _flexible(analysis, width)
    yield from _remedies(analysis, width, verbose=verbose)
    yield from _rank(analysis, width)


def _stresses(analysis: Analysis, width: int, *, verbose: bool) -> Iterator[Line]:
    """Yield a line for each motion that several constraints restrain, with the components if ``verbose``."""
    stresses = analysis.self_stresses
    if not stresses:
        return
    yield from _section("Motions that are restrained twice, and by which constraints", width)
    shown = stresses if verbose else stresses[:_STRESSES]
    for stress in shown:
        members = stress.text.rpartition("carried by ")[2] if verbose else listed(stress.constraints, 8)
        text = f"{stress.restrains} of {stress.closed_by}: {members}"
        yield from (Line(line) for line in wrapped(text, width, "  ", "      "))
    if len(shown) < len(stresses):
        yield Line(f"  and {len(stresses) - len(shown)} more: -vv lists them, with components")


def _rank(analysis: Analysis, width: int) -> Iterator[Line]:
    """Yield the section on the rank decision and the closure of the loops."""
    yield from _section("How this was decided", width)
    for sentence in reasons(analysis):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def _help(text: str, width: int) -> Iterator[Line]:
    """Yield a finding's help: the first line wrapped, the following ones unchanged, as they are to be pasted."""
    sentence, *to_paste = text.splitlines()
    yield from (Line(line) for line in wrapped(sentence, width, "    help: ", "          "))
    yield from (Line(f"          {line}") for line in to_paste)


def _findings(findings: Sequence[Finding], width: int, *, verbose: bool = False) -> Iterator[Line]:
    """Yield the findings grouped by rule, each distinct help text once.

    Of many findings of one rule only the first are shown, unless ``verbose``.
    """
    for _, same in itertools.groupby(findings, key=lambda f: (f.severity, f.code)):
        every = list(same)
        group = every if verbose or len(every) <= _PASTED else every[:_OF_EACH_KIND]
        first, helps = group[0], [f.help for f in group if f.help not in f.message]
        yield Line()
        yield Line(f"{first.severity} {first.code} {first.name}", SEVERITY_STYLES[first.severity])
        for k, finding in enumerate(group):
            yield from (Line(text) for text in wrapped(_located_message(finding), width, "  ", "    "))
            if helps and finding.help in helps and finding.help not in helps[k + 1 :]:
                yield from _help(finding.help, width)
        if len(group) < len(every):
            more = f"and {len(every) - len(group)} more of {first.code}: -vv or --output-format json has all"
            yield from (Line(text) for text in wrapped(more, width, "  ", "    "))


def finding_text(finding: Finding) -> str:
    """Return one finding with its help as plain text."""
    heading = f"{finding.severity} {finding.code} {finding.name}"
    lines = [
        Line(heading),
        *(Line(text) for text in wrapped(_located_message(finding), PLAIN_WIDTH, "  ", "    ")),
    ]
    if finding.help and finding.help not in finding.message:
        lines += _help(finding.help, PLAIN_WIDTH)
    return plain_text(lines)


def failure_text(report: Report) -> str:
    """Return the reason for a failed run: the number of findings, the verdict, and the failing findings."""
    failing = [finding_text(finding) for finding in report.findings if report.fails(finding)]
    return "\n".join([f"{findings_summary([report])} in {report.source}", verdict(report), "", *failing])


def _located_message(finding: Finding) -> str:
    """Return the message with its file and line in front, unless it starts with them, as for unusable input."""
    file = relative_path(finding.file)
    place = f"{file}:{finding.line}: " if finding.line else f"{file}: " if file else ""
    if finding.message.startswith((finding.file + ":", place)) and finding.file:
        place = ""
    element = f"[{finding.element}] " if finding.element and finding.element not in finding.message else ""
    return place + element + finding.message


def _section(title: str, width: int) -> Iterator[Line]:
    yield Line()
    yield from (Line(text, _HEADING) for text in wrapped(title, width))


def _reaction_lines(analysis: Analysis, width: int) -> Iterator[Line]:
    """Yield the non-unique reactions, grouped by constraint type and components."""
    same: dict[tuple[str, str], list[str]] = {}
    for verdict in analysis.constraints:
        if verdict.reaction == "non-unique":
            open_ones = " ".join(c.name for c in verdict.components if not c.unique)
            same.setdefault((verdict.type, open_ones), []).append(verdict.name)
    if not same:
        return
    several = sum(len(names) for names in same.values())
    yield from _section(
        f"Non-unique reactions in a rigid model ({several} of {len(analysis.constraints)} constraints;"
        " every other component is unique)",
        width,
    )
    for (kind, components), names in same.items():
        first = f"  {kind} {components}: "
        yield from (Line(text) for text in wrapped(listed(names, MOST_NAMES), width, first, "      "))


def _undecided(analysis: Analysis, width: int) -> Iterator[Line]:
    names = [v.name for v in analysis.constraints if v.reaction == "undecided"]
    if names and analysis.dca is not None:
        bodies = listed(analysis.dca.stalled, MOST_NAMES)
        yield from _section(f"Reactions that this method cannot decide; it stalls at {bodies}", width)
        yield from (Line(text) for text in wrapped(listed(names, MOST_NAMES), width, "  "))


def _groups(analysis: Analysis, width: int) -> Iterator[Line]:
    if analysis.groups:
        yield from _section("Groups", width)
    for group in analysis.groups:
        answers = [
            f"reaction {group.reaction}",
            f"components {_unique(group.components_unique)}",
            f"resultant {_unique(group.resultant_unique)}",
        ]
        if group.assembly_effect_unique is not None:
            answers.append(f"effect on the assembly {_unique(group.assembly_effect_unique)}")
        text = f"{', '.join(group.members)}: {', '.join(answers)}"
        yield from (Line(line) for line in wrapped(text, width, "  ", "      "))


def _unique(flag: bool) -> str:
    return "unique" if flag else "non-unique"


def _flexible(analysis: Analysis, width: int) -> Iterator[Line]:
    names = [body.name for body in analysis.bodies if not body.may_stay_rigid]
    if names:
        title = f"Bodies that must be flexible for correct reactions ({len(names)} of {len(analysis.bodies)})"
        yield from _section(title, width)
        yield from (Line(text) for text in wrapped(listed(names, MOST_NAMES), width, "  "))


def _remedies(analysis: Analysis, width: int, *, verbose: bool) -> Iterator[Line]:
    """Yield the joints that prevent changes, the first remedy as lines to paste, and the others in words.

    A long remedy shows a few changes of each kind and the names of the others, unless ``verbose``.
    """
    if analysis.obstacles:
        yield from _section(
            "Joints that prevent a remedy" if not analysis.remedies else "Joints that stay unchanged", width
        )
        yield from (Line(line) for line in wrapped(no_remedy(analysis.obstacles), width, "  "))
    if not analysis.remedies:
        return
    first, *others = analysis.remedies
    proof = f"proved: {first.proof}"
    proof += at_singular_pose(analysis.singular_pose)
    yield from _section(f"What to change; paste into the scene ({proof})", width)
    if verbose or len(first.changes) <= _PASTED:
        yield from _code(first.toml)
    else:
        yield from _some_of(first, width)
    for k, other in enumerate(others):
        if k == 0:
            yield Line()
        by_type: dict[str, list[str]] = {}
        for change in other.changes:
            by_type.setdefault(change.new, []).append(change.constraint)
        text = "; ".join(f"make {listed(names, MOST_NAMES)} {kind}" for kind, names in by_type.items())
        yield from (
            Line(line)
            for line in wrapped(f"{text} (TOML: see --output-format json)", width, "  or ", "     ")
        )


def _code(toml: str) -> Iterator[Line]:
    yield from (Line(f"  {line}".rstrip(), _CODE) for line in toml.splitlines())


def _some_of(remedy: Remedy, width: int) -> Iterator[Line]:
    """Yield the first changes of each kind as lines to paste, and the names of the others as comments."""
    alike: dict[tuple[object, ...], list[Change]] = {}
    for change in remedy.changes:
        alike.setdefault((change.new, change.axis), []).append(change)
    for k, changes in enumerate(alike.values()):
        if k:
            yield Line()
        yield from _code("\n\n".join(change.toml() for change in changes[:_OF_EACH_KIND]))
        if names := [change.constraint for change in changes[_OF_EACH_KIND:]]:
            others = f"and {len(names)} more like these: {listed(names, MOST_NAMES)}"
            yield Line()
            yield from (
                Line(line, _CODE)
                for line in wrapped(f"{others}; -vv or the JSON has all", width, "  # ", "  # ")
            )


def _misfits(report: Report, width: int) -> Iterator[Line]:
    """Yield the loads due to a misfit of each closing component, and the effect of the remedies on them."""
    if report.misfits:
        yield from _section("What a misfit of 0.1 mm or 1 mrad costs, without other loads", width)
        if report.rounding is not None:
            said = rounding_words(report.rounding)
            yield from (Line(line) for line in wrapped(said, width, "  ", "      "))
    for loop in report.misfits:
        for sentence in loop_words(loop):
            yield from (Line(line) for line in wrapped(sentence, width, "  ", "      "))
    if report.consequences is not None:
        yield from _section("What the remedies do to that", width)
    for sentence in consequence_words(report):
        yield from (Line(line) for line in wrapped(sentence, width, "  ", "      "))


def _kinds(analysis: Analysis, pfaffian: int) -> str:
    """Return the ranks of holonomic and nonholonomic rows, and the rank deficit they share (wojtyra2013 §4.2)."""
    own = (analysis.rank_holonomic, analysis.rank_pfaffian)
    alone = f"{own[0]} of {analysis.holonomic_rows} holonomic rows, {own[1]} of {pfaffian} nonholonomic ones"
    shared = sum(own) - analysis.rank
    together = f"; together {analysis.rank} < {own[0]} + {own[1]}: the kinds share {shared}" if shared else ""
    return f"rank by kind: {alone}{together}"


def reasons(analysis: Analysis) -> Iterator[str]:
    """Yield sentences on the rank decision and the closure of the loops."""
    bodies = counted(len(analysis.bodies), "body", "bodies")
    rank = f"rank {analysis.rank} of {analysis.rows} rows, {analysis.columns} columns"
    yield f"{rank} ({bodies}), tolerance {analysis.tolerance:g}"
    if pfaffian := analysis.rows - analysis.holonomic_rows:
        yield _kinds(analysis, pfaffian)
    if analysis.critical is None:
        yield "no loop"
        return
    counts, rest = _ratio(analysis.sigma_r), _ratio(analysis.sigma_r_plus_1)
    zero = "none taken as zero" if analysis.sigma_r_plus_1 is None else f"largest taken as zero {rest}"
    yield f"relative singular values: smallest nonzero {counts}, {zero}"
    for plateau in analysis.plateaus:
        here = " (used)" if plateau.start <= analysis.tolerance < plateau.stop else ""
        number = counted(plateau.degree_of_redundancy, "redundant constraint")
        yield f"tolerance {plateau.start:.3g} to {plateau.stop:.3g}: {number}{here}"
    yield from _arbitrary(analysis)
    given, closed = _gap(analysis.assembly.worst_file), _gap(analysis.assembly.worst)
    yield f"loops: {given} as given, {closed} as analyzed"
    if analysis.assembly.degenerate:
        yield f"the nearest closed pose is degenerate: {listed(analysis.assembly.degenerate)} lose rank there"


def _arbitrary(analysis: Analysis) -> Iterator[str]:
    """Yield the norms of the matrices B_X, which are zero for unique reactions (wojtyra2013 (38))."""
    shares = {v.name: v.B_norm for v in analysis.constraints if v.B_norm is not None}
    names = [v.name for v in analysis.constraints if v.reaction == "non-unique" and v.name in shares]
    if names:
        parts = [f"{name} {shares.pop(name):.3g}" for name in names]
        rest = max(shares.values(), default=0.0)
        others = f"; {_ratio(rest)} at all others" if shares else ""
        yield f"norms of B_X = C_XᵀQ_X: {listed(parts, MOST_NAMES)}{others}"


def _ratio(sigma: float | None) -> str:
    if sigma is None:
        return "none"
    # smaller values are rounding errors and differ between machines
    return f"{sigma:.3g}" if sigma > 1e-12 else "below 1e-12"


def _gap(gap: float) -> str:
    return f"{gap:.2g} m open" if gap > 1e-9 else "closed"


# What ``--fix`` mended, and what it left, as text.


def fix_lines(reports: Sequence[Report], width: int, *, unsafe: bool = True) -> Iterator[Line]:
    """Yield a heading with the numbers, a line on each mended finding, and the reasons why others were not mended.

    Without ``unsafe`` the heading names the rules among the rest that have an unsafe fix.
    """
    from mbplugin.linter.fixes.run import mended_line

    mended = [finding for report in reports for finding in report.mended]
    left = sum(len(report.findings) for report in reports)
    files = len({edit.file for finding in mended if finding.fix for edit in finding.fix.edits})
    where = f" in {counted(files, 'file')}" if mended else ""
    said = f"{counted(len(mended), 'finding')} mended{where}, {left} left"
    if not unsafe and (codes := _with_unsafe_fix(reports)):
        said += f"; --unsafe-fixes may mend {', '.join(codes)}"
    yield Line()
    yield from (Line(text, "bold") for text in wrapped(said, width, "", "  "))
    for finding in mended:
        yield from map(Line, wrapped(visible(mended_line(finding)), width, "  ", "    "))
    for text in unmended_lines(reports):
        yield from map(Line, wrapped(visible(text), width, "  ", "    "))


def _with_unsafe_fix(reports: Sequence[Report]) -> list[str]:
    """Return the codes of findings whose rule has an unsafe fix."""
    from mbplugin.linter.fixes.proposals import REMEDIES

    codes = sorted({finding.code for report in reports for finding in report.findings})
    return [code for code in codes if code in REMEDIES and REMEDIES[code].applicability == "unsafe"]


def unmended_lines(reports: Sequence[Report]) -> Iterator[str]:
    """Yield a sentence on each fix that was not made, and why."""
    for report in reports:
        for one in report.unmended:
            place = f"{one.finding.file}:{one.finding.line}" if one.finding.line else one.finding.file
            yield f"{place}: {one.finding.code} {one.finding.element} is not mended, {one.reason}"
