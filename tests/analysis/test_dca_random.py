"""The divide-and-conquer test against the left null space, on random mechanisms that it covers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from grounded_mechanisms import grounded_mechanism
from mbplugin import constraint_matrix
from mbplugin.analysis import analyze_mechanism
from mbplugin.analysis.dca import TOOLS, dca_uniqueness, model, on_supports, weld_edges
from mbplugin.analysis.dca.assembly import AssemblyTree, Node, assembly_tree
from mbplugin.analysis.dca.model import null_loads
from mbplugin.analysis.dca.propagation import carry, edges_of
from mbplugin.constraints import rank
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward
from models import body_at
from random_mechanisms import loop_mechanism, scaled

cases = st.builds(
    grounded_mechanism,
    st.integers(0, 2**31),
    st.sampled_from(["planar", "spherical", "balls", "generic"]),
    st.sampled_from(["chain", "any"]),
)
profile = settings(max_examples=250, deadline=None, derandomize=True)
shorter = settings(profile, max_examples=60)


def clear(analysis):
    """Whether the rank decision has a gap of three orders of magnitude."""
    return all(b.sigma_r / max(b.sigma_next, 1e-16) >= 1e3 and b.sigma_r > 1e-3 for b in analysis.blocks)


def whole(analysis):
    """The verdict of the whole matrix: reaction, dimension and components of each pair."""
    return {
        v.name: (v.reaction, v.indeterminate_dim, tuple((c.name, c.unique) for c in v.components))
        for v in analysis.constraints
    }


@pytest.mark.long
@profile
@given(cases, st.sampled_from([None, None, "xy"]))
def test_decided_pairs_agree_with_the_left_null_space(case, planar):
    mech, q = case
    analysis = analyze_mechanism(mech, q, samples=0, planar=planar)
    assume(clear(analysis))
    result = dca_uniqueness(mech, q, samples=0, planar=planar)
    assert result.degree_of_redundancy == analysis.degree_of_redundancy
    expected = {v.name: v for v in analysis.constraints}
    for v in result.verdicts:
        if v.reaction == "undecided":
            assert result.stalled
        else:
            assert v.reaction == expected[v.name].reaction, v.name
        told = dict(v.components)
        assert list(told) == [c.name for c in expected[v.name].components]
        for c in expected[v.name].components:
            assert told[c.name] in (None, c.unique), (v.name, c.name)


@pytest.mark.long_after(3)
@pytest.mark.parametrize("block", range(20))
def test_the_extension_takes_loops_anywhere_and_agrees(block):
    """400 mechanisms, loops inside and several joints between two bodies; few have a rank without a gap."""
    unclear, cut = 0, 0
    for seed in range(20 * block, 20 * block + 20):
        mech, q = loop_mechanism(seed, 1 + seed % 4, ("planar", "spherical", "generic")[seed % 3])
        analysis = analyze_mechanism(mech, q, samples=0, method="svd")
        result = dca_uniqueness(mech, q, samples=0, extended=True)
        cut += bool(result.model.cut)
        if not clear(analysis):
            unclear += 1
            continue
        assert result.degree_of_redundancy == analysis.degree_of_redundancy, seed
        expected = {v.name: (v.reaction, v.indeterminate_dim) for v in analysis.constraints}
        assert {v.name: (v.reaction, v.indeterminate_dim) for v in result.verdicts} == expected, seed
    assert unclear <= 5 and cut >= 10


def test_an_inner_loop_is_cut_and_the_trace_says_where(monkeypatch):
    mech, q = loop_mechanism(1, 2, "spherical")
    result = dca_uniqueness(mech, q, extended=True)
    with monkeypatch.context() as patch:
        # the elimination of large assemblies takes rows of single bodies only
        patch.setattr(rank, "LARGEST_DENSE", 0)
        assert dca_uniqueness(mech, q, extended=True).reactions == result.reactions
    (name, sides), *_ = result.model.cut.items()
    assert f"{name} closes a loop that does not pass through the ground, and is cut" in result.trace
    assert result.G.shape == (result.columns, result.columns) and name in result.groups
    assert np.abs(result.G @ result.N).max() < 1e-9 * np.abs(result.G).max()
    assert not set(sides) & set(result.reactions)
    assert result.test_group([name]).components_unique == (result.reactions[name] == "unique")


@pytest.mark.long
@profile
@given(cases, st.sampled_from([None, None, "xy"]))
def test_the_extension_decides_everything_and_agrees(case, planar):
    mech, q = case
    analysis = analyze_mechanism(mech, q, samples=0, planar=planar)
    assume(clear(analysis))
    result = dca_uniqueness(mech, q, samples=0, planar=planar, extended=True)
    assert {v.name: (v.reaction, v.indeterminate_dim, v.components) for v in result.verdicts} == whole(
        analysis
    )
    rigid = {b.name for b in analysis.bodies if b.may_stay_rigid}
    assert {b.name for b in mech.bodies} - rigid == set(result.flexible_bodies)
    assert not result.undecided_bodies


def one_after_the_other(names, handles, joints, floating):
    """The assembly tree that takes in one body after another, from the first of each assembly on."""
    left = {k: (names[k], (k,), handles[k]) for k in floating}
    inner, nodes, roots = [joint for joint in joints if not joint.grounded], [], []
    while left:
        part = left.pop(next(iter(left)))
        while ties := [joint for joint in inner if len(set(joint.moving) & set(part[1])) == 1]:
            (body,) = set(ties[0].moving) - set(part[1])
            both = (part, left.pop(body)) if ties[0].body_b == body else (left.pop(body), part)
            rest = tuple(h for _, _, own in both for h in own if h != ties[0].name)
            label = f"({len(names) + len(nodes) + 1})"
            nodes.append(Node(label, both[0][0], both[1][0], ties[0].name, rest, both[0][1] + both[1][1]))
            part = label, nodes[-1].bodies, rest
        order = [joint.name for joint in joints]
        roots.append((*part[:2], tuple(sorted(part[2], key=order.index))))
    return AssemblyTree(tuple(nodes), tuple(roots))


@pytest.mark.long
@settings(profile, max_examples=40)
@given(cases, st.sampled_from([None, None, "xy"]), st.booleans())
def test_neither_the_order_nor_subassemblies_that_decide_change_a_verdict(case, planar, extended):
    mech, q = case
    found = []
    for order in (assembly_tree, one_after_the_other):
        for largest in (rank.LARGEST_DENSE, -1):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(model, "assembly_tree", order)
                patch.setattr(rank, "LARGEST_DENSE", largest)
                found.append(dca_uniqueness(mech, q, samples=0, planar=planar, extended=extended))
    before = found[0]
    for after in found[1:]:
        assert after.verdicts == before.verdicts
        assert (after.rank, after.stalled, after.groups) == (before.rank, before.stalled, before.groups)
        for c, d in zip(before.connections, after.connections, strict=True):
            np.testing.assert_allclose(d.unit, c.unit, rtol=1e-9)
            np.testing.assert_allclose(d.N_scaled @ d.N_scaled.T, c.N_scaled @ c.N_scaled.T, atol=1e-8)
            np.testing.assert_allclose(d.G, c.G, rtol=1e-6, atol=1e-9 * np.abs(c.G).max())


@pytest.mark.long
@shorter
@given(cases, st.integers(0, 1000))
def test_four_tools_give_one_answer_on_G(case, seed):
    mech, q = case
    assume(clear(analyze_mechanism(mech, q, samples=0)))
    result = dca_uniqueness(mech, q, samples=0)
    assume(result.groups)
    ground = sorted(result.groups)
    rng = np.random.default_rng(seed)
    groups = [[name] for name in ground] + [
        [name for name in ground if rng.random() < 0.5] or ground for _ in range(3)
    ]
    for members in groups:
        answers = {tool: result.test_group(members, tool) for tool in TOOLS}
        assert len(set(answers.values())) == 1, (members, answers)
    for name in ground:
        assert result.test_group([name]).assembly_effect_unique == (result.reactions[name] == "unique")


@pytest.mark.long
@shorter
@given(cases)
def test_null_loads_at_the_ground_and_what_they_do_inside_are_self_stresses(case):
    """Together they are in balance on every body: Cᵀλ = 0, C built in absolute coordinates."""
    mech, q = case
    result = dca_uniqueness(mech, q, samples=0)
    joints = result.model.joint_scaled
    assume(result.degree_of_redundancy)
    cm = constraint_matrix(mech, result.q)
    for c in result.connections:
        bodies = next(own for _, own, ground in result.model.tree.roots if ground == c.joints)
        loads = null_loads(c, joints)
        edges = edges_of(bodies, result.model.joints_scaled)
        inside = {
            **carry(edges, loads, result.model.columns, c.zero),
            **carry(weld_edges(result.model), on_supports(loads), result.model.columns, c.zero),
        }
        values = dict(zip(c.labels, c.N_scaled * c.unit[:, None], strict=True))
        for name, null in inside.items():
            labels = [(name, component) for component in joints[name].components]
            values.update(zip(labels, null.multipliers * joints[name].unit[:, None], strict=True))
        nothing = np.zeros(c.redundancy)
        multipliers = np.array([values.get(label, nothing) for label in cm.rows])
        np.testing.assert_allclose(
            cm.C.T @ multipliers, 0, atol=1e-8 * (1 + np.abs(multipliers).max(initial=0.0))
        )


@pytest.mark.long
@shorter
@given(cases)
def test_the_assembly_is_the_inverse_of_the_constrained_mass_matrix(case):
    """(7), applied recursively, against one dense system: a = M⁻¹(f + Cᵀλ), C a = 0 for the inner joints."""
    mech, q = case
    result = dca_uniqueness(mech, q, samples=0)
    model = result.model
    inner = [j for j in model.joints if not j.grounded]
    ground = [j.name for c in result.connections for j in map(model.joint.get, c.joints)]
    assume(ground)
    n = 6 * len(mech.bodies)
    poses = forward(mech, q)

    def to_body(joint, body, W):
        out = np.zeros((W.shape[1], n))
        arm = joint.point_W - poses.p_WC[body]
        out[:, 6 * body : 6 * body + 3] = W[:3].T
        out[:, 6 * body + 3 : 6 * body + 6] = W[3:].T + np.cross(arm, W[:3].T)
        return out

    C = np.vstack([np.zeros((0, n))] + [to_body(j, j.body_b, j.T) - to_body(j, j.body_a, j.T) for j in inner])
    B = np.vstack([to_body(model.joint[g], model.joint[g].moving[0], model.joint[g].T) for g in ground])
    M_inv = np.zeros((n, n))
    for k, body in enumerate(mech.bodies):
        R = poses.R_WL[k]
        M_inv[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / body.mass
        M_inv[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.linalg.inv(R @ body.I_C @ R.T)
    free = M_inv - M_inv @ C.T @ np.linalg.solve(C @ M_inv @ C.T, C @ M_inv) if len(C) else M_inv
    sign = np.concatenate(
        [np.full(model.joint[g].T.shape[1], model.joint[g].sign(model.joint[g].moving[0])) for g in ground]
    )
    expected = (B @ free @ B.T) * np.outer(sign, sign)
    np.testing.assert_allclose(result.G, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@settings(profile, max_examples=30)
@given(case=cases)
def test_units_and_masses_do_not_matter(case, factor):
    mech, q = case
    assume(clear(analyze_mechanism(mech, q, samples=0)))
    other = scaled(mech, factor)
    pairs = tuple(replace(p, length=factor * p.length, lead=factor * p.lead) for p in other.pairs)
    bodies = tuple(body_at(b.name, 0.0 if k % 2 else 1e-6) for k, b in enumerate(other.bodies))
    other = replace(other, bodies=bodies, pairs=pairs)
    at = forward(mech, q)
    q_other = coordinates_of(other, BodyPoses(at.R_WL, factor * at.p_WL, factor * at.p_WC))
    before = dca_uniqueness(mech, q, samples=0, extended=True)
    after = dca_uniqueness(other, q_other, samples=0, extended=True)
    assert after.verdicts == before.verdicts
    for c, d in zip(before.connections, after.connections, strict=True):
        np.testing.assert_allclose(c.relative, d.relative, atol=1e-6)
