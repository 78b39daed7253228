"""The session in docs/editors.md is what happens: ``python -P editor/test_recorded_session.py`` prints it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from editor_client import editor, plain
from places import ASSETS, ROOT

PAGE = ROOT / "docs" / "editors.md"
BEGIN, END = "<!-- the session begins -->\n", "<!-- the session ends -->\n"
AXIS, WRONG = '<axis xyz="0 -1 0"/>', '<axis xyz="0 -2 0"/>'
#: Longest text of a message that is shown, and widest line.
LONGEST, WIDTH = 90, 118
#: What differs from one machine to another, or says nothing.
LEFT_OUT = {"serial", "languageId"}


def recorded() -> str:
    """Return the messages of a session: opened, a wrong axis typed, underlined, hovered, mended, gone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / ".git").mkdir()
        file = Path(shutil.copy(ASSETS / "four_bar.urdf", folder))
        return asyncio.run(_session(folder, file))


async def _session(folder: Path, file: Path) -> str:
    async with editor(folder) as own:
        uri = own.open(file)
        await own.diagnostics(uri)
        version = own.type(uri, own.texts[uri].replace(AXIS, WRONG, 1))
        (wrong,) = (one for one in await own.diagnostics(uri, version) if one.code == "MB125")
        await own.hover(uri, wrong.range.start.line, wrong.range.start.character)
        (action,) = await own.actions(uri, wrong.range, ["quickfix"])
        edit = (await own.resolved(action)).edit
        assert edit is not None
        version = own.type(uri, own.applied(edit)[uri])
        await own.diagnostics(uri, version)
        messages = [
            (
                message["to"],
                message["method"],
                plain(message.get("params", message.get("result")), own.client),
            )
            for message in own.log
            if message["method"] not in ("initialize", "initialized")
        ]
    lines = []
    for to, method, content in messages:
        lines.append(f"{'→' if to == 'server' else '←'} {method}")
        lines += _shown(_shortened(content, brief="publish" not in method))
    return "\n".join(lines) + "\n"


def _shortened(value: Any, *, brief: bool) -> Any:
    """Return a message with short texts, positions as line:character, and diagnostics by their codes if ``brief``."""
    if isinstance(value, dict):
        if value.keys() == {"line", "character"}:
            return f"{value['line']}:{value['character']}"
        if value.keys() == {"start", "end"}:
            return " to ".join(_shortened(value[key], brief=brief) for key in ("start", "end"))
        if "severity" in value and brief:
            return value["code"]
        kept = {key: _shortened(one, brief=brief) for key, one in value.items() if key not in LEFT_OUT}
        return {key: one for key, one in kept.items() if one is not None}
    if isinstance(value, list):
        return [_shortened(one, brief=brief) for one in value]
    if isinstance(value, str):
        text = re.sub(r"file://[^\s\"')]*/", "file:///…/", value)
        return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return value


def _shown(value: Any) -> list[str]:
    """Return JSON in few lines: one for each entry that fits into one."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= WIDTH - 2 or not isinstance(value, dict):
        return [f"  {text}"]
    return [f"  {json.dumps(key)}: {json.dumps(one, ensure_ascii=False)}" for key, one in value.items()]


@pytest.mark.long
def test_the_recorded_session_is_what_happens() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = page.partition(BEGIN)[2].partition(END)[0]
    indented = "".join(f"    {line}\n" for line in recorded().splitlines())
    assert shown == f"\n{indented}\n"


if __name__ == "__main__":
    print(recorded(), end="")
