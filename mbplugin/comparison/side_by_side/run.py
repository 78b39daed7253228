"""``engines``: the joint wrenches of several engines at one instant, side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from mbplugin.analysis.directions import joint_place
from mbplugin.arguments import checked
from mbplugin.comparison.side_by_side.answer import Answer
from mbplugin.comparison.side_by_side.instant import Instant, instant_of
from mbplugin.comparison.side_by_side.values import OURS, JointWrench, SideBySide, sizes
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.joint_reactions.mask import joint_mask
from mbplugin.joint_reactions.run import reactions
from mbplugin.joint_reactions.state import ClosedState
from mbplugin.joint_reactions.system import System
from mbplugin.joint_reactions.transmitted import coupled_wrench
from mbplugin.model.loads import LoadLike, PayloadLike
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.scene import Scene, State, mechanism_of
from mbplugin.model.spatial import Array
from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.version import __version__


class _Engine(NamedTuple):
    """How an engine is asked: its name, the function and what it imports, and how to install that."""

    name: str
    function: str
    package: str
    remedy: str


#: The other engines, by the names that choose them.
ENGINES: Mapping[str, _Engine] = {
    "pybullet": _Engine("PyBullet", "bullet.bullet_wrenches", "pybullet", "pip install 'mbplugin[bullet]'"),
    "mujoco": _Engine("MuJoCo", "mujoco.mujoco_wrenches", "mujoco", "pip install 'mbplugin[mjcf]'"),
    "pinocchio": _Engine(
        "Pinocchio", "pinocchio.pinocchio_wrenches", "pinocchio", "pip install 'mbplugin[pinocchio]'"
    ),
}
#: Those that are asked where none is named, on every machine the same.
BY_DEFAULT = ("pybullet", "mujoco")
_LIMITS = Limits(
    seconds=60.0,
    cpu=60,
    memory=4 << 30,
    written=1 << 30,
    purpose=Purpose("computed", "the joint forces", "a model that takes less", "simplify it"),
)


@checked
def engines(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] = (),
    hold: Iterable[str] | None = None,
    only: Iterable[str] | None = None,
    tolerance: float | None = None,
) -> SideBySide:
    """Compute the joint forces of a model with several engines, and say where they have to agree.

    Every engine gets the same bodies, loops, state and loads, without damping, friction, limits and contacts,
    and runs in a process of its own with limits of time and memory. Without rates this is statics, with held
    joints as in ``reactions``; with rates it is the instant of a motion whose accelerations follow from the loads,
    and only joints that are named hold.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q, qd : mapping or vector, optional
        Joint coordinates and rates, rad and m; what is not named keeps the scene's value. Loops are closed.
    loads, payload : iterable, optional
        As for ``reactions``.
    hold : iterable of str, optional
        Joints that are held as a whole; their drive's force is in their wrench.
    only : iterable of str, optional
        Engines to ask: ``pybullet``, ``mujoco``, ``pinocchio``; default: the first two.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.

    Returns
    -------
    SideBySide

    Raises
    ------
    BadUsage
        A load that moves the mechanism at rest, an unknown engine, a joint that is held in part.
    CannotClose
        A loop that cannot be closed.
    """
    model = model_of(model)
    chosen = _chosen(only)
    instant, system, state = instant_of(model, q, qd, loads, payload, hold, tolerance)
    answers = [_ours(model, instant, system), *(_ask(name, instant) for name in chosen)]
    return SideBySide(
        mechanism=instant.mech,
        q=state.q,
        qd=state.qd,
        qdd=state.qdd,
        mode="statics" if instant.at_rest else "inverse dynamics",
        held=instant.held,
        tolerance=state.tolerance,
        degree_of_redundancy=system.degree_of_redundancy,
        engines=tuple(answers),
        joints=_joints(mechanism_of(model), instant, system, answers),
        notes=_notes(state, answers),
    )


def _chosen(only: Iterable[str] | None) -> list[str]:
    names = list(BY_DEFAULT) if only is None else list(dict.fromkeys(only))
    if unknown := [name for name in names if name not in ENGINES]:
        raise BadUsage(f"the engine is {unknown[0]!r}", expected=f"some of {', '.join(ENGINES)}")
    return names


def _ours(model: Scene | Mechanism, instant: Instant, system: System) -> Answer:
    """Return our wrenches in world axes, NaN in what nothing determines."""
    if isinstance(model, Scene):
        state = State(instant.q, np.zeros_like(instant.qd))
        model = replace(
            model, mechanism=instant.mech, state=state, loads=(), payloads=(), springs=(), actuators=()
        )
    else:
        model = instant.mech
    moving = (None, None) if instant.at_rest else (instant.qd, instant.qdd)
    result = reactions(
        model,
        instant.q,
        *moving,
        loads=instant.loads,
        payload=instant.payloads,
        hold=(),
        estimate=False,
        tolerance=None if isinstance(model, Mechanism) else model.options.tolerance,
    )
    return Answer(OURS, __version__, {p.name: coupled_wrench(system, result, p) for p in instant.mech.pairs})


def _ask(name: str, instant: Instant) -> Answer:
    """Return what an engine computes in a process of its own, or why it does not."""
    engine = ENGINES[name]
    if find_spec(engine.package) is None:
        return Answer(engine.name, reason=f"{engine.name} is not installed ({engine.remedy})")
    module, function = engine.function.split(".")
    asked = getattr(import_module(f"mbplugin.comparison.side_by_side.{module}"), function)
    try:
        answer: Answer = in_own_child(engine.name, _LIMITS, "", os.environ, asked, instant)
    except MbPluginError as error:
        return Answer(engine.name, reason=str(error))
    bad = [pair for pair, wrench in answer.wrenches.items() if not np.isfinite(wrench).all()]
    if bad:
        return replace(answer, wrenches={}, reason=f"{engine.name} has no finite force in {bad[0]!r}")
    return answer


def _joints(
    mech: Mechanism, instant: Instant, system: System, answers: Iterable[Answer]
) -> tuple[JointWrench, ...]:
    with_answer = [answer for answer in answers if not answer.reason]
    of_joint: dict[str, dict[str, Array]] = {}
    places = {pair.name: joint_place(system.mech, system.poses, pair) for pair in instant.mech.pairs}
    for pair in instant.mech.pairs:
        # ours is in axes of P already, because NaN cannot be turned
        turn = np.kron(np.eye(2), places[pair.name][1].T)
        of_joint[pair.name] = {
            a.engine: a.wrenches[pair.name] if a.engine == OURS else turn @ a.wrenches[pair.name]
            for a in with_answer
        }
    size = sizes(of_joint, instant.mech.largest_arm)
    found = []
    for pair in instant.mech.pairs:
        values = np.array(list(of_joint[pair.name].values()))
        spread = np.fmax.reduce(values) - np.fmin.reduce(values)
        point, R_WJ = places[pair.name]
        found.append(
            JointWrench(
                name=pair.name,
                type=mech.pair_by_name[pair.name].type,
                body_a=pair.body_a,
                body_b=pair.body_b,
                held=pair.name in instant.held,
                point=point,
                R_WJ=R_WJ,
                unique=joint_mask(system, pair),
                wrenches=of_joint[pair.name],
                spread=np.nan_to_num(spread),
                size=size[pair.name],
            )
        )
    return tuple(found)


def _notes(state: ClosedState, answers: Iterable[Answer]) -> tuple[str, ...]:
    return (*state.notes, *(note for answer in answers for note in answer.notes))
