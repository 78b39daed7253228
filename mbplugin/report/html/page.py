"""The page: chapters one after the other, with style, viewer and data inside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.drawing import drawing_data, film_data, ghost_data, path_bytes, stress_data
from mbplugin.report.html.interactive import interactive_data, why_no_load
from mbplugin.report.html.markup import Html, element, joined, json_script
from mbplugin.report.html.sections.assumptions import assumptions_section
from mbplugin.report.html.sections.compared.against import against_section
from mbplugin.report.html.sections.compared.agreement import agreement_section
from mbplugin.report.html.sections.compared.diff import diff_section
from mbplugin.report.html.sections.compared.engines import engines_section
from mbplugin.report.html.sections.decided import decided_section
from mbplugin.report.html.sections.findings import findings_section
from mbplugin.report.html.sections.groups import dca_section, groups_section
from mbplugin.report.html.sections.interaction import interaction_panel
from mbplugin.report.html.sections.lookup.rules import rules_section
from mbplugin.report.html.sections.lookup.terms import with_terms
from mbplugin.report.html.sections.misfits import misfits_section
from mbplugin.report.html.sections.motion import motion_section
from mbplugin.report.html.sections.reactions import reactions_section, uniqueness_section
from mbplugin.report.html.sections.record import record_section
from mbplugin.report.html.sections.stopping.calibration import calibration_section
from mbplugin.report.html.sections.stopping.distance import distance_section
from mbplugin.report.html.sections.stopping.stop import stop_section
from mbplugin.report.html.sections.stopping.stopping_table import stopping_table_section
from mbplugin.report.html.sections.stopping.sweep import sweep_section
from mbplugin.report.html.sections.stopping.worst_stops import worst_stops_section
from mbplugin.report.html.sections.stresses import remedies_section, stresses_section
from mbplugin.report.html.sections.verdict import grade, sentence, verdict_section
from mbplugin.report.html.sections.view import view_section
from mbplugin.report.picture import picture
from mbplugin.report.summary import runs_summary
from mbplugin.version import __version__

_SECTIONS: tuple[Callable[[Chapter], Html | None], ...] = (
    findings_section,
    stop_section,
    motion_section,
    stopping_table_section,
    worst_stops_section,
    sweep_section,
    calibration_section,
    distance_section,
    assumptions_section,
    agreement_section,
    diff_section,
    engines_section,
    remedies_section,
    stresses_section,
    misfits_section,
    uniqueness_section,
    groups_section,
    reactions_section,
    decided_section,
    dca_section,
    against_section,
    record_section,
)


def html_page(*chapters: Chapter) -> str:
    """Return one page about one or several models.

    It needs no other file and no network, and says so itself: its security policy lets only the
    script in it run and allows no request.
    """
    title = chapters[0].title if len(chapters) == 1 else f"{len(chapters)} models"
    live = any(one.model is not None or one.report is not None for one in chapters)
    scripts = [_own("page.js"), *([_own("viewer.min.js")] if live else [])]
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
                rules_section(chapters),
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
            element("style", Html(_own("style.css"))),
        ]
    )
    return f"<!doctype html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def _policy(scripts: list[str]) -> str:
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    own = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {own}; style-src 'unsafe-inline'; img-src data:"


@cache
def _own(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _index(chapters: tuple[Chapter, ...]) -> Html:
    """Return a line for each model: its verdict, which leads to its chapter."""
    reports = [one.report for one in chapters if one.report is not None]
    lines = [
        element("li", element("a", sentence(one) or one.title, href=f"#run-{k}", class_=f"mark {grade(one)}"))
        for k, one in enumerate(chapters)
    ]
    summary = element("p", runs_summary(reports), class_="lead") if len(reports) == len(chapters) else None
    return element("nav", summary, element("ol", lines), aria_label="models")


def _in_order(chapter: Chapter) -> Sequence[Callable[[Chapter], Html | None]]:
    """Return the sections as a reader wants them: where reactions are the question, they lead."""
    return _SECTIONS if chapter.report else sorted(_SECTIONS, key=lambda make: make is not reactions_section)


def _chapter(k: int, chapter: Chapter, count: int) -> Html:
    inner = joined(
        [
            verdict_section(chapter),
            _view(k, chapter),
            [made for make in _in_order(chapter) if (made := make(chapter)) is not None],
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
    motion = chapter.moving
    seen = picture(
        chapter.model,
        analysis=chapter.verdicts,
        reactions=chapter.reactions,
        q=None if motion is None else motion.q[0],
    )
    data = drawing_data(seen)
    data["film"] = {} if motion is None else film_data(motion)
    data["ghosts"] = _ghosts(chapter)
    data["path"] = "" if chapter.stop is None else path_bytes(chapter.stop.tool.path)
    data["stresses"] = _stresses(chapter)
    data["moves"], data["load"] = _interactive(chapter, seen.radius)
    identifier = f"drawing-{k}"
    frame = view_section(
        seen,
        identifier,
        film=bool(data["film"]),
        ghosts={ghost["key"] for ghost in data["ghosts"]},
        path=bool(data["path"]),
    )
    # pages that show no reactions say nothing on loads
    shown = chapter.moving is None and (chapter.reactions is not None or chapter.report is not None)
    panel = interaction_panel(data["moves"], data["load"], why_no_load(chapter.reactions) if shown else "")
    return joined([frame, panel, json_script(identifier, data)])


def _interactive(chapter: Chapter, radius: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what moves and loads the mechanism on the page; a film moves it by itself."""
    if chapter.moving is not None or chapter.verdicts is None:
        return {}, {}
    return interactive_data(chapter.verdicts, chapter.reactions, radius)


def _ghosts(chapter: Chapter) -> list[dict[str, Any]]:
    if chapter.stop is None:
        return []
    stop = chapter.stop
    return [
        ghost_data(stop.trajectory.mechanism, "naive", stop.naive.q),
        ghost_data(stop.trajectory.mechanism, "signal", stop.trajectory.q[0]),
    ]


def _stresses(chapter: Chapter) -> list[dict[str, Any]]:
    analysis = chapter.verdicts
    if analysis is None:
        return []
    ends = {c.name: (c.body_a, c.body_b) for c in analysis.constraints}
    return [stress_data(stress.constraints, ends) for stress in analysis.self_stresses]
