"""Trajectories at other times, as plots, and as files.

Between samples the motion is integrated again, or interpolated if only samples are known; never across an event.

Rotations between two orientations are rotation vectors θ, vectorised over n, with R₁ = exp(θ) R₀. Quaternions are
(n, 4) xyzw; angular velocities ω are those of the orientation, in the axes of θ.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mbplugin.csv_tables import write_csv
from mbplugin.errors import BadNumber, BadUsage, MissingDependency
from mbplugin.files import PLOTTING_ENDINGS, replacing
from mbplugin.model import COMPONENTS, AnyArray, Array, Mechanism, cross, make_read_only, units_of
from mbplugin.model.mechanism.kinematics import coordinate_units, momentum_units, rate_units
from mbplugin.phrases import cut_short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbplugin.simulation.trajectory import Samples
    from mbplugin.simulation.trajectory.record import Playback

_Motion = TypeVar("_Motion", bound="Samples")

#: Plots use interpolation if no angle changes by more than this between two samples, rad.
_TURN = 0.5
#: Largest number of curves with a legend.
_NAMED = 12
#: Longest names in a legend and in the title, in characters.
_LONGEST, _TITLE = 32, 60
#: Below this angle (rad), series are more accurate than closed forms.
_SMALL = 1e-2
ENDINGS = (".npz", ".csv")
_ENERGIES = ("kinetic", "potential", "dissipated", "applied", "driven")


def resample(trajectory: _Motion, times: Sequence[float] | Array) -> _Motion:
    """Return the motion at given times.

    A computed motion is integrated again from the sample before. A motion made of samples only is
    interpolated: coordinates are quintic between two samples, from q, q̇ and q̈ at both (rotations on the
    group, less than half a turn between samples); rates are cubic, and accelerations their derivatives.
    Energies are those of the state. At the time of a sample, the result is that sample; at a jump, the state after
    it; if a time is given twice, first the state before the jump.

    Parameters
    ----------
    times : (n,) array
        s, not decreasing, within the motion.

    Raises
    ------
    BadNumber, BadUsage
        Times that are not finite, decrease or leave the motion.
    """
    at = _checked(trajectory, times)
    return _with(trajectory, at, _arrays_at(trajectory, at))


def coordinates_at(trajectory: Samples, times: Sequence[float] | Array) -> tuple[Array, Array]:
    """Return coordinates (n, nq) and rates (n, nv) at given times (n,), s, those of :func:`resample`."""
    arrays = _arrays_at(trajectory, _checked(trajectory, times))
    return arrays["q"], arrays["qd"]


def _arrays_at(trajectory: Samples, at: Array) -> dict[str, AnyArray]:
    """Return the arrays at the times ``at`` (n,), s, without energies."""
    if trajectory.playback is None:
        return _interpolated(trajectory, at)
    return _played(trajectory, trajectory.playback, at)


def drawn(trajectory: _Motion, times: Sequence[float] | Array) -> _Motion:
    """Return the motion at given times (n,), s, like ``resample``, but only with the accuracy that a plot needs.

    Integrating a motion again costs a step for every time. If steps are slow because the equations are evaluated
    in Python, the motion is interpolated, unless an angle changes too much between two samples.
    """
    playback = trajectory.playback
    if playback is None or playback.compiled or _most_turned(trajectory) > _TURN:
        return resample(trajectory, times)
    at = _checked(trajectory, times)
    return _with(trajectory, at, _interpolated(trajectory, at))


def _most_turned(trajectory: Samples) -> float:
    """Return the largest product of an angular rate and the interval between two samples, rad."""
    angular = [k for k, unit in enumerate(rate_units(trajectory.mechanism)) if unit == "rad/s"]
    rates = np.abs(trajectory.qd[:, angular]).max(axis=1, initial=0.0)
    return float((np.maximum(rates[1:], rates[:-1]) * np.diff(trajectory.time)).max(initial=0.0))


def _with(trajectory: _Motion, at: Array, arrays: dict[str, AnyArray]) -> _Motion:
    """Return the motion with other arrays, at other times ``at`` (n,), s."""
    kinetic, potential = _energies(trajectory, arrays["q"], arrays["qd"])
    arrays.update(time=at, kinetic=kinetic, potential=potential)
    make_read_only(*arrays.values())
    changed: dict[str, Any] = arrays
    return replace(trajectory, **changed)


def _played(trajectory: Samples, playback: Playback, at: Array) -> dict[str, AnyArray]:
    """Return the arrays of a motion integrated again to the times ``at`` (n,), s; samples are returned as they are."""
    out: dict[str, AnyArray] = {
        name: np.empty((len(at), *getattr(trajectory, name).shape[1:]))
        for name in ("q", "qd", "qdd", "dissipated", "applied", "driven")
    }
    out["segment"] = np.empty(len(at), dtype=int)
    known, own = _samples_at(trajectory.time, at)
    for n, time in enumerate(at.tolist()):
        if known[n]:
            for name, values in out.items():
                values[n] = getattr(trajectory, name)[own[n]]
            continue
        state, out["segment"][n] = playback.at(time)
        out["q"][n], out["qd"][n], out["qdd"][n] = state.q, state.qd, state.qdd
        out["dissipated"][n] = -state.work[0]
        out["applied"][n], out["driven"][n] = state.work[1:]
    return out


def _samples_at(time: Array, at: Array) -> tuple[AnyArray, AnyArray]:
    """Return flags (n,) of the times ``at`` (n,) that are those of samples, and the samples; ``time`` (T,), s.

    If several samples have the same time, take the first one for the first of two equal times, else the last one.
    """
    first, last = (np.searchsorted(time, at, side=side) for side in ("left", "right"))
    return first < last, np.where(_first_of_two(at), first, last - 1)


def _first_of_two(at: Array) -> AnyArray:
    """Return flags (n,) of the times ``at`` (n,), s, that are the first of two equal ones."""
    return np.append(np.diff(at) == 0, False) if at.size else np.zeros(0, dtype=bool)


def _interpolated(trajectory: Samples, at: Array) -> dict[str, AnyArray]:
    """Return the arrays at times ``at`` (n,), s, interpolated between samples."""
    after = np.searchsorted(trajectory.time, at, side="right") - 1
    before = np.searchsorted(trajectory.time, at, side="left") - 1
    # the first of two equal times ends the interval before
    first_of_two = _first_of_two(at) & (before >= 0)
    first = np.where(first_of_two, before, np.minimum(after, max(len(trajectory.time) - 2, 0)))
    last = np.minimum(first + 1, len(trajectory.time) - 1)
    h = trajectory.time[last] - trajectory.time[first]
    s = np.where(h > 0, (at - trajectory.time[first]) / np.where(h > 0, h, 1.0), 1.0)
    q = _coordinates(trajectory, first, last, h, s)
    qd, qdd = _rates(trajectory, first, last, h, s)
    works = (trajectory.dissipated, trajectory.applied, trajectory.driven)
    dissipated, applied, driven = (_work(trajectory.time, work, at, first) for work in works)
    segment = np.where(s < 1, trajectory.segment[first], trajectory.segment[last])
    out = {
        "q": q, "qd": qd, "qdd": qdd, "segment": segment,
        "dissipated": dissipated, "applied": applied, "driven": driven,
    }  # fmt: skip
    known, own = _samples_at(trajectory.time, at)
    for name, values in out.items():
        values[known] = getattr(trajectory, name)[own[known]]
    return out


def _checked(trajectory: Samples, times: Sequence[float] | Array) -> Array:
    """Return the requested times (n,), s, checked and clipped to the motion."""
    try:
        at = np.array(times, dtype=float).reshape(-1)
    except (TypeError, ValueError):
        raise BadNumber(
            f"the times to resample at are {cut_short(repr(times), 40)}", expected="numbers in s"
        ) from None
    start, end = float(trajectory.time[0]), float(trajectory.time[-1])
    if not np.isfinite(at).all():
        raise BadNumber("a time to resample at is not finite", expected="numbers in s")
    slack = 1e-12 * (1.0 + abs(end))
    if at.size and (at.min() < start - slack or at.max() > end + slack):
        raise BadUsage("a time to resample at lies outside the motion", expected=f"{start:g} s to {end:g} s")
    if (np.diff(at) < 0).any():
        raise BadUsage("the times to resample at decrease", expected="times in order")
    return np.asarray(np.clip(at, start, end))


def _coordinates(trajectory: Samples, first: AnyArray, last: AnyArray, h: Array, s: Array) -> Array:
    """Return coordinates (n, nq) at fractions s (n,) of intervals of lengths h (n,), s.

    The intervals begin and end at the samples ``first`` and ``last`` (n,).
    """
    straight, turns = _split(trajectory.mechanism)
    q, qd, qdd = trajectory.q, trajectory.qd, trajectory.qdd
    out = np.empty((len(s), q.shape[1]))
    h, s = h[:, None], s[:, None]
    at_q, at_qd = ([pair[k] for pair in straight] for k in (0, 1))
    out[:, at_q] = q[first][:, at_q] + _quintic(
        s,
        h * qd[first][:, at_qd],
        h**2 * qdd[first][:, at_qd],
        q[last][:, at_q] - q[first][:, at_q],
        h * qd[last][:, at_qd],
        h**2 * qdd[last][:, at_qd],
    )
    for at, of in turns:
        begin = q[first, at]
        angle = between(begin, q[last, at])
        rate = angle_rate(angle, qd[last, of])
        acceleration = angle_acceleration(angle, rate, qd[last, of], qdd[last, of])
        x = _quintic(s, h * qd[first, of], h**2 * qdd[first, of], angle, h * rate, h**2 * acceleration)
        out[:, at] = turned(begin, x)
    return out


def _split(mech: Mechanism) -> tuple[list[tuple[int, int]], list[tuple[slice, slice]]]:
    """Return (coordinate, rate) of scalar coordinates, and the slices of quaternions and their rates."""
    straight: list[tuple[int, int]] = []
    turned: list[tuple[slice, slice]] = []
    for joint in mech.tree.joints:
        count = joint.qd.stop - joint.qd.start
        if joint.q.stop - joint.q.start > count:
            count -= 3
            turned.append((slice(joint.q.stop - 4, joint.q.stop), slice(joint.qd.stop - 3, joint.qd.stop)))
        straight += [(joint.q.start + k, joint.qd.start + k) for k in range(count)]
    return straight, turned


def _quintic(s: Array, v0: Array, a0: Array, x1: Array, v1: Array, a1: Array) -> Array:
    """Return the quintic x(s) with x(0) = 0, x(1) = x1, and the given first and second derivatives in s at the ends.

    s (n, 1) gives x (n, k) of v0, a0, x1, v1 and a1 (n, k).
    """
    s2, s3 = s**2, s**3
    s4, s5 = s**4, s**5
    return np.asarray(
        v0 * (s - 6 * s3 + 8 * s4 - 3 * s5)
        + a0 * (s2 - 3 * s3 + 3 * s4 - s5) / 2
        + a1 * (s3 - 2 * s4 + s5) / 2
        + v1 * (-4 * s3 + 7 * s4 - 3 * s5)
        + x1 * (10 * s3 - 15 * s4 + 6 * s5)
    )


def _rates(trajectory: Samples, first: AnyArray, last: AnyArray, h: Array, s: Array) -> tuple[Array, Array]:
    """Return rates and accelerations (n, nv) at fractions s (n,) of intervals of lengths h (n,), s.

    The intervals begin and end at the samples ``first`` and ``last`` (n,).
    """
    h, s = h[:, None], s[:, None]
    v0, v1 = trajectory.qd[first], trajectory.qd[last]
    a0, a1 = trajectory.qdd[first], trajectory.qdd[last]
    rise, s2 = v1 - v0, s**2
    b, c = 3 * rise - h * (2 * a0 + a1), -2 * rise + h * (a0 + a1)
    rates = v0 + s * h * a0 + s2 * b + s**3 * c
    inside = a0 + (2 * s * b + 3 * s2 * c) / np.where(h > 0, h, 1.0)
    # the end of an interval of zero length is an event
    return np.where(h > 0, rates, v1), np.where(h > 0, inside, a1)


def _energies(trajectory: Samples, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return kinetic and potential energy (n,), J, at q and qd (n, nq), (n, nv)."""
    from mbplugin.dynamics.kernels import move
    from mbplugin.dynamics.kernels.articulated import energies, factor
    from mbplugin.dynamics.tree_model import tree_model

    model = tree_model(trajectory.mechanism, trajectory.actions)
    out = np.empty((2, len(q)))
    for k in range(len(q)):
        move(model.composites, model.rates, q[k], qd[k])
        factor(model.composites, model.rates)
        out[:, k] = energies(model.composites, model.rates, model.springs, q[k], qd[k])
    return out[0], out[1]


def _work(time: Array, work: Array, at: Array, first: AnyArray) -> Array:
    """Return work (n,), J, at times ``at`` (n,), s, by monotone interpolation between events.

    ``time`` and ``work`` (T,) are those of the samples, ``first`` (n,) the samples at which the intervals begin.
    """
    out = np.empty(len(at))
    ends = [0, *(np.flatnonzero(np.diff(time) == 0) + 1), len(time)]
    for start, stop in pairwise(ends):
        mine = (first >= start) & (first < stop)
        if stop - start == 1:
            out[mine] = work[start]
        elif mine.any():
            # few motions need it, and importing it takes as long as a motion
            from scipy.interpolate import PchipInterpolator

            out[mine] = PchipInterpolator(time[start:stop], work[start:stop])(at[mine])
    return out


# Plot of a trajectory: coordinates, rates, momenta and energies over time, with vertical lines at events.


def plot(trajectory: Samples, path: str | Path | None = None) -> Figure:
    """Plot a trajectory into a file, or in a window if no path is given, and return the figure.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        The ending is not that of a plot, or the file cannot be written.
    """
    return draw(partial(_draw, trajectory), (9.0, 12.0), path)


def draw(onto: Callable[[Any], None], size: tuple[float, float], path: str | Path | None) -> Figure:
    """Draw onto a new figure (size in inches), save it, or show it if no path is given, and return it."""
    if path is None:
        pyplot = _matplotlib("pyplot")
        shown: Figure = pyplot.figure(figsize=size, layout="constrained")
        onto(shown)
        if "inline" in pyplot.get_backend():
            # a notebook cell shows its return value; closing avoids showing the figure twice
            pyplot.close(shown)
        else:
            pyplot.show()
        return shown
    path = Path(path)
    require_picture(path)
    figure: Figure = _matplotlib("figure").Figure(figsize=size, layout="constrained")
    onto(figure)
    save(figure, path)
    return figure


def require_picture(path: Path) -> None:
    """Require a file name with the ending of a plot, and matplotlib.

    Raises
    ------
    BadUsage
        The name has another ending.
    MissingDependency
        matplotlib is not installed.
    """
    if path.suffix.lower() not in PLOTTING_ENDINGS:
        raise BadUsage(f"cannot draw curves into {path.name!r}", expected=", ".join(PLOTTING_ENDINGS))
    _matplotlib("figure")


def save(figure: Any, path: Path) -> None:
    """Write a figure in the format that the file ending names."""
    with replacing(path) as temporary, warnings.catch_warnings():
        # characters that are missing in the font are drawn as boxes
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(temporary)


def legend(axes: Any, lines: Sequence[Any], names: Sequence[str], **where: str) -> None:
    """Add a legend with the names of the curves, unless there are too many."""
    if 0 < len(lines) <= _NAMED:
        shown = [cut_short(name, _LONGEST) for name in names]
        for text in axes.legend(lines, shown, fontsize="small", **where).get_texts():
            # a dollar sign in a name does not start a formula
            text.set_parse_math(False)


def _matplotlib(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError:
        raise MissingDependency.of("a plot", "matplotlib", "plot") from None


def _draw(trajectory: Samples, figure: Any) -> None:
    curves = list(columns(trajectory))
    panels = {
        "coordinates": [c for c in curves if c.what == "q"],
        "rates": [c for c in curves if c.what == "qd"],
        "momenta": [c for c in curves if c.what == "momentum"],
        "energy": [c for c in curves if c.unit == "J"],
    }
    all_axes = figure.subplots(len(panels), 1, sharex=True)
    for axes, (title, shown) in zip(all_axes, panels.items(), strict=True):
        _panel(axes, trajectory, title, shown)
    all_axes[-1].set_xlabel("time [s]")
    name = cut_short(trajectory.mechanism.name, _TITLE)
    figure.suptitle(f"{name}: {trajectory.outcome}").set_parse_math(False)


def _panel(axes: Any, trajectory: Samples, title: str, shown: list[Column]) -> None:
    lines = [axes.plot(trajectory.time, curve.values, linewidth=1.2)[0] for curve in shown]
    for event in trajectory.events:
        axes.axvline(event.time, color="0.6", linewidth=0.8, linestyle="--")
    units = dict.fromkeys(c.unit for c in shown if c.unit != "1")
    axes.set_ylabel(f"{title} [{', '.join(units)}]" if units else title)
    axes.grid(alpha=0.3)
    legend(axes, lines, [curve.name or curve.what for curve in shown], loc="upper right")


def between(start: Array, end: Array) -> Array:
    """Return the rotation vectors (n, 3), of length at most π, from orientations start (n, 4) to end (n, 4)."""
    turn = _product(end, start * [-1.0, -1.0, -1.0, 1.0])
    turn = np.where(turn[:, 3:] < 0, -turn, turn)
    sine = np.linalg.norm(turn[:, :3], axis=1, keepdims=True)
    half = np.arctan2(sine, turn[:, 3:])
    return np.asarray(turn[:, :3] * np.where(sine > 1e-12, 2 * half / np.where(sine > 0, sine, 1.0), 2.0))


def turned(start: Array, angle: Array) -> Array:
    """Return the quaternions (n, 4) of exp(θ) R₀, continuous with start (n, 4), that of R₀; angle (n, 3) is θ."""
    half = 0.5 * np.linalg.norm(angle, axis=1, keepdims=True)
    vector = 0.5 * angle * np.sinc(half / np.pi)
    out = _product(np.concatenate((vector, np.cos(half)), axis=1), start)
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True))


def angle_rate(angle: Array, omega: Array) -> Array:
    """Return θ̇ (n, 3) = ω − ½ θ × ω + c θ × (θ × ω) at angle (n, 3) and omega (n, 3), rad/s."""
    across = cross(angle, omega)
    return np.asarray(omega - 0.5 * across + _factor(angle)[0] * cross(angle, across))


def angle_acceleration(angle: Array, rate: Array, omega: Array, alpha: Array) -> Array:
    """Return θ̈ (n, 3), the derivative of :func:`angle_rate`, rad/s².

    Arguments are the angle (n, 3), its rate (n, 3), omega (n, 3), and the angular acceleration alpha (n, 3).
    """
    c, slope = _factor(angle)
    c_dot = slope * (angle * rate).sum(axis=1, keepdims=True)
    across, across_dot = cross(angle, omega), cross(rate, omega) + cross(angle, alpha)
    return np.asarray(
        alpha
        - 0.5 * across_dot
        + c_dot * cross(angle, across)
        + c * (cross(rate, across) + cross(angle, across_dot))
    )


def _factor(angle: Array) -> tuple[Array, Array]:
    """Return c(φ) = 1/φ² − cot(φ/2)/(2φ) and c′(φ)/φ, (n, 1) each, for rotation vectors ``angle`` (n, 3)."""
    phi = np.linalg.norm(angle, axis=1, keepdims=True)
    u = phi**2
    large = np.where(phi > _SMALL, phi, 1.0)
    cot = 1.0 / np.tan(0.5 * large)
    c = 1 / large**2 - cot / (2 * large)
    slope = (-2 / large**3 + cot / (2 * large**2) + 0.25 * (1 + cot**2) / large) / large
    series = 1 / 12 + u / 720 + u**2 / 30240
    return np.where(phi > _SMALL, c, series), np.where(phi > _SMALL, slope, 1 / 360 + u / 7560)


def _product(a: Array, b: Array) -> Array:
    """Return the quaternion products (n, 4) of a and b (n, 4)."""
    va, wa, vb, wb = a[:, :3], a[:, 3:], b[:, :3], b[:, 3:]
    vector = wa * vb + wb * va + cross(va, vb)
    scalar = wa * wb - (va * vb).sum(axis=1, keepdims=True)
    return np.concatenate((vector, scalar), axis=1)


# Export of a trajectory: arrays, or a table with units.


@dataclass(frozen=True, eq=False)
class Column:
    """One quantity along a motion: its kind, the name of its element, its unit, and its values (T,)."""

    what: str
    name: str
    unit: str
    values: AnyArray

    @property
    def header(self) -> str:
        """Heading of the column, such as ``qd elbow [rad/s]``."""
        return f"{self.what} {self.name}".strip() + (f" [{self.unit}]" if self.unit else "")


def write(trajectory: Samples, path: Path, reactions: Mapping[str, Array] = MappingProxyType({})) -> None:
    """Write a trajectory to ``.npz`` (all arrays) or ``.csv`` (a table with units in its header).

    Parameters
    ----------
    reactions : dict of str to (T, 6) array
        Reactions of the pairs to be added, N and N·m.
    """
    if path.suffix.lower() == ".csv":
        table = list(columns(trajectory, reactions))
        rows = zip(*(column.values.tolist() for column in table), strict=True)
        write_csv(path, [column.header for column in table], rows)
        return
    mech = trajectory.mechanism
    kept = ("time", "q", "qd", "qdd", *_ENERGIES, "segment")
    arrays: dict[str, Any] = {
        **{name: getattr(trajectory, name) for name in kept},
        "momenta": trajectory.momenta,
        "q_names": np.array(mech.q_names, dtype=str),
        "qd_names": np.array(mech.qd_names, dtype=str),
        "q_units": np.array(coordinate_units(mech), dtype=str),
        "qd_units": np.array(rate_units(mech), dtype=str),
        "momenta_units": np.array(momentum_units(mech), dtype=str),
        "about": np.array(json.dumps(_about(trajectory))),
    }
    arrays["reaction_pairs"] = np.array(list(reactions), dtype=str)
    arrays["reactions"] = np.array(list(reactions.values())).reshape(-1, len(trajectory.time), 6)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def require_ending(path: Path) -> None:
    """Require a file name with a known ending.

    Raises
    ------
    BadUsage
        The name has another ending.
    """
    if path.suffix.lower() not in ENDINGS:
        raise BadUsage(f"cannot save a trajectory as {path.name!r}", expected=" or ".join(ENDINGS))


def columns(trajectory: Samples, reactions: Mapping[str, Array] = MappingProxyType({})) -> Iterator[Column]:
    """Yield all quantities of a trajectory, and the given reactions (T, 6) of pairs, N and N·m."""
    mech = trajectory.mechanism
    rates = rate_units(mech)
    yield Column("time", "", "s", trajectory.time)
    for what, names, units, values in (
        ("q", mech.q_names, coordinate_units(mech), trajectory.q),
        ("qd", mech.qd_names, rates, trajectory.qd),
        ("qdd", mech.qd_names, tuple(f"{u}²" for u in rates), trajectory.qdd),
        ("momentum", mech.qd_names, momentum_units(mech), trajectory.momenta),
    ):
        for k, (name, unit) in enumerate(zip(names, units, strict=True)):
            yield Column(what, name, unit, values[:, k])
    for what in _ENERGIES:
        yield Column(what, "", "J", getattr(trajectory, what))
    yield Column("segment", "", "", trajectory.segment)
    for pair, wrench in reactions.items():
        for k, component in enumerate(COMPONENTS):
            yield Column(f"{pair} {component}", "", units_of(component).force, wrench[:, k])


def _about(trajectory: Samples) -> dict[str, Any]:
    """Return the properties that are not arrays."""
    return {
        "mechanism": trajectory.mechanism.name,
        "outcome": trajectory.outcome,
        "notes": list(trajectory.notes),
        "planar": trajectory.planar,
        "redundancy": trajectory.redundancy,
        "coordinates": trajectory.coordinates,
        "dropped": [list(row) for row in trajectory.dropped],
        "degree_of_redundancy": trajectory.degree_of_redundancy,
        "tolerance": trajectory.tolerance,
        "active": [list(names) for names in trajectory.active],
        "residuals": trajectory.residuals,
        "events": [
            {
                "time": event.time,
                "kind": event.kind,
                "joint": event.joint,
                "velocity_before": event.velocity_before.tolist(),
                "velocity_after": event.velocity_after.tolist(),
                "impulse": [[*label, value] for label, value in event.impulse.items()],
                "text": event.text,
            }
            for event in trajectory.events
        ],
    }
