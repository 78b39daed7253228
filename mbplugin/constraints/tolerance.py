"""The relative rank tolerance that counts for a request, its default, and the default number of sampled poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbplugin.errors import BadUsage

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene

#: Relative to the largest singular value of a block's scaled closure Jacobian.
DEFAULT_TOLERANCE = 1e-4
#: Poses sampled, at most, to tell a structural redundancy from a singular pose.
DEFAULT_SAMPLES = 8


def rank_tolerance(scene: Scene | None, requested: float | None) -> float:
    """Return the relative rank tolerance: the requested one, else the scene's, else the default.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    stated = scene.options.tolerance if scene is not None and requested is None else requested
    tolerance = DEFAULT_TOLERANCE if stated is None else stated
    require_tolerance(tolerance)
    return tolerance


def require_tolerance(tolerance: float) -> None:
    """Refuse a number that is no relative tolerance.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise BadUsage(f"the tolerance is {tolerance:g}", expected="a number between 0 and 1")
