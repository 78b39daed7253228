"""Joints of a URDF as kinematic pairs, and their mimics as couplings."""

from __future__ import annotations

from math import inf

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, suggestion
from mbplugin.model.mechanism import PAIR_TYPES, WORLD, Coupling, Freedom, Pair, Term
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.readers.common.numbers import numbers
from mbplugin.readers.common.xml import (
    Element,
    attribute_limit,
    attribute_numbers,
    child,
    children,
    local_name,
    origin,
    pose_of_origin,
    where,
)
from mbplugin.readers.urdf.draft import Draft, only_child, require_two, required

#: What ``<joint type>`` may be; ``spherical`` is PyBullet's addition.
URDF_TYPES = {
    name: name for name in ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
}
#: What ``<drake:joint type>`` may be besides.
DRAKE_TYPES = {**URDF_TYPES, "ball": "spherical", "universal": "universal", "screw": "screw"}

#: Pairs whose joint frame is turned to the axis; the others have none (Drake's universal joint
#: turns about x and y of the joint frame).
AXIAL = ("revolute", "continuous", "prismatic", "planar", "screw", "cylindrical")

#: The name of each pair that mimics, and its ``<mimic>``.
Mimics = list[tuple[str, Element]]


def read_joints(robot: Element, draft: Draft) -> Mimics:
    """Read every ``<joint>`` and ``<drake:joint>`` in file order, and return their mimics."""
    mimics = []
    for element in robot:
        if isinstance(element.tag, str) and local_name(element) in ("joint", "drake:joint"):
            name = _read_joint(element, draft)
            mimics += [(name, mimic) for mimic in children(element, "mimic")[:1]]
    return mimics


def pair_type(element: Element, types: dict[str, str], owner: str) -> str:
    """Return the pair type that an element states.

    Raises
    ------
    BrokenModel
        No type, or one that is not listed.
    """
    stated = required(element, "type")
    if stated not in types:
        raise BrokenModel(
            f"{owner} has the unknown type {stated!r}",
            where=where(element),
            expected=f"one of {', '.join(types)}",
            remedy="correct the type",
        )
    return types[stated]


def _read_joint(element: Element, draft: Draft) -> str:
    stated = required(element, "name")
    owner = f"joint {stated!r}"
    kind = pair_type(element, DRAKE_TYPES if local_name(element) == "drake:joint" else URDF_TYPES, owner)
    body_a, body_b = _ends(element, draft, owner)
    name = draft.unique(stated, element)
    place = child(element, "origin")
    turn = axis_turn(element, kind, name, draft)
    pair = Pair(
        name,
        kind,
        body_a,
        body_b,
        X_AP=pose_of_origin(place, snap=draft.request.snap_angles) @ turn,
        X_BS=turn,
        lead=_lead(element) if kind == "screw" else 0.0,
        freedoms=_freedoms(element, kind, name, draft),
    )
    literals = {}
    for part in ("rpy", "quat_xyzw"):
        if place is not None and place.get(part) is not None:
            literals[part] = (place, str(place.get(part)))
    axis = child(element, "axis")
    if axis is not None:
        literals["axis"] = (axis, str(axis.get("xyz", "")))
    draft.add(pair, element, **literals)
    if kind in ("revolute", "prismatic") and child(element, "limit") is None:
        message = f"{owner} is {kind} without <limit>; PyBullet refuses the file"
        draft.report("MB111", name, message, element)
    return name


def _ends(element: Element, draft: Draft, owner: str) -> tuple[str, str]:
    parent, successor = only_child(element, "parent"), only_child(element, "child")
    body_a = draft.require_link(required(parent, "link"), parent, owner, BrokenModel)
    body_b = draft.require_link(required(successor, "link"), successor, owner, BrokenModel)
    require_two((body_a, body_b), element, owner)
    if body_b == WORLD:
        raise BrokenModel(
            f"{owner} has the ground as its child",
            where=where(successor),
            expected=f"the link {WORLD!r} as a root only",
            remedy="rename that link, or swap <parent> and <child>",
        )
    return body_a, body_b


def axis_turn(element: Element, kind: str, name: str, draft: Draft) -> Pose:
    """Return the turn of the file's joint frame that takes its z to the joint axis."""
    if kind not in AXIAL:
        return Pose.identity()
    return Pose(align_z(_axis(element, name, draft)), np.zeros(3))


def _axis(element: Element, name: str, draft: Draft) -> Array:
    """Return the joint axis (3,); without one it is x, in the specification and in PyBullet."""
    axis = child(element, "axis")
    if axis is None:
        return np.array([1.0, 0.0, 0.0])
    vector = attribute_numbers(axis, "xyz", 3, "1 0 0")
    if np.linalg.norm(vector) < 1e-12:
        draft.report(
            "MB106",
            name,
            f"the axis of joint {name!r} is zero; 1 0 0 is taken",
            axis,
            literal=str(axis.get("xyz")),
        )
        return np.array([1.0, 0.0, 0.0])
    return vector


def _lead(element: Element) -> float:
    return float(attribute_numbers(only_child(element, "drake:screw_thread_pitch"), "value", 1, "")[0])


def _freedoms(element: Element, kind: str, name: str, draft: Draft) -> tuple[Freedom, ...]:
    """Return one entry per freedom; bounds are read where there is just one bounded freedom."""
    count = len(PAIR_TYPES[kind].free)
    limit, dynamics = child(element, "limit"), child(element, "dynamics")
    lower, upper = _bounds(limit) if count == 1 and kind != "continuous" else (-inf, inf)
    columns = (
        [_cap(limit, "effort", name, draft)] * count,
        [_cap(limit, "velocity", name, draft)] * count,
        _per_freedom(dynamics, "damping", count, "0"),
        _per_freedom(dynamics, "friction", count, "0"),
        *([_cap(limit, cap, name, draft)] * count for cap in ("acceleration", "deceleration", "jerk")),
    )
    return tuple(Freedom(lower, upper, *values) for values in zip(*columns, strict=True))


def _bounds(limit: Element | None) -> tuple[float, float]:
    if limit is None or (limit.get("lower") is None and limit.get("upper") is None):
        # the specification would mean 0…0 and weld the joint; PyBullet leaves it free, as meant
        return -inf, inf
    lower, upper = (attribute_limit(limit, side, "0") for side in ("lower", "upper"))
    # PyBullet's way of writing "no limits"
    return (lower, upper) if lower <= upper else (-inf, inf)


def _cap(limit: Element | None, attribute: str, name: str, draft: Draft) -> float:
    """Return the effort or velocity limit of every freedom of a joint; one that is no number is none."""
    if limit is None or limit.get(attribute) is None:
        return inf
    try:
        return attribute_limit(limit, attribute, "")
    except BadNumber as error:
        draft.report_unread(error, name, "no limit is taken")
        return inf


def _per_freedom(element: Element | None, attribute: str, count: int, default: str) -> list[float]:
    text = None if element is None else element.get(attribute)
    if element is None or text is None:
        return [float(default)] * count
    # Drake gives planar joints three dampings, everything else is one number for all
    size = count if len(text.split()) == count else 1
    values = numbers(text, size, where(element), f"{attribute} of <{local_name(element)}>")
    return [float(value) for value in np.broadcast_to(values, count)]


def couplings(mimics: Mimics, draft: Draft) -> tuple[Coupling, ...]:
    """Return a coupling per ``<mimic>``; one that cannot be followed is a defect."""
    found = []
    for name, mimic in mimics:
        if coupling := _mimic(mimic, draft.pairs[name], draft):
            found.append(coupling)
            draft.origin[("constraint", coupling.name, "")] = origin(mimic)
    return tuple(found)


def _mimic(mimic: Element, pair: Pair, draft: Draft) -> Coupling | None:
    if pair.type == "fixed":
        # reduced models keep the mimics of joints they have frozen; there is nothing left to follow
        return None
    leader = required(mimic, "joint")
    multiplier = float(attribute_numbers(mimic, "multiplier", 1, "1")[0])
    offset = float(attribute_numbers(mimic, "offset", 1, "0")[0])
    problem = ""
    if leader not in draft.pairs:
        problem = f"that does not exist; {suggestion(leader, list(draft.pairs))}"
    elif leader == pair.name:
        problem = "which is itself"
    elif len(draft.pairs[leader].kind.free) != 1:
        problem = f"which is {draft.pairs[leader].type} and so has no single freedom"
    elif len(pair.kind.free) != 1:
        problem = f"but a {pair.type} joint has more than one freedom"
    if problem:
        message = f"joint {pair.name!r} mimics joint {leader!r}, {problem}; the mimic is left out"
        draft.report("MB108", pair.name, message, mimic, joint=leader)
        return None
    terms = (
        Term(pair.name, pair.kind.free[0], 1.0),
        Term(leader, draft.pairs[leader].kind.free[0], -multiplier),
    )
    return Coupling(f"mimic {pair.name}", "mimic", terms, offset)
