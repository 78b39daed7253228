"""Comparison of the motions of a model and of the file written from it under the same commands."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from mbplugin.bullet import in_child
from mbplugin.bullet.motion import Solver, Task, left_out, run_to_end
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import MbPluginError, install_command
from mbplugin.model import Array, JointSpring, Request, Scene, State, forward
from mbplugin.phrases import one_line_repr
from mbplugin.processes.foreign import Limits, Purpose, in_engine
from mbplugin.readers.mjcf.compile import compile_mjcf, has_diverged
from mbplugin.readers.standing import bolted_down
from mbplugin.writers import write
from mbplugin.writers.copies import is_as_in_file, is_of_format, source_text
from mbplugin.writers.mjcf import HARDEST
from mbplugin.writers.written import Renamed, Written

#: Durations of the motion and of each command, s.
DURATION, _HOLD = 0.5, 0.05
#: MuJoCo's steps, s: the shorter one is taken where the longer one leaves a difference, whose error is of first order.
_STEPS = (5e-4, 1.25e-4, 3.125e-5)
#: Under the same commands bodies of both are no farther apart, rad and m.
FOLLOWS = 1e-3
_BULLET, _BULLET_ITERATIONS = "pybullet", 100
_NONE_IN_COMMON = "the two have no body with mass in common"
#: Of the random commands.
SEED = 7
#: Largest acceleration that a command or torque may cause in a joint, rad/s² and m/s².
_ACCELERATION = 20.0
#: Lower bound of the inverse inertia at a joint, 1/(kg·m²) and 1/kg.
_LEAST = 1e-12
#: Both models get equally stiff closures, since the softness in a file is a solver setting, not mechanics. The time
#: constant is in steps.
_SOFT = 10
#: The pose of a file is the closed one if it differs by no more than this, rad and m.
_SAME_POSE = 1e-6
_WRITTEN = 1 << 30
_LIMITS = Limits(
    seconds=300.0,
    cpu=300,
    memory=4 << 30,
    purpose=Purpose("computed", "the motion under commands", "a model that takes less", "simplify it"),
)


@one_line_repr
@dataclass(frozen=True, eq=False)
class Commanded:
    """Difference between a model and the file written from it after the same commands.

    Parameters
    ----------
    engine, version : str
    driven : tuple of str
        The actuators that get commands, or the joints that get torques if there are no actuators.
    kind : "command", "torque" or "none"
        Kind of the input; only actuators or joints that both models have are driven.
    angle, distance : float
        Largest differences in orientation and displacement of bodies at the end, rad and m.
    body : str
        The body with the largest difference.
    moved : float
        Largest displacement of a body of the model, m; small if nothing moves.
    duration : float
        Duration of the motion, s.
    seed : int
    step : float
        Step of MuJoCo, s.
    reason : str
        Reason why there is no result; empty if there is one.
    """

    engine: str
    version: str = ""
    driven: tuple[str, ...] = ()
    kind: str = "none"
    angle: float = 0.0
    distance: float = 0.0
    body: str = ""
    moved: float = 0.0
    duration: float = DURATION
    seed: int = SEED
    step: float = _STEPS[0]
    reason: str = ""


def commanded(
    scene: Scene, closed: Array, written: Written, target: Scene, back: Scene, driven: Sequence[str]
) -> Commanded:
    """Compare the motions of a model and of its written file in MuJoCo under the same seeded commands.

    Contacts do not act, all closures are equally stiff, and arms without a stated base are fixed to the ground. An
    MJCF file whose loops close at its pose is used unchanged; any other model is written as MJCF.

    Parameters
    ----------
    scene : Scene
        The scene as read.
    closed : (nq,) array
        Its closed pose, rad and m.
    written : Written
    target : Scene
        The written scene, at the closed pose.
    back : Scene
        The written file, read back.
    driven : sequence of str
        Joints that get torques if there are no actuators.
    """
    if find_spec("mujoco") is None:
        return Commanded("MuJoCo", reason=f"MuJoCo is not installed ({install_command('mjcf')})")
    try:
        sides = (_model(scene, closed, written), _written(written, target, back))
        where = sides[0][1].path
        return in_engine("MuJoCo", _LIMITS, where, moved_apart, *sides, tuple(driven), written.renamed)
    except MbPluginError as error:
        return Commanded("MuJoCo", reason=str(error))


def _model(scene: Scene, closed: Array, written: Written) -> tuple[str, Request]:
    """Return the MJCF of a model at a closed pose ``closed`` (nq,), with the request that resolves its file names."""
    # a free body carried by an equality was moved to where the equality holds, away from its pose in the file
    carried = any(defect.code == "MB119" for defect in scene.defects)
    same_pose = not carried and np.allclose(scene.state.q, closed, rtol=0.0, atol=_SAME_POSE)
    # a copy is known to be that of its file, and has the pose of the file
    is_file = same_pose and is_of_format(scene, "mjcf") and is_as_in_file(scene)
    if (copied := written.copy_of if written.format == "mjcf" else None) or is_file:
        request = copied or scene.request
        assert request is not None
        return source_text(request), request
    return _as_mjcf(_at_rest(scene, closed))


def _written(written: Written, target: Scene, back: Scene) -> tuple[str, Request]:
    if written.format == "mjcf":
        return written.text, written.names_from or Request("closed.xml", written.text)
    return _as_mjcf(_read_back(written, target, back))


def _at_rest(scene: Scene, closed: Array) -> Scene:
    """Return a scene at rest at its closed pose ``closed`` (nq,), an arm without a base bolted down."""
    at_rest = State(closed, np.zeros(len(scene.mechanism.qd_names)))
    return bolted_down(replace(scene, state=at_rest))


def _read_back(written: Written, target: Scene, back: Scene) -> Scene:
    """Return the written file as read back, at rest at the pose of the target and with the same base."""
    known = dict(zip(target.mechanism.q_names, target.state.q.tolist(), strict=True))
    mech = back.mechanism
    start = dict(zip(mech.q_names, back.state.q.tolist(), strict=True))
    # URDF states no pose, but its coordinates have the same meaning
    q = np.array(
        [known.get(name, start[name]) if written.format == "urdf" else start[name] for name in mech.q_names]
    )
    # the assumption on the base of the model also applies to the written file, although some formats state a base
    back = replace(back, state=State(q, np.zeros(len(mech.qd_names))), base_open=target.base_open)
    return bolted_down(back)


def _as_mjcf(scene: Scene) -> tuple[str, Request]:
    # contacts do not act, and meshes take long to compile
    text = write(replace(scene, shapes={}), "mjcf").text
    return text, Request("model.xml", text)


# PyBullet: both mechanisms under the same torques, each command a motion of its own from the state before.


def commanded_in_bullet(
    scene: Scene, closed: Array, written: Written, target: Scene, back: Scene, driven: Sequence[str]
) -> Commanded:
    """Compare the motions of a model and its written file in PyBullet under the same seeded torques.

    Both are built in PyBullet from the mechanisms that were read, as for ``crosscheck``. The parameters are those of
    :func:`commanded`; ``closed`` (nq,) is the closed pose of the scene.
    """
    if find_spec(_BULLET) is None:
        return Commanded("PyBullet", reason=f"PyBullet is not installed ({install_command('bullet')})")
    try:
        sides = (_at_rest(scene, closed), _read_back(written, target, back))
        joints = written.renamed[0]
        rates = [one.mechanism.qd_names for one in sides]
        names = tuple(name for name in driven if name in rates[0] and joints.get(name, name) in rates[1])
        if any(one.mechanism.pfaffians for one in sides):
            return Commanded("PyBullet", reason="wheels on the ground are not compared")
        tasks = [_task(one) for one in sides]
        # PyBullet reads the bodies from files that are written for it
        return in_child(
            apart_in_bullet, tasks, names, written.renamed, limits=replace(_LIMITS, written=_WRITTEN)
        )
    except MbPluginError as error:
        return Commanded("PyBullet", reason=str(error))


def _task(scene: Scene) -> Task:
    """Return the motion of a scene from its state under what acts in it, besides actuators."""
    return Task(
        replace(scene.mechanism, drivers=()),
        scene.state.q,
        scene.state.qd,
        _HOLD,
        scene.payloads,
        joint_springs=tuple(spring for spring in scene.springs if isinstance(spring, JointSpring)),
    )


def apart_in_bullet(tasks: Sequence[Task], names: tuple[str, ...], renamed: Renamed) -> Commanded:
    """Compare two motions in PyBullet under torques on joints; call it in a child process.

    Parameters
    ----------
    tasks : sequence of Task
        Of the model and of the written file, for the time of one command.
    names : tuple of str
        Joints that get torques.
    renamed : pair of mappings
        Names of joints and bodies in the written file, where they are others than in the model.
    """
    joints, bodies = renamed
    theirs = tuple(joints.get(name, name) for name in names)
    version = importlib.metadata.version(_BULLET)
    for task, which in zip(tasks, ("model", "written file"), strict=True):
        if gone := left_out(task):
            return Commanded("PyBullet", version, reason=f"the {which}: {gone[0]}")
    equations = joint_equations(tasks[0].mech, tasks[0].q, tasks[0].qd)
    indices = [tasks[0].mech.qd_names.index(name) for name in names]
    # the inertia that a joint moves where the others move freely
    size = _ACCELERATION / np.maximum(np.diag(np.linalg.pinv(equations.M))[indices], _LEAST)
    found = Commanded("PyBullet", version)
    # its iterations are slow, and the shortest step is of no use to them
    for step in _STEPS[:-1]:
        ends = [
            _end_in_bullet(task, own, size, step) for task, own in zip(tasks, (names, theirs), strict=True)
        ]
        if not all(np.isfinite(p).all() and np.isfinite(R).all() for p, R in ends):
            return Commanded("PyBullet", version, reason="the motion diverges")
        found = _compared(tasks, ends, bodies, Commanded("PyBullet", version, names, step=step))
        if found.reason or max(found.angle, found.distance) <= FOLLOWS:
            break
    return found


def _end_in_bullet(task: Task, names: tuple[str, ...], size: Array, step: float) -> tuple[Array, Array]:
    """Return centres of mass (N, 3), m, and orientations (N, 3, 3) after all commands of ``size`` (n,) at most."""
    rng = np.random.default_rng(SEED)
    p_WC, R_WL = np.empty(0), np.empty(0)
    for _ in range(round(DURATION / _HOLD)):
        # both are solved alike, so that fewer iterations than those of a cross-check do
        torques = dict(zip(names, (rng.uniform(-1.0, 1.0, len(names)) * size).tolist(), strict=True))
        run = run_to_end(replace(task, torques=torques), step, Solver(iterations=_BULLET_ITERATIONS))
        task = replace(task, q=run.q[-1], qd=run.qd[-1])
        p_WC, R_WL = run.p_WC[-1], run.R_WL[-1]
    return p_WC, R_WL


def _compared(
    tasks: Sequence[Task],
    ends: Sequence[tuple[Array, Array]],
    renamed: Mapping[str, str],
    found: Commanded,
) -> Commanded:
    """Return the result with the differences between the displacements of the bodies, from start to ``ends``."""
    heavy = [{body.name: k for k, body in enumerate(task.mech.bodies) if body.mass} for task in tasks]
    common = [name for name in heavy[0] if renamed.get(name, name) in heavy[1]]
    if not common:
        return replace(found, reason=_NONE_IN_COMMON)
    starts = [forward(task.mech, task.q) for task in tasks]
    apart = []
    for name in common:
        moves = []
        numbers = (heavy[0][name], heavy[1][renamed.get(name, name)])
        for start, (p, R), k in zip(starts, ends, numbers, strict=True):
            moves.append((R[k] @ start.R_WL[k].T, p[k] - start.p_WC[k]))
        (R_a, p_a), (R_b, p_b) = moves
        apart.append(
            (name, _angle(R_a.T @ R_b), float(np.linalg.norm(p_a - p_b)), float(np.linalg.norm(p_a)))
        )
    worst = max(apart, key=lambda one: max(one[1], one[2]))
    return replace(
        found,
        kind="torque" if found.driven else "none",
        angle=max(one[1] for one in apart),
        distance=max(one[2] for one in apart),
        body=worst[0],
        moved=max(one[3] for one in apart),
    )


# MuJoCo, in a process of its own: two models, stepped side by side.


def moved_apart(
    ours: tuple[str, Request],
    theirs: tuple[str, Request],
    driven: tuple[str, ...],
    renamed: Renamed = ({}, {}),
) -> Commanded:
    """Compare the motions of two MJCF models; call it in a child process.

    Parameters
    ----------
    ours, theirs : tuple of str and Request
        Text and its origin.
    driven : tuple of str
        Joints that get torques where no actuator takes commands.
    renamed : pair of mappings
        Names of joints and bodies in the written file, where they are others than in the model.
    """
    import mujoco

    from mbplugin.readers.mjcf.files import model_files

    version = str(mujoco.__version__)
    models = [compile_mjcf(model_files(text, request), request) for text, request in (ours, theirs)]
    found = Commanded("MuJoCo", version)
    for step in _STEPS:
        found = _moved_apart(mujoco, models, driven, step, renamed)
        if found.reason or max(found.angle, found.distance) <= FOLLOWS:
            break
    return found


def _moved_apart(
    mujoco: Any, models: Sequence[Any], driven: tuple[str, ...], step: float, renamed: Renamed
) -> Commanded:
    """Compare the motions of two compiled models at a step, s."""
    version = str(mujoco.__version__)
    for model in models:
        _make_comparable(mujoco, model, step)
    data = [mujoco.MjData(model) for model in models]
    for model, one in zip(models, data, strict=True):
        mujoco.mj_forward(model, one)
    names, kind, drive = _drive(mujoco, models, data, driven, renamed[0])
    bodies = _common_bodies(mujoco, models, renamed[1])
    start = [_Placed.of(one) for one in data]
    rng = np.random.default_rng(SEED)
    for k in range(round(DURATION / step)):
        if k % round(_HOLD / step) == 0:
            drive(rng.uniform(-1.0, 1.0, len(names)))
        for model, one in zip(models, data, strict=True):
            mujoco.mj_step(model, one)
            if has_diverged(mujoco, one):
                which = "model" if model is models[0] else "written file"
                return Commanded(
                    "MuJoCo", version, reason=f"the motion of the {which} diverges at {k * step:.3g} s"
                )
    if not bodies:
        return Commanded("MuJoCo", version, reason=_NONE_IN_COMMON)
    end = [_Placed.of(one) for one in data]
    ways = [(name, start[0].way(end[0], a), start[1].way(end[1], b)) for name, a, b in bodies]
    apart = [
        (name, _angle(R_a.T @ R_b), float(np.linalg.norm(p_a - p_b))) for name, (R_a, p_a), (R_b, p_b) in ways
    ]
    angle, distance = max(one[1] for one in apart), max(one[2] for one in apart)
    worst = max(apart, key=lambda one: max(one[1], one[2]))[0]
    way = max(float(np.linalg.norm(p_a)) for _, (_, p_a), _ in ways)
    return Commanded("MuJoCo", version, tuple(names), kind, angle, distance, worst, way, step=step)


def _make_comparable(mujoco: Any, model: Any, step: float) -> None:
    """Set a common step, integrator, solver and closure stiffness in a model, and disable contacts."""
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.iterations, model.opt.tolerance = 100, 1e-12
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.eq_solref[:], model.eq_solimp[:] = (_SOFT * step, 1.0), HARDEST


def _drive(
    mujoco: Any,
    models: Sequence[Any],
    data: Sequence[Any],
    driven: Sequence[str],
    renamed: Mapping[str, str],
) -> tuple[list[str], str, Callable[[Array], None]]:
    """Return the common driven elements, their kind, and a function that applies inputs from −1 to 1 to both models."""
    from mbplugin.readers.mjcf import actuator_names

    numbers = [{name: k for k, name in enumerate(actuator_names(mujoco, model))} for model in models]
    names = [name for name in numbers[0] if name in numbers[1]]
    commands = [
        [_command(model, own[name]) for name in names] for model, own in zip(models, numbers, strict=True)
    ]
    if names:
        middle, size = _commands(mujoco, models[0], data[0], commands[0])

        def command(u: Array) -> None:
            for own, one in zip(commands, data, strict=True):
                one.ctrl[own] = middle + u * size

        return names, "command", command
    dofs = [_dofs(mujoco, model) for model in models]
    names = [name for name in dofs[0] if renamed.get(name, name) in dofs[1] and name in driven]
    where = [[dofs[0][name] for name in names], [dofs[1][renamed.get(name, name)] for name in names]]
    # the inverse of the inertia that a joint moves, at the pose of the file
    size = _ACCELERATION / np.maximum(models[0].dof_invweight0[where[0]], _LEAST)

    def torque(u: Array) -> None:
        for own, one in zip(where, data, strict=True):
            one.qfrc_applied[own] = u * size

    return names, "torque" if names else "none", torque


def _command(model: Any, k: int) -> int:
    """Return the index of the first command of an actuator among all commands."""
    return int(model.actuator_ctrladr[k]) if hasattr(model, "actuator_ctrladr") else k


def _commands(mujoco: Any, model: Any, data: Any, numbers: Sequence[int]) -> tuple[Array, Array]:
    """Return the commands of zero force and the amplitudes about them, (n,) each, within their ranges.

    Amplitudes are limited so that joint accelerations stay realistic for a robot.
    """
    limited = np.array([bool(model.actuator_ctrllimited[k]) for k in numbers])
    ranges = np.where(limited[:, None], model.actuator_ctrlrange[list(numbers)], (-1.0, 1.0))
    middle, size = np.empty(len(numbers)), np.empty(len(numbers))
    for i, k in enumerate(numbers):
        lower, upper = ranges[i]
        forces = []
        for value in (lower, upper):
            data.ctrl[:] = 0.0
            data.ctrl[k] = value
            mujoco.mj_forward(model, data)
            forces.append(data.qfrc_actuator.copy())
        data.ctrl[:] = 0.0
        change = (forces[1] - forces[0]) / (upper - lower) if upper > lower else np.zeros(model.nv)
        gain = float(np.abs(change * model.dof_invweight0).max(initial=0.0))
        middle[i] = (lower + upper) / 2
        if gain:
            at = int(np.abs(change).argmax())
            middle[i] = np.clip(lower - forces[0][at] / change[at], lower, upper)
        size[i] = min((upper - lower) / 2, _ACCELERATION / gain if gain else 1.0)
    mujoco.mj_forward(model, data)
    return middle, size


def _dofs(mujoco: Any, model: Any) -> dict[str, int]:
    """Return the index of the rate of each named hinge and slide."""
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return {
        model.joint(j).name: int(model.jnt_dofadr[j])
        for j in range(model.njnt)
        if int(model.jnt_type[j]) in single and model.joint(j).name
    }


def _common_bodies(
    mujoco: Any, models: Sequence[Any], renamed: Mapping[str, str]
) -> list[tuple[str, int, int]]:
    """Return the bodies with mass of both models: name and numbers; the reader calls those without a name so too."""
    names = [
        {
            mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, k) or f"body{k}": k
            for k in range(1, m.nbody)
            if m.body_mass[k]
        }
        for m in models
    ]
    return [
        (name, k, names[1][renamed.get(name, name)])
        for name, k in names[0].items()
        if renamed.get(name, name) in names[1]
    ]


@dataclass(frozen=True, eq=False)
class _Placed:
    """Orientations (n, 3, 3) and centres of mass (n, 3), m, of all bodies; link frames differ between formats."""

    R: Array
    p: Array

    @classmethod
    def of(cls, data: Any) -> _Placed:
        """Return the present placement of all bodies of a model."""
        return cls(data.xmat.reshape(-1, 3, 3).copy(), data.xipos.copy())

    def way(self, end: _Placed, body: int) -> tuple[Array, Array]:
        """Return the rotation (3, 3) and displacement (3,) of a body from here to ``end``."""
        return end.R[body] @ self.R[body].T, end.p[body] - self.p[body]


def _angle(R: Array) -> float:
    """Return the angle of a rotation R (3, 3), rad."""
    sine = np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    return float(np.arctan2(sine, (np.trace(R) - 1) / 2))
