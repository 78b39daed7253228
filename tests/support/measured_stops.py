"""Measured stops made by another program: closed forms and quadrature for one joint about a vertical axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from pathlib import Path

import numpy as np
from scipy.integrate import quad

import mbplugin as mb
from rod_arms import arm

#: kg·m² about the axis of a rod of 1.2 m and 3 kg, which turns about a vertical axis.
INERTIA = 3.0 * 1.2**2 / 3
HEAD = "joint,category,speed,time,distance"
#: Time (s) and distance (rad) of a stop from a speed (rad/s).
Law = Callable[[float], tuple[float, float]]


def boom() -> mb.Mechanism:
    """The robot: one joint j0 without gravity about it."""
    return arm((1.2,), 3.0, gravity=0.0)


def friction(delay: float, torque: float, viscous: float) -> Law:
    """The stop by I ω̇ = −τ − c ω after a delay at constant speed, in closed form."""

    def stop(speed: float) -> tuple[float, float]:
        if viscous == 0.0:
            return delay + INERTIA * speed / torque, speed * delay + INERTIA * speed**2 / (2 * torque)
        grown = log(1 + viscous * speed / torque)
        time = INERTIA / viscous * grown
        return delay + time, speed * delay + INERTIA / viscous * (speed - torque / viscous * grown)

    return stop


def short_circuit(delay: float, torque: float, k: float, rate: float) -> Law:
    """The stop by I ω̇ = −τ − k ω/(1 + (ω/ω₀)²), by quadrature over the speed."""

    def braking(w: float) -> float:
        return torque + k * w / (1 + (w / rate) ** 2)

    def stop(speed: float) -> tuple[float, float]:
        time, _ = quad(lambda w: INERTIA / braking(w), 0.0, speed, epsabs=1e-13)
        way, _ = quad(lambda w: INERTIA * w / braking(w), 0.0, speed, epsabs=1e-13)
        return delay + time, speed * delay + way

    return stop


def ramp(reaction: float, time: float) -> Law:
    """The stop by a ramp of constant time."""
    return lambda speed: (reaction + time, speed * (reaction + time / 2))


def table(
    law: Law,
    speeds: Sequence[float],
    *,
    repeats: int = 1,
    noise: tuple[float, float] = (0.0, 0.0),
    seed: int = 0,
    category: int = 0,
) -> str:
    """A CSV of stops of j0; ``noise`` are standard deviations of time (s) and distance (rad)."""
    rng = np.random.default_rng(seed)
    lines = [HEAD]
    for speed in speeds:
        for _ in range(repeats):
            time, way = np.array(law(speed)) + rng.normal(size=2) * noise
            lines.append(f"j0,{category},{speed!r},{float(time)!r},{float(way)!r}")
    return "\n".join(lines) + "\n"


def written(folder: Path, text: str) -> Path:
    """The file of a table."""
    file = folder / "measured.csv"
    file.write_text(text, encoding="utf-8")
    return file
