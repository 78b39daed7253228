"""The MB9xx rules: their findings are made of the error that stopped the reader.

Nothing is left to check where no scene could be read, so these rules exist for their names and
documentation; ``lint`` turns the error itself into the finding.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.finding import Finding
from mbplugin.model.scene import Scene


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield nothing: who has a scene has none of these errors."""
    return ()
