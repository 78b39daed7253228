"""Loop closures in a URDF, in each convention that a file can carry.

``<loop_joint>`` (old Drake, Isaac), ``<drake:ball_constraint>``, ``<gazebo><joint>``, and the dummy
links of onshape-to-robot, which say where a loop closes but not how.
"""

from __future__ import annotations

import re

import numpy as np

from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import PAIR_TYPES, Pair
from mbplugin.model.spatial import Pose
from mbplugin.readers.common.numbers import numbers
from mbplugin.readers.common.xml import Element, child, children, local_name, pose_of_origin, where
from mbplugin.readers.urdf.draft import Draft, carried, only_child, require_two, required
from mbplugin.readers.urdf.gazebo import read_gazebo_joint
from mbplugin.readers.urdf.joints import axis_turn, pair_type

#: What ``<loop_joint type>`` may be: every pair that two frames and an axis describe.
LOOP_TYPES = {
    **{name: name for name in PAIR_TYPES if name not in ("screw", "distance", "floating")},
    "ball": "spherical",
}

_CLOSING = re.compile(r"closing_(.+)_1")


def read_closures(robot: Element, draft: Draft) -> None:
    """Add the closures of a file to its pairs, in file order."""
    for element in robot:
        if not isinstance(element.tag, str):
            continue
        kind = local_name(element)
        if kind == "loop_joint":
            _loop_joint(element, draft)
        elif kind == "drake:ball_constraint":
            _ball_constraint(element, draft)
        elif kind == "gazebo":
            for joint in children(element, "joint"):
                read_gazebo_joint(joint, draft)


def _loop_joint(element: Element, draft: Draft) -> None:
    stated = required(element, "name")
    owner = f"loop joint {stated!r}"
    # files exist whose second side is called <link1> as well
    sides = children(element, "link1") + children(element, "link2")
    if len(sides) != 2:
        raise BrokenModel(
            f"{owner} has {len(sides)} sides",
            where=where(element),
            expected="<link1> and <link2>",
            remedy="correct it",
        )
    kind = pair_type(element, LOOP_TYPES, owner)
    a, b = (draft.require_body(required(side, "link"), side, owner) for side in sides)
    require_two((a, b), element, owner)
    name = draft.unique(stated, element)
    turn = axis_turn(element, kind, name, draft)
    X_AP, X_BS = (pose_of_origin(side, snap=draft.request.snap_angles) @ turn for side in sides)
    literals = {
        part: (side, str(side.get("rpy")))
        for part, side in zip(("rpy_a", "rpy_b"), sides, strict=True)
        if side.get("rpy") is not None
    }
    pair = Pair(name, kind, a, b, X_AP, X_BS, closure=True)
    draft.add(pair, element, **literals)


def _ball_constraint(element: Element, draft: Draft) -> None:
    owner = "<drake:ball_constraint>"
    tags = [f"{local_name(element)}_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ")]
    ends = [only_child(element, tag) for tag in tags[:2]]
    a, b = (draft.require_body(_value(end, "name"), end, owner) for end in ends)
    require_two((a, b), element, owner)
    X_AP, X_BS = (_point(child(element, tag)) for tag in tags[2:])
    if X_AP is None and X_BS is None:
        raise BrokenModel(
            f"{owner} says no point",
            where=where(element),
            expected=f"<{tags[2]}> and <{tags[3]}>",
            remedy="add them",
        )
    if X_AP is None and X_BS is not None:
        X_AP = carried(X_BS, b, a, draft.zero_poses())
    elif X_BS is None and X_AP is not None:
        X_BS = carried(X_AP, a, b, draft.zero_poses())
    assert X_AP is not None and X_BS is not None
    stated = element.get("name")
    name = draft.unique(stated or f"ball_constraint_{a}_{b}", element, written=bool(stated))
    draft.add(Pair(name, "spherical", a, b, X_AP, X_BS, closure=True), element)


def _value(element: Element, attribute: str) -> str:
    """Return an attribute, or the element's text, which is how SDF writes the same constraint."""
    text = element.get(attribute) or (element.text or "").strip()
    return str(text) if text else required(element, attribute)


def _point(element: Element | None) -> Pose | None:
    if element is None:
        return None
    text = _value(element, "value")
    return Pose(np.eye(3), numbers(text, 3, where(element), f"value of <{local_name(element)}>"))


def note_open_closures(draft: Draft) -> None:
    """Report the dummy links of onshape-to-robot that nothing joins: the file lacks the type."""
    closed = {frozenset(pair.bodies) for pair in draft.pairs.values()}
    for link in draft.links:
        match = _CLOSING.fullmatch(link)
        if match is None:
            continue
        name, other = match.group(1), f"closing_{match.group(1)}_2"
        if other not in draft.links or frozenset((link, other)) in closed:
            continue
        toml = (
            f'[[closure]]\nname = "{name}"\ntype = "revolute"\nbody_a = "{link}"\nbody_b = "{other}"\n'
            "xyz_a = [0, 0, 0]\nxyz_b = [0, 0, 0]"
        )
        message = (
            f"links {link!r} and {other!r} mark where loop {name!r} closes, but the file does not say as "
            "what; declare it in a scene file with [[closure]] name, type (revolute, spherical, …), "
            f'body_a = "{link}", body_b = "{other}"'
        )
        draft.report("MB112", name, message, draft.origin[("body", link, "")], toml=toml)
