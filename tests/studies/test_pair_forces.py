"""Forces along physical directions: what they do on the coordinates, and three ways to find them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.rows import joint_frames
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import Equations, solve
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array, shift_rows
from mbplugin.studies.elimination import SCHEMES, forces_of
from places import ORACLES
from states import random_states

NAMES = ["parallelogram_3SS", "stewart_6UPS", "door_1_hinge"]


def moving(name: str) -> tuple[Mechanism, Array, Equations]:
    scene = mb.load(ORACLES / f"{name}.sdf")
    mech = replace(scene.mechanism, gravity=np.array([1.0, -9.81, 2.0]))
    ((q, qd),) = random_states(mech, scene.state.q, 1, seed=5)
    return mech, q, absolute_equations(mech, q, qd)


@pytest.mark.parametrize("name", NAMES)
def test_the_three_schemes_agree_with_each_other_and_with_the_multipliers(name: str) -> None:
    _, _, equations = moving(name)
    multipliers = solve(equations, "kkt").multipliers
    size = np.abs(multipliers).max()
    assert size > 0.1
    for scheme in SCHEMES:
        assert forces_of(equations, scheme=scheme) == pytest.approx(multipliers, abs=1e-9 * size)


def test_forces_do_not_depend_on_how_the_constraints_are_written() -> None:
    """Combined rows, as closing conditions are, have other multipliers but the same forces."""
    _, _, equations = moving("parallelogram_3SS")
    mix = np.random.default_rng(1).normal(size=2 * equations.C.shape[:1])
    combined = replace(equations, C=mix @ equations.C, Gamma=mix @ equations.Gamma, b=mix @ equations.b)
    expected = solve(equations, "kkt").multipliers
    other = solve(combined, "kkt").multipliers
    assert np.abs(other - expected).max() > 0.1 * np.abs(expected).max()
    for scheme in SCHEMES:
        f = forces_of(combined, equations.C, scheme)
        assert f == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def test_rows_of_pairs_distribute_unit_forces() -> None:
    """The wrench that a unit force or moment at a pair's point is for each body, against the rows."""
    mech, q, equations = moving("stewart_6UPS")
    frames = joint_frames(mech, mech.pairs, forward(mech, q), None)
    compared = {"universal": 0, "spherical": 0}
    for k, pair in enumerate(mech.pairs):
        if pair.type not in compared:
            continue
        for component in pair.kind.constrained:
            e = frames.R_WP[k][:, "xyz".index(component[1])]
            unit = np.concatenate((e, np.zeros(3)))
            if component[0] == "r":
                across = np.cross(frames.R_WP[k][:, 0], frames.R_WS[k][:, 1])
                unit = np.concatenate((np.zeros(3), across / np.linalg.norm(across)))
            expected = np.zeros(equations.C.shape[1])
            for body, sign, center in (
                (frames.a[k], -1, frames.p_WCa[k]),
                (frames.b[k], 1, frames.p_WCb[k]),
            ):
                if body >= 0:
                    expected[6 * body : 6 * body + 6] = sign * shift_rows(unit, frames.p_WS[k] - center)
            row = equations.labels.index((pair.name, component))
            assert equations.C[row] == pytest.approx(expected, abs=1e-12)
            compared[pair.type] += 1
    assert compared == {"universal": 24, "spherical": 18}


def test_redundant_rows_are_refused() -> None:
    _, _, equations = moving("bricard_A04")
    with pytest.raises(BadUsage, match=r"1 of the constraints.*mbplugin\.reactions"):
        forces_of(equations)
    with pytest.raises(UnknownName, match="scheme"):
        forces_of(equations, scheme="36")
