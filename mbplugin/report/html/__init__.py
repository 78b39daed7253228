"""The HTML page: a sequence of chapters with embedded style, viewer and data."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from typing import Any

from mbplugin.report import runs_summary
from mbplugin.report.html import view
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import Html, element, joined, json_script, section
from mbplugin.report.picture import picture
from mbplugin.report.record import TERMS, Term, term_of
from mbplugin.version import __version__

#: A unit or an addition after a term.
_BEHIND = re.compile(r"\s*[\[(].*$", re.DOTALL)
#: A table head or the label of a number, without markup in it.
_HEAD = re.compile(r"(<(th|dt)(?: [^<>]*)?>)([^<>]+)(</\2>)")
_FIRST = ("table", "stopping_table", "first_page_section")
#: The sections of a page in their order: the part of a chapter that each is about, its module and its function. The
#: modules of results that a page does not show are not imported.
_SECTIONS = (
    ("report", "findings", "findings_section"),
    ("stop", "stopping", "stop_section"),
    ("modes", "modes", "modes_section"),
    ("title", "view", "motion_section"),
    ("table", "stopping_table", "stopping_table_section"),
    ("searched", "stopping", "worst_stops_section"),
    ("zone", "stopping_table", "zone_section"),
    ("sweep", "stopping", "sweep_section"),
    ("calibration", "stopping", "calibration_section"),
    ("distance", "stopping", "distance_section"),
    ("title", "view", "assumptions_section"),
    ("agreement", "compared", "agreement_section"),
    ("difference", "compared", "diff_section"),
    ("side_by_side", "compared", "engines_section"),
    ("verdicts", "reactions", "remedies_section"),
    ("verdicts", "reactions", "stresses_section"),
    ("report", "reactions", "misfits_section"),
    ("verdicts", "reactions", "uniqueness_section"),
    ("verdicts", "findings", "groups_section"),
    ("reactions", "reactions", "reactions_section"),
    ("verdicts", "findings", "decided_section"),
    ("verdicts", "findings", "dca_section"),
    ("comparison", "compared", "against_section"),
    ("record", "view", "record_section"),
)


def html_page(*chapters: Chapter) -> str:
    """Return one page about one or several models.

    The page needs no other file and no network. Its content security policy enforces this: only the
    embedded scripts may run, and no request is allowed.
    """
    title = chapters[0].title if len(chapters) == 1 else f"{len(chapters)} models"
    live = any(one.model is not None or one.report is not None for one in chapters)
    scripts = [_packaged_file("page.js"), *([_packaged_file("viewer.min.js")] if live else [])]
    body = joined(
        [
            element(
                "header",
                element("h1", title),
                element(
                    "div",
                    element("span", f"mbplugin {__version__}", class_="fine"),
                    element("button", "dark", type="button", data_theme_switch=True, hidden=True),
                    class_="screen",
                ),
            ),
            _index(chapters) if len(chapters) > 1 else None,
            element(
                "main",
                with_terms(joined([_chapter(k, one, len(chapters)) for k, one in enumerate(chapters)])),
                _rules(chapters),
            ),
            [element("script", Html(script)) for script in scripts],
        ]
    )
    head = joined(
        [
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'),
            element("title", f"{title} – mbplugin"),
            element("style", Html(_packaged_file("style.css"))),
        ]
    )
    return f"<!doctype html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def _rules(chapters: tuple[Chapter, ...]) -> Html | None:
    """Return the documentation of the rules of all findings."""
    if all(one.report is None for one in chapters):
        return None
    from mbplugin.report.html.findings import rules_section

    return rules_section(chapters)


def _policy(scripts: list[str]) -> str:
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    own = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {own}; style-src 'unsafe-inline'; img-src data:"


@cache
def _packaged_file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _index(chapters: tuple[Chapter, ...]) -> Html:
    """Return the index: a line for each model with its verdict as a link to its chapter."""
    reports = [one.report for one in chapters if one.report is not None]
    lines = [
        element(
            "li",
            element("a", view.sentence(one) or one.title, href=f"#run-{k}", class_=f"mark {view.grade(one)}"),
        )
        for k, one in enumerate(chapters)
    ]
    summary = element("p", runs_summary(reports), class_="lead") if len(reports) == len(chapters) else None
    return element("nav", summary, element("ol", lines), aria_label="models")


def _sections(chapter: Chapter) -> Iterator[Html]:
    """Yield the sections in order; without a lint report, the joint reactions come first."""
    first = () if chapter.report else ("reactions",)
    for row in sorted(_SECTIONS, key=lambda row: row[0] not in first):
        if (made := _section(chapter, *row)) is not None:
            yield made


def _section(chapter: Chapter, about: str, module: str, name: str) -> Html | None:
    if getattr(chapter, about) in (None, ()):
        return None
    make: Callable[[Chapter], Html | None] = getattr(import_module(f"{__package__}.{module}"), name)
    return make(chapter)


def _chapter(k: int, chapter: Chapter, count: int) -> Html:
    inner = joined(
        [
            view.verdict_section(chapter),
            _section(chapter, *_FIRST),
            _view(k, chapter),
            list(_sections(chapter)),
        ]
    )
    if count == 1:
        return element("article", inner, class_="run", id="run-0")
    return element(
        "details",
        element("summary", chapter.title),
        inner,
        class_="run",
        id=f"run-{k}",
        name="run",
        open=k == 0,
    )


def _view(k: int, chapter: Chapter) -> Html | None:
    if chapter.model is None:
        return None
    motion, modes = chapter.moving, chapter.modes
    rest = None if modes is None else modes.equilibrium.q
    seen = picture(
        chapter.model,
        analysis=chapter.verdicts,
        reactions=chapter.reactions,
        q=rest if motion is None else motion.q[0],
    )
    data = view.drawing_data(seen)
    data["film"] = {} if motion is None else view.film_data(motion)
    bar, data["swings"] = _swings(chapter, seen.radius)
    data["ghosts"] = _ghosts(chapter, data["swings"])
    data["path"] = "" if chapter.stop is None else view.path_bytes(chapter.stop.tool.path)
    data["stresses"] = _stresses(chapter)
    data["moves"], data["load"] = _interactive(chapter, seen.radius)
    identifier = f"drawing-{k}"
    frame = view.view_section(
        seen,
        identifier,
        film=bool(data["film"]),
        bar=bar,
        ghosts={ghost["key"] for ghost in data["ghosts"]},
        path=bool(data["path"]),
    )
    # pages without reactions do not mention loads
    shown = chapter.moving is None and (chapter.reactions is not None or chapter.report is not None)
    panel = view.interaction_panel(data["moves"], data["load"], _why_no_load(chapter) if shown else "")
    return joined([frame, panel, json_script(identifier, data)])


def _interactive(chapter: Chapter, radius: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data to move and to load the mechanism on the page; empty for a page with a film or with modes."""
    if chapter.moving is not None or chapter.modes is not None or chapter.verdicts is None:
        return {}, {}
    from mbplugin.report.html.interactive import interactive_data

    return interactive_data(chapter.verdicts, chapter.reactions, radius)


def _why_no_load(chapter: Chapter) -> str:
    from mbplugin.report.html.interactive import why_no_load

    return why_no_load(chapter.reactions)


def _swings(chapter: Chapter, radius: float) -> tuple[Html | None, dict[str, Any]]:
    """Return the controls and the data of the swings in the modes of a chapter; None and empty without any."""
    if chapter.modes is None:
        return None, {}
    from mbplugin.report.html.modes import swings_bar, swings_data, swings_of

    swings = swings_of(chapter.modes, radius)
    return (swings_bar(swings, len(chapter.modes.modes)), swings_data(swings)) if swings else (None, {})


def _ghosts(chapter: Chapter, swings: dict[str, Any]) -> list[dict[str, Any]]:
    if chapter.modes is not None and swings:
        # the viewer places both at the extremes of the chosen mode
        rest = view.ghost_data(chapter.modes.mechanism, "extreme", chapter.modes.equilibrium.q)
        return [rest, rest]
    if chapter.stop is None:
        return []
    stop = chapter.stop
    return [
        view.ghost_data(stop.trajectory.mechanism, "naive", stop.naive.q),
        view.ghost_data(stop.trajectory.mechanism, "signal", stop.trajectory.q[0]),
    ]


def _stresses(chapter: Chapter) -> list[dict[str, Any]]:
    analysis = chapter.verdicts
    if analysis is None:
        return []
    ends = {c.name: (c.body_a, c.body_b) for c in analysis.constraints}
    return [view.stress_data(stress.constraints, ends) for stress in analysis.self_stresses]


# The terms of a page: table heads and labels that are terms link to their definitions at the end.


def with_terms(body: Html) -> Html:
    """Return markup with heads and labels that are terms as links, followed by the definitions of these terms."""
    used: set[Term] = set()

    def link(match: re.Match[str]) -> str:
        start, _, words, end = match.groups()
        behind = found[0] if (found := _BEHIND.search(words)) else ""
        term = term_of(words[: len(words) - len(behind)])
        if term is None:
            return match[0]
        used.add(term)
        name = Html(words[: len(words) - len(behind)])
        return f"{start}{element('a', name, href=f'#term-{term.anchor}', class_='term')}{behind}{end}"

    linked = Html(_HEAD.sub(link, body))
    return Html(f"{linked}{_terms(used)}") if used else linked


def _terms(used: set[Term]) -> Html:
    shown = sorted(used, key=TERMS.index)
    meanings = [
        element(
            "div",
            element("dt", Html(f"<dfn>{element('span', term.name)}</dfn>")),
            element("dd", term.meaning),
            id=f"term-{term.anchor}",
        )
        for term in shown
    ]
    return element("div", section("Terms", element("dl", meanings, class_="terms")), class_="screen")
