"""One set of multipliers that balances the bodies, and the motion that loads drive where none does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from mbplugin.analysis.mobility import finite_mobility
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.constraints.view import View
from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.system import System
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.coupling import Driver
from mbplugin.model.mechanism.identity import freedom_name
from mbplugin.model.mechanism.kinematics import coordinates_of
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed

#: Joints that a sentence names.
_NAMED = 6
#: A joint takes no part in a motion below this fraction of the one that moves most.
_TAKES_PART = 1e-3


@dataclass(frozen=True, eq=False)
class Balance:
    """Multipliers with Cᵀλ = M v̇ − F, as far as the constraints can supply that.

    Parameters
    ----------
    multipliers : (m,) array
        One of the possible λ, scaled; zero in the dropped rows. Only its unique rows mean anything.
    rest : (N, 6) array
        What is left, as a twist [v; ω] of the motion that it drives, m and rad.
    share : float
        Work of the load on that motion, relative to what it could do at most.
    """

    multipliers: Array
    rest: Array
    share: float


def balance(system: System, missing: Array) -> Balance:
    """Return one λ with Cᵀλ = ``missing`` (N, 6), and what no λ supplies."""
    (found,) = balances(system, missing[None])
    return found


def balances(system: System, missing: Array) -> list[Balance]:
    """Return for each of ``missing`` (n, N, 6) one λ with Cᵀλ = it, and what no λ supplies.

    p well-chosen rows are dropped (wojtyra2013 §3.1), which changes only rows that are not unique; the
    rest is the least-squares solution, whose residual is a motion that all constraints allow.
    """
    W = (missing * system.column_scale).reshape(len(missing), 6 * missing.shape[1]).T
    kept = np.setdiff1d(np.arange(len(system.scale)), system.dropped)
    multipliers = np.zeros((len(system.scale), len(missing)))
    residual = W
    if kept.size and W.any():
        C = system.C[kept]
        corner = scipy.sparse.eye_array(C.shape[1])
        solve = scipy.sparse.linalg.splu(scipy.sparse.block_array([[corner, C.T], [C, None]]).tocsc()).solve
        x = solve(np.concatenate((W, np.zeros((len(kept), len(missing))))))
        for _ in range(2):  # refinement: long chains lose digits in the first solution
            r, mu = x[: len(W)], x[len(W) :]
            x = x + solve(np.concatenate((W - r - C.T @ mu, -(C @ r))))
        residual, multipliers[kept] = x[: len(W)], x[len(W) :]
    return [_balance(system, w, r, mu) for w, r, mu in zip(W.T, residual.T, multipliers.T, strict=True)]


def _balance(system: System, w: Array, residual: Array, multipliers: Array) -> Balance:
    """Return the balance of a load w (6N,), with residual (6N,) and multipliers (m,), all scaled."""
    work = np.linalg.norm(w.reshape(-1, 6), axis=1) @ np.linalg.norm(residual.reshape(-1, 6), axis=1)
    share = float(residual @ residual) / work if work > 0 else 0.0
    return Balance(multipliers, -residual.reshape(-1, 6) * system.column_scale, share)


def require_balance(system: System, found: Balance, tolerance: float, at_rest: bool) -> None:
    """Refuse loads that do work on a motion that nothing holds.

    Raises
    ------
    BadUsage
        Names the motion, joint by joint, and which joints to hold.
    """
    if found.share <= tolerance:
        return
    moving = joint_motion(system.mech, system, found.rest)
    holdable = [name for name, _, _ in moving]
    words = ", ".join(f"{name} by {value:+.3g} {unit}" for name, value, unit in moving[:_NAMED])
    more = f" and {len(moving) - _NAMED} more joints" if len(moving) > _NAMED else ""
    what = words + more if moving else _free_bodies(system, found.rest)
    view = View(
        system.mech, coordinates_of(system.mech, system.poses), system.columns, tolerance=DEFAULT_TOLERANCE
    )
    rigid = set(finite_mobility(view, 0).shaky_rates)
    if moving and rigid and rigid.issuperset(set(holdable) & set(system.mech.qd_names)):
        raise BadUsage(
            f"no finite reactions of a rigid model carry this load: it acts along {listed(sorted(rigid), _NAMED)}, "
            "free to first order only, where the loop does not move but yields (see MB506)",
            expected="a load with no part along that freedom",
            remedy="model the loop as one body, or correct the dimensions",
        )
    if at_rest:
        said = f"the mechanism moves under the load: {what}"
    else:
        said = f"these accelerations need a force that nothing supplies along this motion: {what}"
    remedy = ""
    if moving:
        first = holdable[0]
        remedy = (
            f"hold a joint of that motion, such as {first!r} (--hold {first}, in Python hold=[{first!r}])"
        )
    raise BadUsage(
        said,
        expected="a load that the held joints can carry",
        remedy=remedy or "fix the base (base='fixed' or --base fixed) or balance the loads",
    )


def joint_motion(mech: Mechanism, system: System, twists: Array) -> list[tuple[str, float, str]]:
    """Return (coordinate, rate, unit) of the joints that take part in a motion, largest first; twists (N, 6).

    The largest rate is one radian, or one metre where nothing turns.
    """
    found: list[tuple[str, float, str]] = []
    for pair in mech.pairs:
        if not pair.kind.free:
            continue
        (rows,) = rows_of(mech, (Driver("", pair.name),), system.poses)
        rates = sum((e @ twists[body] for body, e in rows.entries), np.zeros(len(rows.components)))
        for freedom, rate in zip(pair.kind.free, rates.tolist(), strict=True):
            name = freedom_name(pair.name, freedom, len(pair.kind.free))
            found.append((name, rate, units_of(freedom).coordinate))
    size = {unit: max((abs(r) for _, r, u in found if u == unit), default=0.0) for unit in ("rad", "m")}
    largest = max(size["rad"], size["m"] / system.length)
    if largest == 0:
        return []
    unit = size["rad"] if size["rad"] > _TAKES_PART * largest else size["m"]
    kept = [
        (name, rate / unit, u)
        for name, rate, u in found
        if abs(rate) / (1.0 if u == "rad" else system.length) > _TAKES_PART * largest
    ]
    return sorted(kept, key=lambda item: -round(abs(item[1]) / (system.length if item[2] == "m" else 1.0), 6))


def _free_bodies(system: System, twists: Array) -> str:
    """Name the bodies that move in a motion, twists (N, 6)."""
    moving = np.linalg.norm(twists, axis=1)
    names = [b.name for b, m in zip(system.mech.bodies, moving, strict=True) if m > 0.1 * moving.max()]
    return f"nothing holds {', '.join(names[:_NAMED])} in the world"
