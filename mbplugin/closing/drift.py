"""Drift of closures in all engines: each engine runs in its own process, with limits of time and memory.

With it comes the result of ``close``: the file, the chosen closures, and their proof.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from mbplugin.analysis.remedies import Change
from mbplugin.bullet import quiet, session
from mbplugin.bullet.built import Built, build
from mbplugin.closing.commanded import FOLLOWS, Commanded
from mbplugin.comparison.side_by_side import with_fixed
from mbplugin.dynamics.formulations import best_coordinates, eliminate, independence, tangents
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BrokenModel, MbPluginError, install_command
from mbplugin.joint_reactions import closed_state
from mbplugin.model import WORLD, Array, Freedom, Lock, Mechanism, Pair, Pose, Scene, State, base_sentence
from mbplugin.model.mechanism.kinematics import JointValues, coordinates_of, forward, violation
from mbplugin.phrases import Assumption, counted, listed, one_line, one_line_repr
from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.unread import with_fixed_roots
from mbplugin.rendering import Result
from mbplugin.writers import write
from mbplugin.writers.written import ENDINGS, Written

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

    from mbplugin.readers.mjcf.compile import has_diverged

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
        if has_diverged(mujoco, data):
            return Drift(ENGINE, version, step, k * step, reason=f"MuJoCo diverges at {k * step:.3g} s")
        for track, equality in zip(tracks, equalities, strict=True):
            X_WA, X_WB = (_pose(data, body) for body in track.pair.bodies)
            track.add(X_WA, X_WB, _force(mujoco, data, equality))
    return Drift(ENGINE, version, step, task.duration, tuple(track.result() for track in tracks))


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
                    X_WA, X_WB = (
                        Pose.identity() if body == WORLD else built.pose(body) for body in track.pair.bodies
                    )
                    if not np.isfinite(X_WB.p).all():
                        time = k * _STEP
                        return Drift(
                            BULLET_ENGINE, version, _STEP, time, reason=f"PyBullet diverges at {time:.3g} s"
                        )
                    # the total force, up to signs
                    states = [
                        bullet.getConstraintState(tie, physicsClientId=client)
                        for tie in ties[track.pair.name]
                    ]
                    force = np.sum([np.array(state[:3], dtype=float) for state in states], axis=0)
                    track.add(X_WA, X_WB, force)
    return Drift(BULLET_ENGINE, version, _STEP, task.duration, tuple(track.result() for track in tracks))


def _ties(built: Built, closure: str) -> tuple[int, ...]:
    """Return the constraints of a closure: its own, or the one that joins the two halves of a body."""
    if closure in built.ties:
        return built.ties[closure]
    return next(ids for name, ids in built.ties.items() if name.endswith(f" at {closure} held"))


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
        gap, turn = violation(self.pair, (X_WA @ self.pair.X_AP).inverse() @ X_WB @ self.pair.X_BS)
        self.gap, self.turn = max(self.gap, gap), max(self.turn, turn)
        self.forces.append(force)

    def result(self) -> ClosureDrift:
        """Return the recorded drift."""
        forces = np.array(self.forces)
        size = float(np.sqrt((forces**2).sum(axis=1).mean()))
        return ClosureDrift(self.pair.name, self.pair.type, self.gap, self.turn, size, white_noise(forces))


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
    ("MuJoCo", mujoco_drift, "mujoco", install_command("mjcf")),
    ("PyBullet", bullet_drift, "pybullet", install_command("bullet")),
)
_DRIVES = {
    "free": "move freely",
    "held": "are held, since the loops come apart in an engine where they are not",
}


# Assumptions of a conversion, one sentence each.


def assumptions_of(found: Closing) -> Iterator[str]:
    """Yield the assumptions of a conversion."""
    yield from base_sentence(found.mechanism.assumed_fixed)
    if found.loose:
        sentence = (
            f"{found.loose} moves freely in the {found.format}, since the file does not state its base: --base fixed "
            "(base='fixed') holds it"
        )
        yield Assumption(sentence, f"{found.loose} free in the {found.format} (--base fixed)")
    if found.driven:
        sentence = f"driven joints are not cut: {listed(found.driven)}"
        yield Assumption(sentence, f"{counted(len(found.driven), 'driven joint')} not cut (--driven)")
    else:
        sentence = "no joint is driven: the model names no drive, brake, coupling, lock or effort limit"
        yield Assumption(sentence, "no joint is driven (--driven)")
    if found.planar is not None:
        yield f"the redundancy is that in space, although the scene is analyzed in the plane {found.planar}"
    if found.written.copy_of is None:
        yield f"the loops are closed at the written pose; rank tolerance {found.tolerance:g}"
    else:
        yield f"the copy has the pose of its file; p is that at the closed pose, rank tolerance {found.tolerance:g}"
    if any(not drift.reason for drift in (*found.drift.before, *found.drift.after)):
        yield (
            f"drift and noise are those of {DURATION:g} s from rest under gravity, at the default step of each engine; "
            f"free bases stand still, limits and friction do not act, and driven joints {_DRIVES[found.drift.drives]}"
        )
        yield (
            "a gap is what a closure holds and an engine violates; noise is estimated from second differences of the "
            "force in time"
        )


# The cut of a loop: at the pair for which the projective criterion is the largest.


@dataclass(frozen=True)
class Cut:
    """A loop cut at one of its pairs.

    Parameters
    ----------
    pair : str
        The cut pair.
    instead_of : str
        The pair of the same loop that is cut at present.
    independence : float
        Independence of the best independent joint rates, 0 to 1; for one freedom the largest cos²αᵢ. Zero if
        the cut would leave a massless body moving on the tree.
    coordinates : tuple of str
        These rates.
    """

    pair: str
    instead_of: str
    independence: float
    coordinates: tuple[str, ...]


def rank_cuts(model: ModelSource, q: JointValues = None) -> tuple[Cut, ...]:
    """Return all cuts of each loop, including the present one, the best first (blajer1994 §3).

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; the loops are closed first.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    """
    state = closed_state(model_of(model), q, None, None, None, None)
    mech = state.mech
    found = [
        evaluated(mech, state.q, present, pair)
        for present in mech.tree.cut
        for pair in (present, *loop_pairs(mech, present))
    ]
    return tuple(sorted(found, key=lambda cut: -cut.independence))


def loop_pairs(mech: Mechanism, closure: Pair) -> tuple[Pair, ...]:
    """Return the tree pairs of the loop closed by a cut pair."""
    sides = [[joint.pair for joint in mech.tree.way_in(body) if joint.pair] for body in closure.bodies]
    common = {pair.name for pair in sides[0]} & {pair.name for pair in sides[1]}
    return tuple(pair for side in sides for pair in side if pair.name not in common)


def cut_at(mech: Mechanism, present: Pair, pair: Pair) -> Mechanism:
    """Return the mechanism with the loop closed by ``present`` cut at another of its pairs."""
    cut = {c.name for c in mech.tree.cut} - {present.name} | {pair.name}
    return replace(mech, pairs=tuple(replace(p, closure=p.name in cut) for p in mech.pairs))


def evaluated(mech: Mechanism, q: Array, present: Pair, pair: Pair) -> Cut:
    """Return the cut of a loop at another pair, evaluated at q (nq,)."""
    changed = cut_at(mech, present, pair)
    pose = coordinates_of(changed, forward(mech, q))
    try:
        equations = joint_equations(changed, pose, np.zeros(len(changed.qd_names)))
    except BrokenModel:
        return Cut(pair.name, present.name, 0.0, ())
    projections = tangents(equations, eliminate(equations))
    best = best_coordinates(projections)
    names = tuple(changed.qd_names[k] for k in best)
    return Cut(pair.name, present.name, independence(projections, best), names)


@dataclass(frozen=True)
class Verdict:
    """Redundancy and mobility of a mechanism.

    Parameters
    ----------
    degree_of_redundancy, structural_redundancy : int
        At the closed pose, and at a generic one.
    mobility : int
        Finite mobility; first-order mobility if a large block is undecided. ``dof`` is another name of it.
    held_mobility : int
        Mobility with all driven joints locked: the freedoms that no drive determines. ``held_dof`` is another name
        of it.
    """

    degree_of_redundancy: int
    structural_redundancy: int
    mobility: int
    held_mobility: int

    @property
    def dof(self) -> int:
        """The mobility, by its other name."""
        return self.mobility

    @property
    def held_dof(self) -> int:
        """The mobility with all driven joints locked, by its other name."""
        return self.held_mobility


@one_line_repr
@dataclass(frozen=True)
class LoopClosure:
    """The pair that closes one loop in the written file.

    Parameters
    ----------
    name, type, body_a, body_b : str
    was : str
        The type of this pair in the model.
    cut : Cut
        The cut of the loop, with the previously cut pair.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    was: str
    cut: Cut


@dataclass(frozen=True, eq=False)
class Closing(Result):
    """A model written with closures that the format supports.

    Parameters
    ----------
    mechanism : Mechanism
        The written mechanism, before closures are replaced by parts of bodies.
    state : State
        The closed pose, rad and m, at rest.
    written : Written
    closures : tuple of LoopClosure
    changes : tuple of Change
        Changes of tree pairs, if changed closures alone do not suffice.
    before, after : Verdict
        Verdicts on the model, and on the written file when read back.
    driven : tuple of str
        Joints that stay in the tree.
    reason : str
        Reason why constraints are still redundant; empty if none is.
    drift : Drifts
        Drift with the closures of the model and with the written ones; empty if not computed.
    tolerance : float
        Relative rank tolerance.
    planar : str, optional
        The plane in which the scene is analyzed, although the closures are chosen in space.
    loose : str
        Root of an arm that moves freely because no base is stated; empty if there is none.
    commanded : Commanded, optional
        How far the model and the written file move apart in MuJoCo under the same commands; None where that was not
        computed.
    commanded_in_bullet : Commanded, optional
        The same in PyBullet, under torques.
    """

    mechanism: Mechanism
    state: State
    written: Written
    closures: tuple[LoopClosure, ...]
    changes: tuple[Change, ...]
    before: Verdict
    after: Verdict
    driven: tuple[str, ...]
    reason: str
    drift: Drifts
    tolerance: float
    planar: str | None = None
    loose: str = ""
    commanded: Commanded | None = None
    commanded_in_bullet: Commanded | None = None

    def __repr__(self) -> str:
        facts = (
            self.written.format,
            counted(len(self.closures), "closure"),
            f"p = {self.after.degree_of_redundancy}",
        )
        return one_line(self, self.mechanism.name, facts)

    @property
    def format(self) -> str:
        """The format of the file."""
        return self.written.format

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.written.text

    @property
    def proved(self) -> bool:
        """True if the file, read back, has no redundant constraint and the mobility of the model."""
        return not self.after.structural_redundancy and self.keeps_mobility

    @property
    def keeps_mobility(self) -> bool:
        """True if the file has the mobility of the model, also with all driven joints locked."""
        after, before = self.after, self.before
        return (after.mobility, after.held_mobility) == (before.mobility, before.held_mobility)

    @property
    def motions(self) -> tuple[Commanded, ...]:
        """The motions under commands that were compared, MuJoCo's first."""
        return tuple(one for one in (self.commanded, self.commanded_in_bullet) if one is not None)

    @property
    def strays(self) -> bool:
        """True if the written file moves differently under the same commands, and no loss explains it.

        Always False for a model with redundant constraints: with misfits, it may move differently without them.
        """
        found = next((one for one in self.motions if not one.reason), None)
        if found is None or self.before.structural_redundancy:
            return False
        lost = {loss.kind for loss in self.written.losses} - {"shape", "contact"}
        return not lost and max(found.angle, found.distance) > FOLLOWS

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of the model by file ending; files with other endings get the result itself."""
        return {ENDINGS[self.format]: self.written.write}
