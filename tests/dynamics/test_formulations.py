"""All formulations and redundancy handlings give one motion; multipliers agree where they are unique."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import plane_columns
from mbplugin.dynamics import body_accelerations
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.explicit_closure import closing_conditions, minimal_accelerations
from mbplugin.dynamics.formulations import COORDINATES, REDUNDANCY, TABLE, Equations, Solution, solve
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadUsage, BrokenModel, MbPluginError, UnknownName
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers import reload
from models import body_at, chain, pose_at
from places import ROOT
from states import random_states

ORACLES = sorted((ROOT / "tests" / "oracles").glob("*.sdf"))
MINITAUR = ROOT / "assets" / "minitaur.scene.toml"
ROBOT = ROOT / "assets" / "four_wheel_robot.scene.toml"
#: Every meaningful combination that an Equations value is enough for.
COMBINATIONS = [(f, r) for f, meaning in TABLE.items() if f != "closing" for r in meaning.redundancy]


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism, pulled out of all symmetry by gravity, at random states."""

    mech: Mechanism
    planar: str | None
    states: tuple[tuple[Array, Array], ...]

    def equations(self, q: Array, qd: Array, coordinates: str) -> Equations:
        build = {"absolute": absolute_equations, "joint": joint_equations}[coordinates]
        return build(self.mech, q, qd, planar=self.planar)

    def accelerations(self, q: Array, qd: Array, equations: Equations, solution: Solution) -> Array:
        """v̇ of all bodies in the view, whichever the coordinates."""
        if equations.coordinates == "absolute":
            return solution.v_dot
        poses = forward(self.mech, q)
        all_six = body_accelerations(self.mech, poses, body_twists(self.mech, poses, qd), solution.v_dot)
        return all_six[:, list(plane_columns(self.planar))].ravel()


@cache
def case(name: str) -> Case:
    planar = "xy" if name == "robot" else None
    if name.startswith("minitaur"):
        scene = reload(mb.load(MINITAUR), snap_angles=name == "minitaur, snapped")
    else:
        scene = mb.load(ROBOT if name == "robot" else ROOT / "tests" / "oracles" / f"{name}.sdf")
    pull = np.array([3.0, 1.0, 0.0]) if planar else np.array([1.0, -9.81, 2.0])
    mech = replace(scene.mechanism, gravity=pull)
    p = mb.analyze(scene).structural_redundancy
    states = random_states(mech, scene.state.q, 3, planar=planar, redundancy=p)
    return Case(mech, planar, tuple(states))


EXACT = [*(path.stem for path in ORACLES), "robot", "minitaur, snapped"]


def solutions(equations: Equations) -> dict[tuple[str, str], Solution]:
    return {(f, r): solve(equations, f, r) for f, r in COMBINATIONS}


#: The same; what takes some seconds is marked.
SOME_LONG = [pytest.param(n, marks=pytest.mark.long) if n.startswith("minitaur") else n for n in EXACT]


@pytest.mark.long
@pytest.mark.parametrize("name", SOME_LONG)
def test_every_combination_gives_one_motion(name: str) -> None:
    model = case(name)
    assert len(model.states) == 3
    for q, qd in model.states:
        motions = []
        for kind in COORDINATES:
            equations = model.equations(q, qd, kind)
            for solution in solutions(equations).values():
                motions.append(model.accelerations(q, qd, equations, solution))
        size = np.abs(motions[0]).max()
        assert size > 0.01
        assert np.ptp(motions, axis=0).max() < 1e-9 * size


#: What closing conditions refuse: rods that spin between two balls.
REFUSED = ("parallelogram_3SS",)


@pytest.mark.long_after(6)
@pytest.mark.bullet
@pytest.mark.parametrize("name", [name for name in EXACT if name not in REFUSED])
def test_closing_conditions_give_the_same_motion(name: str) -> None:
    model = case(name)
    for q, qd in model.states:
        equations = model.equations(q, qd, "joint")
        qdd = minimal_accelerations(equations, closing_conditions(model.mech, q), q)
        expected = solve(equations).v_dot
        assert qdd == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", REFUSED)
def test_closing_conditions_refuse_what_they_do_not_describe(name: str) -> None:
    model = case(name)
    q, qd = model.states[0]
    equations = model.equations(q, qd, "joint")
    with pytest.raises(BadUsage, match="do not determine"):
        minimal_accelerations(equations, closing_conditions(model.mech, q), q)


@pytest.mark.long_after(13)
@pytest.mark.bullet
@pytest.mark.parametrize("kind", COORDINATES)
@pytest.mark.parametrize("name", EXACT)
def test_every_combination_satisfies_the_equations(name: str, kind: str) -> None:
    """M v̇ = F + Cᵀλ and C v̇ = Γ with all rows, also those that were dropped."""
    model = case(name)
    q, qd = model.states[0]
    equations = model.equations(q, qd, kind)
    assert equations.C @ equations.v == pytest.approx(-equations.b, abs=1e-9)
    for solution in solutions(equations).values():
        force = equations.M @ solution.v_dot
        left = force - equations.F - equations.C.T @ solution.multipliers
        assert left == pytest.approx(0, abs=1e-9 * max(1.0, np.abs(equations.F).max()))
        motion = equations.C @ solution.v_dot
        assert motion == pytest.approx(equations.Gamma, abs=1e-9 * max(1.0, np.abs(solution.v_dot).max()))


@pytest.mark.long
@pytest.mark.parametrize("name", EXACT)
def test_multipliers_agree_exactly_where_the_analysis_says_unique(name: str) -> None:
    model = case(name)
    for q, qd in model.states:
        verdicts = mb.analyze(model.mech, q, planar=model.planar, samples=0).constraints
        unique = {(v.name, c.name): c.unique for v in verdicts for c in v.components}
        found: dict[tuple[str, str], list[float]] = defaultdict(list)
        for kind in COORDINATES:
            equations = model.equations(q, qd, kind)
            for solution in solutions(equations).values():
                for label, value in zip(equations.labels, solution.multipliers, strict=True):
                    found[label].append(value)
        size = max(abs(x) for values in found.values() for x in values)
        # in joint coordinates a planar mechanism keeps the rows across its plane
        spread = {label: np.ptp(values) / size for label, values in found.items() if label in unique}
        assert max((s for label, s in spread.items() if unique[label]), default=0.0) < 1e-9
        for verdict in verdicts:
            if any(not unique[verdict.name, c.name] for c in verdict.components):
                assert max(spread.get((verdict.name, c.name), 0.0) for c in verdict.components) > 1e-6


@pytest.mark.bullet
@pytest.mark.long
def test_minitaur_as_written_moves_nearly_as_one(record_property: pytest.RecordProperty) -> None:
    """Its angles are rounded, so what is redundant as meant contradicts itself a little as written."""
    model = case("minitaur, as written")
    spreads = []
    for (q, qd), kind in itertools.product(model.states, COORDINATES):
        equations = model.equations(q, qd, kind)
        motions = [s.v_dot for s in solutions(equations).values()]
        spreads.append(float(np.ptp(motions, axis=0).max() / np.abs(motions[0]).max()))
    record_property("spread", max(spreads))
    assert 1e-9 < max(spreads) < 1e-3


@pytest.fixture(scope="module")
def bricard() -> Equations:
    model = case("bricard_A04")
    return model.equations(*model.states[0], "absolute")


@pytest.fixture(scope="module")
def crossing() -> Equations:
    """Many redundant rows: three cranks in a plane."""
    model = case("parallelogram_3crank_planar")
    return model.equations(*model.states[0], "absolute")


@pytest.mark.parametrize("redundancy", ["minimum-norm", "augmented"])
def test_the_smallest_multipliers_have_no_part_along_a_self_stress(
    crossing: Equations, redundancy: str
) -> None:
    multipliers = solve(crossing, "kkt", redundancy).multipliers / crossing.row_scale
    Z = crossing.self_stresses
    assert Z.shape[1] == 7
    balance = (crossing.row_scale[:, None] * crossing.C).T @ Z
    assert balance == pytest.approx(0, abs=1e-12)
    assert Z.T @ multipliers == pytest.approx(0, abs=1e-9 * np.abs(multipliers).max())


def test_mass_weighted_multipliers_know_no_units(crossing: Equations) -> None:
    """Rows written in other units are other rows of the same constraints: λ changes by their factor."""
    factor = np.random.default_rng(3).uniform(0.2, 5.0, len(crossing.C))
    other = replace(
        crossing,
        C=factor[:, None] * crossing.C,
        b=factor * crossing.b,
        Gamma=factor * crossing.Gamma,
        row_scale=np.ones(len(factor)),
    )
    ours, theirs = (solve(e, "projected", "mass-weighted").multipliers for e in (crossing, other))
    assert factor * theirs == pytest.approx(ours, rel=1e-9, abs=1e-9 * np.abs(ours).max())
    smallest = [solve(e, "projected", "minimum-norm").multipliers for e in (crossing, other)]
    assert np.abs(factor * smallest[1] - smallest[0]).max() > 0.01 * np.abs(ours).max()


def test_mass_weighted_multipliers_are_the_smallest_in_their_norm(crossing: Equations) -> None:
    weight = np.array([c @ crossing.solve_M(c) for c in crossing.C])
    others = [solve(crossing, "kkt", r).multipliers for r in ("eliminate", "minimum-norm")]
    ours = solve(crossing, "kkt", "mass-weighted").multipliers
    assert weight @ ours**2 < min(weight @ other**2 for other in others)


def test_chosen_rows_are_dropped_and_carry_nothing(bricard: Equations) -> None:
    reference = solve(bricard)
    for dropped in ([0], [bricard.labels[3]], [29]):
        solution = solve(bricard, "null-space", "eliminate", dropped)
        row = dropped[0] if isinstance(dropped[0], int) else bricard.labels.index(dropped[0])
        assert solution.multipliers[row] == 0.0
        assert solution.v_dot == pytest.approx(
            reference.v_dot, rel=1e-9, abs=1e-9 * np.abs(reference.v_dot).max()
        )


def test_rows_that_cannot_be_dropped(bricard: Equations) -> None:
    four_bar = case("four_bar_4R")
    equations = four_bar.equations(*four_bar.states[0], "absolute")
    in_plane = [label for label in equations.labels if label[1] in ("tx", "ty")]
    with pytest.raises(BadUsage, match="cannot be dropped together"):
        solve(equations, dropped=in_plane[:3])
    with pytest.raises(BadUsage, match="1 row, one for each self-stress"):
        solve(bricard, dropped=[0, 1])
    with pytest.raises(BadUsage, match="no row 30"):
        solve(bricard, dropped=[30])
    with pytest.raises(UnknownName, match="did you mean"):
        solve(bricard, dropped=[(f"{bricard.labels[0][0]}x", bricard.labels[0][1])])
    with pytest.raises(BadUsage, match="keeps all"):
        solve(bricard, "kkt", "minimum-norm", dropped=[0])


def test_what_has_no_meaning_is_refused_in_one_sentence(bricard: Equations) -> None:
    joint = replace(bricard, coordinates="joint")
    asked = itertools.product(TABLE, REDUNDANCY, (bricard, joint))
    for formulation, redundancy, equations in asked:
        meaning = TABLE[formulation]
        if redundancy in meaning.redundancy and equations.coordinates in meaning.coordinates:
            continue
        with pytest.raises(BadUsage, match=re.escape(meaning.why_not)):
            solve(equations, formulation, redundancy)
    with pytest.raises(BadUsage, match=r"mbplugin\.dynamics\.explicit_closure"):
        solve(joint, "closing")
    with pytest.raises(UnknownName, match="did you mean 'voronets'"):
        solve(bricard, "voronet")
    with pytest.raises(UnknownName, match="no redundancy handling"):
        solve(bricard, "kkt", "pivoting")


@pytest.mark.parametrize("formulation", [f for f, _ in dict(COMBINATIONS).items() if f != "voronets"])
def test_equations_beyond_double_precision_end_with_a_sentence(formulation: str) -> None:
    """Two rows whose difference, 1e-3 of one, is lost beside 1e40 kg."""
    C = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1e-9]])
    M, zero, one = np.diag([1.0, 1.0, 1e40]), np.zeros(2), np.ones(2)
    labels = (("a", "tx"), ("b", "tx"))
    solver = functools.partial(np.linalg.solve, M)
    given = Equations(
        "absolute",
        labels,
        np.zeros(3),
        M,
        np.ones(3),
        C,
        zero,
        one,
        one,
        np.array([1.0, 1.0, 1e9]),
        0,
        solver,
    )
    try:
        found = solve(given, formulation, "eliminate")
    except MbPluginError as error:
        assert "singular to machine precision" in str(error) or "massless" in str(error)
    else:
        assert C @ found.v_dot == pytest.approx(one, abs=1e-6)


def test_the_table_of_the_guide_is_the_table() -> None:
    page = (ROOT / "docs" / "motion.md").read_text(encoding="utf-8")
    table = page[page.index("| formulation | how") :].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|[^|]*\| ([^|]*) \| ([^|]*) \|$", table, re.MULTILINE)
    assert {name: (r, c) for name, r, c in rows} == {
        name: (", ".join(m.redundancy), ", ".join(m.coordinates)) for name, m in TABLE.items()
    }
    assert {c for m in TABLE.values() for c in m.coordinates} == set(COORDINATES)


@pytest.mark.parametrize(("formulation", "redundancy"), COMBINATIONS)
def test_nothing_to_constrain_and_nothing_left_to_move(formulation: str, redundancy: str) -> None:
    free = Mechanism("free", (body_at("stone"),))
    equations = absolute_equations(free, home(free), np.zeros(6))
    falling = solve(equations, formulation, redundancy)
    assert falling.v_dot == pytest.approx([0, 0, -9.81, 0, 0, 0])
    assert falling.multipliers.shape == (0,)
    held, q = chain(2, "fixed", np.random.default_rng(0))
    equations = absolute_equations(held, q, np.zeros(0))
    standing = solve(equations, formulation, redundancy)
    assert standing.v_dot == pytest.approx(0, abs=1e-9)
    assert equations.C.T @ standing.multipliers == pytest.approx(-equations.F, abs=1e-9)


@pytest.mark.parametrize(("formulation", "redundancy"), COMBINATIONS)
def test_a_mechanism_in_which_nothing_can_move_has_no_accelerations(
    formulation: str, redundancy: str
) -> None:
    held = Pair("held", "fixed", "world", "b1", Pose.identity(), Pose.identity())
    mech = Mechanism("static", (body_at("b1"),), (held,))
    solution = solve(joint_equations(mech, np.zeros(0), np.zeros(0)), formulation, redundancy)
    assert solution.v_dot.shape == solution.multipliers.shape == (0,)


def test_a_body_without_mass_may_hang_between_others() -> None:
    """A pendulum whose bob is welded on by a massless bracket is the pendulum."""
    weld = pose_at(np.array([0.0, 0.3, 0.0]))
    hinge = Pair("hinge", "revolute", "world", "bracket", Pose.identity(), weld)
    welded = Pair("weld", "fixed", "bracket", "bob", Pose.identity(), weld)
    bracket = replace(body_at("bracket"), mass=0.0, I_C=np.zeros((3, 3)))
    gravity = np.array([-9.81, 0.0, 0.0])
    mech = Mechanism("pendulum", (bracket, body_at("bob")), (hinge, welded), gravity=gravity)
    equations = absolute_equations(mech, home(mech), np.zeros(1))
    # mgl / (ml² + J) about the hinge, with l = 0.6 m
    expected = abs(9.81 * 0.6 / (0.6**2 + 0.01))
    for formulation in ("kkt", "null-space", "voronets"):
        assert abs(solve(equations, formulation).v_dot[11]) == pytest.approx(expected, rel=1e-12)
    assert abs(solve(equations, "kkt", "augmented").v_dot[11]) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(BrokenModel, match="bracket lacks them"):
        solve(equations, "projected")
