"""Every writer: what its reader makes of the text is the same mechanism, to rounding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mbplugin as mb
from mbplugin import readers, writers
from mbplugin.constraints.assembly import assemble
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array
from places import ROOT
from random_mechanisms import loop_mechanism
from same_mechanics import assert_same_mass_matrix, redundancy_and_mobility
from solid_bodies import with_masses

ENDINGS = {"mjcf": "xml", "scene": "scene.toml"}
#: Closed and of several kinds of loops; what is random is in the property.
ORACLES = sorted((ROOT / "tests" / "oracles").glob("*.sdf"))
SCENES = sorted((ROOT / "assets").glob("*.scene.toml"))


def scene_of(mech: Mechanism, q: Array) -> Scene:
    return Scene(mech, State(q, np.zeros(len(mech.qd_names))))


def read_back(written: writers.Written) -> Scene:
    return readers.load(f"model.{ENDINGS[written.format]}", text=written.text)


def assert_comes_back(scene: Scene, to: str) -> Scene:
    back = read_back(writers.write(scene, to))
    assert redundancy_and_mobility(back) == redundancy_and_mobility(scene)
    assert_same_mass_matrix(scene, back, tree=False)
    if len(back.mechanism.qd_names) == len(scene.mechanism.qd_names):
        assert_same_mass_matrix(scene, back, tree=True)
    return back


@pytest.mark.parametrize("to", writers.FORMATS)
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**31),
    loops=st.integers(0, 4),
    kind=st.sampled_from(["planar", "spherical", "generic"]),
)
def test_random_mechanisms_come_back(to: str, seed: int, loops: int, kind: str) -> None:
    mech, q = loop_mechanism(seed, loops, kind)
    assert_comes_back(scene_of(with_masses(mech, seed), q), to)


@pytest.mark.parametrize("to", writers.FORMATS)
@pytest.mark.parametrize("file", [*ORACLES, *SCENES], ids=lambda file: file.name)
def test_oracles_come_back(file: Path, to: str) -> None:
    scene = mb.load(file)
    if scene.mechanism.pfaffians and to != "scene":
        assert any("velocity constraint" in part for part in writers.write(scene, to).left_out)
        return
    q = assemble(scene.mechanism, scene.state.q, sorted(scene.state.given)).q
    assert_comes_back(replace(scene, state=replace(scene.state, q=q)), to)
