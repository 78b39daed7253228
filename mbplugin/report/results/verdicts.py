"""Presentations of a rule, a lint, an analysis, a constraint matrix, a closed model and a comparison of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.linter.run import Report
from mbplugin.model.scene import Scene, State
from mbplugin.report.results.presentation import Presentation, grid

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.closing.drift import Closing
    from mbplugin.comparison.models.alignment import ModelDiff
    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.linter.rule import Rule
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text import Line


def _report(analysis: Analysis) -> Report:
    """Wrap an analysis in a lint report without findings, to use the outputs of a lint."""
    mech = analysis.mechanism
    scene = Scene(mech, State(analysis.q, np.zeros(len(mech.qd_names)), frozenset()))
    return Report(mech.name, (), analysis, scene)


def _lint_lines(report: Report, width: int) -> Iterator[Line]:
    from mbplugin.report.text.lint import lint_lines

    return lint_lines([report], width)


def _analysis_lines(analysis: Analysis, width: int) -> Iterator[Line]:
    from mbplugin.report.text.lint import lint_lines

    return lint_lines([_report(analysis)], width, detail="full")


def _lint_document(report: Report) -> dict[str, Any]:
    from mbplugin.report.documents.lint import lint_document

    return lint_document([report])


def _lint_chapter(report: Report) -> Chapter:
    from mbplugin.report.html.chapters import lint_chapter

    return lint_chapter(report)


_FINDING = ("code", "name", "severity", "message", "element", "file", "line", "help")


def _findings(report: Report) -> list[dict[str, Any]]:
    return [{name: getattr(finding, name) for name in _FINDING} for finding in report.findings]


_CONSTRAINT = ("constraint", "kind", "type", "reaction")


def _components(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        dict(zip(_CONSTRAINT, (one.name, one.kind, one.type, one.reaction), strict=True))
        | {component.name: component.unique for component in one.components}
        for one in analysis.constraints
    ]


def _draw_analysis(analysis: Analysis, figure: Any) -> None:
    unique = [{c.name: bool(c.unique) for c in one.components} for one in analysis.constraints]
    grid(figure, analysis.mechanism.name, [one.name for one in analysis.constraints], unique)


def _draw_report(report: Report, figure: Any) -> None:
    if report.analysis is not None:
        _draw_analysis(report.analysis, figure)
    else:
        figure.suptitle("nothing was analyzed")


def _matrix_document(matrix: ConstraintMatrix) -> dict[str, Any]:
    from mbplugin.report.documents.models import matrix_document

    return matrix_document(matrix, ())


def _matrix_rows(matrix: ConstraintMatrix) -> list[dict[str, Any]]:
    columns = [".".join(column) for column in matrix.columns]
    dense = matrix.C.toarray()
    return [
        {"constraint": label.constraint, "component": label.component} | dict(zip(columns, row, strict=True))
        for label, row in zip(matrix.rows, dense.tolist(), strict=True)
    ]


def _matrix_lines(matrix: ConstraintMatrix, width: int) -> Iterator[Line]:
    from mbplugin.report.text.lookup import matrix_lines

    return matrix_lines(matrix, width)


def _draw_matrix(matrix: ConstraintMatrix, figure: Any) -> None:
    axes = figure.add_subplot()
    axes.spy(matrix.C, markersize=4)
    axes.set_xlabel("columns: twists of the bodies")
    axes.set_ylabel("rows: constraints")


def _rule_lines(rule: Rule, width: int) -> Iterator[Line]:
    from mbplugin.report.text.lookup import documentation_lines

    return documentation_lines(rule, width)


def _rule_document(rule: Rule) -> dict[str, Any]:
    from mbplugin.report.documents.models import rules_document

    return rules_document([rule])


def _rule_rows(rule: Rule) -> list[dict[str, Any]]:
    names = ("code", "name", "severity", "opt_in", "summary", "remedy")
    return [{name: getattr(rule, name) for name in names}]


_CLOSURE = ("name", "type", "was", "body_a", "body_b")
_DIFFERENCE = ("kind", "element_a", "element_b", "value_a", "value_b", "cause")


def _closures(found: Closing) -> list[dict[str, Any]]:
    return [
        {name: getattr(one, name) for name in _CLOSURE}
        | {"instead_of": one.cut.instead_of, "independence": one.cut.independence}
        for one in found.closures
    ]


def _closing_lines(found: Closing, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import close_lines

    return close_lines(found, width)


def _closing_document(found: Closing) -> dict[str, Any]:
    from mbplugin.report.documents.models import close_document

    return close_document(found, found.mechanism.name, (), None)


def _differences(found: ModelDiff) -> list[dict[str, Any]]:
    return [{name: getattr(one, name) for name in _DIFFERENCE} for one in found.differences]


def _diff_lines(found: ModelDiff, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import diff_lines

    return diff_lines(found, (found.a.name, found.b.name), width)


def _diff_document(found: ModelDiff) -> dict[str, Any]:
    from mbplugin.report.documents.models import diff_document

    return diff_document(found, (found.a.name, found.b.name), ())


def _diff_chapter(found: ModelDiff) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    return Chapter(title=f"{found.a.name} and {found.b.name}", difference=found)


_CONSTRAINT_OF_SCENE = ("constraint", "type", "body_a", "body_b")


def _constraints(scene: Scene) -> list[dict[str, Any]]:
    mech = scene.mechanism
    ends = (
        (one.name, str(getattr(one, "type", type(one).__name__.lower())), one) for one in mech.constraints()
    )
    return [
        dict(
            zip(
                _CONSTRAINT_OF_SCENE,
                (name, kind, getattr(one, "body_a", ""), getattr(one, "body_b", "")),
                strict=True,
            )
        )
        for name, kind, one in ends
    ]


PRESENTATIONS = {
    "Scene": Presentation(rows=_constraints, columns=_CONSTRAINT_OF_SCENE),
    "Rule": Presentation(rows=_rule_rows, document=_rule_document, lines=_rule_lines),
    "Report": Presentation(
        rows=_findings,
        columns=_FINDING,
        shown=("severity", "code", "name", "message", "help"),
        document=_lint_document,
        lines=_lint_lines,
        chapter=_lint_chapter,
        draw=_draw_report,
    ),
    "Analysis": Presentation(
        rows=_components,
        columns=_CONSTRAINT,
        document=lambda analysis: _lint_document(_report(analysis)),
        lines=_analysis_lines,
        chapter=lambda analysis: _lint_chapter(_report(analysis)),
        draw=_draw_analysis,
    ),
    "ConstraintMatrix": Presentation(
        rows=_matrix_rows, document=_matrix_document, lines=_matrix_lines, draw=_draw_matrix
    ),
    "Closing": Presentation(
        rows=_closures,
        columns=(*_CLOSURE, "instead_of", "independence"),
        document=_closing_document,
        lines=_closing_lines,
    ),
    "ModelDiff": Presentation(
        rows=_differences,
        columns=_DIFFERENCE,
        document=_diff_document,
        lines=_diff_lines,
        chapter=_diff_chapter,
    ),
}
