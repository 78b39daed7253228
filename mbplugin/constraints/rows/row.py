"""Labelled rows of one constraint: coefficients on body twists, and the terms that go with them."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one constraint,  Σ entries · twist + b = 0  and  Σ entries · acceleration = Gamma.

    Parameters
    ----------
    constraint : str
        Its name.
    components : tuple of str
        One label per row, k of them.
    entries : tuple of (int, (k, 6) array)
        Body index and coefficients on its twist [v; ω], world axes, at its centre of mass.
    b, Gamma, Phi : (k,) array
        Velocity term, acceleration right-hand side, position residual (zero for a row that has no
        position equation).
    translation : (k,) bool array
        Whether a row is in m/s (otherwise rad/s).
    holonomic : (k,) bool array
    parts : tuple of (int, (1, 6) array)
        Of a coupling, the entries of each of its terms, before they are added.
    """

    constraint: str
    components: tuple[str, ...]
    entries: tuple[tuple[int, Array], ...]
    b: Array
    Gamma: Array
    Phi: Array
    translation: AnyArray
    holonomic: AnyArray
    parts: tuple[tuple[int, Array], ...] = ()

    @property
    def labels(self) -> tuple[RowLabel, ...]:
        """The identity of each row."""
        return tuple(RowLabel(self.constraint, component) for component in self.components)
