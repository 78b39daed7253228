"""``analyze``: the constraints of a scene or mechanism, at the scene's pose unless another one is given."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.analysis.analysis import analyze_mechanism
from mbplugin.analysis.result import Analysis
from mbplugin.arguments import checked
from mbplugin.constraints.stated_state import stated_state
from mbplugin.constraints.tolerance import DEFAULT_SAMPLES, rank_tolerance
from mbplugin.errors import BadUsage
from mbplugin.model.duties import duties
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.plausible import masses_below_zero, warn_of
from mbplugin.model.scene import Scene, mechanism_of, option_of
from mbplugin.readers import reload
from mbplugin.readers.source import ModelSource, model_of


@checked
def analyze(
    mech: ModelSource,
    q: JointValues = None,
    *,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    snap_angles: bool = False,
    groups: Sequence[Sequence[str]] = (),
) -> Analysis:
    """Close the pose of a scene or mechanism and analyze its constraints there.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; what is not named keeps the scene's value. What is named, or stated in the
        scene, holds exactly while the loops are closed; values that contradict each other are an error. A vector
        is where the search for a closed pose starts.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    method : "qr", "svd", "rank", "nullspace", "dca" or "dca-extended"
    planar : "xy", "yz" or "zx", optional
    samples : int, optional
        Number of sampled poses that distinguish redundancy from a singular pose; the scene's, else
        ``constraints.tolerance.DEFAULT_SAMPLES``.
    snap_angles : bool
        Read rounded angle literals as fractions of π.
    groups : sequence of sequences of constraint names

    Raises
    ------
    BadUsage
        A method, plane, tolerance or number of poses that there is not; ``snap_angles`` without a scene.
    UnknownName
        A coordinate or a constraint of a group that the mechanism does not have.
    CannotClose
        The loops cannot be closed.
    ContradictedState
        Stated coordinates that no pose has together.

    Warns
    -----
    ImplausibleValue
        A mass below zero of a mechanism, or a coordinate that is probably in another unit.
    """
    mech = model_of(mech)
    if snap_angles:
        if not isinstance(mech, Scene):
            raise BadUsage("snap_angles needs the angles as they were written", remedy="pass a scene")
        mech = reload(mech, snap_angles=True)
    mechanism = mechanism_of(mech)
    if not isinstance(mech, Scene):  # of a file the rules say it, at its line
        warn_of(masses_below_zero(mechanism))
    return analyze_mechanism(
        mechanism,
        stated=stated_state(mech, q, closing=True),
        tolerance=rank_tolerance(mech if isinstance(mech, Scene) else None, tolerance),
        method=method,
        planar=planar or option_of(mech, "planar", None),
        samples=option_of(mech, "samples", DEFAULT_SAMPLES) if samples is None else samples,
        groups=groups,
        kept={name: tuple(duty.text for duty in own) for name, own in duties(mech).items()},
    )
