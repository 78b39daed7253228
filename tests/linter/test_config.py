"""The configuration: found from the file upwards, what it says happens, and what it cannot say is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import ASSETS, SAMPLE, call
from mbplugin.linter.targets import settings_for
from mbplugin.report.documents.part import schema_of

BAR, GRIPPER = "robots/four_bar.sdf", "robots/gripper.urdf"
IGNORE = """
[[waive]]
rule = "MB103"
element = "finger"
reason = "the supplier owes us a model"
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the sample repository with an empty configuration."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    monkeypatch.chdir(folder)
    (folder / "mbplugin.toml").write_text("")
    return folder


def configure(folder: Path, text: str) -> None:
    (folder / "mbplugin.toml").write_text(text)


def run(*arguments: str) -> dict[str, Any]:
    outcome = call("lint", *arguments, "--output-format", "json")
    document = json.loads(outcome.out)
    assert isinstance(document, dict)
    document["exit"] = outcome.code
    return document


def codes(*arguments: str) -> list[str]:
    document = run(*arguments)
    return [f["code"] for one in document.get("runs", [document]) for f in one["findings"]]


# Where it is found


def test_the_nearest_configuration_counts(repository: Path) -> None:
    assert run(BAR)["exit"] == 0
    configure(repository, 'fail-on = "warning"')
    assert run(BAR)["exit"] == 1
    configure(repository / "robots", 'fail-on = "error"')
    assert run(BAR)["exit"] == 0
    (repository / "elsewhere").mkdir()
    assert settings_for(repository / "elsewhere" / "not_yet.urdf").file.endswith("repository/mbplugin.toml")


def test_pyproject_holds_it_too_and_the_own_file_goes_first(repository: Path) -> None:
    shared = repository / "robots" / "pyproject.toml"
    shared.write_text('[project]\nname = "mbplugin-robots"\n')
    configure(repository, 'fail-on = "warning"')
    assert run(BAR)["exit"] == 1
    shared.write_text(
        '[tool.mbplugin]\nfail-on = "error"\n\n[[tool.mbplugin.waive]]\n' + IGNORE.partition("]]\n")[2]
    )
    assert run(BAR)["exit"] == 0
    assert codes(GRIPPER) == []
    configure(repository / "robots", 'fail-on = "warning"')
    assert run(BAR)["exit"] == 1


def test_the_configuration_is_the_file_s_not_the_working_directory_s(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(repository, 'fail-on = "warning"')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(str(repository / BAR))["exit"] == 1
    shutil.copy(repository / BAR, elsewhere)
    assert run("four_bar.sdf")["exit"] == 0


# What it says


def test_select_and_ignore(repository: Path) -> None:
    everything = codes(BAR)
    configure(repository, 'select = ["MB2", "mb301"]')
    assert codes(BAR) == ["MB201", "MB202", "MB301"]
    configure(repository, 'select = ["MB2", "MB3"]\nignore = ["MB202"]')
    assert codes(BAR) == ["MB201", "MB301"]
    assert codes(BAR, "--ignore", "MB3") == ["MB201"]
    assert codes(BAR, "--select", "MB4,MB202") == ["MB401"]
    configure(repository, "")
    assert codes(BAR) == everything


def test_the_command_line_goes_first(repository: Path) -> None:
    configure(repository, 'fail-on = "note"')
    assert run(BAR)["exit"] == 1
    assert run(BAR, "--fail-on", "error")["exit"] == 0


def test_tolerance_is_that_of_scenes_that_state_none(repository: Path) -> None:
    def tolerance(*options: str) -> object:
        return run(*options)["mobility"]["tolerance"]

    configure(repository, "tolerance = 1e-6")
    assert tolerance(BAR) == 1e-6
    assert tolerance(BAR, "--tolerance", "1e-3") == 1e-3
    scene = repository / "bar.scene.toml"
    scene.write_text(f'[[model]]\nfile = "{BAR}"\n')
    assert tolerance("bar.scene.toml") == 1e-6
    scene.write_text(f'[[model]]\nfile = "{BAR}"\n[lint]\ntolerance = 1e-5\n')
    assert tolerance("bar.scene.toml") == 1e-5


def test_package_dirs_are_seen_from_the_configuration(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "scenes").mkdir()
    (repository / "scenes" / "bar.scene.toml").write_text('[[model]]\nfile = "package://bars/four_bar.sdf"\n')
    (repository / "packages").mkdir()
    (repository / "robots").rename(repository / "packages" / "bars")
    monkeypatch.chdir("/")
    scene = str(repository / "scenes" / "bar.scene.toml")
    assert codes(scene) == ["MB906"]
    configure(repository, 'package-dirs = ["packages"]')
    assert "MB201" in codes(scene)


def test_a_scene_stands_for_its_robot(repository: Path) -> None:
    for name in ("four_bar.urdf", "four_bar.scene.toml"):
        shutil.copy(ASSETS / name, repository)
    alone = run("four_bar.urdf")
    assert alone["mobility"]["degree_of_redundancy"] == 0
    configure(repository, '[scenes]\n"four_bar.urdf" = "four_bar.scene.toml"\n')
    meant = run("four_bar.urdf")
    assert (meant["source"], meant["mobility"]["degree_of_redundancy"]) == ("four_bar.scene.toml", 3)
    # and in a folder that holds both it is linted once
    sources = [one["source"] for one in run(".")["runs"]]
    assert sources.count("four_bar.scene.toml") == 1
    assert "four_bar.urdf" not in sources


def test_what_is_excluded_is_passed_over_in_folders_only(repository: Path) -> None:
    configure(repository, 'exclude = ["robots/g*"]')
    assert [one["source"] for one in run(".")["runs"]] == ["robots/arm.urdf", "robots/four_bar.sdf"]
    assert codes(GRIPPER) == ["MB103"]


# Ignores


def test_an_ignore_silences_one_element_for_its_reason(repository: Path) -> None:
    assert run(GRIPPER)["exit"] == 1
    configure(repository, IGNORE)
    silenced = run(GRIPPER)
    assert (silenced["exit"], silenced["findings"]) == (0, [])
    (suppressed,) = silenced["suppressed"]
    assert suppressed["reason"] == "the supplier owes us a model"
    assert (suppressed["finding"]["code"], suppressed["finding"]["element"]) == ("MB103", "finger")
    assert call("lint", GRIPPER).out.splitlines()[1] == "PASSES: 0 errors, 0 warnings, 0 notes, 1 ignored"
    text = call("lint", GRIPPER, "-v").out
    assert "ignored MB103 triangle-inequality for finger: the supplier owes us a model" in text
    assert text.splitlines()[-1] == "0 errors, 0 warnings, 0 notes, 1 ignored"


def test_sarif_holds_the_reason_and_its_line(repository: Path) -> None:
    configure(repository, IGNORE)
    run = json.loads(call("lint", GRIPPER, "--output-format", "sarif").out)["runs"][0]
    (suppression,) = run["results"][0]["suppressions"]
    assert suppression["justification"] == "the supplier owes us a model"
    physical = suppression["location"]["physicalLocation"]
    assert physical["artifactLocation"]["uri"].endswith("mbplugin.toml")
    assert physical["region"] == {"startLine": 2}


@pytest.mark.parametrize(
    ("change", "silent"),
    [
        (("MB103", "triangle-inequality"), True),
        (("finger", "f*r"), True),
        (("finger", "*"), True),
        (("finger", "fing"), False),
        (("finger", "Finger"), False),
        (("MB103", "MB101"), False),
    ],
    ids=lambda value: str(value),
)
def test_what_an_ignore_matches(change: tuple[str, str], silent: bool, repository: Path) -> None:
    configure(repository, IGNORE.replace(*change))
    assert codes(GRIPPER) == ([] if silent else ["MB103", "MB913"])


def test_a_name_with_brackets_is_itself(repository: Path) -> None:
    robot = repository / GRIPPER
    robot.write_text(robot.read_text().replace("finger", "finger[0]"))
    configure(repository, IGNORE.replace("finger", "finger[0]"))
    assert codes(GRIPPER) == []


def test_an_ignore_that_matches_nothing_is_told_at_its_line(repository: Path) -> None:
    configure(repository, "# one\n" + IGNORE + IGNORE.replace("finger", "thumb"))
    document = run(GRIPPER)
    (finding,) = document["findings"]
    assert (finding["code"], finding["severity"], finding["element"]) == ("MB913", "warning", "thumb")
    line = (repository / "mbplugin.toml").read_text().splitlines()[finding["line"] - 1]
    assert (Path(finding["file"]).name, line) == ("mbplugin.toml", "[[waive]]")
    assert finding["line"] > 3
    assert document["exit"] == 0
    assert run(GRIPPER, "--fail-on", "warning")["exit"] == 1
    assert codes(GRIPPER, "--ignore", "MB913") == []


def test_ignores_are_judged_over_all_files(repository: Path) -> None:
    configure(repository, IGNORE)
    assert "MB913" not in codes("robots")
    assert "MB913" in codes("robots/arm.urdf")
    # an ignore for certain files says nothing about others
    configure(repository, IGNORE + 'file = "robots/gripper.urdf"\n')
    assert codes("robots/arm.urdf") == []
    assert codes(GRIPPER) == []
    configure(repository, IGNORE + 'file = "robots/arm.urdf"\n')
    assert codes(GRIPPER) == ["MB103"]
    assert codes("robots/arm.urdf") == ["MB913"]


def test_an_ignore_is_not_judged_where_nothing_can_be_said(repository: Path) -> None:
    configure(repository, IGNORE)
    # the rule was not run
    assert codes(GRIPPER, "--select", "MB2,MB9") == []
    (repository / GRIPPER).write_text("<robot")
    assert codes(GRIPPER) == ["MB902"]


def test_unusable_input_is_never_ignored(repository: Path) -> None:
    (repository / GRIPPER).write_text("<robot")
    configure(repository, IGNORE.replace("MB103", "MB902").replace("finger", "*"))
    assert codes(GRIPPER) == ["MB902"]


def test_an_ignore_written_in_a_list(repository: Path) -> None:
    configure(repository, 'ignore = ["MB2", {rule = "MB103", element = "finger", reason = "old"}]')
    assert codes(GRIPPER) == []
    assert codes(BAR, "--ignore", "MB913") == ["MB301", "MB401"]


# What it cannot say


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("\nfail_on = 'error'", 2, "unknown key 'fail_on'; did you mean 'fail-on'?"),
        ("fail-on = 'never'", 1, "fail-on is 'never'"),
        ("\n\ntolerance = 2", 3, "tolerance is 2"),
        ("tolerance = 'small'", 1, "tolerance is 'small'"),
        ("select = ['MB2']\nignore = ['MB777']", 2, "ignore names 'MB777'"),
        ("select = [3]", 1, "is 3"),
        (IGNORE.replace("reason", "because"), 2, "in [[waive]] 1"),
        (IGNORE.split("reason")[0], 2, "there is no reason in [[waive]] 1"),
        ('package-dirs = ["a\\u0000b"]', 1, "expected a text that is not empty, without nulls"),
        ('exclude = ["a\\u0000b"]', 1, "expected a text that is not empty, without nulls"),
        (IGNORE.replace("the supplier owes us a model", "  "), 2, "expected a text that is not empty"),
        (IGNORE + IGNORE.replace("MB103", "no-such-rule"), 7, "'no-such-rule'"),
        ("[scenes]\na = 1", 1, "a in scenes is 1"),
        ("[scene]\na = 'b'", 1, "unknown key 'scene'; did you mean 'scenes'?"),
        ("select = [", None, "not TOML"),
    ],
)
def test_a_configuration_that_is_none_is_refused(
    text: str, line: int | None, said: str, repository: Path
) -> None:
    configure(repository, text)
    outcome = call("lint", BAR)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert f"mbplugin.toml:{line}: " in outcome.err or line is None
    assert outcome.err.count("\n") == 1


def test_the_schema_of_the_settings_is_what_is_accepted() -> None:
    schema = schema_of("settings")
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"fail-on": "note", "ignore": ["MB1", {"rule": "MB201", "element": "*", "reason": "so"}]}
    jsonschema.validate(good, schema)
    for bad in ({"fail_on": "note"}, {"ignore": [{"rule": "MB201", "element": "*"}]}, {"tolerance": 2}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


# What is in force


def test_config_prints_what_is_in_force_and_where_it_came_from(repository: Path) -> None:
    configure(repository, 'fail-on = "warning"\ntolerance = 1e-5\n' + IGNORE)
    document = json.loads(call("config", BAR, "--output-format", "json").out)
    jsonschema.validate(document, schema_of("config"))
    settings = {setting["name"]: setting for setting in document["settings"]}
    where = str(repository / "mbplugin.toml")
    assert settings["fail-on"] == {"name": "fail-on", "value": "warning", "origin": f"{where}:1"}
    assert settings["tolerance"]["origin"] == f"{where}:2"
    assert settings["select"] == {"name": "select", "value": [], "origin": "default"}
    assert document["ignores"][0]["line"] == 4
    text = call("config", BAR).out
    assert f"fail-on: warning ({where}:1)" in text
    assert "select: every rule that is on by default (default)" in text
    assert f"because the supplier owes us a model ({where}:4)" in text


def test_config_names_every_key_of_a_configuration(repository: Path) -> None:
    keys = set(schema_of("settings")["properties"])
    document = json.loads(call("config", "--output-format", "json").out)
    assert {setting["name"] for setting in document["settings"]} == keys


def test_config_without_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = call("config").out
    assert text.startswith("configuration: none above this file\n")
    assert all(line.endswith("(default)") for line in text.splitlines()[1:])
