"""Texts as they are: characters beyond ASCII, ends of lines, byte order marks, and files that include others."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from lsprotocol import types

from command_line import call
from editor_client import Editor, codes, editor, play
from mbplugin.editor.documents import Positions
from places import ASSETS

#: A wrong axis behind characters of one to four bytes, on the line that is mended.
TEXT = """<?xml version="1.0"?>
<!-- größe 😀 -->
<robot name="r😀">
  <link name="base"/>
  <link name="härm"/>
  <joint name="gelenk_ß😀" type="continuous"><parent link="base"/><child link="härm"/><axis xyz="0 3 4"/></joint>
</robot>
"""
UNITS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir()
    return folder


async def mended_by(own: Editor, uri: str, code: str) -> str:
    """Return the text of a document after the fix of its only diagnostic with a code."""
    (wrong,) = (one for one in await own.diagnostics(uri) if one.code == code)
    text = own.texts[uri]
    marked = text[own.index(text, wrong.range.start) : own.index(text, wrong.range.end)]
    assert marked == '<axis xyz="0 3 4"/>'
    (action,) = await own.actions(uri, wrong.range, ["quickfix"])
    edit = (await own.resolved(action)).edit
    assert edit is not None
    return own.applied(edit)[uri]


@pytest.mark.long
@pytest.mark.parametrize("encoding", UNITS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_edit_has_the_bytes_of_the_command(tmp_path: Path, encoding: str, end: str, mark: str) -> None:
    file = repository(tmp_path) / "robot.urdf"
    data = (mark + TEXT.replace("\n", end)).encode()
    file.write_bytes(data)

    async def session() -> None:
        async with editor(tmp_path, encoding=encoding) as own:
            uri = own.open(file)
            text = await mended_by(own, uri, "MB125")
            # the editor writes the byte order mark that it has hidden
            after = (mark + text).encode()
            call("lint", str(file), "--fix")
            assert after == file.read_bytes() != data

    play(session())


@pytest.mark.long
def test_a_mark_that_the_client_shows_counts(tmp_path: Path) -> None:
    file = repository(tmp_path) / "robot.urdf"
    text = "\ufeff" + TEXT.replace('<?xml version="1.0"?>\n', "").replace("\n", "")
    file.write_text(text, encoding="utf-8")

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file, text)
            assert await mended_by(own, uri, "MB125") == text.replace("0 3 4", "0 0.6 0.8")

    play(session())


INCLUDED = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="arm">
    <link name="arm"/>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint>
  </xacro:macro>
</robot>
"""
INCLUDING = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:include filename="arm.xacro"/>
  <link name="base"/>
  <xacro:arm/>
</robot>
"""


@pytest.mark.long
def test_a_document_is_linted_with_the_one_that_it_includes(tmp_path: Path) -> None:
    pytest.importorskip("xacro")
    arm, robot = repository(tmp_path) / "arm.xacro", tmp_path / "robot.xacro"
    arm.write_text(INCLUDED, encoding="utf-8")
    robot.write_text(INCLUDING, encoding="utf-8")

    async def session() -> None:
        async with editor(tmp_path) as own:
            including, included = own.open(robot), own.open(arm)
            # a file of macros is no model, and nothing is said about it
            assert "MB125" not in codes(await own.diagnostics(included))
            assert "MB125" not in codes(own.last(including))
            # typed in the included document, not saved: the finding is there, through the document that includes it
            wrong = INCLUDED.replace("0 0 1", "0 0 5")
            own.type(included, wrong)
            found = await own.until(lambda found: "MB125" in codes(found), included, 2)
            (axis,) = (one for one in found if one.code == "MB125")
            assert axis.range.start.line == 3
            (action,) = await own.actions(
                including, types.Range(axis.range.start, axis.range.end), ["source"]
            )
            edit = (await own.resolved(action)).edit
            assert edit is not None
            assert own.applied(edit) == {included: INCLUDED}
            own.type(included, INCLUDED)
            await own.until(lambda found: True, included, 3)
            assert all("MB125" not in codes(d) for _, u, v, d in own.published if (u, v) == (included, 3))
            # closed without saving: the file on the disk counts, which is right
            own.type(included, wrong)
            await own.until(lambda found: "MB125" in codes(found), included, 4)
            own.close(included)
            await own.until(lambda found: "MB125" not in codes(found), included, None)

    play(session())


@pytest.mark.long
def test_a_scene_and_its_model_have_their_diagnostics_each(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    for name in ("four_bar.urdf", "four_bar.scene.toml"):
        shutil.copy(ASSETS / name, folder)

    async def session() -> None:
        async with editor(folder) as own:
            scene = own.open(folder / "four_bar.scene.toml", language="toml")
            found = await own.diagnostics(scene)
            assert "MB201" in codes(found)
            assert all(one.range.start.line < own.texts[scene].count("\n") for one in found)
            line = own.texts[scene].split("[[closure]]")[0].count("\n")
            hover = await own.hover(scene, line + 1, 3)
            assert hover.startswith("**closure `") and "part of a loop" in hover
            assert "reaction **not determined** by the rigid model" in hover
            version = own.type(scene, own.texts[scene].replace("[[closure]]", "[[closure]", 1))
            (broken,) = await own.diagnostics(scene, version)
            assert (broken.code, broken.range.start.line) == ("MB908", line)

    play(session())


CONFIGURED = [
    ("", ["MB125"]),
    ('ignore = ["MB125"]\n', []),
    ('[[waive]]\nrule = "MB125"\nelement = "gelenk*"\nreason = "as drawn"\n', []),
    ('exclude = ["*.urdf"]\n', []),
    ("ignore = 3\n", ["MB900"]),
]


@pytest.mark.long
@pytest.mark.parametrize(("settings", "expected"), CONFIGURED)
def test_the_configuration_counts(tmp_path: Path, settings: str, expected: list[str]) -> None:
    file = repository(tmp_path) / "robot.urdf"
    file.write_text(TEXT, encoding="utf-8")
    if settings:
        (tmp_path / "mbplugin.toml").write_text(settings, encoding="utf-8")

    async def session() -> None:
        async with editor(tmp_path) as own:
            found = await own.diagnostics(own.open(file))
            named = {"MB125", "MB900"}
            assert [code for code in codes(found) if code in named] == expected

    play(session())


@pytest.mark.long
def test_a_configuration_that_is_saved_counts_at_once(tmp_path: Path) -> None:
    file = repository(tmp_path) / "robot.urdf"
    file.write_text(TEXT, encoding="utf-8")

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            assert "MB125" in codes(await own.diagnostics(uri))
            (tmp_path / "mbplugin.toml").write_text('ignore = ["MB125"]\n', encoding="utf-8")
            change = types.FileEvent((tmp_path / "mbplugin.toml").as_uri(), types.FileChangeType.Created)
            own.notify("workspace/didChangeWatchedFiles", types.DidChangeWatchedFilesParams([change]))
            await own.until(lambda found: "MB125" not in codes(found), uri)

    play(session())


@given(st.text(alphabet=st.sampled_from("aß€😀\n\r\t\x0b\u2028<\"'\ufeff")), st.sampled_from(sorted(UNITS)))
def test_positions_are_those_of_the_encoded_lines(text: str, encoding: str) -> None:
    positions, size = Positions(text, encoding), {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    line, start = 0, 0
    for index in range(len(text) + 1):
        units = len(text[start:index].encode(UNITS[encoding])) // size
        assert positions.position(index) == {"line": line, "character": units}
        inside = index == len(text) or text[index] not in "\r\n" or index == 0 or text[index - 1] != "\r"
        if inside:
            assert positions.index({"line": line, "character": units}) == index
        assert positions.index_of_byte(len(text[:index].encode())) == index
        ends = index < len(text) and (
            text[index] == "\n" or (text[index] == "\r" and text[index + 1 : index + 2] != "\n")
        )
        if ends:
            line, start = line + 1, index + 1
