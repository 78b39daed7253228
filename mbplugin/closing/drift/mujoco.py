"""Drift of closures in MuJoCo, at its default step and solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.closing.drift.values import Drift, Task, Track
from mbplugin.model.mechanism import WORLD
from mbplugin.model.spatial import Array, Pose

ENGINE = "MuJoCo"


def mujoco_drift(task: Task) -> Drift:
    """Return what the closures of a task do in MuJoCo; to be called in a process of its own."""
    import mujoco

    version = str(mujoco.__version__)
    # else it writes them into a file of the working folder
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
        # it begins anew where it diverges
        if any(data.warning[int(kind)].number for kind in _diverged(mujoco)):
            return Drift(ENGINE, version, step, k * step, reason=f"MuJoCo diverges at {k * step:.3g} s")
        for track, equality in zip(tracks, equalities, strict=True):
            X_WA, X_WB = (_pose(data, body) for body in track.pair.bodies)
            track.add(X_WA, X_WB, _force(mujoco, data, equality))
    return Drift(ENGINE, version, step, task.duration, tuple(track.result() for track in tracks))


def _diverged(mujoco: Any) -> tuple[Any, ...]:
    """Return the warnings with which MuJoCo gives up a motion."""
    kinds = mujoco.mjtWarning
    return kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC


def _equality(mujoco: Any, model: Any, closure: str) -> int:
    """Return the equality of a closure: its own, or the weld of the part of a body that it carries."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, i) or "" for i in range(model.neq)]
    own = [i for i, name in enumerate(names) if name == closure or name.endswith(f"_at_{closure}_weld")]
    return own[0]


def _force(mujoco: Any, data: Any, equality: int) -> Array:
    """Return the force (3,) of an equality, N: its first three rows, along axes that it has."""
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
