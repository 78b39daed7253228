"""Rows over joint velocities: couplings, drivers and locks, written through body twists."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.rows.joint_frames import joint_frames
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.component import axis_of, half_of, is_turn
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.identity import drive_component, lock_component
from mbplugin.model.mechanism.joint import measure
from mbplugin.model.mechanism.kinematics import BodyPoses, relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair, RowKind
from mbplugin.model.spatial import Array, cross, vector_from_rotation


def coupling_rows(
    mech: Mechanism, coupling: Coupling, poses: BodyPoses, q: Array | None, twists: Array | None
) -> Rows:
    """Return the row ``c`` of a coupling; arrays as for :func:`mbplugin.constraints.rows.build.rows_of`."""
    parts: list[tuple[int, Array]] = []
    Gamma, Phi, translation = 0.0, -coupling.offset, False
    for term in coupling.terms:
        pair = mech.pair_by_name[term.joint]
        rates = _rate_rows(mech, pair, (term.freedom,), poses, twists)
        parts += [(body, term.coefficient * entry) for body, entry in rates.entries]
        Gamma += term.coefficient * rates.Gamma[0]
        Phi += term.coefficient * freedom_value(mech, pair, term.freedom, poses, q)
        translation = translation or not is_turn(term.freedom)
    sums: dict[int, Array] = {}
    for body, entry in parts:
        sums[body] = sums.get(body, np.zeros((1, 6))) + entry
    return Rows(
        coupling.name,
        ("c",),
        tuple(sums.items()),
        np.zeros(1),
        np.array([Gamma]),
        np.array([Phi]),
        np.array([translation]),
        np.array([True]),
        tuple(parts),
    )


def driver_rows(
    mech: Mechanism,
    driver: Driver,
    poses: BodyPoses,
    q: Array | None,
    twists: Array | None,
) -> Rows:
    """Return one row per driven freedom at time zero, labelled ``…_drive``; arrays as for
    :func:`mbplugin.constraints.rows.build.rows_of`.
    """
    pair = mech.pair_by_name[driver.joint]
    freedoms = driver.freedoms or pair.kind.free
    rates = _rate_rows(mech, pair, freedoms, poses, twists)
    Phi: Array = np.zeros(len(freedoms))
    if driver.value is not None:
        here = [freedom_value(mech, pair, f, poses, q) for f in freedoms]
        Phi = np.array(here) - driver.value
    return Rows(
        driver.name,
        tuple(map(drive_component, freedoms)),
        rates.entries,
        np.full(len(freedoms), -driver.rate),
        rates.Gamma + driver.acceleration,
        Phi,
        rates.translation,
        rates.holonomic,
    )


def lock_rows(mech: Mechanism, lock: Lock, poses: BodyPoses, twists: Array | None) -> Rows:
    """Return one row per locked freedom, labelled ``…_lock``; it holds whatever pose it finds; ``twists`` (N, 6)."""
    pair = mech.pair_by_name[lock.joint]
    freedoms = lock.freedoms or pair.kind.free
    rates = _rate_rows(mech, pair, freedoms, poses, twists)
    labels = tuple(map(lock_component, freedoms))
    zero = np.zeros(len(freedoms))
    return Rows(lock.name, labels, rates.entries, zero, rates.Gamma, zero, rates.translation, rates.holonomic)


def freedom_value(mech: Mechanism, pair: Pair, freedom: str, poses: BodyPoses, q: Array | None) -> float:
    """Return the position of one freedom (rad or m); a tree joint's comes from q (nq,), turns included."""
    slot = pair.kind.free.index(freedom)
    joint = mech.tree.joint_of_pair.get(pair.name)
    if joint is not None and q is not None and len(q[joint.q]) == len(pair.kind.free):
        return float(q[joint.q][slot])
    X_PS = relative_pose(mech, pair, poses)
    measured = measure(pair, X_PS)
    if len(measured) == len(pair.kind.free):
        return float(measured[slot])
    axis = axis_of(freedom)
    return float(vector_from_rotation(X_PS.R)[axis] if is_turn(freedom) else X_PS.p[axis])


def _rate_rows(
    mech: Mechanism, pair: Pair, freedoms: tuple[str, ...], poses: BodyPoses, twists: Array | None
) -> Rows:
    """Return the rows that measure the rates of a pair's freedoms from the body ``twists`` (N, 6)."""
    frames = joint_frames(mech, (pair,), poses, twists)
    L, L_dot = np.zeros((1, len(freedoms), 6)), np.zeros((1, len(freedoms), 6))
    for k, freedom in enumerate(freedoms):
        axis = axis_of(freedom)
        carried_by_b = pair.kind.row_kind(freedom) is RowKind.CARRIED
        e = (frames.R_WS if carried_by_b else frames.R_WP)[0, :, axis]
        half = half_of(freedom)
        L[0, k, half] = e
        L_dot[0, k, half] = cross((frames.omega_b if carried_by_b else frames.omega_a)[0], e)
    on_a, on_b = frames.entries(L)
    return Rows(
        pair.name,
        freedoms,
        tuple((i, e) for i, e in ((frames.a[0], on_a[0]), (frames.b[0], on_b[0])) if i >= 0),
        np.zeros(len(freedoms)),
        frames.gamma(L, L_dot)[0],
        np.zeros(len(freedoms)),
        np.array([not is_turn(f) for f in freedoms], dtype=bool),
        np.ones(len(freedoms), dtype=bool),
    )
