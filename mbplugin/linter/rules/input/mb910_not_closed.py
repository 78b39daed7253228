"""No pose was found at which a group of loops closes.

What it does
------------
Closes the loops from the pose of the file. Loops that do not close from there are separated into groups,
and every group starts again from random poses: turns anywhere in ±π or inside their limits, travels inside
theirs. The message states how many starts there were, the best gap and the group, and names constraints
that do not close without the rest of the group either. Another pose may exist: the search is numerical.

Why it matters
--------------
At a pose that is not assembled the rank, and with it every result, is not valid.

Example
-------
A four-bar whose coupler is 0.1 m longer than crank and rocker can reach.

Remedy
------
Correct the frames of the named constraints, first of those that do not close on their own, or give an
initial pose nearer to the closed one with ``--q`` or ``[state]``.

References
----------
wojtyra2013 (1): the constraint equations must hold before their Jacobian is used.
"""

from __future__ import annotations

from mbplugin.linter.finding import Severity
from mbplugin.linter.unusable import check

SEVERITY: Severity = "error"

__all__ = ["SEVERITY", "check"]
