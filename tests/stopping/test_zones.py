"""The zone of a stop: a sector by hand, what it contains, and its files."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import trimesh

import mbplugin as mb
from mbplugin.model.scene import Scene
from mbplugin.stopping.outcome import StopReport
from mbplugin.stopping.zones import ConvexPiece, StopZone, body_pieces, motion_of_pieces
from mbplugin.stopping.zones.union import ZoneUnion, chord_spans, simplified
from swept_points import ARMS, arm, random_stops, sampled_points, stops_of

shapely = pytest.importorskip("shapely")
ezdxf = pytest.importorskip("ezdxf")

#: A thin bar 1 m long on a vertical hinge; its moment of inertia about the hinge is 1 kg·m².
BAR = """<robot name="bar">
<link name="world"/>
<link name="bar"><inertial><origin xyz="0.5 0 0"/><mass value="3"/>
<inertia ixx="0.25" iyy="0.25" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>
<joint name="hinge" type="continuous"><parent link="world"/><child link="bar"/><axis xyz="0 0 1"/>
<limit effort="50" velocity="9"/></joint>
</robot>
"""
THIN = '<collision><origin xyz="0.5 0 0"/><geometry><box size="1 1e-4 0.1"/></geometry></collision>'
#: Reaction over 0.1 s at 2 rad/s, then 4 rad/s² to rest: 0.2 rad and 0.5 rad.
TURN = 0.2 + 0.5


FRAME = '<link name="tool0"/><joint name="f" type="fixed"><parent link="bar"/><child link="tool0"/></joint>'


def bar(folder: Path, shapes: str = THIN, beyond: str = "") -> Scene:
    file = folder / "bar.urdf"
    text = BAR.format(shapes=shapes).replace("</robot>", f"{beyond}</robot>")
    file.write_text(text, encoding="utf-8")
    return mb.load(file)


def stop(scene: Scene, **options: object) -> StopReport:
    brake = {"joint": "hinge", "torque": 4, "delay": 0.1}
    return mb.estop(scene, qd={"hinge": 2.0}, brakes=[brake], **options)  # type: ignore[arg-type]


def outline(zone: StopZone) -> object:
    return shapely.MultiPolygon([shapely.Polygon(polygon) for polygon in zone.polygons])


def test_a_turning_bar_sweeps_its_sector(tmp_path: Path) -> None:
    scene = bar(tmp_path)
    report = stop(scene)
    assert report.joints[0].travel == pytest.approx(TURN, rel=1e-6)
    zone = mb.stop_zone(scene, report, resolution=2e-4)
    assert zone.area == pytest.approx(0.5 * TURN, rel=0.01)
    assert zone.area >= 0.5 * TURN
    assert zone.upper == pytest.approx([1.0, np.sin(TURN), 0.05], abs=1e-3)
    assert zone.lower == pytest.approx([0.0, 0.0, -0.05], abs=1e-3)
    assert zone.without_shape == ()


@pytest.mark.parametrize("resolution", [1e-3, 1e-2, 0.3])
def test_no_point_of_the_sector_is_outside_whatever_the_resolution(tmp_path: Path, resolution: float) -> None:
    scene = bar(tmp_path)
    zone = mb.stop_zone(scene, stop(scene), resolution=resolution)
    angles = np.linspace(0, TURN, 1001)
    assert shapely.contains_xy(outline(zone), np.cos(angles), np.sin(angles)).all()
    assert zone.sagitta <= resolution


def test_the_sagitta_is_that_of_the_arc() -> None:
    # one sample at either end of a turn at constant rate: r Δθ²/8 of the corner that is farthest out
    angle, corners = 0.05, np.array([[x, y, z] for x in (1.0, 2.0) for y in (0.0, 0.1) for z in (0.0, 1.0)])
    turned = (
        corners
        @ np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]]).T
    )
    x = np.array([corners, turned])
    v = np.cross([0.0, 0.0, angle], x)
    (span,) = chord_spans(np.array([0.0, 1.0]), x, v, 1e-9)
    farthest = np.hypot(2.0, 0.1)
    assert span.sagitta == pytest.approx(farthest * angle**2 / 8, rel=1e-3)
    assert span.sagitta >= farthest * (1 - np.cos(angle / 2))


SHAPES = {
    "box": ('<box size="0.2 0.4 0.6"/>', 0.08),
    "sphere": ('<sphere radius="0.2"/>', np.pi * 0.04),
    "cylinder": ('<cylinder radius="0.2" length="0.6"/>', np.pi * 0.04),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_a_robot_at_rest_covers_its_shape(tmp_path: Path, kind: str) -> None:
    text, area = SHAPES[kind]
    scene = bar(tmp_path, f"<visual><geometry>{text}</geometry></visual>")
    zone = mb.stop_zone(scene, mb.estop(scene), resolution=1e-4)
    assert area <= zone.area < 1.02 * area


def test_collision_shapes_count_and_visual_ones_stand_in_for_them(tmp_path: Path) -> None:
    mesh = '<collision><geometry><mesh filename="none.stl"/></geometry></collision>'
    big = '<visual><geometry><sphere radius="2"/></geometry></visual>'
    scene = bar(tmp_path, THIN + big)
    assert mb.stop_zone(scene, stop(scene)).area < 1
    scene = bar(tmp_path, mesh + big)
    zone = mb.stop_zone(scene, stop(scene))
    assert zone.area > 12 and zone.without_shape == ()
    scene = bar(tmp_path, mesh)
    zone = mb.stop_zone(scene, stop(scene))
    assert zone.without_shape == ("bar",)
    (said,) = too_small(zone)
    assert "the shapes of bar cannot be read ('none.stl'): only joints" in said
    assert said.endswith("state their folder with --package-dir")
    scene = bar(tmp_path, mesh.replace("none.stl", "package://arm_description/meshes/bar.stl"))
    (said,) = too_small(mb.stop_zone(scene, stop(scene)))
    assert "the shapes of bar cannot be read" in said
    assert said.endswith("state the folder that holds arm_description with --package-dir")


def test_a_link_with_mass_and_no_shape_is_named_and_a_frame_is_not(tmp_path: Path) -> None:
    scene = bar(tmp_path, THIN, FRAME)
    zone = mb.stop_zone(scene, stop(scene))
    assert too_small(zone) == [] and zone.without_shape == ("tool0",)
    scene = bar(tmp_path, "", FRAME)
    (said,) = too_small(mb.stop_zone(scene, stop(scene)))
    assert said.startswith("TOO SMALL: bar state no shape") and "collision" in said


def too_small(zone: StopZone) -> list[str]:
    """Return what a zone says it has not."""
    return [said for said in zone.assumptions if said.startswith("TOO SMALL")]


def test_a_payload_is_a_ball_whose_radius_has_to_be_stated(tmp_path: Path) -> None:
    scene = bar(tmp_path)
    report = stop(scene, payload={"body": "bar", "mass": 1e-6, "com": [1.0, 0, 0]})
    with pytest.raises(
        mb.MbPluginError, match=r"size of the payload at 'bar' is not stated.*--payload-radius"
    ):
        mb.stop_zone(scene, report)
    zone = mb.stop_zone(scene, report, payload_radius=0.3)
    assert zone.upper[0] == pytest.approx(1.3, abs=5e-3)
    assert zone.upper[2] == pytest.approx(0.3, abs=5e-3)
    # its capsule: a ring of 0.6 m along the arc, and a disc
    assert zone.area > 0.6 * TURN + np.pi * 0.09


def test_a_simplified_piece_contains_the_whole() -> None:
    rng = np.random.default_rng(5)
    points = rng.normal(size=(400, 3))
    piece = simplified(ConvexPiece(points))
    assert len(piece.points) < 60
    directions = rng.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    reach = (directions @ piece.points.T).max(axis=1) + piece.radius
    assert ((directions @ points.T).max(axis=1) <= reach + 1e-9).all()


def contained(name: str, count: int) -> None:
    """Each stop's own zone contains the corners of the meshes at random times."""
    scene, rng = arm(name), np.random.default_rng(11)
    plan = random_stops(scene, count)
    whole = 0
    for q, pieces in stops_of(plan):
        zone = zone_of(scene, q, pieces)
        points = sampled_points(scene, q, pieces, rng, times=2, most=40)
        area = outline(zone)
        shapely.prepare(area)
        inside = shapely.contains_xy(area, points[:, 0], points[:, 1])
        assert inside.all(), (plan.count, q)
        assert (points >= zone.lower - 1e-9).all() and (points <= zone.upper + 1e-9).all()
        whole += len(points)
    assert whole >= 600 * count


def zone_of(scene: Scene, q: np.ndarray, pieces: np.ndarray) -> StopZone:
    robot = body_pieces(scene.mechanism, scene.shapes, (), 0.0, scene.request)
    union = ZoneUnion(scene.mechanism, robot, 0.002, False)
    union.add(motion_of_pieces(q, pieces))
    return StopZone(
        "", 1, union.polygons(), union.lower, union.upper, union.sagitta, 0.002, robot.without_shape, ()
    )


@pytest.mark.long
@pytest.mark.bullet
@pytest.mark.parametrize("name", ARMS)
def test_the_zone_of_a_stop_contains_the_meshes_at_all_times(name: str) -> None:
    contained(name, 40)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_the_zones_of_ten_thousand_stops_contain_the_meshes_at_all_times(name: str) -> None:
    contained(name, 10_000)


@pytest.mark.bullet
@pytest.mark.parametrize(("name", "number"), [(ARMS[0], 679), (ARMS[1], 584)])
def test_an_outline_is_not_simplified_into_its_zone(name: str, number: int) -> None:
    # GEOS simplified the outlines of these stops by more than its tolerance: points were 0.6 mm outside
    scene = arm(name)
    ((q, pieces),) = stops_of(random_stops(scene, 10_000), [number])
    robot = body_pieces(scene.mechanism, scene.shapes, (), 0.0, scene.request)
    union = ZoneUnion(scene.mechanism, robot, 0.002, False)
    union.add(motion_of_pieces(q, pieces))
    outline = shapely.MultiPolygon([shapely.Polygon(polygon) for polygon in union.polygons()])
    assert shapely.covers(outline, shapely.union_all(union._polygons))


@pytest.mark.bullet
@pytest.mark.parametrize("name", ARMS)
def test_the_zone_of_a_sweep_contains_its_stops(name: str) -> None:
    scene, rng = arm(name), np.random.default_rng(4)
    plan = random_stops(scene, 12)
    area = outline(mb.stop_zone(scene, plan))
    for q, pieces in stops_of(plan):
        points = sampled_points(scene, q, pieces, rng, times=5, most=40)
        assert shapely.contains_xy(area, points[:, 0], points[:, 1]).all()


@pytest.mark.long
def test_the_solids_contain_the_meshes_and_are_closed(tmp_path: Path) -> None:
    scene, rng = arm(ARMS[0]), np.random.default_rng(4)
    plan = random_stops(scene, 3)
    zone = mb.stop_zone(scene, plan, solid=True)
    zone.save(tmp_path / "zone.stl")
    solids = trimesh.load(tmp_path / "zone.stl").split()
    assert len(solids) > 16 and all(solid.is_watertight and solid.volume > 0 for solid in solids)
    points = np.concatenate([sampled_points(scene, *one, rng, times=5, most=20) for one in stops_of(plan)])
    inside = np.zeros(len(points), dtype=bool)
    for solid in solids:
        normals, origins = solid.face_normals, solid.triangles_center
        inside |= ((points[:, None] - origins) * normals).sum(axis=2).max(axis=1) < 1e-6
    assert inside.all()


@pytest.mark.bullet
def test_the_zone_of_a_table_contains_that_of_each_row(tmp_path: Path) -> None:
    scene = arm(ARMS[0])
    brakes = [{"joint": name, "torque": 60, "delay": 0.05} for name in scene.mechanism.q_names]
    axes = scene.mechanism.q_names[1:2]
    table = mb.stopping_table(scene, axes=axes, brakes=brakes, decelerations={axes[0]: 5.0})
    assert len(table.motions) == len(table.rows) == 10
    ends = [float(motion.time[-1]) for motion in table.motions]
    assert [row["rest_time"] for row in table.rows] == pytest.approx(ends, abs=1e-6)
    zone = outline(mb.stop_zone(scene, table))
    row = table.rows[-1]
    speed = {row["joint"]: row["sense"] * row["speed"]}
    report = mb.estop(scene, q=row["q"], qd=speed, category=1, brakes=brakes, decelerations={axes[0]: 5.0})
    own = outline(mb.stop_zone(scene, report))
    # either outline is grown by up to two resolutions
    assert shapely.contains(shapely.buffer(zone, 0.004), own)


@pytest.fixture
def zone(tmp_path: Path) -> StopZone:
    scene = bar(tmp_path)
    return mb.stop_zone(scene, stop(scene), solid=True)


def test_the_drawing_passes_the_audit_of_its_reader(zone: StopZone, tmp_path: Path) -> None:
    file = tmp_path / "zone.dxf"
    zone.save(file)
    document = ezdxf.readfile(file)
    audit = document.audit()
    assert not audit.errors and not audit.fixes
    assert document.units == ezdxf.units.M
    (line,) = document.modelspace()
    assert line.closed and line.dxf.layer == "STOP_ZONE"
    assert np.array(line.get_points("xy")) == pytest.approx(zone.polygons[0])
    said = " ".join(value for _, value in document.header.custom_vars.properties)
    assert "1 stop of bar" in said and "computed, not measured" in said


def test_the_table_of_corners_has_all_polygons(zone: StopZone, tmp_path: Path) -> None:
    file = tmp_path / "zone.csv"
    zone.save(file)
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = list(csv.reader(lines))
    assert rows[0] == ["polygon", "x [m]", "y [m]"]
    assert np.array(rows[1:], dtype=float)[:, 1:] == pytest.approx(np.concatenate(zone.polygons), abs=1e-6)


def test_the_picture_shows_the_outline_in_millimetres(zone: StopZone, tmp_path: Path) -> None:
    file = tmp_path / "zone.svg"
    zone.save(file)
    root = ElementTree.parse(file).getroot()
    path = root.find("{http://www.w3.org/2000/svg}path")
    assert path is not None
    numbers = [float(word) for word in path.attrib["d"].split() if word not in "MLZ"]
    corners = np.array(numbers).reshape(-1, 2) * [1e-3, -1e-3]
    assert corners == pytest.approx(np.concatenate(zone.polygons), abs=1e-6)
    left, top, wide, tall = map(float, root.attrib["viewBox"].split())
    assert wide == pytest.approx(1e3 * (zone.upper[0] - zone.lower[0]), abs=1e-2) and tall > 0
    assert (left, -top) == pytest.approx((1e3 * zone.lower[0], 1e3 * zone.upper[1]), abs=1e-2)


@pytest.mark.bullet
def test_bad_requests_are_refused_in_one_sentence(zone: StopZone, tmp_path: Path) -> None:
    scene = bar(tmp_path)
    with pytest.raises(mb.MbPluginError, match=r".png is none .* ends in .dxf or .svg or .csv or .stl or"):
        zone.save(tmp_path / "zone.png")
    assert not (tmp_path / "zone.png").exists()
    with pytest.raises(mb.MbPluginError, match="resolution is 0 m; expected 1e-05 to 1 m"):
        mb.stop_zone(scene, stop(scene), resolution=0.0)
    with pytest.raises(mb.MbPluginError, match="radius of the payload is -1 m"):
        mb.stop_zone(scene, stop(scene), payload_radius=-1.0)
    with pytest.raises(mb.MbPluginError, match=r"no solids; compute it with solid=True"):
        mb.stop_zone(scene, stop(scene)).save(tmp_path / "zone.stl")
    with pytest.raises(mb.MbPluginError, match="stop is that of 'bar', not of 'lbr_iiwa'"):
        mb.stop_zone(arm(ARMS[0]), stop(scene))
    with pytest.raises(mb.MbPluginError, match="expected a Scene, which"):
        mb.stop_zone(scene.mechanism, stop(scene))  # type: ignore[arg-type]
