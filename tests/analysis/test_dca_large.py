"""The divide-and-conquer test of large mechanisms: what subassemblies decide, and how much they hand on."""

import pickle

import numpy as np
import pytest

from mbplugin.analysis.dca import dca_uniqueness
from mbplugin.constraints import rank
from mbplugin.model.mechanism import WORLD
from mbplugin.model.spatial import Pose, rotation_from_vector
from models import coupled_four_bars, from_world_frames, pose_at


def tree_on_the_ground(parent, seed=0):
    """Bodies in hinges of random directions, body k on body ``parent[k]``; every fifth one on the ground, too."""
    rng = np.random.default_rng(seed)
    X = {
        f"b{k}": Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3))
        for k in range(len(parent))
    }
    ends = [(f"b{parent[k]}", f"b{k}") for k in range(1, len(parent))]
    ends += [(WORLD, f"b{k}") for k in range(0, len(parent), 5)]
    joints = [
        (f"j{k}", "revolute", a, b, pose_at(rng.uniform(-1, 1, 3), rng.normal(size=3)))
        for k, (a, b) in enumerate(ends)
    ]
    return from_world_frames("tree", X, joints)


SHAPES = {
    "chain": [k - 1 for k in range(120)],
    "star": [0] * 120,
    "binary": [(k - 1) // 2 for k in range(120)],
    "caterpillar": [k - 2 + k % 2 for k in range(120)],
    "any": [int(np.random.default_rng(k).integers(max(k, 1))) for k in range(120)],
}


@pytest.fixture(scope="module")
def windows():
    mech, q = coupled_four_bars(100)
    return dca_uniqueness(mech, q)


def test_each_loop_hides_three_loads(windows):
    """Hinges that are parallel leave one force and two moments of each open, whatever else holds them."""
    assert (windows.columns, windows.rank, windows.degree_of_redundancy) == (505, 205, 300)
    for k in range(101):
        verdict = windows.verdicts[k]
        assert (verdict.name, verdict.indeterminate_dim, verdict.decided_by) == (f"g{k}", 3, "step 2")
        assert [unique for _, unique in verdict.components] == [True, True, False, False, False]
    # the steps find the outer windows and stall at the first crank between two loops
    assert windows.stalled == tuple(f"v{k}" for k in range(1, 100))
    assert [d.joint for d in windows.order if d.step == 6] == ["a0", "b99", "b0", "a99"]


@pytest.mark.long
def test_a_large_connection_says_as_much_as_a_small_one(windows):
    (connection,) = windows.connections
    assert connection.supports
    assert connection.G.shape == (505, 505)
    np.testing.assert_allclose(connection.G @ connection.N, 0, atol=1e-9 * np.abs(connection.G).max())
    np.testing.assert_allclose(connection.A.T @ connection.N_scaled, 0, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(connection.A, axis=1), 1, rtol=1e-9)
    assert np.linalg.matrix_rank(connection.A, tol=1e-6) == connection.rank
    assert not windows.test_group(["g7"]).assembly_effect_unique
    assert pickle.loads(pickle.dumps(windows)).verdicts == windows.verdicts


def test_a_pose_is_not_said_to_be_checked_where_none_is_sampled(windows):
    assert windows.samples == 0
    assert "  not checked: the pose is not singular\n" in windows.trace


def test_the_explanation_does_not_grow_for_ever(windows):
    assert len(windows.trace.splitlines()) < 160
    for fact in ("G = TᵀΦ₁₁T is 505×505 of rank 205", "Null space N is 505×300.", "  and 176 more\n"):
        assert fact in windows.trace


@pytest.mark.long
@pytest.mark.parametrize(
    "shape", [pytest.param(name, marks=pytest.mark.long) if name == "star" else name for name in SHAPES]
)
def test_a_subassembly_hands_on_no_more_than_two_bodies_do(shape):
    mech, q = tree_on_the_ground(SHAPES[shape])
    usual = dca_uniqueness(mech, q, samples=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank, "LARGEST_DENSE", -1)
        large = dca_uniqueness(mech, q, samples=0)
    (supports,) = (c.supports for c in large.connections)
    assert max(step.shown for step in supports.motions.steps) <= 12
    assert max(step.M.size for step in supports.motions.steps) <= 24 * 24
    assert large.verdicts == usual.verdicts
    assert large.rank == usual.rank


def test_loads_by_body_are_the_null_space_whatever_turns_it(windows):
    (connection,) = windows.connections
    N = connection.N_scaled
    rows = []
    for slots, L in connection.supports.null_space_by_body():
        np.testing.assert_allclose(L @ L.T, N[slots] @ N[slots].T, atol=1e-10)
        rows.extend(slots)
    assert sorted(rows) == list(range(len(N)))
