"""Every public function takes a file, a PyBullet client, a scene or a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS
from mbplugin.errors import BadUsage, UnreadableFile

p = pytest.importorskip("pybullet")
bullet_client = pytest.importorskip("pybullet_utils.bullet_client")

ARM, URDF = ASSETS / "arm_6r.scene.toml", ASSETS / "arm_6r.urdf"
CALLS: dict[str, Callable[[Any], object]] = {
    "analyze": lambda m: mb.analyze(m).degree_of_redundancy,
    "constraint_matrix": lambda m: mb.constraint_matrix(m).C.shape,
    "reactions": lambda m: [c.value for c in mb.reactions(m)["j2"].components],
    "simulate": lambda m: mb.simulate(m, 0.2).q[-1].round(9).tolist(),
    "estop": lambda m: round(mb.estop(m, qd={"j1": 0.5}).time, 9),
    "stopping_table": lambda m: len(mb.stopping_table(m, axes=["j1"], categories=(0,)).rows),
    "load": lambda m: mb.load(m).mechanism.q_names,
    "lint": lambda m: mb.lint(m).analysis.degree_of_redundancy,  # type: ignore[union-attr]
}


@pytest.fixture
def client() -> Iterator[Any]:
    bullet = bullet_client.BulletClient(p.DIRECT)
    bullet.setGravity(0, 0, -9.81)
    bullet.loadURDF(str(URDF), useFixedBase=True)
    yield bullet
    bullet.disconnect()


@pytest.mark.long_after(6)
@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_file_is_what_was_loaded_from_it(name: str) -> None:
    function = CALLS[name]
    expected = function(mb.load(ARM)) if name != "load" else function(str(ARM))
    assert function(str(ARM)) == function(ARM) == expected


@pytest.mark.parametrize("name", ["analyze", "simulate", "estop", "lint"])
def test_a_client_may_be_given_by_its_id_or_as_an_object(name: str, client: Any) -> None:
    by_id, as_object = CALLS[name](client._client), CALLS[name](client)
    assert by_id == as_object
    scene = mb.load(client)
    assert np.allclose(scene.mechanism.gravity, [0, 0, -9.81])


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    for wrong in (None, 1.5, [str(ARM)], True):
        with pytest.raises(
            BadUsage,
            match="expected a path, a PyBullet client, a Scene, a Mechanism, or a model of MuJoCo, Pinocchio, "
            "yourdfpy or urchin",
        ):
            mb.analyze(wrong)  # type: ignore[arg-type]
    with pytest.raises(UnreadableFile, match="no such file"):
        mb.simulate(tmp_path / "none.urdf", 1.0)
