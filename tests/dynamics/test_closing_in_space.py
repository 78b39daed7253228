"""Closed forms of loops in space: against laws of geometry, Newton's method, finite differences and KKT equations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

from closed_mechanisms import axes_at, check_closing, loop, spherical
from mbplugin.dynamics.explicit_closure import Closing, closing_conditions
from mbplugin.dynamics.explicit_closure.newton import NewtonStep
from mbplugin.errors import CannotClose
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_vector, unit
from models import from_world_frames, pose_at

TURN = np.linspace(0, 2 * np.pi, 61)
#: Rounding tilts: what a file with five digits may say.
TILT = 1e-5


CENTRE = np.array([0.2, -0.1, 0.4])
#: Input, coupler and output of 25°, 80° and 70° on a ground of about 90°: the input turns fully.
FOUR = axes_at(CENTRE, np.radians([25, 80, 70, 0]).tolist(), [0.4, 1.9, 1.6, 0.0])
FIVE = axes_at(CENTRE, np.radians([40, 65, 70, 45, 0]).tolist(), [0.4, 1.5, 1.2, 1.4, 0.0])


GROUND = pose_at(np.array([1.1, 0.3, -0.2]), (0.2, 0.9, -0.3))
BALL_A, BALL_B = np.array([0.1, 0.35, 0.15]), np.array([0.9, 0.9, 0.5])


def cross(at: Array, first: tuple[float, float, float], second: tuple[float, float, float]) -> Pose:
    """A frame at a point whose x and y are the axes of a universal joint."""
    x = unit(np.array(first))
    y = unit(np.array(second) - x * (x @ np.array(second)))
    return Pose(np.column_stack((x, y, np.cross(x, y))), np.array(at))


CRANK = ("crank", "revolute", pose_at(np.zeros(3), (0.1, 0.2, 0.97)))
ROCKER = ("rocker", "revolute", GROUND)
SLIDER = ("slider", "prismatic", pose_at(np.array([1.2, 0.2, 0.1]), (0.9, 0.1, 0.4)))
BALL = ("ball", "spherical", pose_at(BALL_B))
CROSS = ("cross", "universal", cross(BALL_A, (0.3, -0.2, 0.9), (0.5, 0.8, 0.1)))
SLEEVE = ("sleeve", "cylindrical", pose_at(np.array([0.7, 0.5, 0.9]), (0.1, 0.9, 0.5)))
BALL_FIRST = ("ball", "spherical", pose_at(BALL_A))

LOOPS = {
    "RUSR, cut in the ball": ([CRANK, CROSS, BALL, ROCKER], 2, "RSU"),
    "RUSR, cut in the rocker": ([CRANK, CROSS, BALL, ROCKER], 3, "RSU"),
    "RUSR, cut in the cross": ([CRANK, CROSS, BALL, ROCKER], 1, "RSU"),
    "RUSP": ([CRANK, CROSS, BALL, SLIDER], 2, "PSU"),
    "RSCP, cut in the ball": ([CRANK, BALL_FIRST, SLEEVE, SLIDER], 1, "PSC"),
    "RSCP, cut in the sleeve": ([CRANK, BALL_FIRST, SLEEVE, SLIDER], 2, "PSC"),
    "RSCP, cut in the slider": ([CRANK, BALL_FIRST, SLEEVE, SLIDER], 3, "PSC"),
}


def rod(second: tuple[str, str, Pose]) -> tuple[Mechanism, Array]:
    """RSSR, or RSSP, whose rod is a distance: its mass and its spin do not matter."""
    mech, q = from_world_frames(
        "rod",
        {"c": Pose.identity(), "r": Pose(rotation_from_vector(np.array([0.3, 0.1, 0.5])), np.ones(3))},
        [(CRANK[0], CRANK[1], WORLD, "c", CRANK[2]), (second[0], second[1], WORLD, "r", second[2])],
    )
    ends = [
        mech_pose.inverse() @ pose_at(point)
        for mech_pose, point in (
            (Pose.identity(), BALL_A),
            (Pose(rotation_from_vector(np.array([0.3, 0.1, 0.5])), np.ones(3)), BALL_B),
        )
    ]
    length = float(np.linalg.norm(BALL_B - BALL_A))
    pair = Pair("rod", "distance", "c", "r", *ends, closure=True, length=length)
    return replace(mech, pairs=(*mech.pairs, pair)), q


def every() -> Iterator[tuple[str, Mechanism, Array, list[str], str]]:
    for cut in range(4):
        mech, q = spherical(FOUR, cut)
        yield f"spherical four-bar, cut {cut}", mech, q, ["j0" if cut else "j3"], "spherical RRR"
    for cut in (2, 4):
        mech, q = spherical(FIVE, cut)
        yield f"spherical five-bar, cut {cut}", mech, q, ["j0", "j1"], "spherical RRR"
    for name, (joints, cut, kind) in LOOPS.items():
        mech, q = loop(joints, cut)
        yield name, mech, q, ["crank"], kind
    yield "RSSR by a rod", *rod(ROCKER), ["crank"], "R-distance"
    yield "RSSP by a rod", *rod(SLIDER), ["crank"], "P-distance"


EVERY = list(every())
#: One of each kind, followed as far round as it reaches.
TURNED = [
    "spherical four-bar, cut 1",
    "spherical five-bar, cut 4",
    "RUSR, cut in the rocker",
    "RUSP",
    "RSCP, cut in the slider",
    "RSSR by a rod",
    "RSSP by a rod",
]


@pytest.mark.parametrize(
    ("mech", "q", "independent", "kind"), [c[1:] for c in EVERY], ids=[c[0] for c in EVERY]
)
def test_g_A_and_xi_of_every_loop(mech: Mechanism, q: Array, independent: list[str], kind: str) -> None:
    """g closes to rounding, A and ξ are its derivatives, and the motion is that of the KKT equations."""
    closing = closing_conditions(mech, q, independent)
    (step,) = closing.steps
    assert sorted(step.kind) == sorted(kind)
    assert closing.explicit
    assert set(closing.independent) == set(independent)
    np.testing.assert_allclose(closing.g(q[closing.independent_coordinates]), q, atol=1e-12)
    check_closing(mech, q, closing)
    away = closing.g(q[closing.independent_coordinates] + 0.1)
    assert max(closing.residuals(away).values()) < 1e-14
    assert np.abs(away - q).max() > 0.05
    check_closing(mech, away, closing)


def require_one_pose(mech: Mechanism, q: Array, other: Array) -> None:
    """Turns and the sign of a quaternion make no difference."""
    poses, others = forward(mech, q), forward(mech, other)
    np.testing.assert_allclose(poses.p_WC, others.p_WC, atol=1e-9)
    np.testing.assert_allclose(poses.R_WL, others.R_WL, atol=1e-9)


def by_newton(closing: Closing) -> Closing:
    """The same closing conditions with Newton's method in place of the closed form."""
    steps = [
        replace(step.rates) if not isinstance(step, NewtonStep) else step  # type: ignore[union-attr]
        for step in closing.steps
    ]
    return replace(closing, steps=tuple(steps))


@pytest.mark.long_after(5)
@pytest.mark.parametrize("name", TURNED)
def test_over_a_turn_it_is_newton_s_method_and_keeps_its_branch(name: str) -> None:
    mech, q, independent = next(case[1:4] for case in EVERY if case[0] == name)
    closing = closing_conditions(mech, q, independent)
    newton = by_newton(closing)
    assert not newton.explicit
    k = closing.independent_coordinates
    here = followed = q
    reached = []
    for angle in TURN[1:]:
        try:
            here = closing.g(q[k] + angle, near=here)
        except CannotClose:
            break
        followed = newton.g(q[k] + angle, near=followed)
        reached.append(angle)
        require_one_pose(mech, here, followed)
        if closing.margin(here) > 0.02:
            rates = [c.A(here)[:, 0] for c in (closing, newton)]
            np.testing.assert_allclose(*rates, rtol=1e-7, atol=1e-7)
        # whatever it is asked from, the branch is its own
        require_one_pose(mech, closing.g(q[k] + angle, near=q), here)
    assert reached[-1] > 0.2


def output_angles(arcs: list[float], theta: float) -> tuple[float, float]:
    """Both outputs ψ of a spherical four-bar at an input θ, by hand from arcs a, b, c, d to the ground's.

    Input axis (0, 0, 1) and output axis (0, sin d, cos d); θ about the first from the second, ψ about the second
    from the first. The axes of the coupler are

        (−sin a sin θ, sin a cos θ, cos a)
        (sin c sin ψ, cos c sin d − sin c cos d cos ψ, cos c cos d + sin c sin d cos ψ)

    and their product is cos b: A cos ψ + B sin ψ = C.
    """
    a, b, c, d = arcs
    A = np.sin(c) * (np.cos(a) * np.sin(d) - np.sin(a) * np.cos(d) * np.cos(theta))
    B = -np.sin(a) * np.sin(c) * np.sin(theta)
    C = np.cos(b) - np.cos(c) * (np.sin(a) * np.sin(d) * np.cos(theta) + np.cos(a) * np.cos(d))
    middle, half = np.arctan2(B, A), np.arccos(C / np.hypot(A, B))
    return float(middle + half), float(middle - half)


def between(axis: Array, start: Array, end: Array) -> float:
    """The angle about an axis from one direction (3,) to another."""
    u, v = (x - axis * (axis @ x) for x in (start, end))
    return float(np.arctan2(axis @ np.cross(u, v), u @ v))


@pytest.mark.parametrize("other", [False, True])
def test_a_spherical_four_bar_by_the_law_of_cosines(other: bool) -> None:
    """Input angle to output angle over a turn, from the arcs between the axes alone, on both branches."""
    mech, q = spherical(FOUR, 2)
    closing = closing_conditions(mech, q, ["j0"])
    (step,) = closing.steps
    if other:
        closing = replace(closing, steps=tuple(step.alternatives()))
    z = [X.R[:, 2] for X in FOUR]
    arcs = [float(np.arccos(z[k] @ z[(k + 1) % 4])) for k in range(4)]
    theta_0, psi_0 = between(z[0], z[3], z[1]), between(z[3], z[0], z[2])
    output = mech.q_names.index("j3")
    away = []
    for turn in TURN:
        pose = closing.g(q[closing.independent_coordinates] + turn)
        psi = psi_0 + sense(mech) * (pose[output] - q[output])
        away.append([abs(np.exp(1j * psi) - np.exp(1j * e)) for e in output_angles(arcs, theta_0 + turn)])
    # one and the same branch all the way round
    assert min(np.max(away, axis=0)) < 1e-12
    assert max(np.max(away, axis=0)) > 0.5


def sense(mech: Mechanism) -> float:
    return 1.0 if mech.pair_by_name["j3"].body_a == WORLD else -1.0


def test_a_rod_by_the_cosine_equation_of_its_ends() -> None:
    """R-distance: |p(θ) − p(φ)| is the rod over the whole range, and the two assemblies meet where it is flat."""
    mech, q = rod(ROCKER)
    closing = closing_conditions(mech, q, ["crank"])
    (step,) = closing.steps
    (other,) = step.alternatives()
    axis = [CRANK[2].R[:, 2], GROUND.R[:, 2]]
    length = np.linalg.norm(BALL_B - BALL_A)
    for angle in np.linspace(-0.6, 0.6, 13):
        for one in (closing, replace(closing, steps=(other,))):
            theta, phi = one.g(np.array([angle]))
            a = rotation_from_vector(axis[0] * theta) @ BALL_A
            b = GROUND.p + rotation_from_vector(axis[1] * phi) @ (BALL_B - GROUND.p)
            assert np.linalg.norm(b - a) == pytest.approx(length, rel=1e-12)


def dead_centre(closing: Closing, q: Array) -> tuple[float, Array]:
    """The crank angle near its end of reach, by bisection, and the pose there."""
    near, far, pose = 0.0, None, q
    k = closing.independent_coordinates
    for turn in np.linspace(0, 2 * np.pi, 200):
        try:
            pose = closing.g(q[k] + turn)
            near = turn
        except CannotClose:
            far = turn
            break
    assert far is not None
    for _ in range(45):
        middle = (near + far) / 2
        try:
            pose, near = closing.g(q[k] + middle), middle
        except CannotClose:
            far = middle
    return near, pose


@pytest.mark.parametrize("name", ["RUSP", "RSSR by a rod", "RSSP by a rod"])
def test_near_a_dead_centre_rates_are_derivatives_and_at_it_there_are_none(name: str) -> None:
    _, mech, q, independent, _ = next(case for case in EVERY if case[0] == name)
    closing = closing_conditions(mech, q, independent)
    k = closing.independent_coordinates
    end, at_end = dead_centre(closing, q)
    assert closing.margin(at_end) < 1e-4
    assert closing.is_near_singular(at_end)
    last = None
    for before in (1e-2, 1e-4):
        here = closing.g(q[k] + end - before)
        h = 1e-4 * before
        slope = (closing.g(q[k] + end - before + h) - closing.g(q[k] + end - before - h)) / (2 * h)
        plain = [mech.q_names.index(name) for name in mech.qd_names if name in mech.q_names]
        rates = [mech.qd_names.index(name) for name in mech.qd_names if name in mech.q_names]
        np.testing.assert_allclose(closing.A(here)[rates, 0], slope[plain], rtol=1e-5, atol=1e-6)
        size = float(np.abs(closing.A(here)).max())
        # near the end the rate grows as one over the root of the distance
        assert last is None or size / last == pytest.approx(10.0, rel=0.1)
        last = size
    # the same law, where differences of poses say nothing more: no direction is dropped as singular
    closest = float(np.abs(closing.A(closing.g(q[k] + end - 1e-7))).max())
    assert closest / last == pytest.approx(1000**0.5, rel=0.1)
    assert closing.change(at_end).independent != tuple(independent)
    assert not closing.change(at_end).is_near_singular(at_end)
    with pytest.raises(CannotClose, match="do not reach that far"):
        closing.g(q[k] + end + 1e-3)


@pytest.mark.parametrize("off", [0.0, TILT, 0.05])
def test_axes_that_meet_but_for_rounding_are_spherical_and_others_are_not(off: float) -> None:
    """Link frames stand along the axes, where a file has them; one axis is beside the centre."""
    aside = off * np.array([0.3, -0.8, 0.5])
    frames = [Pose(X.R, X.p + 0.3 * X.R[:, 2] + (aside if k == 2 else 0.0)) for k, X in enumerate(FOUR)]
    mech, q = spherical(frames, 3)
    if off > 1e-3:
        # four hinges that do not meet hold everything
        assert closing_conditions(mech, q).independent == ()
        return
    closing = closing_conditions(mech, q, ["j0"])
    (step,) = closing.steps
    assert step.kind == "spherical RRR"
    gap = max(closing.residuals(closing.g(np.array([0.7]))).values())
    assert gap < 1e-14 if not off else 1e-3 * off < gap < 10 * off


def test_without_names_the_coordinates_are_such_that_the_loop_has_a_closed_form() -> None:
    for _, mech, q, independent, _ in EVERY:
        closing = closing_conditions(mech, q)
        assert closing.explicit
        assert not closing.is_near_singular(q)
        assert len(closing.independent) == len(independent)


CHAINS = [
    ("revolute", "universal", "spherical", "revolute"),
    ("revolute", "spherical", "universal", "revolute"),
    ("revolute", "universal", "spherical", "prismatic"),
    ("prismatic", "universal", "spherical", "revolute"),
    ("revolute", "spherical", "cylindrical", "prismatic"),
    ("revolute", "cylindrical", "spherical", "prismatic"),
]


@pytest.mark.long
@settings(deadline=None, max_examples=25, derandomize=True)
@example(seed=6544, chain=CHAINS[1], cut=3)
@given(seed=st.integers(0, 2**31), chain=st.sampled_from(CHAINS), cut=st.integers(1, 3))
def test_any_such_chain_at_any_place_and_cut_anywhere_has_a_closed_form(
    seed: int, chain: tuple[str, ...], cut: int
) -> None:
    rng = np.random.default_rng(seed)
    frames = [Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3)) for _ in chain]
    mech, q = loop([(f"j{k}", kind, X) for k, (kind, X) in enumerate(zip(chain, frames, strict=True))], cut)
    closing = closing_conditions(mech, q, ["j0"])
    assert closing.explicit
    assume(closing.margin(q) > 0.2)
    check_closing(mech, q, closing, tolerance=1e-5)
