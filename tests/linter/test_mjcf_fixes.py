"""Fixes in MJCF: of what MuJoCo refuses, of limits in degrees, and of damping, all attributes of elements."""

from __future__ import annotations

from math import pi
from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin.readers import reload

MODEL = b"""<mujoco model="m">
\t<worldbody><body name="b"> <!-- kept -->
    <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>\r
    <joint name="k" axis="0 1 0"  damping="-0.5"\tfrictionloss="%s"/>
\t</body></worldbody>
</mujoco>"""


@pytest.mark.parametrize(("friction", "mended"), [(b"0.2", b"0.2"), (b"-0.2", b"0.2")])
def test_the_sign_of_a_damping_goes_and_every_other_byte_stays(
    tmp_path: Path, friction: bytes, mended: bytes
) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_bytes(MODEL % friction)
    report = mb.lint(file)
    assert [finding.code for finding in report.findings] == ["MB124"]
    mb.fix(file, unsafe=True)
    assert file.read_bytes() == (MODEL % mended).replace(b'damping="-0.5"', b'damping="0.5"')
    assert not mb.lint(file).findings


def test_without_unsafe_fixes_the_file_stays(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_bytes(MODEL % b"0.2")
    mb.fix(file)
    assert file.read_bytes() == MODEL % b"0.2"


ARM = """<mujoco>
%s
<worldbody>
<body name="left_arm">
<joint name="shoulder" %s/>
<geom size="0.1"/>
<body name="right_leg"><joint name="elbow"/><geom size="0.1"/></body></body></worldbody>
%s
</mujoco>"""
#: What stands before the bodies, in the first joint and after them, and the word that is mended.
REFUSED = (
    ("", 'axs="0 0 1"', "", "axs", "axis"),
    ("", 'Damping="1"', "", "Damping", "damping"),
    ("", "damping\n\t=\t'1' armatur\n='1'", "", "armatur", "armature"),
    ("<compilr angle='radian'/>", "", "", "compilr", "compiler"),
    ("<default><joint dampng='1'/></default>", "", "", "dampng", "damping"),
    ("<default><default class='servo'/></default>", "class='servoo'", "", "servoo", "servo"),
    ("", "", "<actuator><motr joint='elbow'/></actuator>", "motr", "motor"),
    ("", "", "<actuator><motor joint='elbw'/></actuator>", "elbw", "elbow"),
    ("", "", "<sensor><jointpos joint='elbw'/></sensor>", "elbw", "elbow"),
    ("", "", "<sensor><framepos objtype='xbody' objname='left_arn'/></sensor>", "left_arn", "left_arm"),
    ("", "", "<equality><joint joint1='shouldr' joint2='elbow'/></equality>", "shouldr", "shoulder"),
    ("", "", "<equality><connect body1='left_arm' body2='wrld' anchor='0 0 0'/></equality>", "wrld", "world"),
    ("", "", "<contact><exclude body1='lefft_arm' body2='right_leg'/></contact>", "lefft_arm", "left_arm"),
    ("", "", "<tendon><fixed><joint joint='elbw' coef='1'/></fixed></tendon>", "elbw", "elbow"),
)
ITSELF = "<equality>\n<joint joint1='elbow' joint2='elbow'%s/>\n</equality>"
#: What is not mended: two near names, none, a bound joint, another side of the robot, a word that is there already.
KEPT = (
    ("", "dampin='1' damping='2'", ""),
    ("", "class='servo'", ""),
    ("", "quite_another='1'", ""),
    ("", "pos='0 0.0.5 1'", ""),
    ("", "", ITSELF % " polycoef='1 1 0 0 0'"),
    (
        "",
        "",
        "<worldbody><body name='l_hand'/></worldbody><contact><exclude body1='r_hand' body2='left_arm'/></contact>",
    ),
    (
        "",
        "",
        "<worldbody><replicate count='2'><body name='pad'/></replicate></worldbody>"
        "<actuator><motor joint='elbw'/></actuator>",
    ),
)


@pytest.mark.parametrize(("head", "joint", "tail", "wrong", "right"), REFUSED)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_a_word_that_mujoco_refuses_gets_its_near_match(
    tmp_path: Path, head: str, joint: str, tail: str, wrong: str, right: str, ends: bytes
) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    text = (ARM % (head, joint, tail)).encode().replace(b"\n", ends)
    file.write_bytes(text)
    (finding,) = mb.lint(file).findings
    assert finding.code == "MB904" and f"did you mean {right!r}?" in finding.message
    report = mb.fix(file)
    assert file.read_bytes() == text.replace(wrong.encode(), right.encode())
    assert len(report.mended) == 1 and not report.unmended
    mujoco.MjModel.from_xml_path(str(file))


def test_an_equality_of_a_joint_with_itself_is_removed(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(ARM % ("", "", ITSELF % " polycoef='0 1'"))
    mb.fix(file)
    assert file.read_text() == ARM % ("", "", "<equality>\n</equality>")
    assert mujoco.MjModel.from_xml_path(str(file)).neq == 0


@pytest.mark.parametrize("parts", KEPT)
def test_what_could_mean_several_things_stays(tmp_path: Path, parts: tuple[str, str, str]) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(ARM % parts)
    before = file.read_bytes()
    report = mb.fix(file, unsafe=True)
    assert file.read_bytes() == before and not report.mended
    assert any(finding.severity == "error" for finding in report.findings)


def test_words_of_one_line_are_mended_one_after_the_other(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    wrong = ARM % ("", 'axs="0 0 1" dampng="1" armatur="1"', "<sensor><jointpos joint='elbw'/></sensor>")
    file.write_text(wrong.replace("\n", " "))
    report = mb.fix(file)
    right = ARM % ("", 'axis="0 0 1" damping="1" armature="1"', "<sensor><jointpos joint='elbow'/></sensor>")
    assert file.read_text() == right.replace("\n", " ") and len(report.mended) == 4
    mujoco.MjModel.from_xml_path(str(file))


def test_an_included_file_is_mended_where_the_word_stands(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    main, part = tmp_path / "m.xml", tmp_path / "part.xml"
    main.write_bytes(b"<mujoco>\r\n<include file='part.xml'/>\r\n<worldbody/></mujoco>")
    body = b"<mujoco>\n<worldbody><body><joint name='k' %s='0 1 0' damping='%s'/><geom size='1'/></body></worldbody>"
    end = b"<actuator><motor joint='kk'/><motor joint='knee'/></actuator>\n<!-- axs --></mujoco>"
    left = main.read_bytes()
    part.write_bytes((body % (b"axs", b"-1")).replace(b"'k'", b"'knee'") + end.replace(b"kk", b"knie"))
    (finding,) = mb.lint(main).findings
    assert (finding.file, finding.line) == (str(part), 2)
    mb.fix(main, unsafe=True)
    assert main.read_bytes() == left
    assert part.read_bytes() == (body % (b"axis", b"1")).replace(b"'k'", b"'knee'") + end.replace(
        b"kk", b"knee"
    )
    mujoco.MjModel.from_xml_path(str(main))


@pytest.mark.parametrize(
    ("compiler", "stated", "mended"),
    [
        ('angle="radian"', "-90  180", f"{-pi / 2!r}  {pi!r}"),
        ("", "-90  180", None),
        ('angle="radian"', "-1.5 1.5", None),
        ('angle="radian"', "-100 100", None),
    ],
)
def test_limits_in_degrees_of_a_file_in_radians(
    tmp_path: Path, compiler: str, stated: str, mended: str | None
) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    text = ARM % (f"<compiler {compiler}/>", f'axis="0 1 0"\trange="{stated}"', "")
    file.write_text(text)
    assert ("MB122" in {finding.code for finding in mb.lint(file).findings}) is (mended is not None)
    mb.fix(file)
    assert file.read_text() == text
    mb.fix(file, unsafe=True)
    assert file.read_text() == (text.replace(stated, mended) if mended else text)
    assert "MB122" not in {finding.code for finding in mb.lint(file).findings}


#: A square four-bar whose last link is closed with the ground at two points of an axis.
LOOP = """<mujoco><compiler angle="%s"/>
<!-- euler="1.5708 0 0" -->
<worldbody>
<frame euler="1.5708 0\t0">
<body name="crank"><joint name="j0" axis="0 0 1"/><geom type="box" pos="0 0.5 0" size="0.1 0.5 0.1"/>
<body name="coupler" pos="0 1 0" axisangle='1.5708 0 0 -1.5708'><joint name="j1" axis="0 -1 0"/>
<geom type="box" pos="0.5 0 0" size="0.5 0.1 0.1"/>
<body name="rocker" pos="1 0 0"><joint name="j2" axis="0 -1 0"/><geom type="box" pos="0 0 -0.5" size="0.1 0.1 0.5"/>
</body></body></body></frame>
</worldbody>
<equality>%s</equality>
</mujoco>"""
POINTS = "".join(f'<connect body1="rocker" body2="world" anchor="0 {y} -1"/>' for y in (-0.1, 0.1))


def test_rounded_angles_get_all_their_digits(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    text = LOOP % ("radian", POINTS)
    file.write_text(text)
    found = [one for one in mb.lint(file).findings if one.code == "MB501"]
    assert [(one.evidence["literal"], one.line, len(one.evidence["places"])) for one in found] == [
        ("1.5708", 4, 2)
    ]
    mb.fix(file)
    head, comment, tail = text.partition(' 0 0" -->')
    right = (
        tail.replace('"1.5708 0', f'"{pi / 2!r} 0')
        .replace("-1.5708", f"-{pi / 2!r}")
        .replace("3.1416", repr(pi))
    )
    assert file.read_text() == head + comment + right
    report = mb.lint(file)
    assert "MB501" not in {one.code for one in report.findings}
    assert report.analysis is not None and report.analysis.degree_of_redundancy == 4


def test_as_meant_is_the_same_as_mended(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(LOOP % ("radian", POINTS))
    meant = reload(mb.load(file), snap_angles=True).mechanism
    mb.fix(file)
    mended = mb.load(file).mechanism
    for one, other in zip(meant.pairs, mended.pairs, strict=True):
        assert (one.X_AP.R == other.X_AP.R).all() and (one.X_BS.R == other.X_BS.R).all(), one.name


def test_a_weld_of_sites_is_closed_with_the_angles_that_are_meant(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    weld = '<weld name="last" site1="end" site2="ground"/>'
    site = '<joint axis="0 1 0"/><geom size="0.1"/><site name="end" quat="0 1 0 0"/>'
    foot = f'<body pos="0 0 -1">{site}</body>\n</body></body>'
    text = LOOP.replace("\n</body></body>", foot, 1) % ("radian", weld)
    ground = '<site name="ground" pos="1 0 0" euler="-3.1416 0 0"/></worldbody>'
    file.write_text(text.replace("</worldbody>", ground))
    assert "MB910" in {one.code for one in mb.lint(file).findings}
    analysis = mb.lint(file, snap_angles=True).analysis
    assert analysis is not None and analysis.degree_of_redundancy == 3


def test_angles_in_degrees_are_not_rounded_radians(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_text(LOOP.replace("<!--", "<compiler/><!--") % ("degree", POINTS))
    scene = mb.load(file)
    before, after = scene.mechanism, reload(scene, snap_angles=True).mechanism
    assert all((a.X_AP.R == b.X_AP.R).all() for a, b in zip(before.pairs, after.pairs, strict=True))
    assert "MB501" not in {one.code for one in mb.lint(file).findings}


@pytest.mark.parametrize(
    ("joint", "code"),
    [
        ('range="1.5\t-0.50"', "MB120"),
        ('limited="true" range="1.5 -0.50"', "MB904"),
        ('limited="false" range="1.5 -0.50"', ""),
        ('class="open" range="1.5 -0.50"', ""),
    ],
)
def test_an_inverted_range_is_exchanged_only_on_request(tmp_path: Path, joint: str, code: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    text = ARM % ("", joint, "<!-- range='1.5 -0.50' -->")
    if "class" in joint:
        text = text.replace(
            "<mujoco>", '<mujoco><default><default class="open"><joint limited="false"/></default></default>'
        )
    file.write_text(text)
    assert [one.code for one in mb.lint(file).findings if one.severity != "note"] == [code][: len(code)]
    assert not mb.fix(file).mended and file.read_text() == text
    report = mb.fix(file, unsafe=True)
    assert not report.unmended
    right = text.replace('range="1.5\t-0.50"', 'range="-0.50\t1.5"').replace(
        'range="1.5 -0.50"', 'range="-0.50 1.5"'
    )
    assert file.read_text() == (right if code else text)
    model = mujoco.MjModel.from_xml_path(str(file))
    assert bool(model.jnt_limited[0]) is bool(code)
    assert all(one.fix is not None and one.fix.applicability == "unsafe" for one in report.mended)


def test_several_refused_ranges_are_exchanged_one_after_the_other(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    wrong = ARM % ("", "limited='true' range='1 -1'", "")
    file.write_text(wrong.replace('name="elbow"', 'limited="true" range="2 -2"'))
    report = mb.fix(file, unsafe=True)
    assert len(report.mended) == 2
    assert mujoco.MjModel.from_xml_path(str(file)).jnt_limited.all()


@pytest.mark.parametrize(("palm", "codes"), [("ellipsoid", set()), ("box", {"MB140"})])
def test_a_link_with_a_shape_that_is_not_read_has_no_density(palm: str, codes: set[str]) -> None:
    """A palm of 0.36 kg on a thin wrist plate: of an ellipsoid nothing is left but the plate."""
    pytest.importorskip("mujoco")
    size = "0.037 0.012 0.052" if palm == "ellipsoid" else "0.001 0.001 0.001"
    text = (
        '<mujoco model="hand"><worldbody><body name="arm"><joint name="j"/><geom type="box" size=".1 .1 .1" '
        'mass="2"/><body name="hand" pos="0 0 .2"><joint name="k"/><geom type="cylinder" size="0.018 0.0025" '
        f'mass="0.01591"/><geom type="{palm}" size="{size}" pos="0 0 0.05" mass="0.3592"/></body></body>'
        "</worldbody></mujoco>"
    )
    findings = mb.lint("hand.xml", text=text, select=["MB105", "MB140"]).findings
    assert {finding.code for finding in findings} == codes
