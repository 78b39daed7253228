"""Drift of closures in PyBullet, at its default step and solver."""

from __future__ import annotations

import importlib.metadata

import numpy as np

from mbplugin.bullet.build.build import build
from mbplugin.bullet.build.built import Built
from mbplugin.bullet.session import quiet, session
from mbplugin.closing.drift.values import Drift, Task, Track
from mbplugin.model.mechanism import WORLD
from mbplugin.model.spatial import Array, Pose

ENGINE = "PyBullet"
#: Its default, s.
_STEP = 1 / 240


def bullet_drift(task: Task) -> Drift:
    """Return what the closures of a task do in PyBullet; to be called in a process of its own."""
    version = importlib.metadata.version("pybullet")
    with session() as (bullet, client):
        built = build(task.mech, client, task.q)
        if built.left_out:
            return Drift(ENGINE, version, reason=built.left_out[0])
        tracks = [Track(task.mech.pair_by_name[name]) for name in task.closures]
        ties = {name: _ties(built, name) for name in task.closures}
        with quiet():
            bullet.setGravity(*task.mech.gravity.tolist(), physicsClientId=client)
            bullet.setTimeStep(_STEP, physicsClientId=client)
            for k in range(round(task.duration / _STEP)):
                bullet.stepSimulation(physicsClientId=client)
                for track in tracks:
                    X_WA, X_WB = (_pose(built, body) for body in track.pair.bodies)
                    if not np.isfinite(X_WB.p).all():
                        time = k * _STEP
                        return Drift(
                            ENGINE, version, _STEP, time, reason=f"PyBullet diverges at {time:.3g} s"
                        )
                    track.add(X_WA, X_WB, _force(built, ties[track.pair.name]))
    return Drift(ENGINE, version, _STEP, task.duration, tuple(track.result() for track in tracks))


def _ties(built: Built, closure: str) -> tuple[int, ...]:
    """Return the constraints of a closure: its own, or the one that holds both halves of a body."""
    if closure in built.ties:
        return built.ties[closure]
    return next(ids for name, ids in built.ties.items() if name.endswith(f" at {closure} held"))


def _force(built: Built, ties: tuple[int, ...]) -> Array:
    """Return the force (3,) of some constraints together, N, world axes but for their signs."""
    states = [built.bullet.getConstraintState(tie, physicsClientId=built.client) for tie in ties]
    return np.asarray(np.sum([np.array(state[:3], dtype=float) for state in states], axis=0))


def _pose(built: Built, body: str) -> Pose:
    return Pose.identity() if body == WORLD else built.pose(body)
