"""``.scene.toml``: models, bodies, closures and everything around them, as one scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mbplugin.errors import BadScene
from mbplugin.model.mechanism import Driver, Mechanism
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.mechanism.kinematics import joint_vector, rate_vector
from mbplugin.model.scene import Defect, LintOptions, Origin, OriginKey, Request, Scene
from mbplugin.readers.scene_file import actions
from mbplugin.readers.scene_file.drivers import drivers
from mbplugin.readers.scene_file.errors import validate
from mbplugin.readers.scene_file.misfits import limits, misfits
from mbplugin.readers.scene_file.models import read_models
from mbplugin.readers.scene_file.pose import (
    PoseSettlement,
    add_pairs,
    place_bodies,
    retype_pairs,
    stated_names,
)
from mbplugin.readers.scene_file.retyped import check_acting, settle_duties
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.sides import contradicted_poses, sides_from_pose
from mbplugin.readers.scene_file.source import SceneSource, located, parse_scene
from mbplugin.readers.scene_file.springs import carried_springs, springs
from mbplugin.readers.scene_file.tables.analysis import LintTable
from mbplugin.readers.scene_file.tables.mechanism import ClosureTable, PairTable


def read_scene(text: str, request: Request) -> Scene:
    """Return the scene that a ``.scene.toml`` describes.

    Parameters
    ----------
    text : str
        The file's content.
    request : Request
        Its path, where to look for models, and what overrides the file.

    Raises
    ------
    BadScene
        Not TOML, or not the tables of a scene; one sentence with the line.
    UnknownName
        A body, pair or coordinate that does not exist.
    MbPluginError
        A model of the scene cannot be read.
    """
    source = parse_scene(text, request.path, snap=request.snap_angles)
    tables = validate(source)
    if not tables.model and not tables.body:
        raise BadScene(
            "the scene has no body", where=request.path, remedy="add a [[model]] with a file, or a [[body]]"
        )
    models = settle_duties(read_models(source, tables, request), source, tables)
    first = place_bodies(models, source, tables)
    stated = retype_pairs(first, source, tables)
    last = add_pairs(stated, source, tables)
    _check_state(first, last, source, tables)
    led, motions = drivers(source, tables, last.mechanism.pair_by_name, request)
    mech = _with_constraints(last.mechanism, source, tables, led)
    kept, left_out = carried_springs(models, mech, source, tables)
    scene = replace(
        models,
        mechanism=mech,
        state=replace(
            last.state,
            given=models.state.given | stated_names(tables.state.q, models.mechanism, mech.q_names),
            given_rates=models.state.given_rates
            | stated_names(tables.state.qd, models.mechanism, mech.qd_names),
        ),
        origin={**models.origin, **_origins(mech.name, source, tables)},
        files=tuple(dict.fromkeys((request.path, *models.files, *motions))),
        defects=(
            *_without_declared_loops(models, mech),
            *left_out,
            *sides_from_pose(source, tables, mech),
            *contradicted_poses(source, tables, stated.poses, last),
        ),
        springs=kept,
        options=_lint_options(tables.lint),
        request=request,
    )
    return _with_actions(scene, source, tables)


def _without_declared_loops(models: Scene, mech: Mechanism) -> tuple[Defect, ...]:
    """Return the defects of the models; a loop whose type a file lacks is none where the scene states it."""
    known = models.mechanism.pair_by_name
    ends = {body for pair in mech.pairs if pair.name not in known for body in pair.bodies}
    declared = {models.origin.get(("body", body, "")) for body in ends}
    return tuple(d for d in models.defects if d.code != "MB112" or d.origin not in declared)


def _lint_options(table: LintTable) -> LintOptions:
    stated: dict[str, Any] = table.model_dump()
    lists = {name: tuple(value) for name, value in stated.items() if isinstance(value, list)}
    return LintOptions(**{**stated, **lists})


def _check_state(first: PoseSettlement, last: PoseSettlement, source: SceneSource, tables: SceneFile) -> None:
    """Refuse names in ``[state]`` that are coordinates neither of the files nor of the scene."""
    before, mech = first.mechanism, last.mechanism
    for name in tables.state.q:
        if name not in before.q_names:
            with located(_state_line(source, "q", name)):
                joint_vector(mech, {name: 0.0})
    for name in tables.state.qd:
        if name not in before.qd_names:
            with located(_state_line(source, "qd", name)):
                rate_vector(mech, {name: 0.0})


def _state_line(source: SceneSource, key: str, name: str) -> str:
    written = name if ("state", 0, name) in source.keys else key
    return source.where("state", 0, written)


def _with_constraints(
    mech: Mechanism, source: SceneSource, tables: SceneFile, led: tuple[Driver, ...]
) -> Mechanism:
    """Add the scene's couplings, drivers, closed locks, wheels and gravity."""
    pairs = mech.pair_by_name
    closed = tuple(lock for lock in actions.locks(source, tables, pairs) if lock.for_good)
    gravity = mech.gravity if tables.gravity is None else np.array(tables.gravity)
    with located(source.file):
        return replace(
            mech,
            couplings=(*mech.couplings, *actions.couplings(source, tables, pairs)),
            drivers=(*mech.drivers, *led),
            locks=(*mech.locks, *closed),
            pfaffians=(*mech.pfaffians, *actions.pfaffians(source, tables, mech.body_index)),
            gravity=gravity,
        )


def _with_actions(scene: Scene, source: SceneSource, tables: SceneFile) -> Scene:
    """Add the loads, stiffness, misfits, brakes, ramps, payloads, actuators, springs and later locks."""
    pairs, bodies = scene.mechanism.pair_by_name, dict.fromkeys(scene.mechanism.body_index)
    bodies.pop("world")
    with_brakes = (*scene.brakes, *actions.brakes(source, tables, pairs))
    with_actuators = (*scene.actuators, *actions.actuators(source, tables, pairs))
    with_ramps = (*scene.ramps, *actions.ramps(source, tables, pairs))
    check_acting(source, tables, pairs)
    later = tuple(lock for lock in actions.locks(source, tables, pairs) if not lock.for_good)
    return replace(
        scene,
        loads=(*scene.loads, *actions.loads(source, tables, bodies)),
        stiffness=(*scene.stiffness, *actions.stiffness(source, tables, pairs, bodies)),
        brakes=with_brakes,
        ramps=with_ramps,
        payloads=(*scene.payloads, *actions.payloads(source, tables, bodies)),
        actuators=with_actuators,
        locks=(*scene.locks, *later),
        holds=(*scene.holds, *actions.holds(source, tables, scene.mechanism)),
        misfits=misfits(source, tables, scene.mechanism),
        limits=limits(source, tables, scene.mechanism),
        springs=(*scene.springs, *springs(source, tables, scene.mechanism)),
    )


def _origins(model: str, source: SceneSource, tables: SceneFile) -> dict[OriginKey, Origin]:
    """Return where the scene's own elements were written, and their angle literals."""
    origin: dict[OriginKey, Origin] = {}
    for declared in ("degree_of_redundancy", "misfit_limit"):
        if ("lint", 0, declared) in source.keys:
            origin["model", model, declared] = source.origin("lint", 0, declared)
    for i, body in enumerate(tables.body):
        origin["body", body.name, ""] = source.origin("body", i)
        for key in ("mass", "inertia", "rpy"):
            if ("body", i, key) in source.keys:
                origin["body", body.name, key] = source.origin("body", i, key)
    joints: dict[str, Sequence[PairTable | ClosureTable]] = {"pair": tables.pair, "closure": tables.closure}
    for kind, written in joints.items():
        for i, joint in enumerate(written):
            if joint.body_a is None:
                origin["constraint", joint.name, "type"] = source.origin(kind, i, "type")
                continue
            origin["constraint", joint.name, ""] = source.origin(kind, i)
            for key in ("rpy_a", "rpy_b", "axis"):
                if (kind, i, key) in source.keys:
                    origin["constraint", joint.name, key] = source.origin(kind, i, key)
    for i, coupling in enumerate(tables.coupling):
        name = actions.coupling_name(i, coupling)
        origin["constraint", name, ""] = source.origin("coupling", i)
    for i, driver in enumerate(tables.driver):
        origin["constraint", driver.name or str(Holder("drive", driver.joint)), ""] = source.origin(
            "driver", i
        )
    for i, lock in enumerate(tables.lock):
        origin["constraint", str(Holder("lock", lock.joint)), ""] = source.origin("lock", i)
    for i, pfaffian in enumerate(tables.pfaffian):
        origin["constraint", pfaffian.name, ""] = source.origin("pfaffian", i)
    return origin
