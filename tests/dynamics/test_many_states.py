"""Accelerations of many states in the lanes of vectors: those of each state alone."""

from __future__ import annotations

from math import cos
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from mbplugin.dynamics.compiler import compiled, named_tuple, struct_loader, words_of
from mbplugin.dynamics.compiler.lanes import LANES, VECTOR_OF_LANES, aligned, as_lanes
from mbplugin.dynamics.tree_calls import ForwardDynamics, ManyStates
from mbplugin.errors import BrokenModel
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import AnyArray, Array, Spring
from models import chain
from rod_arms import arm


def states_of(mech: Mechanism, q: Array, count: int, seed: int = 4) -> tuple[Array, Array]:
    rng, nv = np.random.default_rng(seed), len(mech.qd_names)
    poses = [displace(mech, q, rng.normal(size=nv)) for _ in range(count)]
    return np.array(poses).reshape(count, len(q)), rng.normal(size=(count, nv))


def check(forward: ForwardDynamics, q: Array, qd: Array) -> None:
    expected = np.array([forward(*state) for state in zip(q, qd, strict=True)]).reshape(qd.shape)
    scale = np.abs(expected).max(initial=1.0)
    np.testing.assert_allclose(forward.many(q, qd), expected, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.parametrize(
    "pair_type",
    ["revolute", "prismatic", "screw", "universal", "cylindrical", "spherical", "planar", "floating"],
)
def test_each_state_has_the_accelerations_of_a_single_call(pair_type: str) -> None:
    rng = np.random.default_rng(3)
    mech, q = chain(4, pair_type, rng)
    check(ForwardDynamics(mech), *states_of(mech, q, 2 * LANES + 3))


@pytest.mark.parametrize("count", [0, 1, LANES - 1, LANES, LANES + 1])
def test_numbers_of_states_that_leave_lanes_empty(count: int) -> None:
    mech, q = chain(3, "revolute", np.random.default_rng(1))
    check(ForwardDynamics(mech), *states_of(mech, q, count))


def test_loads_payloads_and_springs_act_in_every_lane() -> None:
    mech, q = chain(3, "revolute", np.random.default_rng(2))
    body, q_name = mech.bodies[-1].name, mech.q_names[0]
    loads = (
        Load(body, np.array([1.0, 2.0, 3.0]), np.zeros(3), np.array([0.1, 0.2, 0.0]), "body"),
        Load(body, np.zeros(3), np.array([0.3, 0.0, -0.2]), np.zeros(3)),
    )
    payload = Payload(body, 2.0, np.array([0.0, 0.1, 0.0]), 0.01 * np.eye(3))
    actions = AppliedForces(loads=loads, payloads=(payload,), torques={q_name: 0.7})
    check(ForwardDynamics(mech, actions), *states_of(mech, q, 11))
    spring = Spring("world", body, np.zeros(3), np.zeros(3), stiffness=50.0, length=0.2, damping=1.0)
    check(ForwardDynamics(mech, AppliedForces(springs=(spring,))), *states_of(mech, q, 11))


def test_a_state_does_not_depend_on_its_neighbours() -> None:
    mech, q = chain(4, "revolute", np.random.default_rng(5))
    forward, (q, qd) = ForwardDynamics(mech), states_of(mech, q, LANES)
    first = forward.many(q, qd)
    order = np.random.default_rng(6).permutation(LANES)
    q[LANES - 1], whole = 1e3, forward.many(q, qd)[: LANES - 1]
    assert whole.tolist() == first[: LANES - 1].tolist()
    assert forward.many(q[order], qd[order])[order.argsort()][: LANES - 1].tolist() == whole.tolist()


def test_a_joint_without_mass_is_refused() -> None:
    forward = ForwardDynamics(arm((0.5, 0.4), mass=0.0))
    forward._calls.model.composites["inertia"] = 0.0
    with pytest.raises(BrokenModel):
        forward.many(np.zeros((3, 2)), np.zeros((3, 2)))


def test_a_tip_without_mass_is_seen_in_the_lanes() -> None:
    """A tip without inertia, from the records alone."""
    mech = arm((0.5, 0.4))
    many = ForwardDynamics(mech)
    records = [many._calls._state[n].copy() for n in range(3)]
    many.many(np.zeros((1, 2)), np.zeros((1, 2)))
    still, out = np.zeros((9, 2)), np.empty((9, 2))
    assert ManyStates(*records).accelerations(still, still, still, out)
    records[0]["mass"][2], records[0]["inertia"][2] = 0.0, 0.0
    assert not ManyStates(*records).accelerations(still, still, still, out)


def test_sine_and_cosine_of_the_lanes_are_those_of_one_number() -> None:
    """Through a turning arm alone: a pendulum of unit length is at its sine and cosine."""
    rng = np.random.default_rng(7)
    special = np.outer(np.arange(-9, 10), [np.pi / 4, np.pi / 2]).ravel()
    angles = np.concatenate((special, *(rng.uniform(-s, s, 400) for s in (1e-8, 1.0, 7.0, 1e3, 1e6))))
    mech = arm((1.0,))
    qdd = ForwardDynamics(mech).many(angles[:, None], np.zeros((len(angles), 1)))[:, 0]
    expected = np.array([-1.5 * 9.81 * cos(a) for a in angles.tolist()])
    np.testing.assert_allclose(qdd, expected, rtol=0.0, atol=4e-15 * 15)


class Numbers(NamedTuple):
    x: AnyArray


load_numbers: Any = struct_loader(named_tuple([VECTOR_OF_LANES], Numbers))


def powers(place: int) -> None:
    """The force of a law of friction may be any power of the rate."""
    x = load_numbers(place).x
    x[1] = x[0] ** 1.5
    x[2] = x[0] ** 2
    x[3] **= -0.5


@pytest.mark.skipif(LANES == 1, reason="plain Python has its own powers")
def test_powers_of_the_lanes_are_those_of_one_number() -> None:
    values = aligned((4, LANES), np.float64)
    base = np.linspace(0.1, 3.0, LANES)
    values[:] = base
    words = np.array(words_of((as_lanes(values),)))
    compiled(powers, types.void(types.intp))(words.ctypes.data)
    expected = [base, base**1.5, base**2, base**-0.5]
    np.testing.assert_allclose(values, expected, rtol=1e-15)
