"""Drift of closures in all engines: each engine runs in its own process, with limits of time and memory."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from mbplugin.bullet.built import Built, build
from mbplugin.bullet.session import quiet, session
from mbplugin.comparison.side_by_side.run import with_fixed
from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism import WORLD, Freedom, Mechanism, Pair
from mbplugin.model.mechanism.kinematics import coordinates_of, forward
from mbplugin.model.mechanism.mechanism import Lock
from mbplugin.model.mechanism.pair import RowKind
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array, Pose, axis_of, is_turn, vector_from_rotation
from mbplugin.phrases import one_line_repr
from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.readers.unread import with_fixed_roots
from mbplugin.writers import write

ENGINE = "MuJoCo"
BULLET_ENGINE = "PyBullet"
#: Default step of PyBullet, s.
_STEP = 1 / 240
#: Duration of the motion, s.
DURATION = 2.0
#: A loop has come apart if it opens by more than this fraction of the largest arm.
_APART = 0.1
_LIMITS = Limits(
    seconds=120.0,
    cpu=120,
    memory=4 << 30,
    written=1 << 30,
    purpose=Purpose("computed", "the drift of the closures", "a model that takes less", "simplify it"),
)
#: Driven joints move freely or are locked.
Drives = Literal["free", "held"]


# Drift of closures in MuJoCo, at its default step and solver.


def mujoco_drift(task: Task) -> Drift:
    """Return the drift of the closures of a task in MuJoCo; call it in a separate process."""
    import mujoco

    version = str(mujoco.__version__)
    # otherwise MuJoCo writes warnings to a file in the working folder
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        model = mujoco.MjModel.from_xml_string(task.text)
    except ValueError as error:
        return Drift(ENGINE, version, reason=f"MuJoCo refuses the model: {' '.join(str(error).split())}")
    data = mujoco.MjData(model)
    tracks = [Track(task.mech.pair_by_name[name]) for name in task.closures]
    equalities = [_equality(mujoco, model, name) for name in task.closures]
    step = float(model.opt.timestep)
    for k in range(round(task.duration / step)):
        mujoco.mj_step(model, data)
        # MuJoCo resets the state when the motion diverges
        if any(data.warning[int(kind)].number for kind in _diverged(mujoco)):
            return Drift(ENGINE, version, step, k * step, reason=f"MuJoCo diverges at {k * step:.3g} s")
        for track, equality in zip(tracks, equalities, strict=True):
            X_WA, X_WB = (_pose(data, body) for body in track.pair.bodies)
            track.add(X_WA, X_WB, _force(mujoco, data, equality))
    return Drift(ENGINE, version, step, task.duration, tuple(track.result() for track in tracks))


def _diverged(mujoco: Any) -> tuple[Any, ...]:
    """Return the warnings after which MuJoCo resets a diverged motion."""
    kinds = mujoco.mjtWarning
    return kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC


def _equality(mujoco: Any, model: Any, closure: str) -> int:
    """Return the index of the equality of a closure: its own, or the weld of the body part that stands for it."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, i) or "" for i in range(model.neq)]
    own = [i for i, name in enumerate(names) if name == closure or name.endswith(f"_at_{closure}_weld")]
    return own[0]


def _force(mujoco: Any, data: Any, equality: int) -> Array:
    """Return the force (3,) of an equality, N: its first (up to) three rows, along the axes of the equality."""
    rows = np.flatnonzero(
        (data.efc_type[: data.nefc] == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY))
        & (data.efc_id[: data.nefc] == equality)
    )
    return np.array(data.efc_force[rows[:3]])


def _pose(data: Any, body: str) -> Pose:
    if body == WORLD:
        return Pose.identity()
    found = data.body(body)
    return Pose(found.xmat.reshape(3, 3).copy(), found.xpos.copy())


# Drift of closures in PyBullet, at its default step and solver.


def bullet_drift(task: Task) -> Drift:
    """Return the drift of the closures of a task in PyBullet; call it in a separate process."""
    version = importlib.metadata.version("pybullet")
    with session() as (bullet, client):
        built = build(task.mech, client, task.q)
        if built.left_out:
            return Drift(BULLET_ENGINE, version, reason=built.left_out[0])
        tracks = [Track(task.mech.pair_by_name[name]) for name in task.closures]
        ties = {name: _ties(built, name) for name in task.closures}
        with quiet():
            bullet.setGravity(*task.mech.gravity.tolist(), physicsClientId=client)
            bullet.setTimeStep(_STEP, physicsClientId=client)
            for k in range(round(task.duration / _STEP)):
                bullet.stepSimulation(physicsClientId=client)
                for track in tracks:
                    X_WA, X_WB = (_bullet_pose(built, body) for body in track.pair.bodies)
                    if not np.isfinite(X_WB.p).all():
                        time = k * _STEP
                        return Drift(
                            BULLET_ENGINE, version, _STEP, time, reason=f"PyBullet diverges at {time:.3g} s"
                        )
                    track.add(X_WA, X_WB, _bullet_force(built, ties[track.pair.name]))
    return Drift(BULLET_ENGINE, version, _STEP, task.duration, tuple(track.result() for track in tracks))


def _ties(built: Built, closure: str) -> tuple[int, ...]:
    """Return the constraints of a closure: its own, or the one that joins the two halves of a body."""
    if closure in built.ties:
        return built.ties[closure]
    return next(ids for name, ids in built.ties.items() if name.endswith(f" at {closure} held"))


def _bullet_force(built: Built, ties: tuple[int, ...]) -> Array:
    """Return the total force (3,) of some constraints, N, world axes up to signs."""
    states = [built.bullet.getConstraintState(tie, physicsClientId=built.client) for tie in ties]
    return np.asarray(np.sum([np.array(state[:3], dtype=float) for state in states], axis=0))


def _bullet_pose(built: Built, body: str) -> Pose:
    return Pose.identity() if body == WORLD else built.pose(body)


# Drift and noise of closures in an engine.


@dataclass(frozen=True)
class ClosureDrift:
    """Drift of one closure during a motion.

    Parameters
    ----------
    name, type : str
    gap, turn : float
        Largest violation of its constraints, m and rad.
    force, noise : float
        Root mean square of its force, and of the white-noise part of the force, N.
    """

    name: str
    type: str
    gap: float
    turn: float
    force: float
    noise: float


@one_line_repr
@dataclass(frozen=True)
class Drift:
    """Drift of all closures of a mechanism in one engine.

    Parameters
    ----------
    engine, version : str
    step : float
        Step of the engine, s.
    duration : float
        Duration of the motion, s.
    closures : tuple of ClosureDrift
    reason : str
        Reason why the engine gives no result; empty if it does.
    """

    engine: str
    version: str = ""
    step: float = 0.0
    duration: float = 0.0
    closures: tuple[ClosureDrift, ...] = ()
    reason: str = ""

    @property
    def gap(self) -> float:
        """The largest gap of all closures, m."""
        return max((one.gap for one in self.closures), default=0.0)

    @property
    def turn(self) -> float:
        """The largest violation of an angle, rad."""
        return max((one.turn for one in self.closures), default=0.0)

    @property
    def noise(self) -> float:
        """The largest noise, N."""
        return max((one.noise for one in self.closures), default=0.0)


@dataclass(frozen=True, eq=False)
class Task:
    """The task for every engine: a mechanism with fixed base and without limits, at rest at a closed pose.

    Parameters
    ----------
    mech : Mechanism
    q : (nq,) array
        Joint coordinates of the pose, rad, m.
    closures : tuple of str
        The closures to measure.
    text : str
        The mechanism as MJCF.
    duration : float
        Duration of the motion, s.
    """

    mech: Mechanism
    q: Array
    closures: tuple[str, ...]
    text: str
    duration: float


@dataclass(eq=False)
class Track:
    """Records the violations and forces of one closure during a motion."""

    pair: Pair
    gap: float = 0.0
    turn: float = 0.0
    forces: list[Array] = field(default_factory=list)

    def add(self, X_WA: Pose, X_WB: Pose, force: Array) -> None:
        """Record a step: the poses of both bodies, and the force (3,) of the closure, N, in any fixed axes."""
        gap, turn = violations(self.pair, (X_WA @ self.pair.X_AP).inverse() @ X_WB @ self.pair.X_BS)
        self.gap, self.turn = max(self.gap, gap), max(self.turn, turn)
        self.forces.append(force)

    def result(self) -> ClosureDrift:
        """Return the recorded drift."""
        forces = np.array(self.forces)
        size = float(np.sqrt((forces**2).sum(axis=1).mean()))
        return ClosureDrift(self.pair.name, self.pair.type, self.gap, self.turn, size, white_noise(forces))


def violations(pair: Pair, X_PS: Pose) -> tuple[float, float]:
    """Return the violation of the constraints of a pair at a pose: a distance, m, and an angle, rad."""
    kind = pair.kind
    if pair.type == "distance":
        return abs(float(np.linalg.norm(X_PS.p)) - pair.length), 0.0
    held = [c for c in kind.constrained if kind.row_kind(c) is RowKind.AXIS]
    travels = [axis_of(c) for c in held if not is_turn(c)]
    gap = float(np.linalg.norm(X_PS.p[travels])) if travels else 0.0
    turns = [axis_of(c) for c in held if is_turn(c)]
    if len(turns) == 3:
        return gap, float(np.linalg.norm(vector_from_rotation(X_PS.R)))
    if len(turns) == 2:
        # the two axes z, whatever the turn about them is
        z = X_PS.R[:, 2]
        return gap, float(np.arctan2(np.hypot(z[0], z[1]), z[2]))
    if RowKind.CROSSED in kind.kinds.values():
        return gap, abs(float(np.arcsin(np.clip(X_PS.R[0, 1], -1, 1))))
    return gap, 0.0


def white_noise(values: Array) -> float:
    """Return the root mean square of the white noise in ``values`` (n, k), one row per step, from second differences.

    It is zero for a smooth signal, and s for independent values of variance s², with variances added over columns.
    """
    if len(values) < 3:
        return 0.0
    second = values[2:] - 2 * values[1:-1] + values[:-2]
    return float(np.sqrt((second**2).sum(axis=1).mean() / 6))


@one_line_repr
@dataclass(frozen=True, eq=False)
class Drifts:
    """Drift in the same motion with two sets of closures.

    Parameters
    ----------
    drives : "free" or "held"
        Driven joints move freely, or are locked.
    before, after : tuple of Drift
        One for each engine.
    """

    drives: Drives
    before: tuple[Drift, ...] = ()
    after: tuple[Drift, ...] = ()


def drifts(
    before: tuple[Mechanism, Array],
    after: tuple[Mechanism, Array],
    driven: Collection[str],
    duration: float = DURATION,
) -> Drifts:
    """Return the drift of the closures of two mechanisms in every engine.

    They start at rest at closed poses q (nq,) and move under gravity. Free bases are fixed, and limits, friction
    and drives do not act, so that the forces are those of the closures. If a loop comes apart in an engine, as
    in robots that fall through a singular pose, the motion is repeated with locked driven joints.
    """
    found = _of_both("free", before, after, (), duration)
    length = max(before[0].largest_arm, after[0].largest_arm)
    if driven and any(d.reason or d.gap > _APART * length for d in (*found.before, *found.after)):
        return _of_both("held", before, after, driven, duration)
    return found


def _of_both(
    drives: Drives,
    before: tuple[Mechanism, Array],
    after: tuple[Mechanism, Array],
    held: Collection[str],
    duration: float,
) -> Drifts:
    return Drifts(drives, _drift(*before, held, duration), _drift(*after, held, duration))


def _drift(mech: Mechanism, q: Array, held: Collection[str], duration: float) -> tuple[Drift, ...]:
    """Return the drift in every engine from a closed pose q (nq,)."""
    task = _task(mech, q, held, duration)
    if isinstance(task, str):
        return tuple(Drift(engine, reason=task) for engine, *_ in _ENGINES)
    return tuple(_ask(task, *engine) for engine in _ENGINES)


def _task(mech: Mechanism, q: Array, held: Collection[str], duration: float) -> Task | str:
    """Return the task for the engines at a closed pose q (nq,), or the reason why there is none."""
    poses = forward(mech, q)
    passive = [replace(p, freedoms=tuple(Freedom(damping=f.damping) for f in p.freedoms)) for p in mech.pairs]
    mech = replace(mech, pairs=tuple(passive), drivers=(), locks=(), pfaffians=())
    mech = with_fixed_roots(mech, {b.name: poses.of(i) for i, b in enumerate(mech.bodies)})
    still = _can_be_held(mech, held)
    # couplings between locked joints only are dropped
    moving = tuple(c for c in mech.couplings if not {term.joint for term in c.terms} <= set(still))
    mech = replace(mech, couplings=moving)
    mech = with_fixed(mech, poses, [Lock(name) for name in still])
    closures = tuple(pair.name for pair in mech.tree.cut)
    if not closures:
        return "the model has no loop"
    at = coordinates_of(mech, poses)
    try:
        text = write(Scene(mech, State(at, np.zeros(len(mech.qd_names)))), "mjcf").text
    except MbPluginError as error:
        return str(error)
    return Task(mech, at, closures, text, duration)


def _can_be_held(mech: Mechanism, held: Collection[str]) -> list[str]:
    """Return the driven joints to lock: all but those coupled to joints that are not locked."""
    coupled = [{term.joint for term in coupling.terms} for coupling in mech.couplings]
    leading = {name for joints in coupled if not joints <= set(held) for name in joints}
    return [p.name for p in mech.pairs if p.name in held and p.kind.free and p.name not in leading]


def _ask(task: Task, engine: str, function: Callable[[Task], Drift], package: str, remedy: str) -> Drift:
    if find_spec(package) is None:
        return Drift(engine, reason=f"{engine} is not installed ({remedy})")
    try:
        answer: Drift = in_own_child(engine, _LIMITS, "", os.environ, function, task)
    except MbPluginError as error:
        return Drift(engine, reason=str(error))
    except RuntimeError as error:
        # an exception of the engine, with the traceback of its process; any other exception is a bug here
        last = str(error).rstrip().rpartition("\n")[2].strip()
        if not last.startswith(_OF_ENGINES):
            raise
        return Drift(engine, reason=f"{engine} gives up: {last.partition(': ')[2]}")
    return answer


#: Prefixes of the exceptions of engines.
_OF_ENGINES = ("pybullet.error", "mujoco.FatalError")
#: Engine, function, imported package, and how to install it.
_ENGINES = (
    ("MuJoCo", mujoco_drift, "mujoco", "pip install 'mbplugin[mjcf]'"),
    ("PyBullet", bullet_drift, "pybullet", "pip install 'mbplugin[bullet]'"),
)
