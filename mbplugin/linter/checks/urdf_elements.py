"""The elements of the URDFs of a scene, as written."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from mbplugin.model.bounds import decimal
from mbplugin.model.document import Document, Node
from mbplugin.model.scene import Scene

#: Joints with one freedom that has a lower and an upper limit.
BOUNDED = ("revolute", "prismatic")
#: Joints with one freedom.
SINGLE = (*BOUNDED, "continuous")


def urdf_documents(scene: Scene) -> Iterator[Document]:
    """Yield the URDFs of a scene."""
    return (document for document in scene.documents if document.format == "urdf")


def written_joints(scene: Scene, *types: str) -> Iterator[Node]:
    """Yield the ``<joint>`` elements, of some types or all."""
    for document in urdf_documents(scene):
        for joint in document.root.children("joint", "drake:joint"):
            if not types or joint.get("type") in types:
                yield joint


def written_links(scene: Scene) -> Iterator[Node]:
    """Yield the ``<link>`` elements."""
    for document in urdf_documents(scene):
        yield from document.root.children("link")


def number(node: Node | None, attribute: str) -> float | None:
    """Return an attribute as a number; None where there is none, or what is written is no number."""
    found = numbers(node, attribute)
    return found[0] if len(found) == 1 else None


def numbers(node: Node | None, attribute: str) -> list[float]:
    """Return the numbers of an attribute; none where a word of it is no number."""
    if node is None:
        return []
    try:
        found = [decimal(word) for word in node.get(attribute).replace(",", " ").split()]
    except ValueError:
        return []
    return [] if any(isnan(value) for value in found) else found
