"""Decide which resistances at rest break away, and the forces that hold the others.

Based on two solvers, both for columns that may depend on each other:

- Least squares with every unknown between −1 and 1: columns A (m, n) with lengths ``sizes`` (n,), right-hand side
  b (m,), unknowns u (n,), flags ``free`` (n,) of those not at a bound, and the unbounded minimiser z (n,).
- Least squares by one-sided Jacobi rotations: columns A (m, n), rotated columns W (m, n), and rotations V (n, n).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.model import AnyArray, Array

#: A resistance at its bound slides if its acceleration exceeds that due to this fraction of its bound.
_BREAKS_AWAY = 1e-9
#: Smallest singular value of independent rows of innovations, relative to the largest: for reaching given
#: accelerations, and for the rows that hold.
_REACHED, _HELD = 1e-10, 1e-9
#: An unknown that exceeds its bound by more than this is fixed there.
_BEYOND = 1e-9
#: Smallest gain, absolute and relative to rounding, for which an unknown leaves its bound.
_IMPROVES, _ROUNDING = 1e-9, 1e-14
#: Smallest singular value of independent columns of unit length, relative to the largest.
_DEPENDENT = 1e-9
#: Larger values of an unknown are cut to this; it goes to its bound anyway.
_FAR = 1e15
#: Columns are orthogonal if the cosine between them is smaller than this; columns shorter than this fraction of the
#: longest one are zero.
_COSINE, _ZERO = 1e-15, 1e-18
#: Largest number of sweeps over all pairs of columns; five or six are enough.
_ROUNDS = 30


@kernel
def break_away(resistances: Records, G: Array, a0: Array, within: AnyArray, carrying: AnyArray) -> None:
    """Decide which resistances ``within`` break away; set their sense or constant force, and ``carrying``.

    A resistance that slides is weaker than at its static bound. So the most loaded one breaks away first, and the
    others are decided anew. If its sense is wrong afterwards, it sticks after all.

    Parameters
    ----------
    resistances : (n,) record array
    G : (n, nv) array
        Innovations of their rows, projected off the rows in force.
    a0 : (n,) array
        Their accelerations without their forces.
    within : (k,) array of int
        Those at rest that some force can accelerate.
    carrying : (n,) array of bool
        Those that get a multiplier; changed in place.
    """
    n = len(resistances)
    c = least_squares(_some(G, within), a0[within], _REACHED)
    # forces of those that slide already, and the round in which they started to; 0: they do not slide
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
    """Return the effect (nv, k) of the static bounds of the resistances ``at`` (k,), from the rows of G (n, nv)."""
    A = np.empty((G.shape[1], len(at)))
    for k in range(len(at)):
        for j in range(G.shape[1]):
            A[j, k] = G[at[k], j] * resistances[at[k]].static
    return A


@kernel
def _mobility(G: Array, holding: AnyArray) -> Array:
    """Return the acceleration (n,) of each row of G (n, nv) per unit of its force, with rows ``holding`` (k,) fixed."""
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
    """Return flags (k,) of the resistances at their bound that accelerate.

    G (n, nv) and mobility (n,) are those of all rows, v_dot (nv,) the accelerations. Resistances ``at`` (k,) are at
    rest; ``free`` (k,) flags those within their bounds.
    """
    out = np.zeros(len(at), dtype=np.bool_)
    for k in range(len(at)):
        least = _BREAKS_AWAY * resistances[at[k]].static * mobility[at[k]]
        out[k] = not free[k] and abs(_acceleration(G, v_dot, at[k])) > least
    return out


@kernel
def _weakest(resistances: Records, at: AnyArray, broken: AnyArray, A: Array, pushed: Array) -> int:
    """Return the index in ``at`` of the most loaded resistance that breaks away and then gets weaker; −1: none.

    Resistances ``at`` (k,) are at rest; broken (k,) flags those that break away. A (nv, k) are their columns at the
    static bounds, and pushed (nv,) is the effect of all other forces.
    """
    first, most = -1, -1.0
    loads = np.zeros(0)
    for k in range(len(at)):
        if not broken[k] or resistances[at[k]].sliding >= resistances[at[k]].static:
            continue
        if len(loads) == 0:
            # the sign is opposite, but only the magnitude is used
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
    """Return the earliest sliding resistance whose force drives its motion, except those moved back before; −1: none.

    G (n, nv) and mobility (n,) are those of all rows, v_dot (nv,) the accelerations; slides, since and back (n,) are
    the force, the round in which it began to slide, and whether it has been moved back to sticking.
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
    """Fill sense, constant force and ``carrying`` of the resistances at rest.

    G (n, nv), mobility and carrying (n,) are those of all rows, v_dot (nv,) the accelerations. Resistances ``at`` (k,)
    are at rest, with columns A (nv, k) at their static bounds, forces u (k,) relative to these, and flags free (k,)
    of those within their bounds.
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


@kernel
def bounded_least_squares(A: Array, b: Array) -> tuple[Array, AnyArray]:
    """Return the minimiser of ‖A u − b‖ with |u| ≤ 1, and flags of its free unknowns.

    An active-set method after Stark and Parker (1995), started with all unknowns free. scipy's ``bvls``
    does the same, but ignores the rank of the free columns.

    Parameters
    ----------
    A : (m, n) array
        An unknown whose column is zero is fixed at a bound.
    b : (m,) array

    Returns
    -------
    u : (n,) array
        A minimiser; if there are several, one with small free unknowns.
    free : (n,) array of bool
        False: at its bound.
    """
    n = A.shape[1]
    sizes = column_sizes(A)
    free = sizes > 0.0
    u = np.zeros(n)
    for j in range(n):
        if not free[j]:
            u[j] = 1.0
    for _ in range(10 * n + 10):
        z = _fit(A, sizes, b, u, free)
        if _go_to_bound(u, free, z):
            continue
        for j in range(n):
            if free[j]:
                u[j] = min(max(z[j], -1.0), 1.0)
        j = _leaving(A, sizes, b, u, free)
        if j < 0:
            break
        free[j] = True
    return u, free


@kernel
def _fit(A: Array, sizes: Array, b: Array, u: Array, free: AnyArray) -> Array:
    """Return the unbounded minimiser (n,) for the free unknowns, with minimum norm for columns of unit length."""
    m, n = A.shape
    at = true_positions(free)
    part, rest, z = np.empty((m, len(at))), b.copy(), np.zeros(n)
    for j in range(n):
        if not free[j]:
            for k in range(m):
                rest[k] -= A[k, j] * u[j]
    for i in range(len(at)):
        for k in range(m):
            part[k, i] = A[k, at[i]] / sizes[at[i]]
    x = least_squares(part, rest, _DEPENDENT)
    for i in range(len(at)):
        z[at[i]] = min(max(x[i] / sizes[at[i]], -_FAR), _FAR)
    return z


@kernel
def _leaving(A: Array, sizes: Array, b: Array, u: Array, free: AnyArray) -> int:
    """Return the unknown at its bound that gains most by leaving it; −1 if no gain exceeds rounding."""
    m, n = A.shape
    residual, size = -b, 0.0
    for k in range(m):
        size += b[k] * b[k]
        for j in range(n):
            residual[k] += A[k, j] * u[j]
    size = sqrt(size)
    which, most, gains = -1, 0.0, False
    for j in range(n):
        if free[j] or sizes[j] == 0.0:
            continue
        gain = 0.0
        for k in range(m):
            gain += A[k, j] / sizes[j] * residual[k]
        # gain per unit of force
        gain *= u[j] / sizes[j]
        gains = gains or gain > _IMPROVES + _ROUNDING * size / sizes[j]
        if gain > most:
            which, most = j, gain
    return which if gains else -1


@kernel
def column_sizes(A: Array) -> Array:
    """Return the lengths (n,) of the columns of A (m, n), without overflow or underflow of squares."""
    m, n = A.shape
    sizes = np.zeros(n)
    for j in range(n):
        largest, total = 0.0, 0.0
        for k in range(m):
            largest = max(largest, abs(A[k, j]))
        if largest > 0.0:
            for k in range(m):
                total += (A[k, j] / largest) ** 2
            sizes[j] = largest * sqrt(total)
    return sizes


@kernel
def _go_to_bound(u: Array, free: AnyArray, z: Array) -> bool:
    """Move u towards z up to the first bound, in place, and fix that unknown there; return False if there is none."""
    which, length = -1, np.inf
    for j in range(len(u)):
        if free[j] and abs(z[j]) > 1.0 + _BEYOND:
            part = (np.sign(z[j]) - u[j]) / (z[j] - u[j])
            if part < length:
                which, length = j, part
    if which < 0:
        return False
    for j in range(len(u)):
        if free[j]:
            u[j] += max(length, 0.0) * (z[j] - u[j])
    u[which] = np.sign(z[which])
    free[which] = False
    return True


@kernel
def basic_solution(A: Array, u: Array, free: AnyArray) -> tuple[Array, AnyArray]:
    """Return unknowns u (n,) with the same A u, whose free columns are independent, and their flags free (n,).

    A is (m, n). Free unknowns are moved along the null space of their columns until one reaches its bound, repeatedly.
    """
    m, n = A.shape
    u, free = u.copy(), free.copy()
    sizes = column_sizes(A)
    for _ in range(n):
        at = true_positions(free)
        part = np.empty((m, len(at)))
        for i in range(len(at)):
            for k in range(m):
                part[k, i] = A[k, at[i]] / sizes[at[i]]
        _, V, sigma = orthogonalize(part)
        weakest = place_of_least(sigma)
        if len(at) == 0 or sigma[weakest] > _DEPENDENT * largest_size(sigma):
            break
        d = np.empty(len(at))
        for i in range(len(at)):
            d[i] = V[i, weakest] / sizes[at[i]]
        which, length, least = -1, np.inf, 1e-12 * largest_size(d)
        for i in range(len(at)):
            if abs(d[i]) > least:
                way = (np.sign(d[i]) - u[at[i]]) / d[i]
                if way < length:
                    which, length = i, way
        for i in range(len(at)):
            u[at[i]] = min(max(u[at[i]] + max(length, 0.0) * d[i], -1.0), 1.0)
        u[at[which]] = np.sign(d[which])
        free[at[which]] = False
    return u, free


@kernel
def orthogonalize(A: Array) -> tuple[Array, Array, Array]:
    """Return W = A V with orthogonal columns, V (n, n) orthogonal, and the singular values (n,) of A (m, n)."""
    n = A.shape[1]
    W, V, sigma = A.copy(), np.zeros((n, n)), np.zeros(n)
    least = 0.0
    for j in range(n):
        V[j, j] = 1.0
        least = max(least, column_product(W, j, j))
    least *= _ZERO * _ZERO
    for _ in range(_ROUNDS):
        turned = False
        for i in range(n):
            for j in range(i + 1, n):
                a, b, c = column_product(W, i, i), column_product(W, j, j), column_product(W, i, j)
                if abs(c) <= _COSINE * sqrt(a * b) or min(a, b) <= least:
                    continue
                _rotate(W, V, i, j, 0.5 * (b - a) / c)
                turned = True
        if not turned:
            break
    for j in range(n):
        sigma[j] = sqrt(column_product(W, j, j))
    return W, V, sigma


@kernel
def column_product(A: Array, i: int, j: int) -> float:
    """Return the inner product of columns i and j of A (m, n)."""
    total = 0.0
    for k in range(A.shape[0]):
        total += A[k, i] * A[k, j]
    return total


@kernel
def _rotate(W: Array, V: Array, i: int, j: int, zeta: float) -> None:
    """Rotate columns i and j of both matrices; ``zeta`` is the cotangent of twice the angle."""
    t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    c = 1.0 / sqrt(1.0 + t * t)
    s = c * t
    for k in range(W.shape[0]):
        W[k, i], W[k, j] = c * W[k, i] - s * W[k, j], s * W[k, i] + c * W[k, j]
    for k in range(V.shape[0]):
        V[k, i], V[k, j] = c * V[k, i] - s * V[k, j], s * V[k, i] + c * V[k, j]


@kernel
def least_squares(A: Array, b: Array, dependent: float) -> Array:
    """Return the minimum-norm x (n,) that minimises ‖A x − b‖, A (m, n) and b (m,).

    Singular values below ``dependent`` times the largest count as zero.
    """
    m, n = A.shape
    x, largest = np.zeros(n), 0.0
    for k in range(m):
        for j in range(n):
            largest = max(largest, abs(A[k, j]))
    if largest == 0.0:
        return x
    # scaled, so that squares do not overflow or underflow
    W, V, sigma = orthogonalize(A / largest)
    greatest = largest_size(sigma)
    for i in range(n):
        if sigma[i] > dependent * greatest:
            along = 0.0
            for k in range(m):
                along += W[k, i] * b[k]
            along /= sigma[i] * sigma[i] * largest
            for j in range(n):
                x[j] += along * V[j, i]
    return x


# Reductions over flags and numbers, written as loops.
#
# One of NumPy's reductions takes as long to compile as several kernels, and is compiled again for every type of its
# arguments.


@kernel
def true_positions(flags: AnyArray) -> AnyArray:
    """Return the indices (k,) of the true ones among flags (n,)."""
    count = 0
    for i in range(len(flags)):
        count += flags[i]
    out = np.empty(count, dtype=np.int64)
    count = 0
    for i in range(len(flags)):
        if flags[i]:
            out[count] = i
            count += 1
    return out


@kernel
def largest_size(a: Array) -> float:
    """Return the largest absolute value of a (n,); 0 if empty."""
    found = 0.0
    for i in range(len(a)):
        found = max(found, abs(a[i]))
    return found


@kernel
def place_of_least(a: Array) -> int:
    """Return the index of the smallest value of a (n,), the first of equal ones; 0 if empty."""
    place = 0
    for i in range(1, len(a)):
        if a[i] < a[place]:
            place = i
    return place
