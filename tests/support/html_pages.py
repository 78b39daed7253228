"""Pages to test, and how to read them."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
from lxml import html

from command_line import call
from mbplugin.model.spatial import Array

#: A name that would run, were it not escaped, and one that would end the data of the page.
HOSTILE = ("<img src=x onerror=document.title='run'>", "</script><!--<script>document.title='run'</script>")
_LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'


def hostile_model(folder: Path) -> Path:
    """Write a closed four-bar whose links and joints have hostile names."""
    first, second = (
        name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") for name in HOSTILE
    )
    links = "".join(_LINK.format(name) for name in ("base", first, second))
    joints = "".join(
        f'<joint name="{name}" type="continuous"><parent link="{a}"/><child link="{b}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>'
        for name, a, b, x in ((first, "base", first, 0), (second, first, second, 1))
    )
    (folder / "hostile.urdf").write_text(f'<robot name="{first}">{links}{joints}</robot>')
    scene = folder / "hostile.scene.toml"
    scene.write_text(
        '[[model]]\nfile = "hostile.urdf"\nbase = "fixed"\n'
        f'[[closure]]\nname = {json.dumps("closure " + HOSTILE[0])}\ntype = "revolute"\n'
        f'body_a = {json.dumps(HOSTILE[1])}\nbody_b = "base"\nxyz_a = [1, 0, 0]\n'
    )
    return scene


def page_of(*arguments: str, code: int = 0) -> str:
    """Return the page that a command prints."""
    outcome = call(*arguments, "--output-format", "html")
    assert outcome.code == code, outcome.err
    return outcome.out


def parsed(page: str) -> Any:
    return html.fromstring(page.encode())


def drawing(page: str, k: int = 0) -> dict[str, Any]:
    """Return the data of a 3D view."""
    (text,) = parsed(page).xpath(f"//script[@id='drawing-{k}']/text()")
    data: dict[str, Any] = json.loads(text)
    return data


def floats(text: str, width: int) -> Array:
    return np.frombuffer(b64decode(text), "<f4").reshape(-1, width).astype(float)
