"""A stated payload takes the place of the scene's in every command, and a note names those."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage
from mbplugin.model.scene import Payload, Scene
from places import ASSETS

JOINT = "j2"
ARM = str(ASSETS / "arm_6r.scene.toml")


def carrying(mass: float) -> Scene:
    """Return the arm with a mass at its tool, kg."""
    scene = mb.load(ARM)
    tool = mb.estop(scene, qd={JOINT: 1.0}).tool.body
    return replace(scene, payloads=(Payload(tool, mass, np.array([0.0, 0.0, 0.1]), np.zeros((3, 3))),))


def stop(scene: Scene, **how: Any) -> tuple[Any, tuple[str, ...]]:
    report = mb.estop(scene, qd={JOINT: 1.0}, **how)
    return [joint.travel for joint in report.joints], report.notes


def motion(scene: Scene, **how: Any) -> tuple[Any, tuple[str, ...]]:
    run = mb.simulate(scene, 0.2, qd={JOINT: 1.0}, **how)
    return run.q[-1], run.notes


def static(scene: Scene, **how: Any) -> tuple[Any, tuple[str, ...]]:
    found = mb.reactions(scene, **how)
    return np.array([one.wrench for one in found.constraints if one.wrench is not None]), found.notes


def drives(scene: Scene, **how: Any) -> tuple[Any, tuple[str, ...]]:
    found = mb.inverse_dynamics(scene, **how)
    return found.values, found.notes


@pytest.mark.long_after(1)
@pytest.mark.parametrize("command", [stop, motion, static, drives])
def test_stated_payloads_replace_those_of_the_scene(command: Callable[..., Any]) -> None:
    """1 kg in place of 3 kg is the scene with 1 kg, and a note says what is not carried."""
    heavy, light = carrying(3.0), carrying(1.0)
    got, notes = command(heavy, payload=list(light.payloads))
    expected, _ = command(light)
    other, silent = command(heavy)
    assert np.allclose(np.array(got), np.array(expected), rtol=1e-12, equal_nan=True)
    assert not np.allclose(np.array(got), np.array(other), rtol=1e-6, equal_nan=True)
    sentence = f"the stated payload replaces the scene's: 3 kg at {heavy.payloads[0].body}"
    assert sentence in notes
    assert sentence not in silent


def test_a_payload_and_a_share_of_the_scenes_contradict_each_other() -> None:
    """Which of them is carried would have to be guessed."""
    with pytest.raises(BadUsage, match="payloads and a share of the scene's payloads are stated"):
        mb.estop(carrying(3.0), qd={JOINT: 1.0}, payload=1.0, payload_share=0.5)


def test_no_payload_is_stated_as_zero() -> None:
    """``--payload 0`` means an empty tool, as in a stopping table."""
    empty = replace(carrying(3.0), payloads=())
    assert stop(carrying(3.0), payload=0.0)[0] == stop(empty)[0]
