"""Inputs without end and files that grow when they are read: memory stays bounded, or they are refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ASSETS, ROOT
from mbplugin.files import LONGEST

ARM = str(ASSETS / "arm_6r.urdf")
#: Address space of a command that has only to refuse, bytes: what Python, numpy and scipy map, and one input.
SPACE = 2_000_000_000
#: Runs a command within it.
LIMITED = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({SPACE}, {SPACE}))
from mbplugin.cli.app import run
sys.exit(run(sys.argv[1:]))
"""
#: Every place of a command line that names a file to read, as HUGE.
PLACES = [
    ("lint", "HUGE.urdf"),
    ("lint", "HUGE.usda"),
    ("lint", "HUGE.scene.toml"),
    ("lint", ARM, "--baseline", "HUGE.json"),
    ("lint", ARM, "--config", "HUGE.toml"),
    ("matrix", ARM, "--against", "HUGE.json"),
    ("diff", ARM, "HUGE.urdf"),
    ("calibrate", ARM, "HUGE.csv"),
    ("estop", ARM, "--base", "fixed", "--trajectory", "HUGE.csv"),
    ("stop-table", ARM, "--base", "fixed", "--measured", "HUGE.csv"),
    ("distance", "HUGE.json"),
]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.long
@pytest.mark.parametrize("arguments", PLACES, ids=" ".join)
def test_a_file_above_the_bound_is_refused_unread(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """It is sparse: 4 GB that take no space on the disk."""
    named = [str(tmp_path / a) if a.startswith("HUGE") else a for a in arguments]
    (huge,) = (Path(a) for a in named if "HUGE" in a)
    with huge.open("wb") as stream:
        stream.truncate(4_000_000_000)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *named],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "is larger than" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.long
@pytest.mark.parametrize("arguments", [("lint", "-"), ("distance", "-"), ("lint", "/dev/zero")], ids=" ".join)
def test_a_stream_without_end_is_refused(arguments: tuple[str, ...]) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, *arguments],
            stdin=zeros,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=ROOT,
            check=False,
        )
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert f"is larger than {LONGEST // 10**6} MB" in " ".join((done.stdout + done.stderr).split())


IDENTITY = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
SOLID = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
PLY = (
    b"ply\nformat %s 1.0\nelement vertex 3\nproperty uchar x\nproperty uchar y\nproperty uchar z\n"
    b"element face %d\nproperty list %s uchar vertex_indices\nend_header\n"
)
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/><library_geometries>
<geometry id="g"><mesh><source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
<accessor source="#a" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices>BODY</mesh></geometry></library_geometries><library_visual_scenes>
<visual_scene id="s"><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene>
<instance_visual_scene url="#s"/></scene></COLLADA>"""
VERTEX = '<input semantic="VERTEX" source="#v" offset="0"/>'


def dae(kind: str, count: int, corners: str) -> bytes:
    return DAE.replace("BODY", f'<{kind} count="{count}">{VERTEX}<p>{corners}</p></{kind}>').encode()


def mesh(name: str, size: int) -> bytes:
    """Return a file of about ``size`` bytes that needs as much as its format can."""
    n = size // 2
    return {
        "faces.obj": lambda: IDENTITY + b"f 1 2 3\n" * (size // 8),
        "polygon.obj": lambda: IDENTITY + b"f " + b"1 " * n + b"\n",
        "relative.obj": lambda: IDENTITY + b"f -1 1 2\n" * (size // 9),
        "text.stl": lambda: b"solid a\n" + SOLID * (size // len(SOLID)) + b"endsolid a\n",
        "text.ply": lambda: (
            PLY % (b"ascii", n // 4, b"int") + b"0 0 0\n1 0 0\n0 1 0\n" + b"3 0 1 2\n" * (n // 4)
        ),
        "polygon.ply": lambda: (
            PLY % (b"binary_little_endian", 1, b"uint") + bytes(9) + size.to_bytes(4, "little") + bytes(size)
        ),
        "faces.off": lambda: b"OFF\n3 %d 0\n0 0 0\n1 0 0\n0 1 0\n" % (n // 4) + b"3 0 1 2\n" * (n // 4),
        "newlines.dae": lambda: dae("triangles", n // 3, "0\n1\n2\n" * (n // 3)),
        "polygon.dae": lambda: dae("polygons", 1, "0\t" * n),
        "strip.dae": lambda: dae("tristrips", 1, "0\n" * n),
    }[name]()


MESHES = (
    *("faces.obj", "polygon.obj", "relative.obj", "text.stl", "text.ply", "polygon.ply", "faces.off"),
    *("newlines.dae", "polygon.dae", "strip.dae"),
)
READ = """
import resource, sys
import numpy, scipy.spatial, lxml.etree, trimesh
try:
    import collada
except ImportError:
    sys.exit(3)
from mbplugin.readers.meshes import UnusableMesh
from mbplugin.readers.meshes import read_triangles
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
resource.setrlimit(resource.RLIMIT_AS, (6_000_000_000, 6_000_000_000))
try:
    read_triangles(sys.argv[1])
except UnusableMesh as error:
    print(error)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""


def needed(path: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode == 3:
        pytest.skip("pycollada is not installed")
    assert done.returncode == 0, done.stderr[-500:]
    *said, number = done.stdout.splitlines()
    return int(number), " ".join(said)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.long
@pytest.mark.parametrize("name", MESHES)
def test_a_mesh_needs_a_multiple_of_its_size(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(mesh(name, 2_000_000))
    memory, _ = needed(tmp_path / name)
    assert memory < 300 * 2_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory")
@pytest.mark.long
@pytest.mark.parametrize("name", MESHES)
def test_the_largest_mesh_is_refused_by_what_it_would_need(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(mesh(name, 55_000_000))
    memory, said = needed(tmp_path / name)
    assert memory < 1_500_000_000
    assert "more than" in said or "too much" in said
