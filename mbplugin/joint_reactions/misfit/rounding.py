"""What rounded angles of a file cost: the loads that the gaps in its loops cause."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.rounding import gaps_of_rounding
from mbplugin.joint_reactions.misfit.run import misfit_response
from mbplugin.joint_reactions.misfit.values import MisfitEffect, MisfitStep
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array


def rounding_effect(
    written: Mechanism, meant: Scene, q: Array, *, tolerance: float, planar: str | None = None
) -> MisfitEffect | None:
    """Return what the angles of a file that are not as meant cost together; None where no loop has a gap.

    The constraint and the size are those of the largest gap, the loads those of all gaps.

    Parameters
    ----------
    written : Mechanism
    meant : Scene
        Of the same file.
    q : (nq,) array
        Its closed pose, rad and m.
    tolerance : float
        Relative rank tolerance.
    planar : str, optional

    Raises
    ------
    MbPluginError
        As for :func:`mbplugin.misfit_response`.
    """
    response = misfit_response(meant, q, tolerance=tolerance, planar=planar)
    gaps = gaps_of_rounding(written, meant.mechanism, response.q, planar)
    misfit = np.array([gaps.get(label, 0.0) for label in response.labels])
    misfit[~response.adjustable] = 0.0
    sizes = np.abs(misfit) * np.where([unit == "N" for unit in response.units], 1.0, response.length)
    if not sizes.any():
        return None
    k = int(sizes.argmax())
    step = MisfitStep(float(abs(misfit[k])), "m" if response.units[k] == "N" else "rad")
    return MisfitEffect(*response.labels[k], step, *response.loads_of(misfit), response.rows_by_name)
