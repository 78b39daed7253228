"""``mbplugin rule``: the list of rules, and the documentation of each rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import emit, emit_document

if TYPE_CHECKING:
    from mbplugin.linter.rule import Rule


def rule_command(
    code: Annotated[
        str | None,
        typer.Argument(help="A code such as MB201, a name, or a word to search."),
    ] = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> None:
    """List the rules, or those about a word, or print the documentation of one."""
    from mbplugin.linter.registry import find_rule, rules, rules_about

    known = code is not None and any(code.upper() == r.code or code.lower() == r.name for r in rules())
    found = rules_about(code) if code is not None and not known and not code.upper().startswith("MB") else ()
    chosen = rules() if code is None else found or (find_rule(code),)
    if output_format == "text":
        emit(_table(chosen) if code is None or found else _documentation(chosen[0]), output)
    else:
        from mbplugin.report.documents.rule import rules_document

        emit_document(rules_document(chosen), output, output_format)


def _table(rules: tuple[Rule, ...]) -> str:
    width = max(len(rule.name) for rule in rules)
    return "".join(
        f"{rule.code}  {rule.name:<{width}}  {_grade(rule):<14}  {rule.documentation.splitlines()[0]}\n"
        for rule in rules
    )


def _documentation(rule: Rule) -> str:
    return f"{rule.code} {rule.name} ({_grade(rule)})\n\n{rule.documentation}\n"


def _grade(rule: Rule) -> str:
    return f"{rule.severity}, off" if rule.opt_in else rule.severity
