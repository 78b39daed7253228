"""What do the meshes of a model cost a lint, and how much quicker are numpy's sums than trimesh's?

    python benchmarks/lint_meshes.py [FOLDER…] [--files N] [--jobs N]

Reads every STL and OBJ below the folders (default: the robots of example-robot-data and pybullet_data) once
with numpy and once with trimesh, and lints N of their URDFs that have meshes: with trimesh, with numpy, and with
the solids kept from the run before. Times are CPU seconds of all processes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROBOTS = "example-robot-data"
#: As in ``mbplugin.readers.meshes``: larger meshes are not read for a hint, bytes.
LARGEST = 8_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the meshes of a lint.")
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    folders = arguments.folders or installed()
    compare_meshes(folders)
    robots = with_meshes(folders)[: arguments.files]
    print(f"\nlint of {len(robots)} URDFs with meshes, --jobs {arguments.jobs}    CPU s")
    with tempfile.TemporaryDirectory() as cache:
        for name in ("nothing kept", "solids kept"):
            print(f"  {name:<14} {lint_seconds(robots, arguments.jobs, cache):8.2f}")
        without = lint_seconds(robots, arguments.jobs, cache, "--ignore", "MB105")
        print(f"  {'without MB105':<14} {without:8.2f}")


def installed() -> list[Path]:
    """Return the folders of robots that are installed."""
    found = []
    try:
        files = importlib.metadata.files(ROBOTS) or []
        found += [next(Path(str(f.locate())) for f in files if f.suffix == ".urdf").parents[2]]
    except (importlib.metadata.PackageNotFoundError, StopIteration):
        pass
    data = importlib.util.find_spec("pybullet_data")
    return found + ([Path(str(data.origin)).parent] if data is not None else [])


def compare_meshes(folders: list[Path]) -> None:
    """Print the time per mesh of numpy and of trimesh, and their ratio, in one run over the same files."""
    from mbplugin.linter.checks.meshes import mesh_solid
    from mbplugin.readers.meshes import read_mesh, read_triangles

    def by_numpy(file: str) -> None:
        mesh_solid(*read_triangles(file))

    def by_trimesh(file: str) -> None:
        mesh = read_mesh(file, (1.0, 1.0, 1.0))
        whole = mesh if mesh.is_volume else mesh.convex_hull
        _ = whole.volume, whole.center_mass, whole.moment_inertia

    files = [
        p for folder in folders for p in sorted(folder.rglob("*")) if p.suffix.lower() in (".stl", ".obj")
    ]
    files = [p for p in files if p.is_file() and p.stat().st_size <= LARGEST][::7]
    for file in files:
        # the first reading from the disk is nobody's
        file.read_bytes()
    total(by_numpy, files[:3])
    total(by_trimesh, files[:3])
    totals = {"numpy": total(by_numpy, files), "trimesh": total(by_trimesh, files)}
    for name, seconds in totals.items():
        print(f"{name:<8} {seconds:7.2f} s CPU for {len(files)} meshes")
    print(f"ratio    {totals['trimesh'] / totals['numpy']:7.1f}")


def total(read: Callable[[str], None], files: list[Path]) -> float:
    """Return the CPU seconds of reading all files; one that cannot be read costs what it costs."""
    start = time.process_time()
    for file in files:
        # broken meshes are part of what is measured
        with contextlib.suppress(Exception):
            read(str(file))
    return time.process_time() - start


def with_meshes(folders: list[Path]) -> list[Path]:
    """Return the URDFs that name a mesh."""
    found = [path for folder in folders for path in sorted(folder.rglob("*.urdf"))]
    return [path for path in found if b"<mesh" in path.read_bytes()]


def lint_seconds(robots: list[Path], jobs: int, cache: str, *options: str) -> float:
    """Return user and system time of a lint and its processes, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [
            sys.executable,
            "-m",
            "mbplugin",
            "lint",
            *map(str, robots),
            "--jobs",
            str(jobs),
            "--quiet",
            *options,
        ],
        env={**os.environ, "XDG_CACHE_HOME": cache},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
