"""Numbers that cannot be read and that the mechanics do without: findings, no errors."""

from __future__ import annotations

from mbplugin.errors import MbPluginError
from mbplugin.model.scene import Defect, Origin


def unread_number(error: MbPluginError, element: str, instead: str) -> Defect:
    """Return the defect that stands for the error about such a number.

    Parameters
    ----------
    error : MbPluginError
        What is wrong with it, and where it stands.
    element : str
        The link or joint.
    instead : str
        What is read in its place.
    """
    file, _, line = error.where.rpartition(":")
    place = Origin(file, int(line)) if file and line.isdigit() else Origin(error.where, 0)
    return Defect("MB114", element, f"{error.what}; {instead}", place, {"expected": error.expected})
