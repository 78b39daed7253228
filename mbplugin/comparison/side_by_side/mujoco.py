"""MuJoCo's joint wrenches: a tree of bodies, whose loops are closed by bodies welded from two parts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from mbplugin.bullet.tree import loaded
from mbplugin.comparison.side_by_side import Answer, Instant, Part, parts_of
from mbplugin.dynamics import load_wrench
from mbplugin.model import WORLD, Array, cross, forward
from mbplugin.writers.mjcf import HARDEST

ENGINE = "MuJoCo"
_ITERATIONS = 1000
#: Harder still: its constraints give way in proportion to these weights.
_HARDER = 0.01


def mujoco_wrenches(instant: Instant) -> Answer:
    """Return the joint wrenches of MuJoCo at an instant; call it in a child process."""
    import mujoco

    version = str(mujoco.__version__)
    if reason := _missing(instant):
        return Answer(ENGINE, version, reason=reason)
    parts = parts_of(instant)
    try:
        model = _spec(mujoco, instant, parts).compile()
    except ValueError as error:
        return Answer(ENGINE, version, reason=f"MuJoCo refuses the model: {str(error).splitlines()[0]}")
    model.body_invweight0[:] *= _HARDER
    data = mujoco.MjData(model)
    data.qvel[:] = np.concatenate([part.rates for part in parts]) if parts else []
    _load(instant, model, data)
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    return Answer(
        ENGINE, version, {p.pair.name: _wrench(model, data, p) for p in parts if p.pair is not None}
    )


def _missing(instant: Instant) -> str:
    """Return the constraints that MuJoCo cannot hold in this form, or measure."""
    mech = instant.mech
    if mech.pfaffians:
        return f"MuJoCo has no constraint for {mech.pfaffians[0].name!r} ({mech.pfaffians[0].type})"
    if mech.couplings:
        return f"MuJoCo does not report the force of {mech.couplings[0].name!r}"
    none = [pair for pair in mech.pairs if pair.type == "screw" or not pair.kind.has_coordinates]
    return f"MuJoCo has no joint such as {none[0].name!r} ({none[0].type})" if none else ""


def _spec(mujoco: Any, instant: Instant, parts: list[Part]) -> Any:
    """Return the model: every body at its position, with axes of the world."""
    spec = mujoco.MjSpec()
    spec.option.gravity = instant.mech.gravity
    spec.option.iterations, spec.option.tolerance = _ITERATIONS, 0.0
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    spec.compiler.degree = False
    mech = loaded(instant.mech, instant.payloads)
    poses = forward(mech, instant.q)
    shares = Counter(part.body for part in parts)
    bodies = {WORLD: (spec.worldbody, np.zeros(3))}
    for part in parts:
        parent, origin = bodies[part.inner]
        index = mech.body_index[part.body]
        share, R_WL = 1.0 / shares[part.body], poses.R_WL[index]
        inertia = share * R_WL @ mech.bodies[index].I_C @ R_WL.T
        if instant.at_rest:
            # at rest no inertia acts, and MuJoCo refuses one that no body has
            inertia = np.abs(inertia).max() * np.eye(3)
        body = parent.add_body(name=part.name, pos=part.point - origin)
        body.explicitinertial = True
        body.mass, body.ipos = share * mech.bodies[index].mass, poses.p_WC[index] - part.point
        if inertia.any():
            body.fullinertia = inertia[(0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
        for kind, axis in part.motions:
            joint = body.add_joint(type=getattr(mujoco.mjtJoint, f"mjJNT_{kind}"))
            joint.axis = axis
        bodies[part.name] = body, part.point
        if part.name != part.body:
            weld = spec.add_equality(type=mujoco.mjtEq.mjEQ_WELD, objtype=mujoco.mjtObj.mjOBJ_BODY)
            weld.name1, weld.name2, weld.solimp = part.body, part.name, HARDEST
            # a place in the second body, its place and pose in the first one, and the scale of torques
            arm = part.point - bodies[part.body][1]
            weld.data[:11] = [0.0, 0.0, 0.0, *arm, 1.0, 0.0, 0.0, 0.0, 1.0]
    return spec


def _load(instant: Instant, model: Any, data: Any) -> None:
    """Apply all loads, at the centres of mass."""
    mech = loaded(instant.mech, instant.payloads)
    poses = forward(mech, instant.q)
    for load in instant.loads:
        if load.body != WORLD:
            row = model.body(load.body).id
            data.xfrc_applied[row] += load_wrench(load, poses, mech.body_index[load.body])


def _wrench(model: Any, data: Any, part: Part) -> Array:
    """Return the wrench (6,) on the successor at the origin of S, world axes."""
    row = model.body(part.name).id
    moment, force = data.cfrc_int[row][:3], data.cfrc_int[row][3:]
    arm = data.subtree_com[model.body_rootid[row]] - part.point
    found = np.concatenate((force, moment + cross(arm, force)))
    return -found if part.reversed else found
