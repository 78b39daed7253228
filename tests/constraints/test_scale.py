"""Verdicts do not depend on the unit of length: metres, millimetres and kilometres."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, ORACLES
from mbplugin.analysis import analyze_mechanism
from mbplugin.constraints.assembly import assemble
from mbplugin.dynamics.explicit_closure import closing_conditions
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.kinematics import home
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Pose, align_z
from scaled import scaled, scaled_coordinates

#: From metres to kilometres, to millimetres, and further than anybody goes.
SCALES = (1e-3, 1e3, 1e-6, 1e6)
CORPUS = sorted(ORACLES.glob("*.sdf")) + sorted(
    p for p in (*ASSETS.glob("*.scene.toml"), ASSETS / "four_bar.urdf", ASSETS / "arm_6r.urdf")
)


def verdict(mech: Mechanism, q: Any, **options: Any) -> dict[str, Any]:
    found = analyze_mechanism(mech, q, samples=4, **options)
    return {
        "p": found.degree_of_redundancy,
        "structural": found.structural_redundancy,
        "dof": found.dof,
        "rank": found.rank,
        "unique": {
            c.name: (c.reaction, tuple((k.name, k.unique) for k in c.components)) for c in found.constraints
        },
        "moved": found.assembly.worst_file > 1e-6 * found.assembly.length,
    }


@pytest.mark.long_after(13)
@pytest.mark.bullet
@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_a_model_in_other_units_has_the_same_verdict(path: Any) -> None:
    scene = mb.load(path)
    mech, q = scene.mechanism, scene.state.q
    expected = verdict(mech, q, stated=scene.state)
    for s in SCALES:
        there = scaled_coordinates(mech, q, s)
        assert verdict(scaled(mech, s), there, stated=replace(scene.state, q=there)) == expected, s


#: Where the legs stand, where they carry the platform (in its axes), and where that is, m.
TURN = np.arange(6) * np.pi / 3
FEET = np.column_stack((np.cos(TURN + 0.3 * (-1) ** np.arange(6)), np.sin(TURN), 0 * TURN))
HEADS = 0.6 * np.column_stack((np.cos(TURN), np.sin(TURN + 0.2 * (-1) ** np.arange(6)), 0 * TURN))
TOP = np.array([0.0, 0.0, 1.2])


def leg_lengths() -> list[float]:
    return [float(np.linalg.norm(HEADS[k] + TOP - FEET[k])) for k in range(6)]


def legged_platform() -> Mechanism:
    """A platform on six legs, each a universal joint, a slide and a ball, all lengths near 1 m."""
    bodies, pairs = [Body("platform", 5.0, np.zeros(3), 0.3 * np.eye(3))], []
    for k in range(6):
        R = align_z(HEADS[k] + TOP - FEET[k])
        low, high = f"low{k}", f"high{k}"
        bodies += [Body(n, 1.0, np.zeros(3), 0.01 * np.eye(3)) for n in (low, high)]
        frame, at = Pose(R, FEET[k]), Pose(np.eye(3), np.zeros(3))
        pairs += [
            Pair(f"u{k}", "universal", WORLD, low, frame, at),
            Pair(f"s{k}", "prismatic", low, high, at, at, freedoms=(Freedom(lower=0.5, upper=2.0),)),
            Pair(f"b{k}", "spherical", high, "platform", at, Pose(R, HEADS[k]), closure=k > 0),
        ]
    return Mechanism("legged platform", tuple(bodies), tuple(pairs))


def _home(mech: Mechanism, slides: float) -> Any:
    q = home(mech)
    for k in range(6):
        q[mech.tree.joint_of_pair[f"s{k}"].q] = slides
    return q


def _slides(mech: Mechanism, q: Any) -> list[float]:
    return [float(q[mech.tree.joint_of_pair[f"s{k}"].q][0]) for k in range(6)]


@pytest.mark.parametrize("s", SCALES)
def test_a_pose_is_closed_to_the_same_one_in_every_unit(s: float) -> None:
    mech = legged_platform()
    there, start = scaled(mech, s), _home(mech, 0.6)
    found = assemble(there, scaled_coordinates(mech, start, s))
    assert found.worst <= 1e-9 * found.length
    assert found.q == pytest.approx(
        scaled_coordinates(mech, assemble(mech, start).q, s), rel=1e-6, abs=1e-9 * s
    )


@pytest.mark.parametrize("s", [1.0, *SCALES])
def test_slides_that_start_short_are_drawn_out_in_every_unit(s: float) -> None:
    """The platform stands fixed: every slide has to find the distance of its two ends by itself."""
    mech = legged_platform()
    fixed = Pair("hold", "fixed", WORLD, "platform", Pose(np.eye(3), TOP), Pose.identity())
    pairs = (fixed, *(replace(p, closure=True) if p.name == "b0" else p for p in mech.pairs))
    held = scaled(replace(mech, pairs=pairs), s)
    found = assemble(held, scaled_coordinates(held, _home(held, 0.6), s))
    assert found.worst <= 1e-9 * found.length and found.beyond_limits == ()
    assert _slides(held, found.q) == pytest.approx([s * leg for leg in leg_lengths()], rel=1e-9)


def test_the_legged_platform_has_six_freedoms_in_every_unit() -> None:
    mech = legged_platform()
    closed = assemble(mech, _home(mech, 1.2)).q
    expected = verdict(mech, closed)
    assert (expected["p"], expected["dof"]) == (0, 6)
    for s in SCALES:
        assert verdict(scaled(mech, s), scaled_coordinates(mech, closed, s)) == expected


@pytest.mark.parametrize("s", [1.0, *SCALES])
def test_newton_steps_of_a_loop_do_the_same_in_every_unit(s: float) -> None:
    mech = legged_platform()
    q = assemble(mech, _home(mech, 1.2)).q
    expected = closing_conditions(mech, q)
    there = scaled(mech, s)
    closing = closing_conditions(there, scaled_coordinates(mech, q, s))
    assert closing.independent == expected.independent
    assert closing.margin(scaled_coordinates(mech, q, s)) == pytest.approx(expected.margin(q), rel=1e-6)


def hinged_plate(seed: int) -> Mechanism:
    """A plate that slides on another, and is hinged to it where both have their centre of mass.

    No lever arm of the hinge, which is cut, nor the distance of the centres is more than rounding; the
    slide stands about 1 m away, on both sides.
    """
    rng = np.random.default_rng(seed)
    R, turn, place = align_z(rng.normal(size=3)), align_z(rng.normal(size=3)), rng.uniform(-1, 1, 3)
    centre = np.zeros(3)
    slide = (Pose(turn, place), Pose(R.T @ turn, R.T @ place))
    hinge = (Pose(turn, centre), Pose(R.T @ turn, centre))
    bodies = tuple(Body(name, 1.0, centre, 0.1 * np.eye(3)) for name in ("base", "plate"))
    pairs = (
        Pair("slide", "planar", "base", "plate", *slide),
        Pair("hinge", "revolute", "base", "plate", *hinge, closure=True),
    )
    return Mechanism("plate", bodies, pairs)


@pytest.mark.parametrize("s", [1.0, *SCALES])
def test_places_that_are_rounding_are_no_length(s: float) -> None:
    for seed in range(10):
        mech = scaled(hinged_plate(seed), s)
        closed = assemble(mech, home(mech))
        assert 0.01 * s < closed.length < 10 * s
        found = analyze_mechanism(mech, closed.q, samples=0)
        # three rows of the slide and five of the hinge leave one of six freedoms: three too many
        assert (found.degree_of_redundancy, found.dof) == (3, 7)
