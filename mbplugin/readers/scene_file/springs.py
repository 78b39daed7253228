"""The ``[[spring]]`` tables of a scene: between two points, or on a joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mbplugin.errors import BadScene
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.scene import Defect, Origin, Scene
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.readers.scene_file.actions import one_freedom
from mbplugin.readers.scene_file.joints import require_known
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.forces import SpringTable
from mbplugin.readers.scene_file.tables.mechanism import PairTable

_OF_POINTS = ("body_a", "body_b", "point_a", "point_b", "length", "damping")
_OF_JOINTS = ("joint", "freedom", "rest")


def springs(source: SceneSource, tables: SceneFile, mech: Mechanism) -> tuple[Spring | JointSpring, ...]:
    """Return the ``[[spring]]`` tables."""
    return tuple(_spring(source, i, table, mech) for i, table in enumerate(tables.spring))


def _spring(source: SceneSource, index: int, table: SpringTable, mech: Mechanism) -> Spring | JointSpring:
    where = source.where("spring", index)
    on_joint = table.joint is not None
    if on_joint == (table.body_a is not None and table.body_b is not None):
        raise BadScene(
            f"[[spring]] {index + 1} does not say what it pulls at",
            where=where,
            expected="either body_a and body_b, or joint",
        )
    for key in _OF_POINTS if on_joint else _OF_JOINTS:
        if getattr(table, key) is not None:
            raise BadScene(
                f"[[spring]] {index + 1} is {'on a joint' if on_joint else 'between bodies'} and has {key}",
                where=source.where("spring", index, key),
                expected=f"stiffness, {', '.join(_OF_JOINTS if on_joint else _OF_POINTS)}",
            )
    return _on_joint(source, index, table, mech) if on_joint else _of_points(source, index, table, mech)


def _of_points(source: SceneSource, index: int, table: SpringTable, mech: Mechanism) -> Spring:
    bodies = {**dict.fromkeys(mech.body_index), WORLD: None}
    for key in ("body_a", "body_b"):
        require_known(str(getattr(table, key)), bodies, "body", source.where("spring", index, key))
    if table.body_a == table.body_b:
        raise BadScene(
            f"[[spring]] {index + 1} has both ends on {table.body_a!r}",
            where=source.where("spring", index),
            expected="two bodies",
        )
    zero = [0.0, 0.0, 0.0]
    return Spring(
        str(table.body_a),
        str(table.body_b),
        table.point_a or zero,  # type: ignore[arg-type]
        table.point_b or zero,  # type: ignore[arg-type]
        table.stiffness,
        table.length or 0.0,
        table.damping or 0.0,
    )


def _on_joint(source: SceneSource, index: int, table: SpringTable, mech: Mechanism) -> JointSpring:
    where, joint = source.where("spring", index, "joint"), str(table.joint)
    freedom = one_freedom(mech.pair_by_name, joint, table.freedom, where)
    name = joint if len(mech.pair_by_name[joint].kind.free) == 1 else f"{joint}.{freedom}"
    if name not in mech.q_names or name not in mech.qd_names:
        raise BadScene(
            f"joint {joint!r} has no coordinate that a spring could act on",
            where=where,
            expected="a joint of the tree with angles or travels",
            remedy="put a spring between two bodies",
        )
    return JointSpring(name, table.stiffness, table.rest or 0.0)


def carried_springs(
    models: Scene, mech: Mechanism, source: SceneSource, tables: SceneFile
) -> tuple[tuple[Spring | JointSpring, ...], tuple[Defect, ...]]:
    """Return the springs of the models' files on the scene's mechanism, and those left out as defects.

    A joint that a ``[[pair]]`` retypes keeps the spring of a freedom that it keeps.
    """
    found: list[Spring | JointSpring] = []
    defects = []
    for spring in models.springs:
        if not isinstance(spring, JointSpring) or spring.joint in mech.q_names:
            found.append(spring)
            continue
        old = models.mechanism.pair_by_name
        joint, _, freedom = (spring.joint, "", "") if spring.joint in old else spring.joint.rpartition(".")
        names = [joint, f"{joint}.{freedom or old[joint].kind.free[0]}"]
        renamed = [n for n in names if n in mech.q_names and n in mech.qd_names]
        if renamed and (freedom or old[joint].kind.free[0]) in mech.pair_by_name[joint].kind.free:
            found.append(replace(spring, joint=renamed[0]))
            continue
        message = (
            f"joint {joint!r} is {mech.pair_by_name[joint].type} in the scene; the spring of its file "
            f"(stiffness {spring.stiffness:g}, rest {spring.rest:g}) has no coordinate and is not read"
        )
        defects.append(Defect("MB113", joint, message, _retyping(source, tables.pair, joint)))
    return tuple(found), tuple(defects)


def _retyping(source: SceneSource, tables: Sequence[PairTable], joint: str) -> Origin:
    """Return where a joint changes its type."""
    index = next((i for i, table in enumerate(tables) if table.name == joint), 0)
    return source.origin("pair", index, "type")
