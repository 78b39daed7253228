"""What two analyses of one mechanism must agree on, and whether the first one is clear at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mbplugin as mb
from mbplugin.analysis import Analysis
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array

#: Poses sampled for the structural redundancy.
SAMPLES = 2
#: A verdict is weak where a tolerance this many times smaller or larger changes it.
MARGIN = 10.0
#: Above this size of what counts as zero, a component's verdict may be another one at another cut.
ROUNDED = 1e-3
#: Projectors on the open directions agree within this.
SAME_DIRECTIONS = 1e-5


@dataclass(frozen=True, eq=False)
class Changed:
    """A transformed model and what of the verdict the transformation maps.

    Parameters
    ----------
    model : Scene or Mechanism
    q : mapping or (nq,) array
        The pose of before, rad and lengths of the model.
    names : mapping of constraint name before to name now
        Those that were renamed.
    mobility : int
        What the transformation adds to the mobility.
    turn : (3, 3) array
        Orthogonal; takes directions in the world of before to those of now (axial ones as well: for a
        subspace the sign of a reflected axial vector does not matter).
    same_frames : bool
        Whether the joint frames are the (mirrored) ones of before, so that components compare.
    new_unique : bool
        Whether the reactions of all new constraints must be unique.
    """

    model: Scene | Mechanism
    q: Mapping[str, float] | Array
    names: Mapping[str, str] = field(default_factory=dict)
    mobility: int = 0
    turn: Array = field(default_factory=lambda: np.eye(3))
    same_frames: bool = True
    new_unique: bool = False

    def analysis(self) -> Analysis:
        """Return the analysis at the default tolerance, by the public function."""
        return mb.analyze(self.model, self.q, samples=SAMPLES)


def weak(analysis: Analysis) -> bool:
    """Whether a tolerance that is ``MARGIN`` times smaller or larger gives another redundancy."""
    low, high = analysis.tolerance / MARGIN, analysis.tolerance * MARGIN
    p = {s.degree_of_redundancy for s in analysis.plateaus if s.stop > low and s.start < high}
    return p != {analysis.degree_of_redundancy}


def rounded(analysis: Analysis) -> float:
    """Return how large an entry of a unit self-stress is that counts as zero: more than rounding of
    numbers only where angles were written rounded, and a loop or a rank is so by tolerance."""
    return max((b.zero for b in analysis.blocks if b.redundancy), default=0.0)


def differences(before: Analysis, after: Analysis, change: Changed) -> list[str]:
    """Return what does not agree about the whole, in words."""
    found = []
    for what, one, other in (
        ("p", before.degree_of_redundancy, after.degree_of_redundancy),
        ("structural p", before.structural_redundancy, after.structural_redundancy),
        ("mobility", before.dof + change.mobility, after.dof),
    ):
        if one != other:
            found.append(f"{what} was to be {one} and is {other}")
    return found


def other_reactions(before: Analysis, after: Analysis, change: Changed) -> list[str]:
    """Return what does not agree about the reactions, in words."""
    found = []
    close = max(SAME_DIRECTIONS, 10 * rounded(before), 10 * rounded(after))
    now = {v.name: v for v in after.constraints}
    for verdict in before.constraints:
        again = now.pop(change.names.get(verdict.name, verdict.name), None)
        if again is None:
            found.append(f"{verdict.name!r} is not there")
        else:
            found += [f"{verdict.name!r}: {text}" for text in _of_constraint(verdict, again, change, close)]
    if change.new_unique:
        found += [f"new {name!r} is {v.reaction}" for name, v in now.items() if not v.unique]
    return found


def _of_constraint(before: Any, after: Any, change: Changed, close: float) -> list[str]:
    if (before.reaction, before.indeterminate_dim) != (after.reaction, after.indeterminate_dim):
        now = f"{after.reaction} ({after.indeterminate_dim})"
        return [f"was {before.reaction} ({before.indeterminate_dim}), is {now}"]
    found = []
    if change.same_frames and before.components != after.components:
        was, now = ([c.name for c in v.components if c.unique] for v in (before, after))
        found.append(f"unique components were {was}, are {now}")
    for what in ("open_force", "open_moment"):
        one, other = (_projector(getattr(v, what)) for v in (before, after))
        if np.abs(change.turn @ one @ change.turn.T - other).max() > close:
            found.append(f"{what} spans other directions")
    return found


def _projector(directions: Any) -> Array:
    basis = np.array(directions or (), dtype=float).reshape(-1, 3)
    return np.asarray(basis.T @ basis)
