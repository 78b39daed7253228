"""Contacts of a live PyBullet client, and the forces of PyBullet and MuJoCo inside the bounds."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from live_clients import Client
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.kinematics import forward

pytestmark = pytest.mark.bullet

#: A table of 20 kg whose legs stand on balls, its load off the middle.
CORNERS = ((0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3))
CONTACT_RULES = ["MB302", "MB303", "MB304"]
MASS, COM, HEIGHT, RADIUS, MU = 20.0, (0.1, 0.05), 0.7, 0.03, 0.5
LEGS = "".join(
    f'<collision><origin xyz="{x} {y} {RADIUS - HEIGHT}"/><geometry><sphere radius="{RADIUS}"/></geometry></collision>'
    for x, y in CORNERS
)
TABLE = (
    f'<robot name="table"><link name="top"><inertial><origin xyz="{COM[0]} {COM[1]} 0"/><mass value="{MASS}"/>'
    f'<inertia ixx="2" iyy="3" izz="4" ixy="0" ixz="0" iyz="0"/></inertial>{LEGS}</link></robot>'
)


def by_corner(points: np.ndarray) -> list[int]:
    """Return the nearest corner of each of points (n, 3)."""
    return [int(np.argmin(np.linalg.norm(np.array(CORNERS) - p[:2], axis=1))) for p in points]


def settled(client: Client, tmp_path) -> int:
    file = tmp_path / "table.urdf"
    file.write_text(TABLE)
    client.setGravity(0, 0, -9.81)
    ground = client.load("plane.urdf")
    table = client.load(file, [COM[0], COM[1], HEIGHT])
    client.changeDynamics(ground, -1, lateralFriction=1.0)
    client.changeDynamics(table, -1, lateralFriction=MU)
    for _ in range(500):
        client.stepSimulation()
    return table


def test_pybullets_contact_forces_lie_within_the_bounds(client, tmp_path):
    settled(client, tmp_path)
    result = mb.reactions(client.id, contacts=True)
    assert len(result.contacts) == 4 and result.degree_of_redundancy == 6
    assert all((c.body, c.on, c.state) == ("table/top", "world", "holds") for c in result.contacts)
    assert all(c.mu == pytest.approx(MU) and c.normal[2] == pytest.approx(1.0) for c in result.contacts)
    assert np.allclose([c.point[2] for c in result.contacts], 0.0, atol=2e-3)
    theirs = {}
    for point in client.getContactPoints():
        (corner,) = by_corner(np.array([point[5]]))
        theirs[corner] = theirs.get(corner, 0.0) + point[9]
    slack = 1e-2 * MASS * 9.81
    assert sum(theirs.values()) == pytest.approx(MASS * 9.81, abs=slack)
    for contact in result.contacts:
        found = result[contact.name]["cn"]
        (corner,) = by_corner(contact.point[None])
        assert found.lower - slack <= theirs[corner] <= found.upper + slack


def test_the_client_and_the_stance_of_the_file_have_the_same_bounds(client, tmp_path):
    settled(client, tmp_path)
    live = mb.reactions(client.id, contacts=True)
    still = mb.reactions(mb.load(tmp_path / "table.urdf"), stance=True, friction=MU)
    ends = [
        {
            by_corner(contact.point[None])[0]: (found.lower, found.upper)
            for contact in result.contacts
            for found in [result[contact.name]["cn"]]
        }
        for result in (live, still)
    ]
    for corner, bounds in ends[1].items():
        assert ends[0][corner] == pytest.approx(bounds, abs=1e-2 * MASS * 9.81)


def test_mujocos_contact_forces_lie_within_the_bounds():
    mujoco = pytest.importorskip("mujoco")
    feet = "".join(
        f'<geom type="sphere" size="{RADIUS}" pos="{x} {y} {RADIUS - HEIGHT}" mass="0"/>' for x, y in CORNERS
    )
    xml = (
        f'<mujoco><option timestep="0.001"/><default><geom friction="{MU} 0 0" condim="3"/></default><worldbody>'
        f'<geom type="plane" size="5 5 1"/><body name="top" pos="0 0 {HEIGHT}"><freejoint/>'
        f'<inertial pos="{COM[0]} {COM[1]} 0" mass="{MASS}" diaginertia="2 3 4"/>{feet}</body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for _ in range(3000):
        mujoco.mj_step(model, data)
    body = mb.Body("top", MASS, np.array([*COM, 0.0]), np.diag([2.0, 3.0, 4.0]))
    contacts = [
        {"body_a": "top", "name": f"c{k}", "point": [x, y, -HEIGHT], "normal": [0, 0, 1], "mu": MU}
        for k, (x, y) in enumerate(CORNERS)
    ]
    result = mb.reactions(mb.Mechanism("table", (body,)), contacts=contacts)
    slack, total, force = 1e-3 * MASS * 9.81, 0.0, np.zeros(6)
    assert data.ncon == 4
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        (corner,) = by_corner(np.array([data.contact[k].pos]))
        total += force[0]
        found = result[f"c{corner}"]
        assert found["cn"].lower - slack <= force[0] <= found["cn"].upper + slack
        for name in ("ct1", "ct2"):
            assert found[name].lower - slack <= 0.0 <= found[name].upper + slack
        assert np.hypot(force[1], force[2]) <= found["ct1"].upper + slack
    assert total == pytest.approx(MASS * 9.81, abs=slack)


def test_contacts_between_two_free_bodies_are_read_with_their_normal(client, tmp_path):
    settled(client, tmp_path)
    box = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.05, 0.05, 0.05])
    client.createMultiBody(1.0, box, basePosition=[5.0, 0, 0.05])
    client.createMultiBody(2.0, box, basePosition=[5.0, 0, 0.15])
    for _ in range(300):
        client.stepSimulation()
    result = mb.reactions(client.id, contacts=True)
    between = [c for c in result.contacts if "world" not in (c.body, c.on) and c.point[0] > 4]
    assert len(between) == 4
    scene = mb.load(client.id)
    poses = forward(scene.mechanism, scene.state.q)
    height = {body.name: poses.p_WC[k][2] for k, body in enumerate(scene.mechanism.bodies)}
    for contact in between:
        # the normal points into the pushed body: up into the upper box, down into the lower one
        assert contact.normal[2] == pytest.approx(
            np.sign(height[contact.body] - height[contact.on]), abs=1e-3
        )
    assert sum(result[c.name]["cn"].upper for c in between) >= 2 * 9.81 * 0.99


def test_what_is_no_client_has_no_contacts_to_read(tmp_path):
    file = tmp_path / "table.urdf"
    file.write_text(TABLE)
    with pytest.raises(BadUsage, match="only from a live PyBullet client"):
        mb.reactions(mb.load(file), contacts=True)


def test_a_falling_client_without_contacts_is_refused(client, tmp_path):
    file = tmp_path / "table.urdf"
    file.write_text(TABLE)
    client.setGravity(0, 0, -9.81)
    client.load(file, [0, 0, 3])
    with pytest.raises(BadUsage, match="falls"):
        mb.reactions(client.id, contacts=True)


def test_a_robot_that_stands_in_a_client_is_judged(client, tmp_path):
    settled(client, tmp_path)
    assert not mb.lint(client.id, select=CONTACT_RULES).findings
    report = mb.lint(client.id, contacts=True, select=CONTACT_RULES)
    assert [f.code for f in report.findings] == ["MB303"]
    live, bounds = mb.reactions(client.id, contacts=True), report.findings[0].evidence["bounds_N"]
    assert len(bounds) == 4
    for name, one in bounds.items():
        assert one["cn"] == pytest.approx([live[name]["cn"].lower, live[name]["cn"].upper], abs=1e-6)


def test_what_buzzes_is_at_rest_and_what_slides_is_not(client, tmp_path):
    body = settled(client, tmp_path)
    step = 9.81 / 240
    client.resetBaseVelocity(body, [0.9 * step, 0, 0], [0, 0, 0])
    calm = mb.reactions(client.id, contacts=True)
    assert not calm.qd.any() and any("taken as at rest" in note for note in calm.notes)
    mech = mb.load(client.id).mechanism
    inertia = mech.bodies[mech.body_index["table/top"]].I_C[2, 2]
    for factor, rests in ((0.9, True), (1.2, False)):
        client.resetBaseVelocity(body, [0, 0, 0], [0, 0, factor * step * np.sqrt(MASS / inertia)])
        report = mb.lint(client.id, contacts=True, select=CONTACT_RULES)
        assert bool(np.any(report.scene.state.qd)) is not rests
    client.resetBaseVelocity(body, [1.2 * step, 0, 0], [0, 0, 0])
    scene = mb.load(client.id)
    assert scene.state.qd[0] == pytest.approx(1.2 * step, rel=1e-6)
    moving = mb.lint(client.id, contacts=True, select=CONTACT_RULES)
    assert np.any(moving.scene.state.qd) and "MB303" not in [f.code for f in moving.findings]
