"""Findings about parts that a reader skipped: the reader has the facts, the rule its severity."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.linter.finding import Finding
from mbplugin.linter.rule import Rule, make_finding
from mbplugin.model.scene import Scene


def defects_noted(rule: Rule, scene: Scene, help: str) -> Iterator[Finding]:
    """Yield a finding per defect that carries the code of a rule.

    Parameters
    ----------
    rule : Rule
        Its severity is that of a defect that states none of its own.
    scene : Scene
    help : str
        What to do, where the defect's evidence has no ``toml`` to paste.
    """
    for defect in scene.defects:
        if defect.code == rule.code:
            evidence = dict(defect.evidence)
            toml = evidence.get("toml")
            yield make_finding(
                rule,
                defect.severity or rule.severity,
                defect.message,
                element=defect.element,
                origin=defect.origin,
                evidence=evidence,
                help=f"{help}:\n{toml}" if toml else help,
            )
