"""``estop``: the stop of a moving robot, and the loads on its joints."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from math import isfinite
from typing import Annotated, TypedDict

import numpy as np
from typing_extensions import Unpack

from mbplugin.arguments import checked
from mbplugin.constraints import rank_tolerance
from mbplugin.constraints.closure import constraints_to_close
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.dynamics.tree_model import (
    joints_without_mass,
    with_followers_without_mass,
    with_joints_without_mass_at_rest,
)
from mbplugin.errors import BadNumber, BadUsage, CannotClose, ContradictedState, UnknownName, suggestion
from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import (
    AppliedForces,
    BrakeForce,
    BrakeLike,
    JointBrake,
    brake_in_si,
    brakeless,
    scene_actions,
    unbraked_for_freedoms,
    warn_of,
    weightless,
    weightless_bodies,
)
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import (
    JointValues,
    NamedNumbers,
    accelerations_of,
    coordinate_units,
    follows,
    numbers,
)
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import (
    LoadLike,
    Payload,
    PayloadLike,
    Scene,
    State,
    mechanism_of,
    read_loads,
    read_payloads,
    replaced_payloads,
)
from mbplugin.model.spatial import Array
from mbplugin.phrases import Assumption, counted, listed
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.standing import standing
from mbplugin.simulation.options import MAX_SECONDS, Options
from mbplugin.simulation.problem import pose_problem
from mbplugin.simulation.run import move
from mbplugin.simulation.runner import Progress
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.defaults import DefaultTool, default_tool
from mbplugin.stopping.evaluation import evaluate
from mbplugin.stopping.outcome import StopReport, moves
from mbplugin.stopping.scenario import (
    Scenario,
    ToolChoice,
    assumed_brakes,
    drives_sentence,
    placeholder_efforts,
    vector_of,
    wide_axes_through,
    with_assumed_drives,
)
from mbplugin.stopping.scenario.drives import choose_drives, fitted_brakes, grip_times, timed_drives
from mbplugin.stopping.scenario.start import Decelerations, RampSource, Start, inertias_at, with_reactions

#: A payload stated as a mass alone is placed at the tool.
PayloadValue = float | PayloadLike | Iterable[PayloadLike] | None
#: FILE on a command line for a model that was given as text.
_STDIN = "-"
#: Steps in which a joint of a loop moves into its limits, so that the loop stays on its branch.
_STEPS = 16
_AT_REST = "nothing moves at the signal: state rates, such as --qd JOINT=1 (qd={JOINT: 1})"


class StopArguments(TypedDict, total=False):
    """Arguments of all functions that compute stops, each with its default: ``Annotated[TYPE, DEFAULT]``.

    Parameters
    ----------
    brakes : iterable of Brake or mapping, optional
        Replace the scene's brakes on the same joints. A joint without a brake but with an effort limit gets
        a brake that slides with that effort; this is listed in ``assumed``. If no joint has a brake or an effort limit,
        brakes are assumed from the masses and lengths of the links, and the report begins with this.
    require_brakes : bool
        Raise an error if a brake or a deceleration is not stated.
    decelerations : mapping, optional
        By joint, rad/s² or m/s²; by default from the scene's ``[[ramp]]`` or ``[[actuator]]``, else the effort limit
        divided by the inertia, which is listed in ``assumed``.
    tool : str, optional
        Body whose path is computed; by default the outermost body, without a gripper.
    """

    brakes: Annotated[Iterable[BrakeLike] | None, None]
    require_brakes: Annotated[bool, False]
    decelerations: Annotated[NamedNumbers | None, None]
    tool: Annotated[str | None, None]


@checked
def estop(
    mech: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    category: int = 0,
    payload: PayloadValue = None,
    payload_share: float = 1.0,
    armature: Mapping[str, float] | None = None,
    loads: Iterable[LoadLike] = (),
    start: Start | None = None,
    tool_point: Array | None = None,
    damping: bool = True,
    friction: bool = True,
    limits: str = "stop",
    duration: float = 10.0,
    rest_speed: float = 0.0,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    tolerance: float | None = None,
    max_seconds: float = MAX_SECONDS,
    progress: Progress | None = None,
    **common: Unpack[StopArguments],
) -> StopReport:
    """Compute the stop of a moving robot after a signal at t = 0.

    Category 0: each drive continues for its delay and is then powered off; its brake engages after the
    engagement time. Category 1: each drive decelerates its joint to rest at a constant deceleration, then
    the brakes engage, then the drives are powered off. Category 2: the same without brakes.

    Where joints share a freedom through a mimic, a gear, a loop or wheels, each of their drives enforces the stated
    motion of its joint while it is powered: the longest delay or ramp counts, whichever joint has it, and a note names
    the drives whose joints then follow a motion other than their own.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q, qd : mapping or vector, optional
        State at the signal; coordinates that are not named keep the scene's values. Values named here or stated in
        the scene hold exactly and the rest follows from them; contradictory values are an error.
    category : 0, 1 or 2
    payload : float, Payload or mapping, or an iterable of these, optional
        Replaces the scene's payloads; a number is a mass (kg) at the tool.
    payload_share : float
        Factor on masses and inertias of the scene's payloads; 0 omits them. Cannot be combined with ``payload``.
    armature : mapping, optional
        By joint rate, kg·m² or kg.
    loads : iterable of Load or mapping
    start : Start, optional
        An instant of a motion, in place of q and qd.
    tool_point : (3,) array, optional
        Point in the link frame of the tool whose path is computed, m; by default its origin.
    damping, friction : bool
        Whether the file's joint damping and dry friction act.
    limits : "stop" or "ignore"
    duration : float
        Longest time to rest, s.
    rest_speed : float
        Speed below which a joint that only slows down, because nothing but damping brakes it, counts as at rest,
        rad/s or m/s. By default it never does, and the outcome is ``not_stopped``.
    rtol, atol : float
    tolerance : float, optional
        Relative rank tolerance; by default the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    max_seconds : float
        Time limit of the computation, s; when it is reached, the outcome is ``budget_spent``.
    **common : StopArguments
        Arguments of all functions that compute stops.

    Raises
    ------
    BadUsage, UnknownName, BadNumber
        An argument is invalid.
    """
    mech = model_of(mech)
    mech = standing(mech, q, qd, *(start.stated(mechanism_of(mech)) if start is not None else ()))
    scene = mech if isinstance(mech, Scene) else None
    scenario = make_scenario(
        mech,
        q,
        qd,
        category=category,
        payload=payload,
        payload_share=payload_share,
        armature=armature,
        loads=loads,
        start=start,
        tool_point=tool_point,
        damping=damping,
        friction=friction,
        tolerance=tolerance,
        massless_at_rest=True,
        **common,
    )
    scenario = replace(
        scenario,
        limits=limits,
        duration=duration,
        rest_speed=rest_speed,
        rtol=rtol,
        atol=atol,
        max_seconds=max_seconds,
    )
    warn_of(scenario.warnings)
    motion = run_stop(scenario, progress)
    if not moves(motion):
        scenario = replace(scenario, notes=(_AT_REST, *scenario.notes))
    shapes, request = (scene.shapes, scene.request) if scene else (None, None)
    return evaluate(scenario, motion, shapes, request)


def make_scenario(
    mech: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    category: int = 0,
    payload: PayloadValue = None,
    payload_share: float = 1.0,
    brakes: Iterable[BrakeLike] | None = None,
    decelerations: NamedNumbers | None = None,
    armature: Mapping[str, float] | None = None,
    loads: Iterable[LoadLike] = (),
    start: Start | None = None,
    tool: str | None = None,
    tool_point: Array | None = None,
    damping: bool = True,
    friction: bool = True,
    tolerance: float | None = None,
    require_brakes: bool = False,
    default: DefaultTool | None = None,
    massless_at_rest: bool = False,
    other_rates: Array | None = None,
) -> Scenario:
    """Return the scenario of a stop; arguments as for :func:`estop`.

    Parameters
    ----------
    default : DefaultTool, optional
        Used if no tool is named: the default tool of the model of which this one is a part.
    massless_at_rest : bool
        Whether joints without mass that start at rest stay there, instead of being an error.
    other_rates : (nv,) array, optional
        Rates, rad/s and m/s, that are not zero where the caller also starts stops with a joint that moves.
    """
    mech = with_assumed_drives(model_of(mech), brakes)
    scene = mech if isinstance(mech, Scene) else None
    mechanism = mechanism_of(mech)
    notes = ["the drivers of the model are left out"] if mechanism.drivers else []
    if scene and scene.locks:
        notes.append("timed locks of the scene are ignored, because the brakes end a stop")
    if scene and scene.holds:
        names = ", ".join(hold.constraint for hold in scene.holds)
        notes.append(f"what the scene holds for a while holds during the whole stop: {names}")
    if scene and scene.contacts:
        notes.append("the contacts of the scene are left out: a stop is computed without them")
    mechanism = replace(mechanism, drivers=())
    chosen = None if tool is not None else default or default_tool(mechanism)
    point = chosen.point if chosen is not None and tool_point is None else point_of(tool_point)
    tool, reason = (tool_name(mechanism, tool), "") if chosen is None else (chosen.body, chosen.reason)
    choice = ToolChoice(tool, tuple(point.tolist()), reason)
    base = scene_actions(scene) if scene else AppliedForces()
    actions = replace(
        base,
        loads=(*base.loads, *read_loads(mechanism, loads)),
        payloads=_carried(base.payloads, payload_share, payloads_of(mechanism, payload, tool, point)),
        armature={**base.armature, **(armature or {})},
        damping=damping,
        friction=friction,
    )
    if payload is not None:
        notes += replaced_payloads(base.payloads)
    fitted = fitted_brakes(mechanism, scene, brakes)
    notes += [*brakeless(mechanism, fitted), *unbraked_for_freedoms(mechanism)]
    notes += weightless(scene) if scene else ()
    stated = stated_state(mech, q, qd, mechanism, plausible=False)
    stated, taken = _within_limits(mechanism, stated)
    q0, qd0 = stated.q, stated.qd
    qdd0: Array = np.zeros(len(qd0))
    if start is not None:
        q0, qd0, qdd0 = start.state(mechanism, q0)
    massless: tuple[str, ...] = ()
    if massless_at_rest:
        rates = qd0 if other_rates is None else np.abs(qd0) + np.abs(other_rates)
        still = joints_without_mass(mechanism, actions, rates)
        # nothing depends on a brake of theirs, so none is assumed
        fitted = tuple(brake for brake in fitted if not (brake.assumed and brake.joint in still))
        actions, massless = with_joints_without_mass_at_rest(mechanism, actions, rates)
    else:
        actions = with_followers_without_mass(mechanism, actions)
    limit = rank_tolerance(scene, tolerance)
    if start is None and (constraints_to_close(mechanism) or mechanism.pfaffians):
        # the drives start from a state that satisfies the constraints
        posed = pose_problem(mechanism, actions, stated, (), Options(1.0, tolerance=limit))
        q0, qd0 = posed.q, posed.qd
        notes += posed.notes
    if tool_point is None:
        choice = choice._replace(still_on=wide_axes_through(mechanism, tool, point, q0))
        choice = choice.moved_by(mechanism, q0, moving_joints(mechanism, qd0))
    notes += filter(None, (choice.sentence, choice.heading))
    if weightless_bodies(mechanism):
        # a joint that moves no mass is an error of the model, which the rows of a table would not show
        inertias_at(mechanism, q0, actions)
    ramps, source = Decelerations({}), RampSource(given=numbers(decelerations, accelerations_of(mechanism)))
    if category in (1, 2):
        if scene:
            source = replace(source, stated=scene.ramps, actuators=scene.actuators)
        fitted = with_reactions(fitted, source.stated)
        ramps = source.decelerations(
            mechanism, fitted, (q0, qd0, qdd0), lambda: inertias_at(mechanism, q0, actions)
        )
    by_effort = () if category == 2 and not ramps.of_effort else fitted
    scenario = Scenario(
        mechanism,
        actions,
        q0,
        qd0,
        qdd0,
        fitted,
        category,
        ramps.values,
        tool,
        point,
        assumed=(*assumed_brakes(fitted), *ramps.assumed),
        notes=tuple(notes),
        tolerance=limit,
        ramps_of_effort=ramps.of_effort,
        ramp_source=source,
        named=tuple(sorted(stated.named)) if start is None else (),
        named_rates=tuple(sorted(stated.given_rates)) if start is None else (),
        tool_choice=choice,
        taken=(
            *drives_sentence(mechanism),
            *massless,
            *(taken if start is None else ()),
            *(() if mechanism.assumed_drives else placeholder_efforts(mechanism, by_effort, q0)),
        ),
    )
    if require_brakes:
        scenario.of_effort.require_none()
    return replace(scenario, notes=(*scenario.warnings, *scenario.notes, *choose_drives(scenario).notes))


def _within_limits(mech: Mechanism, stated: State) -> tuple[State, tuple[str, ...]]:
    """Return the state with unstated coordinates moved into their limits, and a sentence on the moved joints.

    Zero, the pose of a file, may lie outside a joint's range; the middle of the range is a pose that it can take.
    In loops one joint after another moves there in small steps and the others follow, until all are inside. If that
    fails, the state is left as it is.
    """
    q, outside = np.array(stated.q), _outside_limits(mech, stated.q, stated.given)
    if outside and mech.tree.cut:
        outside, q = _closed_within_limits(mech, stated)
    else:
        for k, freedom in outside.items():
            q[k] = _middle(freedom)
    if not outside:
        return stated, ()
    units = coordinate_units(mech)
    moved = [f"{mech.q_names[k]} at {q[k]:.4g} {units[k]}" for k in outside]
    closed = ", and the loops are closed there" if mech.tree.cut else ""
    start = f"it starts with {listed(moved, 6)}{closed}"
    what = f"The pose of the file is outside the limits; {start}: --q (q) states another."
    where = "inside their limits" if mech.tree.cut else "in mid-range"
    short = f"{counted(len(moved), 'joint')} {where}, as the file's pose is outside the limits (--q)"
    return replace(stated, q=q), (Assumption(what, short),)


def _closed_within_limits(mech: Mechanism, stated: State) -> tuple[dict[int, Freedom], Array]:
    """Return the coordinates that the closed pose has outside the limits, and a closed pose (nq,) inside them.

    Empty if the closed pose is inside already, or if none was found inside.
    """
    try:
        q = closed_pose(mech, stated)[0].q
    except CannotClose:
        return {}, stated.q
    first = outside = _outside_limits(mech, q, stated.given)
    given, tried = stated.given, set[int]()
    while untried := [k for k in outside if k not in tried]:
        k = untried[0]
        tried.add(k)
        held, trial = given | {mech.q_names[k]}, q
        try:
            for value in np.linspace(q[k], _middle(outside[k]), _STEPS + 1)[1:]:
                start = np.array(trial)
                start[k] = value
                trial = closed_pose(mech, replace(stated, q=start, given=held))[0].q
        except (CannotClose, ContradictedState):
            continue
        q, given, outside = trial, held, _outside_limits(mech, trial, stated.given)
    return ({}, stated.q) if outside else (first, q)


def _middle(freedom: Freedom) -> float:
    """Return the middle of a range, or its only finite end."""
    ends = [end for end in (freedom.lower, freedom.upper) if isfinite(end)]
    return sum(ends) / len(ends)


def _outside_limits(mech: Mechanism, q: Array, given: Collection[str]) -> dict[int, Freedom]:
    """Return the coordinates of q (nq,) that are not given, follow no other joint and are outside their limits."""
    found = {}
    for joint in mech.tree.joints:
        if joint.pair is None or len(joint.pair.kind.free) != 1 or follows(mech, joint.pair):
            continue
        (freedom,), k = joint.pair.freedoms, joint.q.start
        if (
            mech.q_names[k] in given
            or freedom.lower <= q[k] <= freedom.upper
            or freedom.lower > freedom.upper
        ):
            continue
        found[k] = freedom
    return found


def moving_joints(mech: Mechanism, qd: Array) -> tuple[str, ...]:
    """Return the names of the joints that move at rates qd (nv,), and of the free bodies that do."""
    return tuple(
        joint.outer if joint.pair is None else joint.pair.name
        for joint in mech.tree.joints
        if qd[joint.qd].any()
    )


def _carried(
    own: tuple[Payload, ...], share: float, given: tuple[Payload, ...] | None
) -> tuple[Payload, ...]:
    """Return the given payloads, else those of the scene scaled by a share.

    Raises
    ------
    BadNumber
        The share is negative or not finite.
    BadUsage
        Both payloads and a share of the scene's payloads are given.
    """
    if not (isfinite(share) and share >= 0):
        raise BadNumber(f"the share of the scene's payloads is {share:g}", expected="not negative")
    if given is not None:
        if share != 1.0:
            raise BadUsage(
                "payloads and a share of the scene's payloads are stated",
                expected="one of them, because a stated payload replaces the scene's",
                remedy="state the carried masses with --payload (payload=) only",
            )
        return given
    if share == 0.0:
        return ()
    return tuple(one.scaled(share) for one in own)


def payloads_of(
    mech: Mechanism, payload: PayloadValue, tool: str, point: Array
) -> tuple[Payload, ...] | None:
    """Return the given payloads, None if there are none; a mass alone is placed at ``point`` (3,) of the tool, m."""
    if payload is None:
        return None
    if isinstance(payload, (int, float)):
        own = {"body": tool, "mass": float(payload), "com": point}
        return read_payloads(mech, [own]) if payload else ()
    single = isinstance(payload, (Payload, Mapping, str))
    return read_payloads(mech, [payload] if single else payload)  # type: ignore[list-item, arg-type]


def tool_name(mech: Mechanism, tool: str | None) -> str:
    """Return the body of the tool, by default that of :func:`default_tool`.

    Raises
    ------
    UnknownName
        The mechanism has no such body.
    """
    if tool is None:
        return default_tool(mech).body
    if tool not in mech.body_index or tool == "world":
        raise UnknownName(
            f"the tool is {tool!r}, which is not a body of {mech.name!r}",
            remedy=suggestion(tool, [body.name for body in mech.bodies]),
        )
    return tool


def point_of(point: Array | None) -> Array:
    """Return a point (3,) of the tool, m; by default the origin.

    Raises
    ------
    BadNumber
        The point is not three finite numbers.
    """
    out = vector_of(point, 3)
    if out.shape != (3,) or not np.isfinite(out).all():
        raise BadNumber(f"the point of the tool is {point}", expected="three finite numbers")
    return out


# One stop: the motion from the signal to rest.


def run_stop(scenario: Scenario, progress: Progress | None = None) -> Trajectory:
    """Compute the motion of a stop; it ends at rest, at an end stop, or when the time is over."""
    times = grip_times(scenario)
    brakes = tuple(_force(brake, times[brake.joint]) for brake in scenario.brakes if brake.joint in times)
    options = Options(
        scenario.duration,
        rtol=scenario.rtol,
        atol=scenario.atol,
        limits=scenario.limits,
        tolerance=scenario.tolerance,
        max_seconds=scenario.max_seconds,
    )
    return move(
        scenario.mech,
        replace(scenario.actions, brakes=brakes),
        # this state already satisfies the stated values, so none are named here
        State(scenario.q, scenario.qd),
        (),
        options,
        progress,
        drives=timed_drives(scenario),
        to_rest=True,
    )


def _force(brake: JointBrake, closes: float) -> BrakeForce:
    return replace(brake.force(), closes=closes)


# The ``mbplugin estop`` command that computes a stop again: one row of a stopping table, or a worst stop.


@dataclass(frozen=True)
class StopCommand:
    """The common part of the commands of all rows.

    Parameters
    ----------
    head : tuple of str
        Program, command, FILE and its reading options.
    tail : tuple of str
        Options for the tool, for omitting the scene's payloads, and for brakes.
    resting : mapping of str to float
        Rates of the scene's state that a row sets to zero.
    ramps : tuple of str
        Braked joints without a known deceleration; a command of category 1 states one for them.
    """

    head: tuple[str, ...]
    tail: tuple[str, ...]
    resting: Mapping[str, float]
    ramps: tuple[str, ...]

    def text(
        self,
        category: int,
        q: Mapping[str, float],
        qd: Mapping[str, float],
        payload: tuple[str, ...],
        decelerations: Mapping[str, float],
    ) -> str | None:
        """Return the command of one row, None if a name cannot be written on a command line.

        Parameters
        ----------
        q, qd : mapping of str to float
            All coordinates, and the rates of moving axes, rad and m, rad/s and m/s.
        payload : tuple of str
            Options for the payload.
        decelerations : mapping of str to float
            Decelerations to state, rad/s² or m/s².
        """
        rates = {**self.resting, **qd}
        if any(not _writable(name) for name in (*q, *rates, *decelerations)):
            return None
        options = ["--category", str(category), "--q", _exact(q), "--qd", _rounded(rates), *payload]
        if decelerations:
            options += ["--deceleration", _rounded(decelerations)]
        return shlex.join((*self.head, *options, *self.tail))


def stop_command(
    scene: Scene | None,
    scenario: Scenario,
    common: StopArguments,
    ramps: Iterable[str],
    drops_payloads: bool,
) -> StopCommand | None:
    """Return the common part of a table's commands; None for a model that was not read from a file.

    Parameters
    ----------
    scene : Scene or None
    scenario : Scenario
        Provides the tool.
    common : StopArguments
        Provides the brakes given in addition to the scene's.
    ramps : iterable of str
        Braked joints with neither a deceleration nor an effort limit.
    drops_payloads : bool
        Whether the payloads of the scene are omitted.
    """
    if scene is None or scene.request is None or scene.request.snap_angles:
        return None
    request = scene.request
    given = tuple(brake_in_si(scene.mechanism, brake) for brake in common.get("brakes") or ())
    if not all(_writable(brake.joint) for brake in given):
        return None
    head = ["mbplugin", "estop", request.path if request.text is None else _STDIN]
    head += ["--base", request.base] if request.base else []
    for folder in request.package_dirs:
        head += ["--package-dir", folder]
    head += ["--xacro-unsafe"] if request.xacro_unsafe else []
    for name, value in request.xacro_args:
        head += ["--xacro-arg", f"{name}:={value}"]
    head += ["--massless", request.massless] if request.massless != "zero" else []
    tail, point = ["--tool", scenario.tool], [float(x) for x in scenario.tool_point]
    tail += [f"--tool-point={','.join(map(repr, point))}"] if any(point) else []
    tail += ["--payload-share", "0"] if drops_payloads and scene.payloads else []
    for brake in given:
        tail += ["--brake", _brake(brake)]
    rates = zip(scene.mechanism.qd_names, scene.state.qd.tolist(), strict=True)
    resting = {name: 0.0 for name, rate in rates if rate}
    return StopCommand(tuple(head), tuple(tail), resting, tuple(ramps))


def _brake(brake: Brake) -> str:
    """Return a brake as ``JOINT:KEY=VALUE,…`` with all values that are not defaults."""
    own = [(f.name, getattr(brake, f.name), f.default) for f in fields(Brake) if f.metadata]
    stated = {name: float(value) for name, value, default in own if value is not None and value != default}
    return f"{brake.joint}:{_rounded(stated or {'engagement': brake.engagement})}"


def _exact(values: Mapping[str, float]) -> str:
    """Return ``NAME=VALUE,…`` with all digits."""
    return ",".join(f"{name}={float(value) + 0.0!r}" for name, value in values.items())


def _rounded(values: Mapping[str, float]) -> str:
    """Return ``NAME=VALUE,…`` rounded to 12 digits, which removes rounding errors."""
    return _exact({name: float(f"{value:.12g}") for name, value in values.items()})


def _writable(name: str) -> bool:
    """Return True if a name can be written in ``NAME=VALUE,…``."""
    return "," not in name and name == name.strip()
