"""Loops without a closed form: dependent coordinates by Newton iterations, rates from the closing rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE, reduction
from mbplugin.constraints.closure import CLOSED
from mbplugin.constraints.rows import Rows, rows_of
from mbplugin.dynamics import body_accelerations
from mbplugin.errors import CannotClose
from mbplugin.model import AnyArray, Array, BodyPoses, Coupling, Mechanism, displace, forward, relative_pose
from mbplugin.model.mechanism.pair import Pair, measure, zero_coordinates

#: Remedies of loops that cannot be closed, and of rates that do not follow.
WITHIN_REACH = "keep the independent coordinates inside the range of the mechanism"
OTHER_COORDINATES = "change the independent coordinates before"
#: Largest number of freedoms of a cut pair in a plane.
PER_CUT = 3
Closings = Sequence[Pair | Coupling]
_CONVERGED = 1e-13
_ITERATIONS = 30
_LARGEST_STEP = 0.5
#: A partition is singular below this fraction of the mechanism's smallest nonzero singular value.
_SINGULAR = 1e-9
#: Name prefix for a free joint in a loop, which has no pair.
FREE = "free "
Cycle = frozenset[str]


# Layout of coordinates and rates: those of the tree, followed by the freedoms of the cut pairs.


@dataclass(frozen=True, eq=False)
class Layout:
    """Indices into y (coordinates) and yd (rates).

    Parameters
    ----------
    places : dict of pair name to (int, int)
        First coordinate and first rate of each pair; only for tree pairs whose coordinates are the integrals
        of their rates, and for cut pairs.
    """

    mech: Mechanism
    places: dict[str, tuple[int, int]]

    @property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return len(self.mech.q_names)

    @property
    def nv(self) -> int:
        """Number of joint rates."""
        return len(self.mech.qd_names)

    @property
    def cut_size(self) -> int:
        """Number of places reserved for freedoms of cut pairs."""
        return PER_CUT * len(self.mech.tree.cut)

    def is_cut(self, name: str) -> bool:
        """Return True if a pair closes a loop."""
        return name not in self.mech.tree.joint_of_pair

    def is_known(self, pair: Pair, known: set[int]) -> bool:
        """Return True if all rates of a pair are among the known ones.

        A cut pair may have fewer freedoms in a plane than reserved places; a dyad determines them together.
        """
        rate = self.places[pair.name][1]
        if self.is_cut(pair.name):
            return not pair.kind.free or not known.isdisjoint(range(rate, rate + PER_CUT))
        return known.issuperset(range(rate, rate + len(pair.kind.free)))

    def coordinates(self, rates: AnyArray) -> AnyArray:
        """Return the coordinate indices (m,) of some rates (k,); for quaternion joints all coordinates of the joint."""
        chosen = set(np.asarray(rates).tolist())
        out: list[int] = []
        for joint in self.mech.tree.joints:
            rate, at = range(joint.qd.start, joint.qd.stop), range(joint.q.start, joint.q.stop)
            if len(rate) == len(at):
                out += [q for v, q in zip(rate, at, strict=True) if v in chosen]
            elif chosen & set(rate):
                out += at
        return np.array(sorted(out), dtype=int)


def layout(mech: Mechanism) -> Layout:
    """Return the layout of all pairs."""
    places = {
        name: (joint.q.start, joint.qd.start)
        for name, joint in mech.tree.joint_of_pair.items()
        if joint.pair is not None and _plain(joint.pair.type, joint.pair.kind.free)
    }
    for k, pair in enumerate(mech.tree.cut):
        places[pair.name] = (len(mech.q_names) + PER_CUT * k, len(mech.qd_names) + PER_CUT * k)
    return Layout(mech, places)


def _plain(pair_type: str, free: tuple[str, ...]) -> bool:
    return len(zero_coordinates(pair_type, free)) == len(free)


def with_cut(layout: Layout, q: Array) -> Array:
    """Return y (nq + c,) at joint coordinates q (nq,), with the c coordinates of cut pairs at zero."""
    return np.concatenate((q, np.zeros(layout.cut_size)))


def measured(layout: Layout, q: Array) -> Array:
    """Return y (nq + c,) at a closed pose q (nq,), with the coordinates of the cut pairs measured from body poses.

    Further rotations that a cut pair leaves free are measured from this pose, so they are zero.
    """
    y, poses = with_cut(layout, q), forward(layout.mech, q)
    for pair in layout.mech.tree.cut:
        X_PS, (at, _) = relative_pose(layout.mech, pair, poses), layout.places[pair.name]
        if pair.type in ("cylindrical", "point-on-line"):
            y[at] = X_PS.p[2]
        elif len(own := measure(pair, X_PS)) <= PER_CUT:
            y[at : at + len(own)] = own
    return y


# Closing rows in joint rates: J q̈ = Γ, with the position residual, all in metres.


@dataclass(frozen=True, eq=False)
class ClosingRows:
    """Rows of some closures and couplings at a pose.

    Parameters
    ----------
    closings : sequence of Pair or Coupling
    length : float
        Factor on rows in rad, m.
    """

    mech: Mechanism
    closings: Closings
    length: float

    @cached_property
    def units(self) -> Array:
        """The unit of each joint rate, (nv,): ``length`` for travels, so that columns are comparable."""
        return reduction.rate_scale(self.mech, self.length)

    def linearise(self, q: Array) -> tuple[Array, Array]:
        """Return J (k, nv) and the residual (k,) at joint coordinates q (nq,)."""
        poses, motion = _pose(self.mech, q.tobytes())
        rows = rows_of(self.mech, self.closings, poses, q)
        scale = self._scale(rows)
        return scale[:, None] * motion.reduce(rows), scale * _joined([r.Phi for r in rows])

    def gamma(self, q: Array, qd: Array) -> Array:
        """Return Γ (k,) of J q̈ = Γ at q (nq,) and qd (nv,): the rows' Γ minus the part of Ṡ q̇."""
        poses, _ = _pose(self.mech, q.tobytes())
        twists, carried = _carried(self.mech, q.tobytes(), qd.tobytes())
        rows = rows_of(self.mech, self.closings, poses, q, twists)
        own = [r.Gamma - sum((e @ carried[i] for i, e in r.entries), np.zeros(len(r.Gamma))) for r in rows]
        return self._scale(rows) * _joined(own)

    def residuals(self, q: Array) -> dict[str, float]:
        """Return the largest position residual of each constraint at q (nq,), m."""
        rows = rows_of(self.mech, self.closings, forward(self.mech, q), q)
        return {r.constraint: float(np.abs(self._scale([r]) * r.Phi).max(initial=0.0)) for r in rows}

    def _scale(self, rows: Sequence[Rows]) -> Array:
        """Return the factors (k,) that make the rows metres: 1 for travels, ``length`` for angles."""
        return _joined([np.where(r.translation, 1.0, self.length) for r in rows])


@lru_cache(maxsize=2)
def _pose(mech: Mechanism, q: bytes) -> tuple[BodyPoses, reduction.TreeMotion]:
    """Return the body poses and the tree motion at joint coordinates, cached for loops at the same pose."""
    poses = forward(mech, np.frombuffer(q))
    return poses, reduction.tree_motion(mech, poses)


@lru_cache(maxsize=2)
def _carried(mech: Mechanism, q: bytes, qd: bytes) -> tuple[Array, Array]:
    """Return the twists (N, 6) of all bodies at a state, and their accelerations (N, 6) for zero q̈."""
    poses, rates = _pose(mech, q)[0], np.frombuffer(qd)
    twists = reduction.body_twists(mech, poses, rates)
    return twists, body_accelerations(mech, poses, twists, np.zeros(len(rates)))


def closing_rows(mech: Mechanism, closings: Closings, q: Array) -> ClosingRows:
    """Return the rows of some closures and couplings; the pose q (nq,) sets the characteristic length."""
    poses = forward(mech, q)
    rows = rows_of(mech, closings, poses, q)
    return ClosingRows(
        mech, closings, reduction.characteristic_length(rows, poses.p_WC, mech) if rows else 1.0
    )


def _joined(parts: Sequence[Array]) -> Array:
    """Return the concatenated parts, (k,)."""
    return np.concatenate(parts) if parts else np.zeros(0)


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """Dependent coordinates of coupled loops without a closed form.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    rows : ClosingRows
        Rows of their closures and couplings.
    dependent, known : tuple of int
        Indices of rates.
    reason : str
        One sentence on why there is no closed form.
    spatial : bool
        Whether some loop has no closed form with any choice of independent joints.
    """

    layout: Layout
    rows: ClosingRows
    dependent: tuple[int, ...]
    known: tuple[int, ...]
    reason: str
    spatial: bool

    kind = "Newton"
    branch = 0

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the dependent rates."""
        return tuple(self.layout.mech.qd_names[k] for k in self.dependent)

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the dependent coordinates solved, starting from their values in y.

        Raises
        ------
        CannotClose
            The Newton iterations do not converge.
        """
        q, D = y[: self.layout.nq], list(self.dependent)
        units = self.rows.units
        for _ in range(_ITERATIONS):
            J, Phi = self.rows.linearise(q)
            step = np.zeros(self.layout.nv)
            # the pseudoinverse (d, k) of J (k, d) at the default rank tolerance, which bounds the step
            step[D] = np.asarray(np.linalg.pinv((J * units)[:, D], rcond=DEFAULT_TOLERANCE)) @ -Phi
            size = float(np.abs(step).max(initial=0.0))
            step *= min(1.0, _LARGEST_STEP / max(size, 1e-300))
            q = displace(self.layout.mech, q, units * step)
            if size <= _CONVERGED:
                break
        gaps = self.rows.residuals(q)
        worst = max(gaps, key=lambda name: gaps[name])
        if not gaps[worst] <= CLOSED * self.rows.length:
            raise CannotClose(
                f"the loop through {worst!r} cannot be closed: {gaps[worst]:.3g} m stay open",
                remedy=WITHIN_REACH,
            )
        return np.concatenate((q, y[self.layout.nq :]))

    def alternatives(self) -> Iterator[NewtonStep]:
        """Yield nothing: Newton iterations follow the motion and have no branches."""
        return iter(())

    def slope(self, y: Array) -> Array:
        """Return ∂q̇_D/∂q̇_I = −C_D⁻¹ C_I, (dependent, known) (blajer1994 (7))."""
        J, _ = self.rows.linearise(y[: self.layout.nq])
        return -self._inverse(J) @ J[:, list(self.known)]

    def bias(self, y: Array, yd: Array) -> Array:
        """Return ξ = C_D⁻¹ Γ (dependent,) at rates of all joints (blajer1994 (8))."""
        q, qd = y[: self.layout.nq], yd[: self.layout.nv]
        J, _ = self.rows.linearise(q)
        return np.asarray(self._inverse(J) @ self.rows.gamma(q, qd))

    def margin(self, y: Array) -> float:
        """Return the conditioning of the dependent columns relative to all columns, 0 (singular) … 1."""
        return self._margin(self.rows.linearise(y[: self.layout.nq])[0])

    def _margin(self, J: Array) -> float:
        """Return the conditioning of the dependent columns of J (k, nv) relative to all columns, 0 … 1."""
        J = J * self.rows.units
        own = np.linalg.svd(J[:, list(self.dependent)], compute_uv=False)
        everything = np.linalg.svd(J, compute_uv=False)
        k = len(self.dependent) - 1
        return min(1.0, float(own[k] / everything[k])) if len(own) > k and everything[k] else 0.0

    def _inverse(self, J: Array) -> Array:
        """Return C_D⁻¹ (dependent, k), C_D the dependent columns of J (k, nv)."""
        if self._margin(J) <= _SINGULAR:
            raise CannotClose(
                f"the rates of {', '.join(map(repr, self.joints))} do not follow from the others here",
                remedy=OTHER_COORDINATES,
            )
        D = list(self.dependent)
        return np.asarray(
            self.rows.units[D, None] * np.linalg.pinv((J * self.rows.units)[:, D], rcond=_SINGULAR)
        )


# Loops of a mechanism: the fundamental cycle of each cut pair, and the order of its pairs.


def fundamental_cycle(mech: Mechanism, cut: Pair) -> Cycle:
    """Return the names of a cut pair and of the tree joints with which it forms a loop."""
    return frozenset({cut.name}) | (_way_in(mech, cut.body_a) ^ _way_in(mech, cut.body_b))


def _way_in(mech: Mechanism, body: str) -> Cycle:
    joints = mech.tree.way_in(body)
    return frozenset(FREE + joint.outer if joint.pair is None else joint.pair.name for joint in joints)


def once_round(mech: Mechanism, cycle: Cycle) -> list[tuple[Pair, bool]] | None:
    """Return the pairs of a loop in order, and whether each is traversed from its predecessor to its successor.

    The loop starts at the ground, or at the first of its bodies in the file, with the first of its pairs in the
    file. None if the pairs do not form one simple loop.
    """
    pairs = [pair for pair in mech.pairs if pair.name in cycle]
    at: dict[str, list[Pair]] = {}
    for pair in pairs:
        for body in pair.bodies:
            at.setdefault(body, []).append(pair)
    if len(pairs) != len(cycle) or any(len(two) != 2 for two in at.values()):
        return None
    start = min(at, key=lambda name: mech.body_index[name])
    out: list[tuple[Pair, bool]] = []
    here, pair = start, at[start][0]
    while True:
        forward = pair.body_a == here
        out.append((pair, forward))
        here = pair.body_b if forward else pair.body_a
        if here == start:
            return out if len(out) == len(pairs) else None
        first, second = at[here]
        pair = second if first is pair else first
