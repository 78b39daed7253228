"""Read ``.scene.toml``: models, bodies, closures and everything around them, as one scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mbplugin.errors import BadScene, MbPluginError
from mbplugin.model import WORLD, BodyPoses, Driver, Holder, Mechanism, joint_vector, rate_vector
from mbplugin.model.brake_law import Limit, Misfit
from mbplugin.model.mechanism.pair import MotionProfile, Pair, measure, pair_transform
from mbplugin.model.scene import Defect, LintOptions, Origin, OriginKey, Request, Scene
from mbplugin.model.spatial import (
    Array,
    JointSpring,
    Pose,
    Spring,
    is_turn,
    rpy_from_rotation,
    vector_from_rotation,
)
from mbplugin.readers.scene_file import SceneFile, SceneSource, actions, located, parse_scene, validate
from mbplugin.readers.scene_file.actions import (
    Pairs,
    check_freedoms,
    one_freedom,
    require_known,
    states_both_sides,
)
from mbplugin.readers.scene_file.models import (
    PoseSettlement,
    add_pairs,
    check_acting,
    declarations,
    place_bodies,
    read_models,
    retype_pairs,
    settle_duties,
    stated_names,
    with_shapes,
)
from mbplugin.readers.scene_file.tables import (
    ClosureTable,
    DriverTable,
    LintTable,
    MisfitTable,
    PairTable,
    SpringTable,
)
from mbplugin.readers.unread import read_profile

_OF_POINTS = ("body_a", "body_b", "xyz_a", "xyz_b", "length", "damping")
#: Former names of spring points, still accepted.
_FORMER = {"point_a": "xyz_a", "point_b": "xyz_b"}
_OF_JOINTS = ("joint", "freedom", "rest")
#: Largest deviation of a frame from that of its link, m and rad, at which they coincide.
_AT_LINK = 1e-9
#: Magnitudes up to this, m and rad, are rounded zeros.
_NOTHING = 1e-15
#: Rounding error of angles written with three decimals, rad; also applied to their lever arms.
_ROUNDED = 1e-3


def read_scene(text: str, request: Request) -> Scene:
    """Return the scene that a ``.scene.toml`` describes.

    Parameters
    ----------
    text : str
        The file's content.
    request : Request
        Its path, where to look for models, and overrides.

    Raises
    ------
    BadScene
        The text is not TOML, or not a scene; the message states the line.
    UnknownName
        A body, pair or coordinate does not exist.
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
    driven, motions = drivers(source, tables, last.mechanism.pair_by_name, request)
    mech = _with_constraints(last.mechanism, source, tables, driven)
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
    return with_shapes(_with_actions(scene, source, tables), source, tables, request)


def _without_declared_loops(models: Scene, mech: Mechanism) -> tuple[Defect, ...]:
    """Return the defects of the models, except loops without a type that the scene declares."""
    known = models.mechanism.pair_by_name
    ends = {body for pair in mech.pairs if pair.name not in known for body in pair.bodies}
    declared = {models.origin.get(("body", body, "")) for body in ends}
    return tuple(d for d in models.defects if d.code != "MB112" or d.origin not in declared)


def _lint_options(table: LintTable) -> LintOptions:
    stated: dict[str, Any] = table.as_dict()
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
    mech: Mechanism, source: SceneSource, tables: SceneFile, driven: tuple[Driver, ...]
) -> Mechanism:
    """Add the scene's couplings, drivers, permanent locks, wheels and gravity."""
    pairs = mech.pair_by_name
    closed = tuple(lock for lock in actions.locks(source, tables, pairs) if lock.for_good)
    gravity = mech.gravity if tables.gravity is None else np.array(tables.gravity)
    with located(source.file):
        return replace(
            mech,
            couplings=(*mech.couplings, *actions.couplings(source, tables, pairs)),
            drivers=(*mech.drivers, *driven),
            locks=(*mech.locks, *closed),
            pfaffians=(*mech.pfaffians, *actions.pfaffians(source, tables, mech.body_index)),
            gravity=gravity,
        )


def _with_actions(scene: Scene, source: SceneSource, tables: SceneFile) -> Scene:
    """Add contacts, loads, stiffness, misfits, limits, brakes, ramps, payloads, actuators, springs, holds, locks."""
    pairs, bodies = scene.mechanism.pair_by_name, dict.fromkeys(scene.mechanism.body_index)
    bodies.pop("world")
    with_brakes = (*scene.brakes, *actions.brakes(source, tables, pairs))
    with_actuators = (*scene.actuators, *actions.actuators(source, tables, pairs))
    with_ramps = (*scene.ramps, *actions.ramps(source, tables, pairs))
    check_acting(source, tables, pairs)
    later = tuple(lock for lock in actions.locks(source, tables, pairs) if not lock.for_good)
    touching = actions.contacts(source, tables, scene.mechanism)
    lines = {
        ("constraint", contact.name, ""): source.origin("contact", i) for i, contact in enumerate(touching)
    }
    return replace(
        scene,
        contacts=touching,
        origin={**scene.origin, **lines},
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
    """Return the locations of the scene's own elements and of their angle literals."""
    origin: dict[OriginKey, Origin] = {}
    for declared in ("degree_of_redundancy", "misfit_limit"):
        if ("lint", 0, declared) in source.keys:
            origin["model", model, declared] = source.origin("lint", 0, declared)
    for i, body in enumerate(tables.body):
        origin["body", body.name, ""] = source.origin("body", i)
        for key in ("mass", "inertia", "rpy"):
            if ("body", i, key) in source.keys:
                origin["body", body.name, key] = source.origin("body", i, key)
    named: dict[str, Sequence[PairTable | ClosureTable]] = {"pair": tables.pair, "closure": tables.closure}
    for kind, written in named.items():
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


# The ``[[driver]]`` tables of a scene, with motions through points or from a file.


def drivers(
    source: SceneSource, tables: SceneFile, pairs: Pairs, request: Request
) -> tuple[tuple[Driver, ...], tuple[str, ...]]:
    """Return the ``[[driver]]`` tables, and the motion files that they name.

    Raises
    ------
    MbPluginError
        A joint or freedom does not exist, or a motion is invalid.
    """
    files: list[str] = []
    for i, table in enumerate(tables.driver):
        check_freedoms(pairs, table.joint, table.freedoms, source.where("driver", i, "joint"))
    found = tuple(
        Driver(
            table.name or str(Holder("drive", table.joint)),
            table.joint,
            tuple(table.freedoms),
            table.value,
            table.rate,
            table.acceleration,
            _profile(source, i, table, pairs, request, files),
        )
        for i, table in enumerate(tables.driver)
    )
    return found, tuple(files)


def _profile(
    source: SceneSource, index: int, table: DriverTable, pairs: Pairs, request: Request, files: list[str]
) -> MotionProfile | None:
    """Return the motion through the points of a ``[[driver]]``; a motion file is appended to ``files``."""
    stated = [key for key in ("points", "file") if getattr(table, key) is not None]
    if not stated:
        if "between" in table.stated:
            where = source.where("driver", index, "between")
            raise BadScene(f"[[driver]] {table.joint!r} states between, but no points", where=where)
        return None
    besides = [key for key in ("value", "rate", "acceleration", "file") if key in table.stated - {stated[0]}]
    if besides:
        raise BadScene(
            f"[[driver]] {table.joint!r} states {stated[0]} and {besides[0]}",
            where=source.where("driver", index, besides[0]),
            expected="value, rate and acceleration, or points, or a file of them",
        )
    if table.points is not None:
        try:
            return MotionProfile.from_points(table.points, table.between)
        except MbPluginError as error:
            where = source.where("driver", index, "points")
            raise BadScene(
                f"[[driver]] {table.joint!r}: {error.what}", where=where, expected=error.expected
            ) from None
    freedom = (*table.freedoms, *pairs[table.joint].kind.free)[0]
    assert table.file is not None
    path = table.file.path(request, source.where("driver", index, "file"))
    files.append(str(path))
    return read_profile(path, is_turn(freedom), table.between)


# The ``[[misfit]]`` and ``[[limit]]`` tables of a scene.


def misfits(source: SceneSource, tables: SceneFile, mech: Mechanism) -> tuple[Misfit, ...]:
    """Return the ``[[misfit]]`` tables."""
    return tuple(_misfit(source, i, table, mech) for i, table in enumerate(tables.misfit))


def _misfit(source: SceneSource, index: int, table: MisfitTable, mech: Mechanism) -> Misfit:
    known = dict.fromkeys(c.name for c in mech.constraints())
    require_known(table.joint, known, "joint", source.where("misfit", index, "joint"))
    if table.value is None and table.sigma is None:
        raise BadScene(
            f"[[misfit]] {index + 1} does not say how large it is",
            where=source.where("misfit", index),
            expected="value, or sigma, or both (m, rad)",
        )
    return Misfit(table.joint, table.component, table.value, table.sigma)


def limits(source: SceneSource, tables: SceneFile, mech: Mechanism) -> tuple[Limit, ...]:
    """Return the ``[[limit]]`` tables."""
    known = dict.fromkeys(c.name for c in mech.constraints())
    for i, table in enumerate(tables.limit):
        require_known(table.joint, known, "joint", source.where("limit", i, "joint"))
    return tuple(Limit(table.joint, table.value, table.component or "") for table in tables.limit)


# The ``[[spring]]`` tables of a scene: between two points, or on a joint.


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
    for key in (*_OF_POINTS, *_FORMER) if on_joint else _OF_JOINTS:
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
    points = []
    for former, key in _FORMER.items():
        given = [value for name in (key, former) if (value := getattr(table, name)) is not None]
        if len(given) == 2:
            raise BadScene(
                f"[[spring]] {index + 1} has {key} and {former}, which is its former name",
                where=source.where("spring", index, former),
                expected=f"{key} alone",
            )
        points.append(np.array(given[0] if given else [0.0, 0.0, 0.0]))
    return Spring(
        str(table.body_a),
        str(table.body_b),
        point_a=points[0],
        point_b=points[1],
        stiffness=table.stiffness,
        length=table.length or 0.0,
        damping=table.damping or 0.0,
        name=table.name or "",
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
    return JointSpring(name, table.stiffness, table.rest or 0.0, table.name or "")


def carried_springs(
    models: Scene, mech: Mechanism, source: SceneSource, tables: SceneFile
) -> tuple[tuple[Spring | JointSpring, ...], tuple[Defect, ...]]:
    """Return the springs of the models' files in the scene's mechanism, and a defect for each dropped one.

    A joint retyped by a ``[[pair]]`` retains the springs of its remaining freedoms.
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
        index = next((i for i, table in enumerate(tables.pair) if table.name == joint), 0)
        defects.append(Defect("MB113", joint, message, source.origin("pair", index, "type")))
    return tuple(found), tuple(defects)


# Joint frames computed from the poses of a scene, and contradictions between the two.


def sides_from_pose(source: SceneSource, tables: SceneFile, mech: Mechanism) -> Iterator[Defect]:
    """Yield a defect per ``[[closure]]`` with one stated joint frame; the other comes from the mechanism.

    Also per such ``[[pair]]`` on a body without a stated pose, if the other frame is not the link frame.
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
    """Return the defect of a table that states one side only."""
    pair = mech.pair_by_name[table.name]
    given = "a" if table.xyz_a is not None or table.rpy_a is not None else "b"
    missing, body = ("b", pair.body_b) if given == "a" else ("a", pair.body_a)
    xyz, rpy = (getattr(table, f"{key}_{given}") for key in ("xyz", "rpy"))
    written = source.pose(kind, i, xyz, rpy, f"rpy_{given}")
    own, other = (pair.X_AP, pair.X_BS) if given == "a" else (pair.X_BS, pair.X_AP)
    # axis and type rotate both frames alike; the file states the frames before that rotation
    X = other @ (written.inverse() @ own).inverse()
    message = (
        f"side {missing} of {kind} {table.name!r} is not given; at the pose of the scene it is "
        f"xyz_{missing} = {_numbers_text(X.p)}, rpy_{missing} = {_numbers_text(rpy_from_rotation(X.R))} in {body!r}"
    )
    evidence = {
        "side": missing,
        "body": body,
        f"xyz_{missing}": X.p.tolist(),
        f"rpy_{missing}": rpy_from_rotation(X.R).tolist(),
        "toml": _toml(X, missing),
    }
    return Defect("MB116", table.name, message, source.origin(kind, i), evidence)


def _toml(X: Pose, side: str) -> str:
    xyz, rpy = ((np.where(np.abs(v) < _NOTHING, 0.0, v)).tolist() for v in (X.p, rpy_from_rotation(X.R)))
    return f"xyz_{side} = {xyz}\nrpy_{side} = {rpy}"


def contradicted_poses(
    source: SceneSource, tables: SceneFile, before: BodyPoses, last: PoseSettlement
) -> Iterator[Defect]:
    """Yield a defect per body whose stated pose its pair cannot reach, whatever its coordinates.

    Parameters
    ----------
    before : BodyPoses
        As stated, before the pairs of the scene moved the bodies.
    last : PoseSettlement
        After the pairs were added.
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
        # the deviation of the stated relative pose from that at q, or at the best q
        q = None if moved else last.state.q[joint.q]
        X_AB = X_IO.inverse() if joint.reversed else X_IO
        X_PS = pair_transform(pair, measure(pair, pair.X_AP.inverse() @ X_AB @ pair.X_BS) if q is None else q)
        reached = pair.X_AP @ X_PS @ pair.X_SB
        rest = (reached.inverse() if joint.reversed else reached).inverse() @ X_IO
        far = float(np.linalg.norm(rest.p)) if "xyz" in stated[joint.outer] else 0.0
        turned = float(np.linalg.norm(vector_from_rotation(rest.R))) if "rpy" in stated[joint.outer] else 0.0
        lever = sum(float(np.linalg.norm(X.p)) for X in (X_IO, pair.X_AP, pair.X_BS))
        if far > max(_ROUNDED * lever, _AT_LINK) or turned > _ROUNDED:
            yield _contradiction(source, places[pair.name], joint.outer, pair, (far, turned))


def _stated_poses(tables: SceneFile, mech: Mechanism) -> Mapping[str, frozenset[str]]:
    """Return the keys, of ``xyz`` and ``rpy``, stated for each body with its own or its model's pose."""
    found = {
        body.name: frozenset(key for key in ("xyz", "rpy") if getattr(body, key) is not None)
        for body in tables.body
    }
    several = len(tables.model) > 1
    for model in tables.model:
        if keys := model.stated & {"xyz", "rpy"}:
            own = [
                body.name
                for body in mech.bodies
                if body.name not in found and (not several or body.name.startswith(f"{model.name}/"))
            ]
            found.update(dict.fromkeys(own, frozenset(keys)))
    return {WORLD: frozenset(("xyz", "rpy"))} | {name: keys for name, keys in found.items() if keys}


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


def _numbers_text(values: Array) -> str:
    """Format ``values`` (n,) as text."""
    rounded = np.round(values, 12) + 0.0
    return f"[{', '.join(f'{value:.6g}' for value in rounded)}]"
