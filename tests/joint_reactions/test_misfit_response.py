"""What a misfit costs, against the door, the shaft and the portal by hand, and its properties."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from models import chain, coupled_four_bars, four_bar, from_world_frames, pose_at

RADIAL = [1e6, 1e6, 1e6, 0.0, 0.0, 0.0]
INF = np.inf


def door() -> tuple[Mechanism, Array]:
    """A rigid door on three hinges in line that carry forces only."""
    mech, q = from_world_frames(
        "door",
        {"door": Pose(np.eye(3), np.array([0.4, 0.0, 0.0]))},
        [(f"h{k}", "spherical", "world", "door", pose_at([0, 0, z])) for k, z in enumerate((-0.75, 0, 0.75))],
    )
    weighed: Mechanism = replace(mech, bodies=(Body("door", 20.0, np.zeros(3), np.eye(3)),))
    return weighed, q


def door_response() -> mb.MisfitResponse:
    mech, q = door()
    return mb.misfit_response(mech, q, stiffness={f"h{k}": RADIAL for k in range(3)})


def test_the_door_on_three_hinges() -> None:
    """S = (1, −2, 1)/√6 in each radial direction: 33.333 N and −66.667 N of 0.1 mm at the middle hinge."""
    middle = door_response()["h1.tx"]
    assert [middle[f"h{k}.tx"] for k in range(3)] == pytest.approx([100 / 3, -200 / 3, 100 / 3], rel=1e-9)
    assert [middle[f"h{k}.ty"] for k in range(3)] == [0.0, 0.0, 0.0]
    assert (str(middle.step), middle.infinite) == ("0.1 mm", False)
    assert middle.largest is not None
    assert middle.largest[:3] == ("h1", "tx", "N")
    assert {load.source for load in middle.loads} == {"stated"}


@pytest.mark.parametrize("name", ["h1.foo", "h9.tx", "h1", "nonsense"])
def test_an_unknown_row_is_refused_as_misfit_and_as_load(name: str) -> None:
    """A row without an effect has the load 0: a misspelt one must not look like it."""
    response = door_response()
    for look in (response, response["h1.tx"], response["h1.ty"]):
        with pytest.raises(mb.MbPluginError, match=f"'{name}' is not a row of a constraint"):
            look[name]


def test_the_most_expensive_misfit_comes_first() -> None:
    response = door_response()
    # equal ones stay in the order of the file
    costs = [round(abs(effect.loads[0].value), 9) for effect in response.effects]
    assert costs == sorted(costs, reverse=True)
    named = {f"{e.constraint}.{e.component}" for e in response.effects}
    assert named == {f"h{k}.{c}" for k in range(3) for c in ("tx", "ty", "tz")}
    for effect in response.effects:
        loads = [round(abs(load.value), 9) for load in effect.loads]
        assert loads == sorted(loads, reverse=True)


def shaft() -> tuple[Mechanism, Array]:
    return from_world_frames(
        "shaft",
        {"shaft": Pose(np.eye(3), np.zeros(3))},
        [(f"b{k}", "spherical", "world", "shaft", pose_at([0, 0, z])) for k, z in enumerate((-0.2, 0.2))],
    )


def test_a_shaft_on_two_axial_bearings() -> None:
    mech, q = shaft()
    response = mb.misfit_response(mech, q, stiffness={"b0": RADIAL, "b1": RADIAL})
    assert response["b1.tz"]["b0.tz"] == pytest.approx(50.0)
    assert response.value("b1.tz", "b1.tz") == pytest.approx(-5e5)


def portal(E: float, second: float, J: float, nu: float = 0.3) -> mb.MisfitResponse:
    """The four-bar of unit bars with beams in which only bending out of the plane and torsion count."""
    mech, q = four_bar()
    section = {"E": E, "A": 1e-3, "Iy": second, "Iz": second, "J": J, "nu": nu}
    return mb.misfit_response(mech, q, stiffness={b.name: section for b in mech.bodies})


def test_a_rocker_that_is_too_thick_is_a_portal_with_a_settled_foot() -> None:
    """A portal of three bars of length h, loaded out of its plane, one clamped foot 1 mm off, by hand.

    The halves are antisymmetric: in the middle of the beam there are a shear V and a torque T, but no
    bending moment, the deflection is half the misfit less, and the beam does not turn about its own axis.
    With a = h/2, by Castigliano on one half (bending E I, torsion G J):

        θ = T a/GJ + (T h + V h²/2)/EI = 0
        w = V a³/(3 EI) + V a² h/GJ + (V h³/3 + T h²/2)/EI = δ/2
    """
    E, second, J, h, misfit = 210e9, 2e-8, 3e-8, 1.0, 1e-3
    EI, GJ, a = E * second, E / 2.6 * J, h / 2
    T_per_V = -(h**2 / 2 / EI) / (a / GJ + h / EI)
    V = misfit / 2 / (a**3 / (3 * EI) + a**2 * h / GJ + (h**3 / 3 + T_per_V * h**2 / 2) / EI)
    T = T_per_V * V
    response = portal(E, second, J)
    effect = response["j3.tz"]
    size = misfit / effect.step.size
    for k in range(4):
        assert abs(size * effect[f"j{k}.tz"]) == pytest.approx(V, rel=1e-6)
    for foot in ("j0", "j3"):
        assert abs(size * effect[f"{foot}.rx"]) == pytest.approx(abs(T + V * h), rel=1e-6)
        assert abs(size * effect[f"{foot}.ry"]) == pytest.approx(V * a, rel=1e-6)
    for corner in ("j1", "j2"):
        assert abs(size * effect[f"{corner}.rx"]) == pytest.approx(abs(T), rel=1e-6)


def test_the_response_is_what_a_stated_misfit_changes() -> None:
    mech, q = four_bar()
    section = {"E": 70e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}
    stiffness = {b.name: section for b in mech.bodies}
    response = mb.misfit_response(mech, q, stiffness=stiffness)
    free = mb.reactions(mech, q, stiffness=stiffness, hold=["j0"])
    tight = mb.reactions(mech, q, stiffness=stiffness, hold=["j0"], misfit={"j2.rx": 1e-3})
    for label in response.labels:
        change = tight.value(*label) - free.value(*label)
        assert response["j2.rx"][label.dotted] == pytest.approx(change, rel=1e-7, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_without_redundancy_every_misfit_is_free(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mech, q = chain(5, "revolute", rng)
    response = mb.misfit_response(
        mech, q, stiffness={p.name: [1e6] * 3 + [1e4] * 2 + [0] for p in mech.pairs}
    )
    assert response.degree_of_redundancy == 0
    assert response.effects == ()
    assert not response.B.any()
    assert response.B.shape == (25, 25)
    assert response["j1.tx"].loads == ()


def test_a_loop_without_redundancy_takes_up_every_misfit_by_moving() -> None:
    """A ball joint and a universal joint in place of two hinges leave the four-bar p = 0 and one freedom.

    Universal about the hinge and the normal of the rod in the plane: no spin of the rod is left.
    """
    mech, _ = four_bar()
    hinge = mech.pair_by_name["j2"]
    across = Pose(rotation_from_vector(np.array([0.0, np.pi / 2, 0.0])), np.zeros(3))
    cross = replace(hinge.retyped("universal"), X_AP=hinge.X_AP @ across, X_BS=hinge.X_BS @ across)
    loose = {"j1": mech.pair_by_name["j1"].retyped("spherical"), "j2": cross}
    mech = replace(mech, pairs=tuple(loose.get(p.name, p) for p in mech.pairs))
    section = {"E": 70e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}
    response = mb.misfit_response(mech, stiffness={b.name: section for b in mech.bodies})
    assert (response.degree_of_redundancy, len(response.labels)) == (0, 17)
    assert response.B.shape == (17, 17)
    assert not response.B.any()
    assert response.effects == ()
    for label in response.labels:
        assert response[label.dotted].loads == ()
    loads = [{"body": "coupler", "force": [3.0, 5.0, 20.0]}]
    plain = mb.reactions(mech, hold=["j0"], loads=loads)
    misfit = {label.dotted: 1e-3 for label in response.labels}
    forced = mb.reactions(mech, hold=["j0"], loads=loads, misfit=misfit)
    for label in plain.response.labels:
        assert forced.value(*label) == plain.value(*label)


def test_a_load_free_response_balances_itself() -> None:
    """Every column is a self-stress, Cᵀ B = 0; B is symmetric and positive semidefinite, of rank p."""
    mech, q = four_bar()
    section = {"E": 70e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}
    response = mb.misfit_response(mech, q, stiffness={b.name: section for b in mech.bodies})
    matrix = mb.constraint_matrix(mech, q)
    assert tuple(matrix.rows) == response.labels
    B = response.B
    assert np.abs(matrix.C.T @ B).max() < 1e-9 * np.abs(B).max()
    assert np.allclose(B, B.T, rtol=1e-9, atol=1e-9 * np.abs(B).max())
    sigma = np.linalg.eigvalsh(B)
    assert sigma.min() > -1e-9 * sigma.max()
    assert (sigma > 1e-9 * sigma.max()).sum() == response.degree_of_redundancy == 3


def test_what_no_compliance_limits_is_infinite_and_names_the_bodies() -> None:
    """Rods and hinges without stiffness; then with hinges that give way along their axis only."""
    mech, q = four_bar()
    rigid = mb.misfit_response(mech, q)
    assert rigid["j2.tz"].infinite
    assert rigid["j2.tz"].missing.bodies == ("crank", "coupler", "rocker")
    assert rigid.value("j2.tz", "j0.tz") == INF
    axial = mb.misfit_response(mech, q, stiffness={f"j{k}": [1e6, 1e6, 1e6, INF, INF, 0.0] for k in range(4)})
    assert not axial["j2.tz"].infinite
    assert abs(axial["j2.tz"]["j0.tz"]) == pytest.approx(25.0)
    turned = axial["j2.rx"]
    assert turned.infinite
    assert turned.missing.bodies == ("crank", "coupler", "rocker")
    assert {load.source for load in turned.loads if np.isinf(load.value)} == {None}


def test_two_loops_do_not_load_each_other() -> None:
    """An infinite response of one loop says nothing on the other, which has a stiffness."""
    mech, _ = shaft()
    other = [
        replace(p, name=p.name.replace("b", "c"), body_b="other", X_AP=p.X_AP, X_BS=p.X_BS)
        for p in mech.pairs
    ]
    both = replace(
        mech, bodies=(*mech.bodies, replace(mech.bodies[0], name="other")), pairs=(*mech.pairs, *other)
    )
    response = mb.misfit_response(both, stiffness={"b0": RADIAL, "b1": RADIAL})
    assert response["b1.tz"]["b0.tz"] == pytest.approx(50.0)
    assert response["c1.tz"].infinite
    assert response["c1.tz"].missing.bodies == ("other",)
    assert {load.constraint for load in response["c1.tz"].loads} == {"c0", "c1"}


@pytest.mark.bullet
def test_a_scene_estimates_and_marks_it() -> None:
    response = mb.misfit_response(mb.load("assets/minitaur.scene.toml"))
    assert response.estimated
    sources = {load.source for effect in response.effects for load in effect.loads}
    assert sources == {"estimated"}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(mb.MbPluginError, match="not a row of a constraint"):
        door_response()["h1.rz"]


def test_misfits_that_nothing_limits_share_the_loads_of_their_group() -> None:
    """Listed anew for each row, they took 17 s for 400 coupled four-bars."""
    mech, q = coupled_four_bars(3)
    response = mb.misfit_response(mech, q)
    assert len(response.effects) == len(response.stressing) > 20
    for row, effect in zip(response.stressing, response.effects, strict=True):
        column = response.column(row)
        loaded = [response.labels[k] for k in np.flatnonzero(column)]
        assert np.isinf(column[column != 0]).all()
        assert [(load.constraint, load.component) for load in effect.loads] == loaded
        assert effect.loads is response.effects[0].loads
