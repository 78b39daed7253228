"""Live PyBullet clients with models in them."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mbplugin.bullet import quiet, session
from places import BULLET_DATA

DATA = BULLET_DATA


LEGS = ("front_left", "back_left", "front_right", "back_right")


DIRECTIONS = dict(zip(LEGS, (-1, -1, 1, 1), strict=True))


class Client:
    """A private client, with the id filled in."""

    def __init__(self, bullet: ModuleType, id: int) -> None:
        self.bullet, self.id = bullet, id

    def __getattr__(self, name: str) -> Any:
        function = getattr(self.bullet, name)
        return (
            (lambda *a, **k: function(*a, physicsClientId=self.id, **k)) if callable(function) else function
        )

    def load(self, file: str | Path, *args: Any, **options: Any) -> int:
        with quiet():
            return self.loadURDF(str(DATA / file), *args, **options)

    def joints(self, body: int) -> dict[str, int]:
        return {self.getJointInfo(body, j)[1].decode(): j for j in range(self.getNumJoints(body))}


@pytest.fixture
def client() -> Iterator[Client]:
    with session() as (bullet, id):
        yield Client(bullet, id)


def load_minitaur(client: Client, fixed: bool = True) -> int:
    """Do what PyBullet's example does."""
    body = client.load("quadruped/minitaur.urdf", [0, 0, 0.2], useFixedBase=fixed)
    joints = client.joints(body)
    for leg in LEGS:
        for side in "LR":
            client.resetJointState(body, joints[f"motor_{leg}{side}_joint"], DIRECTIONS[leg] * np.pi / 2)
            client.resetJointState(body, joints[f"knee_{leg}{side}_link"], DIRECTIONS[leg] * -2.1834)
        right, left = joints[f"knee_{leg}R_link"], joints[f"knee_{leg}L_link"]
        point = client.JOINT_POINT2POINT
        client.createConstraint(body, right, body, left, point, [0, 0, 0], [0, 0.005, 0.2], [0, 0.01, 0.2])
    return body
