"""Vectors of three numbers as tuples, which the compiler keeps in registers."""

from __future__ import annotations

from mbplugin.dynamics.compiler.jit import kernel

Vector = tuple[float, float, float]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def minus(a: Vector, b: Vector) -> Vector:
    """Return a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def plus(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def dot(a: Vector, b: Vector) -> float:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def scaled(factor: float, a: Vector) -> Vector:
    """Return a vector times a number."""
    return factor * a[0], factor * a[1], factor * a[2]
