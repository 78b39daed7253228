"""The JSON document of ``mbplugin rule`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.linter.finding import Severity
from mbplugin.report.documents.part import Code, Document, Part, key

if TYPE_CHECKING:
    from mbplugin.linter.rule import Rule as LintRule


class _Rule(Part):
    code: Code
    name: str
    severity: Severity
    opt_in: bool | None = key("off by default; --extend-select switches it on", optional=True)
    documentation: str


class Output(Document):
    """Rules with their documentation."""

    rules: list[_Rule]


def rules_document(rules: Sequence[LintRule]) -> dict[str, Any]:
    """Return the rules with their documentation."""
    return Output.of(rules=rules)
