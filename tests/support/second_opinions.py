"""Second opinions on random mechanisms: other programs, fine time steps, and what readers make of written files.

``python tests/support/second_opinions.py`` runs all of them and prints their table. Programs that are not installed
have a row that says so. One seed gives one and the same mechanism.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

import numpy as np

import mbplugin as mb
from mbplugin import writers
from mbplugin.constraints.assembly import assemble
from mbplugin.errors import BadUsage, CannotClose
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward, joint_vector
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from mbplugin.simulation.kernel_state import FORWARD_DYNAMICS, evaluate_at
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import pose_problem
from random_mechanisms import loop_mechanism
from rod_arms import G, arm
from same_mechanics import deviations
from second_program import Arm, Equations, Resistance, Vector, move
from solid_bodies import with_masses

#: Pairs of random trees; what both Pinocchio's and MuJoCo's readers know.
TYPES = ("revolute", "revolute", "continuous", "prismatic")
#: Steps of the coarser of two time steppings of a stop, and the largest duration, s.
STEPS, LONGEST = 6000, 3.0
#: Programs that are asked, by the name of their module, and the name of their distribution.
PROGRAMS = {"pinocchio": "pin", "mujoco": "mujoco", "exudyn": "exudyn"}


@dataclass
class Opinion:
    """A row of the table: how many cases were compared, and the worst deviation with its seed."""

    quantity: str
    program: str
    count: int = 0
    worst: float = 0.0
    seed: int = -1

    def add(self, seed: int, deviation: float) -> None:
        """Count a case with its deviation, relative to the largest value and at least 1."""
        self.count += 1
        if self.seed < 0 or not deviation <= self.worst:
            self.worst, self.seed = deviation, seed


def installed() -> tuple[str, ...]:
    """Return the programs that can be asked here."""
    return tuple(name for name in PROGRAMS if importlib.util.find_spec(name))


def opinions(trees: int = 100, loops: int = 100, stops: int = 50, copies: int = 40) -> list[Opinion]:
    """Return the rows for some numbers of cases, with the seeds 0, 1, …"""
    rows: list[Opinion] = []
    for seed, which in [(n, tree_case) for n in range(trees)] + [(n, loop_case) for n in range(loops)]:
        _collect(rows, seed, which(seed))
    for seed in range(stops):
        _collect(rows, seed, stop_case(seed))
    for seed in range(copies):
        _collect(rows, seed, copy_case(seed))
    return rows


def _collect(rows: list[Opinion], seed: int, found: Iterator[tuple[str, str, float]]) -> None:
    """Add the deviations of a case (quantity, program, deviation) to the rows."""
    for quantity, program, deviation in found:
        row = next((r for r in rows if (r.quantity, r.program) == (quantity, program)), None)
        if row is None:
            row = Opinion(quantity, program)
            rows.append(row)
        row.add(seed, deviation)


def _apart(found: Array, expected: Array) -> float:
    """Return the largest difference of two arrays (n,), relative to the largest expected value and at least 1."""
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


# Trees and loops: accelerations and positions.


def random_tree(seed: int) -> tuple[Mechanism, Array, Array]:
    """Return a random tree of 2 to 9 bodies with its coordinates (n,) and rates (n,)."""
    rng = np.random.default_rng([seed, 45])
    n = int(rng.integers(2, 10))
    pairs = []
    for k in range(n):
        inner = WORLD if k == 0 else f"b{int(rng.integers(k))}"
        frames = (Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-0.5, 0.5, 3)), Pose.identity())
        pairs.append(Pair(f"j{k}", str(rng.choice(TYPES)), inner, f"b{k}", *frames))
    mech = Mechanism("tree", tuple(Body(f"b{k}") for k in range(n)), tuple(pairs))
    mech = replace(with_masses(mech, seed), gravity=rng.normal(size=3) * 6.0)
    return mech, rng.uniform(-1, 1, n), rng.uniform(-2, 2, n)


def accelerations(mech: Mechanism, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """Return coordinates, rates and accelerations (n,) at a state that is made consistent, without friction."""
    options = Options(1.0, limits="ignore")
    passive = AppliedForces(damping=False, friction=False)
    problem = pose_problem(mech, passive, State(q, qd), (), options)
    evaluate_at(problem.kernel_state, FORWARD_DYNAMICS, 0.0, problem.q, problem.qd)
    return problem.q, problem.qd, np.array(problem.kernel_state.rates["qdd"])


def tree_case(seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield the deviations of the accelerations of a random tree."""
    mech, q, qd = random_tree(seed)
    q, qd, qdd = accelerations(mech, q, qd)
    if "pinocchio" in installed():
        import pinocchio as pin

        model, order, configuration = in_pinocchio(mech, q)
        v = np.zeros(model.nv)
        v[order] = qd
        found = pin.aba(model, model.createData(), configuration, v, np.zeros(model.nv))
        yield "accelerations of trees", "pinocchio", _apart(np.array(found)[order], qdd)
    if "mujoco" in installed():
        import mujoco

        model = mujoco.MjModel.from_xml_string(writers.write(Scene(mech, State(q, qd)), "mjcf").text)
        data = mujoco.MjData(model)
        places = [int(model.jnt_dofadr[model.joint(pair.name).id]) for pair in mech.pairs]
        data.qvel[places] = qd
        mujoco.mj_forward(model, data)
        yield "accelerations of trees", "mujoco", _apart(np.array(data.qacc)[places], qdd)
    if "exudyn" in installed():
        system, _ = in_exudyn(mech, q, qd)
        yield "accelerations of trees", "exudyn", _apart(exudyn_tree_accelerations(system, qd), qdd)


def in_pinocchio(mech: Mechanism, q: Array) -> tuple[Any, list[int], Array]:
    """Return the tree in Pinocchio from the written URDF, the places of our rates, and its configuration at q (n,)."""
    import pinocchio as pin

    opened = replace(mech, pairs=tuple(pair for pair in mech.pairs if not pair.closure))
    model = pin.buildModelFromXML(writers.write(Scene(opened, State(q, np.zeros(len(q)))), "urdf").text)
    model.gravity.linear = mech.gravity
    configuration, order = np.array(pin.neutral(model)), []
    for pair, value in zip(opened.pairs, q, strict=True):
        joint = model.joints[model.getJointId(pair.name)]
        order.append(joint.idx_v)
        configuration[joint.idx_q : joint.idx_q + joint.nq] = (
            (value,) if joint.nq == 1 else (np.cos(value), np.sin(value))
        )
    return model, order, configuration


def random_loop(seed: int) -> tuple[Mechanism, Array, Array]:
    """Return a random tree whose last body is tied to another by a ball, closed, with coordinates and rates (n,)."""
    mech, q, qd = random_tree(seed)
    rng = np.random.default_rng([seed, 46])
    while len(mech.bodies) < 5:
        seed += 1000
        mech, q, qd = random_tree(seed)
    poses = forward(mech, q)
    last = len(mech.bodies) - 1
    other = int(rng.integers(last))
    point = poses.p_WL[last] + rng.uniform(-0.3, 0.3, 3)
    frames = [Pose(np.eye(3), poses.R_WL[k].T @ (point - poses.p_WL[k])) for k in (other, last)]
    ball = Pair("ball", "spherical", mech.bodies[other].name, mech.bodies[last].name, *frames, closure=True)
    return replace(mech, pairs=(*mech.pairs, ball)), q, qd


def loop_case(seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield the gaps of an assembled random loop and the deviations of its accelerations."""
    mech, q, qd = random_loop(seed)
    away = q + np.random.default_rng([seed, 47]).uniform(-0.1, 0.1, len(q))
    try:
        closed = assemble(mech, away).q
        q, qd, qdd = accelerations(mech, closed, qd)
    except CannotClose:
        return
    if "pinocchio" in installed():
        import pinocchio as pin

        model, order, configuration = in_pinocchio(mech, q)
        data, v = model.createData(), np.zeros(model.nv)
        v[order] = qd
        ball = mech.pairs[-1]
        ends = [model.getFrameId(body) for body in (ball.body_a, ball.body_b)]
        places = [
            model.frames[i].placement * pin.SE3(np.eye(3), X.p)
            for i, X in zip(ends, (ball.X_AP, ball.X_BS), strict=True)
        ]
        joints = [model.frames[i].parentJoint for i in ends]
        pin.forwardKinematics(model, data, configuration)
        points = [(data.oMi[joint] * X).translation for joint, X in zip(joints, places, strict=True)]
        yield "positions of loops, m", "pinocchio", float(np.abs(points[0] - points[1]).max())
        tie = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, joints[0], places[0], joints[1], places[1], pin.LOCAL
        )
        ties, own = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        ties.append(tie)
        own.append(tie.createData())
        pin.initConstraintDynamics(model, data, ties, own)
        found = pin.constraintDynamics(
            model,
            data,
            configuration,
            v,
            np.zeros(model.nv),
            ties,
            own,
            pin.ProximalSettings(1e-12, 1e-13, 1e-8, 100),
        )
        yield "accelerations of loops", "pinocchio", _apart(np.array(found)[order], qdd)
    if "mujoco" in installed():
        import mujoco

        model = mujoco.MjModel.from_xml_string(writers.write(Scene(mech, State(q, qd)), "mjcf").text)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        equal = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        yield "positions of loops, m", "mujoco", float(np.abs(data.efc_pos[equal]).max(initial=0.0))
    if "exudyn" in installed():
        system, gap = in_exudyn(mech, q, qd)
        yield "positions of loops, m", "exudyn", float(np.abs(gap).max())
        yield "accelerations of loops", "exudyn", _apart(exudyn_loop_accelerations(system), qdd)


# Exudyn, which reads no robot files: the tree is stated body by body in minimal coordinates, a ball joint closes it.


def in_exudyn(mech: Mechanism, q: Array, qd: Array) -> tuple[Any, Array]:
    """Return the assembled system at coordinates q (n,) and rates qd (n,), and the gap of its ball joint (3,), m.

    The gap is zero without a ball.
    """
    import exudyn as exu
    from exudyn import itemInterface as items

    tree = [pair for pair in mech.pairs if not pair.closure]
    number = {WORLD: -1} | {body.name: k for k, body in enumerate(mech.bodies)}
    assert [number[pair.body_b] for pair in tree] == list(range(len(q))), "a body for each joint, in order"
    along = {"prismatic": exu.JointType.PrismaticZ}
    container = exu.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * len(q),
            initialCoordinates=q.tolist(),
            initialCoordinates_t=qd.tolist(),
            numberOfODE2Coordinates=len(q),
        )
    )
    links = system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[along.get(pair.type, exu.JointType.RevoluteZ) for pair in tree],
            linkParents=[number[pair.body_a] for pair in tree],
            jointTransformations=exu.Matrix3DList([pair.X_AP.R for pair in tree]),
            jointOffsets=exu.Vector3DList([pair.X_AP.p for pair in tree]),
            linkInertiasCOM=exu.Matrix3DList([body.I_C for body in mech.bodies]),
            linkCOMs=exu.Vector3DList([body.p_LC for body in mech.bodies]),
            linkMasses=[float(body.mass) for body in mech.bodies],
            baseOffset=[0.0, 0.0, 0.0],
            gravity=mech.gravity.tolist(),
        )
    )
    ends = [
        system.AddMarker(
            items.MarkerKinematicTreeRigid(
                objectNumber=links, linkNumber=number[body], localPosition=X.p.tolist()
            )
        )
        for ball in mech.pairs[len(tree) :]
        for body, X in ((ball.body_a, ball.X_AP), (ball.body_b, ball.X_BS))
    ]
    if ends:
        system.AddObject(items.SphericalJoint(markerNumbers=ends))
    system.Assemble()
    # a system dies with its container
    system.variables["container"] = container
    position, initial = exu.OutputVariableType.Position, exu.ConfigurationType.Initial
    points = [np.array(system.GetMarkerOutput(end, position, initial)) for end in ends]
    return system, points[0] - points[1] if points else np.zeros(3)


def _exudyn_settings(duration: float) -> Any:
    """Return the settings of a single step, s."""
    import exudyn as exu

    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = 1
    settings.timeIntegration.endTime = duration
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.parallel.numberOfThreads = 1
    return settings


def exudyn_tree_accelerations(system: Any, qd: Array) -> Array:
    """Return the accelerations (n,) of a tree from rates qd (n,): what an explicit Euler step of 1 s adds to them."""
    import exudyn as exu

    system.SolveDynamic(_exudyn_settings(1.0), solverType=exu.DynamicSolverType.ExplicitEuler)
    return np.array(system.systemData.GetODE2Coordinates_t()) - qd


def exudyn_loop_accelerations(system: Any) -> Array:
    """Return the accelerations (n,) of a loop from which Exudyn starts; its derivatives of constraints are differences.

    The step that follows is not judged.
    """
    import exudyn as exu

    settings = _exudyn_settings(1e-3)
    settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
    settings.linearSolver.solverType = exu.LinearSolverType.EigenDense
    settings.linearSolver.ignoreSingularJacobian = True
    found: list[Array] = []

    def before(state: Any, _: float) -> bool:
        found.append(np.array(state.systemData.GetODE2Coordinates_tt()))
        return False

    system.SetPreStepUserFunction(before)
    system.SolveDynamic(settings)
    return found[0]


# Stops of coupled arms against fine time steps.


@dataclass(frozen=True)
class CoupledArm:
    """Two rods whose second joint turns ``ratio`` times as fast as the first."""

    rods: Arm
    ratio: float

    def equations(self, q: Vector, v: Vector) -> Equations:
        """Return the terms of the one freedom, the angle of the first joint."""
        r = self.ratio
        M, f, _ = self.rods.equations([q[0], r * q[0]], [v[0], r * v[0]])
        inertia = M[0][0] + 2 * r * M[0][1] + r * r * M[1][1]
        return [[inertia]], [f[0] + r * f[1]], [[1.0], [r]]


def stop_case(seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield the deviations of rest time (s) and travel (rad) of a random coupled arm with brakes on both joints.

    The steps are of first order: two refinements are extrapolated.
    """
    rng = np.random.default_rng([seed, 48])
    lengths, ratio = (
        tuple(rng.uniform(0.5, 1.2, 2).tolist()),
        float(rng.choice([-1, 1]) * rng.uniform(0.3, 2)),
    )
    angle, rate, closes = rng.uniform(-1, 1), rng.choice([-1, 1]) * rng.uniform(1, 4), 0.0
    torques = rng.uniform(10, 40, 2).tolist()
    coupling = Coupling("belt", "gear", (Term("j1", "rz", 1.0), Term("j0", "rz", -ratio)))
    mech = replace(arm(lengths), couplings=(coupling,))  # type: ignore[arg-type]
    brakes = [{"joint": f"j{k}", "torque": t, "delay": closes} for k, t in enumerate(torques)]
    report = mb.estop(
        mech,
        {"j0": angle, "j1": ratio * angle},
        {"j0": rate, "j1": ratio * rate},
        brakes=brakes,
        limits="ignore",
        rtol=1e-10,
        atol=1e-12,
    )
    if report.outcome != "stopped" or report.time > LONGEST:
        return
    inertia = tuple(length**2 / 12 for length in lengths)
    rods = Arm(lengths[0], (1.0, 1.0), (lengths[0] / 2, lengths[1] / 2), inertia, (0.0, -G))  # type: ignore[arg-type]
    resistances = [Resistance(k, t, closes=closes) for k, t in enumerate(torques)]
    ends = []
    for refinement in (1, 2):
        motion = move(
            CoupledArm(rods, ratio),
            [angle],
            [rate],
            resistances,
            LONGEST,
            samples=STEPS,
            refinement=refinement,
        )
        ends.append((_rest(motion.time, motion.v[:, 0], closes), motion.q[-1, 0]))
    travel = 2 * ends[1][1] - ends[0][1] - angle
    ours = report.trajectory.q[-1, report.trajectory.joint_names.index("j0")] - angle
    yield "travel of stops of coupled arms, rad", "fine time steps", abs(ours - travel)
    yield "rest time of these stops, s", "fine time steps", abs(report.time - ends[1][0])


def _rest(time: Array, v: Array, closes: float) -> float:
    """Return the first time (s) after the brakes close from which rates v (n,) at ``time`` (n,) stay zero."""
    moving = np.flatnonzero(np.abs(v) > 0.0)
    return max(closes, float(time[min(moving[-1] + 1, len(time) - 1)]))


# Written files that are read again.


def copy_case(seed: int) -> Iterator[tuple[str, str, float]]:
    """Yield the deviations of mass matrix and twists after writing and reading each format."""
    kind = ("planar", "spherical", "generic")[seed % 3]
    mech, q = loop_mechanism(seed, seed % 4, kind)
    scene = Scene(with_masses(mech, seed), State(q, np.zeros(len(mech.qd_names))))
    for to in writers.FORMATS:
        if (needed := {"mjcf": "mujoco", "usd": "pxr"}.get(to)) and not importlib.util.find_spec(needed):
            continue
        try:
            written = writers.write(scene, to)
        except BadUsage:
            # the format has no such joint
            continue
        back = writers.read_back(written)
        if back.request is not None and back.request.path.endswith(".urdf"):
            # a URDF has no pose
            known = dict(zip(scene.mechanism.q_names, q, strict=True))
            values = joint_vector(back.mechanism, {n: known[n] for n in back.mechanism.q_names})
            back = replace(back, state=replace(back.state, q=values))
        yield f"{to} written and read", "mbplugin's reader", max(deviations(scene, back, tree=False))


def table(rows: list[Opinion], missing: Sequence[str] = ()) -> list[str]:
    """Return the rows as lines of Markdown, and one for each program that is missing."""
    lines = ["| quantity | second opinion | cases | worst deviation | seed |", "|---|---|---|---|---|"]
    lines += [f"| {r.quantity} | {r.program} | {r.count} | {r.worst:.1e} | {r.seed} |" for r in rows]
    lines += [f"| trees and loops | {name} | 0 | not installed | |" for name in missing]
    return lines


def main() -> None:
    """Print date, programs and table."""
    programs = [f"{name} {version(PROGRAMS[name])}" for name in installed()]
    missing = [name for name in PROGRAMS if name not in installed()]
    print(f"{datetime.now(timezone.utc):%Y-%m-%d}: {', '.join(programs) or 'no other program'}")
    print("\n".join(["", *table(opinions(), missing)]))


if __name__ == "__main__":
    sys.exit(main())
