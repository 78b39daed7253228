"""``crosscheck``: whether PyBullet converges to our motion as its step decreases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite

from mbplugin.arguments import checked
from mbplugin.bullet.child import Allowance
from mbplugin.bullet.motion.task import Solver
from mbplugin.bullet.session import require_engine
from mbplugin.comparison.agreement import Agreement
from mbplugin.comparison.run import check, models
from mbplugin.comparison.setup import of_motion, of_stop
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import BrakeLike
from mbplugin.model.loads import LoadLike, PayloadLike
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.named_numbers import NamedNumbers
from mbplugin.model.scene import Scene
from mbplugin.phrases import listed
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.stopping.outcome.values import StopReport


@checked
def crosscheck(
    mech: ModelSource | StopReport,
    duration: float | None = None,
    *,
    q: JointValues = None,
    qd: JointValues = None,
    locks: Iterable[Lock] = (),
    brakes: Iterable[BrakeLike] | None = None,
    signal: float | None = None,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] = (),
    torques: NamedNumbers | None = None,
    damping: bool = True,
    friction: bool = True,
    against: int | str | None = None,
    step: float | None = None,
    iterations: int = 500,
    progress: Callable[[int, int], None] | None = None,
    max_seconds: float = MAX_SECONDS,
) -> Agreement:
    """Compare a motion of mbplugin with PyBullet's at a step, a half, a quarter and an eighth of it.

    Both start from the same state with the same loads, locks and brakes. PyBullet runs in a process of
    its own. The parameters of the two models are compared first.

    Parameters
    ----------
    mech : path, PyBullet client, Scene, Mechanism or StopReport
        A stop is compared from its signal to rest; then only ``against``, ``step`` and ``iterations``
        apply.
    duration : float, optional
        s; by default 0.5, or 1.5 times the time of the last lock or brake if that is longer.
    q, qd : mapping or vector, optional
        State at the start; what is not named keeps the scene's value.
    locks : iterable of Lock
        In addition to the scene's.
    brakes, signal, loads, payload, torques, damping, friction
        As for ``simulate``.
    against : int or str, optional
        PyBullet's model: a connected client, or a URDF; by default the scene's own URDF as
        PyBullet reads it, if there is one.
    step : float, optional
        PyBullet's coarsest step, s. By default it is halved until its error decreases as that of a
        first-order method.
    iterations : int
        Of PyBullet's solver.
    progress : callable, optional
        Called with the number of computed motions of PyBullet, and the least total number.
    max_seconds : float
        Time limit of the computation, for our motion and for all of PyBullet's; beyond it nothing is comparable.

    Returns
    -------
    Agreement

    Raises
    ------
    BadUsage, UnknownName, BadNumber, CannotClose
        Something in the request that cannot be.
    MissingDependency
        PyBullet is not installed.
    """
    require_engine("a cross-check")
    if step is not None and not (isfinite(step) and step > 0):
        raise BadUsage(f"the step is {step:g} s", expected="a positive number")
    if iterations < 1:
        raise BadUsage(f"{iterations} iterations were requested", expected="at least one")
    if isinstance(mech, StopReport):
        motion: dict[str, object] = {
            "duration": duration,
            "q": q,
            "qd": qd,
            "locks": locks,
            "brakes": brakes,
            "signal": signal,
        }
        motion |= {"loads": loads, "payload": payload, "torques": torques}
        motion |= {"damping": None if damping else damping, "friction": None if friction else friction}
        _require_none_given(motion)
        scene, setup = None, of_stop(mech, max_seconds)
    else:
        model = model_of(mech)
        scene = model if isinstance(model, Scene) else None
        setup = of_motion(
            model,
            duration,
            brakes,
            signal,
            q=q,
            qd=qd,
            locks=tuple(locks),
            loads=loads,
            payload=payload,
            torques=torques,
            damping=damping,
            friction=friction,
            max_seconds=max_seconds,
        )
    compared = models(scene, setup.task.mech, against)
    return check(setup, compared, Solver(iterations), step, progress, allowance=Allowance(max_seconds))


def _require_none_given(motion: Mapping[str, object]) -> None:
    """Refuse arguments of a motion beside a stop, which has its own.

    Raises
    ------
    BadUsage
    """
    given = [
        name
        for name, value in motion.items()
        if not (value is None or (isinstance(value, tuple) and not value))
    ]
    if given:
        raise BadUsage(
            f"a stop has its own motion, and {listed(given)} was given too",
            expected="a stop with against, step and iterations alone",
            remedy="compute the stop with it, or give the model instead of the stop",
        )
