"""Shapes in every format: where they are and how large, as this program, MuJoCo, PyBullet and OpenUSD read them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.typing import NDArray

import mbplugin as mb
from mbplugin import writers
from mbplugin.closing.choice import close
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import with_coordinates
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.kinematics import coordinates_of, forward
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene, Shape, State
from mbplugin.model.spatial import Pose, rotation_from_quaternion, rotation_from_vector
from mbplugin.readers.meshes import mesh_path, read_triangles
from places import ASSETS

Array = NDArray[np.float64]
TETRAHEDRON = "v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FLAT = "v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0.3 0.2 0\nf 1 2 3\nf 2 4 3\n"
DIRECTIONS = np.random.default_rng(3).normal(size=(30, 3))
DIRECTIONS /= np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
SIZES = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "mesh": 3}
#: USD has numbers of meshes and sizes of joints in single precision.
PRECISION = {"mjcf": 1e-6, "usd": 1e-6}
FORMATS = ("mjcf", "sdf", "urdf", "usd", "scene")


def random_pose(rng: np.random.Generator) -> Pose:
    return Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3))


def robot(kinds: list[tuple[str, str]], seed: int, folder: Path) -> Scene:
    """Two links on a turned base, with shapes of some kinds and roles, read as if from a file in a folder."""
    rng = np.random.default_rng(seed)
    (folder / "part.obj").write_text(TETRAHEDRON)
    names = ("base", "arm")
    bodies = tuple(Body(n, 1.0, rng.uniform(-0.1, 0.1, 3), np.diag([0.1, 0.11, 0.12])) for n in names)
    pairs = (
        Pair("foot", "fixed", WORLD, "base", random_pose(rng), random_pose(rng)),
        Pair("j", "revolute", "base", "arm", random_pose(rng), random_pose(rng)),
    )
    shapes: dict[str, list[Shape]] = {}
    for kind, role in kinds:
        size = tuple(float(x) for x in rng.uniform(0.1, 0.5, SIZES[kind]))
        colour = tuple(round(float(x), 2) for x in rng.uniform(0, 1, 4)) if role == "visual" else ()
        shape = Shape(role, kind, size, random_pose(rng), "part.obj" * (kind == "mesh"), rgba=colour)
        shapes.setdefault(str(rng.choice(names)), []).append(shape)
    (folder / "robot.urdf").write_text(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    request = mb.load(folder / "robot.urdf").request
    mech = Mechanism("robot", bodies, pairs)
    state = State(rng.uniform(-1, 1, len(mech.q_names)), np.zeros(len(mech.qd_names)))
    return Scene(mech, state, shapes={k: tuple(v) for k, v in shapes.items()}, request=request)


def reach(shape: Shape, X_WL: Pose, scene: Scene) -> Array:
    """Return how far a shape reaches in the world along each direction, (n,)."""
    X = X_WL @ shape.X_LS
    local, size = DIRECTIONS @ X.R, shape.size
    if shape.kind == "mesh":
        vertices = shape.triangles[0] if shape.triangles else read_triangles(path_of(shape, scene))[0]
        own = (local @ (vertices * size).T).max(axis=1)
    elif shape.kind == "box":
        own = np.abs(local) @ (np.array(size) / 2)
    elif shape.kind == "sphere":
        own = np.full(len(local), size[0])
    else:
        along = np.abs(local[:, 2]) * size[1] / 2
        own = along + (size[0] if shape.kind == "capsule" else size[0] * np.hypot(local[:, 0], local[:, 1]))
    return np.asarray(own + DIRECTIONS @ X.p)


def path_of(shape: Shape, scene: Scene) -> str:
    path = mesh_path(shape, scene.request)
    assert path is not None, shape.mesh
    return path


def reaches(scene: Scene) -> dict[tuple[str, str], Array]:
    """Return how far the shapes of each body and role reach, at the state of a scene."""
    mech = scene.mechanism
    poses = forward(mech, scene.state.q)
    found: dict[tuple[str, str], Array] = {}
    for name, own in scene.shapes.items():
        X_WL = poses.of(mech.body_index[name])
        for shape in own:
            one = reach(shape, X_WL, scene)
            key = (name, shape.role)
            found[key] = np.maximum(found[key], one) if key in found else one
    return found


KINDS = st.tuples(st.sampled_from(sorted(SIZES)), st.sampled_from(("visual", "collision")))


@pytest.mark.parametrize("to", FORMATS)
@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(KINDS, min_size=1, max_size=5), st.integers(0, 2**31))
def test_shapes_come_back_where_they_were(
    to: str, tmp_path: Path, kinds: list[tuple[str, str]], seed: int
) -> None:
    pytest.importorskip({"mjcf": "mujoco", "usd": "pxr"}.get(to, "numpy"))
    scene = robot(kinds, seed, tmp_path)
    written = writers.write(scene, to)
    assert not written.losses or {loss.kind for loss in written.losses} == {"setting"}
    back = writers.read_back(written)
    if to == "urdf":
        back = with_coordinates(back, dict(zip(scene.mechanism.q_names, scene.state.q, strict=True)))
    expected, found = reaches(scene), reaches(back)
    assert set(found) == set(expected)
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, atol=PRECISION.get(to, 1e-9))
    colours = [sorted(s.rgba for own in one.shapes.values() for s in own if s.rgba) for one in (scene, back)]
    if to != "urdf":  # one capsule is three solids there
        np.testing.assert_allclose(colours[1], colours[0], atol=1e-6)
    assert set(colours[1]) == set(colours[0]) or to in PRECISION


def geoms_reach(model: object, data: object) -> dict[tuple[str, str], Array]:
    """Return how far MuJoCo's geoms of each body reach, from its own arrays."""
    mujoco = pytest.importorskip("mujoco")
    found: dict[tuple[str, str], Array] = {}
    kinds = mujoco.mjtGeom
    for g in range(model.ngeom):  # type: ignore[attr-defined]
        R, p, size = data.geom_xmat[g].reshape(3, 3), data.geom_xpos[g], model.geom_size[g]  # type: ignore[attr-defined]
        local, kind = DIRECTIONS @ R, kinds(int(model.geom_type[g]))  # type: ignore[attr-defined]
        if kind == kinds.mjGEOM_MESH:
            mesh = int(model.geom_dataid[g])  # type: ignore[attr-defined]
            first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])  # type: ignore[attr-defined]
            own = (local @ model.mesh_vert[first : first + count].T).max(axis=1)  # type: ignore[attr-defined]
        elif kind == kinds.mjGEOM_BOX:
            own = np.abs(local) @ size
        elif kind == kinds.mjGEOM_SPHERE:
            own = np.full(len(local), size[0])
        else:
            across = 1.0 if kind == kinds.mjGEOM_CAPSULE else np.hypot(local[:, 0], local[:, 1])
            own = np.abs(local[:, 2]) * size[1] + size[0] * across
        role = "collision" if model.geom_contype[g] else "visual"  # type: ignore[attr-defined]
        key = (model.body(int(model.geom_bodyid[g])).name, role)  # type: ignore[attr-defined]
        one = own + DIRECTIONS @ p
        found[key] = np.maximum(found[key], one) if key in found else one
    return found


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(KINDS, min_size=1, max_size=5), st.integers(0, 2**31))
def test_mujoco_has_the_shapes_where_they_were(
    tmp_path: Path, kinds: list[tuple[str, str]], seed: int
) -> None:
    mujoco = pytest.importorskip("mujoco")
    scene = robot(kinds, seed, tmp_path)
    writers.write(scene, "mjcf").save(tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    expected, found = reaches(scene), geoms_reach(model, data)
    assert set(found) == set(expected)
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, atol=1e-6)


@pytest.mark.parametrize("to", ["urdf", "sdf"])
def test_pybullet_has_the_shapes_where_they_were(tmp_path: Path, to: str) -> None:
    bullet = pytest.importorskip("pybullet")
    scene = robot([(kind, "visual") for kind in ("box", "sphere", "cylinder", "mesh", "box")], 5, tmp_path)
    mech = scene.mechanism
    # a URDF stands at zero; PyBullet knows no world in an SDF file, takes joints to be where their links are, and
    # gives the places of shapes in links, which a URDF has elsewhere
    joint = replace(mech.pairs[1], X_BS=Pose.identity())
    scene = replace(
        scene, mechanism=replace(mech, pairs=(mech.pairs[0], joint) if to == "urdf" else (joint,))
    )
    poses, whole = forward(mech, np.zeros(len(mech.q_names))), scene.mechanism
    scene = replace(scene, state=State(coordinates_of(whole, poses), np.zeros(len(whole.qd_names))))
    file = tmp_path / f"robot.{to}"
    writers.write(scene, to).save(file)
    client = bullet.connect(bullet.DIRECT)
    try:
        load = {"urdf": bullet.loadURDF, "sdf": lambda *a, **k: bullet.loadSDF(*a, **k)[0]}[to]
        body = load(str(file), physicsClientId=client)
        found = [(data[5], data[6]) for data in bullet.getVisualShapeData(body, physicsClientId=client)]
    finally:
        bullet.disconnect(client)
    X_BN = mech.pairs[0].X_BS if to == "urdf" else Pose.identity()
    frames = {"base": X_BN, "arm": Pose.identity()}
    for name, own in scene.shapes.items():
        for shape in own:
            X = frames[name].inverse() @ shape.X_LS
            near = [R for p, R in found if np.linalg.norm(X.p - p) < 1e-6]
            assert any(np.allclose(rotation_from_quaternion(q), X.R, atol=1e-6) for q in near), shape.kind


def test_openusd_has_the_shapes_where_they_were(tmp_path: Path) -> None:
    pxr = pytest.importorskip("pxr")
    from pxr import Usd, UsdGeom

    assert pxr
    scene = robot([(kind, "visual") for kind in SIZES], 9, tmp_path)
    writers.write(scene, "usd").save(tmp_path / "robot.usda")
    stage = Usd.Stage.Open(str(tmp_path / "robot.usda"))
    cache = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default"])
    poses = forward(scene.mechanism, scene.state.q)
    prims = [
        p for p in stage.Traverse() if p.GetTypeName() in ("Cube", "Sphere", "Cylinder", "Capsule", "Mesh")
    ]
    centres = [
        np.array(UsdGeom.Xformable(p).ComputeLocalToWorldTransform(0).ExtractTranslation()) for p in prims
    ]
    sizes = [
        np.sort(np.array(cache.ComputeUntransformedBound(p).ComputeAlignedRange().GetSize())) for p in prims
    ]
    assert len(prims) == len(SIZES) and all((size > 0).all() for size in sizes)
    for name, own in scene.shapes.items():
        for shape in own:
            point = poses.of(scene.mechanism.body_index[name]).apply(shape.X_LS.p)
            assert min(np.linalg.norm(point - centre) for centre in centres) < 1e-6


BOXES = """<robot name="r">
  <material name="paint"><color rgba="0.2 0.4 0.6 1"/></material>
  <link name="base">
    <inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="MESH" scale="1 2 -1"/></geometry><material name="paint"/></visual>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="arm">
    <inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="pad"><collision><geometry><box size=".1 .1 .1"/></geometry></collision></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="1 0 0"/></joint>
  <joint name="k" type="fixed"><parent link="arm"/><child link="pad"/></joint>
</robot>
"""


def urdf_with(folder: Path, mesh: str, content: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / mesh).write_text(content)
    (folder / "robot.urdf").write_text(BOXES.replace("MESH", mesh))
    return folder / "robot.urdf"


@pytest.mark.parametrize("to", ["mjcf", "sdf", "urdf", "scene"])
def test_meshes_are_named_from_where_the_file_is(tmp_path: Path, to: str) -> None:
    scene = mb.load(urdf_with(tmp_path / "robot", "part.obj", TETRAHEDRON))
    (tmp_path / "out").mkdir()
    file = (
        tmp_path
        / "out"
        / f"robot{ {'mjcf': '.xml', 'sdf': '.sdf', 'urdf': '.urdf', 'scene': '.scene.toml'}[to] }"
    )
    writers.write(scene, to).save(file)
    again = mb.load(file, package_dirs=[tmp_path])
    (shape,) = (shape for shape in again.shapes["base"] if shape.kind == "mesh")
    assert Path(path_of(shape, again)).samefile(tmp_path / "robot" / "part.obj")
    assert shape.size == (1.0, 2.0, -1.0) and shape.rgba == pytest.approx((0.2, 0.4, 0.6, 1.0))


def test_a_mesh_that_mujoco_does_not_read_is_written_as_triangles(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    lines = ["solid s"]
    corners = [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1)]
    for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
        inner = "".join("vertex {} {} {}\n".format(*corners[k]) for k in face)
        lines.append(f"facet normal 0 0 0\nouter loop\n{inner}endloop\nendfacet")
    written = writers.write(
        mb.load(urdf_with(tmp_path, "part.stl", "\n".join(lines) + "\nendsolid s")), "mjcf"
    )
    assert any("1 mesh as triangles in the file: part.stl" in clause for clause in written.held)
    written.save(tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert model.nmesh == 1 and model.mesh_vertnum[0] == 4


def test_what_mujoco_refuses_of_a_mesh_is_lost_and_said(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    text = BOXES.replace("MESH", "flat.obj").replace('<box size="1 1 1"/>', '<mesh filename="flat.obj"/>')
    (tmp_path / "flat.obj").write_text(FLAT)
    (tmp_path / "three.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    text = text.replace('<box size=".1 .1 .1"/>', '<mesh filename="three.obj"/>')
    (tmp_path / "robot.urdf").write_text(text)
    found = close(mb.load(tmp_path / "robot.urdf", base="fixed"), "mjcf", measure_drift=False)
    clauses = [loss.text for loss in found.written.losses if loss.kind == "shape"]
    assert clauses == [
        "shapes of base, arm: the mesh 'flat.obj' is flat, and MuJoCo has no contact of such a mesh",
        "shapes of pad: the mesh 'three.obj' has 3 vertices, and MuJoCo needs 4",
    ]
    found.written.save(tmp_path / "robot.xml")
    # the one to be seen is there
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml")).ngeom == 1


def test_a_mesh_that_is_not_here_stays_a_name_where_a_format_has_names(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(BOXES.replace("MESH", "package://gone/part.dae"))
    scene = mb.load(file)
    assert "package://gone/part.dae" in writers.write(scene, "sdf").text
    (loss,) = (loss for loss in writers.write(scene, "mjcf").losses if loss.kind == "shape")
    assert loss.text == "shapes of base: the mesh 'package://gone/part.dae' is not found"


def test_links_of_one_robot_do_not_touch_each_other_but_others(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = urdf_with(tmp_path, "part.obj", TETRAHEDRON)
    # a third link, which is not a neighbour of the first and overlaps it
    arm = BOXES[BOXES.index('<link name="arm">') : BOXES.index('<link name="pad">')].replace("arm", "hand")
    joint = '<joint name="h" type="continuous"><parent link="arm"/><child link="hand"/><axis xyz="0 1 0"/></joint>'
    file.write_text(file.read_text().replace("</robot>", f"{arm}{joint}</robot>"))
    written = writers.write(mb.load(file, base="free"), "mjcf")
    assert any("not each other" in clause for clause in written.held)
    written.save(tmp_path / "robot.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == 0
    text = (tmp_path / "robot.xml").read_text()
    (tmp_path / "ground.xml").write_text(
        text.replace("<worldbody>", '<worldbody><geom type="plane" size="9 9 1"/>')
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "ground.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon > 0 and set(np.unique(data.contact.geom[:, 0])) == {0}


def test_shapes_give_no_mass(tmp_path: Path) -> None:
    scene = mb.load(urdf_with(tmp_path, "part.obj", TETRAHEDRON), base="fixed")
    for to, ending in (("mjcf", "xml"), ("usd", "usda")):
        pytest.importorskip({"mjcf": "mujoco", "usd": "pxr"}[to])
        written = writers.write(scene, to)
        back = writers.read_back(written)
        assert {b.name: b.mass for b in back.mechanism.bodies} == {"base": 1.0, "arm": 1.0, "pad": 0.0}, (
            ending
        )
    assert [loss.text for loss in writers.write(scene, "usd").losses] == [
        "shapes for contact of 'pad': it is without mass, which UsdPhysics would compute from them"
    ]


def test_a_shape_of_a_body_without_mass_is_seen_in_a_stage_and_touches_nothing(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("pxr")
    inner = '<body name="b"><geom name="ball" type="sphere" size=".1" mass="0"/></body></body>'
    (tmp_path / "m.xml").write_text(TWO_GEOMS.replace("</body>", inner, 1))
    written = writers.write(mb.load(tmp_path / "m.xml"), "usd")
    back = writers.read_back(written)
    assert [(s.role, s.kind) for s in back.shapes["b"]] == [("visual", "sphere")]
    assert back.mechanism.bodies[back.mechanism.body_index["b"]].massless


TWO_GEOMS = """<mujoco model="m"><worldbody>
<geom name="floor" type="plane" size="1 1 1"/>
<body name="a"><joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<geom name="g" type="box" size=".1 .1 .1" rgba="1 0 0 1" friction="0.3 0 0"/>
<geom name="e" type="ellipsoid" size=".1 .2 .3"/></body></worldbody></mujoco>"""


def test_what_mujoco_shows_is_seen_in_other_formats_too(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "m.xml").write_text(TWO_GEOMS)
    found = close(tmp_path / "m.xml", "urdf", measure_drift=False)
    back = writers.read_back(found.written)
    assert [(s.role, s.kind, s.rgba) for s in back.shapes["a"]] == [
        ("visual", "box", (1.0, 0.0, 0.0, 1.0)),
        ("collision", "box", ()),
    ]
    assert {(loss.kind, loss.text.partition(" (")[0]) for loss in found.written.losses} == {
        ("contact", "friction of <geom> of 'g'"),
        ("contact", "geoms of the ground are not read"),
        ("shape", "ellipsoids and the like are not read"),
    }


def test_a_stage_keeps_its_meshes_in_an_mjcf_file(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("pxr")
    scene = mb.load(urdf_with(tmp_path, "part.obj", TETRAHEDRON), base="fixed")
    writers.write(scene, "usd").save(tmp_path / "robot.usda")
    stage = mb.load(tmp_path / "robot.usda")
    written = writers.write(stage, "mjcf")
    assert [loss.text for loss in written.losses if loss.kind == "shape"] == []
    back = writers.read_back(written)
    expected, found = reaches(scene), reaches(back)
    np.testing.assert_allclose(found["base", "visual"], expected["base", "visual"], atol=1e-6)
    assert "shape" in {loss.kind for loss in writers.write(stage, "urdf").losses}


def test_planes_stand_still(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    plane = Shape("collision", "plane", (), Pose.identity())
    scene = mb.load(ASSETS / "four_bar.urdf", base="fixed")
    name = scene.mechanism.bodies[0].name
    written = writers.write(replace(scene, shapes={name: (plane,), "crank": (plane,)}), "mjcf")
    assert [loss.text for loss in written.losses if loss.kind == "shape"] == [
        "shapes of crank: MJCF has planes only on bodies that stand still"
    ]
    (shape,) = writers.read_back(written).shapes[name]
    assert shape.kind == "plane"


def test_a_body_without_mass_between_two_joints_loses_its_shape_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    middle = '<link name="middle"><visual><geometry><box size="1 1 1"/></geometry></visual></link>'
    text = BOXES.replace("MESH", "part.obj").replace('<child link="arm"/>', '<child link="middle"/>')
    joint = '<joint name="m" type="continuous"><parent link="middle"/><child link="arm"/><axis xyz="0 1 0"/></joint>'
    file.write_text(text.replace("</robot>", f"{middle}{joint}</robot>"))
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    written = writers.write(mb.load(file, base="fixed"), "mjcf")
    assert [loss.text for loss in written.losses if loss.kind == "shape"] == [
        "shapes of 'middle': a body without mass between two joints becomes part of the next one"
    ]
    with pytest.raises(BadUsage):
        writers.write(mb.load(file, base="fixed"), "nothing")


def test_a_scene_states_every_kind_of_shape(tmp_path: Path) -> None:
    points = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    shapes = (
        Shape("collision", "plane", (), Pose.identity()),
        Shape("collision", "plane", (2.0, 3.0), Pose.identity()),
        Shape("visual", "hull", (), Pose.identity(), points=points, rgba=(0.1, 0.2, 0.3, 0.4)),
    )
    scene = mb.load(ASSETS / "four_bar.urdf", base="fixed")
    written = writers.write(replace(scene, shapes={"crank": shapes, WORLD: shapes[:1]}), "scene")
    assert not [loss for loss in written.losses if loss.kind == "shape"]
    back = writers.read_back(written)
    assert [(s.role, s.kind, s.size, s.points, s.rgba) for s in back.shapes["crank"]] == [
        ("visual", "hull", (), points, (0.1, 0.2, 0.3, 0.4)),
        ("collision", "plane", (0.0, 0.0), (), ()),
        ("collision", "plane", (2.0, 3.0), (), ()),
    ]
    assert len(back.shapes[WORLD]) == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('body = "crank"', "a shape of 'crank' has no kind"),
        ('body = "crank"\nsphere = 1\nbox = [1, 1, 1]', "has box, sphere; expected one of"),
        ('body = "crank"\nsphere = 1\nscale = [1, 1, 1]', "the scale of a shape"),
        ('body = "crank"\nmesh = "a.obj"\nscale = [1, 0, 1]', "the scale of a shape"),
        ('body = "crnk"\nsphere = 1', "did you mean 'crank'"),
        ('body = "crank"\nsphere = -1', "expected more than 0"),
        ('body = "crank"\nhull = [[0, 0, 0]]', "hull"),
    ],
)
def test_a_shape_that_is_none_is_refused_with_its_line(tmp_path: Path, table: str, words: str) -> None:
    (tmp_path / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    file = tmp_path / "s.scene.toml"
    file.write_text(f'[[model]]\nfile = "four_bar.urdf"\nbase = "fixed"\n\n[[shape]]\n{table}\n')
    with pytest.raises(mb.MbPluginError, match=words) as error:
        mb.load(file)
    assert "s.scene.toml:" in str(error.value)


def test_a_scene_adds_shapes_to_those_of_its_models(tmp_path: Path) -> None:
    (tmp_path / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    file = tmp_path / "s.scene.toml"
    file.write_text(
        '[[model]]\nfile = "four_bar.urdf"\nbase = "fixed"\n\n[[shape]]\nbody = "crank"\nmesh = "part.obj"\n'
        "xyz = [0, 0, 1]\n"
    )
    scene = mb.load(file)
    own, added = scene.shapes["crank"]
    assert (own.kind, added.kind, added.role) == ("box", "mesh", "collision")
    assert Path(path_of(added, scene)).samefile(tmp_path / "part.obj")


COLLADA = """<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Z_UP</up_axis></asset><library_geometries><geometry id="g">
<mesh><source id="p"><float_array id="pa" count="12">0 0 0 30 0 0 0 20 0 0 0 10</float_array><technique_common>
<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v">
<input semantic="POSITION" source="#p"/></vertices><triangles count="4"><input semantic="VERTEX" source="#v"
 offset="0"/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_collada_mesh_has_the_unit_that_it_states(tmp_path: Path) -> None:
    pytest.importorskip("collada")
    scene = mb.load(urdf_with(tmp_path, "part.dae", COLLADA), base="fixed")
    edges = np.ptp(read_triangles(str(tmp_path / "part.dae"))[0], axis=0)
    np.testing.assert_allclose(edges, [0.3, 0.2, 0.1], atol=1e-9)
    found = reaches(writers.read_back(writers.write(scene, "mjcf")))
    np.testing.assert_allclose(found["base", "visual"], reaches(scene)["base", "visual"], atol=1e-6)


def test_robots_of_one_scene_touch_each_other_and_not_themselves(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    urdf_with(tmp_path, "part.obj", TETRAHEDRON)
    models = "".join(
        f'[[model]]\nfile = "robot.urdf"\nname = "{n}"\nxyz = [0, 0, {z}]\n\n'
        for n, z in (("a", 0), ("b", 0.4))
    )
    (tmp_path / "two.scene.toml").write_text(models)
    writers.write(mb.load(tmp_path / "two.scene.toml"), "mjcf").save(tmp_path / "two.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "two.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    names = [
        {model.body(int(model.geom_bodyid[g])).name.partition("/")[0] for g in pair}
        for pair in data.contact.geom
    ]
    assert names and all(pair == {"a", "b"} for pair in names)


@pytest.mark.parametrize(
    "reference", ['refpos="0.1 0 0"', 'refquat="0.7071067811865476 0.7071067811865476 0 0"']
)
def test_a_mesh_with_a_frame_of_reference_is_where_mujoco_has_it(tmp_path: Path, reference: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    text = TWO_GEOMS.replace(
        "<worldbody>", f'<asset><mesh name="m" file="part.obj" {reference}/></asset><worldbody>'
    )
    text = text.replace(
        'type="ellipsoid" size=".1 .2 .3"', 'type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="10 20 30"'
    )
    text = text.replace('<geom name="g"', "<!-- ").replace('0.3 0 0"/>', " -->")
    (tmp_path / "m.xml").write_text(text)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    found = reaches(mb.load(tmp_path / "m.xml"))
    np.testing.assert_allclose(found["a", "collision"], geoms_reach(model, data)["a", "collision"], atol=1e-6)


def test_what_touches_is_seen_beside_what_is_only_seen(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    ball = '<geom type="sphere" size="0.2" contype="0" conaffinity="0" rgba="0 1 0 1"/></body>'
    hidden = '<geom type="sphere" size="0.3" group="3"/>'
    (tmp_path / "m.xml").write_text(TWO_GEOMS.replace("</body>", hidden + ball, 1))
    back = writers.read_back(writers.write(mb.load(tmp_path / "m.xml"), "sdf"))
    assert [(s.role, s.kind, s.rgba) for s in back.shapes["a"]] == [
        ("visual", "box", (1.0, 0.0, 0.0, 1.0)),
        ("visual", "sphere", (0.0, 1.0, 0.0, 1.0)),
        ("collision", "box", ()),
        ("collision", "sphere", ()),
    ]
    pytest.importorskip("pxr")
    stage = writers.read_back(writers.write(mb.load(tmp_path / "m.xml"), "usd"))
    assert [(s.role, s.seen) for s in stage.shapes["a"]] == [
        ("collision", True),
        ("collision", False),
        ("visual", False),
    ]


def test_shapes_of_a_stage_that_are_not_read_are_named(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    scene = mb.load(urdf_with(tmp_path, "part.obj", TETRAHEDRON), base="fixed")
    text = writers.write(scene, "usd").text
    cone = 'def Cone "cone"\n{\n}\ndef Sphere "gone"\n{\ntoken visibility = "invisible"\n}\n'
    ball = 'def Sphere "flat"\n{\ndouble3 xformOp:scale = (1, 2, 3)\n'
    ball += 'uniform token[] xformOpOrder = ["xformOp:scale"]\n}\n'
    at = text.index("{", text.index('def Xform "arm"')) + 1
    (tmp_path / "robot.usda").write_text(text[:at] + "\n" + cone + ball + text[at:])
    found = close(tmp_path / "robot.usda", "mjcf", measure_drift=False)
    lost = [loss.text for loss in found.written.losses if loss.kind == "shape"]
    assert [text.partition(" <")[0] for text in lost] == ["Cone", "Sphere"]
    assert "sphere" not in {s.kind for s in writers.read_back(found.written).shapes["arm"]}


def test_a_copy_names_the_meshes_of_its_package_from_another_folder(tmp_path: Path) -> None:
    package = tmp_path / "elsewhere" / "arm"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>arm</name></package>")
    file = urdf_with(package / "urdf", "part.obj", TETRAHEDRON)
    file.write_text(file.read_text().replace('"part.obj"', '"package://arm/urdf/part.obj"'))
    (tmp_path / "out" / "deep").mkdir(parents=True)
    found = close(file, "urdf", measure_drift=False)
    assert found.written.copy_of is not None
    found.save(tmp_path / "out" / "deep" / "copy.urdf")
    assert (
        'filename="../../elsewhere/arm/urdf/part.obj"'
        in (tmp_path / "out" / "deep" / "copy.urdf").read_text()
    )
    found.save(package / "copy.urdf")
    assert 'filename="package://arm/urdf/part.obj"' in (package / "copy.urdf").read_text()


def test_a_scene_whose_file_is_gone_is_written(tmp_path: Path) -> None:
    file = urdf_with(tmp_path, "part.obj", TETRAHEDRON)
    scene = mb.load(file, base="fixed")
    file.unlink()
    for to in FORMATS:
        assert "arm" in writers.write(scene, to).text


def test_shapes_of_an_mjcf_file_that_is_written_anew_touch_each_other(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    arm = '<body name="b" pos="0 0 1"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    hand = (
        arm.replace('"b"', '"c"').replace("0 0 1", "0 0 -1", 1)
        + '<geom type="sphere" size="0.1"/></body></body></body>'
    )
    (tmp_path / "m.xml").write_text(TWO_GEOMS.replace("</body>", arm + hand, 1))
    writers.write(mb.load(tmp_path / "m.xml"), "mjcf").save(tmp_path / "anew.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "anew.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon > 0


@pytest.mark.parametrize(
    "colour", ['string primvars:displayColor = "red"', "float primvars:displayColor = 1"]
)
def test_a_stage_with_a_sheared_mesh_or_strange_colours_is_read(tmp_path: Path, colour: str) -> None:
    pytest.importorskip("pxr")
    text = writers.write(mb.load(urdf_with(tmp_path, "part.obj", TETRAHEDRON), base="fixed"), "usd").text
    shear = "matrix4d xformOp:transform = ((1, 1, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))\n"
    order = 'uniform token[] xformOpOrder = ["xformOp:transform"]\n'
    points = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\nint[] faceVertexCounts = [3]\n"
    mesh = f'def Mesh "sheared"\n{{\n{shear}{order}{points}int[] faceVertexIndices = [0, 1, 2]\n}}\n'
    ball = f'def Sphere "ball"\n{{\ncustom {colour}\n}}\n'
    at = text.index("{", text.index('def Xform "arm"')) + 1
    (tmp_path / "robot.usda").write_text(text[:at] + "\n" + mesh + ball + text[at:])
    scene = mb.load(tmp_path / "robot.usda")
    found = {s.kind: s for s in scene.shapes["arm"] if s.role == "visual"}
    assert set(found) == {"mesh", "sphere"} and found["sphere"].rgba == ()
    # x to x + y, as OpenUSD multiplies rows
    assert found["mesh"].triangles is not None
    np.testing.assert_allclose(found["mesh"].triangles[0], [[0, 0, 0], [1, 1, 0], [0, 1, 0]], atol=1e-6)
    assert not any("sheared" in defect.message for defect in scene.defects)
