"""The rules in NVIDIA's validator: its own command line shows the codes at their prims, and applies the fixes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin.usd_validator import CATEGORY, FAMILIES, checkers
from usd_stages import body, four_bar, group, inertial, stage

pytest.importorskip("pxr")
validator = pytest.importorskip("usd_validation_nvidia")

ROOT_API = 'def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])'
OPEN_LOOP = four_bar().replace("excludeFromArticulation = 1", "excludeFromArticulation = 0")
OPEN_LOOP = OPEN_LOOP.replace('def Xform "robot"', ROOT_API, 1)
AXES = "quatf physics:principalAxes = (1, 0, 0, 0)\n"


def validated(file: Path, *words: str) -> tuple[str, list[dict[str, str]]]:
    """Run the validator's command line; return what it prints and its table of issues."""
    table = file.with_suffix(".json")
    command = [sys.executable, "-m", "usd_validation_nvidia", "--no-init-rules", "--category", CATEGORY]
    done = subprocess.run(
        [*command, "--json-output", str(table), *words, str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    issues = json.loads(table.read_text()) if table.exists() else []
    return done.stdout + done.stderr, issues


@pytest.mark.long
def test_its_command_line_shows_our_codes(tmp_path: Path) -> None:
    file = tmp_path / "loop.usda"
    file.write_text(OPEN_LOOP)
    printed, _ = validated(file)
    assert "[MbpluginArticulationChecker] MB129" in printed
    excluded = next(f for f in mb.lint(file).findings if f.code == "MB129").element
    assert f"At Prim </robot/{excluded}>" in printed
    assert "[MbpluginRedundancyChecker] MB201 3 redundant constraints" in printed
    # nothing of ours goes wrong while it finds and starts plugins
    assert "Circular dependency" not in printed and "Traceback" not in printed


@pytest.mark.long
def test_its_command_line_applies_the_fixes(tmp_path: Path) -> None:
    file = tmp_path / "loop.usda"
    file.write_text(OPEN_LOOP)
    validated(file, "--fix")
    assert not [f for f in mb.lint(file).findings if f.code == "MB129"]
    assert "MB129" not in validated(file)[0]
    file = tmp_path / "axes.usda"
    file.write_text(
        stage(group("robot", body("link", mass=inertial(1.0, (0.1, 0.2, 0.25))))).replace(AXES, "")
    )
    assert "MB147" in validated(file)[0]
    validated(file, "--fix")
    assert "principalAxes = (1, 0, 0, 0)" in file.read_text()
    assert "MB147" not in validated(file)[0]


@pytest.mark.long
def test_a_stage_that_is_not_saved_is_linted_as_it_is_in_memory(tmp_path: Path) -> None:
    from pxr import Usd, UsdPhysics

    file = tmp_path / "loop.usda"
    file.write_text(OPEN_LOOP)
    opened = Usd.Stage.Open(str(file))
    engine = validator.ValidationEngine(init_rules=False)
    for checker in checkers(validator):
        engine.enable_rule(checker)

    def codes() -> set[str]:
        return {str(issue.message).split()[0] for issue in engine.validate(opened).issues()}

    assert {"MB129", "MB201", "MB301"} <= codes()
    joint = next(f for f in mb.lint(file).findings if f.code == "MB129").element
    UsdPhysics.Joint(opened.GetPrimAtPath(f"/robot/{joint}")).CreateExcludeFromArticulationAttr().Set(True)
    assert "MB129" not in codes() and "MB201" in codes()
    assert "MB129" in {f.code for f in mb.lint(file).findings}


def test_every_code_of_a_model_belongs_to_one_family() -> None:
    from mbplugin.linter.rule import rules

    for rule in rules():
        assert rule.code.startswith(tuple(code for family in FAMILIES for code in family.codes)), rule.code


def test_all_checkers_are_registered() -> None:
    registry = validator.CategoryRuleRegistry()
    names = {rule.__name__ for rule in registry.get_rules(CATEGORY)}
    assert names == {family.name for family in FAMILIES}
