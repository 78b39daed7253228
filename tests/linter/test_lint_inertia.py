"""Impossible inertias with Bullet as the oracle, and the mass properties of shapes with trimesh."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.linter.checks.meshes import Solid, solid_of
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import rigid_groups
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Request, Shape
from mbplugin.model.spatial import Pose, rotation_from_rpy
from places import TESTS

CASES = TESTS / "cases"

# Inertia, with Bullet as the oracle


def bullet_zeroes(files: list[str]) -> dict[str, set[str]]:
    """What PyBullet says in a process of its own about each file."""
    code = (
        "import pybullet as p, sys\np.connect(p.DIRECT)\n"
        "for f in sys.argv[1:]:\n"
        "    print('FILE', f, flush=True)\n"
        "    p.loadURDF(f, flags=p.URDF_USE_INERTIA_FROM_FILE); p.resetSimulation()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    zeroed: dict[str, set[str]] = {}
    for line in (done.stdout + done.stderr).splitlines():
        if line.startswith("FILE "):
            current = zeroed.setdefault(line[5:], set())
        elif match := re.search(r"setting inertia to zero for link: (.*)", line):
            current.add(match.group(1))
    return zeroed


@pytest.mark.long
def test_the_links_that_bullet_zeroes_are_the_ones_reported() -> None:
    pybullet_data = pytest.importorskip("pybullet_data")
    names = (
        "TwoJointRobot_w_fixedJoints",
        "TwoJointRobot_wo_fixedJoints",
        "xarm/xarm6_robot",
        "xarm/xarm6_with_gripper",
        "xarm/link2",
        "xarm/link4",
        "mini_cheetah/mini_cheetah",
        "spherical_joint_limit",
        "laikago/laikago",
        "a1/a1",
        "franka_panda/panda",
    )
    files = [str(Path(pybullet_data.getDataPath()) / f"{name}.urdf") for name in names]
    expected = bullet_zeroes(files)
    assert sum(bool(links) for links in expected.values()) == 7
    for file in files:
        findings = mb.lint(file, select=["MB102", "MB103"], samples=0).findings
        impossible = {
            f.element for f in findings if f.code == "MB103" or min(f.evidence["principal_moments_kg_m2"]) < 0
        }
        assert impossible == expected[file]


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("moments", "bad"),
    [
        ((0.1, 0.2, 0.3), False),
        ((1.0, 1.0, 2.0), False),
        ((1.0, 1.0, 2.00001), True),
    ],
)
def test_the_triangle_inequality_is_that_of_bullet(
    moments: tuple[float, float, float], bad: bool, tmp_path: Path
) -> None:
    text = (CASES / "ok" / "mb103.urdf").read_text()
    x, y, z = moments
    inertia = f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>'
    file = tmp_path / "robot.urdf"
    file.write_text(re.sub(r"<inertia ixx.*?/>", inertia, text))
    reported = {f.element for f in mb.lint(file, select=["MB103"]).findings}
    assert reported == bullet_zeroes([str(file)])[str(file)] == ({"base", "arm"} if bad else set())


@pytest.mark.parametrize(
    "moments", [(0.7, 0.1, 0.8), (1.0, 1.0, 2.000001), (0.1234567, 0.6543211, 0.7777779)]
)
def test_a_lamina_written_with_seven_digits_is_possible(moments: tuple[float, float, float]) -> None:
    text = (CASES / "ok" / "mb103.urdf").read_text()
    x, y, z = moments
    inertia = f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>'
    assert x + y < z
    assert not mb.lint("lamina.urdf", text=re.sub(r"<inertia ixx.*?/>", inertia, text)).findings


def rigid_chain(*masses: float) -> Mechanism:
    bodies = tuple(Body(f"b{k}", mass) for k, mass in enumerate(masses))
    still = Pose.identity()
    pairs = (
        Pair("glue", "fixed", "b0", "b1", still, still),
        Pair("hinge", "revolute", "b1", "b2", still, still),
        Pair("base", "fixed", "world", "b3", still, still),
    )
    return Mechanism("chain", bodies, pairs)


def test_fixed_pairs_make_bodies_one() -> None:
    mech = rigid_chain(1.0, 0.0, 0.0, 0.0)
    assert rigid_groups(mech)["b0"] == {"b0", "b1"}
    assert rigid_groups(mech)["b3"] == {"world", "b3"}


# Shapes, with trimesh as the oracle


def shape(
    kind: str, *size: float, X_LS: Pose | None = None, mesh: str = "", role: str = "collision"
) -> Shape:
    return Shape(role, kind, size, X_LS or Pose.identity(), mesh)


def test_closed_forms_agree_with_fine_meshes() -> None:
    creation = pytest.importorskip("trimesh").creation
    meshes = {
        shape("box", 0.3, 0.5, 0.7): creation.box((0.3, 0.5, 0.7)),
        shape("sphere", 0.4): creation.icosphere(5, 0.4),
        shape("cylinder", 0.3, 1.1): creation.cylinder(0.3, 1.1, sections=300),
        shape("capsule", 0.3, 1.1): creation.capsule(1.1, 0.3, (200, 200)),
    }
    for own, mesh in meshes.items():
        solid = solid_of([own], None)
        assert solid is not None
        assert solid.volume == pytest.approx(mesh.volume, rel=2e-3)
        assert solid.inertia == pytest.approx(mesh.moment_inertia, rel=3e-3, abs=1e-9)
        assert np.array([solid.lower, solid.upper]) == pytest.approx(mesh.bounds, rel=1e-3)


def test_shapes_add_up_and_turn() -> None:
    whole = solid_of([shape("box", 2, 1, 1)], None)
    halves = solid_of(
        [shape("box", 1, 1, 1, X_LS=Pose(np.eye(3), np.array([x, 0, 0]))) for x in (-0.5, 0.5)],
        None,
    )
    assert whole is not None and halves is not None
    assert halves.inertia == pytest.approx(whole.inertia)
    turned = solid_of(
        [shape("box", 2, 1, 1, X_LS=Pose(rotation_from_rpy([0, 0, np.pi / 2]), np.ones(3)))], None
    )
    assert turned is not None
    assert np.diag(turned.inertia) == pytest.approx(np.diag(whole.inertia)[[1, 0, 2]])
    assert turned.lower == pytest.approx([0.5, 0, 0.5])


def test_collision_shapes_go_before_visual_ones_and_none_is_guessed(tmp_path: Path) -> None:
    box = solid_of([shape("sphere", 9.0, role="visual"), shape("box", 1, 1, 1)], None)
    assert box is not None and box.volume == 1
    assert solid_of([], None) is None
    assert solid_of([shape("plane")], None) is None
    (tmp_path / "broken.stl").write_text("solid nothing")
    broken = shape("mesh", 1, 1, 1, mesh="broken.stl")
    assert solid_of([broken], Request(str(tmp_path / "robot.urdf"))) is None


def test_a_mesh_is_read_with_its_scale(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((100, 200, 300)).export(tmp_path / "box.stl")
    mesh = shape("mesh", 1e-3, 1e-3, 1e-3, mesh="box.stl")
    solid = solid_of([mesh], Request(str(tmp_path / "robot.urdf")))
    expected = solid_of([shape("box", 0.1, 0.2, 0.3)], None)
    assert isinstance(solid, Solid) and expected is not None
    assert solid.inertia == pytest.approx(expected.inertia, rel=1e-6, abs=1e-12)


def test_a_center_of_mass_far_outside_is_reported() -> None:
    text = (CASES / "ok" / "mb105.urdf").read_text()
    far = text.replace("<collision>", '<collision>\n      <origin xyz="0.9 0 0"/>')
    (finding,) = mb.lint("far.urdf", text=far, select=["MB105"]).findings
    # from the centre of the box, 0.9 m, less half its edge
    assert finding.evidence["center_outside_m"] == pytest.approx(0.85)


def test_a_ratio_beyond_the_largest_number() -> None:
    """Of a box of 1 mm of 6e-300 kg, a marker without a density: m·a²/6."""
    base, arm = (CASES / "ok" / "mb105.urdf").read_text().split('<link name="arm">')
    arm = arm.replace('mass value="1"', 'mass value="6e-300"').replace("0.00167", "1e30")
    arm = arm.replace("0.1 0.1 0.1", "0.001 0.001 0.001")
    (finding,) = mb.lint("far.urdf", text=f'{base}<link name="arm">{arm}', select=["MB105"]).findings
    assert "1e+30 kg·m², 1e336 times 1e-306" in finding.message


STATIC = """<sdf version="1.9"><world name="w">
<model name="table">STATIC<link name="top">
<inertial><mass>20</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial></link>
<link name="leg"><inertial><mass>2</mass><inertia><ixx>7</ixx><iyy>8</iyy><izz>9</izz></inertia></inertial>
<collision name="c"><geometry><box><size>0.1 0.1 0.9</size></box></geometry></collision></link></model>
</world></sdf>"""


@pytest.mark.parametrize(("static", "codes"), [("<static>true</static>", []), ("", ["MB104", "MB105"])])
def test_the_inertia_of_a_static_model_is_not_judged(static: str, codes: list[str]) -> None:
    """The ground carries it: no inertia of it does anything."""
    found = mb.lint("w.sdf", text=STATIC.replace("STATIC", static), select=["MB104", "MB105"])
    assert [finding.code for finding in found] == codes
