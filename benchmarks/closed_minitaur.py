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
from _models import mjcf, table, wall  # noqa: E402

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


def mujoco(mech: Mechanism, q: Array, qd: Array, step: float) -> tuple[float, float]:
    import mujoco as mj

    model = mj.MjModel.from_xml_string(mjcf(mech, "implicitfast", step, equality(mech)))
    data = mj.MjData(model)
    start = _positions(mech, q, model.nq)

    def run() -> None:
        mj.mj_resetData(model, data)
        data.qpos[:] = start
        data.qvel[:] = 0.0
        mj.mj_step(model, data, nstep=round(1.0 / step))

    seconds = wall(run, 3)
    gap = np.abs(data.efc_pos[: 3 * model.neq]).max() if model.neq else 0.0
    return seconds, float(gap)


def _positions(mech: Mechanism, q: Array, count: int) -> Array:
    """Return MuJoCo's coordinates: w first in a quaternion, the body frame for a free root."""
    from mbplugin.model.mechanism.kinematics import forward

    out, poses = [], forward(mech, q)
    for joint in mech.tree.joints:
        if joint.pair is None:
            x, y, z, w = q[joint.q][3:]
            out += [*poses.p_WL[mech.body_index[joint.outer]], w, x, y, z]
        elif joint.pair.kind.free:
            out += list(q[joint.q])
    assert len(out) == count
    return np.array(out)


def main() -> None:
    scene = reload(mb.load(str(ASSETS / "minitaur.scene.toml"), base="free"), snap_angles=True)
    mech = scene.mechanism
    q = assemble(mech, scene.state.q, sorted(scene.state.given)).q
    rows = []
    for rtol in (1e-6, 1e-9):
        run = lambda rtol=rtol: mb.simulate(  # noqa: E731
            mech, 1.0, q0=q, rtol=rtol, damping=False, friction=False, limits="ignore"
        )
        seconds, made = wall(run, 3), run()
        rows.append(
            ["mbplugin dop853", f"rtol {rtol:g}", f"{seconds:.3f}", f"{max(made.residuals.values()):.1e}"]
        )
    try:
        for step in (2e-3, 1e-3, 2e-4):
            seconds, gap = mujoco(mech, q, np.zeros(len(mech.qd_names)), step)
            rows.append(["MuJoCo implicitfast", f"step {step:g} s", f"{seconds:.3f}", f"{gap:.1e}"])
    except ImportError:
        print("MuJoCo is not installed")
    table("Minitaur with closed legs, 1 s in free fall", ["tool", "setting", "s", "gap of the feet, m"], rows)


if __name__ == "__main__":
    main()
