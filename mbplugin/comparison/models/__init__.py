"""``diff``: are two models the same robot?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isclose, isfinite

import numpy as np

from mbplugin.arguments import checked
from mbplugin.comparison.models import alignment, matching
from mbplugin.comparison.models.alignment import (
    Difference,
    DifferenceKind,
    Dynamics,
    ModelDiff,
    Normalised,
    NotCompared,
    Quantities,
)
from mbplugin.comparison.models.matching import Matching, Merged, Rewritten, Tolerances
from mbplugin.comparison.models.stated import (
    Found,
    Side,
    axis_cause,
    compare_bodies,
    compare_stated,
    factor_cause,
    limit_cause,
    place_cause,
    side_of,
)
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.model import PAIR_TYPES, WORLD, Coupling, Freedom, Mechanism, Pair
from mbplugin.model.mechanism.kinematics import coordinates_of, forward, home
from mbplugin.model.scene import Origin, Scene, State, as_scene, in_coordinates_of
from mbplugin.model.spatial import Array, Pose, units_of, vector_from_rotation
from mbplugin.phrases import counted
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.unread import with_fixed_roots

#: Relative, for masses; what files round is below.
TOLERANCE = 1e-3
#: Lengths count with this share of it, relative to the size of the robot.
_LENGTHS = 0.1
#: Differences of dynamics that no part explains count from so many tolerances.
_DYNAMICS = 20.0
_Row = tuple[dict[tuple[str, str], float], float]
#: Types that only differ in what a file may state of their limits.
_SAME = {"continuous": "revolute"}


@checked
def diff(
    a: ModelSource,
    b: ModelSource,
    *,
    names: Mapping[str, str] | None = None,
    tolerance: float = TOLERANCE,
    stops: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> ModelDiff:
    """Compare two models: decide whether they describe the same robot, and list the differences.

    Fixed links are merged, link frames, joint axes and zero positions of the second are expressed by those of
    the first; what was normalised is listed.

    Parameters
    ----------
    a, b : path, PyBullet client, Scene or Mechanism
    names : mapping of str to str, optional
        Links or joints of the first and what they are called in the second; others are found by name, then by
        structure.
    tolerance : float
        Relative, of masses, and of angles in rad; inertias count with ten times as much, centres of mass with it times
        the size of the robot, places of joints with a tenth of that.
    stops : bool
        Also compute the emergency stop of each joint in both models.
    progress : callable, optional
        Called with the number of joints that were stopped, and the number of all.

    Raises
    ------
    BadUsage
        A tolerance that is not between 0 and 1.
    UnknownName
        A stated name that neither a link nor a joint has.
    MbPluginError
        A model that cannot be read.
    """
    if not 0 < tolerance < 1:
        raise BadUsage(f"the tolerance is {tolerance:g}", expected="a number between 0 and 1")
    loaded = first, second = _scene(a), _scene(b)
    sides = side_of(a, first), side_of(b, second)
    first, second, base = _bases(first, second)
    one, other = matching.merged(first.mechanism), matching.merged(second.mechanism)
    found = matching.matched(one, other, names or {})
    size = tolerance * alignment.size_of(one)
    limits = Tolerances(tolerance, _LENGTHS * size, size, tolerance)
    T = alignment.aligned(one, other, found, limits)
    in_terms = matching.rewritten(one, other, found, T, limits)
    parts = [
        *base,
        *_gravity(one, in_terms, other),
        *compare_bodies(one, other, found, T, limits),
        *compare_joints(one, other, in_terms, found, sides, limits),
    ]
    moved = {
        p.element_a for p in parts if isinstance(p, Difference) and p.kind in ("zero", "axis", "ends", "type")
    }
    parts += compare_couplings(one.mechanism, in_terms, other.mechanism, moved, limits)
    stated = list(compare_stated(one.mechanism, in_terms, sides, limits))
    unlike = bool([p for p in parts if isinstance(p, Difference)])
    parts += [p for p in stated if not isinstance(p, NotCompared)]
    numbers = [_quantities(scene, m) for scene, m in ((first, one), (second, other))]
    dynamics = _dynamics(one, in_terms, first)
    parts += _of_whole(numbers, dynamics, tolerance, unlike)
    differences = [
        _with_locations(p, first, second, other, in_terms) for p in parts if isinstance(p, Difference)
    ]
    changes, notes = alignment.stop_changes(*loaded, found.pairs, progress) if stops else ((), ())
    return ModelDiff(
        a=numbers[0],
        b=numbers[1],
        differences=tuple(differences),
        normalised=tuple(dict.fromkeys(p for p in parts if isinstance(p, Normalised))),
        bodies={here: there for here, there in found.bodies.items() if WORLD not in (here, there)},
        joints=dict(found.pairs),
        poses=dynamics.poses,
        mass_matrix=dynamics.mass_matrix,
        gravity_forces=dynamics.gravity_forces,
        wrenches=dynamics.wrenches,
        tolerance=tolerance,
        not_compared=tuple(p for p in stated if isinstance(p, NotCompared)),
        notes=notes,
        stops=changes,
    )


def _scene(source: ModelSource) -> Scene:
    scene = as_scene(model_of(source))
    mech = scene.mechanism
    loose = [p for p in mech.pairs if p.type == "floating" and WORLD in p.bodies]
    if not loose:
        return scene
    # a floating joint to the world constrains nothing: a root without a joint says the same
    poses = forward(mech, scene.state.q)
    lean = replace(mech, pairs=tuple(p for p in mech.pairs if p not in loose))
    return replace(
        scene, mechanism=lean, state=State(coordinates_of(lean, poses), np.zeros(len(lean.qd_names)))
    )


def _bases(a: Scene, b: Scene) -> tuple[Scene, Scene, list[Found]]:
    """Return both scenes with the same base: a robot on the ground also where the other file cannot state that."""
    free = [any(joint.pair is None for joint in s.mechanism.tree.joints) for s in (a, b)]
    if free[0] is free[1]:
        return a, b, []
    loose = a if free[0] else b
    poses = forward(loose.mechanism, loose.state.q)
    mech = loose.mechanism
    roots = {j.outer: poses.of(mech.body_index[j.outer]) for j in mech.tree.joints if j.pair is None}
    fixed = with_fixed_roots(mech, roots)
    state = replace(in_coordinates_of(fixed, mech, loose.state), qd=np.zeros(len(fixed.qd_names)))
    held = replace(loose, mechanism=fixed, state=state)
    kind = loose.request.path.lower() if loose.request is not None else ""
    said = "first" if free[0] else "second"
    name = ", ".join(roots)
    what: Found = Normalised("base", name, f"the base of the {said} model is free; it is compared fixed")
    if not kind.endswith((".urdf", ".xacro")):
        x, y = ("free", "fixed") if free[0] else ("fixed", "free")
        what = Difference("base", name, name, x, y, "base fixed in one model only")
    return (held, b, [what]) if free[0] else (a, held, [what])


def _gravity(one: Merged, in_terms: Rewritten, other: Merged) -> list[Found]:
    """Return the difference of gravity."""
    g, h = one.mechanism.gravity, in_terms.mechanism.gravity
    turned = ", computed in the directions of A" if np.abs(h - other.mechanism.gravity).max() > 1e-12 else ""
    if np.linalg.norm(g - h) > 0.01 * max(float(np.linalg.norm(g)), 1.0):
        x, y = (f"({', '.join(f'{entry:.6g}' for entry in v + 0.0)}) m/s²" for v in (g, h))
        cause = factor_cause(*map(float, map(np.linalg.norm, (g, h))))
        return [Difference("gravity", "gravity", "gravity", x, y + turned, cause)]
    if np.abs(g - h).max() > 1e-9:
        sizes = " and ".join(f"{np.linalg.norm(v):.6g}" for v in (g, h))
        return [Normalised("gravity", "gravity", f"{sizes} m/s² (computed)")]
    return []


def _quantities(scene: Scene, model: Merged) -> Quantities:
    from mbplugin.analysis import analyze

    mech = model.mechanism
    p = dof = undetermined = None
    try:
        result = analyze(replace(scene, mechanism=mech, state=_state(scene, mech)), samples=0)
        p, dof = result.degree_of_redundancy, result.dof
        undetermined = tuple(
            verdict.name
            for verdict in result.constraints
            if verdict.reaction == "non-unique" and verdict.name in mech.pair_by_name
        )
    except MbPluginError:
        # loops that do not close have no rank
        pass
    loops = len(mech.tree.cut)
    mass = sum(body.mass for body in scene.mechanism.bodies)
    counts = len(mech.bodies), len(mech.pairs), loops, len(mech.couplings)
    return Quantities(mech.name, *counts, mass, p, dof, undetermined)


def _state(scene: Scene, mech: Mechanism) -> State:
    return replace(scene.state, q=_coordinates(scene, mech), qd=np.zeros(len(mech.qd_names)))


def _coordinates(scene: Scene, mech: Mechanism) -> Array:
    """Return the coordinates (nq,) of a merged mechanism in the state of its scene."""
    value = dict(zip(scene.mechanism.q_names, scene.state.q, strict=True))
    q = home(mech)
    for k, name in enumerate(mech.q_names):
        q[k] = value.get(name, q[k])
    return q


def _dynamics(one: Merged, in_terms: Rewritten, a: Scene) -> Dynamics:
    try:
        return alignment.compare_dynamics(one.mechanism, in_terms.mechanism, _coordinates(a, one.mechanism))
    except (MbPluginError, np.linalg.LinAlgError):
        return alignment.NONE


def _of_whole(
    numbers: list[Quantities], dynamics: Dynamics, tolerance: float, explained: bool
) -> list[Difference]:
    """Return differences of the whole: redundancy, mobility, and dynamics that no part explains."""
    a, b = numbers
    found: list[Difference] = []
    if None not in (a.mobility, b.mobility) and a.degree_of_redundancy != b.degree_of_redundancy:
        p, r = (counted(x.degree_of_redundancy or 0, "redundant constraint") for x in numbers)
        found.append(Difference("redundancy", a.name, b.name, p, r))
    if None not in (a.mobility, b.mobility) and a.mobility != b.mobility:
        found.append(
            Difference("mobility", a.name, b.name, f"mobility {a.mobility}", f"mobility {b.mobility}")
        )
    if explained:
        return found
    gaps = [x for x in (dynamics.mass_matrix, dynamics.gravity_forces) if x is not None]
    if max(gaps, default=0.0) > _DYNAMICS * tolerance:
        text = f"mass matrix or gravity forces differ by {max(gaps):.3g} of the largest, computed"
        found.append(Difference("dynamics", a.name, b.name, "", text))
    if dynamics.wrenches is not None and dynamics.wrenches > _DYNAMICS * tolerance:
        text = f"determined joint forces differ by {dynamics.wrenches:.3g} of the largest, computed"
        found.append(Difference("reactions", a.name, b.name, "", text))
    return found


def _with_locations(found: Difference, a: Scene, b: Scene, other: Merged, in_terms: Rewritten) -> Difference:
    """Return a difference with its locations in the files."""

    def place(scene: Scene, name: str) -> Origin | None:
        for kind in ("constraint", "body"):
            if (kind, name, "") in scene.origin:
                return scene.origin[kind, name, ""]
        return None

    there = in_terms.pairs.get(found.element_b, found.element_b)
    return replace(found, place_a=place(a, found.element_a), place_b=place(b, there))


# Mimics and gears of two models, in the coordinates of the first.


def compare_couplings(
    a: Mechanism, b: Rewritten, other: Mechanism, moved: Collection[str], limits: Tolerances
) -> Iterator[Found]:
    """Yield couplings that are lost, added, or have other factors.

    Parameters
    ----------
    b : Rewritten
        The second model in the terms of the first.
    other : Mechanism
        The second model as written: its numbers are shown.
    moved : collection of str
        Joints of the first model whose axis or zero position differs, which alone explains a coupling that is
        written in the same way in both files.
    """
    rows_a = [(c, _row(c)) for c in a.couplings]
    names = {there: here for here, there in b.pairs.items()}
    left = [
        _Twin(
            c,
            _row(c),
            _row(replace(own, terms=tuple(replace(t, joint=names[t.joint]) for t in own.terms))),
            own,
        )
        for c, own in zip(b.mechanism.couplings, other.couplings, strict=True)
    ]
    for coupling, row in rows_a:
        twin = next((other for other in left if set(other.row[0]) == set(row[0])), None)
        if twin is None:
            yield Difference(
                "coupling", coupling.name, "", _coupling_text(coupling), "", f"{coupling.type} lost"
            )
            continue
        left.remove(twin)
        if _same(row, twin.row, limits):
            continue
        if _same(row, twin.written, limits) and any(t.joint in moved for t in coupling.terms):
            continue
        theirs = _coupling_text(twin.own)
        if not _same(twin.row, twin.written, limits):
            theirs += f", computed in the coordinates of A: {_coupling_text(twin.coupling)}"
        cause = _cause(row, twin.written)
        yield Difference(
            "coupling", coupling.name, twin.coupling.name, _coupling_text(coupling), theirs, cause
        )
    for twin in left:
        known = any(set(twin.row[0]) == set(other[0]) for _, other in rows_a)
        kind = twin.coupling.type
        cause = f"doubled {kind}" if known else f"{kind} only in the second"
        yield Difference("coupling", "", twin.coupling.name, "", _coupling_text(twin.own), cause)


@dataclass(frozen=True, eq=False)
class _Twin:
    """A coupling of the second model: in the first one's coordinates, its row, the row as written, and as written."""

    coupling: Coupling
    row: _Row
    written: _Row
    own: Coupling


def _row(coupling: Coupling) -> _Row:
    """Return the factors of a coupling and its right side, the factor of the first term being one."""
    total: dict[tuple[str, str], float] = {}
    for term in coupling.terms:
        key = (term.joint, term.freedom)
        total[key] = total.get(key, 0.0) + term.coefficient
    first = total[coupling.terms[0].joint, coupling.terms[0].freedom] or 1.0
    return {key: value / first for key, value in total.items()}, coupling.offset / first


def _same(a: _Row, b: _Row, limits: Tolerances) -> bool:
    """Return True if two rows are multiples of each other."""
    key = next(iter(a[0]))
    if b[0][key] == 0.0:
        return False
    k = a[0][key] / b[0][key]
    size = max(map(abs, a[0].values()))
    near = all(abs(a[0][name] - k * b[0][name]) <= limits.relative * size for name in a[0])
    bound = limits.angle if key[1][0] == "r" else limits.length
    return near and abs(a[1] - k * b[1]) <= bound


def _cause(a: _Row, b: _Row) -> str:
    slopes = [next((-v for k, v in list(row[0].items())[1:]), 0.0) for row in (a, b)]
    if isclose(slopes[0], slopes[1], rel_tol=1e-3):
        return factor_cause(a[1], b[1]) or ("offset lost" if b[1] == 0 else "offset")
    if slopes[0] and isclose(slopes[1], 1 / slopes[0], rel_tol=1e-3):
        return "multiplier inverted"
    if isclose(slopes[1], 1.0) and slopes[0] != 1.0:
        return "multiplier lost"
    said = factor_cause(*slopes)
    return f"multiplier: {said}" if said else "multiplier"


def _coupling_text(coupling: Coupling) -> str:
    """Return a coupling as text, solved for its first joint; divided numbers are named as computed."""
    row = _row(coupling)
    (first, _), *others = row[0].items()
    terms = " ".join(f"{'-' if v > 0 else '+'} {abs(v):.6g} · {k[0]}" for k, v in others)
    offset = f" + {row[1]:.6g}" if row[1] else ""
    divided = abs(coupling.terms[0].coefficient) != 1.0
    return f"{first[0]} = {terms.removeprefix('+ ')}{offset}{' (computed)' if divided else ''}"


# Axes, places, types and limits of matched joints; loops that are lost or doubled.


def compare_joints(
    one: Merged, other: Merged, b: Rewritten, found: Matching, sides: tuple[Side, Side], limits: Tolerances
) -> Iterator[Found]:
    """Yield the differences between the joints of a model and of another one, also given in terms of the first."""
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
    """Return True if the links on both sides of a pair are one rigid body in the other model."""
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
    """Yield the differences between two joints; limits only where both formats can state them."""
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
    """Yield axes and positions that differ, each on the body where they differ, as they are written."""
    axes: list[Difference] = []
    places: list[Difference] = []
    for body, X, Y, Z in ((a.body_a, a.X_AP, b.X_AP, written[0]), (a.body_b, a.X_BS, b.X_BS, written[1])):
        distance, angle = matching.side_gap(a.type, X, Y)
        if angle > limits.angle:
            z, w = X.R[:, 2], Y.R[:, 2]
            axial = a.type in matching.AXIAL
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
    if axes or places or a.type not in matching.AXIAL:
        return
    # what neither side shows: how the child lies to its parent at zero
    home, there = a.X_AP @ a.X_SB, b.X_AP @ b.X_SB
    gap, turn = alignment.home_gap(a, b)
    if gap > 2 * limits.length:
        ours, theirs = (_in(X.p, a.body_a) for X in (home, there))
        cause = place_cause(home.p, there.p) or "moved along the axis"
        yield Difference("origin", a.name, name, ours, theirs, cause)
    if a.type == "prismatic" and turn > limits.angle:
        ours, theirs = (f"{_turned(X.R)} in {a.body_a}, computed" for X in (home, there))
        yield Difference("axis", a.name, name, ours, theirs, "child turned about the axis")


def _lengths(a: Pair, b: Pair, name: str, limits: Tolerances) -> Iterator[Difference]:
    """Yield the lead of a screw and the length of a distance that differ."""
    if a.kind.size == "lead" and abs(a.lead - b.lead) > limits.relative * max(abs(a.lead), abs(b.lead)):
        ours, theirs = (f"{x:.6g} m per turn" for x in (a.lead, b.lead))
        yield Difference("lead", a.name, name, ours, theirs, factor_cause(a.lead, b.lead))
    if a.kind.size == "length" and abs(a.length - b.length) > limits.length:
        ours, theirs = (f"{x:.6g} m" for x in (a.length, b.length))
        yield Difference("length", a.name, name, ours, theirs, factor_cause(a.length, b.length))


def _limits(
    a: Pair, b: Pair, r: Rewritten, name: str, limits: Tolerances, *, limited: bool
) -> Iterator[Found]:
    """Yield limits and zero positions that differ, and axes that point the other way; limits as they are written."""
    sign, offset = r.signs[a.name], r.offsets[a.name]
    wrong = alignment.limits_apart(a, b, limits) if limited else []
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
    written = replace(b, freedoms=tuple(matching.shifted(f, -offset) for f in b.freedoms))
    if offset and wrong and not alignment.limits_apart(a, written, limits):
        homes = (a.X_AP @ a.X_SB, b.X_AP @ matching.along(b, offset) @ b.X_SB)
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

    return f"turned by ({_three(np.degrees(vector_from_rotation(R)))})°"


def _three(p: Array) -> str:
    """Return the numbers of p (3,) as text."""
    return ", ".join(f"{x:.6g}" for x in np.where(np.abs(p) < 1e-9, 0.0, p))
