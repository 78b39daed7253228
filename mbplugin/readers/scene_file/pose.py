"""The pose of a scene, settled in three steps because each needs the one before.

First the models and bodies stand where their files and the ``[state]`` put them; then pairs of the
files change their type; then the scene's own pairs and closures come, whose missing joint frames are
read off at that pose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.errors import BadScene
from mbplugin.model.mechanism import PAIR_TYPES, WORLD, Body, Mechanism, Pair
from mbplugin.model.mechanism.joint import zero_coordinates
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, joint_vector, rate_vector
from mbplugin.model.mechanism.topology import coordinate_names
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers.common.merge import carried
from mbplugin.readers.scene_file.actions import inertia_matrix
from mbplugin.readers.scene_file.joints import (
    changes_coordinates,
    declared,
    declares_new_pair,
    retyped,
    states_both_sides,
)
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import ClosureTable, PairTable


@dataclass(frozen=True, eq=False)
class PoseSettlement:
    """A mechanism under construction, at its pose and rates."""

    mechanism: Mechanism
    state: State

    @property
    def poses(self) -> BodyPoses:
        """Poses of its bodies."""
        return forward(self.mechanism, self.state.q)

    def named(self, without: frozenset[str] = frozenset()) -> tuple[dict[str, float], dict[str, float]]:
        """Return coordinates and rates by name, but for the named ones."""
        mech, state = self.mechanism, self.state
        q = {n: v for n, v in zip(mech.q_names, state.q, strict=True) if n not in without}
        qd = {n: v for n, v in zip(mech.qd_names, state.qd, strict=True) if n not in without}
        return q, qd


def settle(
    mech: Mechanism,
    known: tuple[Mapping[str, float], Mapping[str, float]],
    poses: BodyPoses,
    tables: SceneFile,
    skip: frozenset[str] = frozenset(),
) -> PoseSettlement:
    """Return the stage of a mechanism: known values, else the poses, and ``[state]`` on top of both.

    Parameters
    ----------
    known : pair of mappings
        Coordinates and rates by name.
    skip : frozenset of str
        Names of ``[state]`` that mean something only later.
    """
    state = carried(mech, *known, poses=poses)
    stated_q = {n: v for n, v in tables.state.q.items() if n in mech.q_names and n not in skip}
    stated_qd = {n: v for n, v in tables.state.qd.items() if n in mech.qd_names and n not in skip}
    q = _unit_quaternions(mech, joint_vector(mech, stated_q, state.q))
    return PoseSettlement(mech, State(q, rate_vector(mech, stated_qd, state.qd)))


def _unit_quaternions(mech: Mechanism, q: Array) -> Array:
    """Return q (nq,) with every quaternion normalised: a file writes it with few digits."""
    out = np.array(q)
    for i in (i for i, name in enumerate(mech.q_names) if name.endswith(".qw")):
        length = np.linalg.norm(q[i - 3 : i + 1])
        out[i - 3 : i + 1] = q[i - 3 : i + 1] / length if length else (0.0, 0.0, 0.0, 1.0)
    return out


def place_bodies(models: Scene, source: SceneSource, tables: SceneFile) -> PoseSettlement:
    """Return the models together with the bodies that the scene itself describes."""
    mech, before = models.mechanism, PoseSettlement(models.mechanism, models.state)
    bodies, written = _written_bodies(source, tables, mech)
    whole = replace(mech, bodies=(*mech.bodies, *bodies))
    known = settle(mech, before.named(), before.poses, tables, _renamed_later(mech, tables))
    poses = known.poses
    R = np.array([*poses.R_WL, *(X.R for X in written)]).reshape(-1, 3, 3)
    p = np.array([*poses.p_WL, *(X.p for X in written)]).reshape(-1, 3)
    p_LC = np.array([body.p_LC for body in whole.bodies]).reshape(-1, 3)
    placed = BodyPoses(R, p, p + np.einsum("nij,nj->ni", R, p_LC))
    return settle(whole, known.named(), placed, tables, _renamed_later(mech, tables))


def _renamed_later(mech: Mechanism, tables: SceneFile) -> frozenset[str]:
    """Return coordinate names that mean another freedom once their pair has its new type."""
    return frozenset(
        name
        for table in tables.pair
        if (pair := mech.pair_by_name.get(table.name)) and changes_coordinates(pair, table)
        for names in coordinate_names(pair.name, table.type, PAIR_TYPES[table.type].free)
        for name in names
    )


def _written_bodies(
    source: SceneSource, tables: SceneFile, mech: Mechanism
) -> tuple[tuple[Body, ...], tuple[Pose, ...]]:
    """Return the ``[[body]]`` tables and X_WL of each; names must be new."""
    bodies, poses = [], []
    taken = set(mech.body_index)
    for i, table in enumerate(tables.body):
        if table.name in taken:
            who = "the ground" if table.name == WORLD else "another body"
            raise BadScene(
                f"{who} is called {table.name!r}", where=source.where("body", i, "name"), remedy="rename one"
            )
        taken.add(table.name)
        inertia = inertia_matrix(table.inertia, source.where("body", i, "inertia"))
        bodies.append(Body(table.name, table.mass, np.array(table.com), inertia))
        poses.append(source.pose("body", i, table.xyz, table.rpy, "rpy"))
    return tuple(bodies), tuple(poses)


def retype_pairs(stage: PoseSettlement, source: SceneSource, tables: SceneFile) -> PoseSettlement:
    """Change the type of pairs that the models' files declare."""
    pairs = {pair.name: pair for pair in stage.mechanism.pairs}
    stale: set[str] = set()
    for i, table in enumerate(tables.pair):
        if table.name not in pairs or declares_new_pair(source, i, table, pairs):
            continue
        pair = pairs[table.name]
        if changes_coordinates(pair, table):
            for names in coordinate_names(pair.name, pair.type, pair.kind.free):
                stale.update(names)
        pairs[table.name] = retyped(source, i, table, pair)
    if all(pairs[pair.name] is pair for pair in stage.mechanism.pairs):
        return stage
    mech = replace(stage.mechanism, pairs=tuple(pairs.values()))
    return settle(mech, stage.named(frozenset(stale)), stage.poses, tables)


def add_pairs(stage: PoseSettlement, source: SceneSource, tables: SceneFile) -> PoseSettlement:
    """Add the pairs and closures of the scene, in this order.

    Raises
    ------
    BadScene
        Two pairs have one name, or a table contradicts itself.
    """
    old = stage.mechanism
    poses = stage.poses
    X_WL = {WORLD: Pose.identity(), **{b.name: poses.of(i) for i, b in enumerate(old.bodies)}}
    new: dict[str, Pair] = {}
    framed: list[Pair] = []
    for kind, i, table in declarations(tables):
        if table.name in old.pair_by_name or table.name in new:
            raise BadScene(
                f"two pairs are called {table.name!r}", where=source.where(kind, i), remedy="rename one"
            )
        new[table.name] = declared(source, kind, i, table, X_WL)
        if states_both_sides(table):
            framed.append(new[table.name])
    known = {**old.pair_by_name, **new}
    for i, retype in enumerate(tables.pair):
        if not declares_new_pair(source, i, retype, known) and retype.name in new:
            new[retype.name] = retyped(source, i, retype, new[retype.name])
    if not new:
        return stage
    mech = replace(old, pairs=(*old.pairs, *new.values()))
    q, qd = stage.named()
    return settle(mech, ({**_undecided(framed, tables), **q}, qd), stage.poses, tables)


def _undecided(framed: Sequence[Pair], tables: SceneFile) -> dict[str, float]:
    """Return zero coordinates of the pairs whose frames alone say where a body is.

    These are pairs with both joint frames written, at bodies for which no pose is.
    """
    unplaced = {table.name for table in tables.body if table.xyz is None and table.rpy is None}
    following = {pair.body_b for pair in framed} & unplaced
    zeros: dict[str, float] = {}
    for pair in framed:
        if following & {pair.body_a, pair.body_b}:
            names, _ = coordinate_names(pair.name, pair.type, pair.kind.free)
            zeros.update(zip(names, zero_coordinates(pair.type, pair.kind.free), strict=True))
    return zeros


def declarations(tables: SceneFile) -> Iterator[tuple[str, int, PairTable | ClosureTable]]:
    """Yield the tables of the pairs and closures that the scene adds, each with its kind and index."""
    for i, pair in enumerate(tables.pair):
        if pair.body_a is not None and pair.body_b is not None:
            yield "pair", i, pair
    for i, closure in enumerate(tables.closure):
        yield "closure", i, closure


def stated_names(stated: Iterable[str], models: Mechanism, names: Sequence[str]) -> frozenset[str]:
    """Return the coordinates or rates that ``[state]`` states, under the names (n,) that they have in the end."""
    found = {name for name in stated if name in names}
    for name in stated:
        if name not in found and name in models.pair_by_name:
            found |= {f"{name}.{c}" for c in models.pair_by_name[name].kind.free} & set(names)
    return frozenset(found)
