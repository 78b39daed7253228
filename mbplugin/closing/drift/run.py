"""Drift in all engines: every engine in a process of its own, with limits of time and memory."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Literal

import numpy as np

from mbplugin.closing.drift.values import Drift, Task
from mbplugin.comparison.side_by_side.held import with_fixed
from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism import Freedom, Mechanism
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import coordinates_of, forward
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr
from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.readers.common.grounding import with_fixed_roots
from mbplugin.writers import write

#: Of the motion, s.
DURATION = 2.0
#: A loop that opens by more than this fraction of the largest arm has come apart.
_APART = 0.1
#: Engine, function and what it imports.
_ENGINES = (
    ("MuJoCo", "mujoco.mujoco_drift", "mujoco", "pip install 'mbplugin[mjcf]'"),
    ("PyBullet", "bullet.bullet_drift", "pybullet", "pip install 'mbplugin[bullet]'"),
)
_LIMITS = Limits(
    seconds=120.0,
    cpu=120,
    memory=4 << 30,
    written=1 << 30,
    purpose=Purpose("computed", "the drift of the closures", "a model that takes less", "simplify it"),
)
#: Whether driven joints move freely or stand still.
Drives = Literal["free", "held"]


@one_line_repr
@dataclass(frozen=True, eq=False)
class Drifts:
    """The same motion with two sets of closures.

    Parameters
    ----------
    drives : "free" or "held"
    before, after : tuple of Drift
        One per engine.
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
    """Return what the closures of two mechanisms do in every engine.

    They start at rest at closed poses q (nq,) and move under gravity; free bases stand still, and limits, friction
    and drives do not act, so that the forces are those of the closures. Where that comes apart in an engine, as
    robots do that fall through a singular pose, driven joints stand still as well.
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
    """Return what every engine does from a closed pose q (nq,)."""
    task = _task(mech, q, held, duration)
    if isinstance(task, str):
        return tuple(Drift(engine, reason=task) for engine, *_ in _ENGINES)
    return tuple(_ask(task, *engine) for engine in _ENGINES)


def _task(mech: Mechanism, q: Array, held: Collection[str], duration: float) -> Task | str:
    """Return what engines are given from a closed pose q (nq,), or why there is nothing."""
    poses = forward(mech, q)
    passive = [replace(p, freedoms=tuple(Freedom(damping=f.damping) for f in p.freedoms)) for p in mech.pairs]
    mech = replace(mech, pairs=tuple(passive), drivers=(), locks=(), pfaffians=())
    mech = with_fixed_roots(mech, {b.name: poses.of(i) for i, b in enumerate(mech.bodies)})
    still = _can_be_held(mech, held)
    # between joints that stand still nothing is coupled any more
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
    """Return the driven joints that stand still: not those that a coupling lets move others."""
    coupled = [{term.joint for term in coupling.terms} for coupling in mech.couplings]
    leading = {name for joints in coupled if not joints <= set(held) for name in joints}
    return [p.name for p in mech.pairs if p.name in held and p.kind.free and p.name not in leading]


def _ask(task: Task, engine: str, function: str, package: str, remedy: str) -> Drift:
    if find_spec(package) is None:
        return Drift(engine, reason=f"{engine} is not installed ({remedy})")
    module, name = function.split(".")
    computed = getattr(import_module(f"mbplugin.closing.drift.{module}"), name)
    try:
        answer: Drift = in_own_child(engine, _LIMITS, "", os.environ, computed, task)
    except MbPluginError as error:
        return Drift(engine, reason=str(error))
    return answer
