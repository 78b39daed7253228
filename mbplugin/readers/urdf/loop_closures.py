"""``loop_closures.yaml`` beside a URDF, as written by CAD exporters: the hinges that a tree cannot represent.

Each of its ``closures`` is a hinge between ``link_a`` and ``link_b``, through a ``point`` along an ``axis``, both in
the frame of the base link with all joints at zero. ``independent`` lists the driven joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, UnknownName, UnresolvedPath, suggestion
from mbplugin.model.brake_law import LARGEST
from mbplugin.model.mechanism import WORLD, Freedom, Pair
from mbplugin.model.scene import Defect, Origin, Request
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.readers.common.paths import is_file, may_read, read_text
from mbplugin.readers.urdf.extended_urdf import Draft, yaml_items, yaml_table, yaml_words

if TYPE_CHECKING:
    import yaml

_NAME = "loop_closures.yaml"
#: Maximum size of such a file, bytes.
_LONGEST = 2_000_000
_BASE = "base_link"
_KEYS = ("link_a", "link_b", "point", "axis")
_EXPECTED = "closures: [{link_a: …, link_b: …, point: [x, y, z], axis: [x, y, z]}]"


@dataclass(frozen=True, eq=False)
class Hinge:
    """A hinge that closes a loop.

    Parameters
    ----------
    link_a, link_b : str
    point, axis : (3,) array
        In the frame of the base link with all joints at zero; the point in m, the axis of any length.
    origin : Origin
    unread : tuple of str
        Other keys of the closure.
    """

    link_a: str
    link_b: str
    point: Array
    axis: Array
    origin: Origin
    unread: tuple[str, ...]


@dataclass(frozen=True)
class LoopClosures:
    """Content of such a file: its hinges and its driven joints."""

    file: str
    hinges: tuple[Hinge, ...]
    driven: tuple[str, ...]


def read_loop_closures(request: Request) -> LoopClosures | None:
    """Return the loop closures of a URDF, from the file beside it, in the folder above, or in ``config`` there.

    Raises
    ------
    MissingDependency
        There is such a file, and PyYAML is not installed.
    BrokenModel, BadNumber
        The file does not follow the convention.
    UnresolvedPath
        The file lies outside the model's repository.
    """
    if request.text is not None:
        return None
    folder = request.folder
    for place in (folder, folder.parent, folder.parent / "config"):
        file = place / _NAME
        if not is_file(file):
            continue
        if not may_read(file, request):
            raise UnresolvedPath(
                "the YAML file of loop closures leads out of the repository of this URDF",
                where=str(file),
                remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds it",
            )
        table = yaml_table(read_text(file, _LONGEST), str(file), _EXPECTED)
        hinges = tuple(_hinge(node, str(file)) for node in yaml_items(table.get("closures"), str(file)))
        return LoopClosures(
            str(file), hinges, tuple(w.text for w in yaml_words(table.get("independent"), str(file)))
        )
    return None


def add_hinges(closures: LoopClosures, draft: Draft) -> tuple[str, ...]:
    """Add the hinges to a mechanism, and return the driven joints.

    A file in a folder above may belong to another robot: it is ignored, with a note, if no link that it names exists.
    A hinge between links that already share a closure is reported and skipped.

    Raises
    ------
    UnknownName
        A link does not exist, while others do.
    BrokenModel
        A hinge joins a link to itself.
    """
    ends = [(hinge, end) for hinge in closures.hinges for end in (hinge.link_a, hinge.link_b)]
    unknown = [(hinge, end) for hinge, end in ends if end not in draft.links]
    if unknown and len(unknown) == len(ends):
        place = Origin(closures.file, 1)
        message = f"{Path(closures.file).name} names no link of this robot; it is not read"
        draft.defects.append(Defect("MB113", draft.request.path, message, place, severity="note"))
        return ()
    for hinge, end in unknown:
        raise UnknownName(
            f"a closure of {_NAME} names a link {end!r} that does not exist",
            where=str(hinge.origin),
            remedy=suggestion(end, list(draft.links)),
        )
    X_W = draft.zero_poses()
    base = _BASE if _BASE in draft.links else next(iter(draft.links))
    X_WB = Pose.identity() if base == WORLD else X_W(base)
    joined = {frozenset((p.body_a, p.body_b)): p.name for p in draft.pairs.values() if p.closure}
    for hinge in closures.hinges:
        if hinge.link_a == hinge.link_b:
            raise BrokenModel(
                f"a closure of {_NAME} joins {hinge.link_a!r} to itself",
                where=str(hinge.origin),
                expected="two links",
            )
        if other := joined.get(frozenset((hinge.link_a, hinge.link_b))):
            draft.report(
                "MB113",
                other,
                f"a closure of {_NAME} is {other!r} of the URDF already; it is not read",
                hinge.origin,
            )
            continue
        _add(hinge, X_WB @ Pose(align_z(hinge.axis), hinge.point), draft)
    return tuple(name for name in closures.driven if name in draft.pairs)


def _add(hinge: Hinge, X_WJ: Pose, draft: Draft) -> None:
    """Add a hinge, given its frame at zero with z along the axis."""
    X_W = draft.zero_poses()
    ends = hinge.link_a, hinge.link_b
    X_AP, X_BS = ((Pose.identity() if link == WORLD else X_W(link)).inverse() @ X_WJ for link in ends)
    stated = "-".join(ends)
    name, number = stated, 2
    while name in draft.pairs:
        name, number = f"{stated}#{number}", number + 1
    draft.pairs[name] = Pair(name, "revolute", *ends, X_AP, X_BS, closure=True, freedoms=(Freedom(),))
    draft.origin[("constraint", name, "")] = hinge.origin
    for key in hinge.unread:
        message = f"{key!r} of the closure {name!r} in {_NAME} is not read; it is a hinge, as its axis says"
        draft.report("MB113", name, message, hinge.origin)


def _hinge(node: yaml.Node, file: str) -> Hinge:
    where = f"{file}:{node.start_mark.line + 1}"
    if not node.tag.endswith(":map"):
        raise BrokenModel("a closure is no table", where=where, expected=_EXPECTED)
    table = {str(key.value): value for key, value in node.value}
    for key in _KEYS:
        if key not in table:
            raise BrokenModel(f"a closure does not state {key}", where=where, expected=_EXPECTED)
    links = [str(table[key].value) for key in _KEYS[:2]]
    point, axis = (_vector(table[key], key, file) for key in _KEYS[2:])
    if not axis.any():
        raise BadNumber("the axis of a closure is zero", where=where, expected="a direction")
    unread = tuple(key for key in table if key not in (*_KEYS, "name"))
    return Hinge(links[0], links[1], point, axis, Origin(file, node.start_mark.line + 1), unread)


def _vector(node: yaml.Node, key: str, file: str) -> Array:
    """Return the three numbers (3,) of a key."""
    where = f"{file}:{node.start_mark.line + 1}"
    words = [word.text for word in yaml_words(node, file)]
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        values = np.array([])
    if values.shape != (3,) or not (np.abs(values) <= LARGEST).all():
        raise BadNumber(
            f"{key} of a closure is {', '.join(words)[:60]!r}", where=where, expected="three finite numbers"
        )
    return values
