"""A held joint breaks away where its load first passes what its brake holds, also between two looks at the load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose
from mbplugin.report.text.stop import estop_lines
from mbplugin.stopping.batch import ArmStopper, CompiledStop
from mbplugin.stopping.many import TRAVELS, StopStarts
from mbplugin.stopping.outcome import StopReport

SEED = 20261127
#: How many random arms.
ARMS = 12
GRAVITY = 9.81


@dataclass(frozen=True)
class Arm:
    """A pendulum (0, 1) on the end of a held one: planar, gravity along −y; SI units.

    ``brake`` is the torque on the outer joint, ``q`` and ``rate`` are the state at the signal.
    """

    length: float
    c: tuple[float, float]
    mass: tuple[float, float]
    inertia: tuple[float, float]
    brake: float
    q: tuple[float, float]
    rate: float

    def mechanism(self) -> Mechanism:
        """Return it for the package."""
        unit = np.eye(3)
        names = ("inner", "outer")
        bodies = [
            Body(name, m, np.array([c, 0.0, 0.0]), i * unit)
            for name, m, c, i in zip(names, self.mass, self.c, self.inertia, strict=True)
        ]
        places = [Pose(unit, np.zeros(3)), Pose(unit, np.array([self.length, 0.0, 0.0]))]
        pairs = [
            Pair(f"j{k}", "revolute", before, after, places[k], Pose(unit, np.zeros(3)))
            for k, (before, after) in enumerate(((WORLD, "inner"), ("inner", "outer")))
        ]
        return Mechanism("arm", tuple(bodies), tuple(pairs), gravity=np.array([0.0, -GRAVITY, 0.0]))

    def acceleration(self, phi: Any, rate: Any) -> Any:
        """Return that of the outer joint while the inner one is held, rad/s², of numbers or arrays."""
        m, c = self.mass[1], self.c[1]
        pull = m * GRAVITY * c * np.cos(self.q[0] + phi)
        return (-np.sign(self.rate) * self.brake - pull) / (self.inertia[1] + m * c * c)

    def load(self, phi: Any, rate: Any) -> Any:
        """Return the torque that holds the inner joint, N·m: the rate of the angular momentum about it, and weight."""
        (m0, m1), (c0, c1), L = self.mass, self.c, self.length
        alpha, theta = self.acceleration(phi, rate), self.q[0]
        swing = alpha * (self.inertia[1] + m1 * c1 * c1 + m1 * c1 * L * np.cos(phi))
        swing -= m1 * c1 * L * rate * rate * np.sin(phi)
        weight = m0 * GRAVITY * c0 * np.cos(theta)
        return swing + weight + m1 * GRAVITY * (L * np.cos(theta) + c1 * np.cos(theta + phi))

    def largest_load(self) -> tuple[float, float, Any]:
        """Return when the load is largest before the outer joint rests, how large, and the load against time."""

        def rests(t: float, y: Any) -> float:
            return float(y[1])

        rests.terminal = True  # type: ignore[attr-defined]
        found = solve_ivp(
            lambda t, y: (y[1], self.acceleration(*y)),
            (0.0, 5.0),
            (self.q[1], self.rate),
            method="DOP853",
            events=rests,
            dense_output=True,
            rtol=1e-12,
            atol=1e-13,
        )

        def load(t: Any) -> Any:
            return abs(self.load(*found.sol(t)))

        times = np.linspace(0.0, found.t[-1], 2001)
        k = int(np.argmax(load(times)))
        low, high = times[max(k - 1, 0)], times[min(k + 1, len(times) - 1)]
        top = minimize_scalar(
            lambda t: -load(t), bounds=(low, high), method="bounded", options={"xatol": 1e-10}
        )
        inside = 0 < k < len(times) - 1
        return (float(top.x) if inside else -1.0), -float(top.fun), load

    def stop(self, torque: float) -> StopReport:
        """Return the stop whose inner joint rests under a brake of a torque, N·m."""
        state = {"j0": self.q[0], "j1": self.q[1]}
        brakes = [mb.Brake("j0", torque), mb.Brake("j1", self.brake)]
        return mb.estop(self.mechanism(), state, {"j0": 0.0, "j1": self.rate}, brakes=brakes)


@cache
def arms_with_a_peak(count: int) -> list[tuple[Arm, float, float, Any]]:
    """Return random arms whose inner joint is loaded most somewhere between start and rest: when, and how much."""
    rng, found = np.random.default_rng(SEED), []
    while len(found) < count:
        arm = Arm(
            rng.uniform(0.2, 0.6),
            (rng.uniform(0.1, 0.3), rng.uniform(0.1, 0.4)),
            (rng.uniform(0.5, 3.0), rng.uniform(0.5, 3.0)),
            (rng.uniform(0.01, 0.1), rng.uniform(0.01, 0.1)),
            rng.uniform(8.0, 20.0),
            (rng.uniform(-3.0, 3.0), rng.uniform(-3.0, 3.0)),
            rng.choice((-1.0, 1.0)) * rng.uniform(3.0, 9.0),
        )
        if arm.brake > 1.2 * arm.mass[1] * GRAVITY * arm.c[1]:
            time, most, load = arm.largest_load()
            if time > 0.0:
                found.append((arm, time, most, load))
    return found


@pytest.fixture(params=range(ARMS))
def peak(request: pytest.FixtureRequest) -> tuple[Arm, float, float, Any]:
    """One of them; they are computed where a test needs them, not where tests are collected."""
    return arms_with_a_peak(ARMS)[request.param]


@pytest.mark.long_after(3)
def test_a_load_that_peaks_between_looks_breaks_away(peak: tuple[Arm, float, float, Any]) -> None:
    """One part in 10⁵ below the peak the joint slips when the load passes its brake; as much above, it is held."""
    arm, time, most, load = peak
    held = 0.99999 * most
    times = np.linspace(0.0, time, 4001)
    start = times[load(times) < held].max()
    passed = brentq(lambda t: load(t) - held, start, time, xtol=1e-13)
    below, above = arm.stop(held), arm.stop(1.00001 * most)
    slips = [event.time for event in below.events if event.kind == "slip" and event.joint.startswith("j0")]
    # near its peak the load passes slowly
    assert slips[0] == pytest.approx(passed, abs=5e-5)
    assert not [event for event in above.events if event.kind == "slip"]
    assert next(peak for peak in above.peaks if peak.pair == "j0").axis.brake.value == pytest.approx(
        most, rel=1e-4
    )


def test_the_compiled_stops_see_it_too(peak: tuple[Arm, float, float, Any]) -> None:
    """A joint that slips has a travel."""
    arm, _, most, _ = peak
    for factor in (0.99999, 1.00001):
        scenario = arm.stop(factor * most).scenario
        stop = ArmStopper(CompiledStop(scenario)).stop(scenario.q, scenario.qd, scenario.brakes, ())
        assert (stop.travels[0] != 0.0) == (factor < 1.0)


def test_stops_side_by_side_see_it_too(
    peak: tuple[Arm, float, float, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one call, just below and just above the peak."""
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 1)
    arm, _, most, _ = peak
    scenario = arm.stop(most).scenario
    factors, one = np.array([[0.99999, 1.0], [1.00001, 1.0]]), np.ones((2, 2))
    starts = StopStarts(np.tile(scenario.q, (2, 1)), np.tile(scenario.qd, (2, 1)), factors, one, np.ones(2))
    stops = CompiledStop(scenario).stops(starts, scenario.brakes, ())
    assert (stops.joints[:, TRAVELS, 0] != 0.0).tolist() == [True, False]


def test_a_peak_that_no_brake_carries_is_an_internal_error() -> None:
    """A report whose brake is said to be weaker than what it has carried is not printed."""
    arm, _, most, _ = arms_with_a_peak(ARMS)[0]
    report = arm.stop(1.00001 * most)
    actions = report.trajectory.actions
    weaker = tuple(replace(brake, law=brake.law.scaled(0.9)) for brake in actions.brakes)
    told = replace(report.trajectory, actions=replace(actions, brakes=weaker))
    with pytest.raises(RuntimeError, match=r"the brake of j0 carries .* and can carry"):
        _ = replace(report, trajectory=told).peaks
    assert report.peaks


def test_brakes_that_hold_one_freedom_together_are_no_error() -> None:
    """Each of two geared brakes is too weak for the load, and both hold it: the split is one of many."""
    unit, none = np.eye(3), np.zeros(3)
    at = Pose(unit, none)
    places = (np.array([0.3, 0.0, 0.0]), none)
    bodies = tuple(Body(f"w{k}", 1.0, place, 0.1 * unit) for k, place in enumerate(places))
    pairs = tuple(Pair(f"j{k}", "revolute", WORLD, f"w{k}", at, at) for k in range(2))
    gear = Coupling("gear", "gear", (Term("j0", "rz", 1.0), Term("j1", "rz", 1.0)))
    mech = Mechanism("gear", bodies, pairs, couplings=(gear,), gravity=np.array([0.0, -GRAVITY, 0.0]))
    brakes = [mb.Brake("j0", 2.0, delay=0.01), mb.Brake("j1", 2.0, delay=0.01)]
    report = mb.estop(mech, {"j0": 0.3}, {"j0": 2.0}, brakes=brakes)
    assert report.outcome == "stopped"
    shared = [peak.axis.brake.value for peak in report.peaks if peak.axis is not None and peak.axis.shared]
    assert shared and 2.0 < min(shared) <= 0.3 * GRAVITY
    said = " ".join(line.text for line in estop_lines(report))
    assert "(shared)" in said and "several brakes hold this freedom" in said


@pytest.mark.parametrize("torque", [5.6, 5.88, 5.88482, 5.8855, 5.8859])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"readable": True},
        {"formulation": "kkt"},
        {"integrator": "dopri5"},
        {"integrator": "rk4", "step": 0.01},
        {"integrator": "variational", "step": 0.01},
    ],
    ids=str,
)
def test_another_joint_comes_to_rest_in_the_same_step(torque: float, how: dict[str, Any]) -> None:
    """A slider on a held beam is braked from 0.05 s on, rests at 0.15 s, and would come back in the step beyond."""
    unit, none = np.eye(3), np.zeros(3)
    bodies = (
        Body("beam", 1e-3, none, np.diag([1e-4, 1e-2, 1e-2])),
        Body("slider", 1.0, none, 1e-3 * unit),
    )
    turn = Pose(np.array([[1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]), none)
    pairs = (
        Pair("j0", "revolute", WORLD, "beam", turn, turn),
        Pair(
            "j1",
            "prismatic",
            "beam",
            "slider",
            Pose(np.array([[0, 0, 1.0], [0, 1.0, 0], [-1.0, 0, 0]]), none),
            Pose(np.array([[0, 0, 1.0], [0, 1.0, 0], [-1.0, 0, 0]]), none),
        ),
    )
    mech = Mechanism("beam", bodies, pairs, gravity=np.array([0.0, 0.0, -GRAVITY]))
    brakes = [mb.Brake("j0", torque), mb.Brake("j1", 10.0, delay=0.05)]
    motion = mb.simulate(mech, 0.3, q={"j1": 0.5}, qd={"j1": 1.0}, brakes=brakes, **how)
    x = torque / GRAVITY - 0.5
    passed = x if x < 0.05 else 0.15 - sqrt((0.1 - x) / 5.0)
    slips = [event.time for event in motion.events if event.kind == "slip" and event.joint.startswith("j0")]
    assert slips[0] == pytest.approx(passed, abs=1e-6 if "step" not in how else 2e-3)
