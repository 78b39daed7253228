"""Findings about parts that a reader skipped: the reader has the facts, the rule its severity."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import identity, make_finding
from mbplugin.model.scene import Scene


def reported_defects(module_name: str, severity: Severity, scene: Scene, help: str) -> Iterator[Finding]:
    """Yield a finding per defect that carries the code of the rule whose ``__name__`` is given.

    Parameters
    ----------
    help : str
        What to do, where the defect's evidence has no ``toml`` to paste.
    """
    code, _ = identity(module_name)
    for defect in scene.defects:
        if defect.code == code:
            evidence = dict(defect.evidence)
            toml = evidence.get("toml")
            yield make_finding(
                module_name,
                defect.severity or severity,
                defect.message,
                element=defect.element,
                origin=defect.origin,
                evidence=evidence,
                help=f"{help}:\n{toml}" if toml else help,
            )
