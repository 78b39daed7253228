"""The preconditions of the divide-and-conquer test, checked one by one (pekal2024 §1, §2.3)."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.analysis.dca.handles import Joint
from mbplugin.constraints.tolerance import require_tolerance
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.graph import DisjointSets, adjacency, breadth_first
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.phrases import listed

#: Every precondition in the order of the checks, with the sentence that the trace prints.
PRECONDITIONS = {
    "tolerance": "the tolerance can be told from rounding in G",
    "holonomic": "all constraints are holonomic",
    "pairs only": "nothing but ideal pairs constrains the mechanism",
    "ground connection": "every loop closes through the ground",
    "nonsingular U": "U is nonsingular at every elimination",
    "nonsingular pose": "the pose is not singular",
}

#: G holds the closure rows squared, so rounding of 1e-16 looks like 1e-8 in them.
SMALLEST_TOLERANCE = 1e-6
_QR = "use method qr (or svd, nullspace)"


class DcaNotApplicable(BadUsage):
    """A mechanism, pose or tolerance that the divide-and-conquer test does not cover.

    Parameters
    ----------
    precondition : str
        The key of ``PRECONDITIONS`` that fails.
    what : str
        What fails it, without a full stop.
    remedy : str
        What applies instead.
    elements : tuple of str
        The pairs or bodies concerned.
    """

    def __init__(self, precondition: str, what: str, remedy: str, elements: tuple[str, ...] = ()) -> None:
        self.precondition, self.elements = precondition, elements
        super().__init__(
            f"the divide-and-conquer test does not apply: {what}",
            expected=f"that {PRECONDITIONS[precondition]}",
            remedy=remedy,
        )


def require_decidable(tolerance: float) -> None:
    """Refuse a tolerance outside (0, 1), or one at which rounding in G would decide.

    Raises
    ------
    BadUsage
        A number that is no relative tolerance.
    DcaNotApplicable
        A tolerance below ``SMALLEST_TOLERANCE``.
    """
    require_tolerance(tolerance)
    if tolerance < SMALLEST_TOLERANCE:
        raise DcaNotApplicable(
            "tolerance",
            f"the tolerance {tolerance:g} is below {SMALLEST_TOLERANCE:g}, where rounding decides in G, "
            "which holds the rows squared",
            "use method qr (or svd, nullspace), or a tolerance that is larger",
        )


def require_pairs_only(mech: Mechanism) -> None:
    """Refuse nonholonomic rows, couplings, drivers and locks.

    Dry friction that does not depend on the load is an applied force; it leaves a pair ideal.

    Raises
    ------
    DcaNotApplicable
        Names them.
    """
    rolling = [p for p in mech.pfaffians if p.nonholonomic]
    if rolling:
        names = tuple(p.name for p in rolling)
        rows = ", ".join(dict.fromkeys(c for p in rolling for c in p.nonholonomic))
        raise DcaNotApplicable(
            "holonomic", f"{_listed(names)} have nonholonomic rows ({rows})", f"{_QR}, which take them", names
        )
    if by_load := tuple(p.name for p in mech.pairs if any(f.load_friction for f in p.freedoms)):
        raise DcaNotApplicable(
            "pairs only",
            f"the friction of {_listed(by_load)} grows with its load, so it is no ideal pair",
            _QR,
            by_load,
        )
    for kind, found in (
        ("coupling", mech.couplings),
        ("driver", mech.drivers),
        ("lock", mech.locks),
        ("rolling contact", mech.pfaffians),
    ):
        if found:
            names = tuple(c.name for c in found)
            raise DcaNotApplicable(
                "pairs only",
                f"{kind} {_listed(names)} is no pair between two bodies",
                f"{_QR}, which take its rows",
                names,
            )


def require_ground_loops(mech: Mechanism, joints: Sequence[Joint]) -> None:
    """Refuse a loop, or a second joint between two bodies, that does not pass through the ground."""
    groups: DisjointSets[int] = DisjointSets()
    edges: list[tuple[int, int, str]] = []
    for joint in joints:
        if joint.grounded:
            continue
        a, b = joint.body_a, joint.body_b
        if not groups.join(a, b):
            raise _internal_loop(
                mech, (*_path(adjacency(range(len(mech.bodies)), edges), a, b), joint.name), a, b
            )
        edges.append((a, b, joint.name))


def _internal_loop(mech: Mechanism, loop: tuple[str, ...], a: int, b: int) -> DcaNotApplicable:
    if len(loop) == 2:
        bodies = f"{mech.bodies[a].name!r} and {mech.bodies[b].name!r}"
        what = f"pairs {_listed(loop)} are a multi-joint connection between the bodies {bodies}"
    else:
        what = f"pairs {_listed(loop)} form a loop that does not pass through the ground"
    return DcaNotApplicable("ground connection", what, f"{_QR}, which take loops anywhere", loop)


def _path(neighbours: dict[int, list[tuple[int, str]]], start: int, end: int) -> tuple[str, ...]:
    """Return the joints on the way from one body to another in a forest."""
    came = {outer: (inner, joint) for inner, outer, joint in breadth_first(neighbours, start, set())}
    path = []
    while end != start:
        end, joint = came[end]
        path.append(joint)
    return tuple(reversed(path))


def singular_U(joint: str) -> DcaNotApplicable:
    """Return the refusal of an elimination whose U cannot be inverted (pekal2024 (7))."""
    return DcaNotApplicable("nonsingular U", f"U is singular at pair {joint!r}", _QR, (joint,))


def singular_pose(joints: tuple[str, ...], here: int, generic: int) -> DcaNotApplicable:
    """Return the refusal of a pose at which G has a lower rank than at poses around it."""
    return DcaNotApplicable(
        "nonsingular pose",
        f"the pose is singular: G of ground joints {_listed(joints)} has rank {here} here and "
        f"{generic} at poses around it",
        f"choose another pose, or {_QR}, which answer for this one",
        joints,
    )


def _listed(names: Sequence[str]) -> str:
    return listed([repr(name) for name in names], 12)
