"""A model with stiffness in some parts only: what stays open, who is named, what is sure."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.model.mechanism import WORLD, Lock, Mechanism
from mbplugin.model.scene import Scene, Stiffness
from mbplugin.model.spatial import Array, Pose
from models import four_bar, from_world_frames, pose_at

INF = np.inf
SECTION = {"E": 210e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}
HARD = {"E": 210e17, "A": 1.0, "Iy": 1.0, "Iz": 1.0, "J": 1.0}
RODS = ("1", "2", "3", "4")
LOWER = ("B", "D", "F", "H")


def parallelogram() -> Scene:
    """The asset without weight; its pendulum does not load the platform then."""
    scene = mb.load(ASSETS / "spatial_parallelogram.scene.toml")
    return replace(scene, mechanism=replace(scene.mechanism, gravity=np.zeros(3)))


def pushed(scene: Scene, forces: dict[str, float], stiffness: dict[str, Any]) -> Any:
    """The platform pushed at its joints along the rods there; positive where the rod is then pressed."""
    still = mb.reactions(scene, loads=[], estimate=False)
    direction = rods(scene, still)
    loads = []
    for joint, force in forces.items():
        pair = scene.mechanism.pair_by_name[joint]
        loads.append({"body": "7", "force": -force * direction[joint], "point": pair.X_BS.p})
    return mb.reactions(scene, loads=loads, stiffness=stiffness, estimate=False)


def rods(scene: Scene, still: Any) -> dict[str, Array]:
    """Unit vectors from the foot of each rod to the platform."""
    found = {}
    for foot, head in zip("ACEGKM", "BDFHLN", strict=True):
        along = still[head].point - still[foot].point
        found[head] = along / np.linalg.norm(along)
    return found


def axial(scene: Scene, result: Any, foot: str, head: str) -> float:
    """Compression of a rod: what its foot joint gives it along itself."""
    # feet are pairs of the world with its axes
    np.testing.assert_array_equal(scene.mechanism.pair_by_name[foot].X_AP.R, np.eye(3))
    return float(rods(scene, result)[head] @ result[foot].wrench[:3])


@pytest.mark.parametrize(
    ("flexible", "needed"),
    [
        (("1",), ("2", "3", "4", "7")),
        (RODS, ("7",)),
        (("7",), RODS),
        (("1", "2", "3", "7", "5", "6", "8"), ("4",)),
    ],
)
def test_rods_without_stiffness_leave_all_of_them_open(flexible: tuple[str, ...], needed: tuple) -> None:
    """Before, rod 1 alone with a section carried exactly nothing, and that counted as determined."""
    found = pushed(parallelogram(), {"B": 100.0}, dict.fromkeys(flexible, SECTION))
    assert {name for name, _ in found.unresolved} == set("ABCDEFGH")
    assert found.missing.bodies == needed and found.missing.pairs == ()
    assert all(found[name].determined for name in "KLMNPQR")
    assert np.isnan(found["A"].wrench).any()


def test_all_five_flexible_share_by_hand() -> None:
    """One self-stress (+1 −1 +1 −1) in four equal rods under a stiff platform.

    Of n₀ + s z with least Σ n²: s = −zᵀn₀/4, whatever the rods' stiffness.
    """
    scene = parallelogram()
    n0 = {"B": 100.0, "D": 40.0, "F": -30.0, "H": 5.0}
    found = pushed(scene, n0, {**dict.fromkeys(RODS, SECTION), "7": HARD})
    assert found.unresolved == () and not found.missing
    z = np.array([1.0, -1.0, 1.0, -1.0])
    n = np.array(list(n0.values()))
    expected = n - z * (z @ n) / 4
    ours = [axial(scene, found, *ends) for ends in ("AB", "CD", "EF", "GH")]
    assert ours == pytest.approx(expected, rel=1e-6)
    assert {c.source for c in found["A"].components} == {"stated"}
    # twice as stiff rods 1 and 3 take twice the share: s = −Σ z n₀/k / Σ z²/k
    k = np.array([2.0, 1.0, 2.0, 1.0])
    twice = {rod: {**SECTION, "A": SECTION["A"] * f} for rod, f in zip(RODS, k, strict=True)}
    found = pushed(scene, n0, {**twice, "7": HARD})
    expected = n - z * (z @ (n / k)) / (1 / k).sum()
    ours = [axial(scene, found, *ends) for ends in ("AB", "CD", "EF", "GH")]
    assert ours == pytest.approx(expected, rel=1e-6)


def test_joints_with_stiffness_of_their_own_need_no_flexible_bodies() -> None:
    """Rigid bodies on flexible hinges: 500 N each, as for a door on its hinges."""
    mech, q = four_bar()
    mech = replace(mech, gravity=np.zeros(3))
    load = [{"body": "coupler", "force": [0, 0, 1000]}]
    soft = [1e6, 1e6, 1e6, 1e4, 1e4, 0]
    all_four = mb.reactions(mech, q, loads=load, stiffness={f"j{k}": soft for k in range(4)})
    assert all_four.unresolved == () and abs(all_four.value("j0", "tz")) == pytest.approx(500, rel=1e-9)
    # one hinge without: its bodies would decide
    three = mb.reactions(mech, q, loads=load, stiffness={f"j{k}": soft for k in range(3)})
    assert {name for name, _ in three.unresolved} == {"j0", "j1", "j2", "j3"}
    assert three.missing.bodies == tuple(b.name for b in mech.bodies if b.name in bodies_of(mech, "j3"))
    # a hinge that is stated to be rigid gives nothing way that its bodies could be rigid beside
    rigid = {**{f"j{k}": soft for k in range(3)}, "j3": [INF] * 5 + [0]}
    assert mb.reactions(mech, q, loads=load, stiffness=rigid).missing == three.missing
    # the bodies at that hinge, flexible, make up for it
    mixed: dict[str, Any] = {**{f"j{k}": soft for k in range(3)}, three.missing.bodies[0]: SECTION}
    assert mb.reactions(mech, q, loads=load, stiffness=mixed).unresolved == ()


def bodies_of(mech: Mechanism, pair: str) -> set[str]:
    return {mech.pair_by_name[pair].body_a, mech.pair_by_name[pair].body_b} - {WORLD}


def test_a_held_joint_goes_with_its_pair() -> None:
    """Two brakes on one loop: with all hinges stated they share, with sections of the bodies too."""
    mech, q = four_bar()
    held = replace(mech, locks=(Lock("j0"), Lock("j3")))
    soft = {f"j{k}": [1e6, 1e6, 1e6, 1e4, 1e4, 0] for k in range(4)}
    assert mb.reactions(held, q, stiffness=soft).unresolved == ()
    assert mb.reactions(held, q, stiffness={b.name: SECTION for b in mech.bodies}).unresolved == ()
    without = {name: k for name, k in soft.items() if name != "j3"}
    assert ("lock j3", "rz_lock") in mb.reactions(held, q, stiffness=without).unresolved


def ladder(n: int) -> tuple[Mechanism, Array]:
    """Planar four-bars side by side that share their cranks."""
    bodies, joints = {}, []
    for k in range(n + 1):
        bodies[f"c{k}"] = Pose(np.eye(3), np.array([k, 0.5, 0]))
        joints.append((f"g{k}", "revolute", WORLD, f"c{k}", pose_at([k, 0, 0])))
    for k in range(n):
        bodies[f"t{k}"] = Pose(np.eye(3), np.array([k + 0.5, 1, 0]))
        joints.append((f"l{k}", "revolute", f"c{k}", f"t{k}", pose_at([k, 1, 0])))
        joints.append((f"r{k}", "revolute", f"t{k}", f"c{k + 1}", pose_at([k + 1, 1, 0])))
    mech, q = from_world_frames("ladder", bodies, joints)
    return replace(mech, gravity=np.zeros(3)), q


def separate(n: int) -> tuple[Mechanism, Array]:
    """The same four-bars, each with cranks of its own."""
    bodies, joints = {}, []
    for k in range(n):
        for side, x in (("a", 2.0 * k), ("b", 2.0 * k + 1)):
            bodies[f"c{k}{side}"] = Pose(np.eye(3), np.array([x, 0.5, 0]))
            joints.append((f"g{k}{side}", "revolute", WORLD, f"c{k}{side}", pose_at([x, 0, 0])))
        bodies[f"t{k}"] = Pose(np.eye(3), np.array([2 * k + 0.5, 1, 0]))
        joints.append((f"l{k}", "revolute", f"c{k}a", f"t{k}", pose_at([2 * k, 1, 0])))
        joints.append((f"r{k}", "revolute", f"t{k}", f"c{k}b", pose_at([2 * k + 1, 1, 0])))
    mech, q = from_world_frames("separate", bodies, joints)
    return replace(mech, gravity=np.zeros(3)), q


@pytest.mark.long_after(1)
@pytest.mark.parametrize("make", [ladder, separate])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_determined_does_not_depend_on_what_is_not_stated(make: Any, seed: int) -> None:
    """Sections for the unstated bodies, of any size: values that counted as determined stay."""
    rng = np.random.default_rng(seed)
    mech, q = make(3)
    names = [b.name for b in mech.bodies]
    loads = [{"body": name, "force": [0, 0, rng.normal()]} for name in names]
    # a window whose right crank also bends under what the open window beside it does
    chosen = {"c0", "t0", "c1"} | set(rng.choice([*names, "c0"], size=seed).tolist())
    if make is separate:
        chosen = {"c0a", "t0", "c0b", "t1"}
    stated = dict.fromkeys(chosen, SECTION)
    partly = mb.reactions(mech, q, loads=loads, stiffness=stated)
    rest = [name for name in names if name not in stated]
    assert set(partly.missing.bodies) <= set(rest)
    determined = [(c.name, k.name) for c in partly.constraints for k in c.components if k.value is not None]
    if make is separate:
        assert {("g0a", "tz"), ("l0", "rx")} <= set(determined) and ("g1a", "tz") not in determined
    for size in (1e-6, 1.0, 1e6):
        more = {name: {**SECTION, "E": size * SECTION["E"] * rng.uniform(0.5, 2)} for name in rest}
        whole = mb.reactions(mech, q, loads=loads, stiffness={**stated, **more})
        assert whole.unresolved == ()
        ours = [partly.value(*label) for label in determined]
        assert ours == pytest.approx([whole.value(*label) for label in determined], rel=1e-6, abs=1e-7)


def test_the_report_names_the_bodies_and_never_the_ground(tmp_path: Path) -> None:
    scene = (ASSETS / "four_bar.scene.toml").read_text(encoding="utf-8")
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    section = "section = { E = 210e9, A = 1e-3, Iy = 1e-7, Iz = 1e-7, J = 1e-7 }"
    path = tmp_path / "partly.scene.toml"
    path.write_text(f'{scene}\n[[stiffness]]\nbody = "coupler"\n{section}\n', encoding="utf-8")
    text = " ".join(call("reactions", str(path)).out.split())
    assert "state a [[stiffness]] for bodies crank, rocker" in text
    path.write_text(
        path.read_text(encoding="utf-8")
        + "".join(f'[[stiffness]]\nbody = "{name}"\n{section}\n' for name in ("crank", "rocker")),
        encoding="utf-8",
    )
    assert "?" not in call("reactions", str(path)).out
    lint = call("lint", str(path), "-v").out
    assert "must be flexible for correct reactions (3 of 4) crank, coupler, rocker" in " ".join(lint.split())


def test_stiffness_in_the_keys_of_the_scene() -> None:
    mech, q = four_bar()
    mech = replace(mech, gravity=np.zeros(3))
    load = [{"body": "coupler", "force": [0, 0, 1000]}]
    soft = [1e6, 1e6, 1e6, 1e4, 1e4, 0]
    names = [f"j{k}" for k in range(4)]
    by_name = mb.reactions(mech, q, loads=load, stiffness=dict.fromkeys(names, soft))
    tables = [{"pair": name, "k": soft} for name in names]
    values = [Stiffness(pair=name, matrix=soft) for name in names]
    for given in (tables, values, [*tables[:2], *values[2:]]):
        found = mb.reactions(mech, q, loads=load, stiffness=given)
        assert found["j0"].wrench == pytest.approx(by_name["j0"].wrench, rel=1e-12)
    bodies = [{"body": b.name, "section": SECTION} for b in mech.bodies]
    found = mb.reactions(mech, q, loads=load, stiffness=bodies)
    assert abs(found.value("j0", "tz")) == pytest.approx(500, rel=1e-9)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"pair": "j9", "k": [1] * 6}, "unknown pair 'j9'"),
        ({"pair": "j0", "kk": [1] * 6}, "unknown key 'kk'.*did you mean 'k'"),
        ({"pair": "j0"}, "expected pair and k, or body and section"),
        ({"k": [1] * 6}, "expected pair and k, or body and section"),
        ({"pair": "j0", "k": [1] * 6, "body": "coupler"}, "expected pair and k, or body and section"),
        ({"body": "coupler", "section": 3}, "section of body 'coupler'"),
        ({"body": "coupler", "section": {"E": 1}}, "section of body 'coupler' is wrong in A Iy Iz J"),
        ({"pair": "j0", "k": "soft"}, "pair 'j0'.*six numbers"),
        (3, "expected a Stiffness or a mapping"),
    ],
)
def test_stiffness_that_cannot_be_read_is_one_sentence(table: Any, said: str) -> None:
    mech, q = four_bar()
    with pytest.raises(mb.MbPluginError, match=said) as caught:
        mb.reactions(mech, q, stiffness=[table])
    assert "\n" not in str(caught.value)
