"""Each fix by itself: the text that changes, and what is not mended because it could mean several things."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.linter.fixes.proposals import REMEDIES, fix_of
from mbplugin.linter.rule import built_in_rules
from mbplugin.phrases import only_near
from places import ROOT, TESTS
from usd_stages import four_bar

CASES = TESTS / "cases" / "err"
BOX = '<collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>'
#: Of a box of 1 kg: (y² + z²)/12 and so on.
MOMENTS = ("0.00416666667", "0.00833333333", "0.0108333333")


@dataclass(frozen=True)
class Case:
    """A file of the cases, changed so that it has a defect with a fix, and how the fix changes it."""

    code: str
    name: str
    changes: tuple[tuple[str, str], ...]
    mended: tuple[tuple[str, str], ...]
    edited: str = ""
    unsafe: bool = True


LOOP = (
    '  <loop_joint name="knee" type="revolute"><link1 link="closing_knee_1" xyz="0 0 0" rpy="0 0 0"/>'
    '<link2 link="closing_knee_2" xyz="0 0 0" rpy="0 0 0"/><axis xyz="0 0 1"/></loop_joint>\n'
)
WEAKER, TWIN = LOOP.replace("revolute", "point-on-line"), LOOP.replace("knee", "twin", 1)
CLOSURE = (
    '\n[[closure]]\nname = "knee"\ntype = "revolute"\nbody_a = "closing_knee_1"\nbody_b = "closing_knee_2"\n'
    "xyz_a = [0, 0, 0]\nxyz_b = [0, 0, 0]\n"
)
PLACEHOLDER = '<inertia ixx="1.0" ixy="0" ixz="0" iyy="1.0" iyz="0" izz="1.0"/>'
TURNED = '<origin rpy="0 0 1.5707963267948966" xyz="0 0 0"/>'
CASES_OF_FIXES = (
    Case(
        "MB104",
        "mb104.urdf",
        (("</inertial>\n  </link>\n  <joint", f"</inertial>{BOX}\n  <joint"),),
        (
            (
                PLACEHOLDER,
                f'<inertia ixx="{MOMENTS[0]}" ixy="0" ixz="0" iyy="{MOMENTS[1]}" iyz="0" izz="{MOMENTS[2]}"/>',
            ),
        ),
    ),
    Case(
        "MB104",
        "mb104.urdf",
        (
            ("</inertial>\n  </link>\n  <joint", f"</inertial>{BOX}\n  <joint"),
            (PLACEHOLDER, TURNED + PLACEHOLDER),
        ),
        (
            (
                PLACEHOLDER,
                f'<inertia ixx="{MOMENTS[1]}" ixy="0" ixz="0" iyy="{MOMENTS[0]}" iyz="0" izz="{MOMENTS[2]}"/>',
            ),
        ),
    ),
    Case(
        "MB105",
        "mb105.urdf",
        (),
        (
            ('ixx="1.67"', 'ixx="0.00166666667"'),
            ('iyy="1.67"', 'iyy="0.00166666667"'),
            ('izz="1.67"', 'izz="0.00166666667"'),
        ),
    ),
    Case("MB108", "mb108.urdf", (), (('joint="hingee"', 'joint="hinge"'),), unsafe=False),
    Case("MB111", "mb111.urdf", (), (('type="revolute"', 'type="continuous"'),)),
    Case("MB112", "mb112.urdf", (), (("</robot>", f"{LOOP}</robot>"),)),
    Case(
        "MB117", "mb117.urdf", (), (('name="case">', 'name="case">\n  <link name="world"/>'),), unsafe=False
    ),
    Case(
        "MB151",
        "mb151.urdf",
        (
            (
                '<link name="base">',
                '<material name="Orange"><color rgba="1 0 0 1"/></material><link name="base">',
            ),
        ),
        (('<material name="orange"/>', '<material name="Orange"/>'),),
        unsafe=False,
    ),
    Case(
        "MB152",
        "mb152.urdf",
        (),
        (('<joint name="hnge"/>', '<joint name="hinge"/>'),),
        edited="mb152.srdf",
        unsafe=False,
    ),
    Case("MB202", "mb112.urdf", (("</robot>", f"{LOOP}</robot>"),), ((LOOP, WEAKER),)),
    Case("MB205", "mb112.urdf", (("</robot>", f"{LOOP}{TWIN}</robot>"),), ((TWIN, ""),)),
)


@pytest.mark.long_after(8)
@pytest.mark.parametrize("case", CASES_OF_FIXES, ids=lambda case: f"{case.code}-{case.name}")
def test_it_changes_what_it_says(case: Case, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for file in CASES.glob(f"{Path(case.name).stem}.*"):
        text = file.read_text()
        if file.suffix == ".srdf":
            text = text.replace('<joint name="hinge"/>', '<joint name="hnge"/>').replace(
                'value="2"', 'value="0"'
            )
        for old, new in case.changes if file.name == case.name else ():
            assert old in text
            text = text.replace(old, new, 1)
        (tmp_path / file.name).write_text(text)
    path, edited = tmp_path / case.name, tmp_path / (case.edited or case.name)
    before = edited.read_text()
    assert case.code in {f.code for f in mb.lint(path).findings}
    if case.unsafe:
        assert not mb.fix(path, select=[case.code]).mended
    report = mb.fix(path, unsafe=case.unsafe, select=[case.code])
    wanted = before
    for old, new in case.mended:
        assert old in before
        wanted = wanted.replace(old, new, 1)
    assert edited.read_text() == wanted
    assert case.code not in {f.code for f in report.findings}
    (finding,) = report.mended
    assert finding.fix is not None
    assert finding.fix.applicability == ("unsafe" if case.unsafe else "safe")


@pytest.mark.parametrize(
    ("robot", "code", "added"),
    [
        ("mb112.urdf", "MB112", CLOSURE),
        ("mb155.urdf", "MB155", "\n[[closure]]\nname = "),
        ("mb156.urdf", "MB156", "\n[[closure]]\nname = "),
    ],
)
def test_a_missing_closure_is_added_to_the_scene(robot: str, code: str, added: str, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    model = (CASES / robot).read_bytes()
    (tmp_path / robot).write_bytes(model)
    scene = tmp_path / "cell.scene.toml"
    scene.write_text(f'[[model]]\nfile = "{robot}"\nbase = "fixed"')
    report = mb.fix(scene, unsafe=True, select=[code])
    assert scene.read_text().startswith(f'[[model]]\nfile = "{robot}"\nbase = "fixed"\n{added}')
    assert (tmp_path / robot).read_bytes() == model
    assert report.findings == ()
    assert report.scene is not None and any(pair.closure for pair in report.scene.mechanism.pairs)


def test_a_closure_of_a_model_is_retyped_in_the_scene(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    text = (CASES / "mb112.urdf").read_text().replace("</robot>", f"{LOOP}</robot>")
    (tmp_path / "leg.urdf").write_text(text)
    scene = tmp_path / "leg.scene.toml"
    scene.write_text('[[model]]\nfile = "leg.urdf"\nbase = "fixed"\n')
    report = mb.fix(scene, unsafe=True, select=["MB2"])
    assert scene.read_text().endswith('\n[[pair]]\nname = "knee"\ntype = "point-on-line"\n')
    assert (tmp_path / "leg.urdf").read_text() == text
    assert report.analysis is not None and report.analysis.degree_of_redundancy == 0


def test_a_loop_of_a_stage_is_excluded(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    stated = "uniform bool physics:excludeFromArticulation = 1"
    text = (
        four_bar()
        .replace(stated, "")
        .replace(
            'def Xform "robot"', 'def Xform "robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])', 1
        )
    )
    stage = tmp_path / "loop.usda"
    stage.write_text(text)
    assert [f.code for f in mb.lint(stage, select=["MB129"]).findings] == ["MB129"]
    report = mb.fix(stage, unsafe=True, select=["MB129"])
    assert report.findings == ()
    added = [line for line in stage.read_text().splitlines() if line not in text.splitlines()]
    assert [line.strip() for line in added] == ["uniform bool physics:excludeFromArticulation = true"]


def test_a_misspelt_word_that_takes_effect_is_said(tmp_path: Path) -> None:
    shape = '<⟦colision⟧><geometry><box size="0.3 0.2 0.1"/></geometry></⟦colision⟧></link>\n  <joint'
    text = (CASES / "mb108.urdf").read_text().replace("hingee", "hinge")
    assert text.count("</link>\n  <joint") == 1
    text = text.replace("</link>\n  <joint", shape)
    file = tmp_path / "word.urdf"
    file.write_text(text.replace("⟦colision⟧", "colision"))
    report = mb.fix(file)
    assert file.read_text() == text.replace("⟦colision⟧", "collision")
    (finding,) = report.mended
    assert finding.fix is not None
    assert [change for change in finding.fix.changes if change.endswith("none → collision box")]


# What could mean several things


@pytest.mark.parametrize(
    ("wrong", "known", "near"),
    [
        ("dampng", ["damping", "friction"], "damping"),
        ("Damping", ["damping", "friction"], "damping"),
        ("uper", ["upper", "lower", "super"], ""),
        ("joint_3", ["joint_1"], ""),
        ("joint3", ["joint_3"], ""),
        ("ixw", ["ixx", "ixy", "ixz"], ""),
        ("finger_lft", ["finger_left", "finger_right"], "finger_left"),
        ("xz", ["xyz"], ""),
        ("sholuder", ["shoulder"], "shoulder"),
        ("elbow", ["elbow"], ""),
        ("effort", ["velocity"], ""),
    ],
)
def test_one_near_match(wrong: str, known: list[str], near: str) -> None:
    if wrong == "joint3":
        # one letter is missing, and no digit differs
        assert only_near(wrong, known) == "joint_3"
        return
    assert only_near(wrong, known) == near


def test_the_other_side_of_a_robot_is_no_misspelling(tmp_path: Path) -> None:
    text = (CASES / "mb150.urdf").read_text().replace('"amr"', '"l_arm"').replace('"arm"', '"r_arm"')
    file = tmp_path / "side.urdf"
    file.write_text(text)
    assert [f.code for f in mb.fix(file).findings] == ["MB150"]
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("physics:mass =", "physics:mas ="),
        ("physics:localPos0 =", "physics:localPso0 ="),
        ("physics:axis =", "physics:axes ="),
    ],
)
def test_a_misspelt_property_of_a_stage_is_corrected(right: str, wrong: str, tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    text = four_bar()
    # in a comment, in a string and in another prim it stays
    comment = f'# {wrong} 1\n    custom string note = "{wrong} 2"\n'
    place = text.rindex(right)
    line = text.rindex("\n", 0, place) + 1
    whole = text[:line] + comment + text[line:]
    broken = whole[: place + len(comment)] + wrong + whole[place + len(comment) + len(right) :]
    stage = tmp_path / "loop.usda"
    stage.write_text(broken)
    found = [f.message for f in mb.lint(stage).findings if f.code == "MB113"]
    assert any(f"did you mean '{right[:-2]}'?" in message for message in found)
    mb.fix(stage)
    assert stage.read_text() == whole


def test_a_property_of_another_schema_is_no_misspelling(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    stage = tmp_path / "loop.usda"
    text = four_bar().replace("physics:mass =", "physics:thickness =", 1)
    stage.write_text(text)
    assert not [f for f in mb.lint(stage).findings if f.code == "MB113" and "did you mean" in f.message]


#: Two links and a joint, in URDF and in SDF.
ARM_OF_URDF = """<robot name="r">
  <link name="base"/>
  <link name="upper_arm">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper_arm"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""
ARM_OF_SDF = """<sdf version="1.9"><model name="r">
  <link name="base"/> <link name="upper_arm"/>
  <joint name="shoulder" type="revolute">
    <parent>base</parent> <child>upper_arm</child>
    <axis><xyz>0 0 1</xyz></axis>
  </joint>
</model></sdf>
"""


@pytest.mark.parametrize(
    ("file", "code", "right", "wrong"),
    [
        ("r.urdf", "MB904", 'type="revolute"', 'type="revolut"'),
        ("r.urdf", "MB904", 'name="shoulder" type=', 'name="shoulder" typ='),
        ("r.urdf", "MB904", '<child link="upper_arm"', '<child link="uper_arm"'),
        ("r.urdf", "MB904", '<parent link="base"', '<parent lnk="base"'),
        ("r.urdf", "MB905", "<mass value=", "<mass valu="),
        ("r.xacro", "MB904", '<parent link="base"', '<parent link="bsae"'),
        ("r.sdf", "MB904", 'type="revolute"', 'type="revolte"'),
        ("r.sdf", "MB904", 'name="shoulder" type=', 'name="shoulder" tpye='),
        ("r.sdf", "MB907", "<child>upper_arm<", "<child>upper_amr<"),
    ],
)
def test_the_word_for_which_a_file_cannot_be_read_is_corrected(
    file: str, code: str, right: str, wrong: str, tmp_path: Path
) -> None:
    whole = ARM_OF_SDF if file.endswith("sdf") else ARM_OF_URDF
    if file.endswith("xacro"):
        pytest.importorskip("xacro")
    assert whole.count(right) == 1
    path = tmp_path / file
    path.write_text(whole.replace(right, wrong), encoding="utf-8")
    assert mb.lint(path).findings[0].code == code
    left = mb.fix(path).findings
    assert path.read_text(encoding="utf-8") == whole
    assert not {one.code for one in left} & {"MB904", "MB905", "MB907"}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        # near two links, near none, and a word of xacro
        ('<child link="upper_arm"', '<child link="upper_arn"'),
        ('<child link="upper_arm"', '<child link="forearm"'),
        ('type="revolute"', 'type="hinge"'),
        ("<mass value=", "<mass weight="),
    ],
)
def test_a_word_that_could_be_several_is_left(right: str, wrong: str, tmp_path: Path) -> None:
    text = ARM_OF_URDF.replace('<link name="base"/>', '<link name="base"/><link name="upper_art"/>')
    path = tmp_path / "r.urdf"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    assert mb.fix(path).findings[0].severity == "error"
    assert path.read_text(encoding="utf-8") == text.replace(right, wrong)


def test_a_value_of_xacro_is_no_literal(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    text = (CASES / "mb125.urdf").read_text().replace('xyz="0 1 1"', 'xyz="0 0 ${1 + 1}"')
    text = text.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ')
    file = tmp_path / "robot.urdf.xacro"
    file.write_text(text)
    assert [f.code for f in mb.fix(file).findings] == ["MB125"]
    assert file.read_text() == text


@pytest.mark.long
def test_an_included_macro_is_mended_where_it_stands(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    (tmp_path / ".git").mkdir()
    head = '<robot name="case" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    case = (CASES / "mb125.urdf").read_text()
    inner = case[case.index("<link") : case.index("</robot>")]
    (tmp_path / "inner.xacro").write_text(f"{head}<xacro:macro name='all'>\n{inner}</xacro:macro></robot>")
    top = tmp_path / "top.urdf.xacro"
    top.write_text(f'{head}<xacro:include filename="inner.xacro"/><xacro:all/></robot>')
    before = (tmp_path / "inner.xacro").read_text(), top.read_text()
    assert mb.fix(top).findings == ()
    mended = before[0].replace('xyz="0 1 1"', 'xyz="0 0.7071067811865475 0.7071067811865475"')
    assert ((tmp_path / "inner.xacro").read_text(), top.read_text()) == (mended, before[1])


# Output for programs


@pytest.fixture
def axis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    file = tmp_path / "axis.urdf"
    file.write_bytes((CASES / "mb125.urdf").read_bytes().replace(b"0 1 1", b"0 0 2"))
    return file


def replaced(text: str, edits: list[tuple[int, int, int, int, str]]) -> str:
    """Apply edits given by lines and columns, from 1."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:k])) for k in range(len(lines) + 1)]
    for a, b, c, d, new in sorted(edits, reverse=True):
        text = text[: starts[a - 1] + b - 1] + new + text[starts[c - 1] + d - 1 :]
    return text


def test_json_has_the_edits_and_they_are_those_that_fix_makes(axis: Path) -> None:
    before = axis.read_text()
    document = json.loads(call("lint", "axis.urdf", "--diff", "--output-format", "json").out)
    jsonschema.validate(document, json.loads((ROOT / "docs" / "lint.schema.json").read_text()))
    (finding,) = document["findings"]
    assert finding["fix"]["applicability"] == "safe"
    assert axis.read_text() == before
    keys = ("start_line", "start_column", "end_line", "end_column", "text")
    edits = [tuple(edit[key] for key in keys) for edit in finding["fix"]["edits"]]
    document = json.loads(call("lint", "axis.urdf", "--fix", "--output-format", "json").out)
    jsonschema.validate(document, json.loads((ROOT / "docs" / "lint.schema.json").read_text()))
    assert (document["findings"], [f["code"] for f in document["mended"]]) == ([], ["MB125"])
    assert axis.read_text() == replaced(before, edits)
    assert (
        "fix"
        not in json.loads(call("lint", str(CASES / "mb125.urdf"), "--output-format", "json").out)["findings"][
            0
        ]
    )


def test_sarif_has_fixes_and_github_names_them(axis: Path) -> None:
    before = axis.read_text()
    log = json.loads(call("lint", "axis.urdf", "--diff", "--output-format", "sarif").out)
    jsonschema.validate(log, json.loads((TESTS / "schemas" / "sarif-2.1.0.json").read_text()))
    (result,) = log["runs"][0]["results"]
    (fix,) = result["fixes"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "axis.urdf"
    keys = ("startLine", "startColumn", "endLine", "endColumn")
    edits = [
        (*(one["deletedRegion"][key] for key in keys), one["insertedContent"]["text"])
        for one in change["replacements"]
    ]
    assert replaced(before, edits) == before.replace("0 0 2", "0 0 1")
    annotation = call("lint", "axis.urdf", "--diff", "--output-format", "github").out.splitlines()[0]
    assert annotation.endswith("%0Afix (safe): axis 0 0 2 → 0 0 1")


def test_a_rule_says_whether_it_has_a_fix() -> None:
    assert "Fix\n---\nsafe: divides the axis by its length" in call("rule", "MB125").out
    assert call("rule", "MB201").out.rstrip().endswith("Fix\n---\nnone")
    document = json.loads(call("rule", "MB122", "--output-format", "json").out)
    assert document["rules"][0]["fix"].startswith("unsafe: ")
    page = (ROOT / "docs" / "rules.md").read_text()
    for rule in built_in_rules():
        assert re.search(rf"^\| {rule.code} \|.*\| {re.escape(fix_of(rule.code))} \|$", page, re.MULTILINE)


def test_every_remedy_has_a_test() -> None:
    """Those of the corpus, those above, and the waivers."""
    own = {case.code for case in CASES_OF_FIXES} | {
        "MB112",
        "MB155",
        "MB156",
        "MB129",
        "MB913",
        "MB905",
        "MB907",
    }
    corpus = (TESTS / "linter" / "test_mended_corpus.py").read_text()
    assert {*REMEDIES} == own | ({*re.findall(r'"(MB\d+)"', corpus)} & {*REMEDIES})
