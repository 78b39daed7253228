"""Bounds of reactions: contacts only push, friction is limited, and held joints have a largest force.

A reaction that the rigid model does not determine is λ = λ₀ + Z y, and every y that satisfies the inequalities is
possible. The smallest and the largest value of each component are linear programs in y, solved block by block. The
circle of friction is replaced by the regular polygon around it, so that the true values lie within the bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import brentq, linprog
from scipy.sparse import block_diag, csr_array, diags_array, eye_array, hstack, kron, vstack
from scipy.sparse.csgraph import connected_components

from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.statics import System
from mbplugin.model.mechanism.contact import LARGEST_FRICTION, NORMAL, TANGENTS
from mbplugin.model.mechanism.mechanism import Driver, Lock
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import listed

#: Sides of the regular polygon around the circle of friction; it exceeds the circle by up to 2 %.
SIDES = 16
#: Directions of the sideways load whose reserve is computed.
DIRECTIONS = 16
#: Violation of an inequality below this fraction of the largest reaction is rounding.
_FEASIBLE = 1e-9
#: Feasibility tolerance of the linear programs; with smaller ones HiGHS fails now and then.
_TOLERANCE = 1e-9
#: A value that stands for infinity, relative to the largest reaction.
_HUGE = 1e6
#: Digits in which two directions are the same.
_DIGITS = 12
#: Largest number of inequalities in programs that are solved together.
_MOST_ROWS = 1500
#: Bounds closer than this fraction of the largest reaction are equal.
_EQUAL = 1e-8
#: Shadow prices below this fraction of the largest are zero.
_PRICED = 1e-7
#: Relative accuracy of the smallest coefficient of friction.
_ACCURATE = 1e-10
#: Relative difference of friction coefficients that counts as none.
_SAME = 1e-12
#: Components of a direction below this are zero.
_NOTHING = 1e-15
_NAMED = 6
Kind = Literal["normal", "friction", "limit"]


# Inequalities on the multipliers.


@dataclass(frozen=True, eq=False)
class Inequalities:
    """(A + s B) λ ≤ h on scaled multipliers λ, with s a factor on all friction coefficients.

    Parameters
    ----------
    A, B : (k, m) sparse array
    h : (k,) array
    owners : tuple of str
        Label of each: ``contact.cn``, ``contact.friction`` or ``joint.effort``.
    kinds : (k,) array of str
        ``normal``, ``friction`` or ``limit``.
    """

    A: csr_array
    B: csr_array
    h: Array
    owners: tuple[str, ...]
    kinds: AnyArray

    def __len__(self) -> int:
        return len(self.owners)

    def with_friction(self, factor: float) -> csr_array:
        """Return A + s B (k, m) with the factor s on friction; rows are divided by s μ where that is large."""
        size = 1.0 / np.maximum(1.0, factor * np.abs(self.B).max(axis=1).toarray().ravel())
        return (diags_array(size) @ (self.A + factor * self.B)).tocsr()

    def of(self, *kinds: Kind) -> Inequalities:
        """Return those of some kinds."""
        kept = np.flatnonzero(np.isin(self.kinds, kinds))
        owners = tuple(self.owners[k] for k in kept.tolist())
        return Inequalities(self.A[kept], self.B[kept], self.h[kept], owners, self.kinds[kept])


class _Inequality(NamedTuple):
    """Σ own · λ + s Σ friction · λ ≤ largest, entries by row."""

    own: Mapping[int, float]
    friction: Mapping[int, float]
    largest: float
    owner: str
    kind: Kind


def inequalities(system: System, limits: Mapping[str, float]) -> Inequalities:
    """Return the inequalities of all contacts, and of the drives with a largest force.

    Parameters
    ----------
    limits : mapping
        Largest force (N, N·m) of a multiplier by its label ``CONSTRAINT.COMPONENT``.
    """
    found: list[_Inequality] = []
    for contact in system.mech.contacts:
        start = system.slices[contact.name].start
        components = system.rows_by_name[contact.name].components
        at = {name: start + k for k, name in enumerate(components)}
        if NORMAL not in at:
            continue
        n = at[NORMAL]
        found.append(_Inequality({n: -1.0}, {}, 0.0, f"{contact.name}.{NORMAL}", "normal"))
        tangents = [(at[name], k) for k, name in enumerate(TANGENTS) if name in at]
        for angle in 2 * np.pi * np.arange(SIDES if tangents else 0) / SIDES:
            direction = (float(np.cos(angle)), float(np.sin(angle)))
            side = {row: direction[k] for row, k in tangents if abs(direction[k]) > _NOTHING}
            if side:
                owner = f"{contact.name}.friction"
                found.append(_Inequality(side, {n: -contact.mu}, 0.0, owner, "friction"))
    joints = {c.name: c.joint for c in system.mech.constraints() if isinstance(c, Driver | Lock)}
    for row, label in enumerate(system.labels):
        if (largest := limits.get(label.dotted)) is not None:
            owner = f"{joints[label.constraint]}.effort"
            found += [_Inequality({row: sign}, {}, largest, owner, "limit") for sign in (1.0, -1.0)]
    return _scaled(system, found)


def _scaled(system: System, found: Sequence[_Inequality]) -> Inequalities:
    """Return the inequalities on scaled multipliers, each divided by its largest scale."""
    size = np.array([max(system.scale[row] for row in one.own) for one in found])

    def matrix(parts: Sequence[Mapping[int, float]]) -> csr_array:
        entries = [(k, row, value) for k, part in enumerate(parts) for row, value in part.items()]
        i, j = (np.array([entry[c] for entry in entries], dtype=int) for c in (0, 1))
        data = np.array([entry[2] for entry in entries], dtype=float) * system.scale[j] / size[i]
        return csr_array((data, (i, j)), shape=(len(found), len(system.scale)))

    h = np.array([one.largest for one in found]) / size if found else np.zeros(0)
    return Inequalities(
        matrix([one.own for one in found]),
        matrix([one.friction for one in found]),
        h,
        tuple(one.owner for one in found),
        np.array([one.kind for one in found], dtype=object),
    )


# Linear programs over the undetermined part of the reactions.


@dataclass(frozen=True, eq=False)
class Phase:
    """The smallest violation of some inequalities that any possible reactions have.

    Parameters
    ----------
    violation : float
        Relative to the largest reaction; negative if all inequalities can hold with a margin.
    prices : (k,) array
        Shadow price of each inequality, not negative; they add up to one.
    """

    violation: float
    prices: Array

    @property
    def feasible(self) -> bool:
        """Whether some reactions satisfy all inequalities."""
        return self.violation <= _FEASIBLE


@dataclass(frozen=True, eq=False)
class Possible:
    """The possible reactions λ = origin + basis y, scaled.

    Parameters
    ----------
    origin : (m,) array
    basis : (m, p) sparse array
    size : float
        The largest scaled reaction; inequalities are relative to it.
    """

    origin: Array
    basis: csr_array
    size: float

    @classmethod
    def of(cls, system: System, multipliers: Array) -> Possible:
        """Return the reactions through one of them, ``multipliers`` (m,), scaled."""
        largest = float(np.abs(multipliers).max(initial=0.0))
        return cls(multipliers, system.local, largest or 1.0)

    def inside(self, wanted: Inequalities, factor: float = 1.0) -> tuple[csr_array, Array]:
        """Return G (k, p) and b (k,) with G y ≤ b for the inequalities, y relative to ``size``."""
        A = wanted.with_friction(factor)
        return (A @ self.basis).tocsr(), (wanted.h - A @ self.origin) / self.size

    def phase(self, wanted: Inequalities, factor: float = 1.0) -> Phase:
        """Return the smallest violation of the inequalities, friction coefficients multiplied by ``factor``."""
        G, b = self.inside(wanted, factor)
        if not len(b):
            return Phase(-1.0, np.zeros(0))
        if not G.nnz:
            worst = int(np.argmin(b))
            return Phase(float(-b[worst]), np.eye(1, len(b), worst)[0])
        p = G.shape[1]
        G = hstack([G, csr_array(-np.ones((len(b), 1)))]).tocsr()
        x, prices = _solved(np.eye(1, p + 1, p)[0], G, b, [(None, None)] * p + [(-1.0, None)])
        return Phase(float(x[p]), prices)

    def furthest(self, wanted: Inequalities, loads: Array) -> tuple[Array, Array]:
        """Return the largest factor (n,) on each of ``loads`` (n, m), scaled multipliers, and prices (n, k) there.

        Infinite for a load that can grow without limit.
        """
        G, b = self.inside(wanted)
        n, p = len(loads), G.shape[1]
        along = (wanted.with_friction(1.0) @ loads.T / self.size).T
        together = hstack([kron(eye_array(n), G), block_diag([one[:, None] for one in along])]).tocsr()
        c = np.concatenate((np.zeros(n * p), -np.ones(n)))
        x, prices = _solved(c, together, np.tile(b, n), [(None, None)] * (n * p) + [(None, _HUGE)] * n)
        factors = x[n * p :]
        return np.where(factors > 0.5 * _HUGE, np.inf, factors), prices.reshape(n, -1)


def _solved(
    c: Array, G: csr_array, b: Array, ranges: Sequence[tuple[float | None, float | None]]
) -> tuple[Array, Array]:
    """Return the x (n,) of least c·x with G x ≤ b, and the shadow prices (k,); c (n,), G (k, n), b (k,).

    The program must have a solution.

    Raises
    ------
    BadUsage
        HiGHS finds no solution.
    """
    options = {"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE}
    for method, presolve in (("highs-ds", True), ("highs-ds", False), ("highs-ipm", True)):
        found = linprog(
            c, A_ub=G, b_ub=b, bounds=ranges, method=method, options={**options, "presolve": presolve}
        )
        if found.status == 0:
            return np.asarray(found.x), -np.asarray(found.ineqlin.marginals)
    raise BadUsage(
        f"the bounds of the reactions cannot be computed: {found.message.splitlines()[0]}",
        expected="contacts and constraints that are well conditioned",
    )


# Smallest and largest value of each reaction.


@dataclass(frozen=True, eq=False)
class Bounds:
    """Smallest and largest value of every multiplier that the rigid model does not determine.

    Parameters
    ----------
    lower, upper : (m,) array
        N and N·m; infinite where nothing bounds it.
    bounded_by : mapping of row to tuple of str
        Labels of the inequalities that decide the bounds of a row.
    determined : (m,) array of bool
        Whether both bounds agree, although the rigid model leaves the value open.
    """

    lower: Array
    upper: Array
    bounded_by: Mapping[int, tuple[str, ...]]
    determined: AnyArray


def bounds_of(system: System, possible: Possible, wanted: Inequalities) -> Bounds:
    """Return the bounds of all multipliers under inequalities that some reactions satisfy."""
    m = len(system.scale)
    lower, upper = np.full(m, -np.inf), np.full(m, np.inf)
    bounded_by: dict[int, tuple[str, ...]] = {}
    G, b = possible.inside(wanted)
    # rounding must not make a single possible value impossible
    b = b + max(possible.phase(wanted).violation, 0.0)
    normal_of = _normals(wanted)
    for columns, own, rows in _parts(system, possible.basis, G):
        C = possible.basis[rows][:, columns].toarray()
        found = _extremes(C, G[own][:, columns], b[own], np.searchsorted(own, normal_of[own]))
        for row, (low, high, active) in zip(rows.tolist(), found, strict=True):
            lower[row], upper[row] = (possible.origin[row] + possible.size * end for end in (low, high))
            bounded_by[row] = tuple(dict.fromkeys(wanted.owners[own[k]] for k in active))
    determined = ~system.unique & (upper - lower <= _EQUAL * possible.size)
    for ends in (lower, upper):
        ends[np.abs(ends) <= _FEASIBLE * possible.size] = 0.0
        ends *= system.scale
    return Bounds(lower, upper, bounded_by, determined)


def _parts(system: System, basis: csr_array, G: csr_array) -> Iterator[tuple[AnyArray, AnyArray, AnyArray]]:
    """Yield columns of the basis (m, p) that belong together, and the inequalities and open rows that they enter."""
    p = basis.shape[1]
    touched = abs(vstack([basis, G])).tocsr()
    part = connected_components(touched.T @ touched, directed=False)[1]
    limited, open_rows = np.flatnonzero(np.diff(G.indptr)), np.flatnonzero(~system.unique)
    if not p or not limited.size or not open_rows.size:
        return
    first = basis.tocsr()
    part_of_row = np.full(basis.shape[0], -1)
    held = np.diff(first.indptr) > 0
    part_of_row[held] = part[first.indices[first.indptr[:-1][held]]]
    part_of_limit = part[G.indices[G.indptr[limited]]]
    for k in np.unique(part_of_limit).tolist():
        rows = open_rows[part_of_row[open_rows] == k]
        if rows.size:
            yield np.flatnonzero(part == k), limited[part_of_limit == k], rows


def _normals(wanted: Inequalities) -> AnyArray:
    """Return for each inequality the index (k,) of the normal force that it limits friction by, else its own."""
    normals = {
        name: k
        for k, (name, kind) in enumerate(zip(wanted.owners, wanted.kinds, strict=True))
        if kind == "normal"
    }
    return np.array(
        [normals.get(f"{name.rpartition('.')[0]}.{NORMAL}", k) for k, name in enumerate(wanted.owners)],
        dtype=int,
    )


def _extremes(
    C: Array, G: csr_array, b: Array, normal_of: AnyArray
) -> list[tuple[float, float, tuple[int, ...]]]:
    """Return the least and the greatest value of each row of C (n, p) times y with G y ≤ b.

    With G (k, p) and b (k,); the third value gives the indices of the inequalities that decide them.
    An unloaded contact is named by its normal force, of index ``normal_of`` (k,), and not by its friction.
    """
    if C.shape[1] == 1:
        return _on_a_line(C[:, 0], G.toarray()[:, 0], b)
    # rows along one direction share their programs
    length = np.linalg.norm(C, axis=1)
    first = np.take_along_axis(C, np.argmax(np.abs(C), axis=1)[:, None], axis=1)[:, 0]
    size = length * np.where(first < 0, -1.0, 1.0)
    units, kind = np.unique(np.round(C / size[:, None], _DIGITS), axis=0, return_inverse=True)
    found: list[tuple[float, float, tuple[int, ...]]] = []
    together = max(1, _MOST_ROWS // (2 * len(b)))
    for start in range(0, len(units), together):
        found += _between(units[start : start + together], G, b, normal_of)
    out = []
    for k, sign in zip(kind.ravel().tolist(), size.tolist(), strict=True):
        low, high, active = found[k]
        ends = sorted((sign * low, sign * high))
        out.append((ends[0], ends[1], active))
    return out


def _on_a_line(c: Array, g: Array, b: Array) -> list[tuple[float, float, tuple[int, ...]]]:
    """Return :func:`_extremes` for one unknown, with c (n,), g (k,) and b (k,)."""
    ends: list[tuple[float, tuple[int, ...]]] = []
    for sign in (-1.0, 1.0):
        limiting = np.flatnonzero(sign * g > _TOLERANCE)
        ratios = b[limiting] / np.abs(g[limiting])
        k = int(np.argmin(ratios)) if ratios.size else -1
        ends.append((sign * ratios[k], (int(limiting[k]),)) if ratios.size else (sign * np.inf, ()))
    (low, below), (high, above) = ends
    out = []
    for value in c.tolist():
        # zero times an infinite end is no number
        first, last = sorted((value * low, value * high)) if value else (0.0, 0.0)
        out.append((float(first), float(last), below + above))
    return out


def _between(
    units: Array, G: csr_array, b: Array, normal_of: AnyArray
) -> list[tuple[float, float, tuple[int, ...]]]:
    """Return :func:`_extremes` for combinations ``units`` (n, p) of length one; G (k, p), b (k,), normal_of (k,).

    All programs are solved as one, which is several times faster.
    """
    n, p = units.shape
    signed = np.stack((units, -units), axis=1).reshape(2 * n, p)
    # values below −_HUGE stand for −∞, so that every program has a solution
    floors = block_diag([-one[None] for one in signed])
    together = vstack([kron(eye_array(2 * n), G), floors]).tocsr()
    limits = np.concatenate((np.tile(b, 2 * n), np.full(2 * n, _HUGE)))
    x, prices = _solved(signed.ravel(), together, limits, [(None, None)] * (2 * n * p))
    y, prices = x.reshape(2 * n, p), prices[: 2 * n * len(b)].reshape(2 * n, -1)
    values = np.einsum("ij,ij->i", signed, y)
    out = []
    for k in range(n):
        active: list[int] = []
        for j in (2 * k, 2 * k + 1):
            if values[j] < -0.5 * _HUGE:
                values[j] = -np.inf
                continue
            decisive = np.flatnonzero(prices[j] > _PRICED * prices[j].max(initial=0.0))
            unloaded = (b - G @ y[j])[normal_of[decisive]] <= _FEASIBLE
            active += np.where(unloaded, normal_of[decisive], decisive).tolist()
        out.append((float(values[2 * k]), float(-values[2 * k + 1]), tuple(active)))
    return out


# Whether the contacts hold, with which friction, and up to which load.


@dataclass(frozen=True)
class Standing:
    """Margins of contacts that hold.

    Parameters
    ----------
    sides : int
        Sides of the polygon around the circle of friction.
    friction_factor : float or None
        Factor on all coefficients of friction with which the contacts just hold; None without friction.
    smallest_friction : float or None
        The smallest coefficient of friction that holds, if all contacts have the same.
    load_factor : float or None
        Factor up to which the stated loads can grow before a contact opens or slips; None without loads or if
        they can grow without limit.
    load_limited_by : tuple of str
        Inequalities that are met there.
    tipping : float or None
        Smallest sideways load, relative to the weight and in proportion to it on every body, at which a contact
        must open; None if there is none.
    tipping_direction : (x, y, z) or None
        Its direction, world axes, the weakest of ``DIRECTIONS``.
    sideways : float or None
        Smallest sideways load at which a contact opens or slips.
    sideways_direction : (x, y, z) or None
    """

    sides: int = SIDES
    friction_factor: float | None = None
    smallest_friction: float | None = None
    load_factor: float | None = None
    load_limited_by: tuple[str, ...] = ()
    tipping: float | None = None
    tipping_direction: tuple[float, float, float] | None = None
    sideways: float | None = None
    sideways_direction: tuple[float, float, float] | None = None


def require_standing(system: System, possible: Possible, wanted: Inequalities) -> None:
    """Raise if no admissible forces hold all contacts.

    Raises
    ------
    BadUsage
        A contact must open or slip; the message names the line about which the bodies tip, or the friction needed.
    """
    ours = wanted.of("normal", "friction")
    if possible.phase(ours).feasible:
        return
    normals = ours.of("normal")
    tipping = possible.phase(normals)
    if not tipping.feasible:
        opening = _priced(normals.owners, tipping.prices)
        raise BadUsage(
            f"the contacts cannot hold like this: {_tips(system, opening)}",
            expected="a load that presses on every contact, or leaves it unloaded",
            remedy="leave out the contacts that open, or move the load",
        )
    sliding = listed(
        [name.rpartition(".")[0] for name in _priced(ours.owners, possible.phase(ours).prices)], _NAMED
    )
    factor = _smallest_factor(possible, ours, _largest_factor(system))
    if factor is None:
        raise BadUsage(
            f"the contacts cannot hold like this: no friction keeps {sliding} from slipping",
            expected="contacts whose forces can balance the load",
        )
    friction = _same_friction(system)
    needed = f"{factor:.4g} times the stated coefficients" if friction is None else f"{factor * friction:.4g}"
    raise BadUsage(
        f"the contacts cannot hold like this: they slip at {sliding}",
        expected=f"a coefficient of friction of at least {needed}",
        remedy="hold fewer contacts, or state more friction (--friction, mu)",
    )


def _tips(system: System, opening: Sequence[str]) -> str:
    """Return a clause on the contacts that open, and the line through the others, about which the bodies tip."""
    lifted = [name.rpartition(".")[0] for name in opening]
    left = [contact for contact in system.mech.contacts if contact.name not in lifted]
    opens = f"{listed(lifted, _NAMED)} {'opens' if len(lifted) == 1 else 'open'}"
    points = np.array([system.poses.of(system.mech.body_index[c.body]).apply(c.point) for c in left]).reshape(
        -1, 3
    )
    if len(points) == 1:
        return f"the load tips it over {left[0].name}; {opens}"
    if len(points) >= 2:
        apart = points - points.mean(axis=0)
        sizes = np.linalg.svd(apart, compute_uv=False)
        if sizes[1] <= 1e-6 * sizes[0]:
            along = apart @ np.linalg.svd(apart)[2][0]
            ends = left[int(np.argmin(along))].name, left[int(np.argmax(along))].name
            return f"the load tips it about the line through {ends[0]} and {ends[1]}; {opens}"
    return f"the load lifts or tips it; {opens}"


def _priced(owners: Sequence[str], prices: Array) -> list[str]:
    """Return the labels of the inequalities with a shadow price among ``prices`` (k,)."""
    return list(dict.fromkeys(owners[k] for k in np.flatnonzero(prices > _PRICED * prices.max()).tolist()))


def _same_friction(system: System) -> float | None:
    """Return the friction coefficient of all contacts; None if they differ or are without friction."""
    values = [contact.mu for contact in system.mech.contacts]
    same = bool(values) and values[0] > 0 and np.ptp(values) <= _SAME * values[0]
    return values[0] if same else None


def _largest_factor(system: System) -> float:
    return LARGEST_FRICTION / max((c.mu for c in system.mech.contacts), default=LARGEST_FRICTION)


def _smallest_factor(possible: Possible, wanted: Inequalities, largest: float) -> float | None:
    """Return the smallest factor on all friction coefficients that holds, up to ``largest``; None if none does."""
    if not (wanted.kinds == "friction").any():
        return None
    high = 1.0
    while not possible.phase(wanted, high).feasible:
        if high >= largest:
            return None
        high = min(2.0 * high, largest)
    low = 0.0
    if possible.phase(wanted, low).feasible:
        return 0.0
    # the violation falls to zero at the smallest factor, and may stay there
    return float(
        brentq(
            lambda factor: possible.phase(wanted, factor).violation - 0.5 * _FEASIBLE,
            low,
            high,
            xtol=_ACCURATE * high,
            rtol=_ACCURATE,
        )
    )


def standing_of(
    system: System,
    possible: Possible,
    wanted: Inequalities,
    loads: Array | None,
    sideways: Sequence[tuple[tuple[float, float, float], Array]],
) -> Standing:
    """Return the margins of contacts that hold.

    Parameters
    ----------
    loads : (m,) array or None
        Scaled multipliers of the stated loads alone.
    sideways : sequence of (direction, (m,) array)
        Scaled multipliers of a load of one weight in some directions.
    """
    ours = wanted.of("normal", "friction")
    factor = _smallest_factor(possible, ours, 1.0)
    friction = _same_friction(system)
    grown: float | None = None
    limited_by: tuple[str, ...] = ()
    if loads is not None:
        more, prices = possible.furthest(ours, loads[None])
        if np.isfinite(more[0]):
            grown, limited_by = 1.0 + float(more[0]), tuple(_priced(ours.owners, prices[0]))
    tipping, tipping_direction = _weakest(possible, ours.of("normal"), sideways)
    least, direction = _weakest(possible, ours, sideways)
    return Standing(
        friction_factor=factor,
        smallest_friction=None if factor is None or friction is None else factor * friction,
        load_factor=grown,
        load_limited_by=limited_by,
        tipping=tipping,
        tipping_direction=tipping_direction,
        sideways=least,
        sideways_direction=direction,
    )


def _weakest(
    possible: Possible, wanted: Inequalities, sideways: Sequence[tuple[tuple[float, float, float], Array]]
) -> tuple[float | None, tuple[float, float, float] | None]:
    """Return the smallest sideways load that is no longer held, relative to the weight, and its direction."""
    if not sideways:
        return None, None
    found = possible.furthest(wanted, np.array([load for _, load in sideways]))[0]
    # of directions that are equally weak, the first
    k = int(np.argmin(np.round(found, 9)))
    return (max(float(found[k]), 0.0), sideways[k][0]) if np.isfinite(found[k]) else (None, None)
