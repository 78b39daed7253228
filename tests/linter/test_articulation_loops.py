"""Loops inside articulations of USD stages: the joint that is named makes a tree of the rest, p = 0 where possible."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin import writers
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import Scene, State
from places import ASSETS, ORACLES
from random_mechanisms import loop_mechanism
from same_mechanics import redundancy_and_mobility
from solid_bodies import with_masses
from usd_stages import body, four_bar, group, inertial, stage

pytest.importorskip("pxr")

EXCLUDED = "uniform bool physics:excludeFromArticulation = 1"
FILES = (
    *(
        ORACLES / f"{name}.sdf"
        for name in ("four_bar_4R", "four_bar_RSRR", "bennett_4R", "parallelogram_3SS")
    ),
    *(ORACLES / f"{name}.sdf" for name in ("sarrus_6R", "bricard_A04", "n_four_bar_N2", "stewart_6UPS")),
    *(ASSETS / f"{name}.scene.toml" for name in ("four_bar", "spatial_parallelogram")),
)
RANDOM = [
    (seed, loops, kind)
    for seed in range(4)
    for loops, kind in ((1, "planar"), (2, "planar"), (1, "spherical"))
]


def stage_of(scene: Scene, folder: Path) -> Path:
    """The model as a stage in which no joint is excluded from the articulation."""
    mech = scene.mechanism
    cut = {pair.name for pair in mech.tree.cut}
    marked = tuple(replace(pair, closure=pair.name in cut) for pair in mech.pairs)
    text = writers.write(replace(scene, mechanism=replace(mech, pairs=marked)), "usd").text
    assert EXCLUDED in text and "PhysicsArticulationRootAPI" in text
    file = folder / "loops.usda"
    file.write_text(text.replace(EXCLUDED, ""))
    return file


def with_excluded(file: Path, joints: list[str]) -> Path:
    text = file.read_text()
    for joint in joints:
        text, number = re.subn(
            rf'(def Physics\w+ "{joint}"[^{{]*\{{\n)', rf"\1            {EXCLUDED}\n", text
        )
        assert number == 1
    other = file.with_name("excluded.usda")
    other.write_text(text)
    return other


def told(file: Path) -> list[mb.linter.rule.Finding]:
    return [finding for finding in mb.lint(file).findings if finding.code == "MB129"]


@pytest.mark.long_after(2)
@pytest.mark.parametrize("source", [*FILES, *RANDOM], ids=str)
def test_the_joint_that_is_named_makes_a_tree_of_the_rest(source: object, tmp_path: Path) -> None:
    if isinstance(source, Path):
        scene = mb.load(source)
    else:
        mech, q = loop_mechanism(*source)
        scene = Scene(with_masses(mech, source[0]), State(q, 0 * q[: len(mech.qd_names)]))
    file = stage_of(scene, tmp_path)
    findings = told(file)
    loops = len(mb.load(file).mechanism.tree.cut)
    assert len(findings) == loops > 0
    joints = [finding.element for finding in findings]
    assert len(set(joints)) == loops
    excluded = with_excluded(file, joints)
    assert not told(excluded)
    assert {pair.name for pair in mb.load(excluded).mechanism.tree.cut} == set(joints)
    assert redundancy_and_mobility(mb.load(excluded)) == redundancy_and_mobility(mb.load(file))
    if any("it leaves p = 0" in finding.message for finding in findings):
        found = mb.close(file, "usd", measure_drift=False)
        assert found.proved and {one.name for one in found.closures} == set(joints)
        # the types that are named do it alone
        assert not found.changes


def test_a_joint_that_states_something_stays_in_the_tree(tmp_path: Path) -> None:
    scene = mb.load(ORACLES / "four_bar_4R.sdf")
    closure = scene.mechanism.tree.cut[0].name
    limited = [
        replace(p, freedoms=(Freedom(lower=-1.0, upper=1.0),)) if p.name in (closure, "j0") else p
        for p in scene.mechanism.pairs
    ]
    scene = replace(scene, mechanism=replace(scene.mechanism, pairs=tuple(limited)))
    (finding,) = told(stage_of(scene, tmp_path))
    assert finding.element not in (closure, "j0")
    assert finding.evidence["exclude"] == finding.element
    line = (tmp_path / "loops.usda").read_text().splitlines()[finding.line - 1]
    assert f'"{finding.element}"' in line


AXES = "quatf physics:principalAxes = (1, 0, 0, 0)\n"


@pytest.mark.parametrize(("diagonal", "expected"), [((0.1, 0.2, 0.25), 1), ((0.2, 0.2, 0.2), 0)])
def test_moments_without_axes_are_found_where_the_axes_matter(
    tmp_path: Path, diagonal: tuple[float, float, float], expected: int
) -> None:
    file = tmp_path / "one.usda"
    text = stage(group("robot", body("link", mass=inertial(1.0, diagonal))))
    assert AXES in text
    for written, number in ((text, 0), (text.replace(AXES, ""), expected)):
        file.write_text(written)
        found = [finding for finding in mb.lint(file).findings if finding.code == "MB147"]
        assert len(found) == number
        assert [finding.element for finding in found] == ["link"] * number


@pytest.mark.parametrize(
    ("attributes", "schemas", "words", "targets"),
    [
        ("float physics:lowerLimit = -10\nfloat physics:upperLimit = 10\n", "", "limits", ("newton",)),
        ("float newton:friction = 0.2\n", "", "friction", ("isaac", "newton")),
        ("float physxJoint:armature = 0.2\n", '"PhysxJointAPI"', "rotor inertia", ("isaac", "newton")),
        (
            "float drive:angular:physics:stiffness = 30\n",
            '"PhysicsDriveAPI:angular"',
            "the drive",
            ("newton",),
        ),
        ("", "", "", ()),
    ],
)
def test_what_a_simulator_drops_of_a_joint_that_closes_a_loop(
    tmp_path: Path, attributes: str, schemas: str, words: str, targets: tuple[str, ...]
) -> None:
    text = four_bar()
    head = 'def PhysicsRevoluteJoint "j3"'
    assert text.count(f"{head}\n{{") == 1
    apis = f" (prepend apiSchemas = [{schemas}])" if schemas else ""
    file = tmp_path / "four.usda"
    file.write_text(text.replace(f"{head}\n{{", f"{head}{apis}\n{{\n{attributes}"))
    for target in ("newton", "isaac", "mujoco"):
        found = [f for f in mb.lint(file, targets=[target]).findings if f.code == "MB165"]
        assert len(found) == (target in targets)
        assert all(f"{words} of 'j3'" in f.message for f in found)
    assert not [f for f in mb.lint(file).findings if f.code == "MB165"]
