"""A brake cannot hold its joint against gravity in a pose that the joint limits allow.

What it does
------------
Compares the static torque of every brake of a scene (wear included) with the torque of gravity on its
joint, payloads and springs included, in the pose within the limits in which it is largest ("up to"): many poses
climb to it, the same ones in every run. Where springs pull too, 64 more poses are tried; then, and where joints
are coupled, unlimited or of several freedoms, and stay where they are, it is "at least" that torque. Joints of
loops are omitted, because they share their loads.

Why it matters
--------------
If gravity is stronger, an arm sinks after power-off, or slips back after a stop that seemed complete.

Example
-------
A shoulder brake of 20 N·m under a forearm and payload with a gravity torque of 31 N·m when stretched out.

Remedy
------
State the real static torque, or keep the arm out of these poses; ``mbplugin estop`` computes how far it
slips.

References
----------
mueller2026, section 1: brakes as locks assume that they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.constraints.reduction.velocity import velocity_transformation
from mbplugin.joint_reactions.springs import spring_loads
from mbplugin.linter.checks.gravity_pull import gravity_pull
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Brake, Scene
from mbplugin.model.spatial import Array

SEVERITY: Severity = "warning"

#: Poses tried where springs pull too.
_SAMPLES = 64


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per weak brake."""
    mech = scene.mechanism
    brakes = [(brake, holds) for brake in scene.brakes if (holds := _static(scene, brake)) is not None]
    if analysis is None or not brakes or mech.tree.cut:
        return
    poses, certain = _poses(scene, analysis.q, [brake.joint for brake, _ in brakes])
    loads = np.abs([_gravity(scene, q) for q in poses])
    for brake, holds in brakes:
        rate = mech.tree.joint_of_pair[brake.joint].qd.start
        worst = int(loads[:, rate].argmax())
        if loads[worst, rate] <= holds * (1 + 1e-9):
            continue
        unit = units_of(mech.pair_by_name[brake.joint].kind.free[0]).force
        yield make_finding(
            __name__,
            SEVERITY,
            f"the brake of {brake.joint!r} holds {holds:.4g} {unit}, gravity pulls with"
            f" {'up to' if certain else 'at least'} {loads[worst, rate]:.4g} {unit} at a pose within the limits",
            element=brake.joint,
            origin=constraint_place(scene, brake.joint),
            evidence={
                "static": holds,
                "gravity": float(loads[worst, rate]),
                "q": dict(zip(mech.q_names, poses[worst].tolist(), strict=True)),
            },
            help="state its real static torque, or keep the arm out of these poses",
        )


def _static(scene: Scene, brake: Brake) -> float | None:
    """Return what a brake holds, or None where that is not known."""
    pair = scene.mechanism.pair_by_name[brake.joint]
    if len(pair.kind.free) != 1:
        return None
    stated = brake.torque if brake.static_torque is None else brake.static_torque
    value = pair.freedoms[0].effort if stated is None else stated
    return brake.wear * value if np.isfinite(value) else None


def _poses(scene: Scene, q: Array, joints: Sequence[str]) -> tuple[list[Array], bool]:
    """Return poses like q (nq,) in which the pulls on joints are largest, and whether they are so for certain."""
    mech = scene.mechanism
    pull, names, whole = gravity_pull(mech, scene.payloads, q)
    moved = pull.hardest([names.index(name) for name in joints])
    if scene.springs:
        moved = np.vstack((moved, pull.starts(_SAMPLES)))
    poses = np.tile(q, (len(moved), 1))
    poses[:, [mech.tree.joint_of_pair[name].q.start for name in names]] += moved
    return list(poses), whole and not scene.springs


def _gravity(scene: Scene, q: Array) -> Array:
    """Return the forces (nv,) of gravity and springs on the joint rates at q (nq,), N·m and N."""
    mech = scene.mechanism
    poses = forward(mech, q)
    S = velocity_transformation(mech, poses).reshape(len(mech.bodies), 6, -1)
    total = np.zeros(S.shape[2])
    for i, body in enumerate(mech.bodies):
        total += body.mass * mech.gravity @ S[i, :3]
    for payload in scene.payloads:
        i = mech.body_index[payload.body]
        arm = poses.p_WL[i] + poses.R_WL[i] @ payload.com - poses.p_WC[i]
        weight = payload.mass * mech.gravity
        total += weight @ S[i, :3] + np.cross(arm, weight) @ S[i, 3:]
    for load in spring_loads(mech, scene.springs, q, np.zeros(len(mech.qd_names))):
        i = mech.body_index[load.body]
        arm = poses.of(i).apply(load.point) - poses.p_WC[i]
        total += load.force @ S[i, :3] + (load.torque + np.cross(arm, load.force)) @ S[i, 3:]
    return np.asarray(total)
