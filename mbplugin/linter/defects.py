"""Findings about parts that a reader skipped: the reader has the facts, the rule its severity."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.linter.finding import Finding, Severity, identity
from mbplugin.model.scene import Scene


def reported_defects(module_name: str, severity: Severity, scene: Scene, help: str) -> Iterator[Finding]:
    """Yield a finding per defect that carries the code of the rule whose ``__name__`` is given."""
    return defects_noted(scene, *identity(module_name), severity, help)


def defects_noted(scene: Scene, code: str, name: str, severity: Severity, help: str) -> Iterator[Finding]:
    """Yield a finding per defect that carries a code.

    Parameters
    ----------
    code, name : str
        Those of the rule.
    severity : "error", "warning" or "note"
        Where the defect states none of its own.
    help : str
        What to do, where the defect's evidence has no ``toml`` to paste.
    """
    for defect in scene.defects:
        if defect.code == code:
            evidence = dict(defect.evidence)
            toml = evidence.get("toml")
            file, line = (defect.origin.file, defect.origin.line) if defect.origin else ("", 0)
            yield Finding(
                code,
                name,
                defect.severity or severity,
                defect.message,
                defect.element,
                file,
                line,
                evidence,
                f"{help}:\n{toml}" if toml else help,
            )
