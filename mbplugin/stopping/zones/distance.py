"""A distance as a value: the formula of a standard with all its terms."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.phrases import one_line
from mbplugin.rendering import Result
from mbplugin.stopping.scenario.tool_choice import NO_TOOL, ToolChoice
from mbplugin.stopping.zones.figures import StopFigures
from mbplugin.stopping.zones.term import Term


@dataclass(frozen=True, eq=False)
class Distance(Result):
    """A separation distance: from a computed stop, not from a measured one.

    Parameters
    ----------
    symbol : str
        S or S_p.
    value : float
        m.
    standard : str
        With its edition.
    formula : str
    terms : tuple of Term
        In the order of the formula; the distance itself is the last one.
    stop : StopFigures
        From which the stopping time and travel are taken.
    notes : tuple of str
        What the distance does not contain, one sentence each.
    """

    symbol: str
    value: float
    standard: str
    formula: str
    terms: tuple[Term, ...]
    stop: StopFigures
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return one_line(self, self.stop.model, (f"{self.symbol} = {self.value:.4g} m", self.standard))

    @property
    def tool_choice(self) -> ToolChoice:
        """The tool whose way is a term; no tool where the stopping time alone counts."""
        return self.stop.tool_choice if any(term.symbol == "S_s" for term in self.terms) else NO_TOOL

    def term(self, symbol: str) -> Term:
        """Return a term by its symbol."""
        return next(term for term in self.terms if term.symbol == symbol)
