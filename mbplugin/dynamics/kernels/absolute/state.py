"""What the kernels of absolute coordinates work on, and the poses and twists that they start from."""

from __future__ import annotations

from typing import NamedTuple

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import AnyArray, Array


class AbsoluteState(NamedTuple):
    """Bodies and rows of a mechanism in absolute coordinates, and room for the equations between them.

    The coordinates are the twists of the bodies at their centres of mass, payloads included, in world axes: in a
    plane w = 3 components of each, else 6; n of all bodies.

    Parameters
    ----------
    bodies : record array
        The ground and all bodies as composite bodies; ``parent`` is the composite body of the tree that a body
        belongs to, ``R_in, p_in`` where its frame is in that one's.
    joint_frames, rows, terms, loads, springs, resistances : record arrays
        As in the tree, but of all pairs; behind the rows of constraints come those that measure freedoms.
    columns : (w,) array of int
        Components of a twist that count.
    measured : (nv,) array of int
        The row that measures each rate of the tree.
    resisted : (1,) array of int
        The row of the first resistance.
    candidates : (m,) array of int
        Rows that hold now and may be chosen.
    order : (m,) array of int
        Places among ``candidates``, the independent ones first; as many as :attr:`R` has rows.
    applied : (nv,) array
        Forces on the rates of the tree besides those of the records, N·m and N.
    first : (n,) array of int
        The first column of each row of M that is not zero.
    M : (n, n) array
        The mass matrix below its diagonal; then its Cholesky factor L.
    v_dot : (n,) array
        The accelerations.
    G : (m, n) array
        L⁻¹ times the scaled candidates; then orthonormal, in the order of their choice.
    R : (r, m) array
        What the candidates have along the rows chosen.
    multipliers : (m,) array
        λ of the candidates, N and N·m; zero of those that were not chosen.
    """

    bodies: Records
    joint_frames: Records
    rows: Records
    terms: Records
    loads: Records
    springs: Records
    resistances: Records
    columns: AnyArray
    measured: AnyArray
    resisted: AnyArray
    candidates: AnyArray
    order: AnyArray
    applied: Array
    first: AnyArray
    M: Array
    v_dot: Array
    G: Array
    R: Array
    multipliers: Array


@kernel
def place_bodies(composites: Records, bodies: Records) -> None:
    """Fill frame, centre of mass and twist of all bodies from the composite bodies that they belong to."""
    for k in range(1, len(bodies)):
        body = bodies[k]
        on = composites[body.parent]
        for i in range(3):
            a, b, c = on.R[i, 0], on.R[i, 1], on.R[i, 2]
            for j in range(3):
                body.R[i, j] = a * body.R_in[0, j] + b * body.R_in[1, j] + c * body.R_in[2, j]
            body.p[i] = on.p[i] + a * body.p_in[0] + b * body.p_in[1] + c * body.p_in[2]
            a, b, c = body.R[i, 0], body.R[i, 1], body.R[i, 2]
            body.c[i] = body.p[i] + a * body.com[0] + b * body.com[1] + c * body.com[2]
        x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
        wx, wy, wz = on.v[3], on.v[4], on.v[5]
        body.v[0] = on.v[0] + wy * z - wz * y
        body.v[1] = on.v[1] + wz * x - wx * z
        body.v[2] = on.v[2] + wx * y - wy * x
        body.v[3], body.v[4], body.v[5] = wx, wy, wz
