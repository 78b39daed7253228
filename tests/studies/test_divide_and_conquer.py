"""Motion by assembly and back-substitution against the other formulations, and the work that it takes."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import mbplugin as mb
from grounded_mechanisms import grounded_mechanism
from mbplugin import studies
from mbplugin.analysis import analyze_mechanism
from mbplugin.analysis.dca import DcaNotApplicable
from mbplugin.constraints.rows import all_rows, planar_rows, plane_columns
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import solve
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.joint_reactions import closed_state
from mbplugin.joint_reactions.statics import rows_at_joint
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Load
from mbplugin.model.spatial import Array
from models import chain, four_bar
from places import ASSETS
from states import random_states


def by_multipliers(
    mech: Mechanism, q: Array, qd: Array, actions: AppliedForces, planar: str | None = None
) -> tuple[Array, dict[str, Array]]:
    """Return v̇ (N, d) and the wrenches (6,) of all pairs in axes of P, of the equations with all bodies."""
    equations = absolute_equations(mech, q, qd, actions, planar=planar)
    solution = solve(equations, "kkt", "minimum-norm")
    poses, columns, start, wrenches = forward(mech, q), plane_columns(planar), 0, {}
    for r in (planar_rows(r, columns) for r in all_rows(mech, poses, q)):
        own = solution.multipliers[start : start + len(r.components)]
        start += len(r.components)
        rows = (
            rows_at_joint(mech, poses, mech.pair_by_name[r.constraint], r)
            if r.components
            else np.zeros((0, 6))
        )
        wrenches[r.constraint] = own @ rows
    return solution.v_dot.reshape(len(mech.bodies), -1), wrenches


def require_the_same(
    mech: Mechanism,
    q: Array,
    qd: Array,
    *,
    loads: tuple[Load, ...] = (),
    planar: str | None = None,
    rel: float = 1e-9,
) -> None:
    """Accelerations agree, and so do reactions where they are unique."""
    found = studies.divide_and_conquer(mech, q, qd, loads=loads, planar=planar)
    v_dot, wrenches = by_multipliers(mech, q, qd, AppliedForces(loads), planar)
    kept = list(plane_columns(planar))
    assert found.accelerations[:, kept] == pytest.approx(v_dot, abs=rel * (1.0 + np.abs(v_dot).max()))
    analysis = analyze_mechanism(mech, q, planar=planar, samples=0)
    assert found.degree_of_redundancy == analysis.degree_of_redundancy
    size = max((np.abs(w).max(initial=0.0) for w in wrenches.values()), default=0.0)
    unique = [v.name for v in analysis.constraints if v.reaction == "unique"]
    for name in unique:
        assert found.reactions[name] == pytest.approx(wrenches[name], abs=rel * size), name


@pytest.mark.parametrize("pair_type", ["revolute", "spherical", "universal", "screw", "prismatic"])
def test_an_open_chain_in_motion(pair_type: str) -> None:
    mech, q = chain(9, pair_type, np.random.default_rng(3))
    qd = np.random.default_rng(4).normal(size=len(mech.qd_names))
    load = Load("b8", np.array([3.0, -20.0, 4.0]), np.array([0.1, 0.0, 0.2]), np.array([1.0, 0.5, -2.0]))
    require_the_same(mech, q, qd, loads=(load,))


@pytest.mark.long
def test_the_papers_example_in_motion() -> None:
    """pekal2024 §4: a redundant connection of six balls to the ground; unique reactions only are compared."""
    scene = mb.load(ASSETS / "spatial_parallelogram.scene.toml")
    for q, qd in random_states(scene.mechanism, scene.state.q, 2, redundancy=1, seed=1):
        require_the_same(scene.mechanism, q, qd)


def test_a_planar_four_bar_in_its_plane() -> None:
    mech, q0 = four_bar()
    for q, qd in random_states(mech, q0, 2, planar="xy", redundancy=3, seed=2):
        require_the_same(mech, q, qd, planar="xy")


cases = st.builds(
    grounded_mechanism,
    st.integers(0, 2**31),
    st.sampled_from(["spherical", "balls", "generic"]),
    st.sampled_from(["chain", "any"]),
)


@pytest.mark.long
@settings(max_examples=40, deadline=None, derandomize=True)
@given(cases, st.integers(0, 100))
def test_random_mechanisms_with_loops_through_the_ground(case: tuple[Mechanism, Array], seed: int) -> None:
    mech, q = case
    analysis = analyze_mechanism(mech, q, samples=0)
    assume(all(b.sigma_r > 1e-2 and b.sigma_next < 1e-10 for b in analysis.blocks))
    qd = np.random.default_rng(seed).normal(size=len(mech.qd_names))
    try:
        state = closed_state(mech, q, qd, None, None, None)
        closed_state(mech, state.q, state.qd, None, None, None)
    except BadUsage:
        # rates that the rows allow at this pose alone
        assume(False)
    require_the_same(mech, state.q, state.qd, rel=1e-7)


def test_torques_springs_dampers_and_welded_bases() -> None:
    scene = replace(mb.load(ASSETS / "arm_6r.scene.toml"), actuators=(), locks=())
    names = scene.mechanism.qd_names
    q, qd = {n: 0.3 * k - 0.7 for k, n in enumerate(names)}, {n: 0.5 - 0.2 * k for k, n in enumerate(names)}
    torques = {names[1]: 40.0, names[3]: -5.0}
    found = studies.divide_and_conquer(scene, q, qd, torques=torques)
    motion = mb.simulate(scene, 1e-3, q0=q, qd0=qd, torques=torques, samples=1)
    for name in motion.pair_names:
        expected = motion.reactions(name)[0]
        assert found.reactions[name] == pytest.approx(expected, rel=1e-8, abs=1e-7), name


def test_work_grows_as_the_chain_and_depth_as_its_logarithm() -> None:
    """O(N) one after the other, O(log N) side by side (pekal2024 §1): counted, no time is measured."""
    works = {}
    for n in (8, 16, 32, 64, 128):
        mech, q = chain(n, "revolute", np.random.default_rng(n))
        works[n] = studies.divide_and_conquer(mech, q).work
    for n, work in works.items():
        assert work.eliminations == n - 1
        assert work.depth == ceil(log2(n))
    # a joint more costs the same anywhere
    added = [(works[2 * n].multiplications - works[n].multiplications) / n for n in (8, 16, 32, 64)]
    assert max(added) == pytest.approx(min(added), rel=0.1)
    # twice as many bodies are one level more, of the same cost
    levels = [works[2 * n].critical - works[n].critical for n in (8, 16, 32, 64)]
    assert max(levels) == min(levels) > 0


def test_a_long_chain_still_agrees() -> None:
    mech, q = chain(64, "revolute", np.random.default_rng(0))
    qd = 0.1 * np.random.default_rng(1).normal(size=64)
    require_the_same(mech, q, qd, rel=1e-8)


def test_what_it_does_not_cover_is_named() -> None:
    with pytest.raises(DcaNotApplicable, match="W1"):
        studies.divide_and_conquer(ASSETS / "four_wheel_robot.scene.toml")
    mech, q = chain(2, "revolute", np.random.default_rng(0))
    light = replace(mech, bodies=(replace(mech.bodies[0], mass=0.0, I_C=np.zeros((3, 3))), mech.bodies[1]))
    with pytest.raises(BrokenModel, match="b0"):
        studies.divide_and_conquer(light, q)
