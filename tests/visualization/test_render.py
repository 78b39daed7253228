"""Pictures and films without a window: colours, places, what covers what, formats, sentences."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from PIL import Image

import mbplugin as mb
from command_line import ASSETS, FOUR_BAR, ORACLES, ROOT, call
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.readers import load
from mbplugin.report.picture import picture
from mbplugin.visualization import Replay, replay_of, robot_surfaces
from mbplugin.visualization.gui import seen_at_rest
from mbplugin.visualization.render import Camera, Renderer, camera_for
from models import from_world_frames, pose_at
from seen_colours import near

SCENE = ASSETS / "four_bar.scene.toml"
ARM = ASSETS / "arm_6r.scene.toml"
SIZE = (320, 180)
EQUALITIES = ROOT / "tests" / "fuzz" / "seeds" / "equality.xml"


def drawn(seen: Any, **options: Any) -> Any:
    with Renderer(seen, SIZE, **options) as renderer:
        return renderer.frame(labels=False)


@pytest.fixture(scope="module")
def four_bar() -> mb.Scene:
    return mb.load(SCENE)


@pytest.fixture(scope="module")
def stop() -> tuple[mb.Scene, mb.StopReport]:
    scene = mb.load(ARM)
    return scene, mb.estop(scene)


def cured(scene: mb.Scene, folder: Path) -> Path:
    """The four-bar with what its first remedy proposes."""
    file = folder / "cured.scene.toml"
    (folder / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    file.write_text(f"{SCENE.read_text()}\n{mb.analyze(scene).remedies[0].toml}\n")
    return file


@pytest.mark.parametrize(("edge", "key"), [(1, "ground"), (30, "floor")])
def test_a_floor_that_fills_the_picture_is_paler_than_the_ground(edge: float, key: str) -> None:
    """The plane of PyBullet's scripts had the colour of the word that explains it."""
    box, small = (f'<visual><geometry><box size="{k} {k} 0.1"/></geometry></visual>' for k in (edge, 0.8))
    joint = '<joint name="j" type="continuous"><parent link="floor"/><child link="arm"/></joint>'
    links = f'<link name="floor">{box}</link><link name="arm">{small}</link>'
    scene = load("r.urdf", text=f'<robot name="r">{links}{joint}</robot>', base="fixed")
    surfaces = [s for s in robot_surfaces(picture(scene)) if np.ptp(s.mesh.vertices[:, 0]) > 0.9]
    assert [surface.key for surface in surfaces] == [key]


@pytest.mark.bullet
def test_bodies_have_the_colour_of_their_verdict(four_bar: mb.Scene, tmp_path: Path) -> None:
    flexible = drawn(picture(four_bar, analysis=mb.analyze(four_bar)))
    plain = drawn(picture(four_bar))
    well = mb.load(cured(four_bar, tmp_path))
    rigid = drawn(picture(well, analysis=mb.analyze(well)))
    # the square in the legend has some pixels of its own
    assert near(flexible, "flexible") > 1500 and near(flexible, "rigid") == 0
    assert near(plain, "flexible") == near(plain, "rigid") == 0 and near(plain, "unjudged") > 1500
    assert near(rigid, "rigid") > 1500 and near(rigid, "flexible") == 0


@pytest.mark.bullet
def test_glyphs_have_the_colour_of_their_reaction(four_bar: mb.Scene) -> None:
    seen = picture(four_bar, analysis=mb.analyze(four_bar))
    known = {joint.name: joint.verdict for joint in seen.joints}
    assert known["j3"] == "non-unique"
    assert {s.key for s in robot_surfaces(seen)} == {"flexible", "ground", "unique", "non-unique"}
    assert near(drawn(seen), "non-unique") > 40


@pytest.mark.bullet
def test_arrows_and_fans(four_bar: mb.Scene) -> None:
    analysis = mb.analyze(four_bar)
    with_arrows = drawn(seen_at_rest(four_bar, analysis))
    without = drawn(picture(four_bar, analysis=analysis))
    for key in ("known", "resolved"):
        assert near(with_arrows, key) > near(without, key) + 10


def three_balls() -> Mechanism:
    """Three bodies off each other on sliders, without shapes: balls at their centres of mass."""
    places = {"a": (0.0, 0.0, 0.0), "b": (1.0, 0.2, 0.4), "c": (-0.5, 0.7, -0.6)}
    bodies = {name: pose_at(np.array(p)) for name, p in places.items()}
    joints = [(f"j{n}", "prismatic", "world", n, pose_at(np.array(p))) for n, p in places.items()]
    return from_world_frames("balls", bodies, joints)[0]


@pytest.mark.bullet
@pytest.mark.parametrize("angles", [(40.0, -20.0), (0.0, 0.0), (200.0, -60.0), (110.0, 30.0)])
def test_things_are_where_the_camera_says(angles: tuple[float, float]) -> None:
    """PyBullet's rasteriser and our own projection put the balls at the same pixels."""
    mech = three_balls()
    seen = picture(mech)
    assert [body.name for body in seen.bodies] == ["world", "a", "b", "c"]
    for k in range(3):
        bodies = tuple(b if i == k + 1 else replace(b, parts=()) for i, b in enumerate(seen.bodies))
        renderer = Renderer(replace(seen, bodies=bodies, joints=(), legend=()), SIZE)
        renderer.camera = camera_for(seen, SIZE, angles)
        with renderer:
            pixels = np.asarray(renderer.frame(labels=False), dtype=float)
        background = pixels[:, :1].mean(axis=2, keepdims=True)
        rows, columns = np.nonzero(np.abs(pixels.mean(axis=2) - background[..., 0]) > 25)
        assert len(rows) > 8
        there = renderer.camera.pixels(forward(mech, np.zeros(3)).p_WC[k], SIZE)[0]
        assert abs(columns.mean() + 0.5 - there[0]) < 1.5 and abs(rows.mean() + 0.5 - there[1]) < 1.5


@pytest.mark.bullet
def test_the_view_matrix_is_that_of_pybullet() -> None:
    import pybullet

    camera = Camera(np.array([0.3, -0.2, 0.5]), 37.0, -21.0, 2.5)
    theirs = pybullet.computeViewMatrixFromYawPitchRoll(camera.target_W.tolist(), 2.5, 37.0, -21.0, 0.0, 2)
    assert camera.view == pytest.approx(list(theirs), abs=1e-6)


@pytest.mark.bullet
@pytest.mark.parametrize("name", ["minitaur", "spatial_parallelogram", "arm_6r", "husky"])
def test_the_camera_has_the_robot_in_view(name: str) -> None:
    seen = picture(mb.load(ASSETS / f"{name}.scene.toml"))
    camera = camera_for(seen, SIZE)
    points = np.array([joint.X_WJ.p for joint in seen.joints])
    pixels = camera.pixels(points, SIZE)
    assert (pixels >= 0).all() and (pixels <= np.array(SIZE)).all()
    # and not from far away
    assert np.ptp(pixels, axis=0).max() > 0.4 * SIZE[1]


def test_a_flat_linkage_is_seen_from_its_flat_side(four_bar: mb.Scene) -> None:
    """It lies in the x-z plane, so the camera looks more along y than along x."""
    along = camera_for(picture(four_bar), SIZE).R_WK[:, 2]
    assert abs(along[1]) > 0.8


def test_the_replay_of_a_stop_says_that_its_brakes_are_assumed(stop: Any) -> None:
    scene, report = stop
    assert replay_of(scene, report).title == "stop, category 0, ASSUMED brakes"
    stated = mb.estop(scene, brakes=[{"joint": f"j{k}", "torque": 900, "delay": 0.01} for k in range(1, 7)])
    assert replay_of(scene, stated).title == "stop, category 0"


@pytest.mark.bullet
def test_a_ghost_covers_what_is_behind_it_by_its_alpha(stop: Any) -> None:
    """A pixel is (1 − α)·what is behind + α·colour; what is behind the robot is not seen."""
    scene, report = stop
    replayed = replay_of(scene, report)
    seen = picture(scene, q=replayed.q[0])
    with Renderer(seen, SIZE, replay=replayed) as renderer:
        alpha, ghost = renderer._clear[1]
        composed = renderer._composed()
        empty = renderer._clear
        renderer._clear = []
        plain = renderer._composed()
        renderer._clear = empty[1:]
        one = renderer._composed()
    before = ghost.depth < 1e8
    one, plain, composed = (image.astype(float) for image in (one, plain, composed))
    mixed = (1 - alpha) * plain + alpha * ghost.rgb
    changed = np.abs(one - plain).max(axis=2) > 1
    assert changed.sum() > 500 and not changed[~before].any()
    assert np.allclose(one[changed], mixed[changed], atol=0.51)
    assert np.abs(composed - one).max() > 1


@pytest.mark.bullet
@pytest.mark.parametrize("lift", [0.06, -0.06])
def test_a_ghost_behind_is_hidden(lift: float) -> None:
    """Seen from above, a ghost that is lower changes no pixel of the robot, and a higher one does."""
    mech = three_balls()
    q = np.zeros(3)
    replayed = Replay("lift", np.array([0.0, 1.0]), np.array([q, q]), 1.0, {"naive": q + lift})
    with Renderer(picture(mech), SIZE, (0.0, -89.0), replayed) as renderer:
        robot = renderer._layer(renderer._stage).depth < 1e8
        both = renderer._composed().astype(int)
        renderer._clear = []
        changed = np.abs(both - renderer._composed()).max(axis=2) > 0
    assert robot.sum() > 500
    assert (changed & robot).any() == (lift > 0)


@pytest.mark.bullet
def test_ghosts_and_path_of_a_stop_are_drawn(stop: Any) -> None:
    scene, report = stop
    replayed = replay_of(scene, report)
    assert np.allclose(replayed.ghosts["naive"], report.naive.q)
    assert np.allclose(replayed.ghosts["signal"], report.trajectory.q[0])
    seen = picture(scene, q=replayed.q[-1])
    both = drawn(seen, replay=replayed)
    bare = drawn(seen, replay=replace(replayed, ghosts={}, path_W=replayed.path_W[:1]))
    assert near(both, "path") > near(bare, "path") + 30
    assert near(both, "known") > near(bare, "known")
    assert (np.abs(np.asarray(both, dtype=int) - np.asarray(bare)).max(axis=2) > 15).sum() > 400


# Replays


def test_a_replay_begins_and_ends_as_the_motion(stop: Any) -> None:
    scene, report = stop
    replayed = replay_of(scene, report)
    motion = report.trajectory
    assert replayed.time[[0, -1]] == pytest.approx(motion.time[[0, -1]])
    assert replayed.q[0] == pytest.approx(motion.q[0]) and replayed.q[-1] == pytest.approx(motion.q[-1])
    assert np.allclose(np.diff(replayed.time), replayed.time[1] - replayed.time[0])
    shown = (replayed.time[-1] - replayed.time[0]) / replayed.speed
    assert 3 <= shown <= 30
    assert len(replayed.time) == pytest.approx(25 * shown, abs=2)
    assert "category 0" in replayed.said(0, 1.0)[0]
    assert replayed.said(len(replayed.q) - 1, 1.0)[1] == replayed.events[-1][1]


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_a_saved_motion_is_the_same_replay(tmp_path: Path, ending: str) -> None:
    scene = mb.load(ASSETS / "crank_rocker.scene.toml")
    motion = mb.simulate(scene, duration=0.5)
    motion.save(tmp_path / f"motion{ending}")
    direct, read = replay_of(scene, motion), replay_of(scene, tmp_path / f"motion{ending}")
    # a table tells no accelerations, so between two samples it is a cubic
    assert read.q == pytest.approx(direct.q, abs=1e-4)
    assert read.path_W == pytest.approx(direct.path_W, abs=1e-4)


@pytest.mark.bullet
@pytest.mark.long
def test_view_replays_a_stop(stop: Any, tmp_path: Path) -> None:
    for name, function in (("view.png", mb.view), ("replay.png", mb.replay)):
        assert "written" in function(*stop, picture=tmp_path / name, size=(160, 90))
    seen, replayed, at_rest = tmp_path / "view.png", tmp_path / "replay.png", tmp_path / "rest.png"
    mb.view(stop[0], picture=at_rest, size=(160, 90))
    assert seen.read_bytes() == replayed.read_bytes() != at_rest.read_bytes()


def test_a_motion_of_another_mechanism_is_refused(four_bar: mb.Scene, stop: Any) -> None:
    with pytest.raises(BadUsage, match="the motion is that of 'arm_6r', not of 'four_bar'"):
        replay_of(four_bar, stop[1])
    with pytest.raises(BadNumber, match="the speed is -1"):
        replay_of(stop[0], stop[1], -1.0)


def short_replay(scene: mb.Scene, frames: int = 4) -> Replay:
    q = mb.analyze(scene).q
    turned = np.array([q + 0.05 * k for k in range(frames)])
    return Replay("turn", np.linspace(0.0, 0.1, frames), turned, 1.0)


@pytest.mark.long
@pytest.mark.parametrize("ending", [".gif", ".mp4"])
def test_a_film_has_every_pose(tmp_path: Path, four_bar: mb.Scene, ending: str) -> None:
    import imageio.v3 as iio

    from mbplugin.visualization.render import write_film

    replayed, file = short_replay(four_bar), tmp_path / f"film{ending}"
    done: list[tuple[int, int]] = []
    write_film(
        file, picture(four_bar), ("four_bar",), replayed, (160, 91), progress=lambda k, n: done.append((k, n))
    )
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    frames = iio.imread(file, index=None) if ending == ".gif" else iio.imread(file)
    # the end stays for a second
    assert len(frames) == (4 if ending == ".gif" else 4 + 25)
    assert frames.shape[1:3] == (90, 160)
    assert np.abs(frames[3].astype(int) - frames[0]).max() > 60


# The command


@pytest.mark.bullet
def test_the_command_draws_a_picture(tmp_path: Path) -> None:
    file = tmp_path / "seen.png"
    done = call("view", str(SCENE), "--picture", str(file), "--size", "320x180", "--camera", "20,-15,3")
    assert (done.code, done.out, done.err) == (0, f"{file} written.\n", "")
    with Image.open(file) as image:
        assert image.size == (320, 180) and near(image, "flexible") > 300


@pytest.mark.bullet
def test_the_command_tells_what_it_drew_as_json(tmp_path: Path) -> None:
    file = tmp_path / "door.png"
    door = str(ORACLES / "door_2_hinges.sdf")
    done = call("view", door, "--picture", str(file), "--size", "160x90", "--output-format", "json")
    found = json.loads(done.out)
    jsonschema.validate(found, json.loads(call("schema", "view").out))
    assert (found["outcome"], found["written"], found["source"]) == ("written", [str(file)], door)
    assert found["notes"] == ["drawn as sticks, since no shape is known: every body"]


@pytest.mark.bullet
def test_the_command_draws_a_stop(tmp_path: Path) -> None:
    file = tmp_path / "stop.png"
    done = call("view", str(ARM), "--stop", "--picture", str(file), "--size", "320x180", "--speed", "0.2")
    assert done.code == 0 and done.out.startswith(f"{file} written; drawn as sticks")
    with Image.open(file) as image:
        assert near(image, "rigid") > 300


BAD = {
    ("--picture", "seen.txt"): "cannot draw into 'seen.txt'; expected .png or .jpg.",
    ("--film", "film.avi", "--stop"): "cannot draw into 'film.avi'; expected .gif or .mp4.",
    ("--film", "film.gif"): "a film shows a motion, and there is none; add --motion FILE or --stop.",
    ("--picture", "no/such/a.png"): "no/such/a.png: the file cannot be written (no such folder).",
    (
        "--picture",
        "a.png",
        "--size",
        "big",
    ): "--size has 'big'; expected WIDTHxHEIGHT in pixels, such as 1280x720.",
    ("--picture", "a.png", "--size", "9x9999"): "the size is 9 x 9999 pixels; expected 64 to 4096 each way.",
    (
        "--picture",
        "a.png",
        "--camera",
        "1,2,-3",
    ): "--camera has '1,2,-3'; expected YAW,PITCH or YAW,PITCH,DISTANCE, degrees and m above 0.",
    ("--stop", "--motion", "m.npz"): "--motion and --stop were both given; expected one of them.",
    ("--qd", "j0=1"): "--qd states the rates at the signal of a stop, but no stop is requested; add --stop.",
}


@pytest.mark.bullet
@pytest.mark.parametrize("options", BAD, ids=" ".join)
def test_what_cannot_be_drawn_is_told(options: tuple[str, ...], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("view", FOUR_BAR, *options)
    assert (done.code, done.out, done.err) == (2, "", f"mbplugin: {BAD[options]}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("file", [*sorted(ORACLES.glob("*.sdf")), EQUALITIES], ids=lambda path: path.stem)
def test_every_oracle_can_be_seen(file: Path, tmp_path: Path) -> None:
    picture_file = tmp_path / "seen.png"
    done = call("view", str(file), "--picture", str(picture_file), "--size", "320x180")
    assert (done.code, done.err) == (0, ""), done.err
    expected = {body.may_stay_rigid for body in mb.analyze(mb.load(file)).bodies}
    with Image.open(picture_file) as image:
        for verdict, rigid in (("rigid", True), ("flexible", False)):
            # the square in the legend alone has about a hundred
            assert (near(image, verdict) > 200) == (rigid in expected), verdict


@pytest.mark.bullet
def test_names_cannot_break_a_picture(tmp_path: Path) -> None:
    hostile = "j\u001b[31m\n\u202e<img src=x>" + "x" * 300
    mech = from_world_frames(
        "n\nm", {"a": pose_at(np.zeros(3))}, [(hostile, "revolute", "world", "a", pose_at(np.zeros(3)))]
    )[0]
    mb.show(mech, picture=tmp_path / "a.png", size=(200, 120))
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (200, 120)
