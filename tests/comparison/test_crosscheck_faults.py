"""Faults of the equations, planted in our motion or in a copy of the engine's: the cross-check sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.bullet.motion import Sampled
from mbplugin.comparison import agreement as crosscheck_setup, run
from mbplugin.comparison.agreement import Begun
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.spatial import Array, rotation_from_vector
from models import chain

pytestmark = pytest.mark.slow

Fault = Callable[[Mechanism], Mechanism]
RATES = (1.5, -2.0, 1.0)


def arm() -> Mechanism:
    """Three revolute joints whose axes are askew, and bodies whose weight is off their joints."""
    rng = np.random.default_rng(11)
    mech, _ = chain(3, "revolute", rng)
    bodies = tuple(
        replace(body, p_LC=rng.uniform(-0.2, 0.2, 3), I_C=body.mass * np.diag([0.01, 0.03, 0.035]))
        for body in mech.bodies
    )
    return replace(mech, bodies=bodies)


def of_body(change: Callable[[Any], Any]) -> Fault:
    """Return the fault that changes one body."""
    return lambda mech: replace(mech, bodies=tuple(change(b) if b.name == "b2" else b for b in mech.bodies))


def turned(body: Any) -> Any:
    """Return a body whose inertia is in a frame turned by 90 degrees."""
    R = rotation_from_vector(np.array([0.0, 0.5 * np.pi, 0.0]))
    return replace(body, I_C=R @ body.I_C @ R.T)


#: With the default steps, the engines resolve about a half to a tenth of these faults.
FAULTS: dict[str, Fault] = {
    "gravity too large by 0.05 %": lambda mech: replace(mech, gravity=1.0005 * np.array(mech.gravity)),
    "gravity turned by 0.5 mrad": lambda mech: replace(
        mech, gravity=rotation_from_vector(np.array([5e-4, 0, 0])) @ mech.gravity
    ),
    "a mass too large by 1 %": of_body(lambda body: replace(body, mass=1.01 * body.mass)),
    "a centre of mass off by 1 mm": of_body(
        lambda body: replace(body, p_LC=body.p_LC + np.array([1e-3, 0, 0]))
    ),
    "an inertia in a frame turned by 90 degrees": of_body(turned),
}


def plant(monkeypatch: pytest.MonkeyPatch, change: Callable[[Mechanism], Mechanism], **more: Any) -> None:
    """Let our motion be that of a changed mechanism, past the comparison of the models."""
    real = crosscheck_setup.simulate

    def simulate(mech: Mechanism, duration: float, **stated: Any) -> Any:
        # forces at rest come from a motion of a moment
        if duration < 1e-6:
            return real(mech, duration, **stated)
        return real(change(mech), duration, **(stated | more))

    monkeypatch.setattr(crosscheck_setup, "simulate", simulate)


def crosschecked() -> tuple[mb.Agreement, mb.Agreement]:
    """Return what both engines say."""
    found = mb.crosscheck(arm(), 0.4, qd=dict(zip(("j0", "j1", "j2"), RATES, strict=True)))
    assert found.second is not None
    return found, found.second


def test_without_a_fault_both_agree() -> None:
    assert [one.verdict for one in crosschecked()] == ["agrees", "agrees"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_forces_of_ours_is_seen_by_both_engines(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, FAULTS[fault])
    for one in crosschecked():
        assert one.verdict == "disagrees" and "they part at" in one.reason


@pytest.mark.parametrize("part", [-2.0, -0.01, 0.01])
def test_a_fault_in_the_velocity_products_of_ours_is_seen(
    part: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller adds a part of the Coriolis forces, −2 to turn their sign: no parameter has such a fault."""
    mech = arm()

    def controller(t: float, q: Array, qd: Array) -> Array:
        moving, still = (joint_equations(mech, q, rates).F for rates in (qd, 0.0 * qd))
        return part * (moving - still)

    plant(monkeypatch, lambda m: m, controller=controller)
    assert [one.verdict for one in crosschecked()] == ["disagrees", "disagrees"]


@pytest.mark.parametrize(("size", "verdict"), [(1e-3, "disagrees"), (1e-5, "agrees")])
def test_a_fault_in_a_copy_of_the_engines_motion_is_seen(
    size: float, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One joint is off by up to ``size`` rad at every step of the engine, so that no step makes it smaller."""

    def faulty(sampled: Sampled) -> Sampled:
        off = np.zeros_like(sampled.q)
        off[:, 1] = size * (sampled.time / sampled.time[-1]) ** 2
        return replace(sampled, q=sampled.q + off)

    def ask(engine: run.Engine, *args: Any) -> Any:
        found = real(engine, *args)
        if isinstance(found, Begun):
            return replace(found, runs=tuple(map(faulty, found.runs)))
        return [faulty(one) for one in found]

    real = run.Engine.ask
    monkeypatch.setattr(run.Engine, "ask", ask)
    for one in crosschecked():
        assert one.verdict == verdict
        if verdict == "disagrees":
            assert "j1" in one.reason
