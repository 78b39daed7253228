"""The cut of every loop, and the weakest closures with p = 0 that a format supports, proved by re-analysis."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from math import isclose, isfinite

import numpy as np

from mbplugin.analysis import analyze_mechanism
from mbplugin.analysis.catalogue import COST, Allowed, generic_pose
from mbplugin.analysis.remedies import Change, Cures, apply_changes, no_remedy, proved_cures
from mbplugin.arguments import checked
from mbplugin.closing import drift
from mbplugin.closing.commanded import commanded, commanded_in_bullet
from mbplugin.closing.drift import Closing, Cut, Drifts, LoopClosure, Verdict
from mbplugin.constraints import DEFAULT_SAMPLES, rank_tolerance
from mbplugin.constraints.rank import View
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.errors import BadUsage, MissingDependency, UnknownName, suggestion
from mbplugin.model import WORLD, Array, Lock, LossKind, Mechanism, with_coordinates
from mbplugin.model.mechanism.kinematics import BodyPoses, JointValues, coordinates_of, forward
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair
from mbplugin.model.scene import Duty, Scene, State, as_scene, duties, option_of
from mbplugin.phrases import listed, names_of
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.standing import bolted_down
from mbplugin.readers.unread import OF_GAZEBO, SHAPE, TOUCH
from mbplugin.writers import FORMATS, read_back, write
from mbplugin.writers.copies import copied, is_of_format, loops_unstated
from mbplugin.writers.written import Loss, Written, states_freedom
from mbplugin.writers.xml_text import NoCopy

#: Relative difference up to which numbers rounded to single precision or a few digits are equal.
_ROUNDED = 1e-5
#: Attributes of a freedom that files state, with their names in messages.
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
    "guide_length": "length of the guide",
}
#: Needed to read a written file back: module, package and extra.
_READERS = {"mjcf": ("mujoco", "mujoco", "mjcf"), "usd": ("pxr", "usd-core", "usd")}
#: Codes of findings on parts of a file that are not read, and the phrase in them for actuators of an MJCF file.
_NOT_READ, _OF_ACTUATORS = ("MB113", "MB153"), " in <actuator>"
#: Reason for not reading something, and the kind of loss; other program-specific settings are not loss.
_KINDS_OF_UNREAD: dict[str, LossKind] = {SHAPE.why: "shape", TOUCH.why: "contact", OF_GAZEBO.why: "contact"}
_EVERY = frozenset(COST)
#: The cut of the file is retained unless the criterion of another one is larger by this factor.
_CLEARLY_BETTER = 1.25
#: Maximum number of other cuts tried if redundancy remains.
_OTHER_CUTS = 60
_IN_SPACE = tuple(range(6))
#: Bodies with less than this fraction of the largest mass count as massless.
_DUST = 1e-6
#: Role of a joint with limits, which do not indicate a drive.
_LIMITS = "limits"
#: Role of a joint with an effort limit, which counts as a drive only if the model names no drive.
_EFFORT = "effort"
_NAMED = frozenset({"drive", "actuator", "driver"})


# ``close``: write a model with closures that another format supports, and prove them.


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
    """Write a model in another format, with loops closed by the weakest constraints that keep its mobility.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    to : "mjcf", "sdf", "urdf", "usd" or "scene"
    q : mapping or vector, optional
        Joint coordinates of the written pose, rad and m; loops are closed first.
    tolerance : float, optional
        Relative rank tolerance; default: the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    samples : int, optional
        Number of sampled poses that distinguish redundancy from a singular pose.
    driven : iterable of str, optional
        Joints that stay in the tree; patterns with ``*`` and ``?`` are allowed. Default: joints with a drive, a
        brake, a coupling, a spring or a lock, and joints with an effort limit if the model names no drive.
    measure_drift : bool
        Simulate the mechanism before and after: the drift for two seconds in MuJoCo and PyBullet, and the motion
        under commands in MuJoCo.

    Raises
    ------
    MissingDependency
        The package that reads the written model back is not installed.
    BadUsage
        Unknown format, a model without bodies, or a constraint that the format does not support.
    UnknownName
        Unknown driven joint.
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
        # MuJoCo fixes the base of a URDF too; and it rejects free massless bodies, such as the roots of most arms
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
        # neither contains the closed pose, but their coordinates have the same meaning
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
        drift=drift.drifts(before, (choice.mechanism, choice.q), choice.driven)
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


def _require_reader(to: str) -> None:
    """Reject early a format that cannot be read back because its package is not installed."""
    if to in _READERS and find_spec(_READERS[to][0]) is None:
        raise MissingDependency.of(f"checking the {to.upper()} that is written", *_READERS[to][1:])


def _loose(scene: Scene, to: str) -> str:
    """Return the root of an arm that moves freely in the written file because the model states no base; or ""."""
    fixed = bolted_down(scene).mechanism.assumed_fixed if to not in ("mjcf", "urdf") else ()
    return fixed[0] if fixed and not scene.mechanism.assumed_fixed else ""


def _copied(ask: Ask, to: str, *, asked: bool) -> tuple[Choice, Written, Scene]:
    """Return closures in place of those of the file, the copy of the file with them, and the scene read back."""
    if asked:
        raise NoCopy("another pose than its own was asked for")
    if not is_of_format(ask.scene, to):
        raise NoCopy("")
    # a stage that does not state which joints close its loops has them where they are best
    choice = choose(ask) if to == "usd" and loops_unstated(ask.scene) else choose_in_place(ask)
    return choice, *copied(ask.scene, _at(ask.scene, choice), to)


def _at(scene: Scene, choice: Choice) -> Scene:
    """Return a scene with the chosen closures, at the closed pose."""
    state = State(choice.q, np.zeros(len(choice.mechanism.qd_names)))
    return replace(scene, mechanism=choice.mechanism, state=state)


def _driven(scene: Scene, names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the joints that stay in the tree; with stated names, also those of couplings, drivers and locks."""
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
    """Yield the joint properties missing in the written file when read back, unless already listed as left out."""
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
    """Yield the parts of a file that no reader uses; actuators of an MJCF file are reported elsewhere."""
    for defect in scene.defects:
        if defect.code in _NOT_READ and _OF_ACTUATORS not in defect.message:
            kinds: list[LossKind] = [kind for why, kind in _KINDS_OF_UNREAD.items() if why in defect.message]
            if kinds or defect.code == _NOT_READ[0]:
                yield Loss(kinds[0] if kinds else "unread", defect.message)


def _identifier(name: str) -> str:
    """Return a name as a USD identifier."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _verdict(mech: Mechanism, q: Array, tolerance: float, samples: int, driven: tuple[str, ...]) -> Verdict:
    """Return the redundancy and mobility of a mechanism at a pose q (nq,)."""
    found = analyze_mechanism(mech, q, tolerance=tolerance, samples=samples)
    locked = {lock.joint for lock in mech.locks}
    held = [p.name for p in mech.pairs if p.name in driven and p.kind.free and p.name not in locked]
    locks = tuple(Lock(name) for name in held if Lock(name).name not in {c.name for c in mech.constraints()})
    with_locks = analyze_mechanism(
        replace(mech, locks=(*mech.locks, *locks)), q, tolerance=tolerance, samples=0
    )
    dofs = (a.dof if a.finite_dof is None else a.finite_dof for a in (found, with_locks))
    return Verdict(found.degree_of_redundancy, found.structural_redundancy, *dofs)


# Types of closures and joints that each format supports, as far as remedies may choose them.


@dataclass(frozen=True)
class Holding:
    """The types that a format supports.

    Parameters
    ----------
    closures : frozenset of str
        Types for closures.
    joints : frozenset of str
        Types for joints of the tree.
    in_parts : bool
        True if a closure of any other type can be replaced by a joint to a part of a body that is welded to the rest.
    bare_closures : bool
        True if closures cannot have limits, drives, damping and friction.
    several : bool
        True if joints with several freedoms can have these; spherical joints never can.
    """

    closures: frozenset[str]
    joints: frozenset[str]
    in_parts: bool = False
    bare_closures: bool = False
    several: bool = False

    def holds(self, pair: Pair) -> bool:
        """Return True if the format has a closure of the type of a pair, without parts of bodies."""
        return pair.type in self.closures

    def states(self, pair: Pair) -> bool:
        """Return True if the format can state limits, a drive, damping and friction of a pair."""
        if pair.closure and (self.bare_closures or (self.in_parts and self.holds(pair))):
            return False
        return len(pair.kind.free) == 1 or (self.several and pair.type != "spherical")

    def lost(self, before: Mechanism, after: Mechanism) -> tuple[str, ...]:
        """Return the pairs for which, after changes of types, the format cannot state the properties of a freedom."""
        names = []
        for pair in before.pairs:
            stated = [freedom for freedom in pair.freedoms if freedom != Freedom()]
            new = after.pair_by_name[pair.name]
            kept = [freedom for freedom in new.freedoms if freedom != Freedom()] if self.states(new) else []
            if len(kept) < len(stated):
                names.append(pair.name)
        return tuple(names)


#: Supported types by format. A scene has every type; closures of a URDF are those of ``<loop_joint>``.
HOLDINGS: Mapping[str, Holding] = {
    "scene": Holding(frozenset(PAIR_TYPES) - {"floating"}, _EVERY, bare_closures=True),
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
    """A mechanism with the chosen closures.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism in which the pairs that close loops are marked as closures.
    q : (nq,) array
        The same pose in its coordinates, rad and m.
    cuts : tuple of Cut
        One for each loop.
    changes : tuple of Change
        Changes of types, after the cuts.
    left : int
        Number of remaining redundant constraints.
    reason : str
        Reason why redundancy remains; empty if none does.
    driven : tuple of str
        Joints that must stay in the tree.
    """

    mechanism: Mechanism
    q: Array
    cuts: tuple[Cut, ...]
    changes: tuple[Change, ...]
    left: int
    reason: str
    driven: tuple[str, ...]


def driven_joints(scene: Scene) -> tuple[str, ...]:
    """Return the joints on which a drive, a brake, a coupling, a spring or a lock acts.

    An effort limit counts as a drive only if the model names no drive: in many files every joint has one.
    """
    return tuple(name for name, own in _duties(scene).items() if any(duty.kind != _LIMITS for duty in own))


def _duties(scene: Scene) -> dict[str, tuple[Duty, ...]]:
    """Return the roles of joints; an effort limit is not a role if the model names drives."""
    found = duties(scene)
    if any(duty.kind in _NAMED for own in found.values() for duty in own):
        found = {name: tuple(duty for duty in own if duty.kind != _EFFORT) for name, own in found.items()}
    return {name: own for name, own in found.items() if own}


@dataclass(frozen=True, eq=False)
class Ask:
    """Request for a choice of closures.

    Parameters
    ----------
    scene : Scene
    q : (nq,) array
        A closed pose, rad and m.
    holding : Holding
        Types that the format supports.
    tolerance : float
        Relative rank tolerance.
    samples : int
        Number of sampled poses that distinguish redundancy from a singular pose.
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
        """Pose and settings for the analysis of mechanisms with different cuts."""
        return _Pose(forward(self.scene.mechanism, self.q), self.holding, self.tolerance, self.samples)


def choose(ask: Ask) -> Choice:
    """Return the mechanism of a scene with closures that a format supports, at a closed pose.

    Each loop is cut where no stated property of a joint is lost; of such pairs, where the format has the closure
    type; of these, where the projective criterion is the largest. A driven joint is cut only if no other is left.
    Then closures are weakened until nothing is redundant: first with types that the format has, then with any type
    if the format can replace it by body parts. If redundancy remains, or a property is lost, loops are cut
    elsewhere. Last, passive joints of the tree are changed too.
    """
    scene, driven, at = ask.scene, ask.driven, ask.at
    found, mech, cuts = _closed_alone(scene, ask.q, at, driven, moving=False)
    if found.left:
        # a fixed pair may lack the weak replacements that a hinge in the same loop has, so avoid cuts at fixed pairs
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
    """The joints at which loops are best cut if an articulation must be a tree.

    Parameters
    ----------
    joints : tuple of str
        One for each loop, in the order of the closures of the model.
    types : tuple of str
        Closure types with the least redundancy.
    suffices : bool
        True if these types alone leave no redundant constraint.
    """

    joints: tuple[str, ...]
    types: tuple[str, ...]
    suffices: bool


def excluded_joints(scene: Scene) -> Excluded:
    """Return the joints to exclude from an articulation: passive ones without stated properties, if possible.

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
    """Return the mechanism of a scene with its present closures weakened, without moving cuts.

    Raises
    ------
    NoCopy
        A loop must be cut elsewhere, or has less redundancy when cut elsewhere.
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
    cuts = tuple(drift.evaluated(cut, ask.q, pair, pair) for pair in cut.tree.cut)
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
    """Pose and settings for the analysis of mechanisms with different cuts."""

    poses: BodyPoses
    holding: Holding
    tolerance: float
    samples: int


@dataclass(frozen=True)
class _Weakened:
    """Changes of types, the remaining redundancy with its reason, and the number of pairs that lose properties."""

    changes: tuple[Change, ...] = ()
    left: int = 0
    lost: int = 0
    reason: str = ""

    @property
    def fault(self) -> tuple[int, int]:
        """Sort key: remaining redundancy, then the number of pairs that lose limits, a drive, damping or friction."""
        return self.left, self.lost


def _weakened(
    scene: Scene, mech: Mechanism, at: _Pose, driven: tuple[str, ...], stages: Sequence[Allowed]
) -> _Weakened:
    """Return the changes of types with the least remaining redundancy, and of these the ones that lose least."""
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
    if not best.left:
        return best
    if cures.obstacles:
        return replace(best, reason=no_remedy(cures.obstacles))
    reason = "no change of closures and passive joints that was tried removes it and keeps the mobility"
    return replace(best, reason=reason)


def _closed_alone(
    scene: Scene, q: Array, at: _Pose, driven: tuple[str, ...], *, moving: bool
) -> tuple[_Weakened, Mechanism, tuple[Cut, ...]]:
    """Return the best changes of closures alone, the mechanism and the cuts, at a closed pose q (nq,)."""
    mech, cuts = _with_best_cuts(scene.mechanism, q, at.holding, frozenset(driven), moving=moving)
    return _cut_elsewhere(scene, mech, cuts, at, driven)


def _cut_elsewhere(
    scene: Scene, mech: Mechanism, cuts: tuple[Cut, ...], at: _Pose, driven: tuple[str, ...]
) -> tuple[_Weakened, Mechanism, tuple[Cut, ...]]:
    """Return the best changes of closures alone, the mechanism and the cuts.

    While a constraint is redundant, or a property is lost that another cut keeps, one more loop is cut elsewhere.
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
    """Yield mechanisms with one loop cut elsewhere, each with the cut; cuts that lose least come first.

    With ``keeping``, only cuts that lose less than the present one and leave no massless end.
    """
    q = coordinates_of(mech, at.poses)
    options = [
        (_loss(pair, at.holding), present, pair)
        for present in mech.tree.cut
        for pair in drift.loop_pairs(mech, present)
        if pair.kind.free and pair.name not in driven
    ]
    for loss, present, pair in sorted(options, key=lambda option: option[0]):
        other = drift.cut_at(mech, present, pair)
        if keeping and (loss >= _loss(present, at.holding) or _hangs_without_mass(other, pair)):
            continue
        yield other, drift.evaluated(mech, q, present, pair)


def _loss(pair: Pair, holding: Holding) -> int:
    """Return 0 for a pair without stated properties, 1 if a closure of the format can state them, else 2."""
    if not states_freedom(pair):
        return 0
    return 1 if holding.states(replace(pair, closure=True)) else 2


def _with_best_cuts(
    mech: Mechanism, q: Array, holding: Holding, driven: frozenset[str], *, moving: bool
) -> tuple[Mechanism, tuple[Cut, ...]]:
    """Return the mechanism cut at the best pair of every loop, with all cuts marked; q (nq,) is a closed pose.

    With ``moving``, loops are cut at fixed pairs only where no other pair can be cut.
    """
    cuts = []
    poses = forward(mech, q)
    for present in mech.tree.cut:
        options = [p for p in drift.loop_pairs(mech, present) if p.kind.free and p.name not in driven]
        if present.kind.free or not moving or not options:
            options.insert(0, present)
        here = coordinates_of(mech, poses)
        found = [(pair, drift.evaluated(mech, here, present, pair)) for pair in options]
        merits = [_merit(mech, pair, cut, present, holding, driven) for pair, cut in found]
        best, cut = found[merits.index(max(merits))]
        cuts.append(cut)
        mech = drift.cut_at(mech, present, best)
    marked = {pair.name for pair in mech.tree.cut}
    return replace(mech, pairs=tuple(replace(p, closure=p.name in marked) for p in mech.pairs)), tuple(cuts)


def _merit(
    mech: Mechanism, pair: Pair, cut: Cut, present: Pair, holding: Holding, driven: frozenset[str]
) -> tuple[bool, bool, int, bool, float]:
    """Return the merit of a cut: passive, no massless end, least loss, type of the format, projective criterion."""
    bonus = _CLEARLY_BETTER if pair is present else 1.0
    carried = not _hangs_without_mass(drift.cut_at(mech, present, pair), pair)
    kept = -_loss(pair, holding)
    return pair.name not in driven, carried, kept, holding.holds(pair), bonus * cut.independence


def _hangs_without_mass(mech: Mechanism, closure: Pair) -> bool:
    """Return True if an end of a closure is movable and nearly massless, which no engine can simulate."""
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
    """Return the roles of joints that must keep their type; a closure may change despite limits."""
    closures = {pair.name for pair in mech.pairs if pair.closure}
    own = {
        name: [d.text for d in found if name in driven or d.kind == _LIMITS]
        for name, found in duties(scene).items()
    }
    kept = {name: tuple(texts) for name, texts in own.items() if texts and name not in closures}
    return {**kept, **{name: tuple(own.get(name, ())) or ("a drive",) for name in driven}}


def _closures_alone(holding: Holding) -> Iterator[Allowed]:
    """Yield the allowed types of closures: types that the format has, then those made of body parts."""
    yield lambda pair, type: pair.closure and type in holding.closures
    if holding.in_parts:
        yield lambda pair, type: pair.closure


def _with_joints(holding: Holding) -> Allowed:
    """Return the allowed types if closures and joints of the tree change together."""
    closures = holding.joints | holding.closures if holding.in_parts else holding.closures
    return lambda pair, type: type in (closures if pair.closure else holding.joints)
