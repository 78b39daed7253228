"""The result of ``close``: the file, the chosen closures, and their proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mbplugin.analysis.remedies import Change
from mbplugin.closing.commanded import FOLLOWS, Commanded
from mbplugin.closing.drift import DURATION, Drifts
from mbplugin.dynamics.formulations import best_coordinates, eliminate, independence, tangents
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BrokenModel
from mbplugin.joint_reactions.state import closed_state
from mbplugin.model.mechanism.kinematics import JointValues, coordinates_of, forward
from mbplugin.model.mechanism import Mechanism, Pair
from mbplugin.model.mechanism.mechanism import base_sentence
from mbplugin.model.scene import State
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, listed, one_line, one_line_repr
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.rendering import Result
from mbplugin.writers.written import ENDINGS, Written

_DRIVES = {
    "free": "move freely",
    "held": "are held, since the loops come apart in an engine where they are not",
}


# Assumptions of a conversion, one sentence each.


def assumptions_of(found: Closing) -> Iterator[str]:
    """Yield the assumptions of a conversion."""
    yield from base_sentence(found.mechanism.assumed_fixed)
    if found.loose:
        yield (
            f"{found.loose} moves freely in the {found.format}, since the file does not state its base: --base fixed "
            "(base='fixed') holds it"
        )
    if found.driven:
        yield f"driven joints stay in the tree: {listed(found.driven)}"
    else:
        yield "no joint is driven: the model names no drive, brake, coupling, lock or effort limit"
    if found.planar is not None:
        yield f"the redundancy is that in space, although the scene is analyzed in the plane {found.planar}"
    if found.written.copy_of is None:
        yield f"the pose that is written is closed, with rank tolerance {found.tolerance:g}"
    else:
        yield f"the copy has the pose of its file; p is that at the closed pose, rank tolerance {found.tolerance:g}"
    if any(not drift.reason for drift in (*found.drift.before, *found.drift.after)):
        yield (
            f"drift and noise are those of {DURATION:g} s from rest under gravity, at the default step of each engine; "
            f"free bases stand still, limits and friction do not act, and driven joints {_DRIVES[found.drift.drives]}"
        )
        yield (
            "a gap is what a closure holds and an engine violates; noise is estimated from second differences of the "
            "force in time"
        )


# The cut of a loop: at the pair for which the projective criterion is the largest.


@dataclass(frozen=True)
class Cut:
    """A loop cut at one of its pairs.

    Parameters
    ----------
    pair : str
        The cut pair.
    instead_of : str
        The pair of the same loop that is cut at present.
    independence : float
        Independence of the best independent joint rates, 0 to 1; for one freedom the largest cos²αᵢ. Zero if
        the cut would leave a massless body moving on the tree.
    coordinates : tuple of str
        These rates.
    """

    pair: str
    instead_of: str
    independence: float
    coordinates: tuple[str, ...]


def rank_cuts(model: ModelSource, q: JointValues = None) -> tuple[Cut, ...]:
    """Return all cuts of each loop, including the present one, the best first (blajer1994 §3).

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; the loops are closed first.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    """
    state = closed_state(model_of(model), q, None, None, None, None)
    mech = state.mech
    found = [
        evaluated(mech, state.q, present, pair)
        for present in mech.tree.cut
        for pair in (present, *loop_pairs(mech, present))
    ]
    return tuple(sorted(found, key=lambda cut: -cut.independence))


def loop_pairs(mech: Mechanism, closure: Pair) -> tuple[Pair, ...]:
    """Return the tree pairs of the loop closed by a cut pair."""
    sides = [[joint.pair for joint in mech.tree.way_in(body) if joint.pair] for body in closure.bodies]
    common = {pair.name for pair in sides[0]} & {pair.name for pair in sides[1]}
    return tuple(pair for side in sides for pair in side if pair.name not in common)


def cut_at(mech: Mechanism, present: Pair, pair: Pair) -> Mechanism:
    """Return the mechanism with the loop closed by ``present`` cut at another of its pairs."""
    cut = {c.name for c in mech.tree.cut} - {present.name} | {pair.name}
    return replace(mech, pairs=tuple(replace(p, closure=p.name in cut) for p in mech.pairs))


def evaluated(mech: Mechanism, q: Array, present: Pair, pair: Pair) -> Cut:
    """Return the cut of a loop at another pair, evaluated at q (nq,)."""
    changed = cut_at(mech, present, pair)
    pose = coordinates_of(changed, forward(mech, q))
    try:
        equations = joint_equations(changed, pose, np.zeros(len(changed.qd_names)))
    except BrokenModel:
        return Cut(pair.name, present.name, 0.0, ())
    projections = tangents(equations, eliminate(equations))
    best = best_coordinates(projections)
    names = tuple(changed.qd_names[k] for k in best)
    return Cut(pair.name, present.name, independence(projections, best), names)


@dataclass(frozen=True)
class Verdict:
    """Redundancy and mobility of a mechanism.

    Parameters
    ----------
    degree_of_redundancy, structural_redundancy : int
        At the closed pose, and at a generic one.
    dof : int
        Finite mobility; first-order mobility if a large block is undecided.
    held_dof : int
        Mobility with all driven joints locked: the freedoms that no drive determines.
    """

    degree_of_redundancy: int
    structural_redundancy: int
    dof: int
    held_dof: int


@one_line_repr
@dataclass(frozen=True)
class LoopClosure:
    """The pair that closes one loop in the written file.

    Parameters
    ----------
    name, type, body_a, body_b : str
    was : str
        The type of this pair in the model.
    cut : Cut
        The cut of the loop, with the previously cut pair.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    was: str
    cut: Cut


@dataclass(frozen=True, eq=False)
class Closing(Result):
    """A model written with closures that the format supports.

    Parameters
    ----------
    mechanism : Mechanism
        The written mechanism, before closures are replaced by parts of bodies.
    state : State
        The closed pose, rad and m, at rest.
    written : Written
    closures : tuple of LoopClosure
    changes : tuple of Change
        Changes of tree pairs, if changed closures alone do not suffice.
    before, after : Verdict
        Verdicts on the model, and on the written file when read back.
    driven : tuple of str
        Joints that stay in the tree.
    reason : str
        Reason why constraints are still redundant; empty if none is.
    drift : Drifts
        Drift with the closures of the model and with the written ones; empty if not computed.
    tolerance : float
        Relative rank tolerance.
    planar : str, optional
        The plane in which the scene is analyzed, although the closures are chosen in space.
    loose : str
        Root of an arm that moves freely because no base is stated; empty if there is none.
    commanded : Commanded, optional
        How far the model and the written file move apart in MuJoCo under the same commands; None where that was not
        computed.
    commanded_in_bullet : Commanded, optional
        The same in PyBullet, under torques.
    """

    mechanism: Mechanism
    state: State
    written: Written
    closures: tuple[LoopClosure, ...]
    changes: tuple[Change, ...]
    before: Verdict
    after: Verdict
    driven: tuple[str, ...]
    reason: str
    drift: Drifts
    tolerance: float
    planar: str | None = None
    loose: str = ""
    commanded: Commanded | None = None
    commanded_in_bullet: Commanded | None = None

    def __repr__(self) -> str:
        facts = (
            self.written.format,
            counted(len(self.closures), "closure"),
            f"p = {self.after.degree_of_redundancy}",
        )
        return one_line(self, self.mechanism.name, facts)

    @property
    def format(self) -> str:
        """The format of the file."""
        return self.written.format

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.written.text

    @property
    def proved(self) -> bool:
        """True if the file, read back, has no redundant constraint and the mobility of the model."""
        return not self.after.structural_redundancy and self.keeps_mobility

    @property
    def keeps_mobility(self) -> bool:
        """True if the file has the mobility of the model, also with all driven joints locked."""
        return (self.after.dof, self.after.held_dof) == (self.before.dof, self.before.held_dof)

    @property
    def motions(self) -> tuple[Commanded, ...]:
        """The motions under commands that were compared, MuJoCo's first."""
        return tuple(one for one in (self.commanded, self.commanded_in_bullet) if one is not None)

    @property
    def strays(self) -> bool:
        """True if the written file moves differently under the same commands, and no loss explains it.

        Always False for a model with redundant constraints: with misfits, it may move differently without them.
        """
        found = next((one for one in self.motions if not one.reason), None)
        if found is None or self.before.structural_redundancy:
            return False
        lost = {loss.kind for loss in self.written.losses} - {"shape", "contact"}
        return not lost and max(found.angle, found.distance) > FOLLOWS

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of the model by file ending; files with other endings get the result itself."""
        return {ENDINGS[self.format]: self.written.write}
