"""Diagnostics are the findings of the command, at places that a reader of the text would point at."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import call
from mbplugin.editor.diagnostics import LATE, Place, inspected, span_of
from mbplugin.editor.documents import Documents, OpenDocument, Positions
from mbplugin.editor.hovers import hover
from mbplugin.linter.batch import lint_one_of_many
from mbplugin.linter.targets import is_model, settings_for, target_of
from places import ASSETS, ROOT

CASES = sorted(
    file
    for file in (ROOT / "tests" / "cases" / "err").iterdir()
    if is_model(str(file)) and file.suffix != ".xacro"
)
#: What is underlined for the findings of some rules.
TAGS = {
    "MB101": "<mass",
    "MB102": "<inertia",
    "MB103": "<inertia",
    "MB108": "<mimic",
    "MB120": "<limit",
    "MB122": "<limit",
    "MB124": "<dynamics",
    "MB125": "<axis",
    "MB131": "<mesh",
}


def opened(file: Path, text: str | None = None) -> Documents:
    documents = Documents("utf-32")
    shown = file.read_bytes().decode() if text is None else text
    documents.put(OpenDocument(file.as_uri(), str(file), 1, shown))
    return documents


def test_there_are_cases_of_all_formats() -> None:
    endings = {file.name.partition(".")[2] for file in CASES}
    assert {"urdf", "sdf", "scene.toml"} <= endings and len(CASES) > 60


@pytest.mark.long_after(20)
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.name)
def test_an_editor_shows_what_the_command_reports(file: Path) -> None:
    documents = opened(file)
    inspection = inspected(documents, str(file), complete=True)
    report = lint_one_of_many(target_of(str(file), settings_for(file)), {})
    listed = [(f.code, f.message) for f in report.findings]
    seen = dict.fromkeys((id(finding), finding.code, finding.message) for finding, *_ in inspection.findings)
    assert [(code, message) for _, code, message in seen] == listed
    text = documents.get(str(file))
    assert text is not None
    for finding, there, span in inspection.findings:
        positions = documents.positions(there)
        assert positions is not None
        start, end = positions.index(span["start"]), positions.index(span["end"])
        underlined = positions.text[start:end]
        assert underlined == underlined.strip()
        assert underlined or not positions.text.strip()
        if there.endswith(".urdf") and finding.code in TAGS:
            assert underlined.startswith(TAGS[finding.code])
        if finding.line and there == finding.file:
            lines = [place["start"]["line"] for one, _, place in inspection.findings if one is finding]
            assert finding.line - 1 in lines


def test_a_first_answer_needs_no_remedies() -> None:
    """What takes most of the time of the Minitaur is not computed for it, and the other findings are all there."""
    file = ASSETS / "minitaur.scene.toml"
    pytest.importorskip("pybullet_data")
    documents = opened(file)
    quick = inspected(documents, str(file), complete=False)
    whole = inspected(documents, str(file), complete=True)
    assert quick.report is not None and quick.report.analysis is not None
    computed = vars(quick.report.analysis)
    assert not {"remedies", "_cures"} & computed.keys()
    assert whole.report is not None and "_cures" in vars(whole.report.analysis)
    assert (
        whole.report.analysis is not None
        and quick.report.analysis.samples == 0 < whole.report.analysis.samples
    )
    left_out = {f.code for f, *_ in whole.findings} - {f.code for f, *_ in quick.findings}
    assert left_out == {"MB201", "MB202", "MB501", "MB502"} <= set(LATE)


def test_a_loop_that_is_open_while_it_is_typed_says_nothing_about_redundancy() -> None:
    """A session goes on to lint in two steps: otherwise the next key would wait for the remedies."""
    file = ASSETS / "four_bar.scene.toml"
    text = file.read_text(encoding="utf-8")
    typed = text.replace("xyz_b = [0.85, 0, 0]", "xyz_b = [8.85, 0, 0]")
    assert typed != text
    answers = [inspected(opened(file, one), str(file), complete=True).is_redundant for one in (text, typed)]
    assert answers == [True, None]
    alone = opened(ASSETS / "four_bar.urdf")
    assert inspected(alone, str(ASSETS / "four_bar.urdf"), complete=True).is_redundant is False


@pytest.mark.parametrize(
    ("far", "late"), [("xyz_b = [8.85, 0, 0]", {"MB910"}), ("xyz_b = [0.35, 0, 0]", {"MB910", "MB504"})]
)
def test_a_first_answer_does_not_search_for_a_closed_pose(far: str, late: set[str]) -> None:
    """It says nothing about what the pose decides, and all the rest that the complete one says."""
    file = ASSETS / "four_bar.scene.toml"
    typed = file.read_text(encoding="utf-8").replace("xyz_b = [0.85, 0, 0]", far)
    quick = inspected(opened(file, typed), str(file), complete=False)
    whole = inspected(opened(file, typed), str(file), complete=True)
    assert quick.report is not None and quick.report.analysis is None
    assert not quick.complete and {"MB201", "MB301", "MB504", "MB910", *LATE} <= set(quick.left_out)
    assert whole.complete and {f.code for f, *_ in whole.findings} & late
    kept = [f for f, *_ in whole.findings if f.code not in quick.left_out]
    assert [f for f, *_ in quick.findings] == kept


def test_the_text_counts_and_not_the_file() -> None:
    file = ASSETS / "four_bar.urdf"
    wrong = file.read_text(encoding="utf-8").replace('xyz="0 -1 0"', 'xyz="0 -3 0"', 1)
    codes = [f.code for f, *_ in inspected(opened(file, wrong), str(file), complete=True).findings]
    assert codes == ["MB125"]


@pytest.mark.parametrize("name", ["package.xml", "config.toml", "readme.urdf.txt", "view.launch.xml"])
def test_other_files_are_left_alone(tmp_path: Path, name: str) -> None:
    inspection = inspected(
        opened(tmp_path / name, "<package><name>a</name></package>"), str(tmp_path / name), complete=True
    )
    assert inspection.report is None and not inspection.diagnostics


@pytest.mark.parametrize(
    ("text", "place", "underlined"),
    [
        ("<a>\n  <b name='x'/><b name='y'/>\n</a>", Place("f", 2, "m/y"), "<b name='y'/>"),
        ("<a>\n  <b name='x'/><b name='y'/>\n</a>", Place("f", 2, "z"), "<b name='x'/>"),
        ("<a>\n  <!-- <b/> --> <c d='>'\n e='1'/>\n</a>", Place("f", 2, ""), "<c d='>'\n e='1'/>"),
        ("<a>\n  text\n\n</a>", Place("f", 3, ""), "text"),
        ("[[model]]\n  file = 1  \n", Place("f", 2, ""), "file = 1"),
        ("<a", Place("f", 9, ""), "<a"),
        ("\r\n<a>\r\n", Place("f", 0, ""), "<a>"),
        ("", Place("f", 1, ""), ""),
        ("<j name='j'><axis xyz='2 0 0'/></j>", Place("f", 1, "j", "MB125"), "<axis xyz='2 0 0'/>"),
    ],
)
def test_what_is_underlined(text: str, place: Place, underlined: str) -> None:
    assert text[slice(*span_of(Positions(text, "utf-16"), place))] == underlined


def test_hovers_say_what_an_element_is() -> None:
    file = ASSETS / "minitaur.scene.toml"
    pytest.importorskip("pybullet_data")
    documents = opened(file)
    inspection = inspected(documents, str(file), complete=True)
    text = file.read_text(encoding="utf-8")
    line = text[: text.index("[[closure]]")].count("\n")
    shown = hover(documents, inspection, {"line": line, "character": 2})
    assert shown is not None
    value = shown["contents"]["value"]
    assert "**closure `foot_front_left`**: spherical" in value and "part of a loop" in value
    assert "**not determined** by the rigid model" in value and "MB201" in value


def test_a_hover_of_a_joint_has_its_numbers(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    text = (
        "<robot name='r'>\n<link name='base'/>\n<link name='arm'><inertial><mass value='2'/>"
        "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>\n"
        "<joint name='elbow' type='revolute'><parent link='base'/><child link='arm'/><axis xyz='0 0 1'/>\n"
        "<limit lower='-1' upper='0.5' effort='7' velocity='3'/></joint>\n</robot>"
    )
    documents = opened(file, text)
    inspection = inspected(documents, str(file), complete=False)
    # the line of its limits too, which lies in it
    for line in (3, 4):
        shown = hover(documents, inspection, {"line": line, "character": 5})
        assert shown is not None
        value = shown["contents"]["value"]
        assert "**joint `elbow`**: revolute, `base` → `arm`" in value and "axis (0 0 1)" in value
        assert "limits -1 … 0.5 rad (-57.3° … 28.65°), velocity 3 rad/s, effort 7 N·m" in value
        assert "in no loop" in value and "reaction determined" in value
    shown = hover(documents, inspection, {"line": 2, "character": 5})
    assert shown is not None and "**link `arm`**: mass 2 kg" in shown["contents"]["value"]


def test_the_baseline_of_the_configuration_counts(tmp_path: Path) -> None:
    wrong = (ASSETS / "four_bar.urdf").read_text(encoding="utf-8").replace('xyz="0 -1 0"', 'xyz="0 -3 0"', 1)
    file, baseline = tmp_path / "robot.urdf", tmp_path / "known.json"
    file.write_text(wrong, encoding="utf-8")
    report = call("lint", str(file), "--output-format", "json")
    assert "MB125" in report.out
    baseline.write_text(report.out, encoding="utf-8")

    def codes(text: str) -> list[str]:
        found = inspected(opened(file, text), str(file), complete=True).findings
        return [finding.code for finding, *_ in found]

    assert codes(wrong) == ["MB125"]
    (tmp_path / "mbplugin.toml").write_text('baseline = "known.json"\n', encoding="utf-8")
    assert codes(wrong) == []
    # a second axis of this kind is new
    assert set(codes(wrong.replace('xyz="0 -1 0"', 'xyz="0 -3 0"', 1))) == {"MB125"}
    baseline.write_text("{}", encoding="utf-8")
    assert codes(wrong) == ["MB900"]
