"""Coordinates moved by increments: turns on the group, so a quaternion stays one.

An increment x has one entry per rate. At x the pose is q ∘ x: scalar coordinates are added, a turn θ is
exp(θ) R. Its rate follows from ω = dexp(θ) θ̇.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import Array


@kernel
def displace(composites: Records, q: Array, x: Array, out: Array) -> None:
    """Fill ``out`` (nq,), which may be q, with q ∘ x; q (nq,), x (nv,)."""
    for k in range(1, len(composites)):
        body = composites[k]
        straight = body.freedoms - 3 if body.quaternion else body.freedoms
        for m in range(straight):
            out[body.q_start + m] = q[body.q_start + m] + x[body.qd_start + m]
        if body.quaternion:
            _turn(q, body.q_start + straight, x, body.qd_start + straight, out)


@kernel
def _turn(q: Array, at: int, x: Array, by: int, out: Array) -> None:
    """Fill a quaternion xyzw of out (nq,) with exp(θ) times that of q (nq,), θ from x (nv,), rad."""
    a, b, c = x[by], x[by + 1], x[by + 2]
    angle2 = a * a + b * b + c * c
    angle = sqrt(angle2)
    s = sin(0.5 * angle) / angle if angle > 1e-8 else 0.5 - angle2 / 48.0
    a, b, c, d = s * a, s * b, s * c, cos(0.5 * angle)
    x0, y0, z0, w0 = q[at], q[at + 1], q[at + 2], q[at + 3]
    x1 = d * x0 + a * w0 + b * z0 - c * y0
    y1 = d * y0 + b * w0 + c * x0 - a * z0
    z1 = d * z0 + c * w0 + a * y0 - b * x0
    w1 = d * w0 - a * x0 - b * y0 - c * z0
    n = 1.0 / sqrt(x1 * x1 + y1 * y1 + z1 * z1 + w1 * w1)
    out[at], out[at + 1], out[at + 2], out[at + 3] = x1 * n, y1 * n, z1 * n, w1 * n


@kernel
def increment_rate(composites: Records, x: Array, qd: Array, out: Array) -> None:
    """Fill ``out`` (nv,) with ẋ at increment x (nv,) and rates qd (nv,)."""
    for k in range(1, len(composites)):
        body = composites[k]
        straight = body.freedoms - 3 if body.quaternion else body.freedoms
        for j in range(body.qd_start, body.qd_start + straight):
            out[j] = qd[j]
        if body.quaternion:
            _turn_rate(x, qd, body.qd_start + straight, out)


@kernel
def _turn_rate(x: Array, qd: Array, j: int, out: Array) -> None:
    """Fill θ̇ = ω − ½ θ × ω + c θ × (θ × ω) of x, qd and out (nv,), rad and rad/s."""
    a, b, c = x[j], x[j + 1], x[j + 2]
    p, q, r = qd[j], qd[j + 1], qd[j + 2]
    angle2 = a * a + b * b + c * c
    if angle2 < 1e-4:
        factor = 1.0 / 12.0 + angle2 / 720.0 + angle2 * angle2 / 30240.0
    else:
        half = 0.5 * sqrt(angle2)
        factor = (1.0 - half * cos(half) / sin(half)) / angle2
    u, v, w = b * r - c * q, c * p - a * r, a * q - b * p
    out[j] = p - 0.5 * u + factor * (b * w - c * v)
    out[j + 1] = q - 0.5 * v + factor * (c * u - a * w)
    out[j + 2] = r - 0.5 * w + factor * (a * v - b * u)
