"""Whether contacts hold: the line about which they tip, the friction that they need, and the loads that they bear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.bounds import Inequalities, Possible
from mbplugin.joint_reactions.cones import FEASIBLE, PRICED
from mbplugin.joint_reactions.statics import System
from mbplugin.model import LARGEST_FRICTION, NORMAL, SIDES, Array
from mbplugin.phrases import listed

#: Directions of the sideways load whose reserve is computed.
DIRECTIONS = 16
#: Relative accuracy of the smallest coefficient of friction.
_ACCURATE = 1e-10
#: Relative difference of friction coefficients that counts as none.
_SAME = 1e-12
_NAMED = 6


@dataclass(frozen=True)
class Standing:
    """Margins of contacts that hold.

    Parameters
    ----------
    sides : int
        Sides of the polygon around the circle of friction.
    friction_factor : float or None
        Factor on all coefficients of friction with which the contacts just hold; None without friction.
    smallest_friction : float or None
        The smallest coefficient of friction that holds, if all contacts have the same.
    load_factor : float or None
        Factor up to which the stated loads can grow before a contact opens or slips; None without loads or if
        they can grow without limit.
    load_limited_by : tuple of str
        Inequalities that are met there.
    sideways : float or None
        Smallest sideways load, relative to the weight and in proportion to it on every body, at which a contact
        opens or slips; None if there is none.
    sideways_direction : (x, y, z) or None
        Its direction, world axes, the weakest of ``DIRECTIONS``.
    sideways_limited_by : tuple of str
        Inequalities that are met there: ``contact.cn`` if it tips, ``contact.friction`` if it slips.
    """

    sides: int = SIDES
    friction_factor: float | None = None
    smallest_friction: float | None = None
    load_factor: float | None = None
    load_limited_by: tuple[str, ...] = ()
    sideways: float | None = None
    sideways_direction: tuple[float, float, float] | None = None
    sideways_limited_by: tuple[str, ...] = ()

    @property
    def tips(self) -> bool:
        """Whether the smallest sideways load tips it: a contact opens and none slips."""
        return bool(self.sideways_limited_by) and all(
            name.endswith(f".{NORMAL}") for name in self.sideways_limited_by
        )


def require_standing(system: System, possible: Possible, wanted: Inequalities) -> None:
    """Raise if no admissible forces hold all contacts.

    Raises
    ------
    BadUsage
        A contact must open or slip; the message names the line about which the bodies tip, or the friction needed.
    """
    ours = wanted.of("normal", "friction")
    if possible.holds(ours):
        return
    normals = ours.of("normal")
    tipping = possible.phase(normals)
    if not tipping.feasible:
        opening = _priced(normals.owners, tipping.prices)
        raise BadUsage(
            f"the contacts cannot hold like this: {_tips(system, opening)}",
            expected="a load that presses on every contact, or leaves it unloaded",
            remedy="leave out the contacts that open, or move the load",
        )
    sliding = listed(
        [name.rpartition(".")[0] for name in _priced(ours.owners, possible.phase(ours).prices)], _NAMED
    )
    factor = _smallest_factor(
        possible, ours, LARGEST_FRICTION / max((c.mu for c in system.mech.contacts), default=LARGEST_FRICTION)
    )
    if factor is None:
        raise BadUsage(
            f"the contacts cannot hold like this: no friction keeps {sliding} from slipping",
            expected="contacts whose forces can balance the load",
        )
    friction = _same_friction(system)
    needed = f"{factor:.4g} times the stated coefficients" if friction is None else f"{factor * friction:.4g}"
    raise BadUsage(
        f"the contacts cannot hold like this: they slip at {sliding}",
        expected=f"a coefficient of friction of at least {needed}",
        remedy="hold fewer contacts, or state more friction (--friction, mu)",
    )


def _tips(system: System, opening: Sequence[str]) -> str:
    """Return a clause on the contacts that open, and the line through the others, about which the bodies tip."""
    lifted = [name.rpartition(".")[0] for name in opening]
    left = [contact for contact in system.mech.contacts if contact.name not in lifted]
    opens = f"{listed(lifted, _NAMED)} {'opens' if len(lifted) == 1 else 'open'}"
    points = np.array([system.poses.of(system.mech.body_index[c.body]).apply(c.point) for c in left]).reshape(
        -1, 3
    )
    if len(points) == 1:
        return f"the load tips it over {left[0].name}; {opens}"
    if len(points) >= 2:
        apart = points - points.mean(axis=0)
        sizes = np.linalg.svd(apart, compute_uv=False)
        if sizes[1] <= 1e-6 * sizes[0]:
            along = apart @ np.linalg.svd(apart)[2][0]
            ends = left[int(np.argmin(along))].name, left[int(np.argmax(along))].name
            return f"the load tips it about the line through {ends[0]} and {ends[1]}; {opens}"
    return f"the load lifts or tips it; {opens}"


def _priced(owners: Sequence[str], prices: Array) -> list[str]:
    """Return the labels of the inequalities with a shadow price among ``prices`` (k,)."""
    return list(dict.fromkeys(owners[k] for k in np.flatnonzero(prices > PRICED * prices.max()).tolist()))


def _same_friction(system: System) -> float | None:
    """Return the friction coefficient of all contacts; None if they differ or are without friction."""
    values = [contact.mu for contact in system.mech.contacts]
    same = bool(values) and values[0] > 0 and np.ptp(values) <= _SAME * values[0]
    return values[0] if same else None


def _smallest_factor(possible: Possible, wanted: Inequalities, largest: float) -> float | None:
    """Return the smallest factor on all friction coefficients that holds, up to ``largest``; None if none does."""
    if not (wanted.kinds == "friction").any():
        return None
    high = 1.0
    while not possible.holds(wanted, high):
        if high >= largest:
            return None
        high = min(2.0 * high, largest)
    low = 0.0
    if possible.holds(wanted, low):
        return 0.0
    # scipy.optimize takes longer to import than most reactions take to compute
    from scipy.optimize import brentq

    # the violation falls to zero at the smallest factor, and may stay there
    return float(
        brentq(
            lambda factor: possible.phase(wanted, factor).violation - 0.5 * FEASIBLE,
            low,
            high,
            xtol=_ACCURATE * high,
            rtol=_ACCURATE,
        )
    )


def standing_of(
    system: System,
    possible: Possible,
    wanted: Inequalities,
    loads: Array | None,
    sideways: Sequence[tuple[tuple[float, float, float], Array]],
) -> Standing:
    """Return the margins of contacts that hold.

    Parameters
    ----------
    loads : (m,) array or None
        Scaled multipliers of the stated loads alone.
    sideways : sequence of (direction, (m,) array)
        Scaled multipliers of a load of one weight in some directions.
    """
    ours = wanted.of("normal", "friction")
    factor = _smallest_factor(possible, ours, 1.0)
    friction = _same_friction(system)
    grown: float | None = None
    limited_by: tuple[str, ...] = ()
    if loads is not None:
        ((more, limited),) = possible.furthest(ours, loads[None])
        if np.isfinite(more):
            grown, limited_by = 1.0 + more, limited
    least, direction, first = _weakest(possible, ours, sideways)
    return Standing(
        friction_factor=factor,
        smallest_friction=None if factor is None or friction is None else factor * friction,
        load_factor=grown,
        load_limited_by=limited_by,
        sideways=least,
        sideways_direction=direction,
        sideways_limited_by=first,
    )


def _weakest(
    possible: Possible, wanted: Inequalities, sideways: Sequence[tuple[tuple[float, float, float], Array]]
) -> tuple[float | None, tuple[float, float, float] | None, tuple[str, ...]]:
    """Return the smallest sideways load that is no longer held, relative to the weight, its direction and its limit."""
    if not sideways:
        return None, None, ()
    found = possible.furthest(wanted, np.array([load for _, load in sideways]))
    # of directions that are equally weak, the first
    k = int(np.argmin(np.round([factor for factor, _ in found], 9)))
    factor, limited_by = found[k]
    return (max(factor, 0.0), sideways[k][0], limited_by) if np.isfinite(factor) else (None, None, ())
