"""Constraints of a live client whose frames do not meet at the present pose, beside what PyBullet does with them."""

import numpy as np
import pytest

from live_clients import Client, load_minitaur
from mbplugin.bullet.reader import read_client
from mbplugin.linter.rule import Finding
from mbplugin.linter.run import lint

KINDS = ("JOINT_POINT2POINT", "JOINT_FIXED", "JOINT_PRISMATIC")


def tie(client: Client, kind: str, gap: float, degrees: float) -> None:
    """Hang a box on one that stands, with pivots ``gap``, m, and frames ``degrees`` apart."""
    shape = client.createCollisionShape(client.GEOM_BOX, halfExtents=[0.1, 0.1, 0.1])
    turned = client.getQuaternionFromEuler([0, 0, np.radians(degrees)])
    standing = client.createMultiBody(0, shape)
    hanging = client.createMultiBody(1, shape, -1, [0.5, 0, gap], turned)
    pivots = [0.5, 0, 0], [0, 0, 0]
    if kind == "JOINT_POINT2POINT":  # hung beside its centre, it swings
        pivots = [0.25, 0, 0], [-0.25, 0, 0]
    client.createConstraint(standing, -1, hanging, -1, getattr(client, kind), [1, 0, 0], *pivots)
    client.setGravity(0, 0, -9.81)


def findings(client: Client) -> list[Finding]:
    return [f for f in lint(read_client(client.id)).findings if f.code == "MB119"]


def step(client: Client, times: int) -> None:
    for _ in range(times):
        client.stepSimulation()


@pytest.mark.parametrize(
    ("kind", "gap", "degrees"),
    [("JOINT_POINT2POINT", 0.1, 0), ("JOINT_FIXED", 0, 10), ("JOINT_PRISMATIC", 0.1, 10)],
)
def test_a_constraint_that_does_not_hold_says_how_far_its_frames_are_apart(
    client: Client, kind: str, gap: float, degrees: float
):
    """PyBullet takes a fifth of it away in a step, and all of it in the end."""
    tie(client, kind, gap, degrees)
    for share in (1.0, 0.8):
        (finding,) = findings(client)
        assert finding.severity == "warning"
        assert finding.evidence["distance"] == pytest.approx(share * gap, abs=1e-3)
        assert np.degrees(finding.evidence["angle"]) == pytest.approx(share * degrees, abs=0.01)
        step(client, 1)
    step(client, 200)
    assert findings(client) == []


def test_the_finding_says_what_pybullet_does_and_which_body_is_moved_here(client: Client):
    tie(client, "JOINT_FIXED", 0.1, 10)
    (finding,) = findings(client)
    scene = read_client(client.id)
    assert "0.1 m and 10° apart; PyBullet pulls them together" in finding.message
    assert f"here body {scene.mechanism.bodies[1].name!r} is moved to where they meet" in finding.message
    assert "createConstraint" in finding.help


@pytest.mark.parametrize("kind", KINDS)
def test_a_constraint_that_fits_is_no_finding_and_neither_is_the_drift_of_pybullet(client: Client, kind: str):
    tie(client, kind, 0, 0)
    assert findings(client) == []
    step(client, 200)
    assert findings(client) == []


def test_a_constraint_that_closes_a_loop_is_judged_with_all_loops(client: Client):
    """It carries no body, so assembly moves joints; that is another rule."""
    body = load_minitaur(client)
    client.resetJointState(body, client.joints(body)["motor_front_leftL_joint"], -1.2)
    assert findings(client) == []
    assert "MB504" in {f.code for f in lint(read_client(client.id)).findings}
