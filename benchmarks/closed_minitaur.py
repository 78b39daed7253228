"""How long does one second of Minitaur with closed legs take, beside MuJoCo's connect constraints?

    python benchmarks/closed_minitaur.py

The free-floating robot falls, all four legs closed by point constraints (12 rows of rank 8). Ours holds
them to 1e-10; MuJoCo's are soft, so the row shows how far its feet come apart.
"""

from __future__ import annotations

import os
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from _models import mjcf, prepared, table, wall  # noqa: E402

import mbplugin as mb  # noqa: E402
from mbplugin.constraints.assembly import assemble  # noqa: E402
from mbplugin.dynamics.kernels.composite_bodies import find_composites  # noqa: E402
from mbplugin.model.mechanism import Mechanism  # noqa: E402
from mbplugin.model.spatial import Array  # noqa: E402
from mbplugin.readers import reload  # noqa: E402

ASSETS = Path(__file__).resolve().parent.parent / "assets"


def equality(mech: Mechanism) -> str:
    composites, out = find_composites(mech), ""
    for pair in mech.tree.cut:
        a, P = composites.frame(mech, pair.body_a, pair.X_AP)
        b, _ = composites.frame(mech, pair.body_b, pair.X_BS)
        out += f'<connect body1="l{a}" body2="l{b}" anchor="{P.p[0]!r} {P.p[1]!r} {P.p[2]!r}"/>'.replace(
            "np.float64(", ""
        ).replace(")", "")
    return out


def mujoco(
    mech: Mechanism, q: Array, qd: Array, step: float, integrator: str = "implicitfast"
) -> tuple[float, float, Array]:
    """Return the seconds of a run of 1 s, the gap of the feet in the end (m), and the joints' coordinates there."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(mjcf(mech, integrator, step, equality(mech)))
    data = mj.MjData(model)
    start, rates = _start(model, mech, q, qd)

    def run() -> None:
        mj.mj_resetData(model, data)
        data.qpos[:] = start
        data.qvel[:] = rates
        mj.mj_step(model, data, nstep=round(1.0 / step))

    seconds = wall(run, 3)
    gap = np.abs(data.efc_pos[: 3 * model.neq]).max() if model.neq else 0.0
    return seconds, float(gap), joint_coordinates(model, mech, data.qpos)


def minitaur() -> tuple[Mechanism, Array]:
    """Return the Minitaur with a free base and closed legs, and a closed pose."""
    scene = reload(mb.load(str(ASSETS / "minitaur.scene.toml"), base="free"), snap_angles=True)
    return scene.mechanism, assemble(scene.mechanism, scene.state.q, sorted(scene.state.given)).q


def _start(model: object, mech: Mechanism, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return MuJoCo's coordinates and rates, whose order is its own.

    Of a free root w comes first in a quaternion; its rates are the velocity of the body frame, and ω in its axes.
    """
    from mbplugin.model.mechanism.kinematics import forward

    positions, rates, poses = np.zeros(model.nq), np.zeros(model.nv), forward(mech, q)
    for k, composite in enumerate(find_composites(mech).composites, 1):
        joint, own = composite.joint, qd[composite.joint.qd]
        if joint.pair is None:
            i, (x, y, z, w) = mech.body_index[joint.outer], q[joint.q][3:]
            positions[:7] = [*poses.p_WL[i], w, x, y, z]
            rates[:3] = own[:3] + np.cross(own[3:], poses.p_WL[i] - poses.p_WC[i])
            rates[3:6] = poses.R_WL[i].T @ own[3:]
        else:
            at = model.joint(f"j{k}")
            positions[at.qposadr], rates[at.dofadr] = q[joint.q], own
    return positions, rates


def joint_coordinates(model: object, mech: Mechanism, qpos: Array) -> Array:
    """Return the coordinates of the joints in the order of the mechanism, without those of the base."""
    place = {c.joint.outer: model.joint(f"j{k}").qposadr[0] for k, c in _moving(mech)}
    joints = [j for j in mech.tree.joints if j.pair is not None and j.pair.kind.free]
    return np.array([qpos[place[joint.outer]] for joint in joints])


def _moving(mech: Mechanism) -> list[tuple[int, object]]:
    """Return the composite bodies at joints, with their numbers."""
    return [(k, c) for k, c in enumerate(find_composites(mech).composites, 1) if c.joint.pair is not None]


def main() -> None:
    mech, q = minitaur()
    rows = []
    for rtol in (1e-6, 1e-9):
        run = lambda rtol=rtol: mb.simulate(  # noqa: E731
            mech, 1.0, q=q, rtol=rtol, damping=False, friction=False, limits="ignore"
        )
        seconds, made = wall(run, 3), run()
        rows.append(
            ["mbplugin dop853", f"rtol {rtol:g}", f"{seconds:.3f}", f"{max(made.residuals.values()):.1e}"]
        )
    try:
        for step in (2e-3, 1e-3, 2e-4):
            seconds, gap, _ = mujoco(mech, q, np.zeros(len(mech.qd_names)), step)
            rows.append(["MuJoCo implicitfast", f"step {step:g} s", f"{seconds:.3f}", f"{gap:.1e}"])
    except ImportError:
        print("MuJoCo is not installed")
    run = prepared(mech, q, rtol=1e-6)
    rows.append(
        ["mbplugin dop853, model built before", "rtol 1e-06", f"{wall(run, 3):.3f}", "(limit 0.05 s)"]
    )
    table("Minitaur with closed legs, 1 s in free fall", ["tool", "setting", "s", "gap of the feet, m"], rows)


if __name__ == "__main__":
    main()
