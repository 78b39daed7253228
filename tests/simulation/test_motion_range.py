"""Accelerations that friction leaves open: by hand, and against programs that the test writes itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage
from mbplugin.simulation import ContactsOpen
from mbplugin.simulation.motion_range import acceleration_range

G, MASS, HEIGHT = 9.81, 10.0, 0.4
WEIGHT = MASS * G
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
INERTIA = (1.0, 2.0, 3.0)
CORNERS = ((1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5))
Made = Callable[[str], mb.Scene]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Return a scene of its text."""

    def load(text: str) -> mb.Scene:
        path = tmp_path / "made.scene.toml"
        path.write_text(text)
        return mb.load(path)

    return load


def sledge(
    feet: Sequence[tuple[float, float]],
    mus: Sequence[float],
    *,
    rates: dict[str, float] | None = None,
    height: float = HEIGHT,
) -> str:
    moving = ", ".join(f'"top.{k}" = {v}' for k, v in (rates or {"vx": 2.0}).items())
    text = f'body = [{{ name = "top", mass = {MASS}, com = [0, 0, {height}], inertia = {list(INERTIA)} }}]\n'
    text += f"[state]\nqd = {{ {moving} }}\n"
    for k, ((x, y), mu) in enumerate(zip(feet, mus, strict=True)):
        text += (
            f'[[contact]]\nname = "foot {k}"\nbody_a = "top"\npoint = [{x}, {y}, 0]\n'
            f"normal = [0, 0, 1]\nmu = {mu}\n"
        )
    return text


def guides(mus: Sequence[float], pull: float = 100.0, rate: float = 1.0) -> str:
    text = f'body = [{{ name = "car", mass = {MASS}, inertia = [1, 2, 3] }}]\n'
    text += f'load = [{{ body = "car", force = [{pull}, 0, 0] }}]\n[state]\nqd = {{ g0 = {rate} }}\n'
    for k, mu in enumerate(mus):
        text += (
            f'[[pair]]\nname = "g{k}"\ntype = "prismatic"\nbody_a = "world"\nbody_b = "car"\n'
            f"xyz_a = [0, {0.5 - k}, 0]\naxis = [1, 0, 0]\nfriction_coefficient = {mu}\n"
        )
    return text


def ends(scene: mb.Scene) -> dict[str, tuple[float, float]]:
    found = acceleration_range(scene)
    return {} if found is None else {one.name: (one.lower, one.upper) for one in found.accelerations}


# Sledges on rough ground.


def test_front_feet_rougher_than_rear_feet_leave_the_turn_open(made: Made) -> None:
    """Load moves along one diagonal: N_f and N_r stay, the yaw moment is 2 b δ (μ_f − μ_r), |δ| ≤ N_r/2, b = 1/2."""
    front, rear = 0.3, 0.1
    N_f, N_r = np.linalg.solve([[1, 1], [1 - HEIGHT * front, -1 - HEIGHT * rear]], [WEIGHT, 0.0])
    assert N_r < N_f
    found = acceleration_range(made(sledge(CORNERS, (front, front, rear, rear))))
    assert found is not None and found.sliding == tuple(f"foot {k}" for k in range(4))
    (turn,) = found.accelerations
    largest = 0.5 * N_r * (front - rear) / INERTIA[2]
    assert (turn.name, turn.unit, turn.exact) == ("top.wz", "rad/s²", True)
    assert (turn.lower, turn.upper) == pytest.approx((-largest, largest), abs=1e-9)


def test_rough_feet_on_one_diagonal_leave_the_braking_open(made: Made) -> None:
    """With the centre of mass in the plane of the feet each pair of opposite feet carries 0 … W together."""
    rough, smooth = 0.3, 0.1
    found = ends(made(sledge(CORNERS, (rough, smooth, smooth, rough), height=0.0)))
    assert found["top.vx"] == pytest.approx((-rough * G, -smooth * G), abs=1e-9)


@pytest.mark.parametrize(
    ("feet", "mus"),
    [((*CORNERS[:2], (-1.0, 0.0)), (0.3, 0.2, 0.1)), (CORNERS, (0.3,) * 4), (CORNERS, (0.0,) * 4)],
    ids=["three feet", "equal friction", "no friction"],
)
def test_unique_motions_have_no_range(
    made: Made, feet: Sequence[tuple[float, float]], mus: Sequence[float]
) -> None:
    scene = made(sledge(feet, mus))
    assert acceleration_range(scene) is None
    assert "MB302" not in {finding.code for finding in mb.lint(scene).findings}


def test_feet_at_rest_and_models_without_such_friction_are_left_out(made: Made) -> None:
    assert acceleration_range(made(sledge(CORNERS, (0.3, 0.3, 0.1, 0.1), rates={"vx": 0.0}))) is None
    assert acceleration_range(made(guides((0.0, 0.0)))) is None


def test_a_sledge_that_tips_is_refused(made: Made) -> None:
    with pytest.raises(ContactsOpen, match="stay closed"):
        acceleration_range(made(sledge(CORNERS, (1.0, 1.0, 1.1, 1.1), height=1.5)))


def by_programs(feet: np.ndarray, mus: np.ndarray, v: np.ndarray, turn: float) -> np.ndarray:
    """Return the smallest and largest (ax, ay, αz), (3, 2): planar motion, six balances in the feet's forces."""
    slip = v + turn * np.stack((-feet[:, 1], feet[:, 0]), axis=1)
    pull = -mus[:, None] * slip / np.linalg.norm(slip, axis=1)[:, None]
    force = np.column_stack((pull, np.ones(len(mus))))
    arm = np.column_stack((feet, np.full(len(feet), -HEIGHT)))
    moment = np.cross(arm, force)
    A_eq = np.array([force[:, 2], moment[:, 0], moment[:, 1]])
    rows = np.array([force[:, 0] / MASS, force[:, 1] / MASS, moment[:, 2] / INERTIA[2]])
    out = []
    for row in rows:
        low, high = (
            linprog(
                s * row, A_eq=A_eq, b_eq=[WEIGHT, 0, 0], bounds=(0, None), method="highs-ds", options=EXACT
            )
            for s in (1, -1)
        )
        assert low.status == high.status == 0
        out.append((low.fun, -high.fun))
    return np.array(out)


@pytest.mark.long
def test_random_sledges_equal_programs_in_the_forces_of_the_feet(made: Made) -> None:
    rng = np.random.default_rng(43)
    for _ in range(100):
        count = int(rng.integers(3, 8))
        angle = np.sort(rng.uniform(0, 2 * np.pi, count)) + np.linspace(0, 1e-3, count)
        angle[:3] = np.array([0.1, 2.2, 4.3]) + rng.uniform(-0.3, 0.3, 3)
        feet = np.column_stack((np.cos(angle), np.sin(angle))) * rng.uniform(0.8, 1.5, count)[:, None]
        mus, v, turn = rng.uniform(0.05, 0.4, count), rng.uniform(1.0, 2.0, 2), float(rng.uniform(-0.5, 0.5))
        expected = by_programs(feet, mus, v, turn)
        rates = {"vx": float(v[0]), "vy": float(v[1]), "wz": turn}
        found = ends(made(sledge([(float(x), float(y)) for x, y in feet], mus.tolist(), rates=rates)))
        assert bool(found) == (count > 3)
        for name, (low, high) in zip(("top.vx", "top.vy", "top.wz"), expected, strict=True):
            if found:
                assert found[name] == pytest.approx((low, high), abs=1e-9)
            else:
                assert high - low < 1e-9


def turning(mus: Sequence[float], turn: float = 1.0, height: float = 0.1) -> str:
    """A body that turns about foot 0, which holds, while the three others slip."""
    x, y = CORNERS[0]
    return sledge(CORNERS, mus, rates={"vx": turn * y, "vy": -turn * x, "wz": turn}, height=height)


@pytest.mark.parametrize("mus", [(0.9, 0.3, 0.1, 0.2), (0.9, 0.1, 0.1, 0.3), (0.6, 0.2, 0.1, 0.2)])
def test_a_body_that_turns_about_a_foot_that_holds(made: Made, mus: tuple[float, ...]) -> None:
    """Six balances in (α, N, T), and the cone |T| ≤ μ N of the foot between polygons inside and around it."""
    height, turn = 0.1, 1.0
    feet = np.array(CORNERS)
    arm = np.column_stack((feet, np.full(4, -height)))
    slip = turn * np.stack((-(feet - feet[0])[:, 1], (feet - feet[0])[:, 0]), axis=1)
    force = np.zeros((6, 3))
    force[:4, 2] = force[4, 0] = force[5, 1] = 1.0
    force[1:4, :2] = -np.array(mus)[1:, None] * slip[1:] / np.linalg.norm(slip[1:], axis=1)[:, None]
    moment = np.cross(arm[[0, 1, 2, 3, 0, 0]], force)
    r = -feet[0]
    inertial = np.array([-MASS * -r[1], -MASS * r[0], 0.0, 0.0, 0.0, -INERTIA[2]])
    A_eq = np.column_stack((inertial, np.hstack((force, moment)).T))
    b_eq = [*(-MASS * turn**2 * r), WEIGHT, 0.0, 0.0, 0.0]
    angles = 2 * np.pi * np.arange(720) / 720
    expected = []
    for inside in (np.cos(np.pi / 720), 1.0):
        cone = np.zeros((720, 7))
        cone[:, 1], cone[:, 5], cone[:, 6] = -mus[0] * inside, np.cos(angles), np.sin(angles)
        bounds = [(None, None), *[(0, None)] * 4, (None, None), (None, None)]
        for sign in (1, -1):
            one = linprog(
                [sign, *[0] * 6],
                A_ub=cone,
                b_ub=np.zeros(720),
                A_eq=A_eq,
                b_eq=b_eq,
                bounds=bounds,
                method="highs-ds",
                options=EXACT,
            )
            assert one.status == 0
            expected.append(sign * one.fun)
    found = acceleration_range(made(turning(mus)))
    assert found is not None and found.holding == ("foot 0",)
    assert found.sliding == ("foot 1", "foot 2", "foot 3")
    assert " while foot 0 holds, depending on how foot 1, foot 2, foot 3 share the load" in found.words
    low, high = next((a.lower, a.upper) for a in found.accelerations if a.name == "top.wz")
    assert all(one.exact for one in found.accelerations) and high - low > 1e-2
    assert expected[2] - 1e-6 <= low <= expected[0] + 1e-6
    assert expected[1] - 1e-6 <= high <= expected[3] + 1e-6


def test_a_foot_that_cannot_hold_is_refused_and_a_finding(made: Made) -> None:
    scene = made(turning((0.05, 0.3, 0.1, 0.2), turn=3.0))
    with pytest.raises(ContactsOpen, match="stay closed and foot 0 holds"):
        acceleration_range(scene)
    (finding,) = (finding for finding in mb.lint(scene).findings if finding.code == "MB302")
    assert "tips, lifts off or slips" in finding.message and "foot 0 holds" in finding.message


def test_guides_that_press_have_a_range_beside_feet_that_hold(made: Made) -> None:
    """The feet of another body carry its weight; the range of the guides is that without them."""
    text = guides((0.2, 0.2)).replace(
        "body = [{", f'body = [{{ name = "top", mass = {MASS}, inertia = [1, 2, 3] }}, {{'
    )
    feet = sledge(CORNERS, (0.5,) * 4)
    both = made(text + feet[feet.index("[[contact]]") :])
    assert ends(both) == {"g0": (-inf, pytest.approx(10.0 - 0.2 * G, abs=1e-7))}


@pytest.mark.parametrize(
    ("feet", "mus"),
    [
        (CORNERS, (1.0, 1.0, 1.1, 1.1)),
        (CORNERS, (1.0,) * 4),
        (((1.0, 0.5), (1.0, -0.5), (-1.0, 0.0)), (1.0,) * 3),
    ],
    ids=["open", "equal friction", "three feet"],
)
def test_lint_reports_a_sledge_that_tips(
    made: Made, feet: Sequence[tuple[float, float]], mus: Sequence[float]
) -> None:
    """Friction at the feet tips a body whose centre of mass is higher than half its length over μ."""
    codes = {finding.code: finding for finding in mb.lint(made(sledge(feet, mus, height=1.5))).findings}
    assert "tips" in codes["MB302"].message and codes["MB302"].element == "foot 0"
    assert "MB302" not in {
        f.code for f in mb.lint(made(sledge(feet, (1.0,) * len(feet), height=0.9))).findings
    }


def test_a_motion_of_a_scene_with_contacts_is_refused(made: Made) -> None:
    with pytest.raises(BadUsage, match="the scene has 4 contacts, and a motion is computed without"):
        mb.simulate(made(sledge(CORNERS, (0.3,) * 4)), 0.1)


def test_a_sledge_on_springs_moves_within_the_range(made: Made) -> None:
    """Feet of any stiffness share the load in one of the possible ways: least Σ N²/k with the three balances."""
    mus = np.array((0.3, 0.1, 0.1, 0.3))
    found = ends(made(sledge(CORNERS, mus.tolist())))
    rng = np.random.default_rng(1)
    feet = np.array(CORNERS)
    A = np.array([np.ones(4), feet[:, 1], -feet[:, 0] + HEIGHT * mus])
    seen = []
    for _ in range(50):
        soft = np.exp(rng.uniform(-3, 3, 4))
        # A (k Aᵀ y) = balances, N = k Aᵀ y
        N = soft * (A.T @ np.linalg.solve(A * soft @ A.T, [WEIGHT, 0, 0]))
        if (N >= 0).all():
            seen.append((-(mus @ N) / MASS, float(feet[:, 1] @ (mus * N)) / INERTIA[2]))
    assert len(seen) > 10 and np.ptp(seen, axis=0).min() > 1e-2
    for values, name in zip(np.array(seen).T, ("top.vx", "top.wz"), strict=True):
        low, high = found[name]
        assert low - 1e-9 <= values.min() and values.max() <= high + 1e-9


# Joints whose friction grows with their load.


@pytest.mark.parametrize("pull", [100.0, 1e-6, 0.0])
@pytest.mark.parametrize("mus", [(0.2, 0.2), (0.3, 0.1)])
def test_two_parallel_guides_can_press_against_each_other(
    made: Made, mus: tuple[float, float], pull: float
) -> None:
    """Least friction has the smoother guide carry all weight; nothing limits the forces of one against the other.

    Without a pull the only load is across the guides, and does no work.
    """
    found = acceleration_range(made(guides(mus, pull)))
    assert found is not None and found.sliding == ("g0", "g1")
    (one,) = found.accelerations
    assert (one.name, one.lower, one.exact) == ("g0", -inf, True)
    assert one.upper == pytest.approx(pull / MASS - min(mus) * G, abs=1e-9)
    assert one.words == f"the acceleration of 'g0' is at most {one.upper:.6g} m/s²"


def test_guides_that_slide_backwards_accelerate_at_least_so_much(made: Made) -> None:
    (one,) = acceleration_range(made(guides((0.2, 0.2), rate=-1.0))).accelerations
    assert (one.lower, one.upper) == (pytest.approx(10.0 + 0.2 * G, abs=1e-9), inf)


def test_one_guide_is_unique(made: Made) -> None:
    assert acceleration_range(made(guides((0.2,)))) is None


def test_a_guide_whose_load_is_known_has_one_acceleration_beside_guides_that_press(made: Made) -> None:
    text = guides((0.2, 0.2))
    text = text.replace("body = [{", 'body = [{ name = "other", mass = 3, inertia = [1, 1, 1] }, {')
    text = text.replace("g0 = 1.0", "g0 = 1.0, alone = 1.0") + (
        '[[pair]]\nname = "alone"\ntype = "prismatic"\nbody_a = "world"\nbody_b = "other"\n'
        "xyz_a = [0, 5, 0]\naxis = [1, 0, 0]\nfriction_coefficient = 0.4\n"
    )
    found = acceleration_range(made(text))
    assert found is not None and found.sliding == ("g0", "g1")
    assert [one.name for one in found.accelerations] == ["g0"]


# What the reports say.


def test_lint_names_the_contacts_and_the_range(made: Made) -> None:
    result = mb.lint(made(sledge(CORNERS, (0.3, 0.3, 0.1, 0.1))))
    (finding,) = (finding for finding in result.findings if finding.code == "MB302")
    assert finding.element == "foot 0" and "the acceleration of 'top.wz' lies between" in finding.message
    assert set(finding.evidence["accelerations"]) == {"top.wz"}
    (finding,) = (f for f in mb.lint(made(guides((0.2, 0.2)))).findings if f.code == "MB302")
    assert "the acceleration of 'g0' is at most 8.038 m/s²" in finding.message
    assert finding.evidence["accelerations"]["g0"]["lower"] is None


@pytest.mark.long
def test_a_motion_carries_the_range(made: Made, tmp_path: Path) -> None:
    scene = made(guides((0.2, 0.2)))
    motion = mb.simulate(scene, 0.2, samples=2)
    upper = 10.0 - 0.2 * G
    assert motion.motion_range is not None
    assert motion.motion_range.accelerations[0].upper == pytest.approx(upper, abs=1e-9)
    assert motion.qdd[0, 0] <= upper + 1e-9
    assert motion.motion_range.words in motion.notes
    assert mb.simulate(made(guides((0.2,))), 0.2, samples=2).motion_range is None

    made(guides((0.2, 0.2)))
    path = str(tmp_path / "made.scene.toml")
    lines = call("simulate", path, "--duration", "0.2").out.splitlines()
    assert lines[1].startswith("The motion is not unique: the acceleration of 'g0' is at most 8.038")
    document = json.loads(call("simulate", path, "--duration", "0.2", "--output-format", "json").out)
    (one,) = document["motion_range"]["accelerations"]
    assert (one["name"], one["lower"], one["upper"]) == ("g0", None, pytest.approx(upper))


def test_a_motion_from_rest_has_the_range_where_it_starts_to_slide(made: Made) -> None:
    motion = mb.simulate(made(guides((0.2, 0.2), rate=0.0)), 0.2, samples=4)
    assert motion.motion_range is not None and motion.motion_range.time > 0
    assert motion.motion_range.words.startswith("at 0.05 s ")
