"""Masses, centres of mass, inertias and frames of matched bodies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mbplugin.comparison.models.causes import center_cause, inertia_cause, mass_cause, place_cause
from mbplugin.comparison.models.matching import Matching
from mbplugin.comparison.models.merging import Merged
from mbplugin.comparison.models.sides import Tolerances, angle_between
from mbplugin.comparison.models.values import Difference, Normalised
from mbplugin.model.mechanism import WORLD, Body
from mbplugin.model.spatial import Array, Pose

Found = Difference | Normalised


def compare_bodies(
    a: Merged, b: Merged, found: Matching, T: dict[str, Pose], limits: Tolerances
) -> Iterator[Found]:
    """Yield what differs between the bodies of two models."""
    for name, there in found.bodies.items():
        ours, theirs = a.frames[name], b.frames[there]
        yield from _frames(a, b, name, there, T[name], limits)
        if name == WORLD:
            yield from _on_the_ground(a, b, T[name], limits)
            continue
        heavy_a = {link for link in ours if not a.links[link].massless}
        heavy_b = {link for link in theirs if not b.links[link].massless}
        if heavy_a == heavy_b and heavy_a:
            for link in sorted(heavy_a, key=list(ours).index):
                D = ours[link].inverse() @ T[name] @ theirs[link]
                yield from _properties(link, link, a.links[link], _moved(b.links[link], D), limits)
            continue
        total_a = a.mechanism.bodies[a.mechanism.body_index[name]]
        total_b = _moved(b.mechanism.bodies[b.mechanism.body_index[there]], T[name])
        for difference in _properties(name, there, total_a, total_b, limits):
            several = difference.kind == "mass" and max(len(heavy_a), len(heavy_b)) > 1
            sums = [
                f"{v}, computed: the sum of fixed links" for v in (difference.value_a, difference.value_b)
            ]
            yield replace(difference, value_a=sums[0], value_b=sums[1]) if several else difference
        if len(heavy_a) != len(heavy_b):
            links = sorted(heavy_a ^ heavy_b)
            yield Normalised("fixed links", name, f"merged: {', '.join(links)}")
    yield from _lost(a, b, found)


def _moved(body: Body, X: Pose) -> Body:
    """Return the mass properties of a body in another frame."""
    return Body(body.name, body.mass, X.apply(body.p_LC), X.R @ body.I_C @ X.R.T)


def _properties(name: str, there: str, a: Body, b: Body, limits: Tolerances) -> Iterator[Difference]:
    """Yield the differences of mass, centre of mass and inertia, the last two in the first model's frame."""
    frame = f", computed in the frame of {name!r} of the first model"
    heaviest = max(a.mass, b.mass)
    if abs(a.mass - b.mass) > limits.relative * heaviest:
        yield Difference(
            "mass", name, there, f"{a.mass:.6g} kg", f"{b.mass:.6g} kg", mass_cause(a.mass, b.mass)
        )
    if a.mass and b.mass and np.linalg.norm(a.p_LC - b.p_LC) > limits.center:
        cause = center_cause(a.p_LC, b.p_LC)
        yield Difference("center", name, there, _point(a.p_LC) + frame, _point(b.p_LC) + frame, cause)
    largest = max(float(np.abs(a.I_C).max()), float(np.abs(b.I_C).max()))
    if np.abs(a.I_C - b.I_C).max() > 10 * limits.relative * largest:
        ours, theirs = (_matrix(body.I_C) + frame for body in (a, b))
        yield Difference("inertia", name, there, ours, theirs, inertia_cause(a, b))


def _frames(a: Merged, b: Merged, name: str, there: str, T: Pose, limits: Tolerances) -> Iterator[Found]:
    """Yield frames that moved: a difference where the frame is all that a link has."""
    ours, theirs = a.frames[name], b.frames[there]
    for link, X in ours.items():
        if link == WORLD:
            distance, angle = float(np.linalg.norm(T.p)), angle_between(np.eye(3), T.R)
            if distance > limits.length or angle > limits.angle:
                apart = f"{distance:.4g} m and {np.degrees(angle):.4g}° (computed)"
                yield Normalised("ground", link, f"the whole robot stands {apart} from where the first does")
            continue
        if link not in theirs:
            if a.links[link].massless and name != link:
                yield Normalised("frame", link, f"the massless frame {link!r} is only in the first model")
            continue
        Y = T @ theirs[link]
        distance, angle = float(np.linalg.norm(X.p - Y.p)), angle_between(X.R, Y.R)
        if distance <= limits.length and angle <= limits.angle:
            continue
        frame_only = a.links[link].massless and b.links[link].massless and link not in (name, there)
        if frame_only:
            yield Difference("frame", link, link, _pose(X), _pose(Y), place_cause(X.p, Y.p))
        else:
            by = f"{distance:.4g} m and {np.degrees(angle):.4g}° (computed)"
            yield Normalised("link frame", link, f"the link frame is moved by {by}, its contents are not")
    for link in theirs:
        if link not in ours and link != WORLD and b.links[link].massless and there != link:
            yield Normalised("frame", link, f"the massless frame {link!r} is only in the second model")


def _on_the_ground(a: Merged, b: Merged, T: Pose, limits: Tolerances) -> Iterator[Found]:
    """Yield what differs between links fixed to the ground: they do not move, and load only what fixes them."""
    for link, X in a.frames[WORLD].items():
        if link == WORLD or link not in b.frames[WORLD] or a.links[link].massless or b.links[link].massless:
            continue
        D = X.inverse() @ T @ b.frames[WORLD][link]
        for found in _properties(link, link, a.links[link], _moved(b.links[link], D), limits):
            said = "fixed to the ground: no motion differs, only the reaction of what fixes it"
            yield replace(found, cause=f"{found.cause}, {said}" if found.cause else said)
    for one, other, said in ((a, b, "first"), (b, a, "second")):
        only = [link for link in one.frames[WORLD] if link != WORLD and link not in other.frames[WORLD]]
        if only:
            names = ", ".join(only)
            yield Normalised("ground", names, f"links of the ground that only the {said} model has: {names}")


def _lost(a: Merged, b: Merged, found: Matching) -> Iterator[Found]:
    """Yield the bodies without a twin; massless ones are frames."""
    for body in a.mechanism.bodies:
        if body.name not in found.bodies:
            yield _single(body, body.name, "", "body lost")
    for body in b.mechanism.bodies:
        if body.name not in found.bodies.values():
            yield _single(body, "", body.name, "body only in the second")


def _single(body: Body, a: str, b: str, cause: str) -> Found:
    if body.massless:
        return Normalised("frame", body.name, f"the massless body {body.name!r} is only in one model")
    value = f"{body.mass:.6g} kg"
    return Difference("body", a, b, value if a else "", value if b else "", cause)


def _point(p: Array) -> str:
    """Return a point p (3,) as text."""
    return f"({', '.join(f'{x:.6g}' for x in np.where(np.abs(p) < 1e-12, 0.0, p))}) m"


def _pose(X: Pose) -> str:
    from mbplugin.model.spatial import vector_from_rotation

    turn = np.degrees(vector_from_rotation(X.R))
    return f"{_point(X.p)}, turned by ({', '.join(f'{x:.4g}' for x in turn + 0.0)})°, computed"


def _matrix(inertia: Array) -> str:
    """Return an ``inertia`` (3, 3) as text."""
    xx, yy, zz = np.diag(inertia)
    xy, xz, yz = inertia[0, 1], inertia[0, 2], inertia[1, 2]
    return f"({xx:.5g}, {yy:.5g}, {zz:.5g}; {xy:.3g}, {xz:.3g}, {yz:.3g}) kg·m²"
