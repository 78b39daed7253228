"""What misfits cost in ``lint -vv``, in JSON and on the page, loop by loop."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import mbplugin as mb
from command_line import FOUR_BAR, call
from mbplugin.analysis.remedies import apply_changes
from mbplugin.joint_reactions import misfit as loops
from mbplugin.joint_reactions.misfit import consequences_of
from mbplugin.linter.run import lint
from mbplugin.report.documents.part import schema_of
from mbplugin.report.html import html_page
from mbplugin.report.html.chapters import lint_chapter

TITLE = "What a misfit"
STIFF = '[[stiffness]]\npair = "{}"\nk = [1e6, 1e6, 1e6, 0, 0, 0]\n'


def door_text(name: str, y: float = 0.0) -> str:
    """Three hinges in line that carry forces only, 0.75 m apart."""
    body = f'[[body]]\nname = "{name}"\nmass = 20\nxyz = [0.4, {y}, 0]\n'
    pair = '[[pair]]\nname = "{0}{1}"\ntype = "spherical"\nbody_a = "world"\nbody_b = "{0}"\n'
    at = "xyz_a = [0, {0}, {1}]\nxyz_b = [-0.4, 0, {1}]\n"
    return body + "".join((pair.format(name, k) + at.format(y, 0.75 * (k - 1))) for k in range(3))


def scene(tmp_path: Path, text: str) -> str:
    file = tmp_path / "door.scene.toml"
    file.write_text(text)
    return str(file)


def stated(name: str) -> str:
    return "".join(STIFF.format(f"{name}{k}") for k in range(3))


def test_text_has_the_door_by_hand(tmp_path: Path) -> None:
    file = scene(tmp_path, door_text("a") + stated("a"))
    text = call("lint", file, "-vv").out
    line = "0.1 mm at a1 tx: a1 tx -66.67 N, a0 tx 33.33 N, a2 tx 33.33 N (stated stiffness)"
    assert line in text
    assert TITLE not in call("lint", file, "-v").out


def test_json_has_the_door_by_hand(tmp_path: Path) -> None:
    file = scene(tmp_path, door_text("a") + stated("a"))
    document = json.loads(call("lint", file, "--verbose", "--output-format", "json").out)
    jsonschema.validate(document, schema_of("lint"))
    (loop,) = document["misfits"]
    assert loop["constraints"] == ["a0", "a1", "a2"]
    first = loop["effects"][0]
    assert (first["misfit"], first["misfit_unit"]) == (1e-4, "m")
    assert first["loads"][0]["value"] == pytest.approx(-200 / 3)
    assert first["loads"][0]["source"] == "stated"
    assert "misfits" not in json.loads(call("lint", file, "--output-format", "json").out)


@pytest.mark.long
def test_loops_are_apart_and_an_infinite_one_names_its_body(tmp_path: Path) -> None:
    text = door_text("a") + door_text("b", 2.0) + stated("a")
    report = lint(scene(tmp_path, text))
    by_name = {loop.constraints[0]: loop for loop in report.misfits}
    assert {name: loop.constraints for name, loop in by_name.items()} == {
        "a0": ("a0", "a1", "a2"),
        "b0": ("b0", "b1", "b2"),
    }
    assert not any(effect.infinite for effect in by_name["a0"].effects)
    assert all(effect.infinite and effect.missing.bodies == ("b",) for effect in by_name["b0"].effects)
    page = html_page(lint_chapter(report))
    assert page.count(TITLE) == 1
    assert "no compliance limits them" in page
    document = json.loads(call("lint", scene(tmp_path, text), "--verbose", "--output-format", "json").out)
    jsonschema.validate(document, schema_of("lint"))


def test_estimated_stiffness_is_marked() -> None:
    report = lint("tests/cases/err/mb301.scene.toml")
    sources = {load.source for loop in report.misfits for effect in loop.effects for load in effect.loads}
    assert sources <= {"estimated", "stated", "rigid", None}
    response = mb.misfit_response(report.scene, report.analysis.q)  # type: ignore[arg-type, union-attr]
    dearest = [effect for loop in report.misfits for effect in loop.effects]
    for effect in dearest:
        assert effect == response[f"{effect.constraint}.{effect.component}"]


def test_nothing_is_computed_without_redundancy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """p = 0: no section, and no stiffness is looked for."""
    monkeypatch.setattr(loops, "misfit_response", None)
    text = door_text("a").rpartition("[[pair]]")[0].rpartition("[[pair]]")[0]
    report = lint(scene(tmp_path, text + STIFF.format("a0")))
    assert report.analysis is not None
    assert report.analysis.degree_of_redundancy == 0
    assert report.misfits == ()
    assert TITLE not in html_page(lint_chapter(report))


def test_the_rule_has_the_force_by_hand_and_says_nothing_without_a_limit(tmp_path: Path) -> None:
    door = door_text("a") + stated("a")
    codes = {}
    for limit in ("", "misfit_limit = 66.6\n", "misfit_limit = 66.7\n"):
        found = lint(scene(tmp_path, f"[lint]\n{limit}{door}"), select=["MB206"]).findings
        codes[limit] = [finding.evidence["force_N"] for finding in found]
    assert codes["misfit_limit = 66.6\n"] == [pytest.approx(200 / 3)]
    assert codes[""] == codes["misfit_limit = 66.7\n"] == []


@pytest.mark.long
def test_a_limit_from_outside_is_that_of_scenes_that_state_none(tmp_path: Path) -> None:
    """By a call, on the command line and in a configuration; the force is 66.67 N."""
    door = door_text("a") + stated("a")
    plain, own = scene(tmp_path, door), tmp_path / "own.scene.toml"
    own.write_text(f"[lint]\nmisfit_limit = 70\n{door}", encoding="utf-8")
    for file, limit, count in ((plain, 66.6, 1), (plain, 66.7, 0), (own, 66.6, 0)):
        assert len(lint(file, select=["MB206"], misfit_limit=limit).findings) == count
    assert "MB206" in call("lint", str(plain), "--misfit-limit", "66.6").out
    assert "MB206" not in call("lint", str(plain)).out
    (tmp_path / "mbplugin.toml").write_text("misfit-limit = 66.6\n", encoding="utf-8")
    assert "MB206" in call("lint", str(plain)).out
    assert "MB206" not in call("lint", str(plain), "--misfit-limit", "66.7").out
    refused = call("lint", str(plain), "--misfit-limit", "-1")
    assert refused.code == 2 and "misfit_limit is -1 N" in refused.err


def test_the_rule_names_the_body_of_an_infinite_load(tmp_path: Path) -> None:
    (found,) = lint(
        scene(tmp_path, "[lint]\nmisfit_limit = 1e6\n" + door_text("a")), select=["MB206"]
    ).findings
    assert found.message.startswith("no compliance limits the load of a")
    assert found.help == "state a stiffness of a"
    assert found.evidence["force_N"] is None


def test_a_remedy_without_redundancy_makes_the_cost_vanish(tmp_path: Path) -> None:
    file = tmp_path / "four_bar.scene.toml"
    section = "section = { E = 70e9, A = 1e-3, Iy = 1e-7, Iz = 2e-7, J = 1e-7, nu = 0.3 }\n"
    beams = "".join(f'[[stiffness]]\nbody = "{name}"\n{section}' for name in ("crank", "coupler", "rocker"))
    shutil.copy(FOUR_BAR, tmp_path)
    stated = f'[[model]]\nfile = "{Path(FOUR_BAR).name}"\n{beams}'
    file.write_text(stated)
    report = lint(file)
    assert any(load.source == "stated" for loop in report.misfits for load in loop.effects[0].loads)
    assert report.analysis is not None
    (remedy, *_) = [one for one in report.analysis.remedies if one.degree_of_redundancy == 0]
    found = report.consequences
    assert found is not None and found.kept_turned is not None
    for cost, unit in ((found.kept, "m"), (found.kept_turned, "rad")):
        effects = [e for loop in report.misfits for e in loop.effects if e.step.unit == unit]
        most = max(abs(load.value) for e in effects for load in e.loads if load.unit == "N")
        assert abs(cost.load.value) == pytest.approx(most)
    said = " ".join(call("lint", str(file), "-vv").out.split())
    assert re.search(
        r"a misfit of 0\.1 mm costs at most \S+ N in .* a misfit of 1 mrad costs at most \S+ N in", said
    )
    file.write_text(f"{stated}\n{remedy.toml}\n")
    mended = lint(file)
    assert mended.analysis is not None
    assert mended.analysis.dof == report.analysis.dof
    assert mended.misfits == ()


@pytest.mark.long
def test_what_a_remedy_does_to_the_door_by_hand(tmp_path: Path) -> None:
    """Three hinges with k = 1e6 N/m: 0.1 mm at the middle one costs 66.67 N; the loop opposes with 2/3 k."""
    report = lint(scene(tmp_path, "[lint]\nmisfit_limit = 70\n" + door_text("a") + stated("a")))
    found, analysis = report.consequences, report.analysis
    assert found is not None and analysis is not None and analysis.remedies
    assert (found.kept.load.constraint, found.kept.effect.step.unit) == ("a1", "m")
    assert abs(found.kept.load.value) == pytest.approx(200 / 3)
    for one in found.remedies:
        # proved by an own analysis: nothing is redundant, and so no misfit loads anything
        changed = apply_changes(analysis.mechanism, one.remedy.changes)
        assert mb.misfit_response(changed).effects == () and one.after is None
        assert [lost.constraint for lost in one.given_up] == [c.constraint for c in one.remedy.changes]
        for lost in one.given_up:
            # along the line of the hinges k (1 − 1/3); across it only the middle one has as much, k 4/6
            assert (lost.value, lost.unit) == (pytest.approx(2e6 / 3), "N")
    said = call("lint", report.source, "-vv").out
    joined = " ".join(said.split())
    assert "What the remedies do to that" in said and "then a misfit costs nothing" in joined
    assert (
        "keep it: a misfit of 0.1 mm costs at most 66.67 N in a1 (at a1 tx; stated stiffness), within the "
        f"limit of 70 N; [lint] degree_of_redundancy = {analysis.degree_of_redundancy} declares it"
    ) in joined
    document = json.loads(call("lint", report.source, "--verbose", "--output-format", "json").out)
    jsonschema.validate(document, schema_of("lint"))
    assert document["consequences"]["kept"]["load"]["value"] == pytest.approx(-200 / 3)
    assert len(document["consequences"]["remedies"]) == len(document["remedies"])
    assert "keep it: a misfit of 0.1 mm costs" in html_page(lint_chapter(report))


def test_a_remedy_of_one_loop_leaves_the_cost_of_the_other(tmp_path: Path) -> None:
    """Hinges of the other door are twice as stiff: 0.1 mm costs 133.3 N there, with the first one mended or not."""
    text = door_text("a") + door_text("b", 2.0) + stated("a") + stated("b").replace("1e6", "2e6")
    report = lint(scene(tmp_path, text))
    analysis = report.analysis
    assert analysis is not None
    response = mb.misfit_response(analysis.mechanism)
    for mended, left, force in (("a", "b", 400 / 3), ("b", "a", 200 / 3)):
        changes = [c for c in analysis.remedies[0].changes if c.constraint.startswith(mended)]
        partial = replace(analysis.remedies[0], changes=tuple(changes), degree_of_redundancy=3)
        found = consequences_of([partial], report.misfits, response)
        assert found is not None and found.kept.load.constraint == "b1"
        (after,) = (one.after for one in found.remedies)
        assert after is not None and after.load.constraint == f"{left}1"
        assert abs(after.load.value) == pytest.approx(force)
        # an own analysis of the changed mechanism finds loads in that door only
        effects = mb.misfit_response(apply_changes(analysis.mechanism, changes)).effects
        assert {load.constraint[0] for effect in effects for load in effect.loads} == {left}


def test_a_cost_above_the_limit_and_an_infinite_one_are_said(tmp_path: Path) -> None:
    above = scene(tmp_path, "[lint]\nmisfit_limit = 60\n" + door_text("a") + stated("a"))
    said = " ".join(call("lint", above, "-vv").out.split())
    assert (
        "kept as it is: a misfit of 0.1 mm costs at most 66.67 N in a1" in said
        and "ABOVE the limit of 60 N" in said
    )
    # what costs more than is allowed, or without limit, is no advice
    assert "keep it" not in said and "declares it" not in said
    endless = scene(tmp_path, door_text("a"))
    said = " ".join(call("lint", endless, "-vv").out.split())
    assert "kept as it is: no compliance limits what 0.1 mm at a" in said and "state a stiffness of a" in said
    assert "keep it" not in said
    document = json.loads(call("lint", endless, "--verbose", "--output-format", "json").out)
    assert document["consequences"]["kept"]["load"]["value"] is None
