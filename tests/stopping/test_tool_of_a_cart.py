"""The default tool of robots on wheels: their base, unless an arm stands on it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin import readers
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose
from mbplugin.stopping.defaults import default_tool
from places import BULLET_DATA

LINK = """<link name="{0}"><inertial><origin xyz="{1} 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{1} joint" type="{2}"><parent link="{0}"/><child link="{1}"/><origin xyz="{3} 0 0"/>
<axis xyz="{4}"/><limit lower="-1" upper="1" effort="50" velocity="1"/></joint>"""
LEVEL, UPRIGHT = "0 1 0", "0 0 1"


def cart(
    *,
    spin: str = "continuous",
    axis: str = LEVEL,
    off: float = 0.0,
    arm: int = 0,
    wheels: int = 3,
    base: str = "free",
) -> Mechanism:
    """A chassis with a castor, wheels whose centre of mass is ``off`` their axis, m, and an arm of some joints."""
    parts = [LINK.format("chassis", 0), LINK.format("fork", 0.05)]
    parts.append(JOINT.format("chassis", "fork", "continuous", 0.3, UPRIGHT))
    for k in range(wheels):
        parts += [LINK.format(f"wheel{k}", off)]
        parts += [JOINT.format("chassis" if k else "fork", f"wheel{k}", spin, -0.1 * k, axis)]
    for k in range(arm):
        parts += [LINK.format(f"arm{k}", 0.1)]
        parts += [JOINT.format(f"arm{k - 1}" if k else "chassis", f"arm{k}", "revolute", 0.2, LEVEL)]
    text = f'<robot name="cart">{"".join(parts)}</robot>'
    return readers.load("cart.urdf", text=text, base=base).mechanism  # type: ignore[arg-type]


def tool_of(mech: Mechanism) -> tuple[str, str]:
    found = default_tool(mech)
    return found.body, found.reason


def test_the_tool_of_a_cart_is_its_base() -> None:
    reason = "the base, which wheel1, wheel2, wheel0 seem to carry, as they turn without end"
    assert tool_of(cart()) == ("chassis", reason)
    assert tool_of(cart(arm=2)) == ("chassis", reason)


@pytest.mark.parametrize(
    ("changed", "tool"),
    [
        ({"base": "fixed"}, "wheel0"),  # it is bolted down
        ({"axis": UPRIGHT}, "wheel0"),  # rotors
        ({"off": 0.1}, "wheel0"),  # cranks
        ({"spin": "revolute"}, "wheel0"),  # legs
        ({"wheels": 1}, "wheel0"),
        ({"arm": 3}, "arm2"),
    ],
)
def test_what_does_not_roll_or_carries_an_arm_has_another(changed: dict[str, object], tool: str) -> None:
    body, reason = tool_of(cart(**changed))  # type: ignore[arg-type]
    assert body == tool and "carry" not in reason


def test_a_planar_base_rolls_too() -> None:
    mech, here = cart(), Pose.identity()
    ground = Pair("floor", "planar", "world", "chassis", here, here)
    assert tool_of(replace(mech, pairs=(ground, *mech.pairs)))[0] == "chassis"
    lift = replace(ground, type="prismatic", freedoms=())
    assert tool_of(replace(mech, pairs=(lift, *mech.pairs)))[0] == "wheel0"


@pytest.mark.parametrize(
    ("file", "base"),
    [
        pytest.param("husky", "base_footprint", marks=pytest.mark.bullet),
        pytest.param("racecar", "base_link", marks=pytest.mark.bullet),
        ("four_wheel_robot", "1"),
    ],
)
def test_stated_wheels_carry_the_base(file: str, base: str) -> None:
    mech = mb.load(ASSETS / f"{file}.scene.toml").mechanism
    body, reason = tool_of(mech)
    assert body == base and reason.startswith("the base, which ") and reason.endswith(" carry")
    # an arm of three joints on it is the tool
    spare, here = Body("spare", 1.0, np.zeros(3), np.eye(3)), Pose.identity()
    links = [replace(spare, name=f"l{k}") for k in range(3)]
    pairs = [Pair(f"a{k}", "revolute", f"l{k - 1}" if k else base, f"l{k}", here, here) for k in range(3)]
    armed = replace(mech, bodies=(*mech.bodies, *links), pairs=(*mech.pairs, *pairs))
    assert tool_of(armed) == ("l2", "the outermost link")


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("file", "base"), [("r2d2.urdf", "base_link"), ("husky/husky.urdf", "base_footprint")]
)
def test_robots_of_pybullet_on_wheels_have_their_base_as_tool(file: str, base: str) -> None:
    body, reason = tool_of(mb.load(BULLET_DATA / file).mechanism)
    assert body == base and "seem to carry" in reason
    assert tool_of(mb.load(BULLET_DATA / file, base="fixed").mechanism)[0] != base


@pytest.mark.bullet
@pytest.mark.parametrize("file", ["quadruped/minitaur.urdf", "laikago/laikago.urdf", "kuka_iiwa/model.urdf"])
def test_legs_and_arms_do_not_roll(file: str) -> None:
    assert "carry" not in tool_of(mb.load(BULLET_DATA / file, base="free").mechanism)[1]


@pytest.mark.bullet
def test_a_stop_of_a_husky_says_so_and_gives_the_way_of_its_base() -> None:
    """It rolls straight ahead: the way of the base is that of a wheel's rim."""
    wheels = [f"{end}_{side}_wheel" for end in ("front", "rear") for side in ("left", "right")]
    brakes = [word for wheel in wheels for word in ("--brake", f"{wheel}:torque=10,delay=0.1")]
    rates = ",".join(f"{wheel}=2" for wheel in wheels)
    run = ("estop", str(ASSETS / "husky.scene.toml"), "--qd", rates, *brakes)
    stop = json.loads(call(*run, "--output-format", "json").out)
    assert stop["tool"]["body"] == "base_footprint"
    assert any(note.startswith("no tool given; using base_footprint, the base") for note in stop["notes"])
    travel = abs(next(j for j in stop["joints"] if j["name"] == "front_left_wheel")["travel"])
    assert stop["tool"]["distance"] == pytest.approx(0.17775 * travel, rel=1e-3)
