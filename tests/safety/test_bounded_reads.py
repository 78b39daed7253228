"""What a stranger's file holds is read within one bound: by one function, and as few elements as memory takes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from command_line import call
from mbplugin.readers import xml
from places import ROOT

#: Calls that read a whole file, and what they read: files of this installation, our own output, or trusted macros.
OWN = {
    "dynamics/compiler/__init__.py": "sources of this package",
    "report/record.py": "metadata of this package",
    "processes/foreign.py": "metadata of installed packages",
    "readers/xacro/__init__.py": "macros that --xacro-unsafe trusts to run programs",
    "report/html/__init__.py": "resources of this package",
    "vocabulary.py": "sources of this package",
    "files.py": "what this run has just written",
}


@pytest.mark.long
def test_whole_files_are_read_within_the_bound() -> None:
    package, found = ROOT / "mbplugin", set()
    for file in package.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("read_bytes", "read_text"):
                found.add(file.relative_to(package).as_posix())
    assert found == set(OWN), "use mbplugin.files.read_bounded"


@pytest.mark.parametrize(
    ("name", "opening", "closing"),
    [
        ("many.urdf", '<robot name="r">', "</robot>"),
        ("many.xml", "<mujoco><worldbody>", "</worldbody></mujoco>"),
        ("many.sdf", '<sdf version="1.7"><model name="m">', "</model></sdf>"),
        ("many.urdf.xacro", '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">', "</robot>"),
    ],
)
def test_elements_without_end_are_refused_before_they_are_parsed(
    name: str, opening: str, closing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elements take a hundred times their bytes: 12 million of them, in 48 MB, took 2 GB and minutes."""
    # these two are read in processes of their own, where the bound is what it is
    most = 1_000_000 if name in ("many.xml", "many.urdf.xacro") else 1000
    monkeypatch.setattr(xml, "_MOST_ELEMENTS", most)
    file = tmp_path / name
    file.write_text(opening + "<a/>" * (most + 10) + closing)
    done = call("lint", str(file))
    assert done.code == 2
    said = " ".join(done.out.split())
    assert f"the file has more than {most:,} elements".replace(",", " ") in said
