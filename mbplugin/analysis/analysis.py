"""The analysis of a mechanism at a pose: rank, redundancy, uniqueness, flexibility, remedies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.analysis.catalogue import generic_pose
from mbplugin.analysis.mobility import Mobility, finite_mobility
from mbplugin.analysis.remedies import Cures, proved_cures
from mbplugin.analysis.result import Analysis, body_verdicts, group_verdict
from mbplugin.analysis.tools import TOOLS
from mbplugin.analysis.uniqueness import (
    ComponentVerdict,
    ConstraintVerdict,
    StressedBlock,
    constraint_verdicts,
    self_stresses,
    stress,
    with_open_directions,
)
from mbplugin.arguments import checked
from mbplugin.constraints.rank import View, pfaffian_rank, plateaus
from mbplugin.constraints.rows import plane_columns
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.constraints.tolerance import (
    DEFAULT_SAMPLES,
    DEFAULT_TOLERANCE,
    rank_tolerance,
    require_tolerance,
)
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import masses_below_zero, warn_of
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, State, duties, mechanism_of, option_of
from mbplugin.model.spatial import Array
from mbplugin.processes.foreign import without_collections
from mbplugin.readers import reload
from mbplugin.readers.source import ModelSource, model_of

if TYPE_CHECKING:
    from mbplugin.analysis.dca import DcaResult

DCA_METHODS = ("dca", "dca-extended")
METHODS = (*TOOLS, *DCA_METHODS)


# ``analyze``: the constraints of a scene or mechanism, at the scene's pose unless another one is given.


@checked
def analyze(
    mech: ModelSource,
    q: JointValues = None,
    *,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    snap_angles: bool = False,
    groups: Sequence[Sequence[str]] = (),
) -> Analysis:
    """Close the pose of a scene or mechanism and analyze its constraints there.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; coordinates not named keep the scene's value. Coordinates named here or stated
        in the scene are held exactly while the loops are closed; contradictory values are an error. A vector
        only sets the initial guess for the closed pose.
    tolerance : float, optional
        Relative rank tolerance; default: the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    method : "qr", "svd", "rank", "nullspace", "dca" or "dca-extended"
    planar : "xy", "yz" or "zx", optional
    samples : int, optional
        Number of sampled poses that distinguish redundancy from a singular pose; default: the scene's, else
        ``constraints.tolerance.DEFAULT_SAMPLES``.
    snap_angles : bool
        Read rounded angle literals as fractions of π.
    groups : sequence of sequences of constraint names

    Raises
    ------
    BadUsage
        Invalid method, plane, tolerance or number of samples; ``snap_angles`` without a scene.
    UnknownName
        Unknown coordinate, or unknown constraint in a group.
    CannotClose
        The loops cannot be closed.
    ContradictedState
        No pose satisfies all stated coordinates.

    Warns
    -----
    ImplausibleValue
        A mechanism has a negative mass, or a coordinate is probably in another unit.
    """
    mech = model_of(mech)
    if snap_angles:
        if not isinstance(mech, Scene):
            raise BadUsage("snap_angles needs the angles as they were written", remedy="pass a scene")
        mech = reload(mech, snap_angles=True)
    mechanism = mechanism_of(mech)
    if not isinstance(mech, Scene):  # for a file, the lint rules report it with its line
        warn_of(masses_below_zero(mechanism))
    return analyze_mechanism(
        mechanism,
        stated=stated_state(mech, q, closing=True),
        tolerance=rank_tolerance(mech if isinstance(mech, Scene) else None, tolerance),
        method=method,
        planar=planar or option_of(mech, "planar", None),
        samples=option_of(mech, "samples", DEFAULT_SAMPLES) if samples is None else samples,
        groups=groups,
        kept={name: tuple(duty.text for duty in own) for name, own in duties(mech).items()},
    )


@without_collections()
def analyze_mechanism(
    mech: Mechanism,
    q: JointValues = None,
    *,
    stated: State | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    method: str = "qr",
    planar: str | None = None,
    samples: int = DEFAULT_SAMPLES,
    groups: Sequence[Sequence[str]] = (),
    seed: int = 0,
    kept: Mapping[str, tuple[str, ...]] | None = None,
) -> Analysis:
    """Close the pose and analyze the mechanism there.

    Parameters
    ----------
    q : mapping or vector, optional
        Joint coordinates to start from.
    stated : State, optional
        Replaces q: a pose, with the set of stated coordinates.
    tolerance : float
        Rank tolerance relative to the largest singular value of a block's scaled closure Jacobian.
    method : "qr", "svd", "nullspace", "rank", "dca" or "dca-extended"
        The uniqueness tool. All agree where the rank is clear; the divide-and-conquer test reports where it
        does not apply or cannot decide. Its extension, which is not in the paper, propagates the null space
        through the tree and decides the cases that the paper's steps leave open.
    planar : "xy", "yz" or "zx", optional
        Analyze the motion in a plane.
    samples : int
        Maximum number of sampled poses that distinguish structural redundancy from a singular pose.
    groups : sequence of sequences of constraint names
    seed : int
        Random seed for restarts and samples.
    kept : mapping of pair name to phrases, optional
        Roles of the joints that are not passive; no remedy changes these joints.

    Raises
    ------
    CannotClose
        A loop cannot be closed.
    BadUsage
        A tolerance outside (0, 1), a negative number of samples, an unknown method or plane.
    """
    _check(tolerance, samples, method)
    assembly, _ = closed_pose(mech, stated or stated_state(mech, q, plausible=False, closing=True), seed=seed)
    view = View(mech, assembly.q, plane_columns(planar), tolerance)
    blocks, labels, p = view.blocks, view.row_labels, view.redundancy
    stressed = stress(blocks)
    if not p or any(b.elimination for b in blocks):
        # projecting a large mechanism back onto its closures takes longer than the rest of the analysis
        samples = 0
    structural, generic_q, taken = generic_pose(view, blocks, samples, seed)
    verdicts, dca = constraint_verdicts(mech, stressed, labels, method), None
    verdicts = with_B_norms(stressed, with_open_directions(mech, view.poses, stressed, verdicts))
    if method in DCA_METHODS:
        verdicts, dca = _by_dca(verdicts, view, planar, samples, seed, extended=method == "dca-extended")
    holonomic_rows, rank_holonomic = _holonomic(view, labels, p)

    rows = sum(len(components) for components in labels.values())
    columns = len(view.columns) * len(mech.bodies)
    return Analysis(
        mechanism=mech,
        q=view.q,
        planar=planar,
        tolerance=tolerance,
        method=method,
        rows=rows,
        holonomic_rows=holonomic_rows,
        columns=columns,
        rank_holonomic=rank_holonomic,
        rank_pfaffian=pfaffian_rank(blocks, tolerance),
        degree_of_redundancy=p,
        structural_redundancy=structural,
        samples=taken,
        plateaus=plateaus(blocks),
        assembly=assembly,
        constraints=verdicts,
        groups=tuple(group_verdict(mech, view.poses, stressed, members) for members in groups),
        bodies=body_verdicts(mech, verdicts),
        blocks=blocks,
        _find_self_stresses=partial(self_stresses, mech, stressed),
        _find_mobility=partial(finite_mobility, view, columns - rows + p, seed=seed),
        _find_cures=partial(_cures, view, generic_q, kept or {}) if structural else _no_cures,
        dca=dca,
    )


# the deferred computations are module-level functions, so that an analysis can be pickled to another process


def _cures(view: View, generic_q: Array, kept: Mapping[str, tuple[str, ...]], mobility: Mobility) -> Cures:
    """Return the remedies, found at the pose ``generic_q`` (nq,) of generic rank."""
    return proved_cures(view.at(generic_q), view, kept, mobility=mobility)


def _no_cures(_: Mobility) -> Cures:
    return Cures()


def _by_dca(
    verdicts: Sequence[ConstraintVerdict],
    view: View,
    planar: str | None,
    samples: int,
    seed: int,
    *,
    extended: bool,
) -> tuple[tuple[ConstraintVerdict, ...], DcaResult]:
    """Return the verdicts of the divide-and-conquer test; without the extension some may be undecided."""
    from mbplugin.analysis.dca import dca_uniqueness

    result = dca_uniqueness(
        view.mech,
        view.q,
        tolerance=view.tolerance,
        planar=planar,
        extended=extended,
        samples=samples,
        seed=seed,
    )
    found = {v.name: v for v in result.verdicts}
    same = {v.name: v.reaction == found[v.name].reaction for v in verdicts}
    decided = tuple(
        replace(
            verdict,
            reaction=found[verdict.name].reaction,
            indeterminate_dim=found[verdict.name].indeterminate_dim,
            components=tuple(ComponentVerdict(*c) for c in found[verdict.name].components),
            # the directions and norms come from the other tools: keep them only where the verdicts agree
            open_force=verdict.open_force if same[verdict.name] else None,
            open_moment=verdict.open_moment if same[verdict.name] else None,
            B_norm=verdict.B_norm if same[verdict.name] else None,
        )
        for verdict in verdicts
    )
    return decided, result


def _check(tolerance: float, samples: int, method: str) -> None:
    require_tolerance(tolerance)
    if samples < 0:
        raise BadUsage(f"the number of samples is {samples}", expected="zero or more")
    if method not in METHODS:
        raise BadUsage(f"the method is {method!r}", expected=f"one of {', '.join(METHODS)}")


def _holonomic(view: View, labels: dict[str, tuple[str, ...]], p: int) -> tuple[int, int]:
    """Return the number of holonomic rows and their rank."""
    rows = sum(len(components) for components in labels.values())
    mech = view.mech
    if not mech.pfaffians:
        return rows, rows - p
    nonholonomic = {pf.name: set(pf.nonholonomic) for pf in mech.pfaffians}
    rows -= sum(c in nonholonomic.get(name, ()) for name, cs in labels.items() for c in cs)
    holonomic_only = replace(
        mech, pfaffians=tuple(replace(pf, nonholonomic=()) for pf in mech.pfaffians if pf.holonomic)
    )
    return rows, rows - replace(view, mech=holonomic_only).redundancy


# How much of each reaction is arbitrary: the norms of B_X = C_Xᵀ Q_X (wojtyra2013 (27)).
#
# Q_X: the rows of constraint X in an orthonormal basis of the left null space (in the paper, the last p columns
# of Q). The reaction of X is unique iff B_X is zero. Its Frobenius norm does not depend on the basis.


def with_B_norms(
    stressed: Sequence[StressedBlock], verdicts: Sequence[ConstraintVerdict]
) -> tuple[ConstraintVerdict, ...]:
    """Return the verdicts with the norms of B_X; None in large blocks, for which no basis is stored."""
    norms: dict[str, float | None] = {}
    for s in stressed:
        if s.ranked.redundancy:
            norms.update(_of_block(s))
    found = [norms.get(v.name, 0.0) for v in verdicts]
    # in a large block the norm is None, which is also the default of a verdict
    return tuple(
        v if norm is None else replace(v, B_norm=norm) for v, norm in zip(verdicts, found, strict=True)
    )


def _of_block(s: StressedBlock) -> dict[str, float | None]:
    if not s.complete:
        return dict.fromkeys(s.slices)
    reduced = s.ranked.reduced
    found: dict[str, float | None] = {}
    for rows in reduced.rows:
        Q_X = s.Z[s.slices[rows.constraint]]
        on_bodies = [(reduced.frame.scaled(rows, e) * reduced.frame.mask).T @ Q_X for _, e in rows.entries]
        found[rows.constraint] = float(np.linalg.norm(on_bodies)) if on_bodies else 0.0
    return found
