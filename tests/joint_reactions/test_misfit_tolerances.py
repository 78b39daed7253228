"""Standard deviations and budgets of misfits, against the door by hand, a sample, and their properties."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.joint_reactions.misfit_response import budget, rows_of_limit
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.spatial import Pose
from models import four_bar, from_world_frames, pose_at

RADIAL = [1e6, 1e6, 1e6, 0.0, 0.0, 0.0]
HINGES = ("h0", "h1", "h2")
SECTION = {"E": 70e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}


def door(**options: object) -> Reactions:
    """A rigid door on three hinges in line that carry forces only."""
    mech, q = from_world_frames(
        "door",
        {"door": Pose(np.eye(3), np.array([0.4, 0.0, 0.0]))},
        [(f"h{k}", "spherical", "world", "door", pose_at([0, 0, z])) for k, z in enumerate((-0.75, 0, 0.75))],
    )
    # the door may turn about the line of its hinges
    loads = [{"body": "door", "force": [0.0, 0.0, 0.0]}]
    return mb.reactions(mech, q, stiffness=dict.fromkeys(HINGES, RADIAL), loads=loads, **options)  # type: ignore[arg-type]


def test_tolerances_of_the_door() -> None:
    """B = k S Sᵀ, S = (1, −2, 1)/√6: deviations k σ |S| for independent tolerances σ."""
    result = door(misfit_sigma={f"{h}.tx": 0.05e-3 for h in HINGES})
    assert [result.sigma(h, "tx") for h in HINGES] == pytest.approx([20.412, 40.825, 20.412], abs=5e-4)
    assert [result.sigma(h, "ty") for h in HINGES] == [0.0, 0.0, 0.0]


def test_limits_of_the_door() -> None:
    """100 N at every hinge: 0.15 mm at the middle one, 0.3 mm at an outer one."""
    result = door(limits=dict.fromkeys(HINGES, 100.0))
    largest = {(one.constraint, one.component): one for one in result.budget}
    for component in ("tx", "ty"):
        assert largest["h1", component].largest == pytest.approx(0.15e-3)
        assert largest["h0", component].largest == pytest.approx(0.3e-3)
        assert largest["h2", component].largest == pytest.approx(0.3e-3)
        assert {largest[h, component].decided_by for h in HINGES} == {"h1"}
    assert result.budget[0].largest == pytest.approx(min(one.largest for one in result.budget))


def beams(**options: object) -> Reactions:
    mech, q = four_bar()
    stiffness = {b.name: SECTION for b in mech.bodies}
    return mb.reactions(mech, q, stiffness=stiffness, hold=["j0"], **options)  # type: ignore[arg-type]


def test_deviations_are_those_of_a_sample() -> None:
    """Every combination of two equally likely misfits ±σ in three rows has just that covariance."""
    sigma = {"j1.tz": 1e-4, "j2.rx": 2e-3, "j3.ry": 1e-3}
    signs = product((-1.0, 1.0), repeat=3)
    drawn = [beams(misfit={n: s * v for (n, v), s in zip(sigma.items(), one, strict=True)}) for one in signs]
    result = beams(misfit_sigma=sigma)
    for constraint in result.constraints:
        for component in constraint.components:
            values = [one.value(constraint.name, component.name) for one in drawn]
            assert component.sigma == pytest.approx(np.std(values), rel=1e-6, abs=1e-7)


def test_budget_times_response_is_the_limit() -> None:
    limits = {"j0": 50.0, "j1.rx": 4.0, "j2.ry": 3.0}
    result = beams(limits=limits)
    response = result.response
    assert response is not None
    assert result.budget
    for one in result.budget:
        column = response.column(response.row(f"{one.constraint}.{one.component}"))
        loads = {name: one.largest * np.linalg.norm(column[rows_of_limit(response, name)]) for name in limits}
        assert loads[one.decided_by] == pytest.approx(limits[one.decided_by], rel=1e-9)
        assert all(loads[name] <= limits[name] * (1 + 1e-9) for name in limits)


def test_without_tolerances_there_is_no_deviation_and_no_budget() -> None:
    result = beams()
    assert all(component.sigma is None for c in result.constraints for component in c.components)
    assert result.budget == ()


def test_what_no_compliance_limits_has_no_deviation_and_no_budget() -> None:
    mech, q = four_bar()
    result = mb.reactions(mech, q, hold=["j0"], misfit_sigma={"j2.tz": 1e-4}, limits={"j3": 10.0})
    assert result["j0"]["tz"].sigma is None
    assert result["j0"]["tx"].sigma == 0.0
    assert {one.largest for one in result.budget} == {0.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"misfit_sigma": {"j0.rz": 1e-3}}, "standard deviation of the misfit names 'j0.rz'"),
        ({"misfit_sigma": {"j0.tx": -1e-3}}, "not negative"),
        ({"limits": {"j9": 1.0}}, "neither a joint nor a row"),
        ({"limits": {"j0": 0.0}}, "positive number"),
        ({"limits": {"j0": float("inf")}}, "positive number"),
    ],
    ids=["row", "negative", "joint", "zero", "infinite"],
)
def test_bad_tolerances_are_refused(options: dict, message: str) -> None:
    with pytest.raises(mb.MbPluginError, match=message):
        beams(**options)


def test_a_limit_of_a_lock_names_its_component() -> None:
    response = beams().response
    assert response is not None
    with pytest.raises(mb.MbPluginError, match="carries no force; expected the limit of a component"):
        budget(response, {"lock j0": 1.0})


DOOR = "[[body]]\nname = 'door'\nmass = 20.0\n" + "".join(
    f"[[pair]]\nname = 'h{k}'\ntype = 'spherical'\nbody_a = 'world'\nbody_b = 'door'\n"
    f"xyz_a = [0, 0, {z}]\nxyz_b = [0, 0, {z}]\n[[stiffness]]\npair = 'h{k}'\nk = {RADIAL}\n"
    for k, z in enumerate((-0.75, 0, 0.75))
)


def in_scene(tmp_path: Path, tables: str) -> str:
    path = tmp_path / "door.scene.toml"
    path.write_text(DOOR + tables, encoding="utf-8")
    return str(path)


def test_a_scene_states_misfits_tolerances_and_limits(tmp_path: Path) -> None:
    tables = "".join(
        f"[[misfit]]\njoint = '{h}'\ncomponent = 'tx'\nsigma = 5e-5\n[[limit]]\njoint = '{h}'\nvalue = 100\n"
        for h in HINGES
    )
    tables += "[[misfit]]\njoint = 'h1'\ncomponent = 'ty'\nvalue = 1e-4\n"
    path = in_scene(tmp_path, tables)
    found = json.loads(call("reactions", path, "--output-format", "json").out)
    components = {
        (c["name"], k["name"]): (k["value"], k["sigma"])
        for c in found["constraints"]
        for k in c["components"]
    }
    assert [components[h, "tx"][1] for h in HINGES] == pytest.approx([20.412, 40.825, 20.412], abs=5e-4)
    assert [components[h, "ty"][0] for h in HINGES] == pytest.approx([100 / 3, -200 / 3, 100 / 3])
    largest = {(one["constraint"], one["component"]): one["largest"] for one in found["budget"]}
    assert [largest[h, "tx"] for h in HINGES] == pytest.approx([3e-4, 1.5e-4, 3e-4])
    jsonschema.validate(found, json.loads(call("schema", "reactions").out))
    # the command line replaces what the scene states
    again = call("reactions", path, "--misfit-sigma", "h1.tx=0", "--limit", "h1=50N,h0=1kN").out
    assert re.search(r"^ +h1 tx +23\.57 +N\b", again, re.MULTILINE)
    assert "h1 tx: 0.075 mm, limited by h1" in again
    tight = call("reactions", path, "--misfit", "h1.ty=0").out
    assert "66.66" not in tight


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ("[[misfit]]\njoint = 'h1'\ncomponent = 'tx'\n", "does not say how large"),
        ("[[misfit]]\njoint = 'h9'\ncomponent = 'tx'\nvalue = 1\n", "no joint is called 'h9'"),
        ("[[misfit]]\njoint = 'h1'\ncomponent = 'tx'\nsigma = -1\n", "sigma is -1; expected at least 0"),
        ("[[limit]]\njoint = 'h1'\nvalue = 0\n", "value is 0; expected more than 0"),
        ("[[limit]]\njoint = 'h9'\nvalue = 1\n", "no joint is called 'h9'"),
        ("[[limit]]\njoint = 'h1'\n", "value"),
    ],
    ids=["size", "joint", "negative", "zero", "limited", "unlimited"],
)
def test_bad_tables_are_one_sentence(tables: str, message: str, tmp_path: Path) -> None:
    path = in_scene(tmp_path, tables)
    outcome = call("reactions", path)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert message in outcome.err
    assert "door.scene.toml:" in outcome.err


def test_a_misfit_of_no_row_is_refused(tmp_path: Path) -> None:
    path = in_scene(tmp_path, "[[misfit]]\njoint = 'h1'\ncomponent = 'rz'\nvalue = 1e-4\n")
    outcome = call("reactions", path)
    assert outcome.code == 2
    assert "the misfit names 'h1.rz', which is not a row of a constraint" in outcome.err


def test_a_misfit_without_effect_is_a_note() -> None:
    """Two rigid hinges: nothing determines what h1 loads; one hinge alone is not redundant."""
    rigid, q = from_world_frames(
        "gate",
        {"gate": Pose(np.eye(3), np.zeros(3))},
        [(f"h{k}", "revolute", "world", "gate", pose_at([0, 0, z])) for k, z in enumerate((0, 1))],
    )
    (note,) = mb.reactions(rigid, q, hold=["h0"], misfit={"h1.tx": 1e-4, "h0.tx": 0.0}).notes
    assert note.startswith(
        "nothing determines what the misfit of h1.tx loads, since parts that it loads have no stiffness"
    )
    assert note.endswith("state a [[stiffness]] (stiffness=… in Python) for gate")
    springs = dict.fromkeys(("h0", "h1"), [1e6] * 6)
    stiff = mb.reactions(rigid, q, hold=["h0"], misfit={"h1.tx": 1e-4}, stiffness=springs)
    # two springs of 1e6 N/m in series, and of 1e6 N·m/rad with a lever of 1 m between them
    assert stiff["h1"]["tx"].value == pytest.approx(-1e-4 / (2e-6 + 0.5e-6))
    assert not stiff.notes

    single, q = from_world_frames(
        "door",
        {"door": Pose(np.eye(3), np.zeros(3))},
        [("h", "revolute", "world", "door", pose_at([0, 0, 0]))],
    )
    (note,) = mb.reactions(single, q, hold=["h"], misfit={"h.tx": 1e-4}).notes
    assert note.startswith("the misfit of h.tx loads nothing")
