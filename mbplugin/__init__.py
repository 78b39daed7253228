"""Find overconstraint, undetermined joint reactions and what brakes do to a robot."""

from __future__ import annotations

__version__ = "0.1.0"
