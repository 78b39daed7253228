"""Drivers given to ``simulate``: the motion is that of a mechanism that has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from places import ASSETS

BAR = ASSETS / "four_bar.scene.toml"


@pytest.mark.parametrize("as_scene", [True, False])
def test_a_given_driver_is_one_of_the_mechanism(as_scene: bool) -> None:
    scene, driver = mb.load(BAR), mb.Driver("crank", "j0", rate=1.0, acceleration=0.5)
    own = replace(scene.mechanism, drivers=(driver,))
    q = {"j0": 1.2}
    given = mb.simulate(scene if as_scene else scene.mechanism, 0.2, q=q, drivers=[driver])
    stated = mb.simulate(replace(scene, mechanism=own) if as_scene else own, 0.2, q=q)
    assert np.array_equal(given.q, stated.q) and np.array_equal(given.qd, stated.qd)
    at = given.time[-1]
    assert given.q[-1][0] - given.q[0][0] == pytest.approx(at + 0.25 * at**2, abs=1e-7)
    assert not scene.mechanism.drivers


def test_two_drivers_of_the_same_name_are_refused() -> None:
    driver = mb.Driver("crank", "j0", rate=1.0)
    with pytest.raises(mb.MbPluginError, match="crank"):
        mb.simulate(BAR, 0.1, drivers=[driver, driver])
