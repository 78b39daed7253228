"""``mbplugin rule``: the list of rules, and the documentation of each rule."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import emit_document, emit_lines


def rule_command(
    code: Annotated[
        str | None,
        typer.Argument(
            help="A code such as MB201, a name, or a word to search.", autocompletion=opt.completed_codes
        ),
    ] = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> None:
    """List the rules, or those about a word, or print the documentation of one."""
    from mbplugin.linter.registry import find_rule, named_rule, rules, rules_about

    if code is not None and code.isdigit():
        code = f"MB{code}"
    known = None if code is None else named_rule(code)
    found = () if code is None or known or code.upper().startswith("MB") else rules_about(code)
    chosen = rules() if code is None else (known,) if known else found or (find_rule(code),)
    if output_format == "text":
        from mbplugin.report.text.rule import documentation_lines, rule_lines

        several = code is None or bool(found)
        emit_lines(
            partial(rule_lines, chosen) if several else partial(documentation_lines, chosen[0]), output
        )
    else:
        from mbplugin.report.documents.rule import rules_document

        emit_document(rules_document(chosen), output, output_format)
