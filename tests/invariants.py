"""What holds for every motion and every stop, whatever moves: asserted from public results alone.

``check_motion`` and ``check_stop`` are called for every motion and stop that any test of the suite
computes (see ``conftest.py``), and for random mechanisms (``test_motion_invariants.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import jsonschema
import numpy as np
from along import Along, energies, loop_gaps
from balance import Balance
from between import GAUSS, WEIGHTS, rates_between
from resisting import is_led, load_power, lost_power, moved_by_tree_rates_alone, resistances

from mbplugin.estop.values import StopReport
from mbplugin.report.estop_json import estop_document
from mbplugin.report.json import dumps
from mbplugin.report.schema import schema_of
from mbplugin.report.simulate_json import simulate_document
from mbplugin.simulation.options import Options
from mbplugin.simulation.resampling import _coordinates
from mbplugin.simulation.trajectory import Trajectory
from mbplugin.spatial import AnyArray, Array

#: Share of the energies at stake by which works and balances may be off (the error of the integrator).
_ENERGY = 1e-6
#: A rate that is held is zero up to this share of the largest one, and absolutely, rad/s and m/s.
_RATE = 1e-7
#: Intervals, samples and instants that are looked at in a motion of any length.
_INTERVALS, _SAMPLES, _INSTANTS, _POSES = 300, 300, 12, 5


@dataclass(frozen=True, eq=False)
class Looked:
    """A motion, how it was computed, and what several invariants need of it."""

    motion: Trajectory
    options: Options

    @cached_property
    def samples(self) -> AnyArray:
        """Samples that are looked at: evenly spread, and those beside every event."""
        return _spread(len(self.motion.time), _SAMPLES, self.beside_events)

    @cached_property
    def beside_events(self) -> AnyArray:
        twice = np.flatnonzero(np.diff(self.motion.time) == 0)[: _SAMPLES // 4]
        return np.union1d(np.union1d(twice, twice + 1), [0, len(self.motion.time) - 1])

    @cached_property
    def intervals(self) -> AnyArray:
        """First samples of intervals that are looked at."""
        lengths = np.diff(self.motion.time)
        found = np.flatnonzero(lengths > 1e-12 * (1.0 + self.motion.time[-1]))
        return found[_spread(len(found), _INTERVALS)] if len(found) else found

    @cached_property
    def here(self) -> Along:
        return Along(self.motion.mechanism, self.motion.q[self.samples], self.motion.qd[self.samples])

    @cached_property
    def energies(self) -> tuple[Array, Array]:
        return energies(self.motion, self.here)

    @cached_property
    def at_stake(self) -> float:
        """Energy that comes and goes in this motion, J."""
        m = self.motion
        kinetic, potential = self.energies
        return float(
            kinetic.max(initial=0.0)
            + np.ptp(potential)
            + sum(np.abs(w).max(initial=0.0) for w in (m.dissipated, m.applied, m.driven))
        )

    @cached_property
    def fastest(self) -> float:
        return float(np.abs(self.motion.qd).max(initial=0.0))

    @property
    def conserves(self) -> float:
        """Share of the energy at stake by which this integrator may be off."""
        o = self.options
        if o.integrator == "dop853":
            return max(_ENERGY, 300 * o.rtol, 300 * o.atol)
        # the error of a fixed step is the user's choice; that of the default one, 1 ms, is small
        return 1e-4 if o.integrator == "rk4" and (o.step or 1e-3) <= 1e-3 else np.inf

    @property
    def smooth(self) -> bool:
        """Whether no function of a user's acts, which may jump where it likes."""
        return self.motion.actions.controller is None and not self.options.profiles

    @cached_property
    def balance(self) -> Balance:
        return Balance(self.motion)


def _spread(count: int, most: int, always: AnyArray | None = None) -> AnyArray:
    """Up to ``most`` indices below ``count``, evenly spread, and some that are always among them."""
    if count <= most:
        return np.arange(count)
    found = np.unique(np.linspace(0, count - 1, most).round().astype(int))
    return found if always is None else np.union1d(found, always).astype(int)


def check_motion(
    motion: Trajectory, options: Options | None = None, *, thorough: bool = False, by_steps: bool = True
) -> None:
    """Assert every invariant of a motion.

    Parameters
    ----------
    options : Options, optional
        How it was computed; by default as ``simulate`` does when nothing is asked for.
    thorough : bool
        Whether to look at forces at more instants, and at the motion between samples.
    by_steps : bool
        Whether the samples are the steps of the integrator (not the coarse ones that a user asks for).
    """
    look = Looked(motion, options or Options(max(float(motion.time[-1]), 1e-9)))
    numbers_are_finite_and_in_order(look)
    energies_are_those_of_the_states(look)
    dissipation_never_falls(look)
    loops_stay_closed(look)
    what_holds_stands_still(look)
    if by_steps:
        dissipation_is_the_work_of_what_resists(look)
        loads_do_their_work(look)
        energy_is_balanced(look)
    forces_are_admissible(look, 40 if thorough else _INSTANTS)
    jumps_are_made_by_what_holds_afterwards(look)
    samples_are_returned(look)
    document_of_motion_is_valid(motion)
    if thorough:
        between_samples_all_holds(look)


def numbers_are_finite_and_in_order(look: Looked) -> None:
    """Times do not decrease, and every array is finite and has one entry per sample."""
    m = look.motion
    assert (np.diff(m.time) >= 0).all(), f"time decreases by {-np.diff(m.time).min():.3g} s"
    for name in ("q", "qd", "qdd", "kinetic", "potential", "dissipated", "applied", "driven"):
        values = getattr(m, name)
        assert len(values) == len(m.time), f"{name} has {len(values)} entries for {len(m.time)} samples"
        assert np.isfinite(values).all(), f"{name} is not finite at sample {_first(~np.isfinite(values))}"


def energies_are_those_of_the_states(look: Looked) -> None:
    """T = ∑ ½ m v² + ½ ωᵀJω + ½ a q̇² and V = −∑ m g·p + springs, from poses and twists by plain numpy."""
    m, at = look.motion, look.samples
    for name, own in zip(("kinetic", "potential"), look.energies, strict=True):
        gap = np.abs(getattr(m, name)[at] - own)
        size = 1e-10 * (np.abs(own).max(initial=0.0) + look.at_stake)
        k = int(gap.argmax())
        assert gap[k] <= size + 1e-13, (
            f"{name} energy at t = {m.time[at[k]]:.6g} s is {getattr(m, name)[at[k]]:.12g} J, and from the "
            f"state it is {own[k]:.12g} J: off by {gap[k]:.3g} J, more than {size:.3g} J"
        )


def dissipation_never_falls(look: Looked) -> None:
    """Dampers, friction and brakes take energy (τ q̇ ≤ 0), so what is dissipated grows from zero."""
    m = look.motion
    size = 1e-12 * look.at_stake + 1e-15
    assert abs(m.dissipated[0]) <= size, f"{m.dissipated[0]:.3g} J are dissipated at the start"
    falls = np.diff(m.dissipated)
    if falls.size:
        k = int(falls.argmin())
        # where a rate passes zero within a step, its sense is wrong for the rest of it
        size += 1e-9 * look.at_stake
        assert falls[k] >= -size, (
            f"dissipated falls by {-falls[k]:.3g} J after t = {m.time[k]:.6g} s, more than {size:.3g} J"
        )


def loops_stay_closed(look: Looked) -> None:
    """Pairs that close loops, couplings and drivers hold in position and rate (C q̇ + b = 0) at samples."""
    if look.options.stabilization != "projection":
        return
    here, m = look.here, look.motion
    place, rate = loop_gaps(here)
    _hold(look, place, 1e-7, "a loop is open by", "m or rad")
    _hold(look, rate, 1e-7 * (1.0 + look.fastest), "a loop opens at", "m/s or rad/s")
    freedoms = {pair.name: pair for pair in m.mechanism.pairs}
    for coupling in m.mechanism.couplings:
        total = sum(t.coefficient * here.rate(freedoms[t.pair], t.freedom) for t in coupling.terms)
        text = f"coupling {coupling.name!r} is violated at"
        _hold(look, np.abs(total), 1e-7 * (1.0 + look.fastest), text, "rad/s or m/s")
    for driver in m.mechanism.drivers:
        if driver.name not in look.options.profiles:
            wanted = driver.rate + driver.acceleration * m.time[look.samples]
            for freedom in driver.freedoms or freedoms[driver.pair].kind.free:
                gap = np.abs(here.rate(freedoms[driver.pair], freedom) - wanted)
                text = f"driver {driver.name!r} is not followed, off by"
                _hold(look, gap, 1e-7 * (1.0 + look.fastest), text, "rad/s or m/s")


def _hold(look: Looked, gap: Array, size: float, text: str, unit: str) -> None:
    k = int(gap.argmax())
    time = look.motion.time[look.samples[k]]
    assert gap[k] <= size, f"{text} {gap[k]:.3g} {unit} at t = {time:.9g} s, more than {size:.3g}"


def what_holds_stands_still(look: Looked) -> None:
    """While friction or a brake sticks, or a lock is closed, the rate of its freedom is zero."""
    m, here = look.motion, look.here
    if look.options.stabilization != "projection":
        return
    pairs = m.mechanism.pair_by_name
    segment = m.segment[look.samples]
    size = _RATE * look.fastest + 2e-9
    for name in sorted({name for names in m.active for name in names}):
        kind, _, joint = name.partition(" ")
        pair = pairs.get(joint)
        if kind not in ("friction", "brake", "lock") or pair is None or len(pair.kind.free) != 1:
            continue
        holding = np.array([name in names for names in m.active])[segment]
        rate = np.where(holding, np.abs(here.rate(pair, pair.kind.free[0])), 0.0)
        _hold(look, rate, size, f"{name!r} is said to hold, and its rate is", "rad/s or m/s")


def dissipation_is_the_work_of_what_resists(look: Looked) -> None:
    """∑∫ τ q̇ dt of all dampers, friction and brakes by their laws is what is said to be dissipated.

    The rates between samples are those of Hermite polynomials, the quadrature is Gauss' over each
    interval: no number of the product's own work integral.
    """
    m, k = look.motion, look.intervals
    if not k.size or look.options.integrator == "variational":
        return
    own = _integrate(look, lost_power)
    told = np.diff(m.dissipated)[k]
    _agree(look, told, own, _work_size(look), "dissipated", "∑∫ τ q̇ dt")


def loads_do_their_work(look: Looked) -> None:
    """∫ f·v + m·ω + τ q̇ dt of loads and constant torques is the applied work."""
    m, k = look.motion, look.intervals
    if not k.size or m.actions.controller is not None or look.options.integrator == "variational":
        return
    own = _integrate(look, lambda motion, here, time, segment: load_power(motion, here))
    _agree(look, np.diff(m.applied)[k], own, _work_size(look), "applied", "∫ (f·v + m·ω + τ q̇) dt")


def _work_size(look: Looked) -> float:
    loose = 1.0 if look.smooth else np.inf
    return loose * max(_ENERGY, 300 * look.options.rtol) * look.at_stake + 1e-12


def _agree(look: Looked, told: Array, own: Array, size: float, what: str, how: str) -> None:
    """Works in intervals agree, singly and added up."""
    m, k, gap = look.motion, look.intervals, told - own
    worst = int(np.abs(np.cumsum(gap)).argmax())
    n = int(np.abs(gap).argmax())
    assert abs(np.cumsum(gap)[worst]) <= size, (
        f"{what} up to t = {m.time[k[worst] + 1]:.6g} s is {np.cumsum(told)[worst]:.9g} J, and {how} is "
        f"{np.cumsum(own)[worst]:.9g} J, off by {np.cumsum(gap)[worst]:.3g} J, more than {size:.3g} J; the "
        f"largest part, {gap[n]:.3g} J, is from {m.time[k[n]]:.9g} to {m.time[k[n] + 1]:.9g} s"
    )


def _integrate(look: Looked, power: Any) -> Array:
    """Work (k,) of a power in every interval."""
    m, k = look.motion, look.intervals
    h = m.time[k + 1] - m.time[k]
    rates = rates_between(m, k, GAUSS)
    count, nodes, nv = rates.shape
    time = (m.time[k][:, None] + h[:, None] * GAUSS).reshape(-1)
    segment = np.repeat(m.segment[k + 1], nodes)
    poses = np.broadcast_to(m.q[0], (len(time), m.q.shape[1]))
    if not moved_by_tree_rates_alone(m):
        first = np.repeat(k, nodes)
        poses = _coordinates(m, first, first + 1, np.repeat(h, nodes), np.tile(GAUSS, count))
    here = _Lazy(m.mechanism, poses, rates.reshape(-1, nv))
    values = power(m, here, time, segment).reshape(count, nodes)
    return np.asarray(h * (values @ WEIGHTS))


class _Lazy(Along):
    """Kinematics that is computed when a body is asked for."""

    def __init__(self, mech: Any, q: Array, qd: Array) -> None:
        self.mech, self.q, self.qd = mech, q, qd

    @cached_property
    def frames(self) -> Any:  # type: ignore[override]
        return Along(self.mech, self.q, self.qd).frames


def energy_is_balanced(look: Looked) -> None:
    """T + V changes by what is applied and driven less what is dissipated; at jumps it never grows.

    At an instant at which constraints close the works stay, and the kinetic energy falls by what the
    jump of the rates takes (see ``jumps_are_made_by_what_holds_afterwards``).
    """
    m = look.motion
    if look.options.stabilization != "projection" or len(m.time) < 2:
        return
    total = m.kinetic + m.potential
    change = np.diff(total) - np.diff(m.applied) - np.diff(m.driven) + np.diff(m.dissipated)
    jumps = np.diff(m.time) == 0
    size = look.conserves * look.at_stake + 1e-12
    drift = np.cumsum(np.where(jumps, 0.0, change))
    k = int(np.abs(drift).argmax())
    assert abs(drift[k]) <= size, (
        f"the energy balance is open by {drift[k]:.6g} J at t = {m.time[k + 1]:.6g} s, more than {size:.3g} J "
        f"(kinetic {m.kinetic[k + 1]:.6g}, potential {m.potential[k + 1] - m.potential[0]:.6g}, dissipated "
        f"{m.dissipated[k + 1]:.6g}, applied {m.applied[k + 1]:.6g}, driven {m.driven[k + 1]:.6g} J); the "
        f"largest part comes after t = {m.time[int(np.abs(np.where(jumps, 0, change)).argmax())]:.9g} s"
    )
    for name in ("potential", "dissipated", "applied", "driven"):
        moved = np.abs(np.where(jumps, np.diff(getattr(m, name)), 0.0))
        assert moved.max() <= 1e-9 * look.at_stake + 1e-12, (
            f"{name} jumps by {moved.max():.3g} J at t = {m.time[int(moved.argmax())]:.6g} s"
        )


def forces_are_admissible(look: Looked, most: int) -> None:
    """At samples M q̈ = F + Cᵀλ with forces that the laws allow (wojtyra2013 (8), Coulomb).

    What slides resists with its dry part against the rate; what sticks takes any force up to its static
    part, alone or shared with others that depend on it; locks, drives and closures take any.
    """
    m = look.motion
    if look.options.stabilization != "projection" or m.planar or not look.smooth:
        return
    if look.options.transition != "consistent":
        return
    at = _spread(len(m.time), most, look.beside_events[: most // 2])
    for k in at:
        if not _passes_singular(m, float(m.time[k])):
            look.balance.require(int(k))


def _passes_singular(m: Trajectory, time: float) -> bool:
    """Whether a sample is at a pose whose constraints are said to lose rank."""
    return any(e.kind == "singular" and abs(e.time - time) < 1e-9 for e in m.events)


def jumps_are_made_by_what_holds_afterwards(look: Looked) -> None:
    """M (q̇₊ − q̇₋) = J₊ᵀΛ with rows that hold after the instant, J₊ q̇₊ + b = 0 (mueller2026 (22), (24)).

    Friction and brakes give no impulse: their forces are bounded. Of constraints at rest the kinetic
    energy then falls by ½ Δq̇ᵀMΔq̇ (Carnot).
    """
    m = look.motion
    if look.options.transition != "consistent" or m.planar or look.options.stabilization != "projection":
        return
    for k in np.flatnonzero(np.diff(m.time) == 0)[:_INSTANTS].tolist():
        if np.abs(m.qd[k + 1] - m.qd[k]).max(initial=0.0) > 1e-6 * look.fastest:
            look.balance.require_jump(k)


def samples_are_returned(look: Looked) -> None:
    """``resample`` at a sample returns the sample: both of an instant that has two."""
    m = look.motion
    at = _spread(len(m.time), 24, look.beside_events[:12])
    # a time names both of two samples, and of more the first and the last
    _, place, counts = np.unique(m.time, return_inverse=True, return_counts=True)
    at = at[counts[place[at]] <= 2]
    at = np.flatnonzero(np.isin(place, place[at]))
    if not at.size:
        return
    back = m.resample(m.time[at])
    for name in ("q", "qd", "qdd", "kinetic", "potential", "dissipated", "applied", "driven"):
        there, sample = getattr(back, name), getattr(m, name)[at]
        size = 1e-9 * (1.0 + np.abs(sample).max(initial=0.0))
        gap = np.abs(there - sample).reshape(len(at), -1).max(axis=1, initial=0.0)
        n = int(gap.argmax())
        assert gap[n] <= size, (
            f"{name} of the sample at t = {m.time[at[n]]:.9g} s is off by {gap[n]:.3g} when resampled there, "
            f"more than {size:.3g}"
        )
    assert (back.segment == m.segment[at]).all(), "resampling at samples changes what holds"


def between_samples_all_holds(look: Looked) -> None:
    """Between samples ``resample`` keeps closures, stands still where something holds, and obeys M q̈ = F + Cᵀλ.

    Its tolerance is that of the integrator, in lengths and rates of the motion.
    """
    m = look.motion
    if not look.intervals.size or not look.smooth or look.options.stabilization != "projection":
        return
    k = look.intervals[_spread(len(look.intervals), 40)]
    times = np.sort(np.concatenate([m.time[k] + s * (m.time[k + 1] - m.time[k]) for s in (0.31, 0.72)]))
    dense = m.resample(times)
    there = Looked(dense, look.options)
    size = 100 * max(look.options.rtol, look.options.atol)
    place, rate = loop_gaps(there.here)
    _hold(there, place, size, "between samples a loop is open by", "m or rad")
    _hold(there, rate, size * (1 + look.fastest), "between samples a loop opens at", "m/s or rad/s")
    what_holds_stands_still(there)
    energies_are_those_of_the_states(there)
    wanted = np.concatenate([rates_between(m, k, np.array([s])) for s in (0.31, 0.72)])[:, 0]
    wanted = wanted[np.argsort(np.concatenate([m.time[k] + s * (m.time[k + 1] - m.time[k]) for s in (0.31, 0.72)]))]
    gap = np.abs(dense.qd - wanted).max(axis=1)
    _hold(there, gap, 10 * size * (1 + look.fastest), "between samples a rate is off by", "rad/s or m/s")


def document_of_motion_is_valid(motion: Trajectory) -> None:
    """The JSON document of a motion, with all its events and its outcome, is valid by the published schema."""
    few = min(len(motion.time), 2)
    arrays = ("time", "q", "qd", "qdd", "kinetic", "potential", "dissipated", "applied", "driven", "segment")
    short = replace(motion, **{name: getattr(motion, name)[:few] for name in arrays})
    kinds: dict[str, Any] = {}
    for event in motion.events:
        kinds.setdefault(event.kind, event)
    short = replace(short, events=tuple(kinds.values()))
    request = {
        "duration": 1.0,
        "integrator": "dop853",
        "step": None,
        "rtol": 1e-8,
        "atol": 1e-10,
        "formulation": "projected",
        "redundancy": motion.redundancy,
        "coordinates": "joint",
        "samples": None,
        "limits": "record",
        "damping": True,
        "friction": True,
    }
    _require_valid("simulate", simulate_document(short, request, (), "file", ()))


@lru_cache
def _validator(document: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(document))


def _require_valid(kind: str, document: Any) -> None:
    import json

    error = next(_validator(kind).iter_errors(json.loads(dumps(document))), None)
    assert error is None, (
        f"the JSON of {kind} does not follow its schema at {'/'.join(map(str, error.absolute_path))}: "  # type: ignore[union-attr]
        f"{error.message[:200]}"  # type: ignore[union-attr]
    )


def _first(wrong: AnyArray) -> int:
    return int(np.argwhere(wrong)[0][0])


def check_stop(report: StopReport, *, peaks: bool = False) -> None:
    """Assert every invariant of a stop; those of its motion are asserted where it is computed.

    Parameters
    ----------
    peaks : bool
        Whether to compute the peaks for its document as well.
    """
    energies_of_stop_are_balanced(report)
    stopped_means_at_rest(report)
    if not peaks and "peaks" not in report.__dict__:
        report = replace(report)
        report.__dict__["peaks"] = ()
    _require_valid("estop", estop_document(report, "file", ()))


def energies_of_stop_are_balanced(report: StopReport) -> None:
    """Brakes take up something, together no more than is dissipated, each ∫ (c |q̇| + μ) |q̇| dt."""
    e, motion = report.energies, report.trajectory
    look = Looked(motion, Options(1.0, rtol=report.scenario.rtol, atol=report.scenario.atol))
    size = max(_ENERGY, 300 * report.scenario.rtol) * look.at_stake + 1e-12
    for joint in report.joints:
        assert joint.brake_energy >= 0.0, f"the brake of {joint.name} takes up {joint.brake_energy:.6g} J"
    taken, lost = sum(j.brake_energy for j in report.joints), float(motion.dissipated[-1])
    assert taken <= lost + size, f"brakes take up {taken:.9g} J of {lost:.9g} J that are dissipated"
    assert e.losses >= -size, f"losses in damping and friction are {e.losses:.6g} J"
    assert abs(e.residual) <= size + _impact_of(motion), (
        f"the balance of the stop leaves {e.residual:.6g} J open, more than {size:.3g} J"
    )
    if not any(r.damping or r.friction for r in resistances(motion)) and not motion.actions.springs:
        cut = {pair.name for pair in motion.mechanism.tree.cut}
        if not any(b.pair in cut for b in motion.actions.brakes):
            assert abs(taken - lost) <= size, (
                f"only brakes resist: they take up {taken:.9g} J, and {lost:.9g} J are dissipated"
            )


def _impact_of(motion: Trajectory) -> float:
    """Kinetic energy that jumps of the rates take, J: no part of a stop's balance."""
    jumps = np.diff(motion.time) == 0
    return float(-np.where(jumps, np.diff(motion.kinetic), 0.0).sum())


def stopped_means_at_rest(report: StopReport) -> None:
    """A stop that is called stopped ends with every rate and acceleration zero, and its times add up."""
    motion = report.trajectory
    if report.outcome == "stopped":
        moving = float(np.abs(motion.qd[-1]).max(initial=0.0))
        assert moving <= 1e-8, f"the outcome is stopped, and a rate is {moving:.3g} at the end"
        assert all(j.stopped for j in report.joints), "the outcome is stopped, and a joint is not"
    for joint in report.joints:
        assert joint.time <= report.time + 1e-12, f"{joint.name} rests after {joint.time} s, later than the arm"
        gap = joint.start + joint.travel - joint.end
        assert abs(gap) <= 1e-12 * (1 + abs(joint.end)), f"the travel of {joint.name} is off by {gap:.3g}"


__all__ = ["check_motion", "check_stop"]
