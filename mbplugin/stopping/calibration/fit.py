"""The least-squares fit of a law to measured times and distances, and the estimate of their scatter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import least_squares

from mbplugin.errors import BadUsage
from mbplugin.model import AnyArray, Array, Brake, JointBrake, Mechanism, Ramp, joint_vector
from mbplugin.model.scene import Payload, Scene, mechanism_of
from mbplugin.stopping.batch import CompiledStop, require_compiled_stop
from mbplugin.stopping.calibration.measured import Measurement
from mbplugin.stopping.defaults import DefaultTool, payload_share, rated_payload
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario.drives import Ramps
from mbplugin.stopping.table.extension import ExtensionPoses, moving_chain, table_axes

#: Step of difference quotients, and smallest positive value, relative to the size of a parameter.
_STEP, _SMALLEST = 1e-4, 1e-3
#: A value below this, relative to the size of the parameter, is at its bound 0.
_AT_BOUND = 1e-7
#: Weights of times and distances differ by powers of this factor; number of rounds to determine it.
_FACTOR, _ROUNDS = 4.0, 6
#: With fewer degrees of freedom a scatter is too uncertain: a law might be taken that fits all distances by chance, but
#: no time.
FEW = 3.0
#: Scatter that counts as exact, relative to the data; the error of the simulator is smaller.
_EXACT = 1e-6
#: Singular values of the scaled Jacobian below this share of the largest count as zero, because difference quotients
#: are not more accurate.
ZERO = 2e-4
#: Parameters by which a law divides.
_POSITIVE = ("time", "deceleration", "short_circuit_rate")
#: Fitted parameters of brakes and ramps; the names are those of the tables of a scene.
FRICTION = ("delay", "torque", "viscous")
SHORT_CIRCUIT = ("delay", "torque", "short_circuit", "short_circuit_rate")
BRAKE = ("delay", "torque", "viscous", "short_circuit", "short_circuit_rate")
RAMP = ("reaction", "time", "deceleration")
TIMED, CONSTANT = ("reaction", "time"), ("reaction", "deceleration")
#: A stop counts as never ending in a fit if it takes this many times as long as the longest measured one.
_LONGEST = 4.0
_UNITS = {
    "delay": ("s", "s"),
    "reaction": ("s", "s"),
    "time": ("s", "s"),
    "torque": ("N·m", "N"),
    "viscous": ("N·m·s/rad", "N·s/m"),
    "short_circuit": ("N·m·s/rad", "N·s/m"),
    "short_circuit_rate": ("rad/s", "m/s"),
    "deceleration": ("rad/s²", "m/s²"),
}
#: Torque or force that locks the joints that are not stopped, N·m or N, as drives and brakes do in a robot.
_HOLDING = 1e6
#: Gravity acts on an axis if it would accelerate it by more than this, rad/s² or m/s².
_NO_GRAVITY = 1e-6


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted values of parameters.

    Parameters
    ----------
    problem : Problem
    values : mapping of str to float
        Fitted and fixed values.
    x : (p,) array
        Fitted values divided by their sizes.
    weights : (n, 2) array
        Divisors of the residuals: the stated standard deviations, or relative weights, s; rad or m.
    stated : bool
        Whether the file states the scatter.
    residuals : (m,) array
        Computed minus measured, divided by the weights, of the fitted times and distances.
    jacobian : (m, p) array
        Derivatives of the residuals with respect to the scaled parameters.
    """

    problem: Problem
    values: Mapping[str, float]
    x: Array
    weights: Array
    stated: bool
    residuals: Array
    jacobian: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the fitted parameters."""
        return self.problem.names

    @property
    def used(self) -> AnyArray:
        """Mask (n, 2) of the times and distances that were fitted."""
        return self.problem.used

    @property
    def channel(self) -> AnyArray:
        """Kind of each residual (m,): 0 for a time, 1 for a distance."""
        return self.problem.channel

    @property
    def sizes(self) -> Array:
        """Sizes (p,) of the parameters: values that would explain a whole stop; the Jacobian is scaled by them."""
        return np.array([self.problem.model.sizes[name] for name in self.names])

    @property
    def squares(self) -> float:
        """Sum of squared residuals."""
        return float(self.residuals @ self.residuals)


def measured(rows: Sequence[Measurement]) -> Array:
    """Return the measured times and distances (n, 2) of rows, NaN where not measured, s; rad or m."""
    return np.array([(row.time, row.distance) for row in rows])


def fit(
    model: RowModel, names: Sequence[str], fixed: Mapping[str, float] | None = None, times: bool = True
) -> Fit:
    """Return the parameter values for which the computed stops are nearest to the measured ones.

    Times and distances are weighted by their stated scatter, else relative to their magnitude. If residuals show that
    one scatters much more than the other, their weights change by a power of four; weights adapted more finely would
    follow chance and make the intervals too narrow. With few numbers the weights stay relative.

    Parameters
    ----------
    names : sequence of str
        Parameters that are fitted.
    fixed : mapping, optional
        Values of other parameters.
    times : bool
        Whether times are fitted; if not, distances only.
    """
    data = measured(model.rows)
    used = np.isfinite(data)
    used[:, 0] &= times
    problem = Problem(model, tuple(names), dict(fixed or {}), data, used)
    weights, stated = _stated(model.rows, used)
    if weights is None:
        weights = _relative(data, used, model.rows)
    starts = sorted({tuple(problem.vector(start)) for start in model.starts})
    best = min((problem.solve(np.array(x), weights) for x in starts), key=lambda found: float(found.cost))
    for _ in range(0 if stated or not used.any(axis=0).all() else _ROUNDS):
        found = scatter_of(best.fun, best.jac, problem.channel)
        if found is None or min(found[1]) < FEW:
            break
        of_time, of_distance = np.maximum(found[0], _EXACT)
        step = round(float(np.log(of_time / of_distance)) / np.log(_FACTOR))
        if not step:
            break
        weights = weights * [_FACTOR**step, 1.0]
        best = problem.solve(best.x, weights)
    x = np.where((best.x < _AT_BOUND) & (problem.lower == 0.0), 0.0, best.x)
    values = {**problem.fixed, **problem.values(x)}
    return Fit(problem, values, x, weights, stated, best.fun, best.jac)


def _relative(data: Array, used: AnyArray, rows: Sequence[Measurement]) -> Array:
    """Return weights (n, 2): the magnitude of times and of distances, divided by the square root of the repeats.

    Parameters
    ----------
    data, used : (n, 2) array
        Measured values, and a mask of those that are fitted.
    """
    sizes = [
        float(np.sqrt(np.mean(c[u] ** 2))) if u.any() else 1.0 for c, u in zip(data.T, used.T, strict=True)
    ]
    counts = np.array([row.repeats for row in rows])
    return np.asarray(np.array([size or 1.0 for size in sizes]) / np.sqrt(counts)[:, None])


class Problem:
    """Residuals of scaled parameters, each a multiple of its size.

    Parameters
    ----------
    model : RowModel
    names : tuple of str
    fixed : dict of str to float
        Values of the parameters that are not fitted.
    data, used : (n, 2) array
        Measured times and distances, s, rad or m, and a mask of those that are fitted.
    """

    def __init__(
        self, model: RowModel, names: tuple[str, ...], fixed: dict[str, float], data: Array, used: AnyArray
    ) -> None:
        self.model, self.names, self.fixed, self.data, self.used = model, names, fixed, data, used
        self.channel = np.nonzero(used)[1]
        self.lower = np.array([_SMALLEST if name in _POSITIVE else 0.0 for name in names])
        sizes = [model.sizes[name] for name in names]
        highest = [model.highest.get(name, np.inf) / size for name, size in zip(names, sizes, strict=True)]
        self.upper = np.array(highest)

    def values(self, x: Array) -> dict[str, float]:
        """Return the values of scaled parameters x (p,) by name."""
        return {name: float(v) * self.model.sizes[name] for name, v in zip(self.names, x, strict=True)}

    def vector(self, values: Mapping[str, float]) -> Array:
        """Return scaled parameters (p,) within their bounds."""
        x = np.array([values[name] / self.model.sizes[name] for name in self.names])
        return np.asarray(np.clip(x, self.lower + 1e-6, self.upper))

    def residuals(self, x: Array, weights: Array) -> Array:
        """Return computed minus measured values (m,) at x (p,), divided by the weights (n, 2)."""
        difference = self.model.predict({**self.fixed, **self.values(x)}) - self.data
        return np.asarray((difference / weights)[self.used])

    def jacobian(self, x: Array, weights: Array) -> Array:
        """Return the derivatives (m, p) of the residuals at x (p,) with weights (n, 2): difference quotients."""
        columns = []
        for k in range(len(x)):
            ahead, behind = x.copy(), x.copy()
            ahead[k] = min(x[k] + _STEP, self.upper[k])
            behind[k] = max(x[k] - _STEP, self.lower[k])
            change = self.residuals(ahead, weights) - self.residuals(behind, weights)
            columns.append(change / (ahead[k] - behind[k]))
        return np.column_stack(columns)

    def solve(self, x: Array, weights: Array) -> Any:
        """Return the result of SciPy's least squares from x (p,), with weights (n, 2)."""
        # SciPy's trust region may overflow with huge or tiny steps, but recovers
        with np.errstate(over="ignore", invalid="ignore"):
            return least_squares(
                lambda y: self.residuals(y, weights),
                np.clip(x, self.lower + 1e-9, self.upper),
                lambda y: self.jacobian(y, weights),
                bounds=(self.lower, self.upper),
                xtol=1e-10,
                ftol=1e-10,
                gtol=1e-12,
                max_nfev=100,
            )


def _stated(rows: Sequence[Measurement], used: AnyArray) -> tuple[Array | None, bool]:
    """Return the stated scatter (n, 2) of row means if every used (n, 2) value has one, and whether it does."""
    spreads = np.array([(row.time_spread or np.nan, row.distance_spread or np.nan) for row in rows])
    if not (np.isfinite(spreads) | ~used).all():
        return None, False
    scatter = np.where(used, spreads, 1.0) / np.sqrt([[row.repeats] for row in rows])
    return np.asarray(scatter), True


def scatter_of(residuals: Array, jacobian: Array, channel: AnyArray) -> tuple[Array, Array] | None:
    """Return the scatter (2,) of times and of distances, and their degrees of freedom (2,).

    The fitted parameters mix the errors, so the expected sum of squares of either kind is a combination of both
    variances (MINQUE of order 0). None if there are too few numbers for two scatters.

    Parameters
    ----------
    residuals, channel : (m,) array
        Residuals and their kinds: 0 for a time, 1 for a distance.
    jacobian : (m, p) array
    """
    projector = np.eye(len(residuals)) - _hat(jacobian)
    own = [channel == c for c in (0, 1)]
    parts = np.array([[float((projector[np.ix_(i, j)] ** 2).sum()) for j in own] for i in own])
    squares = np.array([float((residuals[i] ** 2).sum()) for i in own])
    present = [c for c in (0, 1) if own[c].any()]
    if any(parts[c, c] < 1.0 for c in present):
        return None
    variances = np.zeros(2)
    variances[present] = np.linalg.solve(parts[np.ix_(present, present)], squares[present])
    if (variances[present] <= 0.0).any():
        return None
    return np.sqrt(variances), np.diag(parts)


def _hat(jacobian: Array) -> Array:
    """Return the orthogonal projector (m, m) onto the column space of a jacobian (m, p)."""
    U, s, _ = np.linalg.svd(jacobian, full_matrices=False)
    kept = U[:, s > ZERO * s[0]] if len(s) and s[0] > 0.0 else U[:, :0]
    return np.asarray(kept @ kept.T)


# The fitted parameters of a joint's brake or ramp, with units, and the models of its rows.


def unit_of(parameter: str, freedom: str) -> str:
    """Return the unit of a parameter of a joint with a freedom such as ``rz``."""
    return _UNITS[parameter][freedom[0] == "t"]


class RowModel(Protocol):
    """The computed stops of the rows of a joint; parameters are given by name."""

    @property
    def rows(self) -> Sequence[Measurement]:
        """The rows."""
        ...

    @property
    def sizes(self) -> Mapping[str, float]:
        """Size of each parameter: the value that alone would explain a whole stop."""
        ...

    @property
    def starts(self) -> Sequence[Mapping[str, float]]:
        """Initial values of a fit."""
        ...

    @property
    def highest(self) -> Mapping[str, float]:
        """Upper bounds of parameters that have one."""
        ...

    def predict(self, values: Mapping[str, float]) -> Array:
        """Return the computed times and distances (n, 2) of the rows, s, rad or m."""
        ...


class BrakeModel:
    """Category-0 stops by the simulator, with the gravity, coupling and payload of each row."""

    def __init__(self, bench: Bench, joint: str, rows: Sequence[Measurement], fixed: Brake) -> None:
        self.rows, self._bench, self._fixed = rows, bench, fixed
        self._own = [brake.joint for brake in bench.brakes].index(joint)
        firsts, self._index = distinct(rows)
        self.stops = [bench.start(row) for row in firsts]
        self.gravity = max(
            abs(stop.gravity) / (stop.inertia * row.speed / _span(row))
            for stop, row in zip(self.stops, firsts, strict=True)
        )
        self._duration = _LONGEST * max(_span(row) for row in firsts)
        bench.compiled.scenario = replace(bench.compiled.scenario, duration=self._duration)
        self.sizes, self.starts, self.highest = self._guesses(firsts)

    def predict(self, values: Mapping[str, float]) -> Array:
        """Return the computed times and distances (n, 2) of the rows, s, rad or m."""
        compiled, n = self._bench.compiled, self._own
        brakes = list(self._bench.brakes)
        brakes[n] = braked(brakes[n], brake_with(self._fixed, values))
        compiled.set_brakes(tuple(brakes))
        compiled.scenario = replace(compiled.scenario, duration=self._duration)
        found = []
        for stop in self.stops:
            compiled.set_payloads(stop.payloads)
            out = compiled.stop(stop.q, stop.qd)
            moving = out.outcome in ("not_stopped", "loop_opened")
            found.append((self._duration if moving else float(out.times[n]), abs(float(out.travels[n]))))
        self._bench.count(len(found))
        return np.array(found)[self._index]

    def _guesses(
        self, firsts: Sequence[Measurement]
    ) -> tuple[dict[str, float], list[dict[str, float]], dict[str, float]]:
        speed, time = max(row.speed for row in firsts), float(np.median([_span(row) for row in firsts]))
        pull = max(max(stop.gravity for stop in self.stops), 0.0)
        inertial = max(
            stop.inertia * row.speed / _span(row) for stop, row in zip(self.stops, firsts, strict=True)
        )
        torque = inertial + pull
        sizes = {
            "delay": time,
            "torque": torque,
            "viscous": torque / speed,
            "short_circuit": 2 * torque / speed,
            "short_circuit_rate": speed,
        }
        index = float(np.nanmedian([row.shape_index for row in firsts] + [1.0]))
        late = min(max((index - 1.0) * time, 0.02 * time), 0.8 * time)
        motor = {"delay": 0.05 * time, "torque": 0.5 * inertial + 1.1 * pull, "short_circuit": torque / speed}
        starts = [
            {
                "delay": late,
                "torque": inertial * time / (time - late) + 1.05 * pull,
                "viscous": 0.05 * sizes["viscous"],
            },
            {"delay": 0.05 * time, "torque": 0.5 * inertial + 1.1 * pull, "viscous": 0.5 * sizes["viscous"]},
        ]
        wide = [{**motor, "short_circuit_rate": share * speed} for share in (0.3, 1.0)]
        starts = [{**motor, **start, "short_circuit_rate": speed} for start in starts]
        return (
            sizes,
            [*starts, *({**starts[1], **start} for start in wide)],
            {"short_circuit_rate": 20 * speed},
        )


class RampModel:
    """Controlled stops in closed form, which need no masses."""

    def __init__(self, rows: Sequence[Measurement]) -> None:
        self.rows = rows
        self._speeds = np.array([row.speed for row in rows])
        time = float(np.median([_span(row) for row in rows]))
        speed = float(np.median(self._speeds))
        ways = np.array([row.distance / row.speed for row in rows])
        mean = float(np.nanmedian(ways)) if np.isfinite(ways).any() else 0.5 * time
        self.sizes = {"reaction": time, "time": 2 * mean, "deceleration": 0.5 * speed / mean}
        self.starts = [{"reaction": 0.1 * mean, "time": 1.8 * mean, "deceleration": 0.6 * speed / mean}]
        self.highest = {"deceleration": 1e3 * speed / mean}

    def predict(self, values: Mapping[str, float]) -> Array:
        """Return the computed times and distances (n, 2) of the rows, s, rad or m."""
        n = len(self._speeds)
        deceleration = values.get("deceleration")
        slowed = self._speeds / values["time"] if deceleration is None else np.full(n, deceleration)
        ramps = Ramps(np.zeros(n), self._speeds, np.full(n, values["reaction"]), slowed)
        ends = ramps.ends
        return np.column_stack((ends, ramps.at(float(ends.max()))[0]))


def brake_with(fixed: Brake, values: Mapping[str, float]) -> Brake:
    """Return a brake with fitted values; other values are those of ``fixed``."""
    numbers: dict[str, Any] = dict(values)
    return replace(fixed, **numbers)


def braked(brake: JointBrake, stated: Brake) -> JointBrake:
    """Return the brake of a joint with the law and the times of a stated one."""
    return replace(brake, law=stated.law(0.0), delay=stated.delay or 0.0, engagement=stated.engagement)


def ramp_with(joint: str, values: Mapping[str, float]) -> Ramp:
    """Return the ramp of a joint with fitted values."""
    return Ramp(joint, values.get("time"), values.get("deceleration"), values["reaction"])


def _span(row: Measurement) -> float:
    """Return the time of a stop, s; if not measured, that of constant deceleration over its distance."""
    return row.time if np.isfinite(row.time) else 2.0 * row.distance / row.speed


# The robot in measured stops: its pose, rates and payload at the signal of each row.


class Start(NamedTuple):
    """A robot at the signal.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
    payloads : tuple of Payload
    inertia : float
        Inertia that the joint moves, kg·m² or kg.
    gravity : float
        Torque of gravity on the joint along the motion, N·m or N.
    """

    q: Array
    qd: Array
    payloads: tuple[Payload, ...]
    inertia: float
    gravity: float


class Bench:
    """A robot whose joints are stopped one at a time in category 0, while the others are at rest.

    Parameters
    ----------
    mech : Scene or Mechanism
        A tree of joints with one freedom each.
    payload : float, optional
        Rated mass at the tool, kg; by default the scene's payload.
    tool : str, optional
    count : callable, optional
        Called with the number of newly computed stops.
    max_seconds : float
        Time limit from now on for all stops together, s.

    Raises
    ------
    BadUsage
        The robot has loops, or joints with several freedoms.
    """

    def __init__(
        self,
        mech: Scene | Mechanism,
        payload: float | None = None,
        tool: str | None = None,
        count: Callable[[int], None] | None = None,
        max_seconds: float = math.inf,
        default: DefaultTool | None = None,
    ) -> None:
        self._progress = count or (lambda number: None)
        self._max_seconds, self._end, self._computed = max_seconds, monotonic() + max_seconds, 0
        mechanism = mechanism_of(mech)
        holding = [Brake(pair.name, _HOLDING) for pair in mechanism.pairs if len(pair.kind.free) == 1]
        scenario = make_scenario(mech, brakes=holding, tool=tool, default=default)
        self.rated = rated_payload(scenario, payload)
        actions = replace(scenario.actions, payloads=())
        scenario = replace(scenario, actions=actions, limits="ignore", qd=np.zeros(len(scenario.qd)))
        require_compiled_stop(scenario, "calibrate the joints of an arm alone")
        self.compiled = CompiledStop(scenario, rtol=scenario.rtol, atol=scenario.atol, patient=False)
        self.scenario = scenario
        self._poses: dict[str, ExtensionPoses] = {}

    def count(self, stops: int) -> None:
        """Count newly computed stops.

        Raises
        ------
        BadUsage
            The time for all stops is used up.
        """
        self._computed += stops
        self._progress(stops)
        if monotonic() > self._end:
            raise BadUsage(
                f"the fit is not found within {self._max_seconds:g} s ({self._computed} stops)",
                expected="rows that a few parameters can describe",
                remedy="allow more (--max-seconds, max_seconds=), or fit fewer (--parameters, parameters=)",
            )

    @property
    def brakes(self) -> tuple[JointBrake, ...]:
        """The strong brakes that hold all joints."""
        return self.scenario.brakes

    def start(self, row: Measurement) -> Start:
        """Return the robot at the signal of a row, and set the payloads of the row.

        If a row states no sense, the joint moves in the sense of gravity, or in that of +1 without gravity.

        Raises
        ------
        BadUsage
            A row states a share of an unknown payload, an extension of a joint that does not move the tool, or a joint
            that moves no inertia.
        """
        payloads = self._payloads(row)
        self.compiled.set_payloads(payloads)
        q, sense = self._pose(row)
        k = self.scenario.rate_of(row.joint)
        pull = self._pull(row.joint, q)
        inertia = float(self.compiled.inertias(q)[k])
        if not inertia > 0.0:
            raise BadUsage(
                f"joint {row.joint!r} moves no inertia",
                expected="a robot whose links have masses, for stops of category 0",
            )
        sense = row.sense or sense or (1.0 if pull >= -_NO_GRAVITY * inertia else -1.0)
        qd = np.zeros(len(self.scenario.qd))
        qd[k] = sense * row.speed
        return Start(q, qd, payloads, inertia, sense * pull)

    def _payloads(self, row: Measurement) -> tuple[Payload, ...]:
        if row.payload is None:
            return payload_share(self.rated, 1.0)
        value = row.payload.value
        if row.payload.kind == "share":
            if value and not self.rated.mass:
                raise BadUsage(
                    f"the payload of line {row.line} is {100 * value:g} %, and no rated payload is stated",
                    remedy="state it with --payload KG",
                )
            return payload_share(self.rated, value)
        if self.rated.mass:
            return payload_share(self.rated, value / self.rated.mass)
        return (replace(self.rated, mass=value),) if value else ()

    def _pose(self, row: Measurement) -> tuple[Array, float]:
        """Return the pose (nq,) of a row, and the sense of motion that belongs to it, 0 if none does."""
        scenario = self.scenario
        if row.extension is None:
            return joint_vector(scenario.mech, dict(row.q), scenario.q), 0.0
        if row.q:
            raise BadUsage(
                f"line {row.line} states an extension and coordinates", expected="one of them in each row"
            )
        poses, share = self._extension_poses(row), row.extension.value
        if row.extension.kind != "share":
            full = poses.pose(row.joint, 1.0).extension
            if not 0 <= share <= full * (1 + 1e-6):
                raise BadUsage(
                    f"the extension of line {row.line} is {share:g} m",
                    expected=f"0 to {full:.4g} m, the reach from joint {row.joint!r}",
                )
            share /= full
        pose = poses.pose(row.joint, min(share, 1.0))
        return pose.q, pose.sense

    def _extension_poses(self, row: Measurement) -> ExtensionPoses:
        if row.joint not in self._poses:
            mech, tool = self.scenario.mech, self.scenario.tool
            chain = [joint.pair.name for joint in moving_chain(mech, tool) if joint.pair is not None]
            if row.joint not in chain:
                raise BadUsage(
                    f"line {row.line} states an extension of joint {row.joint!r}, which does not move {tool!r}",
                    remedy="state the pose in columns q NAME",
                )
            axes = table_axes(mech, tool)
            axes = axes if row.joint in axes else (row.joint,)
            self.compiled.set_payloads(payload_share(self.rated, 1.0))
            self._poses[row.joint] = ExtensionPoses(self.compiled, axes)
        return self._poses[row.joint]

    def _pull(self, joint: str, q: Array) -> float:
        """Return the torque of gravity on a joint at a pose q (nq,), N·m or N."""
        i, h = self.scenario.mech.tree.joint_of_pair[joint].q.start, 1e-4
        ahead, behind = q.copy(), q.copy()
        ahead[i] += h
        behind[i] -= h
        return (self.compiled.potential(behind) - self.compiled.potential(ahead)) / (2 * h)


def distinct(rows: Iterable[Measurement]) -> tuple[list[Measurement], list[int]]:
    """Return one row of each condition, and the index of the condition of every row."""
    firsts: dict[tuple[object, ...], int] = {}
    found: list[Measurement] = []
    index = []
    for row in rows:
        if row.condition not in firsts:
            firsts[row.condition] = len(found)
            found.append(row)
        index.append(firsts[row.condition])
    return found, index
