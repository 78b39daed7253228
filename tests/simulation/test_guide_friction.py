"""Friction of guides by the moments that they carry: drawers and sleeves by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call

L, ARM, MASS = 0.2, 0.3, 4.0


def drawer(mu: float, pull: float, swapped: bool = False, more: str = f"guide_length = {L}") -> str:
    """Return a drawer without weight that is pulled by a force along its guide, ARM to the side of it."""
    a, b = ("box", "world") if swapped else ("world", "box")
    return f"""
gravity = [0, 0, 0]
body = [{{ name = "box", mass = {MASS}, inertia = [1, 1, 1] }}]
[[pair]]
name = "slide"
type = "prismatic"
body_a = "{a}"
body_b = "{b}"
xyz_a = [0, 0, 0]
axis = [1, 0, 0]
friction_coefficient = {mu}
{more}
[[load]]
body = "box"
force = [{pull}, 0, 0]
point = [0, {ARM}, 0]
"""


@pytest.fixture
def made(tmp_path: Path):
    """Return a scene of its text."""

    def load(text: str) -> mb.Scene:
        path = tmp_path / "drawer.scene.toml"
        path.write_text(text, encoding="utf-8")
        return mb.load(path)

    return load


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("mu", [0.1, 0.3])
def test_a_drawer_pulled_beside_its_guide(made, mu: float, swapped: bool) -> None:
    """N₁ = N₂ = F a/L at opposite sides: m a = F (1 − 2 μ a/L) as long as 2 μ a/L < 1."""
    motion = mb.simulate(made(drawer(mu, 20.0, swapped)), 0.2, samples=3)
    sign = -1.0 if swapped else 1.0
    assert sign * motion.qdd[:, 0] == pytest.approx(20.0 * (1 - 2 * mu * ARM / L) / MASS, rel=1e-8)
    assert motion.dissipated[-1] == pytest.approx(40.0 * mu * ARM / L * abs(motion.q[-1, 0]), rel=1e-6)


@pytest.mark.parametrize("pull", [1.0, 1e4])
def test_a_drawer_jams_whatever_the_pull(made, pull: float) -> None:
    """2 μ a/L = 1.05 > 1: it stays, by however much it is pulled; without a stated length nothing holds it."""
    motion = mb.simulate(made(drawer(0.35, pull)), 0.2, samples=3)
    assert np.abs(motion.q).max() < 1e-12 and np.abs(motion.qd).max() < 1e-12
    free = mb.simulate(made(drawer(0.35, pull, more="")), 0.2, samples=3)
    assert free.qdd[:, 0] == pytest.approx(pull / MASS, rel=1e-9)


def test_force_and_moment_together(made) -> None:
    """A pull p at ARM and a side force f at the centre, at right angles: N₁ = f/2 + p a/L, N₂ = |f/2 − p a/L|."""
    pull, side, mu = 20.0, 30.0, 0.2
    text = drawer(mu, pull) + f'[[load]]\nbody = "box"\nforce = [0, {side}, 0]\n'
    motion = mb.simulate(made(text), 0.1, samples=3)
    ends = abs(side / 2 + pull * ARM / L) + abs(side / 2 - pull * ARM / L)
    assert motion.qdd[:, 0] == pytest.approx((pull - mu * ends) / MASS, rel=1e-8)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("friction_coefficient = 0.1\n", "", "states guide_length and no friction"),
        ('"prismatic"', '"revolute"', "guide_length"),
        ("guide_length = 0.2", "guide_length = 0", "guide_length"),
    ],
)
def test_a_length_without_meaning_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "drawer.scene.toml"
    text = drawer(0.1, 1.0).replace(old, new)
    file.write_text(
        text.replace("guide_length", "friction_radius = 0.1\nguide_length") if "revolute" in new else text
    )
    done = call("simulate", str(file), "--duration", "1")
    assert done.code == 2 and message in done.err and "drawer.scene.toml:" in done.err
