"""The cut of every loop, and the weakest closures with p = 0 that a format holds, proved by re-analysis."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from math import isclose, isfinite

import numpy as np

from mbplugin.analysis.analysis import analyze_mechanism
from mbplugin.analysis.catalogue import COST, Allowed, generic_pose
from mbplugin.analysis.remedies import Change, Cures, apply_changes, no_remedy, proved_cures
from mbplugin.arguments import checked
from mbplugin.closing.commanded import commanded, commanded_in_bullet
from mbplugin.closing.drift import Drifts, drifts
from mbplugin.closing.values import Closing, Cut, LoopClosure, Verdict, cut_at, evaluated, loop_pairs
from mbplugin.constraints.rank import View
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.constraints.tolerance import DEFAULT_SAMPLES, rank_tolerance
from mbplugin.errors import BadUsage, MissingDependency, UnknownName, suggestion
from mbplugin.model.brakes import with_coordinates
from mbplugin.model.enumerations import LossKind
from mbplugin.model.mechanism import WORLD, Freedom, Mechanism, Pair
from mbplugin.model.mechanism.kinematics import BodyPoses, JointValues, coordinates_of, forward
from mbplugin.model.mechanism.mechanism import Lock
from mbplugin.model.scene import Duty, Scene, State, as_scene, duties, option_of
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed, names_of
from mbplugin.readers.common.unread import OF_GAZEBO, SHAPE, TOUCH
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.readers.standing import bolted_down
from mbplugin.writers import FORMATS, read_back, write
from mbplugin.writers.copies import copied, is_of_format, loops_unstated
from mbplugin.writers.written import Loss, Written, states_freedom
from mbplugin.writers.xml_text import NoCopy

#: Numbers of single precision, and of a few digits, are the same.
_ROUNDED = 1e-5
#: What files state of a freedom.
_OF_FREEDOM = {
    "lower": "limits",
    "upper": "limits",
    "effort": "effort limits",
    "velocity": "velocity limits",
    "damping": "damping",
    "friction": "dry friction",
    "acceleration": "acceleration limits",
    "deceleration": "deceleration limits",
    "jerk": "jerk limits",
    "load_friction": "friction per load",
}
#: What is written is read again: the module that reads it, its package and its extra.
_READERS = {"mjcf": ("mujoco", "mujoco", "mjcf"), "usd": ("pxr", "usd-core", "usd")}
#: The finding of parts of a file that are not read, and how it calls actuators of an MJCF file.
_NOT_READ, _OF_ACTUATORS = ("MB113", "MB153"), " in <actuator>"
#: Why something is not read, and the kind of loss that it is; other settings of one program are none.
_KINDS_OF_UNREAD: dict[str, LossKind] = {SHAPE.why: "shape", TOUCH.why: "contact", OF_GAZEBO.why: "contact"}
_EVERY = frozenset(COST)
#: The cut of the file stays unless the criterion of another one is larger by this factor.
_CLEARLY_BETTER = 1.25
#: Other cuts that are tried where redundancy is left.
_OTHER_CUTS = 60
_IN_SPACE = tuple(range(6))
#: Bodies with less than this fraction of the largest mass count as without.
_DUST = 1e-6
#: Duties of a joint besides limits, which say nothing of a drive.
_LIMITS = "limits"
#: An effort limit stands for a drive only where the model names no drive itself.
_EFFORT = "effort"
_NAMED = frozenset({"drive", "actuator", "driver"})


# ``close``: the model of a file with closures that another format holds, and the proof.


@checked
def close(
    model: ModelSource,
    to: str,
    q: JointValues = None,
    *,
    tolerance: float | None = None,
    samples: int | None = None,
    driven: Iterable[str] | None = None,
    measure_drift: bool = True,
) -> Closing:
    """Write a model in another format, its loops closed by the weakest constraints that keep its mobility.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    to : "mjcf", "sdf", "urdf", "usd" or "scene"
    q : mapping or vector, optional
        Joint coordinates of the pose that is written, rad and m; loops are closed first.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    samples : int, optional
        Sampled poses that distinguish redundancy from a singular pose.
    driven : iterable of str, optional
        Joints that stay in the tree, patterns with ``*`` and ``?`` among them; default: those with a drive, a brake, a
        coupling, a spring or a lock, and those with an effort limit where the model names no drive.
    measure_drift : bool
        Run the mechanism for two seconds in MuJoCo and PyBullet, before and after.

    Raises
    ------
    MissingDependency
        The package that reads the written model again is not installed.
    BadUsage
        A format that there is not, a model without bodies, or a constraint that the format does not hold.
    UnknownName
        A driven joint that there is not.
    CannotClose
        The loops cannot be closed.
    """
    to = to.lower()
    if to not in FORMATS:
        raise BadUsage(
            f"the format is {to!r}",
            expected=f"one of {', '.join(FORMATS)}",
            remedy=suggestion(to, tuple(FORMATS)),
        )
    _require_reader(to)
    scene = as_scene(model_of(model))
    if to == "mjcf":
        # MuJoCo itself reads a URDF like this, and refuses free bodies without mass, as the roots of most arms are
        scene = bolted_down(scene)
    rank = rank_tolerance(scene, tolerance)
    samples = option_of(scene, "samples", DEFAULT_SAMPLES) if samples is None else samples
    closed = closed_pose(scene.mechanism, stated_state(scene, q, closing=True))[0].q
    ask = Ask(scene, closed, HOLDINGS[to], rank, samples, _driven(scene, driven))
    try:
        choice, written, back = _copied(ask, to, asked=q is not None and len(q) > 0 and to != "urdf")
    except NoCopy as reason:
        choice = choose(ask)
        written = write(_at(scene, choice), to)
        written = replace(written, anew=str(reason), losses=(*written.losses, *_unread(scene)))
        back = read_back(written)
    if to == "urdf" or written.copy_of:
        # neither has the closed pose, but coordinates that mean the same
        known = dict(zip(choice.mechanism.q_names, choice.q.tolist(), strict=True))
        back = with_coordinates(back, {name: known[name] for name in back.mechanism.q_names if name in known})
    written = replace(written, losses=(*written.losses, *_unsaid(scene.mechanism, back.mechanism, written)))
    before = (scene.mechanism, closed)
    return Closing(
        mechanism=choice.mechanism,
        state=State(choice.q, np.zeros(len(choice.mechanism.qd_names))),
        written=written,
        closures=tuple(_closures(scene.mechanism, choice)),
        changes=tuple(c for c in choice.changes if not choice.mechanism.pair_by_name[c.constraint].closure),
        before=_verdict(*before, rank, samples, choice.driven),
        after=_verdict(back.mechanism, back.state.q, rank, samples, choice.driven),
        driven=choice.driven,
        reason=choice.reason,
        drift=drifts(before, (choice.mechanism, choice.q), choice.driven)
        if measure_drift
        else Drifts("free"),
        tolerance=rank,
        planar=scene.options.planar,
        loose=_loose(scene, to),
        commanded=commanded(scene, closed, written, _at(scene, choice), back, choice.driven)
        if measure_drift
        else None,
        commanded_in_bullet=commanded_in_bullet(
            scene, closed, written, _at(scene, choice), back, choice.driven
        )
        if measure_drift
        else None,
    )


def _loose(scene: Scene, to: str) -> str:
    """Return the root of an arm that moves freely in the written file, since its own does not say what holds it."""
    fixed = bolted_down(scene).mechanism.assumed_fixed if to not in ("mjcf", "urdf") else ()
    return fixed[0] if fixed and not scene.mechanism.assumed_fixed else ""


def _copied(ask: Ask, to: str, *, asked: bool) -> tuple[Choice, Written, Scene]:
    """Return closures in the place of those of the file, its copy with them, and what is read of that."""
    if asked:
        raise NoCopy("another pose than its own was asked for")
    if not is_of_format(ask.scene, to):
        raise NoCopy("")
    # a stage that does not state which joints close its loops has them where they are best
    choice = choose(ask) if to == "usd" and loops_unstated(ask.scene) else choose_in_place(ask)
    return choice, *copied(ask.scene, _at(ask.scene, choice), to)


def _at(scene: Scene, choice: Choice) -> Scene:
    """Return a scene with the closures that were chosen, at the closed pose."""
    state = State(choice.q, np.zeros(len(choice.mechanism.qd_names)))
    return replace(scene, mechanism=choice.mechanism, state=state)


def _require_reader(to: str) -> None:
    """Refuse before anything is computed a format that this machine cannot read again."""
    if to in _READERS and find_spec(_READERS[to][0]) is None:
        raise MissingDependency.of(f"checking the {to.upper()} that is written", *_READERS[to][1:])


def _driven(scene: Scene, names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the joints that stay in the tree; those that couplings, drivers and locks name always do."""
    if names is None:
        return driven_joints(scene)
    joints = [pair.name for pair in scene.mechanism.pairs]
    chosen = set(scene.mechanism.measured_pairs)
    for name in names_of(names):
        found = fnmatch.filter(joints, name)
        if not found:
            raise UnknownName(f"no joint is called {name!r}", remedy=suggestion(name, joints))
        chosen.update(found)
    return tuple(name for name in joints if name in chosen)


def _closures(mech: Mechanism, choice: Choice) -> Iterable[LoopClosure]:
    cuts = {cut.pair: cut for cut in choice.cuts}
    for pair in choice.mechanism.tree.cut:
        yield LoopClosure(
            pair.name, pair.type, *pair.bodies, mech.pair_by_name[pair.name].type, cuts[pair.name]
        )


def _unsaid(mech: Mechanism, back: Mechanism, written: Written) -> Iterator[Loss]:
    """Yield what joints of a model state and the written file, read again, does not, as far as no clause says so."""
    found: dict[str, list[Freedom]] = {}
    for pair in back.pairs:
        # the freedoms of one joint may be written as several joints
        for name in {pair.name, *(pair.name.rpartition(mark)[0] for mark in ".#")}:
            found.setdefault(_identifier(name), []).extend(pair.freedoms)
    lost: dict[str, list[str]] = {}
    for pair in mech.pairs:
        told = [clause for clause in written.left_out if clause.startswith("limits") and pair.name in clause]
        if told or pair.type == "floating":
            continue
        there = found.get(_identifier(pair.name), [])
        for key, word in _OF_FREEDOM.items():
            values = [abs(v) for f in pair.freedoms if (v := getattr(f, key)) != getattr(Freedom(), key)]
            again = [abs(getattr(f, key)) for f in there]
            if key in ("lower", "upper"):
                kept = sum(isfinite(f.lower) + isfinite(f.upper) for f in there) >= sum(
                    isfinite(f.lower) + isfinite(f.upper) for f in pair.freedoms
                )
            else:
                kept = all(any(isclose(v, x, rel_tol=_ROUNDED) for x in again) for v in values)
            if not kept and pair.name not in lost.get(word, ()):
                lost.setdefault(word, []).append(pair.name)
    yield from (Loss("joint", f"{word} of {listed(names)}") for word, names in lost.items())


def _unread(scene: Scene) -> Iterator[Loss]:
    """Yield what a file says and no reader takes; actuators of an MJCF file are told by their laws."""
    for defect in scene.defects:
        if defect.code in _NOT_READ and _OF_ACTUATORS not in defect.message:
            kinds: list[LossKind] = [kind for why, kind in _KINDS_OF_UNREAD.items() if why in defect.message]
            if kinds or defect.code == _NOT_READ[0]:
                yield Loss(kinds[0] if kinds else "unread", defect.message)


def _identifier(name: str) -> str:
    """Return a name as USD writes it."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _verdict(mech: Mechanism, q: Array, tolerance: float, samples: int, driven: tuple[str, ...]) -> Verdict:
    """Return the analysis of a pose q (nq,)."""
    found = analyze_mechanism(mech, q, tolerance=tolerance, samples=samples)
    locked = {lock.joint for lock in mech.locks}
    held = [p.name for p in mech.pairs if p.name in driven and p.kind.free and p.name not in locked]
    locks = tuple(Lock(name) for name in held if Lock(name).name not in {c.name for c in mech.constraints()})
    with_locks = analyze_mechanism(
        replace(mech, locks=(*mech.locks, *locks)), q, tolerance=tolerance, samples=0
    )
    dofs = (a.dof if a.finite_dof is None else a.finite_dof for a in (found, with_locks))
    return Verdict(found.degree_of_redundancy, found.structural_redundancy, *dofs)


# What each format holds of closures and joints, as far as remedies may choose it.


@dataclass(frozen=True)
class Holding:
    """The types that a format has.

    Parameters
    ----------
    closures : frozenset of str
        For closures.
    joints : frozenset of str
        For joints of the tree.
    in_parts : bool
        Whether a closure of any other type is held by a part of a body that is welded to the rest.
    bare_closures : bool
        Whether closures have no limits, drive, damping and friction.
    several : bool
        Whether joints of several freedoms have them; balls never do.
    """

    closures: frozenset[str]
    joints: frozenset[str]
    in_parts: bool = False
    bare_closures: bool = False
    several: bool = False

    def holds(self, pair: Pair) -> bool:
        """Return whether the format has a closure of the type of a pair, without parts of bodies."""
        return pair.type in self.closures

    def states(self, pair: Pair) -> bool:
        """Return whether the format has a place for limits, a drive, damping and friction of a pair."""
        if pair.closure and (self.bare_closures or (self.in_parts and self.holds(pair))):
            return False
        return len(pair.kind.free) == 1 or (self.several and pair.type != "spherical")

    def lost(self, before: Mechanism, after: Mechanism) -> tuple[str, ...]:
        """Return the pairs of which the format does not keep what one of its freedoms has, once types are changed."""
        names = []
        for pair in before.pairs:
            stated = [freedom for freedom in pair.freedoms if freedom != Freedom()]
            new = after.pair_by_name[pair.name]
            kept = [freedom for freedom in new.freedoms if freedom != Freedom()] if self.states(new) else []
            if len(kept) < len(stated):
                names.append(pair.name)
        return tuple(names)


#: By format. A scene has every type; closures of a URDF are those of ``<loop_joint>``.
HOLDINGS: Mapping[str, Holding] = {
    "scene": Holding(_EVERY | {"fixed", "continuous", "screw", "distance"}, _EVERY, bare_closures=True),
    "sdf": Holding(
        frozenset({"fixed", "revolute", "continuous", "prismatic", "screw", "universal", "spherical"}),
        frozenset({"revolute", "prismatic", "universal", "spherical"}),
        several=True,
    ),
    "usd": Holding(_EVERY | {"fixed", "continuous", "distance"}, _EVERY),
    "urdf": Holding(
        _EVERY | {"fixed", "continuous"},
        frozenset({"revolute", "prismatic", "planar", "spherical"}),
        bare_closures=True,
    ),
    "mjcf": Holding(frozenset({"spherical", "fixed"}), _EVERY, in_parts=True, several=True),
}


@dataclass(frozen=True, eq=False)
class Choice:
    """A mechanism with other closures.

    Parameters
    ----------
    mechanism : Mechanism
        What closes its loops is marked as closure.
    q : (nq,) array
        The same pose in its coordinates, rad and m.
    cuts : tuple of Cut
        One per loop.
    changes : tuple of Change
        Of types, after the cuts.
    left : int
        Redundant constraints that are left.
    reason : str
        Why redundancy is left; empty where none is.
    driven : tuple of str
        Joints that have to stay in the tree.
    """

    mechanism: Mechanism
    q: Array
    cuts: tuple[Cut, ...]
    changes: tuple[Change, ...]
    left: int
    reason: str
    driven: tuple[str, ...]


def driven_joints(scene: Scene) -> tuple[str, ...]:
    """Return the joints that a drive, a brake, a coupling, a spring or a lock acts on.

    An effort limit counts as a drive where the model names none: in many files every joint has one.
    """
    return tuple(name for name, own in _duties(scene).items() if any(duty.kind != _LIMITS for duty in own))


def _duties(scene: Scene) -> dict[str, tuple[Duty, ...]]:
    """Return the roles of joints; an effort limit is none where the model names drives."""
    found = duties(scene)
    if any(duty.kind in _NAMED for own in found.values() for duty in own):
        found = {name: tuple(duty for duty in own if duty.kind != _EFFORT) for name, own in found.items()}
    return {name: own for name, own in found.items() if own}


@dataclass(frozen=True, eq=False)
class Ask:
    """What closures are chosen for.

    Parameters
    ----------
    scene : Scene
    q : (nq,) array
        A closed pose, rad and m.
    holding : Holding
        What the format has.
    tolerance : float
        Relative rank tolerance.
    samples : int
        Sampled poses that distinguish redundancy from a singular pose.
    driven : tuple of str
        Joints that stay in the tree.
    """

    scene: Scene
    q: Array
    holding: Holding
    tolerance: float
    samples: int
    driven: tuple[str, ...]

    @property
    def at(self) -> _Pose:
        """Where and how mechanisms with different cuts are analyzed."""
        return _Pose(forward(self.scene.mechanism, self.q), self.holding, self.tolerance, self.samples)


def choose(ask: Ask) -> Choice:
    """Return the mechanism of a scene with the closures that a format holds, at a closed pose.

    Each loop is cut where nothing is lost that a joint states, then where the format has the closure, else where the
    projective criterion is the largest, never at a driven joint if another one is left. Then closures become weaker
    until nothing is redundant: of types that the format has, then of any type, and last together with passive joints
    of the tree. Where that does not suffice, loops are cut elsewhere.
    """
    scene, driven, at = ask.scene, ask.driven, ask.at
    found, mech, cuts = _closed_alone(scene, ask.q, at, driven, moving=False)
    if found.left:
        # what is welded in the file cannot become one of the weak pairs of the catalogue that a hinge beside it can
        again = _closed_alone(scene, ask.q, at, driven, moving=True)
        found, mech, cuts = again if again[0].fault < found.fault else (found, mech, cuts)
    if found.left:
        with_joints = _weakened(scene, mech, at, driven, (_with_joints(ask.holding),))
        found = with_joints if with_joints.left < found.left else replace(found, reason=with_joints.reason)
    cuts = tuple(
        replace(cut, instead_of=was.name) for cut, was in zip(cuts, scene.mechanism.tree.cut, strict=True)
    )
    return _choice(ask, mech, cuts, found)


@dataclass(frozen=True)
class Excluded:
    """The joints at which loops are best cut where an articulation has to be a tree.

    Parameters
    ----------
    joints : tuple of str
        One per loop, in the order of the closures of the model.
    types : tuple of str
        What closes each loop with the least redundancy.
    suffices : bool
        Whether these types alone leave no redundant constraint.
    """

    joints: tuple[str, ...]
    types: tuple[str, ...]
    suffices: bool


def excluded_joints(scene: Scene) -> Excluded:
    """Return the joints to exclude from an articulation: passive ones that state nothing, if there are any.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    """
    rank = rank_tolerance(scene, None)
    closed = closed_pose(scene.mechanism, stated_state(scene, None, closing=True))[0].q
    ask = Ask(scene, closed, HOLDINGS["usd"], rank, DEFAULT_SAMPLES, driven_joints(scene))
    choice = choose(ask)
    joints = tuple(cut.pair for cut in choice.cuts)
    types = tuple(choice.mechanism.pair_by_name[name].type for name in joints)
    return Excluded(joints, types, not choice.left and all(c.constraint in joints for c in choice.changes))


def choose_in_place(ask: Ask) -> Choice:
    """Return the mechanism of a scene with weaker closures where it has closures.

    Raises
    ------
    NoCopy
        A loop that has to be cut elsewhere, or that leaves less redundancy there.
    """
    mech = ask.scene.mechanism
    for pair in mech.tree.cut:
        if pair.name in ask.driven:
            raise NoCopy(f"the driven joint {pair.name!r} closes a loop")
        if _hangs_without_mass(mech, pair):
            raise NoCopy(f"closure {pair.name!r} holds a body without mass")
    marked = {pair.name for pair in mech.tree.cut}
    cut = replace(mech, pairs=tuple(replace(p, closure=p.name in marked) for p in mech.pairs))
    if cut.q_names != mech.q_names:
        raise NoCopy("a joint of its tree is a closure in its text")
    found = _weakened(ask.scene, cut, ask.at, ask.driven, tuple(_closures_alone(ask.holding)))
    if found.left:
        with_joints = _weakened(ask.scene, cut, ask.at, ask.driven, (_with_joints(ask.holding),))
        found = with_joints if with_joints.left < found.left else replace(found, reason=with_joints.reason)
    for change in found.changes:
        if states_freedom(mech.pair_by_name[change.constraint]):
            raise NoCopy(f"{change.constraint!r} becomes {change.new}, and has limits, damping or friction")
    cuts = tuple(evaluated(cut, ask.q, pair, pair) for pair in cut.tree.cut)
    choice = _choice(ask, cut, cuts, found)
    if found.left and choose(ask).left < found.left:
        raise NoCopy("its loops have less redundancy where they are cut elsewhere")
    return choice


def _choice(ask: Ask, mech: Mechanism, cuts: tuple[Cut, ...], found: _Weakened) -> Choice:
    changed = apply_changes(mech, found.changes)
    q = coordinates_of(changed, ask.at.poses)
    return Choice(changed, q, cuts, found.changes, found.left, found.reason, ask.driven)


@dataclass(frozen=True, eq=False)
class _Pose:
    """Where and how mechanisms with different cuts are analyzed."""

    poses: BodyPoses
    holding: Holding
    tolerance: float
    samples: int


@dataclass(frozen=True)
class _Weakened:
    """Changes of types, the redundancy that they leave, how many pairs lose something, and why redundancy is left."""

    changes: tuple[Change, ...] = ()
    left: int = 0
    lost: int = 0
    reason: str = ""

    @property
    def fault(self) -> tuple[int, int]:
        """The redundancy that is left, then the pairs that lose limits, a drive, damping or friction."""
        return self.left, self.lost


def _weakened(
    scene: Scene, mech: Mechanism, at: _Pose, driven: tuple[str, ...], stages: Sequence[Allowed]
) -> _Weakened:
    """Return the weakest types with which least is redundant, of equal ones those that lose least."""
    view = View(mech, coordinates_of(mech, at.poses), _IN_SPACE, at.tolerance)
    structural, generic_q, _ = generic_pose(view, view.blocks, at.samples, 0)
    best = _Weakened(left=structural, lost=len(at.holding.lost(scene.mechanism, mech)))
    if not structural:
        return best
    kept, cures = _kept(scene, mech, driven), Cures()
    for allowed in stages:
        cures = proved_cures(view.at(generic_q), view, kept, allowed)
        for remedy in cures.remedies:
            lost = len(at.holding.lost(scene.mechanism, apply_changes(mech, remedy.changes)))
            found = _Weakened(remedy.changes, remedy.degree_of_redundancy, lost)
            best = found if found.fault < best.fault else best
        if not best.left and not best.lost:
            return best
    return replace(best, reason=_reason(cures)) if best.left else best


def _closed_alone(
    scene: Scene, q: Array, at: _Pose, driven: tuple[str, ...], *, moving: bool
) -> tuple[_Weakened, Mechanism, tuple[Cut, ...]]:
    """Return the weakest closures alone, and the cuts, at a closed pose q (nq,)."""
    mech, cuts = _with_best_cuts(scene.mechanism, q, at.holding, frozenset(driven), moving=moving)
    return _cut_elsewhere(scene, mech, cuts, at, driven)


def _cut_elsewhere(
    scene: Scene, mech: Mechanism, cuts: tuple[Cut, ...], at: _Pose, driven: tuple[str, ...]
) -> tuple[_Weakened, Mechanism, tuple[Cut, ...]]:
    """Return the weakest closures alone, and the cuts.

    While something is redundant, or is lost that another cut keeps, one loop more is cut elsewhere.
    """
    alone = tuple(_closures_alone(at.holding))
    found = _weakened(scene, mech, at, driven, alone)
    left = _OTHER_CUTS
    while (found.left or found.lost) and left > 0:
        better = None
        others = _other_cuts(mech, at, frozenset(driven), keeping=not found.left)
        for other, cut in islice(others, left):
            left -= 1
            again = _weakened(scene, other, at, driven, alone)
            if again.fault < found.fault:
                better = again, other, cut
                break
        if better is None:
            break
        found, mech, moved = better
        cuts = tuple(moved if one.pair == moved.instead_of else one for one in cuts)
    return found, mech, cuts


def _other_cuts(
    mech: Mechanism, at: _Pose, driven: frozenset[str], *, keeping: bool
) -> Iterator[tuple[Mechanism, Cut]]:
    """Yield the mechanism with one loop cut elsewhere, and that cut: first where nothing is lost.

    With ``keeping``, only cuts that lose less than the present one and leave no end without mass.
    """
    q = coordinates_of(mech, at.poses)
    options = [
        (_loss(pair, at.holding), present, pair)
        for present in mech.tree.cut
        for pair in loop_pairs(mech, present)
        if pair.kind.free and pair.name not in driven
    ]
    for loss, present, pair in sorted(options, key=lambda option: option[0]):
        other = cut_at(mech, present, pair)
        if keeping and (loss >= _loss(present, at.holding) or _hangs_without_mass(other, pair)):
            continue
        yield other, evaluated(mech, q, present, pair)


def _loss(pair: Pair, holding: Holding) -> int:
    """Return 0 for a pair that states nothing, 1 where a closure of the format keeps what it states, 2 where not."""
    if not states_freedom(pair):
        return 0
    return 1 if holding.states(replace(pair, closure=True)) else 2


def _with_best_cuts(
    mech: Mechanism, q: Array, holding: Holding, driven: frozenset[str], *, moving: bool
) -> tuple[Mechanism, tuple[Cut, ...]]:
    """Return the mechanism cut at the best pair of every loop, all cut pairs marked; q (nq,) is a closed pose.

    With ``moving``, loops are cut at fixed pairs only where nothing else is left.
    """
    cuts = []
    poses = forward(mech, q)
    for present in mech.tree.cut:
        options = [p for p in loop_pairs(mech, present) if p.kind.free and p.name not in driven]
        if present.kind.free or not moving or not options:
            options.insert(0, present)
        here = coordinates_of(mech, poses)
        found = [(pair, evaluated(mech, here, present, pair)) for pair in options]
        merits = [_merit(mech, pair, cut, present, holding, driven) for pair, cut in found]
        best, cut = found[merits.index(max(merits))]
        cuts.append(cut)
        mech = cut_at(mech, present, best)
    marked = {pair.name for pair in mech.tree.cut}
    return replace(mech, pairs=tuple(replace(p, closure=p.name in marked) for p in mech.pairs)), tuple(cuts)


def _merit(
    mech: Mechanism, pair: Pair, cut: Cut, present: Pair, holding: Holding, driven: frozenset[str]
) -> tuple[bool, bool, int, bool, float]:
    """Return how good a cut is: passive, no end without mass, nothing lost, of a type of the format, the criterion."""
    bonus = _CLEARLY_BETTER if pair is present else 1.0
    carried = not _hangs_without_mass(cut_at(mech, present, pair), pair)
    kept = -_loss(pair, holding)
    return pair.name not in driven, carried, kept, holding.holds(pair), bonus * cut.independence


def _hangs_without_mass(mech: Mechanism, closure: Pair) -> bool:
    """Return whether an end of a closure moves on the tree and carries next to no mass: no engine can hold it there."""
    mass = {body.name: body.mass for body in mech.bodies}
    least = _DUST * max(mass.values(), default=0.0)
    for joint in reversed(mech.tree.joints):
        if joint.inner != WORLD:
            mass[joint.inner] += mass[joint.outer]
    for body in closure.bodies:
        for joint in mech.tree.way_in(body):
            if joint.pair is not None and joint.pair.kind.free and mass[joint.outer] <= least:
                return True
            if mass[joint.outer] > least:
                break
    return False


def _kept(scene: Scene, mech: Mechanism, driven: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """Return the roles of joints that keep their type; the limits of a closure keep none."""
    closures = {pair.name for pair in mech.pairs if pair.closure}
    own = {
        name: [d.text for d in found if name in driven or d.kind == _LIMITS]
        for name, found in duties(scene).items()
    }
    kept = {name: tuple(texts) for name, texts in own.items() if texts and name not in closures}
    return {**kept, **{name: tuple(own.get(name, ())) or ("a drive",) for name in driven}}


def _closures_alone(holding: Holding) -> Iterator[Allowed]:
    """Yield what may become of closures: types that the format has, then those that parts of bodies hold."""
    yield lambda pair, type: pair.closure and type in holding.closures
    if holding.in_parts:
        yield lambda pair, type: pair.closure


def _with_joints(holding: Holding) -> Allowed:
    """Return the types that closures and joints of the tree may take together."""
    closures = holding.joints | holding.closures if holding.in_parts else holding.closures
    return lambda pair, type: type in (closures if pair.closure else holding.joints)


def _reason(cures: Cures) -> str:
    if cures.obstacles:
        return no_remedy(cures.obstacles)
    return "no change of closures and passive joints that was tried removes it and keeps the mobility"
