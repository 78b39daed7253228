"""YAML files beside a URDF that close its loops: Gepetto's Extended URDF, and ``loop_closures.yaml``.

Extended URDF also retypes joints. ``closed_loop`` lists pairs of frames by link or joint name, ``type`` states 6d
(weld) or 3d (ball) for each, and ``joint_name`` with ``joint_type`` retypes joints that a URDF cannot state.
``name_mot`` lists the driven joints.

``loop_closures.yaml`` is written by CAD exporters: the hinges that a tree cannot represent. Each of its ``closures``
is a hinge between ``link_a`` and ``link_b``, through a ``point`` along an ``axis``, both in the frame of the base
link with all joints at zero. ``independent`` lists the driven joints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbplugin import errors
from mbplugin.model import LARGEST, WORLD, Array, Body, DisjointSets, Mechanism, Pose, align_z, forward, home
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom, Pair
from mbplugin.model.scene import Defect, Origin, OriginKey, Request, Shape
from mbplugin.phrases import dataclass, visible_one_line
from mbplugin.readers.paths import is_file, may_read, read_text, unread_number
from mbplugin.readers.xml import Element, children, local_name, origin, where

if TYPE_CHECKING:
    import yaml


#: Maximum size of such a file, bytes: the parser takes a second for some hundred thousand.
_LONGEST = 2_000_000
#: Maximum length of a quoted parser message, characters: it names anchors.
_LONGEST_REASON = 200
#: Closure types in both spellings; an unstated type is a weld.
LOOP_TYPES = {"6d": "fixed", "3d": "spherical"}
#: Axes of the first and second rotation of a universal joint, in the joint frame of the URDF.
UNIVERSAL = {f"UJOINT_{a}{b}": ("XYZ".index(a), "XYZ".index(b)) for a in "XYZ" for b in "XYZ" if a != b}
JOINT_TYPES = ("SPHERICAL", "FIXED", *UNIVERSAL)


@dataclass(frozen=True)
class Word:
    """A scalar of the file, and its location."""

    text: str
    origin: Origin


@dataclass(frozen=True)
class Extension:
    """Content of such a file.

    Parameters
    ----------
    file : str
    loops : tuple of (Word, Word, str)
        The two frames, and the pair type that joins them.
    retyped : tuple of (Word, Word)
        Joint and new type.
    driven : tuple of str
        Joints with a motor; names of unknown joints are ignored.
    """

    file: str
    loops: tuple[tuple[Word, Word, str], ...]
    retyped: tuple[tuple[Word, Word], ...]
    driven: tuple[str, ...] = ()


def read_extension(request: Request) -> Extension | None:
    """Return the extension beside a URDF: a YAML file of the same stem with the key ``closed_loop``; None without one.

    Raises
    ------
    MissingDependency
        There is such a file, and PyYAML is not installed.
    BrokenModel
        The file does not follow the convention.
    UnresolvedPath
        The file lies outside the model's repository.
    """
    if request.text is not None:
        return None
    for ending in (".yaml", ".yml"):
        file = Path(request.path).with_suffix(ending)
        if not is_file(file):
            continue
        if not may_read(file, request):
            raise errors.UnresolvedPath(
                "the YAML file beside this URDF leads out of its repository",
                where=str(file),
                remedy="pass --package-dir DIR (package_dirs=[DIR]) with the folder that holds it",
            )
        text = read_text(file, _LONGEST)
        if re.search(r"^closed_loop\s*:", text, re.MULTILINE):
            return _extension(text, str(file))
    return None


def _extension(text: str, file: str) -> Extension:
    table = yaml_table(text, file)
    loops = [yaml_words(node, file) for node in yaml_items(table.get("closed_loop"), file)]
    for loop in loops:
        if len(loop) != 2:
            raise errors.BrokenModel(
                f"a closed_loop joins {len(loop)} frames",
                where=str(loop[0].origin) if loop else file,
                expected="two",
                remedy="correct the list",
            )
    kinds = [_loop_type(word) for word in yaml_words(table.get("type"), file)] or ["fixed"] * len(loops)
    joints = yaml_words(table.get("joint_name"), file)
    types = yaml_words(table.get("joint_type"), file)
    _require_same_length(loops, kinds, "closed_loop", "type", file)
    _require_same_length(joints, types, "joint_name", "joint_type", file)
    return Extension(
        file,
        tuple((a, b, kind) for (a, b), kind in zip(loops, kinds, strict=True)),
        tuple(zip(joints, types, strict=True)),
        _driven(table.get("name_mot"), file),
    )


def _driven(node: yaml.Node | None, file: str) -> tuple[str, ...]:
    """Return the names in a list; anything else is a pattern for the program that uses the file."""
    if node is None or not node.tag.endswith(":seq"):
        return ()
    return tuple(word.text for word in yaml_words(node, file))


def yaml_table(text: str, file: str, expected: str = "closed_loop: [[…]]") -> dict[str, yaml.Node]:
    """Return the nodes of the file by key; nodes know their lines, values do not.

    Raises
    ------
    MissingDependency
        PyYAML is not installed.
    BrokenModel
        The text is not YAML, or not a table.
    """
    try:
        import yaml
    except ImportError:
        raise errors.MissingDependency(
            "this YAML file beside the URDF closes its loops, and PyYAML is not installed",
            where=file,
            remedy=f"{errors.install_command('yaml')}, or rename the file to read the URDF alone",
        ) from None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise errors.BrokenModel(
            f"the YAML is broken: {str(error.problem)[:_LONGEST_REASON]}",
            where=f"{file}:{line}",
            remedy="correct it",
        ) from None
    except yaml.YAMLError as error:
        raise errors.BrokenModel(
            f"the YAML is broken: {visible_one_line(error)[:_LONGEST_REASON]}",
            where=f"{file}:1",
            remedy="correct it",
        ) from None
    except RecursionError:
        raise errors.BrokenModel("the YAML nests too deeply", where=file, expected=expected) from None
    if not isinstance(root, yaml.MappingNode):
        raise errors.BrokenModel("the YAML is not a table", where=f"{file}:1", expected=expected)
    # ignore keys that are not scalars
    return {str(key.value): value for key, value in root.value if isinstance(key, yaml.ScalarNode)}


def yaml_items(node: yaml.Node | None, file: str) -> list[Any]:
    """Return the nodes of a list, empty if it is absent or empty.

    Raises
    ------
    BrokenModel
        The node is not a list.
    """
    if node is None or node.value in ("", "null", "~"):
        return []
    if not node.tag.endswith(":seq"):
        raise errors.BrokenModel(
            "this is not a list",
            where=f"{file}:{node.start_mark.line + 1}",
            expected="[…]",
            remedy="correct it",
        )
    return list(node.value)


def yaml_words(node: yaml.Node | None, file: str) -> list[Word]:
    """Return the scalars of a list.

    Raises
    ------
    BrokenModel
        The node is not a list of scalars.
    """
    words = []
    for item in yaml_items(node, file):
        line = item.start_mark.line + 1
        if not isinstance(item.value, str):
            raise errors.BrokenModel("this is not a name", where=f"{file}:{line}", expected="a word")
        words.append(Word(str(item.value), Origin(file, line, str(item.value))))
    return words


def _loop_type(word: Word) -> str:
    if word.text.lower() not in LOOP_TYPES:
        raise errors.BrokenModel(
            f"the closure type {word.text!r} is unknown",
            where=str(word.origin),
            expected="6d or 3d",
            remedy="correct it",
        )
    return LOOP_TYPES[word.text.lower()]


def _require_same_length(a: list[Any], b: list[Any], name_a: str, name_b: str, file: str) -> None:
    if len(a) != len(b):
        raise errors.BrokenModel(
            f"{name_a} has {len(a)} entries and {name_b} has {len(b)}",
            where=f"{file}:1",
            expected="one for each",
            remedy="complete the shorter list",
        )


def retype_joints(extension: Extension, draft: Draft) -> None:
    """Change joints of the URDF to the types that the extension states.

    Raises
    ------
    UnknownName
        A joint does not exist.
    BrokenModel
        A type is unknown.
    """
    for joint, kind in extension.retyped:
        if joint.text not in draft.pairs:
            raise errors.UnknownName(
                f"joint_name lists a joint {joint.text!r} that does not exist",
                where=str(joint.origin),
                remedy=errors.suggestion(joint.text, list(draft.pairs)),
            )
        if kind.text not in JOINT_TYPES:
            raise errors.BrokenModel(
                f"the joint type {kind.text!r} is unknown",
                where=str(kind.origin),
                expected=f"one of {', '.join(JOINT_TYPES)}",
                remedy="correct it",
            )
        draft.pairs[joint.text] = _retyped(draft.pairs[joint.text], kind.text)
        draft.origin[("constraint", joint.text, "type")] = kind.origin


def _retyped(pair: Pair, kind: str) -> Pair:
    # the convention refers to the URDF's joint frame, before it is aligned with the axis
    X_AJ, turn = pair.X_AP @ pair.X_BS.inverse(), np.eye(3)
    new_type = kind.lower()
    if kind in UNIVERSAL:
        new_type, turn = "universal", _two_axes(*UNIVERSAL[kind])
    X_JP = Pose(turn, np.zeros(3))
    freedoms = tuple(Freedom() for _ in PAIR_TYPES[new_type].free)
    return replace(pair, type=new_type, X_AP=X_AJ @ X_JP, X_BS=X_JP, lead=0.0, freedoms=freedoms)


def _two_axes(first: int, second: int) -> Array:
    """Return a rotation (3, 3) whose x and y lie along two coordinate axes, given by index 0 to 2."""
    x, y = np.eye(3)[first], np.eye(3)[second]
    return np.column_stack((x, y, np.cross(x, y)))


def add_loops(extension: Extension, draft: Draft) -> None:
    """Add the closures of the extension.

    Raises
    ------
    UnknownName
        A frame is neither a link nor a joint.
    BrokenModel
        A loop joins a frame to itself.
    """
    identity = Pose.identity()
    for word_a, word_b, kind in extension.loops:
        a, b = (_frame(word, draft) for word in (word_a, word_b))
        if a == b:
            raise errors.BrokenModel(
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
    """Return the link of a frame; a joint's frame is that of its child at any angle."""
    if word.text in draft.links:
        return word.text
    if word.text in draft.pairs:
        return draft.pairs[word.text].body_b
    raise errors.UnknownName(
        f"closed_loop names {word.text!r}, which is neither a link nor a joint",
        where=str(word.origin),
        remedy=errors.suggestion(word.text, [*draft.links, *draft.pairs]),
    )


# The parts of a URDF during reading, element by element.


@dataclass
class Draft:
    """The parts of a mechanism in file order, and their defects.

    Parameters
    ----------
    request : Request
    bodies : list of Body
    pairs : dict of name to Pair
        Unique names; includes closures.
    origin : dict of OriginKey to Origin
    defects : list of Defect
    shapes : dict of link name to tuple of Shape
    links : dict with link names as keys, in file order
        Names available to joints, including the ground if the file has a root ``world``.
    stated_poses : dict of link name to Pose
        X_WL of links that state it, such as those in ``<gazebo>``.
    colours : dict of name to tuple of float
        Colour and opacity of materials.
    """

    request: Request
    bodies: list[Body] = field(default_factory=list)
    pairs: dict[str, Pair] = field(default_factory=dict)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)
    stated_poses: dict[str, Pose] = field(default_factory=dict)
    colours: dict[str, tuple[float, ...]] = field(default_factory=dict)

    def report(self, code: str, name: str, message: str, at: Element | Origin, **evidence: Any) -> None:
        """Record a defect of an element."""
        place = at if isinstance(at, Origin) else origin(at)
        self.defects.append(Defect(code, name, message, place, evidence))

    def report_unread(self, error: errors.MbPluginError, name: str, instead: str) -> None:
        """Record an unreadable number that the mechanics do without.

        Parameters
        ----------
        error : MbPluginError
            The problem and its location.
        name : str
            The link or joint.
        instead : str
            What is used in its place.
        """
        self.defects.append(unread_number(error, name, instead))

    def unique(self, name: str, element: Element, *, written: bool = True, foreign: bool = False) -> str:
        """Return ``name``, with a suffix if a constraint already has it.

        A duplicate of a name that is ``written`` in the file is a defect; only a warning if it is ``foreign``,
        in a part of the file that only another program reads.
        """
        if name not in self.pairs:
            return name
        number = 2
        while f"{name}#{number}" in self.pairs:
            number += 1
        if not written:
            return f"{name}#{number}"
        first = self.origin[("constraint", name, "")]
        message = f"joint name {name!r} is already used at {first}; this one is called {name}#{number} here"
        severity: Literal["", "warning"] = "warning" if foreign else ""
        self.defects.append(Defect("MB107", name, message, origin(element), severity=severity))
        return f"{name}#{number}"

    def add(self, pair: Pair, element: Element, **literals: tuple[Element, str]) -> None:
        """Add a pair and the origins of itself and of its literals."""
        self.pairs[pair.name] = pair
        self.origin[("constraint", pair.name, "")] = origin(element)
        for part, (owner, text) in literals.items():
            self.origin[("constraint", pair.name, part)] = origin(owner, text)

    def require_link(
        self, name: str, element: Element, owner: str, error: type[errors.MbPluginError] = errors.UnknownName
    ) -> str:
        """Return the name of an existing link; ``world`` is the ground even if no link declares it.

        Raises
        ------
        UnknownName, or the given error
        """
        if name == WORLD and name not in self.links:
            self.links[WORLD] = None
            self.origin[("body", WORLD, "")] = origin(element)
            message = f"{owner} names a link {WORLD!r} that no <link> declares; it is read as the ground"
            self.report("MB117", WORLD, message, element)
        if name not in self.links:
            raise error(
                f"{owner} names a link {name!r} that does not exist",
                where=where(element),
                expected="a <link> of this file",
                remedy=errors.suggestion(name, sorted(self.links)),
            )
        return name

    def require_body(self, name: str, element: Element, owner: str) -> str:
        """Return the body that a closure names; the ground always exists.

        Raises
        ------
        UnknownName
            The link does not exist.
        """
        return name if name == WORLD else self.require_link(name, element, owner)

    def zero_poses(self) -> Callable[[str], Pose]:
        """Return a function that gives X_WL of a link with all tree joints at zero (closures are ignored)."""
        tree = [pair for pair in self.pairs.values() if not pair.closure]
        mech = Mechanism("", tuple(self.bodies), tuple(tree))
        poses = forward(mech, home(mech))
        return lambda link: self.stated_poses.get(link) or poses.of(mech.body_index[link])


def carried(X: Pose, body: str, other: str, X_WL: Callable[[str], Pose]) -> Pose:
    """Return the frame in ``other`` that coincides with frame X of ``body`` at the given poses."""
    return X_WL(other).inverse() @ X_WL(body) @ X


def joined(pairs: Iterable[Pair], a: str, b: str) -> bool:
    """Return True if pairs already connect two bodies, directly or through others."""
    groups: DisjointSets[str] = DisjointSets()
    for pair in pairs:
        groups.join(*pair.bodies)
    return groups.find(a) == groups.find(b)


def required(element: Element, attribute: str) -> str:
    """Return a required attribute.

    Raises
    ------
    BrokenModel
        The attribute is missing or empty.
    """
    value = str(element.get(attribute) or "")
    if not value:
        raise errors.BrokenModel(
            f"<{local_name(element)}> has no {attribute}",
            where=where(element),
            expected=f'{attribute}="…"',
            remedy="add it",
        )
    return value


def only_child(element: Element, tag: str) -> Element:
    """Return the first child with a tag, which is required.

    Raises
    ------
    BrokenModel
        There is no such child.
    """
    found = children(element, tag)
    if not found:
        name = element.get("name")
        raise errors.BrokenModel(
            f"<{local_name(element)}>{f' {name!r}' if name else ''} has no <{tag}>",
            where=where(element),
            remedy="add it",
        )
    return found[0]


def require_two(bodies: Sequence[str], element: Element, owner: str) -> None:
    """Refuse a constraint of a body with itself.

    Raises
    ------
    BrokenModel
    """
    if bodies[0] == bodies[1]:
        raise errors.BrokenModel(
            f"{owner} joins link {bodies[0]!r} to itself",
            where=where(element),
            expected="two different links",
            remedy="correct one of the names",
        )


_NAME = "loop_closures.yaml"
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
            raise errors.UnresolvedPath(
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
        raise errors.UnknownName(
            f"a closure of {_NAME} names a link {end!r} that does not exist",
            where=str(hinge.origin),
            remedy=errors.suggestion(end, list(draft.links)),
        )
    X_W = draft.zero_poses()
    base = _BASE if _BASE in draft.links else next(iter(draft.links))
    X_WB = Pose.identity() if base == WORLD else X_W(base)
    joined = {frozenset((p.body_a, p.body_b)): p.name for p in draft.pairs.values() if p.closure}
    for hinge in closures.hinges:
        if hinge.link_a == hinge.link_b:
            raise errors.BrokenModel(
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
        raise errors.BrokenModel("a closure is not a table", where=where, expected=_EXPECTED)
    table = {str(key.value): value for key, value in node.value}
    for key in _KEYS:
        if key not in table:
            raise errors.BrokenModel(f"a closure does not state {key}", where=where, expected=_EXPECTED)
    links = [str(table[key].value) for key in _KEYS[:2]]
    point, axis = (_vector(table[key], key, file) for key in _KEYS[2:])
    if not axis.any():
        raise errors.BadNumber("the axis of a closure is zero", where=where, expected="a direction")
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
        raise errors.BadNumber(
            f"{key} of a closure is {', '.join(words)[:60]!r}", where=where, expected="three finite numbers"
        )
    return values
