"""The base of a robot whose file cannot state one: arms are bolted down in questions about standing robots."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin import readers
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.readers.standing import bolted_down, feet, standing, stands
from mbplugin.stopping.scenario.start import Recorded, read_recording
from mbplugin.stopping.sweep import sweep_plan

LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    "</link>"
)


def joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str) -> str:
    limit = (
        "" if kind in ("continuous", "fixed") else '<limit lower="-2" upper="2" effort="40" velocity="2"/>'
    )
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


def robot(*joints: tuple[str, str, str, str, str, str]) -> str:
    links = dict.fromkeys(name for row in joints for name in row[2:4] if name != "world")
    world = '<link name="world"/>' if any("world" in row for row in joints) else ""
    return f'<robot name="r">{world}{"".join(map(LINK.format, links))}{"".join(joint(*row) for row in joints)}</robot>'


ARM = (
    ("a", "revolute", "bottom", "upper", "0 0 0.2", "0 0 1"),
    ("b", "revolute", "upper", "lower", "0 0 0.3", "0 1 0"),
    ("c", "continuous", "lower", "hand", "0.3 0 0", "1 0 0"),
)
#: What is bolted down, and what is not.
BOLTED = {
    "arm": ARM,
    "two arms": (
        *ARM,
        *((f"{n}2", k, f"{p}2" if p != "bottom" else p, f"{c}2", x, a) for n, k, p, c, x, a in ARM),
    ),
    "hand": tuple((f"f{k}", "revolute", "palm", f"tip{k}", f"0 0.0{k} 0.1", "0 1 0") for k in range(5)),
    "hand that hangs down": tuple(
        (f"f{k}", "revolute", "wrist", f"left_{name}_1", f"0 0.0{k} -0.1", "0 1 0")
        for k, name in enumerate(("thumb", "index", "middle", "ring"))
    ),
    "shoulder in the chain": (("ship_1", "revolute", "bottom", "chip", "0 0 1", "0 1 0"),),
}
LEFT = {
    "fixed by the file": (("base", "fixed", "world", "bottom", "0 0 0", "0 0 1"), *ARM),
    "floating": (("base", "floating", "world", "bottom", "0 0 0", "0 0 1"), *ARM),
    "on wheels": (
        *ARM,
        *((f"w{k}", "continuous", "bottom", f"disc{k}", f"0 {k} 0", "0 1 0") for k in range(4)),
    ),
    "wheels by name": (*ARM, ("x", "revolute", "bottom", "left_wheel", "0 1 0", "0 1 0")),
    "by camel case": (*ARM, ("x", "revolute", "bottom", "LeftFoot", "0 0 1", "0 1 0")),
    "on legs": tuple((f"l{k}", "revolute", "trunk", f"shank{k}", f"{k} 0 -0.4", "0 1 0") for k in range(4)),
    "rotors": tuple((f"p{k}", "continuous", "trunk", f"blade{k}", f"{k} 0 0.1", "0 0 1") for k in range(4)),
    "one body": (("weld", "fixed", "a", "b", "0 0 1", "0 0 1"),),
}


def load(rows: tuple[tuple[str, str, str, str, str, str], ...], **options: str) -> mb.Scene:
    return readers.load("r.urdf", text=robot(*rows), **options)


@pytest.mark.parametrize("name", BOLTED)
def test_an_arm_is_bolted_down(name: str) -> None:
    scene = load(BOLTED[name])
    fixed, stated = bolted_down(scene), load(BOLTED[name], base="fixed")
    root = scene.mechanism.tree.joints[0].outer
    assert fixed.mechanism.assumed_fixed == (root,) and stated.mechanism.assumed_fixed == ()
    assert fixed.mechanism.q_names == stated.mechanism.q_names
    assert np.array_equal(fixed.state.q, stated.state.q) and len(fixed.state.qd) == len(stated.state.qd)
    assert bolted_down(fixed) is fixed and bolted_down(stated) is stated


@pytest.mark.parametrize("name", LEFT)
def test_what_states_its_base_or_rolls_walks_and_flies_is_left_alone(name: str) -> None:
    scene = load(LEFT[name])
    assert bolted_down(scene) is scene


WORLD_SDF = """<sdf version="1.9"><world name="w">
<model name="ground"><static>true</static><link name="l"><collision name="c"><geometry><plane><normal>0 0 1</normal>
</plane></geometry></collision></link></model>
<model name="crate"><static>true</static><pose>5 0 -1 0 0 0</pose><link name="l"><collision name="c"><geometry><box>
<size>1 1 1</size></box></geometry></collision></link></model>
<model name="cart"><pose>0 0 0.1 0 0 0</pose><link name="body"><inertial><mass>4</mass></inertial></link>
{wheels}</model>
</world></sdf>"""
WHEEL_SDF = """<link name="wheel{k}"><pose>{x} {y} 0 1.5707963267948966 0 0</pose><inertial><mass>1</mass></inertial>
<collision name="c"><geometry><cylinder><radius>0.1</radius><length>0.05</length></cylinder></geometry></collision>
</link><joint name="j{k}" type="revolute"><parent>body</parent><child>wheel{k}</child><axis>
<xyz>0 0 1</xyz></axis></joint>"""


def test_a_robot_stands_beside_other_models_of_its_world(tmp_path: Path) -> None:
    """Nearly every world of Gazebo has a ground plane, a body fixed to the world; it ties no robot to the ground."""
    places = [(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]
    wheels = "".join(WHEEL_SDF.format(k=k, x=x, y=y) for k, (x, y) in enumerate(places))
    file = tmp_path / "world.sdf"
    file.write_text(WORLD_SDF.format(wheels=wheels))
    result = mb.reactions(file)
    assert result.stance is not None
    # the crate reaches lower, and carries nothing
    assert sorted(result.stance.links) == [f"cart/wheel{k}" for k in range(4)]
    assert not result["world→ground/l"].wrench.any()
    assert mb.engines(file, only=["mujoco"]).stance is not None
    assert bolted_down(mb.load(file), on_stand=True).mechanism.assumed_fixed == ("cart/body",)


def test_a_base_without_mass_is_held_in_a_motion_unless_it_is_stated_free(tmp_path: Path) -> None:
    """Nothing moves such a base: a lift on it falls with g, as where its base is stated as fixed."""
    file = tmp_path / "lift.urdf"
    text = robot(("lift", "prismatic", "stand", "car", "0 0 1", "0 0 1"))
    file.write_text(text.replace(LINK.format("stand"), '<link name="stand"/>'))
    motion = mb.simulate(file, 1.0)
    assert motion.mechanism.assumed_fixed == ("stand",)
    assert motion.q[-1] == pytest.approx(mb.simulate(mb.load(file, base="fixed"), 1.0).q[-1])
    assert motion.q[-1, 0] == pytest.approx(-9.81 / 2)
    assert "stand taken as fixed to the ground (--base free)" in " ".join(str(motion).split())
    with pytest.raises(BrokenModel, match="'stand' is free, and its rate"):
        mb.simulate(mb.load(file, base="free"), 1.0)
    # one with mass falls with what it carries
    file.write_text(text)
    assert mb.simulate(file, 1.0).mechanism.assumed_fixed == ()


LEGS = """<robot name="walker">
  <link name="base"><inertial><origin xyz="1.5 0 0"/><mass value="10"/>{inertia}</inertial>
    <collision><geometry><box size=".4 .3 .1"/></geometry></collision></link>
  <link name="l_leg"><inertial><mass value="1"/>{inertia}</inertial>{foot}</link>
  <link name="r_leg"><inertial><mass value="1"/>{inertia}</inertial>{foot}</link>
  <joint name="hl" type="revolute"><parent link="base"/><child link="l_leg"/><origin xyz="0 .2 0"/>{hip}</joint>
  <joint name="hr" type="revolute"><parent link="base"/><child link="r_leg"/><origin xyz="0 -.2 0"/>{hip}</joint>
</robot>""".format(
    inertia='<inertia ixx=".01" iyy=".02" izz=".01" ixy="0" ixz="0" iyz="0"/>',
    foot='<collision><origin xyz="0 0 -.25"/><geometry><box size=".1 .05 .5"/></geometry></collision>',
    hip='<axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="50" velocity="2"/>',
)


@pytest.mark.long
@pytest.mark.bullet
@pytest.mark.parametrize("kind", ["arm", "lift", "wheels", "legs"])
def test_every_page_and_file_of_a_robot_whose_base_is_held_has_its_coordinates(
    kind: str, tmp_path: Path
) -> None:
    """A result holds the base, and what shows it has to hold it too: pages ended in tracebacks."""
    file, page, saved = tmp_path / "r.urdf", tmp_path / "r.html", tmp_path / "r.npz"
    text = robot(
        ("j", "continuous", "stand", "car", "0 0 1", "0 1 0"),
        *((f"wheel{k}", "continuous", "stand", f"wheel{k}", f"0 {k} 0", "0 1 0") for k in (1, -1)),
    )
    if kind == "lift":
        text = robot(("lift", "prismatic", "stand", "car", "0 0 1", "0 0 1"))
    elif kind == "arm":
        text = robot(*ARM)
    if kind in ("lift", "wheels"):
        text = text.replace(LINK.format("stand"), '<link name="stand"/>')
    file.write_text(LEGS if kind == "legs" else text)
    commands = [("simulate", "--duration", "0.1")]
    if kind != "wheels":
        # without shapes its wheels stand on nothing
        commands.append(("reactions",))
    if kind in ("arm", "legs"):
        commands += [("estop",), ("stop-table",)]
    if kind == "legs":
        commands.append(("reactions", "--q", "hl=0.1"))
    for command, *more in commands:
        for output in (page, tmp_path / "r.json"):
            outcome = call(command, str(file), *more, "--output", str(output), "--force")
            assert outcome.code in (0, 1), (command, more, outcome.err)
    scene, motion = mb.load(file), mb.simulate(file, 0.1)
    assert "written" in mb.show(scene, motion, picture=tmp_path / "r.png")
    motion.save(saved)
    if motion.mechanism.assumed_fixed:
        # a base that falls has no reactions
        assert len(mb.envelope(scene, saved).time)


MEETING = """
[[model]]
file = "r.urdf"
[[closure]]
name = "tip"
type = "spherical"
body_a = "low1"
body_b = "low2"
xyz_a = [0, 0, -0.4]
xyz_b = [0, 0, -0.4]
{more}
"""


def test_chains_that_meet_in_a_loop_below_their_base_are_no_legs(tmp_path: Path) -> None:
    """A delta robot hangs from its base on three arms that meet at a platform; four such pairs of arms are legs."""

    def chains(*numbers: int) -> tuple[tuple[str, str, str, str, str, str], ...]:
        return tuple(
            row
            for k in numbers
            for row in (
                (f"m{k}", "revolute", "frame", f"up{k}", f"{k // 2} 0 0", "0 1 0"),
                (f"e{k}", "revolute", f"up{k}", f"low{k}", "0 0 -0.4", "0 1 0"),
            )
        )

    closure = '[[closure]]\nname = "tip{0}"\ntype = "spherical"\nbody_a = "low{0}"\nbody_b = "low{1}"\n'
    closure += "xyz_a = [0, 0, -0.4]\nxyz_b = [0, 0, -0.4]"

    def read(count: int, *more: tuple[int, int]) -> mb.Scene:
        (tmp_path / "r.urdf").write_text(robot(*chains(*range(1, count + 1))))
        (tmp_path / "r.scene.toml").write_text(
            MEETING.format(more="\n".join(closure.format(*pair) for pair in more))
        )
        return mb.load(tmp_path / "r.scene.toml")

    delta = read(3, (3, 1))
    assert feet(delta.mechanism, forward(delta.mechanism, delta.state.q)) == ()
    assert bolted_down(delta).mechanism.assumed_fixed == ("frame",)
    walker = read(4, (3, 4))
    assert len(feet(walker.mechanism, forward(walker.mechanism, walker.state.q))) == 2
    assert bolted_down(walker) is walker


@pytest.mark.parametrize("name", [name for name in LEFT if name not in ("fixed by the file", "floating")])
def test_what_rolls_walks_and_flies_is_held_where_joints_are_looked_at_one_by_one(name: str) -> None:
    scene = load(LEFT[name])
    held = bolted_down(scene, on_stand=True)
    assert held.mechanism.assumed_fixed == (scene.mechanism.tree.joints[0].outer,)


def test_a_free_base_that_is_stated_stays_free() -> None:
    scene = load(ARM, base="free")
    assert bolted_down(scene) is scene and bolted_down(scene, on_stand=True) is scene
    tied = load(LEFT["floating"])
    assert bolted_down(tied, on_stand=True) is tied


@pytest.mark.long
@pytest.mark.parametrize(
    "command", [("stop-table",), ("worst-stop", "--samples", "1", "--max-seconds", "1"), ("engines",)]
)
def test_a_robot_on_wheels_is_held_in_tables_searches_and_engines(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    """The arm of a robot that stands on its wheels has a table; while the robot falls it would have none."""
    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM[:2], LEFT["wheels by name"][-1]))
    taken, fixed, free = (
        call(command[0], str(file), *command[1:], *more)
        for more in ((), ("--base", "fixed"), ("--base", "free"))
    )
    assert taken.code == fixed.code == 0 and free.code == 2
    said = "bottom is taken as fixed to the ground: --base free (base='free') changes that."
    assert said in " ".join(taken.out.replace("!", " ").split()) and said not in " ".join(fixed.out.split())


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    "command",
    [
        ("estop",),
        ("stop-table",),
        pytest.param(("worst-stop", "--samples", "1"), marks=pytest.mark.long),
        ("reactions",),
        ("engines",),
    ],
    ids=lambda command: command[0],
)
def test_the_text_says_so_at_its_top_and_the_numbers_are_those_of_a_fixed_base(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM[:2]))
    taken, fixed, page = (
        call(command[0], str(file), *command[1:], *more)
        for more in ((), ("--base", "fixed"), ("--output-format", "html"))
    )
    assert taken.code == fixed.code == page.code == 0
    lines, others = ([line for line in done.out.splitlines() if line] for done in (taken, fixed))
    top, other_top = (" ".join(" ".join(own[:5]).replace("!", "").split()) for own in (lines, others))
    assert re.search(r"bottom (is )?taken as fixed to the ground(: --base free| \(--base free\))", top)
    assert "taken as fixed" not in other_top
    numbers = ([line for line in own if not line.startswith("!")] for own in (lines, others))
    assert next(numbers) == next(numbers)
    assert "bottom is taken as fixed to the ground" in page.out


def test_what_a_call_states_of_the_base_leaves_it_free() -> None:
    scene = load(ARM)
    nq, nv = len(scene.mechanism.q_names), len(scene.mechanism.qd_names)
    for stated in ({"bottom.vz": 1.0, "a": 1.0}, np.zeros(nq), np.zeros(nv)):
        assert standing(scene, None, stated) is scene
    assert standing(scene, {"a": 1.0}, None).mechanism.assumed_fixed == ("bottom",)
    assert mb.reactions(scene).mechanism.assumed_fixed == ("bottom",)
    assert mb.estop(scene, qd={"bottom.wz": 1.0}, duration=0.1).scenario.mech.assumed_fixed == ()


@pytest.mark.long
def test_a_pose_outside_the_limits_starts_in_the_middle_of_the_range(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM[:2]).replace('lower="-2" upper="2"', 'lower="0.5" upper="2"', 1))
    stop = mb.estop(mb.load(file), qd={"b": 0.5})
    assert stop.scenario.q[0] == 1.25 and "a at 1.25 rad: --q (q) states another" in stop.scenario.taken[0]
    for command in (("estop",), ("stop-table",), ("worst-stop", "--samples", "1", "--max-seconds", "1")):
        assert "it starts with a at 1.25 rad" in " ".join(
            call(command[0], str(file), *command[1:]).out.split()
        )
    stated = mb.estop(mb.load(file), q={"a": 0.7}, qd={"b": 0.5})
    assert stated.scenario.q[0] == 0.7 and not stated.scenario.taken
    refused = call("estop", str(file), "--q", "a=0.1", "--qd", "b=1")
    assert refused.code == 2 and "below its lower limit" in refused.err


@pytest.mark.long
def test_fingers_that_follow_each_other_are_rigid_in_tables_and_not_in_single_stops(tmp_path: Path) -> None:
    """Their numbers are those of the arm with the fingers welded to it."""
    fingers = (
        ("left", "prismatic", "lower", "jaw_left", "0 0 0.4", "0 1 0"),
        ("right", "prismatic", "lower", "jaw_right", "0 0 0.4", "0 1 0"),
    )
    text = robot(*ARM[:2], *fingers)
    mimic = '<mimic joint="left" multiplier="-1"/></joint></robot>'
    file, welded = tmp_path / "r.urdf", tmp_path / "welded.urdf"
    file.write_text(text.replace("</joint></robot>", mimic))
    welded.write_text(text.replace('type="prismatic"', 'type="fixed"'))
    found, expected = (
        mb.stopping_table(mb.load(path, base="fixed"), tool="lower") for path in (file, welded)
    )
    assert "left, right: taken as rigid in their pose" in found.warnings[0]
    for a, b in zip(found.rows, expected.rows, strict=True):
        assert a["joint"] == b["joint"] and np.isclose(a["time"], b["time"], rtol=1e-9, atol=0)
        assert np.isclose(a["tool_distance"], b["tool_distance"], rtol=1e-9)
    assert {j.name for j in mb.estop(mb.load(file), qd={"a": 1}).joints} >= {"a", "b", "left"}
    assert mb.engines(mb.load(file)).agrees


def test_a_lint_says_which_freedoms_are_those_of_the_base(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM))
    assert "mobility 9: 3 of the joints, 6 of the free base" in " ".join(call("lint", str(file)).out.split())
    assert call("lint", str(file), "--base", "fixed").out.startswith("r: NOT OVERCONSTRAINED, mobility 3\n")


@pytest.mark.bullet
def test_links_without_inertial_weigh_what_they_do_in_pybullet(tmp_path: Path) -> None:
    import pybullet

    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM).replace(LINK.format("upper"), '<link name="upper"/>'))
    client = pybullet.connect(pybullet.DIRECT)
    try:
        flags = pybullet.URDF_USE_INERTIA_FROM_FILE
        body = pybullet.loadURDF(str(file), flags=flags, physicsClientId=client)
        mass, _, inertia, *_ = pybullet.getDynamicsInfo(body, 0, physicsClientId=client)
    finally:
        pybullet.disconnect(client)
    upper = mb.load(file, massless="pybullet").mechanism.bodies[1]
    assert upper.mass == mass == 1.0 and np.array_equal(np.diag(upper.I_C), inertia)
    assert mb.load(file).mechanism.bodies[1].mass == 0.0
    assert "kg·m" in call("estop", "--help").out
    stated, plain = (
        json.loads(call("estop", str(file), *more, "--output-format", "json").out)
        for more in (("--massless", "pybullet"), ())
    )
    assert stated["peaks"] != plain["peaks"]
    assert call("estop", str(file), "--massless", "heavy").code == 2
    with pytest.raises(BadUsage, match="massless is"):
        mb.load(file, massless="heavy")  # type: ignore[arg-type]


def test_effort_limits_of_no_drive_are_called_placeholders(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    text = robot(*ARM[:2])
    file.write_text(text.replace('effort="40"', 'effort="4000"'))
    stop = mb.estop(mb.load(file), qd={"a": 1.0})
    (said,) = [one for one in stop.scenario.of_effort.warnings if "placeholders" in one]
    # b carries 1 kg at its own joint, a besides that one at 0.3 m
    assert "that of a, 4000 N·m, is 1359 times the 2.94 N·m that holds what it carries" in said
    assert said in str(stop).replace("\n! ", " ")
    for changed in ({"brakes": [{"joint": j, "torque": 20, "delay": 0.01} for j in "ab"]}, {"category": 2}):
        quiet = mb.estop(mb.load(file), qd={"a": 1.0}, decelerations={"a": 5.0, "b": 5.0}, **changed)
        assert "placeholders" not in str(quiet)
    file.write_text(text)
    assert "placeholders" not in str(mb.estop(mb.load(file), qd={"a": 1.0}))


def test_a_robot_on_legs_is_told_where_to_hold_it(tmp_path: Path) -> None:
    """The remedy of the refusal gives reactions: the feet carry the weight."""
    from mbplugin.errors import BadUsage

    legs = [
        row
        for k, (x, y) in enumerate(((0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)))
        for row in (
            (f"hip{k}", "revolute", "trunk", f"upper{k}", f"{x} {y} 0", "0 1 0"),
            (f"knee{k}", "revolute", f"upper{k}", f"end{k}", "0.05 0 -0.3", "0 1 0"),
            (f"sole{k}", "fixed", f"end{k}", f"tip{k}", "-0.05 0 -0.3", "0 1 0"),
        )
    ]
    file = tmp_path / "dog.urdf"
    file.write_text(robot(*legs))
    with pytest.raises(BadUsage, match=r"nothing holds trunk.*each body_a of tip0, tip1, tip2, tip3"):
        mb.reactions(mb.load(file))
    contacts = "".join(
        f'[[contact]]\nname = "s{k}"\nbody_a = "tip{k}"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nmu = 0.6\n'
        for k in range(4)
    )
    scene = tmp_path / "stands.scene.toml"
    scene.write_text(f'[[model]]\nfile = "dog.urdf"\n{contacts}')
    found = mb.reactions(mb.load(scene))
    weight = 9.81 * sum(body.mass for body in found.mechanism.bodies)
    ends = [(found[f"s{k}"]["cn"].lower, found[f"s{k}"]["cn"].upper) for k in range(4)]
    assert sum(low for low, _ in ends) <= weight <= sum(high for _, high in ends)
    # four links of 1 kg are 0.05 m in front of the middle of feet 0.4 m apart
    assert ends[0] == pytest.approx((9.81 * 4 * 0.05 / 0.4, weight / 2), abs=1e-6)


def test_wheels_that_a_scene_states_leave_the_base_free(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM))
    scene = tmp_path / "rolls.scene.toml"
    model = '[[model]]\nfile = "r.urdf"\n'
    scene.write_text(
        f'{model}[[pfaffian]]\nname = "p"\ntype = "knife_edge"\nbody = "bottom"\ndirection = [0, 1, 0]\n'
    )
    assert bolted_down(mb.load(scene)).mechanism.assumed_fixed == ()
    scene.write_text(model)
    assert bolted_down(mb.load(scene)).mechanism.assumed_fixed == ("bottom",)


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_a_recorded_motion_of_the_base_is_not_dropped(ending: str, tmp_path: Path) -> None:
    """A stop from a motion of a free robot goes on with it; one of joints alone is that of a bolted arm."""
    file = tmp_path / "r.urdf"
    file.write_text(robot(*ARM[:2]))
    motions = {}
    for base in ("free", "fixed"):
        motion = mb.simulate(
            mb.load(file, base=base), 0.2, qd={"a": 0.5, **({"bottom.wz": 1.0} if base == "free" else {})}
        )
        motions[base] = tmp_path / f"{base}.{ending}"
        motion.save(motions[base])
    for base, path in motions.items():
        found = json.loads(
            call("estop", str(file), "--trajectory", str(path), "--at", "0.1", "--output-format", "json").out
        )
        assert found["falls"] is (base == "free")
        plan = sweep_plan(mb.load(file), 2, trajectory=path)
        assert bool(plan.scenario.mech.assumed_fixed) is (base == "fixed")
        assert plan.states is not None
        if base == "free":
            column = len(plan.scenario.q) + plan.scenario.mech.qd_names.index("bottom.wz")
            assert plan.states[0, column] == pytest.approx(1.0)
    # the state at the signal is that of the motion, its base included
    start = Recorded(motions["free"], 0.1)
    stop = mb.estop(mb.load(file), start=start)
    there = mb.simulate(mb.load(file, base="free"), 0.1, qd={"a": 0.5, "bottom.wz": 1.0})
    assert np.allclose(stop.scenario.q, there.q[-1], atol=1e-4) and np.allclose(
        stop.scenario.qd, there.qd[-1], atol=1e-3
    )


def test_a_recorded_base_without_its_rates_is_refused(tmp_path: Path) -> None:
    file, motion = tmp_path / "r.urdf", tmp_path / "m.csv"
    file.write_text(robot(*ARM[:2]))
    motion.write_text("time,a,bottom.z\n0,0,1\n0.1,0.1,0.9\n0.2,0.2,0.8\n")
    refused = call("estop", str(file), "--trajectory", str(motion), "--at", "0.1")
    assert refused.code == 2 and "'bottom.z' is recorded, and no rate 'bottom.vx'" in refused.err
    # what is only drawn needs no rates
    mech = mb.load(file).mechanism
    pose = read_recording(motion, mech.q_names).pose(mech, home(mech), 0.1)
    assert (pose[mech.q_names.index("a")], pose[mech.q_names.index("bottom.z")]) == pytest.approx((0.1, 0.9))


def test_a_fall_is_the_first_line_and_no_distance() -> None:
    stop = mb.estop(load(ARM, base="free"), qd={"a": 1.0}, duration=1.0)
    assert str(stop).startswith("r falls: nothing holds its base, so it has no stopping distance")
    assert "along its path" not in str(stop) and stop.to_dict()["falls"] is True
    assert mb.estop(load(ARM, base="fixed"), qd={"a": 1.0}).to_dict()["falls"] is False


@pytest.mark.long
def test_a_finger_whose_brake_is_given_is_not_parted_from_the_one_it_leads(tmp_path: Path) -> None:
    fingers = (
        ("left", "prismatic", "lower", "jaw_left", "0 0 0.4", "0 1 0"),
        ("right", "prismatic", "lower", "jaw_right", "0 0 0.4", "0 1 0"),
    )
    file = tmp_path / "r.urdf"
    mimic = '<mimic joint="left" multiplier="-1"/></joint></robot>'
    file.write_text(robot(*ARM[:2], *fingers).replace("</joint></robot>", mimic))
    table = call("stop-table", str(file), "--tool", "lower", "--brake", "left:torque=5")
    assert table.code == 0 and "right follows the other joints through couplings and loops" in table.out


@pytest.mark.long
def test_a_pose_of_the_rest_can_be_stated_in_tables_and_searches(tmp_path: Path) -> None:
    """The wrist lies beside the arm to its tool, and leans on it as it stands."""
    file = tmp_path / "r.urdf"
    wrist = ("w", "revolute", "lower", "end", "0 0 0.5", "1 0 0")
    file.write_text(robot(*ARM[:2], wrist, ("t", "fixed", "end", "tip", "0 0.3 0.2", "0 0 1")))
    rows = {}
    for q in (None, {"w": 1.2}):
        table = mb.stopping_table(mb.load(file), q=q, tool="lower")
        rows[str(q)] = [row["time"] for row in table.rows]
        assert {row["q"].get("w", 0.0) for row in table.rows} == {1.2 if q else 0.0}
    assert rows["None"] != rows["{'w': 1.2}"]
    for command in ("stop-table", "worst-stop --samples 1 --max-seconds 1"):
        words = command.split()
        assert call(words[0], str(file), *words[1:], "--tool", "lower", "--q", "w=1.2").code == 0
        refused = call(words[0], str(file), *words[1:], "--q", "nothing=1")
        assert refused.code == 2 and "nothing" in refused.err


def test_freedoms_of_joints_are_not_counted_where_they_are_false() -> None:
    """A free body that carries a stretched strut: 7 freedoms to first order, 6 in fact, and none is a joint's."""
    body = '[[body]]\nname = "{}"\nmass = 1\nxyz = [{}, 0, 0]\ninertia = [0.01, 0.01, 0.01]\n'
    pair = '[[pair]]\nname = "{}"\ntype = "revolute"\nbody_a = "{}"\nbody_b = "{}"\nxyz_a = [{}, 0, 0]\n'
    text = "".join(
        (
            *(body.format(*row) for row in (("base", 0), ("a", 0), ("b", 0.3))),
            *(pair.format(*row) for row in (("A", "base", "a", 0), ("B", "a", "b", 0.3))),
            '[[closure]]\nname = "C"\ntype = "revolute"\nbody_a = "base"\nbody_b = "b"\nxyz_a = [0.5, 0, 0]\n',
        )
    )
    report = mb.lint("t.scene.toml", text=text)
    assert (report.analysis.dof, report.analysis.mobility.finite) == (7, 6)
    said = " ".join(str(report).split())
    assert "mobility 7 to first order, 6 in fact" in said and "of the joints" not in said


@pytest.mark.parametrize(("rotor", "leg", "expected"), [("rotor", "arm", False), ("hip_rotor", "leg", True)])
def test_rotors_fly_unless_they_are_those_of_legs(
    rotor: str, leg: str, expected: bool, tmp_path: Path
) -> None:
    file = tmp_path / "r.urdf"
    joints = [(f"{leg}{k}", "continuous", "body", f"{leg}{k}_{rotor}", f"{k} 0 0", "0 0 1") for k in range(2)]
    text = robot(*joints)
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    file.write_text(text.replace("</link>", f"{ball}</link>"))
    assert stands(mb.load(file)) is expected


def test_what_hangs_from_the_ground_is_no_limb_of_a_free_body(tmp_path: Path) -> None:
    """A world with a door and a loose box: the box falls, and the sentence is about the box."""
    inertial = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    (tmp_path / "world.sdf").write_text(
        f"""<sdf version="1.9"><world name="w">
        <model name="door"><link name="leaf">{inertial}</link><joint name="hinge" type="revolute">
        <parent>world</parent><child>leaf</child><axis><xyz>0 0 1</xyz></axis></joint></model>
        <model name="box"><pose>3 0 1 0 0 0</pose><link name="link">{inertial}</link></model>
        </world></sdf>"""
    )
    with pytest.raises(mb.MbPluginError, match="nothing holds box/link in the world"):
        mb.reactions(tmp_path / "world.sdf")
    scene = mb.load(tmp_path / "world.sdf")
    assert feet(scene.mechanism, forward(scene.mechanism, scene.state.q)) == ()
