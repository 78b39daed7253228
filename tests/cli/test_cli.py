"""The command line: exit codes, options, and what each command gives."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import mbplugin as mb
from command_line import DOOR_1, DOOR_2, FOUR_BAR, call
from mbplugin.analysis import METHODS
from mbplugin.choices import Method
from mbplugin.cli.app import application
from mbplugin.cli.quantities import named
from mbplugin.cli.report import Reading
from mbplugin.errors import BadUsage
from places import ASSETS

LINT_OPTIONS = """--q --base --planar --tolerance --snap-angles --samples --method --group --select --ignore
    --output-format --output --report --fail-on --baseline --jobs --package-dir"""


def test_lint_says_the_verdict_first() -> None:
    outcome = call("lint", FOUR_BAR)
    assert outcome.code == 0
    assert outcome.out.splitlines()[0].endswith("3 redundant constraints, mobility 1 (Grübler: -2)")
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("fail_on", "code"), [("error", 0), ("warning", 1), ("note", 1)], ids=["error", "warning", "note"]
)
def test_exit_code_follows_fail_on(fail_on: str, code: int) -> None:
    assert call("lint", DOOR_2, "--fail-on", fail_on).code == code


def test_a_clean_model_exits_0_at_any_threshold() -> None:
    findings = json.loads(call("lint", DOOR_1, "--output-format", "json").out)["findings"]
    assert all(finding["severity"] == "note" for finding in findings)
    assert call("lint", DOOR_1, "--fail-on", "warning").code == 0


def test_exit_code_of_several_files_is_the_worst(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.urdf")
    assert call("lint", DOOR_1, DOOR_2, "--fail-on", "warning").code == 1
    outcome = call("lint", DOOR_1, missing, DOOR_2, "--output-format", "json")
    assert outcome.code == 2
    document = json.loads(outcome.out)
    assert [run["exit_code"] for run in document["runs"]] == [0, 2, 0]
    assert [run["model"] is None for run in document["runs"]] == [False, True, False]
    assert document["runs"][1]["findings"][0]["code"] == "MB901"


def test_each_file_is_its_own_run() -> None:
    both = json.loads(call("lint", DOOR_1, FOUR_BAR, "--output-format", "json").out)
    alone = [json.loads(call("lint", f, "--output-format", "json").out) for f in (DOOR_1, FOUR_BAR)]
    assert both == {"schema_version": 1, "generator": "mbplugin", "runs": alone}


def test_a_value_that_no_option_has_is_one_sentence_of_ours() -> None:
    outcome = call("lint", FOUR_BAR, "--output-format", "yamlx")
    assert outcome.code == 2
    assert outcome.err.startswith(
        "mbplugin lint: invalid value for '--output-format': 'yamlx' is not one of 'text'"
    )


def test_select_and_ignore() -> None:
    def codes(*options: str) -> set[str]:
        text = call("lint", FOUR_BAR, "--output-format", "json", *options).out
        return {finding["code"] for finding in json.loads(text)["findings"]}

    everything = codes()
    assert "MB201" in everything
    assert codes("--select", "MB2") == {c for c in everything if c.startswith("MB2")}
    assert codes("--select", "mb201,MB3") == {c for c in everything if c == "MB201" or c.startswith("MB3")}
    assert codes("--ignore", "MB201") == everything - {"MB201"}
    assert codes("--select", "MB2", "--ignore", "MB201") == {
        c for c in everything if c.startswith("MB2") and c != "MB201"
    }


def test_options_reach_the_analysis() -> None:
    def mobility(*options: str) -> dict[str, object]:
        mobility = json.loads(call("lint", FOUR_BAR, "--output-format", "json", *options).out)["mobility"]
        assert isinstance(mobility, dict)
        return mobility

    assert mobility("--tolerance", "1e-6")["tolerance"] == 1e-6
    plane = [mobility("--planar", letters) for letters in ("xy", "yz", "zx")]
    assert sorted(m["degree_of_redundancy"] for m in plane)[0] == 0  # type: ignore[type-var]
    assert mobility("--method", "svd")["degree_of_redundancy"] == 3
    assert mobility("--samples", "0")["degree_of_redundancy"] == 3


def test_groups_are_answered() -> None:
    text = call("lint", FOUR_BAR, "--group", "j0,j3", "--group", "j1", "--output-format", "json").out
    assert [group["members"] for group in json.loads(text)["groups"]] == [["j0", "j3"], ["j1"]]
    assert "j0, j3: reaction non-unique" in call("lint", FOUR_BAR, "--group", "j0,j3").out
    assert "Groups" not in call("lint", FOUR_BAR).out


@pytest.fixture
def arm(tmp_path: Path) -> str:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(
        '<robot name="arm"><link name="a"/><link name="b"><inertial>'
        '<origin xyz="1 0 0"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    return str(urdf)


@pytest.mark.parametrize(("base", "dof"), [("fixed", 1), ("free", 7)])
def test_base_is_overridden(arm: str, base: str, dof: int) -> None:
    text = call("lint", arm, "--base", base, "--output-format", "json").out
    assert json.loads(text)["mobility"]["dof"] == dof


def test_q_turns_the_joint(arm: str) -> None:
    def spin(*options: str) -> str:
        return call("matrix", arm, *options).out

    assert spin() == spin("--q", "j=0")
    assert spin() != spin("--q", "j=0.5")
    assert spin("--q", "j=0.5") == spin("--q", f"j={0.5 + 2 * np.pi!r}")


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["a=1"], {"a": 1.0}),
        (["a=1, b=-2e-3"], {"a": 1.0, "b": -2e-3}),
        (["a=1", "b=2"], {"a": 1.0, "b": 2.0}),
        (["left=arm=0.5"], {"left=arm": 0.5}),
        (None, {}),
    ],
)
def test_values_by_name(texts: list[str] | None, values: dict[str, float]) -> None:
    assert named(texts, "--q", lambda name: "angle") == values


@pytest.mark.parametrize("text", ["a", "=1", "a=", "a=x", "a=nan", "a=inf"])
def test_values_by_name_that_are_none(text: str) -> None:
    with pytest.raises(BadUsage, match="--q"):
        named([text], "--q", lambda name: "angle")


def test_stdin() -> None:
    urdf = b'<robot name="from_stdin"><link name="a"/></robot>'
    assert call("lint", "-", stdin=urdf).out.startswith("from_stdin: NOT OVERCONSTRAINED")
    outcome = call("lint", "-", stdin=b"")
    assert outcome.code == 2 and "<stdin>" in outcome.out


def test_output_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    target.chmod(0o640)
    outcome = call("lint", FOUR_BAR, "--output-format", "json", "--output", str(target), "--force")
    assert (outcome.code, outcome.out) == (0, "")
    assert target.read_text() == call("lint", FOUR_BAR, "--output-format", "json").out
    assert target.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_output_to_what_is_no_file_is_written_through(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    assert call("lint", FOUR_BAR, "--output", str(link)).code == 0
    assert Path("/dev/null").is_char_device()


def test_matrix_saves_what_the_api_gives(tmp_path: Path) -> None:
    npz, csv = tmp_path / "C.npz", tmp_path / "C.csv"
    assert call("matrix", FOUR_BAR, "--save", str(npz)).code == 0
    assert call("matrix", FOUR_BAR, "--save", str(csv)).code == 0
    C = mb.constraint_matrix(mb.load(FOUR_BAR)).C.toarray()
    assert np.array_equal(np.load(npz)["C"], C)
    assert len(csv.read_text().splitlines()) == 1 + len(C)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["C.csv", "C.npz"]


def test_matrix_json_holds_the_matrix() -> None:
    document = json.loads(call("matrix", FOUR_BAR, "--output-format", "json").out)
    C = np.zeros(document["shape"])
    for row, column, value in document["entries"]:
        C[row, column] = value
    expected = mb.constraint_matrix(mb.load(FOUR_BAR))
    assert np.array_equal(C, expected.C.toarray())
    assert tuple((r["constraint"], r["component"]) for r in document["rows"]) == expected.rows
    assert tuple((c["body"], c["component"]) for c in document["columns"]) == expected.columns


def test_matrix_text_has_a_row_per_constraint_component() -> None:
    lines = call("matrix", FOUR_BAR).out.splitlines()
    assert "20 rows (20 holonomic), 18 columns" in lines[0]
    # a row of many terms goes on below
    assert sum(line.endswith("= 0") for line in lines) == 20
    assert sum(line[:1] != " " for line in lines) == 21


def test_rule_lists_and_explains() -> None:
    listed = call("rule").out
    assert "MB201  redundant-constraints" in listed
    explained = call("rule", "MB201").out
    assert explained == call("rule", "redundant-constraints").out
    assert "Remedy" in explained
    rules = json.loads(call("rule", "--output-format", "json").out)["rules"]
    assert len(rules) == len(re.findall(r"^MB\d+  ", listed, re.MULTILINE))


def test_version() -> None:
    assert call("--version").out == f"mbplugin {mb.__version__}\n"


def test_help_names_every_option() -> None:
    text = call("lint", "--help").out
    for option in re.findall(r"--[a-z-]+", LINT_OPTIONS):
        assert option in text


def test_the_methods_offered_are_the_methods_there_are() -> None:
    assert set(get_args(Method)) == set(METHODS)


def test_the_divide_and_conquer_test_is_told_step_by_step() -> None:
    scene = str(ASSETS / "spatial_parallelogram.scene.toml")
    text = call("lint", scene, "--explain-dca").out
    assert "G = TᵀΦ₁₁T is 18×18 of rank 17" in text
    assert text.index("Step 2.") < text.index("Step 6, execution 1.") < text.index("Step 8.")
    document = json.loads(call("lint", scene, "--method", "dca", "--output-format", "json").out)
    assert (document["dca"]["columns"], document["dca"]["rank"], document["dca"]["stalled"]) == (18, 17, [])


@pytest.mark.parametrize("tolerance", ["0", "-1", "1", "nan"])
def test_a_tolerance_that_decides_nothing_is_refused(tolerance: str) -> None:
    outcome = call("lint", FOUR_BAR, "--tolerance", tolerance)
    assert (outcome.code, outcome.out) == (2, "")
    assert "expected a number between 0 and 1" in outcome.err


@pytest.mark.parametrize(
    "command",
    [
        *("matrix", "reactions", "simulate", "estop", "stop-table", "calibrate", "worst-stop", "sweep"),
        *("crosscheck", "view"),
    ],
)
def test_every_command_that_reads_a_model_has_all_options_of_reading(command: str) -> None:
    """They stand in one place, and no command lacks one that another one has."""
    (info,) = application([command]).registered_commands
    parameters = inspect.signature(info.callback).parameters
    for name, option in inspect.signature(Reading, eval_str=True).parameters.items():
        assert parameters[name].annotation == option.annotation and parameters[name].default == option.default
    assert "reading" not in parameters
    assert inspect.getdoc(info.callback)
