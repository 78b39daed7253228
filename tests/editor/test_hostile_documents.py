"""Documents that mean no good: the server stays, answers, and reads nothing outside of the workspace."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from lsprotocol import types

from editor_client import Editor, codes, editor, play
from places import ASSETS

FOUR_BAR = (ASSETS / "four_bar.urdf").read_text(encoding="utf-8")
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
HOSTILE = {
    "entities.urdf": '<!DOCTYPE r [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><robot name="r">&c;</robot>',
    "nested.urdf": "<robot name='r'>" + "<a>" * 100_000,
    "quotes.urdf": "<robot name='r'>" + '<a b="' * 50_000,
    "null.urdf": "<robot name='r'>\0</robot>",
    "surrogate.urdf": "<robot name='\ud800'><link name='\udc00'/></robot>",
    "empty.urdf": "",
    "numbers.urdf": FOUR_BAR.replace("0.5", "9" * 5000),
    "nan.urdf": FOUR_BAR.replace('"0 -1 0"', '"nan inf -inf"'),
    "itself.xacro": f'<robot name="r" {XACRO}><xacro:include filename="itself.xacro"/><link name="a"/></robot>',
    "code.xacro": f"<robot name=\"r\" {XACRO}><link name=\"${{open('ran', 'w')}}\"/></robot>",
    "deep.scene.toml": "a = " + "[" * 50_000,
    "pipe.scene.toml": '[[model]]\nfile = "pipe"\n',
    "system.scene.toml": '[[model]]\nfile = "/proc/self/environ"\n',
    "broken.xml": "<mujoco><worldbody><geom type='mesh' mesh='" + "x" * 100_000 + "'/></worldbody></mujoco>",
}


@pytest.mark.long
def test_hostile_documents_cost_nothing_but_their_diagnostics(tmp_path: Path) -> None:
    import os

    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / "pipe")
    good = tmp_path / "good.urdf"
    good.write_text(FOUR_BAR.replace('"0 -1 0"', '"0 -2 0"', 1), encoding="utf-8")

    async def session() -> None:
        async with editor(tmp_path) as own:
            uri = own.open(good)
            for name, text in HOSTILE.items():
                file = tmp_path / name
                file.write_text(text, encoding="utf-8", errors="replace")
                there = own.open(file, text)
                await own.until(lambda found: True, there, 1)
                whole = types.Range(types.Position(0, 0), types.Position(9, 0))
                await own.actions(there, whole)
                await own.hover(there, 0, 5)
                own.close(there)
            version = own.type(uri, own.texts[uri] + "\n")
            await own.until(lambda found: "MB125" in codes(found), uri, version)

    play(session())
    assert not (tmp_path / "ran").exists()


@pytest.mark.long
def test_what_lies_outside_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.xacro"
    secret.write_text(f'<robot {XACRO}><xacro:property name="p" value="s3cret"/></robot>', encoding="utf-8")
    workspace = tmp_path / "workspace"
    (workspace / ".git").mkdir(parents=True)
    (workspace / "link.xacro").symlink_to(secret)
    texts = {
        f"{k}.xacro": f'<robot name="r" {XACRO}><xacro:include filename="{name}"/><link name="${{p}}"/></robot>'
        for k, name in enumerate(("../secret.xacro", str(secret), "link.xacro"))
    }

    async def session() -> None:
        async with editor(workspace) as own:
            for name, text in texts.items():
                uri = own.open(workspace / name, text)
                found = await own.until(lambda found: True, uri, 1)
                assert found and all(one.severity == types.DiagnosticSeverity.Error for one in found)
                assert not any("s3cret" in one.message for one in found)
                assert "s3cret" not in await own.hover(uri, 0, 90)

    play(session())


async def _one(own: Editor, file: Path, text: str) -> list[types.Diagnostic]:
    return await own.until(lambda found: True, own.open(file, text), 1)


@pytest.mark.long
@pytest.mark.parametrize("act", ["hang", "end"])
def test_a_lint_that_hangs_or_ends_its_process_is_one_diagnostic(
    tmp_path: Path, act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that lints is replaced, and the next document is linted as before."""
    distribution = tmp_path / "packages" / "acme-1.dist-info"
    distribution.mkdir(parents=True)
    (distribution / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme\nVersion: 1\n", encoding="utf-8"
    )
    (distribution / "entry_points.txt").write_text("[mbplugin.rules]\nacme = acme:Rule\n", encoding="utf-8")
    code = {"hang": "while True: pass", "end": "import os; os._exit(3)"}[act]
    (tmp_path / "packages" / "acme.py").write_text(
        "from mbplugin.linter.rule import Rule as Base\n"
        "class Rule(Base):\n"
        '    """Hang."""\n'
        "    code, name, severity = 'ACME101', 'acme', 'note'\n"
        "    def check(self, scene, analysis):\n"
        f"        if scene.mechanism.name == 'bad':\n            {code}\n"
        "        return []\n",
        encoding="utf-8",
    )
    workspace = tmp_path / "workspace"
    (workspace / ".git").mkdir(parents=True)
    path = os.pathsep.join((str(tmp_path / "packages"), os.environ.get("PYTHONPATH", "")))
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": path}
    command = (sys.executable, "-P", "-m", "mbplugin", "server", "--lint-seconds", "3")

    async def session() -> None:
        async with editor(workspace, command=command, environment=environment) as own:
            bad = '<robot name="bad"><link name="a"/></robot>'
            begin = time.monotonic()
            (found,) = await _one(own, workspace / "bad.urdf", bad)
            expected = {"hang": ("MB915", "stopped after 3 s"), "end": ("MB912", "exit code 3")}[act]
            assert found.code == expected[0] and expected[1] in found.message
            # the first document has no more time than others: less than the start of the process may take
            assert time.monotonic() - begin < 30
            assert codes(await _one(own, workspace / "good.urdf", FOUR_BAR.replace("0 -1 0", "0 2 0", 1)))

    play(session())
