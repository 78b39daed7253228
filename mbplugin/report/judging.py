"""What pages and windows add to a model at a pose: verdicts and reactions, or a sentence that says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.model.scene import Scene
    from mbplugin.model.spatial import Array

#: Bodies from which on reactions are not worth the wait; ``mbplugin reactions`` has them.
_MOST_BODIES = 300


def judged(
    model: Scene | Mechanism, q: Array, planar: str | None = None, tolerance: float | None = None
) -> tuple[Analysis | None, tuple[str, ...]]:
    """Return the verdicts at a pose q (nq,), or why there are none."""
    from mbplugin.analysis.run import analyze

    try:
        return analyze(model, q, planar=planar, tolerance=tolerance), ()
    except MbPluginError as error:
        return None, (f"Bodies and joints are not judged: {error.sentence()}",)


def reactions_at_rest(
    model: Scene | Mechanism, analysis: Analysis
) -> tuple[Reactions | None, tuple[str, ...]]:
    """Return what the joints carry at rest at the pose of an analysis, or why that is left out."""
    return reactions_at(model, analysis.q, analysis.tolerance, analysis.planar)


def reactions_at(
    model: Scene | Mechanism, q: Array, tolerance: float | None, planar: str | None
) -> tuple[Reactions | None, tuple[str, ...]]:
    """Return what the joints carry at rest at a pose q (nq,), or why that is left out."""
    from mbplugin.joint_reactions.run import reactions

    mech = model if isinstance(model, Mechanism) else model.mechanism
    if len(mech.bodies) > _MOST_BODIES:
        return None, (f"Joint reactions are left out: there are more than {_MOST_BODIES} bodies.",)
    try:
        return reactions(model, q, tolerance=tolerance, planar=planar), ()
    except MbPluginError as error:
        return None, (f"Joint reactions are left out: {error.sentence()}",)
