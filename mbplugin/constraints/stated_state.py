"""The state that a mechanism starts from: what is stated holds, and everything else follows.

One rule, for every file format, function and option:

1. A coordinate or rate that somebody names holds exactly: in ``[state]`` of a scene, in a file that gives a joint
   its position, in a mapping or a vector handed to a function (a vector names all its entries, but for functions
   that look for a closed pose, such as ``analyze``, where it is the start of the search), in ``--q`` and ``--qd``. It
   moves by no more than it was rounded (half a unit of its last digit where it has five or more).
2. Everything that nobody names follows through loops, couplings, wheels, drivers and locks. What is led moves first:
   the followers of couplings, and of rates the bodies that carry wheels and free bases; then the other joints; the
   leaders of couplings (of coordinates free bases too) only where nothing else helps. Among equals the change is the
   smallest one, turns in rad and travels in characteristic lengths, so that neither the order of the joints nor the
   unit of length decides.
3. What the caller names outranks what the file states: where both contradict each other, the file's values of that
   group of joints follow, with a note that names them. Within one rank a contradiction is an error
   (:class:`~mbplugin.errors.ContradictedState`) that names the fewest values that contradict each other, and those
   that would agree.
4. Where nothing is named although there are values, a program has computed them (a live client, a recorded motion):
   they are moved by the smallest change, with a note that names the joint which it moves most.

Coordinates come first, see :func:`~mbplugin.constraints.assembly.assemble`, then rates at the closed pose. For rates
all is linear: with the columns of J that are named taken out, the rest solves J q̇ + b = 0, and what is left open is a
contradiction where the named columns could close it. At a dead centre a rate other than zero is one. Rank is decided
on the scaled Jacobian of each group of joints.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.assembly import Assembly, assemble
from mbplugin.constraints.assembly.closure import Paths, connected
from mbplugin.constraints.reduction.scaling import (
    body_twists,
    characteristic_length,
    rate_scale,
    row_scale,
    tree_motion,
)
from mbplugin.constraints.rows import planar_rows, rows_of
from mbplugin.constraints.tolerance import AGREED, DEFAULT_TOLERANCE, contradiction, rounding_of
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import stated_coordinates
from mbplugin.model.mechanism.kinematics import (
    BodyPoses,
    JointValues,
    coordinate_units,
    forward,
    joint_vector,
    rate_units,
    rate_vector,
)
from mbplugin.model.mechanism.mechanism import Constraint, Coupling, Driver, Lock, Mechanism
from mbplugin.model.scene import Scene, State, mechanism_of
from mbplugin.model.spatial import ROTATION, AnyArray, Array

#: Below this fraction of the rates a gap is rounding of the numbers, and nothing has to follow; and below it in rad or
#: lengths per second: what is computed of a joint that stands still is not zero, but the rounding of other numbers.
_ROUNDING = 1e-13
#: A change of a rate below this fraction of the largest is none.
_ALONE = 1e-9
#: Below this fraction of the largest motion, what a loop cannot follow is rounding of the file.
_FOLLOWED = 1e-3
#: Rows of joint coordinates alone are exact: no rounded frame makes two of them nearly dependent.
_EXACT = 1e-12
#: Rates of a group from which on its tolerance falls with their number, as in closing a pose.
_WIDE = 300
#: A rate whose axis has less than this fraction of itself in the plane does not count there.
_IN_PLANE = 2e-3
_SPACE = (0, 1, 2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class ConsistentState:
    """A state that every constraint allows.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        rad, m, and per second.
    assembly : Assembly
    notes : tuple of str
        Which values had to change, one sentence each.
    """

    q: Array
    qd: Array
    assembly: Assembly
    notes: tuple[str, ...]


def stated_state(
    model: Scene | Mechanism,
    q: JointValues = None,
    qd: JointValues = None,
    mech: Mechanism | None = None,
    base: tuple[Array | None, Array | None] | None = None,
    *,
    plausible: bool = True,
    closing: bool = False,
) -> State:
    """Return the stated state: the values of a call override those of a scene; it records the origin of each.

    Parameters
    ----------
    q, qd : mapping or vector, optional
    mech : Mechanism, optional
        What moves, where that is not the mechanism of the model.
    base : pair of (nq,) and (nv,) array, optional
        The state of the scene in the coordinates of ``mech``; None where it states none.
    plausible : bool
        Warn of coordinates that are probably in another unit.
    closing : bool
        Whether a vector q is only where the search for a closed pose starts, and names nothing.

    Raises
    ------
    UnknownName, BadNumber
        As for :func:`mbplugin.model.mechanism.kinematics.joint_vector`.
    """
    mech = mech or mechanism_of(model)
    own = model.state if isinstance(model, Scene) else None
    if base is None:
        base = (own.q, own.qd) if own else (None, None)
    read = stated_coordinates if plausible else joint_vector
    values = read(mech, q, base[0]), rate_vector(mech, qd, base[1])
    named, named_rates = _names(q, mech.q_names), _names(qd, mech.qd_names)
    given, given_rates = named, named_rates
    if own is not None:
        named, named_rates = named | own.named, named_rates | own.named_rates
        given, given_rates = named | own.given, named_rates | own.given_rates
    if closing and q is not None and not isinstance(q, Mapping):
        given = named = frozenset()
    return State(*values, given, named, given_rates, named_rates)


def _names(values: JointValues, names: Sequence[str]) -> frozenset[str]:
    """Return the names in a mapping; a vector names all."""
    return frozenset() if values is None else frozenset(values if isinstance(values, Mapping) else names)


def consistent_state(
    mech: Mechanism, stated: State, columns: Sequence[int] = _SPACE, *, seed: int = 0
) -> ConsistentState:
    """Return the state that follows from what is stated, by the rule of this module.

    Parameters
    ----------
    columns : sequence of int
        Twist components that count for rates, all six or those of a plane.
    seed : int
        Of the poses from which loops are closed.

    Raises
    ------
    CannotClose
        A loop that no pose closes.
    ContradictedState
        Stated values that contradict each other.
    BadUsage
        No rates satisfy the constraints: two drivers contradict each other.
    """
    assembly, notes = closed_pose(mech, stated, seed=seed)
    qd, more = following_rates(mech, assembly.q, stated, columns)
    return ConsistentState(assembly.q, qd, assembly, (*notes, *more))


def closed_pose(mech: Mechanism, stated: State, *, seed: int = 0) -> tuple[Assembly, tuple[str, ...]]:
    """Return the pose that follows from the stated coordinates, and notes about values that had to change."""
    assembly = assemble(mech, stated.q, stated.given, stated.named, seed=seed)
    change = np.abs(assembly.q - stated.q)
    units = coordinate_units(mech)
    values = (stated.q, assembly.q, mech.q_names, [unit if unit != "1" else "" for unit in units])
    notes = [
        _gave_way(n, *values)
        for n, name in enumerate(mech.q_names)
        if name in stated.given and change[n] > AGREED
    ]
    if (moved := np.flatnonzero(change > _ALONE)).size:
        worst = max(moved.tolist(), key=lambda n: float(change[n]))
        unit = f" {units[worst]}" if units[worst] != "1" else ""
        notes.insert(0, f"loops closed first: {mech.q_names[worst]} moved most, by {change[worst]:.3g}{unit}")
    return assembly, tuple(notes)


def _gave_way(n: int, before: Array, after: Array, names: Sequence[str], units: Sequence[str]) -> str:
    """Return a note on a stated value that changed, ``before`` and ``after`` (n,): by rounding or contradiction."""
    change = f"{names[n]} is {after[n]:.8g} in place of {before[n]:.8g}{f' {units[n]}' if units[n] else ''}"
    if abs(after[n] - before[n]) <= rounding_of(before[n]):
        return f"stated values agree up to their last digits: {change}"
    return f"what is named in the call contradicts the file: {change}"


def following_rates(
    mech: Mechanism, q: Array, stated: State, columns: Sequence[int] = _SPACE, poses: BodyPoses | None = None
) -> tuple[Array, tuple[str, ...]]:
    """Return the rates (nv,) that follow from the stated ones at a closed pose, and notes about those that changed.

    Parameters
    ----------
    q : (nq,) array
        The closed pose.
    stated : State
        Of which the rates count.
    columns : sequence of int
        Twist components that count.
    poses : BodyPoses, optional
        Of the bodies at q.
    """
    qd = stated.qd
    if not qd.any() and not any(driver.rate for driver in mech.drivers):
        return qd, ()
    in_tree = mech.tree.joint_of_pair
    closing = [c for c in mech.constraints() if c.name not in in_tree]
    if not closing:
        return qd, ()
    groups = _groups(mech, q, qd, closing, columns, forward(mech, q) if poses is None else poses)
    rates, notes = np.array(qd), list[str]()
    caller, given = (
        np.array([name in names for name in mech.qd_names], dtype=bool)
        for names in (stated.named_rates, stated.named_rates | stated.given_rates)
    )
    for group in groups:
        rates[group.rates] = group.followed(mech, qd[group.rates], given[group.rates], caller[group.rates])
    change, least = np.abs(rates - qd), _ALONE * float(np.abs(rates).max(initial=0.0))
    values = (qd, rates, mech.qd_names, rate_units(mech))
    notes += [
        _gave_way(n, *values) for n in np.flatnonzero(given & ~caller & (change > AGREED + least)).tolist()
    ]
    moved = np.flatnonzero(~given & (qd != 0) & (change > least))
    if moved.size:
        worst = max(moved.tolist(), key=lambda n: float(change[n]))
        notes.append(
            f"rates made to agree with the constraints: {mech.qd_names[worst]} is {rates[worst]:.6g} "
            f"in place of {qd[worst]:.6g} {rate_units(mech)[worst]}"
        )
    return rates, tuple(notes)


def _groups(
    mech: Mechanism,
    q: Array,
    qd: Array,
    closing: Sequence[Constraint],
    columns: Sequence[int],
    poses: BodyPoses,
) -> list[_Group]:
    """Return the groups of constraints that share rates, in these, at q (nq,) with the rates qd (nv,)."""
    motion, paths = tree_motion(mech, poses), Paths(mech)
    rows = rows_of(mech, closing, poses, q, body_twists(mech, poses, qd))
    rows = [planar_rows(r, tuple(columns)) for r in rows]
    length = characteristic_length(rows, poses.p_WC, mech)
    units = rate_scale(mech, length) * seen_rates(motion.axes, columns)
    order = _order(mech)
    groups = []
    for group in connected([paths.of(c) for c in closing], range(len(closing))):
        own = [rows[k] for k in group.constraints]
        spans = [mech.tree.joints[k].qd for k in group.joints]
        rates = np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in spans)])
        scale = np.concatenate([np.zeros(0), *(row_scale(r, length) for r in own)])
        J = scale[:, None] * motion.reduce(own)[:, rates] * units[rates]
        b = scale * np.concatenate([np.zeros(0), *(r.b for r in own)])
        owners = [r.constraint for r in own for _ in r.components]
        # most rows of plane loops are zero
        says = np.flatnonzero((np.abs(J).max(axis=1, initial=0.0) > _ROUNDING) | (b != 0)).tolist()
        exact = all(isinstance(closing[k], Coupling | Driver | Lock) for k in group.constraints)
        told = [owners[k] for k in says]
        groups.append(_Group(rates, J[says], b[says], units[rates], order[rates], exact, told))
    return groups


def seen_rates(axes: Array, columns: Sequence[int]) -> AnyArray:
    """Return which rates, with their ``axes`` (6, nv), move anything in the columns that count; (nv,) of bool."""
    turns = np.linalg.norm(axes[ROTATION], axis=0) > 0
    # a turn shows in the plane only by its axis, wherever it is; a travel by its direction
    seen = np.zeros(6)
    seen[list(columns)] = 1.0
    part = np.where(turns[None, :], axes * (np.arange(6) >= 3)[:, None], axes)
    return np.asarray(np.linalg.norm(part * seen[:, None], axis=0) > _IN_PLANE * np.linalg.norm(part, axis=0))


def _order(mech: Mechanism) -> AnyArray:
    """Return when each rate follows, (nv,): 0 what is led, 1 other joints, 2 leaders of couplings."""
    followers = {c.terms[0].joint for c in mech.couplings}
    leaders = {term.joint for c in mech.couplings for term in c.terms[1:]} - followers
    # the joint that stands on the ground, unless it is the wheel's own
    carriers = {way[-1].outer for p in mech.pfaffians if len(way := tuple(mech.tree.way_in(p.body))) > 1}
    order = np.ones(len(mech.qd_names), dtype=int)
    for joint in mech.tree.joints:
        name = None if joint.pair is None else joint.pair.name
        if name is None or name in followers or joint.outer in carriers:
            order[joint.qd] = 0
        elif name in leaders:
            order[joint.qd] = 2
    return order


@dataclass(frozen=True, eq=False)
class _Group:
    """Constraints that share rates: J x + b = 0, in characteristic lengths.

    Parameters
    ----------
    rates : (n,) array of int
        The columns of qd.
    J : (k, n) array
    b : (k,) array
    units : (n,) array
        Of one unit of each scaled rate; zero where a rate does not count.
    order : (n,) array of int
        When each rate follows.
    exact : bool
        Whether all rows are those of joint coordinates.
    owners : list of str
        The constraint of each row.
    """

    rates: AnyArray
    J: Array
    b: Array
    units: Array
    order: AnyArray
    exact: bool
    owners: list[str]

    def followed(self, mech: Mechanism, wanted: Array, given: AnyArray, caller: AnyArray) -> Array:
        """Return rates (n,) that the constraints allow, as ``wanted`` (n,) where ``given`` (n,) or ``caller`` (n,)."""
        x = np.divide(wanted, self.units, out=np.zeros_like(wanted), where=self.units > 0)
        gap = self.J @ x + self.b
        if self._is_rounding(gap, x):
            return wanted
        for held in (given, caller) if (given & ~caller).any() and caller.any() else (given,):
            if (found := self._with(x, wanted, held)) is not None:
                return np.where(self.units > 0, found * self.units, wanted)
        free = self._with(x, wanted, np.zeros_like(given))
        if free is None:
            left = np.abs(self.J @ (x + self._closing(gap, np.zeros_like(given))) + self.b)
            raise BadUsage(
                f"no rates satisfy constraint {self.owners[int(left.argmax())]!r} together with the others",
                remedy="change what its drivers prescribe, or give fewer values",
            )
        names = [mech.qd_names[n] for n in self.rates.tolist()]

        def follows(some: Collection[str]) -> Mapping[str, float] | None:
            found = self._with(x, wanted, np.array([name in some for name in names], dtype=bool))
            return None if found is None else dict(zip(names, (found * self.units).tolist(), strict=True))

        stated = {name: float(wanted[n]) for n, name in enumerate(names) if given[n]}
        outranking = {name for n, name in enumerate(names) if caller[n]}
        if outranking:
            stated = {name: value for name, value in stated.items() if name in outranking}
        raise contradiction("rate", stated, outranking, follows, list(dict.fromkeys(self.owners)))

    def _with(self, x: Array, wanted: Array, held: AnyArray) -> Array | None:
        """Return scaled rates near x (n,) or ``wanted`` (n,), ``held`` (n,) unchanged; None where there are none."""
        found = x + self._closing(self.J @ x + self.b, held)
        gap = self.J @ found + self.b
        if self._is_rounding(gap, found):
            return np.asarray(found)
        size = float(np.abs(found).max(initial=0.0))
        step = self._closing(gap, np.zeros_like(held))
        left = np.abs(gap + self.J @ step).max(initial=0.0)
        if left > max(_FOLLOWED * max(size, float(np.abs(self.b).max(initial=0.0))), 1e-300):
            return None
        if np.abs(step[held]).max(initial=0.0) <= _ALONE * max(size, float(np.abs(x).max(initial=0.0))):
            return np.asarray(found)
        # a rate that is written with some digits stands for all that round to it
        units = np.where(self.units > 0, self.units, 1.0)
        allowed = np.array([rounding_of(value) for value in wanted.tolist()]) / units
        least = AGREED * max(size, float(np.abs(x).max(initial=0.0)))
        found = found + self._closing(gap, held & (allowed <= least))
        found = found + self._closing(self.J @ found + self.b, np.zeros_like(held))
        return found if (np.abs(found - x) <= np.maximum(allowed, least))[held].all() else None

    def _is_rounding(self, gap: Array, x: Array) -> bool:
        """Return whether a ``gap`` (k,) at scaled rates x (n,) is rounding of the numbers."""
        most = float((np.abs(self.J) @ np.abs(x)).max(initial=0.0))
        return bool(np.abs(gap).max(initial=0.0) <= _ROUNDING * max(most, 1.0))

    def _closing(self, gap: Array, held: AnyArray) -> Array:
        """Return the step (n,) that closes a ``gap`` (k,) while some rates are ``held`` (n,), the led ones first."""
        step = np.zeros(self.J.shape[1])
        free = ~held & (self.units > 0)
        if not free.any() or not len(gap):
            return step
        share = (_EXACT if self.exact else DEFAULT_TOLERANCE) * min(1.0, _WIDE / len(held))
        orders = sorted(set(self.order[free].tolist()), reverse=True)
        size = float(np.linalg.norm(self.J[:, free], 2)) if len(orders) > 1 else 0.0
        for k in orders:
            own, before = free & (self.order == k), free & (self.order < k)
            A, rest = self.J[:, own], -(gap + self.J @ step)
            if before.any():
                # what those that follow earlier can close is left to them
                U, sigma, _ = np.linalg.svd(self.J[:, before], full_matrices=False)
                U = U[:, sigma > share * size]
                A, rest = (part - U @ (U.T @ part) for part in (A, rest))
            V, sigma, Wt = np.linalg.svd(A, full_matrices=False)
            kept = sigma > share * (size or float(sigma.max(initial=0.0)))
            step[own] = Wt[kept].T @ ((V[:, kept].T @ rest) / sigma[kept])
        return step
