"""Reactions by stiffness of many coupled loops: the same by local self-stresses as densely, and as by scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import block_array, diags_array
from scipy.sparse.linalg import spsolve

import mbplugin as mb
from mbplugin.constraints import rank
from mbplugin.joint_reactions import flexible as least_energy
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.mechanism import Mechanism
from models import coupled_four_bars
from random_mechanisms import loop_mechanism

LOOPS = 12


def stiffness_of(mech: Mechanism, kind: str) -> dict[str, list[float]]:
    rng = np.random.default_rng(3)
    names = [pair.name for pair in mech.pairs]
    if kind == "of half the joints":
        names = names[: len(names) // 2]
    if kind == "of very different joints":
        return {name: [*(10 ** rng.uniform(3, 9, 5)), 0.0] for name in names}
    moments = math.inf if kind == "of forces" else 1e4
    return {} if kind == "of nothing" else {name: [1e6, 1e6, 1e6, moments, moments, 0.0] for name in names}


def loaded(mech: Mechanism, q: np.ndarray, kind: str) -> Reactions:
    first = mech.pairs[0].name
    loads = [
        {"body": mech.bodies[k].name, "force": [0, 0, size]} for k, size in ((0, 1000.0), (LOOPS, -300.0))
    ]
    sigma = {f"{mech.pairs[5].name}.tz": 1e-4}
    return mb.reactions(
        mech,
        q,
        stiffness=stiffness_of(mech, kind),
        hold=[first],
        loads=loads,
        misfit={f"{mech.pairs[4].name}.tz": 1e-3},
        misfit_sigma=sigma,
    )


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    "kind", ["of all joints", "of very different joints", "of forces", "of half the joints", "of nothing"]
)
def test_local_self_stresses_give_what_dense_ones_give(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mech, q = coupled_four_bars(LOOPS)
    dense = loaded(mech, q, kind)
    monkeypatch.setattr(rank, "LARGEST_DENSE", -1)
    monkeypatch.setattr(least_energy, "LARGEST_DENSE", 0)
    local = loaded(mech, q, kind)
    assert local.unresolved == dense.unresolved
    assert local.missing == dense.missing
    for one, other in zip(local.constraints, dense.constraints, strict=True):
        assert one.shared_with == other.shared_with
        assert [c.source for c in one.components] == [c.source for c in other.components]
        for c, d in zip(one.components, other.components, strict=True):
            assert c.value == pytest.approx(d.value, abs=1e-9 * 1000)
            assert [c.sigma or 0.0] == pytest.approx([d.sigma or 0.0], rel=1e-9, abs=1e-9)
            assert (c.sigma is None) == (d.sigma is None)
        assert one.open_force == other.open_force
    infinite = np.isinf(dense.response.B)
    assert np.array_equal(np.isinf(local.response.B), infinite)
    B, wanted = (np.where(infinite, 0.0, one.response.B) for one in (local, dense))
    assert np.abs(B - wanted).max() <= 1e-9 * np.abs(wanted).max()
    assert local.response.stressing == dense.response.stressing


@pytest.mark.long_after(4)
@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms_have_the_same_response(kind: str, seed: int) -> None:
    mech, q = loop_mechanism(seed, 2 + seed, kind)
    rng = np.random.default_rng(seed)
    stiffness = {pair.name: (10 ** rng.uniform(4, 7, 6)).tolist() for pair in mech.pairs}
    found = []
    for largest in (10**9, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rank, "LARGEST_DENSE", largest)
            patch.setattr(least_energy, "LARGEST_DENSE", largest)
            found.append(mb.misfit_response(mech, q, stiffness=stiffness))
    dense, local = found
    assert local.degree_of_redundancy == dense.degree_of_redundancy > 0
    assert np.abs(local.B - dense.B).max() <= 1e-9 * np.abs(dense.B).max()
    assert local.stressing == dense.stressing


def test_families_of_many_loops_are_short_and_true(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each family's relations hold for the reactions that stiffness decides, whatever its parameters are."""
    mech, q = coupled_four_bars(LOOPS)
    monkeypatch.setattr(rank, "LARGEST_DENSE", -1)
    found = loaded(mech, q, "of all joints")
    assert sum(len(f.parameters) for f in found.families) == found.degree_of_redundancy == 3 * LOOPS
    value = {(c.name, k.name): k.value for c in found.constraints for k in c.components}
    relations = [relation for family in found.families for relation in family.relations]
    assert len(relations) > 3 * LOOPS
    for relation in relations:
        terms = sum(t.weight * value[t.constraint, t.component] for t in relation.terms)
        wanted = value[relation.constraint, relation.component]
        assert relation.constant + terms == pytest.approx(wanted, abs=1e-6)
    assert max(len(relation.terms) for relation in relations) < 12


@pytest.mark.long
def test_seventy_loops_have_the_least_energy_that_scipy_finds() -> None:
    """Least ½ λᵀAλ with Cᵀλ = −F, as one sparse system of equations in absolute coordinates."""
    mech, q = coupled_four_bars(70)
    kind = stiffness_of(mech, "of very different joints")
    load = {"body": mech.bodies[3].name, "force": [0, 0, 1000]}
    found = mb.reactions(mech, q, stiffness=kind, hold=[mech.pairs[0].name], loads=[load])
    matrix = mb.constraint_matrix(found.mechanism, found.q)
    places = {"tx": 0, "ty": 1, "tz": 2, "rx": 3, "ry": 4}
    A = [1.0 / kind[name][places[c]] if name in kind else 0.0 for name, c in matrix.rows]
    assert sum(a == 0.0 for a in A) == 1
    weight = np.zeros(len(matrix.columns))
    for k, (body, column) in enumerate(matrix.columns):
        mass = next(b.mass for b in mech.bodies if b.name == body)
        weight[k] = mech.gravity[["vx", "vy", "vz"].index(column)] * mass if column[0] == "v" else 0.0
        weight[k] += 1000.0 if (body, column) == (load["body"], "vz") else 0.0
    K = block_array([[diags_array(A), matrix.C], [matrix.C.T, None]], format="csc")
    multipliers = spsolve(K, np.concatenate((np.zeros(len(A)), -weight)))[: len(A)]
    for (name, c), wanted in zip(matrix.rows, multipliers.tolist(), strict=True):
        assert found.value(name, c) == pytest.approx(wanted, rel=1e-9, abs=1e-6)
