"""Pieces that the compiled integrators share: one stage, the end of a step, and what is kept of it."""

from __future__ import annotations

from math import isfinite

from mbplugin.dynamics.compiler.jit import kernel
from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.projection import project
from mbplugin.simulation.steppers.evaluate import ACCELERATE, FORWARD_DYNAMICS, Evaluate
from mbplugin.simulation.steppers.kernel_state import BEYOND, DONE, MASSLESS, NOT_FINITE, load_struct


@kernel
def stage(
    evaluate: Evaluate,
    place: int,
    t: float,
    begun: float,
    q: Array,
    x: Array,
    qd: Array,
    s: int,
) -> bool:
    """Fill row s of ``kx``, ``kv`` and ``kw`` of the kernel state, derivatives of increment, rates and works.

    ``q`` (nq,) is the start of the step, ``x`` (nv,) and ``qd`` (nv,) are those of the stage.
    """
    m = load_struct(place)
    displace(m.composites, q, x, m.at)
    regular: bool = evaluate(place, FORWARD_DYNAMICS, t, begun, m.at, qd)
    increment_rate(m.composites, x, qd, m.slope)
    for j in range(len(qd)):
        m.kx[s, j], m.kv[s, j] = m.slope[j], m.rates[j].qdd
    for i in range(3):
        m.kw[s, i] = m.power[i]
    return regular


@kernel
def is_motion(q: Array, qd: Array) -> bool:
    """Whether all coordinates q (nq,) and rates qd (nv,) are within what numbers can compute with."""
    for i in range(len(q)):
        if not abs(q[i]) < BEYOND:
            return False
    # a generator in all() is not compiled
    for j in range(len(qd)):  # noqa: SIM110
        if not abs(qd[j]) < BEYOND:
            return False
    return True


@kernel
def settle(
    evaluate: Evaluate, place: int, t: float, begun: float, projected: bool, q: Array, qd: Array, qdd: Array
) -> int:
    """End a step at q (nq,) and qd (nv,): project in place, and fill the accelerations qdd (nv,)."""
    regular = True
    if projected and len(load_struct(place).independent_rows):
        if not project(evaluate, place, t, begun, q, qd):
            return MASSLESS if is_motion(q, qd) else NOT_FINITE
        evaluate(place, ACCELERATE, t, begun, q, qd)
    else:
        regular = evaluate(place, FORWARD_DYNAMICS, t, begun, q, qd)
    return take_accelerations(place, regular, q, qd, qdd)


@kernel
def take_accelerations(place: int, regular: bool, q: Array, qd: Array, qdd: Array) -> int:
    """End a step at q (nq,) and qd (nv,); fill qdd (nv,) with the accelerations of the kernel state.

    ``regular``: every rate moves mass.
    """
    m = load_struct(place)
    if not is_motion(q, qd):
        return NOT_FINITE
    if not regular:
        return MASSLESS
    for j in range(len(qd)):
        qdd[j] = m.rates[j].qdd
        if not isfinite(qdd[j]):
            return NOT_FINITE
    return DONE


@kernel
def put(values: Array, out: Array) -> None:
    """Copy values (n,) to out (n,).

    ``out[:] = values`` would have the compiler prepare a message for every way to fail.
    """
    for i in range(len(out)):
        out[i] = values[i]


@kernel
def put_row(values: Array, out: Array, i: int) -> None:
    """Copy values (n,) to row i of out (k, n)."""
    for j in range(len(values)):
        out[i, j] = values[j]


@kernel
def keep(
    kept: int,
    t: float,
    q: Array,
    qd: Array,
    qdd: Array,
    work: Array,
    out_t: Array,
    out_q: Array,
    out_qd: Array,
    out_qdd: Array,
    out_work: Array,
) -> None:
    """Keep a sample; arrays as for :func:`mbplugin.simulation.integrators.explicit_loop.advance_explicit`."""
    out_t[kept] = t
    put_row(q, out_q, kept)
    put_row(qd, out_qd, kept)
    put_row(qdd, out_qdd, kept)
    put_row(work, out_work, kept)
