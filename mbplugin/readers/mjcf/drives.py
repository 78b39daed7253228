"""Which joints of an MJCF model have an actuator: directly, or by a tendon that combines joints."""

from __future__ import annotations

from typing import Any

from mbplugin.model.mechanism.pair import Pair


def driven_joints(mujoco: Any, model: Any, joint_pairs: dict[int, Pair]) -> tuple[str, ...]:
    """Return the pairs that actuators drive, each once, in the order of the actuators.

    Parameters
    ----------
    mujoco : module
    model : MjModel
    joint_pairs : dict of MuJoCo's joint number to Pair
    """
    kinds = mujoco.mjtTrn
    on_joint = {int(kinds.mjTRN_JOINT), int(kinds.mjTRN_JOINTINPARENT)}
    joints: list[int] = []
    for k in range(model.nu):
        kind, number = int(model.actuator_trntype[k]), int(model.actuator_trnid[k][0])
        if kind in on_joint:
            joints.append(number)
        elif kind == int(kinds.mjTRN_TENDON):
            joints += _along(mujoco, model, number)
    return tuple(dict.fromkeys(joint_pairs[j].name for j in joints if j in joint_pairs))


def _along(mujoco: Any, model: Any, tendon: int) -> list[int]:
    """Return the joints that a fixed tendon combines."""
    first = int(model.tendon_adr[tendon])
    wraps = range(first, first + int(model.tendon_num[tendon]))
    joint = int(mujoco.mjtWrap.mjWRAP_JOINT)
    return [int(model.wrap_objid[w]) for w in wraps if int(model.wrap_type[w]) == joint]
