"""Files that are none, that are read and written at once, that nest too deeply, or that never end."""

from __future__ import annotations

import os
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from command_line import ASSETS, EITHER_WAY, ROOT, Call, Outcome, call, call_process
from mbplugin.files import is_own, stamp
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.kinematics import rigid_groups
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose

ATTACKS = ROOT / "tests" / "attacks" / "files"


def refused(done: Outcome, *said: str) -> None:
    assert done.code == 2
    assert "Traceback" not in done.err and "bug in mbplugin" not in done.err
    # texts on stdout are broken into lines
    shown = " ".join((done.out + done.err).split())
    assert all(one in shown for one in said), shown


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    return Path(shutil.copy(ASSETS / "four_bar.scene.toml", tmp_path))


@pytest.mark.long
def test_a_pipe_in_a_folder_is_passed_over_and_one_that_is_named_is_refused(tmp_path: Path) -> None:
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    os.mkfifo(tmp_path / "pipe.urdf")
    done = call_process("lint", str(tmp_path))
    assert done.code == 0 and "pipe" not in done.out
    refused(call("lint", str(tmp_path / "pipe.urdf")), "pipe or a socket", "send the model to stdin")


def test_a_pipe_of_the_shell_is_read(tmp_path: Path) -> None:
    model = (ASSETS / "four_bar.urdf").read_bytes()
    assert call_process("lint", "/dev/stdin", stdin=model).code == 0


@pytest.mark.parametrize("call", EITHER_WAY)
@pytest.mark.parametrize("command", ["lint", "matrix", "reactions", "simulate"])
def test_links_in_a_circle_are_refused(call: Call, command: str, tmp_path: Path) -> None:
    (tmp_path / "a.urdf").symlink_to(tmp_path / "b.urdf")
    (tmp_path / "b.urdf").symlink_to(tmp_path / "a.urdf")
    more = ("--duration", "1") if command == "simulate" else ()
    refused(call(command, str(tmp_path / "a.urdf"), *more), "symbolic links")


@pytest.mark.parametrize("call", EITHER_WAY)
def test_links_in_a_circle_below_a_folder_are_passed_over(call: Call, tmp_path: Path) -> None:
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    (tmp_path / "a.urdf").symlink_to(tmp_path / "a.urdf")
    assert call("lint", str(tmp_path)).code == 0


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("lint", "--output={}"),
        ("lint", "--report=json={}"),
        ("matrix", "--output={}"),
        ("reactions", "--output={}"),
        ("simulate", "--output={}"),
        ("estop", "--output={}"),
        ("stop-table", "--output={}"),
        ("crosscheck", "--output={}"),
    ],
)
@pytest.mark.parametrize("victim", ["four_bar.scene.toml", "four_bar.urdf", "other_name"])
@pytest.mark.parametrize("force", [True, False], ids=["force", "unforced"])
def test_an_output_never_overwrites_an_input(
    command: str, option: str, victim: str, force: bool, scene: Path
) -> None:
    """With ``--force`` neither; without it the file is not even replaced where nothing would read it."""
    target = scene.parent / victim
    if victim == "other_name":
        target.symlink_to(scene)
    before = target.read_bytes()
    more = ("--duration", "0.1") if command == "simulate" else ()
    if force:
        more = (*more, "--force")
    done = call(command, str(scene), option.format(target), *more)
    # no output has the ending of a model: such a name is refused before the model is read
    by_ending = option.startswith("--output") and target.suffix
    of_somebody = "would overwrite a file that is read" if force else "mbplugin did not write it"
    refused(done, "--output is" if by_ending else of_somebody)
    assert target.read_bytes() == before


def test_an_output_never_overwrites_a_mesh(tmp_path: Path) -> None:
    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    model = tmp_path / "robot.urdf"
    model.write_text(
        '<robot name="r"><link name="a"><visual><geometry><mesh filename="part.obj"/></geometry></visual>'
        "</link></robot>"
    )
    before = (tmp_path / "part.obj").read_bytes()
    written = ("lint", str(model), "--output-format", "json", "--output", str(tmp_path / "part.obj"))
    refused(call(*written), "mbplugin did not write it")
    refused(call(*written, "--force"), "would overwrite")
    assert (tmp_path / "part.obj").read_bytes() == before


def test_an_output_never_overwrites_an_input_that_mbplugin_wrote(scene: Path) -> None:
    """Its own files may be replaced without being asked, but not while they are read."""
    stamp(scene)
    assert is_own(scene)
    before = scene.read_bytes()
    (scene.parent / "other_name").symlink_to(scene)
    for force in ((), ("--force",)):
        done = call("matrix", str(scene), "--output", str(scene.parent / "other_name"), *force)
        refused(done, "would overwrite a file that is read")
        assert scene.read_bytes() == before


@pytest.mark.long
@pytest.mark.parametrize("nested", ["nested_keys", "nested_lists"])
def test_deeply_nested_yaml_gives_no_traceback(nested: str, tmp_path: Path) -> None:
    shutil.copy(ATTACKS / "nested_keys.urdf.txt", tmp_path / "robot.urdf")
    shutil.copy(ATTACKS / f"{nested}.yaml", tmp_path / "robot.yaml")
    done = call_process("lint", str(tmp_path / "robot.urdf"))
    assert done.code in (0, 2)
    assert "Recursion" not in done.out + done.err and "MB912" not in done.out


@pytest.mark.long
@pytest.mark.parametrize("call", EITHER_WAY)
@pytest.mark.parametrize("joints", [False, True])
def test_too_many_links_are_refused_in_seconds(call: Call, joints: bool, tmp_path: Path) -> None:
    number = 400_000
    parts = [f'<link name="l{k}"/>' for k in range(number)]
    if joints:
        parts += [
            f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
            for k in range(number - 1)
        ]
    model = tmp_path / "long.urdf"
    model.write_text(f'<robot name="long">{"".join(parts)}</robot>')
    begun = time.monotonic()
    refused(call("lint", str(model)), "the model has 400000 links", "at most 20000 links")
    assert time.monotonic() - begun < 30


def _tree(number: int, mass: dict[int, float], fixed: list[tuple[int, int]]) -> Mechanism:
    at = Pose.identity()
    bodies = tuple(Body(f"b{k}", mass.get(k, 0.0)) for k in range(number))
    names = [*(b.name for b in bodies), WORLD]
    pairs = tuple(Pair(f"p{n}", "fixed", names[i], names[j], at, at) for n, (i, j) in enumerate(fixed))
    return Mechanism("m", bodies, pairs)


def test_fixed_pairs_make_groups() -> None:
    mech = _tree(8, {0: 1.0, 4: 1.0, 5: 2.0}, [(0, 1), (2, 1), (4, 5), (-1, 7)])
    groups = rigid_groups(mech)
    assert groups["b0"] == groups["b1"] == groups["b2"] == {"b0", "b1", "b2"}
    assert groups["b3"] == {"b3"} and groups["b6"] == {"b6"} and groups["b4"] == {"b4", "b5"}
    assert groups["b7"] == groups[WORLD] == {"b7", WORLD}


def test_rigid_groups_of_many_links_are_found_in_time_that_grows_with_their_number() -> None:
    number = 20_000
    mech = _tree(number, {0: 1.0}, [(k, k + 1) for k in range(number - 1)])
    begun = time.process_time()
    assert rigid_groups(mech)["b0"] == {f"b{k}" for k in range(number)}
    assert time.process_time() - begun < 5


@pytest.mark.long_after(1)
@pytest.mark.parametrize("kind", ["endless", "pipe"])
@pytest.mark.parametrize("option", ["--baseline", "--config"])
def test_a_file_beside_the_model_that_never_ends_is_refused(kind: str, option: str, tmp_path: Path) -> None:
    """/dev/zero has no end; nobody writes into the pipe."""
    given = Path("/dev/zero")
    if kind == "pipe":
        given = tmp_path / "pipe.toml"
        os.mkfifo(given)
    done = call_process("lint", str(ASSETS / "four_bar.urdf"), option, str(given))
    largest = "larger than 200 MB" if option == "--baseline" else "larger than 2 MB"
    refused(done, largest if kind == "endless" else "this is a pipe or a socket")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["endless", "pipe", "bomb"])
def test_a_recording_that_never_ends_is_refused(kind: str, tmp_path: Path) -> None:
    given = tmp_path / "motion.csv"
    if kind == "endless":
        given.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(given)
    else:
        given = tmp_path / "motion.npz"
        with zipfile.ZipFile(given, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("q.npy", "w") as q:
            for _ in range(520):
                q.write(bytes(1_000_000))
    done = call_process("estop", str(ASSETS / "arm_6r.scene.toml"), "--trajectory", str(given), "--at", "0")
    said = {"endless": "this is a device", "pipe": "this is a pipe or a socket", "bomb": "larger than 200 MB"}
    refused(done, said[kind])
