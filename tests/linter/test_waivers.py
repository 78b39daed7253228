"""Waivers: ``[[waive]]`` beside a list ``ignore``, the old name, and findings about several elements."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_line import SAMPLE, call

GRIPPER, BAR = "robots/gripper.urdf", "robots/four_bar.sdf"
WAIVER = '\n[[waive]]\nrule = "{}"\nelement = "{}"\nreason = "agreed"\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the sample repository with an empty configuration."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    monkeypatch.chdir(folder)
    (folder / "mbplugin.toml").write_text("")
    return folder


def codes(*arguments: str) -> list[str]:
    document = json.loads(call("lint", *arguments, "--output-format", "json").out)
    return [f["code"] for one in document.get("runs", [document]) for f in one["findings"]]


def test_a_list_of_codes_and_waivers_are_two_keys(repository: Path) -> None:
    config = repository / "mbplugin.toml"
    config.write_text('ignore = ["MB105"]\n' + WAIVER.format("MB103", "finger"))
    assert codes(GRIPPER) == []
    config.write_text('ignore = ["MB105"]\n' + WAIVER.format("MB103", "finger").replace("waive", "ignore"))
    refused = call("lint", GRIPPER)
    assert refused.code == 2
    assert "rename the tables [[ignore]] to [[waive]]" in refused.err


@pytest.mark.parametrize("key", ["waive", "ignore"])
def test_the_old_name_is_read(key: str, repository: Path) -> None:
    text = WAIVER.format("MB103", "finger").replace("waive", key)
    (repository / "mbplugin.toml").write_text(text)
    assert codes(GRIPPER) == []
    (repository / "mbplugin.toml").write_text(text + WAIVER.format("MB103", "thumb").replace("waive", key))
    document = json.loads(call("lint", GRIPPER, "--output-format", "json").out)
    (finding,) = document["findings"]
    assert (finding["code"], finding["element"], finding["line"]) == ("MB913", "thumb", 7)


def massless(folder: Path, *names: str) -> str:
    links = "".join(
        f'<link name="{n}"/><joint name="j{n}" type="continuous"><parent link="base"/><child link="{n}"/></joint>'
        for n in names
    )
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="2"/></inertial>'
    )
    (folder / "many.urdf").write_text(f'<robot name="r"><link name="base">{inertial}</link>{links}</robot>')
    return "many.urdf"


def test_a_finding_about_several_links_ends_when_all_are_waived(repository: Path) -> None:
    robot = massless(repository, "a", "b")
    config = repository / "mbplugin.toml"
    assert codes(robot) == ["MB109"]
    config.write_text(WAIVER.format("MB109", "a"))
    # b is not waived, and the waiver of a is none that matches nothing
    assert codes(robot) == ["MB109"]
    config.write_text(WAIVER.format("MB109", "a") + WAIVER.format("MB109", "b"))
    assert codes(robot) == []
    config.write_text(WAIVER.format("MB109", "[ab]"))
    assert codes(robot) == []


def test_a_baseline_knows_each_link_of_a_finding(repository: Path) -> None:
    robot = massless(repository, "a", "b")
    call("lint", robot, "--output-format", "json", "--output", "baseline.json")
    assert codes(robot, "--baseline", "baseline.json") == []
    massless(repository, "a")
    assert codes(robot, "--baseline", "baseline.json") == []
    massless(repository, "a", "b", "c")
    assert codes(robot, "--baseline", "baseline.json") == ["MB109"]


def test_a_stale_waiver_is_reported_under_its_configuration(repository: Path) -> None:
    (repository / "mbplugin.toml").write_text(WAIVER.format("MB103", "thumb"))
    document = json.loads(call("lint", "robots", "--output-format", "json").out)
    by_source = {Path(run["source"]).name: [f["code"] for f in run["findings"]] for run in document["runs"]}
    assert by_source["mbplugin.toml"] == ["MB913"]
    assert not any("MB913" in found for name, found in by_source.items() if name != "mbplugin.toml")
    assert "mbplugin.toml: configuration\n\nwarning MB913" in call("lint", "robots", "-v").out
    assert (
        "mbplugin.toml: CONFIGURATION\n0 errors, 1 warning, 0 notes\n1 warning MB913"
        in call("lint", "robots").out
    )


# A scene that stands for a robot


def test_a_scene_that_stands_for_a_robot_is_linted_once(repository: Path) -> None:
    scene = '[[model]]\nfile = "../robots/gripper.urdf"\n'
    (repository / "scenes").mkdir()
    (repository / "scenes" / "gripper.scene.toml").write_text(scene)
    (repository / "mbplugin.toml").write_text(f'[scenes]\n"{GRIPPER}" = "scenes/gripper.scene.toml"\n')
    orders = ([GRIPPER, "scenes/gripper.scene.toml"], ["scenes/gripper.scene.toml", GRIPPER], ["."])
    for files in orders:
        document = json.loads(call("lint", *files, "--output-format", "json").out)
        sources = [run["source"] for run in document.get("runs", [document])]
        assert [source.endswith("gripper.scene.toml") for source in sources].count(True) == 1
        assert not any(source.endswith("gripper.urdf") for source in sources)


# The text of several files


def test_only_files_with_findings_are_shown_in_full(repository: Path) -> None:
    text = call("lint", "robots", "-v").out
    assert "four_bar: 3 redundant" in text and "gripper: " in text
    assert "arm: " not in text
    assert "3 runs: 2 passed, 1 failed" in text
    assert "arm: " in call("lint", "robots", "-vv").out
    quiet = call("lint", "robots", "--quiet").out
    assert "MB103" in quiet and "MB201" not in quiet and "How this was decided" not in quiet
    assert call("lint", "robots/arm.urdf", "--quiet").out == ""
    assert call("lint", BAR, "--quiet", "-v").code == 2


@pytest.mark.long
def test_the_ending_of_the_output_selects_the_format(repository: Path) -> None:
    starts = {"v.html": "<!DOCTYPE html>", "v.json": "{", "v.sarif": '{\n  "$schema"', "v.xml": "<?xml"}
    for name, start in starts.items():
        call("lint", BAR, "--output", name)
        assert (repository / name).read_text().lower().startswith(start.lower()), name
    call("lint", BAR, "--output-format", "text", "--output", "v.log")
    assert (repository / "v.log").read_text().startswith("four_bar: ")
    refused = call("lint", BAR, "--output", "w.html", "--output-format", "json")
    assert (refused.code, (repository / "w.html").exists()) == (2, False)
    assert "w.html" in refused.err and "html" in refused.err
