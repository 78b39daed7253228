"""The drives after the signal: unchanged until they react, then deceleration, then power-off.

One rule covers several drives on a freedom that joints share through a mimic, a gear, a loop or wheels. Every drive
enforces the stated motion of its joint while it is powered, until it is powered off (category 0) or its joint has been
driven to rest (1 and 2). With the row r_j of the joint's rate in the freedoms, a set of drives fixes the span of its
rows; at any time, the span of all drives powered then has to be fixed. Drives are selected in descending order of the
end of their motions, each only if its row is independent of those selected before. The selected drives fix exactly
these spans at all times (the greedy basis of a matroid), because a drive that is left out ends no later than those on
which it depends. So the longest delay, or the longest ramp, on a freedom counts. The order does not depend on
magnitudes, so neither the units nor the choice of the joint that has a delay changes the stop. If the ratio of two
joints changes with the pose, a constant rate of one contradicts a constant rate of the other, and a note names both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.assembly import assemble
from mbplugin.dynamics.formulations import Equations
from mbplugin.dynamics.tree_model import joints_without_mass, redundancy
from mbplugin.model import Array, DisjointSets, Mechanism, Scene, as_scene, in_coordinates_of, units_of
from mbplugin.model.brakes import BrakeLike, JointBrake, read_brakes, robot_brakes, scene_actions
from mbplugin.model.mechanism.kinematics import BodyPoses, fixed_at, forward, home, relative_pose
from mbplugin.phrases import Assumption, counted, listed
from mbplugin.readers.standing import turns_like_a_wheel
from mbplugin.simulation.friction import generic_redundancy
from mbplugin.simulation.passing_marks import TimedDrive
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.scenario.start import drive_equations, drive_of, joint_states

#: Size of a joint's row, in unit motions, below which it does not move; share of a row below which it is dependent.
_STANDS, _DEPENDENT = 1e-6, 1e-7
#: Relative difference below which motions are equal; decimals to which ends of motions are compared, s.
_SAME, _DECIMALS = 1e-4, 9
#: Share of the fastest rate below which a rate is rounding.
_LEAST = 1e-5


@dataclass(frozen=True)
class DriveMotion:
    """The motion of a joint that its drive enforces.

    Parameters
    ----------
    brake : JointBrake
        Brake of the joint; its delay is the time until power-off, or until the ramp begins.
    q, v, a : float
        Coordinate, rate and acceleration at the signal, rad and m.
    deceleration : float or None
        Deceleration of the ramp, rad/s² or m/s²; None in category 0, which has no ramp.
    """

    brake: JointBrake
    q: float
    v: float
    a: float
    deceleration: float | None

    @property
    def end(self) -> float:
        """Time at which the drive is powered off (category 0) or its joint has been driven to rest, s."""
        v = self.v + self.a * self.brake.delay
        if self.deceleration is None or not v:
            return self.brake.delay
        return self.brake.delay + abs(v) / self.deceleration

    @property
    def motion_segments(self) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """Unchanged motion, constant deceleration to rest, and rest, as segments: see :class:`TimedDrive`."""
        going_on = (0.0, (self.q, self.v, 0.5 * self.a))
        if self.deceleration is None:
            return (going_on,)
        delay, end = self.brake.delay, self.end
        q, v = self.q + self.v * delay + 0.5 * self.a * delay**2, self.v + self.a * delay
        ramp = (delay, (q, v, -0.5 * float(np.sign(v)) * self.deceleration if v else 0.0))
        rest = ((end, (q + 0.5 * v * (end - delay),)),) if v else ()
        return (*((going_on,) if delay > 0 else ()), ramp, *rest)

    def rate(self, time: float) -> float:
        """Return the rate at a time (s), rad/s or m/s."""
        start, (_, *rates) = [one for one in self.motion_segments if one[0] <= time][-1]
        return sum((k + 1) * c * (time - start) ** k for k, c in enumerate(rates))

    @property
    def first_acceleration(self) -> float:
        """The acceleration just after the signal, rad/s² or m/s²."""
        _, polynomial = self.motion_segments[0]
        return 2.0 * polynomial[2]


@dataclass(frozen=True)
class ChosenDrives:
    """The leading drives, which enforce their motions, and notes on those that follow.

    Parameters
    ----------
    leading : tuple of DriveMotion
        In the order of the brakes.
    notes : tuple of str
        One sentence for each drive whose stated motion contradicts that of the leading ones.
    """

    leading: tuple[DriveMotion, ...]
    notes: tuple[str, ...] = ()


def timed_drives(scenario: Scenario) -> tuple[TimedDrive, ...]:
    """Return the drives of a stop, with their joint coordinates as polynomials."""
    leading = choose_drives(scenario).leading
    if scenario.category == 0:
        return tuple(TimedDrive(drive_of(one.brake), one.motion_segments, one.end) for one in leading)
    # after the ramps, the drives are powered off when all brakes are engaged
    grip = _rest(leading) + max((brake.engagement for brake in scenario.brakes), default=0.0)
    until = None if scenario.category == 2 else grip
    return tuple(TimedDrive(drive_of(one.brake), one.motion_segments, until) for one in leading)


def grip_times(scenario: Scenario) -> dict[str, float]:
    """Return the time at which each brake engages, s, by joint; empty in category 2."""
    if scenario.category == 2:
        return {}
    if scenario.category == 0:
        return {brake.joint: brake.engagement_time for brake in scenario.brakes}
    rest = _rest(choose_drives(scenario).leading)
    return {brake.joint: rest + brake.engagement for brake in scenario.brakes}


def _rest(leading: Sequence[DriveMotion]) -> float:
    """Return the time at which all joints have been driven to rest, s; joints at rest at the signal have no ramp."""
    return max((one.end for one in leading if one.v or one.a), default=0.0)


def choose_drives(scenario: Scenario) -> ChosenDrives:
    """Return the drives that lead after the signal: all of a tree, a selection if joints move together."""
    mech, tolerance = scenario.mech, scenario.tolerance
    motions = _motions(scenario)
    coupled = mech.tree.cut or mech.couplings or mech.pfaffians or mech.locks
    if not coupled or not motions:
        return ChosenDrives(motions)
    p, brakes = redundancy(mech, scenario.q, None, tolerance), [one.brake for one in motions]
    equations, _ = drive_equations(mech, scenario.actions, brakes, (scenario.q, scenario.qd), p)
    rows, order = len(equations.C) - len(motions), _order(scenario, motions)
    reach = equations.scaled_C[rows:] @ _freedoms(equations, rows, p, p)
    leading = _independent(reach, order, _DEPENDENT)
    # the generic rank takes longer than a stop: it is computed only if several drives might share a freedom elsewhere
    if len(leading) > 1:
        generic = generic_redundancy(mech, scenario.q, None, tolerance)
        if generic < p:
            reach = equations.scaled_C[rows:] @ _freedoms(equations, rows, generic, p)
        leading = _independent(reach, order, max(_DEPENDENT, _rounded(equations, rows, min(generic, p))))
    return ChosenDrives(
        tuple(motions[k] for k in leading), _contradictions(equations, motions, reach, leading)
    )


def _motions(scenario: Scenario) -> tuple[DriveMotion, ...]:
    """Return the motions of all drives that are powered for some time."""
    ramps = scenario.decelerations if scenario.category != 0 else {}
    brakes = [brake for brake in scenario.brakes if scenario.category != 0 or brake.delay > 0]
    states = joint_states(scenario.mech, brakes, (scenario.q, scenario.qd, scenario.qdd))
    return tuple(
        DriveMotion(brake, *state, ramps.get(brake.joint))
        for brake, state in zip(brakes, states, strict=True)
    )


def _freedoms(equations: Equations, rows: int, p: int, p_here: int) -> Array:
    """Return unit motions (n, d) of the freedoms that the first rows allow, in rates scaled by lengths.

    At a pose where fewer rows are independent than elsewhere, the current motion selects the branch of the mechanism.
    """
    C, n = equations.scaled_C[:rows], len(equations.v)
    right = np.linalg.svd(C)[2] if rows else np.eye(n)
    count = n - (rows - p)
    free = right[n - count - (p_here - p) :][::-1].T
    if p_here > p and equations.v.any():
        moves = equations.v / equations.column_scale
        free = np.linalg.qr(np.column_stack((moves, free)))[0]
    return np.asarray(free[:, :count])


def _rounded(equations: Equations, rows: int, p: int) -> float:
    """Return the rounding error of the first rows: the largest singular value taken as zero, relative to the largest.

    If the rows of two drives differ by less, their joints move together, except for the rounding of the file's numbers.
    """
    sigma = np.linalg.svd(equations.scaled_C[:rows], compute_uv=False) if p else np.zeros(0)
    return float(sigma[rows - p] / sigma[0]) if rows - p < len(sigma) and sigma[0] > 0 else 0.0


def _order(scenario: Scenario, motions: Sequence[DriveMotion]) -> list[int]:
    """Return the indices of the motions in descending order of their ends.

    Of those that end together, the ones whose rates are stated come first, then names decide: nothing else is
    independent of the order of the joints, the spanning tree and the units.
    """

    def key(k: int) -> tuple[float, bool, str]:
        joint = motions[k].brake.joint
        return -round(motions[k].end, _DECIMALS), joint not in scenario.named_rates, joint

    return sorted(range(len(motions)), key=key)


def _independent(reach: Array, order: Sequence[int], least: float) -> list[int]:
    """Return the indices of the rows of ``reach`` (k, d) that are independent of those before them in ``order``.

    A row is dependent if the relative size of its remainder is at most ``least``.
    """
    taken: list[int] = []
    basis = np.zeros((0, reach.shape[1]))
    for k in order:
        size, rest = np.linalg.norm(reach[k]), reach[k]
        for _ in range(2):
            rest = rest - (rest @ basis.T) @ basis
        if size > _STANDS and np.linalg.norm(rest) > least * size:
            taken.append(k)
            basis = np.vstack((basis, rest / np.linalg.norm(rest)))
    return sorted(taken)


def _contradictions(
    equations: Equations, motions: Sequence[DriveMotion], reach: Array, leading: Sequence[int]
) -> tuple[str, ...]:
    """Return a sentence on each following drive whose joint moves otherwise than the drive states.

    Rates are compared at the ratios of the signal, whenever the motion of a drive changes. A change of the ratios
    themselves shows in the acceleration.

    Parameters
    ----------
    equations : Equations
        Their last rows are those of the drives.
    reach : (k, d) array
        The rates of the drives per freedom, scaled.
    leading : sequence of int
        Indices into the motions.
    """
    rows = len(equations.C) - len(motions)
    prescribed = [*range(rows), *(rows + k for k in leading)]
    units, Gamma = equations.row_scale[rows:], equations.row_scale * equations.Gamma
    goal = Gamma[prescribed]
    goal[rows:] += [units[k] * motions[k].first_acceleration for k in leading]
    changes = (
        equations.scaled_C[rows:] @ np.linalg.lstsq(equations.scaled_C[prescribed], goal, rcond=1e-9)[0]
        - Gamma[rows:]
    )
    least = _LEAST * float(np.abs(equations.v / equations.column_scale).max(initial=0.0))
    notes = []
    for k in sorted({*range(len(motions))} - {*leading}):
        own, unit = motions[k], float(units[k])
        ratios = (
            np.linalg.lstsq(reach[leading].T, reach[k], rcond=None)[0] * units[leading] if leading else ()
        )
        parts = [
            (float(r), motions[i]) for r, i in zip(ratios, leading, strict=True) if abs(r) > _STANDS * unit
        ]
        times = {own.end, *(time for _, one in parts for time, _ in one.motion_segments)}
        times = {time for time in times if time <= own.end or own.deceleration is not None}
        gap = max(abs(sum(r * one.rate(time) for r, one in parts) - unit * own.rate(time)) for time in times)
        speed = max(least, unit * abs(own.v), *(abs(r * one.v) for r, one in parts))
        spurt = max(
            speed**2,
            unit * abs(own.first_acceleration),
            *(abs(r * one.first_acceleration) for r, one in parts),
        )
        if gap > _SAME * speed or abs(changes[k] - unit * own.first_acceleration) > _SAME * spurt:
            notes.append(_sentence(own, [one for _, one in parts]))
    return tuple(notes)


def _sentence(own: DriveMotion, leaders: Sequence[DriveMotion]) -> str:
    """Return the sentence on a drive whose joint follows a motion other than its own."""
    joint = own.brake.joint
    if not leaders:
        return (
            f"the drive of {joint!r} leads nothing: at the signal its joint is at a dead centre of its loop"
        )
    names = listed([repr(one.brake.joint) for one in leaders])
    if own.deceleration is None:
        unit = units_of(own.brake.freedom).rate
        ends = listed([f"{one.end:g} s" for one in leaders])
        return (
            f"the drives of {names} and {joint!r} cannot all keep their rates, as the ratio of these joints changes: "
            f"{names}, powered until {ends}, keeps its own, and {joint!r} ({own.v:.4g} {unit}, powered until "
            f"{own.end:g} s) follows"
        )
    ends = listed([f"{one.end:.4g} s" for one in leaders])
    return (
        f"the ramps of {names} (at rest after {ends}) and {joint!r} ({own.end:.4g} s) contradict each other, as these "
        f"joints move together: the one that rests last counts, and {joint!r} follows {names}"
    )


# Controlled deceleration: joints keep their rates during the delay, then decelerate uniformly.


@dataclass(frozen=True, eq=False)
class Ramps:
    """Driven motions in closed form, joint by joint, of one stop or of several.

    Parameters
    ----------
    q, v : (..., n) array
        Coordinates and rates at the signal, rad and m, rad/s and m/s.
    delay, deceleration : (..., n) array
        Time until the ramp starts, s; rad/s² or m/s², positive.
    """

    q: Array
    v: Array
    delay: Array
    deceleration: Array

    @property
    def ends(self) -> Array:
        """Times at which the joints come to rest (..., n), s from the signal; 0 for a joint at rest."""
        return np.where(self.v != 0.0, self.delay + self._slowing, 0.0)

    @property
    def _slowing(self) -> Array:
        """Durations of the ramps (..., n), s; infinite on overflow."""
        with np.errstate(over="ignore"):
            return np.asarray(np.abs(self.v) / self.deceleration)

    def at(self, time: float | Array) -> tuple[Array, Array]:
        """Return coordinates and rates (..., n) at a time, s, or at one (..., 1) for each stop."""
        sense = np.sign(self.v)
        slowing = np.minimum(np.maximum(time - self.delay, 0.0), self._slowing)
        before = np.where(self.v != 0.0, np.minimum(time, self.delay), 0.0)
        q = self.q + self.v * (before + slowing) - 0.5 * sense * self.deceleration * slowing**2
        rate = np.where(time >= self.ends, 0.0, self.v - sense * self.deceleration * slowing)
        return q, rate

    def limit_time(self, lower: Array, upper: Array) -> Array:
        """Return the times (...) at which a first joint passes lower (n,) or upper (n,), s; infinite if none does."""
        speed, a = np.abs(self.v), self.deceleration
        room = np.maximum(np.where(self.v > 0.0, upper - self.q, self.q - lower), 0.0)
        # a joint without limits has infinite room, one at rest never passes a limit
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            left = room - speed * self.delay
            rest = speed * speed - 2.0 * a * left
            ramping = self.delay + (speed - np.sqrt(np.maximum(rest, 0.0))) / a
            passes = (left > 0.0) & (speed * speed > 2.0 * a * left * (1.0 + 1e-12))
            times = np.where(left <= 0.0, room / speed, np.where(passes, ramping, np.inf))
        return np.asarray(np.where(self.v != 0.0, times, np.inf).min(axis=-1, initial=np.inf))

    def pieces(self, end: Array) -> Array:
        """Return the motions as pieces (..., m, 7, n), some of duration 0.

        Each is as for :func:`mbplugin.stopping.tool_path.path_length`, where a piece of duration 0 ends the motion.

        Parameters
        ----------
        end : (k,) array, or () for one stop
            Time up to which each motion is returned, s from the signal.
        """
        end = np.asarray(end)[..., None]
        marks = np.concatenate((np.zeros_like(end), end, self.delay, self.ends), axis=-1)
        marks = np.sort(np.clip(marks, 0.0, end), axis=-1)[..., None]
        every = Ramps(*(x[..., None, :] for x in (self.q, self.v, self.delay, self.deceleration)))
        q, rate = every.at(marks)
        middle = 0.5 * (marks[..., :-1, :] + marks[..., 1:, :])
        ramping = (every.v != 0.0) & (middle > every.delay) & (middle < every.ends)
        out = np.zeros((*middle.shape[:-1], 7, self.q.shape[-1]))
        out[..., 0, 0] = np.diff(marks[..., 0])
        out[..., 1, :], out[..., 2, :] = q[..., :-1, :], rate[..., :-1, :]
        out[..., 4, :], out[..., 5, :] = q[..., 1:, :], rate[..., 1:, :]
        out[..., 3, :] = out[..., 6, :] = np.where(ramping, -np.sign(every.v) * every.deceleration, 0.0)
        return out


# The arm of a robot, which tables, searches and calibrations of stops move; its other joints become rigid.


def with_rigid_rest(
    model: Scene | Mechanism,
    tool: str,
    brakes: Iterable[BrakeLike] | None = None,
    axes: Collection[str] = (),
    named: Collection[str] | None = None,
    carries: bool = False,
) -> tuple[Scene | Mechanism, tuple[str, ...]]:
    """Return a robot whose joints that cannot belong to such an arm are rigid, and sentences that name them.

    Parameters
    ----------
    tool : str
        The body at the end of the arm.
    brakes : iterable of Brake or mapping, optional
        Brakes given by the caller; their joints keep moving. None: joints need no brake to keep moving.
    axes : collection of str
        Joints of the arm that are stopped; joints coupled to one of them keep moving.
    named : collection of str, optional
        Those of them that the caller names: they keep moving, also if they move no mass.
    carries : bool
        Whether stops are computed with a payload at the tool, which all joints on the way to it move.
    """
    scene = as_scene(model)
    mech = scene.mechanism
    within = _coupled_within(mech, tool, axes)
    beside = _beside(scene, tool, brakes, within)
    arm = (
        {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None} if carries else set()
    )
    massless = {*joints_without_mass(mech, scene_actions(scene))} - {*(named or ()), *arm} - beside
    rigid = beside | massless
    unbraked = set() if brakes is None else _unbraked_end(scene, tool, brakes, named or (), rigid)
    rigid |= unbraked
    if not rigid:
        return model, ()
    stated = scene.state
    closed = replace(stated, q=assemble(mech, stated.q, stated.given, stated.named).q)
    fixed = welded(mech, forward(mech, closed.q), rigid)
    scene = replace(
        scene,
        mechanism=fixed,
        state=in_coordinates_of(fixed, mech, closed),
        brakes=tuple(brake for brake in scene.brakes if brake.joint not in rigid),
        ramps=tuple(ramp for ramp in scene.ramps if ramp.joint not in rigid),
        actuators=tuple(motor for motor in scene.actuators if motor.joint not in rigid),
        locks=tuple(lock for lock in scene.locks if lock.joint not in rigid),
        springs=tuple(spring for spring in scene.springs if getattr(spring, "joint", "") not in rigid),
    )
    said = []
    reasons = (
        (("they lie beside the arm", "it lies beside the arm"), "", beside - within),
        (("couplings tie them", "couplings tie it"), "coupled ", beside & within),
        (("they move no mass", "it moves no mass"), "massless ", massless),
        (("they have no brake", "it has no brake"), "unbraked ", unbraked),
    )
    for reason, kind, own in reasons:
        names = [pair.name for pair in mech.pairs if pair.name in own and pair.kind.free]
        if names:
            pose = "its pose" if len(names) == 1 else "their pose"
            sentence = f"{listed(names)}: taken as rigid in {pose}, as {reason[len(names) == 1]}."
            said.append(Assumption(sentence, f"{counted(len(names), f'{kind}joint')} rigid"))
    return scene, tuple(said)


def fitted_brakes(
    mech: Mechanism, scene: Scene | None, brakes: Iterable[BrakeLike] | None
) -> tuple[JointBrake, ...]:
    """Return the brakes of a robot: the given ones, the scene's on other joints, and assumed ones on the rest."""
    given = tuple(brakes or ())
    named = {brake.joint for brake in read_brakes(mech, given)}
    own = tuple(brake for brake in (scene.brakes if scene else ()) if brake.joint not in named)
    return robot_brakes(mech, (*given, *own))


def brakes_of_movers(model: Scene | Mechanism, brakes: Iterable[BrakeLike]) -> tuple[BrakeLike, ...]:
    """Return the brakes of a call without those of joints that are rigid, on which nothing depends."""
    pairs = as_scene(model).mechanism.pair_by_name
    named = [brake["joint"] if isinstance(brake, Mapping) else brake.joint for brake in brakes]
    return tuple(
        brake for brake, name in zip(brakes, named, strict=True) if name not in pairs or pairs[name].kind.free
    )


def _coupled_within(mech: Mechanism, tool: str, axes: Collection[str]) -> set[str]:
    """Return the joints of the arm that are coupled to each other but to none of ``axes``."""
    tied, names = DisjointSets[str](), set()
    for first, *others in _coupled(mech):
        names |= {first, *others}
        for other in others:
            tied.join(first, other)
    chain = {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None}
    stays = {tied.find(name) for name in axes if name in names}
    return {name for name in names & chain if tied.find(name) not in stays}


def _unbraked_end(
    scene: Scene, tool: str, brakes: Iterable[BrakeLike], named: Collection[str], rigid: Collection[str]
) -> set[str]:
    """Return the joints of wheels without a brake between the tool and the nearest joint with one towards the ground.

    Their turning moves no mass. Empty if another joint without a brake, or one that is ``named``, comes first, or if
    no joint on the way has a brake; joints that are ``rigid`` do not count.
    """
    mech = scene.mechanism
    braked = {brake.joint for brake in fitted_brakes(mech, scene, brakes)} - {*rigid}
    stays = {*named, *(name for group in (*_coupled(mech), *_loops(mech)) for name in group)} - {*rigid}
    end, poses = set[str](), forward(mech, home(mech))
    for joint in mech.tree.way_in(tool):
        if joint.pair is None or joint.pair.name in stays:
            break
        if joint.pair.name in braked:
            return end
        if joint.pair.kind.free and joint.pair.name not in rigid:
            if not turns_like_a_wheel(mech, joint, poses):
                break
            end.add(joint.pair.name)
    return set()


def _beside(scene: Scene, tool: str, brakes: Iterable[BrakeLike] | None, within: Collection[str]) -> set[str]:
    """Return the joints to make rigid: those in couplings or loops, or without a brake.

    Groups that contain a joint of the arm, or one whose brake is given, are left out; joints ``within`` the arm, which
    are only coupled to each other, do not count as joints of the arm here.
    """
    mech, given = scene.mechanism, tuple(brakes or ())
    moving = {brake.joint for brake in read_brakes(mech, given)}
    chain = {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None}
    moving |= chain - set(within)
    groups = [*_coupled(mech), *_loops(mech)]
    if brakes is not None:
        groups += _without_brake(mech, fitted_brakes(mech, scene, given))
    tied = DisjointSets[str]()
    for first, *others in groups:
        for other in others:
            tied.join(first, other)
    stays = {tied.find(name) for name in moving}
    return {name for group in groups for name in group if tied.find(name) not in stays}


def welded(mech: Mechanism, poses: BodyPoses, names: Collection[str]) -> Mechanism:
    """Return the mechanism with joints fixed at a pose, without their couplings, drivers, locks and loop closures."""
    cut = {pair.name for pair in mech.tree.cut}
    return replace(
        mech,
        pairs=tuple(
            fixed_at(pair, relative_pose(mech, pair, poses)) if pair.name in names else pair
            for pair in mech.pairs
            if pair.name not in cut or pair.name not in names
        ),
        couplings=tuple(c for c in mech.couplings if not {term.joint for term in c.terms} & set(names)),
        drivers=tuple(driver for driver in mech.drivers if driver.joint not in names),
        locks=tuple(lock for lock in mech.locks if lock.joint not in names),
    )


# Joints that do not fit such an arm: those in couplings or loops, and those without a brake.


def _coupled(mech: Mechanism) -> Iterator[list[str]]:
    """Yield the joints of every coupling."""
    yield from ([term.joint for term in coupling.terms] for coupling in mech.couplings)


def _loops(mech: Mechanism) -> Iterator[list[str]]:
    """Yield the joints of every loop, with the pair that closes it in front."""
    for cut in mech.tree.cut:
        ways = [{j.pair.name for j in mech.tree.way_in(body) if j.pair is not None} for body in cut.bodies]
        yield [cut.name, *sorted(ways[0] ^ ways[1])]


def _without_brake(mech: Mechanism, brakes: Iterable[JointBrake]) -> Iterator[list[str]]:
    """Yield each moving joint of the tree that has no brake, as a group of one."""
    braked = {brake.joint for brake in brakes}
    for joint in mech.tree.joints:
        if joint.pair is not None and joint.pair.kind.free and joint.pair.name not in braked:
            yield [joint.pair.name]
