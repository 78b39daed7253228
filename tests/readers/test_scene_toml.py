import math
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.rank import constraint_matrix
from mbplugin.errors import BadScene, BrokenModel, MbPluginError, UnknownName
from mbplugin.model.mechanism import KnifeEdge, Rolling
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import Request, Scene
from mbplugin.readers import load
from mbplugin.readers.meshes import mesh_bounds
from mbplugin.readers.scene_file.reader import read_scene
from places import ASSETS

TWO = '[[body]]\nname = "a"\n[[body]]\nname = "b"\nxyz = [1, 0, 0]\n'
HINGE = '[[pair]]\nname = "j"\ntype = "revolute"\nbody_a = "a"\nbody_b = "b"\nxyz_a = [1, 0, 0]\n'
BALL = '<robot name="r"><link name="ball"><inertial><mass value="1"/></inertial></link></robot>'
FOUR_BAR = f'[[model]]\nfile = "{ASSETS / "four_bar.urdf"}"\nbase = "fixed"\n'


def read(text: str, **options: object) -> Scene:
    return read_scene(text, Request("s.toml", text=text, **options))  # type: ignore[arg-type]


def poses_of(scene: Scene) -> dict:
    poses = forward(scene.mechanism, scene.state.q)
    return {b.name: poses.of(i) for i, b in enumerate(scene.mechanism.bodies)}


def closing_gap(scene: Scene, name: str):
    mech = scene.mechanism
    return relative_pose(mech, mech.pair_by_name[name], forward(mech, scene.state.q))


# Published ranks: wojtyra2013 section 4 and pekal2024 section 4; the others counted by hand or measured by
# independent programs (planar 4R, Minitaur, wheels).
@pytest.mark.bullet
@pytest.mark.parametrize(("asset", "planar", "shape", "rank"), [
    ("four_bar", None, (26, 24), 23),
    ("minitaur", None, (158, 162), 154),
    ("husky", None, (68, 66), 65),
    ("racecar", None, (78, 78), 76),
    ("four_wheel_robot", "xy", (22, 21), 20),
    ("spatial_parallelogram", None, (45, 60), 44),
])  # fmt: skip
def test_assets_have_their_known_rank(asset: str, planar: str | None, shape: tuple[int, int], rank: int):
    scene = load(ASSETS / f"{asset}.scene.toml")
    assert scene.options.planar == planar
    C = constraint_matrix(scene.mechanism, scene.state.q, planar=planar).C.toarray()
    assert C.shape == shape
    assert np.linalg.matrix_rank(C, tol=1e-4 * np.linalg.norm(C, 2)) == rank


def test_the_four_wheel_robot_has_17_holonomic_and_5_knife_edge_rows_in_the_order_of_the_paper():
    scene = load(ASSETS / "four_wheel_robot.scene.toml")
    cm = constraint_matrix(scene.mechanism, scene.state.q, planar="xy")
    names = [constraint for constraint, _ in cm.rows]
    assert names == [
        *(n for n in "ABCDEFGH" for _ in range(2)), "drive", "W1", "W2", "W3", "W4", "W5",
    ]  # fmt: skip
    C = cm.C.toarray()
    assert np.linalg.matrix_rank(C[:17]) == 17
    assert np.linalg.matrix_rank(C[17:]) == 4
    for dropped in ({6, 21}, {18, 21}, {19, 21}, {18, 20}):
        kept = [k for k in range(22) if k + 1 not in dropped]
        assert np.linalg.matrix_rank(C[kept]) == 20


@pytest.mark.parametrize("slide", [-0.05, 0.04])
def test_the_robots_front_and_rear_edge_counter_steer(slide: float):
    scene = load(ASSETS / "four_wheel_robot.scene.toml")
    mech = scene.mechanism
    # velocities of the arms per slider velocity, platform held: null space of the holonomic rows
    C = constraint_matrix(mech, scene.state.q, planar="xy").C.toarray()[:16]
    hold = np.eye(21)[[0, 1, 2, 18, 19, 20]]
    v = np.linalg.svd(np.vstack([C, hold]))[2][-1]
    front, rear = v[3 * 1 + 2], v[3 * 2 + 2]
    assert abs(front) > 0.1
    assert front == pytest.approx(-rear)


def test_the_parallelograms_rods_have_the_published_length_and_stand():
    scene = load(ASSETS / "spatial_parallelogram.scene.toml")
    poses = poses_of(scene)
    for pair_a, pair_b in ("AB", "CD", "EF", "GH", "KL", "MN"):
        mech = scene.mechanism
        start, end = mech.pair_by_name[pair_a], mech.pair_by_name[pair_b]
        rod = poses["7"].apply(end.X_BS.p) - start.X_AP.p
        assert np.linalg.norm(rod) == pytest.approx(2 * math.sqrt(2))
        assert closing_gap(scene, pair_b).p == pytest.approx(np.zeros(3), abs=1e-15)
    corners = [scene.mechanism.pair_by_name[n].X_BS.p for n in "BDFH"]
    assert np.linalg.norm(corners[1] - corners[0]) == pytest.approx(2)


def test_the_four_bar_closes_and_its_state_is_held():
    scene = load(ASSETS / "four_bar.scene.toml")
    gap = closing_gap(scene, "j3")
    assert gap.p == pytest.approx(np.zeros(3), abs=1e-15)
    assert gap.R[:, 2] == pytest.approx([0, 0, 1], abs=1e-15)
    assert scene.state.given == {"j0", "j1", "j2"}
    assert [Path(f).name for f in scene.files] == ["four_bar.scene.toml", "four_bar.urdf"]


@pytest.mark.bullet
@pytest.mark.parametrize("asset", ["husky", "racecar"])
def test_the_wheels_stand_on_their_plane(asset: str):
    scene = load(ASSETS / f"{asset}.scene.toml")
    poses = poses_of(scene)
    wheels = [w for w in scene.mechanism.pfaffians if isinstance(w, Rolling)]
    assert len(wheels) == 4
    for wheel in wheels:
        assert poses[wheel.body].apply(wheel.center)[2] == pytest.approx(wheel.radius, abs=1e-6)


def test_a_side_that_is_not_given_is_taken_at_the_pose_of_the_state():
    text = FOUR_BAR + (
        '[state]\nq = { j0 = 0.3, j1 = 0.4, j2 = 0.5 }\n'
        '[[closure]]\nname = "c"\ntype = "revolute"\nbody_a = "rocker"\nbody_b = "ground"\n'
    )  # fmt: skip
    for side in ("xyz_a = [0.75, 0, 0]", "xyz_b = [0.1, 0.2, 0.3]"):
        scene = read(text + side + "\naxis = [0, 1, 0]\n")
        gap = closing_gap(scene, "c")
        assert gap.p == pytest.approx(np.zeros(3), abs=1e-15)
        assert pytest.approx(np.eye(3), abs=1e-15) == gap.R
    # the rocker's tip by hand: links of 0.3, 0.5, 0.75 m at 0.3, 0.7, 1.2 rad in the xz plane
    scene = read(text + "xyz_a = [0.75, 0, 0]\n")
    tip = sum(
        length * np.array([np.cos(a), 0, np.sin(a)]) for length, a in ((0.3, 0.3), (0.5, 0.7), (0.75, 1.2))
    )
    assert scene.mechanism.pair_by_name["c"].X_BS.p == pytest.approx(tip)


def test_a_new_pair_keeps_the_written_poses_and_a_body_without_one_follows_its_frames():
    placed = read(TWO + HINGE)
    assert poses_of(placed)["b"].p == pytest.approx([1, 0, 0])
    turned = read(TWO.replace("xyz = [1", "rpy = [0, 0, 0.3]\nxyz = [1") + HINGE + "xyz_b = [0, 0, 0]\n")
    assert dict(zip(turned.mechanism.q_names, turned.state.q, strict=True))["j"] == pytest.approx(0.3)
    free = read('[[body]]\nname = "a"\n[[body]]\nname = "b"\n' + HINGE + "xyz_b = [0, 2, 0]\n")
    assert poses_of(free)["b"].p == pytest.approx([1, -2, 0])


def off_its_frame(text: str) -> list[tuple[str, float, float]]:
    found = [d for d in read(text).defects if d.code == "MB119"]
    assert all(d.severity == "error" for d in found)
    return [(d.element, d.evidence["distance_m"], d.evidence["angle_rad"]) for d in found]


STATED = (
    'body = [{{ name = "u", mass = 1, {pose} }}]\n'
    'pair = [{{ name = "m", type = "{kind}", body_a = "world", body_b = "u", axis = [0, 1, 0],'
    " xyz_a = [0, 0, 0], xyz_b = [0, 0, 0] }}]\n"
)


@pytest.mark.parametrize(
    ("pose", "kind", "distance", "angle"),
    [
        # a hinge about y at the origin: neither a place nor a turn about z is in its reach
        ("xyz = [0.2, 0, 0], rpy = [0, 0, 0.7]", "revolute", 0.2, 0.7),
        ("rpy = [0, 0, 0.002]", "revolute", 0, 0.002),
        ("rpy = [0, 0.7, 0]", "fixed", 0, 0.7),
        ("xyz = [0, 0.3, 0.4]", "prismatic", 0.4, 0),
    ],
)
def test_a_pose_that_its_pair_does_not_reach_is_told(pose: str, kind: str, distance: float, angle: float):
    ((body, far, turned),) = off_its_frame(STATED.format(pose=pose, kind=kind))
    assert (body, far, turned) == ("u", pytest.approx(distance), pytest.approx(angle))


@pytest.mark.parametrize(
    ("pose", "kind"),
    [
        ("rpy = [0.0005, 0.7, 0]", "revolute"),
        ("xyz = [0, 0.3, 0]", "prismatic"),
        ("rpy = [0.1, 0.2, 0.3]", "spherical"),
        ("com = [0.1, 0, 0]", "fixed"),
    ],
)
def test_a_pose_in_the_reach_of_its_pair_or_rounded_is_no_finding(pose: str, kind: str):
    assert off_its_frame(STATED.format(pose=pose, kind=kind)) == []
    if kind == "revolute":
        assert read(STATED.format(pose=pose, kind=kind)).state.q == pytest.approx([0.7])
        # [state] turns the joint on, and hides no contradiction
        turned = STATED.format(pose="rpy = [0.1, 0.7, 0]", kind=kind) + "state.q = { m = 0.3 }\n"
        assert [angle for _, _, angle in off_its_frame(turned)] == [pytest.approx(0.1)]


def test_a_pose_is_measured_from_where_the_body_before_it_stands():
    hung = (
        'body = [{ name = "a"%s }, { name = "b", xyz = [1, 0, 0.5] }]\n'
        'pair = [{ name = "m", type = "fixed", body_a = "world", body_b = "a", xyz_a = [1, 0, 0], xyz_b = [0, 0, 0] },'
        ' { name = "n", type = "revolute", body_a = "a", body_b = "b", xyz_a = [0, 0, 0.4], xyz_b = [0, 0, 0] }]\n'
    )
    assert off_its_frame(hung % "") == [("b", pytest.approx(0.1), 0)]
    # of two that are moved together only the first contradicts its pair
    moved = off_its_frame(hung % ", xyz = [1, 0, 0.1]")
    assert moved == [("a", pytest.approx(0.1), 0)]


def test_a_placed_model_that_a_pair_puts_elsewhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "ball.urdf").write_text(BALL)
    monkeypatch.chdir(tmp_path)
    text = (
        f'model = [{{ file = "{tmp_path}/ball.urdf", base = "free"%s }}]\n'
        'pair = [{ name = "m", type = "fixed", body_a = "world", body_b = "ball",'
        " xyz_a = [1, 0, 0], xyz_b = [0, 0, 0] }]\n"
    )
    assert off_its_frame(text % "") == []
    assert off_its_frame(text % ", xyz = [1, 0, 3]") == [("ball", pytest.approx(3), 0)]


def test_the_axis_turns_the_joint_frame_and_defaults_to_z():
    assert read(TWO + HINGE).mechanism.pair_by_name["j"].X_AP.R[:, 2] == pytest.approx([0, 0, 1])
    turned = read(TWO + HINGE + "axis = [0, 3, 0]\n").mechanism.pair_by_name["j"]
    assert turned.X_AP.R[:, 2] == pytest.approx([0, 1, 0])
    framed = read(TWO + HINGE + "rpy_a = [0, 0, 1.5707963267948966]\naxis = [1, 0, 0]\n")
    assert framed.mechanism.pair_by_name["j"].X_AP.R[:, 2] == pytest.approx([0, 1, 0], abs=1e-15)


def test_a_pair_of_a_file_changes_type_and_keeps_the_pose():
    closed = (
        (ASSETS / "four_bar.scene.toml").read_text().replace("four_bar.urdf", str(ASSETS / "four_bar.urdf"))
    )
    before = read(closed)
    retype = (
        '[[pair]]\nname = "j1"\ntype = "spherical"\n'
        '[[pair]]\nname = "j2"\ntype = "universal"\naxis = [1, 0, 0]\n'
    )
    after = read(closed + retype)
    assert [after.mechanism.pair_by_name[n].type for n in ("j1", "j2")] == ["spherical", "universal"]
    for name, pose in poses_of(before).items():
        assert poses_of(after)[name].p == pytest.approx(pose.p, abs=1e-12)
    # what the state held is held under its new name, where the freedom is still there
    assert "j0" in after.state.given
    assert after.origin["constraint", "j1", "type"].text == '"spherical"'


def test_remedies_pasted_for_a_four_bar_take_the_redundancy_away():
    closed = (
        (ASSETS / "four_bar.scene.toml").read_text().replace("four_bar.urdf", str(ASSETS / "four_bar.urdf"))
    )
    scene = read(
        closed + '[[pair]]\nname = "j3"\ntype = "spherical"\n[[pair]]\nname = "j2"\ntype = "universal"\n'
        "axis = [0, 1, 0]\n"
    )
    C = constraint_matrix(scene.mechanism, scene.state.q).C.toarray()
    assert C.shape[0] - np.linalg.matrix_rank(C) == 0
    assert C.shape[1] - np.linalg.matrix_rank(C) == 1


def test_a_retyped_coordinate_has_its_new_meaning():
    scene = read(FOUR_BAR + '[state]\nq = { j1 = 0.2 }\n[[pair]]\nname = "j1"\ntype = "prismatic"\n')
    poses = poses_of(scene)
    # the crank lies along x; the coupler's frame slid 0.2 m along the hinge's axis −y
    assert poses["coupler"].p == pytest.approx([0.3, -0.2, 0])


def test_two_models_get_prefixes_and_their_poses():
    text = ""
    for name, y in (("left", 1), ("right", -1)):
        text += FOUR_BAR + f'name = "{name}"\nxyz = [0, {y}, 0]\nrpy = [0, 0, 1.5707963267948966]\n'
    text += '[state]\nq = { "right/j0" = 0.5 }\n[[driver]]\njoint = "left/j0"\nrate = 2\n'
    scene = read(text)
    mech = scene.mechanism
    assert [b.name for b in mech.bodies][:2] == ["left/ground", "left/crank"]
    assert mech.pairs[0].body_a == "world"
    poses = poses_of(scene)
    assert poses["left/coupler"].p == pytest.approx([0, 1.3, 0], abs=1e-15)
    assert poses["right/coupler"].p == pytest.approx([0, -1 + 0.3 * np.cos(0.5), 0.3 * np.sin(0.5)])
    assert mech.drivers[0].name == "drive left/j0"
    assert ("constraint", "right/j2", "") in scene.origin
    assert scene.state.given == {"right/j0"}
    assert set(scene.shapes) >= {"left/crank", "right/rocker"}


def test_two_models_of_one_name_are_refused():
    with pytest.raises(BadScene, match="two models are called 'four_bar'"):
        read(FOUR_BAR + FOUR_BAR)


def test_a_free_model_stands_where_the_scene_puts_it_and_base_overrides():
    text = FOUR_BAR.replace("fixed", "free") + "xyz = [1, 2, 3]\nrpy = [0, 0, 1.5707963267948966]\n"
    free = read(text)
    assert "ground.x" in free.mechanism.q_names
    assert poses_of(free)["ground"].p == pytest.approx([1, 2, 3])
    assert poses_of(free)["crank"].R[:, 0] == pytest.approx([0, 1, 0], abs=1e-15)
    fixed = read(text, base="fixed")
    assert fixed.mechanism.pairs[0].name == "world→ground"
    assert poses_of(fixed)["crank"].p == pytest.approx([1, 2, 3])


def test_a_model_that_is_tied_to_the_world_moves_with_its_ties(tmp_path: Path):
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    (tmp_path / "arm.urdf").write_text(
        f'<robot name="arm"><link name="world"/><link name="l">{link}</link>'
        '<joint name="j" type="continuous">'
        '<parent link="world"/><child link="l"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>'
    )
    scene_file = tmp_path / "arm.scene.toml"
    scene_file.write_text('[[model]]\nfile = "arm.urdf"\nxyz = [0, 0, 5]\nrpy = [0, 0, 1.5707963267948966]\n')
    assert poses_of(load(scene_file))["l"].p == pytest.approx([0, 1, 5])


@pytest.mark.parametrize("snap", [False, True])
def test_rounded_angles_keep_their_literal_and_snap_on_request(snap: bool):
    text = (
        TWO + '[[closure]]\nname = "c"\ntype = "revolute"\nbody_a = "a"\nbody_b = "b"\n'
        "rpy_a = [1.5708, 0, 0]\nxyz_b = [0, 0, 0] # here\n"
    )
    scene = read(text, snap_angles=snap)
    origin = scene.origin["constraint", "c", "rpy_a"]
    assert (origin.line, origin.text) == (11, "1.5708 0 0")
    assert scene.origin["constraint", "c", ""].line == 6
    angle = math.pi / 2 if snap else 1.5708
    R = scene.mechanism.pair_by_name["c"].X_AP.R
    assert R[2, 1] == math.sin(angle)


def test_every_action_table_arrives():
    scene = read(TWO + HINGE + """
[[lock]]
joint = "j"
at = 0.8
[[load]]
body = "b"
point = [0, 0, 1]
force = [0, 1000, 0]
frame = "body"
[[stiffness]]
pair = "j"
k = [1, 2, 3, 4, 5, 6]
[[stiffness]]
body = "b"
section = { E = 2.1e11, A = 1e-4, Iy = 1e-9, Iz = 2e-9, J = 3e-9 }
[[brake]]
joint = "j"
torque = 12
delay = 0.02
[[payload]]
body = "b"
mass = 5
inertia = [1, 0.1, 0.2, 2, 0.3, 3]
[[actuator]]
joint = "j"
gear_ratio = 100
[[driver]]
joint = "j"
value = 1
[[pfaffian]]
name = "edge"
type = "knife_edge"
body = "a"
direction = [0, 1, 0]
[[pfaffian]]
name = "wheel"
type = "rolling"
body = "b"
axis = [0, 1, 0]
radius = 0.2
plane = { point = [0, 0, -1] }
[lint]
degree_of_redundancy = 2
ignore = ["MB401"]
""")  # fmt: skip
    assert scene.locks[0].at == 0.8
    assert scene.mechanism.locks == ()
    assert (scene.loads[0].frame, scene.loads[0].force.tolist()) == ("body", [0, 1000, 0])
    assert scene.stiffness[0].matrix == pytest.approx(np.diag([1, 2, 3, 4, 5, 6]))
    assert scene.stiffness[1].section["Iz"] == 2e-9
    assert (scene.brakes[0].torque, scene.brakes[0].static_torque, scene.brakes[0].delay) == (12, None, 0.02)
    assert scene.payloads[0].inertia == pytest.approx(np.array([[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]))
    assert scene.actuators[0].gear_ratio == 100
    assert (scene.mechanism.drivers[0].name, scene.mechanism.drivers[0].value) == ("drive j", 1)
    edge, wheel = scene.mechanism.pfaffians
    assert isinstance(edge, KnifeEdge)
    assert isinstance(wheel, Rolling)
    assert wheel.plane_point.tolist() == [0, 0, -1]
    assert (scene.options.degree_of_redundancy, scene.options.ignore) == (2, ("MB401",))


@pytest.mark.parametrize("at", ["", "at = 0\n"])
def test_a_lock_from_the_start_is_part_of_the_mechanism(at: str):
    scene = read(TWO + HINGE + '[[lock]]\njoint = "j"\n' + at)
    assert [lock.name for lock in scene.mechanism.locks] == ["lock j"]
    assert scene.locks == ()


def test_couplings_in_both_ways_of_writing():
    text = TWO + HINGE + '[[body]]\nname = "c"\n' + HINGE.replace('"j"', '"k"').replace('"b"', '"c"')
    mimic = '[[coupling]]\ntype = "mimic"\njoint = "k"\nof = "j"\nratio = 2\noffset = 0.1\n'
    (coupling,) = read(text + mimic).mechanism.couplings
    assert [(t.joint, t.freedom, t.coefficient) for t in coupling.terms] == [("k", "rz", 1), ("j", "rz", -2)]
    assert (coupling.name, coupling.offset) == ("mimic k", 0.1)
    gear = (
        '[[coupling]]\nname = "g"\ntype = "gear"\n'
        'terms = [{ joint = "j", coefficient = 3 }, { joint = "k", coefficient = -1 }]\n'
    )
    (coupling,) = read(text + gear).mechanism.couplings
    assert [t.coefficient for t in coupling.terms] == [3, -1]


def test_gravity_is_the_scenes_or_the_models():
    assert read(TWO + HINGE).mechanism.gravity.tolist() == [0, 0, -9.81]
    assert read("gravity = [0, -9.81, 0]\n" + TWO).mechanism.gravity.tolist() == [0, -9.81, 0]


def test_a_distance_is_measured_where_it_is_not_stated():
    text = TWO + HINGE.replace("revolute", "distance") + "xyz_b = [0, 2, 0]\n"
    assert read(text).mechanism.pair_by_name["j"].length == pytest.approx(2)
    assert read(text + "length = 1.5\n").mechanism.pair_by_name["j"].length == 1.5


def test_a_pair_states_its_limits_its_drive_and_what_resists_it():
    numbers = "lower = -0.5\nupper = 1.5\nvelocity = 2\neffort = 30\ndamping = 4\nfriction = 0.5\n"
    stated = Freedom(-0.5, 1.5, 30.0, 2.0, 4.0, 0.5)
    assert read(TWO + HINGE + numbers).mechanism.pair_by_name["j"].freedoms == (stated,)
    retyped = f'[[pair]]\nname = "j1"\ntype = "revolute"\n{numbers}'
    assert read(FOUR_BAR + retyped).mechanism.pair_by_name["j1"].freedoms == (stated,)


def test_a_limit_of_a_pair_is_an_end_stop():
    """A carriage that slides down 0.5 m takes √(2 · 0.5 / 9.81) s to its end stop."""
    track = (
        '[[body]]\nname = "carriage"\nmass = 2\ninertia = [1, 1, 1]\n[[pair]]\nname = "track"\ntype = "prismatic"\n'
        'body_a = "world"\nbody_b = "carriage"\nxyz_a = [0, 0, 0]\naxis = [0, 0, 1]\nlower = -0.5\nupper = 1\n'
    )
    motion = mb.simulate(read(track), 1.0, limits="stop")
    assert motion.outcome == "limit_hit" and motion.time[-1] == pytest.approx(
        (2 * 0.5 / 9.81) ** 0.5, abs=1e-9
    )


@pytest.mark.parametrize(("text", "line", "words"), [
    ("[[closure]\n", 1, "TOML is broken"),
    ("a = 1\na = 2\n", 2, "TOML is broken"),
    ("\nbase = fixed\n", 2, 'invalid value fixed; write a text in quotes: "fixed"'),
    (TWO + HINGE + '[state.q]\nj = "90deg"\n', 12, "expected a number; write 1.57079632679, in SI units (rad"),
    ("gravty = [0, 0, 1]\n", 1, "unknown key 'gravty'; did you mean 'gravity'"),
    ('[[closures]]\nname = "x"\n', 1, "unknown table 'closures'; did you mean 'closure'"),
    ('[closure]\nname = "x"\n', 1, "[[closure]]"),
    ("gravity = [0, 0]\n", 1, "at least 3 entries, it has 2"),
    ('gravity = "down"\n', 1, "expected a list"),
    (TWO + HINGE + "xyzb = [0, 0, 0]\n", 12, "unknown key 'xyzb'; did you mean 'xyz_b'"),
    (TWO + HINGE.replace("revolute", "revolut"), 8, "did you mean 'revolute'"),
    (TWO + HINGE + "xyz_b = [0, 0, inf]\n", 12, "expected a finite number"),
    (TWO + HINGE + 'xyz_b = [0, 0, "1"]\nrpy_b = 3\n', 12, "(and 1 more error in this file)"),
    (TWO + '[[closure]]\nname = "c"\ntype = "fixed"\nbody_a = "a"\n', 6, "lacks the key 'body_b'"),
    (TWO + HINGE.replace('body_b = "b"', 'body_b = "c"'), 10, "no body is called 'c'"),
    (TWO + HINGE.replace('body_b = "b"', 'body_b = "a"'), 6, "joins 'a' to itself"),
    (TWO + HINGE.replace("xyz_a = [1, 0, 0]\n", ""), 6, "gives no joint frame"),
    (TWO + HINGE + "axis = [0, 0, 0]\n", 12, "is zero"),
    (TWO + HINGE + "lead = 0.1\n", 12, "has a lead"),
    (TWO + HINGE.replace("revolute", "screw"), 6, "without a lead"),
    (TWO + HINGE.replace("revolute", "distance"), 6, "gives one point"),
    (TWO + HINGE.replace('body_b = "b"\n', ""), 6, "names one body only"),
    (TWO + '[[pair]]\nname = "j"\ntype = "fixed"\n', 6, "no pair is called 'j'"),
    (TWO + HINGE + '[[pair]]\nname = "jj"\ntype = "fixed"\n', 12, "did you mean 'j'"),
    (TWO + HINGE + HINGE, 12, "two pairs are called 'j'"),
    (TWO + HINGE + "[state]\nq = { jj = 1 }\n", 13, "did you mean 'j'"),
    (TWO + HINGE + "[state.qd]\njj = 1\n", 13, "did you mean 'j'"),
    (TWO + HINGE + '[[driver]]\njoint = "j"\nfreedoms = ["tx"]\n', 13, "no freedom 'tx'"),
    (TWO + HINGE.replace("revolute", "fixed") + '[[lock]]\njoint = "j"\n', 13, "no freedom to act on"),
    (TWO + HINGE + '[[coupling]]\ntype = "gear"\njoint = "j"\n', 12, "either joint and of"),
    (TWO + HINGE + '[[stiffness]]\npair = "j"\nk = [1, 2]\n', 14, "six"),
    (TWO + HINGE + '[[stiffness]]\npair = "j"\n', 12, "pair and k, or body and section"),
    (TWO + '[[pfaffian]]\nname = "w"\ntype = "rolling"\nbody = "a"\naxis = [0, 1, 0]\n', 6, "without radius"),
    (TWO + '[[body]]\nname = "a"\n', 7, "another body is called 'a'"),
    (TWO + '[[body]]\nname = "world"\n', 7, "the ground is called 'world'"),
    (TWO + '[[body]]\nname = "c"\ninertia = [1, 2, 3, 4]\n', 8, "ixx iyy izz"),
    (TWO + HINGE + "lower = 1\nupper = -1\n", 12, "has limits from 1 to -1"),
    (TWO + HINGE.replace("revolute", "spherical") + "damping = 1\n", 12, "is spherical and states its damping"),
    (TWO + HINGE + "effort = -1\n", 12, "at least 0"),
    (FOUR_BAR + '[[pair]]\nname = "j1"\ntype = "revolute"\npassive = true\nupper = 1\n', 8, "passive and states"),
    ('[[model]]\nfile = "nope.urdf"\n', 2, "cannot be found"),
    ('[[model]]\nfile = "x.scene.toml"\n', 2, "is a scene"),
    (TWO + "[lint]\nsamples = 1.5\n", 7, "expected a whole number"),
])  # fmt: skip
def test_bad_scenes_are_told_with_their_line(text: str, line: int, words: str):
    with pytest.raises(MbPluginError) as caught:
        read(text)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"s.toml:{line}: ")
    assert isinstance(caught.value, BadScene | UnknownName | BrokenModel) or words == "cannot be found"


@pytest.mark.parametrize("text", ["", "[lint]\n", "x = " + "[" * 5000])
def test_scenes_without_a_body_or_without_end_are_refused(text: str):
    with pytest.raises(BadScene):
        read(text)


def test_meshes_lie_beside_the_model_that_names_them(tmp_path: Path) -> None:
    import trimesh

    models = {}
    for name, edge in (("small", 0.1), ("large", 0.3)):
        folder = tmp_path / name
        folder.mkdir()
        trimesh.creation.box([edge] * 3).export(folder / "part.stl")
        (folder / f"{name}.urdf").write_text(
            f'<robot name="{name}"><link name="part"><collision><geometry><mesh filename="part.stl"/>'
            "</geometry></collision></link></robot>"
        )
        models[name] = folder / f"{name}.urdf"
    path = tmp_path / "scenes" / "two.scene.toml"
    path.parent.mkdir()
    path.write_text("".join(f'[[model]]\nfile = "../{name}/{name}.urdf"\n' for name in models))
    scene = load(path)
    for name, model in models.items():
        (alone,) = load(model).shapes["part"]
        (joined,) = scene.shapes[f"{name}/part"]
        edges = [mesh_bounds(shape, at.request) for shape, at in ((alone, load(model)), (joined, scene))]
        assert edges[0] is not None and edges[1] == pytest.approx(edges[0])
        assert np.ptp(edges[0], axis=0) == pytest.approx({"small": 0.1, "large": 0.3}[name])
