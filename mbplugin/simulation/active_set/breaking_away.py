"""Which of the resistances at rest break away, and what forces hold the others."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.bounded import basic_solution, bounded_least_squares
from mbplugin.simulation.active_set.orthogonal import least_squares, orthogonalize
from mbplugin.simulation.active_set.selection import largest_size

#: A resistance at its bound slides where its acceleration is that of this share of its bound.
_BREAKS_AWAY = 1e-9
#: Rows of innovations depend on each other below this singular value, relative to the largest: where
#: accelerations are to be reached, and where others hold.
_REACHED, _HELD = 1e-10, 1e-9


@kernel
def break_away(resistances: Records, G: Array, a0: Array, within: AnyArray, carrying: AnyArray) -> None:
    """Set sense or constant force of those of the resistances ``within`` that break away, and which carry.

    One that slides is weaker than it was at its static bound: the most loaded one goes first, and the
    others are decided anew. Should its sense then be wrong, it sticks after all.

    Parameters
    ----------
    resistances : (n,) record array
    G : (n, nv) array
        Innovations of their rows, free of what holds.
    a0 : (n,) array
        Their accelerations while none of them acts.
    within : (k,) array of int
        Those at rest that some force can accelerate.
    carrying : (n,) array of bool
        Changed in place.
    """
    n = len(resistances)
    c = least_squares(_some(G, within), a0[within], _REACHED)
    # the force of one that slides already, and the turn in which it has begun to; 0: it does not
    slides, since, back, turn = np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_), 0
    for _ in range(2 * n + 1):
        at = within[since[within] == 0]
        pushed = c.copy()
        for i in range(n):
            if since[i] > 0:
                pushed += slides[i] * G[i]
        A = _columns(resistances, G, at)
        u, free = bounded_least_squares(A, -pushed)
        v_dot = pushed.copy()
        for k in range(len(at)):
            v_dot += (resistances[at[k]].static * u[k]) * G[at[k]]
        mobility = _mobility(G, at[free])
        first = _weakest(resistances, at, _broken(resistances, G, v_dot, mobility, at, free), A, pushed)
        if first >= 0:
            turn += 1
            since[at[first]], slides[at[first]] = turn, resistances[at[first]].sliding * u[first]
            continue
        wrong = _wrong_sense(resistances, G, v_dot, mobility, slides, since, back)
        if wrong >= 0:
            back[wrong], since[wrong], slides[wrong] = True, 0, 0.0
            continue
        _settle(resistances, G, v_dot, mobility, at, A, u, free, carrying)
        break
    for i in range(n):
        if since[i] > 0:
            resistances[i].sense = -np.sign(slides[i])


@kernel
def _some(G: Array, which: AnyArray) -> Array:
    """Return the rows ``which`` (k,) of G (n, nv), as an array (k, nv)."""
    out = np.empty((len(which), G.shape[1]))
    for k in range(len(which)):
        for j in range(G.shape[1]):
            out[k, j] = G[which[k], j]
    return out


@kernel
def _columns(resistances: Records, G: Array, at: AnyArray) -> Array:
    """Return what the resistances at (k,), rows of G (n, nv), do at their static bounds, (nv, k)."""
    A = np.empty((G.shape[1], len(at)))
    for k in range(len(at)):
        for j in range(G.shape[1]):
            A[j, k] = G[at[k], j] * resistances[at[k]].static
    return A


@kernel
def _mobility(G: Array, holding: AnyArray) -> Array:
    """Return how much a unit of force along each row of G (n, nv) accelerates it while others hold, (n,).

    Those that hold are ``holding`` (k,).
    """
    n, nv = G.shape
    out = np.zeros(n)
    columns = np.empty((nv, len(holding)))
    for k in range(len(holding)):
        for j in range(nv):
            columns[j, k] = G[holding[k], j]
    W, _, sigma = orthogonalize(columns)
    for i in range(n):
        own = G[i].copy()
        for k in range(len(holding)):
            if sigma[k] > _HELD * largest_size(sigma):
                along = 0.0
                for j in range(nv):
                    along += W[j, k] * own[j]
                for j in range(nv):
                    own[j] -= along / (sigma[k] * sigma[k]) * W[j, k]
        for j in range(nv):
            out[i] += own[j] * own[j]
    return out


@kernel
def _acceleration(G: Array, v_dot: Array, i: int) -> float:
    """Return the acceleration of row i of G (n, nv) at v_dot (nv,)."""
    total = 0.0
    for j in range(len(v_dot)):
        total += G[i, j] * v_dot[j]
    return total


@kernel
def _broken(
    resistances: Records, G: Array, v_dot: Array, mobility: Array, at: AnyArray, free: AnyArray
) -> AnyArray:
    """Return which of those at their bound accelerate, (k,) of bool.

    G (n, nv) and mobility (n,) are those of all rows, v_dot (nv,) the accelerations; those at (k,) rest, and
    free (k,) says which of them are within their bounds.
    """
    out = np.zeros(len(at), dtype=np.bool_)
    for k in range(len(at)):
        least = _BREAKS_AWAY * resistances[at[k]].static * mobility[at[k]]
        out[k] = not free[k] and abs(_acceleration(G, v_dot, at[k])) > least
    return out


@kernel
def _weakest(resistances: Records, at: AnyArray, broken: AnyArray, A: Array, pushed: Array) -> int:
    """Return the most loaded of those that break away and are weaker from then on; −1: none.

    Of those at (k,) rest, broken (k,) say which break away; A (nv, k) are their columns at the static bound and
    pushed (nv,) what all else does.
    """
    first, most = -1, -1.0
    loads = np.zeros(0)
    for k in range(len(at)):
        if not broken[k] or resistances[at[k]].sliding >= resistances[at[k]].static:
            continue
        if len(loads) == 0:
            # the other way round: what counts is how large it is
            loads = least_squares(A, pushed, _REACHED)
        if abs(loads[k]) > most:
            first, most = k, abs(loads[k])
    return first


@kernel
def _wrong_sense(
    resistances: Records,
    G: Array,
    v_dot: Array,
    mobility: Array,
    slides: Array,
    since: AnyArray,
    back: AnyArray,
) -> int:
    """Return the first of those that slide already whose force drives it, unless it has come back; −1: none.

    G (n, nv) and mobility (n,) are those of all rows, v_dot (nv,) the accelerations; slides, since and back (n,) are
    the force, the turn in which it began to slide, and whether it has come back.
    """
    wrong = -1
    for i in range(len(slides)):
        if since[i] == 0 or back[i] or (wrong >= 0 and since[i] > since[wrong]):
            continue
        own = _BREAKS_AWAY * resistances[i].static * mobility[i]
        if _acceleration(G, v_dot, i) * slides[i] > own * abs(slides[i]):
            wrong = i
    return wrong


@kernel
def _settle(
    resistances: Records,
    G: Array,
    v_dot: Array,
    mobility: Array,
    at: AnyArray,
    A: Array,
    u: Array,
    free: AnyArray,
    carrying: AnyArray,
) -> None:
    """Fill sense, constant force and which carry, of those at rest that did not slide already.

    G (n, nv), mobility and carrying (n,) are those of all rows, v_dot (nv,) the accelerations; those at (k,) rest,
    with columns A (nv, k) at their static bounds, u (k,) the shares of these and free (k,) where one is not reached.
    """
    broken = _broken(resistances, G, v_dot, mobility, at, free)
    for k in range(len(at)):
        if broken[k]:
            resistances[at[k]].sense = -np.sign(u[k])
    basic, left = basic_solution(A, u, free)
    for k in range(len(at)):
        carrying[at[k]] = left[k]
        if not left[k] and not broken[k]:
            resistances[at[k]].stuck = resistances[at[k]].static * basic[k]
