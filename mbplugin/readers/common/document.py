"""A parsed document as a table of its elements, which outlives the parser and can be sent to a process."""

from __future__ import annotations

from mbplugin.model.document import Document, Written
from mbplugin.readers.common.xml import Element, local_name, origin


def document_of(root: Element, format: str) -> Document:
    """Return the elements of a document in file order."""
    position: dict[Element, int] = {}
    elements: list[Written] = []
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        parent = element.getparent()
        position[element] = len(elements)
        attributes = {str(name): str(value) for name, value in element.attrib.items()}
        text = " ".join((element.text or "").split())
        above = -1 if parent is None or element is root else position[parent]
        elements.append(Written(local_name(element), attributes, text, origin(element), above))
    return Document(format, tuple(elements))
