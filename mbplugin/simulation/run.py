"""``simulate``: the motion of a mechanism in time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mbplugin.arguments import checked
from mbplugin.constraints.matrix import constraint_matrix
from mbplugin.constraints.stated_state import stated_state
from mbplugin.constraints.tolerance import rank_tolerance
from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import AppliedForces, Controller, scene_actions, with_springs
from mbplugin.model.brakes import BrakeLike, signalled_brakes
from mbplugin.model.loads import LoadLike, PayloadLike, read_loads, read_payloads
from mbplugin.model.mechanism.coupling import Lock, TimedConstraint
from mbplugin.model.mechanism.kinematics import JointValues, joint_vector, rate_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.motion_profile import MotionProfile
from mbplugin.model.mechanism.named_numbers import NamedNumbers, forces_of, numbers
from mbplugin.model.plausible import implausible, warn_of, weightless
from mbplugin.model.scene import Scene, mechanism_of, option_of
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.simulation.impact.timed import without_constraints
from mbplugin.simulation.integrators.registry import DEFAULT_INTEGRATOR
from mbplugin.simulation.motion import move
from mbplugin.simulation.options import Options, Profile, UserEvent
from mbplugin.simulation.request import checked_locks, led_by, scene_state, timed_holds
from mbplugin.simulation.runner import Progress
from mbplugin.simulation.trajectory.trajectory import Trajectory

if TYPE_CHECKING:
    from mbplugin.joint_reactions.stiffness.pair_stiffness import StiffnessLike
    from mbplugin.simulation.trajectory.redundant.compliance_spread import StatedStiffness

Model = Scene | Mechanism


@checked
def simulate(
    mech: ModelSource,
    duration: float,
    *,
    q: JointValues = None,
    qd: JointValues = None,
    locks: Iterable[Lock] = (),
    holds: Iterable[TimedConstraint] = (),
    brakes: Iterable[BrakeLike] | None = None,
    signal: float | None = None,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] = (),
    springs: Iterable[Spring | JointSpring] = (),
    stiffness: StiffnessLike = (),
    torques: NamedNumbers | None = None,
    armature: Mapping[str, float] | None = None,
    controller: Controller | None = None,
    profiles: Mapping[str, Profile | MotionProfile] | None = None,
    damping: bool = True,
    friction: bool = True,
    formulation: str = "projected",
    redundancy: str = "eliminate",
    dropped: Sequence[int | tuple[str, str]] = (),
    coordinates: str = "joint",
    integrator: str = DEFAULT_INTEGRATOR,
    step: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    tolerance: float | None = None,
    planar: str | None = None,
    limits: str = "record",
    events: Iterable[UserEvent] = (),
    stabilization: str = "projection",
    samples: int | None = None,
    readable: bool = False,
    transition: str = "consistent",
    max_seconds: float = MAX_SECONDS,
    progress: Progress | None = None,
) -> Trajectory:
    """Compute the motion of a mechanism from a state, after its loops are closed.

    The state, loads, payloads, springs, drives and timed locks of a scene are included; the arguments are
    added.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    duration : float
        s.
    q, qd : mapping or vector, optional
        Joint coordinates and rates at the start, rad and m; what is not named keeps the scene's value.
        What is named, or stated in the scene, holds exactly and the rest follows; values that contradict each
        other are an error.
    locks : iterable of Lock
        Joints that lock at a time: their rates jump to zero, and the rates of the others jump with them;
        with ``until`` they are released again.
    holds : iterable of TimedConstraint
        Closures, couplings, drivers and wheels of the mechanism that are active only for an interval.
    brakes : iterable of Brake or mapping, optional
        Joint brakes; each engages after its delays, counted from the signal. With a signal alone, the
        scene's.
    signal : float, optional
        Time of the brake signal, s; 0 if brakes are given.
    loads, payload : iterable, optional
        Load and Payload, or mappings with the keys of the scene's tables.
    springs : iterable of Spring or JointSpring
    stiffness : iterable of Stiffness or mapping, optional
        As for :func:`mbplugin.joint_reactions.run.reactions`, besides that of the scene: reactions that the rigid
        model does not determine are those of least elastic energy. The motion is that of the rigid model.
    torques, armature : mapping, optional
        By joint rate: a constant force, N·m or N, and a drive's inertia, kg·m² or kg.
    controller : callable, optional
        Forces (nv,) on the joint rates at (t, q, qd).
    profiles : mapping of driver name to MotionProfile or callable, optional
        Value, rate and acceleration of a driver at a time; a joint that no driver leads gets one that follows
        the MotionProfile. A callable with a jump of its acceleration has an attribute ``breaks``, the times (s)
        of the jumps: the motion has a sample before and after each.
    damping, friction : bool
        Whether the file's joint damping and dry friction count.
    formulation, redundancy, coordinates : str
        See the guide to motions; they change the method, not the motion.
    dropped : sequence of int or (constraint, component)
        Redundant rows to eliminate, numbered from 1 as in ``mbplugin matrix``; by default a pivoted
        factorisation selects them.
    integrator : str
        A name of ``mbplugin.simulation.integrators.registry``; see the guide to the motion.
    step : float, optional
        Step of a fixed-step integrator, 1e-3 s by default; the largest step of an adaptive one.
    rtol, atol : float
        Tolerances of an adaptive integrator.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Keep free roots in a plane.
    limits : "record", "stop" or "ignore"
        The reaction to a joint that passes a limit.
    events : iterable of UserEvent
        Functions whose zeros are recorded, or end the motion.
    stabilization : "projection", "baumgarte" or "none"
    samples : int, optional
        Number of equal intervals of the trajectory, besides events; by default every step.
    readable : bool
        Use the loops written in Python.
    transition : "consistent" or "naive"
        With "naive" a lock only sets its own rates to zero: the usual simplification, which is wrong, for
        comparison.
    max_seconds : float
        Time limit of the computation; a motion that takes longer, or too much memory, ends with the outcome
        ``budget_spent`` and keeps its samples.
    progress : callable, optional
        Called with (time, duration) at intervals.

    Returns
    -------
    Trajectory

    Raises
    ------
    BadUsage, UnknownName, BadNumber
        Something in the request that cannot be.
    CannotClose
        A loop that cannot be closed.
    ContradictedState
        Stated coordinates or rates that no state has together.
    BrokenModel
        A joint that moves no mass.
    """
    mech = model_of(mech)
    scene = mech if isinstance(mech, Scene) else None
    mechanism, callables = led_by(mechanism_of(mech), profiles or {})
    holds = (*(scene.holds if scene else ()), *holds)
    mechanism, held = without_constraints(mechanism, holds)
    start = stated_state(mech, q, qd, mechanism, scene_state(scene, mechanism))
    base = scene_actions(scene) if scene else AppliedForces()
    gripping, at = signalled_brakes(mechanism, scene.brakes if scene else (), brakes, signal)
    actions = replace(
        with_springs(base, springs),
        loads=(*base.loads, *read_loads(mechanism, loads)),
        payloads=(*base.payloads, *read_payloads(mechanism, payload)),
        torques={**base.torques, **numbers(torques, forces_of(mechanism))},
        armature={**base.armature, **(armature or {})},
        controller=controller,
        damping=damping,
        friction=friction,
        brakes=tuple(brake.force(at) for brake in gripping),
    )
    warn_of(implausible(mechanism, start.qd, actions.payloads, gripping))
    planar = planar or option_of(mech, "planar", None)
    options = Options(
        duration,
        integrator,
        formulation,
        redundancy,
        coordinates,
        stabilization,
        limits,
        _labels(mechanism, dropped, planar),
        step,
        rtol,
        atol,
        rank_tolerance(scene, tolerance),
        planar,
        tuple(events),
        samples,
        callables,
        readable,
        transition,
        max_seconds,
    )
    timed = (*(scene.locks if scene else ()), *locks)
    springy = _stated(mechanism, scene.stiffness if scene else (), stiffness)
    motion = move(
        mechanism,
        actions,
        start,
        checked_locks(mechanism, timed, duration),
        options,
        progress,
        holds=timed_holds(holds, held, options),
    )
    notes = (*motion.notes, *(weightless(scene) if scene else ()))
    return replace(motion, stiffness=springy, notes=notes)


def _stated(mech: Mechanism, of_scene: StiffnessLike, given: StiffnessLike) -> StatedStiffness | None:
    """Return the stiffness that decides on reactions, checked; None where none is stated."""
    if not of_scene and not given:
        return None
    # what gives way takes long to import, and few motions need it
    from mbplugin.simulation.trajectory.redundant.compliance_spread import stated_stiffness

    return stated_stiffness(mech, of_scene, given)


def _labels(
    mech: Mechanism, dropped: Sequence[int | tuple[str, str]], planar: str | None
) -> tuple[tuple[str, str], ...]:
    """Return rows to drop as (constraint, component)."""
    if not dropped:
        return ()
    rows = constraint_matrix(mech, joint_vector(mech, None), rate_vector(mech, None), planar=planar).rows
    out = []
    for row in dropped:
        if isinstance(row, int):
            if not 1 <= row <= len(rows):
                raise BadUsage(f"there is no row {row}", expected=f"1 to {len(rows)}")
            row = rows[row - 1]
        out.append((str(row[0]), str(row[1])))
    return tuple(out)
