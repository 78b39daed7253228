"""URDF 1.1 and 1.2: quaternions, limits of acceleration and jerk, capsules, and who ignores them."""

from __future__ import annotations

from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Request, Scene
from mbplugin.readers.urdf import read_urdf

ARM = """<robot name="arm" version="1.2">
 <link name="world"/>
 <link name="a"><inertial><origin xyz="0 0 0.1" {inertial}/><mass value="2"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>
 <joint name="j" type="revolute"><parent link="world"/><child link="a"/>
  <origin xyz="0 0 1" {origin}/><axis xyz="0 0 1"/>
  <limit lower="-3" upper="3" effort="40" velocity="2" {limit}/></joint>
</robot>"""
#: x to y, y to z, z to x: a third of a turn about (1, 1, 1).
THIRD = 'quat_xyzw="0.5 0.5 0.5 0.5"'


def text(origin: str = "", inertial: str = "", limit: str = "", shape: str = "") -> str:
    return ARM.format(origin=origin, inertial=inertial, limit=limit, shape=shape)


def read(urdf: str, **options: object) -> Scene:
    return read_urdf(urdf, Request("<stdin>", urdf, **options))


# Quaternions


def test_a_joint_is_turned_by_its_quaternion() -> None:
    mech = read(text(THIRD)).mechanism
    poses = forward(mech, np.zeros(1))
    np.testing.assert_allclose(poses.of(0).R, [[0, 0, 1], [1, 0, 0], [0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(poses.p_WC[0], [0.1, 0, 1], atol=1e-15)


@pytest.mark.parametrize("length", [1.0, 3.0])
def test_a_quaternion_and_the_same_angles_are_the_same_model(length: float) -> None:
    half = sqrt(0.5) * length
    quaternion = f'quat_xyzw="0 0 {half!r} {half!r}"'
    ours = read(text(quaternion, quaternion)).mechanism
    angles = read(text('rpy="0 0 1.5707963267948966"', 'rpy="0 0 1.5707963267948966"')).mechanism
    np.testing.assert_allclose(ours.pairs[0].X_AP.R, angles.pairs[0].X_AP.R, atol=1e-15)
    np.testing.assert_allclose(ours.bodies[0].I_C, angles.bodies[0].I_C, atol=1e-15)
    np.testing.assert_allclose(np.diag(ours.bodies[0].I_C), [0.03, 0.02, 0.04], atol=1e-15)


def test_both_orientations_are_refused_with_the_line() -> None:
    with pytest.raises(BrokenModel, match="both rpy and quat_xyzw") as error:
        read(text(THIRD + ' rpy="0 0 0"'))
    assert error.value.where == "<stdin>:6"


@pytest.mark.parametrize("quaternion", ["0 0 0 0", "0 0 1", "a b c d"])
def test_a_quaternion_that_is_none_is_refused(quaternion: str) -> None:
    with pytest.raises(BadNumber, match="quat_xyzw"):
        read(text(f'quat_xyzw="{quaternion}"'))


@pytest.mark.long
def test_crosscheck_says_that_pybullet_ignores_the_quaternion(tmp_path: Path) -> None:
    pytest.importorskip("pybullet")
    file = tmp_path / "arm.urdf"
    file.write_text(text(THIRD).replace('"world"', '"base"'))
    agreement = mb.crosscheck(mb.load(file, base="fixed"), duration=0.05)
    assert not agreement.agrees
    assert any("PyBullet ignores the quat_xyzw of 'j'" in note for note in agreement.notes)
    file.write_text(text('rpy="0.1 0.2 0.3"').replace('"world"', '"base"'))
    agreement = mb.crosscheck(mb.load(file, base="fixed"), duration=0.05)
    assert agreement.agrees and not any("quat" in note for note in agreement.notes)


# Limits


def test_the_limits_of_version_12_are_read() -> None:
    (freedom,) = read(text(limit='acceleration="5" deceleration="8" jerk="90"')).mechanism.pairs[0].freedoms
    assert (freedom.acceleration, freedom.deceleration, freedom.jerk) == (5, 8, 90)
    (freedom,) = read(text()).mechanism.pairs[0].freedoms
    assert (freedom.acceleration, freedom.deceleration, freedom.jerk) == (inf, inf, inf)


def test_a_category_1_stop_decelerates_with_the_limit_of_the_file() -> None:
    scene = read(text(limit='deceleration="8"'))
    stop = mb.estop(scene, qd={"j": 2.0}, category=1, brakes=[{"joint": "j", "torque": 40}])
    # by hand: v²/2a and v/a
    assert stop.joints[0].travel == pytest.approx(2.0**2 / (2 * 8), rel=1e-6)
    assert stop.joints[0].time == pytest.approx(2.0 / 8, rel=1e-6)
    assert any("8 rad/s², the limit that the file states" in told for told in stop.assumed)


def test_what_a_user_states_comes_before_the_file() -> None:
    scene = read(text(limit='deceleration="8"'))
    stop = mb.estop(
        scene, qd={"j": 2.0}, category=1, brakes=[{"joint": "j", "torque": 40}], decelerations={"j": 4.0}
    )
    assert stop.joints[0].time == pytest.approx(2.0 / 4, rel=1e-6)
    assert not any("deceleration" in told for told in stop.assumed)


@pytest.mark.long
def test_the_stopping_table_decelerates_with_the_limit_of_the_file() -> None:
    table = mb.stopping_table(read(text(limit='deceleration="8"')), categories=(1,))
    full = [row for row in table.rows if row["speed_percent"] == 100]
    assert {row["deceleration"] for row in full} == {8.0}
    assert any("the limit that the file states, 8 rad/s²" in told for told in table.assumptions)


# Capsules


def test_a_capsule_is_a_shape() -> None:
    shape = '<collision><geometry><capsule radius="0.05" length="0.3"/></geometry></collision>'
    (found,) = read(text(shape=shape)).shapes["a"]
    assert (found.kind, found.size) == ("capsule", (0.05, 0.3))
