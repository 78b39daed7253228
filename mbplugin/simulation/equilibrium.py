"""Static equilibrium under load, and small vibrations about it, in coordinates that satisfy all loops.

Of the joint rates of a mechanism with k freedoms, k are independent and the others follow: q̇ = H ṡ (blajer1994 (5)).
At rest the generalised forces on them are g = Hᵀ F, and the mechanism is in equilibrium if g = 0. About such a pose
M̄ s̈ + D̄ ṡ + K̄ s = 0 with M̄ = Hᵀ M H, D̄ = −∂g/∂ṡ and K̄ = −∂g/∂s. The derivative of g is taken along closed poses, so
that K̄ has the stiffness of springs and the geometric stiffness of gravity and of the constraint forces. It comes
from differences of fourth order. Redundant constraints do not matter: g contains no constraint force.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite, nan, pi, sqrt
from typing import Literal

import numpy as np
import scipy.linalg

from mbplugin.arguments import checked
from mbplugin.constraints import rank_tolerance
from mbplugin.constraints.closure import Closure, constraints_to_close
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.dynamics.formulations import Equations, minimum_norm, partition, pivoted_coordinates
from mbplugin.dynamics.tree_model import (
    TreeModel,
    equations_of,
    joints_without_mass,
    massless_joint,
    said_of_massless,
    tree_model,
    with_joints_without_mass_at_rest,
    without_mass,
)
from mbplugin.errors import BadUsage, CannotClose
from mbplugin.joint_reactions import named_lock
from mbplugin.model import WORLD, Contact, Driver, Lock, Mechanism, has_quaternion, measure
from mbplugin.model.brakes import AppliedForces, scene_actions, with_springs
from mbplugin.model.mechanism.kinematics import JointValues, displace, forward, relative_pose
from mbplugin.model.scene import (
    LoadLike,
    PayloadLike,
    Scene,
    mechanism_of,
    option_of,
    read_loads,
    read_payloads,
)
from mbplugin.model.spatial import AnyArray, Array, JointSpring, Spring
from mbplugin.phrases import Assumption, counted, listed, names_of, one_line, one_line_repr
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.standing import standing
from mbplugin.rendering import Result
from mbplugin.simulation.friction import generic_redundancy

#: Kinds of equilibrium: a small push dies out or swings, grows, or moves the mechanism to another pose of rest.
Stability = Literal["stable", "unstable", "neutral"]
#: Step of the differences, in rad or characteristic lengths.
_STEP = 2e-3
#: Weights of the differences of fourth order at ±1 and ±2 steps.
_STENCIL = ((1.0, 8 / 12), (-1.0, -8 / 12), (2.0, -1 / 12), (-2.0, 1 / 12))
#: A freedom is neutral if the force on it changes by less than this fraction of the weight and of the springs, per rad
#: or characteristic length.
_NEUTRAL = 1e-10
#: An equilibrium is found if the next step is smaller, rad or characteristic lengths.
_FOUND = 1e-11
#: A pose is singular if the independent rows are dependent to this fraction.
_SINGULAR = 1e-7
#: Longest step of the search, rad or characteristic lengths, and the maximum number of steps and halvings.
_LONGEST, _MOST_STEPS, _HALVINGS = 0.5, 200, 40
#: Steps in a row along which a force without stiffness acts before the search ends without an equilibrium.
_FOR_EVER = 20
#: A step is halved if the force along it has reversed and is larger than this fraction of what it was.
_OVERSHOT = 0.9


@dataclass(frozen=True, eq=False)
class Equilibrium(Result):
    """A pose in which a mechanism rests under its loads.

    Parameters
    ----------
    mechanism : Mechanism
        With the joints that are held.
    q : (nq,) array
        The pose, rad and m; loops are closed.
    start : (nq,) array
        The closed pose from which it was searched.
    stability : "stable", "unstable" or "neutral"
        "neutral": some freedom has no stiffness, and none is unstable.
    coordinates : tuple of str
        Independent joint rates (k).
    force : float
        Largest generalised force that is left on them, N·m or N.
    steps : int
        Number of steps of the search.
    held : tuple of str
        Joints that are held.
    tolerance : float
        Relative rank tolerance.
    planar : "xy", "yz", "zx" or None
        Plane in which free roots are kept.
    notes : tuple of str
    """

    mechanism: Mechanism
    q: Array
    start: Array
    stability: Stability
    coordinates: tuple[str, ...]
    force: float
    steps: int
    held: tuple[str, ...]
    tolerance: float
    planar: str | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        facts = (f"{self.stability} equilibrium", counted(len(self.coordinates), "freedom"))
        return one_line(self, self.mechanism.name, facts)

    @property
    def positions(self) -> dict[str, float]:
        """The joint coordinates by name, rad and m."""
        return dict(zip(self.mechanism.q_names, self.q.tolist(), strict=True))


@checked
def equilibrium(
    mech: ModelSource,
    *,
    q: JointValues = None,
    hold: Iterable[str] = (),
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    springs: Iterable[Spring | JointSpring] = (),
    tolerance: float | None = None,
    planar: str | None = None,
) -> Equilibrium:
    """Find the pose in which a mechanism rests under gravity, loads and springs.

    The search goes downhill from the start, as a slow motion would, and ends with Newton's method. A start that is
    already an equilibrium is the result, even if it is unstable. Dry friction is left out.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Start of the search, rad and m; the scene's state by default. Loops are closed first.
    hold : iterable of str
        Joints, or ``joint.freedom``, that are held at the start, in addition to drivers and locks.
    loads, payload : iterable, optional
        As for :func:`mbplugin.joint_reactions.run.reactions`. Loads keep their direction in world axes.
    springs : iterable of Spring or JointSpring
        In addition to those of the scene.
    tolerance : float, optional
        Relative rank tolerance.
    planar : "xy", "yz" or "zx", optional
        Keep free roots in a plane.

    Returns
    -------
    Equilibrium

    Raises
    ------
    BadUsage
        There is no equilibrium near the start: something falls, or turns for ever. Or rows without slip restrict
        the rates only.
    UnknownName, BadNumber
        An invalid argument.
    CannotClose
        A loop that cannot be closed.
    BrokenModel
        A joint that moves no mass.
    """
    return settled(mech, q, hold, loads, payload, springs, tolerance, planar)[0]


def settled(
    model: ModelSource,
    q: JointValues,
    hold: Iterable[str],
    loads: Iterable[LoadLike],
    payload: Iterable[PayloadLike] | None,
    springs: Iterable[Spring | JointSpring],
    tolerance: float | None,
    planar: str | None,
) -> tuple[Equilibrium, Statics, SmallMotions]:
    """Return the equilibrium from the arguments of :func:`equilibrium`, and the small motions about it."""
    springs = tuple(springs)
    source = model_of(model)
    own = source.springs if isinstance(source, Scene) else ()
    afloat = any(isinstance(one, Spring) and WORLD in (one.body_a, one.body_b) for one in (*own, *springs))
    # a robot that nothing holds falls for ever
    source = standing(source, q, on_stand=not afloat)
    scene = source if isinstance(source, Scene) else None
    mech = mechanism_of(source)
    planar = planar or option_of(source, "planar", None)
    bound = rank_tolerance(scene, tolerance)
    base = scene_actions(scene) if scene else AppliedForces()
    actions = replace(
        with_springs(base, springs),
        loads=(*base.loads, *read_loads(mech, loads)),
        payloads=base.payloads if payload is None else read_payloads(mech, payload),
        friction=False,
    )
    _require_meaning(mech, (*mech.contacts, *(scene.contacts if scene else ())))
    assembly, notes = closed_pose(mech, stated_state(source, q))
    stated = {lock.joint for lock in (*mech.locks, *(named_lock(mech, name) for name in names_of(hold)))}
    massless = tuple(name for name in joints_without_mass(mech, actions) if name not in stated)
    actions, _ = with_joints_without_mass_at_rest(mech, actions)
    sliding = list[str]()
    held, names = _held(mech, assembly.q, (*names_of(hold), *massless))
    statics = Statics.of(held, actions, assembly.q, planar, bound)
    end, here, steps = _search(statics, assembly.q)
    first = statics, here
    while steps == _MOST_STEPS:
        # unless joints are stated, those that would slide for ever are held, as long as others are free
        # a spring may hold what the search has not reached
        sprung = bool(actions.springs or actions.joint_springs)
        for_ever = (here.pushed_for_ever or not sprung) and not names_of(hold)
        more = set() if not for_ever else {pair for pair in _sliding(statics, here) if pair not in sliding}
        sliding += sorted(more)
        held, names = _held(mech, assembly.q, (*massless, *sliding))
        if not more or not len(Statics.of(held, actions, assembly.q, planar, bound).at(assembly.q).g):
            raise _no_equilibrium(*first)
        statics = Statics.of(held, actions, assembly.q, planar, bound)
        end, here, steps = _search(statics, assembly.q)
    notes = (
        *_slid(sliding),
        *said_of_massless(massless),
        *_idle(held),
        *_without_time(held, scene),
        *notes,
        *_left_out(held),
        *_beyond(held, end),
    )
    found = Equilibrium(
        held,
        end,
        assembly.q,
        here.stability,
        tuple(held.qd_names[i] for i in here.independent),
        float(np.abs(here.g).max(initial=0.0)),
        steps,
        names,
        bound,
        planar,
        notes,
    )
    return found, statics, here


def _held(mech: Mechanism, q: Array, hold: Iterable[str]) -> tuple[Mechanism, tuple[str, ...]]:
    """Return the mechanism with more joints held as they are at q (nq,), and the names of these joints.

    Raises
    ------
    UnknownName, BadUsage
        A name of no pair, or a closing pair with a ball that is to be held.
    """
    locks = list(dict.fromkeys(named_lock(mech, name) for name in names_of(hold)))
    drivers = []
    for lock in locks:
        pair = mech.pair_by_name[lock.joint]
        if pair.name in mech.tree.joint_of_pair:
            continue
        # the search keeps the rates of tree joints; the value of a closing pair must be a condition of the loop
        if has_quaternion(pair.type):
            raise BadUsage(
                f"{pair.type} pair {pair.name!r} closes a loop and cannot be held in a search for an equilibrium",
                remedy="hold another joint of the loop",
            )
        values = measure(pair, relative_pose(mech, pair, forward(mech, q)))
        for freedom in lock.freedoms or pair.kind.free:
            value = float(values[pair.kind.free.index(freedom)])
            drivers.append(Driver(f"hold {pair.name} {freedom}", pair.name, (freedom,), value))
    in_tree = tuple(lock for lock in locks if lock.joint in mech.tree.joint_of_pair)
    held = replace(mech, locks=(*mech.locks, *in_tree), drivers=(*mech.drivers, *drivers))
    return held, tuple(dict.fromkeys(lock.joint for lock in locks))


def _require_meaning(mech: Mechanism, contacts: Sequence[Contact]) -> None:
    """Require that all constraints restrict the pose in both directions.

    Raises
    ------
    BadUsage
    """
    slipless = [wheel.name for wheel in mech.pfaffians if wheel.nonholonomic]
    if slipless:
        raise BadUsage(
            f"rows without slip ({listed(slipless, 3)}) restrict rates but not the pose, so no pose of rest follows",
            expected="a mechanism whose constraints are closures, couplings and holds",
            remedy="remove the wheel from the scene, and hold a joint in its place",
        )
    if contacts:
        raise BadUsage(
            "contacts can open, and a search for a pose of rest keeps all constraints",
            expected="a mechanism without contacts",
            remedy="remove [[contact]], or compute the forces of a robot that stands: mbplugin reactions",
        )


def _slid(joints: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on the joints that are held because they would slide for ever."""
    if not joints:
        return ()
    sentence = (
        f"Nothing keeps {listed(joints, 3)} from sliding for ever: held as in the starting pose; "
        "--hold (hold) states what is held."
    )
    return (Assumption(sentence, f"{counted(len(joints), 'sliding joint')} held (--hold)"),)


def _idle(mech: Mechanism) -> tuple[str, ...]:
    """Return a sentence on the joints with drives that are not held."""
    held = {lock.joint for lock in mech.locks} | {driver.joint for driver in mech.drivers}
    driven = [
        pair.name
        for pair in mech.pairs
        if pair.name not in held and any(0 < freedom.effort < inf for freedom in pair.freedoms)
    ]
    if not driven:
        return ()
    sentence = f"No drive acts on {listed(driven, 3)}: --hold (hold) holds joints."
    return (Assumption(sentence, f"no drive acts on {counted(len(driven), 'joint')} (--hold)"),)


def _without_time(mech: Mechanism, scene: Scene | None) -> tuple[str, ...]:
    """Return sentences on time-dependent elements, and how they are treated."""
    moving = [d.joint for d in mech.drivers if d.rate or d.acceleration or d.profile is not None]
    timed = [lock.joint for lock in (scene.locks if scene else ())]
    held = [hold.constraint for hold in (scene.holds if scene else ())]
    sentences = (
        (moving, "the driver of {} holds its joint where it begins", "drivers hold {} where they begin"),
        (
            timed,
            "the lock of {} has a time, and is left out: --hold (hold) holds its joint",
            "lock of {} left out",
        ),
        (held, "{} holds for an interval, and counts as holding always", "{} counts as holding always"),
    )
    return tuple(
        Assumption(sentence.format(listed(names, 3)), short.format(listed(names, 1)))
        for names, sentence, short in sentences
        if names
    )


def _left_out(mech: Mechanism) -> tuple[str, ...]:
    """Return a sentence on the dry friction that is left out."""
    rough = [p.name for p in mech.pairs if any(f.friction or f.load_friction for f in p.freedoms)]
    if not rough:
        return ()
    sentence = (
        f"dry friction of {listed(rough, 3)} is left out: with it the mechanism rests anywhere near this pose"
    )
    return (Assumption(sentence, "dry friction left out"),)


def _beyond(mech: Mechanism, q: Array) -> tuple[str, ...]:
    """Return a sentence on the joints that are beyond their limits at q (nq,)."""
    values = dict(zip(mech.q_names, q.tolist(), strict=True))
    beyond = [
        pair.name
        for pair in mech.pairs
        if pair.name in values and len(pair.freedoms) == 1
        if not pair.freedoms[0].lower <= values[pair.name] <= pair.freedoms[0].upper
    ]
    if not beyond:
        return ()
    return (f"beyond limits at this pose: {listed(beyond, 3)}; an end stop would hold the mechanism before",)


# Generalised forces at rest, and their derivatives along closed poses.


@dataclass(frozen=True, eq=False)
class SmallMotions:
    """Forces and small motions at a closed pose, in the independent rates.

    Parameters
    ----------
    independent : (k,) array of int
    H : (nv, k) array
    M, K : (k, k) array
        Mass and stiffness; K is symmetric in equilibrium, and its symmetric part elsewhere.
    g : (k,) array
        Generalised forces.
    weight : float
        Weight of all bodies times the characteristic length, N·m.
    units : (nv,) array
        Unit of each rate: 1 rad, or the characteristic length.
    """

    independent: AnyArray
    H: Array
    M: Array
    K: Array
    g: Array
    weight: float
    units: Array

    @cached_property
    def modes(self) -> tuple[Array, Array]:
        """ω² (k,) and the modes as rows (k, k), with φᵀ M φ = 1."""
        if not len(self.g):
            return np.zeros(0), np.zeros((0, 0))
        squares, columns = scipy.linalg.eigh(self.K, self.M)
        return squares, columns.T

    @cached_property
    def rounding(self) -> float:
        """Force on a freedom that counts as zero, N·m or N times the characteristic length, or its change per rad."""
        squares, modes = self.modes
        stiffness = (abs(square) / self.size(phi) ** 2 for square, phi in zip(squares, modes, strict=True))
        return _NEUTRAL * (self.weight + max(stiffness, default=0.0))

    def is_neutral(self, square: float, phi: Array) -> bool:
        """Return True if ω² of a mode ``phi`` (k,) is zero within rounding."""
        return bool(abs(square) <= self.rounding * self.size(phi) ** 2)

    def pushes(self, phi: Array) -> bool:
        """Return True if the force along rates phi (k,) is more than its rounding."""
        return abs(float(phi @ self.g)) > self.rounding * self.size(phi)

    @property
    def pushed_for_ever(self) -> bool:
        """Whether a force acts on a freedom without stiffness."""
        squares, modes = self.modes
        return any(
            self.is_neutral(square, phi) and self.pushes(phi)
            for square, phi in zip(squares, modes, strict=True)
        )

    def size(self, phi: Array) -> float:
        """Return the largest rate of a motion ``phi`` (k,), rad or characteristic lengths."""
        return float(np.abs(self.H @ phi / self.units).max(initial=0.0))

    @property
    def stability(self) -> Stability:
        """The kind of equilibrium."""
        squares, modes = self.modes
        neutral = [self.is_neutral(*one) for one in zip(squares, modes, strict=True)]
        if any(square < 0 and not no for square, no in zip(squares, neutral, strict=True)):
            return "unstable"
        return "neutral" if any(neutral) else "stable"


@dataclass(frozen=True, eq=False)
class Statics:
    """The forces on a mechanism at rest.

    Parameters
    ----------
    closure : Closure
        Closes loops while the independent rates stay.
    redundancy : int
        p of the rows at a generic pose.
    still : (nv,) bool array
        Rates of tree joints that are held.
    """

    model: TreeModel
    closure: Closure
    redundancy: int
    still: AnyArray

    @classmethod
    def of(
        cls, mech: Mechanism, actions: AppliedForces, q: Array, planar: str | None, tolerance: float
    ) -> Statics:
        """Return the forces of a mechanism that is closed at q (nq,).

        Raises
        ------
        BrokenModel
            A joint moves no mass.
        """
        model = tree_model(mech, actions, planar=planar, q=q)
        redundancy = generic_redundancy(mech, q, planar, tolerance)
        statics = cls(model, Closure(mech, q), redundancy, _still(mech))
        statics._equations(q)
        if (massless := without_mass(model.composites, model.rates)).any():
            raise massless_joint(model, massless)
        return statics

    def at(self, q: Array) -> SmallMotions:
        """Return forces and small motions at a closed pose q (nq,).

        Raises
        ------
        BadUsage
            The pose is singular.
        """
        equations = self._equations(q)
        rows = minimum_norm(equations)
        sizes = np.linalg.svd(rows.C * equations.column_scale, compute_uv=False)
        if len(sizes) and sizes[-1] < _SINGULAR * sizes[0]:
            raise BadUsage(
                f"{self.closure.mech.name!r} comes to a singular pose, where motions branch, before it rests",
                expected="a start on the branch that is meant",
                remedy="state another pose (--q, q)",
            )
        independent = pivoted_coordinates(equations, rows)
        H = partition(rows, independent).H
        slopes = np.zeros((len(independent), len(independent)))
        for k in range(len(independent)):
            step = _STEP * float(self.closure.units[independent[k]])
            for count, weight in _STENCIL:
                pose = self.moved(q, H[:, k] * count * step, independent)
                slopes[:, k] -= weight * self.force_on(pose, independent) / step
        mech = self.closure.mech
        weight = float(np.linalg.norm(mech.gravity)) * sum(body.mass for body in mech.bodies)
        M = H.T @ equations.M @ H
        return SmallMotions(
            independent,
            H,
            (M + M.T) / 2,
            (slopes + slopes.T) / 2,
            H.T @ equations.F,
            weight * self.closure.length,
            self.closure.units,
        )

    def moved(self, q: Array, step: Array, independent: AnyArray) -> Array:
        """Return the closed pose after a step (nv,) from q (nq,), exact in the rates ``independent`` (k,)."""
        return _moved(self.closure, self.still, q, step, independent)

    def damping(self, q: Array, here: SmallMotions) -> Array:
        """Return D̄ (k, k) at a closed pose q (nq,); the centrifugal forces of both directions cancel."""
        columns = [(self._equations(q, -rates).F - self._equations(q, rates).F) / 2 for rates in here.H.T]
        return np.asarray(here.H.T @ np.array(columns).reshape(len(columns), len(here.H)).T)

    def force_on(self, q: Array, independent: AnyArray) -> Array:
        """Return the forces on the rates ``independent`` (k,) at a closed pose q (nq,)."""
        equations = self._equations(q)
        return np.asarray(partition(minimum_norm(equations), independent).H.T @ equations.F)

    def _equations(self, q: Array, qd: Array | None = None) -> Equations:
        """Return the equations at q (nq,) and qd (nv,), by default at rest."""
        rates = np.zeros(len(self.model.rates)) if qd is None else qd
        return equations_of(self.model, q, rates, degree_of_redundancy=self.redundancy)


def _moved(closure: Closure, still: AnyArray, q: Array, step: Array, independent: AnyArray) -> Array:
    """Return the closed pose after a step (nv,) from q (nq,), exact in the rates ``independent`` (k,).

    The rates ``still`` (nv,) do not change either.
    """
    movable = ~still
    movable[independent] = False
    pose = displace(closure.mech, q, step)
    return closure.solve(pose, movable) if constraints_to_close(closure.mech) else pose


def _still(mech: Mechanism) -> AnyArray:
    """Return a mask (nv,) of the held rates of tree joints."""
    return np.isin(mech.qd_names, [*_held_rates(mech)])


def _held_rates(mech: Mechanism) -> Iterator[str]:
    """Yield the names of the rates of tree joints that locks and drivers hold."""
    holds: tuple[Lock | Driver, ...] = (*mech.locks, *mech.drivers)
    for constraint in holds:
        joint = mech.tree.joint_of_pair.get(constraint.joint)
        if joint is None or joint.pair is None:
            continue
        names = mech.qd_names[joint.qd]
        for freedom, name in zip(joint.pair.kind.free, names, strict=True):
            if not constraint.freedoms or freedom in constraint.freedoms:
                yield name


# The search: downhill in the modes of the local stiffness, and Newton's method at the end.


def _search(statics: Statics, q: Array) -> tuple[Array, SmallMotions, int]:
    """Return the equilibrium found from a closed pose q (nq,), the forces there, and the number of steps.

    There is none if that number is ``_MOST_STEPS``: it was reached, or the same force without stiffness has acted
    along ``_FOR_EVER`` steps, as on something that falls.
    """
    alike = 0
    for steps in range(_MOST_STEPS):
        here = statics.at(q)
        step = _downhill(here)
        size = here.size(step)
        if size <= _FOUND:
            return q, here, steps
        alike = alike + 1 if here.pushed_for_ever else 0
        if alike == _FOR_EVER:
            break
        q = _along(statics, q, here, step * min(1.0, _LONGEST / size))
    return q, here, _MOST_STEPS


def _downhill(here: SmallMotions) -> Array:
    """Return the step (k,) to the lowest point of the local parabola, with its curvatures made positive."""
    squares, modes = here.modes
    step = np.zeros(len(here.g))
    for square, phi in zip(squares, modes, strict=True):
        load = float(phi @ here.g)
        if not here.is_neutral(square, phi):
            step += load / abs(square) * phi
        elif here.pushes(phi):
            # a force that hardly changes: only the line search bounds the step
            step += np.sign(load) * _LONGEST / here.size(phi) * phi
    return step


def _along(statics: Statics, q: Array, here: SmallMotions, step: Array) -> Array:
    """Return the pose after a step (k,) from q (nq,), halved until the force along it does not push back strongly."""
    first = float(here.g @ step)
    for _ in range(_HALVINGS):
        pose = statics.moved(q, here.H @ step, here.independent)
        if (
            statics.closure.closed(pose)
            and float(statics.force_on(pose, here.independent) @ step) >= -_OVERSHOT * first
        ):
            return pose
        step, first = step / 2, first / 2
    return q


def _moved_for_ever(statics: Statics, here: SmallMotions) -> list[str]:
    """Return up to three rates on which a force without stiffness acts, the most loaded first."""
    loaded = np.abs(here.H @ _downhill(here) / here.units)
    names = statics.closure.mech.qd_names
    return [names[i] for i in np.argsort(-loaded)[:3] if loaded[i] > 0.5 * loaded.max()]


def _sliding(statics: Statics, here: SmallMotions) -> set[str]:
    """Return the prismatic joints of the tree among the rates that forces move for ever."""
    pairs = statics.closure.mech.pair_by_name
    names = _moved_for_ever(statics, here)
    return {name for name in names if name in pairs and pairs[name].type == "prismatic"}


def _no_equilibrium(statics: Statics, here: SmallMotions) -> BadUsage:
    """Return the error of a search that does not end, with the rates on which a force without stiffness acts."""
    mech = statics.closure.mech
    names = _moved_for_ever(statics, here)
    loose = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    falling = f"; nothing ties {listed(loose, 3)} to the ground" if loose else ""
    return BadUsage(
        f"{mech.name!r} finds no equilibrium: the forces keep moving {listed(names)}{falling}",
        expected="a pose in which gravity, loads and springs balance",
        remedy="hold a joint (hold, --hold), state springs, or fix the base (base='fixed', --base fixed)",
    )


@one_line_repr
@dataclass(frozen=True, eq=False)
class Mode:
    """A natural mode of vibration without damping, K̄ φ = ω² M̄ φ.

    Parameters
    ----------
    stiffness : float
        ω², rad²/s²; negative in an unstable equilibrium.
    damping_ratio : float
        φᵀ D̄ φ / (2 ω φᵀ M̄ φ): the share of critical damping, if damping does not couple the modes. NaN unless ω² > 0.
    shape : (nv,) array
        Joint rates, rad and m, all loops moving along; the largest of them is 1.
    """

    stiffness: float
    damping_ratio: float
    shape: Array

    @property
    def frequency(self) -> float:
        """Natural frequency ω/2π, Hz; zero if the mode is neutral or unstable."""
        return sqrt(max(self.stiffness, 0.0)) / (2 * pi)

    @property
    def growth_time(self) -> float:
        """Time in which a small deviation grows by e without damping, s; infinite unless the mode is unstable."""
        return 1 / sqrt(-self.stiffness) if self.stiffness < 0 else inf


@dataclass(frozen=True, eq=False)
class Linearization(Result):
    """The linear equations of small motions M̄ s̈ + D̄ ṡ + K̄ s = 0 about an equilibrium, and their modes.

    Parameters
    ----------
    equilibrium : Equilibrium
        With the independent coordinates s (k).
    basis : (nv, k) array
        H: joint rates q̇ = H ṡ.
    mass, damping, stiffness : (k, k) array
        kg·m², N·m·s/rad and N·m/rad between turns; kg, N·s/m and N/m between travels.
    modes : tuple of Mode
        By rising ω².
    """

    equilibrium: Equilibrium
    basis: Array
    mass: Array
    damping: Array
    stiffness: Array
    modes: tuple[Mode, ...]

    def __repr__(self) -> str:
        lowest = [f"{mode.frequency:.4g} Hz" for mode in self.modes if mode.stiffness > 0][:3]
        facts = (f"{self.equilibrium.stability} equilibrium", counted(len(self.modes), "mode"), *lowest)
        return one_line(self, self.mechanism.name, facts)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism, with the joints that are held."""
        return self.equilibrium.mechanism

    @property
    def eigenvalues(self) -> AnyArray:
        """Eigenvalues (2k,) of the damped system, 1/s, by rising imaginary part."""
        k = len(self.mass)
        A = np.zeros((2 * k, 2 * k))
        A[:k, k:] = np.eye(k)
        A[k:] = -np.linalg.solve(self.mass, np.column_stack((self.stiffness, self.damping)))
        values = np.linalg.eigvals(A)
        return values[np.lexsort((values.real, values.imag))]

    @cached_property
    def _closure(self) -> Closure:
        return Closure(self.mechanism, self.equilibrium.q)

    def pose(self, mode: Mode, amplitude: float) -> Array:
        """Return the closed pose (nq,) at which a mode is deflected by an amplitude.

        The independent rates have their share of the mode exactly; the others follow from the loops, and leave the
        straight line of the linear mode as the amplitude grows. A large amplitude may end on another branch.

        Parameters
        ----------
        mode : Mode
            One of ``modes``.
        amplitude : float
            Of the joint whose rate is 1 in ``mode.shape``, rad or m; negative to the other side.

        Returns
        -------
        (nq,) array
            Rad and m.

        Raises
        ------
        BadUsage
            The amplitude is not finite.
        CannotClose
            The loops cannot be closed so far from the equilibrium.
        """
        if not isfinite(amplitude):
            raise BadUsage(f"the amplitude of a mode is {amplitude:g}", expected="a finite number, rad or m")
        mech, rest = self.mechanism, self.equilibrium
        independent = np.array([mech.qd_names.index(name) for name in rest.coordinates], dtype=int)
        q = _moved(self._closure, _still(mech), rest.q, amplitude * mode.shape, independent)
        if not self._closure.closed(q):
            raise CannotClose(
                f"{mech.name!r} has no closed pose with an amplitude of {amplitude:.4g} of this mode",
                expected="an amplitude within reach of the loops",
                remedy="state a smaller amplitude",
            )
        return q


@checked
def linearize(
    mech: ModelSource,
    *,
    q: JointValues = None,
    hold: Iterable[str] = (),
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    springs: Iterable[Spring | JointSpring] = (),
    tolerance: float | None = None,
    planar: str | None = None,
) -> Linearization:
    """Find the equilibrium from a start, and compute mass, damping, stiffness and modes of small motions about it.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Start of the search, rad and m; the scene's state by default.
    hold, loads, payload, springs, tolerance, planar
        As for :func:`mbplugin.simulation.equilibrium.equilibrium`.

    Returns
    -------
    Linearization

    Raises
    ------
    BadUsage, UnknownName, BadNumber, CannotClose, BrokenModel
        As for :func:`mbplugin.simulation.equilibrium.equilibrium`.
    """
    found, statics, here = settled(mech, q, hold, loads, payload, springs, tolerance, planar)
    D = statics.damping(found.q, here)
    modes = []
    for square, phi in zip(*here.modes, strict=True):
        # its rounding must not look like a slow vibration
        own = 0.0 if here.is_neutral(square, phi) else float(square)
        ratio = float(phi @ D @ phi) / (2 * sqrt(own)) if own > 0 else nan
        shape = here.H @ phi
        modes.append(Mode(own, ratio, shape / shape[np.abs(shape).argmax()]))
    return Linearization(found, here.H, here.M, D, here.K, tuple(modes))
