"""Actuators of an MJCF file act in the written file as in the source: MuJoCo drives both with the same commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from driven_models import ACTUATORS, LINKS
from mbplugin import readers, writers
from mbplugin.model.scene import duties
from mbplugin.writers.written import ENDINGS

mujoco = pytest.importorskip("mujoco")


def driven(text: str, seed: int, seconds: float = 0.5) -> np.ndarray:
    """Coordinates (n, 4) of ja to jd under seeded commands that change every 50 ms, by name of the actuator."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = 5e-4
    data = mujoco.MjData(model)
    rng = np.random.default_rng(seed)
    names = ["geared", "servo", "speed", "lag", "way", *sorted(_unnamed(model))]
    index = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, name) for name in names[:5]]
    joints = [model.joint(name).qposadr[0] for name in ("ja", "jb", "jc", "jd")]
    out = []
    for k in range(int(seconds / 5e-4)):
        if k % 100 == 0:
            data.ctrl[index] = rng.normal(size=5)
        mujoco.mj_step(model, data)
        out.append(data.qpos[joints].copy())
    return np.array(out)


def _unnamed(model) -> list[str]:
    found = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) or "" for k in range(model.nu)]
    return [name for name in found if name not in ("geared", "servo", "speed", "lag", "way")]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_written_file_moves_as_the_source_under_the_same_commands(tmp_path: Path, seed: int) -> None:
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + ACTUATORS, encoding="utf-8")
    written = writers.write(mb.load(source), "mjcf")
    assert not [said for said in written.left_out if "actuator" in said], written.left_out
    before, after = driven(source.read_text(), seed), driven(written.text, seed)
    # joint coordinates count from another zero in the written file where the source has a ref
    assert np.ptp(before, axis=0).min() > 0.05
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_a_plain_motor_stays_one_and_keeps_its_name(tmp_path: Path) -> None:
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + '<actuator><motor name="m" joint="ja"/></actuator></mujoco>', encoding="utf-8")
    text = writers.write(mb.load(source), "mjcf").text
    assert '<motor name="m" joint="ja"/>' in text and "<general" not in text
    assert not [said for said in writers.write(mb.load(source), "urdf").left_out if "gains" in said]


@pytest.mark.parametrize("form", ["urdf", "sdf", "scene"])
def test_another_format_names_the_laws_that_it_loses(tmp_path: Path, form: str) -> None:
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + ACTUATORS, encoding="utf-8")
    (said,) = [said for said in writers.write(mb.load(source), form).left_out if "gains" in said]
    assert "actuators geared, servo, speed, lag, way" in said
    # SDF and URDF get no motor at all
    assert ("a plain motor is left" in said) == (form in ("usd", "scene"))


def test_what_acts_on_no_single_joint_is_named(tmp_path: Path) -> None:
    tendon = (
        '<tendon><fixed name="t"><joint joint="ja" coef="1"/><joint joint="jb" coef="-1"/></fixed></tendon>'
    )
    muscle = '<muscle name="m" joint="jd" lengthrange="0.1 1"/>'
    acts = f'<actuator><motor name="pull" tendon="t" gear="3"/>{muscle}</actuator></mujoco>'
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + tendon + acts, encoding="utf-8")
    left = writers.write(mb.load(source), "mjcf").left_out
    assert "actuator 'pull': it does not act on a joint itself" in left
    assert "actuator 'm': its law is that of a muscle, a plugin or a callback" in left


@pytest.mark.parametrize(
    ("form", "written_there"), [("urdf", False), ("sdf", False), ("usd", True), ("scene", True)]
)
def test_a_drive_is_written_or_listed_as_lost(form: str, written_there: bool, tmp_path: Path) -> None:
    if form == "usd":
        pytest.importorskip("pxr")
    source = tmp_path / "motor.xml"
    source.write_text(
        '<mujoco model="p"><worldbody><body name="a"><joint name="j" axis="0 1 0"/>'
        '<inertial pos="0 0 -1" mass="1" diaginertia="1 1 1"/></body></worldbody>'
        '<actuator><motor name="m" joint="j"/></actuator></mujoco>',
        encoding="utf-8",
    )
    written = writers.write(mb.load(source), form)
    back = readers.load(f"back{ENDINGS[form]}", text=written.text)
    kinds = {duty.kind for duty in duties(back).get("j", ())}
    assert bool(kinds & {"drive", "actuator"}) == written_there
    assert [loss.text for loss in written.losses] == ([] if written_there else ["the drive of the joint j"])


def test_close_keeps_them_and_says_in_json_what_it_leaves_out(tmp_path: Path) -> None:
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + ACTUATORS, encoding="utf-8")
    written = tmp_path / "closed.xml"
    done = call(
        "close", str(source), "--to", "mjcf", "--no-drift", "--allow-loss", "shape", "--write", str(written)
    )
    assert done.code == 0 and "actuator" not in done.out, (done.out, done.err)
    # the file itself, and written anew at another pose
    assert '<position name="servo" joint="jb"' in written.read_text(encoding="utf-8")
    words = ("--no-drift", "--allow-loss", "shape", "--q", "ja=0.1", "--write", str(written))
    done = call("close", str(source), "--to", "mjcf", *words)
    assert done.code == 0 and "written anew, since another pose" in done.out, (done.out, done.err)
    assert '<general name="servo" joint="jb"' in written.read_text(encoding="utf-8")
    other = json.loads(
        call("close", str(source), "--to", "urdf", "--no-drift", "--output-format", "json").out
    )
    assert any("geared" in said for said in other["left_out"])


def test_diff_sees_gears_gains_and_ranges(tmp_path: Path) -> None:
    source, other, plain = (tmp_path / f"{name}.xml" for name in ("a", "b", "c"))
    source.write_text(LINKS + ACTUATORS, encoding="utf-8")
    other.write_text(LINKS + ACTUATORS.replace('gear="12"', 'gear="11"').replace('kp="25"', 'kp="24"'))
    plain.write_text(LINKS + '<actuator><motor name="geared" joint="ja"/></actuator></mujoco>')
    found = mb.diff(source, other)
    told = {one.element_a: (one.value_a, one.value_b) for one in found.differences if one.kind == "actuator"}
    assert set(told) == {"ja", "jb"}
    assert "gear=12.0" in told["ja"][0] and "gear=11.0" in told["ja"][1]
    assert "gainprm=25.0" in told["jb"][0] and "gainprm=24.0" in told["jb"][1]
    lost = {one.element_a for one in mb.diff(source, plain).differences if one.kind == "actuator"}
    assert lost == {"ja", "jb", "jc", "jd"}
    written = tmp_path / "again.xml"
    written.write_text(writers.write(mb.load(source), "mjcf").text, encoding="utf-8")
    assert not [one for one in mb.diff(source, written).differences if one.kind == "actuator"]
    bare = tmp_path / "bare.urdf"
    bare.write_text(writers.write(mb.load(source), "urdf").text, encoding="utf-8")
    assert any("actuator" in one.text for one in mb.diff(source, bare).not_compared)


#: Actuators of a tendon, a site and a free root, and one that states nothing but its joint.
OTHERS = """<worldbody><body name="loose"><joint name="root" type="free" damping="0.4"/><geom size="0.1"/>
<site name="s"/></body></worldbody><tendon><fixed name="cable"><joint joint="ja" coef="2"/></fixed></tendon>
<actuator><position name="pull" tendon="cable" kp="8" ctrlrange="-4 4"/><motor name="push" site="s" gear="0 0 1 0 0 0"/>
<motor name="lift" joint="root" gear="0 0 2 0 0 0"/><motor name="plain" joint="jd"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("was", "becomes", "element"),
    [
        ('kp="8"', 'kp="9"', "pull"),
        ('ctrlrange="-4 4"', 'ctrlrange="-4 5"', "pull"),
        ('gear="0 0 1 0 0 0"', 'gear="0 0 1 0 0 1"', "push"),
        ('gear="0 0 2 0 0 0"', 'gear="0 1 2 0 0 0"', "lift"),
        ('<motor name="plain" joint="jd"/>', "", "jd"),
        ('<motor name="lift" joint="root" gear="0 0 2 0 0 0"/>', "", "lift"),
    ],
)
def test_diff_sees_every_actuator_of_mjcf(tmp_path: Path, was: str, becomes: str, element: str) -> None:
    """Also those that no joint of the mechanism has, and a motor of which nothing but its joint is stated."""
    source, other = tmp_path / "a.xml", tmp_path / "b.xml"
    source.write_text(LINKS + OTHERS, encoding="utf-8")
    assert was in OTHERS
    other.write_text((LINKS + OTHERS).replace(was, becomes), encoding="utf-8")
    assert mb.diff(source, source).differences == ()
    (found,) = mb.diff(source, other).differences
    assert (found.kind, found.element_a) == ("actuator", element)
    (found,) = mb.diff(other, source).differences
    assert (found.kind, found.element_b or element) == ("actuator", element)


def test_what_no_reader_takes_is_not_compared_and_said(tmp_path: Path) -> None:
    source, other = tmp_path / "a.xml", tmp_path / "b.xml"
    source.write_text(LINKS + OTHERS, encoding="utf-8")
    other.write_text((LINKS + OTHERS).replace('damping="0.4"', 'damping="0.5"'), encoding="utf-8")
    (same,) = (one for one in mb.diff(source, source).not_compared if one.kind == "unread")
    assert same.elements == () and "they are the same in both" in same.text
    (apart,) = (one for one in mb.diff(source, other).not_compared if one.kind == "unread")
    assert apart.elements == ("root",) and "they differ in root" in apart.text
    done = call("diff", str(source), str(other))
    assert "they differ in root" in " ".join(done.out.split())


def test_a_part_that_is_not_read_is_compared_by_all_of_its_values(tmp_path: Path) -> None:
    """Several keyframes are one finding; the second one differs. A flag has no name and is called what it is."""
    keys = '<keyframe><key name="k" ctrl="0 0 0 0"/><key name="l" ctrl="0 0 0 {}"/></keyframe></mujoco>'
    source, other, flag = (tmp_path / f"{name}.xml" for name in "abc")
    text = LINKS + OTHERS.replace("</mujoco>", keys)
    source.write_text(text.replace("{}", "0"), encoding="utf-8")
    other.write_text(text.replace("{}", "1"), encoding="utf-8")
    flag.write_text(
        text.replace("{}", "0").replace("/><worldbody>", '><flag limit="disable"/></option><worldbody>', 1)
    )
    (apart,) = (one for one in mb.diff(source, other).not_compared if one.kind == "unread")
    assert apart.elements == ("k",)
    (apart,) = (one for one in mb.diff(source, flag).not_compared if one.kind == "unread")
    assert apart.elements and all(apart.elements)


def test_unnamed_actuators_get_names_that_no_other_has(tmp_path: Path) -> None:
    named = '<motor name="actuator 1" joint="jb" gear="2"/>'
    acts = f'<actuator><motor joint="ja"/>{named}<motor joint="jd"/></actuator></mujoco>'
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + acts, encoding="utf-8")
    written = writers.write(mb.load(source), "mjcf")
    model = mujoco.MjModel.from_xml_string(written.text)
    assert model.nu == 3 and not [said for said in written.left_out if "actuator" in said]
    assert model.actuator("actuator 1").gear[0] == 2.0


@pytest.mark.parametrize("part", ['armature="0.2"', 'damping="0.3"', 'delay="0.01" nsample="5"'])
def test_what_an_actuator_has_besides_its_law_is_no_silent_loss(tmp_path: Path, part: str) -> None:
    acts = f'<actuator><motor name="m" joint="jd" {part}/></actuator></mujoco>'
    source = tmp_path / "driven.xml"
    source.write_text(LINKS + acts, encoding="utf-8")
    try:
        mujoco.MjModel.from_xml_string(source.read_text())
    except ValueError:
        pytest.skip("this version of MuJoCo has no such attribute")
    left = writers.write(mb.load(source), "mjcf").left_out
    assert "actuator 'm': it has a rotor, a damping or a delay of its own" in left
