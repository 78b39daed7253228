"""A watched simulation goes exactly as an unwatched one, and the engine is only asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from live_clients import Client
from mbplugin.bullet import session
from watched import BIPED, SCENES, snapshot

STEPS = 2000


def run(scene: str, watched: bool, steps: int = STEPS) -> tuple[list[Any], int]:
    with session() as (bullet, id):
        client = Client(bullet, id)
        SCENES[scene](client)
        seen = []
        with mb.watch(id, every=1, intervals=500) if watched else session():
            for k in range(steps):
                bullet.stepSimulation(physicsClientId=id)
                if k % 100 == 0:
                    seen.append(snapshot(client))
        seen.append(snapshot(client))
    return seen, steps


@pytest.mark.long
@pytest.mark.parametrize("scene", sorted(SCENES))
def test_states_are_the_same_bit_for_bit(scene: str) -> None:
    alone, watched = run(scene, False), run(scene, True)
    assert repr(alone) == repr(watched)
    assert alone[0][0] != alone[0][-1]


def test_only_getters_are_called(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    SCENES["minitaur"](client)
    client.stepSimulation()
    called = set()

    def noting(name: str, function: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            if name != "connect" and named.get("physicsClientId", -1) == client.id:
                called.add(name)
            return function(*args, **named)

        return call

    for name, value in list(vars(client.bullet).items()):
        if callable(value) and not isinstance(value, type):
            monkeypatch.setattr(client.bullet, name, noting(name, value))
    with mb.watch(client.id) as watch:
        for _ in range(3):
            watch.update()
        _ = watch.latest.intervals, watch.latest.forces
    assert {"getLinkStates", "getContactPoints", "getConstraintState"} <= called
    assert [name for name in called if not name.startswith(("get", "isConnected"))] == []


@pytest.mark.long
@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicitfast"])
def test_mujoco_is_not_changed(integrator: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(BIPED.replace("<option ", f'<option integrator="{integrator}" '))

    def go(watched: bool) -> list[Any]:
        data = mujoco.MjData(model)
        data.qvel[0] = 0.2
        watch = mb.watch(model, data, every=1, intervals=500) if watched else None
        fields = (
            "qpos",
            "qvel",
            "qacc",
            "qacc_warmstart",
            "efc_force",
            "cacc",
            "cfrc_int",
            "cfrc_ext",
            "sensordata",
        )
        seen = []
        for _ in range(STEPS):
            mujoco.mj_step(model, data)
            seen.append([np.array(getattr(data, name)).tobytes() for name in fields])
        if watch is not None:
            assert watch.updates == STEPS
            watch.close()
        return seen

    assert go(False) == go(True)
