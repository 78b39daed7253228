"""Large mechanisms: ten thousand links, ten thousand rows that close loops; in time and in memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ROOT

GIB = 1 << 30
INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>'


def tree(links: int, parent) -> str:
    """A URDF whose k-th link hangs on link ``parent(k)`` by a hinge."""
    bodies = "\n".join(f'<link name="l{k}">{INERTIAL}</link>' for k in range(links))
    joints = "\n".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{parent(k)}"/><child link="l{k}"/>'
        '<origin xyz="0.1 0 0" rpy="0.1 0.2 0"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k in range(1, links)
    )
    return f'<robot name="tree">{bodies}{joints}</robot>'


def windows(count: int) -> str:
    """An SDF of planar four-bars in a row, each on the ground: three redundant constraints in each."""
    parts = []
    for k in range(count):
        x = 2 * k
        for name, place in (("crank", f"{x} 0"), ("coupler", f"{x} 1"), ("rocker", f"{x + 1} 0")):
            parts.append(f'<link name="{name}{k}"><pose>{place} 0 0 0 0</pose></link>')
        ends = (("world", "crank", "0 0"), ("crank", "coupler", "0 0"), ("coupler", "rocker", "0 1"))
        for i, (a, b, at) in enumerate((*ends, ("world", "rocker", "0 0"))):
            parent = a if a == "world" else f"{a}{k}"
            parts.append(
                f'<joint name="h{k}_{i}" type="revolute"><pose>{at} 0 0 0 0</pose><parent>{parent}</parent>'
                f"<child>{b}{k}</child><axis><xyz>0 0 1</xyz></axis></joint>"
            )
    return f'<sdf version="1.9"><model name="windows">{"".join(parts)}</model></sdf>'


def lint(file: Path, text: str, *options: str, seconds: int = 20) -> dict:
    """Lint in a process that may use 2 GiB and so much processor time."""
    file.write_text(text)
    target = file.with_suffix(".json")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (2 * GIB, 2 * GIB))

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mbplugin",
            "lint",
            file,
            "--output-format",
            "json",
            "--output",
            target,
            *options,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=limit,
    )
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    return json.loads(target.read_text())


@pytest.mark.long
@pytest.mark.parametrize("shape", ["chain", "star"])
def test_ten_thousand_links(tmp_path: Path, shape: str) -> None:
    text = tree(10_000, (lambda k: k - 1) if shape == "chain" else lambda k: 0)
    document = lint(tmp_path / f"{shape}.urdf", text, "--base", "fixed")
    assert document["model"]["bodies"] == 10_000
    assert (document["mobility"]["dof"], document["mobility"]["degree_of_redundancy"]) == (9999, 0)
    assert len(document["constraints"]) == 10_000


@pytest.mark.long
def test_ten_thousand_rows_that_close_loops(tmp_path: Path) -> None:
    document = lint(tmp_path / "windows.sdf", windows(500), seconds=40)
    assert document["model"]["rows"] == 10_000 and document["model"]["closures"] == 500
    assert (document["mobility"]["dof"], document["mobility"]["degree_of_redundancy"]) == (500, 1500)
