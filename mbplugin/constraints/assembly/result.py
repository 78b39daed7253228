"""What closing a pose found."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True, eq=False)
class Assembly:
    """A closed pose and how well each constraint is closed.

    Parameters
    ----------
    q : (nq,) array
    residual_file, residual : dict of constraint name to float
        Largest position residual at the given pose and at q, in m (rotations times ``length``).
    length : float
        Characteristic length, m.
    moved : float
        Largest change of a joint coordinate, rad or m.
    beyond_limits : tuple of str
        Joints that had to leave their limits.
    starts : int
        Poses from which the hardest group was closed, the given one among them; 0 where all were closed.
    degenerate : tuple of str
        Constraints whose rows lose rank at the nearest closed pose that was found, but not at others.
    turned_file : tuple of str
        Constraints whose largest residual at the given pose is that of a rotation.
    """

    q: Array
    residual_file: dict[str, float]
    residual: dict[str, float]
    length: float
    moved: float
    beyond_limits: tuple[str, ...] = ()
    starts: int = 0
    degenerate: tuple[str, ...] = ()
    turned_file: tuple[str, ...] = ()

    @property
    def worst_file(self) -> float:
        """Largest residual at the given pose, m."""
        return max(self.residual_file.values(), default=0.0)

    @property
    def worst(self) -> float:
        """Largest residual at the closed pose, m."""
        return max(self.residual.values(), default=0.0)
