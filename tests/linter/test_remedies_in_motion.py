"""A remedy that a finding states is applied as it is written; then the mechanism moves as it was meant."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb

G, RADIUS, RATE = 9.81, 0.1, 2.0


def body(name: str, mass: float, moments: tuple[float, float, float], x: float = 0.0) -> str:
    ixx, iyy, izz = moments
    return (
        f'<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial></link>\n'
    )


def wheel(side: str, y: float, axis: str) -> str:
    return (
        f'<joint name="{side}_wheel_joint" type="continuous"><parent link="base"/><child link="{side}_wheel"/>'
        f'<origin xyz="0 {y} 0"/><axis xyz="{axis}"/></joint>\n'
    )


#: The right wheel turns about the vertical.
WHEELS = (
    '<robot name="w">\n'
    + body("base", 9, (0.1, 0.1, 0.1))
    + body("left_wheel", 1, (0.002, 0.004, 0.002))
    + body("right_wheel", 1, (0.002, 0.004, 0.002))
    + wheel("left", 0.2, "0 1 0")
    + wheel("right", -0.2, "0 0 1")
    + "</robot>"
)
#: Two rods of 0.3 kg and 0.2 m with moments in kg·mm², and in kg·m² divided by 1e6.
PENDULUM = (
    '<robot name="i">\n<link name="world"/>\n'
    + body("a", 0.3, (300.0, 300.0, 300.0), 0.1)
    + '<joint name="j1" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="10" velocity="2"/></joint>\n'
    + body("b", 0.3, (3e-9, 3e-9, 3e-9), 0.1)
    + '<joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.2 0 0"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" effort="10" velocity="2"/></joint></robot>'
)


def rolled(folder: Path, robot: str, *turning: str) -> tuple[float, float, float]:
    """Return the way of the base along x and y, m, and its turn about the vertical, rad, after 1 s."""
    (folder / "wheels.urdf").write_text(robot)
    lines = ['gravity = [0, 0, 0]\n[[model]]\nfile = "wheels.urdf"\nbase = "free"']
    lines += [
        f'[[pfaffian]]\nname = "{side} on ground"\ntype = "rolling"\nbody = "{side}_wheel"\naxis = [0, 1, 0]\n'
        f"radius = {RADIUS}\nplane = {{ point = [0, 0, {-RADIUS}], normal = [0, 0, 1] }}"
        for side in ("left", "right")
    ]
    (folder / "wheels.scene.toml").write_text("\n\n".join(lines))
    rates = {"base.wy": 0.0} | {f"{side}_wheel_joint": RATE for side in turning}
    motion = mb.simulate(folder / "wheels.scene.toml", qd=rates, duration=1.0)
    end = dict(zip(motion.mechanism.q_names, motion.q[-1], strict=True))
    return float(end["base.x"]), float(end["base.y"]), 2 * float(np.arctan2(end["base.qz"], end["base.qw"]))


def test_wheels_whose_axes_agree_as_the_finding_says_roll_straight_on(tmp_path: Path) -> None:
    """A wheel of radius r at a rate of w rolls r w t; with one axis upright, neither wheel rolls."""
    file = tmp_path / "wheels.urdf"
    file.write_text(WHEELS)
    (finding,) = mb.lint(file, select=["MB145"]).findings
    assert finding.element == "right_wheel_joint" and "correct the side that is wrong" in finding.help
    axes = re.search(r"in axis at the zero pose \(\((.*?)\), \((.*?)\)\)", finding.message)
    assert axes is not None
    left, right = (axis.replace(",", "") for axis in axes.groups())
    lines = WHEELS.splitlines(keepends=True)
    assert f'<axis xyz="{right}"/>' in lines[finding.line - 1]
    lines[finding.line - 1] = lines[finding.line - 1].replace(f'"{right}"', f'"{left}"')
    file.write_text("".join(lines))
    assert mb.lint(file).findings == ()
    x, y, turn = rolled(tmp_path, "".join(lines), "left", "right")
    np.testing.assert_allclose((x, y, turn), (RADIUS * RATE * 1.0, 0.0, 0.0), atol=1e-6)
    assert np.abs(rolled(tmp_path, WHEELS, "left")).max() < 1e-6


def period(folder: Path, robot: str) -> float:
    """Return the period of both rods as one rigid pendulum that swings a little, s."""
    (folder / "rods.urdf").write_text(robot)
    (folder / "rods.scene.toml").write_text(f'gravity = [{G}, 0, 0]\n[[model]]\nfile = "rods.urdf"\n')
    motion = mb.simulate(folder / "rods.scene.toml", q={"j1": 0.01}, locks=[mb.Lock("j2")], duration=4.0)
    angle = motion.q[:, motion.mechanism.q_names.index("j1")]
    k = np.flatnonzero(np.diff(np.sign(angle)))
    crossings = motion.time[k] - angle[k] * np.diff(motion.time)[k] / np.diff(angle)[k]
    return float(2 * np.diff(crossings).mean()) if len(crossings) > 1 else np.inf


def test_rods_whose_inertia_is_multiplied_as_the_finding_says_swing_with_their_period(tmp_path: Path) -> None:
    """A rigid pendulum: T = 2 π √(Σ (I + m d²) / Σ m g d)."""
    file = tmp_path / "rods.urdf"
    file.write_text(PENDULUM)
    (finding,) = mb.lint(file, select=["MB141"]).findings
    assert finding.line == 3
    mended = PENDULUM
    for name, factor in re.findall(r"'(\w+)' fits with (\S+) times its inertia", finding.help):
        link = re.search(rf'<link name="{name}">.*?</link>', mended)
        assert link is not None
        times = re.sub(
            r'(i(?:xx|yy|zz))="(.*?)"',
            lambda found, by=float(factor): f'{found[1]}="{float(found[2]) * by}"',
            link[0],
        )
        mended = mended.replace(link[0], times)
    file.write_text(mended)
    assert mb.lint(file).findings == ()
    inertia = 3e-4 + 0.3 * 0.1**2 + 3e-3 + 0.3 * 0.3**2
    right = 2 * np.pi * np.sqrt(inertia / (0.3 * G * 0.1 + 0.3 * G * 0.3))
    assert period(tmp_path, mended) == pytest.approx(right, rel=1e-3)
    assert period(tmp_path, PENDULUM) > 10 * right
