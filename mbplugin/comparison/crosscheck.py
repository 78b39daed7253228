"""``crosscheck``: whether PyBullet converges to our motion as its step shrinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite

from mbplugin.bullet.child import Allowance
from mbplugin.bullet.motion.task import Solver
from mbplugin.comparison.agreement import Agreement
from mbplugin.comparison.run import check, models
from mbplugin.comparison.setup import of_motion, of_stop
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import BrakeLike
from mbplugin.model.loads import LoadLike, PayloadLike
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.stopping.outcome.values import StopReport


def crosscheck(
    mech: Scene | Mechanism | StopReport,
    duration: float | None = None,
    *,
    q: JointValues = None,
    qd: JointValues = None,
    locks: Iterable[Lock] = (),
    brakes: Iterable[BrakeLike] | None = None,
    signal: float | None = None,
    loads: Iterable[LoadLike] = (),
    payloads: Iterable[PayloadLike] = (),
    torques: Mapping[str, float] | None = None,
    damping: bool = True,
    friction: bool = True,
    against: int | str | None = None,
    step: float | None = None,
    iterations: int = 500,
    progress: Callable[[int, int], None] | None = None,
    max_seconds: float = MAX_SECONDS,
) -> Agreement:
    """Return how a motion of ours compares with PyBullet's at a step, a half, a quarter and an eighth.

    Both start from the same state with the same loads, locks and brakes. PyBullet runs in a process of
    its own. Before anything moves, the parameters of the two models are compared.

    Parameters
    ----------
    mech : Scene, Mechanism or StopReport
        A stop is compared from its signal to rest; then only ``against``, ``step`` and ``iterations``
        are looked at.
    duration : float, optional
        s; by default 0.5, and half as long again as until the last lock or brake where that is longer.
    q, qd : mapping or vector, optional
        State at the start; what is not named keeps the scene's value.
    locks : iterable of Lock
        On top of the scene's.
    brakes, signal, loads, payloads, torques, damping, friction
        As for ``simulate``.
    against : int or str, optional
        What PyBullet's model is: a connected client, or a URDF; by default the scene's own URDF as
        PyBullet reads it, where it has one.
    step : float, optional
        PyBullet's coarsest step, s. By default it is halved until its error shrinks as that of a
        first-order method.
    iterations : int
        Of PyBullet's solver.
    progress : callable, optional
        Told how many motions of PyBullet are computed, and how many there will be at least.
    max_seconds : float
        Of computing, for our motion and again for all of PyBullet's; what takes longer is not comparable.

    Returns
    -------
    Agreement

    Raises
    ------
    BadUsage, UnknownName, BadNumber, CannotClose
        Something in the request that cannot be.
    """
    if step is not None and not (isfinite(step) and step > 0):
        raise BadUsage(f"the step is {step:g} s", expected="a positive number")
    if iterations < 1:
        raise BadUsage(f"{iterations} iterations were asked for", expected="at least one")
    if isinstance(mech, StopReport):
        setup = of_stop(mech, max_seconds)
    else:
        setup = of_motion(
            mech,
            duration,
            brakes,
            signal,
            q0=q,
            qd0=qd,
            locks=tuple(locks),
            loads=loads,
            payloads=payloads,
            torques=torques,
            damping=damping,
            friction=friction,
            max_seconds=max_seconds,
        )
    scene = mech if isinstance(mech, Scene) else None
    compared = models(scene, setup.task.mech, against)
    return check(setup, compared, Solver(iterations), step, progress, allowance=Allowance(max_seconds))
