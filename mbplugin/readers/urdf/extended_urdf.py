"""Gepetto's Extended URDF: a YAML file beside a URDF that closes loops and retypes joints.

``closed_loop`` pairs frames by link or joint name, ``type`` says 6d (weld) or 3d (ball) for each, and
``joint_name`` with ``joint_type`` retypes joints that a URDF cannot state. ``name_mot`` lists the driven joints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import BrokenModel, MissingDependency, UnknownName, UnresolvedPath, suggestion
from mbplugin.model.mechanism import PAIR_TYPES, Freedom, Pair
from mbplugin.model.scene import Origin, Request
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers.common.paths import is_file, may_read, read_text
from mbplugin.readers.urdf.draft import Draft
from mbplugin.visible import one_line

if TYPE_CHECKING:
    import yaml

#: Bytes of such a file, whose parser takes a second for some hundred thousand.
_LONGEST = 2_000_000
#: Characters of what the parser says: it names anchors.
_LONGEST_REASON = 200
#: Closure types in both spellings; a type that is not stated is a weld.
LOOP_TYPES = {"6d": "fixed", "3d": "spherical"}
#: Axes of the first and second turn of a universal joint, in the joint frame of the URDF.
UNIVERSAL = {f"UJOINT_{a}{b}": ("XYZ".index(a), "XYZ".index(b)) for a in "XYZ" for b in "XYZ" if a != b}
JOINT_TYPES = ("SPHERICAL", "FIXED", *UNIVERSAL)


@dataclass(frozen=True)
class Word:
    """A scalar of the file and where it stands."""

    text: str
    origin: Origin


@dataclass(frozen=True)
class Extension:
    """What such a file says.

    Parameters
    ----------
    file : str
    loops : tuple of (Word, Word, str)
        The two frames, and the pair type that joins them.
    retyped : tuple of (Word, Word)
        Joint and new type.
    driven : tuple of str
        Joints with a motor; a name that no joint has says nothing.
    """

    file: str
    loops: tuple[tuple[Word, Word, str], ...]
    retyped: tuple[tuple[Word, Word], ...]
    driven: tuple[str, ...] = ()


def read_extension(request: Request) -> Extension | None:
    """Return the extension beside a URDF: the same stem, with a key ``closed_loop``.

    Raises
    ------
    MissingDependency
        There is one, and PyYAML is not installed.
    BrokenModel
        It does not follow the convention.
    UnresolvedPath
        It leads out of the model's repository.
    """
    if request.text is not None:
        return None
    for ending in (".yaml", ".yml"):
        file = Path(request.path).with_suffix(ending)
        if not is_file(file):
            continue
        if not may_read(file, request):
            raise UnresolvedPath(
                "the YAML file beside this URDF leads out of its repository",
                where=str(file),
                remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds it",
            )
        text = read_text(file, _LONGEST)
        if re.search(r"^closed_loop\s*:", text, re.MULTILINE):
            return _extension(text, str(file))
    return None


def _extension(text: str, file: str) -> Extension:
    table = _table(text, file)
    loops = [_words(node, file) for node in _items(table.get("closed_loop"), file)]
    for loop in loops:
        if len(loop) != 2:
            raise BrokenModel(
                f"a closed_loop joins {len(loop)} frames",
                where=str(loop[0].origin) if loop else file,
                expected="two",
                remedy="correct the list",
            )
    kinds = [_loop_type(word) for word in _words(table.get("type"), file)] or ["fixed"] * len(loops)
    joints = _words(table.get("joint_name"), file)
    types = _words(table.get("joint_type"), file)
    _require_same_length(loops, kinds, "closed_loop", "type", file)
    _require_same_length(joints, types, "joint_name", "joint_type", file)
    return Extension(
        file,
        tuple((a, b, kind) for (a, b), kind in zip(loops, kinds, strict=True)),
        tuple(zip(joints, types, strict=True)),
        _driven(table.get("name_mot"), file),
    )


def _driven(node: yaml.Node | None, file: str) -> tuple[str, ...]:
    """Return the names of a list; anything else is a pattern of the program that the file is for."""
    if node is None or not node.tag.endswith(":seq"):
        return ()
    return tuple(word.text for word in _words(node, file))


def _table(text: str, file: str) -> dict[str, yaml.Node]:
    """Return the nodes of the file's keys; nodes know their lines, values do not."""
    try:
        import yaml
    except ImportError:
        raise MissingDependency(
            "this YAML file beside the URDF closes its loops, and PyYAML is not installed",
            where=file,
            remedy="pip install 'mbplugin[yaml]', or rename the file to read the URDF alone",
        ) from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BrokenModel(
            f"the YAML is broken: {str(error.problem)[:_LONGEST_REASON]}",
            where=f"{file}:{line}",
            remedy="correct it",
        ) from None
    except yaml.YAMLError as error:
        raise BrokenModel(
            f"the YAML is broken: {one_line(error)[:_LONGEST_REASON]}", where=f"{file}:1", remedy="correct it"
        ) from None
    except RecursionError:
        raise BrokenModel("the YAML nests too deeply", where=file, expected="closed_loop: [[…]]") from None
    if not isinstance(root, yaml.MappingNode):
        raise BrokenModel("the YAML is no table", where=f"{file}:1", expected="closed_loop: [[…]]")
    # a key may be a table itself, which is none of ours
    return {str(key.value): value for key, value in root.value if isinstance(key, yaml.ScalarNode)}


def _items(node: yaml.Node | None, file: str) -> list[Any]:
    if node is None or node.value in ("", "null", "~"):
        return []
    if not node.tag.endswith(":seq"):
        raise BrokenModel(
            "this is not a list",
            where=f"{file}:{node.start_mark.line + 1}",
            expected="[…]",
            remedy="correct it",
        )
    return list(node.value)


def _words(node: yaml.Node | None, file: str) -> list[Word]:
    words = []
    for item in _items(node, file):
        line = item.start_mark.line + 1
        if not isinstance(item.value, str):
            raise BrokenModel("this is not a name", where=f"{file}:{line}", expected="a word")
        words.append(Word(str(item.value), Origin(file, line, str(item.value))))
    return words


def _loop_type(word: Word) -> str:
    if word.text.lower() not in LOOP_TYPES:
        raise BrokenModel(
            f"the closure type {word.text!r} is unknown",
            where=str(word.origin),
            expected="6d or 3d",
            remedy="correct it",
        )
    return LOOP_TYPES[word.text.lower()]


def _require_same_length(a: list[Any], b: list[Any], name_a: str, name_b: str, file: str) -> None:
    if len(a) != len(b):
        raise BrokenModel(
            f"{name_a} has {len(a)} entries and {name_b} has {len(b)}",
            where=f"{file}:1",
            expected="one for each",
            remedy="complete the shorter list",
        )


def retype_joints(extension: Extension, draft: Draft) -> None:
    """Give joints of the URDF the types that the extension states.

    Raises
    ------
    UnknownName
        A joint that does not exist.
    BrokenModel
        A type that is unknown.
    """
    for joint, kind in extension.retyped:
        if joint.text not in draft.pairs:
            raise UnknownName(
                f"joint_name lists a joint {joint.text!r} that does not exist",
                where=str(joint.origin),
                remedy=suggestion(joint.text, list(draft.pairs)),
            )
        if kind.text not in JOINT_TYPES:
            raise BrokenModel(
                f"the joint type {kind.text!r} is unknown",
                where=str(kind.origin),
                expected=f"one of {', '.join(JOINT_TYPES)}",
                remedy="correct it",
            )
        draft.pairs[joint.text] = _retyped(draft.pairs[joint.text], kind.text)
        draft.origin[("constraint", joint.text, "type")] = kind.origin


def _retyped(pair: Pair, kind: str) -> Pair:
    # the convention counts from the URDF's joint frame, before it is turned to the axis
    X_AJ, turn = pair.X_AP @ pair.X_BS.inverse(), np.eye(3)
    new_type = kind.lower()
    if kind in UNIVERSAL:
        new_type, turn = "universal", _two_axes(*UNIVERSAL[kind])
    X_JP = Pose(turn, np.zeros(3))
    freedoms = tuple(Freedom() for _ in PAIR_TYPES[new_type].free)
    return replace(pair, type=new_type, X_AP=X_AJ @ X_JP, X_BS=X_JP, lead=0.0, freedoms=freedoms)


def _two_axes(first: int, second: int) -> Array:
    """Return a rotation (3, 3) whose x and y lie along two coordinate axes, 0 to 2."""
    x, y = np.eye(3)[first], np.eye(3)[second]
    return np.column_stack((x, y, np.cross(x, y)))


def add_loops(extension: Extension, draft: Draft) -> None:
    """Add the closures of the extension.

    Raises
    ------
    UnknownName
        A frame that is neither a link nor a joint.
    BrokenModel
        A loop joins a frame to itself.
    """
    identity = Pose.identity()
    for word_a, word_b, kind in extension.loops:
        a, b = (_frame(word, draft) for word in (word_a, word_b))
        if a == b:
            raise BrokenModel(
                f"closed_loop joins {word_a.text!r} to itself",
                where=str(word_a.origin),
                expected="two frames",
                remedy="correct one",
            )
        stated = f"{word_a.text}-{word_b.text}"
        name, number = stated, 2
        while name in draft.pairs:
            name, number = f"{stated}#{number}", number + 1
        draft.pairs[name] = Pair(name, kind, a, b, identity, identity, closure=True)
        draft.origin[("constraint", name, "")] = word_a.origin


def _frame(word: Word, draft: Draft) -> str:
    """Return the link whose frame is meant; a joint's frame is that of its child at any angle."""
    if word.text in draft.links:
        return word.text
    if word.text in draft.pairs:
        return draft.pairs[word.text].body_b
    raise UnknownName(
        f"closed_loop names {word.text!r}, which is neither a link nor a joint",
        where=str(word.origin),
        remedy=suggestion(word.text, [*draft.links, *draft.pairs]),
    )
