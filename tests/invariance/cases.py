"""A case: a source and a transformation, with the seed that both give; and what came of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from mbplugin.errors import MbPluginError

from . import mirror, on_mechanism, on_urdf, urdf_lengths
from .on_urdf import Rewritten
from .sources import Source, Unusable
from .verdict import ROUNDED, Changed, differences, other_reactions, rounded, weak

#: What is done to a mechanism, whatever file it was read from.
ON_MECHANISMS: dict[str, Callable[..., Changed]] = {
    "in millimetres": partial(on_mechanism.scaled, factor=1e3),
    "in kilometres": partial(on_mechanism.scaled, factor=1e-3),
    "moved": on_mechanism.moved,
    "renamed": on_mechanism.renamed,
    "in another order": on_mechanism.shuffled,
    "cut elsewhere": on_mechanism.recut,
    "mirrored": mirror.mirrored,
    "a link split": on_mechanism.split,
    "a pendulum added": on_mechanism.with_pendulum,
}
#: The same done to the text of a URDF; no text can be cut elsewhere, a URDF is a tree.
ON_URDF: dict[str, Callable[..., Rewritten]] = {
    "in millimetres": partial(urdf_lengths.scaled, factor=1e3),
    "in kilometres": partial(urdf_lengths.scaled, factor=1e-3),
    "moved": on_urdf.moved,
    "renamed": on_urdf.renamed,
    "in another order": on_urdf.shuffled,
    "mirrored": urdf_lengths.mirrored,
    "a link split": on_urdf.split,
    "a pendulum added": on_urdf.with_pendulum,
}
TRANSFORMATIONS = tuple(ON_MECHANISMS)
#: What changes no number but by rounding: it must hold however near to a change of rank the pose is.
EXACT = ("in millimetres", "in kilometres", "moved", "renamed", "mirrored")

Outcome = Literal["same", "weak", "unusable", "different"]


@dataclass(frozen=True)
class Case:
    """One comparison.

    Parameters
    ----------
    source : Source
    transformation : str
        A key of ``ON_MECHANISMS``.
    """

    source: Source
    transformation: str

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.source.name} {self.transformation}"

    def changed(self) -> Changed:
        """Return the transformed model: of the text where there is one, else of the mechanism."""
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        urdf = self.source.urdf
        if urdf is None or self.transformation not in ON_URDF:
            return ON_MECHANISMS[self.transformation](self.source.posed, rng)
        new = ON_URDF[self.transformation](urdf, rng)
        kept: dict[str, Any] = {k: v for k, v in vars(new).items() if k != "urdf"}
        return Changed(new.urdf.load(self.source.folder), new.urdf.q, **kept)

    def run(self) -> tuple[Outcome, str]:
        """Return the outcome, and what differs."""
        try:
            before = self.source.analysis
        except Unusable as error:
            return "unusable", str(error)
        try:
            change = self.changed()
            after = change.analysis()
        except MbPluginError as error:
            return "different", str(error)
        whole, parts = differences(before, after, change), other_reactions(before, after, change)
        if not whole and not parts:
            return "same", ""
        text = "; ".join((*whole, *parts)[:3])
        if self.transformation in EXACT:
            return "different", text
        near = weak(before) or weak(after)
        may_round = near or max(rounded(before), rounded(after)) > ROUNDED
        return ("weak" if (near or not whole) and (may_round or not parts) else "different"), text


def cases(sources: list[Source]) -> list[Case]:
    """Return every transformation of every source."""
    return [Case(source, name) for source in sources for name in TRANSFORMATIONS]
