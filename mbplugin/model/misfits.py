"""Misfits, their tolerances, and limits of the loads that they cause."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Misfit:
    """How far the successor of a joint stands off along a row before the joint is closed.

    Parameters
    ----------
    joint, component : str
        The row: a constraint and its component.
    value : float or None
        The misfit, m or rad.
    sigma : float or None
        Its standard deviation, m or rad; misfits of different rows are independent.
    """

    joint: str
    component: str
    value: float | None = None
    sigma: float | None = None

    @property
    def name(self) -> str:
        """The row as on the command line, ``JOINT.COMPONENT``."""
        return f"{self.joint}.{self.component}"


@dataclass(frozen=True)
class Limit:
    """The largest load that misfits may cause in a joint.

    Parameters
    ----------
    joint : str
    value : float
        Of the joint's force, N; or of one component, N or N·m.
    component : str
        Empty for the resultant force.
    """

    joint: str
    value: float
    component: str = ""

    @property
    def name(self) -> str:
        """As on the command line, ``JOINT`` or ``JOINT.COMPONENT``."""
        return f"{self.joint}.{self.component}" if self.component else self.joint
