"""The result of ``close``: the file, the closures that were chosen, and what proves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mbplugin.analysis.remedies import Change
from mbplugin.closing.drift.run import Drifts
from mbplugin.closing.loop_cuts import Cut
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import State
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.writers.written import ENDINGS, Written


@dataclass(frozen=True)
class Verdict:
    """What an analysis finds of a mechanism, at sampled poses.

    Parameters
    ----------
    degree_of_redundancy, structural_redundancy : int
        At the closed pose, and at a generic one.
    dof : int
        Freedoms of motion; those to first order where a large block is not decided.
    held_dof : int
        With all driven joints held: what no drive decides.
    """

    degree_of_redundancy: int
    structural_redundancy: int
    dof: int
    held_dof: int


@one_line_repr
@dataclass(frozen=True)
class LoopClosure:
    """What closes one loop of the file that was written.

    Parameters
    ----------
    name, type, body_a, body_b : str
    was : str
        The type of this pair in the model.
    cut : Cut
        Where the loop is cut, and instead of what.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    was: str
    cut: Cut


@dataclass(frozen=True, eq=False)
class Closing(Result):
    """A model with closures that a format holds.

    Parameters
    ----------
    mechanism : Mechanism
        What was written, before parts of bodies stand for closures.
    state : State
        The closed pose, rad and m, at rest.
    written : Written
    closures : tuple of LoopClosure
    changes : tuple of Change
        Of pairs of the tree, where closures alone do not suffice.
    before, after : Verdict
        Of the model, and of the file that was written as it is read again.
    driven : tuple of str
        Joints that stay in the tree.
    reason : str
        Why constraints are still redundant; empty where none is.
    drift : Drifts
        With the closures of the model and with those that were written; empty where it was not computed.
    tolerance : float
        Relative rank tolerance.
    planar : str, optional
        The plane in which the scene is analyzed, although the closures are chosen in space.
    """

    mechanism: Mechanism
    state: State
    written: Written
    closures: tuple[LoopClosure, ...]
    changes: tuple[Change, ...]
    before: Verdict
    after: Verdict
    driven: tuple[str, ...]
    reason: str
    drift: Drifts
    tolerance: float
    planar: str | None = None

    def __repr__(self) -> str:
        facts = (
            self.written.format,
            counted(len(self.closures), "closure"),
            f"p = {self.after.degree_of_redundancy}",
        )
        return one_line(self, self.mechanism.name, facts)

    @property
    def format(self) -> str:
        """The format of the file."""
        return self.written.format

    @property
    def text(self) -> str:
        """The file."""
        return self.written.text

    @property
    def proved(self) -> bool:
        """Whether the file, read again, has no redundant constraint and the mobility of the model."""
        return not self.after.structural_redundancy and self.keeps_mobility

    @property
    def keeps_mobility(self) -> bool:
        """Whether the file has the mobility of the model, also with all driven joints held."""
        return (self.after.dof, self.after.held_dof) == (self.before.dof, self.before.held_dof)

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return what writes the model; files of other endings hold what was found."""
        return {ENDINGS[self.format]: self.written.write}
