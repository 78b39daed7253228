"""A loop cannot be closed.

What it does
------------
Closes all loops by damped Gauss–Newton steps from the pose of the file, from several perturbed poses
as well, and names the constraint that does not close, with its gap.

Why it matters
--------------
At a pose that is not assembled the rank, and with it every result, is not valid.

Example
-------
A four-bar whose coupler is 0.1 m longer than crank and rocker can reach.

Remedy
------
Correct the frames of the closure, or give an initial pose nearer to the closed one with ``--q`` or
``[state]``.

References
----------
wojtyra2013 (1): the constraint equations must hold before their Jacobian is used.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
