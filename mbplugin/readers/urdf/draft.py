"""The parts of a URDF during reading, element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mbplugin.errors import BrokenModel, MbPluginError, UnknownName, suggestion
from mbplugin.model.mechanism import WORLD, Body, Mechanism, Pair
from mbplugin.model.mechanism.graph import DisjointSets
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.scene import Defect, Origin, OriginKey, Request, Shape
from mbplugin.model.spatial import Pose
from mbplugin.readers.common.unread_numbers import unread_number
from mbplugin.readers.common.xml import Element, children, local_name, origin, where


@dataclass
class Draft:
    """The parts of a mechanism in file order, and the notes about them.

    Parameters
    ----------
    request : Request
    bodies : list of Body
    pairs : dict of name to Pair
        Unique names; closures among them.
    origin : dict of OriginKey to Origin
    defects : list of Defect
    shapes : dict of link name to tuple of Shape
    links : dict with link names as keys, in file order
        Names that a joint may join, the ground among them where the file has a root ``world``.
    stated_poses : dict of link name to Pose
        X_WL of links that state it, as those in ``<gazebo>`` do.
    """

    request: Request
    bodies: list[Body] = field(default_factory=list)
    pairs: dict[str, Pair] = field(default_factory=dict)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)
    shapes: dict[str, tuple[Shape, ...]] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)
    stated_poses: dict[str, Pose] = field(default_factory=dict)

    def report(self, code: str, name: str, message: str, at: Element | Origin, **evidence: Any) -> None:
        """Note a defect of an element."""
        place = at if isinstance(at, Origin) else origin(at)
        self.defects.append(Defect(code, name, message, place, evidence))

    def report_unread(self, error: MbPluginError, name: str, instead: str) -> None:
        """Note a number that cannot be read and that the mechanics do without.

        Parameters
        ----------
        error : MbPluginError
            What is wrong with it, and where it stands.
        name : str
            The link or joint.
        instead : str
            What is read in its place.
        """
        self.defects.append(unread_number(error, name, instead))

    def unique(self, name: str, element: Element, *, written: bool = True, foreign: bool = False) -> str:
        """Return ``name``, or with a suffix where a constraint already has it.

        The second use of a name that is ``written`` in the file is a defect; a mild one where it is ``foreign``,
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
        """Add a pair with the origins of itself and of its literals."""
        self.pairs[pair.name] = pair
        self.origin[("constraint", pair.name, "")] = origin(element)
        for part, (owner, text) in literals.items():
            self.origin[("constraint", pair.name, part)] = origin(owner, text)

    def require_link(
        self, name: str, element: Element, owner: str, error: type[MbPluginError] = UnknownName
    ) -> str:
        """Return the name of a link that exists; ``world`` is the ground also where no link declares it.

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
                remedy=suggestion(name, sorted(self.links)),
            )
        return name

    def require_body(self, name: str, element: Element, owner: str) -> str:
        """Return the body that a closure names; the ground is always there.

        Raises
        ------
        UnknownName
            No link is called so.
        """
        return name if name == WORLD else self.require_link(name, element, owner)

    def zero_poses(self) -> Callable[[str], Pose]:
        """Return X_WL of every link with all tree joints at zero (closures are not looked at)."""
        tree = [pair for pair in self.pairs.values() if not pair.closure]
        mech = Mechanism("", tuple(self.bodies), tuple(tree))
        poses = forward(mech, home(mech))
        return lambda link: self.stated_poses.get(link) or poses.of(mech.body_index[link])


def carried(X: Pose, body: str, other: str, X_WL: Callable[[str], Pose]) -> Pose:
    """Return the frame in ``other`` that lies where frame X of ``body`` lies at the given poses."""
    return X_WL(other).inverse() @ X_WL(body) @ X


def joined(pairs: Iterable[Pair], a: str, b: str) -> bool:
    """Return whether pairs already join two bodies, directly or through others."""
    groups: DisjointSets[str] = DisjointSets()
    for pair in pairs:
        groups.join(*pair.bodies)
    return groups.find(a) == groups.find(b)


def required(element: Element, attribute: str) -> str:
    """Return an attribute that must be there.

    Raises
    ------
    BrokenModel
        It is missing or empty.
    """
    value = str(element.get(attribute) or "")
    if not value:
        raise BrokenModel(
            f"<{local_name(element)}> has no {attribute}",
            where=where(element),
            expected=f'{attribute}="…"',
            remedy="add it",
        )
    return value


def only_child(element: Element, tag: str) -> Element:
    """Return the first child of a tag, which must be there.

    Raises
    ------
    BrokenModel
        There is none.
    """
    found = children(element, tag)
    if not found:
        name = element.get("name")
        raise BrokenModel(
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
        raise BrokenModel(
            f"{owner} joins link {bodies[0]!r} to itself",
            where=where(element),
            expected="two different links",
            remedy="correct one of the names",
        )
