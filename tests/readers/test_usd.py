"""USD: mechanisms with known answers, twins in other formats, units, instances, and files that are broken."""

from __future__ import annotations

import itertools
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadNumber, BrokenModel, UnreadableFile, UnresolvedPath
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.scene import Request, Scene
from mbplugin.readers import load as load_text
from tests.support.usd_stages import along, body, four_bar, frames, group, inertial, joint, stage, xform

pytest.importorskip("pxr")

ORACLES = Path(__file__).parents[1] / "oracles"


def load(text: str) -> Scene:
    from mbplugin.readers.usd import read_usd

    return read_usd(text, Request("robot.usda", text))


def written(folder: Path, text: str, name: str = "robot.usda") -> Path:
    (folder / name).write_text(text)
    return folder / name


def messages(scene: Scene) -> str:
    return "\n".join(f"{d.code} {d.message}" for d in scene.defects)


def same_mechanism(a: Scene, b: Scene, tolerance: float = 1e-6) -> None:
    """Assert that two scenes have the same bodies and pairs at the same places."""
    assert [x.name for x in a.mechanism.bodies] == [x.name for x in b.mechanism.bodies]
    poses_a, poses_b = forward(a.mechanism, a.state.q), forward(b.mechanism, b.state.q)
    assert np.allclose(poses_a.p_WC, poses_b.p_WC, atol=tolerance)
    for x, y in zip(a.mechanism.bodies, b.mechanism.bodies, strict=True):
        assert np.isclose(x.mass, y.mass, rtol=tolerance)
        R = poses_b.R_WL[b.mechanism.body_index[y.name]].T @ poses_a.R_WL[a.mechanism.body_index[x.name]]
        assert np.allclose(R @ x.I_C @ R.T, y.I_C, atol=tolerance)
    C_a, C_b = (mb.constraint_matrix(s).C.toarray() for s in (a, b))
    projectors = [np.linalg.pinv(C) @ C for C in (C_a, C_b)]
    assert np.allclose(*projectors, atol=10 * tolerance)


def test_a_four_bar_has_three_redundant_constraints_and_a_proved_remedy() -> None:
    scene = load(four_bar())
    result = mb.analyze(scene)
    assert (result.degree_of_redundancy, result.dof) == (3, 1)
    assert [p.name for p in scene.mechanism.pairs if p.closure] == ["j3"]
    for verdict in result.constraints:
        unique = {c.name: c.unique for c in verdict.components}
        assert unique == {"tx": True, "ty": True, "tz": False, "rx": False, "ry": False}
    remedy = result.remedies[0]
    assert (remedy.degree_of_redundancy, remedy.dof) == (0, 1)
    mech = scene.mechanism
    for change in remedy.changes:
        assert change.constraint in mech.pair_by_name


def test_the_sdf_twin_is_the_same() -> None:
    same_mechanism(load(four_bar()), mb.load(ORACLES / "four_bar_4R.sdf"))


@pytest.mark.parametrize(("unit", "kilograms"), [(0.01, 1.0), (1.0, 0.001), (0.0254, 0.45359237)])
def test_units_of_the_stage_do_not_count(unit: float, kilograms: float) -> None:
    scene = load(four_bar(unit=unit, kilograms=kilograms))
    same_mechanism(scene, load(four_bar()))
    assert np.allclose(scene.mechanism.gravity, [0, 0, -9.81])


def test_a_stage_without_a_unit_is_in_centimetres() -> None:
    scene = load(
        stage(group("robot", body("a", at=xform((100, 0, 0)), mass=inertial(1, (1, 1, 1)))), metres=None)
    )
    assert np.allclose(forward(scene.mechanism, scene.state.q).p_WL, [[1, 0, 0]])


def test_gravity_follows_the_up_axis_and_the_scene() -> None:
    ball = group("robot", body("a", mass=inertial(1, (1, 1, 1))))
    assert np.allclose(load(stage(ball, up="Y")).mechanism.gravity, [0, -9.81, 0])
    gravity = "vector3f physics:gravityDirection = (0, 0, -2)\nfloat physics:gravityMagnitude = 162"
    world = f'def PhysicsScene "scene"\n{{\n{gravity}\n}}'
    assert np.allclose(load(stage(ball, world, metres=0.01)).mechanism.gravity, [0, 0, -1.62])


COLLIDER = 'prepend apiSchemas = ["PhysicsCollisionAPI"{more}]'


def solid(kind: str, attributes: str, at: str = "", more: str = "", inner: str = "") -> str:
    return f'def {kind} "solid" ({COLLIDER.format(more=more)})\n{{\n{attributes}\n{at}\n{inner}\n}}'


def test_density_gives_mass_and_inertia() -> None:
    density = "float physics:density = 500\n"
    box = solid("Cube", "double size = 1", xform((0.3, 0, 0)).replace("(1.0, 1.0, 1.0)", "(0.1, 0.2, 0.4)"))
    found = load(stage(group("robot", body("a", box, mass=density)))).mechanism.bodies[0]
    assert np.isclose(found.mass, 500 * 0.1 * 0.2 * 0.4)
    assert np.allclose(found.p_LC, [0.3, 0, 0])
    expected = found.mass / 12 * np.array([0.2**2 + 0.4**2, 0.1**2 + 0.4**2, 0.1**2 + 0.2**2])
    assert np.allclose(found.I_C, np.diag(expected))


def test_density_of_a_material_and_of_nothing() -> None:
    ball = "double radius = 0.1"
    material = 'def Material "steel" (prepend apiSchemas = ["PhysicsMaterialAPI"])\n{\nfloat physics:density = 7800\n}'
    bound = "rel material:binding:physics = </robot/steel>"
    volume = 4 / 3 * np.pi * 0.1**3
    for attributes, density in ((bound, 7800), ("", 1000)):
        more = ', "MaterialBindingAPI"' if attributes else ""
        text = stage(
            group("robot", material, body("a", solid("Sphere", ball + "\n" + attributes, more=more)))
        )
        assert np.isclose(load(text).mechanism.bodies[0].mass, density * volume)


@pytest.mark.parametrize("mass", ["", "float physics:mass = 2\n"])
@pytest.mark.parametrize("size", ["1e-90", "1e-100", "1e-107", "1e-160", "1e-300"])
def test_a_collider_of_no_size_has_no_mass(size: str, mass: str) -> None:
    cube = solid("Cube", f"double size = {size}\n{mass}", more=', "PhysicsMassAPI"')
    kept = body("b", at=xform((1, 0, 0)), mass="float physics:mass = 1\n")
    found = load(stage(group("robot", body("a", cube), kept), metres=1e-9)).mechanism.bodies
    assert np.isfinite([b.mass for b in found]).all() and found[1].mass == 1.0


def test_density_in_centimetres_and_grams() -> None:
    """8 g/cm³ in a stage of centimetres and grams is 8000 kg/m³."""
    cube = solid("Cube", "double size = 10")
    text = stage(
        group("robot", body("a", cube, mass="float physics:density = 8\n")), metres=0.01, kilograms=0.001
    )
    found = load(text).mechanism.bodies[0]
    assert np.isclose(found.mass, 8.0)
    assert np.allclose(found.I_C, 8 * 0.01 / 6 * np.eye(3))


#: A tetrahedron: its volume is a sixth of that of the box around it.
TETRAHEDRON = (
    "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]\n"
    "int[] faceVertexCounts = [3, 3, 3, 3]\n"
    "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]"
)


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "hull"])
def test_a_mesh_has_the_mass_of_its_solid(closed: bool) -> None:
    # without its last face the mesh is open, and its hull is the same solid
    mesh = (
        TETRAHEDRON if closed else TETRAHEDRON.replace("[3, 3, 3, 3]", "[3, 3, 3]").replace(", 1, 2, 3]", "]")
    )
    found = load(stage(group("robot", body("a", solid("Mesh", mesh))))).mechanism.bodies[0]
    assert np.isclose(found.mass, 1000 / 6)
    assert np.allclose(found.p_LC, 0.25)
    # about the corner ∫ (y² + z²) dV = 1/30
    assert np.allclose(np.diag(found.I_C), 1000 / 30 - found.mass * 2 / 16)


def test_round_solids_agree_with_sampled_points() -> None:
    """Monte Carlo over a box around each solid: mass, centre and inertia within sampling error."""
    points = np.random.default_rng(3).uniform(-1, 1, (400_000, 3)) * [0.5, 0.5, 1.0]
    x, y, z = points.T
    r = np.hypot(x, y)
    inside = {
        "Cylinder": (r < 0.4) & (np.abs(z) < 0.6),
        "Capsule": np.hypot(r, np.maximum(np.abs(z) - 0.3, 0)) < 0.4,
        "Cone": (np.abs(z) < 0.6) & (r < 0.4 * (0.6 - z) / 1.2),
    }
    for kind, chosen in inside.items():
        height = 0.6 if kind == "Capsule" else 1.2
        text = solid(kind, f'double radius = 0.4\ndouble height = {height}\nuniform token axis = "Z"')
        found = load(stage(group("robot", body("a", text)))).mechanism.bodies[0]
        own = points[chosen]
        weight = 1000 * 2.0 / len(points)
        assert np.isclose(found.mass, weight * len(own), rtol=0.01)
        assert np.allclose(found.p_LC, own.mean(axis=0), atol=0.005)
        arm = own - found.p_LC
        inertia = weight * ((arm**2).sum() * np.eye(3) - arm.T @ arm)
        assert np.allclose(found.I_C, inertia, atol=0.02 * inertia.max())


def test_stated_masses_agree_with_the_calculation_of_usd() -> None:
    """``UsdPhysics.RigidBodyAPI.ComputeMassProperties`` is the second program."""
    from pxr import Gf, Usd, UsdPhysics

    cube = solid(
        "Cube", "double size = 0.5\nfloat physics:density = 300", xform((0.2, 0.1, 0)), ', "PhysicsMassAPI"'
    )
    for mass in (
        "",
        "float physics:mass = 7\n",
        "float physics:mass = 7\npoint3f physics:centerOfMass = (0.1, 0, 0.2)\n",
    ):
        text = stage(
            group("robot", body("a", cube, at=xform(scale=2.0), mass=mass or "float physics:density = 0\n"))
        )
        layer = Usd.Stage.CreateInMemory()
        layer.GetRootLayer().ImportFromString(text)

        def of_shape(prim):
            info = UsdPhysics.RigidBodyAPI.MassInformation()
            side = 1.0  # 0.5 in a body scaled by two
            info.volume, info.inertia = side**3, Gf.Matrix3f(side**5 / 6)
            info.centerOfMass, info.localPos, info.localRot = Gf.Vec3f(0), Gf.Vec3f(0.4, 0.2, 0), Gf.Quatf(1)
            return info

        api = UsdPhysics.RigidBodyAPI(layer.GetPrimAtPath("/robot/a"))
        weight, diagonal, center, _ = api.ComputeMassProperties(of_shape)
        found = load(text).mechanism.bodies[0]
        assert np.isclose(found.mass, weight, rtol=1e-5)
        assert np.allclose(found.p_LC, center, atol=1e-6)
        assert np.allclose(np.sort(np.linalg.eigvalsh(found.I_C)), np.sort(diagonal), rtol=1e-4)


def test_principal_axes_turn_the_inertia() -> None:
    turned = inertial(2, (1, 2, 3)) + "quatf physics:principalAxes = (0.70710678, 0, 0, 0.70710678)\n"
    found = load(stage(group("robot", body("a", mass=turned)))).mechanism.bodies[0]
    assert np.allclose(found.I_C, np.diag([2, 1, 3]), atol=1e-6)


def test_a_scaled_parent_scales_positions_and_joint_frames() -> None:
    """A pendulum drawn in a group scaled by 2 and turned by 90° about z."""
    arm = body("arm", at=xform((1, 0, 0)), mass=inertial(1, (0.1, 0.1, 0.1), (0.25, 0, 0)))
    pin = joint(
        "RevoluteJoint",
        "pin",
        None,
        "/robot/inner/arm",
        along("Z") + frames((0, 0, 0), (-1, 0, 0)),
    )
    half = 0.7071067811865476
    text = stage(
        group("robot", group("inner", arm, pin, attributes=xform(orient=(half, 0, 0, half), scale=2.0)))
    )
    scene = load(text)
    poses = forward(scene.mechanism, scene.state.q)
    # the arm's frame is 2 m along y, its centre of mass half a metre further
    assert np.allclose(poses.p_WL, [[0, 2, 0]], atol=1e-6)
    assert np.allclose(poses.p_WC, [[0, 2.5, 0]], atol=1e-6)
    assert np.allclose(scene.mechanism.pairs[0].X_BS.p, [-2, 0, 0], atol=1e-6)


LEG = stage(
    group(
        "leg",
        body("thigh", at=xform((0, 0, -0.2)), mass=inertial(2, (0.02, 0.02, 0.01))),
        body("shin", at=xform((0, 0, -0.6)), mass=inertial(1, (0.01, 0.01, 0.005))),
        joint(
            "RevoluteJoint",
            "knee",
            "/leg/thigh",
            "/leg/shin",
            along("Y") + frames((0, 0, -0.2), (0, 0, 0.2)),
        ),
    )
).replace('defaultPrim = "robot"', 'defaultPrim = "leg"')


def instanced(count: int, instanceable: str = "instanceable = true\n") -> str:
    legs, hips = [], []
    for i in range(count):
        name = f"leg{i}"
        legs.append(
            group(
                name,
                attributes=xform((0.3 * i, 0, 0)),
                metadata=f"{instanceable}prepend references = @leg.usda@",
            )
        )
        hips.append(
            joint(
                "SphericalJoint",
                f"hip{i}",
                "/robot/base",
                f"/robot/{name}/thigh",
                frames((0.3 * i, 0, 0), (0, 0, 0.2)),
            )
        )
    return stage(group("robot", body("base", mass=inertial(10, (1, 1, 1))), *legs, *hips))


@pytest.mark.parametrize("instanceable", ["instanceable = true\n", ""], ids=["instances", "references"])
def test_instances_are_bodies_of_their_own(tmp_path: Path, instanceable: str) -> None:
    written(tmp_path, LEG, "leg.usda")
    scene = mb.load(written(tmp_path, instanced(4, instanceable)))
    mech = scene.mechanism
    assert {b.name for b in mech.bodies} >= {"base", "leg0/thigh", "leg3/shin"}
    assert len(mech.bodies) == 9
    assert len(mech.pairs) == 8
    assert mb.analyze(scene).dof == 6 + 4 * (3 + 1)
    assert np.allclose(forward(mech, scene.state.q).p_WL[mech.body_index["leg2/shin"]], [0.6, 0, -0.6])
    assert not scene.defects
    assert {Path(f).name for f in scene.files} == {"robot.usda", "leg.usda"}
    assert mech.pair_by_name["leg1/knee"].bodies == ("leg1/thigh", "leg1/shin")


@pytest.mark.parametrize("ending", ["usda", "usdc", "usd", "usdz"])
def test_text_crate_and_package_are_the_same(tmp_path: Path, ending: str) -> None:
    from pxr import Sdf, UsdUtils

    text = written(tmp_path, four_bar(), "source.usda")
    path = tmp_path / f"robot.{ending}"
    if ending == "usdz":
        assert UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(text)), str(path))
    else:
        Sdf.Layer.FindOrOpen(str(text)).Export(str(path))
    scene = mb.load(path)
    same_mechanism(scene, mb.load(text), 1e-12)
    assert mb.lint(path).analysis.degree_of_redundancy == 3


#: All ways to lock directions of a generic joint; none locked is not a joint.
FREE = [
    free
    for n in range(6)
    for free in itertools.combinations(("transX", "transY", "transZ", "rotX", "rotY", "rotZ"), n)
]


@pytest.mark.parametrize("free", FREE, ids=lambda free: "+".join(free) or "none")
def test_a_generic_joint_leaves_just_its_free_directions(free: tuple[str, ...]) -> None:
    locked = [name for name in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if name not in free]
    limits = "".join(f"float limit:{n}:physics:low = 1\nfloat limit:{n}:physics:high = -1\n" for n in locked)
    turn = (
        "quatf physics:localRot0 = (0.5, 0.5, 0.5, -0.5)\nquatf physics:localRot1 = (0.5, 0.5, 0.5, -0.5)\n"
    )
    schemas = ", ".join(f'"PhysicsLimitAPI:{n}"' for n in locked)
    d6 = joint("Joint", "d6", None, "/robot/a", frames((1, 2, 3), (1, 2, 3)) + turn + limits, schemas)
    scene = load(stage(group("robot", body("a", mass=inertial(1, (1, 1, 1))), d6)))
    C = mb.constraint_matrix(scene).C.toarray()
    R = np.array([[0, 1, 0], [0, 0, -1], [-1, 0, 0]], dtype=float)  # of the quaternion above
    at_center = []
    for name in free:
        axis = R[:, "XYZ".index(name[-1])]
        turns = name.startswith("rot")
        at_center.append([*np.cross(axis, [-1, -2, -3]), *axis] if turns else [*axis, 0, 0, 0])
    index = 6 * scene.mechanism.body_index["a"]
    # what all pairs together allow of the body
    motions = np.linalg.svd(C)[2][np.linalg.matrix_rank(C, 1e-9) :].T[index : index + 6]
    both = np.hstack([motions, np.array(at_center).reshape(-1, 6).T])
    assert np.linalg.matrix_rank(motions, 1e-6) == np.linalg.matrix_rank(both, 1e-6) == len(free)


def test_limits_drives_and_rotor_inertia_in_their_units() -> None:
    drive = "float drive:angular:physics:maxForce = 50\nfloat drive:angular:physics:stiffness = 3\n"
    limits = "float physics:lowerLimit = -90\nfloat physics:upperLimit = 45\n"
    extras = (
        "float physxJoint:maxJointVelocity = 180\nfloat newton:armature = 0.25\n"
        "float newton:damping = 2\nfloat newton:friction = 3\n"
    )
    hinge = joint(
        "RevoluteJoint", "hinge", None, "/robot/a", limits + drive + extras, '"PhysicsDriveAPI:angular"'
    )
    slide_limits = "float physics:lowerLimit = -20\nfloat physics:upperLimit = 30\n"
    slide = joint("PrismaticJoint", "slide", "/robot/a", "/robot/b", slide_limits + along("Y"))
    mass = inertial(1, (1, 1, 1))
    scene = load(stage(group("robot", body("a", mass=mass), body("b", mass=mass), hinge, slide), metres=0.01))
    turn, travel = (pair.freedoms[0] for pair in scene.mechanism.pairs)
    assert np.allclose((turn.lower, turn.upper), (-np.pi / 2, np.pi / 4))
    # torques in kg·cm²/s²
    assert np.isclose(turn.effort, 50e-4)
    assert np.isclose(turn.velocity, np.pi)
    assert np.isclose(turn.damping, np.degrees(2) * 1e-4)
    assert np.isclose(turn.friction, 3e-4)
    assert np.isclose(scene.actuators[0].armature, 0.25e-4)
    assert np.allclose((travel.lower, travel.upper), (-0.2, 0.3))
    assert scene.actuated == ("hinge",)
    assert np.allclose(scene.mechanism.pairs[1].X_AP.R[:, 2], [0, 1, 0])


def two_hinges(attributes: str, schemas: str) -> str:
    mass = inertial(1, (1, 1, 1))
    first = joint("RevoluteJoint", "first", None, "/robot/a")
    second = joint("RevoluteJoint", "second", "/robot/a", "/robot/b", attributes, schemas)
    return stage(group("robot", body("a", mass=mass), body("b", mass=mass), first, second))


@pytest.mark.parametrize(
    ("attributes", "schemas"),
    [
        (
            "float physxMimicJoint:rotX:gearing = -2\nfloat physxMimicJoint:rotX:offset = -90\n"
            "rel physxMimicJoint:rotX:referenceJoint = </robot/first>",
            '"PhysxMimicJointAPI:rotX"',
        ),
        (
            "float newton:mimicCoef1 = 2\nfloat newton:mimicCoef0 = 90\nrel newton:mimicJoint = </robot/first>",
            '"NewtonMimicAPI"',
        ),
    ],
    ids=["physx", "newton"],
)
def test_mimics_of_both_dialects(attributes: str, schemas: str) -> None:
    """second = 2 · first + π/2."""
    scene = load(two_hinges(attributes, schemas))
    (coupling,) = scene.mechanism.couplings
    assert [(t.joint, t.coefficient) for t in coupling.terms] == [("second", 1.0), ("first", -2.0)]
    assert np.isclose(coupling.offset, np.pi / 2)
    assert mb.analyze(scene.mechanism).dof == 1
    assert not scene.defects


def test_what_is_not_read_is_named() -> None:
    lost = "rel physxMimicJoint:rotX:referenceJoint = </robot/nowhere>\n"
    scene = load(two_hinges(lost + "float physxJoint:jointFriction = 0.3", '"PhysxMimicJointAPI:rotX"'))
    assert "the mimic of joint 'second' is not read" in messages(scene)
    assert "physxJoint:jointFriction" in messages(scene)
    gear = 'def PhysxPhysicsGearJoint "gear"\n{\n}'
    scene = load(stage(group("robot", body("a", mass=inertial(1, (1, 1, 1))), gear)))
    assert "a PhysxPhysicsGearJoint of </robot/gear> is not read" in messages(scene)


def test_joints_of_the_mujoco_schema_between_two_bodies_act_in_turn() -> None:
    """Two hinges about x and y of one body: as in MJCF they are a chain, not two hinges of a door."""
    a = body("a", at=xform((0, 0, 1)), mass=inertial(1, (1, 1, 1)))
    hinges = [
        joint(
            "RevoluteJoint",
            axis,
            None,
            "/robot/a",
            along(axis) + frames((0, 0, 1), (0, 0, 0)),
            '"MjcJointAPI"',
        )
        for axis in "XY"
    ]
    scene = load(stage(group("robot", a, *hinges)))
    assert mb.analyze(scene).dof == 2
    assert [b.massless for b in scene.mechanism.bodies] == [False, True]
    door = load(stage(group("robot", a, *hinges)).replace("MjcJointAPI", "OtherAPI"))
    assert mb.analyze(door).dof == 0


def test_a_distance_joint_is_a_rod() -> None:
    rod = joint(
        "DistanceJoint",
        "rod",
        None,
        "/robot/a",
        "float physics:minDistance = 2\nfloat physics:maxDistance = 2\n",
    )
    a = body("a", at=xform((0, 0, -2)), mass=inertial(1, (1, 1, 1)))
    scene = load(stage(group("robot", a, rod)))
    assert (scene.mechanism.pairs[0].type, scene.mechanism.pairs[0].length) == ("distance", 2.0)
    rope = load(stage(group("robot", a, rod.replace("minDistance = 2", "minDistance = 1"))))
    assert not rope.mechanism.pairs
    assert "has no fixed distance" in messages(rope)


def test_a_kinematic_body_is_held_and_a_disabled_one_is_the_ground() -> None:
    moved = "bool physics:kinematicEnabled = 1\n"
    pin = joint("RevoluteJoint", "pin", "/robot/base", "/robot/a")
    for attributes, count in ((moved, 2), ("bool physics:rigidBodyEnabled = 0\n", 1)):
        text = stage(
            group("robot", body("base", mass=attributes), body("a", mass=inertial(1, (1, 1, 1))), pin)
        )
        scene = load(text)
        assert len(scene.mechanism.bodies) == count
        assert mb.analyze(scene).dof == 1


def test_nested_bodies_and_targets_below_a_body() -> None:
    """A joint at a frame prim below a body is one of that body; a body below a body is one of its own."""
    tip = group("tip", attributes=xform((0, 0, 0.5)))
    inner = body("inner", tip, at=xform((0, 0, 1)), mass=inertial(1, (1, 1, 1)))
    outer = body("outer", inner, at=xform((5, 0, 0)), mass=inertial(1, (1, 1, 1)))
    pin = joint(
        "SphericalJoint", "pin", "/robot/outer", "/robot/outer/inner/tip", frames((0, 0, 1.5), (0, 0, 0))
    )
    scene = load(stage(group("robot", outer, pin)))
    pair = scene.mechanism.pairs[0]
    assert pair.bodies == ("outer", "inner")
    assert np.allclose(pair.X_BS.p, [0, 0, 0.5])
    X = relative_pose(scene.mechanism, pair, forward(scene.mechanism, scene.state.q))
    assert np.allclose(X.p, 0, atol=1e-12)


def test_a_turned_joint_starts_at_its_angle() -> None:
    half = np.radians(15)
    a = body("a", at=xform(orient=(np.cos(half), 0, 0, np.sin(half))), mass=inertial(1, (1, 1, 1)))
    scene = load(
        stage(
            group(
                "robot",
                a,
                joint("RevoluteJoint", "pin", None, "/robot/a", along("Z")),
            )
        )
    )
    assert np.isclose(scene.state.q[0], np.radians(30))


def test_bodies_apart_from_their_joint_are_noted() -> None:
    a = body("a", at=xform((0, 0, 0.2)), mass=inertial(1, (1, 1, 1)))
    scene = load(stage(group("robot", a, joint("RevoluteJoint", "pin", None, "/robot/a"))))
    assert "MB119 the frames of joint 'pin' are 0.2 m and 0° apart" in messages(scene)


def test_findings_have_the_line_of_the_prim(tmp_path: Path) -> None:
    text = stage(
        group(
            "robot",
            body("a", mass=inertial(1, (1, 1, 1))),
            joint("RevoluteJoint", "pin", "/robot/b", "/robot/a"),
        )
    )
    path = written(tmp_path, text)
    (defect,) = mb.load(path).defects
    assert "its body0 </robot/b> is not in the stage" in defect.message
    assert defect.element == "/robot/pin"
    assert 'RevoluteJoint "pin"' in text.splitlines()[defect.origin.line - 1]
    assert defect.origin.file == str(path)


def test_missing_layers_and_cycles_are_findings(tmp_path: Path) -> None:
    lost = group("lost", metadata="prepend payload = @nowhere.usda@")
    cycle = group("cycle", metadata="prepend references = </robot/cycle>")
    path = written(tmp_path, stage(group("robot", body("a", mass=inertial(1, (1, 1, 1))), lost, cycle)))
    found = messages(mb.load(path))
    assert "MB906 layer 'nowhere.usda' cannot be found" in found
    assert "OpenUSD does not compose all of it" in found
    report = mb.lint(path)
    # a part of the model is not there, and the rest is analyzed
    assert report.exit_code == 2
    assert report.analysis is not None
    assert {"MB906", "MB113"} <= {f.code for f in report.findings}


@pytest.mark.parametrize("root", ["robot", "body", "elsewhere", "none"])
@pytest.mark.parametrize("excluded", [False, True])
def test_a_loop_inside_an_articulation_is_found(tmp_path: Path, root: str, excluded: bool) -> None:
    """PhysX takes articulations for trees; a joint that is excluded, or a loop outside of any, is right."""
    api = 'prepend apiSchemas = ["PhysicsArticulationRootAPI"]'
    text = four_bar()
    if root == "robot":
        text = re.sub(r'def Xform "robot"\s*', f'def Xform "robot" ({api})\n', text, count=1)
    elif root == "body":
        text = re.sub(
            r'("rocker" \([^)]*\["PhysicsRigidBodyAPI")', r'\1, "PhysicsArticulationRootAPI"', text, count=1
        )
    elif root == "elsewhere":
        text += f'def Xform "other" ({api})\n{{\n}}\n'
    assert text.count("PhysicsArticulationRootAPI") == (root != "none")
    if not excluded:
        text = text.replace("excludeFromArticulation = 1", "excludeFromArticulation = 0")
    report = mb.lint(written(tmp_path, text))
    found = [finding for finding in report.findings if finding.code == "MB129"]
    if excluded or root in ("elsewhere", "none"):
        assert found == []
    else:
        (finding,) = found
        assert finding.element == "j3" and text.splitlines()[finding.line - 1].startswith(
            "def PhysicsRevoluteJoint"
        )
        assert "excludeFromArticulation = true" in finding.help and report.exit_code == 1


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("#usda 1.0\ndef Xform {", BrokenModel, "cannot open the layer"),
        (stage(group("robot")), BrokenModel, "no prim of the stage is a rigid body"),
        (
            stage(group("robot", body("a", mass="float physics:mass = nan\n"))),
            BadNumber,
            "physics:mass is nan",
        ),
        (stage(group("robot", body("a", at=xform((1e60, 0, 0))))), BadNumber, "cannot be used"),
        (stage(group("robot", body("a", at=xform(scale=0)))), BrokenModel, "the scale is zero"),
        (four_bar().replace("metersPerUnit = 1.0", "metersPerUnit = 0"), BadNumber, "metersPerUnit is 0"),
        (four_bar().replace("metersPerUnit = 1.0", "metersPerUnit = 1e-160"), BadNumber, "is 1e-160"),
    ],
    ids=["text", "no bodies", "nan", "far", "scale", "unit", "small unit"],
)
def test_what_is_no_mechanism_is_one_sentence(tmp_path: Path, text: str, error: type, said: str) -> None:
    with pytest.raises(error, match=said) as caught:
        mb.load(written(tmp_path, text))
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    "name", ["upAxis", "metersPerUnit", "kilogramsPerUnit", "defaultPrim", "timeCodesPerSecond"]
)
@pytest.mark.parametrize(
    "value", ["{}", '{ string a = "b" }', '"W"', "3", "-1", "nan", "[1]", '["Z"]', "None", "@a@"]
)
def test_a_stage_states_itself_in_any_type(tmp_path: Path, name: str, value: str) -> None:
    """What OpenUSD itself lets pass: dictionaries for names and numbers."""
    text = re.sub(rf"^.*\b{name} = .*$", "", four_bar(), flags=re.MULTILINE)
    path = written(tmp_path, text.replace("(\n", f"(\n    {name} = {value}\n", 1))
    try:
        mech = mb.load(path).mechanism
    except (BrokenModel, BadNumber) as error:
        assert str(error).count("\n") == 0 and "\t" not in str(error)
    else:
        assert np.isfinite(mech.gravity).all() and all(body.mass > 0.0 for body in mech.bodies)


def test_binary_rubbish_and_missing_files(tmp_path: Path) -> None:
    for name, data in (
        ("a.usdc", b"PXR-USDC" + bytes(200)),
        ("b.usdz", b"PK\x03\x04" + bytes(99)),
        ("c.usd", b"\0" * 9),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BrokenModel):
            mb.load(tmp_path / name)
    with pytest.raises(UnreadableFile):
        mb.load(tmp_path / "none.usda")


def test_layers_outside_the_package_are_refused(tmp_path: Path) -> None:
    inner = tmp_path / "package" / "robots"
    inner.mkdir(parents=True)
    (tmp_path / "package" / "package.xml").touch()
    written(tmp_path, LEG, "leg.usda")
    text = instanced(1).replace("@leg.usda@", "@../../leg.usda@")
    path = written(inner, text)
    with pytest.raises(UnresolvedPath, match="outside the model's package"):
        mb.load(path)
    assert mb.load(path, package_dirs=[str(tmp_path)]).mechanism.bodies


@pytest.mark.long
def test_instances_of_instances_end(tmp_path: Path) -> None:
    """Ten references in each of twenty levels are 10^20 prims."""
    written(tmp_path, stage(group("robot", body("a", mass=inertial(1, (1, 1, 1))))), "level0.usda")
    for k in range(1, 21):
        many = [
            group(f"n{i}", metadata=f"instanceable = true\nprepend references = @level{k - 1}.usda@")
            for i in range(10)
        ]
        written(tmp_path, stage(group("robot", *many)), f"level{k}.usda")
    with pytest.raises(BrokenModel):
        mb.load(tmp_path / "level20.usda")


def chain_of(count: int) -> str:
    mass = inertial(1, (0.01, 0.01, 0.01))
    ball = solid("Sphere", "double radius = 0.05")
    bodies = [body(f"b{i}", ball, at=xform((0, 0, -i)), mass=mass) for i in range(count)]
    pins = [
        joint("RevoluteJoint", f"j{i}", f"/robot/b{i}", f"/robot/b{i + 1}", frames((0, 0, -0.5), (0, 0, 0.5)))
        for i in range(count - 1)
    ]
    return stage(group("robot", *bodies, *pins))


def test_fifty_bodies_are_read_within_two_seconds() -> None:
    text = chain_of(50)
    load(text)
    start = time.process_time()
    assert len(load(text).mechanism.bodies) == 50
    assert time.process_time() - start < 2


def test_text_that_is_handed_over_is_known_by_its_first_line() -> None:
    assert load_text("<stdin>", text=four_bar()).mechanism.name == "robot"


def test_mujoco_has_the_same_mass_matrix() -> None:
    """A chain with skew joint frames and inertias, written in both formats by hand."""
    mujoco = pytest.importorskip("mujoco")
    from mbplugin.constraints.reduction import mass_matrix, velocity_transformation

    half = np.sqrt(0.5)
    a = body("a", at=xform((0, 0, 1)), mass=inertial(2, (0.1, 0.2, 0.25), (0.1, 0, 0)))
    b = body("b", at=xform((0.5, 0, 1), (half, half, 0, 0)), mass=inertial(1, (0.05, 0.06, 0.07)))
    c = body("c", at=xform((0.5, 0, 2)), mass=inertial(3, (0.3, 0.3, 0.1)))
    hinge = joint(
        "RevoluteJoint",
        "hinge",
        None,
        "/robot/a",
        along("Y") + frames((0, 0, 1), (0, 0, 0)),
    )
    turned = f"quatf physics:localRot1 = ({half}, {-half}, 0, 0)\n"
    slide = joint(
        "PrismaticJoint",
        "slide",
        "/robot/a",
        "/robot/b",
        along("X") + frames((0.5, 0, 0), (0, 0, 0)) + turned,
    )
    pin = joint(
        "RevoluteJoint",
        "pin",
        "/robot/b",
        "/robot/c",
        along("Z") + frames((0, 1, 0), (0, 0, 0)) + turned.replace("Rot1", "Rot0"),
    )
    scene = load(stage(group("robot", a, b, c, hinge, slide, pin)))
    twin = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body pos="0 0 1"><joint type="hinge" axis="0 1 0"/>
        <inertial pos=".1 0 0" mass="2" diaginertia=".1 .2 .25"/>
        <body pos=".5 0 0" quat="{half} {half} 0 0"><joint type="slide" axis="1 0 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia=".05 .06 .07"/>
        <body pos="0 1 0" quat="{half} {-half} 0 0"><joint type="hinge" axis="0 0 1"/>
        <inertial pos="0 0 0" mass="3" diaginertia=".3 .3 .1"/></body></body></body></worldbody></mujoco>"""
    )
    q = np.array([0.4, 0.2, -0.7])
    data = mujoco.MjData(twin)
    data.qpos[:] = q
    mujoco.mj_forward(twin, data)
    M = np.zeros((3, 3))
    # later versions have another order of arguments
    newer = tuple(map(int, mujoco.__version__.split(".")[:2])) >= (3, 5)
    mujoco.mj_fullM(twin, data, M) if newer else mujoco.mj_fullM(twin, M, data.qM)
    poses = forward(scene.mechanism, q)
    S = velocity_transformation(scene.mechanism, poses)
    assert np.allclose(S.T @ mass_matrix(scene.mechanism, poses) @ S, M, atol=1e-6)


def test_lint_prints_a_document_that_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mbplugin.cli.app import run

    path = written(tmp_path, four_bar())
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(run(["lint", str(path), "--output-format", "json"]))
    assert ended.value.code in (0, None)
    document = json.loads(capsys.readouterr().out)
    assert document["mobility"]["degree_of_redundancy"] == 3
    assert document["model"]["files"] == [str(path)]
