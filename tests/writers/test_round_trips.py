"""Every writer: what its reader makes of the text is the same mechanism, to rounding."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import mbplugin as mb
from mbplugin import writers
from mbplugin.constraints.assembly import assemble
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import joint_vector
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array
from places import ROOT
from random_mechanisms import loop_mechanism
from same_mechanics import assert_same_mass_matrix, redundancy_and_mobility
from solid_bodies import with_masses

#: What a format refuses in one sentence, because it has no such joint or several roots.
REFUSED = {
    "usd": "UsdPhysics has no joint",
    "sdf": "SDF has no joint",
    "urdf": "URDF has|<loop_joint> has no closure",
}
#: Packages without which a format cannot be read.
NEEDED = {"mjcf": "mujoco", "usd": "pxr"}
#: UsdPhysics states masses and inertias as single-precision numbers.
PRECISION = {"usd": 1e-6}
#: Closed and of several kinds of loops; what is random is in the property.
ORACLES = sorted((ROOT / "tests" / "oracles").glob("*.sdf"))
SCENES = sorted((ROOT / "assets").glob("*.scene.toml"))


def scene_of(mech: Mechanism, q: Array) -> Scene:
    return Scene(mech, State(q, np.zeros(len(mech.qd_names))))


def read_back(written: writers.Written) -> Scene:
    if written.format in NEEDED:
        pytest.importorskip(NEEDED[written.format])
    return writers.read_back(written)


def at_pose_of(scene: Scene, back: Scene) -> Scene:
    """A URDF has no pose: its joints get the coordinates that have their names."""
    if not written_at_zero(back):
        return back
    mech = back.mechanism
    known = dict(zip(scene.mechanism.q_names, scene.state.q, strict=True))
    return replace(back, state=replace(back.state, q=joint_vector(mech, {n: known[n] for n in mech.q_names})))


def written_at_zero(back: Scene) -> bool:
    return back.request is not None and back.request.path.endswith(".urdf")


def assert_comes_back(scene: Scene, to: str) -> Scene | None:
    try:
        written = writers.write(scene, to)
    except BadUsage as error:
        assert re.match(REFUSED.get(to, "nothing"), error.what)
        return None
    back = at_pose_of(scene, read_back(written))
    assert redundancy_and_mobility(back) == redundancy_and_mobility(scene)
    precision = PRECISION.get(to, 1e-9)
    assert_same_mass_matrix(scene, back, tree=False, precision=precision)
    if len(back.mechanism.qd_names) == len(scene.mechanism.qd_names):
        assert_same_mass_matrix(scene, back, tree=True, precision=precision)
    return back


@pytest.mark.long
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


@pytest.mark.long_after(20)
@pytest.mark.parametrize("to", writers.FORMATS)
@pytest.mark.parametrize("file", [*ORACLES, *SCENES], ids=lambda file: file.name)
def test_oracles_come_back(file: Path, to: str) -> None:
    scene = mb.load(file)
    if scene.mechanism.pfaffians and to != "scene":
        assert any("velocity constraint" in part for part in writers.write(scene, to).left_out)
        return
    q = assemble(scene.mechanism, scene.state.q, sorted(scene.state.given)).q
    assert_comes_back(replace(scene, state=replace(scene.state, q=q)), to)
