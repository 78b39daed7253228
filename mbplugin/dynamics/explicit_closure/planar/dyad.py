"""Dyads: the three unknown joints of a planar loop in closed form (blajer1993 (15)–(23), for any kind).

The joints whose coordinates are known freeze the bodies between them to three substitute bodies. What
is left of a loop is U₁ K₁ U₂ K₂ U₃ K₃ = 1 with three unknown hinges or sliders: a triangle.
"""

from __future__ import annotations

from cmath import phase
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import acos, pi, sqrt

import numpy as np

from mbplugin.dynamics.explicit_closure.planar.plane import Displacement, Twist
from mbplugin.dynamics.explicit_closure.planar.ring import Ring
from mbplugin.errors import CannotClose
from mbplugin.model.spatial import Array, cross

#: Unknown joints in the cyclic order in which they are solved. RR is a closing that others imply.
KINDS = ("RRR", "RRP", "RPP", "RR")
#: How far, relative to its arms, a dyad may be out of reach by rounding.
_REACH = 1e-9
#: Below this sine a dyad is flat and its rates have no bounds; a sine found by arccos is no more exact.
_FLAT = 1e-7
#: Hinges closer than this fraction of their loop, or of their distance from the origin, stand on one axis.
_COAXIAL, _NO_ARM = 1e-6, 1e-9

_Turned = list[tuple[Twist, Displacement]]


@dataclass(frozen=True)
class DyadStep:
    """Unknown joints of a ring as functions of the known ones.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    unknown : tuple of int
        Their places in the ring, rotated to the order of ``solved_as``.
    solved_as : str
        One of ``KINDS``.
    branch : int
        ±1: which side the triangle of the unknown joints lies on; 0 where there is one solution only.
    """

    ring: Ring
    unknown: tuple[int, ...]
    solved_as: str
    branch: int = 0

    reason = ""

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the unknown joints, those behind the known ones first."""
        return tuple(self.ring.joints[k].name for k in self._in_reading_order())

    @property
    def kind(self) -> str:
        """The dyad as it is called, from the known joints on: RRR, RRP, RPR, …"""
        return "".join(self.ring.joints[k].letter for k in self._in_reading_order())

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices of the rates that it determines."""
        return tuple(self.ring.joints[k].rate for k in self.unknown)

    @property
    def known(self) -> tuple[int, ...]:
        """Indices of the rates that it needs."""
        return tuple(j.rate for k, j in enumerate(self.ring.joints) if k not in self.unknown)

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the unknown coordinates solved, in the turn nearest to where they were.

        Raises
        ------
        CannotClose
            The known joints are so far apart that the dyad does not reach.
        """
        out = np.array(y)
        for k, value in zip(self.unknown, _SOLVERS[self.solved_as](self, self._blocks(y)), strict=True):
            joint = self.ring.joints[k]
            if joint.twist.omega:
                turns = round((float(y[joint.at]) - value / joint.twist.omega) / (2 * pi))
                value = value / joint.twist.omega + 2 * pi * turns
            out[joint.at] = value
        return out

    def alternatives(self) -> Iterator[DyadStep]:
        """Yield the dyad on its other branch."""
        if self.branch:
            yield replace(self, branch=-self.branch)

    def slope(self, y: Array) -> Array:
        """Return ∂ẋ_D/∂ẋ_I (unknown, known) by the reciprocal twists (blajer1993 (19)–(22))."""
        twists = self.ring.twists(y)
        known = [k for k in range(len(twists)) if k not in self.unknown]
        return np.asarray(-self._inverse(twists) @ _columns([twists[k] for k in known]))

    def bias(self, y: Array, yd: Array) -> Array:
        """Return ξ (unknown,) at rates of all joints of the ring (blajer1993 (23))."""
        twists = self.ring.twists(y)
        return np.asarray(-self._inverse(twists) @ self.ring.bias(twists, yd))

    def margin(self, y: Array) -> float:
        """Return how far the dyad is from flat, 0 … 1: a sine, that of the largest angle for RRR."""
        return self._width(self._completed(self.ring.twists(y)))

    def _width(self, own: list[Twist]) -> float:
        if self.solved_as == "RPP":
            return abs((own[1].v.conjugate() * own[2].v).imag)
        if self.solved_as == "RRR":
            a, b, c = (twist.pivot for twist in own)
            short, middle, _ = sorted((abs(a - b), abs(b - c), abs(c - a)))
            area = abs(((b - a).conjugate() * (c - a)).imag)
            return area / (short * middle) if short else 0.0
        arm = own[1].pivot - own[0].pivot
        return abs((arm.conjugate() * own[2].v).real) / abs(arm) if arm else 0.0

    def _in_reading_order(self) -> list[int]:
        """Return the unknown joints from the longest run of known ones on."""
        order = sorted(self.unknown)
        n = len(self.ring.joints)
        gaps = [(order[k] - order[k - 1] - 1) % n for k in range(len(order))]
        first = gaps.index(max(gaps))
        return order[first:] + order[:first]

    def _blocks(self, y: Array) -> _Turned:
        """Return every unknown joint with the frozen displacement behind it, once round."""
        n, out = len(self.ring.joints), []
        for here, there in zip(self.unknown, self.unknown[1:] + self.unknown[:1], strict=True):
            if there > here:
                K = self.ring.product(y, here + 1, there)
            else:
                K = self.ring.product(y, here + 1, n) @ self.ring.K @ self.ring.product(y, 0, there)
            out.append((self.ring.joints[here].twist, K))
        return out

    def _completed(self, twists: list[Twist]) -> list[Twist]:
        """Return the twists of the unknown joints; an implied closing gets a slider for its misfit."""
        own = [twists[k] for k in self.unknown]
        if self.solved_as == "RR":
            arm = own[1].pivot - own[0].pivot
            own.append(Twist(0.0, arm / abs(arm) if arm else 1.0))
        return own

    def _inverse(self, twists: list[Twist]) -> Array:
        """Return the reciprocal twists (unknown, 3): the inverse of the unknown columns, by cross products."""
        own = self._completed(twists)
        a, b, c = _columns(own).T
        rows = np.array([cross(b, c), cross(c, a), cross(a, b)])
        if self._width(own) <= _FLAT:
            raise CannotClose(
                f"the joints {self._named()} lie in a line, where their rates do not follow from the others",
                remedy="change the independent coordinates before",
            )
        return np.asarray(rows[: len(self.unknown)] / float(a @ rows[0]))

    def _named(self) -> str:
        return ", ".join(repr(name) for name in self.joints)

    def out_of_reach(self, gap: float) -> CannotClose:
        """Return the error for known joints that the dyad cannot join."""
        return CannotClose(
            f"the joints {self._named()} cannot close their loop: they stay {gap:.3g} m apart",
            remedy="keep the independent coordinates inside the range of the mechanism",
        )


def _columns(twists: list[Twist]) -> Array:
    """Return twists as columns (3, k): ω, then the velocity at the origin in the plane."""
    columns: Array = np.array([[t.omega, t.v.real, t.v.imag] for t in twists]).reshape(-1, 3).T
    return columns


def _between_pivots(blocks: _Turned) -> list[Displacement]:
    """Return the frozen displacements from pivot to pivot; a slider counts as if at the origin."""
    pivots = [twist.pivot for twist, _ in blocks]
    return [
        Displacement(1.0, -here) @ K @ Displacement(1.0, there)
        for here, (_, K), there in zip(pivots, blocks, pivots[1:] + pivots[:1], strict=True)
    ]


def _rrr(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve a triangle of three hinges (blajer1993 (17), (18)): angles of the ring, rad."""
    L1, L2, L3 = _between_pivots(blocks)
    w = L3.inverse().shift
    a, b, c = abs(L1.shift), abs(L2.shift), abs(w)
    if not a * b:
        raise step.out_of_reach(abs(c - a - b))
    cosine = (c * c - a * a - b * b) / (2 * a * b)
    if abs(cosine) > 1 + _REACH:
        raise step.out_of_reach(max(c - a - b, abs(a - b) - c))
    elbow = step.branch * acos(max(-1.0, min(1.0, cosine)))
    theta2 = elbow - phase(L1.turn * L2.shift) + phase(L1.shift)
    turn2 = Twist(1.0, 0j).exp(theta2).turn
    theta1 = phase(w) - phase(L1.shift + L1.turn * turn2 * L2.shift)
    return [theta1, theta2, -theta1 - theta2 - phase(L1.turn * L2.turn * L3.turn)]


def _rrp(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve two hinges and a slider: a circle cut by a line."""
    L1, L2, L3 = _between_pivots(blocks)
    d = blocks[2][0].v
    h = L2.inverse().shift - L3.shift
    along, across, arm = (h * d.conjugate()).real, (h * d.conjugate()).imag, abs(L1.shift)
    if abs(across) > arm * (1 + _REACH):
        raise step.out_of_reach(abs(across) - arm)
    s = along + step.branch * sqrt(max(0.0, (arm - across) * (arm + across)))
    theta1 = phase(L3.turn.conjugate() * (h - d * s)) - phase(L1.shift)
    return [theta1, -theta1 - phase(L1.turn * L2.turn * L3.turn), s]


def _rpp(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve a hinge and two sliders: two crossing lines."""
    L1, L2, L3 = _between_pivots(blocks)
    d, e = L1.turn * blocks[1][0].v, L1.turn * L2.turn * blocks[2][0].v
    gap = -(L1.shift + L1.turn * (L2.shift + L2.turn * L3.shift))
    crossing = (d.conjugate() * e).imag
    if abs(crossing) <= _FLAT:
        raise step.out_of_reach(abs(gap))
    s2 = (gap.conjugate() * e).imag / crossing
    s3 = (d.conjugate() * gap).imag / crossing
    return [-phase(L1.turn * L2.turn * L3.turn), s2, s3]


def _rr(step: DyadStep, blocks: _Turned) -> list[float]:
    """Solve two hinges whose distance other loops have set already."""
    L1, L2 = _between_pivots(blocks)
    theta1 = phase(L2.inverse().shift) - phase(L1.shift)
    return [theta1, -theta1 - phase(L1.turn * L2.turn)]


_SOLVERS = {"RRR": _rrr, "RRP": _rrp, "RPP": _rpp, "RR": _rr}


def dyad(ring: Ring, unknown: list[int], y: Array) -> DyadStep | None:
    """Return the dyad of the unknown joints of a ring, on the branch of y (nq + c,); None if there is none."""
    letters = "".join(ring.joints[k].letter for k in unknown)
    for first in range(len(unknown)):
        turned = tuple(unknown[first:] + unknown[:first])
        solved_as = letters[first:] + letters[:first]
        if solved_as == "RR" and _coaxial(ring, turned, y):
            return None
        if solved_as in KINDS:
            return _on_branch(DyadStep(ring, turned, solved_as), y)
    return None


def _coaxial(ring: Ring, pair: tuple[int, ...], y: Array) -> bool:
    """Whether two hinges stand on one axis at y (nq + c,).

    They turn against each other there, and nothing sets by how much.
    """
    pivots = [twist.pivot for twist in ring.twists(y) if twist.omega]
    size = max(abs(a - b) for a in pivots for b in pivots)
    first, second = (ring.twists(y)[k].pivot for k in pair)
    return abs(first - second) <= max(_COAXIAL * size, _NO_ARM * max(abs(p) for p in pivots))


def _on_branch(step: DyadStep, y: Array) -> DyadStep:
    """Return the step with the branch whose solution is nearest to a pose y (nq + c,)."""
    if step.solved_as not in ("RRR", "RRP"):
        return step
    both = [DyadStep(step.ring, step.unknown, step.solved_as, branch) for branch in (1, -1)]
    at = [step.ring.joints[k].at for k in step.unknown]
    away = [float(np.abs(candidate.closed(y)[at] - y[at]).sum()) for candidate in both]
    return both[int(np.argmin(away))]
