"""Trajectories resampled, saved and drawn."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from mbplugin.errors import BadNumber, BadUsage, MissingDependency, UnknownName
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import (
    COMPONENTS,
    Array,
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
)
from mbplugin.simulation.passing_marks import passing
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import body_at, chain, pose_at
from trajectories import falling, through

START = np.array([0.7]), np.array([0.4])


def pendulum(name: str = "hinge") -> Mechanism:
    bob = Body("bob", 2.0, np.array([0.0, -0.8, 0.0]), 0.1 * np.eye(3))
    hinge = pose_at(np.zeros(3))
    pair = Pair(name, "revolute", "world", "bob", hinge, hinge)
    return Mechanism("pendulum", (bob,), (pair,), gravity=np.array([0.0, -9.81, 0.0]))


def errors(intervals: int) -> tuple[float, float, float, float]:
    """Largest errors between samples of q, q̇, q̈ and energy."""
    fine = np.linspace(0, 1, 193)
    exact = falling(pendulum(), *START, fine)
    coarse = falling(pendulum(), *START, np.linspace(0, 1, intervals + 1)).resample(fine)
    energy = coarse.energy - coarse.energy[0]
    worst = [np.abs(getattr(coarse, n) - getattr(exact, n)).max() for n in ("q", "qd", "qdd")]
    return (*worst, float(np.abs(energy).max()))


def test_orders_of_the_interpolation() -> None:
    rough, fine = errors(12), errors(24)
    orders = np.log2(np.array(rough) / np.array(fine))
    assert orders[:3] == pytest.approx([6, 4, 3], abs=0.4)
    assert fine[0] < 1e-7 and orders[3] > 3.5


def test_samples_stay_where_they_are() -> None:
    motion = falling(pendulum(), *START, np.linspace(0, 1, 20))
    again = motion.resample(motion.time)
    for name in ("q", "qd", "qdd"):
        assert getattr(again, name) == pytest.approx(getattr(motion, name), abs=1e-13)
    assert again.reactions("hinge") == pytest.approx(motion.reactions("hinge"), abs=1e-10)
    assert not again.q.flags.writeable


def spinning(times: Array, omega: Array, drift: Array) -> Trajectory:
    """A ball that turns steadily about a fixed axis and flies a parabola."""
    mech = replace(Mechanism("ball", (body_at("ball"),)), gravity=np.array([0.0, 0.0, -2.0]))
    first = np.array([0.3, -0.4, 0.5, np.sqrt(0.5)])
    R0 = rotation_from_quaternion(first)
    states = []
    for t in times.tolist():
        turn = quaternion_from_rotation(rotation_from_vector(omega * t) @ R0)
        p = drift * t + np.array([0, 0, -(t**2)])
        states.append((t, np.concatenate((p, turn)), np.concatenate((drift - [0, 0, 2 * t], omega))))
    return through(mech, states)


def test_turns_stay_on_the_group() -> None:
    omega, drift = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.2, 3.0])
    fine = np.linspace(0, 3, 50)
    made = spinning(np.linspace(0, 3, 5), omega, drift).resample(fine)
    exact = spinning(fine, omega, drift)
    assert np.linalg.norm(made.q[:, 3:], axis=1) == pytest.approx(np.ones(50), abs=1e-14)
    for k in range(50):
        turned = rotation_from_quaternion(made.q[k, 3:]) - rotation_from_quaternion(exact.q[k, 3:])
        assert np.abs(turned).max() < 1e-12
    assert made.q[:, :3] == pytest.approx(exact.q[:, :3], abs=1e-12)


def test_tumbling_is_of_sixth_order() -> None:
    """A turn whose axis wanders: the rotation vector's derivatives at the far end count."""

    def tumble(times: Array) -> Trajectory:
        mech, _ = chain(1, "spherical", np.random.default_rng(1))
        states = []
        for t in times.tolist():
            theta = np.array([np.sin(t), t**2 / 2, np.cos(2 * t)])
            d = np.array([np.cos(t), t, -2 * np.sin(2 * t)])
            dd = np.array([-np.sin(t), 1.0, -4 * np.cos(2 * t)])
            states.append((t, theta, *_omega_alpha(theta, d, dd)))
        time, theta, omega, alpha = (np.array(c) for c in zip(*states, strict=True))
        q = np.array([quaternion_from_rotation(rotation_from_vector(x)) for x in theta])
        motion = through(mech, [(0.0, q[0], omega[0])] * len(time))
        return replace(motion, time=time, q=q, qd=omega, qdd=alpha)

    def worst(intervals: int) -> float:
        fine = np.linspace(0.1, 1.3, 61)
        made, exact = tumble(np.linspace(0.1, 1.3, intervals + 1)).resample(fine), tumble(fine)
        turned = [
            rotation_from_quaternion(a) - rotation_from_quaternion(b)
            for a, b in zip(made.q, exact.q, strict=True)
        ]
        return float(np.abs(turned).max())

    assert np.log2(worst(6) / worst(12)) > 5.3


def _omega_alpha(theta: Array, d: Array, dd: Array) -> tuple[Array, Array]:
    """ω = J(θ) θ̇ by its series, and α by differences of it along θ(t)."""

    def omega(x: Array, rate: Array) -> Array:
        phi = float(np.linalg.norm(x))
        a, b = (1 - np.cos(phi)) / phi**2, (phi - np.sin(phi)) / phi**3
        return np.asarray(rate + a * np.cross(x, rate) + b * np.cross(x, np.cross(x, rate)))

    e = 1e-5
    ahead, behind = (theta + s * e * d + e * e * dd / 2 for s in (1, -1))
    return omega(theta, d), (omega(ahead, d + e * dd) - omega(behind, d - e * dd)) / (2 * e)


def struck() -> Trajectory:
    """Two smooth stretches with a jump of the rate between them, at 0.5 s."""
    one = falling(pendulum(), *START, np.linspace(0, 0.5, 6))
    other = falling(pendulum(), one.q[-1], one.qd[-1] + 2.0, np.linspace(0, 0.5, 6))
    joined = {n: np.concatenate((getattr(one, n), getattr(other, n))) for n in ("q", "qd", "qdd")}
    return replace(
        one,
        **joined,
        **dict.fromkeys(("kinetic", "potential", "applied", "driven"), np.zeros(12)),
        dissipated=np.concatenate((np.linspace(0, 1, 6), np.full(6, 1.0))),
        time=np.concatenate((one.time, other.time + 0.5)),
        segment=np.repeat([0, 1], 6),
        active=((), ()),
        events=(passing(0.5, "user", "strike", one.qd[-1]),),
    )


def test_nothing_is_interpolated_across_an_event() -> None:
    motion = struck()
    made = motion.resample([0.0, 0.4999999, 0.5, 0.5, 0.5000001, 1.0])
    before, after = motion.qd[5, 0], motion.qd[6, 0]
    assert made.qd[1:5, 0] == pytest.approx([before, before, after, after], abs=1e-5)
    assert made.segment.tolist() == [0, 0, 0, 1, 1, 1]
    assert motion.resample([0.5]).qd[0, 0] == after
    assert made.dissipated == pytest.approx([0, 1, 1, 1, 1, 1], abs=1e-6)
    assert motion.resample([0.1, 0.25]).dissipated == pytest.approx([0.2, 0.5])


@pytest.mark.parametrize(
    ("times", "error", "said"),
    [
        ([0.0, np.nan], BadNumber, "not finite"),
        ([0.0, 1.5], BadUsage, "expected 0 s to 1 s"),
        ([-0.1], BadUsage, "outside"),
        ([0.5, 0.2], BadUsage, "decrease"),
    ],
)
def test_times_that_cannot_be(times: list[float], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        struck().resample(times)


NAMES = ["hinge", 'a,"b"', "two\nlines", "größe [°]", "'=1+1"]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_with_units(name: str, tmp_path: Path) -> None:
    motion = falling(pendulum(name), *START, np.linspace(0, 1, 5))
    motion.save(tmp_path / "motion.csv", reactions=[name])
    with (tmp_path / "motion.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header[:4] == ["time [s]", f"q {name} [rad]", f"qd {name} [rad/s]", f"qdd {name} [rad/s²]"]
    # a text that begins with an apostrophe has another one before it, so that it is read back as it was
    mark = "'" if name.startswith("'") else ""
    assert header[-6:] == [f"{mark}{name} {c} [{'N' if c[0] == 't' else 'N·m'}]" for c in COMPONENTS]
    values = np.array(rows, dtype=float)
    assert (values[:, 0] == motion.time).all() and (values[:, 1] == motion.q[:, 0]).all()
    assert (values[:, -6:] == motion.reactions(name)).all()
    assert len({len(row) for row in (header, *rows)}) == 1


def test_arrays(tmp_path: Path) -> None:
    motion = struck()
    motion.save(tmp_path / "motion.npz", reactions=["hinge"])
    with np.load(tmp_path / "motion.npz", allow_pickle=False) as file:
        assert (file["qdd"] == motion.qdd).all()
        assert (file["reactions"][0] == motion.reactions("hinge")).all()
        assert (file["q_names"].tolist(), file["q_units"].tolist()) == (["hinge"], ["rad"])
        about = json.loads(str(file["about"]))
    assert about["events"][0]["joint"] == "strike" and about["outcome"] == "completed"


def test_units_follow_the_coordinates(tmp_path: Path) -> None:
    mech, q = chain(2, "point-on-line", np.random.default_rng(0))
    through(mech, [(0.0, q, np.zeros(8))]).save(tmp_path / "m.csv")
    header = (tmp_path / "m.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert header[1:4] == ["q j0.z [m]", "q j0.qx [1]", "q j0.qy [1]"]
    assert header[11:13] == ["qd j0.vz [m/s]", "qd j0.wx [rad/s]"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    motion, path = struck(), tmp_path / "motion.csv"
    path.write_text("old", encoding="utf-8")
    with (
        mock.patch("mbplugin.csv_tables.csv_text", side_effect=OSError("full")),
        pytest.raises(BadUsage, match="written"),
    ):
        motion.save(path)
    with pytest.raises(UnknownName):
        motion.save(path, reactions=["hing"])
    with pytest.raises(BadUsage, match=r"expected \.npz or \.csv"):
        motion.save(tmp_path / "motion.xlsx", reactions=["hinge"])
    with pytest.raises(BadUsage, match="cannot be written"):
        motion.save(tmp_path / "nowhere" / "motion.csv")
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"motion.{ending}"
    motion = replace(struck(), mechanism=pendulum("_a $x$ <b>"))
    motion.plot(path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG" if ending == "png" else b"<?xml") and len(data) > 10_000
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("error")
def test_a_picture_of_names_that_are_formulas_or_long(tmp_path: Path) -> None:
    """Matplotlib warns where a name leaves no room for the axes, and raises at half a formula."""
    mechanism = replace(pendulum("$a" + 200 * "L$" + "手\u202e"), name="\\frac{ $\\frac{$ 手" + 300 * "M")
    motion = replace(struck(), mechanism=mechanism)
    motion.plot(tmp_path / "motion.PNG")
    assert (tmp_path / "motion.PNG").read_bytes().startswith(b"\x89PNG")


def test_a_picture_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match=r"expected \.png"):
        struck().plot(tmp_path / "motion.docx")
    missing = mock.patch.dict(sys.modules, {"matplotlib.figure": None})
    with missing, pytest.raises(MissingDependency, match=r"python -m pip install matplotlib"):
        struck().plot(tmp_path / "motion.png")
    assert list(tmp_path.iterdir()) == []
