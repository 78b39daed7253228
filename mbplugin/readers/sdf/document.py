"""The contents of an SDF document: nested models, with their links, joints and frames."""

from __future__ import annotations

from dataclasses import dataclass, field

from mbplugin.errors import UnresolvedPath
from mbplugin.model.scene import Defect, Request
from mbplugin.readers.common.xml import Element, origin
from mbplugin.readers.sdf.values import Version, WrittenPose

#: What an element calls the frame of the model it stands in.
MODEL_FRAME = "__model__"


@dataclass(frozen=True, eq=False)
class Member:
    """A link, joint, frame or Drake constraint of a model, or the frame of a merged include.

    Parameters
    ----------
    kind : "link", "joint", "frame", "constraint" or "merged"
    name : str
    element : Element
    version : (int, int)
        Of the file it was written in.
    pose : WrittenPose
    home : str
        The frame that ``__model__`` means to it.
    placement : str
        For a merged include: the frame of it that its pose places.
    """

    kind: str
    name: str
    element: Element
    version: Version
    pose: WrittenPose
    home: str = MODEL_FRAME
    placement: str = ""


@dataclass(frozen=True, eq=False)
class Scope:
    """A model, or the world around the models, in which names are unique.

    Parameters
    ----------
    name : str
    element : Element
    pose : WrittenPose
        In the scope around it.
    members : tuple of Member
    models : tuple of Scope
    placement : str
        The frame of the model that its pose places; empty for the model frame.
    canonical_link : str
    static : bool
    home : str
        The frame around it that ``__model__`` means in its pose.
    """

    name: str
    element: Element
    pose: WrittenPose
    members: tuple[Member, ...]
    models: tuple[Scope, ...]
    placement: str = ""
    canonical_link: str = ""
    static: bool = False
    home: str = MODEL_FRAME

    def of_kind(self, kind: str) -> list[Member]:
        """Return the members of one kind, in file order."""
        return [member for member in self.members if member.kind == kind]

    @property
    def has_links(self) -> bool:
        """Whether the model or a model in it has a link."""
        return bool(self.of_kind("link")) or any(model.has_links for model in self.models)


@dataclass(eq=False)
class Reading:
    """What is collected while files are read; ``missing`` are the includes that were not found."""

    request: Request
    files: list[str] = field(default_factory=list)
    defects: list[Defect] = field(default_factory=list)
    missing: list[UnresolvedPath] = field(default_factory=list)

    def not_read(self, element: Element, name: str, message: str) -> None:
        """Note something in the file that has no place in the mechanism."""
        self.defects.append(Defect("MB113", name, message, origin(element)))
