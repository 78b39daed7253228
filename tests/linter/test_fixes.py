"""``lint --fix``: what is mended, that nothing else changes, and what is not touched."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import BadUsage
from mbplugin.linter.fixes import edits
from mbplugin.linter.fixes.edits import Edit, Fix, SourceText, applied
from mbplugin.linter.fixes.proposals import REMEDIES, proposed
from mbplugin.linter.fixes.run import mended
from mbplugin.linter.fixes.sources import Sources
from mbplugin.linter.fixes.toml_spans import TomlSpans
from mbplugin.linter.fixes.xml_spans import XmlSpans
from mbplugin.linter.rule import Finding, built_in_rules
from mbplugin.linter.run import Report
from places import ROOT

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
#: A robot whose axis is too long, with everything around it that an XML writer would change.
ROBOT = f"""<?xml version='1.0'   encoding="utf-8" ?>
<!-- <axis xyz="0 0 2"/> stays: a comment -- with two hyphens -->
<robot  name = 'case' >
\t<link name="base">{INERTIAL}</link>
\t<link name="arm">{INERTIAL}<visual><geometry><box size="0.3 0.3 0.3"/></geometry><material name="a &amp; &#65;">
\t\t<color rgba="1 0 0 1"/></material></visual></link>
\t<joint type="revolute"   name='hinge'>
\t\t<parent link="base" /><child link="arm"></child>
\t\t<axis
\t\t\txyz =  '0\t 0   2' ></axis>   <!-- trailing -->
\t\t<limit upper="1" lower="-1" effort="10" velocity="1"/>
\t</joint>
\t<gazebo reference="arm"><![CDATA[ <axis xyz="0 0 2"/> & ]]></gazebo>
</robot>
"""
AXIS, MENDED_AXIS = "'0\t 0   2'", "'0\t 0   1'"


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    file = tmp_path / "robot.urdf"
    file.write_bytes(ROBOT.encode())
    return file


def codes(report: Report) -> list[str]:
    return [finding.code for finding in report.findings]


# Spans


def test_spans_of_xml_are_those_of_the_bytes() -> None:
    source = SourceText("a.urdf", f"\ufeffé\n{ROBOT}".encode())
    spans = XmlSpans(source)
    axes = [element for element in spans.elements if element.tag == "axis"]
    (axis,) = axes
    found = axis.attribute("xyz")
    assert found is not None
    assert source.data[found.start : found.name_end] == b"xyz"
    assert source.data[found.value_start - 1 : found.value_end + 1] == AXIS.encode()
    assert source.data[axis.start : axis.end].startswith(b"<axis") and source.data[: axis.end].endswith(
        b"</axis>"
    )
    assert source.data.split(b"\n")[axis.line - 1] == b"\t\t<axis"
    assert [word for _, _, word in spans.words(found)] == ["0", "0", "2"]
    material = next(element for element in spans.elements if element.tag == "material")
    assert material.get("name") == "a & A"
    assert spans.words(material.attributes[0]) == []


def test_spans_of_toml_are_those_of_the_bytes() -> None:
    text = (
        '\ufeffgravity = [0, 0, -9.81] # "a"\n[state]\nq.a = 1\n"b c" = """x\n[no]\n"""\n[[closure]]\n'
        "name = 'j'\nrpy_a = [ 1.5708 , # half\n  0,\n 3.14e0 ]\nin = { a = [1, {b = \"]\"}] }\n"
    )
    source = SourceText("a.toml", text.encode())
    toml = TomlSpans(source)
    assert [table.name for table in toml.tables] == ["", "state", "closure"]
    closure = toml.tables[2]
    assert {*closure.keys} == {"name", "rpy_a", "in"}
    entries = [source.decoded(*span) for span in closure.keys["rpy_a"].entries]
    assert entries == ["1.5708", "0", "3.14e0"]
    assert toml.value(closure.keys["name"]) == "j"
    assert {*toml.tables[1].keys} == {"q.a", "b c"}
    assert source.data[closure.end :] == b""


def test_columns_count_characters_and_no_byte_order_mark() -> None:
    source = SourceText("a.urdf", "\ufeffé<a/>\n\té<b/>".encode())
    assert source.position(source.data.index(b"<a")) == (1, 2)
    assert source.position(source.data.index(b"<b")) == (2, 3)


def test_a_removed_element_takes_its_line_along_and_no_other() -> None:
    for text, left in (
        ("<a>\r\n  <b/> \r\n  <c/>\r\n</a>", "<a>\r\n  <c/>\r\n</a>"),
        ("<a>\n  <b/><c/>\n</a>", "<a>\n  <c/>\n</a>"),
        ("<a><b>\n</b>\n</a>", "<a>\n</a>"),
    ):
        source = SourceText("a", text.encode())
        spans = XmlSpans(source)
        assert applied(source, [spans.removed(spans.elements[1])]) == left.encode()


# Bytes that stay


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no-mark", "mark"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_everything_but_the_axis_stays(mark: str, line_end: str, encoding: str, robot: Path) -> None:
    if mark and encoding == "latin-1":
        return
    text = mark + ROBOT.replace("\n", line_end).replace("trailing", "größer")
    robot.write_bytes(text.encode(encoding))
    report = mb.fix(robot)
    assert robot.read_bytes() == text.replace(AXIS, MENDED_AXIS).encode(encoding)
    assert "MB125" not in codes(report)
    (finding,) = report.mended
    assert finding.fix is not None and finding.fix.applicability == "safe"
    (edit,) = finding.fix.edits
    assert (edit.start_line, edit.start_column, edit.text) == (10, 19, "1")


def test_a_dry_run_writes_nothing_and_gives_the_patch(robot: Path) -> None:
    before = robot.read_bytes()
    report = mb.fix(robot, dry_run=True)
    assert robot.read_bytes() == before
    assert f"-\t\t\txyz =  {AXIS} ></axis>" in report.patch
    assert f"+\t\t\txyz =  {MENDED_AXIS} ></axis>" in report.patch


def test_a_patch_is_what_patch_applies(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(robot.parent)
    wanted = robot.read_bytes().replace(AXIS.encode(), MENDED_AXIS.encode())
    patch = call("lint", "robot.urdf", "--diff").out
    assert robot.read_bytes() != wanted
    subprocess.run(["git", "apply", "-"], input=patch.encode(), check=True, cwd=robot.parent)
    assert robot.read_bytes() == wanted


# Unsafe fixes, and fixes that do not hold


LIMITS = 'lower="-170" upper="170"'


def test_an_unsafe_fix_needs_its_option(robot: Path) -> None:
    text = ROBOT.replace('upper="1" lower="-1"', LIMITS).replace(AXIS, MENDED_AXIS)
    robot.write_text(text)
    assert "MB122" in codes(mb.fix(robot))
    assert robot.read_text() == text
    report = mb.fix(robot, unsafe=True)
    assert "MB122" not in codes(report)
    assert robot.read_text() == text.replace(LIMITS, 'lower="-2.9670597283903604" upper="2.9670597283903604"')
    (finding,) = report.mended
    assert finding.fix is not None and finding.fix.applicability == "unsafe"
    assert any("limit of hinge" in change for change in finding.fix.changes)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (AXIS, "'0\t 0   3'", "is still reported"),
        (AXIS, "'0\t 1   0'", "the robot changes"),
        ('<mass value="1"/>', '<mass value="2"/>', "the robot changes"),
        ('<mass value="1"/>', '<mass value="x"/>', "cannot be used"),
        ("</joint>", "", "cannot be used"),
        ('<parent link="base" />', '<parent link="base" /><origin xyz="0 0 0.1"/>', "the robot changes"),
        ('lower="-1"', 'lower="-0.9"', "the robot changes"),
        ('lower="-1"', 'lower="1"', "MB121 appears"),
        ('<box size="0.3 0.3 0.3"/>', '<box size="0.3 0.3 0.4"/>', "shapes of arm"),
    ],
)
def test_a_wrong_fix_is_rolled_back(old: str, new: str, reason: str, robot: Path) -> None:
    """A right fix, with one more edit that makes something worse."""
    before = robot.read_bytes()

    def propose(finding: Finding, sources: Sources, report: Report) -> Iterator[Fix]:
        for fix in proposed(finding, sources, report.scene):
            start = before.index(old.encode())
            wrong = Edit(str(robot), start, start + len(old.encode()), new)
            right = fix.edits if old != AXIS else ()
            yield Fix(fix.code, fix.element, fix.title, (*right, wrong))

    mending = mended(lambda: mb.lint(robot), lambda: mb.lint(robot), unsafe=False, propose=propose)
    assert not mending.contents
    (one,) = mending.after.unmended
    assert "rolled back" in one.reason and reason in one.reason
    assert "MB125" in codes(mending.after)


def test_a_misspelt_axis_is_mended_though_frames_across_its_joint_align_otherwise(robot: Path) -> None:
    """A quarter turn that is rounded, and the new axis, show as a turned frame of the base, which was read alike."""
    text = ROBOT.replace("xyz =  '0\t 0   2'", 'xzy="0 0 1"')
    text = text.replace("<axis\n", '<origin xyz="0 0 1" rpy="1.5708 0 0"/><axis\n')
    robot.write_bytes(text.encode())
    report = mb.fix(robot)
    assert robot.read_text(encoding="utf-8") == text.replace("xzy", "xyz")
    assert [finding.code for finding in report.mended] == ["MB113"]


def test_what_holds_is_kept_beside_what_does_not(robot: Path) -> None:
    second = (
        ROBOT.replace('name="arm"', 'name="hand"').replace("'hinge'", "'wrist'").replace('"arm"', '"hand"')
    )
    body = second[second.index('\t<link name="hand"') : second.index("\t<gazebo")].replace('"base"', '"arm"')
    robot.write_text(ROBOT.replace("\t<gazebo", f"{body}\t<gazebo"))

    def propose(finding: Finding, sources: Sources, report: Report) -> Iterator[Fix]:
        for fix in proposed(finding, sources, report.scene):
            wrong = Edit(str(robot), fix.edits[0].start, fix.edits[0].end, "-1")
            yield fix if fix.element == "wrist" else Fix(fix.code, fix.element, fix.title, (wrong,))

    mending = mended(lambda: mb.lint(robot), lambda: mb.lint(robot), unsafe=False, propose=propose)
    assert [finding.element for finding in mending.after.mended] == ["wrist"]
    assert [one.finding.element for one in mending.after.unmended] == ["hinge"]


@pytest.mark.parametrize("wrong_first", [False, True])
def test_fixes_with_the_same_words_are_each_made_or_listed(wrong_first: bool, robot: Path) -> None:
    """Two places of one element with one title, of which one does not hold."""
    before = robot.read_bytes()

    def propose(finding: Finding, sources: Sources, report: Report) -> Iterator[Fix]:
        for fix in proposed(finding, sources, report.scene):
            start = before.index(b'<mass value="1"/>')
            wrong = Edit(str(robot), start, start + 17, '<mass value="2"/>')
            both = [fix, Fix(fix.code, fix.element, fix.title, (wrong,))]
            yield from reversed(both) if wrong_first else both

    mending = mended(lambda: mb.lint(robot), lambda: mb.lint(robot), unsafe=False, propose=propose)
    assert mending.contents == {str(robot): before.replace(AXIS.encode(), MENDED_AXIS.encode())}
    assert [finding.element for finding in mending.after.mended] == ["hinge"]
    (one,) = mending.after.unmended
    assert one.finding.element == "hinge" and "rolled back" in one.reason


def test_what_was_refused_is_not_tried_again_for_each_other_error(robot: Path) -> None:
    before = robot.read_bytes()
    tried: list[Fix] = []

    def propose(finding: Finding, sources: Sources, report: Report) -> Iterator[Fix]:
        for fix in proposed(finding, sources, report.scene):
            tried.append(fix)
            wrong = Edit(str(robot), fix.edits[0].start, fix.edits[0].end, "3")
            yield Fix(fix.code, fix.element, fix.title, (wrong,))

    mending = mended(lambda: mb.lint(robot), lambda: mb.lint(robot), unsafe=False, propose=propose)
    assert not mending.contents and robot.read_bytes() == before
    assert len(tried) == 2 and len(mending.after.unmended) == 1


# Files


def test_the_mode_is_kept_and_no_temporary_file_is_left(robot: Path) -> None:
    robot.chmod(0o640)
    mb.fix(robot)
    assert stat.S_IMODE(robot.stat().st_mode) == 0o640
    assert sorted(path.name for path in robot.parent.iterdir()) == [".git", "robot.urdf"]


def test_a_read_only_file_is_left_and_said(robot: Path) -> None:
    robot.chmod(0o444)
    before = robot.read_bytes()
    report = mb.fix(robot)
    assert robot.read_bytes() == before
    assert "read-only" in report.unmended[0].reason
    assert "MB125" in codes(report)


def test_a_link_stays_and_its_file_is_edited(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = robot.parent / "link.urdf"
    link.symlink_to("robot.urdf")
    monkeypatch.chdir(robot.parent)
    outcome = call("lint", "link.urdf", "--fix")
    assert link.is_symlink()
    assert MENDED_AXIS in robot.read_text()
    assert "link.urdf is a link" in outcome.err and "robot.urdf" in outcome.err


def test_a_file_outside_of_the_repository_is_not_edited(robot: Path, tmp_path: Path) -> None:
    inside = tmp_path / "inner"
    (inside / ".git").mkdir(parents=True)
    scene = inside / "cell.scene.toml"
    scene.write_text('[[model]]\nfile = "robot.urdf"\n')
    before = robot.read_bytes()
    report = mb.fix(scene, package_dirs=[tmp_path])
    assert robot.read_bytes() == before
    assert "outside of the linted repository" in report.unmended[0].reason


def test_a_file_changed_meanwhile_is_not_overwritten(robot: Path) -> None:
    before = robot.read_bytes()
    robot.write_bytes(before + b"\n")
    with pytest.raises(BadUsage, match="changed while it was linted"):
        edits.write(str(robot), before, b"<robot/>")
    assert robot.read_bytes() == before + b"\n"


_KILLED = """
import os, signal, sys
from pathlib import Path
from mbplugin.linter.fixes import edits
step, file = sys.argv[1], sys.argv[2]
def kill(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
if step == "half":
    class Half:
        def __init__(self, stream): self.stream = stream
        def __enter__(self): return self
        def __exit__(self, *error): pass
        def write(self, data):
            self.stream.write(data[: len(data) // 2]); self.stream.flush(); kill()
    opened = Path.open
    def open_half(self, mode="r", *a, **k):
        return Half(opened(self, mode)) if mode == "wb" else opened(self, mode, *a, **k)
    Path.open = open_half
elif step == "synced":
    edits._like = kill
elif step == "replaced":
    edits._sync_folder = kill
data = Path(file).read_bytes()
edits.write(file, data, data.replace(b"2'", b"1'"))
"""


@pytest.mark.parametrize(("step", "done"), [("half", False), ("synced", False), ("replaced", True)])
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_kill_in_the_middle_of_writing_loses_nothing(step: str, done: bool, robot: Path) -> None:
    before = robot.read_bytes()
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, step, str(robot)],
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert killed.returncode == -signal.SIGKILL
    assert robot.read_bytes() == (before.replace(b"2'", b"1'") if done else before)


# The command line


def test_the_text_says_what_was_mended_and_what_is_left(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(robot.parent)
    robot.write_text(ROBOT.replace('upper="1" lower="-1"', LIMITS))
    outcome = call("lint", "robot.urdf", "--fix", "--fail-on", "warning")
    assert outcome.code == 1
    assert "1 finding mended in 1 file, 2 left; --unsafe-fixes may mend MB122" in outcome.out
    assert "robot.urdf:10: MB125 hinge: axis 0 0 2 → 0 0 1" in outcome.out
    assert call("lint", "robot.urdf", "--fix", "--unsafe-fixes", "--fail-on", "error").code == 0


def test_unsafe_fixes_need_fix_and_stdin_has_no_file(robot: Path) -> None:
    refused = call("lint", str(robot), "--unsafe-fixes")
    assert (refused.code, refused.out) == (2, "")
    assert "--fix" in refused.err
    refused = call("lint", "-", "--fix", stdin=ROBOT.encode())
    assert refused.code == 2
    assert "--fix edits files" in refused.err


def test_only_what_is_selected_is_mended(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(robot.parent)
    before = robot.read_bytes()
    call("lint", "robot.urdf", "--fix", "--select", "MB5")
    assert robot.read_bytes() == before


def test_a_waiver_that_matches_nothing_is_removed(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(robot.parent)
    kept = '# ours\r\n[[waive]]\r\nrule = "MB125"\r\nelement = "hinge"\r\nreason = "agreed"\r\n'
    stale = '[[waive]]\r\nrule = "MB120"\r\nelement = "gone"\r\nreason = "old"\r\n\r\n'
    rest = '[scenes]\r\n# "a" = "b"\r\n'
    config = robot.parent / "mbplugin.toml"
    config.write_bytes((kept + stale + rest).encode())
    before = robot.read_bytes()
    outcome = call("lint", "robot.urdf", "--fix")
    assert config.read_bytes() == (kept + rest).encode()
    assert robot.read_bytes() == before, "a waived finding is not mended"
    assert "waiver of MB120 for 'gone' removed" in outcome.out


def test_a_waiver_for_a_file_that_was_not_linted_stays(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(robot.parent)
    (robot.parent / "other.urdf").write_text(ROBOT.replace("hinge", "wrist"))
    config = robot.parent / "mbplugin.toml"
    text = '[[waive]]\nrule = "MB125"\nelement = "wrist"\nreason = "agreed"\n'
    config.write_text(text)
    outcome = call("lint", "robot.urdf", "--fix")
    assert config.read_text() == text
    assert "1 file that it applies to was not linted: other.urdf" in " ".join(outcome.out.split())
    assert "MB913" not in call("lint", ".", "--fix").out
    assert config.read_text() == text


# The table of fixes


def test_every_fix_is_of_a_rule() -> None:
    assert {*REMEDIES} <= {rule.code for rule in built_in_rules()}
