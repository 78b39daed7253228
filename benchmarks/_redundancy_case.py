"""One case of ``redundancy_scaling.py``: print the processor seconds and the peak memory of one way to judge."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import scipy.linalg

import mbplugin as mb
from mbplugin.analysis import analyze_mechanism
from mbplugin.analysis.dca import dca_uniqueness
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.rank import constraint_matrix
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose

#: Runs, of which the best counts: the machine's noise only adds.
RUNS = 3


def four_bars(n: int) -> Mechanism:
    """N unit-square windows side by side, hinges along z, written at the pose of zero coordinates."""
    bodies = {f"v{k}": np.array([k, 0.5, 0.0]) for k in range(n + 1)}
    bodies |= {f"h{k}": np.array([k + 0.5, 1.0, 0.0]) for k in range(n)}
    joints = [(f"g{k}", "world", f"v{k}", np.array([k, 0.0, 0.0])) for k in range(n + 1)]
    for k in range(n):
        joints.append((f"a{k}", f"v{k}", f"h{k}", np.array([k, 1.0, 0.0])))
        joints.append((f"b{k}", f"h{k}", f"v{k + 1}", np.array([k + 1, 1.0, 0.0])))
    origin = {"world": np.zeros(3), **bodies}
    # link frames sit at the ground hinges' height, so that zero coordinates are the assembled pose
    pairs = tuple(
        Pair(name, "revolute", a, b, Pose(np.eye(3), p - origin[a]), Pose(np.eye(3), p - origin[b]))
        for name, a, b, p in joints
    )
    return Mechanism("four-bars", tuple(Body(b, 1.0, I_C=0.01 * np.eye(3)) for b in bodies), pairs)


def ours(mech: Mechanism) -> int:
    return analyze_mechanism(mech, samples=0).degree_of_redundancy


def remedies(mech: Mechanism) -> int:
    """Find what to change as well, and every self-stress in words."""
    analysis = analyze_mechanism(mech, samples=0)
    found = len(analysis.self_stresses)
    return found if all(remedy.degree_of_redundancy == 0 for remedy in analysis.remedies[:1]) else -1


def by_stiffness(mech: Mechanism) -> int:
    """Compute all reactions, where every hinge gives way."""
    stiffness = {pair.name: [1e6, 1e6, 1e6, 1e4, 1e4, 0.0] for pair in mech.pairs}
    load = {"body": "h0", "force": [0, 0, 1000]}
    found = mb.reactions(mech, stiffness=stiffness, hold=["g0"], loads=[load])
    return found.degree_of_redundancy if not found.unresolved else -1


def assembled(n: int) -> int:
    """Close all loops from a pose that is 0.1 rad (rms) off; p is not asked for, so the right one comes back."""
    mech = four_bars(n)
    off = assemble(mech, 0.1 * np.random.default_rng(1).normal(size=len(mech.q_names)))
    return 3 * n if off.worst < 1e-9 < off.worst_file else -1


def divide_and_conquer(mech: Mechanism) -> int:
    return dca_uniqueness(mech).degree_of_redundancy


def dense_qr(C: Array) -> int:
    R = scipy.linalg.qr(C, mode="r", pivoting=True)[0]
    diagonal = np.abs(np.diag(R))
    return len(C) - int((diagonal > 1e-9 * diagonal[0]).sum())


def dense_svd(C: Array) -> int:
    return len(C) - int(np.linalg.matrix_rank(C, tol=1e-9))


def sparse_qr(C: Array) -> int:
    import scipy.sparse
    import sparseqr

    return int(len(C) - sparseqr.rz(scipy.sparse.coo_matrix(C), np.zeros((len(C), 1)))[3])


def exudyn_count(n: int) -> Callable[[], int]:
    """Return a call of Exudyn's degree-of-freedom count on the same mechanism."""
    import exudyn as exu
    from exudyn.utilities import InertiaCuboid, ObjectGround

    system = exu.SystemContainer().AddSystem()
    ground = system.AddObject(ObjectGround())
    cuboid = InertiaCuboid(density=1000, sideLengths=[1, 0.1, 0.1])

    def body(x: float, y: float) -> object:
        return system.CreateRigidBody(inertia=cuboid, referencePosition=[x, y, 0])

    def hinge(a: object, b: object, x: float, y: float) -> None:
        system.CreateRevoluteJoint(
            bodyNumbers=[a, b], position=[x, y, 0], axis=[0, 0, 1], useGlobalFrame=True
        )

    v = [body(k, 0.5) for k in range(n + 1)]
    h = [body(k + 0.5, 1.0) for k in range(n)]
    for k in range(n + 1):
        hinge(ground, v[k], k, 0)
    for k in range(n):
        hinge(v[k], h[k], k, 1)
        hinge(h[k], v[k + 1], k + 1, 1)
    system.Assemble()
    return lambda: int(system.ComputeSystemDegreeOfFreedom(verbose=False)["redundantConstraints"])


def work(case: str, n: int) -> Callable[[], int]:
    if case == "Exudyn":
        return exudyn_count(n)
    if case == "ours":
        # a fresh mechanism each time: what it caches must not count as free
        return lambda: ours(four_bars(n))
    if case == "stiffness":
        return lambda: by_stiffness(four_bars(n))
    if case == "remedies":
        return lambda: remedies(four_bars(n))
    if case == "assembly":
        return lambda: assembled(n)
    if case == "DCA":
        return lambda: divide_and_conquer(four_bars(n))
    C = constraint_matrix(four_bars(n)).C.toarray()
    function = {"dense QR": dense_qr, "dense SVD": dense_svd, "sparse QR": sparse_qr}[case]
    return lambda: function(C)


def main() -> None:
    case, n = sys.argv[1], int(sys.argv[2])
    call = work(case, n)
    seconds = []
    for _ in range(RUNS if n <= 200 else 1):
        start = time.process_time()
        redundancy = call()
        seconds.append(time.process_time() - start)
    if redundancy != 3 * n:
        raise SystemExit(f"{case} found p = {redundancy} instead of {3 * n}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": min(seconds), "MiB": peak}))


if __name__ == "__main__":
    main()
