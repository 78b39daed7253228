"""The compiled evaluation in absolute coordinates, against the readable one and against the recursions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.absolute import absolute_equations, absolute_model
from mbplugin.dynamics.formulations import solve
from mbplugin.dynamics.tree_model import equations_of, redundancy, tree_model
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.model.brakes import NO_FORCES, AppliedForces, scene_actions
from mbplugin.model.mechanism import Coupling, Driver, KnifeEdge, Lock, Mechanism, Rolling, Term
from mbplugin.model.mechanism.kinematics import displace, forward, joint_vector
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import Array, JointSpring, Spring
from mbplugin.simulation import absolute_accelerations
from mbplugin.simulation.absolute_accelerations import AbsoluteEvaluation, absolute_address
from mbplugin.simulation.integrators import explicit
from mbplugin.simulation.kernel_state import kernel_state_of
from mbplugin.simulation.problem import motion_segments_of
from mbplugin.simulation.readable_steppers import PythonStepper
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import chain
from places import ASSETS, ORACLES
from random_mechanisms import loop_mechanism

MOVING = [t for t, kind in PAIR_TYPES.items() if kind.has_coordinates and kind.free]


def assert_same(
    mech: Mechanism, q: Array, qd: Array, actions: AppliedForces = NO_FORCES, planar: str | None = None
) -> None:
    """Accelerations and multipliers are those of ``absolute_equations`` and of the equations in joint rates.

    At q (nq,) and those of all rates that are nearest to qd (nv,) and that the constraints allow.
    """
    tree = tree_model(mech, actions, planar=planar, q=q)
    p = redundancy(mech, q, planar, 1e-6)
    joint = equations_of(tree, q, qd, degree_of_redundancy=p)
    qd = qd - np.linalg.lstsq(joint.C, joint.C @ qd + joint.b, rcond=1e-10)[0] if joint.C.size else qd
    absolute = absolute_equations(mech, q, qd, actions, planar=planar)
    joint = equations_of(tree, q, qd, degree_of_redundancy=p)
    tree.slide(qd)
    kernel_state = kernel_state_of(tree, motion_segments_of(tree, ()), joint.independent_rows)
    model = absolute_model(tree, q)
    evaluation = AbsoluteEvaluation(model)
    own = tuple(range(tree.table.persistent))
    state, place = evaluation.state(kernel_state, own, absolute.degree_of_redundancy)
    if actions.controller is not None:
        state.applied[:] = tree.controller_force(0.0, q, qd)
    assert evaluation.at(place, 0.0, 0.0, np.array(q), np.array(qd))
    assert [model.table.labels[i] for i in state.candidates] == list(absolute.labels)
    solved = solve(absolute)
    assert_close(tree.rates["qdd"], solve(joint).v_dot)
    poses = forward(mech, q)
    moved = body_accelerations(mech, poses, body_twists(mech, poses, qd), tree.rates["qdd"])
    assert_close(moved[:, plane_columns(planar)].ravel(), solved.v_dot)
    # multipliers that act alike differ by self-stresses, which rows with unique ones have no part in
    unique = np.abs(absolute.self_stresses).max(axis=1, initial=0.0) < 1e-9
    assert_close(absolute.C.T @ state.multipliers, absolute.C.T @ solved.multipliers)
    assert_close(state.multipliers[unique], solved.multipliers[unique])


def assert_close(a: Array, b: Array) -> None:
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * max(1.0, np.abs(b).max(initial=0.0)))


def rates(mech: Mechanism, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=len(mech.qd_names))


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", ["four_wheel_robot", "four_bar", "spatial_parallelogram"])
def test_redundant_machines(name: str) -> None:
    scene = mb.load(ASSETS / f"{name}.scene.toml")
    q = assemble(scene.mechanism, joint_vector(scene.mechanism, None)).q
    planar = "xy" if name == "four_wheel_robot" else None
    assert_same(scene.mechanism, q, rates(scene.mechanism, 3), scene_actions(scene), planar)


def test_bricard() -> None:
    mech = mb.load(ORACLES / "bricard_A04.sdf").mechanism
    assert_same(mech, np.zeros(len(mech.q_names)), rates(mech, 4))


@pytest.mark.parametrize("pair_type", MOVING)
@pytest.mark.parametrize("reversed_pairs", [False, True])
def test_trees_of_every_pair(pair_type: str, reversed_pairs: bool) -> None:
    mech, q = chain(4, pair_type, np.random.default_rng(5))
    if reversed_pairs:
        mech = replace(mech, pairs=tuple(replace(p, body_a=p.body_b, body_b=p.body_a) for p in mech.pairs))
    assert_same(mech, displace(mech, q, rates(mech, 6)), rates(mech, 7))


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
@pytest.mark.parametrize("seed", range(6))
def test_random_loops(kind: str, seed: int) -> None:
    mech, q = loop_mechanism(seed, 2, kind)
    assert_same(mech, q, rates(mech, seed))


def test_couplings_drivers_locks_and_wheels() -> None:
    mech, q = chain(5, "universal", np.random.default_rng(11))
    mech = replace(
        mech,
        couplings=(Coupling("gear", "gear", (Term("j0", "rx", 2.0), Term("j4", "ry", -0.5)), 0.1),),
        drivers=(Driver("motor", "j1", ("ry",), 0.2, 0.7, -0.3),),
        locks=(Lock("j2", freedoms=("rx",)),),
        pfaffians=(
            KnifeEdge("edge", "b2", np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 1.0])),
            Rolling("wheel", "b3", np.array([0.1, 0.0, 0.2]), np.array([1.0, 0.2, 0.1]), 0.3),
        ),
    )
    assert_same(mech, displace(mech, q, rates(mech, 12)), rates(mech, 13))


def forces(rng: np.random.Generator, of_root: dict[str, float]) -> AppliedForces:
    """One of everything that acts, and a controller."""
    vector = lambda: rng.normal(size=3)  # noqa: E731
    return AppliedForces(
        loads=(Load("b2", vector(), vector(), vector()), Load("b1", vector(), vector(), vector(), "body")),
        payloads=(
            Payload("b1", 1.5, vector(), 0.2 * np.eye(3)),
            Payload("b0", 0.5, vector(), 0.1 * np.eye(3)),
        ),
        springs=(
            Spring("world", "b2", vector(), vector(), 50.0, 0.3, 2.0),
            Spring("b0", "b1", vector(), vector(), 20.0),
        ),
        joint_springs=(JointSpring("j1.tz", 30.0, 0.1), JointSpring("j2.rz", 5.0, -0.4)),
        torques={"j2.rz": 0.7, **{name: -2.0 * size for name, size in of_root.items()}},
        armature={"j1.rz": 0.05, "j2.tz": 0.4, "j3.rz": 0.3, **of_root},
        controller=lambda t, q, qd: 0.2 * np.sin(qd) - 0.1,
    )


@pytest.mark.parametrize("free", [False, True])
def test_everything_that_acts(free: bool) -> None:
    """On a loop of four bodies that hangs on the ground, or moves freely."""
    rng = np.random.default_rng(15)
    mech, _ = chain(4, "cylindrical", rng)
    closing = replace(mech.pairs[1], name="cut", body_a="b3", body_b="b0", closure=True)
    resisted = (Freedom(damping=0.3, friction=0.2), Freedom(damping=0.1))
    pairs = tuple(replace(p, freedoms=resisted) for p in (*mech.pairs[free:], closing))
    bodies = tuple(replace(body, p_LC=rng.uniform(-0.3, 0.3, 3)) for body in mech.bodies)
    mech = replace(mech, bodies=bodies, pairs=pairs)
    q = joint_vector(mech, None)
    q = displace(mech, q, 0.4 * rates(mech, 16))
    assert_same(mech, q, rates(mech, 17), forces(rng, {"b0.vx": 2.0, "b0.wy": 1.0} if free else {}))


def test_bodies_held_together_move_as_one() -> None:
    mech, _ = chain(6, "revolute", np.random.default_rng(17))
    mech = replace(
        mech,
        pairs=tuple(replace(p, type="fixed", freedoms=()) if k % 2 else p for k, p in enumerate(mech.pairs)),
    )
    assert_same(mech, np.array([0.3, -0.5, 0.8]), rates(mech, 18), AppliedForces(armature={"j2": 0.4}))


def drive(**options: object) -> Trajectory:
    scene = mb.load(ASSETS / "four_wheel_robot.scene.toml")
    profile = mb.MotionProfile.from_points([(0, 0), (0.2, 0.04)], between="rest")
    return mb.simulate(
        scene, 0.04, qd0={"1.vx": 1.0}, profiles={"drive": profile}, coordinates="absolute", step=0.02,
        integrator="rk4", **options,
    )  # fmt: skip


@pytest.mark.long
def test_the_default_is_compiled_and_moves_as_the_readable_equations(monkeypatch: pytest.MonkeyPatch) -> None:
    other = drive(formulation="kkt")

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(absolute_accelerations, "absolute_equations", never)
    for dropped in ((), (6, 21)):
        motion = drive(dropped=dropped)
        assert_close(motion.q[-1], other.q[-1])
        assert_close(motion.qd[-1], other.qd[-1])
        assert motion.driven[-1] == pytest.approx(other.driven[-1], rel=1e-9)
    with pytest.raises(AssertionError):
        drive(redundancy="minimum-norm")


@pytest.mark.parametrize("dropped", [(1, 3), (6,)])
def test_rows_that_cannot_be_spared_are_refused(dropped: tuple[int, ...]) -> None:
    with pytest.raises(BadUsage, match="cannot be dropped"):
        drive(dropped=dropped)


def test_a_body_without_mass_is_refused() -> None:
    mech, _ = chain(2, "revolute", np.random.default_rng(1))
    first = replace(mech.bodies[0], mass=0.0, I_C=np.zeros((3, 3)))
    with pytest.raises(BrokenModel, match="and b0 lacks them; state both, or use joint coordinates"):
        mb.simulate(replace(mech, bodies=(first, mech.bodies[1])), 0.1, coordinates="absolute")


@pytest.mark.long
def test_compiled_loops_move_as_readable_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two arms with stiction, a motor and an armature; a lock closes and opens again."""
    mech, _ = chain(3, "revolute", np.random.default_rng(2))
    rough = (Freedom(damping=0.1, friction=0.3),)
    mech = replace(mech, pairs=(mech.pairs[0], *(replace(p, freedoms=rough) for p in mech.pairs[1:])))
    how = {"qd0": {"j0": 2.0, "j1": 1.0}, "torques": {"j1": 0.2}, "locks": [Lock("j0", 0.1, until=0.2)]}
    between = [0.05, 0.15, 0.25, 0.3]
    others = [
        mb.simulate(mech, 0.3, coordinates="absolute", readable=True, **how),
        mb.simulate(mech, 0.3, **how),
    ]
    expected = [other.resample(between).q for other in others]
    monkeypatch.setattr(PythonStepper, "advance", None)
    motion = mb.simulate(mech, 0.3, coordinates="absolute", **how)
    for other, q in zip(others, expected, strict=True):
        assert [event.kind for event in motion.events] == [event.kind for event in other.events]
        assert motion.resample(between).q == pytest.approx(q, abs=1e-7)
        assert motion.dissipated[-1] == pytest.approx(other.dissipated[-1], abs=1e-7)
    assert {"lock", "release", "slip"} <= {event.kind for event in motion.events}


def test_compiled_loops_and_those_that_follow_them_evaluate_in_absolute_coordinates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mech, _ = chain(2, "revolute", np.random.default_rng(3))
    loop, addresses = explicit.explicit_loop(), []

    def noted(address: int, *others: object) -> object:
        addresses.append(address)
        return loop(address, *others)

    monkeypatch.setattr(explicit, "explicit_loop", lambda: noted)
    motion = mb.simulate(mech, 0.1, qd0={"j0": 1.0}, coordinates="absolute")
    steps = len(addresses)
    motion.resample([0.033])
    assert 0 < steps < len(addresses)
    assert set(addresses) == {absolute_address()}
