"""The closures that are chosen: p = 0 with the mobility of the model, driven joints in the tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import mbplugin as mb
from mbplugin import readers, writers
from mbplugin.closing.choice import close, driven_joints
from mbplugin.errors import BadUsage, CannotClose, UnknownName
from mbplugin.model.brakes import with_coordinates
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Actuator, Scene, State
from mbplugin.model.spatial import Pose
from models import four_bar
from places import ASSETS, ORACLES
from random_mechanisms import loop_mechanism
from same_mechanics import assert_same_mass_matrix, redundancy_and_mobility
from solid_bodies import with_masses

FILES = (
    *(
        ORACLES / f"{name}.sdf"
        for name in ("four_bar_4R", "four_bar_RSRR", "bennett_4R", "parallelogram_3SS")
    ),
    *(ORACLES / f"{name}.sdf" for name in ("sarrus_6R", "stewart_6UPS", "bricard_A04", "n_four_bar_N2")),
    *(ASSETS / f"{name}.scene.toml" for name in ("four_bar", "spatial_parallelogram", "minitaur")),
)


@pytest.mark.long_after(5)
@pytest.mark.parametrize("to", ["mjcf", "urdf", "scene"])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_written_has_no_redundancy_and_the_mobility_of_the_model(file: object, to: str) -> None:
    """An independent analysis of the file, not the one of ``close``."""
    scene = mb.load(file)
    if to == "urdf" and any(pair.type == "universal" for pair in scene.mechanism.pairs):
        with pytest.raises(BadUsage, match=r"URDF has no joint such as 'u0' \(universal\)"):
            close(scene, to, measure_drift=False)
        return
    found = close(scene, to, measure_drift=False)
    before = redundancy_and_mobility(scene)
    back = writers.read_back(found.written)
    if to == "urdf":
        known = dict(zip(found.mechanism.q_names, found.state.q, strict=True))
        back = with_coordinates(back, {name: known[name] for name in back.mechanism.q_names})
    assert redundancy_and_mobility(back) == (0, before[1])
    assert found.proved and found.reason == ""
    assert not set(found.driven) & {one.name for one in found.closures}


def square(**pairs: dict[str, object]) -> Scene:
    """The unit-square four-bar with other data of some pairs."""
    mech, q = four_bar()
    mech = replace(mech, pairs=tuple(replace(p, **pairs.get(p.name, {})) for p in mech.pairs))  # type: ignore[arg-type]
    return Scene(mech, State(q, np.zeros(len(mech.qd_names))))


@pytest.mark.parametrize("driven", ["j0", "j1", "j2", "j3"])
def test_a_driven_joint_is_not_cut(driven: str) -> None:
    """Also where the file closes the loop at it."""
    scene = square(**{driven: {"freedoms": (Freedom(effort=5.0),), "closure": True}})
    assert [pair.name for pair in scene.mechanism.tree.cut] == [driven]
    assert driven_joints(scene) == (driven,)
    found = close(scene, "mjcf", measure_drift=False)
    assert driven not in {one.name for one in found.closures} and found.proved
    # the mobility of what no drive decides is that of the model
    assert found.after.held_dof == found.before.held_dof == 0


def test_efforts_are_no_drives_where_the_model_names_its_drives() -> None:
    every = {f"j{k}": {"freedoms": (Freedom(effort=5.0),)} for k in range(4)}
    scene = square(**every)
    assert driven_joints(scene) == ("j0", "j1", "j2", "j3")
    assert driven_joints(replace(scene, actuators=(Actuator("j2"),))) == ("j2",)


def test_all_joints_driven_is_no_proof_and_has_a_reason() -> None:
    every = {f"j{k}": {"freedoms": (Freedom(effort=5.0),)} for k in range(4)}
    found = close(square(**every), "mjcf", measure_drift=False)
    assert not found.proved and "effort limit" in found.reason
    assert found.after.degree_of_redundancy == found.before.degree_of_redundancy == 3


def test_a_loop_is_cut_where_mujoco_has_the_closure() -> None:
    """RRSR with p = 0 in space: a crank, a rocker on an axis of another direction, a ball between."""
    mech, q = four_bar(types=("revolute", "universal", "spherical", "revolute"))
    found = close(Scene(mech, State(q, np.zeros(len(mech.qd_names)))), "mjcf", measure_drift=False)
    assert [one.name for one in found.closures] == ["j2"]
    assert found.proved


def test_an_open_chain_is_written_as_it_is() -> None:
    scene = mb.load(ASSETS / "arm_6r.urdf", base="fixed")
    found = close(scene, "mjcf", measure_drift=False)
    assert found.closures == () and found.proved
    back = readers.load("x.xml", text=found.text)
    assert_same_mass_matrix(scene, back, tree=True)


def test_a_format_that_there_is_not() -> None:
    with pytest.raises(BadUsage, match="the format is 'step'"):
        close(square(), "step")


def test_loops_that_cannot_be_closed() -> None:
    mech = square().mechanism
    far = [
        replace(p, X_AP=Pose(np.eye(3), np.array([9.0, 0, 0]))) if p.name == "j3" else p for p in mech.pairs
    ]
    with pytest.raises(CannotClose):
        close(replace(mech, pairs=tuple(far)), "mjcf", measure_drift=False)


def test_a_distance_is_refused_for_mjcf_and_written_in_a_scene() -> None:
    mech, _ = four_bar(types=("revolute", "spherical", "spherical", "revolute"))
    rod = Pair(
        "rod", "distance", "crank", "rocker", Pose.identity(), Pose.identity(), closure=True, length=1.0
    )
    pairs = tuple(p for p in mech.pairs if p.name not in ("j1", "j2"))
    bodies = tuple(b for b in mech.bodies if b.name != "coupler")
    short = Mechanism("rod", bodies, (*pairs, rod))
    state = State(np.zeros(len(short.q_names)), np.zeros(len(short.qd_names)))
    with pytest.raises(BadUsage, match="MJCF has no closure such as 'rod'"):
        close(Scene(short, state), "mjcf", measure_drift=False)
    assert close(Scene(short, state), "scene", measure_drift=False).proved


def test_sdf_has_no_weak_closure_so_that_a_passive_joint_changes_as_well() -> None:
    """A point on a line is none of SDF; a universal closure and a ball in the tree release the same three rows."""
    found = close(mb.load(ASSETS / "four_bar.scene.toml"), "sdf", measure_drift=False)
    assert found.proved and [change.constraint for change in found.changes] == ["j1"]
    types = {pair.type for pair in found.mechanism.pairs}
    assert types <= {"fixed", "revolute", "continuous", "universal", "spherical"}
    assert redundancy_and_mobility(readers.load("x.sdf", text=found.text)) == (0, 1)


@pytest.mark.long
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**31), st.integers(1, 3), st.sampled_from(["planar", "spherical", "generic"]))
def test_the_mobility_is_kept_and_nothing_becomes_more_redundant(seed: int, loops: int, kind: str) -> None:
    """Random loops: what is called proved is so by an analysis of the file alone."""
    mech, q = loop_mechanism(seed, loops, kind)
    scene = Scene(with_masses(mech, seed), State(q, np.zeros(len(mech.qd_names))))
    found = close(scene, "mjcf", measure_drift=False, samples=4)
    p, dof = redundancy_and_mobility(scene)
    after = redundancy_and_mobility(readers.load("x.xml", text=found.text))
    assert after[1] == dof and after[0] <= p
    assert found.proved is (after[0] == 0)
    assert found.proved or (kind == "spherical" and found.reason)


def test_named_drives_stay_in_the_tree_and_free_the_others() -> None:
    every = {f"j{k}": {"freedoms": (Freedom(effort=5.0),)} for k in range(4)}
    found = close(square(**every), "mjcf", driven=["j[03]"], measure_drift=False)
    assert found.driven == ("j0", "j3") and found.proved
    assert found.closures[0].name in ("j1", "j2")
    with pytest.raises(UnknownName, match="no joint is called 'jj'; known names are j0"):
        close(square(**every), "mjcf", driven=["jj"], measure_drift=False)


def test_a_loop_is_not_cut_where_its_end_has_no_mass() -> None:
    """The tip of 1e-9 kg between the rocker's hinge and the weld to the ground would hang on a hinge."""
    mech, _ = four_bar(types=("cylindrical", "universal", "universal", "revolute"))
    last = mech.pair_by_name["j3"]
    tip = replace(mech.bodies[0], name="tip", mass=1e-9, I_C=np.zeros((3, 3)))
    hinge = replace(last, body_a="tip", X_AP=Pose.identity(), body_b="rocker")
    weld = Pair("weld", "fixed", WORLD, "tip", last.X_AP, Pose.identity(), closure=True)
    tipped = replace(mech, bodies=(*mech.bodies, tip), pairs=(*mech.pairs[:3], hinge, weld))
    scene = Scene(tipped, State(np.zeros(len(tipped.q_names)), np.zeros(len(tipped.qd_names))))
    found = close(scene, "mjcf", measure_drift=False)
    assert found.proved and "weld" not in {one.name for one in found.closures}


def test_a_driven_joint_is_not_cut_where_nothing_is_redundant() -> None:
    """Here no other cut is tried for the sake of the redundancy: the file closes the loop at its motor."""
    mech, q = four_bar(types=("cylindrical", "universal", "universal", "revolute"))
    motor = {"freedoms": (Freedom(effort=5.0),), "closure": True}
    mech = replace(mech, pairs=tuple(replace(p, **motor) if p.name == "j3" else p for p in mech.pairs))  # type: ignore[arg-type]
    found = close(Scene(mech, State(q, np.zeros(len(mech.qd_names)))), "mjcf", measure_drift=False)
    assert found.proved and found.before.structural_redundancy == 0
    assert found.closures[0].name != "j3" and found.closures[0].cut.instead_of == "j3"
