"""The same commands given to a model and to the file that was written of it: how far apart they move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from mbplugin.errors import MbPluginError
from mbplugin.model.scene import Request, Scene, State
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr
from mbplugin.processes.foreign import Limits, Purpose, in_engine
from mbplugin.readers.standing import bolted_down
from mbplugin.writers import write
from mbplugin.writers.copies import is_as_in_file, is_of_format, source_text
from mbplugin.writers.written import Written

#: Of the motion and of each command, s.
DURATION, _HOLD = 0.5, 0.05
#: MuJoCo's steps, s: the shorter one is taken where the longer one leaves a difference, whose error is of first order.
_STEPS = (5e-4, 1.25e-4)
#: Under the same commands bodies of both are no farther apart, rad and m.
FOLLOWS = 1e-3
#: Of the random commands.
SEED = 7
#: What a torque does to the joint alone, rad/s² and m/s², where no actuator takes a command.
_ACCELERATION = 20.0
#: Inverse inertia of a joint that moves nothing, 1/(kg·m²) and 1/kg.
_LEAST = 1e-12
#: Both models get the same closures: how soft an author has made them is no mechanics. Their time is in steps.
_SOFT, _SOLIMP = 10, (0.9999, 0.9999, 0.001, 0.5, 2.0)
#: A pose of the file counts as the closed one up to this, rad and m.
_SAME_POSE = 1e-6
#: Warnings with which MuJoCo gives up a motion and begins it anew.
_GAVE_UP = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC")
_LIMITS = Limits(
    seconds=300.0,
    cpu=300,
    memory=4 << 30,
    purpose=Purpose("computed", "the motion under commands", "a model that takes less", "simplify it"),
)


@one_line_repr
@dataclass(frozen=True, eq=False)
class Commanded:
    """How far apart a model and the file written of it are after the same commands.

    Parameters
    ----------
    engine, version : str
    driven : tuple of str
        The actuators that get commands, or the joints that get torques where there are none.
    kind : "command", "torque" or "none"
        Of what they get; nothing is driven that both models do not have.
    angle, distance : float
        Largest differences of orientations and places of bodies at the end, rad and m.
    body : str
        The body with the largest one.
    moved : float
        The largest way that a body of the model has gone, m; small where nothing moves.
    duration : float
        s.
    seed : int
    step : float
        Of MuJoCo, s.
    reason : str
        Why there is no answer; empty with one.
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
    """Return how far a model and its written file move apart in MuJoCo under the same seeded commands.

    Contacts do not act, all closures are equally hard, and arms without a stated base stand on the ground. An MJCF
    file whose loops close at its pose is taken as it is; any other model is written as MJCF.

    Parameters
    ----------
    scene : Scene
        As it was read.
    closed : (nq,) array
        Its closed pose, rad and m.
    written : Written
    target : Scene
        What was written, at the closed pose.
    back : Scene
        What is read of it.
    driven : sequence of str
        Joints that get torques where no actuator takes commands.
    """
    if find_spec("mujoco") is None:
        return Commanded("MuJoCo", reason="MuJoCo is not installed (pip install 'mbplugin[mjcf]')")
    try:
        sides = (_model(scene, closed, written), _written(written, target, back))
        return in_engine("MuJoCo", _LIMITS, sides[0][1].path, moved_apart, *sides, tuple(driven))
    except MbPluginError as error:
        return Commanded("MuJoCo", reason=str(error))


def _model(scene: Scene, closed: Array, written: Written) -> tuple[str, Request]:
    """Return the MJCF of a model at a closed pose ``closed`` (nq,), and where names of files in it count from."""
    # a free body that an equality carries is where the equality holds, not where the file has it
    carried = any(defect.code == "MB119" for defect in scene.defects)
    same_pose = not carried and np.allclose(scene.state.q, closed, rtol=0.0, atol=_SAME_POSE)
    # a copy is known to be its file, and has the pose of it, whatever that is
    is_file = same_pose and is_of_format(scene, "mjcf") and is_as_in_file(scene)
    if (copied := written.copy_of if written.format == "mjcf" else None) or is_file:
        request = copied or scene.request
        assert request is not None
        return source_text(request), request
    at_rest = State(closed, np.zeros(len(scene.mechanism.qd_names)))
    return _as_mjcf(bolted_down(replace(scene, state=at_rest)))


def _written(written: Written, target: Scene, back: Scene) -> tuple[str, Request]:
    if written.format == "mjcf":
        return written.text, written.names_from or Request("closed.xml", written.text)
    known = dict(zip(target.mechanism.q_names, target.state.q.tolist(), strict=True))
    mech = back.mechanism
    start = dict(zip(mech.q_names, back.state.q.tolist(), strict=True))
    # formats without a pose have coordinates that mean the same
    q = np.array(
        [known.get(name, start[name]) if written.format == "urdf" else start[name] for name in mech.q_names]
    )
    # what is taken to hold the model holds the written file as well, whose base is stated in some formats
    back = replace(back, state=State(q, np.zeros(len(mech.qd_names))), base_open=target.base_open)
    return _as_mjcf(bolted_down(back))


def _as_mjcf(scene: Scene) -> tuple[str, Request]:
    # contacts do not act, and meshes take long to compile
    text = write(replace(scene, shapes={}), "mjcf").text
    return text, Request("model.xml", text)


# In a process of its own: two models, stepped side by side.


def moved_apart(ours: tuple[str, Request], theirs: tuple[str, Request], driven: tuple[str, ...]) -> Commanded:
    """Return how far two MJCF models move apart; call it in a process of its own.

    Parameters
    ----------
    ours, theirs : tuple of str and Request
        Text and where it comes from.
    driven : tuple of str
        Joints that get torques where no actuator takes commands.
    """
    import mujoco

    from mbplugin.readers.mjcf.compile import compile_mjcf
    from mbplugin.readers.mjcf.files import model_files

    version = str(mujoco.__version__)
    models = [compile_mjcf(model_files(text, request), request) for text, request in (ours, theirs)]
    found = Commanded("MuJoCo", version)
    for step in _STEPS:
        found = _moved_apart(mujoco, models, driven, step)
        if found.reason or max(found.angle, found.distance) <= FOLLOWS:
            break
    return found


def _moved_apart(mujoco: Any, models: Sequence[Any], driven: tuple[str, ...], step: float) -> Commanded:
    """Return how far two compiled models move apart at a step, s."""
    version = str(mujoco.__version__)
    for model in models:
        _make_comparable(mujoco, model, step)
    data = [mujoco.MjData(model) for model in models]
    for model, one in zip(models, data, strict=True):
        mujoco.mj_forward(model, one)
    names, kind, drive = _drive(mujoco, models, data, driven)
    bodies = _common_bodies(mujoco, models)
    start = [_Placed.of(one) for one in data]
    rng = np.random.default_rng(SEED)
    for k in range(round(DURATION / step)):
        if k % round(_HOLD / step) == 0:
            drive(rng.uniform(-1.0, 1.0, len(names)))
        for model, one in zip(models, data, strict=True):
            mujoco.mj_step(model, one)
            if any(one.warning[int(getattr(mujoco.mjtWarning, name))].number for name in _GAVE_UP):
                which = "model" if model is models[0] else "written file"
                return Commanded(
                    "MuJoCo", version, reason=f"the motion of the {which} diverges at {k * step:.3g} s"
                )
    if not bodies:
        return Commanded("MuJoCo", version, reason="the two have no body with mass in common")
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
    """Give a model the step, the integrator and the closures of every other one, and no contacts."""
    model.opt.timestep = step
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.iterations, model.opt.tolerance = 100, 1e-12
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.eq_solref[:], model.eq_solimp[:] = (_SOFT * step, 1.0), _SOLIMP


def _drive(
    mujoco: Any, models: Sequence[Any], data: Sequence[Any], driven: Sequence[str]
) -> tuple[list[str], str, Callable[[Array], None]]:
    """Return what both models have that is driven, of which kind, and what gives them numbers from −1 to 1."""
    from mbplugin.readers.mjcf.reader import actuator_names

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
    names = [name for name in dofs[0] if name in dofs[1] and name in driven]
    where = [[own[name] for name in names] for own in dofs]
    # the inverse of the inertia that a joint moves, at the pose of the file
    size = _ACCELERATION / np.maximum(models[0].dof_invweight0[where[0]], _LEAST)

    def torque(u: Array) -> None:
        for own, one in zip(where, data, strict=True):
            one.qfrc_applied[own] = u * size

    return names, "torque" if names else "none", torque


def _command(model: Any, k: int) -> int:
    """Return where the first command of an actuator stands among all commands."""
    return int(model.actuator_ctrladr[k]) if hasattr(model, "actuator_ctrladr") else k


def _commands(mujoco: Any, model: Any, data: Any, numbers: Sequence[int]) -> tuple[Array, Array]:
    """Return commands without a force and by how much they vary, (n,) each, within their ranges.

    They vary so that no joint is accelerated by more than a robot can.
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
    """Return where the rate of each hinge and slide with a name stands."""
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return {
        model.joint(j).name: int(model.jnt_dofadr[j])
        for j in range(model.njnt)
        if int(model.jnt_type[j]) in single and model.joint(j).name
    }


def _common_bodies(mujoco: Any, models: Sequence[Any]) -> list[tuple[str, int, int]]:
    """Return the bodies with mass of both models: name and numbers; the reader calls those without a name so too."""
    names = [
        {
            mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_BODY, k) or f"body{k}": k
            for k in range(1, m.nbody)
            if m.body_mass[k]
        }
        for m in models
    ]
    return [(name, k, names[1][name]) for name, k in names[0].items() if name in names[1]]


@dataclass(frozen=True, eq=False)
class _Placed:
    """Orientations (n, 3, 3) and centres of mass (n, 3), m, of all bodies: formats differ in where link frames are."""

    R: Array
    p: Array

    @classmethod
    def of(cls, data: Any) -> _Placed:
        """Return where the bodies of a model are."""
        return cls(data.xmat.reshape(-1, 3, 3).copy(), data.xipos.copy())

    def way(self, end: _Placed, body: int) -> tuple[Array, Array]:
        """Return by which rotation (3, 3) and displacement (3,) a body has moved."""
        return end.R[body] @ self.R[body].T, end.p[body] - self.p[body]


def _angle(R: Array) -> float:
    """Return the angle of a rotation R (3, 3), rad."""
    sine = np.linalg.norm([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    return float(np.arctan2(sine, (np.trace(R) - 1) / 2))
