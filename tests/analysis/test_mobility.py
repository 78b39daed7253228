"""Mobility to first order and in fact: known mechanisms, and an independent numerical test of the local dimension."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import mbplugin as mb
from local_dimension import local_dimension
from mbplugin.analysis import analyze_mechanism
from mbplugin.analysis.remedies import apply_changes
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.spatial import Array, Pose
from models import body_at, from_world_frames, pose_at
from places import ORACLES
from random_mechanisms import loop_mechanism, scaled

CASES = Path(__file__).parent / "mobility"
Y = (0.0, 1.0, 0.0)


def built(*joints: tuple[str, str, str, Pose]) -> tuple[Mechanism, Array]:
    """A mechanism of (type, body_a, body_b, frame in the world), all bodies at the origin."""
    bodies = {name: Pose.identity() for _, a, b, _ in joints for name in (a, b) if name != WORLD}
    named = [(f"j{k}", *joint) for k, joint in enumerate(joints)]
    return from_world_frames("built", bodies, named)


def hinges(*ends: tuple[str, str, float, float]) -> tuple[Mechanism, Array]:
    """Planar hinges between (body_a, body_b) at (x, z)."""
    return built(*(("revolute", a, b, pose_at(np.array([x, 0.0, z]), Y)) for a, b, x, z in ends))


def strut(offset: float = 0.0, kind: str = "revolute", last: str = "revolute") -> tuple[Mechanism, Array]:
    """Links of 0.5 and 0.3 m between pins 0.8 m apart, the middle pin off their line."""
    pins = [np.array([0, 0, 0.0]), np.array([0.5, 0, offset]), np.array([0.8, 0, 0])]
    frames = [pose_at(p, Y) for p in pins]
    ends = ((WORLD, "u"), ("u", "v"), ("v", WORLD))
    return built(*((t, *end, X) for t, end, X in zip((kind, kind, last), ends, frames, strict=True)))


def bent(closing: tuple[float, float] = (0.0, 0.0)) -> tuple[Mechanism, Array]:
    """A parallelogram with a third crank between its links, whose pivots are shifted by ``closing``."""
    x, z = closing
    return hinges(
        (WORLD, "a", 0, 0), ("a", "c", 0, 0.3), ("c", "b", 1, 0.3), ("b", WORLD, 1, 0),
        (WORLD, "d", 0.4 + x, 0.0 + z), ("d", "c", 0.4, 0.3),
    )  # fmt: skip


def stretched() -> tuple[Mechanism, Array]:
    """A chain of four links, stretched out between its pins."""
    names, places = (WORLD, "a", "b", "c", "d", WORLD), (0.0, 0.2, 0.5, 0.9, 1.0)
    return hinges(*((names[k], names[k + 1], x, 0.0) for k, x in enumerate(places)))


def spherical_strut() -> tuple[Mechanism, Array]:
    """Three hinges through one point in one plane: a great circle stretched out."""
    angles = (0.0, 0.7, 1.9)
    axes = [(np.cos(a), np.sin(a), 0.0) for a in angles]
    frames = [pose_at(np.zeros(3), axis) for axis in axes]
    ends = ((WORLD, "u"), ("u", "v"), ("v", WORLD))
    return built(*(("revolute", *end, X) for end, X in zip(ends, frames, strict=True)))


def bennett(a: float, alpha: float, beta: float, turn: float) -> tuple[Mechanism, Array]:
    """Bennett's loop: links a and b = a sin β / sin α, twists α and β; the first hinge turned."""
    b = a * np.sin(beta) / np.sin(alpha)
    other = 2 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * turn))
    turns = (turn, other, -turn, -other)
    X, frames = Pose.identity(), []
    for angle, (length, twist) in zip(turns, 2 * ((a, alpha), (b, beta)), strict=True):
        frames.append(X)
        X = X @ Pose.from_xyz_rpy([0, 0, 0], [0, 0, angle]) @ Pose.from_xyz_rpy([length, 0, 0], [twist, 0, 0])
    assert np.allclose(X.p, 0.0, atol=1e-12)
    assert np.allclose(X.R, np.eye(3), atol=1e-12)
    ends = ((WORLD, "u"), ("u", "v"), ("v", "w"), ("w", WORLD))
    return built(*(("revolute", *end, frame) for end, frame in zip(ends, frames, strict=True)))


def closed_loop(
    links: tuple[tuple[float, float, float], ...], turns: tuple[float, ...]
) -> tuple[Mechanism, Array]:
    """A loop of hinges of (length, twist, offset) by Denavit and Hartenberg; all turns but the first are rough."""

    def frames(rest: Array) -> list[Pose]:
        X = [Pose.identity()]
        for angle, (length, twist, offset) in zip((turns[0], *rest), links, strict=True):
            turned = X[-1] @ Pose.from_xyz_rpy([0, 0, offset], [0, 0, angle])
            X.append(turned @ Pose.from_xyz_rpy([length, 0, 0], [twist, 0, 0]))
        return X

    def gap(rest: Array) -> Array:
        X = frames(rest)[-1]
        return np.concatenate((X.p, Rotation.from_matrix(X.R).as_rotvec()))

    found = least_squares(gap, turns[1:], xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.abs(found.fun).max() < 1e-12 and np.abs(found.x - turns[1:]).max() < 0.01
    bodies = (WORLD, *(f"b{k}" for k in range(1, len(links))), WORLD)
    ends = pairwise(bodies)
    return built(*(("revolute", *end, X) for end, X in zip(ends, frames(found.x), strict=False)))


def myard() -> tuple[Mechanism, Array]:
    """Myard's plane-symmetric loop of five hinges: two rectangular Bennett loops with a link in common."""
    twist, right = 0.9, 0.5 * np.pi
    a, b = 1.0, 1.0 / np.sin(twist)
    links = ((a, twist, 0), (b, right, 0), (0, np.pi - 2 * twist, 0), (b, right, 0), (a, np.pi - twist, 0))
    return closed_loop(links, (0.4, 2.336, 1.371, -1.771, 3.948))


def schatz(offset: float, turns: tuple[float, ...]) -> tuple[Mechanism, Array]:
    """Schatz's loop of six hinges, which moves the drum of the Turbula mixer."""
    right = 0.5 * np.pi
    middle = ((1.0, right, 0.0),) * 3
    links = ((0.0, right, offset), *middle, (0.0, right, 0.0), (np.sqrt(3.0), 0.0, -offset))
    return closed_loop(links, turns)


def sarrus(count: int, spread: float = 2.0) -> tuple[Mechanism, Array]:
    """Chains of three parallel hinges, each in another plane, that carry a platform straight up."""
    joints = []
    for k in range(count):
        c, s = np.cos(spread * k), np.sin(spread * k)
        for i, (r, z) in enumerate(((1.0, 0.0), (1.4, 0.5), (1.0, 1.0))):
            a = WORLD if i == 0 else f"m{k}{i}"
            b = "top" if i == 2 else f"m{k}{i + 1}"
            joints.append(("revolute", a, b, pose_at(np.array([r * c, r * s, z]), (-s, c, 0.0))))
    return built(*joints)


def rods(base: Array, top: Array) -> tuple[Mechanism, Array]:
    """A free platform on rods with balls at both ends, by their distances."""
    pairs = tuple(
        mb.Pair(
            f"r{k}",
            "distance",
            WORLD,
            "plat",
            Pose(np.eye(3), a),
            Pose(np.eye(3), b),
            length=float(np.linalg.norm(b - a)),
        )
        for k, (a, b) in enumerate(zip(base, top, strict=True))
    )
    mech = Mechanism("rods", (body_at("plat"),), pairs)
    return mech, from_world_frames("plat", {"plat": Pose.identity()}, [])[1]


def of_file(name: str) -> tuple[Mechanism, Array]:
    found = mb.analyze(ORACLES / name if name.endswith(".sdf") else CASES / f"{name}.scene.toml")
    return found.mechanism, found.q


_HEXAGON = np.array([[np.cos(a), np.sin(a), 0.0] for a in 0.5 + np.arange(6)])
_UP = np.array([0.2, 0.1, 1.0])

#: Redundant at all poses near, and they move.
PARADOXICAL = {
    "bennett": lambda: bennett(1.0, 0.6, 1.3, 0.9),
    "bennett, wide": lambda: bennett(0.4, 1.2, 2.0, 2.2),
    "bennett of a file": lambda: of_file("bennett"),
    "goldberg": lambda: of_file("goldberg5"),
    "myard": myard,
    "schatz": lambda: schatz(0.0, (0.4, 3.789, 5.096, -4.436, 2.164, -0.869)),
    "schatz, hinges offset": lambda: schatz(0.3, (0.4, 2.494, -1.187, -1.847, 5.306, 2.273)),
    "bricard, symmetric about a line": lambda: of_file("bricard_line"),
    "bricard, orthogonal": lambda: of_file("bricard_A04.sdf"),
    "sarrus of two chains": lambda: sarrus(2),
    "sarrus of three chains": lambda: sarrus(3),
    "sarrus of a file": lambda: of_file("sarrus"),
    "three equal cranks": lambda: bent(),
    "three equal cranks of a file": lambda: of_file("three_equal_cranks"),
    "3-UU": lambda: of_file("3uu"),
    "kempe: a fourth crank": lambda: of_file("parallelogram_3crank_planar.sdf"),
    "four-bar in space": lambda: of_file("four_bar_4R.sdf"),
    "door with three hinges": lambda: of_file("door_3_hinges.sdf"),
}  # fmt: skip
#: More freedoms to first order than in fact.
SHAKY = {
    "strut": lambda: strut(),
    "strut of balls": lambda: strut(kind="spherical", last="spherical"),
    "strut on a line": lambda: strut(last="point-on-line"),
    "strut of a file": lambda: of_file("strut_collinear"),
    "spherical strut": spherical_strut,
    "stretched chain": lambda: of_file("stretched_chain4"),
    "stretched chain of four": stretched,
    "unequal cranks": lambda: bent((0.0, 0.1)),
    "unequal cranks of a file": lambda: of_file("three_unequal_cranks"),
    "3-RR with concurrent legs": lambda: of_file("3rr_concurrent"),
    "hexapod turned by 90 degrees": lambda: of_file("hexapod_fichter"),
    "arm with a strut": lambda: of_file("arm_with_strut"),
    "equal parallel rods on a circle": lambda: rods(_HEXAGON, _HEXAGON + _UP),
    "ankle": lambda: of_file("leg"),
    "flat parallelogram": lambda: of_file("parallelogram_flat"),
    "folded rectangle": lambda: of_file("four_bar_fold_rectangle.sdf"),
}  # fmt: skip


@pytest.mark.parametrize("name", PARADOXICAL)
def test_paradoxical_mechanisms_move(name: str) -> None:
    mech, q = PARADOXICAL[name]()
    found = analyze_mechanism(mech, q)
    assert found.degree_of_redundancy > 0
    assert (found.dof, found.finite_dof) == local_dimension(mech, found.q)
    assert found.finite_dof == found.dof > 0
    assert not found.mobility.blocks


@pytest.mark.long
@pytest.mark.parametrize("name", SHAKY)
def test_shaky_mechanisms_have_fewer_freedoms_than_to_first_order(name: str) -> None:
    mech, q = SHAKY[name]()
    found = analyze_mechanism(mech, q)
    assert (found.dof, found.finite_dof) == local_dimension(mech, found.q)
    assert found.finite_dof < found.dof


@pytest.mark.parametrize(
    ("name", "p", "first_order", "finite"),
    [
        ("bennett", 3, 1, 1),
        ("goldberg5", 2, 1, 1),
        ("bricard_line", 1, 1, 1),
        ("sarrus", 1, 1, 1),
        ("3uu", 3, 3, 3),
        ("three_equal_cranks", 7, 1, 1),
        ("three_unequal_cranks", 7, 1, 0),
        ("strut_collinear", 4, 1, 0),
        ("3rr_concurrent", 7, 1, 0),
        ("hexapod_fichter", 1, 1, 0),
        ("stretched_chain4", 4, 2, 0),
        ("arm_with_strut", 4, 3, 2),
        ("parallelogram_flat", 4, 2, 1),
        ("leg", 2, 4, 3),
    ],
)
def test_known_numbers(name: str, p: int, first_order: int, finite: int) -> None:
    found = mb.analyze(CASES / f"{name}.scene.toml")
    assert (found.degree_of_redundancy, found.dof, found.finite_dof) == (p, first_order, finite)


def test_two_branches_meet_where_a_parallelogram_is_flat() -> None:
    (block,) = mb.analyze(CASES / "parallelogram_flat.scene.toml").mobility.blocks
    assert [branch.dof for branch in block.branches] == [1, 1]
    assert block.shaky == 0


def test_the_ankle_names_the_joint_that_cannot_move_and_how_to_let_it() -> None:
    found = mb.analyze(CASES / "leg.scene.toml")
    assert found.mobility.shaky_rates == ("ankle_roll",)
    remedy = found.remedies[0]
    assert remedy.restores == ("ankle_roll",)
    after = analyze_mechanism(apply_changes(found.mechanism, remedy.changes), found.q)
    assert (after.degree_of_redundancy, after.finite_dof) == (0, found.finite_dof + 1)


@pytest.mark.parametrize(
    "name", ["strut_collinear", "three_unequal_cranks", "3rr_concurrent", "arm_with_strut"]
)
def test_no_remedy_makes_a_mechanism_of_a_structure(name: str) -> None:
    found = mb.analyze(CASES / f"{name}.scene.toml")
    assert not found.remedies


@pytest.mark.parametrize("offset", [1e-3, 3e-5, 1e-5, 1e-6, 1e-7, 1e-8, 0.0])
@pytest.mark.parametrize("factor", [1.0, 1e3])
def test_a_strut_that_is_nearly_straight_is_rigid(offset: float, factor: float) -> None:
    mech, q = strut(offset)
    found = analyze_mechanism(scaled(mech, factor), q)
    assert found.finite_dof == 0


@pytest.mark.parametrize("tilt", [1e-5, 4.6e-5, -2e-6])
@pytest.mark.parametrize("turn", [0.0, 0.3])
def test_rounded_angles_leave_a_mechanism_mobile(tilt: float, turn: float) -> None:
    # a planar four-bar whose axes are parallel but for what was rounded
    c, s = np.cos(turn), np.sin(turn)
    points = [
        np.array([x * c - z * s, 0, x * s + z * c]) for x, z in ((0, 0), (0.1, 0.3), (0.7, 0.4), (0.8, 0.0))
    ]
    axes = ((0, 1, 0), (tilt, 1, 0), (0, 1, tilt), (0.4 * tilt, 1, -tilt))
    ends = ((WORLD, "u"), ("u", "v"), ("v", "w"), ("w", WORLD))
    mech, q = built(*(("revolute", *e, pose_at(p, a)) for e, p, a in zip(ends, points, axes, strict=True)))
    found = analyze_mechanism(mech, q)
    assert (found.degree_of_redundancy, found.dof, found.finite_dof) == (3, 1, 1)


def test_a_strut_in_a_plane_is_rigid_in_it() -> None:
    mech, q = strut()
    found = analyze_mechanism(mech, q, planar="zx")
    assert (found.degree_of_redundancy, found.dof, found.finite_dof) == (1, 1, 0)


def test_a_locked_or_driven_joint_stays() -> None:
    mech, q = bent()
    locked = replace(mech, locks=(mb.Lock("j0"),))
    driven = replace(mech, drivers=(mb.Driver("d", "j0", rate=1.0), mb.Driver("e", "j2")))
    for held in (locked, driven):
        found = analyze_mechanism(held, q)
        assert found.dof == found.finite_dof == 0


@pytest.mark.long
@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
def test_random_loops_have_the_local_dimension_of_the_independent_test(kind: str) -> None:
    for seed in range(15):
        mech, q = loop_mechanism(seed, 1 + seed % 2, kind)
        found = analyze_mechanism(mech, q)
        if found.degree_of_redundancy and found.sigma_r_plus_1 < 1e-9:
            assert (found.dof, found.finite_dof) == local_dimension(mech, found.q), seed
