"""Where to cut a loop: the pair without which the projective criterion is the largest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.dynamics.formulations.criterion import best_coordinates, independence, tangents
from mbplugin.dynamics.joint import joint_equations
from mbplugin.dynamics.redundancy.eliminate import eliminate
from mbplugin.errors import BrokenModel
from mbplugin.joint_reactions.state import closed_state
from mbplugin.model.mechanism.kinematics import JointValues, coordinates_of, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array
from mbplugin.readers.source import ModelSource, model_of


@dataclass(frozen=True)
class Cut:
    """A loop cut at one of its pairs.

    Parameters
    ----------
    pair : str
        Where it is cut.
    instead_of : str
        The pair of the same loop that is cut now.
    independence : float
        Of the best independent joint rates, 0 to 1; for one freedom the largest cos²αᵢ. Zero where
        something would hang on the tree without mass.
    coordinates : tuple of str
        Those rates.
    """

    pair: str
    instead_of: str
    independence: float
    coordinates: tuple[str, ...]


def rank_cuts(model: ModelSource, q: JointValues = None) -> tuple[Cut, ...]:
    """Return every way to cut one loop elsewhere, or where it is, the best first (blajer1994 §3).

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
    """Return the tree pairs of the loop that a cut pair closes."""
    sides = [[joint.pair for joint in mech.tree.way_in(body) if joint.pair] for body in closure.bodies]
    common = {pair.name for pair in sides[0]} & {pair.name for pair in sides[1]}
    return tuple(pair for side in sides for pair in side if pair.name not in common)


def cut_at(mech: Mechanism, present: Pair, pair: Pair) -> Mechanism:
    """Return the mechanism with the loop that ``present`` closes cut at another pair of it."""
    cut = {c.name for c in mech.tree.cut} - {present.name} | {pair.name}
    return replace(mech, pairs=tuple(replace(p, closure=p.name in cut) for p in mech.pairs))


def evaluated(mech: Mechanism, q: Array, present: Pair, pair: Pair) -> Cut:
    """Return a loop cut at another pair, at q (nq,)."""
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
