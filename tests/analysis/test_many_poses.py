"""Analyses of many poses are the analyses of the single poses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints import many_poses
from mbplugin.errors import BadNumber, BadUsage, CannotClose, UnknownName
from mbplugin.model.mechanism import Coupling, KnifeEdge, Lock, Mechanism, Term
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.spatial import Array
from models import coupled_four_bars, four_bar
from random_mechanisms import loop_mechanism


def closed(mech: Mechanism, q: Array, count: int, seed: int = 0) -> Array:
    """Poses on the constraints near q, closed by the analysis of each alone; given poses where it fails."""
    rng = np.random.default_rng(seed)
    found = [q]
    for _ in range(10 * count):
        try:
            start = displace(mech, q, rng.uniform(-0.2, 0.2, len(mech.qd_names)))
            found.append(mb.analyze(mech, start, samples=0).q)
        except CannotClose:
            continue
        if len(found) == count:
            break
    return np.array(found)


def coupled(seed: int) -> tuple[Mechanism, Array]:
    mech, q = loop_mechanism(seed, 2, "planar")
    hinges = [p.name for p in mech.pairs if p.type == "revolute" and p.name in mech.tree.joint_of_pair][:2]
    angles = [q[mech.q_names.index(name)] for name in hinges]
    terms = (Term(hinges[0], "rz", 1.0), Term(hinges[1], "rz", -1.0))
    belt = Coupling("belt", "gear", terms, float(angles[0] - angles[1]))
    edge = KnifeEdge("edge", mech.bodies[0].name, np.array([0.1, 0, 0]), np.array([0.0, 1, 0]))
    return replace(mech, couplings=(belt,), locks=(Lock(hinges[0]),), pfaffians=(edge,)), q


def floating(seed: int) -> tuple[Mechanism, Array]:
    mech, _ = loop_mechanism(seed, 2, "generic")
    bare = replace(mech, pairs=tuple(p for p in mech.pairs if "world" not in p.bodies))
    return bare, mb.load(bare).state.q


CASES = {
    **{f"planar {seed}": loop_mechanism(seed, 2, "planar") for seed in range(4)},
    **{f"spherical {seed}": loop_mechanism(seed, 3, "spherical") for seed in range(4)},
    **{f"generic {seed}": loop_mechanism(seed, 2, "generic") for seed in range(4)},
    **{f"coupled {seed}": coupled(seed) for seed in (1, 2, 4)},
    "tree": loop_mechanism(3, 0, "generic"),
    "four-bar": four_bar(),
    "two four-bars": coupled_four_bars(2),
    "planar joint": four_bar(types=("revolute", "spherical", "cylindrical", "revolute")),
}


@pytest.mark.long_after(8)
@pytest.mark.parametrize("name", CASES)
def test_they_are_the_single_analyses(name: str) -> None:
    mech, q = CASES[name]
    Q = closed(mech, q, 4)
    many = mb.analyze(mech, Q)
    assert len(many) == len(Q)
    for k in range(len(Q)):
        one = mb.analyze(mech, Q[k], samples=0)
        assert many.q[k] == pytest.approx(one.q, abs=1e-12)
        assert (many.rows, many.columns, many.gruebler) == (one.rows, one.columns, one.gruebler)
        assert many.degree_of_redundancy[k] == one.degree_of_redundancy
        assert (many.rank[k], many.mobility[k], many.dof[k]) == (one.rank, one.dof, one.dof)
        for own, alone in ((many.sigma_r[k], one.sigma_r), (many.sigma_r_plus_1[k], one.sigma_r_plus_1)):
            assert np.isnan(own) if alone is None else own == pytest.approx(alone, abs=1e-12)
        flags = [c.unique for verdict in one.constraints for c in verdict.components]
        assert many.unique[k].tolist() == flags
        assert many.constraints == tuple(verdict.name for verdict in one.constraints)
        assert many.indeterminate_dim[k].tolist() == [v.indeterminate_dim for v in one.constraints]
        names = [(v.name, c.name) for v in one.constraints for c in v.components]
        assert [tuple(label) for label in many.labels] == names


def test_the_cases_are_redundant_or_not() -> None:
    redundancies = {
        name: mb.analyze(mech, q, samples=0).degree_of_redundancy for name, (mech, q) in CASES.items()
    }
    assert min(redundancies.values()) == 0
    assert max(redundancies.values()) > 3


@pytest.mark.parametrize("seed", range(3))
def test_a_free_base_and_a_plane(seed: int) -> None:
    mech, q = floating(seed)
    many = mb.analyze(mech, np.array([q, q]))
    assert many.mobility[1] == mb.analyze(mech, q, samples=0).dof
    mech, q = four_bar()
    flat = mb.analyze(mech, np.array([q, q]), planar="xy")
    one = mb.analyze(mech, q, planar="xy")
    assert flat.degree_of_redundancy.tolist() == [one.degree_of_redundancy] * 2
    assert flat.sigma_r[1] == pytest.approx(one.sigma_r, abs=1e-12)


def test_a_large_block_is_decided_by_its_pivots_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    mech, q = coupled_four_bars(3)
    expected = mb.analyze(mech, np.array([q, q]))
    monkeypatch.setattr(many_poses, "LARGEST_DENSE", 0)
    found = mb.analyze(mech, np.array([q, q]))
    assert found.degree_of_redundancy.tolist() == expected.degree_of_redundancy.tolist()
    assert (found.unique == expected.unique).all()
    assert (found.indeterminate_dim == expected.indeterminate_dim).all()


def test_open_poses_are_closed_as_alone() -> None:
    mech, q = four_bar()
    rng = np.random.default_rng(1)
    Q = q + rng.uniform(-0.1, 0.1, (5, len(q)))
    many = mb.analyze(mech, Q)
    for k in range(5):
        assert many.q[k] == pytest.approx(mb.analyze(mech, Q[k], samples=0).q, abs=1e-12)
    assert (many.closure_residual_file > 1e-3).all()


def test_a_pose_that_cannot_be_closed_has_its_number() -> None:
    mech, q = four_bar()
    long = replace(
        mech,
        pairs=(*mech.pairs[:-1], replace(mech.pairs[-1], X_AP=mb.Pose(np.eye(3), np.array([9.0, 0, 0])))),
    )
    with pytest.raises(CannotClose, match=r"^pose 0 of 2: not closed in"):
        mb.analyze(long, np.array([q, q]))


def test_the_whole_reaction_of_a_constraint_is_asked_by_name() -> None:
    mech, q = four_bar()
    many = mb.analyze(mech, np.array([q, q]))
    assert many.unique_reaction("j0").tolist() == [False, False]
    with pytest.raises(UnknownName, match="there is no constraint 'j9'"):
        many.unique_reaction("j9")


def test_options_that_a_batch_does_not_take_are_one_sentence(tmp_path: Path) -> None:
    mech, q = four_bar()
    Q = np.array([q, q])
    with pytest.raises(BadUsage, match="a batch of poses takes no method 'dca'"):
        mb.analyze(mech, Q, method="dca")
    with pytest.raises(BadUsage, match="a batch of poses takes no samples = 3"):
        mb.analyze(mech, Q, samples=3)
    with pytest.raises(BadUsage, match="a batch of poses takes no groups"):
        mb.analyze(mech, Q, groups=[("j0", "j1")])
    with pytest.raises(BadNumber, match="the batch of poses is empty"):
        mb.analyze(mech, np.zeros((0, 3)))
    many = mb.analyze(mech, Q)
    many.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as read:
        assert read["unique"].shape == many.unique.shape
    with pytest.raises(BadUsage, match=r"expected a name that ends in \.npz"):
        many.save(tmp_path / "a.json")


@pytest.mark.long_after(5)
@pytest.mark.parametrize(
    "name", ["planar 1", "spherical 2", "generic 0", "generic 3", "coupled 1", "four-bar"]
)
@pytest.mark.parametrize("gap", [1e-9, 1e-6, 1e-4])
def test_nearly_closed_poses_are_closed_together_as_alone(name: str, gap: float) -> None:
    mech, q = CASES[name]
    rng = np.random.default_rng(7)
    Q = np.array(
        [displace(mech, one, gap * rng.uniform(-1, 1, len(mech.qd_names))) for one in closed(mech, q, 4)]
    )
    many = mb.analyze(mech, Q)
    for k in range(len(Q)):
        one = mb.analyze(mech, Q[k], samples=0)
        assert many.q[k] == pytest.approx(one.q, abs=1e-12)
        assert many.closure_residual_file[k] == pytest.approx(one.assembly.worst_file, abs=1e-12)


def test_a_limit_is_respected_as_alone() -> None:
    mech, q = four_bar()
    k = mech.q_names.index("j1")
    free = mech.pair_by_name["j1"].freedoms[0]
    narrow = replace(free, lower=-10.0, upper=float(q[k]) - 1e-5)
    pairs = tuple(replace(p, freedoms=(narrow,)) if p.name == "j1" else p for p in mech.pairs)
    limited = replace(mech, pairs=pairs)
    start = np.array(q)
    start[k] -= 2e-5
    (many,) = mb.analyze(limited, start[None]).q
    one = mb.analyze(limited, start, samples=0).q
    assert many == pytest.approx(one, abs=1e-12)
    assert one[k] <= narrow.upper + 1e-8
