"""Axes, places, types and limits of matched joints; loops that are lost or doubled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite

import numpy as np

from mbplugin.comparison.models.alignment import home_gap, limits_apart
from mbplugin.comparison.models.bodies import Found
from mbplugin.comparison.models.causes import axis_cause, factor_cause, limit_cause, place_cause
from mbplugin.comparison.models.matching import Matching
from mbplugin.comparison.models.merging import Merged
from mbplugin.comparison.models.rewriting import Rewritten, along, shifted
from mbplugin.comparison.models.sides import AXIAL, Tolerances, side_gap
from mbplugin.comparison.models.stated import Side
from mbplugin.comparison.models.values import Difference, DifferenceKind, Normalised
from mbplugin.model.component import units_of
from mbplugin.model.mechanism import Freedom, Mechanism, Pair
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.model.spatial import Array, Pose

#: Types that only differ in what a file may state of their limits.
_SAME = {"continuous": "revolute"}


def compare_joints(
    one: Merged, other: Merged, b: Rewritten, found: Matching, sides: tuple[Side, Side], limits: Tolerances
) -> Iterator[Found]:
    """Yield what differs between the joints of a model and another one, which is also given in its terms."""
    theirs = b.mechanism.pair_by_name
    for pair in one.mechanism.pairs:
        if pair.name in found.pairs:
            twin = theirs[pair.name]
            limited = sides[0].states("limit", pair) and sides[1].states("limit", twin)
            yield from _joint(pair, twin, b, found.pairs[pair.name], limits, limited=limited)
        else:
            lost = _single(pair, "lost", pair.name, "")
            yield replace(lost, cause="joint became fixed") if _is_fixed(one, other, pair) else lost
    twins = {*found.pairs}
    for pair in b.mechanism.pairs:
        if pair.name not in twins:
            yield _extra(pair, b.pairs[pair.name], b.mechanism)


def _is_fixed(one: Merged, other: Merged, pair: Pair) -> bool:
    """Return whether links on both sides of a pair are one rigid body in the other model."""
    sides = [{other.group_of(link) for link in one.frames[body]} - {None} for body in pair.bodies]
    return bool(sides[0] & sides[1])


def _single(pair: Pair, said: str, a: str, b: str) -> Difference:
    what: DifferenceKind = "loop" if pair.closure else "joint"
    value = f"{pair.type} between {pair.body_a} and {pair.body_b}"
    cause = f"{said} {what}" if said == "lost" else f"{what} {said}"
    cause += _in_series(pair)
    return Difference(what, a, b, value if a else "", value if b else "", cause)


def _in_series(pair: Pair) -> str:
    """Return that a pair is a part of a joint of several freedoms, by the body without mass between its parts."""
    parts = any("#" in body for body in pair.bodies)
    return ", one of several in series that are one joint of more freedoms" if parts else ""


def _extra(pair: Pair, name: str, mech: Mechanism) -> Difference:
    """Return the difference of a joint that only the second model has."""
    beside = [p for p in mech.pairs if p is not pair and set(p.bodies) == set(pair.bodies)]
    found = _single(pair, "only in the second", "", name)
    if not beside:
        return found
    return Difference("loop", "", name, "", found.value_b, f"doubled loop: beside {beside[0].name!r}")


def _joint(
    a: Pair, b: Pair, r: Rewritten, name: str, limits: Tolerances, *, limited: bool
) -> Iterator[Found]:
    """Yield what differs of two joints; limits where both files have a place for them."""
    if a.closure != b.closure:
        yield Normalised("cut", a.name, "the loop is cut at another joint")
    if set(a.bodies) != set(b.bodies):
        yield Difference(
            *("ends", a.name, name, "–".join(a.bodies), "–".join(b.bodies)),
            f"joint on another body{_in_series(b)}",
        )
        return
    if _SAME.get(a.type, a.type) != _SAME.get(b.type, b.type):
        yield Difference("type", a.name, name, a.type, b.type, _type_cause(a, b))
        return
    if a.name in r.reversed:
        yield Normalised("order", a.name, "the bodies of the joint are in the other order")
    yield from _geometry(a, b, r.sides[a.name], name, limits)
    yield from _lengths(a, b, name, limits)
    yield from _limits(a, b, r, name, limits, limited=limited)


def _type_cause(a: Pair, b: Pair) -> str:
    rows = len(PAIR_TYPES[a.type].constrained) - len(PAIR_TYPES[b.type].constrained)
    if a.closure or b.closure:
        return f"closure {'weaker' if rows > 0 else 'stronger'} by {abs(rows)} constraints" if rows else ""
    if b.type == "fixed":
        return "joint became fixed"
    return "joint type lost" if rows else "turning and sliding exchanged"


def _geometry(a: Pair, b: Pair, written: tuple[Pose, Pose], name: str, limits: Tolerances) -> Iterator[Found]:
    """Yield axes and places that differ, each on the body where they do; places as they are written."""
    axes: list[Difference] = []
    places: list[Difference] = []
    for body, X, Y, Z in ((a.body_a, a.X_AP, b.X_AP, written[0]), (a.body_b, a.X_BS, b.X_BS, written[1])):
        distance, angle = side_gap(a.type, X, Y)
        if angle > limits.angle:
            z, w = X.R[:, 2], Y.R[:, 2]
            axial = a.type in AXIAL
            cause = axis_cause(z, w) if axial else "joint frame turned"
            ours, theirs = (
                _axis(F.R[:, 2], body) if axial else f"{_turned(F.R)} in {body}, computed" for F in (X, Y)
            )
            axes.append(Difference("axis", a.name, name, ours, theirs, cause))
        if distance > limits.length:
            ours, theirs = (_in(F.p, body) for F in (X, Z))
            places.append(Difference("origin", a.name, name, ours, theirs, place_cause(X.p, Z.p)))
    # a joint that is wrong in both bodies is one fault: the body in which its cause is plain
    for same in (axes, places):
        yield from sorted(same, key=lambda d: -len(d.cause))[:1]
    if axes or places or a.type not in AXIAL:
        return
    # what neither side shows: how the child lies to its parent at zero
    home, there = a.X_AP @ a.X_SB, b.X_AP @ b.X_SB
    gap, turn = home_gap(a, b)
    if gap > 2 * limits.length:
        ours, theirs = (_in(X.p, a.body_a) for X in (home, there))
        cause = place_cause(home.p, there.p) or "moved along the axis"
        yield Difference("origin", a.name, name, ours, theirs, cause)
    if a.type == "prismatic" and turn > limits.angle:
        ours, theirs = (f"{_turned(X.R)} in {a.body_a}, computed" for X in (home, there))
        yield Difference("axis", a.name, name, ours, theirs, "child turned about the axis")


def _lengths(a: Pair, b: Pair, name: str, limits: Tolerances) -> Iterator[Difference]:
    """Yield the lead of a screw and the length of a distance that differ."""
    if a.type == "screw" and abs(a.lead - b.lead) > limits.relative * max(abs(a.lead), abs(b.lead)):
        ours, theirs = (f"{x:.6g} m per turn" for x in (a.lead, b.lead))
        yield Difference("lead", a.name, name, ours, theirs, factor_cause(a.lead, b.lead))
    if a.type == "distance" and abs(a.length - b.length) > limits.length:
        ours, theirs = (f"{x:.6g} m" for x in (a.length, b.length))
        yield Difference("length", a.name, name, ours, theirs, factor_cause(a.length, b.length))


def _limits(
    a: Pair, b: Pair, r: Rewritten, name: str, limits: Tolerances, *, limited: bool
) -> Iterator[Found]:
    """Yield limits and zero positions that differ, and axes that point the other way; limits as they are written."""
    sign, offset = r.signs[a.name], r.offsets[a.name]
    wrong = limits_apart(a, b, limits) if limited else []
    if sign < 0 and (wrong or _symmetric(a.freedoms)):
        how = "the limits are not exchanged" if wrong else "nothing in its limits shows that it is meant"
        z = a.X_AP.R[:, 2]
        yield Difference(
            "axis", a.name, name, _axis(z, a.body_a), _axis(-z, a.body_a), f"axis flipped: {how}"
        )
        return
    if sign < 0:
        yield Normalised("axis", a.name, "the axis points the other way, and the limits are exchanged")
    if offset and not wrong:
        unit = units_of(a.kind.free[0]).coordinate
        yield Normalised("zero", a.name, f"the zero position is moved by {offset:.6g} {unit} (computed)")
    written = replace(b, freedoms=tuple(shifted(f, -offset) for f in b.freedoms))
    if offset and wrong and not limits_apart(a, written, limits):
        homes = (a.X_AP @ a.X_SB, b.X_AP @ along(b, offset) @ b.X_SB)
        ours, theirs = (
            _in(X.p, a.body_a) if a.type == "prismatic" else f"{_turned(X.R)} in {a.body_a}, computed"
            for X in homes
        )
        yield Difference("zero", a.name, name, ours, theirs, "zero position moved, limits not")
        return
    for side, component, x, y in wrong:
        unit = units_of(component).coordinate
        own = y - offset
        theirs = f"{side} {own:.6g} {unit}"
        if offset:
            theirs += f", computed from the zero position of A: {y:.6g} {unit}"
        yield Difference("limit", a.name, name, f"{side} {x:.6g} {unit}", theirs, limit_cause(x, own))


def _symmetric(freedoms: tuple[Freedom, ...]) -> bool:
    return all(abs(f.lower + f.upper) <= 1e-9 or not isfinite(f.lower + f.upper) for f in freedoms)


def _axis(z: Array, body: str) -> str:
    """Return an axis z (3,) as text."""
    return f"({_three(z)}) in {body}, computed"


def _in(p: Array, body: str) -> str:
    """Return a point p (3,) as text."""
    return f"({_three(p)}) m in {body}, computed"


def _turned(R: Array) -> str:
    """Return a rotation R (3, 3) as text."""
    from mbplugin.model.spatial import vector_from_rotation

    return f"turned by ({_three(np.degrees(vector_from_rotation(R)))})°"


def _three(p: Array) -> str:
    """Return the numbers of p (3,) as text."""
    return ", ".join(f"{x:.6g}" for x in np.where(np.abs(p) < 1e-9, 0.0, p))
