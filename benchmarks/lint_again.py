"""How long does the second lint of a folder take, and that after a change?

    python benchmarks/lint_again.py [--files 100] [--runs 5]

A folder is linted with nothing kept, again with nothing changed, after a change of the mesh of a third of its files,
and after a change of the file that a tenth of them include. Of each, the quickest of N runs by the clock; whether a
change is seen is tested in tests/linter/test_kept_reports.py.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pybullet_data
from _models import table

import mbplugin

ARM = """<robot name="arm{number}"><link name="base"/><link name="upper"><inertial><origin xyz="0 0 0.2"/>
<mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="../meshes/upper.stl"/></geometry></collision></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="30" velocity="2"/></joint></robot>"""
XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="made{number}">
<xacro:include filename="../mass.xacro"/><link name="base"/><link name="tip"><inertial><mass value="${{mass}}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/></joint></robot>"""
MASS = (
    '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="mass" value="{mass}"/></robot>'
)
CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the lint of a folder again and again.")
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder, caches = Path(work, "robots"), Path(work, "caches")
        write_robots(folder, arguments.files)
        number = iter(range(1, 10**6))
        cases: dict[str, tuple[Callable[[], object], str]] = {
            "nothing kept": (lambda: shutil.rmtree(caches, ignore_errors=True), "–"),
            "nothing changed": (lambda: None, "0.5 s"),
            "another mesh": (lambda: write_mesh(folder, 0.2 + 0.001 * next(number)), "–"),
            "another included file": (lambda: write_mass(folder, 1.0 + 0.001 * next(number)), "–"),
        }
        rows = []
        for name, (change, limit) in cases.items():
            times = []
            for _ in range(arguments.runs):
                change()
                times.append(spent(folder, caches))
            rows.append([name, f"{min(times):.2f}", limit])
    table(f"Lint of a folder with {arguments.files} files, by the clock", ["", "s", "limit"], rows)


def write_robots(folder: Path, count: int) -> None:
    """Write six tenths Minitaurs, three tenths arms with one mesh, and a tenth xacro files with one include."""
    minitaur = Path(pybullet_data.getDataPath(), "quadruped", "minitaur.urdf").read_text()
    (folder / "urdf").mkdir(parents=True)
    (folder / "meshes").mkdir()
    for k in range(count):
        share = k % 10
        text = XACRO.format(number=k) if share == 9 else ARM.format(number=k) if share > 5 else minitaur
        (folder / "urdf" / f"robot{k}.urdf{'.xacro' * (share == 9)}").write_text(text)
    write_mesh(folder, 0.2)
    write_mass(folder, 1.0)
    # files that have just been written may change again at the same time, so their content is compared
    for file in folder.rglob("*"):
        os.utime(file, (time.time() - 3600.0,) * 2)


def write_mesh(folder: Path, size: float) -> None:
    """Write the mesh of the arms, a tetrahedron with edges of a size, m."""
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    lines = ["solid upper"]
    for face in faces:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += ["vertex " + " ".join(f"{size * x:g}" for x in CORNERS[k]) for k in face]
        lines += ["endloop", "endfacet"]
    (folder / "meshes" / "upper.stl").write_text("\n".join([*lines, "endsolid upper", ""]))


def write_mass(folder: Path, mass: float) -> None:
    """Write the file that the xacro files include, with a mass, kg."""
    (folder / "mass.xacro").write_text(MASS.format(mass=mass))


def spent(folder: Path, caches: Path) -> float:
    """Return the duration of a lint of the folder by the clock, s."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(caches), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "mbplugin", "lint", str(folder), "--fail-on", "error"]
    environment["PYTHONPATH"] = str(Path(mbplugin.__file__).parents[1])
    start = time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, check=False
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
