"""A parsed document as a table of its elements, which outlives the parser and can be sent to a process."""

from __future__ import annotations

from lxml import etree

from mbplugin.model.document import Document, Written
from mbplugin.model.scene import Origin
from mbplugin.readers.common.xml import Element, attributes_of, local_name


def document_of(root: Element, format: str) -> Document:
    """Return the elements of a document in file order."""
    position: dict[Element, int] = {}
    elements: list[Written] = []
    file = str(root.base)
    for element in root.iter(etree.Element):
        parent = element.getparent()
        position[element] = len(elements)
        attributes = attributes_of(element)
        text = " ".join((element.text or "").split())
        above = -1 if parent is None or element is root else position[parent]
        place = Origin(file, int(element.sourceline or 0))
        elements.append(Written(local_name(element), attributes, text, place, above))
    return Document(format, tuple(elements))
