"""How long does one acceleration of a robot with closed loops take, beside Pinocchio's constrained dynamics?

    python benchmarks/closed_loops.py ROBOTS [NAME …]

ROBOTS is the folder ``robots`` of the repository Gepetto/example-parallel-robots, whose loops are welds between two
frames. Both read the same URDF, at the same closed pose and rates that keep the loops closed, in one process and one
thread; microseconds of one Python call, the best of several runs. Pinocchio's solver is the proximal one, which needs
no independent rows; it stops after ten iterations at the latest. Compared are the accelerations, and the
joint forces Jᵀλ of the constraints: the part of the multipliers that is unique. The limit is Pinocchio's time.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import yaml  # noqa: E402
from _models import per_call, table  # noqa: E402

import mbplugin as mb  # noqa: E402
from mbplugin.dynamics.tree_model import equations_of  # noqa: E402
from mbplugin.model.brakes import AppliedForces  # noqa: E402
from mbplugin.model.mechanism import Mechanism  # noqa: E402
from mbplugin.model.mechanism.pair import Pair  # noqa: E402
from mbplugin.model.scene import State  # noqa: E402
from mbplugin.model.spatial import Array, Pose  # noqa: E402
from mbplugin.simulation.kernel_state import FORWARD_DYNAMICS, compiled_evaluate, place_of  # noqa: E402
from mbplugin.simulation.options import Options  # noqa: E402
from mbplugin.simulation.problem import Problem, pose_problem  # noqa: E402

NAMES = ("digit_like", "cassie_like", "talos_like", "wl16_like", "robot_delta")
CALLS = 400


def with_welds(folder: Path) -> tuple[Mechanism, list[list[str]]]:
    """Return a robot whose loops are closed by welds, and the frames of each."""
    described = yaml.safe_load((folder / "robot.yaml").read_text())
    frames = described["closed_loop"]
    mech = mb.load(folder / "robot.urdf", base="fixed").mechanism
    # a frame of a joint that moves is that of the link it carries
    robot = ElementTree.parse(folder / "robot.urdf").getroot()
    carried = {joint.get("name"): joint.find("child").get("link") for joint in robot.iter("joint")}
    links = [[name if name in mech.body_index else carried[name] for name in pair] for pair in frames]
    welds = [
        Pair(f"weld{k}", "fixed", a, b, Pose.identity(), Pose.identity(), closure=True)
        for k, (a, b) in enumerate(links)
    ]
    return replace(mech, pairs=(*mech.pairs, *welds)), frames


def ours(mech: Mechanism, seed: int = 2) -> tuple[float, Problem, Array, Array]:
    """Return the seconds of a call, the closed problem, q̈ (nv,) and Jᵀλ (nv,) from its own equations."""
    rates = np.random.default_rng(seed).uniform(-1, 1, len(mech.qd_names))
    options = Options(1.0, limits="ignore")
    passive = AppliedForces(damping=False, friction=False)
    problem = pose_problem(mech, passive, State(np.zeros(len(mech.q_names)), rates), (), options)
    m, evaluate = problem.kernel_state, compiled_evaluate()
    place, q, qd = place_of(m), problem.q.copy(), problem.qd.copy()
    seconds = per_call(lambda: evaluate(place, FORWARD_DYNAMICS, 0.0, 0.0, q, qd), CALLS)
    evaluate(place, FORWARD_DYNAMICS, 0.0, 0.0, q, qd)
    qdd, multipliers = np.array(m.rates["qdd"]), np.array(m.multipliers)
    rows = tuple(m.independent_rows.tolist())
    equations = equations_of(problem.model, q, qd, rows=rows, degree_of_redundancy=0, decided=True)
    return seconds, problem, qdd, equations.C.T @ multipliers


def pinocchio(folder: Path, frames: list[list[str]], problem: Problem) -> tuple[float, Array, Array, int]:
    """Return seconds, q̈ (nv,) and Jᵀλ (nv,) in our order of rates, and the iterations."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(folder / "robot.urdf"))
    names = problem.model.mech.qd_names
    order = [model.joints[model.getJointId(name)].idx_v for name in names]
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    q[order], v[order] = problem.q, problem.qd
    welds = pin.StdVec_RigidConstraintModel()
    for a, b in frames:
        A, B = (model.frames[model.getFrameId(name)] for name in (a, b))
        welds.append(
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_6D, model, A.parentJoint, A.placement, B.parentJoint, B.placement
            )
        )
    data, states = model.createData(), pin.StdVec_RigidConstraintData()
    for weld in welds:
        states.append(weld.createData())
    settings, tau = pin.ProximalSettings(1e-10, 1e-12, 1e-8, 10), np.zeros(model.nv)
    pin.initConstraintDynamics(model, data, welds, states)
    call = lambda: pin.constraintDynamics(model, data, q, v, tau, welds, states, settings)  # noqa: E731
    seconds = per_call(call, CALLS)
    qdd = np.array(call())
    held = pin.rnea(model, model.createData(), q, v, qdd)
    return seconds, qdd[order], held[order], int(settings.iter)


def main() -> None:
    robots, chosen = Path(sys.argv[1]), sys.argv[2:] or NAMES
    rows = []
    for name in chosen:
        folder = robots / name
        mech, frames = with_welds(folder)
        seconds, problem, qdd, held = ours(mech)
        theirs, their_qdd, their_held, iterations = pinocchio(folder, frames, problem)
        size = f"{len(qdd)} rates, {6 * len(frames)} rows of rank {problem.own_rank}"
        gaps = [
            float(np.abs(a - b).max() / np.abs(b).max()) for a, b in ((qdd, their_qdd), (held, their_held))
        ]
        rows.append(
            [name, size, f"{1e6 * seconds:.1f}", f"{1e6 * theirs:.1f}", f"{seconds / theirs:.2f}"]
            + [f"{gap:.0e}" for gap in gaps]
            + [str(iterations)]
        )
    head = ["robot", "size", "mbplugin, µs", "Pinocchio, µs", "ratio (limit 1)", "q̈ apart", "Jᵀλ apart"]
    head.append("iterations")
    table("One acceleration with closed loops", head, rows)


if __name__ == "__main__":
    main()
