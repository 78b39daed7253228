"""A watch on a PyBullet server in another process, to which this one is attached."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from live_clients import Client
from mbplugin.bullet import engine, quiet, session
from watched import MASS, snapshot, table

#: Serves until its input ends.
SERVER = """
import sys
import pybullet
assert pybullet.connect(pybullet.SHARED_MEMORY_SERVER, key=int(sys.argv[1])) >= 0
print("ready", flush=True)
sys.stdin.read()
"""
STEPS = 120


@pytest.fixture
def attached() -> Iterator[Client]:
    """A client of this process, attached to the server of a child."""
    key = 100_000 + os.getpid()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(key)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    bullet = engine()
    try:
        assert server.stdout is not None and server.stdin is not None
        assert any(line.startswith("ready") for line in server.stdout)
        with quiet():
            id = bullet.connect(bullet.SHARED_MEMORY, key)
        assert id >= 0
        yield Client(bullet, id)
        if bullet.isConnected(id):
            with quiet():
                bullet.disconnect(id)
    finally:
        server.kill()
        server.wait(30)
        for pipe in (server.stdin, server.stdout):
            pipe.close()


def stepped(client: Client, folder: Path, *, watched: bool) -> tuple[list[Any], mb.Update | None]:
    """Return the state of a table after some steps, and the last update of a watch."""
    table(client, folder)
    if not watched:
        for _ in range(STEPS):
            client.stepSimulation()
        return snapshot(client), None
    with mb.watch(client.id) as watch:
        for _ in range(STEPS):
            client.stepSimulation()
            watch.update()
        assert watch.updates == STEPS
        return snapshot(client), watch.latest


@pytest.mark.long
def test_a_server_in_another_process_is_watched(attached: Client, tmp_path: Path) -> None:
    """It has the states and the forces of the same simulation in this process, and the watch changes nothing."""
    assert attached.getConnectionInfo()["connectionMethod"] == attached.SHARED_MEMORY
    there, update = stepped(attached, tmp_path, watched=True)
    with session() as (bullet, id):
        alone, _ = stepped(Client(bullet, id), tmp_path, watched=False)
    assert there == alone
    assert update is not None and update.balanced and not update.marks
    normal = [force for force in update.forces if force.component == "cn"]
    assert len(normal) == 4 and update.degree_of_redundancy == 6
    assert sum(force.engine for force in normal) == pytest.approx(MASS * 9.81, rel=0.02)
    for force in normal:
        may = update.intervals[force.constraint, "cn"]
        assert may.lower - 2 <= force.engine <= may.upper + 2
