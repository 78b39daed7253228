"""A sketch as a USD stage in text: bodies, joints, layers, references, clips and expressions."""

from __future__ import annotations

import re
from math import cos, sin

from ..words import NUMBERS, PIECES, WORDS
from .dice import STRANGE, Dice
from .sketch import Joint, Link, Sketch, relative, turned

_KINDS = {
    "revolute": "RevoluteJoint",
    "continuous": "RevoluteJoint",
    "prismatic": "PrismaticJoint",
    "fixed": "FixedJoint",
    "spherical": "SphericalJoint",
    "cylindrical": "DistanceJoint",
}
_AXES = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y"}
#: Schemas that say more of a joint or a body, and attributes that need one.
_JOINT_SCHEMAS = (
    "PhysicsLimitAPI:transX",
    "PhysicsLimitAPI:rotZ",
    "PhysicsLimitAPI:distance",
    "PhysicsDriveAPI:angular",
    "PhysicsDriveAPI:x",
    "PhysxJointAPI",
    "PhysxMimicJointAPI:rotZ",
    "MjcJointAPI",
    "NewtonMimicAPI",
    "NoSuchAPI",
)
_JOINT_LINES = (
    "float limit:transX:physics:low = 1",
    "float limit:transX:physics:high = -1",
    "float limit:rotZ:physics:low = {n}",
    "float drive:angular:physics:damping = {n}",
    "float drive:angular:physics:maxForce = {n}",
    "float physxMimicJoint:rotZ:gearing = {n}",
    "rel physxMimicJoint:rotZ:referenceJoint = </robot/j1>",
    "float mjc:damping = {n}",
    "float physxJoint:armature = {n}",
    "bool physics:jointEnabled = 0",
    "float physics:breakForce = {n}",
    "rel physics:body0 = [</robot/b1>, </robot/b2>]",
    "rel physics:body1 = </nowhere>",
    "float physics:lowerLimit.timeSamples = {{ 0: 1, 1: {n} }}",
    "quatf physics:localRot1 = (0, 0, 0, 0)",
)
#: Assets as they are named: files beside it, none, and what leads elsewhere.
_ASSETS = (
    "part.usda",
    "part.usda",
    "./part.usda",
    "nowhere.usda",
    "../part.usda",
    "/etc/passwd",
    "model.usda",
    "part.usda:SDF_FORMAT_ARGS:a=b",
    "part.usdz[x.usda]",
    '`"${X}.usda"`',
    '`if(${B}, "part.usda", "none.usda")`',
    '`"${Y}"',
    "`${X}${X}`",
    "anon:0x1",
    "part.stl",
    "a b.usda",
    "\u202e.usda",
)
_EXPRESSIONS = (
    'string X = "part"',
    "bool B = 1",
    "int64 I = 9223372036854775807",
    'string X = "`${X}`"',
    'string X = ""',
    "string[] X = []",
    'dictionary X = { string Y = "a" }',
)


def usd(mechanism: Sketch, dice: Dice) -> bytes:
    """Return the content of a ``.usda`` file."""
    head = [
        'defaultPrim = "robot"',
        f"metersPerUnit = {dice.number(dice.any((1.0, 1.0, 0.01)))}",
        f"kilogramsPerUnit = {dice.number(1.0)}",
        f'upAxis = "{dice.any(("Z", "Z", "Y", "X" if dice.odd(3) else "Z"))}"',
    ]
    if dice.chance(0.3):
        head.append(f"expressionVariables = {{ {dice.any(_EXPRESSIONS)} }}")
    if dice.chance(0.3):
        assets = ", ".join(f"@{_asset(dice)}@" for _ in range(dice.any((1, 1, 2))))
        head.append(f"subLayers = [{assets}]")
    if dice.odd(5):
        head.append(dice.any(("startTimeCode = 5", "timeCodesPerSecond = 0", "framesPerSecond = nan")))
    bodies = [_body(link, mechanism, dice) for link in mechanism.links if link.name != "world"]
    loops = set(map(id, mechanism.loops))
    joints = [
        _joint(joint, id(joint) in loops, mechanism, dice) for joint in (*mechanism.joints, *mechanism.loops)
    ]
    schemas = dice.any(("", "", '(prepend apiSchemas = ["PhysicsArticulationRootAPI"])'))
    scene = 'def PhysicsScene "scene"\n{\nvector3f physics:gravityDirection = (0, 0, -1)\n}\n'
    text = "\n".join(
        [
            "#usda 1.0\n(\n" + "\n".join(head) + "\n)",
            scene if dice.chance(0.3) else "",
            f'def Xform "robot" {schemas}\n{{',
            *bodies,
            *joints,
            _composed(dice) if dice.chance(0.3) else "",
            "}\n",
        ]
    )
    return _spoiled(text, dice)


def usd_part(dice: Dice) -> bytes:
    """Return a layer that others name."""
    text = (
        '#usda 1.0\n(\ndefaultPrim = "robot"\n)\n'
        'over "robot"\n{\ndef Xform "more" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])\n'
        f"{{\nfloat physics:mass = {dice.number(2)}\n}}\n}}\n"
    )
    return _spoiled(text, dice)


def _asset(dice: Dice) -> str:
    return dice.any(_ASSETS) if dice.odd(8) else dice.any(_ASSETS[:3])


def _name(text: str, dice: Dice) -> str:
    """Return a name as USD takes it, now and then as it does not."""
    return text if dice.odd() else re.sub(r"\W", "_", text) or "_"


def _vector(dice: Dice, *values: float) -> str:
    return f"({', '.join(dice.number(value) for value in values)})"


def _body(link: Link, mechanism: Sketch, dice: Dice) -> str:
    inertia = [
        f"float physics:mass = {dice.number(link.mass)}",
        f"float3 physics:diagonalInertia = {_vector(dice, *link.moments)}",
        f"point3f physics:centerOfMass = {_vector(dice, *link.com)}",
        f"quatf physics:principalAxes = {_vector(dice, 1, 0, 0, 0)}",
    ]
    ops = [
        f"double3 xformOp:translate = {_vector(dice, *link.at)}",
        f"quatd xformOp:orient = {_vector(dice, cos(link.yaw / 2), 0, 0, sin(link.yaw / 2))}",
        f"double3 xformOp:scale = {_vector(dice, 1, 1, dice.any((1.0, 1.0, 2.0, -1.0)))}",
    ]
    order = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]
    if dice.odd(3):
        order = dice.any((order[::-1], order[:1], [*order, "xformOp:none"], ["!resetXformStack!", *order]))
    listed = ", ".join(f'"{one}"' for one in order)
    apis = ["PhysicsRigidBodyAPI", *(["PhysicsMassAPI"] if dice.chance(0.8) else [])]
    return "\n".join(
        [
            f'def Xform "{_name(link.name, dice)}" (prepend apiSchemas = {_texts(apis)})',
            "{",
            *ops,
            f"uniform token[] xformOpOrder = [{listed}]",
            *(inertia if len(apis) > 1 else ()),
            *(_shape(k, kind, dice) for k, kind in enumerate(link.shapes)),
            "}",
        ]
    )


def _texts(words: list[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def _shape(k: int, kind: str, dice: Dice) -> str:
    sizes = {
        "box": ("Cube", f"double size = {dice.number(0.1)}"),
        "cylinder": ("Cylinder", f"double height = {dice.number(0.2)}\ndouble radius = {dice.number(0.05)}"),
        "sphere": ("Sphere", f"double radius = {dice.number(0.1)}"),
        "capsule": ("Capsule", f"double height = {dice.number(0.2)}\ndouble radius = {dice.number(0.05)}"),
        "mesh": (
            "Mesh",
            f"int[] faceVertexCounts = [3, 3, 3, {dice.any(('3', '3', dice.number(4)))}]\n"
            "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, "
            f"{dice.any(('2', '2', '99' if dice.odd(9) else '2'))}]\n"
            f"point3f[] points = [(0, 0, 0), {_vector(dice, 1, 0, 0)}, (0, 1, 0), (0, 0, 1)]",
        ),
    }
    prim, lines = sizes[kind]
    return f'def {prim} "shape{k}" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n{lines}\n}}'


def _joint(joint: Joint, closes: bool, mechanism: Sketch, dice: Dice) -> str:
    parent, child = mechanism.link(joint.parent), mechanism.link(joint.child)
    axis = _AXES.get(turned(child, joint.axis), "Z")
    kind = _KINDS.get(joint.kind, "Joint")
    lines = [
        f"rel physics:body{number} = </robot/{_name(link.name, dice)}>"
        for number, link in ((0, parent), (1, child))
        if link.name != "world"
    ]
    if kind not in ("FixedJoint", "Joint", "DistanceJoint"):
        lines.append(f'uniform token physics:axis = "{axis if not dice.odd() else dice.word()}"')
    for number, link in ((0, parent), (1, child)):
        lines.append(f"point3f physics:localPos{number} = {_vector(dice, *relative(link, joint.at))}")
    if joint.kind in ("revolute", "prismatic"):
        lines.append(f"float physics:lowerLimit = {dice.number(max(-90.0, joint.lower * 57))}")
        lines.append(f"float physics:upperLimit = {dice.number(min(90.0, joint.upper * 57))}")
    if closes and dice.chance(0.8):
        lines.append("uniform bool physics:excludeFromArticulation = 1")
    schemas = dice.some(_JOINT_SCHEMAS, 2) if dice.chance(0.3) else []
    if schemas or dice.odd(3):
        lines += [line.format(n=dice.number(1)) for line in dice.some(_JOINT_LINES, 3)]
    head = f" (prepend apiSchemas = {_texts(schemas)})" if schemas else ""
    return "\n".join([f'def Physics{kind} "{_name(joint.name, dice)}"{head}', "{", *lines, "}"])


def _composed(dice: Dice) -> str:
    """Return a prim that other layers make: references, payloads, variants, clips, instances."""
    asset = _asset(dice)
    times = f"double2[] active = [(0, 0)]\ndouble2[] times = [(0, {dice.number(0)})]"
    metadata = dice.any(
        (
            f"prepend references = @{asset}@",
            f"prepend references = @{asset}@</robot>",
            f"prepend payload = @{asset}@",
            f"instanceable = true\nprepend references = @{asset}@",
            "prepend references = </robot/extra>",
            "prepend inherits = </robot/b1>",
            "prepend specializes = </robot>",
            f"clips = {{\ndictionary default = {{\nasset[] assetPaths = [@{asset}@]\n{times}\n"
            'string primPath = "/robot"\n}\n}',
            "clips = {\ndictionary default = {\nstring templateAssetPath = @./part.#.usda@\n"
            "double templateStartTime = 1\ndouble templateEndTime = 1e9\ndouble templateStride = 1\n}\n}",
            'prepend variantSets = "v"\nvariants = { string v = "one" }',
        )
    )
    variants = (
        f'variantSet "v" = {{\n"one" (prepend references = @{asset}@) {{\n}}\n"two" {{\n}}\n}}'
        if "variantSets" in metadata
        else ""
    )
    return f'def Xform "extra" (\n{metadata}\n)\n{{\n{variants}\n}}'


def _spoiled(text: str, dice: Dice) -> bytes:
    """Return a text as bytes, lines of it dropped, doubled or changed: none of most stages."""
    lines = text.split("\n")
    for _ in range(dice.any((0, 0, 1, 1, 2, 3)) if dice.wild else 0):
        k = dice.randrange(len(lines))
        way = dice.any(("drop", "double", "move", "number", "word", "value"))
        if way == "drop":
            lines[k] = ""
        elif way == "double":
            lines.insert(k, lines[k])
        elif way == "move":
            lines.insert(dice.randrange(len(lines)), lines[k])
        elif way == "number":
            wild = dice.any((*STRANGE, *NUMBERS))
            lines[k] = re.sub(r"(?<=[ (])-?\d[\d.e+-]*", lambda _, wild=wild: wild, lines[k], count=1)
        elif way == "word":
            wild = dice.any(WORDS)
            lines[k] = re.sub(r'"[^"]*"', lambda _, wild=wild: f'"{wild}"', lines[k], count=1)
        else:
            lines[k] = re.sub(r"= .*", lambda _: f"= {dice.any(('None', '[]', '()', '{}', '1'))}", lines[k])
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    if dice.odd(2):
        at = dice.randrange(len(content))
        content = content[:at] + dice.any((*PIECES, b"\xff", b"\xc3", b"\x80\n{")) + content[at:]
    return content[: dice.randrange(len(content))] if dice.odd() else content
