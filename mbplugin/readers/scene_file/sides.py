"""What the poses of a scene give its joint frames, and where the two contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import WORLD, Mechanism, Pair
from mbplugin.model.mechanism.joint import measure, pair_transform
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.scene import Defect
from mbplugin.model.spatial import Array, Pose, rpy_from_rotation, vector_from_rotation
from mbplugin.readers.scene_file.joints import states_both_sides
from mbplugin.readers.scene_file.pose import PoseSettlement, declarations
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import ClosureTable, PairTable

#: A frame this near to that of its link, m and rad, is at it.
_AT_LINK = 1e-9
#: What is this small, m and rad, is rounding of zero.
_NOTHING = 1e-15
#: Angles that are written with three decimals are this far from what they stand for, rad, and their levers by as much.
_ROUNDED = 1e-3


def sides_from_pose(source: SceneSource, tables: SceneFile, mech: Mechanism) -> Iterator[Defect]:
    """Yield a defect per ``[[closure]]`` with one joint frame; the other is as the mechanism has it.

    So for a ``[[pair]]`` between bodies that state no pose, where the other one is not that of the link.
    """
    for i, table in enumerate(tables.closure):
        if not states_both_sides(table):
            yield _one_sided(source, "closure", i, table, mech)
    loose = {body.name for body in tables.body if body.xyz is None and body.rpy is None}
    for i, pair in enumerate(tables.pair):
        if pair.body_a is None or states_both_sides(pair) or not loose & {pair.body_a, pair.body_b}:
            continue
        defect = _one_sided(source, "pair", i, pair, mech)
        side = defect.evidence["side"]
        if np.abs([*defect.evidence[f"xyz_{side}"], *defect.evidence[f"rpy_{side}"]]).max() > _AT_LINK:
            body = next(name for name in (pair.body_b, pair.body_a) if name in loose)
            where = f"; {body!r} states no pose and stands at the origin of the world there"
            yield replace(defect, message=defect.message + where)


def _one_sided(
    source: SceneSource, kind: str, i: int, table: PairTable | ClosureTable, mech: Mechanism
) -> Defect:
    """Return the defect of a table that states one side."""
    pair = mech.pair_by_name[table.name]
    given = "a" if table.xyz_a is not None or table.rpy_a is not None else "b"
    missing, body = ("b", pair.body_b) if given == "a" else ("a", pair.body_a)
    xyz, rpy = (getattr(table, f"{key}_{given}") for key in ("xyz", "rpy"))
    written = source.pose(kind, i, xyz, rpy, f"rpy_{given}")
    own, other = (pair.X_AP, pair.X_BS) if given == "a" else (pair.X_BS, pair.X_AP)
    # axis and type turn both frames alike; the file's keys are those before
    X = other @ (written.inverse() @ own).inverse()
    message = (
        f"side {missing} of {kind} {table.name!r} is not given; at the pose of the scene it is "
        f"xyz_{missing} = {_shown(X.p)}, rpy_{missing} = {_shown(rpy_from_rotation(X.R))} in {body!r}"
    )
    evidence = {
        "side": missing,
        "body": body,
        f"xyz_{missing}": X.p.tolist(),
        f"rpy_{missing}": rpy_from_rotation(X.R).tolist(),
        "toml": _toml(X, missing),
    }
    return Defect("MB116", table.name, message, source.origin(kind, i), evidence)


def contradicted_poses(
    source: SceneSource, tables: SceneFile, before: BodyPoses, last: PoseSettlement
) -> Iterator[Defect]:
    """Yield a defect per body whose stated pose the pair that carries it does not reach, whatever its coordinates.

    Parameters
    ----------
    before : BodyPoses
        As stated, before the pairs of the scene moved them.
    last : PoseSettlement
        As settled with the pairs.
    """
    stated = _stated_poses(tables, last.mechanism)
    places = {table.name: (kind, i) for kind, i, table in declarations(tables)}
    for joint in last.mechanism.tree.joints:
        pair = joint.pair
        if pair is None or pair.name not in places or joint.outer not in stated:
            continue
        moved = not tables.state.q.keys().isdisjoint(last.mechanism.q_names[joint.q])
        if moved and joint.inner not in stated:
            continue
        inner, outer = (last.mechanism.body_index[name] for name in (joint.inner, joint.outer))
        X_WI = (before if joint.inner in stated else last.poses).of(inner)
        X_IO = X_WI.inverse() @ before.of(outer)
        rest = _out_of_reach(joint, pair, X_IO, None if moved else last.state.q[joint.q])
        far = float(np.linalg.norm(rest.p)) if "xyz" in stated[joint.outer] else 0.0
        turned = float(np.linalg.norm(vector_from_rotation(rest.R))) if "rpy" in stated[joint.outer] else 0.0
        lever = sum(float(np.linalg.norm(X.p)) for X in (X_IO, pair.X_AP, pair.X_BS))
        if far > max(_ROUNDED * lever, _AT_LINK) or turned > _ROUNDED:
            yield _contradiction(source, places[pair.name], joint.outer, pair, (far, turned))


def _stated_poses(tables: SceneFile, mech: Mechanism) -> Mapping[str, frozenset[str]]:
    """Return which of ``xyz`` and ``rpy`` each body states that has a pose of its own, or that of its model."""
    found = {
        body.name: frozenset(key for key in ("xyz", "rpy") if getattr(body, key) is not None)
        for body in tables.body
    }
    several = len(tables.model) > 1
    for model in tables.model:
        if keys := model.model_fields_set & {"xyz", "rpy"}:
            own = [
                body.name
                for body in mech.bodies
                if body.name not in found and (not several or body.name.startswith(f"{model.name}/"))
            ]
            found.update(dict.fromkeys(own, frozenset(keys)))
    return {WORLD: frozenset(("xyz", "rpy"))} | {name: keys for name, keys in found.items() if keys}


def _out_of_reach(joint: TreeJoint, pair: Pair, X_IO: Pose, q: Array | None) -> Pose:
    """Return what the stated pose of the outer body in the inner one is away from that at q (c,), or at the best q."""
    X_AB = X_IO.inverse() if joint.reversed else X_IO
    X_PS = pair_transform(pair, measure(pair, pair.X_AP.inverse() @ X_AB @ pair.X_BS) if q is None else q)
    reached = pair.X_AP @ X_PS @ pair.X_SB
    return (reached.inverse() if joint.reversed else reached).inverse() @ X_IO


def _contradiction(
    source: SceneSource, place: tuple[str, int], body: str, pair: Pair, apart: tuple[float, float]
) -> Defect:
    far, turned = apart
    sizes = [f"{far:.3g} m"] * (far > _NOTHING) + [f"{turned:.3g} rad"] * (turned > _NOTHING)
    message = (
        f"the stated pose of body {body!r} is {' and '.join(sizes)} away from all that pair {pair.name!r} "
        f"({pair.type}) allows; it is not used, and the body stands where the pair puts it"
    )
    evidence = {"body": body, "pair": pair.name, "distance_m": far, "angle_rad": turned}
    return Defect("MB119", body, message, source.origin(*place), evidence, "error")


def _toml(X: Pose, side: str) -> str:
    xyz, rpy = ((np.where(np.abs(v) < _NOTHING, 0.0, v)).tolist() for v in (X.p, rpy_from_rotation(X.R)))
    return f"xyz_{side} = {xyz}\nrpy_{side} = {rpy}"


def _shown(values: Array) -> str:
    """Return ``values`` (n,) as text."""
    rounded = np.round(values, 12) + 0.0
    return f"[{', '.join(f'{value:.6g}' for value in rounded)}]"
