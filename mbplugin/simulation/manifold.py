"""Motion along the constraint manifold: independent coordinates are moved, and the others follow."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.closure import Closure, solve_at_poses
from mbplugin.constraints.moving import advanced
from mbplugin.constraints.rank import View, sample_poses
from mbplugin.model import AnyArray, Array, Mechanism, TreeJoint, coordinate_units, pivot_order, rate_units

#: Largest and smallest step of an independent coordinate, rad or characteristic lengths.
_STEP, _SMALLEST = 0.08, 5e-4
#: Allowed misfit of a pose, in characteristic lengths; the larger value if the start is closed up to rounding only.
_CLOSED, _ROUNDED = 1e-7, 1e-4
#: Largest motion of a coordinate in one step, rad or characteristic lengths; a larger one reaches another assembly.
_JUMP = 0.8
#: Largest range to each side of the start, in half turns or characteristic lengths; each takes forty steps.
_REACHES = 10
#: Additional poses at which the freedoms are counted.
_SAMPLES = 4
#: Preference for independent coordinates: motors, other joints, rotations of ball joints.
_MOTOR, _JOINT, _BALL = 1.0, 0.2, 0.02


@dataclass(frozen=True)
class Slider:
    """An independent coordinate that can be moved.

    Parameters
    ----------
    rate : int
        Its index in qd.
    start, lower, upper : float
        Its initial value and its range, rad or m; for a ball joint, the rotation about an axis since the start.
    below, above : str
        Note on what is beyond the range; empty if the range was not cut.
    """

    name: str
    rate: int
    start: float
    lower: float
    upper: float
    below: str = ""
    above: str = ""


@dataclass(frozen=True)
class PoseVerdict:
    """Redundancy p, rank of the constraint rows, and singularity at a pose."""

    degree_of_redundancy: int
    rank: int
    singular: bool


@dataclass(frozen=True, eq=False)
class Followed:
    """Result of moving a slider: the pose, the distance moved, and the reason for stopping (empty: none)."""

    q: Array
    moved: float
    stopped: str = ""


class Step(NamedTuple):
    """A step of an independent coordinate from a closed pose q (nq,), rad or m."""

    slider: Slider
    q: Array
    part: float


T = TypeVar("T")
#: Asks for steps, gets the pose after each and what forbids it, and returns a result.
Walk = Generator[Step, tuple[Array, str] | None, T]


@dataclass(frozen=True, eq=False)
class SampledPath:
    """Poses along one independent coordinate.

    Parameters
    ----------
    values : (n,) array
        Values of the coordinate, rad or m, increasing.
    q : (n, nq) array
        Closed poses.
    start : int
        Index of the initial pose.
    low, high : str
        What ends the path at each side; empty if nothing does.
    """

    values: Array
    q: Array
    start: int
    low: str
    high: str


class Manifold:
    """The poses that a mechanism can reach without opening a loop; free bases stay where they are.

    Parameters
    ----------
    view : View
        The mechanism at a closed pose, with the tolerance of its analysis.
    structural_redundancy : int
        p at a generic pose.
    """

    def __init__(self, view: View, structural_redundancy: int) -> None:
        self.view, self.mech, self.structural = view, view.mech, structural_redundancy
        self.closure = Closure(view.mech, view.q)
        exact = max(self.closure.initial.values(), default=0.0) <= _CLOSED * self.closure.length
        self._misfit = (_CLOSED if exact else _ROUNDED) * self.closure.length
        self._units = np.array(
            [self.closure.length if unit == "m/s" else 1.0 for unit in rate_units(view.mech)]
        )
        self._lengths = np.array(
            [self.closure.length if unit == "m" else 1.0 for unit in coordinate_units(view.mech)]
        )
        self._limits = _Limits.of(view.mech)
        self.sliders = self._chosen()
        self._following = ~_held(self.mech)
        self._following[[slider.rate for slider in self.sliders]] = False

    def lead(self, slider: Slider, q: Array, way: float) -> Followed:
        """Move one independent coordinate in small steps, and return the pose that is reached.

        The other independent coordinates stay fixed; the dependent ones follow.

        Parameters
        ----------
        q : (nq,) array
            A closed pose.
        way : float
            Distance to move, rad or m.
        """
        return self._answered([self._leading(slider, q, way)])[0]

    def along(self, starts: Sequence[tuple[Slider, Array]], count: int) -> list[SampledPath]:
        """Return poses over the reachable range of an independent coordinate, on both sides of each start.

        Parameters
        ----------
        starts : sequence of (Slider, (nq,) array)
            The coordinate, and the closed pose at which it has its initial value.
        count : int
            Number of poses on each side.
        """
        # all sides of all starts move at once, so that their loops are closed together
        sides = self._answered(
            [
                self._one_way(slider, q, end - slider.start, count)
                for slider, q in starts
                for end in (slider.lower, slider.upper)
            ]
        )
        paths = []
        for (slider, q), (below, low), (above, high) in zip(starts, sides[::2], sides[1::2], strict=True):
            found = [*reversed(below), (slider.start, q), *above]
            paths.append(
                SampledPath(
                    np.array([value for value, _ in found]),
                    np.array([pose for _, pose in found]),
                    len(below),
                    low or slider.below,
                    high or slider.above,
                )
            )
        return paths

    def _answered(self, walks: Sequence[Walk[T]]) -> list[T]:
        """Return the results of all walks; the steps that they request are computed together."""
        out: dict[int, T] = {}
        answers: dict[int, tuple[Array, str] | None] = dict.fromkeys(range(len(walks)))
        while answers:
            asked: dict[int, Step] = {}
            for k, answer in answers.items():
                try:
                    asked[k] = walks[k].send(answer)
                except StopIteration as end:
                    out[k] = end.value
            answers = dict(zip(asked, self._followed([*asked.values()]), strict=True))
        return [out[k] for k in range(len(walks))]

    def _leading(self, slider: Slider, q: Array, way: float) -> Walk[Followed]:
        """Yield the steps of :meth:`lead` from q (nq,), and return its result."""
        unit = float(self._units[slider.rate])
        moved, step = 0.0, _STEP * unit
        while abs(way - moved) > 1e-9 * unit:
            part = float(np.clip(way - moved, -step, step))
            answer = yield Step(slider, q, part)
            assert answer is not None
            there, reason = answer
            if not reason:
                q, moved, step = there, moved + part, min(_STEP * unit, 2 * step)
            elif abs(part) > _SMALLEST * unit:
                step = 0.5 * abs(part)
            else:
                return Followed(q, moved, reason)
        return Followed(q, moved)

    def _one_way(
        self, slider: Slider, q: Array, way: float, count: int
    ) -> Walk[tuple[list[tuple[float, Array]], str]]:
        """Yield the steps on one side of q (nq,); return values and poses there, and the reason why the path ends."""
        found: list[tuple[float, Array]] = []
        value = slider.start
        for _ in range(count if way else 0):
            followed = yield from self._leading(slider, q, way / count)
            q, value = followed.q, value + followed.moved
            if followed.moved:
                found.append((value, q))
            if followed.stopped:
                return found, followed.stopped
        return found, ""

    def verdict_at(self, q: Array) -> PoseVerdict:
        """Return redundancy, rank and singularity at a pose q (nq,)."""
        here = self.view.at(q)
        p = here.redundancy
        rows = sum(len(labels) for labels in here.row_labels.values())
        return PoseVerdict(p, rows - p, p > self.structural)

    def _followed(self, steps: Sequence[Step]) -> list[tuple[Array, str]]:
        """Return the pose after each step, and the reason if the step is impossible (else empty)."""
        if not steps:
            return []
        before = np.array([step.q for step in steps])
        after = before.copy()
        moved = np.array([step.slider.rate for step in steps])
        parts = np.array([step.part for step in steps])
        for rate in np.unique(moved).tolist():
            joint, own = _joint_of(self.mech, rate), np.flatnonzero(moved == rate)
            assert joint.pair is not None
            lead = np.zeros((len(own), 1, joint.qd.stop - joint.qd.start))
            lead[:, 0, rate - joint.qd.start] = parts[own]
            after[own, joint.q] = advanced(joint.pair.type, before[own, None, joint.q], lead)[:, 0]
        after, gaps = solve_at_poses(self.closure, after, moved, self._following)
        return [
            (before[k], reason) if reason else (after[k], "")
            for k, reason in enumerate(self._obstacles(before, after, gaps))
        ]

    def _obstacles(self, before: Array, after: Array, gaps: Array) -> list[str]:
        """Return the obstacle to each step from ``before`` (K, nq) to ``after`` (K, nq); empty for none.

        ``gaps`` (K,) are those of the loops after the steps, m.
        """
        leaps = np.zeros(len(gaps), dtype=bool)
        if self.closure.constraints:
            leaps = (np.abs(after - before) / self._lengths).max(axis=1, initial=0.0) > _JUMP
        out = []
        limited = self._limits.beyond(before, after)
        for gap, leap, name in zip(gaps.tolist(), leaps.tolist(), limited, strict=True):
            if gap > self._misfit:
                out.append("the loop lets it go no farther")
            elif leap:
                out.append("the loop would have to jump")
            else:
                out.append(f"{name} is at its limit" if name else "")
        return out

    def _chosen(self) -> tuple[Slider, ...]:
        """Return one independent coordinate per freedom, preferably those of motors."""
        free = np.flatnonzero(~_held(self.mech))
        if not free.size:
            return ()
        poses = [self.view.q, *sample_poses(self.mech, self.view.q, _SAMPLES)]
        basis = min((self._motions(q, free) for q in poses), key=len)
        if not len(basis):
            return ()
        order = pivot_order(basis * _preference(self.mech)[free])
        leading = sorted(int(free[k]) for k in order[: len(basis)])
        return tuple(_slider(self.mech, self.view.q, rate, self.closure.length) for rate in leading)

    def _motions(self, q: Array, free: AnyArray) -> Array:
        """Return an orthonormal basis (d, n) of the motions at q (nq,), in the scaled ``free`` (nv,) rates."""
        if not self.closure.constraints:
            return np.eye(free.size)
        J = self.closure.linearise(q)[0][:, free] * self._units[free]
        _, sigma, Vt = np.linalg.svd(J)
        rank = int((sigma > DEFAULT_TOLERANCE * max(float(sigma.max(initial=0.0)), 1e-300)).sum())
        return np.asarray(Vt[rank:])


def _held(mech: Mechanism) -> AnyArray:
    """Return flags (nv,) of the rates of free bases."""
    held = np.zeros(len(mech.qd_names), dtype=bool)
    for joint in mech.tree.joints:
        held[joint.qd] = joint.pair is None
    return held


def _preference(mech: Mechanism) -> Array:
    """Return weights (nv,) of the rates for the choice of independent ones; the largest are preferred."""
    weights = np.full(len(mech.qd_names), _JOINT)
    for joint in mech.tree.joints:
        if joint.q.stop - joint.q.start > joint.qd.stop - joint.qd.start:
            weights[joint.qd] = _BALL
        elif joint.pair is not None and any(0 < f.effort < np.inf for f in joint.pair.freedoms):
            weights[joint.qd] = _MOTOR
    return weights


def _slider(mech: Mechanism, q: Array, rate: int, length: float) -> Slider:
    """Return the slider of a joint rate, with its initial value from q (nq,)."""
    joint = _joint_of(mech, rate)
    assert joint.pair is not None
    k = rate - joint.qd.start
    turns_of_ball = joint.q.stop - joint.q.start > joint.qd.stop - joint.qd.start
    start = 0.0 if turns_of_ball else float(q[joint.q.start + k])
    reach = length if rate_units(mech)[rate] == "m/s" else np.pi
    lower, upper = start - reach, start + reach
    limits = joint.pair.freedoms[0] if len(joint.pair.freedoms) == 1 else None
    if limits is not None and -np.inf < limits.lower <= limits.upper < np.inf:
        lower, upper = min(start, limits.lower), max(start, limits.upper)
    low, high = max(lower, start - _REACHES * reach), min(upper, start + _REACHES * reach)
    more = (f"its limits go on to {end:.3g}" for end in (lower, upper))
    below, above = (text if cut else "" for text, cut in zip(more, (low > lower, high < upper), strict=True))
    return Slider(mech.qd_names[rate], rate, start, float(low), float(high), below, above)


@dataclass(frozen=True, eq=False)
class _Limits:
    """Limits of the joints with one freedom and a range: their names, coordinates (n,), and ends (n,), rad or m."""

    names: tuple[str, ...]
    q: AnyArray
    lower: Array
    upper: Array

    @classmethod
    def of(cls, mech: Mechanism) -> _Limits:
        """Return the limits of a mechanism."""
        found = [
            (joint.pair.name, joint.q.start, joint.pair.freedoms[0].lower, joint.pair.freedoms[0].upper)
            for joint in mech.tree.joints
            if joint.pair is not None and len(joint.pair.freedoms) == 1
        ]
        limited = [row for row in found if row[2] <= row[3]]
        names, q, lower, upper = zip(*limited, strict=True) if limited else ((), (), (), ())
        return cls(names, np.array(q, dtype=int), np.array(lower, dtype=float), np.array(upper, dtype=float))

    def beyond(self, before: Array, after: Array) -> list[str]:
        """Return a joint that moves past a limit in each step, ``before`` (K, nq) to ``after`` (K, nq); else empty."""
        if not self.names:
            return [""] * len(before)
        old, new = before[:, self.q], after[:, self.q]
        outwards = ((new > self.upper) & (new > old)) | ((new < self.lower) & (new < old))
        return [self.names[row.argmax()] if row.any() else "" for row in outwards]


def _joint_of(mech: Mechanism, rate: int) -> TreeJoint:
    """Return the joint of a rate."""
    (joint,) = (j for j in mech.tree.joints if j.qd.start <= rate < j.qd.stop)
    return joint
