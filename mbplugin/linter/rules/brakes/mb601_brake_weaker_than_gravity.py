"""A brake cannot hold its joint against gravity in a pose that the joint limits allow.

What it does
------------
Compares the static torque of every brake of a scene (wear included) with the torque of gravity on its
joint, payloads and springs included, at the scene's pose and at poses sampled within the limits. Joints of
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

from collections.abc import Iterable, Iterator

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.constraints.reduction.velocity import velocity_transformation
from mbplugin.joint_reactions.springs import spring_loads
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.component import is_turn, units_of
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Brake, Scene
from mbplugin.model.spatial import Array

SEVERITY: Severity = "warning"

_POSES = 64


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per weak brake."""
    mech = scene.mechanism
    brakes = [(brake, holds) for brake in scene.brakes if (holds := _static(scene, brake)) is not None]
    if analysis is None or not brakes or mech.tree.cut:
        return
    poses = list(_poses(scene, analysis.q))
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
            f"the brake of {brake.joint!r} holds {holds:.4g} {unit}, gravity pulls with up to"
            f" {loads[worst, rate]:.4g} {unit} at a pose within the limits",
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


def _poses(scene: Scene, q: Array) -> Iterator[Array]:
    """Yield the given pose q (nq,), then poses with all single freedoms anywhere within their limits."""
    yield q
    rng = np.random.default_rng(0)
    for _ in range(_POSES - 1):
        out = np.array(q)
        for joint in scene.mechanism.tree.joints:
            if joint.pair is None or len(joint.pair.kind.free) != 1:
                continue
            freedom = joint.pair.freedoms[0]
            turns = is_turn(joint.pair.kind.free[0])
            reach = np.pi if turns else 0.0
            low, high = max(freedom.lower, -reach), min(freedom.upper, reach)
            if not turns and np.isfinite([freedom.lower, freedom.upper]).all():
                low, high = freedom.lower, freedom.upper
            if low < high:
                out[joint.q] = rng.uniform(low, high)
        yield out


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
