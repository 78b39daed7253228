"""Two simulators, two answers, one truth: who carries 1000 N sideways on a four-bar?

The loop has to be cut somewhere, and a rigid simulator's joint forces depend on where. Every simulator
that is installed is asked, with the loop cut at either end of the coupler; then mbplugin, cut anywhere. Draws
the answers to out/one_truth.png where matplotlib is installed.

Run it from anywhere: python examples/03_two_simulators_one_truth.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.bullet import session
from mbplugin.joint_reactions.values import Reactions

ACCELERATE = 1000.0
GROUND = ("left", "right")

#: Unit square in the x-y plane: two cranks up from the ground, a coupler between their ends; 1 kg each.
LINK = (
    '<link name="{name}"><inertial><origin xyz="{at} 0 0"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
    '<origin xyz="{at} 0 0" rpy="0 0 {turn}"/><axis xyz="0 0 1"/>'
    '<limit lower="-9" upper="9" effort="0" velocity="99"/></joint>'
)
QUARTER = np.pi / 2


def urdf(cut: str) -> tuple[str, str, float]:
    """The tree that is left when the coupler is cut from one crank; that crank; the coupler's far end."""
    carrier, other = ("left", "right") if cut == "right" else ("right", "left")
    end = 1.0 if cut == "right" else -1.0
    place = {"left": 0.0, "right": 1.0}
    parts = [
        LINK.format(name="base", at=0),
        LINK.format(name=carrier, at=0.5),
        LINK.format(name="coupler", at=0.5 * end),
        LINK.format(name=other, at=0.5),
        JOINT.format(name=f"{carrier}_hinge", parent="base", child=carrier, at=place[carrier], turn=QUARTER),
        JOINT.format(name="coupler_hinge", parent=carrier, child="coupler", at=1, turn=-QUARTER),
        JOINT.format(name=f"{other}_hinge", parent="base", child=other, at=place[other], turn=QUARTER),
    ]
    return f'<robot name="four-bar">{"".join(parts)}</robot>', other, end


def ask_pybullet(cut: str) -> list[float]:
    text, other, end = urdf(cut)
    with tempfile.TemporaryDirectory() as folder, session() as (pb, client):
        path = Path(folder) / "four_bar.urdf"
        path.write_text(text)
        flags = pb.URDF_USE_INERTIA_FROM_FILE
        robot = pb.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
        joints = range(pb.getNumJoints(robot, physicsClientId=client))
        link = {pb.getJointInfo(robot, j, physicsClientId=client)[12].decode(): j for j in joints}
        for j in joints:
            pb.setJointMotorControl2(robot, j, pb.VELOCITY_CONTROL, force=0, physicsClientId=client)
            pb.enableJointForceTorqueSensor(robot, j, True, physicsClientId=client)
        ends = [0, 0, 0], [0.5 * end, 0, 0], [0.5, 0, 0]
        pb.createConstraint(
            robot, link["coupler"], robot, link[other], pb.JOINT_POINT2POINT, *ends, physicsClientId=client
        )
        push = robot, link["coupler"], [0, 0, ACCELERATE], [0, 0, 0], pb.LINK_FRAME
        pb.applyExternalForce(*push, physicsClientId=client)
        pb.stepSimulation(physicsClientId=client)
        return [pb.getJointState(robot, link[name], physicsClientId=client)[2][2] for name in GROUND]


def ask_mujoco(cut: str) -> list[float]:
    import mujoco

    text, other, end = urdf(cut)
    spec = mujoco.MjSpec.from_string(text)
    closure = spec.add_equality()
    closure.type, closure.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_BODY
    closure.name1, closure.name2, closure.data[:3] = "coupler", other, [end, 0, 0]
    model = spec.compile()
    model.opt.gravity[:] = 0
    data = mujoco.MjData(model)
    data.xfrc_applied[model.body("coupler").id, :3] = [0, 0, ACCELERATE]
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    return [data.cfrc_int[model.body(name).id][5] for name in GROUND]


def ask_pinocchio(cut: str) -> list[float]:
    import pinocchio as pin

    text, other, end = urdf(cut)
    model = pin.buildModelFromXML(text)
    model.gravity.linear = np.zeros(3)
    data, q, still = model.createData(), pin.neutral(model), np.zeros(model.nv)
    coupler, crank = model.getJointId("coupler_hinge"), model.getJointId(f"{other}_hinge")
    tip, pin_place = np.array([end, 0, 0]), np.array([1.0, 0, 0])
    ends = pin.SE3(np.eye(3), tip), pin.SE3(np.eye(3), pin_place)
    closure = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, coupler, ends[0], crank, ends[1], pin.ReferenceFrame.LOCAL
    )
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(closure)
    datas.append(closure.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    # the push does no work, so it enters with the joint forces only
    rates = pin.constraintDynamics(model, data, q, still, still, models, datas, settings).copy()
    closing = datas[0].contact_force.linear.copy()
    pin.forwardKinematics(model, data, q)
    turn = {j: data.oMi[j].rotation for j in (coupler, crank)}
    push = turn[coupler].T @ np.array([0, 0, ACCELERATE])
    on_crank = -turn[crank].T @ turn[coupler] @ closing
    forces = pin.StdVec_Force()
    forces.extend(pin.Force.Zero() for _ in range(model.njoints))
    forces[coupler] = pin.Force(push + closing, np.cross(0.5 * tip, push) + np.cross(tip, closing))
    forces[crank] = pin.Force(on_crank, np.cross(pin_place, on_crank))
    pin.rnea(model, data, q, still, rates, forces)
    ids = [model.getJointId(f"{name}_hinge") for name in GROUND]
    return [(data.oMi[j].rotation @ data.f[j].linear)[2] for j in ids]


def ask_drake(cut: str) -> list[float]:
    from pydrake.common.value import Value
    from pydrake.multibody.math import SpatialForce
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import (
        DiscreteContactApproximation,
        ExternallyAppliedSpatialForce,
        MultibodyPlant,
    )
    from pydrake.systems.analysis import Simulator

    text, other, end = urdf(cut)
    plant = MultibodyPlant(1e-4)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    plant.SetUseSampledOutputPorts(False)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    coupler = plant.GetBodyByName("coupler")
    plant.AddBallConstraint(coupler, [end, 0, 0], plant.GetBodyByName(other), [1, 0, 0])
    plant.Finalize()
    simulator = Simulator(plant)
    push = ExternallyAppliedSpatialForce()
    push.body_index, push.p_BoBq_B = coupler.index(), [0.5 * end, 0, 0]
    push.F_Bq_W = SpatialForce([0, 0, 0], [0, 0, ACCELERATE])
    context = simulator.get_mutable_context()
    port = plant.get_applied_spatial_force_input_port()
    port.FixValue(context, Value[list[ExternallyAppliedSpatialForce]]([push]))
    simulator.Initialize()
    simulator.AdvanceTo(1e-3)
    found = plant.get_reaction_forces_output_port().Eval(context)
    joints = [plant.GetJointByName(f"{name}_hinge") for name in GROUND]
    return [found[int(joint.index())].translational()[2] for joint in joints]


def closed_scene(cut: str) -> mb.Scene:
    """The tree of the URDF with the hinge that was cut, for mbplugin."""
    text, other, end = urdf(cut)
    scene = (
        '[[model]]\nfile = "four_bar.urdf"\nbase = "fixed"\n[[closure]]\nname = "closing_hinge"\n'
        f'type = "revolute"\nbody_a = "coupler"\nbody_b = "{other}"\n'
        f"xyz_a = [{end}, 0, 0]\nxyz_b = [1, 0, 0]\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "four_bar.urdf").write_text(text)
        (Path(folder) / "four_bar.scene.toml").write_text("gravity = [0, 0, 0]\n" + scene)
        return mb.load(Path(folder) / "four_bar.scene.toml")


def ask_mbplugin(cut: str, stiffness: dict[str, list[float]]) -> Reactions:
    middle = [0.5 if cut == "right" else -0.5, 0, 0]
    push = {"body": "coupler", "force": [0, 0, ACCELERATE], "point": middle}
    return mb.reactions(closed_scene(cut), loads=[push], stiffness=stiffness)


def answer(ask: Callable[[str], list[float]], cut: str) -> list[float] | None:
    """What a simulator says, in newtons at the left and at the right ground hinge; None: not installed."""
    try:
        # whichever sign its convention has
        return [abs(force) for force in ask(cut)]
    except ImportError:
        return None


print(f"{ACCELERATE:.0f} N sideways at mid-coupler; the force along the axis in the two ground hinges\n")
print(f"{'':12}{'cut right: left, right':>28}{'cut left: left, right':>28}")
simulators = {"PyBullet": ask_pybullet, "MuJoCo": ask_mujoco, "Drake": ask_drake, "Pinocchio": ask_pinocchio}
bars: dict[str, list[float]] = {}
for name, ask in simulators.items():
    line = f"{name:12}"
    for cut in ("right", "left"):
        found = answer(ask, cut)
        line += f"{'not installed':>28}" if found is None else f"{found[0]:16.1f} N {found[1]:7.1f} N"
        if found is not None:
            bars[f"{name},\ncut {cut}"] = found
    print(line)

print("\nmbplugin, rigid bodies, with either cut:")
for cut in ("right", "left"):
    rigid = ask_mbplugin(cut, {})
    for hinge in ("left_hinge", "right_hinge"):
        along = rigid[hinge]["tz"]
        said = "any value is possible" if along.value is None else f"{along.value:.1f} N"
        print(f"  cut {cut:5} {hinge:11} tz: {said}, so do {' and '.join(rigid[hinge].shared_with)}")

print("\nWhat is true of all possible values:")
for family in rigid.families:
    for relation in family.relations:
        if relation.component == "tz":
            terms = " ".join(f"{t.weight:+g} · {t.constraint} {t.component}" for t in relation.terms)
            print(f"  {relation.constraint} tz = {terms} {relation.constant:+g} N")

print("\nThe physical ones, once the hinges' stiffness is known (with either cut):")
hinges = ("left_hinge", "coupler_hinge", "closing_hinge", "right_hinge")
equal = [1e6, 1e6, 1e6, 1e4, 1e4, 0]
for title, left in (("equal hinges", 1.0), ("left ones twice as stiff", 2.0)):
    for cut in ("right", "left"):
        on_left = ("left_hinge", "coupler_hinge" if cut == "right" else "closing_hinge")
        stated = {n: [(left if n in on_left else 1.0) * k for k in equal] for n in hinges}
        real = ask_mbplugin(cut, stated)
        shares = [abs(real.value(hinge, "tz")) for hinge in ("left_hinge", "right_hinge")]
        print(f"  {title:26} cut {cut:5}  {shares[0]:.4f} N and {shares[1]:.4f} N")
        if title == "equal hinges":
            bars[f"mbplugin,\ncut {cut}"] = shares

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(10, 4), layout="constrained")
    places = np.arange(len(bars))
    for k, (side, colour) in enumerate(zip(GROUND, ("#0072b2", "#e69f00"), strict=True)):
        axes.bar(places + 0.4 * k - 0.2, [both[k] for both in bars.values()], 0.4, label=side, color=colour)
    axes.axhline(0.5 * ACCELERATE, color="grey", linestyle=":")
    axes.set_xticks(places, list(bars))
    axes.set(
        ylabel="force along the axis, N", title="1000 N sideways on a symmetric four-bar: who carries it?"
    )
    axes.legend(title="ground hinge")
    out = Path(__file__).resolve().parent.parent / "out"
    out.mkdir(exist_ok=True)
    figure.savefig(out / "one_truth.png", dpi=120)
    print("drawn to out/one_truth.png")
