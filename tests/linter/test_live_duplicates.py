"""Constraints of a live client that add nothing to others: the finding names the call that removes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import mbplugin as mb

pytestmark = pytest.mark.bullet


@pytest.fixture
def boxes() -> Iterator[tuple[int, int, int]]:
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    shape = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[0.1] * 3, physicsClientId=client)
    a, b = (
        pybullet.createMultiBody(1, shape, basePosition=[x, 0, 1], physicsClientId=client) for x in (0, 0.4)
    )
    yield client, a, b
    pybullet.disconnect(client)


def join(boxes: tuple[int, int, int], kind: str, y: float) -> int:
    import pybullet

    client, a, b = boxes
    joint = getattr(pybullet, f"JOINT_{kind}")
    frames = ([0.2, y, 0], [-0.2, y, 0])
    return pybullet.createConstraint(a, -1, b, -1, joint, [0, 0, 0], *frames, physicsClientId=client)


@pytest.mark.parametrize("kinds", [("FIXED", "POINT2POINT"), ("POINT2POINT", "FIXED"), ("FIXED", "FIXED")])
def test_what_a_weld_holds_needs_no_second_constraint(
    boxes: tuple[int, int, int], kinds: tuple[str, str]
) -> None:
    import pybullet

    numbers = [join(boxes, kind, 0.1 * k) for k, kind in enumerate(kinds)]
    more = numbers[kinds.index("POINT2POINT")] if "POINT2POINT" in kinds else numbers[1]
    report = mb.lint(boxes[0])
    found = {finding.code: finding for finding in report.findings}
    assert found["MB205"].help == f"removeConstraint({more})"
    assert found["MB201"].help == f"removeConstraint({more}): see MB205"
    pybullet.removeConstraint(more, physicsClientId=boxes[0])
    assert not {"MB201", "MB205"} & {finding.code for finding in mb.lint(boxes[0]).findings}


def test_two_ball_joints_make_a_hinge_and_are_no_duplicates(boxes: tuple[int, int, int]) -> None:
    for y in (0.0, 0.1):
        join(boxes, "POINT2POINT", y)
    assert "MB205" not in {finding.code for finding in mb.lint(boxes[0]).findings}
