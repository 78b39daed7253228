"""The gaps that rounded angles of a file make in its loops."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.matrix import constraint_rows
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array

#: A smaller gap is that of numbers, not of angles, m and rad.
_NOTHING = 1e-12


def gaps_of_rounding(
    written: Mechanism, meant: Mechanism, q: Array, planar: str | None = None
) -> dict[RowLabel, float]:
    """Return the gaps of constraints with the angles written, where the loops are closed with those meant, m and rad.

    They offset the successor, as a misfit does. A gap that the mechanism as meant has, too, is not one of rounding.

    Parameters
    ----------
    written, meant : Mechanism
        Of the same file.
    q : (nq,) array
        The closed pose of ``meant``, rad and m.
    planar : str, optional
    """
    gaps, own = (_gaps(mech, q, planar) for mech in (written, meant))
    found = {label: gap - own.get(label, 0.0) for label, gap in gaps.items()}
    return {label: gap for label, gap in found.items() if abs(gap) > _NOTHING}


def _gaps(mech: Mechanism, q: Array, planar: str | None) -> dict[RowLabel, float]:
    """Return how far the holonomic constraints are open at q (nq,), by row, m and rad."""
    rows = constraint_rows(mech, q, np.zeros(len(mech.qd_names)), planar)
    return {label: gap for r in rows for label, gap in zip(r.labels, r.Phi.tolist(), strict=True)}
