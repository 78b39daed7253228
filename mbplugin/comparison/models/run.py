"""``diff``: are two models the same robot?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mbplugin.arguments import checked
from mbplugin.comparison.models.alignment import aligned, size_of
from mbplugin.comparison.models.bodies import Found, compare_bodies
from mbplugin.comparison.models.causes import factor_cause
from mbplugin.comparison.models.couplings import compare_couplings
from mbplugin.comparison.models.dynamics import NONE, Dynamics, compare_dynamics
from mbplugin.comparison.models.joints import compare_joints
from mbplugin.comparison.models.matching import matched
from mbplugin.comparison.models.merging import Merged, merged
from mbplugin.comparison.models.rewriting import Rewritten, rewritten
from mbplugin.comparison.models.sides import Tolerances
from mbplugin.comparison.models.stated import compare_stated, side_of
from mbplugin.comparison.models.values import Difference, ModelDiff, Normalised, NotCompared, Quantities
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import coordinates_of, forward, home
from mbplugin.model.scene import Origin, Scene, State, as_scene
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted
from mbplugin.readers.common.grounding import with_fixed_roots
from mbplugin.readers.source import ModelSource, model_of

#: Relative, for masses; what files round is below.
TOLERANCE = 1e-3
#: Lengths count with this share of it, relative to the size of the robot.
_LENGTHS = 0.1
#: Differences of dynamics that no part explains count from so many tolerances.
_DYNAMICS = 20.0


@checked
def diff(
    a: ModelSource,
    b: ModelSource,
    *,
    names: Mapping[str, str] | None = None,
    tolerance: float = TOLERANCE,
) -> ModelDiff:
    """Compare two models: whether they are the same robot, and what differs.

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
    first, second = _scene(a), _scene(b)
    sides = side_of(a, first), side_of(b, second)
    first, second, base = _bases(first, second)
    one, other = merged(first.mechanism), merged(second.mechanism)
    found = matched(one, other, names or {})
    size = tolerance * size_of(one)
    limits = Tolerances(tolerance, _LENGTHS * size, size, tolerance)
    T = aligned(one, other, found, limits)
    in_terms = rewritten(one, other, found, T, limits)
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
    differences = [_placed(p, first, second, other, in_terms) for p in parts if isinstance(p, Difference)]
    return ModelDiff(
        a=numbers[0],
        b=numbers[1],
        differences=tuple(differences),
        normalised=tuple(dict.fromkeys(p for p in parts if isinstance(p, Normalised))),
        bodies=_by_links(one, other, found.bodies),
        joints=dict(found.pairs),
        poses=dynamics.poses,
        mass_matrix=dynamics.mass_matrix,
        gravity_forces=dynamics.gravity_forces,
        wrenches=dynamics.wrenches,
        tolerance=tolerance,
        not_compared=tuple(p for p in stated if isinstance(p, NotCompared)),
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
    value = dict(zip(mech.q_names, loose.state.q, strict=True))
    q = np.array([value[name] for name in fixed.q_names])
    state = replace(loose.state, q=q, qd=np.zeros(len(fixed.qd_names)))
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
    from mbplugin.analysis.run import analyze

    mech = model.mechanism
    p = dof = None
    try:
        result = analyze(replace(scene, mechanism=mech, state=_state(scene, mech)), samples=0)
        p, dof = result.degree_of_redundancy, result.dof
    except MbPluginError:
        # loops that do not close have no rank
        pass
    loops = len(mech.tree.cut)
    mass = sum(body.mass for body in scene.mechanism.bodies)
    return Quantities(mech.name, len(mech.bodies), len(mech.pairs), loops, len(mech.couplings), mass, p, dof)


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
        return compare_dynamics(one.mechanism, in_terms.mechanism, _coordinates(a, one.mechanism))
    except (MbPluginError, np.linalg.LinAlgError):
        return NONE


def _of_whole(
    numbers: list[Quantities], dynamics: Dynamics, tolerance: float, explained: bool
) -> list[Difference]:
    """Return differences of the whole: redundancy, mobility, and dynamics that no part explains."""
    a, b = numbers
    found: list[Difference] = []
    if None not in (a.dof, b.dof) and a.degree_of_redundancy != b.degree_of_redundancy:
        p, r = (counted(x.degree_of_redundancy or 0, "redundant constraint") for x in numbers)
        found.append(Difference("redundancy", a.name, b.name, p, r))
    if None not in (a.dof, b.dof) and a.dof != b.dof:
        found.append(Difference("mobility", a.name, b.name, f"mobility {a.dof}", f"mobility {b.dof}"))
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


def _placed(found: Difference, a: Scene, b: Scene, other: Merged, in_terms: Rewritten) -> Difference:
    """Return a difference with the places in the files."""

    def place(scene: Scene, name: str) -> Origin | None:
        for kind in ("constraint", "body"):
            if (kind, name, "") in scene.origin:
                return scene.origin[kind, name, ""]
        return None

    there = in_terms.pairs.get(found.element_b, found.element_b)
    return replace(found, place_a=place(a, found.element_a), place_b=place(b, there))


def _by_links(one: Merged, other: Merged, bodies: Mapping[str, str]) -> dict[str, str]:
    return {here: there for here, there in bodies.items() if WORLD not in (here, there)}
