"""A session of an editor with the server: a wrong axis is typed, underlined, mended, and the underline is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from command_line import call
from editor_client import SERVER, Editor, codes, editor, path_of, play
from places import ASSETS

FOUR_BAR = (ASSETS / "four_bar.urdf").read_text(encoding="utf-8")
AXIS, WRONG = '<axis xyz="0 -1 0"/>', '<axis xyz="0 -2 0"/>'


def model(folder: Path, text: str = FOUR_BAR, name: str = "four_bar.urdf") -> Path:
    """Return a model in a folder that is a repository of its own."""
    (folder / ".git").mkdir(exist_ok=True)
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def underlined(own: Editor, uri: str, diagnostic: types.Diagnostic) -> str:
    text, span = own.texts[uri], diagnostic.range
    return text[own.index(text, span.start) : own.index(text, span.end)]


def test_a_wrong_axis_is_underlined_while_it_is_typed_and_mended(tmp_path: Path) -> None:
    file = model(tmp_path)
    assert AXIS in FOUR_BAR

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            assert "MB125" not in codes(await own.diagnostics(uri))
            version = own.type(uri, FOUR_BAR.replace(AXIS, WRONG, 1))
            (wrong,) = (d for d in await own.diagnostics(uri, version) if d.code == "MB125")
            assert underlined(own, uri, wrong) == WRONG
            assert wrong.severity == types.DiagnosticSeverity.Information and wrong.source == "mbplugin"
            assert wrong.code_description is not None
            page = path_of(wrong.code_description.href).read_text(encoding="utf-8")
            assert page.startswith("# MB125 ") and "Remedy" in page
            # the file on the disk is as it was
            assert file.read_text(encoding="utf-8") == FOUR_BAR
            hover = await own.hover(uri, wrong.range.start.line, wrong.range.start.character)
            assert "joint `j0`" in hover and "continuous" in hover and "MB125" in hover
            (action,) = (a for a in await own.actions(uri, wrong.range) if a.kind == "quickfix")
            assert action.is_preferred and action.edit is None and action.diagnostics == (wrong,)
            edit = (await own.resolved(action)).edit
            assert edit is not None
            after = own.applied(edit)[uri]
            # what the command makes of a file with the same text
            other = model(tmp_path, own.texts[uri], "other.urdf")
            assert call("lint", str(other), "--fix").code == 0
            assert after == other.read_text(encoding="utf-8") != own.texts[uri]
            version = own.type(uri, after)
            assert "MB125" not in codes(await own.diagnostics(uri, version))

    play(session())


@pytest.mark.long
def test_all_safe_fixes_are_those_of_the_command(tmp_path: Path) -> None:
    wrong = FOUR_BAR.replace(AXIS, WRONG).replace("<mass value", "<mas value", 1)
    file = model(tmp_path, wrong)

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            await own.diagnostics(uri)
            top = types.Range(types.Position(0, 0), types.Position(0, 0))
            (action,) = await own.actions(uri, top, ["source.fixAll"])
            assert action.kind == "source.fixAll.mbplugin"
            edit = (await own.resolved(action)).edit
            assert edit is not None
            after = own.applied(edit)
            call("lint", str(file), "--fix")
            assert after == {uri: file.read_text(encoding="utf-8")} and after[uri] != wrong
            assert WRONG not in after[uri]

    play(session())


@pytest.mark.long
def test_a_fix_of_a_text_that_has_changed_is_refused(tmp_path: Path) -> None:
    file = model(tmp_path, FOUR_BAR.replace(AXIS, WRONG, 1))

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            (wrong,) = (d for d in await own.diagnostics(uri) if d.code == "MB125")
            (action,) = (a for a in await own.actions(uri, wrong.range) if a.kind == "quickfix")
            own.type(uri, "\n" + own.texts[uri])
            with pytest.raises(Exception, match="the text has changed since the fix was offered"):
                await own.resolved(action)

    play(session())


@pytest.mark.long
def test_a_client_that_resolves_nothing_gets_proved_edits(tmp_path: Path) -> None:
    file = model(tmp_path, FOUR_BAR.replace(AXIS, WRONG, 1))

    async def session() -> None:
        async with editor(tmp_path, resolves=False) as own:
            uri = own.open(file)
            (wrong,) = (d for d in await own.diagnostics(uri) if d.code == "MB125")
            actions = await own.actions(uri, wrong.range, ["quickfix"])
            assert [action.edit is not None for action in actions] == [True]
            assert actions[0].edit is not None and actions[0].edit.changes is not None
            assert own.applied(actions[0].edit)[uri] == FOUR_BAR

    play(session())


@pytest.mark.long
def test_the_diagnostics_of_the_last_change_win(tmp_path: Path) -> None:
    file = model(tmp_path)

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            await own.diagnostics(uri)
            for k in range(100):
                wrong = FOUR_BAR.replace(AXIS, f'<axis xyz="0 {k + 2} 0"/>', 1)
                last = own.type(uri, wrong if k % 2 else wrong[: len(wrong) // 2])
                await asyncio.sleep(0.01)
            found = await own.diagnostics(uri, last)
            (wrong_axis,) = (d for d in found if d.code == "MB125")
            assert "0 101 0" in underlined(own, uri, wrong_axis)
            versions = [version for _, there, version, _ in own.published if there == uri]
            assert versions == sorted(versions, key=lambda v: v or 0) and versions[-1] == last

    play(session())


@pytest.mark.long
def test_a_text_that_is_being_typed_has_one_diagnostic_at_its_place(tmp_path: Path) -> None:
    file = model(tmp_path)
    start = FOUR_BAR.index(AXIS)

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            await own.diagnostics(uri)
            version = own.type(uri, FOUR_BAR.replace(AXIS, '<axis xyz="0 1', 1))
            (broken,) = await own.diagnostics(uri, version)
            assert str(broken.code).startswith("MB9") and broken.severity == types.DiagnosticSeverity.Error
            assert broken.range.start.line in range(FOUR_BAR[:start].count("\n"), FOUR_BAR.count("\n"))
            assert (await own.hover(uri, broken.range.start.line, 0)).startswith(f"**[{broken.code}")
            version = own.type(uri, FOUR_BAR)
            assert "MB904" not in codes(await own.diagnostics(uri, version))

    play(session())


@pytest.mark.long
def test_closing_a_document_takes_its_diagnostics_away(tmp_path: Path) -> None:
    file = model(tmp_path, FOUR_BAR.replace(AXIS, WRONG, 1))

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            assert await own.diagnostics(uri)
            own.close(uri)
            await own.until(lambda found: not found, uri)
            # a document with the first version again is not taken for the one before
            own.open(file, FOUR_BAR)
            assert "MB125" not in codes(await own.diagnostics(uri))

    play(session())


def children_of(parent: int) -> list[int]:
    """Return the children of a process."""
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    return [int(word) for word in listed.split()]


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are read from /proc")
@pytest.mark.parametrize("how", ["end of stdin", "kill"])
def test_no_process_stays_when_the_editor_is_gone(how: str) -> None:
    server = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert server.stdin is not None
    for method, number in (("initialize", 1), ("initialized", None)):
        head = f'"id": {number}, ' if number else ""
        params = '{"capabilities": {}}' if number else "{}"
        body = f'{{"jsonrpc": "2.0", {head}"method": "{method}", "params": {params}}}'
        server.stdin.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
    server.stdin.flush()
    end = time.monotonic() + 60
    while not (children := children_of(server.pid)) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(children) == 1
    if how == "kill":
        os.kill(server.pid, signal.SIGKILL)
    server.stdin.close()
    server.wait(timeout=60)
    while any(map(is_running, children)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(is_running, children))


@pytest.mark.long
def test_what_the_documents_name_is_not_run_from_the_working_folder(tmp_path: Path) -> None:
    """A module beside a model is not imported, neither by the server nor by the process that lints."""
    model(tmp_path)
    for name in ("numpy", "pygls", "asyncio"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    before = Path.cwd()

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(tmp_path / "four_bar.urdf")
            await own.diagnostics(uri)

    os.chdir(tmp_path)
    try:
        play(session())
    finally:
        os.chdir(before)
    assert not (tmp_path / "ran").exists()


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are read from /proc")
def test_a_request_that_is_cancelled_does_not_cost_the_process(tmp_path: Path) -> None:
    file = model(tmp_path, FOUR_BAR.replace(AXIS, WRONG, 1))

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(file)
            await own.diagnostics(uri)
            server = own.client._server
            assert server is not None
            before = children_of(server.pid)
            cancelled = 0
            for k in range(20):
                # the lint of a text keeps the process busy
                own.type(uri, own.texts[uri] + "\n")
                where = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(20, 69))
                request = own.client.protocol.send_request("textDocument/hover", where, msg_id=f"hover {k}")
                own.notify("$/cancelRequest", types.CancelParams(f"hover {k}"))
                try:
                    await asyncio.wait_for(asyncio.wrap_future(request), 60)
                except JsonRpcException:
                    cancelled += 1
            assert cancelled
            assert "joint `j0`" in await own.hover(uri, 20, 69)
            assert children_of(server.pid) == before

    play(session())
