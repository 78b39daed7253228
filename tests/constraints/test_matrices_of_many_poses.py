"""Constraint matrices of many poses are the matrices of the single poses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.mechanism import Coupling, Driver, KnifeEdge, Lock, Mechanism, Term
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.spatial import Array
from models import four_bar
from random_mechanisms import loop_mechanism


def poses(mech: Mechanism, q: Array, count: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return np.array([displace(mech, q, rng.uniform(-1, 1, len(mech.qd_names))) for _ in range(count)])


def with_everything(seed: int) -> tuple[Mechanism, Array]:
    """Loops, a coupling, drivers, a lock and a knife edge."""
    mech, q = loop_mechanism(seed, 2, "generic")
    hinges = [p.name for p in mech.pairs if p.type == "revolute" and p.name in mech.tree.joint_of_pair]
    spare = next(p for p in mech.pairs if p.kind.free and p.name in mech.tree.joint_of_pair)
    extra: dict[str, Any] = {
        "locks": (Lock(spare.name, freedoms=(spare.kind.free[0],)),),
        "pfaffians": (KnifeEdge("edge", mech.bodies[0].name, np.array([0.1, 0, 0]), np.array([0.0, 1, 0])),),
    }
    if len(hinges) > 1:
        terms = (Term(hinges[0], "rz", 1.0), Term(hinges[1], "rz", -2.0))
        extra["couplings"] = (Coupling("belt", "gear", terms, 0.1),)
    if hinges:
        extra["drivers"] = (Driver("motor", hinges[-1], value=0.2, rate=0.3, acceleration=0.4),)
    return replace(mech, **extra), q


CASES = [("loops", seed) for seed in range(4)] + [("all", seed) for seed in range(6)] + [("free", 1)]


def case(kind: str, seed: int) -> tuple[Mechanism, Array]:
    if kind == "loops":
        return loop_mechanism(seed, 2, ("planar", "spherical", "generic")[seed % 3])
    if kind == "all":
        return with_everything(seed)
    mech, _ = loop_mechanism(seed, 2, "generic")
    mech = replace(mech, pairs=mech.pairs[1:])
    scene = mb.load(mech)
    return mech, scene.state.q


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_they_are_the_single_matrices(kind: str, seed: int) -> None:
    mech, q = case(kind, seed)
    Q = poses(mech, q, 4, seed)
    Qd = np.random.default_rng(seed).normal(size=(4, len(mech.qd_names)))
    many = mb.constraint_matrix(mech, Q, Qd)
    assert len(many) == 4
    for k in range(4):
        one = mb.constraint_matrix(mech, Q[k], Qd[k])
        assert (many.rows, many.columns, many.holonomic_rows) == (one.rows, one.columns, one.holonomic_rows)
        for name in ("b", "Gamma", "Phi"):
            assert getattr(many, name)[k] == pytest.approx(getattr(one, name), abs=1e-12)
            assert getattr(many[k], name) == pytest.approx(getattr(one, name), abs=1e-12)
        assert many.C[k] == pytest.approx(one.C.toarray(), abs=1e-12)
        assert many[k].C.toarray() == pytest.approx(one.C.toarray(), abs=1e-12)


def test_the_cases_have_every_kind_of_constraint() -> None:
    kinds = {type(c).__name__ for kind, seed in CASES for c in case(kind, seed)[0].constraints()}
    assert kinds == {"Pair", "Coupling", "Driver", "Lock", "KnifeEdge"}


def test_in_a_plane_too() -> None:
    mech, q = four_bar()
    Q = np.repeat(q[None], 3, axis=0)
    many = mb.constraint_matrix(mech, Q, planar="xy")
    one = mb.constraint_matrix(mech, q, planar="xy")
    assert (many.rows, many.columns) == (one.rows, one.columns)
    assert many.C[2] == pytest.approx(one.C.toarray(), abs=1e-12)


def test_a_row_that_vanishes_at_some_poses_only_is_an_error() -> None:
    mech, q = loop_mechanism(0, 1, "generic")
    with pytest.raises(BadUsage, match=r"the rows of '.*' in the plane at pose .* are not those at pose 0"):
        mb.constraint_matrix(mech, poses(mech, q, 20), planar="xy")


def test_they_are_saved_with_their_labels(tmp_path: Path) -> None:
    mech, q = four_bar()
    many = mb.constraint_matrix(mech, np.array([q, q]))
    many.save(tmp_path / "C.npz")
    with np.load(tmp_path / "C.npz") as read:
        assert read["C"] == pytest.approx(many.C)
        assert read["rows"][0] == "j0.tx"
        assert len(read["columns"]) == many.C.shape[2]
    with pytest.raises(BadUsage, match=r"expected a name that ends in \.npz"):
        many.save(tmp_path / "C.csv")


def test_wrong_shapes_are_one_sentence() -> None:
    mech, q = four_bar()
    with pytest.raises(BadNumber, match="the batch of poses has the shape 2 × 1; expected n × 3"):
        mb.constraint_matrix(mech, np.zeros((2, 1)))
    with pytest.raises(BadNumber, match="the batch has 3 rows of rates; expected 2"):
        mb.constraint_matrix(mech, np.array([q, q]), np.zeros((3, 3)))
