"""Equations in joint coordinates, from compiled recursions, against those in absolute coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mbplugin.constraints.reduction import body_twists, velocity_transformation
from mbplugin.constraints.rows import all_rows
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.tree_model import joint_equations, tree_model
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Coupling, Driver, KnifeEdge, Lock, Mechanism, Rolling, Term
from mbplugin.model.mechanism.kinematics import displace, forward
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import Array, JointSpring, Pose, Spring
from models import chain
from random_mechanisms import loop_mechanism

MOVING = [t for t, kind in PAIR_TYPES.items() if kind.has_coordinates and kind.free]


def assert_same(mech: Mechanism, q: Array, qd: Array, actions: AppliedForces = AppliedForces()) -> None:  # noqa: B008
    """M, F, C, Γ, b in joint coordinates are Sᵀ M S, Sᵀ(F − M Ṡq̇), C S, Γ − C Ṡq̇, b of the absolute ones."""
    absolute = absolute_equations(mech, q, qd, actions, degree_of_redundancy=0)
    joint = joint_equations(mech, q, qd, actions, degree_of_redundancy=0)
    poses = forward(mech, q)
    S = velocity_transformation(mech, poses)
    bias = body_accelerations(mech, poses, body_twists(mech, poses, qd), np.zeros(len(qd))).ravel()
    rows = [absolute.labels.index(label) for label in joint.labels]
    assert_close(joint.M, S.T @ absolute.M @ S)
    assert_close(joint.F, S.T @ (absolute.F - absolute.M @ bias))
    assert_close(joint.C, absolute.C[rows] @ S)
    assert_close(joint.Gamma, absolute.Gamma[rows] - absolute.C[rows] @ bias)
    assert_close(joint.b, absolute.b[rows])
    rhs = np.random.default_rng(1).normal(size=(len(qd), 2))
    assert_close(joint.M @ joint.solve_M(rhs), rhs)


def assert_close(a: Array, b: Array) -> None:
    assert a.shape == b.shape
    if a.size:
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-10 * max(1.0, np.abs(b).max()))


def random_state(mech: Mechanism, q: Array, seed: int, spread: float = 0.4) -> tuple[Array, Array]:
    """A state that need not satisfy the closures: rows are compared as functions of the state."""
    rng = np.random.default_rng(seed)
    nv = len(mech.qd_names)
    return displace(mech, q, spread * rng.normal(size=nv)), rng.normal(size=nv)


@pytest.mark.parametrize("pair_type", MOVING)
def test_chain_of_every_pair(pair_type: str) -> None:
    mech, q = chain(4, pair_type, np.random.default_rng(5))
    assert_same(mech, *random_state(mech, q, 6, 1.0))


@pytest.mark.parametrize("pair_type", MOVING)
def test_tree_against_the_pairs(pair_type: str) -> None:
    """Pairs written from the leaf to the ground: the tree runs through them backwards."""
    mech, q = chain(3, pair_type, np.random.default_rng(7))
    pairs = tuple(replace(p, body_a=p.body_b, body_b=p.body_a) for p in mech.pairs)
    mech = replace(mech, pairs=pairs)
    assert all(joint.reversed for joint in mech.tree.joints)
    assert_same(mech, *random_state(mech, q, 8, 1.0))


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
@pytest.mark.parametrize("seed", range(12))
def test_random_loops(kind: str, seed: int) -> None:
    mech, q = loop_mechanism(seed, 2, kind)
    assert_same(mech, *random_state(mech, q, seed))


@pytest.mark.parametrize("closing", [t for t in PAIR_TYPES if t != "floating"])
def test_every_pair_as_closure(closing: str) -> None:
    rng = np.random.default_rng(9)
    mech, q = chain(4, "spherical", rng)
    frames = [Pose.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3)) for _ in range(2)]
    last = Pair("closing", closing, "b3", "b0", *frames, closure=True, lead=0.03, length=0.4)
    mech = replace(mech, pairs=(*mech.pairs, last))
    assert_same(mech, *random_state(mech, q, 10, 1.0))


def constrained_chain() -> tuple[Mechanism, Array]:
    mech, q = chain(4, "universal", np.random.default_rng(11))
    loop = replace(
        chain(1, "cylindrical", np.random.default_rng(12))[0].pairs[0], name="cut", body_a="b3", body_b="b1"
    )
    return replace(
        mech,
        pairs=(*mech.pairs, replace(loop, closure=True)),
        couplings=(Coupling("gear", "gear", (Term("j0", "rx", 2.0), Term("cut", "tz", -0.5)), 0.1),),
        drivers=(
            Driver("motor", "j1", ("ry",), 0.2, 0.7, -0.3),
            Driver("slide", "cut", ("tz",), 0.0, 1.1, 0.4),
        ),
        locks=(Lock("j2", freedoms=("rx",)),),
        pfaffians=(
            KnifeEdge("edge", "b2", np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 1.0])),
            Rolling("wheel", "b3", np.array([0.1, 0.0, 0.2]), np.array([1.0, 0.2, 0.1]), 0.3),
        ),
    ), q


def test_couplings_drivers_locks_and_wheels() -> None:
    mech, q = constrained_chain()
    assert_same(mech, *random_state(mech, q, 13, 1.0))


def test_position_residuals() -> None:
    mech, q = constrained_chain()
    q, qd = random_state(mech, q, 14, 1.0)
    model = tree_model(mech, q=q)
    model.evaluate(q, qd)
    own = dict(zip(model.table.labels, model.table.rows["phi"], strict=False))
    for rows in all_rows(mech, forward(mech, q), q):
        for component, residual in zip(rows.components, rows.Phi, strict=True):
            # a lock has no position until it closes
            if (rows.constraint, component) in own and not component.endswith("_lock"):
                assert own[rows.constraint, component] == pytest.approx(residual, abs=1e-12)


def test_everything_that_acts() -> None:
    rng = np.random.default_rng(15)
    mech, q = chain(3, "cylindrical", rng)
    closing = replace(mech.pairs[1], name="cut", body_a="b2", body_b="b0", closure=True)
    pairs = tuple(
        replace(p, freedoms=(Freedom(damping=0.3, friction=0.2), Freedom(damping=0.1)))
        for p in (*mech.pairs, closing)
    )
    mech = replace(mech, pairs=pairs)
    vector = lambda: rng.normal(size=3)  # noqa: E731
    actions = AppliedForces(
        loads=(Load("b2", vector(), vector(), vector()), Load("b1", vector(), vector(), vector(), "body")),
        payloads=(Payload("b1", 1.5, vector(), 0.2 * np.eye(3)),),
        springs=(
            Spring("world", "b2", vector(), vector(), 50.0, 0.3, 2.0),
            Spring("b0", "b1", vector(), vector(), 20.0),
        ),
        joint_springs=(JointSpring("j0.tz", 30.0, 0.1), JointSpring("j1.rz", 5.0, -0.4)),
        torques={"j2.rz": 0.7},
        armature={"j1.rz": 0.05, "j0.tz": 0.4},
        controller=lambda t, q, qd: 0.1 * np.cos(q) - 0.2 * qd + t,
    )
    assert_same(mech, *random_state(mech, q, 16), actions)


def test_bodies_held_together_move_as_one() -> None:
    rng = np.random.default_rng(17)
    mech, _ = chain(6, "revolute", rng)
    pairs = tuple(replace(p, type="fixed", freedoms=()) if k % 2 else p for k, p in enumerate(mech.pairs))
    mech = replace(mech, pairs=pairs)
    assert_same(mech, *random_state(mech, np.zeros(3), 18))
