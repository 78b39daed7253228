"""``close``: the model of a file with closures that another format holds, and the proof."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from math import isclose, isfinite

import numpy as np

from mbplugin.analysis.analysis import analyze_mechanism
from mbplugin.arguments import checked
from mbplugin.closing.choice import Choice, choose, driven_joints
from mbplugin.closing.drift.run import Drifts, drifts
from mbplugin.closing.holding import HOLDINGS
from mbplugin.closing.values import Closing, LoopClosure, Verdict
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.constraints.tolerance import DEFAULT_SAMPLES, rank_tolerance
from mbplugin.errors import BadUsage, MissingDependency, UnknownName, suggestion
from mbplugin.model.mechanism import Freedom, Mechanism
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.scene import Scene, State, as_scene, option_of, with_coordinates
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed, names_of
from mbplugin.readers import load
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.writers import FORMATS, write
from mbplugin.writers.written import ENDINGS, Written

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
    rank = rank_tolerance(scene, tolerance)
    samples = option_of(scene, "samples", DEFAULT_SAMPLES) if samples is None else samples
    closed = closed_pose(scene.mechanism, stated_state(scene, q, closing=True))[0].q
    choice = choose(scene, closed, HOLDINGS[to], rank, samples, _driven(scene, driven))
    state = State(choice.q, np.zeros(len(choice.mechanism.qd_names)))
    target = replace(scene, mechanism=choice.mechanism, state=state)
    written = write(target, to)
    back = load(f"closed{ENDINGS[to]}", text=written.text)
    if to == "urdf":
        # it has no pose, and coordinates that mean the same
        known = dict(zip(choice.mechanism.q_names, choice.q.tolist(), strict=True))
        back = with_coordinates(back, {name: known[name] for name in back.mechanism.q_names})
    written = replace(
        written, left_out=(*written.left_out, *_unsaid(scene.mechanism, back.mechanism, written))
    )
    before = (scene.mechanism, closed)
    return Closing(
        mechanism=choice.mechanism,
        state=state,
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
    )


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


def _unsaid(mech: Mechanism, back: Mechanism, written: Written) -> Iterator[str]:
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
    yield from (f"{word} of {listed(names)}" for word, names in lost.items())


def _identifier(name: str) -> str:
    """Return a name as USD writes it."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def _verdict(mech: Mechanism, q: Array, tolerance: float, samples: int, driven: tuple[str, ...]) -> Verdict:
    """Return what an analysis finds at a pose q (nq,)."""
    found = analyze_mechanism(mech, q, tolerance=tolerance, samples=samples)
    locked = {lock.joint for lock in mech.locks}
    held = [p.name for p in mech.pairs if p.name in driven and p.kind.free and p.name not in locked]
    locks = tuple(Lock(name) for name in held if Lock(name).name not in {c.name for c in mech.constraints()})
    with_locks = analyze_mechanism(
        replace(mech, locks=(*mech.locks, *locks)), q, tolerance=tolerance, samples=0
    )
    dofs = (a.dof if a.finite_dof is None else a.finite_dof for a in (found, with_locks))
    return Verdict(found.degree_of_redundancy, found.structural_redundancy, *dofs)
