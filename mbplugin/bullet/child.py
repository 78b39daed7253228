"""Motions of PyBullet, computed in a separate process, which a model can end or block."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.simulation.budget import MAX_SECONDS

T = TypeVar("T")

#: Bytes: of memory beyond those of the started process, and of a file.
_MEMORY, _WRITTEN = 4 << 30, 1 << 30
_PURPOSE = Purpose(
    "computed", "the motion", "one that takes less", "take longer steps, a shorter duration or more seconds"
)


@dataclass
class Allowance:
    """Seconds that several calls share; the clock runs from its making."""

    seconds: float = MAX_SECONDS
    begun: float = field(default_factory=monotonic)

    @property
    def limits(self) -> Limits:
        """What the next call may take, at least a second."""
        left = max(1.0, self.seconds - (monotonic() - self.begun))
        return Limits(left, math.ceil(left), _MEMORY, _WRITTEN, _PURPOSE)


def in_child(function: Callable[..., T], /, *args: Any, limits: Limits | None = None) -> T:
    """Return what a function returns in a process of its own, which ends with it.

    Parameters
    ----------
    function : callable
        Of a module that can be imported; it, its arguments and its answer can be pickled.
    limits : Limits, optional
        By default those of an :class:`Allowance`.

    Raises
    ------
    MbPluginError
        What the function raised, that PyBullet ended the process, or that it took too much.
    RuntimeError
        Any other exception in the function, with its traceback.
    """
    return in_own_child("PyBullet", limits or Allowance().limits, "", os.environ, function, *args)
