"""Quaternions whose norm is not 1: which are reported, what readers do with them, and the bytes of the fix."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.linter.rule import Finding
from mbplugin.readers.xml import wrong_norm
from usd_stages import body, group, inertial, joint, stage, xform

#: Found by Pythagoras, so that the digits of the fix are short.
WRONG, RIGHT = b"0 -3 \t0 4", b"0 -0.6 \t0 0.8"
MJCF = b"""<mujoco model="m">\r
\t<worldbody><body name="b" quat="%(q)b"> <!-- quat="2 0 0 0" -->\r
    <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.02" quat="%(q)b"/><joint name="k"/>\r
    <geom size="0.1" quat='%(q)b'/><site name="s" quat="%(q)b"/>
\t</body><body name="c"><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.02"/><freejoint/></body></worldbody>
  <equality><weld name="w" body1="b" body2="c" relpose="0 -3 4 %(q)b"/></equality>
</mujoco>"""
SDF = b"""<sdf version="1.9"><model name="m"><static>false</static>
  <link name="a"><pose rotation_format='quat_xyzw'>0 3 4\t%(q)b </pose><inertial><mass>1</mass></inertial></link>
  <!-- <pose rotation_format="quat_xyzw">0 0 0 1 0 0 1</pose> -->
</model></sdf>"""
URDF = b"""<robot name="m" version="1.1"><link name="base"/><link name="tip"><inertial><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="k" type="continuous"><parent link="base"/><child link="tip"/>
    <origin xyz="0 3 4" quat_xyzw="%(q)b"/><axis xyz="0 0 1"/></joint></robot>"""


def found(file: Path) -> list[Finding]:
    return [finding for finding in mb.lint(file).findings if finding.code == "MB136"]


@pytest.mark.parametrize(
    ("name", "text", "number", "severity", "taken"),
    [
        ("m.xml", MJCF, 5, "note", "MuJoCo normalises them"),
        ("m.sdf", SDF, 1, "warning", "libsdformat takes them as they are"),
        ("m.urdf", URDF, 1, "note", "urdf::Rotation normalises them"),
    ],
)
def test_each_is_normalised_and_every_other_byte_stays(
    tmp_path: Path, name: str, text: bytes, number: int, severity: str, taken: str
) -> None:
    if name == "m.xml" and find_spec("mujoco") is None:
        pytest.skip("needs mujoco")
    file, before = tmp_path / name, tmp_path / f"before_{name}"
    for one in (file, before):
        one.write_bytes(text % {b"q": WRONG})
    (finding,) = found(file)
    assert len(finding.elements) == number and finding.severity == severity
    assert "(norm 5, line " in finding.message and taken in finding.message
    report = mb.fix(file)
    assert file.read_bytes() == text % {b"q": RIGHT}
    assert not report.unmended and not found(file)
    assert not mb.diff(before, file, tolerance=1e-12).differences


def test_the_element_and_line_of_each_are_said(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_bytes(MJCF % {b"q": WRONG})
    (finding,) = found(file)
    assert finding.elements == ("b", "b", "b", "s", "w")
    assert finding.evidence["places"] == [f"{file}:{line}" for line in (2, 3, 4, 4, 6)]
    full = finding.evidence.get("full_message", finding.message)
    assert "quat of <body> of 'b' (norm 5, line 2)" in full and "quat of <inertial> of 'b'" in full


def test_frames_of_usd_joints_are_normalised_and_an_orientation_stays(tmp_path: Path) -> None:
    pytest.importorskip("pxr")

    def text(rotation: str) -> str:
        frames = f"quatf physics:localRot0 = ({rotation}) # (2, 0, 0, 0)\n"
        tip = body("tip", at=xform(orient=(2, 0, 0, 2)), mass=inertial(1.0, (0.1, 0.1, 0.1)))
        base = body("base", mass=inertial(1.0, (0.1, 0.1, 0.1)))
        return stage(group("robot", base, tip, joint("SphericalJoint", "k", "base", "tip", frames)))

    file = tmp_path / "m.usda"
    file.write_bytes(text("0,-3 , 0, 4").encode())
    joints, orientations = sorted(found(file), key=lambda finding: finding.severity)
    assert (joints.severity, orientations.severity) == ("note", "warning")
    assert "localRot0 of '/robot/k' (norm 5, line " in joints.message
    assert "xformOp:orient of '/robot/tip' (norm 2.82843, line " in orientations.message
    assert "OpenUSD does not normalise them" in orientations.message
    mb.fix(file)
    assert file.read_bytes() == text("0.0, -0.6, 0.0, 0.8").encode()
    assert [finding.severity for finding in found(file)] == ["warning"]


def test_openusd_reads_another_angle_of_an_orientation() -> None:
    """The reason why its fix would not be safe."""
    UsdGeom, Usd, Gf = (pytest.importorskip(f"pxr.{name}") for name in ("UsdGeom", "Usd", "Gf"))
    layer = Usd.Stage.CreateInMemory()
    frame = UsdGeom.Xform.Define(layer, "/a")
    frame.AddOrientOp().Set(Gf.Quatf(2, 0, 0, 2))
    assert np.allclose(np.array(frame.GetLocalTransformation()), np.eye(4))


def test_openusd_normalises_the_frames_of_joints(tmp_path: Path) -> None:
    """The reason why their fix is safe."""
    Usd, UsdPhysics = (pytest.importorskip(f"pxr.{name}") for name in ("Usd", "UsdPhysics"))
    file = tmp_path / "m.usda"
    frames = "quatf physics:localRot0 = (0, -3, 0, 4)\nquatf physics:localRot1 = (2, 0, 0, 2)\n"
    bodies = (body(name, mass=inertial(1.0, (0.1, 0.1, 0.1))) for name in ("base", "tip"))
    file.write_text(stage(group("robot", *bodies, joint("SphericalJoint", "k", "base", "tip", frames))))
    layer = Usd.Stage.Open(str(file))
    load = getattr(UsdPhysics, "LoadUsdPhysicsFromRange", None)
    if load is None:
        pytest.skip("this OpenUSD does not evaluate joints in Python")
    with warnings.catch_warnings():
        # OpenUSD 26 has another name for it
        warnings.simplefilter("ignore", DeprecationWarning)
        _, (frame,) = load(layer, ["/robot"])[UsdPhysics.ObjectType.SphericalJoint]
    for seen, meant in (
        (frame.localPose0Orientation, (0, -0.6, 0, 0.8)),
        (frame.localPose1Orientation, (0.5**0.5, 0, 0, 0.5**0.5)),
    ):
        assert np.allclose([seen.GetReal(), *seen.GetImaginary()], meant)


@pytest.mark.parametrize(
    ("written", "wrong"),
    [
        ("1 0 0 0", False),
        ("0.7 0 0 0.7", False),
        ("0.707 0 0 -0.707", False),
        ("0.70710 0 0 0.70710", False),
        ("0.707107 0.707107 0 0", False),
        ("0.70710677 0 0 0.70710677", False),
        ("1 0.0312 0 0", False),
        ("1.0 6.123e-17 0 0", False),
        ("0.5 0.5 0.5 0.5", False),
        ("0 0 0 0", False),
        ("nan 0 0 1", False),
        ("1 0 0", False),
        ("${x} 0 0 1", False),
        ("1 0 0 1", True),
        ("1.0 0.0 0.0 1.0", True),
        ("2 0 0 0", True),
        ("1 0 0 0.5", True),
        ("0.707107 0 0 0.7072", True),
        ("0.80 0.00 0.00 0.70", True),
        ("1e200 1e200 0 0", True),
    ],
)
def test_a_norm_is_wrong_if_no_rounding_of_its_digits_explains_it(written: str, wrong: bool) -> None:
    assert (wrong_norm(written.split()) is not None) is wrong


@pytest.mark.parametrize("digits", range(1, 18))
@pytest.mark.parametrize("form", ["{:.{}f}", "{:.{}g}", "{:.{}e}"])
def test_no_rounded_unit_quaternion_is_reported(form: str, digits: int) -> None:
    dice = np.random.default_rng(digits)
    for q in dice.normal(size=(200, 4)):
        unit = q / np.linalg.norm(q)
        words = [form.format(float(x), digits) for x in unit]
        assert wrong_norm(words) is None, words
    for k in range(200):
        # nearly about an axis, where whole numbers occur
        angle = 10.0 ** -dice.uniform(0, 5)
        unit = np.roll([np.cos(angle), np.sin(angle), 0, 0], k % 4)
        words = [form.format(float(x), digits) for x in unit]
        assert wrong_norm(words) is None, words


def test_a_zero_quaternion_is_an_error_as_before(tmp_path: Path) -> None:
    file = tmp_path / "m.sdf"
    file.write_bytes(SDF % {b"q": b"0 0 0 0"})
    assert [(f.code, f.severity) for f in mb.lint(file).findings] == [("MB905", "error")]
