"""Files with defects as text, and the same files as they must be when these are mended.

A text is written once, with each defect as ``⟦wrong|right⟧``: one reading of it is the file, the other what ``--fix``
must make of it, byte for byte. Line ends, indentation, comments and the like vary with the seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

_PLANTED = re.compile(r"⟦(.*?)\|(.*?)⟧", re.DOTALL)
INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
_QUARTER = "1.5707963267948966"


@dataclass(frozen=True)
class PlantedText:
    """A file with its defects.

    Parameters
    ----------
    name : str
    before, after : bytes
        The file, and what it must become.
    count : int
        Number of defects.
    unsafe : bool
        Whether mending needs unsafe fixes.
    """

    name: str
    before: bytes
    after: bytes
    count: int
    unsafe: bool


def _made(
    name: str, text: str, dice: random.Random, *, unsafe: bool = False, mark: bool = True
) -> PlantedText:
    """Return both readings of a text, in one of the line ends and encodings that files have."""
    text = text.replace("\n", dice.choice(["\n", "\r\n"]))
    encoding = dice.choice(["utf-8", "latin-1", "utf-8-sig"] if mark else ["utf-8"])
    readings = [_PLANTED.sub(rf"\{side}", text).encode(encoding) for side in (1, 2)]
    return PlantedText(name, *readings, len(_PLANTED.findall(text)), unsafe)


def corpus(seed: int) -> list[PlantedText]:
    """Return some 25 files of all formats with more than 200 defects."""
    dice = random.Random(seed)
    files = [_urdf(f"safe{k}.urdf", dice, _SAFE) for k in range(6)]
    files += [_urdf(f"unsafe{k}.urdf", dice, _UNSAFE, unsafe=True) for k in range(3)]
    files += [_xacro(f"macro{k}.urdf.xacro", dice) for k in range(2)]
    files += [_sdf(f"chain{k}.sdf", dice) for k in range(3)]
    files += [_loop_sdf("loop.sdf", dice), _loop_urdf("loop.urdf", dice)]
    files += [_scene(f"cell{k}.scene.toml", dice) for k in range(2)]
    files += [_weaker_scene("weaker.scene.toml", dice), _stage("stage.usda", dice), _mjcf("twice.xml", dice)]
    files += [_refused_mjcf("refused.xml", dice), _mjcf_in_radians("radians.xml", dice)]
    files += [_loop_mjcf("loop.xml", dice), _inverted_mjcf("inverted.xml", dice)]
    files += [_urdf("more.urdf", dice, _SAFE)]
    return files


# URDF: a chain, each joint with one defect.

#: What a joint has inside: axis, origin, limit, dynamics, mimic; each defect changes one of them.
_HEALTHY = {
    "axis": '<axis xyz="0 0 1"/>',
    "origin": '<origin xyz="0 0 0.1" rpy="0 0 0"/>',
    "limit": '<limit lower="-1" upper="1.5" effort="10" velocity="1"/>',
    "dynamics": '<dynamics damping="0.5" friction="0.1"/>',
    "mimic": "",
    "beside": "",
}
Plant = Callable[[str, random.Random], dict[str, str]]


def _long_axis(name: str, dice: random.Random) -> dict[str, str]:
    wrong = dice.choice(["2", "-3", "0.5"])
    right = "-1" if wrong == "-3" else "1"
    return {"axis": f"<axis\txyz = '0  0\t⟦{wrong}|{right}⟧'  />"}


def _misspelt_attribute(name: str, dice: random.Random) -> dict[str, str]:
    wrong = dice.choice(["dampng", "Damping", "dampign"])
    return {"dynamics": f'<dynamics ⟦{wrong}|damping⟧="0.5" friction="0.1"/>'}


def _misspelt_tag(name: str, dice: random.Random) -> dict[str, str]:
    wrong = dice.choice(["dynamcs", "Dynamics", "dynanics"])
    return {"dynamics": f'<⟦{wrong}|dynamics⟧ damping="0.5"></⟦{wrong}|dynamics⟧ >'}


def _second_axis(name: str, dice: random.Random) -> dict[str, str]:
    return {"axis": '<axis xyz="0 0 1"/>⟦<axis xyz="1 0 0"/>|⟧<!-- one -->'}


def _malformed(name: str, dice: random.Random) -> dict[str, str]:
    return {"origin": '<origin rpy="⟦0 0  0.5.|0 0 0.5⟧" xyz="0 0 0.1"/>'}


def _self_mimic(name: str, dice: random.Random) -> dict[str, str]:
    return {"mimic": f'⟦<mimic joint="{name}"/>|⟧'}


def _near_reference(name: str, dice: random.Random) -> dict[str, str]:
    return {"beside": f'<gazebo reference="⟦{name[:-1]}|{name}⟧"><mu1>1</mu1></gazebo>'}


def _degrees(name: str, dice: random.Random) -> dict[str, str]:
    return {
        "limit": '<limit lower="⟦-90|-1.5707963267948966⟧" upper="⟦180|3.141592653589793⟧" effort="1" velocity="1"/>'
    }


def _inverted(name: str, dice: random.Random) -> dict[str, str]:
    return {"limit": '<limit lower="⟦1.5|-0.50⟧" upper="⟦-0.50|1.5⟧" effort="10" velocity="1"/>'}


def _negative(name: str, dice: random.Random) -> dict[str, str]:
    return {"dynamics": '<dynamics damping="⟦-0.50|0.50⟧" friction="0.1"/>'}


def _turned(name: str, dice: random.Random) -> dict[str, str]:
    return {"origin": f'<origin xyz="0 0 0.1" rpy="0 ⟦90|{_QUARTER}⟧ 0"/>'}


_SAFE: tuple[Plant, ...] = (
    _long_axis,
    _misspelt_attribute,
    _misspelt_tag,
    _second_axis,
    _malformed,
    _self_mimic,
    _near_reference,
)
_UNSAFE: tuple[Plant, ...] = (_degrees, _inverted, _negative, _turned, _long_axis)
_WORDS = (
    "shoulder",
    "elbow",
    "wrist",
    "flange",
    "finger",
    "camera",
    "rail",
    "column",
    "carriage",
    "spindle",
    "turret",
)


def _noise(dice: random.Random) -> str:
    """Return something between elements that no reader uses and no writer would keep."""
    return dice.choice(
        [
            "",
            '<!-- größer: <axis xyz="0 0 2"/> -- stays -->',
            "\n\t\n",
            "<?tool keep='1'   this?>",
            "   ",
        ]
    )


def _urdf(name: str, dice: random.Random, plants: tuple[Plant, ...], *, unsafe: bool = False) -> PlantedText:
    blank = dice.choice(["\t", "  ", "   "])
    lines = ['<?xml version="1.0"?>', "<robot  name='chain'>", f'{blank}<link name="base">{INERTIAL}</link>']
    above = "base"
    for word in _WORDS:
        joint = f"{word}_joint"
        parts = {**_HEALTHY, **dice.choice(plants)(joint, dice)}
        lines += [
            f'{blank}<link name="{word}">{INERTIAL}{_noise(dice)}<!-- &amp; &#65; --></link>',
            f'{blank}<joint  type="revolute" name="{joint}">{_noise(dice)}',
            f'{blank * 2}<parent link="{above}" /><child link="{word}"></child>',
            *(f"{blank * 2}{parts[k]}{_noise(dice)}" for k in ("origin", "axis", "limit", "dynamics")),
            f"{blank * 2}{parts['mimic']}<!-- last --></joint>",
            f"{blank}{parts['beside']}{_noise(dice)}",
        ]
        above = word
    text = "\n".join([*lines, "</robot>", ""])
    return _made(name, text, dice, unsafe=unsafe)


def _loop_urdf(name: str, dice: random.Random) -> PlantedText:
    """A planar four-bar whose rounded angles make its axes almost parallel."""
    bars = "".join(
        f'  <link name="{bar}">{INERTIAL}</link>\n' for bar in ("ground", "crank", "coupler", "rocker")
    )
    text = f"""<robot name="loop">
{bars}  <joint name="j0" type="continuous"><parent link="ground"/><child link="crank"/>
    <origin xyz="0 0 0" rpy="⟦1.5708|{_QUARTER}⟧ 0\t0"/><axis xyz="0 0 1"/></joint>
  <joint name="j1" type="continuous"><parent link="crank"/><child link="coupler"/>
    <origin xyz="1 0 0" rpy="⟦-1.5708|-{_QUARTER}⟧ 0 0"/><axis xyz="0 -1 0"/></joint>
  <joint name="j2" type="continuous"><parent link="coupler"/><child link="rocker"/>
    <origin xyz="1 0 0"/><axis xyz="0 -1 0"/></joint>
  <loop_joint name="j3" type="revolute"><link1 link="rocker" xyz="-1 0 0" rpy="0 0 0"/>
    <link2 link="ground" xyz="1 0 0" rpy="0 0 0"/><axis xyz="0 -1 0"/></loop_joint>
</robot>
"""
    return _made(name, text, dice, mark=False)


# xacro: literals in macros, which several calls expand, and values that are not literals.


def _xacro(name: str, dice: random.Random) -> PlantedText:
    macros, calls, above = [], [], "base"
    for k, plant in enumerate(dice.sample([_long_axis, _misspelt_attribute, _second_axis, _malformed], 4)):
        parts = {**_HEALTHY, **plant("none", dice)}
        macros.append(
            f'  <xacro:macro name="seg{k}" params="name above"><link name="${{name}}">{INERTIAL}</link>\n'
            '    <joint name="${name}_joint" type="revolute"><parent link="${above}"/><child link="${name}"/>\n'
            + "".join(f"      {parts[part]}\n" for part in ("origin", "axis", "limit", "dynamics"))
            + "    </joint></xacro:macro>\n"
        )
        for side in ("upper", "lower"):
            calls.append(f'  <xacro:seg{k} name="{side}{k}" above="{above}"/>\n')
            above = f"{side}{k}"
    text = (
        '<robot name="macros" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
        f'  <xacro:property name="two" value="2"/>\n{"".join(macros)}'
        f'  <link name="base">{INERTIAL}</link>\n{"".join(calls)}</robot>\n'
    )
    return _made(name, text, dice, mark=False)


# SDF


def _sdf(name: str, dice: random.Random) -> PlantedText:
    inertial = (
        "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
    )
    lines = ['<?xml version="1.0"?>', '<sdf version="1.9">', '<model name="chain"><static>false</static>']
    pose = (
        '<pose rotation_format="quat_xyzw">0 0 0 ⟦1 0 0 -1|0.7071067811865475 0 0 -0.7071067811865475⟧</pose>'
    )
    lines.append(f'\t<link name="base">{pose}{inertial}</link>')
    above = "base"
    for word in _WORDS[:8]:
        axis = {
            "xyz": "<xyz>0 0 1</xyz>",
            "limit": "<limit><lower>-1</lower><upper>1</upper></limit>",
            "dynamics": "<dynamics><damping>0.1</damping></dynamics>",
        }
        axis |= dice.choice(
            [
                {"xyz": "<xyz>0 0 1</xyz>⟦<xyz>0 1 0</xyz>|⟧"},
                {"limit": "<limit><lower>-1</lower><⟦uper|upper⟧>1</⟦uper|upper⟧></limit>"},
                {"dynamics": "<dynamics><⟦dampng|damping⟧>0.1</⟦dampng|damping⟧\t></dynamics>"},
                {"dynamics": "<⟦dynamic|dynamics⟧ ><damping>0.1</damping></⟦dynamic|dynamics⟧>"},
                {"xyz": f'<xyz>0 0 1</xyz>⟦<mimic joint="{word}_joint"><multiplier>1</multiplier></mimic>|⟧'},
            ]
        )
        lines += [
            f'\t<link name="{word}">{inertial}</link>{_noise(dice)}',
            f'\t<joint name="{word}_joint" type="revolute"><parent>{above}</parent><child>{word}</child><axis>',
            *(f"\t\t{part}{_noise(dice)}" for part in axis.values()),
            "\t</axis></joint>",
        ]
        above = word
    return _made(name, "\n".join([*lines, "</model></sdf>", ""]), dice)


def _loop_sdf(name: str, dice: random.Random) -> PlantedText:
    inertial = (
        "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
    )
    places = {"crank": "0 0.5 0", "coupler": "0.5 1 0", "rocker": "1 0.5 0"}
    links = "".join(
        f'<link name="{bar}"><pose>{place} 0 0 0</pose>{inertial}</link>\n' for bar, place in places.items()
    )
    turned = f"⟦1.5708|{_QUARTER}⟧"
    text = f"""<sdf version="1.9"><model name="loop">
{links}<joint name="j0" type="revolute"><pose>0 -0.5 0 {turned}\t0 0</pose><parent>world</parent><child>crank</child>
  <axis><xyz>0 1 0</xyz></axis></joint>
<joint name="j1" type="revolute"><pose>-0.5 0 0 0 0 0</pose><parent>crank</parent><child>coupler</child>
  <axis><xyz>0 0 1</xyz></axis></joint>
<joint name="j2" type="revolute"><pose>0 0.5 0 0 0 0</pose><parent>coupler</parent><child>rocker</child>
  <axis><xyz>0 0 1</xyz></axis></joint>
<joint name="j3" type="revolute"><pose>0 -0.5 0 0 0 0</pose><parent>world</parent><child>rocker</child>
  <axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>
"""
    return _made(name, text, dice, mark=False)


# Scenes


def _four_bar(closure: str, head: str = "", angle: str = "0") -> str:
    bodies = "".join(
        f'[[body]]\nname = "{name}"\nmass = 1 # kg\nxyz = [{place}]\ninertia = [0.01, 0.01, 0.01]\n\n'
        for name, place in (("crank", "0, 0.5, 0"), ("coupler", "0.5, 1, 0"), ("rocker", "1, 0.5, 0"))
    )
    pairs = "".join(
        f'[[pair]]\nname = "j{k}"\n\ttype = \'revolute\'\nbody_a = "{a}"\nbody_b = "{b}"\nxyz_a = [{place}]\n\n'
        for k, (a, b, place) in enumerate(
            [
                ("world", "crank", "0, 0, 0"),
                ("crank", "coupler", "0, 0.5, 0"),
                ("coupler", "rocker", "0.5, 0, 0"),
            ]
        )
    )
    return f"{head}{bodies}{pairs}{closure}"


_CLOSURE = (
    '[[closure]]\nname = "j3"\ntype = "revolute"\nbody_a = "rocker"\nbody_b = "world"\nxyz_a = [0, -0.5, 0]\n'
)


def _scene(name: str, dice: random.Random) -> PlantedText:
    """A misspelt key, a misspelt table, and a side that is not written."""
    head = '[⟦lnt|lint⟧]  # "lnt"\n⟦ignre|ignore⟧ = ["MB2", "MB3", "MB4"]\n\n'
    text = _four_bar(_CLOSURE + "⟦|xyz_b = [1.0, 0.0, 0.0]\nrpy_b = [0.0, 0.0, 0.0]\n⟧", head)
    return _made(name, text, dice, mark=False)


def _weaker_scene(name: str, dice: random.Random) -> PlantedText:
    closure = _CLOSURE.replace('"revolute"', '⟦"revolute"|"point-on-line"⟧') + "xyz_b = [1, 0, 0]\n"
    again = closure.replace('"j3"', '"again"').replace('⟦"revolute"|"point-on-line"⟧', '"revolute"')
    text = _four_bar(f"{closure}\n⟦{again}|⟧")
    return _made(name, text, dice, unsafe=True, mark=False)


# USD and MJCF


def _stage(name: str, dice: random.Random) -> PlantedText:
    added = "⟦|\n    quatf physics:principalAxes = (1, 0, 0, 0)⟧"
    bodies = "\n".join(
        f"""  def Xform "{name}" ( # a brace {{
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    doc = "{{ ("
  )
  {{{added}
    float physics:mass = 1
    float3 physics:diagonalInertia = (0.1, 0.2, 0.25)
    double3 xformOp:translate = ({k}, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
  }}"""
        for k, name in enumerate(("first", "second", "third"))
    )
    joints = "\n".join(
        f"""  def PhysicsRevoluteJoint "j{k}"
  {{
    rel physics:body0 = </robot/{a}>
    rel physics:body1 = </robot/{b}>
    uniform token physics:axis = "Z"
    point3f physics:localPos0 = (1, 0, 0)
    point3f physics:localPos1 = (0, 0, 0)
    quatf physics:localRot0 = (⟦0, 0, -2, 0|0.0, 0.0, -1.0, 0.0⟧) # (2, 0, 0, 0)
  }}"""
        for k, (a, b) in enumerate((("first", "second"), ("second", "third")))
    )
    head = '#usda 1.0\n(\n  defaultPrim = "robot"\n  metersPerUnit = 1\n  kilogramsPerUnit = 1\n  upAxis = "Z"\n)\n'
    return _made(name, f'{head}def Xform "robot"\n{{\n{bodies}\n{joints}\n}}\n', dice, mark=False)


def _mjcf(name: str, dice: random.Random) -> PlantedText:
    body = '<geom type="box" size="0.1 0.1 0.1" mass="1" quat="⟦0 3\t0 4|0 0.6\t0 0.8⟧"/>'
    text = f"""<mujoco model="twice">
  <worldbody>
    <body name="a" pos="0 0 1"><joint name="j0" axis="0 1 0"/>{body}
      <body name="b" pos="1 0 0"><joint name="j1" axis="0 1 0"/>{body}</body></body>
    <body name="c" pos="2 0 1"><joint name="j2" axis="0 1 0"/>{body}</body>
  </worldbody>
  <equality>
    <connect name="loop" body1="b" body2="c" anchor="1 0 0"/>
⟦    <connect name="again" body1="b" body2="c" anchor="1 0 0"/>
|⟧  </equality>
</mujoco>
"""
    return _made(name, text, dice, unsafe=True, mark=False)


def _noise_of_mjcf(dice: random.Random) -> str:
    """Return noise without an instruction, which MuJoCo refuses."""
    noise = _noise(dice)
    return "" if noise.startswith("<?") else noise


def _refused_mjcf(name: str, dice: random.Random) -> PlantedText:
    """What MuJoCo refuses: misspelt tags, attributes and names, and joints that are coupled with themselves."""
    limbs = "".join(
        f'''{_noise_of_mjcf(dice)}
\t<body name="{limb}" pos="0 0 0.2"> <!-- axs= & 'shouldr' -->
\t\t<joint name="{limb}_joint" ⟦{wrong}|{right}⟧='0  1 0'
\t\t\tclass = "⟦servoo|servo⟧"/><⟦gem|geom⟧ ⟦sise|size⟧="0.1" /> <![CDATA[ <joint axs="1"/> ]]>
'''
        for limb, (wrong, right) in zip(
            ("shoulder", "elbow", "wrist"),
            (("axs", "axis"), ("Axis", "axis"), ("axiss", "axis")),
            strict=True,
        )
    )
    text = f"""<?xml version="1.0"?>
<mujoco model="a &amp; b &#233;">
  <⟦defaults|default⟧><default class="servo"><joint ⟦dampng|damping⟧="0.1"/></default></⟦defaults|default⟧>
  <worldbody>{limbs}</body></body></body></worldbody>
  <equality>
⟦    <joint name="itself" joint1="wrist_joint" joint2='wrist_joint'/>
|⟧    <connect body1="⟦wrst|wrist⟧"\tbody2="world" anchor="0 0 0"/></equality>
  <contact><exclude body1='⟦shouldr|shoulder⟧' body2="wrist"/></contact>
  <⟦actuators|actuator⟧><⟦motr|motor⟧ name="m" joint="⟦elbow_jont|elbow_joint⟧"/></⟦actuators|actuator⟧>
  <sensor><jointpos joint="⟦elbow_jont|elbow_joint⟧"/><framepos objtype="body" ⟦objnme|objname⟧="wrist"/></sensor>
</mujoco>
"""
    return _made(name, text, dice, mark=False)


def _mjcf_in_radians(name: str, dice: random.Random) -> PlantedText:
    bodies = "".join(
        f"""
    <body pos="0 0 0.2"><joint name="j{k}" axis="0 1 0" range="⟦{lower}|{meant[0]}⟧\t⟦{upper}|{meant[1]}⟧"/>
    {_noise_of_mjcf(dice)}
    <geom size="0.1"/>"""
        for k, (lower, upper, meant) in enumerate(
            [
                ("-90", "90", (f"-{_QUARTER}", _QUARTER)),
                ("-45", "180", ("-0.7853981633974483", "3.141592653589793")),
            ]
        )
    )
    text = f"""<mujoco><compiler angle="radian" autolimits="true"/>
  <worldbody>{bodies}</body></body></worldbody>
</mujoco>
"""
    return _made(name, text, dice, unsafe=True, mark=False)


def _loop_mjcf(name: str, dice: random.Random) -> PlantedText:
    """A four-bar that is turned by rounded angles; the direction of an axis is no angle."""
    rod = '<geom type="box" pos="0.5 0 0" size="0.5 0.1 0.1"/>'
    text = f"""<mujoco><compiler angle="radian"/>
  <worldbody><!-- euler="1.5708 0 0" --><frame euler = "⟦1.5708|{_QUARTER}⟧ 0\t0">
    <body name="crank"><joint axis="0 0 1"/><geom type="box" pos="0 0.5 0" size="0.1 0.5 0.1"/>
      <body name="coupler" pos="0 1 0" axisangle='1.5708 0 0 ⟦-1.5708|-{_QUARTER}⟧'><joint axis="0 -1 0"/>{rod}
        <body name="rocker" pos="1 0 0"><joint axis="0 -1 0"/>{_noise_of_mjcf(dice)}
          <geom type="box" pos="0 0 -0.5" size="0.1 0.1 0.5"/></body></body></body></frame></worldbody>
  <equality><connect body1="rocker" body2="world" anchor="0 -0.1 -1"/>
    <connect body1="rocker" body2="world" anchor="0 0.1 -1"/></equality>
</mujoco>
"""
    return _made(name, text, dice, mark=False)


def _inverted_mjcf(name: str, dice: random.Random) -> PlantedText:
    """Ranges in the wrong order, some of which MuJoCo refuses."""
    ranges = [
        ("30", "-45.0", ""),
        ("1e1", "0", ' limited="true"'),
        ("60", "-60", ""),
        ("5", "1", " limited='true'"),
    ]
    bodies = "".join(
        f"""
    <body pos="0 0 0.2"><joint name="j{k}"{limited} range="⟦{upper}|{lower}⟧\t⟦{lower}|{upper}⟧"/>
    {_noise_of_mjcf(dice)}<geom size="0.1"/>"""
        for k, (upper, lower, limited) in enumerate(ranges)
    )
    text = f"<mujoco>\n  <worldbody>{bodies}{'</body>' * len(ranges)}</worldbody>\n</mujoco>\n"
    return _made(name, text, dice, unsafe=True, mark=False)
