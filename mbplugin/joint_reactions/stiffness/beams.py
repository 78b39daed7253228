"""A flexible body as a frame of straight Euler–Bernoulli beams, condensed to its attachments.

Attachments that lie on a line are one chain of beams along it; others are joined by one beam each to
a hub at the body's centre of mass. Beams have axes x along themselves, z the link's z made
perpendicular to x (the link's y for a beam along z), y = z × x; Iy is the second moment about y.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.spatial import Array, cross, shift_rows, shift_twists

#: Points nearer than this fraction of the frame's size, or of their coordinates, are one node.
_SAME, _ROUNDING = 1e-6, 1e-12
_POISSON = 0.3


@dataclass(frozen=True)
class Section:
    """A beam section: E (Pa), A (m²), second moments Iy, Iz about the beam's y and z, J (m⁴), nu."""

    E: float
    A: float
    Iy: float
    Iz: float
    J: float
    nu: float = _POISSON

    @classmethod
    def checked(cls, body: str, values: Mapping[str, Any]) -> Section:
        """Return a stated section.

        Raises
        ------
        BadUsage
            A missing or unknown key, or a number that is not positive.
        """
        needed = ("E", "A", "Iy", "Iz", "J")
        wrong = [k for k in values if k not in (*needed, "nu")] + [k for k in needed if k not in values]
        wrong += [k for k in needed if k in values and not 0 < float(values[k]) < np.inf]
        nu = _POISSON if values.get("nu") is None else float(values["nu"])
        if wrong or not -1 < nu <= 0.5:
            raise BadUsage(
                f"the section of body {body!r} is wrong in {' '.join(wrong) or 'nu'}",
                expected="positive E (Pa), A (m²), Iy, Iz, J (m⁴) and optionally nu",
            )
        E, A, Iy, Iz, J = (float(values[k]) for k in needed)
        return cls(E, A, Iy, Iz, J, nu)

    def stiffness(self, L: float) -> Array:
        """Return the stiffness (12, 12) of a beam in its own axes, [u; θ] of either end."""
        K = np.zeros((12, 12))

        def pair(i: int, j: int, k: float) -> None:
            K[np.ix_((i, j), (i, j))] += k * np.array([[1, -1], [-1, 1]])

        pair(0, 6, self.E * self.A / L)
        pair(3, 9, self.E / (2 * (1 + self.nu)) * self.J / L)
        for v, r, EI, sign in ((1, 5, self.E * self.Iz, 1.0), (2, 4, self.E * self.Iy, -1.0)):
            s = sign * L
            K[np.ix_((v, r, v + 6, r + 6), (v, r, v + 6, r + 6))] += (EI / L**3) * np.array(
                [
                    [12, 6 * s, -12, 6 * s],
                    [6 * s, 4 * L * L, -6 * s, 2 * L * L],
                    [-12, -6 * s, 12, -6 * s],
                    [6 * s, 2 * L * L, -6 * s, 4 * L * L],
                ]
            )
        return K


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes and beams of a frame in the world.

    Parameters
    ----------
    nodes : (k, 3) array, m
    beams : tuple of (int, int, int)
        First node, second node, and which section.
    """

    nodes: Array
    beams: tuple[tuple[int, int, int], ...]

    def nearest(self, point: Array) -> tuple[Layout, int]:
        """Return the layout with a node where a frame is nearest to a point (3,), m, and that node."""
        best, where, split = np.inf, 0, (0, 0.0)
        for number, (i, j, _) in enumerate(self.beams):
            along = self.nodes[j] - self.nodes[i]
            t = float(np.clip((point - self.nodes[i]) @ along / (along @ along), 0.0, 1.0))
            gap = float(np.linalg.norm(self.nodes[i] + t * along - point))
            if gap < best - _SAME * float(np.linalg.norm(along)):
                best, where, split = gap, number, (number, t)
        i, j, section = self.beams[where]
        t = split[1]
        if t <= _SAME or t >= 1 - _SAME:
            return self, i if t <= _SAME else j
        new = len(self.nodes)
        nodes = np.vstack((self.nodes, self.nodes[i] + t * (self.nodes[j] - self.nodes[i])))
        halves = ((i, new, section), (new, j, section))
        return Layout(nodes, (*self.beams[:where], *halves, *self.beams[where + 1 :])), new

    def lengths(self) -> Array:
        """Return the lengths (b,) of the b beams, m."""
        return np.array([np.linalg.norm(self.nodes[j] - self.nodes[i]) for i, j, _ in self.beams])


def lay_out(points: Array, center: Array) -> tuple[Layout, list[int]] | None:
    """Return the frame of a body with attachments at ``points`` (n, 3), and the node of each.

    Beams of points that are not on one line meet at ``center`` (3,); m, world axes. None where all
    attachments are at one place: no self-stress can bend such a body.
    """
    size = float(np.ptp(points, axis=0).max(initial=0.0))
    near_to = max(_SAME * size, _ROUNDING * float(np.abs(points).max(initial=0.0)))
    nodes: list[Array] = []
    at = []
    for p in points:
        near = [k for k, n in enumerate(nodes) if np.linalg.norm(n - p) <= near_to]
        at.append(near[0] if near else len(nodes))
        if not near:
            nodes.append(p)
    if len(nodes) < 2:
        return None
    X = np.array(nodes)
    _, sigma, Vt = np.linalg.svd(X - X.mean(axis=0))
    if len(sigma) < 2 or sigma[1] <= _SAME * sigma[0]:
        order = np.argsort((X - X.mean(axis=0)) @ Vt[0])
        chain = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
        return Layout(X, tuple((i, j, k) for k, (i, j) in enumerate(chain))), at
    at_hub = [k for k in range(len(X)) if np.linalg.norm(X[k] - center) <= _SAME * size]
    hub = at_hub[0] if at_hub else len(X)
    X = X if at_hub else np.vstack((X, center))
    spokes = [k for k in range(len(nodes)) if k != hub]
    return Layout(X, tuple((hub, k, number) for number, k in enumerate(spokes))), at


def beam_axes(along: Array, R_WL: Array) -> Array:
    """Return the axes (3, 3) of a beam, columns x y z in the world; along (3,), any length, and R_WL (3, 3)."""
    x = along / np.linalg.norm(along)
    z = R_WL[:, 2] - (R_WL[:, 2] @ x) * x
    if np.linalg.norm(z) < 0.1:
        z = R_WL[:, 1] - (R_WL[:, 1] @ x) * x
    z = z / np.linalg.norm(z)
    return np.column_stack((x, cross(z, x), z))


def deflections(
    layout: Layout,
    sections: Sequence[Section],
    R_WL: Array,
    line_load: Array,
    wrenches: Sequence[tuple[int, Array]],
) -> tuple[Array, Array]:
    """Return the flexibility of all nodes (6k, 6k) and their displacement under load (6k,).

    The first node is clamped: forces on a free body are in equilibrium, so nothing flows into the
    clamp, and what moves as one with it opens no gap.

    Parameters
    ----------
    R_WL : (3, 3) array
        Of the body.
    line_load : (3,) array
        Uniform along all beams, N/m, world axes.
    wrenches : sequence of (node, (6,) array)
        At the nodes, world axes.
    """
    size = 6 * len(layout.nodes)
    K, f = np.zeros((size, size)), np.zeros(size)
    for i, j, section in layout.beams:
        along = layout.nodes[j] - layout.nodes[i]
        L = float(np.linalg.norm(along))
        R = np.kron(np.eye(4), beam_axes(along, R_WL))
        dofs = np.r_[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
        K[np.ix_(dofs, dofs)] += R @ sections[section].stiffness(L) @ R.T
        # forces that move the ends of a beam as the uniform load does
        end = L / 12 * cross(along, line_load)
        f[dofs] += np.concatenate((0.5 * L * line_load, end, 0.5 * L * line_load, -end))
    for node, wrench in wrenches:
        f[6 * node : 6 * node + 6] += wrench
    # a diagonal of ones: metres and radians invert together
    unit = 1 / np.sqrt(np.diag(K)[6:])
    flexibility: Array = np.zeros((size, size))
    flexibility[6:, 6:] = np.linalg.inv(unit[:, None] * K[6:, 6:] * unit) * np.outer(unit, unit)
    flexibility = 0.5 * (flexibility + flexibility.T)
    return flexibility, flexibility @ f


def move_wrench(wrench: Array, from_point: Array, to_point: Array) -> Array:
    """Return a wrench (6,) at from_point (3,) about to_point (3,), m."""
    return shift_rows(wrench, from_point - to_point)


def carry_twist(from_point: Array, to_point: Array) -> Array:
    """Return the matrix (6, 6) that takes a displacement [u; θ] at from_point (3,) to to_point (3,), m."""
    return shift_twists(np.eye(6), to_point - from_point)
