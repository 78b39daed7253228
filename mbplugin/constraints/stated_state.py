"""Initial state of a mechanism: stated values hold, and all others follow from the constraints.

The same rule applies to every file format, function and option:

1. A stated coordinate or rate holds exactly. It is stated by ``[state]`` of a scene, by a file that gives a joint its
   position, by a mapping or vector passed to a function (a vector states all its entries, except in functions that
   search for a closed pose, such as ``analyze``, where it is the start of the search), or by ``--q`` and ``--qd``. It
   changes by no more than its rounding (half a unit in the last digit, if it has five or more digits).
2. All other values follow through loops, couplings, wheels, drivers and locks. Driven values change first: followers
   of couplings and, for rates, bodies that carry wheels, and free bases; then the other joints; leaders of couplings
   (and, for coordinates, free bases) only as a last resort. At equal priority the change is the smallest one, turns in
   rad and travels in characteristic lengths, so the result depends neither on the order of the joints nor on the unit
   of length.
3. Values stated by the caller outrank those of the file: if they contradict each other, the file's values in that
   group of joints follow, with a note that names them. A contradiction within one rank is an error
   (:class:`~mbplugin.errors.ContradictedState`) that names a minimal set of contradicting values, and those that
   would agree.
4. Values that are not stated by name were computed by a program (a live client, a recorded motion): they are changed
   as little as possible, with a note that names the joint that moves most.

Coordinates come first, see :func:`~mbplugin.constraints.assembly.assemble`, then rates at the closed pose. The rates
are a linear problem: without the columns of J of stated rates, the others solve J q̇ + b = 0; a remaining residual is
a contradiction if the stated columns could close it, as is a nonzero rate at a dead centre. Rank is decided on the
scaled Jacobian of each group of joints.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from mbplugin import constraints
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.closure import Assembly, Paths, connected
from mbplugin.constraints.rows import planar_rows, rows_of
from mbplugin.model import ROTATION, AnyArray, Array, Scene, State, mechanism_of, stated_coordinates
from mbplugin.model.mechanism import Constraint, Coupling, Driver, Lock, Mechanism, kinematics
from mbplugin.phrases import dataclass

#: A residual below this fraction of the rates, or below it in rad or lengths per second, is floating-point rounding
#: (computed rates of a joint at rest are not exactly zero).
_ROUNDING = 1e-13
#: A change of a rate below this fraction of the largest rate does not count.
_ALONE = 1e-9
#: A residual that no rates close is rounding of the file below this fraction of the largest rate.
_FOLLOWED = 1e-3
#: Rank tolerance of rows on joint coordinates only: no rounded frame makes two of them nearly dependent.
_EXACT = 1e-12
#: Above this number of rates the tolerance of a group falls with their number, as in closing a pose.
_WIDE = 300
#: A rate does not count in a plane if less than this fraction of its axis lies in it.
_IN_PLANE = 2e-3
_SPACE = (0, 1, 2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class ConsistentState:
    """A state that satisfies all constraints.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
        rad, m, and per second.
    assembly : Assembly
    notes : tuple of str
        Values that had to change, one sentence each.
    """

    q: Array
    qd: Array
    assembly: Assembly
    notes: tuple[str, ...]


def stated_state(
    model: Scene | Mechanism,
    q: kinematics.JointValues = None,
    qd: kinematics.JointValues = None,
    mech: Mechanism | None = None,
    base: tuple[Array | None, Array | None] | None = None,
    *,
    plausible: bool = True,
    closing: bool = False,
) -> State:
    """Return the stated state with the origin of each value; values of a call override those of a scene.

    Parameters
    ----------
    q, qd : mapping or vector, optional
    mech : Mechanism, optional
        The moving mechanism, if it is not that of the model.
    base : pair of (nq,) and (nv,) array, optional
        The state of the scene in the coordinates of ``mech``; None if it states none.
    plausible : bool
        Warn of coordinates that are probably in another unit.
    closing : bool
        Whether a vector q is only the start of a search for a closed pose, and states nothing.

    Raises
    ------
    UnknownName, BadNumber
        As for :func:`mbplugin.model.mechanism.kinematics.joint_vector`.
    """
    mech = mech or mechanism_of(model)
    own = model.state if isinstance(model, Scene) else None
    if base is None:
        base = (own.q, own.qd) if own else (None, None)
    read = stated_coordinates if plausible else kinematics.joint_vector
    values = read(mech, q, base[0]), kinematics.rate_vector(mech, qd, base[1])
    named, named_rates = _names(q, mech.q_names), _names(qd, mech.qd_names)
    given, given_rates = named, named_rates
    if own is not None:
        named, named_rates = named | own.named, named_rates | own.named_rates
        given, given_rates = named | own.given, named_rates | own.given_rates
    if closing and q is not None and not isinstance(q, Mapping):
        given = named = frozenset()
    return State(*values, given, named, given_rates, named_rates)


def _names(values: kinematics.JointValues, names: Sequence[str]) -> frozenset[str]:
    """Return the names in a mapping, or all names for a vector."""
    return frozenset() if values is None else frozenset(values if isinstance(values, Mapping) else names)


def consistent_state(
    mech: Mechanism, stated: State, columns: Sequence[int] = _SPACE, *, seed: int = 0
) -> ConsistentState:
    """Return the state that follows from the stated values, by the rule of this module.

    Parameters
    ----------
    columns : sequence of int
        Twist components that count for rates, all six or those of a plane.
    seed : int
        Seed of the poses from which loops are closed.

    Raises
    ------
    CannotClose
        No closed pose was found for a loop.
    ContradictedState
        Stated values contradict each other.
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
    units = kinematics.coordinate_units(mech)
    values = (stated.q, assembly.q, mech.q_names, [unit if unit != "1" else "" for unit in units])
    notes = [
        _change_note(n, *values)
        for n, name in enumerate(mech.q_names)
        if name in stated.given and change[n] > constraints.AGREED
    ]
    if (moved := np.flatnonzero(change > _ALONE)).size:
        worst = max(moved.tolist(), key=lambda n: float(change[n]))
        unit = f" {units[worst]}" if units[worst] != "1" else ""
        notes.insert(0, f"loops closed first: {mech.q_names[worst]} moved most, by {change[worst]:.3g}{unit}")
    return assembly, tuple(notes)


def _change_note(n: int, before: Array, after: Array, names: Sequence[str], units: Sequence[str]) -> str:
    """Return a note on a stated value that changed, ``before`` and ``after`` (n,): by rounding or contradiction."""
    change = f"{names[n]} is {after[n]:.8g} in place of {before[n]:.8g}{f' {units[n]}' if units[n] else ''}"
    if abs(after[n] - before[n]) <= constraints.rounding_of(before[n]):
        return f"stated values agree up to their last digits: {change}"
    return f"the values of the call contradict the file: {change}"


def following_rates(
    mech: Mechanism,
    q: Array,
    stated: State,
    columns: Sequence[int] = _SPACE,
    poses: kinematics.BodyPoses | None = None,
) -> tuple[Array, tuple[str, ...]]:
    """Return the rates (nv,) that follow from the stated ones at a closed pose, and notes about those that changed.

    Parameters
    ----------
    q : (nq,) array
        The closed pose.
    stated : State
        The stated rates and their origin.
    columns : sequence of int
        Twist components that count.
    poses : BodyPoses, optional
        Body poses at q.
    """
    qd = stated.qd
    if not qd.any() and not any(driver.rate for driver in mech.drivers):
        return qd, ()
    in_tree = mech.tree.joint_of_pair
    closing = [c for c in mech.constraints() if c.name not in in_tree]
    if not closing:
        return qd, ()
    groups = _groups(mech, q, qd, closing, columns, kinematics.forward(mech, q) if poses is None else poses)
    rates, notes = np.array(qd), list[str]()
    caller, given = (
        np.array([name in names for name in mech.qd_names], dtype=bool)
        for names in (stated.named_rates, stated.named_rates | stated.given_rates)
    )
    for group in groups:
        rates[group.rates] = group.followed(mech, qd[group.rates], given[group.rates], caller[group.rates])
    change, least = np.abs(rates - qd), _ALONE * float(np.abs(rates).max(initial=0.0))
    values = (qd, rates, mech.qd_names, kinematics.rate_units(mech))
    notes += [
        _change_note(n, *values)
        for n in np.flatnonzero(given & ~caller & (change > constraints.AGREED + least)).tolist()
    ]
    moved = np.flatnonzero(~given & (qd != 0) & (change > least))
    if moved.size:
        worst = max(moved.tolist(), key=lambda n: float(change[n]))
        notes.append(
            f"rates made to agree with the constraints: {mech.qd_names[worst]} is {rates[worst]:.6g} "
            f"in place of {qd[worst]:.6g} {kinematics.rate_units(mech)[worst]}"
        )
    return rates, tuple(notes)


def _groups(
    mech: Mechanism,
    q: Array,
    qd: Array,
    closing: Sequence[Constraint],
    columns: Sequence[int],
    poses: kinematics.BodyPoses,
) -> list[_Group]:
    """Return the groups of constraints that share rates, as equations in those rates, at q (nq,) and qd (nv,)."""
    motion, paths = constraints.reduction.tree_motion(mech, poses), Paths(mech)
    rows = rows_of(mech, closing, poses, q, constraints.reduction.body_twists(mech, poses, qd))
    rows = [planar_rows(r, tuple(columns)) for r in rows]
    length = constraints.reduction.characteristic_length(rows, poses.p_WC, mech)
    units = constraints.reduction.rate_scale(mech, length) * seen_rates(motion.axes, columns)
    order = _order(mech)
    groups = []
    for group in connected([paths.of(c) for c in closing], range(len(closing))):
        own = [rows[k] for k in group.constraints]
        spans = [mech.tree.joints[k].qd for k in group.joints]
        rates = np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in spans)])
        scale = np.concatenate([np.zeros(0), *(constraints.reduction.row_scale(r, length) for r in own)])
        J = scale[:, None] * motion.reduce(own)[:, rates] * units[rates]
        b = scale * np.concatenate([np.zeros(0), *(r.b for r in own)])
        owners = [r.constraint for r in own for _ in r.components]
        # most rows of planar loops are zero
        says = np.flatnonzero((np.abs(J).max(axis=1, initial=0.0) > _ROUNDING) | (b != 0)).tolist()
        exact = all(isinstance(closing[k], Coupling | Driver | Lock) for k in group.constraints)
        told = [owners[k] for k in says]
        groups.append(_Group(rates, J[says], b[says], units[rates], order[rates], exact, told))
    return groups


def seen_rates(axes: Array, columns: Sequence[int]) -> AnyArray:
    """Return a mask (nv,) of the rates, with ``axes`` (6, nv), that cause motion in the given twist columns."""
    turns = np.linalg.norm(axes[ROTATION], axis=0) > 0
    # a turn is judged by its axis direction only, a travel by its direction
    seen = np.zeros(6)
    seen[list(columns)] = 1.0
    part = np.where(turns[None, :], axes * (np.arange(6) >= 3)[:, None], axes)
    return np.asarray(np.linalg.norm(part * seen[:, None], axis=0) > _IN_PLANE * np.linalg.norm(part, axis=0))


def _order(mech: Mechanism) -> AnyArray:
    """Return the order in which rates change, (nv,): 0 driven ones, 1 other joints, 2 leaders of couplings."""
    followers = {c.terms[0].joint for c in mech.couplings}
    leaders = {term.joint for c in mech.couplings for term in c.terms[1:]} - followers
    # bodies on the ground-side joint of a wheel's path, unless that is the wheel itself
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
        Unit of each scaled rate; zero for a rate that does not count.
    order : (n,) array of int
        Order in which the rates change.
    exact : bool
        Whether all rows are on joint coordinates only.
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
        """Return admissible rates (n,) that equal ``wanted`` (n,) where ``given`` (n,), else where ``caller`` (n,)."""
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
            raise constraints.unsatisfied("rates", self.owners[int(left.argmax())], constraints.FEWER_VALUES)
        names = [mech.qd_names[n] for n in self.rates.tolist()]

        def follows(some: Collection[str]) -> Mapping[str, float] | None:
            found = self._with(x, wanted, np.array([name in some for name in names], dtype=bool))
            return None if found is None else dict(zip(names, (found * self.units).tolist(), strict=True))

        stated = {name: float(wanted[n]) for n, name in enumerate(names) if given[n]}
        outranking = {name for n, name in enumerate(names) if caller[n]}
        if outranking:
            stated = {name: value for name, value in stated.items() if name in outranking}
        raise constraints.contradiction("rate", stated, outranking, follows, list(dict.fromkeys(self.owners)))

    def _with(self, x: Array, wanted: Array, held: AnyArray) -> Array | None:
        """Return admissible scaled rates near x (n,) with those ``held`` (n,) at ``wanted`` (n,), or None."""
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
        # a rate written with many digits represents all values that round to it
        units = np.where(self.units > 0, self.units, 1.0)
        allowed = np.array([constraints.rounding_of(value) for value in wanted.tolist()]) / units
        least = constraints.AGREED * max(size, float(np.abs(x).max(initial=0.0)))
        found = found + self._closing(gap, held & (allowed <= least))
        found = found + self._closing(self.J @ found + self.b, np.zeros_like(held))
        return found if (np.abs(found - x) <= np.maximum(allowed, least))[held].all() else None

    def _is_rounding(self, gap: Array, x: Array) -> bool:
        """Return True if a ``gap`` (k,) at scaled rates x (n,) is floating-point rounding."""
        most = float((np.abs(self.J) @ np.abs(x)).max(initial=0.0))
        return bool(np.abs(gap).max(initial=0.0) <= _ROUNDING * max(most, 1.0))

    def _closing(self, gap: Array, held: AnyArray) -> Array:
        """Return the step (n,) that closes a ``gap`` (k,) with the rates ``held`` (n,) fixed, driven rates first."""
        step = np.zeros(self.J.shape[1])
        free = ~held & (self.units > 0)
        if not free.any() or not len(gap):
            return step
        share = (_EXACT if self.exact else constraints.DEFAULT_TOLERANCE) * min(1.0, _WIDE / len(held))
        # a rate whose column is rounding beside those of fixed rates closes nothing
        least = _EXACT * float(np.linalg.norm(self.J))
        orders = sorted(set(self.order[free].tolist()), reverse=True)
        size = float(np.linalg.norm(self.J[:, free], 2)) if len(orders) > 1 else 0.0
        for k in orders:
            own, before = free & (self.order == k), free & (self.order < k)
            A, rest = self.J[:, own], -(gap + self.J @ step)
            if before.any():
                # leave to the rates of earlier order what they can close
                U, sigma, _ = np.linalg.svd(self.J[:, before], full_matrices=False)
                U = U[:, sigma > max(share * size, least)]
                A, rest = (part - U @ (U.T @ part) for part in (A, rest))
            V, sigma, Wt = np.linalg.svd(A, full_matrices=False)
            kept = sigma > max(share * (size or float(sigma.max(initial=0.0))), least)
            step[own] = Wt[kept].T @ ((V[:, kept].T @ rest) / sigma[kept])
        return step
