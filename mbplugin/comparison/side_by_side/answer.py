"""What one engine answers: a wrench for every joint, or why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True, eq=False)
class Answer:
    """The joint wrenches of one engine.

    Parameters
    ----------
    engine : str
        Its name.
    version : str
        Empty where it did not run.
    wrenches : mapping of pair to (6,) array
        [f; m] on the successor at the origin of S, world axes, N and N·m; empty without an answer.
    reason : str
        Why there is no answer, one sentence; empty with one.
    notes : tuple of str
    """

    engine: str
    version: str = ""
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    reason: str = ""
    notes: tuple[str, ...] = ()
