"""A model that stays in its format is its own file, in which only what its closures need is changed."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from driven_models import BODIES, EQUALITY, HEAD, MODEL, TAIL
from mbplugin.errors import BadUsage
from places import ASSETS, ORACLES
from usd_stages import body, group, inertial, stage

mujoco = pytest.importorskip("mujoco")

#: What may go: the equality that changes, and keyframes, which have more coordinates.
CHANGED = ("<connect", "<key")
TETRAHEDRON = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def lost_lines(source: str, copy: str) -> list[str]:
    """Lines of a source that are not in its copy."""
    lines = difflib.ndiff(source.splitlines(), copy.splitlines())
    return [line[2:].strip() for line in lines if line.startswith("- ")]


def copy_of(path: Path, to: str = "mjcf") -> mb.closing.drift.Closing:
    found = mb.close(path, to, measure_drift=False)
    assert found.proved and found.written.copy_of is not None, (found.written.anew, found.reason)
    assert found.written.losses == ()
    return found


def motion(model, seconds: float = 0.5) -> np.ndarray:
    """Angles of the crank, coupler and rocker under seeded commands, and the site's way; (n, 6)."""
    data = mujoco.MjData(model)
    rng = np.random.default_rng(7)
    joints = [model.joint(name).qposadr[0] for name in ("j1", "j2", "j3")]
    out = []
    for k in range(int(seconds / model.opt.timestep)):
        if k % 100 == 0:
            data.ctrl[0] = rng.uniform(-0.6, 0.6)
        mujoco.mj_step(model, data)
        out.append([*data.qpos[joints], *data.site("tip").xpos])
    return np.array(out)


def test_only_the_lines_that_the_closure_needs_are_changed(tmp_path: Path) -> None:
    file = tmp_path / "four.xml"
    file.write_text(MODEL)
    found = copy_of(file)
    assert (found.before.structural_redundancy, found.after.structural_redundancy) == (1, 0)
    lost = lost_lines(MODEL, found.text)
    assert lost and all(line.startswith(CHANGED) for line in lost)
    assert len(lost) == 2  # the connect, and the one keyframe with coordinates
    # how soft the author made it
    weld = next(
        line for line in found.text.splitlines() if "rocker_at_pin_weld_a" in line and "<weld" in line
    )
    assert 'solref="0.004 1"' in weld


@pytest.mark.parametrize(
    "inertial", ["", '<inertial pos="0.1 0 0.1" mass="2" fullinertia="1 2 2 0.1 0.2 0.3"/>']
)
def test_the_copy_moves_as_its_source_under_the_same_commands(tmp_path: Path, inertial: str) -> None:
    file = tmp_path / "four.xml"
    file.write_text(MODEL.replace('      <joint name="j3"', f'      {inertial}<joint name="j3"'))
    copy = mujoco.MjModel.from_xml_string(copy_of(file).text)
    source = mujoco.MjModel.from_xml_path(str(file))
    ours, theirs = motion(copy), motion(source)
    assert np.ptp(theirs[:, 0]) > 0.05
    assert np.abs(ours - theirs).max() < 2e-4
    assert copy.body_mass.sum() == pytest.approx(source.body_mass.sum(), rel=1e-12)
    # parts of bodies have nothing that the defaults of the file give to joints
    stub = [j for j in range(copy.njnt) if copy.joint(j).name.startswith("pin")]
    assert stub
    for j in stub:
        dofs = slice(copy.jnt_dofadr[j], copy.jnt_dofadr[j + 1] if j + 1 < copy.njnt else copy.nv)
        assert (
            not copy.dof_damping[dofs].any()
            and not copy.dof_armature[dofs].any()
            and not copy.jnt_stiffness[j]
        )


def test_a_keyframe_has_the_coordinates_of_the_part(tmp_path: Path) -> None:
    """The loop is as closed at the keyframe as in the source."""
    file = tmp_path / "four.xml"
    file.write_text(MODEL)
    models = [mujoco.MjModel.from_xml_path(str(file)), mujoco.MjModel.from_xml_string(copy_of(file).text)]
    gaps = []
    for model in models:
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, model.key("leant").id)
        mujoco.mj_forward(model, data)
        gaps.append(np.abs(data.efc_pos[: data.ne]).max())
        assert [data.joint(name).qpos[0] for name in ("j1", "j2", "j3")] == pytest.approx([0.5, -0.5, 0.6745])
    assert gaps[1] < gaps[0] + 1e-9 < 1e-3


@pytest.mark.parametrize("part", ["equality", "bodies", "neither"])
def test_an_included_file_is_written_out_only_where_a_closure_is_in_it(tmp_path: Path, part: str) -> None:
    bodies, equality, sensors = BODIES, EQUALITY, '<sensor><jointpos joint="j1"/></sensor>'
    (tmp_path / "sensors.xml").write_text(f"<mujoco><!-- angles -->{sensors}</mujoco>")
    include = '  <include file="sensors.xml"/>\n'
    if part == "equality":
        (tmp_path / "part.xml").write_text(f"<mujocoinclude>\n{EQUALITY}</mujocoinclude>")
        equality = '  <include file="part.xml"/>\n'
    elif part == "bodies":
        (tmp_path / "part.xml").write_text(f"<mujocoinclude>\n{BODIES}</mujocoinclude>")
        bodies = '    <include file="part.xml"/>\n'
    text = HEAD.format(compiler="") + f"  <worldbody>\n{bodies}  </worldbody>\n" + equality + include + TAIL
    file = tmp_path / "four.xml"
    file.write_text(text)
    found = copy_of(file)
    lost = lost_lines(text, found.text)
    assert all(line.startswith((*CHANGED, '<include file="part.xml"')) for line in lost)
    assert '<include file="sensors.xml"/>' in found.text and "the coupler" in found.text
    assert ("part.xml" in found.text) is False
    found.save(tmp_path / "copy.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "copy.xml"))
    assert model.nsensor == 2 and model.nbody == 5


@pytest.mark.parametrize(
    "text", [MODEL, "\ufeff" + MODEL, MODEL.replace("\n", "\r\n")], ids=["unix", "mark", "windows"]
)
def test_a_model_without_loops_is_copied_byte_for_byte(tmp_path: Path, text: str) -> None:
    file = tmp_path / "open.xml"
    text = text.replace("<connect", '<connect active="false"')
    file.write_bytes(text.encode())
    assert copy_of(file).text.encode() == text.encode()


def test_line_ends_of_windows_stay(tmp_path: Path) -> None:
    file = tmp_path / "four.xml"
    file.write_bytes(MODEL.replace("\n", "\r\n").encode())
    copy = copy_of(file).text
    assert copy.count("\n") == copy.count("\r\n") > MODEL.count("\n")


@pytest.mark.parametrize(
    "compiler", ["", 'meshdir="parts"', 'assetdir="parts"', 'meshdir="./parts" texturedir="."']
)
def test_a_copy_in_another_folder_finds_its_meshes_and_includes(tmp_path: Path, compiler: str) -> None:
    source, other = tmp_path / "robots", tmp_path / "out" / "deep"
    (source / "parts").mkdir(parents=True)
    other.mkdir(parents=True)
    meshes = source / "parts" if compiler else source
    (meshes / "part.obj").write_text(TETRAHEDRON)
    (source / "more.xml").write_text('<mujoco><asset><mesh name="m" file="part.obj"/></asset></mujoco>')
    bodies = BODIES.replace("<site", '<geom type="mesh" mesh="m" mass="0.1"/><site')
    text = (
        HEAD.format(compiler=compiler)
        + f'  <include file="more.xml"/>\n  <worldbody>\n{bodies}  </worldbody>\n'
    )
    file = source / "four.xml"
    file.write_text(text + EQUALITY + TAIL)
    copy_of(file).save(other / "copy.xml")
    model, before = (mujoco.MjModel.from_xml_path(str(path)) for path in (other / "copy.xml", file))
    assert model.nmesh == 1
    assert model.body_mass.sum() == pytest.approx(before.body_mass.sum(), rel=1e-9)
    assert 'dir="../../robots' in (other / "copy.xml").read_text()


def test_a_scene_that_includes_a_robot_is_moved_with_the_folders_that_the_robot_names(tmp_path: Path) -> None:
    """The layout of most public robots: a scene includes the robot, whose compiler has the folder of its meshes."""
    source, other = tmp_path / "robots", tmp_path / "out"
    (source / "assets").mkdir(parents=True)
    (source / "parts").mkdir()
    other.mkdir()
    (source / "assets" / "part.obj").write_text(TETRAHEDRON)
    (source / "parts" / "sensors.xml").write_text('<mujoco><sensor><jointpos joint="j1"/></sensor></mujoco>')
    (source / "parts" / "more.xml").write_text('<mujoco><include file="sensors.xml"/></mujoco>')
    (source / "light.xml").write_text('<mujoco><worldbody><light pos="0 0 3"/></worldbody></mujoco>')
    bodies = BODIES.replace("<site", '<geom type="mesh" mesh="m" mass="0.1"/><site')
    robot = HEAD.format(compiler='meshdir="assets"') + '<asset><mesh name="m" file="part.obj"/></asset>\n'
    robot += f'  <worldbody>\n{bodies}  </worldbody>\n{EQUALITY}  <include file="parts/more.xml"/>\n{TAIL}'
    (source / "robot.xml").write_text(robot)
    file = source / "scene.xml"
    file.write_text(
        '<mujoco>\n  <!-- the room -->\n  <include file="robot.xml"/>\n  <include file="light.xml"/>\n</mujoco>'
    )
    found = copy_of(file)
    assert "the coupler" in found.text and '<include file="light.xml"/>' in found.text
    found.save(other / "scene.xml")
    text = (other / "scene.xml").read_text()
    assert 'meshdir="../robots/assets"' in text and '<include file="../robots/light.xml"/>' in text
    assert "the room" in text and "a comment that stays" in text
    model, before = (mujoco.MjModel.from_xml_path(str(path)) for path in (other / "scene.xml", file))
    assert (
        (model.nmesh, model.nsensor, model.nlight)
        == (before.nmesh, before.nsensor, before.nlight)
        == (1, 2, 1)
    )


@pytest.mark.parametrize("name", ["settings.xml", "parts/settings.xml"])
def test_settings_of_folders_in_an_included_file_are_written_out(tmp_path: Path, name: str) -> None:
    source, other = tmp_path / "robots", tmp_path / "out"
    (source / "parts").mkdir(parents=True)
    other.mkdir()
    (source / name).write_text('<mujoco><compiler meshdir="parts"/></mujoco>')
    file = source / "four.xml"
    file.write_text(MODEL.replace("  <option", f'  <include file="{name}"/>\n  <option'))
    copy_of(file).save(other / "copy.xml")
    assert '<compiler meshdir="../robots/parts"/>' in (other / "copy.xml").read_text()
    mujoco.MjModel.from_xml_path(str(other / "copy.xml"))


def test_a_copy_that_cannot_be_moved_is_refused_with_the_folder(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    source, other = tmp_path / "robots", tmp_path / "out"
    source.mkdir()
    other.mkdir()
    file = source / "four.usda"
    text = stage(group("robot", body("link", mass=inertial(1.0, (1, 1, 1)))))
    file.write_text(f"{text}# @./other.usda@\n")
    found = mb.close(file, "usd", measure_drift=False)
    assert found.written.copy_of is not None
    with pytest.raises(
        BadUsage, match=r"cannot be in another folder: it names other layers .*expected a file in"
    ):
        found.save(other / "copy.usda")
    assert list(other.iterdir()) == []
    found.save(source / "copy.usda")


URDF = """<?xml version="1.0"?>
<robot name="four_bar">
  <!-- stays -->
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="world"/>
  <link name="base"><visual><geometry><mesh filename="part.obj"/></geometry></visual></link>
  <link name="crank"><inertial><origin xyz="0 0 .15"/><mass value="1"/>{inertia}</inertial></link>
  <link name="coupler"><inertial><origin xyz=".5 0 0"/><mass value="1"/>{inertia}</inertial></link>
  <link name="rocker"><inertial><origin xyz="0 0 .15"/><mass value="1"/>{inertia}</inertial></link>
  <joint name="w" type="fixed"><parent link="world"/><child link="base"/></joint>
  <joint name="j1" type="revolute"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/></joint>
  <joint name="j2" type="continuous"><origin xyz="0 0 .3"/><parent link="crank"/><child link="coupler"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="j3" type="continuous"><origin xyz="1 0 0"/><parent link="base"/><child link="rocker"/>
    <axis xyz="0 1 0"/></joint>
  <loop_joint name="pin" type="revolute">
    <link1 link="coupler" xyz="1 0 0" rpy="0 0 0"/><link2 link="rocker" xyz="0 0 .3" rpy="0 0 0"/><axis xyz="0 1 0"/>
  </loop_joint>
  <transmission name="t1"><type>simple</type><joint name="j1"/></transmission>
  <gazebo reference="j1"><anything/></gazebo>
</robot>
""".replace("{inertia}", '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/>')


def test_a_urdf_keeps_all_but_its_loop_joint(tmp_path: Path) -> None:
    source, other = tmp_path / "robot", tmp_path / "out"
    source.mkdir()
    other.mkdir()
    (source / "part.obj").write_text(TETRAHEDRON)
    file = source / "four.urdf"
    file.write_text(URDF)
    found = copy_of(file, "urdf")
    assert found.before.structural_redundancy == 3
    lost = lost_lines(URDF, found.text)
    assert lost and all(line.startswith(("<loop_joint", "<link1")) for line in lost)
    found.save(other / "copy.urdf")
    assert 'filename="../robot/part.obj"' in (other / "copy.urdf").read_text()
    again = mb.load(other / "copy.urdf", package_dirs=[source])
    assert again.shapes["base"][0].mesh.endswith("part.obj")
    assert mb.analyze(again).structural_redundancy == 0


def test_an_sdf_keeps_all_but_its_closures(tmp_path: Path) -> None:
    text = (ORACLES / "four_bar_RSRR.sdf").read_text().replace("<joint ", "<!-- stays -->\n<joint ")
    text = text.replace("</model>", '<plugin name="p" filename="libp.so"/>\n</model>')
    file = tmp_path / "four.sdf"
    file.write_text(text)
    found = copy_of(file, "sdf")
    assert found.before.structural_redundancy > 0
    changed = [one.name for one in found.closures if one.was != one.type] + [
        c.constraint for c in found.changes
    ]
    lost = lost_lines(text, found.text)
    assert changed and all(any(f'name="{name}"' in line for name in changed) for line in lost)
    assert found.text.count("<!-- stays -->") == text.count("<!-- stays -->") and "libp.so" in found.text


def test_what_is_no_local_change_is_written_anew_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "four.xml"
    file.write_text(MODEL)
    assert "another pose" in mb.close(file, "mjcf", {"j1": 0.2}, measure_drift=False).written.anew
    file.write_text(
        MODEL.replace("</worldbody>", '<replicate count="2" offset="0 1 0"><body/></replicate></worldbody>')
    )
    found = mb.close(file, "mjcf", measure_drift=False)
    assert found.written.copy_of is None and "<replicate>" in found.written.anew
    assert "<replicate" not in found.text and "<body" in found.text


def test_a_model_that_is_no_longer_that_of_its_file_is_no_copy(tmp_path: Path) -> None:
    file = tmp_path / "four.xml"
    file.write_text(MODEL)
    scene = mb.load(file)
    bodies = tuple(replace(body, mass=2 * body.mass) for body in scene.mechanism.bodies)
    heavy = replace(scene, mechanism=replace(scene.mechanism, bodies=bodies))
    found = mb.close(heavy, "mjcf", measure_drift=False)
    assert found.written.copy_of is None and "no longer that of its file" in found.written.anew
    total = mujoco.MjModel.from_xml_string(found.text).body_mass.sum()
    assert total == pytest.approx(sum(body.mass for body in bodies))


def test_the_report_says_whether_it_is_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "four.xml"
    file.write_text(MODEL)
    done = call("close", str(file), "--to", "mjcf", "--no-drift", "--write", str(tmp_path / "copy.xml"))
    assert done.code == 0, done.out
    assert f"a copy of {file}: only 1 joint changed" in " ".join(done.out.split())
    assert lost_lines(MODEL, (tmp_path / "copy.xml").read_text())
    done = call("close", str(tmp_path / "copy.xml"), "--to", "mjcf", "--no-drift")
    assert done.code == 0 and "nothing is changed" in " ".join(done.out.split())


def test_a_part_carries_its_share_of_the_weight(tmp_path: Path) -> None:
    """``gravcomp`` of a body holds for the part of it that is hung elsewhere."""
    text = MODEL.replace('<body name="rocker"', '<body name="rocker" gravcomp="1"')
    file = tmp_path / "four.xml"
    file.write_text(text)
    models = [mujoco.MjModel.from_xml_path(str(file)), mujoco.MjModel.from_xml_string(copy_of(file).text)]
    weights = [float(model.body_mass @ model.body_gravcomp) for model in models]
    assert weights[0] > 0 and weights[1] == pytest.approx(weights[0], rel=1e-12)


def test_a_part_has_a_name_that_no_body_has(tmp_path: Path) -> None:
    other = '<body name="rocker_at_pin" pos="0 1 0"><geom size="0.1"/></body></worldbody>'
    file = tmp_path / "four.xml"
    file.write_text(MODEL.replace("</worldbody>", other))
    assert '<body name="rocker_at_pin_2"' in copy_of(file).text


@pytest.mark.long_after(2)
@pytest.mark.parametrize(
    ("was", "becomes", "words"),
    [
        (
            '<flag contact="disable"/>',
            '<flag contact="disable" equality="disable"/>',
            "disables its equalities",
        ),
        ('<joint name="l"/>', "<joint/>", "give each joint a name"),
        ('<body name="last"', "<body", "give each a name"),
        ('name="leant"', 'name="leant" qvel="1 0 0 0"', "keyframes with rates"),
        ('kp="20"', 'kp="20" dampratio="1"', "actuator 'servo', whose gains count on inertia"),
        (
            '<compiler angle="degree" ',
            '<compiler angle="degree" inertiafromgeom="true" ',
            "another mass, centre or",
        ),
    ],
)
def test_why_a_file_is_written_anew(tmp_path: Path, was: str, becomes: str, words: str) -> None:
    # what comes behind the part is renumbered where it has no name
    last = '<body name="last" pos="0 2 0"><joint name="l"/><geom size="0.1"/></body>'
    text = MODEL.replace("  </worldbody>", f"    {last}\n  </worldbody>")
    text = text.replace('qpos="0.5 -0.5 0.6745"', 'qpos="0.5 -0.5 0.6745 0"')
    assert text.count(was) == 1
    file = tmp_path / "four.xml"
    file.write_text(text.replace(was, becomes))
    found = mb.close(file, "mjcf", measure_drift=False)
    assert found.written.copy_of is None and words in found.written.anew


def test_an_equality_that_holds_a_free_body_is_no_crash(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body name="a"><geom size="0.1"/></body><body name="b" pos="1 0 0"><freejoint/>
    <geom size="0.1"/></body></worldbody><equality><weld name="w" body1="a" body2="b"/></equality></mujoco>"""
    file = tmp_path / "weld.xml"
    file.write_text(text)
    assert mb.close(file, "mjcf", measure_drift=False).proved


def test_an_unchanged_copy_of_a_file_with_open_equalities_does_not_stray(tmp_path: Path) -> None:
    text = """<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1"/><site name="s" pos="0.2 0 0"/></body>
    <site name="t" pos="0 0 1"/></worldbody><equality><connect name="c" site1="t" site2="s"/></equality></mujoco>"""
    file = tmp_path / "open.xml"
    file.write_text(text)
    found = mb.close(file, "mjcf")
    assert found.text == text and found.commanded.reason == ""
    assert found.commanded.distance == found.commanded.angle == 0.0 and not found.strays


def test_zeros_of_a_c_program_behind_a_file_are_no_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "four.urdf"
    file.write_bytes(URDF.encode() + b"\0")
    assert mb.close(file, "urdf", measure_drift=False).written.copy_of is not None


def test_a_light_part_far_from_the_origin_of_its_link_holds_its_loop(tmp_path: Path) -> None:
    """Welded at the origin of the link, 0.5 m away from its mass, a body of 2e-8 kg·m² comes apart in MuJoCo."""
    file = tmp_path / "light.xml"
    file.write_text(
        """<mujoco><option timestep="0.0001"><flag gravity="disable"/></option>
    <default><geom contype="0" conaffinity="0"/></default><worldbody><site name="c" pos=".5 0 -.5"/>
    <body name="l2"><joint name="l2" axis="0 -1 0" stiffness="100" springref="90"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 -1"/><geom type="sphere" size=".08" pos="0 0 -1"/>
    <body name="l3" pos="0 0 -.5" euler="0 90 0"><joint name="l3" axis="0 -1 0"/>
    <geom type="box" size=".02 .02 .02" mass="1e-3"/><body name="l4">
    <joint name="l4" type="slide" axis="0 0 1" armature="9"/><geom type="sphere" size=".001" pos="0 0 .5" mass=".1"/>
    <site name="s" pos="0 0 .5"/></body></body></body></worldbody>
    <equality><connect name="e" site1="c" site2="s" solimp=".99 .99 .001" solref="0.0001 1"/></equality></mujoco>"""
    )
    found = mb.close(file, "mjcf")
    assert found.closures[0].type != "spherical"
    assert max(found.commanded.angle, found.commanded.distance) < 1e-3


@pytest.mark.parametrize("to", ["mjcf", "urdf"])
def test_a_base_that_is_stated_is_in_the_written_file(tmp_path: Path, to: str) -> None:
    """The text of the file has a free root; ``--base fixed`` holds in what is written."""
    text = {
        "mjcf": MODEL.replace(
            "</worldbody>", '<body name="b"><freejoint/><geom size="1"/></body></worldbody>'
        ).replace('qpos="0.5 -0.5 0.6745"', 'qpos="0.5 -0.5 0.6745 0 0 0 1 0 0 0"'),
        "urdf": URDF.replace('<link name="world"/>', "").replace(
            '<joint name="w" type="fixed"><parent link="world"/><child link="base"/></joint>', ""
        ),
    }[to]
    file = tmp_path / {"mjcf": "four.xml", "urdf": "four.urdf"}[to]
    file.write_text(text)
    assert mb.close(file, to, measure_drift=False).written.copy_of is not None
    fixed = mb.close(mb.load(file, base="fixed"), to, measure_drift=False)
    assert fixed.written.copy_of is None and "options of reading" in fixed.written.anew
    fixed.save(tmp_path / f"fixed{file.suffix}")
    again = mb.load(tmp_path / f"fixed{file.suffix}").mechanism
    assert all(joint.pair is not None for joint in again.tree.joints)


def test_a_model_that_its_caller_has_changed_is_compared_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "four.xml"
    file.write_text(MODEL)
    scene = mb.load(file)
    bodies = tuple(
        replace(body, mass=9 * body.mass, I_C=9 * body.I_C) if body.name == "rocker" else body
        for body in scene.mechanism.bodies
    )
    found = mb.close(replace(scene, mechanism=replace(scene.mechanism, bodies=bodies)), "mjcf")
    assert found.written.copy_of is None
    assert max(found.commanded.angle, found.commanded.distance) < 1e-4


@pytest.mark.long
def test_includes_in_a_long_row_are_no_crash(tmp_path: Path) -> None:
    for k in range(300):
        (tmp_path / f"c{k}.xml").write_text(f'<mujoco><include file="c{k + 1}.xml"/></mujoco>')
    (tmp_path / "c300.xml").write_text('<mujoco><compiler meshdir="parts"/></mujoco>')
    file = tmp_path / "four.xml"
    file.write_text(MODEL.replace("  <option", '  <include file="c0.xml"/>\n  <option'))
    (tmp_path / "out").mkdir()
    copy_of(file).save(tmp_path / "out" / "copy.xml")
    text = (tmp_path / "out" / "copy.xml").read_text()
    assert "include" not in text and 'meshdir="../parts"' in text


def test_a_name_that_is_too_long_for_a_file_stays(tmp_path: Path) -> None:
    text = URDF.replace("part.obj", 5000 * "x" + ".obj")
    (tmp_path / "out").mkdir()
    file = tmp_path / "four.urdf"
    file.write_text(text)
    copy_of(file, "urdf").save(tmp_path / "out" / "copy.urdf")
    assert 5000 * "x" in (tmp_path / "out" / "copy.urdf").read_text()


def test_a_stage_that_names_no_other_layer_is_copied_anywhere(tmp_path: Path) -> None:
    pytest.importorskip("pxr")
    (tmp_path / "out").mkdir()
    file = tmp_path / "one.usda"
    file.write_text(stage(group("robot", body("link", mass=inertial(1.0, (1, 1, 1))))))
    mb.close(file, "usd", measure_drift=False).save(tmp_path / "out" / "copy.usda")
    written = (tmp_path / "out" / "copy.usda").read_text()
    assert lost_lines(file.read_text(), written) == []


def test_a_scene_is_written_anew_as_a_scene(tmp_path: Path) -> None:
    """Its relative names of models would mean nothing in another folder."""
    found = mb.close(ASSETS / "four_bar.scene.toml", "scene", measure_drift=False)
    assert found.written.copy_of is None and found.written.anew == ""
    found.save(tmp_path / "copy.scene.toml")
    assert mb.load(tmp_path / "copy.scene.toml").mechanism.tree.cut
