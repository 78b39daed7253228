"""Forces of pairs along physical directions, where no row is redundant.

A multiplier belongs to a row as it is written, and the same constraints can be written in many ways: closing
conditions, for example, say what each dependent joint does. Forces f along unit directions act on the
coordinates through the distribution matrix B of virtual work, Cᵀλ = Bᵀf (blajer1994 (32)). Column i of B says
how fast the points where the forces act move along them when coordinate i moves alone; the rows of pairs as
``Equations`` has them are such directions already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations.partition import Partition, motion_in, partition
from mbplugin.dynamics.formulations.voronets import pivoted_coordinates
from mbplugin.dynamics.joint import joint_equations
from mbplugin.dynamics.redundancy.independent import as_they_are
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions.state import closed_state
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.enumerations import Coordinates
from mbplugin.model.loads import LoadLike, read_loads
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed
from mbplugin.readers.source import ModelSource, model_of

Scheme = Literal["35", "37", "38"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
#: A row of a planar view whose entries without units are below this does not count in the plane.
_ACROSS = 1e-9


def pair_forces(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    scheme: Scheme = "37",
    coordinates: Coordinates = "joint",
    planar: str | None = None,
) -> dict[RowLabel, float]:
    """Return the forces that the constraints of a model exert while it moves, N and N·m, by row.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
        Not redundant; a planar mechanism with ``planar``.
    q, qd : mapping or vector, optional
        The state, made to agree with the constraints, rad and m.
    loads : iterable of Load or mapping
    scheme : "35", "37" or "38"
        As for :func:`forces_of`.
    coordinates : "joint" or "absolute"
        Relative coordinates, whose constraints are those of the cut pairs alone, or those of all bodies.
    planar : "xy", "yz" or "zx", optional

    Raises
    ------
    BadUsage
        Redundant rows: the forces are then not unique. Friction that grows with its load.
    CannotClose
        The loops cannot be closed.
    """
    given = model_of(model)
    state = closed_state(given, q, qd, None, None, planar)
    if by_load := [p.name for p in state.mech.pairs if any(f.load_friction for f in p.freedoms)]:
        raise BadUsage(
            f"the friction of {listed(by_load)} grows with the forces that are looked for",
            remedy="use mbplugin.simulate, which finds both together",
        )
    own, payloads = (given.loads, given.payloads) if isinstance(given, Scene) else ((), ())
    acting = AppliedForces((*own, *read_loads(state.mech, loads)), payloads)
    build = joint_equations if coordinates == "joint" else absolute_equations
    equations = build(state.mech, state.q, state.qd, acting, planar=state.planar, tolerance=state.tolerance)
    equations = in_plane(equations) if state.planar else equations
    forces = forces_of(equations, scheme=scheme)
    return dict(zip(equations.labels, forces.tolist(), strict=True))


def in_plane(equations: Equations) -> Equations:
    """Return the equations of a planar view without the rows across it, which no motion in the plane changes."""
    kept = np.flatnonzero(np.linalg.norm(equations.scaled_C, axis=1) > _ACROSS)
    dropped = len(equations.C) - len(kept)
    return replace(
        equations,
        labels=tuple(equations.labels[k] for k in kept),
        C=equations.C[kept],
        b=equations.b[kept],
        Gamma=equations.Gamma[kept],
        row_scale=equations.row_scale[kept],
        degree_of_redundancy=max(equations.degree_of_redundancy - dropped, 0),
    )


def forces_of(equations: Equations, B: Array | None = None, scheme: Scheme = "37") -> Array:
    """Return the forces f (m,) with Bᵀf = M v̇ − F, N and N·m.

    Parameters
    ----------
    equations : Equations
        Without redundant rows.
    B : (m, n) array, optional
        Distribution matrix, when C is written otherwise; its rows span the same space as those of C.
    scheme : "35", "37" or "38"
        Which of the three solutions of blajer1994; they agree. (35) needs M⁻¹ but no accelerations,
        (37) solves n equations, (38) the m of the dependent coordinates.

    Raises
    ------
    BadUsage
        Redundant rows: f is then not unique.
    UnknownName
        A scheme that there is not.
    """
    if scheme not in SCHEMES:
        raise UnknownName(f"there is no scheme {scheme!r}", remedy=suggestion(scheme, SCHEMES))
    if equations.degree_of_redundancy:
        raise BadUsage(
            f"pair forces are not unique: {equations.degree_of_redundancy} of the constraints are redundant",
            remedy="use mbplugin.reactions, which says what is unique and what compliance makes of the rest",
        )
    B = equations.C if B is None else B
    constraints = as_they_are(equations)
    parts = partition(constraints, pivoted_coordinates(equations, constraints))
    if scheme == "35":
        return from_masses(equations, B, parts)
    needed = equations.M @ motion_in(equations, constraints, parts).v_dot - equations.F
    return from_projection(equations, B, parts, needed) if scheme == "37" else from_balance(B, parts, needed)


def from_masses(equations: Equations, B: Array, parts: Partition) -> Array:
    """Return f (m,) with B (m, n) as f = (B M⁻¹Bᵀ)⁻¹ B([0; ξ] − M⁻¹F) (blajer1994 (35))."""
    solved = equations.solve_M(np.column_stack((equations.F, B.T)))
    return np.asarray(np.linalg.solve(B @ solved[:, 1:], B @ (parts.xi - solved[:, 0])))


def from_projection(equations: Equations, B: Array, parts: Partition, needed: Array) -> Array:
    """Return f (m,), the upper part of [f; 0] = (T M)⁻ᵀ(M v̇ − F) with T M = [B; D M] (blajer1994 (37)).

    B (m, n) is the distribution matrix, ``needed`` (n,) is M v̇ − F.
    """
    TM = np.vstack((B, parts.H.T @ equations.M))
    return np.asarray(np.linalg.solve(TM.T, needed)[: len(B)])


def from_balance(B: Array, parts: Partition, needed: Array) -> Array:
    """Return f (m,) from the rows of Bᵀf = M v̇ − F of dependent coordinates (blajer1994 (38)).

    B (m, n) is the distribution matrix, ``needed`` (n,) is M v̇ − F.
    """
    return np.asarray(np.linalg.solve(B[:, parts.dependent].T, needed[parts.dependent]))
