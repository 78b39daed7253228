"""A motion between its samples: by hand, against finer integrations, and on its own derivatives."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import mbplugin as mb
from driven_mechanisms import FOUR_BAR, ramp, sliders
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BadNumber
from mbplugin.model.brake_law import Brake
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import WORLD, Driver, Lock, Mechanism
from mbplugin.model.mechanism.kinematics import displace, forward
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom
from mbplugin.model.spatial import Array
from mbplugin.simulation.integrators.contract import State
from mbplugin.simulation.options import Profile
from mbplugin.simulation.trajectory import body_motions
from mbplugin.simulation.trajectory.record import Playback
from mbplugin.simulation.trajectory.resampling import drawn
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import chain
from rod_arms import arm


@pytest.mark.parametrize("category", [1, 2])
@pytest.mark.parametrize("times", [(0.1, 0.5), (0.3, 0.3 + 1e-13), (0.2, 0.2 + 3e-12), (0.2, 0.2 + 1e-9)])
def test_sliders_led_to_rest_by_hand(category: int, times: tuple[float, float]) -> None:
    decelerations = {"x": 1.0 / times[0], "y": 1.0 / times[1]}
    brakes = [Brake("x", 500.0, engagement=0.05), Brake("y", 500.0)]
    stop = mb.estop(
        sliders(),
        qd={"x": 1.0, "y": 1.0},
        category=category,
        brakes=brakes,
        decelerations=decelerations,
    )
    at = np.linspace(0, float(stop.trajectory.time[-1]), 487)
    # no closer to a jump than its own uncertainty
    at = at[np.min(np.abs(at[:, None] - [times]), axis=1) > 1e-8]
    made = stop.trajectory.resample(at)
    for k, name in enumerate(("x", "y")):
        q, qd, qdd = ramp(1.0, decelerations[name], at)
        assert made.q[:, k] == pytest.approx(q, abs=1e-13)
        assert made.qd[:, k] == pytest.approx(qd, abs=1e-12)
        assert made.qdd[:, k] == pytest.approx(qdd, abs=1e-10)
    assert stop.tool.path[-1] == pytest.approx([0.5 * times[0], 0.0, 0.5 * times[1]], abs=1e-12)
    assert stop.corridor.upper == pytest.approx([0.5 * times[0], 0.0, 0.5 * times[1]], abs=1e-12)


def test_both_sides_of_the_end_of_a_ramp_are_samples() -> None:
    stop = mb.estop(
        sliders(),
        qd={"x": 1.0, "y": 1.0},
        category=1,
        brakes=[Brake("x", 500.0, delay=0.02), Brake("y", 500.0)],
        decelerations={"x": 10.0, "y": 2.0},
    )
    motion = stop.trajectory
    expected = {
        # y is led at once, x after 0.02 s and until 0.12 s
        0.02: ([0.0, -2.0], [-10.0, -2.0]),
        0.12: ([-10.0, -2.0], [0.0, -2.0]),
        0.5: ([0.0, -2.0], [0.0, 0.0]),
    }
    for time, sides in expected.items():
        own = motion.qdd[np.abs(motion.time - time) < 1e-12]
        assert own[[0, -1]] == pytest.approx(np.array(sides), abs=1e-11)
        exact = float(motion.time[np.abs(motion.time - time) < 1e-12][0])
        assert motion.resample([exact, exact]).qdd == pytest.approx(np.array(sides), abs=1e-11)
        assert motion.resample([exact]).qdd[0] == pytest.approx(np.array(sides[1]), abs=1e-11)


def test_peaks_of_ramps_that_end_one_after_the_other_by_hand() -> None:
    """Both along x: 11 kg at −10 m/s² and 1 kg at −2 m/s² more until 0.1 s, then the 1 kg alone."""
    stop = mb.estop(
        sliders((1.0, 0.0, 0.0)),
        qd={"x": 1.0, "y": 1.0},
        category=2,
        brakes=[Brake("x", 500.0), Brake("y", 500.0)],
        decelerations={"x": 10.0, "y": 2.0},
    )
    length = np.linalg.norm(np.diff(stop.tool.path, axis=0), axis=1).sum()
    assert length == pytest.approx(0.05 + 0.25, abs=1e-12) == pytest.approx(stop.tool.distance)
    across = mb.estop(
        sliders(),
        qd={"x": 1.0, "y": 1.0},
        category=2,
        brakes=[Brake("x", 500.0), Brake("y", 500.0)],
        decelerations={"x": 10.0, "y": 2.0},
    )
    # x carries the 1 kg that y brakes, y the 1 kg that x brakes, and only while x brakes
    x, y = (next(p for p in across.peaks if p.pair == name) for name in ("x", "y"))
    assert (x.components[0], x.components[1]) == pytest.approx((2.0, 0.0), abs=1e-10) or (
        x.components[0],
        x.components[1],
    ) == pytest.approx((0.0, 2.0), abs=1e-10)
    assert max(y.components[:2]) == pytest.approx(10.0, abs=1e-10)
    assert y.force_time <= 0.1


class Jerky:
    """Turns at 1 rad/s, then with jumps of the acceleration at 0.13, 0.3 and 0.47 s."""

    breaks = (0.13, 0.3, 0.47)
    accelerations = (0.0, 12.0, -9.0, 3.0)

    def __call__(self, time: float) -> tuple[float, float, float]:
        value, rate, start = 0.2, 1.0, 0.0
        for a, end in zip(self.accelerations, (*self.breaks, np.inf), strict=True):
            s = min(time, end) - start
            value, rate = value + rate * s + a * s**2 / 2, rate + a * s
            if time < end:
                return value, rate, a
            start = end
        raise AssertionError


def driven_arm() -> Mechanism:
    mech = arm((1.0, 0.7))
    return Mechanism(
        mech.name, mech.bodies, mech.pairs, drivers=(Driver("motor", "j0", ("rz",), 0.2, 1.0),),
        gravity=mech.gravity,
    )  # fmt: skip


def profiled(duration: float = 0.6, **options: object) -> Trajectory:
    profiles: dict[str, Profile] = {"motor": Jerky()}
    return mb.simulate(driven_arm(), duration, profiles=profiles, **options)  # type: ignore[arg-type]


def braked_arm(duration: float = 0.7, **options: object) -> Trajectory:
    brakes = [Brake("j0", 30.0, viscous=0.3, delay=0.05), Brake("j1", 6.0, delay=0.2), Brake("j2", 2.0)]
    return mb.simulate(arm((1.0, 0.7, 0.5)), duration, qd0=[2.0, -3.0, 5.0], brakes=brakes, **options)  # type: ignore[arg-type]


def locked_arm(duration: float = 0.6, **options: object) -> Trajectory:
    locks = [Lock("j1", at=0.11), Lock("j0", at=0.2, until=0.35)]
    return mb.simulate(arm((1.0, 0.7, 0.5)), duration, qd0=[2.0, -3.0, 5.0], locks=locks, **options)  # type: ignore[arg-type]


def braked_loop(duration: float = 0.8, **options: object) -> Trajectory:
    brakes = [Brake("j0", 3.0, viscous=0.2, delay=0.05)]
    return mb.simulate(FOUR_BAR, duration, qd0={"j0": 3.0}, brakes=brakes, **options)  # type: ignore[arg-type]


def free_loop(duration: float = 0.8, **options: object) -> Trajectory:
    return mb.simulate(FOUR_BAR, duration, qd0={"j0": 3.0}, **options)  # type: ignore[arg-type]


def tumbling(duration: float = 0.5, **options: object) -> Trajectory:
    """Bodies on spherical pairs: quaternions."""
    mech, q = chain(3, "spherical", np.random.default_rng(4))
    return mb.simulate(mech, duration, q0=q, qd0=np.linspace(-3, 4, 9), **options)  # type: ignore[arg-type]


def rubbing(duration: float = 0.8, **options: object) -> Trajectory:
    mech = arm((1.0, 0.7), limits=Freedom(friction=1.5, damping=0.2))
    return mb.simulate(mech, duration, q0=[-1.2, 0.3], qd0=[1.0, -2.0], **options)  # type: ignore[arg-type]


def controlled(duration: float = 0.5, **options: object) -> Trajectory:
    def control(t: float, q: Array, qd: Array) -> Array:
        return -20.0 * q - 3.0 * qd + np.sin(7 * t)

    return mb.simulate(arm((1.0, 0.7)), duration, qd0=[2.0, -3.0], controller=control, **options)  # type: ignore[arg-type]


Made = Callable[..., Trajectory]
RK4 = {"integrator": "rk4", "step": 1e-3}
#: Loops in Python are slow: less of the motion, not as exactly.
SLOW = {"rtol": 1e-6, "duration": 0.25}
MOTIONS: dict[str, tuple[Made, dict[str, object]]] = {
    "braked tree": (braked_arm, {}),
    "braked tree, rk4": (braked_arm, RK4),
    "braked tree, in Python": (braked_arm, {"readable": True, **SLOW}),
    "locks": (locked_arm, {}),
    "locks, all bodies' coordinates": (locked_arm, {"coordinates": "absolute", **SLOW}),
    "loop": (free_loop, {}),
    "loop, rk4": (free_loop, RK4),
    "loop, all bodies' coordinates": (free_loop, {"coordinates": "absolute", **SLOW, "duration": 0.14}),
    "loop, minimum norm": (free_loop, {"redundancy": "minimum-norm", **SLOW}),
    "braked loop": (braked_loop, {}),
    "braked loop, rk4": (braked_loop, RK4),
    "quaternions": (tumbling, {}),
    "quaternions, rk4": (tumbling, {"integrator": "rk4", "step": 5e-4}),
    "friction": (rubbing, {}),
    "controller": (controlled, SLOW),
    "profile": (profiled, {"rtol": 1e-7}),
    "profile, rk4": (profiled, {"integrator": "rk4", "step": 5e-3}),
    "ten samples": (braked_loop, {"samples": 10}),
    "ten samples, rk4": (braked_arm, {"samples": 10, **RK4}),
    "ten samples of a profile": (profiled, {"rtol": 1e-7, "samples": 10}),
}
#: Instants of a motion that are looked at, at most.
MOST = 40


@cache
def motion_of(name: str) -> Trajectory:
    make, options = MOTIONS[name]
    return make(**options)


@cache
def fine(name: str) -> Trajectory:
    """The same motion in small steps, of which only the samples are looked at."""
    make, options = MOTIONS[name]
    duration = {"duration": options["duration"]} if "duration" in options else {}
    return make(rtol=1e-11, atol=1e-12, step=0.005, **duration)


def between(motion: Trajectory, margin: float) -> Array:
    """Instants between all samples, no nearer to one than a margin, s."""
    starts, joint_frames = motion.time[:-1], motion.time[1:]
    wide = joint_frames - starts > 4 * margin
    at = [starts[wide] + share * (joint_frames - starts)[wide] for share in (0.03, 0.35, 0.71, 0.96)]
    at = np.sort(np.concatenate(at))
    near = np.abs(at[:, None] - motion.time).min(axis=1)
    far = at[near > margin]
    return np.asarray(far[:: len(far) // MOST + 1])


@pytest.mark.parametrize("name", MOTIONS)
def test_a_sample_is_that_sample(name: str) -> None:
    motion = motion_of(name)
    _, count = np.unique(motion.time, return_counts=True)
    few = np.repeat(count <= 2, count)
    times = motion.time[few]
    again = motion.resample(times)
    for one in ("q", "qd", "qdd", "dissipated", "applied", "driven", "segment"):
        assert (getattr(again, one) == getattr(motion, one)[few]).all()
    # machine code adds up the energy in another order
    assert again.kinetic == pytest.approx(motion.kinetic[few], rel=1e-15, abs=1e-300)
    single = motion.resample(np.unique(times))
    last = np.append(np.diff(times) > 0, True)
    assert (single.qdd == motion.qdd[few][last]).all()
    assert (again.resample(times[:1]).q == motion.q[few][:1]).all()


@pytest.mark.long
@pytest.mark.parametrize("name", MOTIONS)
def test_it_is_the_motion_of_small_steps(name: str) -> None:
    """The error of a coarse run at a fine run's samples is that of its own samples, not more."""
    motion, exact = motion_of(name), fine(name)
    jumps = np.unique(exact.time[:-1][np.diff(exact.time) == 0])
    away = np.array([np.abs(jumps - t).min(initial=1.0) > 1e-4 for t in exact.time])
    at = np.flatnonzero(away)[:: int(away.sum()) // MOST + 1]
    made = motion.resample(exact.time[at])
    tolerance = 2e-6 if "rk4" in name else 2e-7
    if "rtol" in MOTIONS[name][1]:
        tolerance = max(tolerance, 30 * float(MOTIONS[name][1]["rtol"]))  # type: ignore[arg-type]
    size = 1.0 + np.abs(exact.qdd[at]).max()
    assert np.abs(made.q - exact.q[at]).max() < tolerance
    assert np.abs(made.qd - exact.qd[at]).max() < 4 * tolerance
    assert np.abs(made.qdd - exact.qdd[at]).max() < 4 * size * tolerance


@pytest.mark.long
@pytest.mark.parametrize("name", MOTIONS)
def test_rates_and_accelerations_are_derivatives(name: str) -> None:
    motion, step = motion_of(name), 1e-5
    at = between(motion, 3 * step)
    here, ahead, behind = (motion.resample(at + shift) for shift in (0.0, step, -step))
    by_rates = (ahead.qd - behind.qd) / (2 * step)
    # an error of a rate that changes from one instant to the next is an error of the acceleration
    assert here.qdd == pytest.approx(by_rates, abs=2e-4 * (1 + np.abs(here.qdd).max()))
    moved = np.array([displace(motion.mechanism, q, step * v) for q, v in zip(here.q, here.qd, strict=True)])
    bend = step**2 * (1 + np.abs(here.qdd).max() + np.abs(here.qd).max() ** 2)
    # a quaternion and its negative are one orientation
    assert np.abs(moved) == pytest.approx(np.abs(ahead.q), abs=bend)
    back = np.array([displace(motion.mechanism, q, -step * v) for q, v in zip(here.q, here.qd, strict=True)])
    if here.q.shape == here.qd.shape:
        assert moved - back == pytest.approx(ahead.q - behind.q, abs=1e-9)
    assert np.abs(ahead.q - behind.q).max() < 1e-3


@pytest.mark.parametrize("name", MOTIONS)
def test_constraints_and_energy_between_samples(name: str) -> None:
    motion = motion_of(name)
    made = motion.resample(between(motion, 1e-6))
    mech = motion.mechanism
    for q, qd in zip(made.q[::4], made.qd[::4], strict=True):
        poses = forward(mech, q)
        for pair in mech.tree.cut:
            gap = poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p)
            gap = gap - (
                pair.X_AP.p
                if pair.body_a == WORLD
                else poses.of(mech.body_index[pair.body_a]).apply(pair.X_AP.p)
            )
            assert np.abs(gap).max() < 1e-11
        if mech.tree.cut:
            cm = mb.constraint_matrix(mech, q, qd)
            assert np.abs(mb.constraint_matrix(mech, q, 0 * qd).b).max(initial=0.0) < 1e-12
            twists = _twists(mech, q, qd)
            assert np.abs(cm.C @ twists + cm.b).max() < 1e-9
    for k, names in enumerate(motion.active):
        for held in names:
            joint = held.partition(" ")[2]
            if joint in mech.qd_names and not held.startswith("drive"):
                assert np.abs(made.qd[made.segment == k, mech.qd_names.index(joint)]).max(initial=0.0) < 1e-9
    left = made.energy + made.dissipated - made.applied - made.driven
    impacts = {e.time for e in motion.events if e.kind == "lock" and e.impulse}
    if not impacts:
        error = 1e-6 if "rk4" in name or "rtol" in MOTIONS[name][1] else 1e-8
        assert left == pytest.approx(np.full(len(left), left[0]), abs=error * (1 + np.abs(left).max()) * 30)


def _twists(mech: Mechanism, q: Array, qd: Array) -> Array:
    from mbplugin.constraints.reduction import velocity_transformation

    return np.asarray(velocity_transformation(mech, forward(mech, q)) @ qd)


@pytest.mark.long
@pytest.mark.parametrize("integrator", ["dop853", "rk4", "variational"])
@pytest.mark.parametrize("make", [tumbling, free_loop, braked_arm, profiled])
def test_samples_are_the_motion_between_steps(make: Made, integrator: str) -> None:
    """``samples=`` and ``resample`` are one thing, and no worse than the steps themselves."""
    options: dict[str, object] = {} if integrator == "dop853" else {"integrator": integrator, "step": 4e-3}
    sampled, stepped = make(samples=23, duration=0.3, **options), make(duration=0.3, **options)
    alone = np.abs(sampled.time[:, None] - stepped.time).min(axis=1) > 1e-6
    assert alone.sum() > 8
    between = stepped.resample(sampled.time[alone])
    for name in ("q", "qd", "qdd", "kinetic", "dissipated", "applied", "driven"):
        ours = getattr(sampled, name)[alone]
        assert ours == pytest.approx(getattr(between, name), abs=1e-9 * (1 + np.abs(ours).max()))
    if make is tumbling:
        exact = tumbling(duration=0.3, rtol=1e-11, atol=1e-12)
        at_steps = np.abs(exact.resample(stepped.time).qd - stepped.qd).max()
        assert np.abs(exact.resample(sampled.time[alone]).qd - between.qd).max() < 1.5 * at_steps + 1e-7
    if make is profiled:
        # jumps have both sides although they are at no multiple of the interval
        assert (sampled.time == 0.13).sum() == (sampled.time == 0.3).sum() == 2
        assert max(sampled.residuals.values()) < 1e-12


def test_a_profile_is_followed_between_samples() -> None:
    profile, motion = Jerky(), motion_of("profile, rk4")
    at = between(motion, 1e-6)
    made = motion.resample(at)
    exact = np.array([profile(t) for t in at.tolist()])
    for values, k in ((made.q, 0), (made.qd, 1), (made.qdd, 2)):
        assert values[:, 0] == pytest.approx(exact[:, k], abs=1e-10)
    sides = zip(profile.breaks, profile.accelerations, profile.accelerations[1:], strict=False)
    for time, before, after in sides:
        assert motion.resample([time, time]).qdd[:, 0] == pytest.approx([before, after], abs=1e-9)


def test_breaks_that_are_no_times() -> None:
    class Wrong(Jerky):
        breaks = (0.1, float("nan"), 0.2)

    with pytest.raises(BadNumber, match="breaks at"):
        mb.simulate(driven_arm(), 0.1, profiles={"motor": Wrong()})


def test_actions_of_a_resampled_motion_are_its_own() -> None:
    """Reactions between samples are those of the equations: the weight of a braked arm at rest."""
    motion = motion_of("braked tree")
    made = motion.resample(np.linspace(0.0, 0.7, 53))
    total = sum(body.mass for body in motion.mechanism.bodies)
    p = np.array([_momentum(motion.resample([t - 1e-4, t + 1e-4])) for t in made.time[1:-1].tolist()])
    smooth = np.abs(made.time[1:-1, None] - motion.time).min(axis=1) > 2e-4
    force = (p[:, 1] - p[:, 0]) / 2e-4 + [0, 9.81 * total, 0]
    base = made.reactions("j0")[1:-1, :3]
    assert base[smooth] == pytest.approx(force[smooth], abs=2e-4 * np.abs(force).max())
    assert isinstance(made.actions, AppliedForces)


def _momentum(motion: Trajectory) -> Array:
    from mbplugin.constraints.reduction import velocity_transformation

    mech, out = motion.mechanism, []
    for q, qd in zip(motion.q, motion.qd, strict=True):
        v = (velocity_transformation(mech, forward(mech, q)) @ qd).reshape(-1, 6)
        out.append(sum(body.mass * v[i, :3] for i, body in enumerate(mech.bodies)))
    return np.array(out)


@pytest.mark.long
@pytest.mark.parametrize("rate, followed", [(0.3, False), (40.0, True)])
def test_pictures_follow_slow_steps_again_only_where_bodies_turn_far(
    rate: float, followed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mech, _ = chain(2, "revolute", np.random.default_rng(5))
    motion = mb.simulate(mech, duration=0.2, qd0={"j1": rate}, formulation="kkt", rtol=1e-4, atol=1e-6)
    at = np.linspace(0.0, 0.2, 83)
    exact = motion.resample(at)
    instants: list[float] = []
    follow_to = Playback.at

    def counted(playback: Playback, time: float) -> tuple[State, int]:
        instants.append(time)
        return follow_to(playback, time)

    monkeypatch.setattr(Playback, "at", counted)
    seen = drawn(motion, at)
    assert bool(instants) is followed
    assert seen.q == pytest.approx(exact.q, abs=1e-5)
    assert seen.qd == pytest.approx(exact.qd, abs=1e-3)


@pytest.mark.parametrize("pair_type", [name for name, kind in PAIR_TYPES.items() if kind.free])
def test_bodies_along_a_motion_are_those_of_each_sample(pair_type: str) -> None:
    mech, _ = chain(3, pair_type, np.random.default_rng(7))
    motion = mb.simulate(mech, duration=0.05, qd0=dict.fromkeys(mech.qd_names, 0.3))
    along = body_motions(mech, motion.q, motion.qd)
    for k in range(len(motion.time)):
        poses = forward(mech, motion.q[k])
        assert along.R_WL[k] == pytest.approx(poses.R_WL, abs=1e-12)
        assert along.p_WL[k] == pytest.approx(poses.p_WL, abs=1e-12)
        assert along.p_WC[k] == pytest.approx(poses.p_WC, abs=1e-12)
        assert along.twists[k] == pytest.approx(body_twists(mech, poses, motion.qd[k]), abs=1e-11)
