"""The window with sliders: one coordinate is prescribed, the others follow; p is shown at every pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.view import View
from mbplugin.report.judging import reactions_at
from mbplugin.report.picture import reaction_arrows
from mbplugin.simulation.manifold import Manifold, PoseVerdict

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.model.spatial import Array
    from mbplugin.report.picture import ReactionArrow
    from mbplugin.visualization.gui.window import DebugWindow


def lead(shown: DebugWindow, analysis: Analysis) -> None:
    """Let sliders move the robot until the window is closed."""
    mech = analysis.mechanism
    view = View(mech, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    manifold = Manifold(view, analysis.structural_redundancy)
    q = analysis.q
    values = [slider.start for slider in manifold.sliders]
    handles = [shown.slider(s.name, s.lower, s.upper, s.start) for s in manifold.sliders]
    asked = [shown.read(handle) for handle in handles]
    shown.board.write(status=status_lines(manifold.verdict_at(q)))
    stale = False
    while True:
        shown.tick()
        moved = False
        for k, handle in enumerate(handles):
            target = shown.read(handle)
            if target == asked[k]:
                continue
            asked[k] = target
            followed = manifold.lead(manifold.sliders[k], q, target - values[k])
            q, values[k] = followed.q, values[k] + followed.moved
            shown.pose(q)
            moved = True
            name = manifold.sliders[k].name
            why = f"{name} stays at {values[k]:.4g}: {followed.stopped}" if followed.stopped else ""
            shown.board.write(status=status_lines(manifold.verdict_at(q), why))
        if moved and not stale:
            # those of another pose say nothing here
            shown.redraw_arrows(())
        elif stale and not moved:
            shown.redraw_arrows(arrows_at(shown, analysis, q))
        stale = moved


def arrows_at(shown: DebugWindow, analysis: Analysis, q: Array) -> tuple[ReactionArrow, ...]:
    """Return the reactions at rest at a pose q (nq,); none where the mechanism has no equilibrium there."""
    model = shown.window.model
    reactions = None if model is None else reactions_at(model, q, analysis.tolerance, analysis.planar)[0]
    return () if reactions is None else reaction_arrows(reactions)


def status_lines(verdict: PoseVerdict, why: str = "") -> list[tuple[str, str]]:
    """Return the lines that are shown at a pose, each with the key of its colour."""
    p = verdict.degree_of_redundancy
    lines = [(f"p = {p}, rank {verdict.rank}", "non-unique" if p else "unique")]
    lines.append(("singular pose", "non-unique") if verdict.singular else ("", ""))
    return [*lines, (why, "naive" if why else "")]
