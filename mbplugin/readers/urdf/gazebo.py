"""``<gazebo><joint>``: an SDF joint inside a URDF, which Gazebo adds to the converted model."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi

import numpy as np

from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import PAIR_TYPES, Freedom, Pair
from mbplugin.model.spatial import Array, Pose, align_z, unit
from mbplugin.readers.common.numbers import angles, number, numbers
from mbplugin.readers.common.xml import Element, child, where
from mbplugin.readers.sdf.values import bound_of, cap_of
from mbplugin.readers.urdf.draft import Draft, carried, joined, only_child, require_two, required
from mbplugin.readers.urdf.joints import pair_type

#: What the type may be, in SDF's words.
GAZEBO_TYPES = {
    **{name: name for name in ("revolute", "continuous", "prismatic", "screw", "universal", "fixed")},
    "ball": "spherical",
}


def read_gazebo_joint(element: Element, draft: Draft) -> None:
    """Add an SDF joint: its pose is given in the child link, and the parent side by the zero pose."""
    stated = required(element, "name")
    owner = f"Gazebo joint {stated!r}"
    kind = pair_type(element, GAZEBO_TYPES, owner)
    ends = [only_child(element, tag) for tag in ("parent", "child")]
    a, b = (draft.require_body((end.text or "").strip(), end, owner) for end in ends)
    require_two((a, b), element, owner)
    X_WL = draft.zero_poses()
    X_BJ = _pose(child(element, "pose"), b, X_WL, draft, owner)
    X_BS = X_BJ @ Pose(_turn(element, kind, X_WL(b) @ X_BJ, owner), np.zeros(3))
    pair = Pair(
        draft.unique(stated, element, foreign=True),
        kind,
        a,
        b,
        X_AP=carried(X_BS, b, a, X_WL),
        X_BS=X_BS,
        # a link that only this joint holds is not closed by it
        closure=joined(draft.pairs.values(), a, b),
        lead=_lead(element) if kind == "screw" else 0.0,
        freedoms=_freedoms(element, kind),
    )
    pose = child(element, "pose")
    words = [] if pose is None else (pose.text or "").split()
    literals = {"rpy": (pose, " ".join(words[3:]))} if pose is not None and len(words) == 6 else {}
    draft.add(pair, element, **literals)


def _pose(element: Element | None, body: str, X_WL: Callable[[str], Pose], draft: Draft, owner: str) -> Pose:
    """Return the joint frame in the child link."""
    if element is None:
        return Pose.identity()
    text = element.text or "0 0 0 0 0 0"
    numbers(text, 6, where(element), f"<pose> of {owner}")
    words = text.replace(",", " ").split()
    xyz = numbers(" ".join(words[:3]), 3, where(element), "position in <pose>")
    rpy = angles(" ".join(words[3:]), where(element), "angles in <pose>", snap=draft.request.snap_angles)
    X = Pose.from_xyz_rpy(xyz, rpy)
    frame = str(element.get("relative_to") or "")
    if not frame or frame == body:
        return X
    if frame == "__model__":
        return X_WL(body).inverse() @ X
    return carried(X, draft.require_body(frame, element, owner), body, X_WL)


def _turn(element: Element, kind: str, X_WJ: Pose, owner: str) -> Array:
    """Return R_JP (3, 3): z along the axis, or for a universal joint x and y along its two axes."""
    if kind in ("fixed", "spherical"):
        return np.eye(3)
    first = _axis(child(element, "axis"), np.array([0.0, 0.0, 1.0]), X_WJ, owner)
    if kind != "universal":
        return align_z(first)
    x = unit(first)
    second = _axis(child(element, "axis2"), np.array([0.0, 1.0, 0.0]), X_WJ, owner)
    y = second - (second @ x) * x
    if np.linalg.norm(y) < 1e-9 * np.linalg.norm(second):
        raise BrokenModel(
            f"the two axes of {owner} are parallel",
            where=where(element),
            expected="<axis> across <axis2>",
            remedy="correct one of them",
        )
    y = unit(y)
    return np.column_stack((x, y, np.cross(x, y)))


def _axis(element: Element | None, default: Array, X_WJ: Pose, owner: str) -> Array:
    """Return an axis (3,) in the joint frame, or the ``default`` (3,).

    Older files write it in the model frame and say so.
    """
    if element is None:
        return default
    xyz = child(element, "xyz")
    if xyz is None or not (xyz.text or "").strip():
        return default
    axis = numbers(xyz.text or "", 3, where(xyz), f"<xyz> of {owner}")
    if np.linalg.norm(axis) < 1e-12:
        raise BrokenModel(
            f"the axis of {owner} is zero",
            where=where(xyz),
            expected="a direction",
            remedy="correct it",
        )
    in_model = _text(element, "use_parent_model_frame") in ("1", "true")
    if in_model or xyz.get("expressed_in") == "__model__":
        return np.asarray(X_WJ.R.T @ axis)
    return axis


def _lead(element: Element) -> float:
    if text := _text(element, "screw_thread_pitch"):
        return number(text, where(element), "screw_thread_pitch")
    # the older element counts radians per metre, the other way round
    thread = number(_text(element, "thread_pitch") or "1", where(element), "thread_pitch")
    return -2 * pi / thread if thread else 0.0


def _freedoms(element: Element, kind: str) -> tuple[Freedom, ...]:
    free = PAIR_TYPES[kind].free
    axes = [child(element, tag) for tag in ("axis", "axis2")[: len(free)]]
    if kind == "spherical":
        return tuple(Freedom() for _ in free)
    return tuple(_freedom(axis, bounded=kind != "continuous") for axis in axes)


def _freedom(axis: Element | None, *, bounded: bool) -> Freedom:
    limit, dynamics = (child(axis, tag) if axis is not None else None for tag in ("limit", "dynamics"))
    return Freedom(
        bound_of(limit, "lower", -inf) if bounded else -inf,
        bound_of(limit, "upper", inf) if bounded else inf,
        cap_of(limit, "effort"),
        cap_of(limit, "velocity"),
        _number(dynamics, "damping", 0.0),
        _number(dynamics, "friction", 0.0),
    )


def _number(element: Element | None, tag: str, default: float) -> float:
    text = _text(element, tag)
    return number(text, where(element), f"<{tag}>") if element is not None and text else default


def _text(element: Element | None, tag: str) -> str:
    found = child(element, tag) if element is not None else None
    return (found.text or "").strip() if found is not None else ""
