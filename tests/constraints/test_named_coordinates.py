"""Coordinates that the caller names are held or refused; what the file states gives way to them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import ContradictedState
from places import ASSETS

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
#: The file states all three coordinates of the crank upright: they cannot all be held at another crank angle.
CRANK = 2.356


def closed_by_hand(crank: float) -> np.ndarray:
    """The joints (3,) of crank 0.3, coupler 0.5 and rocker 0.75 on a ground of 0.85 m, rad, by the cosine law."""
    tip = 0.3 * np.array([np.cos(crank), np.sin(crank)])
    to_ground = np.array([0.85, 0.0]) - tip
    reach = np.hypot(*to_ground)
    inside = np.arccos((0.5**2 + reach**2 - 0.75**2) / (2 * 0.5 * reach))
    coupler = np.arctan2(to_ground[1], to_ground[0]) + inside
    elbow = tip + 0.5 * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(-elbow[1], 0.85 - elbow[0])
    return np.array([crank, coupler - crank, rocker - coupler])


CALLS: dict[str, Callable[[dict[str, float]], np.ndarray]] = {
    "analyze": lambda q: mb.analyze(FOUR_BAR, q).q,
    "lint": lambda q: mb.lint(FOUR_BAR, q=q).analysis.q,
    "reactions": lambda q: mb.reactions(FOUR_BAR, q).q,
    "inverse dynamics": lambda q: mb.inverse_dynamics(FOUR_BAR, q, actuated=["j0"]).q,
    "estop": lambda q: mb.estop(FOUR_BAR, q, brakes=[mb.Brake("j0", 20.0)], limits="ignore").trajectory.q[0],
    "simulate": lambda q: mb.simulate(FOUR_BAR, 0.01, q0=q, samples=1).q[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_named_coordinate_is_held(name: str) -> None:
    assert CALLS[name]({"j0": CRANK}) == pytest.approx(closed_by_hand(CRANK), abs=1e-8)


def test_the_command_line_holds_it_too() -> None:
    document = json.loads(call("reactions", FOUR_BAR, "--q", f"j0={CRANK}", "--output-format", "json").out)
    assert document["q"]["j0"] == pytest.approx(CRANK, abs=1e-12)


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", [*CALLS])
def test_a_named_coordinate_that_no_pose_has_is_refused(name: str) -> None:
    """Coupler and rocker in line reach 1.25 m, crank and ground 1.15 m: the loop closes elsewhere."""
    with pytest.raises(
        ContradictedState, match="no pose that constraint 'j3' allows has j2 = 0; expected j2 = -0"
    ):
        CALLS[name]({"j2": 0.0})


def test_what_the_file_states_is_held_where_it_can_be(tmp_path: Path) -> None:
    """Two four-bars beside each other: the one that is not named stays as the file has it."""
    model = '[[model]]\nfile = "{0}"\nbase = "fixed"\nname = "{1}"\nxyz = [0, {2}, 0]\n'
    closure = '[[closure]]\nname = "{0}3"\ntype = "revolute"\nbody_a = "{0}/rocker"\nbody_b = "{0}/ground"\n'
    frames = "xyz_a = [0.75, 0, 0]\nxyz_b = [0.85, 0, 0]\naxis = [0, -1, 0]\n"
    state = [f'"{name}/j{k}" = {q}' for name in "ab" for k, q in enumerate(closed_by_hand(np.pi / 2))]
    text = "".join(model.format("four_bar.urdf", name, y) for name, y in (("a", 0), ("b", 2)))
    text += "[state.q]\n" + "\n".join(state) + "\n" + "".join(closure.format(name) + frames for name in "ab")
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    file = tmp_path / "two.scene.toml"
    file.write_text(text)
    scene = mb.load(file)
    stated = scene.state.q[[k for k, name in enumerate(scene.mechanism.q_names) if name.startswith("b")]]
    found = mb.analyze(scene, {"a/j0": CRANK})
    by_name = dict(zip(scene.mechanism.q_names, found.q, strict=True))
    assert [by_name[f"a/j{k}"] for k in range(3)] == pytest.approx(closed_by_hand(CRANK), abs=1e-8)
    assert [by_name[f"b/j{k}"] for k in range(3)] == pytest.approx(stated, abs=1e-12)
