"""Writer of scene files with bodies, pairs of every type, closures, couplings, wheels, drivers and locks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from mbplugin.files import toml_text
from mbplugin.model import Array, Contact, Freedom, Pair, Pose, rpy_from_rotation
from mbplugin.model.mechanism import Coupling, Driver, KnifeEdge, Mechanism, Pfaffian, Rolling
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward
from mbplugin.model.scene import FREEDOM_KEYS, LintOptions, Scene
from mbplugin.phrases import listed
from mbplugin.writers.shapes import Solid, in_roles, solids_of
from mbplugin.writers.written import Loss, Written, states_freedom, toml_number, unwritten

#: Tables that occur once in a scene.
_SINGLE = ("state.q", "state.qd", "lint")
#: A coordinate that follows from the poses of the bodies within this, rad or m, is not written.
_STATED = 1e-9


def scene_text(scene: Scene) -> Written:
    """Return a scene as a ``.scene.toml`` with its bodies at the poses of its state.

    Losses list what is not written; drives that a file only names become ``[[actuator]]`` tables without numbers.
    """
    mech, poses = scene.mechanism, forward(scene.mechanism, scene.state.q)
    solids = solids_of(scene, "scene")
    tables = [
        _table("", {"gravity": _vector(mech.gravity)}),
        *_state(scene, poses),
        *(_body(mech, poses, i) for i in range(len(mech.bodies))),
        *(_shape(body, role, solid) for body, own in solids.of_body.items() for role, solid in in_roles(own)),
        *(_pair("pair", pair) for pair in mech.pairs if not pair.closure),
        *(_pair("closure", pair) for pair in mech.pairs if pair.closure),
        *(_coupling(coupling) for coupling in mech.couplings),
        *(_pfaffian(pfaffian) for pfaffian in mech.pfaffians),
        *(_driver(driver) for driver in mech.drivers),
        *(_contact(contact) for contact in scene.contacts),
        *(
            _table("lock", {"joint": toml_text(lock.joint), **_freedoms(lock.freedoms)})
            for lock in mech.locks
        ),
        *_actuators(scene),
        *_lint(scene.options),
    ]
    losses = [
        *_numbers_left_out(mech),
        *solids.losses,
        *unwritten(scene, ("actuators", "actuated", "shapes", "contacts")),
    ]
    text = "\n".join(tables)
    return Written("scene", text, tuple(solids.held), tuple(losses), names_from=solids.names_from(scene))


def _table(kind: str, entries: dict[str, str]) -> str:
    lines = [f"{key} = {value}" for key, value in entries.items()]
    head = [] if not kind else [f"[{kind}]" if kind in _SINGLE else f"[[{kind}]]"]
    return "\n".join((*head, *lines)) + "\n"


def _vector(values: Sequence[float] | Array) -> str:
    return f"[{', '.join(toml_number(value) for value in values)}]"


def _freedoms(names: tuple[str, ...]) -> dict[str, str]:
    return {"freedoms": f"[{', '.join(toml_text(name) for name in names)}]"} if names else {}


def _state(scene: Scene, poses: BodyPoses) -> Iterator[str]:
    """Yield the tables of rates, and of coordinates that are stated or do not follow from the poses."""
    mech, state = scene.mechanism, scene.state
    stated = coordinates_of(mech, poses)
    entries = {
        toml_text(name): toml_number(value)
        for name, value, pose in zip(mech.q_names, state.q, stated, strict=True)
        if name in state.given or abs(value - pose) > _STATED
    }
    rates = {toml_text(n): toml_number(v) for n, v in zip(mech.qd_names, state.qd, strict=True) if v}
    if entries:
        yield _table("state.q", entries)
    if rates:
        yield _table("state.qd", rates)


def _frame(X: Pose, side: str = "") -> dict[str, str]:
    end = f"_{side}" if side else ""
    found = {f"xyz{end}": _vector(X.p)}
    if (X.R - np.eye(3)).any():
        found[f"rpy{end}"] = _vector(rpy_from_rotation(X.R))
    return found


def _body(mech: Mechanism, poses: BodyPoses, index: int) -> str:
    body = mech.bodies[index]
    entries = {"name": toml_text(body.name), "mass": toml_number(body.mass), **_frame(poses.of(index))}
    if body.p_LC.any():
        entries["com"] = _vector(body.p_LC)
    if body.I_C.any():
        diagonal = not (body.I_C - np.diag(np.diag(body.I_C))).any()
        moments = np.diag(body.I_C) if diagonal else body.I_C[np.triu_indices(3)]
        entries["inertia"] = _vector(moments)
    return _table("body", entries)


def _shape(body: str, role: str, solid: Solid) -> str:
    entries = {"body": toml_text(body), "role": toml_text(role)}
    if solid.kind == "mesh" and solid.file:
        entries["mesh"] = toml_text(solid.file)
        if set(solid.size) != {1.0}:
            entries["scale"] = _vector(solid.size)
    elif solid.vertices is not None:
        entries["hull"] = f"[{', '.join(_vector(point) for point in solid.vertices)}]"
    elif solid.kind == "sphere":
        entries["sphere"] = toml_number(solid.size[0])
    else:
        entries[solid.kind] = _vector(solid.size or (0.0, 0.0))
    entries |= _frame(solid.X_LS)
    if solid.rgba and role == "visual":
        entries["rgba"] = _vector(solid.rgba)
    return _table("shape", entries)


def _pair(kind: str, pair: Pair) -> str:
    entries = {
        "name": toml_text(pair.name),
        "type": toml_text(pair.type),
        "body_a": toml_text(pair.body_a),
        "body_b": toml_text(pair.body_b),
        **_frame(pair.X_AP, "a"),
        **_frame(pair.X_BS, "b"),
    }
    if pair.kind.size:
        entries[pair.kind.size] = toml_number(getattr(pair, pair.kind.size))
    if kind == "pair" and len(pair.freedoms) == 1:
        entries |= _limits(pair.freedoms[0])
    return _table(kind, entries)


def _limits(freedom: Freedom) -> dict[str, str]:
    stated = {key: getattr(freedom, key) for key in FREEDOM_KEYS}
    if not freedom.lower < freedom.upper:
        stated = {key: value for key, value in stated.items() if key not in ("lower", "upper")}
    if not freedom.velocity > 0:
        del stated["velocity"]
    return {
        key: toml_number(value)
        for key, value in stated.items()
        if isfinite(value) and value != getattr(Freedom(), key)
    }


def _coupling(coupling: Coupling) -> str:
    terms = (
        f"{{ joint = {toml_text(t.joint)}, freedom = {toml_text(t.freedom)},"
        f" coefficient = {toml_number(t.coefficient)} }}"
        for t in coupling.terms
    )
    entries = {
        "name": toml_text(coupling.name),
        "type": toml_text(coupling.type),
        "terms": f"[{', '.join(terms)}]",
    }
    return _table("coupling", {**entries, "offset": toml_number(coupling.offset)})


def _contact(contact: Contact) -> str:
    entries = {
        "name": toml_text(contact.name),
        "body_a": toml_text(contact.body),
        "body_b": toml_text(contact.on),
        "point": _vector(contact.point),
        "normal": _vector(contact.normal),
        "mu": toml_number(contact.mu),
    }
    return _table("contact", entries)


def _pfaffian(pfaffian: Pfaffian) -> str:
    entries = {
        "name": toml_text(pfaffian.name),
        "type": toml_text(pfaffian.type),
        "body": toml_text(pfaffian.body),
    }
    if isinstance(pfaffian, KnifeEdge):
        entries |= {"point": _vector(pfaffian.point), "direction": _vector(pfaffian.direction)}
    elif isinstance(pfaffian, Rolling):
        plane = f"{{ point = {_vector(pfaffian.plane_point)}, normal = {_vector(pfaffian.plane_normal)} }}"
        entries |= {
            "point": _vector(pfaffian.center),
            "axis": _vector(pfaffian.axis),
            "radius": toml_number(pfaffian.radius),
            "plane": plane,
        }
    return _table("pfaffian", entries)


def _driver(driver: Driver) -> str:
    entries = {"name": toml_text(driver.name), "joint": toml_text(driver.joint), **_freedoms(driver.freedoms)}
    if driver.value is not None:
        entries["value"] = toml_number(driver.value)
    entries |= {"rate": toml_number(driver.rate), "acceleration": toml_number(driver.acceleration)}
    return _table("driver", entries)


def _actuators(scene: Scene) -> Iterator[str]:
    """Yield the tables of drives; a drive that a file only names has no numbers."""
    for actuator in scene.actuators:
        entries = {"joint": toml_text(actuator.joint)}
        entries |= {
            "armature": toml_number(actuator.armature),
            "gear_ratio": toml_number(actuator.gear_ratio),
        }
        if actuator.deceleration is not None:
            entries["deceleration"] = toml_number(actuator.deceleration)
        yield _table("actuator", entries)
    named = {actuator.joint for actuator in scene.actuators}
    for joint in dict.fromkeys(scene.actuated):
        if joint not in named:
            yield _table("actuator", {"joint": toml_text(joint)})


def _lint(options: LintOptions) -> Iterator[str]:
    """Yield the table with the options of the analysis."""
    entries = {}
    if options.tolerance is not None:
        entries["tolerance"] = toml_number(options.tolerance)
    if options.planar is not None:
        entries["planar"] = toml_text(options.planar)
    if options.samples is not None:
        entries["samples"] = str(options.samples)
    if entries:
        yield _table("lint", entries)


def _numbers_left_out(mech: Mechanism) -> Iterator[Loss]:
    """Yield the losses: properties of closures and of pairs without exactly one freedom, and motion profiles."""
    owners = [p.name for p in mech.pairs if states_freedom(p) and (p.closure or len(p.freedoms) != 1)]
    if owners:
        yield Loss("joint", f"limits, drives, damping and friction of {listed(owners)}")
    profiled = [driver.name for driver in mech.drivers if driver.profile is not None]
    if profiled:
        text = f"the motion profiles of {listed(profiled)}, of which the numbers at the start are written"
        yield Loss("constraint", text)
