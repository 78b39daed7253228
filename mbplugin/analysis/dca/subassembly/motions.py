"""Motions of the subassemblies of a binary tree, parted into those its open joints show and those they hide.

A subassembly of unit inertias moves in orthonormal motions. Only as many of them as its open joints have
directions reach its neighbours. The others are hidden: no later joint changes them. So what is handed
on to the next subassembly does not grow with the number of bodies inside, whatever else holds them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.handles import Joint
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Step:
    """One body, or the subassembly that one joint makes of two parts.

    Parameters
    ----------
    parts : tuple of int
        Indices of the two steps that it joins; none for a body.
    body : int
        The body of a step without parts; −1.
    M : (c', c) array
        Its c orthonormal motions in the c' shown motions of its parts, or in the twist of the body.
    shown : int
        How many of them, the first ones, the open joints show.
    """

    parts: tuple[int, ...]
    body: int
    M: Array
    shown: int


@dataclass(frozen=True, eq=False)
class Motions:
    """The steps of one complete assembly; a part comes before what it is part of."""

    steps: tuple[Step, ...]

    def inside(self, number: int) -> Iterator[tuple[int, slice]]:
        """Yield the parts of a step, each with its rows of M."""
        start = 0
        for part in self.steps[number].parts:
            stop = start + self.steps[part].shown
            yield part, slice(start, stop)
            start = stop

    def spreads(self) -> dict[int, Array]:
        """Return Φ (d, d) of the complete assembly at the centre of mass of every body: from the root."""
        shown = {len(self.steps) - 1: np.zeros((0, 0))}
        found = {}
        for number in reversed(range(len(self.steps))):
            step = self.steps[number]
            spread = np.eye(step.M.shape[1])
            spread[: step.shown, : step.shown] = shown.pop(number)
            spread = step.M @ spread @ step.M.T
            if not step.parts:
                found[step.body] = spread
            for part, rows in self.inside(number):
                shown[part] = spread[rows, rows]
        return found


#: The twist (d, c) of a body per shown motion, with the number of its open joints.
_Open = dict[int, tuple[Array, int]]


def motions_of(
    bodies: Sequence[int], order: Sequence[Joint], to_joint: Mapping[tuple[int, str], Array], d: int
) -> Motions:
    """Return the motions of a complete assembly.

    Parameters
    ----------
    bodies : sequence of int
    order : sequence of Joint
        The joints between them in the order of their elimination, without units.
    to_joint : mapping of (body, joint) to (d, d) array
        What takes the twist at the centre of mass to the joint.
    d : int
        Components of a twist.
    """
    count = dict.fromkeys(bodies, 0)
    for joint in order:
        for body in joint.moving:
            count[body] += 1
    steps = [Step((), body, np.eye(d), d if count[body] else 0) for body in bodies]
    at = {body: k for k, body in enumerate(bodies)}
    outside = {k: {body: (np.eye(d), count[body])} for k, body in enumerate(bodies) if count[body]}
    merged = list(range(len(bodies)))
    for joint in order:
        i, j = (_last(merged, at[body]) for body in (joint.body_a, joint.body_b))
        step, open_ = _joined(
            (i, j), joint, (outside.pop(i), outside.pop(j)), (steps[i].shown, steps[j].shown), to_joint
        )
        outside[len(steps)] = open_
        merged[i] = merged[j] = len(steps)
        merged.append(len(steps))
        steps.append(step)
    return Motions(tuple(steps))


def _last(merged: list[int], number: int) -> int:
    """Return the latest subassembly that a step belongs to; the way there becomes shorter."""
    while merged[number] != number:
        merged[number] = merged[merged[number]]
        number = merged[number]
    return number


def _joined(
    parts: tuple[int, int],
    joint: Joint,
    outside: tuple[_Open, _Open],
    shown: tuple[int, int],
    to_joint: Mapping[tuple[int, str], Array],
) -> tuple[Step, _Open]:
    """Return the subassembly of two parts, and how its bodies with open joints move."""
    (at_i, _), (at_j, _) = outside[0][joint.body_a], outside[1][joint.body_b]
    forbidden = np.hstack(
        (
            -joint.T.T @ to_joint[joint.body_a, joint.name] @ at_i,
            joint.T.T @ to_joint[joint.body_b, joint.name] @ at_j,
        )
    )
    free = _null_basis(forbidden)
    rest = _rest(joint.body_a, outside[0], free[: shown[0]]) | _rest(
        joint.body_b, outside[1], free[shown[0] :]
    )
    seen = [twist for twist, _ in rest.values()]
    size = min(sum(map(len, seen)), free.shape[1])
    if 0 < size < free.shape[1]:
        Q = scipy.linalg.qr(np.vstack(seen).T, check_finite=False)[0]
        free = free @ Q
        rest = {body: (twist @ Q[:, :size], number) for body, (twist, number) in rest.items()}
    return Step(parts, -1, free, size), rest


def _null_basis(B: Array) -> Array:
    """Return an orthonormal basis (n, n − k) of what B (k, n) of full rank takes to zero."""
    return np.asarray(scipy.linalg.qr(B.T, check_finite=False)[0][:, len(B) :])


def _rest(body: int, outside: _Open, free: Array) -> _Open:
    """Return the bodies with open joints after one joint of a body is none any more; ``free`` (c', c)."""
    left = {k: (twist @ free, number - (k == body)) for k, (twist, number) in outside.items()}
    return {k: (twist, number) for k, (twist, number) in left.items() if number}
